//! D-PLCA on a segment: what its nodes found, told as one finding.

use super::causes::{Cause, Finding, stations, window};
use super::segment::Segment;
use medium::{BitInstant, PlcaSettings, StationId};

/// The ids that nodes found by D-PLCA.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Nodes that became the coordinator, and when.
    pub coordinators: Vec<(BitInstant, StationId)>,
    /// Turns that followers took, and when the last of them was taken.
    pub turns: u64,
    pub last: Option<BitInstant>,
}

impl Found {
    /// A node takes an id; it `led` before.
    pub fn take(&mut self, at: BitInstant, station: StationId, id: u32, led: bool) {
        match id {
            0 if !led => self.coordinators.push((at, station)),
            0 => {}
            id if id == u32::from(PlcaSettings::SEEKING) => {}
            _ => (self.turns, self.last) = (self.turns + 1, Some(at)),
        }
    }
}

/// Nodes that find their ids.
pub fn finding(segment: &Segment) -> Option<Finding> {
    let is_dynamic = |station: &StationId| segment.setups.iter().any(|setup| !setup.nodes[station.index()].is_fixed());
    let nodes: Vec<StationId> = stations(segment).filter(is_dynamic).collect();
    let met = segment.setups.iter().flat_map(|setup| setup.met.iter());
    let met = met.filter(|((_, parties), _)| parties.iter().any(is_dynamic)).map(|(_, met)| met.times).sum();
    let at = segment.found.coordinators.first().map_or(BitInstant::ZERO, |(at, _)| *at);
    (!nodes.is_empty()).then_some(Finding {
        cause: Cause::Dynamic { nodes, found: segment.found.clone(), met },
        since: BitInstant::ZERO,
        until: None,
        window: window(at, 500, 4_000),
    })
}
