//! The schedule of a Rust program: its memory grows with the values that are pending.

extern crate alloc;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{Memory, Node, Queue, Shape, Ticket};

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
/// Memory is kept for the values to come. All slots of `u64` are accepted; a slot before now counts as now. Up to 2^27
/// values may be pending; one more panics.
#[derive(Clone, Debug)]
pub struct Schedule<T> {
    queue: Queue,
    lists: Box<[u32]>,
    words: Box<[u64]>,
    counts: Box<[u8]>,
    nodes: Vec<Node<T>>,
}

/// The values of one slot; empty at first. See [`Schedule::take_next`].
#[derive(Clone, Debug, Default)]
pub struct Due<T> {
    values: Vec<T>,
}

impl<T: Copy> Due<T> {
    /// With room for none, which the schedule brings.
    pub const fn new() -> Due<T> {
        Due { values: Vec::new() }
    }

    /// The values in the order of their insertion.
    #[inline]
    pub fn values(&self) -> impl Iterator<Item = T> {
        self.values.iter().copied()
    }
}

impl<T: Copy> Schedule<T> {
    /// An empty schedule; the first slot that can expire is `now`.
    pub fn starting_at(now: u64) -> Schedule<T> {
        let shape = Shape::WIDE;
        Schedule {
            queue: Queue::new(shape, now, 0),
            lists: vec![Queue::NO_NODE; shape.lists()].into_boxed_slice(),
            words: vec![0; shape.words()].into_boxed_slice(),
            counts: vec![0; shape.blocks()].into_boxed_slice(),
            nodes: Vec::new(),
        }
    }

    /// How many values are pending.
    pub const fn len(&self) -> usize {
        self.queue.len() as usize
    }

    /// Whether none is.
    pub const fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The slot that has been reached: the last one that was expired.
    pub const fn now(&self) -> u64 {
        self.queue.now()
    }

    #[inline(always)]
    fn parts(&mut self) -> (&mut Queue, Memory<'_, T>) {
        let Schedule { queue, lists, words, counts, nodes } = self;
        (queue, Memory { lists, words, counts, nodes })
    }

    /// Makes `value` pending in `slot`; in now, where the slot has passed.
    // Always inlined: the ticket would go through memory, and most callers drop it.
    #[inline(always)]
    pub fn insert(&mut self, slot: u64, value: T) -> Ticket {
        loop {
            let (queue, mut memory) = self.parts();
            if let Some(ticket) = queue.take(&mut memory, slot, value) {
                if !queue.place(&mut memory, ticket.slot, ticket.node) {
                    queue.place_beyond(&mut memory, ticket.slot, ticket.node);
                }
                return ticket;
            }
            self.grow(value);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, value: T) {
        assert!(self.queue.nodes() < Queue::MOST, "more than 2^27 values are pending");
        self.nodes.push(self.queue.another_node(value));
    }

    /// Takes a pending value back; `None` if it has expired or been cancelled.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<T> {
        let (queue, mut memory) = self.parts();
        queue.cancel(&mut memory, ticket)
    }

    /// Moves a pending value to another slot, behind those that are there, and gives its new ticket; `None` if it has
    /// expired or been cancelled.
    pub fn reschedule(&mut self, ticket: Ticket, slot: u64) -> Option<Ticket> {
        let value = self.cancel(ticket)?;
        Some(self.insert(slot, value))
    }

    /// The first slot in which a value is pending.
    pub fn next_slot(&mut self) -> Option<u64> {
        let (queue, memory) = self.parts();
        queue.next_slot(&memory)
    }

    /// Moves to the first slot that is no later than `limit` and has values, and gives them to `expired` in the order of
    /// their insertion; gives that slot. `None`: there is none, and now is `limit`, unless that is `u64::MAX`, any slot.
    #[inline]
    pub fn expire_next(&mut self, limit: u64, mut expired: impl FnMut(u64, T)) -> Option<u64> {
        let (queue, mut memory) = self.parts();
        queue.expire_next(&mut memory, limit, usize::MAX, &mut expired)
    }

    /// The same with the values in `due`, in place of what was there.
    #[inline]
    pub fn take_next(&mut self, limit: u64, due: &mut Due<T>) -> Option<u64> {
        due.values.clear();
        let (queue, mut memory) = self.parts();
        queue.expire_next(&mut memory, limit, usize::MAX, &mut |_, value| due.values.push(value))
    }

    /// Expires every slot up to `limit`, in order; then now is `limit`, as for [`expire_next`](Self::expire_next).
    pub fn expire(&mut self, limit: u64, mut expired: impl FnMut(u64, T)) {
        while self.expire_next(limit, &mut expired).is_some() {}
    }
}
