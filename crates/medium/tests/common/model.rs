//! The reference model: CSMA/CD as the processes of IEEE 802.3, 4.2.8 have it, one bit time after the other.
//!
//! Slow on purpose, and written without the engine in view: at every instant each station's two machines look at
//! what is heard at their place, worked out anew from the list of all signals. It knows no agenda, no history of
//! carrier, and no shortcut; so where it and the engine agree, the shortcuts are right.
//!
//! Four things that neither the standard nor the contract settles are as the engine has them: a detached station
//! that sends discards its other frames when it has sent, if it is still detached then; whether a station is
//! attached matters at the end of a signal only; a fragment is not told to a station that sent at the same time,
//! but a whole frame that was spoilt is; an overlap has the number that its first detection gave it.

use backoff::Generator;
use medium::{
    BitInstant, BitTimes, Cause, Config, Destination, Event, Frame, FrameId, Input, Kind, Octets, Parameters, StationId,
};
use std::collections::VecDeque;

/// Preamble and start frame delimiter, in bits (802.3, 4.2.5 and 4.2.6).
const PREAMBLE_AND_SFD: u64 = 64;

/// One transmission, from first to last bit at its sender's place; heard elsewhere a distance later.
struct Signal {
    station: usize,
    frame: FrameId,
    size: Octets,
    destination: Destination,
    begin: u64,
    end: u64,
    cut: bool,
    episode: Option<u64>,
    /// By place: how long it takes to get there.
    distance: Vec<u64>,
    /// By place: another signal was heard there at the same time.
    spoilt: Vec<bool>,
    /// By place: the station there sent at the same time.
    spoken_over: Vec<bool>,
}

/// The process Deference: the variable `deferring`, and where in its loop the process stands.
#[derive(Clone, Copy, PartialEq)]
enum Deference {
    /// Not deferring, and no carrier.
    Free,
    /// Carrier; `was_transmitting` as in the Pascal.
    Busy { was_transmitting: bool },
    /// Carrier ended at `since`; carrier in part 1 makes a gap start anew, unless the station was transmitting.
    Gap { since: u64, was_transmitting: bool },
}

/// TransmitLinkMgmt and BitTransmitter: where they stand.
#[derive(Clone, Copy, PartialEq)]
enum Transmit {
    Idle,
    /// `frameWaiting`, since when.
    Waiting {
        since: u64,
    },
    Transmitting,
    Jamming,
    BackingOff {
        until: u64,
    },
}

struct Queued {
    id: FrameId,
    size: Octets,
    destination: Destination,
    arrived: u64,
}

struct Station {
    attached: bool,
    serial: u64,
    queue: VecDeque<Queued>,
    /// Since when the first frame of the queue has been the first.
    head_since: u64,
    /// Attempts of that frame, the one under way included.
    attempts: u32,
    deferred: bool,
    excess_defer: bool,
    generator: Generator,
    deference: Deference,
    transmit: Transmit,
}

struct Model<'a> {
    config: &'a Config,
    stations: Vec<Station>,
    signals: Vec<Signal>,
    episodes: u64,
    now: u64,
    events: Vec<Event>,
}

/// The events of `inputs` (in order of time) before instant `until`.
pub fn run(config: &Config, inputs: &[(u64, Input)], until: u64) -> Vec<Event> {
    let stations = (0..config.topology.stations()).map(|number| Station {
        attached: true,
        serial: 0,
        queue: VecDeque::new(),
        head_since: 0,
        attempts: 0,
        deferred: false,
        excess_defer: false,
        generator: Generator::stream(config.seed, number as u64),
        deference: Deference::Free,
        transmit: Transmit::Idle,
    });
    let (stations, signals, events) = (stations.collect(), Vec::new(), Vec::new());
    let mut model = Model { config, stations, signals, episodes: 0, now: 0, events };
    let mut inputs = inputs.iter().peekable();
    for now in 0..until {
        model.now = now;
        model.decisions();
        while let Some((_, input)) = inputs.next_if(|(at, _)| *at == now) {
            model.input(input);
        }
        model.signals_end();
        model.signals_begin();
        if inputs.peek().is_none() && model.is_over() {
            break;
        }
    }
    model.events
}

impl Signal {
    /// It is heard at the place of `station` during the bit time that begins at `t`.
    fn is_heard(&self, station: usize, t: u64) -> bool {
        self.begin + self.distance[station] <= t && t < self.end + self.distance[station]
    }

    /// Its last bit was heard at the place of `station` in the bit time before `t`.
    fn ends(&self, station: usize, t: u64) -> bool {
        t == self.end + self.distance[station]
    }

    /// It is neither heard anywhere at `t` nor ends there.
    fn is_gone(&self, t: u64) -> bool {
        self.distance.iter().all(|distance| self.end + distance < t)
    }

    fn is_addressed_to(&self, station: usize) -> bool {
        station != self.station
            && match self.destination {
                Destination::Station(to) => to == id(station),
                Destination::All => true,
                Destination::Nobody => false,
            }
    }
}

impl Model<'_> {
    fn parameters(&self) -> &Parameters {
        &self.config.parameters
    }

    /// carrierSense at the place of `station` during the bit time that begins at `t`: its own signal counts.
    fn carrier(&self, station: usize, t: u64) -> bool {
        self.signals.iter().any(|signal| signal.is_heard(station, t))
    }

    /// The signal that `station` sends.
    fn own_signal(&self, station: usize) -> &Signal {
        self.signals.iter().rev().find(|signal| signal.station == station).expect("it sends")
    }

    fn emit(&mut self, station: usize, frame: FrameId, kind: Kind) {
        self.events.push(Event { at: BitInstant::new(self.now), station: id(station), frame, kind });
    }

    /// The last bit of what `station` sends went out in the bit time before.
    fn has_sent(&self, station: usize) -> bool {
        self.own_signal(station).end == self.now
    }

    fn emit_of_head(&mut self, station: usize, kind: Kind) {
        let frame = self.stations[station].queue[0].id;
        self.emit(station, frame, kind);
    }

    /// Nothing is sent, heard or waiting.
    fn is_over(&self) -> bool {
        self.signals.is_empty() && self.stations.iter().all(|station| station.transmit == Transmit::Idle)
    }
}

/// First phase of an instant: what each station decides from what it heard up to the bit time before.
impl Model<'_> {
    fn decisions(&mut self) {
        for station in 0..self.stations.len() {
            self.end_of_gap(station);
            match self.stations[station].transmit {
                Transmit::Waiting { .. } if self.stations[station].deference == Deference::Free => {
                    self.start_transmit(station);
                }
                Transmit::Transmitting if self.has_sent(station) => self.transmitted(station),
                Transmit::Jamming if self.has_sent(station) => self.end_of_jam(station),
                Transmit::BackingOff { until } if until == self.now => self.frame_ready(station),
                _ => {}
            }
        }
    }

    /// `deferring := false; while frameWaiting do nothing`, and only then is carrier looked at again.
    fn end_of_gap(&mut self, station: usize) {
        let Deference::Gap { since, .. } = self.stations[station].deference else { return };
        if self.now < since + self.parameters().inter_packet_gap.get() {
            return;
        }
        let waits = matches!(self.stations[station].transmit, Transmit::Waiting { .. });
        self.stations[station].deference = if !waits && self.carrier(station, self.now - 1) {
            Deference::Busy { was_transmitting: false }
        } else {
            Deference::Free
        };
    }

    /// `frameWaiting := true`: the next attempt is made as soon as the station is not deferring.
    fn frame_ready(&mut self, station: usize) {
        let this = &mut self.stations[station];
        this.transmit = Transmit::Waiting { since: self.now };
        if this.deference == Deference::Free {
            return self.start_transmit(station);
        }
        this.deferred |= this.attempts == 0;
        let attempt = this.attempts + 1;
        self.emit_of_head(station, Kind::Defer { attempt });
    }

    fn start_transmit(&mut self, station: usize) {
        let (now, max_defer_time) = (self.now, self.parameters().max_defer_time.get());
        let (topology, places) = (&self.config.topology, self.stations.len());
        let this = &mut self.stations[station];
        let Transmit::Waiting { since } = this.transmit else { panic!("only a waiting frame is sent") };
        let excessive_deferral = !this.excess_defer && now - since > max_defer_time;
        this.excess_defer |= excessive_deferral;
        this.attempts += 1;
        this.transmit = Transmit::Transmitting;
        let head = &this.queue[0];
        self.signals.push(Signal {
            station,
            frame: head.id,
            size: head.size,
            destination: head.destination,
            begin: now,
            end: now + PREAMBLE_AND_SFD + head.size.bit_times().get(),
            cut: false,
            episode: None,
            distance: (0..places).map(|place| topology.distance(id(station), id(place)).get()).collect(),
            spoilt: vec![false; places],
            spoken_over: vec![false; places],
        });
        let attempt = this.attempts;
        self.emit_of_head(station, Kind::Attempt { attempt, excessive_deferral, burst: false });
    }

    /// The last bit has gone out, and no collision was detected before it had.
    fn transmitted(&mut self, station: usize) {
        let begin = self.own_signal(station).begin;
        let this = &self.stations[station];
        let head = &this.queue[0];
        let kind = Kind::Transmitted {
            size: head.size,
            attempts: this.attempts,
            deferred: this.deferred,
            access_delay: BitTimes::new(begin - this.head_since),
            mac_delay: BitTimes::new(self.now - head.arrived),
            extension: BitTimes::ZERO,
            no_carrier: false,
        };
        self.emit_of_head(station, kind);
        self.done_with_head(station);
    }

    fn end_of_jam(&mut self, station: usize) {
        let (limit, backoff_limit) = (self.parameters().attempt_limit.get(), self.parameters().backoff_limit);
        let (now, slot_time) = (self.now, self.parameters().slot_time.get());
        let this = &mut self.stations[station];
        let (attempts, attached) = (this.attempts, this.attached);
        let exponent = attempts.min(backoff_limit);
        let word = this.generator.next_u64();
        let slots = if exponent == 0 { 0 } else { word >> (64 - exponent) };
        self.emit_of_head(station, Kind::JamEnd { attempt: attempts });
        if attempts == limit {
            self.emit_of_head(station, Kind::Discarded { cause: Cause::ExcessiveCollisions, attempts });
            return self.done_with_head(station);
        }
        if !attached {
            return self.discard_all(station);
        }
        self.emit_of_head(station, Kind::Backoff { attempt: attempts, slots });
        if slots == 0 {
            return self.frame_ready(station);
        }
        self.stations[station].transmit = Transmit::BackingOff { until: now + slots * slot_time };
    }

    fn done_with_head(&mut self, station: usize) {
        let now = self.now;
        let this = &mut self.stations[station];
        this.queue.pop_front();
        this.transmit = Transmit::Idle;
        self.new_head(station, now);
    }

    fn new_head(&mut self, station: usize, now: u64) {
        let this = &mut self.stations[station];
        this.head_since = now;
        this.attempts = 0;
        this.deferred = false;
        this.excess_defer = false;
        if !this.attached {
            self.discard_all(station);
        } else if !this.queue.is_empty() {
            self.frame_ready(station);
        }
    }
}

/// Second phase: what the world outside does.
impl Model<'_> {
    fn input(&mut self, input: &Input) {
        match *input {
            Input::Offer { station, frame } => self.offer(station.index(), frame),
            Input::Detach { station } => self.detach(station.index()),
            Input::Attach { station } => self.stations[station.index()].attached = true,
            Input::SetFault { .. } | Input::Timeout => {}
        }
    }

    fn offer(&mut self, station: usize, frame: Frame) {
        let (now, p) = (self.now, self.config.parameters);
        let this = &mut self.stations[station];
        this.serial += 1;
        let name = FrameId { station: id(station), serial: this.serial };
        let (attached, full) = (this.attached, this.queue.len() >= self.config.queue_limit);
        self.emit(station, name, Kind::Offered { size: frame.size });
        let longest = p.max_frame_size.get() + if frame.tagged { 4 } else { 0 };
        let refused = |cause| Some(Kind::Discarded { cause, attempts: 0 });
        let refusal = match frame.size.get() {
            ..18 => refused(Cause::TooShort),
            size if size > longest => refused(Cause::TooLong),
            _ if !attached => refused(Cause::Detached),
            _ if full => Some(Kind::QueueDrop),
            _ => None,
        };
        if let Some(kind) = refusal {
            return self.emit(station, name, kind);
        }
        let size = frame.size.max(p.min_frame_size);
        let this = &mut self.stations[station];
        this.queue.push_back(Queued { id: name, size, destination: frame.destination, arrived: now });
        if this.queue.len() == 1 {
            self.new_head(station, now);
        }
    }

    fn detach(&mut self, station: usize) {
        self.stations[station].attached = false;
        if !matches!(self.stations[station].transmit, Transmit::Transmitting | Transmit::Jamming) {
            self.discard_all(station);
        }
    }

    /// A detached station that sends nothing (any more) gives up every frame it has.
    fn discard_all(&mut self, station: usize) {
        let this = &mut self.stations[station];
        let (attempts, discarded) = (std::mem::take(&mut this.attempts), std::mem::take(&mut this.queue));
        this.transmit = Transmit::Idle;
        for (index, frame) in discarded.iter().enumerate() {
            let attempts = if index == 0 { attempts } else { 0 };
            self.emit(station, frame.id, Kind::Discarded { cause: Cause::Detached, attempts });
        }
    }
}

/// Third and fourth phase: what is heard during the bit time that begins now.
impl Model<'_> {
    fn signals_end(&mut self) {
        for station in 0..self.stations.len() {
            for index in 0..self.signals.len() {
                let signal = &self.signals[index];
                let heard = signal.ends(station, self.now) && self.stations[station].attached;
                if heard && signal.is_addressed_to(station) {
                    self.receive(station, index);
                }
            }
        }
        let now = self.now;
        self.signals.retain(|signal| !signal.is_gone(now));
    }

    fn receive(&mut self, station: usize, index: usize) {
        let signal = &self.signals[index];
        // What is left of its own collision is no fragment that a station receives.
        if signal.cut && signal.spoken_over[station] {
            return;
        }
        let bits = signal.end - signal.begin - PREAMBLE_AND_SFD;
        let short = bits < self.parameters().min_frame_size.bit_times().get();
        let bits = BitTimes::new(bits);
        let kind = if !signal.cut && !signal.spoilt[station] {
            Kind::Delivered { size: signal.size }
        } else if short {
            Kind::Fragment { bits }
        } else {
            Kind::Damaged { bits }
        };
        self.emit(station, signal.frame, kind);
    }

    fn signals_begin(&mut self) {
        for station in 0..self.stations.len() {
            let heard = self.signals.iter().filter(|signal| signal.is_heard(station, self.now)).count();
            if heard > 1 {
                self.overlap(station);
            }
            self.watch_carrier(station, heard > 0);
        }
    }

    /// More than one signal is heard at the place of `station`.
    fn overlap(&mut self, station: usize) {
        let signals = 0..self.signals.len();
        let heard: Vec<usize> = signals.filter(|&index| self.signals[index].is_heard(station, self.now)).collect();
        let sends = heard.iter().any(|&index| self.signals[index].station == station);
        for &index in &heard {
            self.signals[index].spoilt[station] = true;
            self.signals[index].spoken_over[station] |= sends;
        }
        if self.stations[station].transmit == Transmit::Transmitting {
            self.collision(station, &heard);
        }
    }

    /// One turn of the process Deference.
    fn watch_carrier(&mut self, station: usize, carrier: bool) {
        let (now, part_1) = (self.now, self.parameters().inter_packet_gap_part_1.get());
        let this = &mut self.stations[station];
        let transmitting = matches!(this.transmit, Transmit::Transmitting | Transmit::Jamming);
        this.deference = match this.deference {
            Deference::Free if carrier => Deference::Busy { was_transmitting: transmitting },
            Deference::Busy { was_transmitting } if carrier => {
                Deference::Busy { was_transmitting: was_transmitting || transmitting }
            }
            Deference::Busy { was_transmitting } => Deference::Gap { since: now, was_transmitting },
            Deference::Gap { since, was_transmitting: false } if carrier && now < since + part_1 => {
                Deference::Busy { was_transmitting: false }
            }
            same @ (Deference::Free | Deference::Gap { .. }) => same,
        };
    }

    /// `station` sends and hears `heard`, its own signal among them: preamble and SFD are finished, then the jam.
    fn collision(&mut self, station: usize, heard: &[usize]) {
        let p = *self.parameters();
        let now = self.now;
        let known = heard.iter().filter_map(|&index| self.signals[index].episode).min();
        let episode = self.own_signal(station).episode.or(known).unwrap_or_else(|| {
            self.episodes += 1;
            self.episodes
        });
        for &index in heard {
            self.signals[index].episode.get_or_insert(episode);
        }
        let own = self.signals.iter_mut().rev().find(|signal| signal.station == station).expect("it sends");
        own.cut = true;
        own.end = now.max(own.begin + PREAMBLE_AND_SFD) + p.jam_size.get();
        let late = now - own.begin > p.slot_time.get();
        let this = &mut self.stations[station];
        this.transmit = Transmit::Jamming;
        let attempt = this.attempts;
        self.emit_of_head(station, Kind::Collision { attempt, late, episode });
    }
}

fn id(station: usize) -> StationId {
    StationId::new(station as u16)
}
