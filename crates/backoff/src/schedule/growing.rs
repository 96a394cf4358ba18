//! The schedule that grows: values lie side by side in their slot's bucket, and a bit says which buckets have any.
//!
//! ```text
//! near:     the 4096 slots from now on, one bucket each
//! level 1:  4096 blocks of 4096 slots each, those that share all but 24 bits with now
//! level 2:  …                                                            up to level 5, which reaches 2^64
//! ```
//!
//! A value that is not near goes to the level of the highest 12 bits in which its slot differs from now. When now enters
//! a block, its values move down. Each of them was inserted before any that lies near already, and goes before it: so
//! the order within a slot is that of insertion. A cancelled value that is not the last one of its bucket leaves a mark where it
//! lay; when more than half of a bucket are marks, they go.

use super::alloc::vec::Vec;

use super::Ticket;
use super::far::{Far, Level};
use super::occupancy::{BITS, BUCKETS};
use super::wheel::{CANCELLED, Item, Wheel};

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
/// Memory is kept for the values to come. All slots of `u64` are accepted; a slot before now counts as now. One slot may
/// have up to 2^32 − 1 values.
#[derive(Clone, Debug)]
pub struct Schedule<T> {
    now: u64,
    serial: u32,
    pending: usize,
    near: Wheel<T>,
    far: Vec<Level<T>>,
}

/// The values of one slot, as they lay in it; empty at first. See [`Schedule::take_next`].
#[derive(Clone, Debug)]
pub struct Due<T> {
    items: Vec<Item<T>>,
}

impl<T: Copy> Due<T> {
    /// With room for none, which the schedule brings.
    pub const fn new() -> Due<T> {
        Due { items: Vec::new() }
    }

    /// The values in the order of their insertion, without those that were cancelled.
    #[inline]
    pub fn values(&self) -> impl Iterator<Item = T> {
        self.items.iter().filter(|item| item.is_live()).map(|item| item.value)
    }
}

impl<T: Copy> Default for Due<T> {
    fn default() -> Due<T> {
        Due::new()
    }
}

impl<T: Copy> Schedule<T> {
    /// An empty schedule; the first slot that can expire is `now`.
    pub fn starting_at(now: u64) -> Schedule<T> {
        Schedule { now, serial: 0, pending: 0, near: Wheel::new(), far: Vec::new() }
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
    // Always inlined: the ticket would go through memory, and most callers drop it.
    #[inline(always)]
    pub fn insert(&mut self, slot: u64, value: T) -> Ticket {
        let slot = slot.max(self.now);
        let serial = self.serial;
        self.serial = (serial + 1) & !CANCELLED;
        self.pending += 1;
        self.place(slot, Item { serial, value });
        Ticket { slot, serial, node: 0 }
    }

    /// Takes a pending value back; `None` if it has expired or been cancelled.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<T> {
        let distance = ticket.slot.checked_sub(self.now).filter(|_| ticket.serial & CANCELLED == 0)?;
        let near =
            if distance < BUCKETS as u64 { self.near.cancel(index_of(ticket.slot, 0), ticket.serial) } else { None };
        // What is near now may have been far when it came, and still lie there.
        let value = near.or_else(|| {
            let level = level_of(ticket.slot ^ self.now);
            self.far.get_mut(level.checked_sub(1)?)?.cancel(index_of(ticket.slot, level), ticket.serial)
        })?;
        self.pending -= 1;
        Some(value)
    }

    /// Moves a pending value to another slot, behind those that are there, and gives its new ticket; `None` if it has
    /// expired or been cancelled.
    pub fn reschedule(&mut self, ticket: Ticket, slot: u64) -> Option<Ticket> {
        let value = self.cancel(ticket)?;
        Some(self.insert(slot, value))
    }

    /// The first slot in which a value is pending.
    ///
    /// Beyond the block of 4096 slots that now is in, it has to look through the values of another;
    /// [`expire_next`](Self::expire_next) does not.
    pub fn next_slot(&self) -> Option<u64> {
        let near = self.next_near();
        if near.is_some_and(|slot| self.is_in_this_block(slot)) {
            return near;
        }
        let mut levels = self.far.iter().zip(1..);
        let far = levels.find_map(|(far, level)| far.soonest(far.occupied.next(index_of(self.now, level))?));
        near.into_iter().chain(far).min()
    }

    /// Moves to the first slot that is no later than `limit` and has values, and gives them to `expired` in the order
    /// of their insertion; gives that slot, or `None` if there is none: then now is `limit`, but for `u64::MAX`, which
    /// is any slot and moves now no farther than to a value.
    #[inline]
    pub fn expire_next(&mut self, limit: u64, mut expired: impl FnMut(u64, T)) -> Option<u64> {
        let slot = self.enter_next_slot(limit)?;
        self.near.drain(index_of(slot, 0), |value| expired(slot, value));
        Some(slot)
    }

    /// The same with the values in `due`, in place of what was there. Where slots have few values each, this is the
    /// faster way.
    #[inline(always)]
    pub fn take_next(&mut self, limit: u64, due: &mut Due<T>) -> Option<u64> {
        let slot = self.enter_next_slot(limit)?;
        self.near.take(index_of(slot, 0), &mut due.items);
        Some(slot)
    }

    /// Moves to the first slot that is no later than `limit` and has values, or to `limit`; what lies in that slot is
    /// no longer pending.
    #[inline(always)]
    fn enter_next_slot(&mut self, limit: u64) -> Option<u64> {
        loop {
            let near = self.next_near();
            // A block that begins no later may have values for that slot, or for one before it.
            if !near.is_some_and(|slot| self.is_in_this_block(slot))
                && self.enter_next_block(near.unwrap_or(u64::MAX).min(limit))
            {
                continue;
            }
            let Some(slot) = near.filter(|&slot| slot <= limit) else {
                if limit != u64::MAX {
                    self.now = self.now.max(limit);
                }
                return None;
            };
            self.now = slot;
            self.pending -= self.near.live(index_of(slot, 0));
            return Some(slot);
        }
    }

    /// Expires every slot up to `limit`, in order; then now is `limit`, as for [`expire_next`](Self::expire_next).
    pub fn expire(&mut self, limit: u64, mut expired: impl FnMut(u64, T)) {
        while self.expire_next(limit, &mut expired).is_some() {}
    }

    /// The first slot that has near values.
    #[inline]
    fn next_near(&self) -> Option<u64> {
        let here = index_of(self.now, 0);
        let index = self.near.occupied.next(here).or_else(|| self.near.occupied.next(0))?;
        Some(self.now + (index.wrapping_sub(here) & (BUCKETS - 1)) as u64)
    }

    #[inline]
    const fn is_in_this_block(&self, slot: u64) -> bool {
        slot >> BITS == self.now >> BITS
    }

    #[inline]
    fn place(&mut self, slot: u64, item: Item<T>) {
        if slot - self.now < BUCKETS as u64 {
            self.near.push(index_of(slot, 0), item);
        } else {
            self.place_far(slot, item);
        }
    }

    #[inline(never)]
    fn place_far(&mut self, slot: u64, item: Item<T>) {
        let level = level_of(slot ^ self.now);
        while self.far.len() < level {
            self.far.push(Level::new());
        }
        self.far[level - 1].push(index_of(slot, level), Far { slot, item });
    }

    /// Moves now to the start of the first block that lies far, and its values down; `false` if that is after `limit`, or
    /// there is none. Nothing is pending before it, but for what is near.
    #[cold]
    fn enter_next_block(&mut self, limit: u64) -> bool {
        for level in 1..=self.far.len() {
            let Some(index) = self.far[level - 1].occupied.next(index_of(self.now, level)) else {
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
        let later = self.set_aside();
        let mut moved = self.far[level - 1].take(index);
        for Far { slot, item } in moved.drain(..) {
            if item.is_live() {
                self.place(slot, item);
            }
        }
        self.far[level - 1].give_back(index, moved);
        for (index, items) in later {
            items.into_iter().filter(Item::is_live).for_each(|item| self.near.push(index, item));
        }
    }

    /// Takes the near values out of their buckets: those that move down go before them.
    fn set_aside(&mut self) -> Vec<(usize, Vec<Item<T>>)> {
        let mut later = Vec::new();
        while let Some(index) = self.near.occupied.next(0) {
            let mut items = Vec::new();
            self.near.take(index, &mut items);
            later.push((index, items));
        }
        later
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
