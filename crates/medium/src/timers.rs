//! Timers by number, and the one that ends first; of those that end together, the lowest number.
//!
//! Timers that end soon and in the order in which they were set are in queues (one for jams and gaps, one for the ends
//! of attempts); the others (backoff) are in a calendar. Ties go to the lower number, as the written order of ties
//! wants it.
//!
//! A timer that is set again leaves its old entry in a queue; the entry is skipped when its time comes.

mod calendar;
pub(crate) mod ring;

use crate::frame::StationId;
use crate::time::{BitInstant, BitTimes};
use calendar::Calendar;
use std::collections::VecDeque;

/// An instant that never comes: an event at it is not scheduled.
pub(crate) const NEVER: BitInstant = BitInstant::new(u64::MAX);

/// A timer's end, and below it its number: compared as one number, so that ties go to the lower number.
pub(crate) type Key = u128;

/// No timer: later than every timer.
pub(crate) const NONE: Key = key(NEVER, u16::MAX);

/// The timer with number `index` that ends at `at`.
#[inline(always)]
pub(crate) const fn key(at: BitInstant, index: u16) -> Key {
    (at.get() as Key) << 16 | index as Key
}

/// The timer's number.
#[inline(always)]
pub(crate) const fn number(key: Key) -> u16 {
    key as u16
}

/// The timer's end.
#[inline(always)]
pub(crate) const fn instant(key: Key) -> BitInstant {
    BitInstant::new((key >> 16) as u64)
}

/// An event of a station at `at`, and a number of its frame: compared as one, so that ties go to the lower station and then to
/// the lower number.
///
/// There are less than 2^48 frames: at 10 Mb/s they take longer than 500 years.
#[inline(always)]
pub(crate) const fn event_key(at: BitInstant, station: StationId, number: u64) -> u128 {
    (at.get() as u128) << 64 | (station.index() as u128) << 48 | (number & ((1 << 48) - 1)) as u128
}

/// Its instant.
#[inline(always)]
pub(crate) const fn event_instant(key: u128) -> BitInstant {
    BitInstant::new((key >> 64) as u64)
}

#[derive(Debug)]
pub(crate) struct Timers {
    /// The end of each timer; `NEVER` if it is not set.
    ends: Vec<BitInstant>,
    soon: Queue,
    sending: Queue,
    later: Calendar,
    /// Which timers are in the calendar.
    is_later: Box<[bool]>,
    /// The first of the calendar.
    first_later: Key,
    /// The first of all.
    next: Key,
}

impl Timers {
    /// `timers` timers, none of them set; those that do not end soon mostly end a few times `slot` later.
    pub fn new(timers: usize, slot: BitTimes) -> Timers {
        Timers {
            ends: vec![NEVER; timers],
            soon: Queue::new(),
            sending: Queue::new(),
            later: Calendar::new(timers, slot),
            is_later: vec![false; timers].into(),
            first_later: NONE,
            next: NONE,
        }
    }

    /// The timer that ends first.
    #[inline(always)]
    pub fn first(&self) -> Key {
        self.next
    }

    /// When the first timer ends; `NEVER` if there is none.
    #[inline(always)]
    pub fn next(&self) -> BitInstant {
        instant(self.next)
    }

    /// Takes out the timer that ends first, and gives its number.
    #[inline(always)]
    pub fn take(&mut self) -> usize {
        let index = number(self.next);
        self.ends[usize::from(index)] = NEVER;
        if self.soon.first == self.next {
            self.soon.look(&self.ends);
        }
        if self.sending.first == self.next {
            self.sending.look(&self.ends);
        }
        if self.first_later == self.next {
            self.later.take_first(&self.ends);
            self.is_later[usize::from(index)] = false;
            self.first_later = self.later.first();
        }
        self.look();
        index.into()
    }

    /// Sets a timer that ends soon, and hardly ever before others set so far: the end of a jam, or of a gap.
    #[inline]
    pub fn set_soon(&mut self, index: usize, at: BitInstant) {
        self.unset(index);
        self.ends[index] = at;
        self.soon.insert(key(at, index as u16));
        self.look();
    }

    /// Sets a timer for the end of an attempt.
    #[inline]
    pub fn set_sending(&mut self, index: usize, at: BitInstant) {
        self.unset(index);
        self.ends[index] = at;
        self.sending.insert(key(at, index as u16));
        self.look();
    }

    /// Sets a timer with any end, or, at `NEVER`, stops it. `now` is no later than `at`, and no earlier than in any
    /// call before.
    #[inline]
    pub fn set(&mut self, index: usize, now: BitInstant, at: BitInstant) {
        self.unset(index);
        if at != NEVER {
            self.ends[index] = at;
            self.later.set(now, key(at, index as u16));
            self.is_later[index] = true;
        }
        self.first_later = self.later.first();
        self.look();
    }

    #[inline]
    pub fn stop(&mut self, index: usize) {
        self.unset(index);
        self.look();
    }

    /// Cancels the present end of timer `index`.
    #[inline(always)]
    fn unset(&mut self, index: usize) {
        let end = std::mem::replace(&mut self.ends[index], NEVER);
        if end != NEVER {
            self.forget(index as u16, end);
        }
    }

    fn forget(&mut self, index: u16, end: BitInstant) {
        if std::mem::replace(&mut self.is_later[usize::from(index)], false) {
            self.later.stop(key(end, index), &self.ends);
            self.first_later = self.later.first();
        }
        if number(self.soon.first) == index {
            self.soon.look(&self.ends);
        }
        if number(self.sending.first) == index {
            self.sending.look(&self.ends);
        }
    }

    #[inline(always)]
    fn look(&mut self) {
        self.next = self.first_later.min(self.soon.first).min(self.sending.first);
    }
}

/// Timers in order of their ends; behind the first, some entries may be outdated.
#[derive(Debug)]
struct Queue {
    first: Key,
    others: VecDeque<Key>,
}

impl Queue {
    fn new() -> Queue {
        Queue { first: NONE, others: VecDeque::new() }
    }

    #[inline]
    fn insert(&mut self, timer: Key) {
        if timer < self.first {
            let second = std::mem::replace(&mut self.first, timer);
            if second != NONE {
                self.others.push_front(second);
            }
            return;
        }
        let in_order = self.others.back().is_none_or(|&last| last <= timer);
        self.others.push_back(timer);
        if !in_order {
            self.sift();
        }
    }

    /// Moves the last entry to its place.
    fn sift(&mut self) {
        let mut place = self.others.len() - 1;
        while place > 0 && self.others[place - 1] > self.others[place] {
            self.others.swap(place - 1, place);
            place -= 1;
        }
    }

    /// The first is over: finds the next entry that is still valid.
    #[inline]
    fn look(&mut self, ends: &[BitInstant]) {
        self.first = NONE;
        while let Some(timer) = self.others.pop_front() {
            if ends[usize::from(number(timer))] == instant(timer) {
                self.first = timer;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backoff::Generator;

    /// Checks timers that end at `at` from now; some of the operations are on timers that are not set.
    fn check(count: usize, mut at: impl FnMut(&mut Generator) -> u64) {
        let mut timers = Timers::new(count, BitTimes::new(512));
        let (mut plain, mut now) = (vec![None; count], BitInstant::ZERO);
        let mut generator = Generator::stream(1, count as u64);
        for _ in 0..20_000 {
            let number = (generator.next_u64() % count as u64) as usize;
            let end = now + BitTimes::new(at(&mut generator));
            match generator.next_u64() % 8 {
                0..3 => timers.set(number, now, end),
                3 => timers.set_soon(number, end),
                4 => timers.set_sending(number, end),
                5 => timers.stop(number),
                _ => {
                    if timers.next() != NEVER {
                        now = timers.next();
                        plain[timers.take()] = None;
                    }
                    continue;
                }
            }
            // The last operation counts.
            plain[number] = (timers.ends[number] != NEVER).then_some(end);
            let numbered = plain.iter().zip(0_u16..).filter_map(|(at, number)| at.map(|at| key(at, number)));
            let first = (timers.next() != NEVER).then_some(timers.first());
            assert_eq!(first, numbered.min(), "{count} timers, seed 1");
        }
    }

    #[test]
    fn the_first_is_the_earliest_and_of_those_the_lowest_number() {
        for count in [1, 2, 3, 7, 50, 1024] {
            check(count, |generator| generator.next_u64() % 40);
            check(count, |generator| generator.next_u64() % 1024 * 512);
            check(count, |generator| generator.next_u64() % (1 << (1 + generator.next_u64() % 24)));
        }
    }
}
