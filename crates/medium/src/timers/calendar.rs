//! A calendar: timers in buckets, each at least a slot long, around a ring.
//!
//! ```text
//!   now                 the first bucket with timers in it          a turn of the ring from now
//!    │······│······│···current, in order···│··a, b··│······│···c··│ far: everything later, in a heap
//! ```
//! Setting a timer adds it to its bucket; only the first bucket is sorted. Backoff is a few slots of one length long,
//! so a bucket has few timers, however many there are.

use super::ring::{Filled, RING, place};
use super::{Key, NONE, instant, key, number};
use crate::time::{BitInstant, BitTimes};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No timer has this number.
const NOBODY: u16 = u16::MAX;

/// Timers with any end. The owner of the timers keeps their ends.
#[derive(Debug)]
pub(super) struct Calendar {
    /// The length of a bucket is 2 to the power of this.
    shift: u32,
    /// The timers of the first bucket, in descending order. Empty only if the ring is.
    current: Vec<Key>,
    /// The number of that bucket.
    bucket: u64,
    /// The first timer in each bucket of the ring, and which buckets have any.
    heads: Box<[u16]>,
    filled: Filled,
    /// For each timer, the next one in its bucket.
    next: Box<[u16]>,
    /// Timers that were set more than one turn of the ring ahead; some may have been stopped since.
    far: BinaryHeap<Reverse<Key>>,
    /// Whether the present end of each timer is in `far`.
    is_far: Box<[bool]>,
}

impl Calendar {
    /// Room for `timers`; most end a few times `slot` after they are set.
    pub fn new(timers: usize, slot: BitTimes) -> Calendar {
        Calendar {
            shift: slot.get().max(1).next_power_of_two().ilog2(),
            current: Vec::new(),
            bucket: 0,
            heads: vec![NOBODY; RING as usize].into(),
            filled: Filled::default(),
            next: vec![NOBODY; timers].into(),
            far: BinaryHeap::new(),
            is_far: vec![false; timers].into(),
        }
    }

    /// The timer that ends first; `NONE` if there is none.
    #[inline]
    pub fn first(&self) -> Key {
        let near = self.current.last().map_or(NONE, |&first| first);
        self.far.peek().map_or(near, |&Reverse(far)| near.min(far))
    }

    /// Sets a timer that is not set. No timer ends before `now`.
    #[inline]
    pub fn set(&mut self, now: BitInstant, timer: Key) {
        let (bucket, floor) = (instant(timer).get() >> self.shift, now.get() >> self.shift);
        let is_far = bucket.wrapping_sub(floor) >= RING;
        self.is_far[usize::from(number(timer))] = is_far;
        if is_far {
            self.far.push(Reverse(timer));
        } else if self.current.is_empty() {
            self.bucket = bucket;
            self.current.push(timer);
        } else if bucket > self.bucket {
            self.hang(bucket, number(timer));
        } else {
            self.set_early(bucket, timer);
        }
    }

    /// Adds it to the first bucket, or opens one before that.
    fn set_early(&mut self, bucket: u64, timer: Key) {
        if bucket < self.bucket {
            while let Some(later) = self.current.pop() {
                self.hang(self.bucket, number(later));
            }
            self.bucket = bucket;
        }
        let place = self.current.partition_point(|&other| other > timer);
        self.current.insert(place, timer);
    }

    /// Takes out the first timer.
    #[inline]
    pub fn take_first(&mut self, ends: &[BitInstant]) {
        if self.current.last().is_some_and(|&first| first == self.first()) {
            self.current.pop();
            if self.current.is_empty() {
                self.turn(ends);
            }
        } else {
            self.far.pop();
            self.forget_far(ends);
        }
    }

    /// Removes `timer`, which is set.
    pub fn stop(&mut self, timer: Key, ends: &[BitInstant]) {
        let (index, bucket) = (number(timer), instant(timer).get() >> self.shift);
        if self.is_far[usize::from(index)] {
            self.forget_far(ends);
        } else if bucket == self.bucket {
            self.current.retain(|&other| other != timer);
            if self.current.is_empty() {
                self.turn(ends);
            }
        } else {
            self.unhang(bucket, index);
        }
    }

    /// Makes the next bucket with timers in it the current one. `ends` has the end of each timer.
    fn turn(&mut self, ends: &[BitInstant]) {
        let Some(next) = self.filled.after(self.bucket) else { return };
        self.bucket = next;
        let place = place(next);
        let mut timer = std::mem::replace(&mut self.heads[place], NOBODY);
        self.filled.clear(place);
        while timer != NOBODY {
            self.current.push(key(ends[usize::from(timer)], timer));
            timer = self.next[usize::from(timer)];
        }
        if self.current.len() > 1 {
            self.current.sort_unstable_by(|one, other| other.cmp(one));
        }
    }

    #[inline]
    fn hang(&mut self, bucket: u64, timer: u16) {
        let place = place(bucket);
        self.next[usize::from(timer)] = std::mem::replace(&mut self.heads[place], timer);
        self.filled.set(place);
    }

    fn unhang(&mut self, bucket: u64, timer: u16) {
        let place = place(bucket);
        let after = self.next[usize::from(timer)];
        if self.heads[place] == timer {
            self.heads[place] = after;
            if after == NOBODY {
                self.filled.clear(place);
            }
            return;
        }
        let mut before = self.heads[place];
        while self.next[usize::from(before)] != timer {
            before = self.next[usize::from(before)];
        }
        self.next[usize::from(before)] = after;
    }

    /// Drops outdated entries from the front of the far timers.
    fn forget_far(&mut self, ends: &[BitInstant]) {
        let is_over = |&Reverse(far): &Reverse<Key>| {
            let index = usize::from(number(far));
            ends[index] != instant(far) || !self.is_far[index]
        };
        while self.far.peek().is_some_and(is_over) {
            self.far.pop();
        }
    }
}
