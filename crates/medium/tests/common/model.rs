//! The reference model: CSMA/CD as the processes of IEEE 802.3, 4.2.8 have it, one bit time after the other.
//!
//! Slow on purpose, and written independently of the engine: at every instant each station's two machines examine the
//! signals at their place, derived anew from the list of all signals. It has no agenda, no history of carrier, and no
//! fast path; so where it and the engine agree, the fast paths are right.
//!
//! Where neither the standard nor the contract decides, docs/fidelity.md and the public types do. Beyond them: a
//! detached station that sends discards its other frames when it has sent, if it is still detached then; whether a
//! station is attached matters at the end of a signal only; a station that sent at the same time gets no notice of a
//! fragment, but of a whole frame that was spoilt; an overlap has the number of its first detection; a frame given up
//! after a late collision draws no backoff.
//!
//! One file above 500 lines because the model is read from top to bottom, without the engine.

#[path = "signal.rs"]
#[allow(dead_code, reason = "each model uses its own part of this module")]
mod signal;

use backoff::Generator;
use medium::{
    BitInstant, BitTimes, Cause, Config, Deed, Destination, Event, Fault, Frame, FrameId, Input, Kind, Octets,
    Parameters, Place,
};
use signal::{Cut, PREAMBLE_AND_SFD, Signal, distances, id, lateness, later, same_side};
use std::collections::VecDeque;

/// The process Deference: the variable `deferring`, and the place in its loop.
#[derive(Clone, Copy, PartialEq)]
enum Deference {
    /// Not deferring, and no carrier.
    Free,
    /// Carrier; `was_transmitting` as in the Pascal.
    Busy { was_transmitting: bool },
    /// Carrier ended at `since`. Carrier in part 1 restarts the gap, unless the station was transmitting.
    Gap { since: u64, was_transmitting: bool },
}

/// The state of TransmitLinkMgmt and BitTransmitter.
#[derive(Clone, Copy, PartialEq)]
enum Transmit {
    Idle,
    /// `frameWaiting`, since when.
    Waiting {
        since: u64,
    },
    /// In a burst extension bits, which fill the gap; preamble, frame, and extension.
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
    too_long: bool,
    arrived: u64,
}

struct Station {
    attached: bool,
    serial: u64,
    queue: VecDeque<Queued>,
    /// The instant at which the first frame of the queue became the first.
    head_since: u64,
    /// Attempts of that frame, the one under way included.
    attempts: u32,
    deferred: bool,
    excess_defer: bool,
    /// `bursting`: the first bit of the burst under way.
    bursting: Option<u64>,
    /// When its last frame was transmitted.
    sent_at: Option<u64>,
    late_collision: bool,
    /// What it sends, or sent last, it began in full duplex.
    in_full_duplex: bool,
    fault: Option<Fault>,
    generator: Generator,
    deference: Deference,
    transmit: Transmit,
}

struct Model<'a> {
    config: &'a Config,
    queue_limit: usize,
    stations: Vec<Station>,
    signals: Vec<Signal>,
    gone: Vec<OnAir>,
    /// The place of the cut in the cable.
    cut: Option<Place>,
    episodes: u64,
    now: u64,
    events: Vec<Event>,
}

/// The events of `inputs` (in order of time) before instant `until`.
pub fn run(config: &Config, inputs: &[(u64, Input)], until: u64) -> Vec<Event> {
    run_and_signals(config, inputs, until).0
}

/// A signal as a model has it on its medium: sender, what it is, the frame that it is about, its first bit, the first
/// bit without it, and which places it gets to.
pub type OnAir = (usize, &'static str, FrameId, u64, u64, Vec<bool>);

/// The events, and the signals that have ended everywhere.
pub fn run_and_signals(config: &Config, inputs: &[(u64, Input)], until: u64) -> (Vec<Event>, Vec<OnAir>) {
    let stations = (0..config.topology.stations()).map(|number| Station {
        attached: true,
        serial: 0,
        queue: VecDeque::new(),
        head_since: 0,
        attempts: 0,
        deferred: false,
        excess_defer: false,
        bursting: None,
        sent_at: None,
        late_collision: false,
        in_full_duplex: false,
        fault: None,
        generator: Generator::stream(config.seed, number as u64),
        deference: Deference::Free,
        transmit: Transmit::Idle,
    });
    let (stations, signals, events) = (stations.collect(), Vec::new(), Vec::new());
    let gone = Vec::new();
    let queue_limit = config.queue_limit;
    let mut model = Model { config, queue_limit, stations, signals, gone, cut: None, episodes: 0, now: 0, events };
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
    (model.events, model.gone)
}

impl Model<'_> {
    fn parameters(&self) -> &Parameters {
        &self.config.parameters
    }

    /// carrierSense at the place of `station` during the bit time that begins at `t`: its own signal counts.
    fn carrier(&self, station: usize, t: u64) -> bool {
        self.signals.iter().any(|signal| signal.is_on(station, t) && !signal.unheard[station])
    }

    /// The signal that `station` sends.
    fn own_signal(&self, station: usize) -> &Signal {
        self.signals.iter().rev().find(|signal| signal.station == station).expect("it sends")
    }

    fn own_signal_mut(&mut self, station: usize) -> &mut Signal {
        self.signals.iter_mut().rev().find(|signal| signal.station == station).expect("it sends")
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

    /// No signal is sent or heard, and no frame waits.
    fn is_over(&self) -> bool {
        self.signals.is_empty() && self.stations.iter().all(|station| station.transmit == Transmit::Idle)
    }
}

/// First phase of an instant: each station's decisions, from what it heard up to the bit time before.
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

    /// `deferring := false; while frameWaiting do nothing`, and only then does it look at carrier again.
    fn end_of_gap(&mut self, station: usize) {
        let Deference::Gap { since, .. } = self.stations[station].deference else { return };
        if self.now < later(self.config, station, since, self.parameters().inter_packet_gap.get()) {
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
        let (now, p) = (self.now, *self.parameters());
        let this = &mut self.stations[station];
        // A station that continues a burst has not waited.
        let since = if let Transmit::Waiting { since } = this.transmit { since } else { now };
        let excessive_deferral = !this.excess_defer && now - since > p.max_defer_time.get();
        this.excess_defer |= excessive_deferral;
        this.attempts += 1;
        this.late_collision = false;
        this.transmit = Transmit::Transmitting;
        let burst = this.bursting.is_some();
        if p.burst_limit.get() > 0 {
            this.bursting.get_or_insert(now);
        }
        let attempt = this.attempts;
        self.send_head(station);
        self.emit_of_head(station, Kind::Attempt { attempt, excessive_deferral, burst });
    }

    /// Puts the signal of the first frame in the queue on the medium, as if no collision came.
    fn send_head(&mut self, station: usize) {
        let (now, p, places) = (self.now, *self.parameters(), self.stations.len());
        let this = &self.stations[station];
        let head = &this.queue[0];
        let burst_begin = this.bursting.unwrap_or(now);
        let (packet, shortest) = if burst_begin == now {
            (now, u64::from(p.min_frame_size.get() + p.extend_size.get()) * 8)
        } else {
            (now + p.inter_packet_gap.get(), 0)
        };
        // The MAU cuts off stations that babble; others never reach this limit.
        let longest = (p.jabber_limit.get() - PREAMBLE_AND_SFD) / 8;
        let size = head.size.min(Octets::new(longest as u32));
        let senses_nothing = |station: &Station| matches!(station.fault, Some(Fault::Deaf | Fault::FullDuplex));
        let mut unheard: Vec<bool> = self.stations.iter().map(senses_nothing).collect();
        // A MAC in full duplex leaves a gap after its own frame.
        unheard[station] &= this.fault == Some(Fault::Deaf);
        let late = lateness(self.config, station, now);
        self.signals.push(Signal {
            station,
            frame: head.id,
            size,
            destination: head.destination,
            too_long: head.too_long,
            bad_fcs: this.fault == Some(Fault::BadFcs),
            no_carrier: this.fault == Some(Fault::Deaf),
            begin: now,
            packet,
            end: packet + PREAMBLE_AND_SFD + size.bit_times().get().max(shortest),
            burst_begin,
            cut: None,
            episode: None,
            distance: distances(&self.config.topology, station)
                .iter()
                .zip(late)
                .map(|(way, late)| way + late)
                .collect(),
            spoilt: vec![false; places],
            spoken_over: vec![false; places],
            unheard,
            reaches: same_side(&self.config.topology, station, self.cut),
        });
        self.stations[station].in_full_duplex = self.stations[station].fault == Some(Fault::FullDuplex);
    }

    /// The last bit has gone out, and no collision was detected before it had.
    fn transmitted(&mut self, station: usize) {
        let own = self.own_signal(station);
        let this = &self.stations[station];
        let head = &this.queue[0];
        let kind = Kind::Transmitted {
            size: own.size,
            attempts: this.attempts,
            deferred: this.deferred,
            access_delay: BitTimes::new(own.packet - this.head_since),
            mac_delay: BitTimes::new(self.now - head.arrived),
            extension: BitTimes::new(own.extension()),
            no_carrier: own.no_carrier,
        };
        self.emit_of_head(station, kind);
        self.done_with_head(station);
        let (now, limit) = (self.now, self.parameters().burst_limit.get());
        let this = &mut self.stations[station];
        // BurstTimer.
        this.bursting = this.bursting.filter(|begin| now - begin < limit);
        this.sent_at = Some(now);
        self.frame_or_idle(station);
    }

    /// A frame is there in the instant in which the one before it has ended, and BurstTimer has not ended the burst. An
    /// implementation that knows its queue sends no extension bits without a following packet (802.3, 4.2.8,
    /// interPacketSignal).
    fn burst_goes_on(&self, station: usize) -> bool {
        let this = &self.stations[station];
        this.bursting.is_some() && this.sent_at == Some(self.now)
    }

    fn end_of_jam(&mut self, station: usize) {
        let (limit, backoff_limit) = (self.parameters().attempt_limit.get(), self.parameters().backoff_limit);
        let (now, slot_time) = (self.now, self.parameters().slot_time.get());
        let extend = self.parameters().extend_size.get() > 0;
        let this = &mut self.stations[station];
        let (attempts, attached) = (this.attempts, this.attached);
        let exponent = attempts.min(backoff_limit);
        self.emit_of_head(station, Kind::JamEnd { attempt: attempts });
        // `while ... and (not extend or lateCollisionCount = 0)`: no attempt follows a late collision at 1000 Mb/s.
        if extend && self.stations[station].late_collision {
            return self.give_up(station, Cause::LateCollision);
        }
        let generator = &mut self.stations[station].generator;
        let slots = match &self.config.backoff {
            None => {
                let word = generator.next_u64();
                if exponent == 0 { 0 } else { word >> (64 - exponent) }
            }
            Some(policy) if attempts < limit => policy.law(attempts.into()).expect("no limit").draw_ns(generator),
            Some(_) => 0,
        };
        if attempts == limit {
            return self.give_up(station, Cause::ExcessiveCollisions);
        }
        if !attached {
            return self.discard_all(station);
        }
        self.emit_of_head(station, Kind::Backoff { attempt: attempts, slots });
        if slots == 0 {
            return self.frame_ready(station);
        }
        self.stations[station].transmit =
            Transmit::BackingOff { until: later(self.config, station, now, slots * slot_time) };
    }

    fn give_up(&mut self, station: usize, cause: Cause) {
        let attempts = self.stations[station].attempts;
        self.emit_of_head(station, Kind::Discarded { cause, attempts });
        self.done_with_head(station);
        self.frame_or_idle(station);
    }

    fn done_with_head(&mut self, station: usize) {
        self.stations[station].queue.pop_front();
        self.new_head(station);
    }

    fn new_head(&mut self, station: usize) {
        let this = &mut self.stations[station];
        this.transmit = Transmit::Idle;
        this.head_since = self.now;
        this.attempts = 0;
        this.deferred = false;
        this.excess_defer = false;
    }

    fn frame_or_idle(&mut self, station: usize) {
        let this = &self.stations[station];
        if !this.attached {
            self.discard_all(station);
        } else if this.queue.is_empty() {
            // A burst may still continue in this instant.
        } else if self.burst_goes_on(station) {
            self.start_transmit(station);
        } else {
            self.stations[station].bursting = None;
            self.frame_ready(station);
        }
    }
}

/// Second phase: the inputs from outside.
impl Model<'_> {
    fn input(&mut self, input: &Input) {
        match *input {
            Input::Offer { station, frame } => self.offer(station.index(), frame),
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => self.detach(station.index()),
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => {
                self.stations[station.index()].attached = true
            }
            Input::Deed(Deed::Fault { station, fault }) => self.stations[station.index()].fault = fault,
            Input::Deed(Deed::Cut(cut)) => self.cut = cut,
            Input::Deed(Deed::Queue { limit }) => self.queue_limit = limit,
            Input::Deed(Deed::Plca { .. }) => {}
        }
    }

    fn offer(&mut self, station: usize, frame: Frame) {
        let (now, p) = (self.now, self.config.parameters);
        let this = &mut self.stations[station];
        this.serial += 1;
        let name = FrameId { station: id(station), serial: this.serial };
        let (attached, full) = (this.attached, this.queue.len() >= self.queue_limit);
        let babbles = this.fault == Some(Fault::Babble);
        self.emit(station, name, Kind::Offered { size: frame.size });
        // maxFrameSizeLimit: with a tag, or with everything that fits the envelope of 2000 octets (3.2.7).
        let tag = if frame.tagged { 4.min(2000_u32.saturating_sub(p.max_frame_size.get())) } else { 0 };
        let longest = p.max_frame_size.get() + tag;
        let too_long = frame.size.get() > longest;
        let refused = |cause| Some(Kind::Discarded { cause, attempts: 0 });
        let refusal = match frame.size.get() {
            ..18 => refused(Cause::TooShort),
            _ if too_long && !babbles => refused(Cause::TooLong),
            _ if !attached => refused(Cause::Detached),
            _ if full => Some(Kind::QueueDrop),
            _ => None,
        };
        if let Some(kind) = refusal {
            return self.emit(station, name, kind);
        }
        let size = frame.size.max(p.min_frame_size);
        let this = &mut self.stations[station];
        this.queue.push_back(Queued { id: name, size, destination: frame.destination, too_long, arrived: now });
        if this.queue.len() == 1 {
            self.new_head(station);
            self.frame_or_idle(station);
        }
    }

    fn detach(&mut self, station: usize) {
        self.stations[station].attached = false;
        if !self.sends(station) {
            self.discard_all(station);
        }
    }

    fn sends(&self, station: usize) -> bool {
        matches!(self.stations[station].transmit, Transmit::Transmitting | Transmit::Jamming)
    }

    /// A detached station that sends no signal (any more) gives up all its frames.
    fn discard_all(&mut self, station: usize) {
        let this = &mut self.stations[station];
        let (attempts, discarded) = (std::mem::take(&mut this.attempts), std::mem::take(&mut this.queue));
        this.transmit = Transmit::Idle;
        this.bursting = None;
        for (index, frame) in discarded.iter().enumerate() {
            let attempts = if index == 0 { attempts } else { 0 };
            self.emit(station, frame.id, Kind::Discarded { cause: Cause::Detached, attempts });
        }
    }
}

/// Third and fourth phase: the signals of the bit time that begins now.
impl Model<'_> {
    fn signals_end(&mut self) {
        for station in 0..self.stations.len() {
            for index in 0..self.signals.len() {
                let signal = &self.signals[index];
                let heard = signal.end_at(station) == self.now && signal.reaches[station];
                let heard = heard && self.stations[station].attached;
                if heard && signal.is_addressed_to(station) {
                    self.receive(station, index);
                }
            }
        }
        let now = self.now;
        for one in self.signals.extract_if(.., |signal| signal.is_gone(now)) {
            self.gone.push((one.station, "frame", one.frame, one.begin, one.end, one.reaches));
        }
    }

    fn receive(&mut self, station: usize, index: usize) {
        let (p, signal) = (self.parameters(), &self.signals[index]);
        // The rest of a station's own collision is no fragment that it receives; filling alone is no frame.
        let fragment_of_its_own = signal.cut.is_some() && signal.spoken_over[station];
        if fragment_of_its_own || signal.cut == Some(Cut::Filling) {
            return;
        }
        // `extending`: the signal after silence is as long as an extended frame, or it is a fragment (4.2.9).
        let shortest = p.min_frame_size.get() + if signal.is_first() { p.extend_size.get() } else { 0 };
        let bits = signal.bits();
        let kind = if signal.cut.is_some() && bits < u64::from(shortest) * 8 {
            Kind::Fragment { bits: BitTimes::new(bits) }
        } else if signal.cut == Some(Cut::Extension) {
            // Not `extensionOK`: frameCheckError, for any `excessBits` (4.2.9).
            Kind::Damaged { bits: BitTimes::new(bits / 8 * 8) }
        } else if signal.cut.is_some() {
            Kind::Damaged { bits: BitTimes::new(bits) }
        } else if signal.too_long {
            // Checked before the FCS (4.2.9, ReceiveDataDecap).
            Kind::TooLong { size: signal.size }
        } else if signal.spoilt[station] || signal.bad_fcs {
            // Extension bits are counted but not appended to the frame (4.2.9, BitReceiver).
            Kind::Damaged { bits: signal.size.bit_times() }
        } else {
            Kind::Delivered { size: signal.size }
        };
        self.emit(station, signal.frame, kind);
    }

    fn signals_begin(&mut self) {
        for station in 0..self.stations.len() {
            if self.heard_at(station).len() > 1 {
                self.overlap(station);
            }
            self.watch_carrier(station);
        }
    }

    /// The signals that its receiver hears. In full duplex its own is on wires of its own.
    fn heard_at(&self, station: usize) -> Vec<usize> {
        let is_apart = |signal: &Signal| signal.station == station && self.stations[station].in_full_duplex;
        let is_on = |&index: &usize| self.signals[index].is_on(station, self.now) && !is_apart(&self.signals[index]);
        (0..self.signals.len()).filter(is_on).collect()
    }

    /// More than one signal is heard at the place of `station`.
    fn overlap(&mut self, station: usize) {
        let heard = self.heard_at(station);
        let sends = heard.iter().any(|&index| self.signals[index].station == station);
        for &index in &heard {
            let signal = &mut self.signals[index];
            let packet = signal.is_packet(station, self.now);
            signal.spoilt[station] |= packet;
            signal.spoken_over[station] |= packet && sends;
        }
        if self.stations[station].transmit == Transmit::Transmitting && !self.stations[station].in_full_duplex {
            self.collision(station, &heard);
        }
    }

    /// One turn of the process Deference.
    fn watch_carrier(&mut self, station: usize) {
        let (now, part_1) = (self.now, self.parameters().inter_packet_gap_part_1.get());
        let part_1_end = |since| later(self.config, station, since, part_1);
        // Fault::Deaf also ignores the station's own transmission.
        let transmitting = self.sends(station) && !self.own_signal(station).unheard[station];
        let carrier = self.carrier(station, now);
        let this = &mut self.stations[station];
        this.deference = match this.deference {
            Deference::Free if carrier => Deference::Busy { was_transmitting: transmitting },
            Deference::Busy { was_transmitting } if carrier => {
                Deference::Busy { was_transmitting: was_transmitting || transmitting }
            }
            Deference::Busy { was_transmitting } => Deference::Gap { since: now, was_transmitting },
            Deference::Gap { since, was_transmitting: false } if carrier && now < part_1_end(since) => {
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
        let own = self.own_signal_mut(station);
        let frame_end = own.packet + PREAMBLE_AND_SFD + own.size.bit_times().get();
        let (cut, jam_at) = match now {
            _ if now < own.packet => (Cut::Filling, now),
            _ if now < frame_end => (Cut::Packet, now.max(own.packet + PREAMBLE_AND_SFD)),
            _ => (Cut::Extension, now),
        };
        own.cut = Some(cut);
        own.end = jam_at + p.jam_size.get();
        // Every collision is late, unless it hits the first packet of a burst.
        let late = !own.is_first() || now - own.begin > p.slot_time.get();
        let this = &mut self.stations[station];
        this.transmit = Transmit::Jamming;
        this.bursting = None;
        this.late_collision = late;
        let attempt = this.attempts;
        self.emit_of_head(station, Kind::Collision { attempt, late, episode });
    }
}
