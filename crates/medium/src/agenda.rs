//! What is due, and in which order. Holds the written order of ties and nothing else.
//!
//! One instant, in order:
//! ```text
//!   ends of timers │ arrivals from hosts │ signals end │ signals begin │ outputs settle
//!   └───── by station number ─────┘       └──── by station number, then by transmission ────┘
//! ```

use crate::frame::{StationId, TransmissionId};
use crate::time::BitInstant;
use crate::timers::Timers;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The parts of one instant, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Timers,
    Arrivals,
    SignalsEnd,
    SignalsBegin,
    Settled,
}

/// Everything that is due, earliest first.
#[derive(Debug)]
pub(crate) struct Agenda {
    pub timers: Timers,
    pub ends: Signals,
    pub begins: Signals,
    /// Whose transmission's outputs may be settled.
    pub settled: Places,
}

impl Agenda {
    pub fn new(stations: usize) -> Agenda {
        Agenda {
            timers: Timers::new(stations),
            ends: Signals::default(),
            begins: Signals::default(),
            settled: Places::default(),
        }
    }

    /// When something is due next, and which part of that instant it belongs to.
    #[inline]
    pub fn next(&self) -> Option<(BitInstant, Phase)> {
        let next = [
            (self.timers.next().map(|(at, _)| at), Phase::Timers),
            (self.ends.next(), Phase::SignalsEnd),
            (self.begins.next(), Phase::SignalsBegin),
            (self.settled.next(), Phase::Settled),
        ];
        let due = |(at, phase): (Option<BitInstant>, Phase)| Some((at?, phase));
        next.into_iter().filter_map(due).min()
    }
}

/// Signals that begin, or end.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    /// At every place but the source's at once: on a star, and there in order of time by itself.
    pub everywhere: VecDeque<(BitInstant, TransmissionId)>,
    pub at_places: Places,
}

impl Signals {
    #[inline]
    fn next(&self) -> Option<BitInstant> {
        match (self.everywhere.front(), self.at_places.next()) {
            (Some(&(one, _)), Some(other)) => Some(one.min(other)),
            (one, other) => one.map(|&(at, _)| at).or(other),
        }
    }

    pub fn push_everywhere(&mut self, at: BitInstant, transmission: TransmissionId) {
        debug_assert!(self.everywhere.back().is_none_or(|&(last, _)| last <= at), "signals do not overtake on a star");
        self.everywhere.push_back((at, transmission));
    }

    /// What is everywhere at `at`, which is no later than anything due.
    pub fn pop_everywhere(&mut self, at: BitInstant) -> Option<TransmissionId> {
        self.everywhere.pop_front_if(|&mut (front, _)| front == at).map(|(_, transmission)| transmission)
    }
}

/// Stations that something is due at, each with a transmission.
#[derive(Debug, Default)]
pub(crate) struct Places {
    heap: BinaryHeap<Reverse<(BitInstant, StationId, TransmissionId)>>,
}

impl Places {
    #[inline]
    pub fn next(&self) -> Option<BitInstant> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    pub fn push(&mut self, at: BitInstant, place: StationId, transmission: TransmissionId) {
        self.heap.push(Reverse((at, place, transmission)));
    }

    /// The first place at which something is due at `at`.
    pub fn pop(&mut self, at: BitInstant) -> Option<(StationId, TransmissionId)> {
        self.next().filter(|&next| next == at)?;
        self.heap.pop().map(|Reverse((_, place, transmission))| (place, transmission))
    }
}
