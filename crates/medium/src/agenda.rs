//! The scheduled events, and their order. Holds the written order of ties and nothing else.
//!
//! One instant, in order:
//! ```text
//!   ends of timers │ arrivals from hosts │ signals end │ signals begin │ outputs settle
//!   └───── by station number ─────┘       └──── by station number, then by transmission ────┘
//! ```

use crate::frame::{StationId, TransmissionId};
use crate::time::{BitInstant, BitTimes};
use crate::timers::{Key, NEVER, Timers, event_instant, event_key, instant, key, number};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The parts of one instant after its decisions, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    SignalsEnd,
    SignalsBegin,
    Settled,
}

/// All scheduled events, earliest first.
#[derive(Debug)]
pub(crate) struct Agenda {
    pub timers: Timers,
    pub ends: Signals,
    /// Places that may fall silent. They come with the ends of signals, after these.
    pub silences: Silences,
    pub begins: Signals,
    /// Stations whose transmission's outputs may be settled.
    pub settled: Places,
}

impl Agenda {
    /// An empty agenda; `timers` timers can be set, most of them for a few times `slot`.
    pub fn new(timers: usize, slot: BitTimes) -> Agenda {
        Agenda {
            timers: Timers::new(timers, slot),
            ends: Signals::new(),
            silences: Silences::new(),
            begins: Signals::new(),
            settled: Places::new(),
        }
    }

    /// The next event that is no timer; `NEVER` if there is none.
    #[inline(always)]
    pub fn next_signal(&self) -> BitInstant {
        self.ends.next.min(self.silences.next).min(self.begins.next).min(self.settled.next)
    }

    /// The part of the instant `now` to which the next event belongs, which is no timer.
    #[inline(always)]
    pub fn phase(&self, now: BitInstant) -> Phase {
        if self.ends.next == now || self.silences.next == now {
            Phase::SignalsEnd
        } else if self.begins.next == now {
            Phase::SignalsBegin
        } else {
            Phase::Settled
        }
    }
}

/// Signals that begin, or end.
#[derive(Debug)]
pub(crate) struct Signals {
    /// At every place but the source's at once: on a star, where the queue is already in order of time.
    pub everywhere: VecDeque<(BitInstant, TransmissionId)>,
    /// No station listens to those in `everywhere`: they do not limit a run.
    held: bool,
    at_places: Places,
    next: BitInstant,
}

impl Signals {
    fn new() -> Signals {
        Signals { everywhere: VecDeque::new(), held: true, at_places: Places::new(), next: NEVER }
    }

    #[inline]
    fn look_ahead(&mut self) {
        let everywhere = self.everywhere.front().filter(|_| !self.held).map_or(NEVER, |&(at, _)| at);
        self.next = everywhere.min(self.at_places.next);
    }

    /// `tell`: some station listens to it.
    #[inline]
    pub fn push_everywhere(&mut self, at: BitInstant, transmission: TransmissionId, tell: bool) {
        debug_assert!(self.everywhere.back().is_none_or(|&(last, _)| last <= at), "signals do not overtake on a star");
        self.everywhere.push_back((at, transmission));
        if tell && self.held {
            self.let_go();
        } else if !self.held {
            self.next = self.next.min(at);
        }
    }

    /// From now on some station listens to those in `everywhere`.
    #[inline]
    pub fn let_go(&mut self) {
        self.held = false;
        self.look_ahead();
    }

    /// Removes the signals in `everywhere` before `now`, which no station heard, and gives their number.
    #[inline]
    pub fn pass_by(&mut self, now: BitInstant) -> usize {
        let mut passed = 0;
        while self.everywhere.front().is_some_and(|(at, _)| *at < now) {
            self.everywhere.pop_front();
            passed += 1;
        }
        passed
    }

    #[inline]
    pub fn push(&mut self, at: BitInstant, place: StationId, transmission: TransmissionId) {
        self.at_places.push(at, place, transmission);
        self.next = self.next.min(at);
    }

    /// Moves all signals of `everywhere` at `at`, the next instant, into `into`.
    #[inline]
    pub fn take_everywhere(&mut self, at: BitInstant, into: &mut Vec<TransmissionId>) {
        into.clear();
        while let Some(&(_, transmission)) = self.everywhere.front().filter(|(front, _)| *front == at) {
            self.everywhere.pop_front();
            into.push(transmission);
        }
        self.held |= self.everywhere.is_empty();
        self.look_ahead();
    }

    /// Removes the signals at one place.
    pub fn forget(&mut self, place: StationId) {
        self.at_places.forget(place);
        self.look_ahead();
    }

    /// The first place with an event at `at`.
    #[inline]
    pub fn pop(&mut self, at: BitInstant) -> Option<(StationId, TransmissionId)> {
        let first = self.at_places.pop(at)?;
        self.look_ahead();
        Some(first)
    }
}

/// Places that may fall silent.
#[derive(Debug)]
pub(crate) struct Silences {
    heap: BinaryHeap<Reverse<Key>>,
    next: BitInstant,
}

impl Silences {
    fn new() -> Silences {
        Silences { heap: BinaryHeap::new(), next: NEVER }
    }

    pub fn push(&mut self, at: BitInstant, place: StationId) {
        self.heap.push(Reverse(key(at, place.index() as u16)));
        self.next = self.next.min(at);
    }

    /// The first place that may fall silent at `at`.
    #[inline]
    pub fn pop(&mut self, at: BitInstant) -> Option<StationId> {
        if self.next != at {
            return None;
        }
        let first = self.heap.pop().map(|Reverse(first)| StationId::new(number(first)));
        self.next = self.heap.peek().map_or(NEVER, |Reverse(next)| instant(*next));
        first
    }
}

/// Stations with an event, each with its transmission.
#[derive(Debug)]
pub(crate) struct Places {
    heap: BinaryHeap<Reverse<Event>>,
    next: BitInstant,
}

/// When it is, the station, and the transmission: compared as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event(u128);

impl Event {
    #[inline]
    fn new(at: BitInstant, place: StationId, transmission: TransmissionId) -> Event {
        Event(event_key(at, place, transmission.get()))
    }

    #[inline]
    fn at(self) -> BitInstant {
        event_instant(self.0)
    }

    #[inline]
    fn place(self) -> StationId {
        StationId::new((self.0 >> 48) as u16)
    }

    #[inline]
    fn transmission(self) -> TransmissionId {
        TransmissionId::new(self.0 as u64 & ((1 << 48) - 1))
    }
}

impl Places {
    fn new() -> Places {
        Places { heap: BinaryHeap::new(), next: NEVER }
    }

    pub fn push(&mut self, at: BitInstant, place: StationId, transmission: TransmissionId) {
        self.heap.push(Reverse(Event::new(at, place, transmission)));
        self.next = self.next.min(at);
    }

    fn forget(&mut self, place: StationId) {
        self.heap.retain(|Reverse(event)| event.place() != place);
        self.next = self.heap.peek().map_or(NEVER, |Reverse(next)| next.at());
    }

    /// The first place with an event at `at`.
    #[inline]
    pub fn pop(&mut self, at: BitInstant) -> Option<(StationId, TransmissionId)> {
        if self.next != at {
            return None;
        }
        let first = self.heap.pop().map(|Reverse(first)| (first.place(), first.transmission()));
        self.next = self.heap.peek().map_or(NEVER, |Reverse(next)| next.at());
        first
    }
}
