//! Edges of signals at the stations that they concern.

use super::Turn;
use super::ahead::Ahead;
use super::hearing::Signal;
use crate::access::plca::Reconciliation;
use crate::access::plca::wire::{EVERYWHERE, Edge, What};
use crate::engine::Engine;
use crate::frame::StationId;
use crate::inputs::Host;
use crate::receive::Arrival;
use crate::time::BitInstant;
use crate::timers::NEVER;

/// Edges of signals at the stations that they concern.
pub(super) type Notices = Ahead<Notice>;

/// The instant at which an edge is at a station, why it concerns the station, the station and the signal, in one number, so
/// that a comparison is cheap. The station is [`EVERYWHERE`] if all places are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Notice(u128);

impl Notice {
    const CONCERN: u32 = 56;
    const STATION: u32 = 40;

    #[inline(always)]
    fn new(at: BitInstant, concern: Concern, station: u16, signal: u64) -> Notice {
        let signal = signal % (1 << Notice::STATION);
        let what = (concern as u64) << Notice::CONCERN | u64::from(station) << Notice::STATION | signal;
        Notice(u128::from(at.get()) << 64 | u128::from(what))
    }

    #[inline(always)]
    fn at(self) -> BitInstant {
        BitInstant::new((self.0 >> 64) as u64)
    }

    #[inline(always)]
    fn concern(self) -> Concern {
        match (self.0 as u64 >> Notice::CONCERN) as u8 {
            0 => Concern::Receives,
            1 => Concern::Ends,
            2 => Concern::Begins,
            _ => Concern::Carrier,
        }
    }

    #[inline(always)]
    fn station(self) -> u16 {
        (self.0 as u64 >> Notice::STATION) as u16
    }

    /// The number of a frame's signal, as far as it tells apart those that are kept.
    #[inline(always)]
    fn signal(self) -> u64 {
        self.0 as u64 % (1 << Notice::STATION)
    }
}

impl Notices {
    #[inline]
    pub fn next(&self) -> BitInstant {
        self.first().map_or(NEVER, |first| first.at())
    }
}

/// Why an edge concerns a station, in the order within an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Concern {
    /// A frame ends at an addressee.
    Receives,
    /// A signal ends at its source, or at the node whose turn comes next.
    Ends,
    /// A signal begins at a station whose MAC sends into the delay line.
    Begins,
    /// Carrier changes at a station that waits for the end of a gap; at the end of the instant.
    Carrier,
}

impl Concern {
    /// The kind of edge that it is. All edges of an instant are over at its end.
    fn edge(self) -> Edge {
        match self {
            Concern::Receives | Concern::Ends => Edge::End,
            Concern::Begins | Concern::Carrier => Edge::Begin,
        }
    }
}

impl Engine<Reconciliation> {
    #[inline]
    pub(super) fn expect(&mut self, at: BitInstant, concern: Concern, station: StationId) {
        self.method.follower.notices.add(Notice::new(at, concern, station.index() as u16, 0));
    }

    /// The change of carrier at `at`, made by `source`, is on its way to `station`.
    pub(super) fn expect_carrier(&mut self, source: StationId, at: BitInstant, station: StationId) {
        self.expect(at + self.method.wire.way(source, station), Concern::Carrier, station);
    }

    /// The MAC of `station` sends into the delay line: signals that are on their way to it concern it.
    pub(super) fn expect_signals(&mut self, station: StationId) {
        for number in self.method.follower.signals.numbers() {
            let signal = self.method.follower.signals.get(number);
            let begin = self.begin_at(signal, station);
            if signal.source == station || self.is_over(begin, Edge::Begin) {
                return;
            }
            if !signal.is_beacon() {
                self.expect(begin, Concern::Begins, station);
            }
        }
    }

    /// Runs the edges of one kind at this instant.
    pub(super) fn run_notices<H: Host>(&mut self, host: &mut H) {
        let now = self.core.instant;
        let mut kind = None;
        while let Some(&notice) = self.method.follower.notices.first() {
            let (concern, station) = (notice.concern(), notice.station());
            let own = (concern == Concern::Carrier, concern.edge());
            if notice.at() != now || *kind.get_or_insert(own) != own {
                break;
            }
            self.method.follower.notices.pass();
            self.method.follower.reached = (now, own.1);
            let place = StationId::new(station);
            match concern {
                Concern::Receives => self.receive_by_follower(station, notice.signal(), host),
                Concern::Ends if self.falls_silent_at_once(place) || self.takes_turn_at_once(place, host) => {}
                Concern::Ends => self.settle_by_follower(place, host),
                Concern::Begins if self.method.follower.holding.contains(place) => self.settle_by_follower(place, host),
                Concern::Carrier if self.method.follower.waiting.contains(place) => {
                    self.tell_carrier_by_follower(place)
                }
                Concern::Begins | Concern::Carrier => {}
            }
        }
    }

    /// The addressees of a frame at `place` hear its end.
    pub(super) fn receive_by_follower<H: Host>(&mut self, place: u16, signal: u64, host: &mut H) {
        let sent = self.method.follower.signals.get(signal).frame.expect("only frames have addressees");
        let kind = sent.worth.received(sent.size, Arrival::Clear);
        if place != EVERYWHERE {
            return self.core.emit_received(StationId::new(place), sent.id, kind, host);
        }
        for place in sent.places(self.stations.len()) {
            self.core.emit_received(place, sent.id, kind, host);
        }
    }

    /// Puts the signal that the machines of `station` request on the line.
    #[inline]
    pub(super) fn drive_by_follower(&mut self, station: StationId) {
        let want = self.stations[station.index()].mac.wants_on_line();
        let last = self.method.follower.signals.newest();
        let is = (last.source == station && last.end == NEVER).then_some(last.what);
        if is != want {
            self.signal_changes(station, is, want);
        }
    }

    #[inline(always)]
    pub(super) fn signal_changes(&mut self, station: StationId, is: Option<What>, want: Option<What>) {
        let (on, off) = (self.method.plca.phy_on, self.method.plca.phy_off);
        let mut begin = self.core.instant;
        if let Some(is) = is {
            begin = self.method.piece_end(begin, self.method.follower.signals.newest().begin, is == What::Frame);
            let last = self.method.follower.signals.newest_mut();
            (last.end, last.followed) = (begin, want.is_some());
        }
        let in_a_row = self.method.follower.in_a_row;
        if is == Some(What::Frame) {
            if !in_a_row {
                self.expect_received(begin + off);
            }
            // The COMMIT of a burst hides the end of the frame from MACs.
            self.carrier_changes(station, begin + if want.is_some() { on } else { off }, false);
        }
        if let Some(what) = want {
            let frame = (what == What::Frame).then(|| self.sent(station));
            let turn = Some(self.stations[station.index()].mac.node.cur_id);
            let last = self.method.follower.signals.newest();
            let (beacons, empty) = (last.beacons, last.empty);
            let signal =
                Signal { source: station, what, begin, end: NEVER, frame, followed: false, turn, beacons, empty };
            self.method.follower.signals.push(signal);
        } else if !in_a_row {
            self.expect(begin + off, Concern::Ends, station);
            self.plan_turn();
        }
        if is.is_none() {
            self.method.follower.turn = Turn::NONE;
            if self.method.follower.holding.len() > 0 {
                self.concern_holding(station, begin + on);
            }
        }
        if want == Some(What::Frame) {
            self.carrier_changes(station, begin + on, true);
        }
    }

    /// Stations whose MAC sends into the delay line are to hear the signal of `source` that begins at `begin`.
    fn concern_holding(&mut self, source: StationId, begin: BitInstant) {
        let mut from = 0;
        while let Some(other) = self.method.follower.holding.next(from) {
            from = other.index() + 1;
            if other != source {
                self.expect(begin + self.method.wire.way(source, other), Concern::Begins, other);
            }
        }
    }

    /// The frame of `signal` ends at `place` at `at`.
    #[inline]
    pub(super) fn expect_frame(&mut self, at: BitInstant, place: u16, signal: u64) {
        self.method.follower.notices.add(Notice::new(at, Concern::Receives, place, signal));
    }

    /// The last signal is a frame, and ends at `end` at its own place: its addressees are to hear it.
    fn expect_received(&mut self, end: BitInstant) {
        let follower = &self.method.follower;
        let signal = follower.signals.newest;
        if self.method.wire.is_one_place() {
            return self.expect_frame(end, EVERYWHERE, signal);
        }
        let sent = follower.signals.newest().frame.expect("a frame");
        for place in sent.places(self.stations.len()) {
            let at = end + self.method.wire.way(sent.id.station, place);
            self.expect_frame(at, place.index() as u16, signal);
        }
    }
}
