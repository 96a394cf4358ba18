//! CSMA/CD while all places are one: on a star without distance, as long as no station is deaf.
//!
//! Every station hears the same at every instant, so one state replaces the states of all of them: the senders and when
//! they began, the waiting stations, and the end of the gap. Signals are not scheduled, and no per-station callbacks
//! run.
//!
//! ```text
//!   timers                         │ arrivals │ signals end         │ signals begin
//!   backoffs, gap, attempts, jams  │          │ receivers; the gap  │ who began together collides
//! ```
//! The events and their order are those of the general path in `acts`. The medium leaves this fast path for good when a
//! station becomes deaf ([`leave_one_place`](Engine::leave_one_place)).

use super::tables::{Transmit, TransmitAct, TransmitInput};
use super::{CsmaCd, Mac, deferring::Deferring};
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::clock::{Next, Path};
use crate::event::Kind;
use crate::frame::{Destination, FrameId, StationId};
use crate::inputs::Host;
use crate::line::{Course, StationSet, Transmission, Worth};
use crate::receive::{Arrival, Cut};
use crate::rules::packet;
use crate::station::Station;
use crate::time::{BitInstant, BitTimes, Octets};
use crate::timers::{Key, NEVER, NONE, instant, key, number};

/// The state of the medium that all stations share.
#[derive(Debug)]
pub(super) struct OnePlace {
    /// All places are one, and the fields below are valid.
    holds: bool,
    /// Stations that wait to send. All begin when the gap ends.
    waiting: Crowd,
    /// Stations whose attempt or jam is in progress, in order of number; the first `done` of them have finished.
    sending: Vec<StationId>,
    done: usize,
    /// The last signals, in the order in which they began.
    air: Vec<Signal>,
    /// When all of them began.
    begin: BitInstant,
    /// When all of them end, or ended.
    end: BitInstant,
    /// A collision cut them short.
    cut: bool,
    /// The medium is silent, and no station has sent since the silence began.
    silent: bool,
    /// The end of the gap at its beginning.
    gap_end: BitInstant,
    /// The next effect of the signals.
    pending: Pending,
    /// The instant of that effect; `NEVER` if there is none.
    signals: BitInstant,
    /// The first station of `waiting` whose gap ends, and when.
    begins: Key,
    /// The first sending station, and when it finishes.
    ends: Key,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    /// The signals that began together collide.
    Begin,
    /// The signals end.
    End,
}

#[derive(Clone, Copy, Debug)]
struct Signal {
    frame: FrameId,
    size: Octets,
    destination: Destination,
    frame_end: BitInstant,
    worth: Worth,
}

/// Stations that begin at the same instant, one after the other in order of number.
#[derive(Debug)]
struct Crowd {
    members: StationSet,
    /// The first of them.
    first: Option<StationId>,
}

impl Crowd {
    fn new(stations: usize) -> Crowd {
        Crowd { members: StationSet::new(stations), first: None }
    }

    #[inline]
    fn insert(&mut self, station: StationId) {
        self.members.insert(station);
        self.first = Some(self.first.map_or(station, |first| first.min(station)));
    }

    /// Takes out the first.
    #[inline]
    fn take_first(&mut self) {
        if let Some(first) = self.first {
            self.members.remove(first);
            self.first = if self.members.len() == 0 { None } else { self.members.next(first.index() + 1) };
        }
    }

    fn remove(&mut self, station: StationId) {
        self.members.remove(station);
        self.first = self.members.next(0);
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

#[inline]
fn first_at(at: BitInstant, first: Option<StationId>) -> Key {
    first.map_or(NONE, |first| key(at, first.index() as u16))
}

impl OnePlace {
    /// A medium made from `config` before the first signal.
    pub fn new(config: &Config) -> OnePlace {
        let stations = config.topology.stations();
        let together = config.topology.is_one_place();
        OnePlace {
            // Early outputs, and bursts, need each signal separately.
            holds: together && !config.keep_outputs && config.parameters.burst_limit == BitTimes::ZERO,
            waiting: Crowd::new(stations),
            sending: Vec::new(),
            done: 0,
            air: Vec::new(),
            begin: BitInstant::ZERO,
            end: BitInstant::ZERO,
            cut: false,
            silent: true,
            gap_end: BitInstant::ZERO,
            pending: Pending::End,
            signals: NEVER,
            begins: NONE,
            ends: NONE,
        }
    }

    #[inline]
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// The next event other than backoff.
    #[inline]
    pub fn due(&self) -> BitInstant {
        instant(self.begins.min(self.ends)).min(self.signals)
    }

    /// Deference at `now`, as decisions see it: whether a station that becomes ready may begin.
    #[inline]
    fn is_free(&self, now: BitInstant) -> bool {
        if self.sending.is_empty() { self.silent && now >= self.gap_end } else { self.begin == now }
    }

    #[inline]
    fn look_who_begins(&mut self) {
        self.begins = if self.silent { first_at(self.gap_end, self.waiting.first) } else { NONE };
    }

    #[inline]
    fn look_who_ends(&mut self) {
        self.ends = first_at(self.end, self.sending.get(self.done).copied());
    }

    #[inline]
    fn wait(&mut self, station: StationId) {
        self.waiting.insert(station);
        self.look_who_begins();
    }

    /// `station` stops waiting, if it did wait.
    pub fn leave(&mut self, station: StationId) {
        self.waiting.remove(station);
        self.look_who_begins();
    }

    /// A station begins to send at `now`, and ends at `end` unless a collision cuts it short.
    #[inline]
    fn begin(&mut self, now: BitInstant, end: BitInstant, signal: Signal) {
        let station = signal.frame.station;
        if self.sending.is_empty() {
            self.air.clear();
            (self.begin, self.end, self.cut) = (now, end, false);
            self.sending.push(station);
            self.ends = first_at(end, Some(station));
        } else {
            self.join(now, station);
        }
        self.air.push(signal);
        // Others whose gap ends at this instant may follow.
        self.silent &= !self.waiting.is_empty();
    }

    /// A station begins at the same instant as others.
    fn join(&mut self, now: BitInstant, station: StationId) {
        debug_assert_eq!(self.begin, now, "whoever begins later hears the others");
        (self.pending, self.signals) = (Pending::Begin, now);
        let place = self.sending.partition_point(|&other| other < station);
        self.sending.insert(place, station);
        self.look_who_ends();
    }

    /// The first sending station finishes.
    #[inline]
    fn end_first(&mut self) {
        self.done += 1;
        if self.done == self.sending.len() {
            self.sending.clear();
            self.done = 0;
            (self.pending, self.signals) = (Pending::End, self.end);
        }
        self.look_who_ends();
    }

    /// The first waiting station begins.
    #[inline]
    fn begin_first(&mut self) {
        self.waiting.take_first();
        self.look_who_begins();
    }
}

impl Station<Mac> {
    /// Checks this fast path against the table of the transmit machine.
    #[inline]
    fn would(&self, act: TransmitAct, input: TransmitInput) {
        debug_assert_eq!(self.mac.transmit.act(input), Some(act), "{input:?} in {:?}", self.mac.transmit);
    }
}

/// The next decision is the first of a gap's end, an attempt's or jam's end, and a backoff's end.
impl Path<CsmaCd> for OnePlace {
    type Decision = (Key, Key, Key);

    #[inline(always)]
    fn next(engine: &mut Engine<CsmaCd>) -> Next<(Key, Key, Key)> {
        let OnePlace { begins, ends, signals, .. } = engine.method.here;
        let backoff = engine.core.agenda.timers.first();
        Next { decides: instant(begins.min(ends).min(backoff)), signals, decision: (begins, ends, backoff) }
    }

    #[inline(always)]
    fn decide<H: Host>(engine: &mut Engine<CsmaCd>, (begins, ends, backoff): (Key, Key, Key), host: &mut H) {
        if backoff < begins.min(ends) {
            let station = StationId::new(engine.core.agenda.timers.take() as u16);
            engine.station(station).would(TransmitAct::Wait, TransmitInput::Timeout);
            engine.wait_in_one_place(station, host);
        } else if begins < ends {
            engine.method.here.begin_first();
            engine.attempt_in_one_place(StationId::new(number(begins)), host);
        } else {
            engine.first_ends(StationId::new(number(ends)), host);
        }
    }

    #[inline(always)]
    fn signals_change<H: Host>(engine: &mut Engine<CsmaCd>, host: &mut H) {
        engine.method.here.signals = NEVER;
        match engine.method.here.pending {
            Pending::Begin => engine.collide(host),
            Pending::End => engine.arrive(host),
        }
    }
}

impl Engine<CsmaCd> {
    /// The attempt or the jam of a station is over.
    #[inline]
    fn first_ends<H: Host>(&mut self, station: StationId, host: &mut H) {
        self.method.here.end_first();
        if self.method.here.cut {
            self.station(station).would(TransmitAct::BackOff, TransmitInput::Timeout);
            self.back_off(station, host);
        } else {
            self.finish_in_one_place(station, host);
        }
    }

    /// A station becomes ready for an attempt.
    pub(super) fn wait_in_one_place<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let this = &mut self.stations[station.index()];
        this.mac.transmit = Transmit::WaitingToSend;
        this.mac.ready_since = now;
        if self.method.here.is_free(now) {
            return self.attempt_in_one_place(station, host);
        }
        self.method.here.wait(station);
        let attempt = this.mac.attempt();
        this.mac.deferred |= attempt == 1;
        let frame = this.frame();
        self.core.emit(station, frame, Kind::Defer { attempt }, host);
    }

    fn attempt_in_one_place<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, parameters) = (self.core.instant, &self.core.config.parameters);
        let this = &mut self.stations[station.index()];
        this.would(TransmitAct::Attempt, TransmitInput::MediumFree);
        let excessive_deferral = this.mac.starts_late(now, parameters.max_defer_time);
        this.mac.transmit = Transmit::Transmitting;
        this.mac.begin = now;
        let (head, frame, attempt) = (this.head(), this.frame(), this.mac.attempt());
        let (frame_end, end) = (now + packet(head.size), now + parameters.packet(head.size, false));
        let worth = Worth::sent(head.too_long, this.fault);
        let signal = Signal { frame, size: head.size, destination: head.destination, frame_end, worth };
        self.method.here.begin(now, end, signal);
        self.core.emit(station, frame, Kind::Attempt { attempt, excessive_deferral, burst: false }, host);
    }

    /// Several stations have begun at this instant: all of them detect it at once, and jam.
    fn collide<H: Host>(&mut self, host: &mut H) {
        let (now, parameters) = (self.core.instant, &self.core.config.parameters);
        let episode = self.core.line.next_episode();
        let late = parameters.late(BitTimes::ZERO, false);
        let here = &mut self.method.here;
        here.end = parameters.jam_begin(now, now) + parameters.jam_size;
        here.cut = true;
        here.look_who_ends();
        for index in 0..self.method.here.sending.len() {
            let station = self.method.here.sending[index];
            let this = &mut self.stations[station.index()];
            this.would(TransmitAct::Jam, TransmitInput::Collision);
            this.mac.transmit = Transmit::Jamming;
            this.mac.late |= late;
            let (frame, attempt) = (this.frame(), this.mac.attempt());
            self.core.emit(station, frame, Kind::Collision { attempt, late, episode }, host);
        }
    }

    /// The attempt of a station without collision is over.
    fn finish_in_one_place<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let this = &mut self.stations[station.index()];
        this.would(TransmitAct::Finish, TransmitInput::Timeout);
        let (frame, attempts) = (this.frame(), this.mac.attempt());
        let sent = this.queue.pop_front().expect("a station that sends has a frame");
        let transmitted = Kind::Transmitted {
            size: sent.size,
            attempts,
            deferred: this.mac.deferred,
            access_delay: this.mac.begin - this.mac.head_since,
            mac_delay: now - sent.arrived,
            extension: now - self.method.here.air[0].frame_end,
            no_carrier: false,
        };
        this.mac.transmit = Transmit::Idle;
        this.mac.renew_head(now);
        let (attached, more) = (this.attached, !this.queue.is_empty());
        self.core.emit(station, frame, transmitted, host);
        if !attached {
            self.abandon_all(station, host);
        } else if more {
            self.wait_in_one_place(station, host);
        }
    }

    /// The signals end, and the gap begins.
    fn arrive<H: Host>(&mut self, host: &mut H) {
        let (now, gap) = (self.core.instant, self.core.config.parameters.inter_packet_gap);
        let here = &mut self.method.here;
        here.silent = true;
        here.gap_end = now + gap;
        here.look_who_begins();
        let signals = std::mem::take(&mut here.air);
        match signals[..] {
            [signal] if !self.method.here.cut => {
                for place in signal.destination.places(self.stations.len()) {
                    self.receive_in_one_place(place, &signal, host);
                }
            }
            [..] => {
                let mut heard = std::mem::take(&mut self.core.heard);
                for (index, signal) in signals.iter().enumerate() {
                    heard.extend(signal.destination.places(self.stations.len()).map(|place| (place, index)));
                }
                if !heard.is_sorted() {
                    heard.sort_unstable();
                }
                heard.drain(..).for_each(|(place, index)| self.receive_in_one_place(place, &signals[index], host));
                self.core.heard = heard;
            }
        }
        self.method.here.air = signals;
    }

    /// The station at `place` receives a signal that is addressed to it.
    #[inline]
    fn receive_in_one_place<H: Host>(&mut self, place: StationId, signal: &Signal, host: &mut H) {
        let Signal { frame, size, frame_end, worth, .. } = *signal;
        let (begin, end, cut) = (self.method.here.begin, self.method.here.end, self.method.here.cut);
        let receiver = self.station(place);
        if place == frame.station || !receiver.attached {
            return;
        }
        // A station that sends does not receive.
        if cut && receiver.mac.begin == begin {
            return;
        }
        let kind = match cut {
            true => Cut { begin, preamble: begin, frame_end, end }.received(&self.core.config.parameters),
            false => worth.received(size, Arrival::Clear),
        };
        self.core.emit(place, frame, kind, host);
    }

    /// From now on stations may hear different signals: moves the present state to the general path.
    pub(super) fn leave_one_place(&mut self) {
        if !std::mem::replace(&mut self.method.here.holds, false) {
            return;
        }
        let now = self.core.instant;
        let signals = std::mem::take(&mut self.method.here.air);
        let ids: Vec<_> = signals.iter().map(|signal| self.begin_on_line(signal)).collect();
        let begun_before = self.method.here.begin < now;
        let mut there = Vec::new();
        if begun_before && !signals.is_empty() {
            self.core.agenda.begins.take_everywhere(self.method.here.begin, &mut there);
            self.core.line.got_there(there.len());
        }
        for (signal, id) in signals.iter().zip(ids) {
            let (station, here) = (signal.frame.station, &self.method.here);
            let (end, cut) = (here.end, here.cut);
            if !here.sending[here.done..].contains(&station) {
                self.core.line.end(end, id, !cut, &mut self.core.agenda);
                self.core.line.ignore_begins(station);
                continue;
            }
            self.station_mut(station).mac.transmission = Some(id);
            if cut {
                self.core.agenda.timers.set_soon(station.index(), end);
                self.core.line.ignore_begins(station);
            } else if !self.core.line.collides_at_once(now) {
                self.core.agenda.timers.set_sending(station.index(), end);
            }
        }
        let (end, silent) = (self.method.here.end, self.method.here.silent);
        if silent && !signals.is_empty() {
            self.core.agenda.ends.take_everywhere(end, &mut there);
            self.core.line.ended_there(there.len());
        }
        let mut next = self.method.here.waiting.first;
        while let Some(station) = next {
            next = self.method.here.waiting.members.next(station.index() + 1);
            let sent = signals.iter().any(|signal| signal.frame.station == station);
            let deferring = match silent {
                true => Deferring::in_gap(end, sent, now, &self.core.config.parameters),
                false => Deferring { was_transmitting: sent, ..Deferring::BUSY },
            };
            self.defer(station, deferring);
        }
    }

    fn begin_on_line(&mut self, signal: &Signal) -> crate::frame::TransmissionId {
        let Signal { frame, size, destination, frame_end, worth } = *signal;
        let (begin, end, cut) = (self.method.here.begin, self.method.here.end, self.method.here.cut);
        let transmission = Transmission {
            frame,
            size,
            destination,
            begin,
            preamble: Some(begin),
            frame_end,
            worth,
            deaf: false,
            course: if cut { Course::Cut { end } } else { Course::OnAir { end } },
            episode: cut.then(|| self.core.line.last_episode()),
            settled: false,
            previous: None,
            parted: None,
        };
        self.core.line.begin(begin, transmission, &mut self.core.agenda)
    }
}
