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
use crate::frame::{StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::{Course, StationSet, Transmission, Worth};
use crate::receive::{Arrival, Cut};
use crate::rules::packet;
use crate::star::{self, OnStar, Sent, Together};
use crate::station::Station;
use crate::time::{BitInstant, BitTimes};
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
    /// The last signals. All of them end together.
    pub(super) air: Together,
    /// A collision cut them short.
    cut: bool,
    /// The medium is silent, and no station has sent since the silence began.
    silent: bool,
    /// The end of the gap at its beginning.
    gap_end: BitInstant,
    /// When they collide; `NEVER` if they do not, or have done so.
    collides: BitInstant,
    /// The first station of `waiting` whose gap ends, and when; if there is none, the first sending station, and when it
    /// finishes.
    acts: Key,
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

impl OnePlace {
    /// A medium made from `config` before the first signal.
    pub fn new(config: &Config) -> OnePlace {
        let stations = config.topology.stations();
        OnePlace {
            // Bursts need each signal by itself.
            holds: star::is_shared(config)
                && config.parameters.burst_limit == BitTimes::ZERO
                && !config.has_wrong_clocks(),
            waiting: Crowd::new(stations),
            sending: Vec::new(),
            done: 0,
            air: Together::default(),
            cut: false,
            silent: true,
            gap_end: BitInstant::ZERO,
            collides: NEVER,
            acts: NONE,
        }
    }

    #[inline]
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// The next event other than backoff.
    #[inline]
    pub fn due(&self) -> BitInstant {
        instant(self.acts).min(self.next_signal())
    }

    /// The next effect of the signals: their collision, or their end.
    #[inline]
    fn next_signal(&self) -> BitInstant {
        self.collides.min(self.air.next_end())
    }

    /// Deference at `now`, as decisions see it: whether a station that becomes ready may begin.
    #[inline]
    fn is_free(&self, now: BitInstant) -> bool {
        if self.sending.is_empty() { self.silent && now >= self.gap_end } else { self.air.begin == now }
    }

    /// Waiting stations begin at the end of the gap: before the end of a signal that began at the same instant.
    #[inline]
    fn gap_ends(&self) -> bool {
        self.silent && !self.waiting.is_empty()
    }

    #[inline]
    fn look_who_acts(&mut self) {
        let sends = || self.sending.get(self.done).copied();
        let (at, first) = if self.gap_ends() { (self.gap_end, self.waiting.first) } else { (self.air.end, sends()) };
        self.acts = first.map_or(NONE, |first| key(at, first.index() as u16));
    }

    #[inline]
    fn wait(&mut self, station: StationId) {
        self.waiting.insert(station);
        self.look_who_acts();
    }

    /// `station` stops waiting, if it did wait.
    pub fn leave(&mut self, station: StationId) {
        self.waiting.remove(station);
        self.look_who_acts();
    }

    /// A station begins to send at `now`.
    #[inline]
    fn begin(&mut self, now: BitInstant, sent: Sent) {
        let station = sent.frame.station;
        let is_first = self.sending.is_empty();
        self.air.send(now, is_first, sent);
        if is_first {
            self.cut = false;
            self.sending.push(station);
        } else {
            self.join(now, station);
        }
        // Others whose gap ends at this instant may follow.
        self.silent &= !self.waiting.is_empty();
        self.look_who_acts();
    }

    /// A station begins at the same instant as others.
    fn join(&mut self, now: BitInstant, station: StationId) {
        debug_assert_eq!(self.air.begin, now, "a station that begins later hears the others");
        self.collides = now;
        let place = self.sending.partition_point(|&other| other < station);
        self.sending.insert(place, station);
    }

    /// The first sending station finishes.
    #[inline]
    fn end_first(&mut self) {
        self.done += 1;
        if self.done == self.sending.len() {
            self.sending.clear();
            self.done = 0;
        }
        self.look_who_acts();
    }
}

impl Station<Mac> {
    /// Checks this fast path against the table of the transmit machine.
    #[inline]
    fn would(&self, act: TransmitAct, input: TransmitInput) {
        debug_assert_eq!(self.mac.transmit.act(input), Some(act), "{input:?} in {:?}", self.mac.transmit);
    }
}

impl OnStar for CsmaCd {
    #[inline]
    fn air(&self) -> &Together {
        &self.here.air
    }

    #[inline]
    fn air_mut(&mut self) -> &mut Together {
        &mut self.here.air
    }

    #[inline]
    fn heard(engine: &Engine<CsmaCd>, place: StationId, sent: &Sent) -> Option<Kind> {
        let OnePlace { air, cut, .. } = &engine.method.here;
        let (begin, end) = (air.begin, sent.end);
        if !cut {
            return Some(sent.worth.received(sent.size, Arrival::Clear));
        }
        // A station that sends does not receive.
        let receives = engine.station(place).mac.begin != begin;
        let cut = Cut { begin, preamble: begin, frame_end: begin + packet(sent.size), end };
        receives.then(|| cut.received(&engine.core.config.parameters))
    }
}

/// The next decision is the first of a gap's end, an attempt's or jam's end, and a backoff's end.
impl Path<CsmaCd> for OnePlace {
    type Decision = (Key, Key);

    #[inline(always)]
    fn next(engine: &mut Engine<CsmaCd>) -> Next<(Key, Key)> {
        let (here, backoff) = (&engine.method.here, engine.core.agenda.timers.first());
        let decides = instant(here.acts).min(instant(backoff));
        Next { decides, signals: here.next_signal(), decision: (here.acts, backoff) }
    }

    #[inline(always)]
    fn decide<H: Host>(engine: &mut Engine<CsmaCd>, (acts, backoff): (Key, Key), host: &mut H) {
        if backoff < acts {
            let station = StationId::new(engine.core.agenda.timers.take() as u16);
            engine.station(station).would(TransmitAct::Wait, TransmitInput::Timeout);
            engine.wait_in_one_place(station, host);
        } else if engine.method.here.gap_ends() {
            engine.method.here.waiting.take_first();
            engine.attempt_in_one_place(StationId::new(number(acts)), host);
        } else {
            engine.first_ends(StationId::new(number(acts)), host);
        }
    }

    #[inline(always)]
    fn signals_change<H: Host>(engine: &mut Engine<CsmaCd>, host: &mut H) {
        if std::mem::replace(&mut engine.method.here.collides, NEVER) == NEVER {
            engine.arrive(host);
        } else {
            engine.collide(host);
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
        let (end, worth) = (now + parameters.packet(head.size, false), Worth::sent(head.too_long, this.fault));
        let sent = Sent::new(station.index(), frame, head, end, worth);
        self.method.here.begin(now, sent);
        self.core.emit(station, frame, Kind::Attempt { attempt, excessive_deferral, burst: false }, host);
    }

    /// Several stations have begun at this instant: all of them detect it at once, and jam.
    fn collide<H: Host>(&mut self, host: &mut H) {
        let (now, parameters) = (self.core.instant, &self.core.config.parameters);
        let episode = self.core.line.next_episode();
        let late = parameters.late(BitTimes::ZERO, false);
        let here = &mut self.method.here;
        here.air.cut(parameters.jam_begin(now, now) + parameters.jam_size);
        here.cut = true;
        here.look_who_acts();
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
            extension: now - (this.mac.begin + packet(sent.size)),
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
        let now = self.core.instant;
        let here = &mut self.method.here;
        here.silent = true;
        here.gap_end = self.core.config.parameters.gap_end(now);
        here.look_who_acts();
        self.receive_what_ends(host);
    }

    /// From now on stations may hear different signals: moves the present state to the general path.
    pub(super) fn leave_one_place(&mut self) {
        if !std::mem::replace(&mut self.method.here.holds, false) {
            return;
        }
        let now = self.core.instant;
        let Together { begin, end, signals, .. } = std::mem::take(&mut self.method.here.air);
        let ids: Vec<_> = signals.iter().map(|sent| self.begin_on_line(begin, sent)).collect();
        if begin < now && !signals.is_empty() {
            self.core.have_begun(begin);
        }
        for (signal, id) in signals.iter().zip(ids) {
            let (station, here, cut) = (signal.frame.station, &self.method.here, self.method.here.cut);
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
        let silent = self.method.here.silent;
        if silent && !signals.is_empty() {
            self.core.have_ended(end);
        }
        let mut next = self.method.here.waiting.first;
        while let Some(station) = next {
            next = self.method.here.waiting.members.next(station.index() + 1);
            let sent = signals.iter().any(|signal| signal.frame.station == station);
            let deferring = match silent {
                true => Deferring::in_gap(end, sent, now, self.gap(station)),
                false => Deferring { was_transmitting: sent, ..Deferring::BUSY },
            };
            self.defer(station, deferring);
        }
    }

    fn begin_on_line(&mut self, begin: BitInstant, sent: &Sent) -> TransmissionId {
        let Sent { frame, size, destination, end, worth, .. } = *sent;
        let (frame_end, cut) = (begin + packet(size), self.method.here.cut);
        let transmission = Transmission {
            frame,
            size,
            destination,
            begin,
            preamble: Some(begin),
            frame_end,
            worth,
            deaf: false,
            duplex: false,
            course: if cut { Course::Cut { end } } else { Course::OnAir { end } },
            episode: cut.then(|| self.core.line.last_episode()),
            settled: false,
            previous: None,
            parted: None,
        };
        self.core.line.begin(begin, transmission, &mut self.core.agenda)
    }
}
