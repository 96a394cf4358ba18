//! The reference model of TDMA: it goes through every bit time, and looks up the owner of every slot.
//!
//! Written independently of the engine: one list of frames for each station, no agenda, no line. A signal is a row of a
//! table with the instant of its end at each place.
#![allow(dead_code, reason = "each test file uses its own part of this module")]

use medium::{
    BitInstant, BitTimes, Cause, Config, Deed, Destination, Event, Fault, FrameId, Input, Kind, Method, Octets, Place,
    StationId, Tdma,
};
use std::collections::VecDeque;

/// A signal as a model has it on its medium: sender, what it is, the frame that it is about, its first bit, the first
/// bit without it, and which places it gets to.
pub type OnAir = (usize, &'static str, FrameId, u64, u64, Vec<bool>);

/// A frame of a station.
struct Packet {
    serial: u64,
    size: u32,
    destination: Destination,
    arrived: u64,
    head_since: u64,
    attempts: u32,
}

/// What the frame at the head of a queue waits for.
#[derive(Clone, Copy, PartialEq)]
enum Head {
    Slot,
    SlotEnd { bad: bool, begin: u64 },
    News { at: u64, arrived: bool, begin: u64 },
}

struct Node {
    attached: bool,
    bad: bool,
    serial: u64,
    queue: VecDeque<Packet>,
    head: Head,
}

/// The end of a signal at a place.
struct Ending {
    at: u64,
    place: usize,
    frame: FrameId,
    size: u32,
    bad: bool,
}

struct Model<'a> {
    config: &'a Config,
    queue_limit: usize,
    own: &'a Tdma,
    slot: u64,
    nodes: Vec<Node>,
    cut: Option<Place>,
    endings: Vec<Ending>,
    on_air: Vec<OnAir>,
    events: Vec<Event>,
}

/// The events of `inputs` (in order of time) before instant `until`.
pub fn run(config: &Config, inputs: &[(u64, Input)], until: u64) -> Vec<Event> {
    run_and_signals(config, inputs, until).0
}

/// The events, and the signals.
pub fn run_and_signals(config: &Config, inputs: &[(u64, Input)], until: u64) -> (Vec<Event>, Vec<OnAir>) {
    let Method::Tdma(own) = &config.method else { panic!("TDMA") };
    let node = |_| Node { attached: true, bad: false, serial: 0, queue: VecDeque::new(), head: Head::Slot };
    let mut model = Model {
        config,
        queue_limit: config.queue_limit,
        own,
        slot: own.slot.get(),
        nodes: (0..config.topology.stations()).map(node).collect(),
        cut: None,
        endings: Vec::new(),
        on_air: Vec::new(),
        events: Vec::new(),
    };
    let mut inputs = inputs.iter().peekable();
    for now in 0..until {
        if now.is_multiple_of(model.slot) {
            (0..model.nodes.len()).for_each(|station| model.slot_ends(now, station));
            (0..model.nodes.len()).for_each(|station| model.slot_begins(now, station));
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

    fn id(&self, station: usize) -> FrameId {
        FrameId { station: StationId::new(station as u16), serial: self.nodes[station].queue[0].serial }
    }

    /// Whether the cut lets a signal from `from` get to `to`.
    fn joins(&self, from: usize, to: usize) -> bool {
        self.cut.is_none_or(|cut| {
            let far = self.config.topology.beyond(cut).expect("a cut");
            far[from] == far[to]
        })
    }

    /// A frame that was sent in the slot before arrived if its addressee is on the medium and reached.
    fn slot_ends(&mut self, now: u64, station: usize) {
        let Head::SlotEnd { bad, begin } = self.nodes[station].head else { return };
        let reached = match self.nodes[station].queue[0].destination {
            Destination::Station(to) if to.index() != station => {
                let id = self.id(station);
                let signal = self.on_air.iter().rev().find(|one| one.2 == id).expect("it was sent");
                self.nodes[to.index()].attached && signal.5[to.index()]
            }
            _ => true,
        };
        let arrived = reached && !bad;
        let wait = if arrived { 0 } else { self.slot * u64::from(self.own.ack_delay) };
        self.nodes[station].head = Head::News { at: now + wait, arrived, begin };
    }

    fn slot_begins(&mut self, now: u64, station: usize) {
        if let Head::News { at, arrived, begin } = self.nodes[station].head
            && at == now
        {
            return self.news(now, station, arrived, begin);
        }
        self.send_if_own(now, station);
    }

    /// The owner of the slot that begins now sends the frame at the head of its queue.
    fn send_if_own(&mut self, now: u64, station: usize) {
        let owner = self.own.owners[(now / self.slot) as usize % self.own.owners.len()];
        let Node { queue, head, bad, .. } = &mut self.nodes[station];
        if owner.index() != station || queue.is_empty() || *head != Head::Slot {
            return;
        }
        *head = Head::SlotEnd { bad: *bad, begin: now };
        queue[0].attempts += 1;
        let (bad, size, destination, attempt) = (*bad, queue[0].size, queue[0].destination, queue[0].attempts);
        let frame = self.id(station);
        self.emit(now, station, frame, Kind::Attempt { attempt, excessive_deferral: false, burst: false });
        let end = now + 64 + 8 * u64::from(size);
        let reaches: Vec<bool> = (0..self.nodes.len()).map(|to| self.joins(station, to)).collect();
        for (place, reached) in reaches.iter().enumerate() {
            let is_for = match destination {
                Destination::Station(to) => to.index() == place,
                Destination::All => true,
                Destination::Nobody | Destination::Beyond(_) => false,
            };
            if is_for && place != station && *reached {
                let number = |at: usize| StationId::new(at as u16);
                let at = end + self.config.topology.distance(number(station), number(place)).get();
                self.endings.push(Ending { at, place, frame, size, bad });
            }
        }
        self.on_air.push((station, "frame", frame, now, end, reaches));
    }

    fn news(&mut self, now: u64, station: usize, arrived: bool, begin: u64) {
        let frame = self.id(station);
        let Packet { size, arrived: since, head_since, attempts, .. } = self.nodes[station].queue[0];
        let discarded = |cause| Kind::Discarded { cause, attempts };
        let kind = if arrived {
            Kind::Transmitted {
                size: Octets::new(size),
                attempts,
                deferred: false,
                access_delay: BitTimes::new(begin - head_since),
                mac_delay: BitTimes::new(begin + 64 + 8 * u64::from(size) - since),
                extension: BitTimes::ZERO,
                no_carrier: false,
            }
        } else if self.own.attempt_limit.is_some_and(|limit| limit.get() == attempts) {
            discarded(Cause::ExcessiveCollisions)
        } else if !self.nodes[station].attached {
            discarded(Cause::Detached)
        } else {
            let turn = |ahead: &u64| self.own.owners[((now / self.slot + ahead) as usize) % self.own.owners.len()];
            let slots = (0..).find(|ahead| turn(ahead).index() == station).expect("a slot");
            self.nodes[station].head = Head::Slot;
            self.emit(now, station, frame, Kind::Backoff { attempt: attempts, slots });
            return self.send_if_own(now, station);
        };
        self.emit(now, station, frame, kind);
        let node = &mut self.nodes[station];
        node.queue.pop_front();
        node.head = Head::Slot;
        if let Some(next) = node.queue.front_mut() {
            next.head_since = now;
        }
        self.send_if_own(now, station);
    }

    fn input(&mut self, now: u64, input: &Input) {
        match *input {
            Input::Offer { station, frame } => self.offer(now, station.index(), frame),
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => {
                self.nodes[station.index()].attached = true
            }
            Input::Deed(Deed::Fault { station, fault }) => {
                self.nodes[station.index()].bad = fault == Some(Fault::BadFcs)
            }
            Input::Deed(Deed::Cut(cut)) => self.cut = cut,
            Input::Deed(Deed::Queue { limit }) => self.queue_limit = limit,
            Input::Deed(Deed::Plca { .. }) => panic!("no PLCA"),
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => {
                let place = station.index();
                self.nodes[place].attached = false;
                let kept = usize::from(self.nodes[place].head != Head::Slot);
                let gone: Vec<Packet> = self.nodes[place].queue.drain(kept..).collect();
                for Packet { serial, attempts, .. } in gone {
                    let kind = Kind::Discarded { cause: Cause::Detached, attempts };
                    self.emit(now, place, FrameId { station, serial }, kind);
                }
            }
        }
    }

    fn offer(&mut self, now: u64, station: usize, offered: medium::Frame) {
        self.nodes[station].serial += 1;
        let serial = self.nodes[station].serial;
        let frame = FrameId { station: StationId::new(station as u16), serial };
        self.emit(now, station, frame, Kind::Offered { size: offered.size });
        let size = offered.size.get().max(self.config.parameters.min_frame_size.get());
        let too_long = offered.size > self.config.parameters.max_frame_size
            || 64 + 8 * u64::from(size) + self.own.guard.get() > self.slot;
        let refused = |cause| Some(Kind::Discarded { cause, attempts: 0 });
        let refusal = match () {
            () if offered.size.get() < 18 => refused(Cause::TooShort),
            () if too_long => refused(Cause::TooLong),
            () if !self.nodes[station].attached => refused(Cause::Detached),
            () if self.nodes[station].queue.len() >= self.queue_limit => Some(Kind::QueueDrop),
            () => None,
        };
        if let Some(kind) = refusal {
            return self.emit(now, station, frame, kind);
        }
        let destination = offered.destination;
        let packet = Packet { serial, size, destination, arrived: now, head_since: now, attempts: 0 };
        self.nodes[station].queue.push_back(packet);
        if now.is_multiple_of(self.slot) {
            self.send_if_own(now, station);
        }
    }

    /// By place; at one place no two signals end at one instant.
    fn signals_end(&mut self, now: u64) {
        let (mut ending, later): (Vec<Ending>, Vec<Ending>) =
            self.endings.drain(..).partition(|ending| ending.at == now);
        self.endings = later;
        ending.sort_by_key(|ending| ending.place);
        for Ending { place, frame, size, bad, .. } in ending {
            if self.nodes[place].attached {
                let size = Octets::new(size);
                let kind = if bad { Kind::Damaged { bits: size.bit_times() } } else { Kind::Delivered { size } };
                self.emit(now, place, frame, kind);
            }
        }
    }
}
