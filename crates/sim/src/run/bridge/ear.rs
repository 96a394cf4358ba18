//! What bridges and results learn of one bus, from its inputs and events alone.

use super::address::{Addresses, Clock, Number, Whom};
use crate::figures::histogram::Histogram;
use medium::{BitInstant, BitTimes, Event, FrameId, Input, Kind, Octets, StationId};
use std::collections::VecDeque;

/// A frame, wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    /// Its source address.
    pub source: Number,
    pub whom: Whom,
    pub size: Octets,
    pub tagged: bool,
    /// When its host offered it, in nanoseconds, and on which bus.
    pub born: u64,
    pub from: u16,
}

/// A port has received a frame whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// In nanoseconds.
    pub at: u64,
    /// The port's number.
    pub port: Number,
    pub frame: Carried,
}

/// Delays of frames from one bus to another, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Delays {
    pub histogram: Histogram<11>,
    pub sum: u128,
    pub longest: u64,
}

impl Delays {
    fn record(&mut self, delay: u64) {
        self.histogram.record(delay);
        self.sum += u128::from(delay);
        self.longest = self.longest.max(delay);
    }

    /// Takes in those of another run.
    pub fn add(&mut self, other: &Delays) {
        self.histogram.add(&other.histogram);
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }
}

/// A port's queue, the frame that is being sent included.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    now: u64,
    highest: u64,
}

/// A frame that a port will receive, or its addressee, at this time after its sender is done with it at most: the
/// longest way, and what the delay line of PLCA holds back (802.3, 148.4.5: under 400 BT).
const HELD_BACK: u64 = 1 << 12;

/// See the module.
#[derive(Debug)]
pub(super) struct Ear {
    bus: u16,
    clock: Clock,
    addresses: Addresses,
    /// The first port's station, and the queues' limits from there on.
    first_port: usize,
    limits: Vec<usize>,
    queues: Vec<Queue>,
    /// What ports have been given to send and not offered yet, in order.
    coming: Vec<VecDeque<Carried>>,
    /// By station: frames that may still be received, in order of their serials.
    frames: Vec<VecDeque<(u64, Carried)>>,
    serials: Vec<u64>,
    /// Frames that were sent, and from when on nothing more is received of them.
    gone: VecDeque<(BitInstant, FrameId)>,
    still_received: BitTimes,
    /// What ports have received since it was last taken, in order of time.
    pub heard: Vec<Heard>,
    /// By the bus that frames came from.
    pub crossed: Vec<Delays>,
}

impl Ear {
    pub fn new(bus: usize, buses: usize, config: &medium::Config, addresses: Addresses) -> Ear {
        let stations = config.topology.stations();
        let ports = config.ports.len();
        Ear {
            bus: bus as u16,
            clock: Clock(config.rate),
            addresses,
            first_port: stations - ports,
            limits: config.ports.clone(),
            queues: vec![Queue::default(); ports],
            coming: vec![VecDeque::new(); ports],
            frames: vec![VecDeque::new(); stations],
            serials: vec![0; stations],
            gone: VecDeque::new(),
            still_received: config.topology.longest_distance() + BitTimes::new(HELD_BACK),
            heard: Vec::new(),
            crossed: vec![Delays::default(); buses],
        }
    }

    /// A bridge will offer this frame at the port's station, behind what it was given before.
    pub fn expect(&mut self, port: StationId, frame: Carried) {
        self.coming[port.index() - self.first_port].push_back(frame);
    }

    /// The most frames that the queue of the port at `station` held.
    pub fn highest_queue(&self, station: StationId) -> u64 {
        let port = station.index() - self.first_port;
        // A frame that is dropped was never in the queue.
        self.queues[port].highest.min(self.limits[port] as u64)
    }

    fn port(&self, station: StationId) -> Option<usize> {
        station.index().checked_sub(self.first_port)
    }

    fn offered(&mut self, at: BitInstant, station: StationId, frame: medium::Frame) {
        self.serials[station.index()] += 1;
        let carried = match self.port(station) {
            Some(port) => {
                let queue = &mut self.queues[port];
                queue.now += 1;
                queue.highest = queue.highest.max(queue.now);
                self.coming[port].pop_front().expect("a port offers what it was given")
            }
            None => Carried {
                source: self.addresses.number(station),
                whom: self.addresses.whom(frame.destination),
                size: frame.size,
                tagged: frame.tagged,
                born: self.clock.nanos(at),
                from: self.bus,
            },
        };
        self.frames[station.index()].push_back((self.serials[station.index()], carried));
    }

    /// The bus is about to be given `input`.
    pub fn input(&mut self, at: BitInstant, input: &Input) {
        if let Input::Offer { station, frame } = input {
            self.offered(at, *station, *frame);
        }
    }

    /// A fact of the bus.
    #[inline]
    pub fn event(&mut self, event: &Event) {
        if let Kind::Delivered { size } = event.kind {
            self.received(event, size);
        } else if let Kind::Transmitted { .. } = event.kind {
            self.sent(event.at, event.frame);
        } else if let Kind::Discarded { .. } | Kind::QueueDrop = event.kind {
            self.leaves_queue(event.frame);
            self.forget(event.frame);
        }
    }

    /// Results count from zero from now on.
    pub fn restart(&mut self) {
        self.crossed.fill_with(Delays::default);
        self.queues.iter_mut().for_each(|queue| queue.highest = queue.now);
    }

    fn frame(&self, frame: FrameId) -> Option<&Carried> {
        let frames = &self.frames[frame.station.index()];
        let index = frames.binary_search_by_key(&frame.serial, |(serial, _)| *serial).ok()?;
        Some(&frames[index].1)
    }

    fn forget(&mut self, frame: FrameId) {
        let frames = &mut self.frames[frame.station.index()];
        if let Ok(index) = frames.binary_search_by_key(&frame.serial, |(serial, _)| *serial) {
            frames.remove(index);
        }
    }

    /// The medium is done with a frame that a port sends.
    fn leaves_queue(&mut self, frame: FrameId) {
        if let Some(port) = self.port(frame.station) {
            self.queues[port].now -= 1;
        }
    }

    fn sent(&mut self, at: BitInstant, frame: FrameId) {
        self.leaves_queue(frame);
        self.gone.push_back((at + self.still_received, frame));
        while let Some((_, gone)) = self.gone.pop_front_if(|(until, _)| *until < at) {
            self.forget(gone);
        }
    }

    fn received(&mut self, event: &Event, size: Octets) {
        let is_port = self.port(event.station).is_some();
        if !is_port && self.port(event.frame.station).is_none() {
            return;
        }
        let frame = *self.frame(event.frame).expect("a frame that was offered and may still be received");
        let (at, number) = (self.clock.nanos(event.at), self.addresses.number(event.station));
        if is_port {
            self.heard.push(Heard { at, port: number, frame: Carried { size, ..frame } });
        } else if frame.whom == Whom::One(number) {
            self.crossed[usize::from(frame.from)].record(at.saturating_sub(frame.born));
        }
    }
}
