//! How far a kernel can run ahead of the others: up to the first instant at which something can reach it.
//!
//! ```text
//!   another kernel may send                        the frame may arrive
//!   ├──────── preamble, shortest frame ────────────┤
//!   ┴ its request                                  ┴ this kernel runs up to here
//! ```
//! Three facts about frames hold under every access method, and nothing else about methods is used here:
//!
//! - A frame neither arrives nor is transmitted before it has been sent whole, from the begin of its last attempt.
//! - A frame is discarded by its last attempt, or because its length is wrong or its station is off the medium.
//! - An attempt begins with an event of the medium or with an input.

use medium::{
    BitInstant, BitRate, BitTimes, Config, Destination, Event, Frame, FrameId, HEADER_AND_FCS, Kind, Octets, StationId,
};

/// The first instant, in nanoseconds, at which something may reach each station.
#[derive(Clone, Debug)]
pub struct Firsts(Vec<u64>);

impl Firsts {
    /// Nothing ever reaches a station.
    pub fn new(stations: usize) -> Firsts {
        Firsts(vec![u64::MAX; stations])
    }

    /// Something may reach `station` at `at`.
    pub fn note(&mut self, station: usize, at: u64) {
        self.0[station] = self.0[station].min(at);
    }

    /// A frame of `source` may arrive at `at`.
    pub fn note_arrival(&mut self, source: StationId, to: Destination, at: u64) {
        match to {
            Destination::Station(station) => self.note(station.index(), at),
            Destination::All => (0..self.0.len()).filter(|it| *it != source.index()).for_each(|it| self.note(it, at)),
            Destination::Nobody | Destination::Beyond(_) => {}
        }
    }

    pub fn of(&self, station: usize) -> u64 {
        self.0[station]
    }
}

/// A frame that the medium has.
#[derive(Debug)]
struct Flight {
    id: FrameId,
    to: Destination,
    /// It lasts this long at least.
    lasts: BitTimes,
    /// How many attempts there were.
    attempts: u32,
    /// When the last attempt began; `None` while the station waits to repeat the frame.
    begun: Option<BitInstant>,
    /// Its station has finished with it, and its last bit is at all stations then.
    gone: Option<BitInstant>,
}

/// The frames that the medium has.
#[derive(Debug)]
pub struct Flights {
    config: Config,
    /// How long after its sender has finished with it a frame's last bit is at all stations.
    longest: BitTimes,
    all: Vec<Flight>,
}

impl Flights {
    /// None yet, on a medium made from `config`. A frame's last bit is at all stations `longest` after its sender has
    /// finished with it.
    pub fn new(config: &Config, longest: BitTimes) -> Flights {
        Flights { config: config.clone(), longest, all: Vec::new() }
    }

    /// How long the shortest frame lasts at least, in nanoseconds.
    pub fn shortest_ns(&self) -> u64 {
        self.lasts_ns(Octets::new(0))
    }

    /// The same of a frame of this size, rounded down.
    pub fn lasts_ns(&self, size: Octets) -> u64 {
        self.span_ns(self.config.lasts_at_least(size))
    }

    fn span_ns(&self, span: BitTimes) -> u64 {
        (u128::from(span.get()) * 1_000_000_000 / u128::from(self.config.rate.get())) as u64
    }

    /// Whether a frame may be discarded as it is offered, or in its first attempt.
    pub fn may_end_at_once(&self, frame: &Frame) -> bool {
        let sound = HEADER_AND_FCS..=self.config.parameters.max_frame_size;
        !sound.contains(&frame.size) || self.config.may_be_last(1)
    }

    /// A station's frame of this name is offered next.
    pub fn insert(&mut self, id: FrameId, frame: Frame) {
        let lasts = self.config.lasts_at_least(frame.size);
        self.all.push(Flight { id, to: frame.destination, lasts, attempts: 0, begun: None, gone: None });
    }

    /// Learns what has happened.
    pub fn event(&mut self, event: &Event) {
        let Some(flight) = self.all.iter_mut().find(|flight| flight.id == event.frame) else { return };
        match event.kind {
            Kind::Attempt { .. } => (flight.attempts, flight.begun) = (flight.attempts + 1, Some(event.at)),
            // After the request of this attempt.
            Kind::Data { .. } => flight.begun = Some(event.at),
            Kind::Backoff { .. } => flight.begun = None,
            Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop => {
                flight.gone = Some(event.at + self.longest);
            }
            _ => {}
        }
    }

    /// Everything before `now` has happened.
    pub fn passed(&mut self, now: BitInstant) {
        self.all.retain(|flight| flight.gone.is_none_or(|gone| gone >= now));
    }

    /// Notes when frames may arrive, and when their own stations may be done with them, if the medium has no event and no
    /// input before `floor`, and `is_attached` are its stations.
    pub fn note(&self, firsts: &mut Firsts, floor: u64, is_attached: impl Fn(StationId) -> bool) {
        let is_here = |flight: &&Flight| flight.gone.is_none_or(|gone| nanos(gone, self.config.rate) >= floor);
        for flight in self.all.iter().filter(is_here) {
            let end = match flight.begun {
                Some(begun) => nanos(begun + flight.lasts, self.config.rate).max(floor),
                None => floor.saturating_add(self.span_ns(flight.lasts)),
            };
            let source = flight.id.station;
            firsts.note_arrival(source, flight.to, end);
            if flight.gone.is_none() {
                // The one that is made, or the next one.
                let attempt = flight.attempts + u32::from(flight.begun.is_none());
                let may_end = self.config.may_be_last(attempt) || !is_attached(source);
                firsts.note(source.index(), if may_end { floor } else { end });
            }
        }
    }
}

/// A bit instant in nanoseconds, rounded up.
pub fn nanos(at: BitInstant, rate: BitRate) -> u64 {
    at.since(BitInstant::ZERO).at(rate).as_nanos() as u64
}
