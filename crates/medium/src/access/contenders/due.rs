//! The next actions of contenders: entries in buckets of time, around a ring.
//!
//! ```text
//!   now                 the first bucket with entries in it          a turn of the ring from now
//!    │······│······│···current, in order···│··a, b··│······│···c··│ far: everything later, in a heap
//! ```
//! Only the first bucket is in order. An entry that its contender has replaced stays until its instant.

use crate::frame::FrameId;
use crate::time::{BitInstant, BitTimes};
use crate::timers::ring::{Filled, RING, place};
use crate::timers::{event_instant, event_key};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The instant of an action, and below it station and serial number of the frame: compared as one number.
pub(crate) type Key = u128;

/// The key of an action of this frame at `at`.
#[inline]
pub(in crate::access) fn key(at: BitInstant, frame: FrameId) -> Key {
    event_key(at, frame.station, frame.serial)
}

/// Later than all actions at `at`.
#[inline]
pub(in crate::access) fn after(at: BitInstant) -> Key {
    (at.get() as Key + 1) << 64
}

/// The next action of the contender at this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub key: Key,
    pub index: u32,
}

impl Entry {
    #[inline]
    fn at(&self) -> BitInstant {
        event_instant(self.key)
    }
}

/// All next actions.
#[derive(Debug)]
pub(super) struct Due {
    /// A bucket is 2 to the power of this long.
    shift: u32,
    /// The entries of the first bucket, the earliest last. Empty only if the ring is empty.
    current: Vec<Entry>,
    /// The number of that bucket.
    bucket: u64,
    /// The entries of the buckets after it; `filled` says which buckets have any.
    ring: Box<[Vec<Entry>]>,
    filled: Filled,
    /// Entries more than a turn ahead, and those that came late into a first bucket with many entries.
    far: BinaryHeap<Reverse<Entry>>,
    /// The first of all.
    next: Key,
}

/// The most entries of the first bucket that a push is compared with.
const NEAR: usize = 32;

/// No action: later than any.
const NONE: Key = Key::MAX;

impl Due {
    /// No actions. Most of those to come are a few times `slot` ahead.
    pub fn new(slot: BitTimes) -> Due {
        Due {
            shift: slot.get().max(1).ilog2(),
            current: Vec::new(),
            bucket: 0,
            ring: vec![Vec::new(); RING as usize].into(),
            filled: Filled::default(),
            far: BinaryHeap::new(),
            next: NONE,
        }
    }

    /// The instant of the next action; `NEVER` without one.
    #[inline]
    pub fn next(&self) -> BitInstant {
        event_instant(self.next)
    }

    /// Adds an entry. No entry is before `now`.
    #[inline]
    pub fn push(&mut self, now: BitInstant, entry: Entry) {
        self.next = self.next.min(entry.key);
        let (bucket, floor) = (entry.at().get() >> self.shift, now.get() >> self.shift);
        if bucket.wrapping_sub(floor) >= RING {
            self.far.push(Reverse(entry));
        } else if self.current.is_empty() {
            self.bucket = bucket;
            self.current.push(entry);
        } else if bucket > self.bucket {
            self.hang(bucket, entry);
        } else {
            self.push_early(bucket, entry);
        }
    }

    /// Into the first bucket, or one before it.
    fn push_early(&mut self, bucket: u64, entry: Entry) {
        if bucket < self.bucket {
            while let Some(later) = self.current.pop() {
                self.hang(self.bucket, later);
            }
            self.bucket = bucket;
        }
        // It is mostly one of the first. Among thousands at one instant the heap takes it, so a push never compares with all.
        let later = self.current.iter().rev().take(NEAR).position(|other| other.key > entry.key);
        let place = match later {
            Some(before) => self.current.len() - before,
            None if self.current.len() <= NEAR => 0,
            None => return self.far.push(Reverse(entry)),
        };
        self.current.insert(place, entry);
    }

    #[inline]
    fn hang(&mut self, bucket: u64, entry: Entry) {
        let place = place(bucket);
        self.ring[place].push(entry);
        self.filled.set(place);
    }

    /// Whether an action comes before `limit`.
    #[inline]
    pub fn is_before(&self, limit: Key) -> bool {
        self.next < limit
    }

    /// Takes out the first entry, if it is before `limit`.
    #[inline]
    pub fn take(&mut self, limit: Key) -> Option<Entry> {
        if !self.is_before(limit) {
            return None;
        }
        let is_far = self.far.peek().is_some_and(|&Reverse(far)| far.key == self.next);
        let first = if is_far { self.far.pop().map(|Reverse(far)| far) } else { self.current.pop() };
        if self.current.is_empty() && !is_far {
            self.turn();
        }
        let near = self.current.last().map_or(NONE, |entry| entry.key);
        self.next = self.far.peek().map_or(near, |Reverse(far)| near.min(far.key));
        first
    }

    /// Makes the next bucket with entries in it the current one.
    fn turn(&mut self) {
        let Some(next) = self.filled.after(self.bucket) else { return };
        self.bucket = next;
        let place = place(next);
        std::mem::swap(&mut self.current, &mut self.ring[place]);
        self.filled.clear(place);
        if self.current.len() > 1 {
            self.current.sort_unstable_by_key(|entry| Reverse(entry.key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::StationId;
    use crate::timers::NEVER;
    use backoff::Generator;

    /// Against a heap, for waits of any length.
    #[test]
    fn the_first_comes_first_in_any_order_of_pushes() {
        for most in [3, 1_000, 1 << 20, 1 << 24] {
            let mut generator = Generator::stream(1, most);
            let (mut due, mut plain) = (Due::new(BitTimes::new(576)), BinaryHeap::new());
            let (mut now, mut serial) = (BitInstant::ZERO, 0);
            for _ in 0..20_000 {
                let what = generator.next_u64() % 8;
                if what < 4 {
                    serial += 1;
                    let frame = FrameId { station: StationId::new((generator.next_u64() % 9) as u16), serial };
                    let at = now + BitTimes::new(generator.next_u64() % most);
                    let entry = Entry { key: key(at, frame), index: 0 };
                    due.push(now, entry);
                    plain.push(Reverse(entry));
                } else if due.next() != NEVER {
                    now = due.next();
                    assert_eq!(due.take(after(now)), plain.pop().map(|Reverse(entry)| entry), "seed 1, up to {most}");
                }
                let first = plain.peek().map_or(NEVER, |Reverse(entry)| entry.at());
                assert_eq!(due.next(), first, "seed 1, up to {most}");
            }
        }
    }
}
