//! CSMA without collision detection: a station listens before it sends, and always sends to the end (Kleinrock and
//! Tobagi 1975).
//!
//! ```text
//!                  line busy at the place               line silent
//!   1-persistent   waits for one silent bit, sends      sends
//!   nonpersistent  waits 1 slot and a backoff           sends
//!   p-persistent   waits for silence                    in each slot of the line sends with the chance p;
//!                                                       if a signal comes before, waits 1 slot and a backoff
//! ```
//! At an instant a station senses the bit time before it, at its own place. A slot of the line, for p-persistent
//! senders only, is the longest way and 1 BT, so that every station hears a sender of one slot in the next. A sender
//! learns the fate of its frame from an acknowledgement, which takes no time on the medium. Contending, waiting and
//! retrying are in `contenders`.

mod one_place;

use super::contenders::{self, Contender, Contenders, Contends, Fate, InOnePlace, State};
use super::{Access, Admitted, Begun, FastPath};
use crate::config::{CERTAIN, Clock, Config, Csma, Persistence};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Frame, StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::{Course, Transmission};
use crate::rules::packet;
use crate::star::{OnStar, Sent, Together};
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;
use backoff::Generator;
use one_place::OnePlace;

/// The method's state for the medium.
#[derive(Debug)]
pub(crate) struct CarrierSense {
    persistence: Persistence,
    /// A slot of the line.
    line_slot: BitTimes,
    /// When a sender knows the fate of its frame.
    known: contenders::Known,
    contenders: Contenders,
    /// Room for contenders that act together, kept to save the allocation.
    group: Vec<usize>,
    /// The state that all stations share, while all places are one.
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
    /// When the station last began a signal that its other contenders hear.
    own_heard_at: Option<BitInstant>,
}

impl Access for CarrierSense {
    type Mac = Mac;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> CarrierSense {
        let Csma { persistence, slot, ack_delay, holds_sender, backoff, capture: _, attempt_limit, population } =
            config.csma();
        let round_trip = config.topology.round_trip();
        CarrierSense {
            persistence: *persistence,
            line_slot: BitTimes::new(round_trip.get() / 2 + 1),
            known: contenders::Known::new(round_trip, *slot * u64::from(*ack_delay), *holds_sender),
            contenders: Contenders::new(*slot, backoff, *attempt_limit, *population),
            group: Vec::new(),
            here: OnePlace::new(config),
        }
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        let generator = Generator::stream(config.seed, station.index() as u64);
        Mac { generator, sensing: Vec::new(), counting: Vec::new(), own_heard_at: None }
    }

    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        super::admit_honest(config, frame)
    }

    fn is_full(&self, config: &Config, queued: usize) -> bool {
        self.contenders.is_full(config, queued)
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

    /// Contenders that count slots of the line give way.
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
        let (now, clock) = (engine.core.instant, engine.core.config.clock(station));
        let at = engine.method.next_look(now, clock);
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

    /// A station that hears a signal in the bit time before does not begin.
    fn exposed(_: &Config) -> Option<BitTimes> {
        Some(BitTimes::new(1))
    }
}

impl FastPath for CarrierSense {
    fn runs<H: Host>(engine: &mut Engine<CarrierSense>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        engine.run_in_one_place(limit, timers_too, host)
    }

    fn due(engine: &Engine<CarrierSense>) -> BitInstant {
        if engine.method.here.holds { engine.method.next_decision().min(engine.method.next_signal()) } else { NEVER }
    }

    fn places_differ(engine: &mut Engine<CarrierSense>) {
        engine.leave_one_place();
    }
}

impl OnStar for CarrierSense {
    #[inline]
    fn air(&self) -> &Together {
        &self.here.air
    }

    #[inline]
    fn air_mut(&mut self) -> &mut Together {
        &mut self.here.air
    }
}

impl InOnePlace for CarrierSense {
    #[inline]
    fn is_one_place(&self) -> bool {
        self.here.holds
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
        if engine.method.here.acts_together(now) {
            let mut group = std::mem::take(&mut engine.method.group);
            engine.method.take_group(now, &mut group);
            group.iter().for_each(|&index| engine.go_on(index, host));
            group.clear();
            engine.method.group = group;
        }
        while let Some(index) = engine.method.contenders.take_before(contenders::after(now)) {
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
    /// Takes the contenders that act at `now`, in the order of their actions, if there is no other event then;
    /// otherwise they act one by one.
    fn take_group(&mut self, now: BitInstant, into: &mut Vec<usize>) {
        let CarrierSense { here: OnePlace { ends, looks, .. }, contenders, .. } = self;
        let (group, beside) = if ends.at == now { (ends, looks) } else { (looks, ends) };
        group.take(into);
        if contenders.next() == now || beside.at == now {
            into.drain(..).for_each(|index| contenders.expect(now, index, now, contenders.get(index).state));
            return;
        }
        if into.len() > 1 {
            into.sort_unstable_by_key(|&index| contenders.get(index).frame);
        }
    }

    /// The line falls silent at `now`: the instant at which waiting contenders of a station with this `clock` sense it.
    fn next_look(&self, now: BitInstant, clock: Clock) -> BitInstant {
        let next = now + BitTimes::new(1);
        match self.persistence {
            Persistence::One | Persistence::Non => next,
            Persistence::Millionths(_) => clock.slot_begin(clock.next_slot(next, self.line_slot), self.line_slot),
        }
    }
}

impl Engine<CarrierSense> {
    /// The contender has finished its present step.
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
        let station = self.contender(index).frame.station;
        if let Persistence::Millionths(_) = persistence {
            let at = self.next_line_slot(station);
            if at > now {
                return self.method.contenders.expect(now, index, at, State::Waiting);
            }
        }
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

    /// The first instant from now on at which a slot of the line begins, by the clock of `station`.
    fn next_line_slot(&self, station: StationId) -> BitInstant {
        let (clock, slot) = (self.core.config.clock(station), self.method.line_slot);
        clock.slot_begin(clock.next_slot(self.core.instant, slot), slot)
    }

    fn defer<H: Host>(&mut self, index: usize, host: &mut H) {
        let contender = self.contender(index);
        let (frame, attempt) = (contender.frame, contender.attempts + 1);
        contender.deferred |= attempt == 1;
        self.core.emit(frame.station, frame, Kind::Defer { attempt }, host);
    }

    /// The line is silent as a slot of it begins: the contender draws the number of slots to skip at once.
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
        let (clock, slot) = (self.core.config.clock(station), self.method.line_slot);
        let at = clock.slot_begin(clock.next_slot(now, slot) + slots, slot);
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
            // Others at the same place, which may begin to count at this instant, hear it at once. Deafness to one's
            // own signal, as to others', is settled as the signal begins.
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

    /// The last bit is out, and has reached every place: the fate of the frame is certain.
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
        self.acknowledge(index, fate, self.method.known.after(end, fate.arrived), host);
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

    /// The frame has passed its addressee: its fate is certain, and its sender will learn it.
    fn passed<H: Host>(&mut self, index: usize, id: TransmissionId, host: &mut H) {
        let sent = self.core.line.get(id);
        let (end, settled) = (sent.begin + packet(sent.size), sent.settled);
        let fate = self.judge(id, end);
        if fate.arrived && !settled {
            self.core.carried(id, end);
        }
        self.acknowledge(index, fate, self.method.known.after(end, fate.arrived), host);
    }
}
