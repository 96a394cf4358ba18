//! CSMA without collision detection: a station listens before it sends, and sends to the end whatever it meets
//! (Kleinrock and Tobagi 1975).
//!
//! ```text
//!                  line busy at the place               line silent
//!   1-persistent   waits for one silent bit, sends      sends
//!   nonpersistent  waits 1 slot and a backoff           sends
//!   p-persistent   waits for silence                    in each slot of the line sends with the chance p;
//!                                                       if a signal comes before, waits 1 slot and a backoff
//! ```
//! A station senses at an instant what was at its place in the bit time before. A slot of the line, for p-persistent
//! senders only, is the farthest way and 1 BT: who sends in one is heard everywhere in the next. A sender learns what
//! became of its frame from an acknowledgement, which takes nothing of the medium.
//! Who contends, and how a sender waits and tries again, is in `contenders`.

mod one_place;

use super::contenders::together::{Sent, Together};
use super::contenders::{self, Contender, Contenders, Contends, Fate, InOnePlace, Population, State};
use super::{Access, Admitted, Begun};
use crate::config::{Config, ConfigError, Method, in_range, rule};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::frame::{Frame, StationId, TransmissionId};
use crate::inputs::{Fault, Host};
use crate::line::{Course, Transmission};
use crate::rules::packet;
use crate::time::{BitInstant, BitTimes, Octets};
use crate::timers::NEVER;
use backoff::{Generator, Policy};
use one_place::OnePlace;
use std::num::NonZeroU32;

/// What CSMA needs beside the frame sizes of [`Parameters`](crate::Parameters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csma {
    /// What a sender does that finds the line busy or silent.
    pub persistence: Persistence,
    /// A frame time: what a slot of the policy takes, and a unit of `ack_delay`.
    pub slot: BitTimes,
    /// After how many frame times beyond a round trip a sender knows what became of a frame.
    pub ack_delay: u32,
    /// How many frame times to wait after the n-th failure; of [`SlottedAloha::SLOT`](crate::SlottedAloha::SLOT) each. A
    /// failure is an attempt that did not arrive, and giving way to another sender. Its attempt limit and its limit of
    /// time are not used.
    pub backoff: Policy,
    /// Attempts per frame, the first included; `None`: until it gets through.
    pub attempt_limit: Option<NonZeroU32>,
    /// Who sends.
    pub population: Population,
}

/// What a sender does that finds the line busy or silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Busy: waits for silence, then sends. Silent: sends.
    One,
    /// Busy: gives way, and looks again after a backoff. Silent: sends.
    Non,
    /// Busy: waits for silence. Silent: sends in each slot of the line with the chance of so many millionths, 1 to
    /// 1,000,000; if a signal comes before, it gives way.
    Millionths(u32),
}

/// The millionths that are certain.
const CERTAIN: u32 = 1_000_000;

impl Csma {
    /// 1-persistent, a frame of `size` octets as the frame time; retransmission after 0 to 19 frame times, known after a
    /// round trip, 16 attempts as in 802.3, and the stations as senders.
    pub fn new(size: Octets) -> Csma {
        Csma {
            persistence: Persistence::One,
            slot: packet(size),
            ack_delay: 0,
            backoff: Policy::aloha_uniform(crate::SlottedAloha::SLOT, 20),
            attempt_limit: NonZeroU32::new(16),
            population: Population::Stations,
        }
    }
}

/// What the engine keeps.
#[derive(Debug)]
pub(crate) struct CarrierSense {
    persistence: Persistence,
    /// A slot of the line.
    line_slot: u64,
    /// From its end to the acknowledgement of a frame.
    known_after: BitTimes,
    contenders: Contenders,
    /// Room for those for whom something is due together, kept to save the allocation.
    group: Vec<usize>,
    /// The medium as everybody hears it, as long as all places are one.
    here: OnePlace,
}

/// A station's part.
#[derive(Debug)]
pub(crate) struct Mac {
    generator: Generator,
    /// Contenders that wait for silence.
    sensing: Vec<usize>,
    /// Contenders that count slots of the line.
    counting: Vec<usize>,
    /// When a signal of the station's own began last that its other contenders hear.
    own_heard_at: Option<BitInstant>,
}

/// The method's own part of the configuration.
fn own(config: &Config) -> &Csma {
    match &config.method {
        Method::Csma(own) => own,
        Method::CsmaCd | Method::Plca(_) | Method::SlottedAloha(_) | Method::Aloha(_) | Method::CsmaCa(_) => {
            panic!("another method's configuration made a medium of CSMA")
        }
    }
}

impl Access for CarrierSense {
    type Mac = Mac;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> CarrierSense {
        let Csma { persistence, slot, ack_delay, backoff, attempt_limit, population } = own(config);
        let round_trip = config.topology.round_trip();
        CarrierSense {
            persistence: *persistence,
            line_slot: round_trip.get() / 2 + 1,
            known_after: round_trip + *slot * u64::from(*ack_delay),
            contenders: Contenders::new(*slot, backoff, *attempt_limit, *population),
            group: Vec::new(),
            here: OnePlace::new(config),
        }
    }

    fn check(config: &Config) -> Result<(), ConfigError> {
        let Csma { persistence, slot, .. } = own(config);
        let probable = match persistence {
            Persistence::One | Persistence::Non => true,
            Persistence::Millionths(millionths) => (1..=CERTAIN).contains(millionths),
        };
        rule(in_range(slot.get()), "slot", "1 to 2^31 BT")?;
        rule(config.parameters.inter_packet_gap > BitTimes::ZERO, "inter_packet_gap", "at least 1 BT")?;
        rule(probable, "persistence", "a chance of 0.000001 to 1")
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        let generator = Generator::stream(config.seed, station.index() as u64);
        Mac { generator, sensing: Vec::new(), counting: Vec::new(), own_heard_at: None }
    }

    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        super::admit_honest(config, frame)
    }

    fn is_full(&self, config: &Config, queued: usize) -> bool {
        !self.contenders.infinite && queued >= config.queue_limit
    }

    fn frame_ready<H: Host>(engine: &mut Engine<CarrierSense>, station: StationId, host: &mut H) {
        if let Some(index) = engine.next_contender(station) {
            engine.sense(index, host);
            engine.await_due();
        }
    }

    fn timer_ends<H: Host>(engine: &mut Engine<CarrierSense>, _: StationId, _: usize, host: &mut H) {
        CarrierSense::decide(engine, host);
        engine.await_due();
    }

    fn runs<H: Host>(engine: &mut Engine<CarrierSense>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        engine.run_in_one_place(limit, timers_too, host)
    }

    fn due(engine: &Engine<CarrierSense>) -> BitInstant {
        if engine.method.here.holds { engine.method.next_decision().min(engine.method.next_signal()) } else { NEVER }
    }

    fn places_differ(engine: &mut Engine<CarrierSense>) {
        engine.leave_one_place();
    }

    /// Who counts slots of the line gives way.
    fn signals_begin<H: Host>(engine: &mut Engine<CarrierSense>, station: StationId, begun: Begun, host: &mut H) {
        let own = begun.own && engine.station(station).mac.own_heard_at == Some(engine.core.instant);
        if !begun.heard && !own {
            return;
        }
        let mut counting = std::mem::take(&mut engine.station_mut(station).mac.counting);
        engine.core.line.ignore_begins(station);
        counting.sort_unstable_by_key(|&index| engine.method.contenders.get(index).frame);
        for index in counting.drain(..) {
            engine.defer(index, host);
            engine.give_way(index, host);
        }
        engine.station_mut(station).mac.counting = counting;
        engine.await_due();
    }

    fn signals_end<H: Host>(engine: &mut Engine<CarrierSense>, station: StationId, _: &mut H) {
        if !engine.core.is_silent(station) {
            return;
        }
        let now = engine.core.instant;
        let at = engine.method.next_look(now);
        let mut sensing = std::mem::take(&mut engine.station_mut(station).mac.sensing);
        for index in sensing.drain(..) {
            engine.method.contenders.expect(now, index, at, State::Sensing);
        }
        engine.station_mut(station).mac.sensing = sensing;
        engine.core.line.ignore_silence(station);
        engine.await_due();
    }

    fn detached<H: Host>(engine: &mut Engine<CarrierSense>, station: StationId, host: &mut H) {
        engine.forget_in_one_place(station);
        let mac = &mut engine.station_mut(station).mac;
        mac.sensing.clear();
        mac.counting.clear();
        engine.core.line.ignore_silence(station);
        engine.core.line.ignore_begins(station);
        engine.abandon(station, host);
        engine.await_due();
    }

    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind> {
        Some(contenders::verdict(core, place, id))
    }

    /// Who hears a signal in the bit time before does not begin.
    fn exposed(_: &Config) -> Option<BitTimes> {
        Some(BitTimes::new(1))
    }
}

impl InOnePlace for CarrierSense {
    #[inline]
    fn is_one_place(&self) -> bool {
        self.here.holds
    }

    #[inline]
    fn air(&mut self) -> &mut Together {
        &mut self.here.air
    }

    #[inline]
    fn next_decision(&self) -> BitInstant {
        self.contenders.next().min(self.here.ends.at).min(self.here.looks.at)
    }

    #[inline]
    fn next_signal(&self) -> BitInstant {
        self.here.next_signal()
    }

    fn decide<H: Host>(engine: &mut Engine<CarrierSense>, host: &mut H) {
        let now = engine.core.instant;
        let mut group = std::mem::take(&mut engine.method.group);
        engine.method.take_group(now, &mut group);
        for index in group.drain(..) {
            engine.go_on(index, host);
        }
        engine.method.group = group;
        while let Some(index) = engine.method.contenders.take_due(now) {
            engine.go_on(index, host);
        }
    }

    fn hear<H: Host>(engine: &mut Engine<CarrierSense>, host: &mut H) {
        engine.hear_in_one_place(host);
    }
}

impl Contends for CarrierSense {
    #[inline]
    fn contenders(&mut self) -> &mut Contenders {
        &mut self.contenders
    }

    fn generator(mac: &mut Mac) -> &mut Generator {
        &mut mac.generator
    }

    fn has_no_timer(&self) -> bool {
        self.here.holds
    }

    fn ready<H: Host>(engine: &mut Engine<CarrierSense>, index: usize, host: &mut H) {
        engine.sense(index, host);
    }
}

impl CarrierSense {
    /// Takes out those for whom something is due together at `now`, in the order of what is due, if nothing else is due
    /// then; if it is, they are due one by one.
    fn take_group(&mut self, now: BitInstant, into: &mut Vec<usize>) {
        let CarrierSense { here: OnePlace { ends, looks, .. }, contenders, .. } = self;
        let (group, beside) = if ends.at == now { (ends, looks) } else { (looks, ends) };
        if group.at != now {
            return;
        }
        group.take(into);
        if contenders.next() == now || beside.at == now {
            into.drain(..).for_each(|index| contenders.expect(now, index, now, contenders.get(index).state));
            return;
        }
        if into.len() > 1 {
            into.sort_unstable_by_key(|&index| contenders.get(index).frame);
        }
    }

    /// The line falls silent at `now`: when those who wait for that can sense it.
    fn next_look(&self, now: BitInstant) -> BitInstant {
        match self.persistence {
            Persistence::One | Persistence::Non => now + BitTimes::new(1),
            Persistence::Millionths(_) => BitInstant::new((now.get() / self.line_slot + 1) * self.line_slot),
        }
    }
}

impl Engine<CarrierSense> {
    /// What was due for the contender is done.
    #[inline(always)]
    fn go_on<H: Host>(&mut self, index: usize, host: &mut H) {
        match self.contender(index).state {
            State::Waiting | State::Sensing => self.sense(index, host),
            State::Counting => self.attempt(index, host),
            State::Sending(id) => self.sent(index, id, host),
            State::Passing(id) => self.passed(index, id, host),
            State::Unknown(fate) => self.learn(index, fate, host),
            State::Gone => panic!("nothing is due for who is no more"),
        }
    }

    /// The contender is ready to send: it senses the line.
    fn sense<H: Host>(&mut self, index: usize, host: &mut H) {
        let now = self.core.instant;
        let persistence = self.method.persistence;
        if let Persistence::Millionths(_) = persistence
            && !now.get().is_multiple_of(self.method.line_slot)
        {
            let at = self.method.next_look(now);
            return self.method.contenders.expect(now, index, at, State::Waiting);
        }
        let station = self.contender(index).frame.station;
        let here = &self.method.here;
        if !(if here.holds { here.was_busy(now) } else { self.core.line.was_busy(station, now) }) {
            return match persistence {
                Persistence::One | Persistence::Non => self.attempt(index, host),
                Persistence::Millionths(millionths) => self.count(index, millionths, host),
            };
        }
        if self.contender(index).state != State::Sensing {
            self.defer(index, host);
        }
        match persistence {
            Persistence::Non => self.give_way(index, host),
            Persistence::One | Persistence::Millionths(_) => {
                self.method.contenders.hold(index, State::Sensing);
                if self.method.here.holds {
                    return self.method.here.sense(index);
                }
                self.stations[station.index()].mac.sensing.push(index);
                self.core.line.hear_silence(now, station, &mut self.core.agenda);
            }
        }
    }

    fn defer<H: Host>(&mut self, index: usize, host: &mut H) {
        let contender = self.contender(index);
        let (frame, attempt) = (contender.frame, contender.attempts + 1);
        contender.deferred |= attempt == 1;
        self.core.emit(frame.station, frame, Kind::Defer { attempt }, host);
    }

    /// The line is silent as a slot of it begins: how many of them the contender lets go by is drawn at once.
    fn count<H: Host>(&mut self, index: usize, millionths: u32, host: &mut H) {
        let now = self.core.instant;
        let station = self.contender(index).frame.station;
        let mac = &mut self.stations[station.index()].mac;
        let mut slots = 0;
        while (u128::from(mac.generator.next_u64()) * u128::from(CERTAIN)) >> 64 >= u128::from(millionths) {
            slots += 1;
        }
        if slots == 0 {
            return self.attempt(index, host);
        }
        let at = BitInstant::new(now.get() + slots * self.method.line_slot);
        self.method.contenders.expect(now, index, at, State::Counting);
        if self.method.here.holds {
            return self.method.here.count(now, index);
        }
        self.stations[station.index()].mac.counting.push(index);
        self.core.line.hear_begins(now, station, &mut self.core.agenda);
    }

    fn attempt<H: Host>(&mut self, index: usize, host: &mut H) {
        let now = self.core.instant;
        let (worth, is_shared) = (self.emit_attempt(index, host), self.is_shared());
        let Contender { frame, head, .. } = *self.contender(index);
        let station = frame.station;
        let end = now + packet(head.size);
        if self.method.here.holds {
            self.method.here.count_no_more(index);
            self.method.here.send(now, Sent::new(index, frame, &head, end, worth));
            let state = State::Sending(TransmissionId::new(0));
            if self.method.here.ends.add(end, index) {
                return self.method.contenders.hold(index, state);
            }
            return self.method.contenders.expect(now, index, end, state);
        }
        let mut transmission = Transmission::whole(frame, &head, now, end, worth);
        transmission.course = Course::OnAir { end };
        let core = &mut self.core;
        let id = core.line.begin(now, transmission, &mut core.agenda);
        let counting = &mut self.stations[station.index()].mac.counting;
        counting.retain(|&other| other != index);
        if counting.is_empty() {
            core.line.ignore_begins(station);
        }
        if is_shared && core.line.hears(station, id) {
            // Others at the same place, who may begin to count at this instant, hear it at once. Who is deaf is settled as
            // a signal begins, for one's own as for others'.
            core.agenda.begins.push(now, station, id);
            self.stations[station.index()].mac.own_heard_at = Some(now);
        }
        if now + core.line.farthest(station) + BitTimes::new(1) < end {
            core.expect_settled::<CarrierSense>(id);
        }
        self.method.contenders.expect(now, index, end, State::Sending(id));
    }

    /// Several contenders at one place count slots of the line.
    fn is_shared(&self) -> bool {
        self.method.contenders.infinite && matches!(self.method.persistence, Persistence::Millionths(_))
    }

    /// The last bit is out, and everywhere: what became of the frame is certain.
    fn sent_in_one_place<H: Host>(&mut self, index: usize, host: &mut H) {
        let now = self.core.instant;
        let frame = self.contender(index).frame;
        let air = &mut self.method.here.air;
        let number = air.signals.iter().position(|sent| sent.frame == frame).expect("it was sent");
        if air.met() && air.episode.is_none() {
            self.method.contenders.episodes += 1;
            air.episode = Some(self.method.contenders.episodes);
        }
        let (begin, end, episode) = (air.begin, now, air.episode);
        let fate = Fate { arrived: self.arrives(number), begin, end, episode };
        self.acknowledge(index, fate, end + self.method.known_after, host);
    }

    /// The last bit is out.
    fn sent<H: Host>(&mut self, index: usize, id: TransmissionId, host: &mut H) {
        let now = self.core.instant;
        if self.method.here.holds {
            return self.sent_in_one_place(index, host);
        }
        let station = self.contender(index).frame.station;
        let core = &mut self.core;
        core.line.end(now, id, true, &mut core.agenda);
        if core.line.is_star() && !self.stations[station.index()].mac.sensing.is_empty() {
            // At its own place the signal ends before it does at the others.
            core.agenda.silences.push(now, station);
        }
        let way = self.way(id);
        if way == BitTimes::ZERO {
            return self.passed(index, id, host);
        }
        self.method.contenders.expect(now, index, now + way, State::Passing(id));
    }

    /// The frame has passed its addressee: what became of it is certain, and its sender will know.
    fn passed<H: Host>(&mut self, index: usize, id: TransmissionId, host: &mut H) {
        let sent = self.core.line.get(id);
        let (end, settled) = (sent.begin + packet(sent.size), sent.settled);
        let fate = self.judge(id, end);
        if fate.arrived && !settled {
            self.core.carried(id, end);
        }
        self.acknowledge(index, fate, end + self.method.known_after, host);
    }
}
