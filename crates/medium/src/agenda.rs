//! What is due, and in which order. Holds the written order of ties and nothing else.
//!
//! One instant, in order:
//! ```text
//!   ends of timers │ arrivals from hosts │ signals end │ signals begin │ outputs settle
//!   └───── by station number ─────┘       └──── by station number, then by transmission ────┘
//! ```

use crate::frame::{StationId, TransmissionId};
use crate::time::BitInstant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The parts of one instant, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Timers,
    Arrivals,
    SignalsEnd,
    SignalsBegin,
    Settled,
}

/// A fact that comes due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub at: BitInstant,
    pub phase: Phase,
    /// Whose timer; or at whose place; or whose transmission.
    pub station: StationId,
    /// Which setting of the timer; or which transmission.
    pub which: u64,
}

impl Due {
    pub fn timer(at: BitInstant, station: StationId, setting: u64) -> Due {
        Due { at, phase: Phase::Timers, station, which: setting }
    }

    pub fn signal_begin(at: BitInstant, place: StationId, transmission: TransmissionId) -> Due {
        Due { at, phase: Phase::SignalsBegin, station: place, which: transmission.get() }
    }

    pub fn signal_end(at: BitInstant, place: StationId, transmission: TransmissionId) -> Due {
        Due { at, phase: Phase::SignalsEnd, station: place, which: transmission.get() }
    }

    pub fn settled(at: BitInstant, source: StationId, transmission: TransmissionId) -> Due {
        Due { at, phase: Phase::Settled, station: source, which: transmission.get() }
    }
}

/// Everything that is due, earliest first.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<Due>>,
}

impl Agenda {
    pub fn push(&mut self, due: Due) {
        self.heap.push(Reverse(due));
    }

    pub fn peek(&self) -> Option<&Due> {
        self.heap.peek().map(|Reverse(due)| due)
    }

    pub fn pop(&mut self) -> Option<Due> {
        self.heap.pop().map(|Reverse(due)| due)
    }
}
