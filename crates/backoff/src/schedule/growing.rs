//! The schedule that grows: values lie side by side in their slot's bucket, and a bit says which buckets have any.
//!
//! ```text
//! level 0:  the 4096 slots that share all but 12 bits with now, one bucket each
//! level 1:  4096 buckets of 4096 slots each, moved down when now enters their slots
//! level 2:  …                                                            up to level 5, which reaches 2^64
//! ```
//!
//! A value goes to the level of the highest 12 bits in which its slot differs from now. When now enters the slots of a
//! bucket, its values move down in their order, before any can be inserted there directly: so the order within a slot
//! is that of insertion. A cancelled value leaves a mark where it lay; nothing moves.

extern crate alloc;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Ticket;

/// How many bits of a slot one level tells apart.
const BITS: u32 = 12;
const BUCKETS: usize = 1 << BITS;
/// From this capacity on the memory of an empty bucket is handed to the next one that fills.
const SPARED: usize = 16;
/// Marks a cancelled value, in the highest bit of its serial number.
const CANCELLED: u32 = 1 << 31;

/// Pending values by slot: insert, cancel, expire.
///
/// ```
/// use backoff::Schedule;
///
/// let mut schedule = Schedule::starting_at(1000);
/// let ticket = schedule.insert(1003, 'a');
/// schedule.insert(1003, 'b');
/// schedule.insert(1001, 'c');
/// assert_eq!(schedule.cancel(ticket), Some('a'));
/// assert_eq!(schedule.next_slot(), Some(1001));
/// let mut expired = Vec::new();
/// schedule.expire(2000, |slot, value| expired.push((slot, value)));
/// assert_eq!(expired, [(1001, 'c'), (1003, 'b')]);
/// ```
///
/// Memory is kept for the values to come. All slots of `u64` are accepted; a slot before now counts as now.
#[derive(Clone, Debug)]
pub struct Schedule<T> {
    now: u64,
    serial: u32,
    pending: usize,
    near: Level<Near<T>>,
    far: Vec<Level<Far<T>>>,
}

#[derive(Clone, Copy, Debug)]
struct Near<T> {
    serial: u32,
    value: T,
}

#[derive(Clone, Copy, Debug)]
struct Far<T> {
    slot: u64,
    near: Near<T>,
}

impl<T: Copy> Schedule<T> {
    /// An empty schedule; the first slot that can expire is `now`.
    pub fn starting_at(now: u64) -> Schedule<T> {
        Schedule { now, serial: 0, pending: 0, near: Level::new(), far: Vec::new() }
    }

    /// How many values are pending.
    pub const fn len(&self) -> usize {
        self.pending
    }

    /// Whether none is.
    pub const fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// The slot that has been reached: the last one that was expired.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Makes `value` pending in `slot`; in now, where the slot has passed.
    #[inline]
    pub fn insert(&mut self, slot: u64, value: T) -> Ticket {
        let slot = slot.max(self.now);
        let serial = self.serial;
        self.serial = (serial + 1) & !CANCELLED;
        self.pending += 1;
        self.place(slot, Near { serial, value });
        Ticket { slot, serial, node: 0 }
    }

    /// Takes a pending value back; `None` if it has expired or been cancelled.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<T> {
        if ticket.slot < self.now {
            return None;
        }
        let level = level_of(ticket.slot ^ self.now);
        let index = index_of(ticket.slot, level);
        let value = match level {
            0 => self.near.cancel(index, ticket, |near| near),
            _ => self.far.get_mut(level - 1)?.cancel(index, ticket, |far| &mut far.near),
        }?;
        self.pending -= 1;
        Some(value)
    }

    /// The first slot in which a value is pending.
    ///
    /// Beyond the 4096 slots around now it has to look through the values of a bucket;
    /// [`expire_next`](Self::expire_next) does not.
    pub fn next_slot(&self) -> Option<u64> {
        if let Some(index) = self.near.next(index_of(self.now, 0)) {
            return Some(self.slot_at(index));
        }
        self.far.iter().zip(1..).find_map(|(far, level)| {
            let bucket = &far.buckets[far.next(index_of(self.now, level))?];
            bucket.items.iter().filter(|far| far.near.serial & CANCELLED == 0).map(|far| far.slot).min()
        })
    }

    /// Moves to the first slot that is no later than `limit` and has values, and gives them to `expired` in the order
    /// of their insertion; gives that slot, or `None` if there is none: then now is `limit`.
    #[inline]
    pub fn expire_next(&mut self, limit: u64, mut expired: impl FnMut(u64, T)) -> Option<u64> {
        loop {
            let Some(index) = self.near.next(index_of(self.now, 0)) else {
                if self.enter_next_block(limit) {
                    continue;
                }
                break;
            };
            let slot = self.slot_at(index);
            if slot > limit {
                break;
            }
            self.now = slot;
            let bucket = &mut self.near.buckets[index];
            self.pending -= bucket.items.len() - bucket.cancelled;
            if bucket.cancelled == 0 {
                bucket.items.iter().for_each(|near| expired(slot, near.value));
            } else {
                let live = bucket.items.iter().filter(|near| near.serial & CANCELLED == 0);
                live.for_each(|near| expired(slot, near.value));
            }
            self.near.clear(index);
            return Some(slot);
        }
        self.now = self.now.max(limit);
        None
    }

    /// Expires every slot up to `limit`, in order; then now is `limit`.
    pub fn expire(&mut self, limit: u64, mut expired: impl FnMut(u64, T)) {
        while self.expire_next(limit, &mut expired).is_some() {}
    }

    /// The slot of that bucket of level 0.
    #[inline]
    fn slot_at(&self, index: usize) -> u64 {
        (self.now & !(BUCKETS as u64 - 1)) | index as u64
    }

    #[inline]
    fn place(&mut self, slot: u64, near: Near<T>) {
        if slot ^ self.now < BUCKETS as u64 {
            self.near.push(index_of(slot, 0), near);
        } else {
            self.place_far(slot, near);
        }
    }

    #[inline(never)]
    fn place_far(&mut self, slot: u64, near: Near<T>) {
        let level = level_of(slot ^ self.now);
        while self.far.len() < level {
            self.far.push(Level::new());
        }
        self.far[level - 1].push(index_of(slot, level), Far { slot, near });
    }

    /// Moves now to the start of the next bucket of the lowest far level that has any, and its values down; `false` if
    /// that is after `limit`, or nowhere. Nothing is pending before it.
    #[cold]
    fn enter_next_block(&mut self, limit: u64) -> bool {
        for level in 1..=self.far.len() {
            let Some(index) = self.far[level - 1].next(index_of(self.now, level)) else {
                continue;
            };
            let width = level as u32 * BITS;
            let block = (((self.now >> width) & !(BUCKETS as u64 - 1)) | index as u64) << width;
            if block > limit {
                return false;
            }
            self.now = self.now.max(block);
            self.move_down(level, index);
            return true;
        }
        false
    }

    fn move_down(&mut self, level: usize, index: usize) {
        let mut items = core::mem::take(&mut self.far[level - 1].buckets[index].items);
        for Far { slot, near } in items.drain(..) {
            if near.serial & CANCELLED == 0 {
                self.place(slot, near);
            }
        }
        let far = &mut self.far[level - 1];
        far.buckets[index].items = items; // its memory is kept
        far.clear(index);
    }
}

/// The level for a slot whose difference to now has these bits.
#[inline]
const fn level_of(difference: u64) -> usize {
    ((u64::BITS - 1 - (difference | 1).leading_zeros()) / BITS) as usize
}

#[inline]
const fn index_of(slot: u64, level: usize) -> usize {
    (slot >> (level as u32 * BITS)) as usize & (BUCKETS - 1)
}

/// 4096 buckets, a bit for each that has values, and a bit for each 64 of those.
#[derive(Clone, Debug)]
struct Level<I> {
    summary: u64,
    occupied: [u64; BUCKETS / 64],
    /// The memory of buckets that are empty now, the last one used first: it is still in the cache.
    spare: Vec<Vec<I>>,
    buckets: Box<[Bucket<I>; BUCKETS]>,
}

#[derive(Clone, Debug)]
struct Bucket<I> {
    items: Vec<I>,
    cancelled: usize,
}

impl<I> Level<I> {
    fn new() -> Level<I> {
        let buckets: Box<[Bucket<I>]> = (0..BUCKETS).map(|_| Bucket { items: Vec::new(), cancelled: 0 }).collect();
        let Ok(buckets) = buckets.try_into() else { unreachable!("there are 4096 of them") };
        Level { summary: 0, occupied: [0; BUCKETS / 64], spare: Vec::new(), buckets }
    }

    #[inline]
    fn push(&mut self, index: usize, item: I) {
        // Without asking whether it was empty: a bucket of few values would be guessed wrong too often.
        self.summary |= 1 << (index / 64);
        self.occupied[index / 64] |= 1 << (index % 64);
        let items = &mut self.buckets[index].items;
        if items.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *items = spare;
        }
        items.push(item);
    }

    /// The first bucket from `index` on that has values.
    #[inline]
    fn next(&self, index: usize) -> Option<usize> {
        let here = self.occupied[index / 64] >> (index % 64);
        if here != 0 {
            return Some(index + here.trailing_zeros() as usize);
        }
        let later = self.summary & (u64::MAX << (index / 64)) & !(1 << (index / 64));
        if later == 0 {
            return None;
        }
        let word = later.trailing_zeros() as usize;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }

    #[inline]
    fn clear(&mut self, index: usize) {
        let bucket = &mut self.buckets[index];
        bucket.items.clear();
        bucket.cancelled = 0;
        if bucket.items.capacity() >= SPARED {
            self.spare.push(core::mem::take(&mut bucket.items));
        }
        self.occupied[index / 64] &= !(1 << (index % 64));
        if self.occupied[index / 64] == 0 {
            self.summary &= !(1 << (index / 64));
        }
    }

    /// Marks the item of that ticket; serial numbers rise within a bucket, modulo 2^31.
    fn cancel<T: Copy>(&mut self, index: usize, ticket: Ticket, near: impl Fn(&mut I) -> &mut Near<T>) -> Option<T> {
        let bucket = &mut self.buckets[index];
        let first = near(bucket.items.first_mut()?).serial;
        let distance = |serial: u32| serial.wrapping_sub(first) & !CANCELLED;
        let (mut low, mut high) = (0, bucket.items.len());
        while low < high {
            let middle = low.midpoint(high);
            if distance(near(&mut bucket.items[middle]).serial) < distance(ticket.serial) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let found = near(bucket.items.get_mut(low)?);
        if found.serial != ticket.serial {
            return None;
        }
        found.serial |= CANCELLED;
        let value = found.value;
        bucket.cancelled += 1;
        if bucket.cancelled == bucket.items.len() {
            self.clear(index);
        }
        Some(value)
    }
}
