//! What each place hears, computed from the last signals, and the carrier that MACs see.

use crate::access::csma_cd::Transmit;
use crate::access::plca::Reconciliation;
use crate::access::plca::tables::Data;
use crate::access::plca::watch::Watch;
use crate::access::plca::wire::{Edge, Sent, What};
use crate::engine::Engine;
use crate::frame::StationId;
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;

/// A signal on the line. A COMMIT and the frames of one turn follow each other without a gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    pub source: StationId,
    pub what: What,
    pub begin: BitInstant,
    /// The first instant without it, at the source; `NEVER` while that is not known.
    pub end: BitInstant,
    pub frame: Option<Sent>,
    /// Another follows it without a gap.
    pub followed: bool,
    /// The id in whose turn it is; `None`: a BEACON.
    pub turn: Option<u8>,
    /// The numbers of BEACONs and of empty cycles up to it, since the medium entered this path.
    pub beacons: u64,
    pub empty: u64,
}

impl Signal {
    /// The first BEACON: it began before the medium entered this path.
    pub fn beacon(source: StationId, begin: BitInstant, length: BitTimes) -> Signal {
        let (what, end) = (What::Beacon, begin + length);
        Signal { source, what, begin, end, frame: None, followed: false, turn: None, beacons: 0, empty: 0 }
    }

    #[inline]
    pub fn is_beacon(&self) -> bool {
        self.turn.is_none()
    }

    /// The first turn after it.
    #[inline]
    pub fn next_turn(&self) -> u8 {
        self.turn.map_or(0, |turn| turn + 1)
    }
}

/// The last signals: older ones have ended everywhere.
#[derive(Debug)]
pub(super) struct Signals {
    last: [Signal; Signals::LAST],
    /// The number of the newest.
    pub newest: u64,
}

impl Signals {
    /// At most five are on their way to a place: the end of a turn's COMMIT, frame and COMMIT, a BEACON, and a turn's
    /// begin.
    const LAST: usize = 8;

    pub fn new(beacon: Signal) -> Signals {
        Signals { last: [beacon; Signals::LAST], newest: 0 }
    }

    #[inline]
    pub fn get(&self, number: u64) -> &Signal {
        &self.last[number as usize % Signals::LAST]
    }

    #[inline]
    pub fn newest(&self) -> &Signal {
        self.get(self.newest)
    }

    #[inline]
    pub fn newest_mut(&mut self) -> &mut Signal {
        &mut self.last[self.newest as usize % Signals::LAST]
    }

    #[inline]
    pub fn push(&mut self, signal: Signal) {
        self.newest += 1;
        *self.newest_mut() = signal;
    }

    /// The numbers of those that are kept, the newest first.
    #[inline]
    pub fn numbers(&self) -> impl Iterator<Item = u64> + use<> {
        (self.newest.saturating_sub(Signals::LAST as u64 - 1)..=self.newest).rev()
    }
}

/// The last changes of the carrier that stations see which do not send, as they begin at the source.
#[derive(Debug)]
pub(super) struct Carriers {
    last: [Change; 8],
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    source: StationId,
    at: BitInstant,
    on: bool,
}

impl Carriers {
    pub fn new() -> Carriers {
        Carriers { last: [Change { source: StationId::new(0), at: BitInstant::ZERO, on: false }; 8], count: 0 }
    }

    #[inline]
    fn get(&self, number: u64) -> &Change {
        &self.last[number as usize % self.last.len()]
    }

    /// Whether carrier is on after this number of changes.
    pub fn is_on_after(&self, count: u64) -> bool {
        count > 0 && self.get(count - 1).on
    }
}

/// Whether an edge at `at` is over at `now`, if edges up to those of the kind and instant `reached` are.
#[inline]
pub(super) fn is_past(at: BitInstant, edge: Edge, now: BitInstant, reached: (BitInstant, Edge)) -> bool {
    at < now || (at == now && reached.0 == now && edge <= reached.1)
}

/// Signals at a place.
impl Engine<Reconciliation> {
    /// Whether an edge at `at` is over, as the node there sees it in this part of the instant.
    #[inline]
    pub(super) fn is_over(&self, at: BitInstant, edge: Edge) -> bool {
        is_past(at, edge, self.core.instant, self.method.follower.reached)
    }

    /// The last signal that has begun at the place of `station`, and whether something is still there. A signal has begun
    /// for its source as soon as it is sent.
    #[inline]
    pub(super) fn heard_by_follower(&self, station: StationId) -> (&Signal, bool) {
        let signals = &self.method.follower.signals;
        let has_begun =
            |signal: &Signal| signal.source == station || self.is_over(self.begin_at(signal, station), Edge::Begin);
        let mut number = signals.newest;
        // The first BEACON was heard everywhere.
        while !has_begun(signals.get(number)) {
            number -= 1;
        }
        let signal = signals.get(number);
        let over = signal.end != NEVER && !signal.followed && self.is_over(self.end_at(signal, station), Edge::End);
        (signal, !over)
    }

    /// When `signal` begins at the place of `station`.
    #[inline]
    pub(super) fn begin_at(&self, signal: &Signal, station: StationId) -> BitInstant {
        signal.begin + self.method.wire.way(signal.source, station) + self.method.plca.phy_on
    }

    /// When `signal`, whose end is known, ends at the place of `station`.
    #[inline]
    pub(super) fn end_at(&self, signal: &Signal, station: StationId) -> BitInstant {
        signal.end + self.method.wire.way(signal.source, station) + self.method.plca.phy_off
    }
}

/// Carrier, as the MACs see it.
impl Engine<Reconciliation> {
    /// The carrier changes that a signal of `source` makes, from `at` on at its own place.
    pub(super) fn carrier_changes(&mut self, source: StationId, at: BitInstant, on: bool) {
        if let Some(touched) = self.method.follower.touched {
            self.look_whether_waits(touched);
        }
        let carriers = &mut self.method.follower.carriers;
        let next = carriers.count as usize % carriers.last.len();
        carriers.last[next] = Change { source, at, on };
        carriers.count += 1;
        if self.method.follower.waiting.len() == 0 {
            return;
        }
        let mut from = 0;
        while let Some(station) = self.method.follower.waiting.next(from) {
            from = station.index() + 1;
            self.expect_carrier(source, at, station);
        }
    }

    /// The number of changes that the place of `station` has seen: before this instant, or with `now_too` up to its end.
    pub(super) fn seen_carriers(&self, station: StationId, now_too: bool) -> u64 {
        let (carriers, now) = (&self.method.follower.carriers, self.core.instant);
        let mut count = carriers.count;
        while count > 0 {
            let change = carriers.get(count - 1);
            let at = change.at + self.method.wire.way(change.source, station);
            if at < now || (now_too && at == now) {
                break;
            }
            count -= 1;
        }
        count
    }

    /// `station` waits for the end of a gap: it is to be told of changes that are on their way to it, and that it has not
    /// been told of.
    #[inline(never)]
    pub(super) fn expect_carriers(&mut self, station: StationId) {
        let apart = &self.stations[station.index()].mac.apart;
        let told = if apart.at_ease { apart.told } else { 0 };
        for number in (told..self.method.follower.carriers.count).rev() {
            let &Change { source, at, .. } = self.method.follower.carriers.get(number);
            if at + self.method.wire.way(source, station) < self.core.instant {
                return;
            }
            self.expect_carrier(source, at, station);
        }
    }

    /// Tells the MAC of `station` the carrier of the bit that begins, at the end of an instant.
    pub(super) fn tell_carrier_by_follower(&mut self, station: StationId) {
        self.take_carrier_back(station);
        let own = &mut self.stations[station.index()].mac;
        own.changed = false;
        let (is_idle, at_ease) = (own.node.data == Data::Idle, own.apart.at_ease);
        if is_idle && at_ease {
            if !self.renew_watch(station, true) {
                return;
            }
        } else {
            let seen = if is_idle { self.seen_carriers(station, true) } else { 0 };
            let own = &mut self.stations[station.index()].mac;
            let carriers = &self.method.follower.carriers;
            let carrier = if is_idle { carriers.is_on_after(seen) } else { own.node.carrier(true, false) };
            let sends = own.mac_sends();
            (own.apart.at_ease, own.apart.told) = (is_idle, seen);
            if own.watch.is_told(carrier, sends) {
                return;
            }
            own.watch.tell(self.core.instant, carrier, sends, &self.core.config.parameters);
        }
        let own = &mut self.stations[station.index()].mac;
        if own.mac.transmit == Transmit::WaitingToSend && !own.handing_over {
            own.mac_at = own.watch.gap_end(&self.core.config.parameters).unwrap_or(NEVER);
            self.look_ahead_by_follower(station);
        }
    }

    /// Brings the MAC of a node at ease up to date with the carrier at its place, before this instant or with `now_too`
    /// up to its end; false if nothing has changed.
    pub(in crate::access::plca) fn renew_watch(&mut self, station: StationId, now_too: bool) -> bool {
        if !self.stations[station.index()].mac.apart.at_ease {
            return false;
        }
        let seen = self.seen_carriers(station, now_too);
        let Engine { core, stations, method } = self;
        let (own, carriers) = (&mut stations[station.index()].mac, &method.follower.carriers);
        if seen <= own.apart.told {
            return false;
        }
        let mut from = own.apart.told;
        if seen - from > 2 {
            // A whole frame went by, longer than a gap: what the MAC saw before does not matter.
            from = seen - 2;
            own.watch = if carriers.get(from).on { Watch::SILENT } else { Watch::BUSY };
        }
        for number in from..seen {
            let &Change { source, at, on } = carriers.get(number);
            let at = at + method.wire.way(source, station);
            own.watch.tell(at, on, false, &core.config.parameters);
        }
        own.apart.told = seen;
        true
    }
}
