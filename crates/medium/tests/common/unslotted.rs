//! The reference model of pure ALOHA and CSMA on any line, and of slotted ALOHA and TDMA with slots by each station's
//! clock: it examines every packet and every place in every bit time.
//!
//! Written independently of the engine: it keeps a plain list of packets and a plain list of signals, and goes through
//! all of them at each bit time. The carrier that a station senses is derived anew from the signals for each bit time;
//! it has no heap, no listeners, and no scheduled end.
//!
//! One file above 500 lines because the methods differ in when a packet goes out, and in nothing else.

#[allow(dead_code, reason = "each model uses its own part of this module")]
#[path = "signal.rs"]
mod signal;

use backoff::{Generator, Policy};
use medium::{
    BitInstant, BitTimes, Cause, Config, Deed, Destination, Event, Fault, FrameId, Input, Kind, Method, Octets,
    Persistence, Place, Population, SlottedAloha, StationId,
};
use signal::{distances, id, instant_of, is_captured, later, same_side};

/// The state of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Behind others in its station's queue.
    Queued,
    /// It becomes ready at this instant.
    Ready(u64),
    /// It waits for silence.
    Sensing,
    /// It goes out at this instant unless a signal comes before.
    Counting(u64),
    /// The number of its signal.
    Sent(usize),
    /// Its sender learns its fate at this instant.
    Told { at: u64, signal: usize, arrived: bool, collided: bool },
}

struct Packet {
    id: FrameId,
    size: u32,
    destination: Destination,
    arrived: u64,
    head_since: u64,
    attempts: u32,
    failures: u64,
    deferred: bool,
    phase: Phase,
}

struct Sound {
    from: usize,
    frame: FrameId,
    size: u32,
    destination: Destination,
    bad: bool,
    begin: u64,
    end: u64,
    /// By place.
    reaches: Vec<bool>,
    unheard: Vec<bool>,
    episode: Option<u64>,
}

/// The slots of slotted ALOHA and TDMA.
struct Slots {
    /// Of TDMA: the owner of each slot of a frame.
    owners: Vec<StationId>,
    /// The end of a slot that a frame leaves free.
    guard: u64,
    /// After how many slots beyond its own a sender knows that its frame arrived, or did not.
    arrived: u64,
    lost: u64,
}

struct Model {
    /// `None` for ALOHA.
    persistence: Option<Persistence>,
    policy: Policy,
    slot: u64,
    line_slot: u64,
    /// From a frame's end until its sender knows that it arrived, and how much later, if not, it knows that.
    ack: u64,
    late: u64,
    /// Both take as long.
    holds_sender: bool,
    limit: Option<u32>,
    /// Packets go out with slots.
    slots: Option<Slots>,
    finite: bool,
    config: Config,
    distance: Vec<Vec<u64>>,
    attached: Vec<bool>,
    faults: Vec<Option<Fault>>,
    cut: Option<Place>,
    serials: Vec<u64>,
    generators: Vec<Generator>,
    packets: Vec<Packet>,
    /// All signals so far.
    sounds: Vec<Sound>,
    episodes: u64,
    events: Vec<Event>,
}

/// The events of `inputs` (in order of time) before instant `until`.
pub fn run(config: &Config, inputs: &[(u64, Input)], until: u64) -> Vec<Event> {
    run_and_signals(config, inputs, until).0
}

/// A signal as a model has it on its medium: sender, what it is, the frame that it is about, its first bit, the first
/// bit without it, and which places it gets to.
pub type OnAir = (usize, &'static str, FrameId, u64, u64, Vec<bool>);

/// The events, and the signals.
pub fn run_and_signals(config: &Config, inputs: &[(u64, Input)], until: u64) -> (Vec<Event>, Vec<OnAir>) {
    let stations = config.topology.stations();
    let distance: Vec<Vec<u64>> = (0..stations).map(|station| distances(&config.topology, station)).collect();
    let farthest = distance.iter().flatten().copied().max().unwrap_or(0);
    let (persistence, policy, slot, ack, limit, population) = match &config.method {
        Method::Aloha(own) => {
            let ack = (own.ack_delay, own.holds_sender);
            (None, own.backoff, own.slot, ack, own.attempt_limit, own.population)
        }
        Method::Csma(own) => {
            let ack = (own.ack_delay, own.holds_sender);
            (Some(own.persistence), own.backoff, own.slot, ack, own.attempt_limit, own.population)
        }
        Method::SlottedAloha(own) => {
            let ack = (own.ack_delay, own.holds_sender);
            (None, own.backoff, own.slot, ack, own.attempt_limit, own.population)
        }
        Method::Tdma(own) => {
            let never = Policy::aloha_uniform(SlottedAloha::SLOT, 1);
            (None, never, own.slot, (own.ack_delay, false), own.attempt_limit, Population::Stations)
        }
        Method::CsmaCd | Method::CsmaCa(_) | Method::Plca(_) => panic!("no method of this model"),
    };
    let slots = match &config.method {
        Method::SlottedAloha(own) => {
            let (lost, arrived) = (u64::from(own.ack_delay), u64::from(own.ack_delay) * u64::from(own.holds_sender));
            Some(Slots { owners: Vec::new(), guard: farthest, arrived, lost })
        }
        Method::Tdma(own) => {
            let (owners, guard) = (own.owners.clone(), own.guard.get());
            Some(Slots { owners, guard, arrived: 0, lost: own.ack_delay.into() })
        }
        _ => None,
    };
    let mut model = Model {
        persistence,
        policy: policy.with_attempt_limit(0),
        slot: slot.get(),
        line_slot: farthest + 1,
        ack: 2 * farthest,
        late: slot.get() * u64::from(ack.0),
        holds_sender: ack.1,
        limit: limit.map(|limit| limit.get()),
        slots,
        finite: population == Population::Stations,
        config: config.clone(),
        distance,
        attached: vec![true; stations],
        faults: vec![None; stations],
        cut: None,
        serials: vec![0; stations],
        generators: (0..stations as u64).map(|number| Generator::stream(config.seed, number)).collect(),
        packets: Vec::new(),
        sounds: Vec::new(),
        episodes: 0,
        events: Vec::new(),
    };
    let mut inputs = inputs.iter().peekable();
    for now in 0..until {
        model.decisions(now);
        while let Some((_, input)) = inputs.next_if(|(at, _)| *at == now) {
            model.input(now, input);
        }
        model.signals_end(now);
        model.signals_begin(now);
    }
    let on_air = |one: Sound| (one.from, "frame", one.frame, one.begin, one.end, one.reaches);
    (model.events, model.sounds.into_iter().map(on_air).collect())
}

impl Model {
    fn emit(&mut self, now: u64, station: usize, frame: FrameId, kind: Kind) {
        self.events.push(Event { at: BitInstant::new(now), station: id(station), frame, kind });
    }

    fn stations(&self) -> usize {
        self.attached.len()
    }

    fn find(&self, frame: FrameId) -> Option<usize> {
        self.packets.iter().position(|packet| packet.id == frame)
    }

    /// A signal is at `place` in the bit time that begins at `t`.
    fn is_on(&self, sound: &Sound, place: usize, t: u64) -> bool {
        let way = self.distance[sound.from][place];
        sound.reaches[place] && sound.begin + way <= t && t < sound.end + way
    }

    /// The station at `place` hears something in the bit time that begins at `t`.
    fn is_busy(&self, place: usize, t: u64) -> bool {
        self.sounds.iter().any(|sound| !sound.unheard[place] && self.is_on(sound, place, t))
    }

    /// Both are at `place` in some bit time.
    fn overlap(&self, place: usize, one: &Sound, other: &Sound) -> bool {
        let way = |sound: &Sound| self.distance[sound.from][place];
        let there = one.reaches[place] && other.reaches[place];
        there && one.begin + way(one) < other.end + way(other) && other.begin + way(other) < one.end + way(one)
    }

    /// Nothing spoils the signal at `place`.
    fn is_whole(&self, place: usize, signal: usize) -> bool {
        let there = |sound: &Sound| {
            let way = self.distance[sound.from][place];
            (sound.from, sound.begin + way, sound.end + way)
        };
        let this = &self.sounds[signal];
        let met = |other: usize| other != signal && self.overlap(place, this, &self.sounds[other]);
        let met: Vec<_> =
            (0..self.sounds.len()).filter(|&other| met(other)).map(|it| there(&self.sounds[it])).collect();
        let capture = self.config.capture();
        met.is_empty() || capture.is_some_and(|capture| is_captured(capture, place, there(this), &met))
    }

    /// Each packet, in order of station and frame, acts in this instant.
    fn decisions(&mut self, now: u64) {
        let frames: Vec<FrameId> = self.packets.iter().map(|packet| packet.id).collect();
        for frame in frames {
            let Some(index) = self.find(frame) else { continue };
            match self.packets[index].phase {
                Phase::Ready(at) if at == now => self.ready(now, index),
                Phase::Sensing
                    if self.may_look(now, frame.station.index()) && !self.is_busy(frame.station.index(), now - 1) =>
                {
                    self.ready(now, index);
                }
                Phase::Counting(at) if at == now => self.send(now, index),
                Phase::Sent(signal) if self.judged_at(signal) == now => self.judge(now, index, signal),
                Phase::Told { at, .. } if at == now => self.told(now, index),
                _ => {}
            }
        }
    }

    /// A packet that waits for silence looks at each instant, or, if p-persistent, as each slot of the line begins.
    fn may_look(&self, now: u64, station: usize) -> bool {
        !matches!(self.persistence, Some(Persistence::Millionths(_)))
            || self.slot_of(now, station, self.line_slot).is_some()
    }

    /// The number of the slot of `length` ticks that begins now by the clock of `station`, counted from the beginning.
    fn slot_of(&self, now: u64, station: usize, length: u64) -> Option<u64> {
        let near = now / length;
        let about = near - near / 8..=near + near / 8 + 1;
        about.into_iter().find(|number| instant_of(&self.config, station, number * length) == now)
    }

    fn ready(&mut self, now: u64, index: usize) {
        let station = self.packets[index].id.station.index();
        if self.slots.is_some() && !self.owns_a_slot_from(now, station) {
            self.packets[index].phase = Phase::Ready(now + 1);
            return;
        }
        let Some(persistence) = self.persistence else { return self.send(now, index) };
        if !self.may_look(now, station) {
            self.packets[index].phase = Phase::Ready(now + 1);
            return;
        }
        if now > 0 && self.is_busy(station, now - 1) {
            self.defer(now, index);
            match persistence {
                Persistence::Non => self.give_way(now, index),
                Persistence::One | Persistence::Millionths(_) => self.packets[index].phase = Phase::Sensing,
            }
            return;
        }
        let Persistence::Millionths(millionths) = persistence else { return self.send(now, index) };
        let mut slots = 0;
        // A word is a number below 1, in 2^64ths.
        while u128::from(self.generators[station].next_u64()) * 1_000_000 / (1 << 64) >= u128::from(millionths) {
            slots += 1;
        }
        let present = self.slot_of(now, station, self.line_slot).expect("a slot begins");
        let at = instant_of(&self.config, station, (present + slots) * self.line_slot);
        // By a clock that is fast two slots of a bit time may begin in one bit time.
        if at == now { self.send(now, index) } else { self.packets[index].phase = Phase::Counting(at) }
    }

    fn defer(&mut self, now: u64, index: usize) {
        let packet = &mut self.packets[index];
        let (frame, attempt) = (packet.id, packet.attempts + 1);
        packet.deferred |= attempt == 1;
        self.emit(now, frame.station.index(), frame, Kind::Defer { attempt });
    }

    fn draw(&mut self, index: usize) -> u64 {
        let packet = &mut self.packets[index];
        packet.failures += 1;
        let law = self.policy.law(packet.failures).expect("no limit");
        law.draw_ns(&mut self.generators[packet.id.station.index()])
    }

    /// A slot begins now by the clock of `station` in which it may send.
    fn owns_a_slot_from(&self, now: u64, station: usize) -> bool {
        let number = self.slot_of(now, station, self.slot);
        number.is_some_and(|number| self.is_owner(station, number))
    }

    fn is_owner(&self, station: usize, number: u64) -> bool {
        let owners = self.slots.as_ref().map_or(&[][..], |slots| &slots.owners);
        owners.is_empty() || owners[number as usize % owners.len()] == id(station)
    }

    /// The number of the slot that begins now, or next.
    fn next_slot(&self, now: u64, station: usize) -> u64 {
        (now..).find_map(|at| self.slot_of(at, station, self.slot)).expect("slots follow each other")
    }

    /// How many slots to wait after a failure.
    fn slots_after_failure(&mut self, now: u64, index: usize) -> u64 {
        let station = self.packets[index].id.station.index();
        if self.slots.as_ref().is_none_or(|slots| slots.owners.is_empty()) {
            return self.draw(index);
        }
        let next = self.next_slot(now, station);
        (0..).find(|wait| self.is_owner(station, next + wait)).expect("a slot of its own")
    }

    fn backoff_end(&self, now: u64, index: usize, slots: u64) -> u64 {
        let station = self.packets[index].id.station.index();
        if self.slots.is_some() {
            return instant_of(&self.config, station, (self.next_slot(now, station) + slots) * self.slot);
        }
        later(&self.config, self.packets[index].id.station.index(), now, slots * self.slot)
    }

    fn give_way(&mut self, now: u64, index: usize) {
        let slots = self.draw(index) + 1;
        let until = self.backoff_end(now, index, slots);
        let packet = &mut self.packets[index];
        packet.phase = Phase::Ready(until);
        let (frame, attempt) = (packet.id, packet.attempts + 1);
        self.emit(now, frame.station.index(), frame, Kind::Backoff { attempt, slots });
    }

    fn send(&mut self, now: u64, index: usize) {
        let packet = &mut self.packets[index];
        packet.attempts += 1;
        packet.phase = Phase::Sent(self.sounds.len());
        let (frame, attempt, size, destination) = (packet.id, packet.attempts, packet.size, packet.destination);
        let from = frame.station.index();
        let sound = Sound {
            from,
            frame,
            size,
            destination,
            bad: self.faults[from] == Some(Fault::BadFcs),
            begin: now,
            end: now + 64 + 8 * u64::from(size),
            reaches: same_side(&self.config.topology, from, self.cut),
            unheard: self.faults.iter().map(|fault| matches!(fault, Some(Fault::Deaf | Fault::FullDuplex))).collect(),
            episode: None,
        };
        self.sounds.push(sound);
        self.emit(now, from, frame, Kind::Attempt { attempt, excessive_deferral: false, burst: false });
    }

    fn addressee(&self, signal: usize) -> Option<usize> {
        match self.sounds[signal].destination {
            Destination::Station(to) if to.index() != self.sounds[signal].from => Some(to.index()),
            _ => None,
        }
    }

    /// As its last bit passes its addressee, or, without one, the last place.
    fn judged_at(&self, signal: usize) -> u64 {
        let sound = &self.sounds[signal];
        let ways = &self.distance[sound.from];
        if self.slots.is_some() {
            return sound.end + ways.iter().max().expect("a place");
        }
        sound.end + self.addressee(signal).map_or_else(|| *ways.iter().max().expect("a place"), |to| ways[to])
    }

    fn judge(&mut self, now: u64, index: usize, signal: usize) {
        let places: Vec<usize> = self.addressee(signal).map_or_else(|| (0..self.stations()).collect(), |to| vec![to]);
        let this = &self.sounds[signal];
        let there = self.addressee(signal).is_none_or(|to| self.attached[to] && this.reaches[to]);
        let met: Vec<usize> = (0..self.sounds.len())
            .filter(|&other| other != signal)
            .filter(|&other| places.iter().any(|&place| self.overlap(place, this, &self.sounds[other])))
            .collect();
        let arrived = there
            && !this.bad
            && (met.is_empty() || self.addressee(signal).is_some_and(|to| self.is_whole(to, signal)));
        let collided = !met.is_empty();
        if collided {
            let party = || met.iter().chain([&signal]);
            let episode = party().filter_map(|&one| self.sounds[one].episode).min().unwrap_or_else(|| {
                self.episodes += 1;
                self.episodes
            });
            for &one in met.iter().chain([&signal]) {
                self.sounds[one].episode.get_or_insert(episode);
            }
        }
        let late = if arrived && !self.holds_sender { 0 } else { self.late };
        let at = match &self.slots {
            Some(slots) => {
                let Sound { from, begin, .. } = self.sounds[signal];
                let sent_in = self.slot_of(begin, from, self.slot).expect("it began with a slot");
                let beyond = if arrived { slots.arrived } else { slots.lost };
                instant_of(&self.config, from, (sent_in + 1 + beyond) * self.slot).max(now)
            }
            None => self.sounds[signal].end + self.ack + late,
        };
        self.packets[index].phase = Phase::Told { at, signal, arrived, collided };
        if at == now {
            self.told(now, index);
        }
    }

    fn told(&mut self, now: u64, index: usize) {
        let packet = &self.packets[index];
        let Phase::Told { signal, arrived, collided, .. } = packet.phase else { panic!("not told") };
        let (frame, attempts, from) = (packet.id, packet.attempts, packet.id.station.index());
        if arrived {
            let sound = &self.sounds[signal];
            let kind = Kind::Transmitted {
                size: Octets::new(packet.size),
                attempts,
                deferred: packet.deferred,
                access_delay: BitTimes::new(sound.begin - packet.head_since),
                mac_delay: BitTimes::new(sound.end - packet.arrived),
                extension: BitTimes::ZERO,
                no_carrier: false,
            };
            self.emit(now, from, frame, kind);
            return self.done(now, frame);
        }
        if collided {
            let episode = self.sounds[signal].episode.expect("it met another");
            self.emit(now, from, frame, Kind::Collision { attempt: attempts, late: false, episode });
        }
        let cause = match self.limit {
            Some(limit) if limit == attempts => Some(Cause::ExcessiveCollisions),
            _ if !self.attached[from] => Some(Cause::Detached),
            _ => None,
        };
        if let Some(cause) = cause {
            self.emit(now, from, frame, Kind::Discarded { cause, attempts });
            return self.done(now, frame);
        }
        let slots = self.slots_after_failure(now, index);
        self.emit(now, from, frame, Kind::Backoff { attempt: attempts, slots });
        match slots {
            0 => self.ready(now, index),
            slots => self.packets[index].phase = Phase::Ready(self.backoff_end(now, index, slots)),
        }
    }

    fn done(&mut self, now: u64, frame: FrameId) {
        self.packets.remove(self.find(frame).expect("it is there"));
        let next = self.packets.iter().position(|it| it.id.station == frame.station && it.phase == Phase::Queued);
        if let Some(next) = next {
            self.at_head(now, next);
        }
    }

    fn at_head(&mut self, now: u64, index: usize) {
        self.packets[index].head_since = now;
        self.ready(now, index);
    }

    fn input(&mut self, now: u64, input: &Input) {
        match *input {
            Input::Offer { station, frame } => self.offer(now, station.index(), frame),
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => self.attached[station.index()] = true,
            Input::Deed(Deed::Fault { station, fault }) => self.faults[station.index()] = fault,
            Input::Deed(Deed::Cut(cut)) => self.cut = cut,
            Input::Deed(Deed::Queue { limit }) => self.config.queue_limit = limit,
            Input::Deed(Deed::Plca { .. }) => panic!("a method without PLCA"),
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => {
                self.attached[station.index()] = false;
                let gone = |phase| !matches!(phase, Phase::Sent(_) | Phase::Told { .. });
                let frames: Vec<FrameId> = (self.packets.iter())
                    .filter(|it| it.id.station == station && gone(it.phase))
                    .map(|it| it.id)
                    .collect();
                for frame in frames {
                    let attempts = self.packets.remove(self.find(frame).expect("it is there")).attempts;
                    self.emit(now, station.index(), frame, Kind::Discarded { cause: Cause::Detached, attempts });
                }
            }
        }
    }

    /// A frame leaves the guard time of its slot free.
    fn fits(&self, size: Octets) -> bool {
        let padded = u64::from(size.max(self.config.parameters.min_frame_size).get());
        self.slots.as_ref().is_none_or(|slots| 64 + 8 * padded + slots.guard <= self.slot)
    }

    fn offer(&mut self, now: u64, station: usize, frame: medium::Frame) {
        self.serials[station] += 1;
        let id = FrameId { station: StationId::new(station as u16), serial: self.serials[station] };
        self.emit(now, station, id, Kind::Offered { size: frame.size });
        let waiting = self.packets.iter().filter(|it| it.id.station == id.station).count();
        let refused = |cause| Some(Kind::Discarded { cause, attempts: 0 });
        let longest = self.config.parameters.max_frame_size.get() + if frame.tagged { 4 } else { 0 };
        let refusal = if frame.size.get() < 18 {
            refused(Cause::TooShort)
        } else if frame.size.get() > longest || !self.fits(frame.size) {
            refused(Cause::TooLong)
        } else if !self.attached[station] {
            refused(Cause::Detached)
        } else if self.finite && waiting >= self.config.queue_limit {
            Some(Kind::QueueDrop)
        } else {
            None
        };
        if let Some(kind) = refusal {
            return self.emit(now, station, id, kind);
        }
        let behind = self.packets.iter().take_while(|it| it.id < id).count();
        let packet = Packet {
            id,
            size: frame.size.get().max(self.config.parameters.min_frame_size.get()),
            destination: frame.destination,
            arrived: now,
            head_since: now,
            attempts: 0,
            failures: 0,
            deferred: false,
            phase: Phase::Queued,
        };
        self.packets.insert(behind, packet);
        if !self.finite || waiting == 0 {
            self.at_head(now, behind);
        }
    }

    fn signals_end(&mut self, now: u64) {
        for place in 0..self.stations() {
            for signal in 0..self.sounds.len() {
                let sound = &self.sounds[signal];
                let is_for = match sound.destination {
                    Destination::Station(to) => to == id(place),
                    Destination::All => true,
                    Destination::Nobody | Destination::Beyond(_) => false,
                };
                let ends = sound.end + self.distance[sound.from][place] == now && sound.reaches[place];
                if !(ends && is_for && place != sound.from && self.attached[place]) {
                    continue;
                }
                let whole = !sound.bad && self.is_whole(place, signal);
                let (frame, size) = (sound.frame, Octets::new(sound.size));
                let kind = if whole { Kind::Delivered { size } } else { Kind::Damaged { bits: size.bit_times() } };
                self.emit(now, place, frame, kind);
            }
        }
    }

    /// Packets that count slots of the line give way to a signal that begins at their place.
    fn signals_begin(&mut self, now: u64) {
        for place in 0..self.stations() {
            let begins = |sound: &Sound| {
                let here = sound.reaches[place] && !sound.unheard[place];
                here && sound.begin + self.distance[sound.from][place] == now
            };
            if !self.sounds.iter().any(begins) {
                continue;
            }
            let counting = |it: &&Packet| it.id.station.index() == place && matches!(it.phase, Phase::Counting(_));
            let frames: Vec<FrameId> = self.packets.iter().filter(counting).map(|it| it.id).collect();
            for frame in frames {
                let index = self.find(frame).expect("it is there");
                self.defer(now, index);
                self.give_way(now, index);
            }
        }
    }
}
