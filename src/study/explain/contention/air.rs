//! What is on a medium without collision detection, as its log tells: signals, where they are when, and who meets whom.

use super::super::Each;
use medium::{BitInstant, BitTimes, Carried, Config, Destination, Event, FrameId, Kind, Method, Octets, StationId};
use sim::words::configuration::longest_distance;
use std::collections::{HashMap, VecDeque};

/// What a signal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Frame,
    Rts,
    Cts,
    Ack,
}

/// A signal, at its sender's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    pub source: StationId,
    /// The frame, or the one that it is about.
    pub frame: FrameId,
    pub what: What,
    pub attempt: u32,
    pub begin: BitInstant,
    pub end: BitInstant,
    /// For how long after its end it reserves the medium, and for whom it does not.
    pub reserves: BitTimes,
    pub to: Option<StationId>,
    /// Which stations are on the far side of a cut of the cable, as it began.
    pub far: Option<Each>,
    /// Which stations had no carrier sense as it began, if any.
    pub deaf: Option<Each>,
}

/// A frame that is offered and not done with.
#[derive(Clone, Copy, Debug)]
struct Offered {
    size: Octets,
    destination: Option<Destination>,
}

/// The medium, as far as the log was read.
#[derive(Debug)]
pub struct Air {
    pub config: Config,
    /// Those that may still be somewhere, in order of begin.
    signals: VecDeque<Signal>,
    offered: HashMap<FrameId, Offered>,
    far: Option<Each>,
    deaf: Vec<bool>,
    longest: BitTimes,
}

impl Air {
    pub fn new(config: Config) -> Air {
        let longest = longest_distance(&config.topology);
        let deaf = vec![false; config.topology.stations()];
        Air { config, signals: VecDeque::new(), offered: HashMap::new(), far: None, deaf, longest }
    }

    /// The cable was cut, so that these are on its far side, or mended.
    pub fn cut(&mut self, far: Option<Each>) {
        self.far = far;
    }

    /// A station loses its carrier sense, or gets it back.
    pub fn set_deaf(&mut self, station: StationId, deaf: bool) {
        self.deaf[station.index()] = deaf;
    }

    /// Signals that may still be somewhere.
    pub fn signals(&self) -> impl Iterator<Item = &Signal> {
        self.signals.iter()
    }

    /// Takes an event; the signal that begins with it. `destination` is that of the frame offered last.
    pub fn event(&mut self, event: &Event, destination: Option<Destination>) -> Option<Signal> {
        let Event { at, frame, station, kind } = *event;
        let (what, attempt, reserves) = match kind {
            Kind::Offered { size } => {
                self.offered.insert(frame, Offered { size, destination });
                return None;
            }
            Kind::QueueDrop | Kind::Transmitted { .. } | Kind::Discarded { .. } => {
                self.offered.remove(&frame);
                return None;
            }
            Kind::Attempt { attempt, .. } if self.asks_first(frame) => (What::Rts, attempt, BitTimes::ZERO),
            Kind::Attempt { attempt, .. } => (What::Frame, attempt, self.reserved_by_a_frame(frame)),
            Kind::Data { attempt, reserves } => (What::Frame, attempt, reserves),
            Kind::Cts { reserves } => (What::Cts, 0, reserves),
            Kind::Ack => (What::Ack, 0, BitTimes::ZERO),
            Kind::Rts { reserves, .. } => {
                // Its attempt was told of just before.
                self.signals.iter_mut().rfind(|one| one.frame == frame).into_iter().for_each(|one| {
                    one.reserves = reserves;
                });
                return None;
            }
            Kind::Defer { .. } | Kind::Collision { .. } | Kind::JamEnd { .. } | Kind::Backoff { .. } => return None,
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } => return None,
            Kind::TooLong { .. } | Kind::Duplicate { .. } => return None,
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => return None,
        };
        self.forget(at);
        let to = match what {
            What::Frame | What::Rts => self.addressee(frame),
            What::Cts | What::Ack => Some(frame.station),
        };
        let end = at + self.lasts(frame, what);
        let far = self.far.clone();
        let deaf = self.deaf.contains(&true).then(|| self.deaf.clone().into());
        let signal = Signal { source: station, frame, what, attempt, begin: at, end, reserves, to, far, deaf };
        self.signals.push_back(signal.clone());
        Some(signal)
    }

    fn forget(&mut self, now: BitInstant) {
        while self.signals.front().is_some_and(|one| one.end + self.longest + BitTimes::new(1) < now) {
            self.signals.pop_front();
        }
    }

    /// The attempt begins with an RTS.
    fn asks_first(&self, frame: FrameId) -> bool {
        let Method::CsmaCa(own) = &self.config.method else { return false };
        own.rts && self.offered.get(&frame).is_none_or(|one| one.destination != Some(Destination::All))
    }

    /// A frame of CSMA/CA reserves the medium for its ACK.
    fn reserved_by_a_frame(&self, frame: FrameId) -> BitTimes {
        let Method::CsmaCa(own) = &self.config.method else { return BitTimes::ZERO };
        let spans = own.phy.spans();
        let is_answered = self.offered.get(&frame).is_none_or(|one| one.destination != Some(Destination::All));
        if is_answered { spans.carried(spans.sifs + spans.ack) } else { BitTimes::ZERO }
    }

    /// The one station that the frame is for, if it is another than its own.
    pub fn addressee(&self, frame: FrameId) -> Option<StationId> {
        match self.offered.get(&frame)?.destination? {
            Destination::Station(to) if to != frame.station => Some(to),
            Destination::Station(_) | Destination::All | Destination::Nobody => None,
        }
    }

    fn lasts(&self, frame: FrameId, what: What) -> BitTimes {
        let size = self.offered.get(&frame).map_or(Octets::new(0), |one| one.size);
        let carried = match what {
            What::Frame => Carried::Frame,
            What::Rts => Carried::Rts,
            What::Cts => Carried::Cts,
            What::Ack => Carried::Ack,
        };
        self.config.on_air(carried, size)
    }

    /// From when to when a signal is at a place; none if it does not get there.
    pub fn there(&self, signal: &Signal, place: StationId) -> Option<(BitInstant, BitInstant)> {
        let way = self.config.topology.distance(signal.source, place);
        let reaches = self.config.reaches(signal.source, place, signal.far.as_deref());
        reaches.then(|| (signal.begin + way, signal.end + way))
    }

    /// From when to when a station senses a signal; none if it does not get there, or the station has no carrier sense.
    pub fn heard(&self, signal: &Signal, place: StationId) -> Option<(BitInstant, BitInstant)> {
        let is_deaf = signal.deaf.as_ref().is_some_and(|deaf| deaf[place.index()]);
        self.there(signal, place).filter(|_| !is_deaf)
    }

    /// Which stations a signal gets to.
    pub fn reached(&self, signal: &Signal) -> Each {
        let stations = 0..self.config.topology.stations() as u16;
        stations.map(|place| self.there(signal, StationId::new(place)).is_some()).collect()
    }

    /// Two signals meet at `place`.
    pub fn meet_at(&self, one: &Signal, other: &Signal, place: StationId) -> bool {
        match (self.there(one, place), self.there(other, place)) {
            (Some(one), Some(other)) => one.0 < other.1 && other.0 < one.1,
            (Some(_) | None, None) | (None, Some(_)) => false,
        }
    }

    /// Where it matters to the sender of `one` that `other` meets it: at the place that it is for, or, if it is for none
    /// or does not get there, anywhere.
    pub fn meet(&self, one: &Signal, other: &Signal) -> Option<StationId> {
        let near = one.begin < other.end + self.longest + self.longest;
        if !near || other.begin > one.end + self.longest + self.longest {
            return None;
        }
        if let Some(place) = one.to.filter(|&place| self.there(one, place).is_some()) {
            return self.meet_at(one, other, place).then_some(place);
        }
        let places = (0..self.config.topology.stations() as u16).map(StationId::new);
        places.into_iter().find(|&place| self.meet_at(one, other, place))
    }
}
