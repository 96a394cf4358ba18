//! What chips and hosts of single nodes make of their turns: a host that is slow, turns that a chip skips, a clock that is off.

use super::causes::{Cause, Finding, from_the_beginning, stations, window};
use super::segment::Segment;
use super::setup::Why;
use medium::{BitInstant, HostDelay, PlcaSettings, StationId};

/// All of them, of all nodes.
pub fn findings(segment: &Segment) -> impl Iterator<Item = Finding> {
    let of = |node| [slow_host(segment, node), skips_turns(segment, node), other_clock(segment, node)];
    stations(segment).flat_map(of).flatten()
}

fn slow_host(segment: &Segment, node: StationId) -> Option<Finding> {
    let own = &segment.plca.nodes[node.index()];
    if !own.is_late() {
        return None;
    }
    let parameters = &segment.config.parameters;
    let [least, most] = [parameters.min_frame_size, parameters.max_frame_size].map(|size| own.host_delay_of(size));
    let (delay, over_spi) = (HostDelay { least: least.least, most: most.most }, own.macphy.is_some());
    let at = segment.whole.node(node).counts.first_offered.unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::SlowHost { node, delay, over_spi }, window(at, 200, delay.most.get() + 1_500))
}

fn skips_turns(segment: &Segment, node: StationId) -> Option<Finding> {
    let skipped = segment.plca.nodes[node.index()].skipped_turns;
    if skipped == 0 {
        return None;
    }
    let at = segment.whole.node(node).counts.first_offered.unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::SkipsTurns { node, skipped }, window(at, 200, 3_500))
}

fn other_clock(segment: &Segment, node: StationId) -> Option<Finding> {
    let own = &segment.plca.nodes[node.index()];
    if own.clock_ppm == 0 {
        return None;
    }
    let PlcaSettings { to_timer, node_id: id, .. } = own.settings;
    let right = medium::BitTimes::new(u64::from(to_timer) * u64::from(id));
    let off = own.on_medium(right).get().abs_diff(right.get());
    let met = segment.whole.met_by(node, Why::OtherClock);
    let at = met.first.or(segment.whole.node(node).counts.first_offered).unwrap_or(BitInstant::ZERO);
    let ppm = own.clock_ppm;
    from_the_beginning(Cause::OtherClock { node, ppm, to_timer, id, off, met }, window(at, 700, 1_000))
}
