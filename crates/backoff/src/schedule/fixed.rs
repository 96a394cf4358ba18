//! The schedule of fixed size: a wheel for the slots that come next and levels of buckets for those after it, in memory
//! that the caller lends.
//!
//! ```text
//! wheel:    2^w slots, one list each; w is 6 to 12, by the capacity
//! level 1:  2^w buckets of 2^(w-1) slots each
//! level 2:  2^w buckets of 2^2(w-1) slots each, and so on, until 2^64 is reached
//! ```
//!
//! The *edge* of a level is its first bucket. What is before it has been dealt out to the level below, at level 1 to
//! the wheel; so the wheel always has the whole bucket that now is in, and as a rule the next one too. A bucket is
//! dealt out a few values at each call, from when now enters the bucket before it. The values of a bucket that is dealt
//! out only in part are beyond the edge, where no call looks, and later insertions there go to the bucket. So the order
//! within a slot is that of insertion.
//!
//! A bucket takes only as many values as the calls can deal out in time: [`FEW`], and [`SHARE`] for each value in the
//! bucket before. The others wait in a heap. While it holds any, later values for the same bucket go there too, so that
//! all of its values were inserted after those of one slot in the lists, and are given after them.
//!
//! No call finds many values unsorted, then, unless most of a crowd were cancelled just before another crowd.
//!
//! One file above 500 lines because wheel, levels and heap share one memory and its invariants.

mod few;

use core::hint::select_unpredictable;

use super::Ticket;
use super::heap::{Heap, Waiting};
use super::levels::{Bits, LEVELS, Shape};
use super::lists::{Chunk, Count, Expired, Free, Handle, IN_HEAP, Item, Lists, NONE, Place};

/// How many values a bucket may have in any case.
pub(super) const FEW: u32 = 16;
/// How many more for each value in the bucket before it.
const SHARE: u64 = 2;
/// How many chunks are dealt out for each value that expires, and by a call that gives none.
const WORK: usize = 2;

/// The memory that a schedule lives in, lent for one call; always the same. What has not been used may hold anything,
/// except where it says how it begins.
pub struct Memory<'a> {
    /// One for each list: [`Shape::end`].
    pub ends: &'a mut [u32],
    /// One for each list: [`Shape::end`].
    pub firsts: &'a mut [u32],
    /// One for each list, 0 at first.
    pub counts: &'a mut [Count],
    /// As many as [`Shape::words`] says, 0 at first.
    pub bits: &'a mut [u64],
    /// One for each slot of the wheel, `Chunk::of_list` of its number; and one more than there may be values.
    pub chunks: &'a mut [Chunk],
    /// One for each value.
    pub handles: &'a mut [Handle],
    /// As many as [`Shape::waiting`] says.
    pub waiting: &'a mut [Waiting],
}

/// What of the memory most insertions need.
pub struct Plain<'a> {
    /// As in [`Memory`].
    pub ends: &'a mut [u32],
    /// As in [`Memory`].
    pub counts: &'a mut [Count],
    /// As in [`Memory`].
    pub bits: &'a mut [u64],
    /// As in [`Memory`].
    pub chunks: &'a mut [Chunk],
}

/// What of the memory most expiries need.
pub struct Near<'a> {
    /// As in [`Memory`].
    pub ends: &'a mut [u32],
    /// As in [`Memory`].
    pub firsts: &'a mut [u32],
    /// As in [`Memory`].
    pub bits: &'a mut [u64],
    /// As in [`Memory`].
    pub counts: &'a mut [Count],
    /// As in [`Memory`].
    pub chunks: &'a mut [Chunk],
    /// As in [`Memory`].
    pub handles: &'a mut [Handle],
}

/// Where pending values are, but for the memory.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Head {
    state: State,
    free: Free,
}

#[repr(C)]
#[derive(Clone, Debug)]
struct State {
    now: u64,
    /// The last slot whose values go to the wheel.
    near_last: u64,
    /// The last slot whose values go to the wheel or to level 1.
    plain_last: u64,
    /// Of each level its first bucket, numbered by the slots of its size before it.
    edges: [u64; LEVELS],
    /// The first and the last slot whose values go to the heap; and those that do when they are dealt out.
    closed: [u64; 2],
    dealt_closed: [u64; 2],
    /// The next serial number of the heap; and the next one of a value that is dealt out to it, which is older than any
    /// other value of its slot there.
    serial: u64,
    dealt_serial: u64,
    /// How many values the wheel has in buckets of even and of odd number.
    near_counts: [u32; 2],
    pending: u32,
    capacity: u32,
    waiting: u32,
    /// A bit for each level whose edge could be one bucket farther.
    busy: u32,
    /// How many lists a level has, less 1.
    mask: u32,
    /// What [`Work::work`] says; always 0 where assertions are off.
    work: u32,
    summaries: [u64; LEVELS],
    /// w - 1.
    bits: u32,
    levels: u32,
}

/// What became of a value that [`Head::insert_near`] or [`Head::insert_next`] was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It is pending.
    Done,
    /// [`Head::insert_behind`] is to be called: its list has no place left in its last chunk, or no chunk.
    Behind,
    /// [`Work::insert`] is to be called, or there is no room.
    Not,
}

/// Why [`Head::expire_near`] has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There is no more room, or no more value up to the limit.
    Done,
    /// [`Work::step`] is to go on.
    Step,
}

/// A schedule with its memory.
pub struct Work<'a> {
    state: &'a mut State,
    lists: Lists<'a>,
    bits: &'a mut [u64],
    values: &'a mut [Waiting],
}

impl Head {
    /// An empty schedule of that shape; the first slot that can expire is `now`. `life` tells its tickets from those of
    /// other schedules: a number that counts them.
    pub fn new(shape: &Shape, now: u64, life: u32) -> Head {
        let state = State {
            now: 0,
            near_last: 0,
            plain_last: 0,
            edges: [0; LEVELS],
            closed: [1, 0],
            dealt_closed: [1, 0],
            serial: 1 << 63,
            dealt_serial: 0,
            near_counts: [0; 2],
            pending: 0,
            capacity: 0,
            waiting: 0,
            busy: 0,
            bits: 0,
            levels: 0,
            mask: 0,
            work: 0,
            summaries: [0; LEVELS],
        };
        let mut head = Head { state, free: Free::behind(0, life) };
        head.begin(shape, now, life);
        head
    }

    /// Makes an empty schedule of memory that is all 0, as [`new`](Self::new) does.
    #[cold]
    #[inline(never)]
    pub fn begin(&mut self, shape: &Shape, now: u64, life: u32) {
        self.free = Free::behind(shape.slots(), life);
        let state = &mut self.state;
        (state.now, state.serial, state.capacity) = (now, 1 << 63, shape.capacity);
        (state.closed[0], state.dealt_closed[0]) = (1, 1);
        (state.bits, state.levels, state.mask) = (shape.bits, shape.levels, shape.slots() as u32 - 1);
        for level in 1..=state.levels {
            state.set_edge(level, (now >> (level * state.bits)) + 1);
        }
        for level in (1..=state.levels).rev() {
            // Nothing lies anywhere: the next bucket is as good as dealt out.
            let edge = state.edge(level) + 1;
            if edge <= state.end_of(level) {
                state.set_edge(level, edge);
            }
        }
        state.find_near_last();
    }

    /// How many values calls have looked at or moved besides those that they gave, and how often they have gone through
    /// the heap: what bounds of a call are about. 0 then. Counted where assertions are on, for tests.
    #[doc(hidden)]
    pub fn take_work(&mut self) -> u32 {
        core::mem::take(&mut self.state.work)
    }

    /// How many values are pending.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.state.pending
    }

    /// Whether none is.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.state.pending == 0
    }

    /// The slot that has been reached.
    #[inline]
    pub const fn now(&self) -> u64 {
        self.state.now
    }

    /// Inserts a value that cannot be cancelled into the wheel, where nothing is in the way; says what is otherwise, and
    /// changes nothing then.
    #[inline(always)]
    pub fn insert_near(&mut self, plain: Plain<'_>, slot: u64, value: u64) -> Inserted {
        let state = &mut self.state;
        if slot < state.now || slot > state.near_last || state.waiting > 0 || state.pending >= state.capacity {
            return Inserted::Not;
        }
        let (list, slots) = (slot as usize & state.mask(), state.slots());
        if !Lists::push_plain(plain.ends, plain.chunks, list, Item::new(value, slot, NONE)) {
            return Inserted::Behind;
        }
        Bits { words: plain.bits, summaries: &mut state.summaries }.set(0, list, slots);
        let parity = state.parity(slot);
        state.near_counts[parity] += 1;
        state.pending += 1;
        Inserted::Done
    }

    /// The same, into level 1.
    #[inline(always)]
    pub fn insert_next(&mut self, plain: Plain<'_>, slot: u64, value: u64) -> Inserted {
        let state = &mut self.state;
        let near = slot <= state.near_last;
        if near || slot > state.plain_last || state.waiting > 0 || state.pending >= state.capacity {
            return Inserted::Not;
        }
        let list = state.list_of_level_1(slot);
        let Some(count) = plain.counts.get_mut(list) else { return Inserted::Not };
        if count.values >= count.limit {
            return Inserted::Not;
        }
        // Where it finds a place the list has something already, and its bit is set.
        if !Lists::push_plain(plain.ends, plain.chunks, list, Item::new(value, slot, NONE)) {
            return Inserted::Behind;
        }
        count.values += 1;
        state.pending += 1;
        Inserted::Done
    }

    /// Inserts a value that can be cancelled into the wheel or into level 1, where nothing is in the way. `None`: nothing has
    /// changed, and [`Work::insert`] is to be called.
    #[inline(always)]
    pub fn insert_with_ticket(&mut self, near: Near<'_>, slot: u64, value: u64) -> Option<Ticket> {
        let Head { state, free } = self;
        if slot < state.now || slot > state.plain_last || state.waiting > 0 || state.pending >= state.capacity {
            return None;
        }
        let Near { ends, firsts, bits, counts, chunks, handles } = near;
        let (slots, level) = (state.slots(), u32::from(slot > state.near_last));
        let list = if level == 0 { slot as usize & state.mask() } else { state.list_of_level_1(slot) };
        if level == 0 {
            let parity = state.parity(slot);
            state.near_counts[parity] += 1;
        } else {
            let count = counts.get_mut(list).filter(|count| count.values < count.limit)?;
            count.values += 1;
        }
        let mut lists = Lists { ends, firsts, behind: counts, chunks, handles, free, own: slots as u32 };
        let (node, serial) = lists.new_handle(slot)?;
        lists.push_here(list, Item::new(value, slot, node));
        Bits { words: bits, summaries: &mut state.summaries }.set(level, list, slots);
        state.pending += 1;
        Some(Ticket { slot, serial, node })
    }

    /// Takes a pending value back where it does not wait in the heap, and no bucket is to be dealt out. `None`: nothing has
    /// changed, and [`Work::cancel`] is to be called.
    #[inline(always)]
    pub fn cancel_listed(&mut self, near: Near<'_>, ticket: Ticket) -> Option<u64> {
        let Head { state, free } = self;
        let Near { ends, firsts, bits, counts, chunks, handles } = near;
        let mut lists = Lists { ends, firsts, behind: counts, chunks, handles, free, own: state.slots() as u32 };
        let place = lists.place_of(ticket).filter(|place| state.busy == 0 && place & IN_HEAP == 0)?;
        state.take_out(&mut lists, bits, ticket, place)
    }

    /// What [`insert_near`](Self::insert_near) and [`insert_next`](Self::insert_next) have left to do where they say
    /// [`Inserted::Behind`].
    #[inline(always)]
    pub fn insert_behind(&mut self, near: Near<'_>, slot: u64, value: u64) {
        let Head { state, free } = self;
        let Near { ends, firsts, bits, counts, chunks, handles } = near;
        let (slots, level) = (state.slots(), u32::from(slot > state.near_last));
        let list = if level == 0 { slot as usize & state.mask() } else { state.list_of_level_1(slot) };
        if level == 0 {
            let parity = state.parity(slot);
            state.near_counts[parity] += 1;
        } else if let Some(count) = counts.get_mut(list) {
            count.values += 1;
        }
        let mut lists = Lists { ends, firsts, behind: counts, chunks, handles, free, own: slots as u32 };
        let end = lists.ends.get(list).copied().unwrap_or(NONE);
        lists.push_behind(list, end, Item::new(value, slot, NONE));
        Bits { words: bits, summaries: &mut state.summaries }.set(level, list, slots);
        state.pending += 1;
    }

    /// Takes values of the next slots in the wheel that are no later than `limit`, in the order of their insertion; adds to
    /// `given` how many. Now is the slot of the last one.
    #[inline(always)]
    pub fn expire_near<P: Place>(&mut self, near: Near<'_>, limit: u64, room: &mut [P], given: &mut usize) -> Stop {
        let Head { state, free } = self;
        let Near { ends, firsts, bits, counts, chunks, handles } = near;
        let slots = state.mask as usize + 1;
        let mut lists = Lists { ends, firsts, behind: counts, chunks, handles, free, own: slots as u32 };
        loop {
            let Some(places) = room.get_mut(*given..).filter(|places| !places.is_empty()) else { return Stop::Done };
            let Some(slot) = state.next_near(bits).filter(|slot| *slot <= state.near_last) else { return Stop::Step };
            if slot > limit || state.waiting > 0 || (slot ^ state.now) >> (state.bits & 63) != 0 {
                return Stop::Step;
            }
            state.now = slot;
            let index = slot as usize & state.mask();
            let (taken, emptied) = lists.drain(index, slot, places);
            state.count_taken(slot, taken);
            *given += taken;
            if !emptied {
                return Stop::Done;
            }
            Bits { words: bits, summaries: &mut state.summaries }.clear(0, index, slots);
            // All values of a slot of the wheel were there: nothing is left to look for.
            if slot == limit {
                return Stop::Done;
            }
        }
    }

    /// Takes the values of the next slot, if that is at hand in the wheel and no later than `limit`; gives how many, at least
    /// one. Now is that slot then. `None`: nothing has changed.
    #[inline(always)]
    pub fn expire_slot<P: Place>(&mut self, near: Near<'_>, limit: u64, room: &mut [P]) -> Option<usize> {
        let Head { state, free } = self;
        let Near { ends, firsts, bits, counts, chunks, handles } = near;
        let slot = state.next_near(bits)?;
        let is_at_hand = slot <= state.near_last && (slot ^ state.now) >> (state.bits & 63) == 0;
        if !is_at_hand || slot > limit || state.waiting > 0 || room.is_empty() {
            return None;
        }
        state.now = slot;
        let (slots, index) = (state.slots(), slot as usize & state.mask());
        let mut lists = Lists { ends, firsts, behind: counts, chunks, handles, free, own: slots as u32 };
        let (taken, emptied) = lists.drain(index, slot, room);
        state.count_taken(slot, taken);
        Bits { words: bits, summaries: &mut state.summaries }.clear_if(emptied, 0, index, slots);
        Some(taken)
    }

    /// Whether [`Work::deal`] has anything to do.
    #[inline(always)]
    pub const fn is_busy(&self) -> bool {
        self.state.busy != 0
    }

    /// The schedule with its memory.
    #[inline(always)]
    pub fn with<'a>(&'a mut self, memory: Memory<'a>) -> Work<'a> {
        let Head { state, free } = self;
        let Memory { ends, firsts, counts, bits, chunks, handles, waiting } = memory;
        let lists = Lists { ends, firsts, behind: counts, chunks, handles, free, own: state.mask + 1 };
        Work { state, lists, bits, values: waiting }
    }
}

impl State {
    /// How many lists a level has.
    #[inline(always)]
    const fn slots(&self) -> usize {
        self.mask as usize + 1
    }

    #[inline(always)]
    const fn mask(&self) -> usize {
        self.mask as usize
    }

    /// Counts work, where anyone asks for it.
    #[inline(always)]
    fn did(&mut self, work: u32) {
        if cfg!(debug_assertions) {
            self.work = self.work.saturating_add(work);
        }
    }

    /// Which of the two buckets in the wheel a slot is in.
    #[inline(always)]
    const fn parity(&self, slot: u64) -> usize {
        (slot >> (self.bits & 63)) as usize & 1
    }

    /// The bucket of a slot.
    #[inline(always)]
    const fn bucket(&self, level: u32, slot: u64) -> u64 {
        slot >> ((level * self.bits) & 63)
    }

    /// The list of the bucket of level 1 that a slot is in.
    #[inline(always)]
    const fn list_of_level_1(&self, slot: u64) -> usize {
        self.slots() + ((slot >> (self.bits & 63)) as usize & self.mask())
    }

    /// The first slot of a bucket.
    #[inline(always)]
    const fn start(&self, level: u32, bucket: u64) -> u64 {
        bucket << ((level * self.bits) & 63)
    }

    /// The list of a bucket.
    #[inline(always)]
    const fn list(&self, level: u32, bucket: u64) -> usize {
        level as usize * self.slots() + (bucket as usize & self.mask())
    }

    #[inline(always)]
    fn edge(&self, level: u32) -> u64 {
        self.edges.get(level as usize).copied().unwrap_or(u64::MAX)
    }

    fn set_edge(&mut self, level: u32, edge: u64) {
        if let Some(old) = self.edges.get_mut(level as usize) {
            *old = edge;
        }
        if level == 2 {
            self.plain_last = self.last_before(level, edge);
        }
    }

    /// The last slot before a bucket.
    fn last_before(&self, level: u32, bucket: u64) -> u64 {
        let width = level * self.bits;
        let start = bucket.checked_shl(width).filter(|start| start >> (width & 63) == bucket);
        start.map_or(u64::MAX, |start| start.wrapping_sub(1))
    }

    /// The first bucket of a level that has not been dealt out to it, or does not exist.
    fn end_of(&self, level: u32) -> u64 {
        if level >= self.levels {
            return (u64::MAX >> ((level * self.bits) & 63)).saturating_add(1);
        }
        let all = (u64::MAX >> ((level * self.bits) & 63)).saturating_add(1);
        all.min(self.edge(level + 1) << self.bits)
    }

    fn find_near_last(&mut self) {
        self.near_last = self.last_before(1, self.edge(1));
    }

    /// The first slot in which the wheel has a value, or a value that is being dealt out.
    #[inline(always)]
    fn next_near(&mut self, words: &mut [u64]) -> Option<u64> {
        let here = self.now as usize & self.mask();
        let slots = self.slots();
        let index = Bits { words, summaries: &mut self.summaries }.next(0, here, slots)?;
        Some(self.now + (index.wrapping_sub(here) & self.mask()) as u64)
    }

    #[inline(always)]
    fn count_taken(&mut self, slot: u64, taken: usize) {
        let parity = self.parity(slot);
        self.near_counts[parity] = self.near_counts[parity].wrapping_sub(taken as u32);
        self.pending = self.pending.wrapping_sub(taken as u32);
    }

    /// Takes the value of that place, which has that ticket, out of its list.
    #[inline(always)]
    fn take_out(&mut self, lists: &mut Lists<'_>, words: &mut [u64], ticket: Ticket, place: u32) -> Option<u64> {
        let (value, list, emptied) = match lists.take_last(place) {
            Some(taken) => taken,
            None => lists.remove(place)?,
        };
        let slots = self.slots();
        let level = (list >> (self.bits + 1)) as u32;
        if level == 0 {
            let parity = self.parity(ticket.slot);
            self.near_counts[parity] = self.near_counts[parity].wrapping_sub(1);
        } else if let Some(count) = lists.behind.get_mut(list) {
            count.values = count.values.wrapping_sub(1);
            count.limit = select_unpredictable(emptied, FEW, count.limit);
        }
        Bits { words, summaries: &mut self.summaries }.clear_if(emptied, level, list, slots);
        self.pending = self.pending.wrapping_sub(1);
        lists.free_handle(ticket.node);
        Some(value)
    }

    /// How many values pay for a bucket: those of the bucket before it, while which is at hand the bucket is dealt out.
    fn before(&self, level: u32, bucket: u64, counts: &[Count]) -> u64 {
        // The first bucket of a block may be dealt out to its level only as now comes to it.
        if level < self.levels && bucket & ((1 << self.bits) - 1) == 0 {
            return 0;
        }
        let (before, edge) = (bucket.wrapping_sub(1), self.edge(level));
        let listed =
            if before >= edge { counts.get(self.list(level, before)).map_or(0, |count| count.values) } else { 0 };
        let dealt = if level == 1 && before <= edge && before >= self.bucket(1, self.now) {
            self.near_counts[before as usize & 1]
        } else {
            0
        };
        u64::from(listed) + u64::from(dealt)
    }
}

impl Work<'_> {
    #[inline(always)]
    fn bits(&mut self) -> Bits<'_> {
        Bits { words: self.bits, summaries: &mut self.state.summaries }
    }

    #[inline(always)]
    fn heap(&mut self) -> Heap<'_> {
        Heap { values: self.values, length: &mut self.state.waiting, handles: self.lists.handles }
    }

    /// Makes `value` pending in `slot`; in now, where the slot has passed. `None` if there is no room. Without `ticket` it
    /// may be that there is nothing to cancel it with.
    pub fn insert(&mut self, slot: u64, value: u64, ticket: bool) -> Option<Ticket> {
        let slot = slot.max(self.state.now);
        if self.state.pending >= self.state.capacity {
            return None;
        }
        let mut level = 0;
        if slot > self.state.near_last {
            level = 1;
            while level < self.state.levels && self.state.bucket(level + 1, slot) >= self.state.edge(level + 1) {
                level += 1;
            }
        }
        // An item has 32 bits of its slot; where a bucket has more, the handle knows the rest.
        let (node, serial) =
            if ticket || level * self.state.bits > 32 { self.lists.new_handle(slot)? } else { (NONE, 0) };
        self.state.pending += 1;
        if self.state.waiting > 0 && is_within(slot, self.state.closed) {
            self.wait(slot, value, node, false);
        } else {
            self.put(level, slot, Item::new(value, slot, node), false);
        }
        Some(Ticket { slot, serial, node })
    }

    /// Puts an item into a list of that level, or, if that bucket may have no more, into the heap.
    #[inline(never)]
    fn put(&mut self, level: u32, slot: u64, item: Item, dealt: bool) {
        let list = self.state.list(level, self.state.bucket(level, slot));
        if level == 0 {
            let parity = self.state.parity(slot);
            self.state.near_counts[parity] += 1;
        } else if let Some(count) = self.lists.behind.get_mut(list) {
            if count.values >= count.limit && self.is_crowded(level, slot, dealt) {
                return self.wait(slot, item.value, item.handle(), dealt);
            }
            if let Some(count) = self.lists.behind.get_mut(list) {
                count.values += 1;
            }
        }
        self.lists.push(list, item);
        let slots = self.state.slots();
        self.bits().set(level, list, slots);
    }

    /// Looks again how many values the bucket of a slot may have. If it has as many, values for it go to the heap from now
    /// on.
    #[inline(never)]
    fn is_crowded(&mut self, level: u32, slot: u64, dealt: bool) -> bool {
        let bucket = self.state.bucket(level, slot);
        let before = self.state.before(level, bucket, self.lists.behind);
        let limit = if self.values.is_empty() { u64::MAX } else { SHARE * before + u64::from(FEW) };
        let list = self.state.list(level, bucket);
        let Some(count) = self.lists.behind.get_mut(list) else { return false };
        count.limit = if limit > u64::from(u32::MAX) { u32::MAX } else { limit as u32 };
        let crowded = count.values >= count.limit;
        if crowded {
            self.close(level, bucket, dealt);
        }
        crowded
    }

    /// From now on values for that bucket go to the heap.
    fn close(&mut self, level: u32, bucket: u64, dealt: bool) {
        let first = self.state.start(level, bucket);
        let last = first | !(u64::MAX << ((level * self.state.bits) & 63));
        if self.state.waiting == 0 {
            (self.state.closed, self.state.dealt_closed) = ([1, 0], [1, 0]);
        }
        widen(&mut self.state.closed, first, last);
        if dealt {
            widen(&mut self.state.dealt_closed, first, last);
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, slot: u64, value: u64, handle: u32, dealt: bool) {
        self.state.did(1);
        let next = if dealt { &mut self.state.dealt_serial } else { &mut self.state.serial };
        let serial = *next;
        *next += 1;
        self.heap().push(Waiting::new(slot, serial, value, handle));
    }

    /// Takes a pending value back; `None` if it has expired or been cancelled.
    pub fn cancel<P: Place>(&mut self, ticket: Ticket) -> Option<u64> {
        let place = self.lists.place_of(ticket)?;
        let value = if place & IN_HEAP != 0 {
            self.state.did(1);
            let value = self.heap().remove((place & !IN_HEAP) as usize)?.value;
            self.state.pending = self.state.pending.wrapping_sub(1);
            self.lists.free_handle(ticket.node);
            value
        } else {
            self.state.take_out(&mut self.lists, self.bits, ticket, place)?
        };
        if self.state.busy != 0 {
            self.deal::<P>(1);
        }
        Some(value)
    }

    /// The first slot in which a value is pending.
    pub fn next_slot(&mut self) -> Option<u64> {
        let near = self.state.next_near(self.bits);
        let waiting = self.heap().first().map(|first| first.slot);
        let mut soonest = soonest(near, waiting);
        let mut known_to = self.state.near_last;
        for level in 1..=self.state.levels {
            if soonest.is_some_and(|soonest| soonest <= known_to) {
                break;
            }
            if let Some(bucket) = self.first_bucket(level) {
                let looked = self.lists.behind.get(self.state.list(level, bucket)).map_or(0, |count| count.values);
                self.state.did(looked);
                let least = self.lists.least(self.state.list(level, bucket), |item| self.slot(level, bucket, item));
                soonest = self::soonest(soonest, least);
            }
            known_to = self.state.start(level, self.state.end_of(level)).wrapping_sub(1);
        }
        soonest
    }

    /// Moves now to the next value in the wheel, or, if that is empty, to the first bucket that has one; if that begins no
    /// later than `limit`, and nothing waits in the heap. Gives whether now has moved. So [`Head::expire_slot`] has the next
    /// values at hand, or is nearer to them.
    #[inline(never)]
    pub fn approach<P: Place>(&mut self, limit: u64) -> bool {
        if self.state.waiting > 0 {
            return false;
        }
        let near = self.state.next_near(self.bits).filter(|slot| *slot <= self.state.near_last);
        let next = if near.is_some() { near } else { self.soonest_bucket() };
        let Some(next) = next.filter(|next| *next <= limit && *next > self.state.now) else {
            return false;
        };
        self.arrive::<P>(next);
        true
    }

    /// The first bucket of a level that has a value.
    #[inline]
    fn first_bucket(&mut self, level: u32) -> Option<u64> {
        let edge = self.state.edge(level);
        let (here, slots) = (edge as usize & self.state.mask(), self.state.slots());
        let index = self.bits().next(level, here, slots)?;
        Some(edge + (index.wrapping_sub(here) & self.state.mask()) as u64)
    }

    /// The slot of an item in that bucket.
    #[inline(always)]
    fn slot(&self, level: u32, bucket: u64, item: &Item) -> u64 {
        if level * self.state.bits <= 32 {
            return self.state.start(level, bucket) >> 32 << 32 | item.low();
        }
        self.lists.handles.get(item.handle() as usize).map_or(0, |handle| handle.slot)
    }

    /// Does what [`Head::expire_near`] cannot: it goes to the next value, or gives it; or says that there is none up to
    /// `limit`, and goes there.
    pub fn step<P: Place>(&mut self, limit: u64, room: &mut [P], given: &mut usize) -> Stop {
        if let Some(stop) = self.give_few(limit, room, given) {
            return stop;
        }
        let near = self.state.next_near(self.bits).filter(|slot| *slot <= self.state.near_last);
        let waiting = self.heap().first().map(|first| first.slot);
        let far = if near.is_none() { self.soonest_bucket() } else { None };
        let Some(next) = soonest(soonest(near, waiting), far).filter(|next| *next <= limit) else {
            if limit != u64::MAX {
                self.arrive::<P>(limit.max(self.state.now));
            }
            return Stop::Done;
        };
        self.arrive::<P>(next);
        if near == Some(next) && self.state.waiting > 0 {
            return self.give(next, room, given);
        }
        if near.is_none() && far != Some(next) || near.is_some_and(|near| near > next) {
            return self.give(next, room, given);
        }
        Stop::Step
    }

    /// Gives the values of one slot, those in the wheel and then those in the heap.
    #[inline(never)]
    fn give<P: Place>(&mut self, slot: u64, room: &mut [P], given: &mut usize) -> Stop {
        let index = slot as usize & self.state.mask();
        if self.state.next_near(self.bits) == Some(slot) {
            let Some(places) = room.get_mut(*given..) else { return Stop::Done };
            let (taken, emptied) = self.lists.drain_chunks(index, slot, places);
            self.state.count_taken(slot, taken);
            *given += taken;
            if !emptied {
                return Stop::Done;
            }
            let slots = self.state.slots();
            self.bits().clear(0, index, slots);
        }
        while let Some(&Waiting { slot: found, value, handle, .. }) = self.heap().first()
            && found == slot
        {
            let Some(place) = room.get_mut(*given) else { return Stop::Done };
            place.set(Expired { slot, value });
            *given += 1;
            self.state.did(1);
            self.heap().remove(0);
            self.state.pending = self.state.pending.wrapping_sub(1);
            self.lists.free_handle(handle);
        }
        if *given == room.len() { Stop::Done } else { Stop::Step }
    }

    /// The start of the soonest bucket that has a value, or now, if it has begun. The wheel is empty up to its last slot.
    #[inline(never)]
    fn soonest_bucket(&mut self) -> Option<u64> {
        let mut found = None;
        for level in 1..=self.state.levels {
            // What lies beyond the end is being dealt out of the bucket there, which may have sooner values.
            if let Some(bucket) = self.first_bucket(level) {
                found = soonest(found, Some(self.state.start(level, bucket).max(self.state.now)));
                if bucket < self.state.end_of(level) {
                    return found;
                }
            }
        }
        found
    }

    /// Moves now there; nothing is pending before it. The buckets that it is in are dealt out.
    #[inline(never)]
    fn arrive<P: Place>(&mut self, slot: u64) {
        let passed = slot ^ self.state.now;
        self.state.now = slot;
        if passed >> self.state.bits == 0 {
            return;
        }
        let mut top = 1;
        while top < self.state.levels && passed >> ((top + 1) * self.state.bits) != 0 {
            top += 1;
        }
        for level in (1..=top).rev() {
            let here = self.state.bucket(level, slot);
            if self.state.edge(level) <= here {
                self.state.set_edge(level, here);
                while !self.deal_chunk::<P>(level) {}
                self.state.set_edge(level, here + 1);
            }
        }
        for level in (1..=top).rev() {
            self.go_on(level);
        }
    }

    /// Moves the edge of a level on, if its first bucket is empty and may be dealt out.
    fn go_on(&mut self, level: u32) {
        let (edge, here) = (self.state.edge(level), self.state.bucket(level, self.state.now));
        let may = edge < here + 2 && edge < self.state.end_of(level);
        let has = may && !self.is_empty(level, edge);
        if may && !has {
            self.state.set_edge(level, edge + 1);
        }
        self.state.busy = self.state.busy & !(1 << level) | u32::from(has) << level;
        if level == 1 {
            self.state.find_near_last();
        }
    }

    #[inline]
    fn is_empty(&self, level: u32, bucket: u64) -> bool {
        self.lists.ends.get(self.state.list(level, bucket)).is_none_or(|end| *end == NONE)
    }

    /// Deals out up to this number of chunks of values ahead of time, those of the lowest levels first.
    #[inline(never)]
    pub fn deal<P: Place>(&mut self, chunks: usize) {
        let mut left = chunks;
        while left > 0 && self.state.busy != 0 {
            let level = self.state.busy.trailing_zeros();
            left -= 1;
            if self.deal_chunk::<P>(level) {
                for level in (1..=level).rev() {
                    self.go_on(level);
                }
            }
        }
    }

    /// How many chunks a call deals out after it gave this number of values.
    #[inline(always)]
    pub const fn work_for(given: usize) -> usize {
        (if given == 0 { 1 } else { given }).saturating_mul(WORK)
    }

    /// Deals out the first chunk of the bucket at the edge of a level; gives whether that is empty then.
    fn deal_chunk<P: Place>(&mut self, level: u32) -> bool {
        let bucket = self.state.edge(level);
        if self.is_empty(level, bucket) {
            return true;
        }
        let list = self.state.list(level, bucket);
        let (taken, emptied) = if level == 1 {
            self.deal_into_the_wheel::<P>(bucket, list)
        } else {
            self.deal_into_lists::<P>(level, bucket, list)
        };
        self.state.did(taken);
        if let Some(count) = self.lists.behind.get_mut(list) {
            count.values = count.values.wrapping_sub(taken);
            count.limit = if emptied { FEW } else { count.limit };
        }
        if emptied {
            let slots = self.state.slots();
            self.bits().clear(level, list, slots);
        }
        emptied
    }

    #[inline(always)]
    fn deal_into_the_wheel<P: Place>(&mut self, bucket: u64, list: usize) -> (u32, bool) {
        let (mask, slots) = (self.state.mask(), self.state.slots());
        let mut bits = Bits { words: self.bits, summaries: &mut self.state.summaries };
        let (taken, emptied) = self.lists.take_chunk::<P>(list, |lists, item| {
            let index = item.low() as usize & mask;
            lists.push(index, item);
            bits.set(0, index, slots);
        });
        self.state.near_counts[bucket as usize & 1] += taken;
        (taken, emptied)
    }

    #[inline(never)]
    fn deal_into_lists<P: Place>(&mut self, level: u32, bucket: u64, list: usize) -> (u32, bool) {
        let (mut items, mut count) = ([Item::new(0, 0, NONE); 7], 0);
        let (taken, emptied) = self.lists.take_chunk::<P>(list, |lists, item| {
            if let Some(handle) = lists.handles.get(item.handle() as usize) {
                P::fetch_handle(handle);
            }
            if let Some(place) = items.get_mut(count) {
                *place = item;
                count += 1;
            }
        });
        for item in items.iter().take(count) {
            let slot = self.slot(level, bucket, item);
            if self.state.waiting > 0 && is_within(slot, self.state.dealt_closed) {
                self.wait(slot, item.value, item.handle(), true);
            } else {
                self.put(level - 1, slot, *item, true);
            }
        }
        (taken, emptied)
    }
}

/// The sooner of two slots.
#[inline(always)]
fn soonest(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if one < other { one } else { other }),
        (one, None) => one,
        (None, other) => other,
    }
}

#[inline(always)]
const fn is_within(slot: u64, [first, last]: [u64; 2]) -> bool {
    first <= slot && slot <= last
}

/// Makes a range include another one too; it is nothing at first.
fn widen(range: &mut [u64; 2], first: u64, last: u64) {
    *range = if range[0] > range[1] { [first, last] } else { [range[0].min(first), range[1].max(last)] };
}
