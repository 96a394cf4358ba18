//! The reference model of CSMA/CA on any line: it examines every station and every place in every bit time.
//!
//! Written independently of the engine, from IEEE 802.11, clause 10.3. Each station counts the bit times for which its
//! place has been silent and not reserved, one by one; it keeps its NAV and whether the last signal was spoilt; and a
//! receiver remembers which frames it has had. The times of the physical layers are written here a second time.
//!
//! One file above 500 lines because a model that is read beside the standard should be read in one go.

#[allow(dead_code, reason = "each model uses its own part of this module")]
#[path = "signal.rs"]
mod signal;
#[path = "../../../verify/src/times.rs"]
mod times;

use backoff::Generator;
use medium::{
    BitInstant, BitTimes, Cause, Config, CsmaCa, Deed, Destination, Event, Fault, FrameId, Input, Kind, Method, Octets,
    Place, Reach, StationId,
};
use signal::{distances, id, is_captured, is_hit, later, same_side};
use std::collections::{BTreeSet, VecDeque};
use times::Times;

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Rts,
    Cts,
    Data,
    Ack,
}

struct Sound {
    from: usize,
    what: What,
    frame: FrameId,
    size: u32,
    destination: Destination,
    bad: bool,
    begin: u64,
    end: u64,
    reserves: u64,
    /// By place.
    reaches: Vec<bool>,
    unheard: Vec<bool>,
    /// The fault of each place as the signal began there.
    faults: Vec<Option<Fault>>,
    episode: Option<u64>,
}

#[derive(Clone, Debug)]
struct Packet {
    id: FrameId,
    size: u32,
    destination: Destination,
    arrived: u64,
    head_since: u64,
    attempts: u32,
    began: u64,
    short: u32,
    long: u32,
    deferred: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Idle,
    /// May send without slots; checks at this instant whether it heard a signal since it began to wait.
    Hoping {
        look: u64,
        heard: bool,
    },
    /// Counts slots: the remaining ones, and since the present gap was over, bit times and slots.
    Counting {
        slots: u64,
        passed: (u64, u64),
        not_before: u64,
    },
    Asking {
        sound: usize,
        wants: What,
        by: u64,
        deadline: u64,
        coming: Option<usize>,
    },
    Granted(u64),
    Telling(u64),
}

struct Station {
    attached: bool,
    fault: Option<Fault>,
    serial: u64,
    generator: Generator,
    queue: VecDeque<Packet>,
    packet: Option<Packet>,
    window: u32,
    phase: Phase,
    /// Its answer: when, what, to which station, about which frame, and the reservation.
    answer: Option<(u64, What, usize, FrameId, u64)>,
    nav: u64,
    spoilt: bool,
    /// Bit times without a signal, and without signal and reservation.
    silent: u64,
    free: u64,
    has: BTreeSet<FrameId>,
    sends_until: u64,
}

struct Model {
    own: CsmaCa,
    times: Times,
    config: Config,
    distance: Vec<Vec<u64>>,
    farthest: u64,
    cut: Option<Place>,
    stations: Vec<Station>,
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
    let Method::CsmaCa(own) = &config.method else { panic!("CSMA/CA") };
    let station = |number| Station {
        attached: true,
        fault: None,
        serial: 0,
        generator: Generator::stream(config.seed, number),
        queue: VecDeque::new(),
        packet: None,
        window: own.window,
        phase: Phase::Idle,
        answer: None,
        nav: 0,
        spoilt: false,
        silent: 0,
        free: 0,
        has: BTreeSet::new(),
        sends_until: 0,
    };
    let mut model = Model {
        own: own.clone(),
        times: Times::of(own.phy),
        config: config.clone(),
        farthest: distance.iter().flatten().copied().max().unwrap_or(0),
        distance,
        cut: None,
        stations: (0..stations as u64).map(station).collect(),
        sounds: Vec::new(),
        episodes: 0,
        events: Vec::new(),
    };
    let mut inputs = inputs.iter().peekable();
    for now in 0..until {
        for station in 0..stations {
            model.decides(now, station);
            model.answers(now, station);
        }
        while let Some((_, input)) = inputs.next_if(|(at, _)| *at == now) {
            model.input(now, input);
        }
        model.signals_end(now);
        for station in 0..stations {
            model.bit_passes(now, station);
        }
    }
    let name = |what| match what {
        What::Rts => "RTS",
        What::Cts => "CTS",
        What::Data => "frame",
        What::Ack => "ACK",
    };
    let on_air = |one: Sound| (one.from, name(one.what), one.frame, one.begin, one.end, one.reaches);
    (model.events, model.sounds.into_iter().map(on_air).collect())
}

impl Model {
    fn emit(&mut self, now: u64, station: usize, frame: FrameId, kind: Kind) {
        self.events.push(Event { at: BitInstant::new(now), station: id(station), frame, kind });
    }

    fn span(&self, sound: &Sound, place: usize) -> (u64, u64) {
        let way = self.distance[sound.from][place];
        (sound.begin + way, sound.end + way)
    }

    /// Signals that may be at some place in the bit time that begins at `now` or in the one before.
    fn live(&self, now: u64) -> impl Iterator<Item = &Sound> {
        let lasts = move |sound: &&Sound| sound.end + self.farthest + 1 >= now;
        self.sounds.iter().rev().take(40).filter(lasts)
    }

    fn overlap(&self, place: usize, one: usize, other: usize) -> bool {
        let (this, that) = (&self.sounds[one], &self.sounds[other]);
        let ((a, b), (c, d)) = (self.span(this, place), self.span(that, place));
        one != other && this.reaches[place] && that.reaches[place] && a < d && c < b
    }

    fn met(&self, place: usize, sound: usize) -> Vec<usize> {
        (0..self.sounds.len()).filter(|&other| self.overlap(place, sound, other)).collect()
    }

    fn is_clear(&self, place: usize, sound: usize) -> bool {
        let there = |sound: usize| {
            let (begin, end) = self.span(&self.sounds[sound], place);
            (self.sounds[sound].from, begin, end)
        };
        let met: Vec<_> = self.met(place, sound).into_iter().map(there).collect();
        let captured = self.own.capture.as_ref().is_some_and(|capture| is_captured(capture, place, there(sound), &met));
        !self.sounds[sound].bad && (met.is_empty() || captured) && !self.has_wrong_bits(place, sound)
    }

    /// Noise hits the bits after the preamble, by the fault that the place had as the signal began there.
    fn has_wrong_bits(&self, place: usize, sound: usize) -> bool {
        let this = &self.sounds[sound];
        let (begin, end) = self.span(this, place);
        match this.faults[place] {
            Some(Fault::OneWay) => true,
            Some(Fault::BitErrors(errors)) => is_hit(errors, self.config.seed, place, begin + self.times.preamble..end),
            _ => false,
        }
    }

    /// Counts the bit time that begins at `now` at the place, silent or not.
    fn bit_passes(&mut self, now: u64, place: usize) {
        for sound in self.sounds.iter_mut().rev().take(40) {
            if sound.begin + self.distance[sound.from][place] == now {
                sound.faults[place] = self.stations[place].fault;
            }
        }
        let is_on = |sound: &Sound| {
            let (begin, end) = self.span(sound, place);
            sound.reaches[place] && !sound.unheard[place] && begin <= now && now < end
        };
        let carrier = self.live(now).any(is_on);
        let (gap_is_over, slot) = (self.gap_is_over(now, place), self.times.slot);
        let config = &self.config;
        let station = &mut self.stations[place];
        let reserved = station.nav > now;
        if let Phase::Counting { slots, passed, not_before } = &mut station.phase {
            if carrier || reserved || !gap_is_over || now < *not_before {
                *passed = (0, 0);
            } else if *slots > 0 {
                passed.0 += 1;
                if later(config, place, now + 1 - passed.0, (passed.1 + 1) * slot) <= now + 1 {
                    (*slots, passed.1) = (*slots - 1, passed.1 + 1);
                }
            }
        }
        if let Phase::Hoping { heard, .. } = &mut station.phase {
            *heard |= carrier;
        }
        station.silent = if carrier { 0 } else { station.silent + 1 };
        station.free = if carrier || reserved { 0 } else { station.free + 1 };
    }

    fn gap_is_over(&self, now: u64, station: usize) -> bool {
        self.gap_end(now, station) <= now
    }

    /// When the gap is over by the clock of the station, if its place stays silent.
    fn gap_end(&self, now: u64, station: usize) -> u64 {
        let (this, times) = (&self.stations[station], &self.times);
        let end = later(&self.config, station, now - this.free, times.difs);
        let after_spoilt = later(&self.config, station, now - this.silent, times.eifs);
        if this.spoilt { end.max(after_spoilt) } else { end }
    }

    fn later(&self, station: usize, at: u64, span: u64) -> u64 {
        later(&self.config, station, at, span)
    }

    fn decides(&mut self, now: u64, station: usize) {
        let busy = self.stations[station].sends_until > now;
        match self.stations[station].phase {
            Phase::Hoping { look, heard } if look == now => {
                if heard {
                    self.defer(now, station);
                } else if busy {
                    let look = self.stations[station].sends_until;
                    self.stations[station].phase = Phase::Hoping { look, heard };
                } else {
                    self.attempt(now, station);
                }
                self.decides_on(now, station);
            }
            Phase::Counting { .. } => self.decides_on(now, station),
            Phase::Asking { deadline, wants, coming, .. } if deadline == now => {
                self.hears_answer(now, station, wants, coming)
            }
            Phase::Granted(at) if at == now => self.use_grant(now, station),
            Phase::Telling(at) if at == now => self.succeed(now, station),
            _ => {}
        }
    }

    /// An answer has ended here, or none has come.
    fn hears_answer(&mut self, now: u64, station: usize, wants: What, coming: Option<usize>) {
        match coming.filter(|_| self.stations[station].attached) {
            None => self.fail(now, station, now),
            Some(sound) if !self.is_clear(station, sound) => {
                self.fail(now, station, self.later(station, now, self.times.difs))
            }
            Some(_) if wants == What::Cts => {
                self.stations[station].phase = Phase::Granted(self.later(station, now, self.times.sifs))
            }
            Some(_) => self.succeed(now, station),
        }
    }

    /// All slots are over, and the station may send.
    fn decides_on(&mut self, now: u64, station: usize) {
        let Phase::Counting { slots: 0, not_before, .. } = self.stations[station].phase else { return };
        if now >= not_before && self.gap_is_over(now, station) && self.stations[station].sends_until <= now {
            match self.stations[station].packet {
                Some(_) => self.attempt(now, station),
                None => self.stations[station].phase = Phase::Idle,
            }
        }
    }

    fn draw(&mut self, station: usize) -> u64 {
        let this = &mut self.stations[station];
        (u128::from(this.generator.next_u64()) * u128::from(this.window) / (1 << 64)) as u64
    }

    fn packet(&mut self, station: usize) -> &mut Packet {
        self.stations[station].packet.as_mut().expect("a packet at its turn")
    }

    fn defer(&mut self, now: u64, station: usize) {
        let slots = self.draw(station);
        self.stations[station].phase = Phase::Counting { slots, passed: (0, 0), not_before: now };
        self.packet(station).deferred = true;
        let frame = self.packet(station).id;
        self.emit(now, station, frame, Kind::Defer { attempt: 1 });
        self.emit(now, station, frame, Kind::Backoff { attempt: 0, slots });
    }

    fn sound(
        &mut self,
        now: u64,
        from: usize,
        what: What,
        packet: (FrameId, u32, Destination),
        reserves: u64,
    ) -> usize {
        let (frame, size, destination) = packet;
        let times = &self.times;
        let lasts = match what {
            What::Rts => times.rts,
            What::Cts => times.cts,
            What::Data => times.data(size),
            What::Ack => times.ack,
        };
        let mut reaches = same_side(&self.config.topology, from, self.cut);
        for (place, reaches) in reaches.iter_mut().enumerate() {
            let apart = |reach: &Reach| reach.positions[from].abs_diff(reach.positions[place]);
            *reaches &= self.own.reach.as_ref().is_none_or(|reach| apart(reach) <= reach.range);
        }
        self.stations[from].sends_until = now + lasts;
        self.sounds.push(Sound {
            from,
            what,
            frame,
            size,
            destination,
            bad: self.stations[from].fault == Some(Fault::BadFcs),
            begin: now,
            end: now + lasts,
            reserves,
            reaches,
            unheard: self
                .stations
                .iter()
                .map(|it| matches!(it.fault, Some(Fault::Deaf | Fault::OneWay | Fault::FullDuplex)))
                .collect(),
            faults: vec![None; self.stations.len()],
            episode: None,
        });
        self.sounds.len() - 1
    }

    fn attempt(&mut self, now: u64, station: usize) {
        let packet = self.packet(station);
        packet.attempts += 1;
        packet.began = now;
        let (frame, attempt, size, destination) = (packet.id, packet.attempts, packet.size, packet.destination);
        self.emit(now, station, frame, Kind::Attempt { attempt, excessive_deferral: false, burst: false });
        if !self.own.rts || destination == Destination::All {
            self.send_data(now, station);
            return;
        }
        let times = &self.times;
        let reserves = times.whole_us(3 * times.sifs + times.cts + times.data(size) + times.ack);
        self.emit(now, station, frame, Kind::Rts { attempt, reserves: BitTimes::new(reserves) });
        let sound = self.sound(now, station, What::Rts, (frame, 0, destination), reserves);
        self.ask(station, sound, What::Cts);
    }

    fn send_data(&mut self, now: u64, station: usize) -> u64 {
        let packet = self.packet(station);
        let (frame, size, destination) = (packet.id, packet.size, packet.destination);
        let for_all = destination == Destination::All;
        let reserves = if for_all { 0 } else { self.times.whole_us(self.times.sifs + self.times.ack) };
        let sound = self.sound(now, station, What::Data, (frame, size, destination), reserves);
        if for_all {
            self.stations[station].phase = Phase::Telling(self.sounds[sound].end);
        } else {
            self.ask(station, sound, What::Ack);
        }
        reserves
    }

    fn ask(&mut self, station: usize, sound: usize, wants: What) {
        let end = self.sounds[sound].end;
        let (by, deadline) =
            (self.later(station, end, self.times.window), self.later(station, end, self.times.timeout));
        self.stations[station].phase = Phase::Asking { sound, wants, by, deadline, coming: None };
    }

    fn use_grant(&mut self, now: u64, station: usize) {
        if !self.stations[station].attached {
            return self.give_up(now, station, Cause::Detached);
        }
        let (frame, attempt) = (self.packet(station).id, self.packet(station).attempts);
        let reserves = BitTimes::new(self.send_data(now, station));
        self.emit(now, station, frame, Kind::Data { attempt, reserves });
    }

    fn answers(&mut self, now: u64, station: usize) {
        let Some((_, what, to, frame, reserves)) = self.stations[station].answer.take_if(|answer| answer.0 == now)
        else {
            return;
        };
        if self.stations[station].sends_until > now {
            return;
        }
        let kind = if what == What::Cts { Kind::Cts { reserves: BitTimes::new(reserves) } } else { Kind::Ack };
        self.emit(now, station, frame, kind);
        let sound = self.sound(now, station, what, (frame, 0, Destination::Station(id(to))), reserves);
        let there = self.sounds[sound].reaches[to];
        let way = self.distance[station][to];
        let (arrives, ends) = (now + way, self.sounds[sound].end + way);
        let its_own = self.stations[to].packet.as_ref().is_some_and(|packet| packet.id == frame);
        if let Phase::Asking { wants, by, deadline, coming, .. } = &mut self.stations[to].phase
            && (there && its_own && *wants == what && arrives <= *by)
        {
            *coming = Some(sound);
            *deadline = ends;
        }
    }

    fn signals_end(&mut self, now: u64) {
        for place in 0..self.stations.len() {
            for sound in self.sounds.len().saturating_sub(40)..self.sounds.len() {
                let this = &self.sounds[sound];
                if this.reaches[place] && self.span(this, place).1 == now {
                    self.hears_out(place, sound, now);
                    self.receives(now, place, sound);
                }
            }
        }
    }

    /// NAV, and whether EIFS follows.
    fn hears_out(&mut self, place: usize, sound: usize, now: u64) {
        let this = &self.sounds[sound];
        if this.unheard[place] {
            return;
        }
        let for_me = this.from == place || this.destination == Destination::Station(id(place));
        let spoken_over = self.met(place, sound).iter().any(|&other| self.sounds[other].from == place);
        let (own, clear, until) = (this.from == place, self.is_clear(place, sound), now + this.reserves);
        let station = &mut self.stations[place];
        if own || clear {
            station.spoilt = false;
        } else if !spoken_over {
            station.spoilt = true;
        }
        if clear && !for_me {
            station.nav = station.nav.max(until);
        }
    }

    fn receives(&mut self, now: u64, place: usize, sound: usize) {
        let this = &self.sounds[sound];
        let for_me = match this.destination {
            Destination::Station(to) => to == id(place),
            Destination::All => true,
            Destination::Nobody | Destination::Beyond(_) => false,
        };
        if !for_me || place == this.from || !self.stations[place].attached {
            return;
        }
        let (what, from, frame, reserves) = (this.what, this.from, this.frame, this.reserves);
        let (size, alone) = (this.size, this.destination != Destination::All);
        if what == What::Data && this.faults[place] == Some(Fault::OneWay) {
            return;
        }
        let clear = self.is_clear(place, sound);
        let (sifs, cts) = (self.times.sifs, self.times.cts);
        let answers_at = self.later(place, now, sifs);
        match what {
            What::Rts if clear && self.stations[place].nav <= now => {
                self.stations[place].answer = Some((answers_at, What::Cts, from, frame, reserves - sifs - cts));
            }
            What::Rts => {}
            What::Data => {
                let size = Octets::new(size);
                let kind = match clear {
                    false => Kind::Damaged { bits: size.bit_times() },
                    true if alone && !self.stations[place].has.insert(frame) => Kind::Duplicate { size },
                    true => Kind::Delivered { size },
                };
                self.emit(now, place, frame, kind);
                if clear && alone {
                    self.stations[place].answer = Some((answers_at, What::Ack, from, frame, 0));
                }
            }
            What::Cts | What::Ack => {}
        }
    }

    fn succeed(&mut self, now: u64, station: usize) {
        let Packet { id, size, attempts, deferred, began, head_since, arrived, .. } = self.packet(station).clone();
        let kind = Kind::Transmitted {
            size: Octets::new(size),
            attempts,
            deferred,
            access_delay: BitTimes::new(began - head_since),
            mac_delay: BitTimes::new(now - arrived),
            extension: BitTimes::ZERO,
            no_carrier: false,
        };
        self.emit(now, station, id, kind);
        self.finish(now, station);
    }

    fn fail(&mut self, now: u64, station: usize, not_before: u64) {
        let Phase::Asking { sound, wants, coming, .. } = self.stations[station].phase else { panic!("not asking") };
        let (rts, short, long) = (self.own.rts, self.own.short_retry_limit.get(), self.own.long_retry_limit.get());
        let packet = self.packet(station);
        let (frame, attempt) = (packet.id, packet.attempts);
        let last = if rts && wants == What::Ack {
            packet.long += 1;
            packet.long >= long
        } else {
            packet.short += 1;
            packet.short >= short
        };
        if let Some(episode) = self.episode(station, sound, coming) {
            self.emit(now, station, frame, Kind::Collision { attempt, late: false, episode });
        }
        if last || !self.stations[station].attached {
            return self.give_up(now, station, if last { Cause::ExcessiveCollisions } else { Cause::Detached });
        }
        let this = &mut self.stations[station];
        this.window = (2 * this.window).min(self.own.most_window);
        let slots = self.draw(station);
        self.emit(now, station, frame, Kind::Backoff { attempt, slots });
        self.stations[station].phase = Phase::Counting { slots, passed: (0, 0), not_before };
        if not_before == now {
            self.decides_on(now, station);
        }
    }

    fn episode(&mut self, station: usize, sound: usize, coming: Option<usize>) -> Option<u64> {
        let to = match self.sounds[sound].destination {
            Destination::Station(to) if to.index() != station => Some((to.index(), sound)),
            _ => None,
        };
        let places = to.into_iter().chain(coming.map(|coming| (station, coming)));
        let (this, met) = places
            .filter(|&(place, this)| self.sounds[this].reaches[place])
            .map(|(place, this)| (this, self.met(place, this)))
            .find(|(_, met)| !met.is_empty())?;
        let party = || met.iter().chain([&this]);
        let episode = party().filter_map(|&one| self.sounds[one].episode).min().unwrap_or_else(|| {
            self.episodes += 1;
            self.episodes
        });
        for &one in met.iter().chain([&this]) {
            self.sounds[one].episode.get_or_insert(episode);
        }
        self.sounds[this].episode
    }

    fn give_up(&mut self, now: u64, station: usize, cause: Cause) {
        let (frame, attempts) = (self.packet(station).id, self.packet(station).attempts);
        self.emit(now, station, frame, Kind::Discarded { cause, attempts });
        self.finish(now, station);
    }

    fn finish(&mut self, now: u64, station: usize) {
        self.stations[station].packet = None;
        self.stations[station].window = self.own.window;
        if !self.stations[station].attached {
            self.stations[station].phase = Phase::Idle;
            return;
        }
        let slots = self.draw(station);
        if let Some(mut next) = self.stations[station].queue.pop_front() {
            next.head_since = now;
            self.emit(now, station, next.id, Kind::Backoff { attempt: 0, slots });
            self.stations[station].packet = Some(next);
        }
        let not_before = self.later(station, now, self.times.difs);
        self.stations[station].phase = Phase::Counting { slots, passed: (0, 0), not_before };
    }

    fn input(&mut self, now: u64, input: &Input) {
        match *input {
            Input::Offer { station, frame } => self.offer(now, station.index(), frame),
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => {
                self.stations[station.index()].attached = true
            }
            Input::Deed(Deed::Fault { station, fault }) => self.stations[station.index()].fault = fault,
            Input::Deed(Deed::Cut(cut)) => self.cut = cut,
            Input::Deed(Deed::Queue { limit }) => self.config.queue_limit = limit,
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => self.detach(now, station.index()),
            Input::Deed(Deed::Plca { .. }) => panic!("a method without PLCA"),
        }
    }

    fn detach(&mut self, now: u64, station: usize) {
        let this = &mut self.stations[station];
        this.attached = false;
        this.answer = None;
        match this.phase {
            Phase::Hoping { .. } | Phase::Counting { .. } => {
                this.phase = Phase::Idle;
                this.window = self.own.window;
                if let Some(Packet { id, attempts, .. }) = this.packet.take() {
                    self.emit(now, station, id, Kind::Discarded { cause: Cause::Detached, attempts });
                }
            }
            Phase::Idle | Phase::Asking { .. } | Phase::Granted(_) | Phase::Telling(_) => {}
        }
        for packet in std::mem::take(&mut self.stations[station].queue) {
            self.emit(now, station, packet.id, Kind::Discarded { cause: Cause::Detached, attempts: 0 });
        }
    }

    fn offer(&mut self, now: u64, station: usize, frame: medium::Frame) {
        let this = &mut self.stations[station];
        this.serial += 1;
        let waiting = this.queue.len() + usize::from(this.packet.is_some());
        let (attached, id) = (this.attached, FrameId { station: StationId::new(station as u16), serial: this.serial });
        self.emit(now, station, id, Kind::Offered { size: frame.size });
        let refused = |cause| Some(Kind::Discarded { cause, attempts: 0 });
        let longest = self.config.parameters.max_frame_size.get() + if frame.tagged { 4 } else { 0 };
        let refusal = if frame.size.get() < 18 {
            refused(Cause::TooShort)
        } else if frame.size.get() > longest {
            refused(Cause::TooLong)
        } else if !attached {
            refused(Cause::Detached)
        } else if waiting >= self.config.queue_limit {
            Some(Kind::QueueDrop)
        } else {
            None
        };
        if let Some(kind) = refusal {
            return self.emit(now, station, id, kind);
        }
        let size = frame.size.get().max(self.config.parameters.min_frame_size.get());
        let (arrived, head_since, destination) = (now, now, frame.destination);
        let packet = Packet {
            id,
            size,
            destination,
            arrived,
            head_since,
            attempts: 0,
            began: 0,
            short: 0,
            long: 0,
            deferred: false,
        };
        if waiting > 0 {
            return self.stations[station].queue.push_back(packet);
        }
        self.stations[station].packet = Some(packet);
        self.comes_first(now, station, id);
    }

    /// A frame whose turn comes as soon as it is offered.
    fn comes_first(&mut self, now: u64, station: usize, frame: FrameId) {
        let gap_end = self.gap_end(now, station);
        let this = &mut self.stations[station];
        match this.phase {
            Phase::Counting { slots, .. } => {
                self.emit(now, station, frame, Kind::Backoff { attempt: 0, slots });
            }
            Phase::Idle if (now > 0 && this.silent == 0) || this.nav > now => {
                self.defer(now, station);
                self.decides_on(now, station);
            }
            Phase::Idle => {
                let look = gap_end.max(now).max(this.sends_until);
                this.phase = Phase::Hoping { look, heard: false };
                self.decides(now, station);
            }
            Phase::Hoping { .. } | Phase::Asking { .. } | Phase::Granted(_) | Phase::Telling(_) => {
                panic!("it has no frame");
            }
        }
    }
}
