//! PLCA (802.3, clause 148): the turns of a cycle, while nothing disturbs them.
//!
//! ```text
//!   BEACON │ turn 0 │ turn 1: COMMIT, frame │ turn 2 │ … BEACON
//! ```
//! A cable that is long for the nodes' timers, clocks that are off, D-PLCA, faults and deeds let turns meet. From then on
//! the rules of the MAC alone are held.

use crate::bus::Bus;
use crate::signal::PREAMBLE_AND_SFD;
use crate::station::Phase;
use crate::violation::{BEACON, RECEPTION, TURN};
use medium::{FrameId, Method, PlcaKind};

impl Bus {
    /// An event of a node of PLCA.
    pub fn plca(&mut self, place: usize, frame: FrameId, kind: PlcaKind) {
        match kind {
            PlcaKind::Beacon { .. } => self.beacon(place),
            PlcaKind::Commit { id } => self.turn(place, frame, id),
            PlcaKind::PlcaStatus { ok } => self.cycle.is_steady &= ok,
            PlcaKind::PlcaId { .. } => self.cycle.is_steady = false,
        }
    }

    fn beacon(&mut self, place: usize) {
        self.cycle.turn = None;
        if !self.cycle.is_steady {
            return;
        }
        let Method::Plca(own) = &self.config.method else { return };
        let id = own.nodes[place].settings.node_id;
        self.demand(id == 0, &BEACON, place, || {
            format!("a node with the id {id} sends a BEACON, which node 0 alone sends")
        });
        let (now, until) = (self.now, self.cycle.busy_until);
        self.demand(now >= until, &BEACON, place, || {
            format!("a BEACON begins before the frame of a turn is out at {until}")
        });
    }

    fn turn(&mut self, place: usize, frame: FrameId, id: u32) {
        let Some(before) = Some(self.cycle.turn.replace((id, place))).filter(|_| self.cycle.is_steady) else { return };
        let Method::Plca(own) = &self.config.method else { return };
        let is_own = own.nodes[place].ids().any(|own| u32::from(own) == id);
        self.demand(is_own, &TURN, place, || format!("turn {id} is taken by a node that does not have this id"));
        let follows = before.is_none_or(|(last, node)| last < id || (last == id && node == place));
        self.demand(follows, &TURN, place, || {
            format!("turn {id} is taken after turn {} of the same cycle", before.map_or(0, |(last, _)| last))
        });
        let (now, until) = (self.now, self.cycle.busy_until);
        let is_other = before.is_some_and(|(_, node)| node != place);
        self.demand(!is_other || now >= until, &TURN, place, || {
            format!("turn {id} is taken before the frame of the turn before is out at {until}")
        });
        // A MAC that has begun has its frame in the delay line. Another one may miss the turn that its COMMIT keeps.
        let has_begun = self.stations[place].phase == Phase::Transmitting;
        let head = self.frame(frame).filter(|_| has_begun).map(|index| self.stations[place].queue[index].size);
        self.cycle.busy_until = now + head.map_or(0, |size| PREAMBLE_AND_SFD + 8 * size);
    }

    /// A frame is delivered once, and frames of one sender in their order.
    pub fn plca_reception(&mut self, place: usize, frame: FrameId, is_delivered: bool) {
        let latest = self.cycle.latest.entry((frame.station.index(), place)).or_default();
        let (before, serial) = (*latest, frame.serial);
        if is_delivered {
            *latest = serial;
            self.demand(serial > before, &RECEPTION, place, || {
                format!("{frame} is delivered after frame {before} of its station")
            });
        }
    }
}
