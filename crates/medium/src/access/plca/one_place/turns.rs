//! The next turn, and cycles in which no node has anything to send.

use crate::access::plca::Reconciliation;
use crate::access::plca::acts::nameless;
use crate::access::plca::one_place::Signal;
use crate::access::plca::wire::{Edge, What};
use crate::engine::Engine;
use crate::event::Kind;
use crate::frame::StationId;
use crate::inputs::Host;
use crate::time::BitTimes;
use crate::timers::{NONE, instant, key};

/// The first bit of `bits` from number `from` on.
#[inline]
fn next_bit(bits: &[u64; 4], from: u8) -> Option<u8> {
    let mut word = usize::from(from) / 64;
    let mut rest = bits[word] & (u64::MAX << (from % 64));
    while rest == 0 {
        word += 1;
        rest = *bits.get(word)?;
    }
    Some((64 * word) as u8 + rest.trailing_zeros() as u8)
}

impl Engine<Reconciliation> {
    /// Whether `station` would use its turns has changed.
    pub(super) fn note_pending(&mut self, station: StationId) {
        let own = &self.stations[station.index()].mac;
        let here = &mut self.method.here;
        for (word, ids) in here.pending.iter_mut().zip(own.node.ids()) {
            *word = if own.node.pending { *word | ids } else { *word & !ids };
        }
        if here.signal.is_none() {
            let turn = self.turn_after();
            self.plan_turn(turn);
        }
    }

    /// The first turn that a node can use if it becomes ready at this instant.
    fn turn_after(&self) -> u8 {
        let here = &self.method.here;
        let elapsed = self.core.instant.since(here.turn_since).get();
        // A frame that is ready as a turn begins is in time for it.
        let before = if self.method.in_timers { elapsed.saturating_sub(1) } else { elapsed };
        here.cur + 1 + (before / here.to.get()) as u8
    }

    /// Finds the next turn that matters, from that of id `from` on. Nothing is on the line.
    pub(super) fn plan_turn(&mut self, from: u8) {
        let here = &mut self.method.here;
        let next = next_bit(&here.pending, from).filter(|&id| id < here.count);
        let (id, station) = match next {
            Some(id) => (id, here.owners[usize::from(id)].expect("an id that waits has a station")),
            None => (here.count, here.coordinator),
        };
        let turns = BitTimes::new(here.to.get() * u64::from(id - here.cur));
        here.turn = key(here.turn_since + turns, station.index() as u16);
    }

    /// The planned turn begins.
    pub(super) fn take_turn<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let here = &mut self.method.here;
        let turns = now.since(here.turn_since).get() / here.to.get();
        (here.cur, here.turn_since, here.turn) = (here.cur + turns as u8, now, NONE);
        if here.cur == here.count {
            return self.begin_cycle(host);
        }
        here.busy_before = here.busy;
        let own = &mut self.stations[station.index()].mac;
        (own.node.cur_id, own.node.committed, own.node.bursts) = (here.cur, true, 0);
        own.apart.commits += 1;
        self.emit_commit(station, host);
    }

    /// The coordinator sends a BEACON, after all cycles that must be empty.
    fn begin_cycle<H: Host>(&mut self, host: &mut H) {
        let (station, busy) = (self.method.here.coordinator, self.method.here.busy);
        if !busy {
            self.pass_cycles_in_one_place();
        }
        let now = self.core.instant;
        let here = &mut self.method.here;
        here.signal = Some(Signal::beacon(station, now, false));
        (here.edge, here.turn_since) = ((now, Edge::Begin), now);
        let cycles = &mut self.method.cycles;
        let length = cycles.beacon(now, busy);
        if !busy && length.is_some() {
            cycles.untold += 1;
            return;
        }
        let empty = std::mem::take(&mut cycles.untold);
        let length = length.unwrap_or(BitTimes::ZERO);
        self.core.emit(station, nameless(station), Kind::Beacon { empty, length }, host);
    }

    fn pass_cycles_in_one_place(&mut self) {
        let now = self.core.instant;
        let first = instant(self.first_timer());
        let bound = self.core.limit.min(first);
        let here = &mut self.method.here;
        let quiet = here.pending == [0; 4]
            && bound > now
            && !here.may_change
            && self.method.changed.is_empty()
            && self.core.done.is_empty();
        if !quiet {
            return;
        }
        let length = self.method.plca.beacon + here.to * u64::from(here.count);
        let count = bound.since(now).get().saturating_sub(1) / length.get();
        here.rounds += count;
        here.beacons += count;
        here.empty += count;
        self.core.instant = now + length * count;
        self.method.cycles.pass(length, count, &[]);
    }

    /// The unused turns that have begun according to the recorded state: those up to this id, in the present round;
    /// `None`: all of them.
    pub(super) fn begun_up_to(&self) -> Option<u8> {
        let here = &self.method.here;
        let between = here.signal.as_ref().is_some_and(|signal| signal.what == What::Beacon);
        (!between).then_some(here.cur)
    }
}
