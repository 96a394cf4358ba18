//! Timers by number, and which of them ends first; of those that end together, the lowest number.
//!
//! Those that end soon and in order as they were set (jams and gaps, and apart from them the ends of attempts) stand in
//! queues; the others (backoff) in a calendar. Ties go to the lower number, as the written order of ties wants it.
//!
//! Setting a timer again leaves its old place in a queue behind; it is passed over when its time comes.

mod calendar;
pub(crate) mod ring;

use crate::time::{BitInstant, BitTimes};
use calendar::Calendar;
use std::collections::VecDeque;

/// No instant: what has this one is not due at all.
pub(crate) const NEVER: BitInstant = BitInstant::new(u64::MAX);

/// When a timer ends, and below it its number: compared as one, so that ties go to the lower number.
pub(crate) type Key = u128;

/// No timer: later than any.
pub(crate) const NONE: Key = key(NEVER, u16::MAX);

/// The timer with number `index` that ends at `at`.
#[inline(always)]
pub(crate) const fn key(at: BitInstant, index: u16) -> Key {
    (at.get() as Key) << 16 | index as Key
}

/// Which timer it is.
#[inline(always)]
pub(crate) const fn number(key: Key) -> u16 {
    key as u16
}

/// When it ends.
#[inline(always)]
pub(crate) const fn instant(key: Key) -> BitInstant {
    BitInstant::new((key >> 16) as u64)
}

#[derive(Debug)]
pub(crate) struct Timers {
    /// When each timer ends; `NEVER` if it is not set.
    ends: Vec<BitInstant>,
    soon: Queue,
    sending: Queue,
    later: Calendar,
    /// Which timers are in it.
    is_later: Box<[bool]>,
    /// The first of the calendar.
    first_later: Key,
    /// The first of all.
    next: Key,
}

impl Timers {
    /// `timers` timers, none of them set; those that do not end soon mostly end some times `slot` later.
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

    /// Sets a timer that ends soon, and hardly before others set so far: the end of a jam, or of a gap.
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

    /// Sets a timer that ends whenever, or, at `NEVER`, stops it. `now` is no later than `at`, and no earlier than in any call before.
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

    /// Whatever timer `index` was set to holds no longer.
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

/// Timers in order of their ends; behind the first, some may have been set anew since.
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

    /// Moves the last to its place.
    fn sift(&mut self) {
        let mut place = self.others.len() - 1;
        while place > 0 && self.others[place - 1] > self.others[place] {
            self.others.swap(place - 1, place);
            place -= 1;
        }
    }

    /// The first is over: finds the next that still ends when it says.
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

    /// Among timers that end at `at` from now, of which some are looked for in vain.
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
            // What was done last holds.
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
