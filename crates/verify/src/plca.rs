//! PLCA (802.3, clause 148): the turns of a cycle, while all nodes are in step.
//!
//! ```text
//!   BEACON │ turn 0 │ turn 1: COMMIT, frame │ turn 2 │ … BEACON
//! ```
//! A cable that is long for the nodes' timers, clocks that are off, D-PLCA, faults and new settings let turns meet at any
//! time: the rules of the MAC alone are held then.

use crate::bus::Bus;
use crate::signal::PREAMBLE_AND_SFD;
use crate::station::Phase;
use crate::violation::{BEACON, RECEPTION, TURN};
use medium::{FrameId, Method, PlcaKind};

impl Bus {
    /// An event of a node of PLCA.
    pub fn plca(&mut self, place: usize, frame: FrameId, kind: PlcaKind) {
        match kind {
            PlcaKind::Beacon { empty, length } => self.beacon(place, empty, length.get()),
            PlcaKind::Commit { id } => self.turn(place, frame, id),
            PlcaKind::PlcaStatus { ok } => self.cycle.status(place, ok),
            PlcaKind::PlcaId { .. } => self.cycle.never_holds(),
        }
    }

    /// A signal of a node begins on the line.
    pub fn speaks(&mut self, place: usize, is_commit: bool) {
        let attached = self.stations.iter().map(|station| station.attached);
        self.cycle.speaks(place, self.now, is_commit, attached);
    }

    /// Nothing tells of the BEACONs that end cycles without a frame; `empty` counts them.
    fn beacon(&mut self, place: usize, empty: u64, length: u64) {
        let is_known = self.cycle.is_in_step() && !(self.cycle.is_longer && empty > 0);
        let before = self.cycle.beacon.filter(|_| is_known);
        self.cycle.begins(self.now);
        if !self.cycle.is_in_step() {
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
        let Some((before, (_, idle))) = before.zip(self.cycle.idle) else { return };
        self.demand(before + empty * idle + length == now, &BEACON, place, || {
            format!("{empty} cycles of {idle} BT and one of {length} BT have passed since the BEACON at {before}")
        });
    }

    fn turn(&mut self, place: usize, frame: FrameId, id: u32) {
        self.speaks(place, true);
        let before = self.cycle.turn.replace((id, place));
        // A MAC that has begun has its frame in the delay line. Another one may miss the turn that its COMMIT keeps.
        let has_begun = self.stations[place].phase == Phase::Transmitting;
        let head = self.frame(frame).filter(|_| has_begun).map(|index| self.stations[place].queue[index].size);
        let (now, until) = (self.now, self.cycle.busy_until);
        self.cycle.busy_until = now + head.map_or(0, |size| PREAMBLE_AND_SFD + 8 * size);
        let Method::Plca(own) = &self.config.method else { return };
        self.cycle.is_longer |= own.nodes[place].settings.node_id == 0;
        if !self.cycle.is_in_step() {
            return;
        }
        let timer = u64::from(own.nodes[place].settings.to_timer);
        let is_own = own.nodes[place].ids().any(|own| u32::from(own) == id);
        let coordinator = own.nodes.iter().position(|node| node.settings.node_id == 0).unwrap_or(0);
        self.demand(is_own, &TURN, place, || format!("turn {id} is taken by a node that does not have this id"));
        let follows = before.is_none_or(|(last, node)| last < id || (last == id && node == place));
        self.demand(follows, &TURN, place, || {
            format!("turn {id} is taken after turn {} of the same cycle", before.map_or(0, |(last, _)| last))
        });
        let is_other = before.is_some_and(|(_, node)| node != place);
        self.demand(!is_other || now >= until, &TURN, place, || {
            format!("turn {id} is taken before the frame of the turn before is out at {until}")
        });
        let Some((begin, (beacon, idle))) = self.cycle.beacon.zip(self.cycle.idle).filter(|_| before.is_none()) else {
            return;
        };
        // The first turn that is taken in a cycle; cycles without a frame may have passed.
        let first = begin + beacon + self.way(coordinator, place) + u64::from(id) * timer;
        let is_on_time = now >= first && (now - first).is_multiple_of(idle);
        self.demand(is_on_time, &TURN, place, || {
            format!("turn {id} begins, and it does at {first}, or whole cycles of {idle} BT later")
        });
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
