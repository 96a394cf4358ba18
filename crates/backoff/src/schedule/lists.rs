//! The schedule of fixed size: values lie in nodes that the caller lends, linked into one list for each bucket.
//!
//! As in the growing schedule, with 6 bits a level; nothing is allocated, and a value is cancelled by unlinking it. Nodes
//! that are not those of the schedule give wrong answers, but never a panic.

use super::Ticket;

const BITS: u32 = 6;
const BUCKETS: usize = 1 << BITS;
const LEVELS: usize = 11;
/// No node.
const NONE: u32 = u32::MAX;

/// Room for one pending value: 32 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    slot: u64,
    value: u64,
    next: u32,
    previous: u32,
    serial: u32,
    /// Whether a value is pending here.
    pending: u32,
}

impl Node {
    /// Node number `index` of `count` before the schedule begins: each knows the next.
    pub const fn free(index: u32, count: u32) -> Node {
        let next = if index < count.saturating_sub(1) { index + 1 } else { NONE };
        Node { slot: 0, value: 0, next, previous: NONE, serial: 0, pending: 0 }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// Two numbers that no node has. They differ, because a compiler fills memory with one octet by calling memset, and the
/// C face has no C library to call.
const EMPTY: List = List { first: NONE, last: NONE - 1 };

/// Pending values by slot, in nodes that the caller lends to each call; always the same ones.
///
/// ```
/// use backoff::{FixedSchedule, Node};
///
/// let mut nodes = [Node::default(); 2];
/// let mut schedule = FixedSchedule::new(&mut nodes, 0);
/// let ticket = schedule.insert(&mut nodes, 7, 100).expect("there is room for two");
/// schedule.insert(&mut nodes, 7, 200);
/// assert_eq!(schedule.insert(&mut nodes, 8, 300), None);
/// assert_eq!(schedule.cancel(&mut nodes, ticket), Some(100));
/// assert_eq!(schedule.next_slot(&nodes), Some(7));
/// assert_eq!(schedule.expire(&mut nodes, 10), Some((7, 200)));
/// ```
#[repr(C)]
#[derive(Clone, Debug)]
pub struct FixedSchedule {
    now: u64,
    pending: u32,
    serial: u32,
    /// The first of the nodes that are free, linked by `next`.
    free: u32,
    reserved: u32,
    occupied: [u64; LEVELS],
    lists: [[List; BUCKETS]; LEVELS],
}

impl FixedSchedule {
    /// An empty schedule over all of `nodes`, of which it uses at most 2^32 − 2; the first slot that can expire is `now`.
    pub fn new(nodes: &mut [Node], now: u64) -> FixedSchedule {
        let count = nodes.len().min(NONE as usize - 1) as u32;
        for (index, node) in (0..count).zip(nodes.iter_mut()) {
            *node = Node::free(index, count);
        }
        FixedSchedule::over(count, now)
    }

    /// An empty schedule over the nodes [`Node::free`] 0 to `count` − 1, which the caller has made.
    pub const fn over(count: u32, now: u64) -> FixedSchedule {
        let free = if count == 0 { NONE } else { 0 };
        let lists = [[EMPTY; BUCKETS]; LEVELS];
        FixedSchedule { now, pending: 0, serial: 0, free, reserved: 0, occupied: [0; LEVELS], lists }
    }

    /// How many values are pending.
    pub const fn len(&self) -> u32 {
        self.pending
    }

    /// Whether none is.
    pub const fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// The slot that has been reached.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Makes `value` pending in `slot`, or in now where the slot has passed; `None` if every node is taken.
    pub fn insert(&mut self, nodes: &mut [Node], slot: u64, value: u64) -> Option<Ticket> {
        let slot = slot.max(self.now);
        let index = self.free;
        let node = nodes.get_mut(index as usize)?;
        let serial = self.serial;
        self.free = node.next;
        *node = Node { slot, value, next: NONE, previous: NONE, serial, pending: 1 };
        self.serial = serial.wrapping_add(1);
        self.pending = self.pending.saturating_add(1);
        self.link(nodes, index, slot);
        Some(Ticket { slot, serial, node: index })
    }

    /// Takes a pending value back; `None` if it has expired or been cancelled.
    pub fn cancel(&mut self, nodes: &mut [Node], ticket: Ticket) -> Option<u64> {
        let node = nodes.get(ticket.node as usize).copied()?;
        if node.pending == 0 || (node.slot, node.serial) != (ticket.slot, ticket.serial) {
            return None;
        }
        self.unlink(nodes, ticket.node, node);
        Some(node.value)
    }

    /// The first slot in which a value is pending. Beyond the 64 slots around now it looks through the values of a
    /// bucket.
    pub fn next_slot(&self, nodes: &[Node]) -> Option<u64> {
        let (level, index) = self.next_bucket()?;
        let mut next = self.lists.get(level)?.get(index)?.first;
        let mut soonest = None;
        while let Some(node) = nodes.get(next as usize) {
            if soonest.is_none_or(|soonest| node.slot < soonest) {
                soonest = Some(node.slot);
            }
            if level == 0 {
                break;
            }
            next = node.next;
        }
        soonest
    }

    /// Takes the next value whose slot is no later than `limit`, and gives the slot with it; now is that slot. `None`
    /// if there is none: then now is `limit`.
    ///
    /// Values come by slot, and within a slot in the order of their insertion.
    pub fn expire(&mut self, nodes: &mut [Node], limit: u64) -> Option<(u64, u64)> {
        while let Some((level, index)) = self.next_bucket() {
            let width = level as u32 * BITS;
            let block = (((self.now >> width) & !(BUCKETS as u64 - 1)) | index as u64) << width;
            if block > limit {
                break;
            }
            self.now = self.now.max(block);
            if level > 0 {
                self.move_down(nodes, level, index);
                continue;
            }
            let first = self.lists.get(level)?.get(index)?.first;
            let node = nodes.get(first as usize).copied()?;
            self.unlink(nodes, first, node);
            return Some((node.slot, node.value));
        }
        self.now = self.now.max(limit);
        None
    }

    /// The first occupied bucket of the lowest level that has one.
    fn next_bucket(&self) -> Option<(usize, usize)> {
        self.occupied.iter().enumerate().find_map(|(level, &occupied)| {
            let later = occupied & (u64::MAX << index_of(self.now, level));
            (later != 0).then(|| (level, later.trailing_zeros() as usize))
        })
    }

    fn move_down(&mut self, nodes: &mut [Node], level: usize, index: usize) {
        let Some(list) = self.lists.get_mut(level).and_then(|lists| lists.get_mut(index)) else {
            return;
        };
        let mut next = core::mem::replace(list, EMPTY).first;
        if let Some(occupied) = self.occupied.get_mut(level) {
            *occupied &= !(1 << index);
        }
        while let Some(node) = nodes.get_mut(next as usize) {
            let (this, slot) = (next, node.slot);
            next = node.next;
            (node.next, node.previous) = (NONE, NONE);
            self.link(nodes, this, slot);
        }
    }

    /// Puts the node at the end of the list of its slot.
    fn link(&mut self, nodes: &mut [Node], index: u32, slot: u64) {
        let level = level_of(slot ^ self.now);
        let bucket = index_of(slot, level);
        let Some(list) = self.lists.get_mut(level).and_then(|lists| lists.get_mut(bucket)) else {
            return;
        };
        let last = core::mem::replace(&mut list.last, index);
        match nodes.get_mut(last as usize) {
            Some(node) => node.next = index,
            None => list.first = index,
        }
        if let Some(node) = nodes.get_mut(index as usize) {
            node.previous = last;
        }
        if let Some(occupied) = self.occupied.get_mut(level) {
            *occupied |= 1 << bucket;
        }
    }

    /// Takes the node out of its list, and makes it free.
    fn unlink(&mut self, nodes: &mut [Node], index: u32, node: Node) {
        let level = level_of(node.slot ^ self.now);
        let bucket = index_of(node.slot, level);
        let Some(list) = self.lists.get_mut(level).and_then(|lists| lists.get_mut(bucket)) else {
            return;
        };
        match nodes.get_mut(node.previous as usize) {
            Some(previous) => previous.next = node.next,
            None => list.first = node.next,
        }
        match nodes.get_mut(node.next as usize) {
            Some(next) => next.previous = node.previous,
            None => list.last = node.previous,
        }
        if list.first == NONE
            && let Some(occupied) = self.occupied.get_mut(level)
        {
            *occupied &= !(1 << bucket);
        }
        if let Some(freed) = nodes.get_mut(index as usize) {
            *freed = Node { next: self.free, ..Node::default() };
            self.free = index;
        }
        self.pending = self.pending.saturating_sub(1);
    }
}

/// The level for a slot whose difference to now has these bits.
const fn level_of(difference: u64) -> usize {
    ((u64::BITS - 1 - (difference | 1).leading_zeros()) / BITS) as usize
}

const fn index_of(slot: u64, level: usize) -> usize {
    (slot >> (level as u32 * BITS)) as usize & (BUCKETS - 1)
}
