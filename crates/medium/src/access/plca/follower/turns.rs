//! The next turn, and cycles in which no node has anything to send.

use super::Turn;
use super::edges::Concern;
use super::hearing::Signal;
use crate::access::plca::Reconciliation;
use crate::access::plca::ids::Ids;
use crate::access::plca::tables::{Control, Seen};
use crate::access::plca::wire::Edge;
use crate::engine::Engine;
use crate::frame::StationId;
use crate::inputs::Host;
use crate::timers::{NEVER, instant, key, number};

impl Engine<Reconciliation> {
    /// Whether `station` would use its turns has changed.
    pub(super) fn note_pending(&mut self, station: StationId) {
        let own = &self.stations[station.index()].mac;
        let follower = &mut self.method.follower;
        follower.pending.set(own.node.ids(), own.node.asks_for_turn());
        if !follower.in_a_row && follower.signals.newest().end != NEVER && !own.node.is_in_turn() {
            self.plan_turn();
        }
    }

    /// Finds the next turn that matters, after the last signal, whose end is known.
    pub(super) fn plan_turn(&mut self) {
        let follower = &self.method.follower;
        let last = follower.signals.newest();
        let first = last.next_turn();
        let mut from = first;
        let turn = loop {
            let next = follower.pending.next(from).filter(|&id| id < follower.count);
            let (id, station) = match next {
                Some(id) => (id, follower.owners[usize::from(id)].expect("an id that waits has a station")),
                None => (follower.count, follower.coordinator),
            };
            let begin = self.end_at(last, station) + follower.to * u64::from(id - first);
            let by_edge = id == first;
            // A frame that is ready as a turn begins is in time for it.
            let passed = match by_edge {
                true => self.is_over(begin, Edge::End),
                false => begin < self.core.instant || (begin == self.core.instant && !self.method.in_timers),
            };
            let ready = self.stations[station.index()].mac.node.ready_from();
            if next.is_none() || !(passed || begin < ready) {
                break Turn { id, begin: key(begin, station.index() as u16), by_edge };
            }
            from = id + 1;
        };
        self.method.follower.turn = turn;
        if turn.by_edge {
            self.expect(instant(turn.begin), Concern::Ends, StationId::new(number(turn.begin)));
        }
    }

    /// Whether the planned turn is the end of the cycle.
    #[inline]
    pub(super) fn is_cycle_over(&self) -> bool {
        self.method.follower.turn.id == self.method.follower.count
    }

    /// Whether the planned turn begins, and it is that of `station`.
    #[inline]
    pub(super) fn turn_begins(&self, station: StationId) -> bool {
        let (now, turn) = (self.core.instant, &self.method.follower.turn);
        turn.begin == key(now, station.index() as u16) && (!turn.by_edge || self.is_over(now, Edge::End))
    }

    /// The planned turn begins.
    pub(super) fn take_turn<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let follower = &mut self.method.follower;
        let id = std::mem::replace(&mut follower.turn, Turn::NONE).id;
        if id == follower.count {
            return self.begin_cycle(host);
        }
        let own = &mut self.stations[station.index()].mac;
        (own.node.cur_id, own.node.busy_cycle) = (id, !follower.signals.newest().is_beacon());
        own.node.enter_control(Control::Commit, now, &Seen::default(), &self.method.plca, &mut own.counters);
        own.apart.commits += 1;
        self.emit_commit(station, host);
    }

    /// The coordinator sends a BEACON, after all cycles that must be empty.
    fn begin_cycle<H: Host>(&mut self, host: &mut H) {
        let (station, busy) = (self.method.follower.coordinator, !self.method.follower.signals.newest().is_beacon());
        if !busy {
            self.pass_cycles_by_follower();
        }
        let now = self.core.instant;
        let last = self.method.follower.signals.newest();
        let (beacons, empty) = (last.beacons + 1, last.empty + u64::from(!busy));
        let beacon = Signal { beacons, empty, ..Signal::beacon(station, now, self.method.plca.beacon) };
        self.method.follower.signals.push(beacon);
        self.plan_turn();
        self.report_beacon(station, busy, host);
    }

    fn pass_cycles_by_follower(&mut self) {
        let now = self.core.instant;
        let first = instant(self.first_timer());
        let bound = self.core.limit.min(first);
        let follower = &mut self.method.follower;
        let quiet = follower.pending == Ids::NONE
            && bound > now
            && follower.notices.is_empty()
            && self.method.changed.is_empty()
            && self.core.done.is_empty();
        if !quiet {
            return;
        }
        let length = self.method.plca.beacon + self.method.plca.phy_off + follower.to * u64::from(follower.count);
        let count = bound.since(now).get().saturating_sub(1) / length.get();
        let span = length * count;
        let last = follower.signals.newest_mut();
        (last.begin, last.end) = (last.begin + span, last.end + span);
        last.beacons += count;
        last.empty += count;
        self.core.instant = now + span;
        self.method.cycles.pass(length, count, &[]);
    }
}
