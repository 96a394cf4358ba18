//! The reference model of slotted ALOHA on a star: it examines every frame in every slot.
//!
//! Written independently of the engine: it keeps a plain list of frames, and goes through all of them at the first
//! instant of each slot. It has no heap, no list of senders, and no signal; it counts the frames of a slot.

use backoff::{Generator, Policy};
use medium::{
    BitInstant, BitTimes, Cause, Config, Control, Deed, Destination, Event, Fault, FrameId, Input, Kind, Method,
    Octets, Population, SlottedAloha, StationId, Topology,
};

/// The state of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Behind others in its station's queue.
    Queued,
    /// It goes out in this slot.
    Due(u64),
    /// It goes out in a slot with a chance.
    Draws,
    /// It is in the present slot, at whose end its frames are counted.
    Sent { bad: bool },
    /// Its sender learns its fate at the beginning of this slot.
    Told { slot: u64, sent: u64, arrived: bool, episode: Option<u64> },
}

struct Packet {
    id: FrameId,
    size: u32,
    destination: Destination,
    arrived: u64,
    head_since: u64,
    attempts: u32,
    phase: Phase,
}

struct Model<'a> {
    own: &'a SlottedAloha,
    policy: Policy,
    slot: u64,
    distance: u64,
    stations: usize,
    least: u32,
    queue_limit: usize,
    attached: Vec<bool>,
    bad: Vec<bool>,
    serials: Vec<u64>,
    generators: Vec<Generator>,
    /// In order of station, then of serial.
    packets: Vec<Packet>,
    /// Ends at addressees: instant, place, order of sending, event.
    heard: Vec<(u64, usize, usize, FrameId, u32, bool)>,
    on_air: Vec<OnAir>,
    episodes: u64,
    sent: usize,
    /// The estimate of the backlog, and the slot before which it knows.
    estimated: f64,
    estimated_to: u64,
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
    let Method::SlottedAloha(own) = &config.method else { panic!("slotted ALOHA") };
    let Topology::Star { stations, distance } = config.topology else { panic!("a star") };
    let mut model = Model {
        own,
        policy: own.backoff.with_attempt_limit(0),
        slot: own.slot.get(),
        distance: if stations > 1 { distance.get() } else { 0 },
        stations,
        least: config.parameters.min_frame_size.get(),
        queue_limit: config.queue_limit,
        attached: vec![true; stations],
        bad: vec![false; stations],
        serials: vec![0; stations],
        generators: (0..stations as u64).map(|number| Generator::stream(config.seed, number)).collect(),
        packets: Vec::new(),
        heard: Vec::new(),
        on_air: Vec::new(),
        episodes: 0,
        sent: 0,
        estimated: match own.control {
            Some(Control::Estimated { arrivals_millionths }) => f64::from(arrivals_millionths) / 1e6,
            Some(Control::Known | Control::Limits(_)) | None => 0.0,
        },
        estimated_to: 0,
        events: Vec::new(),
    };
    let mut inputs = inputs.iter().peekable();
    for now in 0..until {
        if now.is_multiple_of(model.slot) {
            model.boundary(now);
        }
        while let Some((_, input)) = inputs.next_if(|(at, _)| *at == now) {
            model.input(now, input);
        }
        model.signals_end(now);
    }
    (model.events, model.on_air)
}

impl Model<'_> {
    fn emit(&mut self, now: u64, station: usize, frame: FrameId, kind: Kind) {
        self.events.push(Event { at: BitInstant::new(now), station: StationId::new(station as u16), frame, kind });
    }

    fn find(&self, id: FrameId) -> usize {
        self.packets.iter().position(|packet| packet.id == id).expect("it is there")
    }

    /// First counts the senders of the slot before; then each frame, in order, learns its fate, or goes out.
    fn boundary(&mut self, now: u64) {
        if self.packets.is_empty() {
            return;
        }
        let slot = now / self.slot;
        let together = self.packets.iter().filter(|packet| matches!(packet.phase, Phase::Sent { .. })).count();
        self.episodes += u64::from(together > 1);
        let episode = (together > 1).then_some(self.episodes);
        for packet in &mut self.packets {
            if let Phase::Sent { bad } = packet.phase {
                let there = match packet.destination {
                    Destination::Station(to) if to != packet.id.station => self.attached[to.index()],
                    _ => true,
                };
                let arrived = there && !bad && together == 1;
                let waits = !arrived || self.own.holds_sender;
                let told = slot + if waits { u64::from(self.own.ack_delay) } else { 0 };
                packet.phase = Phase::Told { slot: told, sent: slot - 1, arrived, episode };
            }
        }
        let ids: Vec<FrameId> = self.packets.iter().map(|packet| packet.id).collect();
        if self.own.control.is_some() {
            // What is not told in this slot was sent in it at the earliest.
            return self.draw_all(now, &ids, together);
        }
        for id in ids {
            let Some(index) = self.packets.iter().position(|packet| packet.id == id) else { continue };
            match self.packets[index].phase {
                Phase::Due(at) if at == slot => self.send(now, index),
                Phase::Told { slot: at, sent, arrived, episode } if at == slot => {
                    self.told(now, index, sent, arrived, episode);
                }
                _ => {}
            }
        }
    }

    /// Each frame learns its fate; then each that waits draws.
    fn draw_all(&mut self, now: u64, ids: &[FrameId], together: usize) {
        for &id in ids {
            let index = self.find(id);
            if let Phase::Told { sent, arrived, episode, .. } = self.packets[index].phase {
                self.told(now, index, sent, arrived, episode);
            }
        }
        self.estimate(now / self.slot, together);
        let waiting: Vec<FrameId> =
            self.packets.iter().filter(|packet| packet.phase == Phase::Draws).map(|packet| packet.id).collect();
        let backlog = match self.own.control {
            Some(Control::Estimated { .. }) => self.estimated,
            Some(Control::Known | Control::Limits(_)) | None => waiting.len() as f64,
        };
        let draws: Vec<bool> = (waiting.iter())
            .map(|id| {
                let generator = &mut self.generators[id.station.index()];
                backlog <= 1.0 || generator.next_u64() < (2_f64.powi(64) / backlog) as u64
            })
            .collect();
        for (id, _) in waiting.into_iter().zip(draws).filter(|(_, goes_out)| *goes_out) {
            self.send(now, self.find(id));
        }
    }

    /// Bertsekas and Gallager, 4.2.3: v falls by 1 - λ after a slot that is idle or a success, but not below λ, and grows by
    /// λ + 1/(e - 2) after a collision. Here the slots since the last time are idle but for the last.
    fn estimate(&mut self, slot: u64, together: usize) {
        let Some(Control::Estimated { arrivals_millionths }) = self.own.control else { return };
        let new = f64::from(arrivals_millionths) / 1e6;
        while self.estimated_to < slot {
            self.estimated_to += 1;
            self.estimated = match if self.estimated_to == slot { together } else { 0 } {
                0 | 1 => new.max(self.estimated + new - 1.0),
                _ => self.estimated + (new + 1.0 / (std::f64::consts::E - 2.0)),
            };
        }
    }

    fn send(&mut self, now: u64, index: usize) {
        let packet = &mut self.packets[index];
        packet.attempts += 1;
        let (id, attempt, destination, size) = (packet.id, packet.attempts, packet.destination, packet.size);
        let from = id.station.index();
        let bad = self.bad[from];
        self.packets[index].phase = Phase::Sent { bad };
        self.emit(now, from, id, Kind::Attempt { attempt, excessive_deferral: false, burst: false });
        self.sent += 1;
        let end = now + 64 + 8 * u64::from(size);
        self.on_air.push((from, "frame", id, now, end, vec![true; self.stations]));
        for place in 0..self.stations {
            let is_for = match destination {
                Destination::Station(to) => to.index() == place,
                Destination::All => true,
                Destination::Nobody | Destination::Beyond(_) => false,
            };
            if is_for && place != from {
                let end = now + 64 + u64::from(size) * 8 + self.distance;
                self.heard.push((end, place, self.sent, id, size, bad));
            }
        }
    }

    fn told(&mut self, now: u64, index: usize, sent: u64, arrived: bool, episode: Option<u64>) {
        let packet = &self.packets[index];
        let (id, size, attempts) = (packet.id, packet.size, packet.attempts);
        let from = id.station.index();
        let (begin, end) = (sent * self.slot, sent * self.slot + 64 + u64::from(size) * 8);
        if arrived {
            let kind = Kind::Transmitted {
                size: Octets::new(size),
                attempts,
                deferred: false,
                access_delay: BitTimes::new(begin - packet.head_since),
                mac_delay: BitTimes::new(end - packet.arrived),
                extension: BitTimes::ZERO,
                no_carrier: false,
            };
            self.emit(now, from, id, kind);
            return self.done(now, id);
        }
        if let Some(episode) = episode {
            self.emit(now, from, id, Kind::Collision { attempt: attempts, late: false, episode });
        }
        if self.own.attempt_limit.is_some_and(|limit| limit.get() == attempts) {
            self.emit(now, from, id, Kind::Discarded { cause: Cause::ExcessiveCollisions, attempts });
            return self.done(now, id);
        }
        if !self.attached[from] {
            self.emit(now, from, id, Kind::Discarded { cause: Cause::Detached, attempts });
            return self.done(now, id);
        }
        if self.own.control.is_some() {
            self.packets[index].phase = Phase::Draws;
            return;
        }
        let law = self.policy.law(attempts.into()).expect("no limit");
        let slots = law.draw_ns(&mut self.generators[from]);
        self.emit(now, from, id, Kind::Backoff { attempt: attempts, slots });
        if slots == 0 {
            self.send(now, index);
        } else {
            self.packets[index].phase = Phase::Due(now / self.slot + slots);
        }
    }

    fn done(&mut self, now: u64, id: FrameId) {
        let index = self.find(id);
        self.packets.remove(index);
        let next = self.packets.iter().position(|it| it.id.station == id.station && it.phase == Phase::Queued);
        if let Some(next) = next {
            self.at_head(now, next);
        }
    }

    fn at_head(&mut self, now: u64, index: usize) {
        self.packets[index].head_since = now;
        if self.own.control.is_some() {
            self.packets[index].phase = Phase::Draws;
        } else if now.is_multiple_of(self.slot) {
            self.send(now, index);
        } else {
            self.packets[index].phase = Phase::Due(now / self.slot + 1);
        }
    }

    fn input(&mut self, now: u64, input: &Input) {
        match *input {
            Input::Offer { station, frame } => self.offer(now, station.index(), frame),
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => self.attached[station.index()] = true,
            Input::Deed(Deed::Fault { station, fault }) => self.bad[station.index()] = fault == Some(Fault::BadFcs),
            Input::Deed(Deed::Queue { limit }) => self.queue_limit = limit,
            Input::Deed(Deed::Cut(_) | Deed::Plca { .. }) => panic!("a star has no cable, and no PLCA"),
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => {
                self.attached[station.index()] = false;
                let ids: Vec<FrameId> = (self.packets.iter())
                    .filter(|it| {
                        it.id.station == station && matches!(it.phase, Phase::Due(_) | Phase::Draws | Phase::Queued)
                    })
                    .map(|it| it.id)
                    .collect();
                for id in ids {
                    let attempts = self.packets.remove(self.find(id)).attempts;
                    self.emit(now, station.index(), id, Kind::Discarded { cause: Cause::Detached, attempts });
                }
            }
        }
    }

    fn offer(&mut self, now: u64, station: usize, frame: medium::Frame) {
        self.serials[station] += 1;
        let id = FrameId { station: StationId::new(station as u16), serial: self.serials[station] };
        self.emit(now, station, id, Kind::Offered { size: frame.size });
        let size = frame.size.get().max(self.least);
        let waiting = self.packets.iter().filter(|it| it.id.station == id.station).count();
        let finite = self.own.population == Population::Stations;
        let refused = |cause| Some(Kind::Discarded { cause, attempts: 0 });
        let refusal = if frame.size.get() < 18 {
            refused(Cause::TooShort)
        } else if 64 + u64::from(size) * 8 + self.distance > self.slot {
            refused(Cause::TooLong)
        } else if !self.attached[station] {
            refused(Cause::Detached)
        } else if finite && waiting >= self.queue_limit {
            Some(Kind::QueueDrop)
        } else {
            None
        };
        if let Some(kind) = refusal {
            return self.emit(now, station, id, kind);
        }
        let behind = self.packets.iter().take_while(|it| it.id < id).count();
        let (destination, phase) = (frame.destination, Phase::Queued);
        let packet = Packet { id, size, destination, arrived: now, head_since: now, attempts: 0, phase };
        self.packets.insert(behind, packet);
        if !finite || waiting == 0 {
            self.at_head(now, behind);
        }
    }

    fn signals_end(&mut self, now: u64) {
        if self.heard.iter().all(|(at, ..)| *at != now) {
            return;
        }
        let mut ending: Vec<_> = self.heard.iter().copied().filter(|(at, ..)| *at == now).collect();
        self.heard.retain(|(at, ..)| *at != now);
        ending.sort_unstable();
        for (_, place, _, id, size, bad) in ending {
            if !self.attached[place] {
                continue;
            }
            // Whether others were in its slot, which may just have ended.
            let begin = now - self.distance - 64 - u64::from(size) * 8;
            let attempts = |event: &&Event| event.at.get() == begin && matches!(event.kind, Kind::Attempt { .. });
            let whole = !bad
                && self.events.iter().rev().take_while(|event| event.at.get() >= begin).filter(attempts).count() == 1;
            let size = Octets::new(size);
            let kind = if whole { Kind::Delivered { size } } else { Kind::Damaged { bits: size.bit_times() } };
            self.emit(now, place, id, kind);
        }
    }
}
