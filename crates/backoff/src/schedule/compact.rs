//! The compact schedule of fixed size: 32 octets a value, in memory that the caller lends.
//!
//! ```text
//! level 0:  2^10, 2^11 or 2^12 slots, those that differ from now in their low bits only; one list each
//! level 1:  2^6 or 2^11 lists, of as many slots each as level 0 has
//! level 2:  as many lists, of as many slots each as level 1 has; and so on, until 2^64 is reached
//! ```
//!
//! The level of a value is that of the highest bit in which its slot differs from now. So a value's list follows from its
//! slot and now. When now enters the slots of a list, its values move to the lists of lower levels, which are empty then:
//! the order within a slot is that of insertion. Each value moves at most once for each level. One call may move a whole
//! list, and that is the price of the size: [`Head`](super::Head) bounds each call, and takes four times the memory.
//!
//! A bit for each list says where to look for values. One that is cancelled leaves the bit, since most timers are cancelled; what
//! comes to a list without values clears it.
//!
//! For [`SORTED`] values or fewer there is one list, sorted by slot.
//!
//! One file above 500 lines because levels, lists and nodes share one memory and its invariants.

use core::hint::select_unpredictable;

use super::Ticket;
use super::fixed::Stop;
use super::lists::{Expired, NONE, Place};

/// A schedule for this number of values or fewer is one sorted list.
const SORTED: u32 = 32;
/// No shape has more levels, level 0 included.
const LEVELS: usize = 10;
/// One in this number of insertions lets the distance between a value and the one that it announces grow.
const AHEAD: u32 = 8;

/// A value that is pending, or a free place for one. 32 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Node {
    slot: u64,
    value: u64,
    /// The next one of the list, and behind the last one the first; or the next free one.
    next: u32,
    /// Of the first one of a list: `NONE`.
    previous: u32,
    /// Odd while the value is pending; grows by one with each insertion and each removal.
    serial: u32,
    /// A value that comes some values later, to be fetched in time. Of the last one of a list: one that came some values
    /// earlier. It may be any other, which does no harm.
    ahead: u32,
}

impl Node {
    /// One that holds anything.
    pub const UNUSED: Node = Node { slot: 0, value: 0, next: NONE, previous: NONE, serial: 0, ahead: NONE };
}

/// A list of values: its last one.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct List(u32);

impl List {
    /// One without values.
    pub const EMPTY: List = List(NONE);
}

/// A list beyond level 0, by its level.
#[derive(Clone, Copy)]
struct FarList {
    level: u32,
    index: usize,
}

/// What a capacity asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactShape {
    /// How many bits of a slot level 0 has, and each level above it.
    first_bits: u32,
    bits: u32,
    levels: u32,
}

impl CompactShape {
    /// For `capacity` values: as many slots at level 0 as 40 octets for each value and 8,000 more have room for.
    pub const fn of(capacity: u32) -> CompactShape {
        if capacity <= SORTED {
            return CompactShape { first_bits: 0, bits: 0, levels: 0 };
        }
        let (first_bits, bits) = match capacity {
            0..400 => (10, 6),
            400..1500 => (11, 6),
            1500..7000 => (12, 6),
            _ => (12, 11),
        };
        CompactShape { first_bits, bits, levels: (u64::BITS - first_bits).div_ceil(bits) }
    }

    /// How many lists there are.
    pub const fn lists(&self) -> usize {
        (1 << self.first_bits) + ((self.levels as usize) << self.bits)
    }

    /// How many words of bits there are.
    pub const fn words(&self) -> usize {
        self.lists() / 64
    }
}

/// The memory that a compact schedule lives in, lent for one call; always the same.
pub struct CompactMemory<'a> {
    /// As many as [`CompactShape::lists`] says, empty at first.
    pub lists: &'a mut [List],
    /// As many as [`CompactShape::words`] says, 0 at first.
    pub words: &'a mut [u64],
    /// One for each value; what has not been used may hold anything. All but [`Compact::insert`] need those only that have been
    /// used.
    pub nodes: &'a mut [Node],
}

/// Where pending values are, but for the memory.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Compact {
    now: u64,
    /// How many slots level 0 has: none where the values are sorted.
    near: u64,
    pending: u32,
    free: u32,
    /// How many nodes have ever been used.
    used: u32,
    /// The serial number of a node that is used for the first time. Odd, and another one in each life of the memory.
    serial: u32,
    /// A bit for each level beyond level 0 that has anything.
    busy: u32,
    first_bits: u32,
    bits: u32,
    /// How many levels there are above level 0. 0: one sorted list.
    levels: u32,
    /// For each level a bit for each word that is not 0.
    summaries: [u64; LEVELS],
}

impl Compact {
    /// An empty schedule of that shape; the first slot that can expire is `now`. `life` tells its tickets from those of
    /// other schedules: a number that counts them.
    pub const fn new(shape: &CompactShape, now: u64, life: u32) -> Compact {
        Compact {
            now,
            near: if shape.levels == 0 { 0 } else { 1 << shape.first_bits },
            pending: 0,
            free: NONE,
            used: 0,
            serial: super::lists::serial_of(life),
            busy: 0,
            first_bits: shape.first_bits,
            bits: shape.bits,
            levels: shape.levels,
            summaries: [0; LEVELS],
        }
    }

    /// How many values are pending.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.pending
    }

    /// Whether none is.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// How many nodes have ever been used: the first ones.
    #[inline(always)]
    pub const fn used(&self) -> u32 {
        self.used
    }

    /// The slot that has been reached.
    #[inline]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Makes a value pending at level 0, in a place that has been used before. `None`: nothing has changed, and
    /// [`insert`](Self::insert) is to be called.
    #[inline(always)]
    pub fn insert_near(&mut self, memory: &mut CompactMemory<'_>, slot: u64, value: u64) -> Option<Ticket> {
        let slot = if slot < self.now { self.now } else { slot };
        if !self.is_near(slot) {
            return None;
        }
        let (number, ticket) = self.take_free(memory, slot, value)?;
        let index = self.index_near(slot);
        self.push(memory, index, number);
        self.set_near(memory, index);
        Some(ticket)
    }

    /// The same beyond level 0.
    #[inline(always)]
    pub fn insert_far(&mut self, memory: &mut CompactMemory<'_>, slot: u64, value: u64) -> Option<Ticket> {
        if self.levels == 0 || slot < self.now || self.is_near(slot) {
            return None;
        }
        let (number, ticket) = self.take_free(memory, slot, value)?;
        self.put_far(memory, number, slot);
        Some(ticket)
    }

    /// Makes a value pending; `None` if there is no room.
    #[inline(never)]
    pub fn insert(&mut self, memory: &mut CompactMemory<'_>, slot: u64, value: u64) -> Option<Ticket> {
        let slot = if slot < self.now { self.now } else { slot };
        if self.free == NONE {
            self.free = self.take_unused(memory)?;
        }
        let (number, ticket) = self.take_free(memory, slot, value)?;
        if self.levels == 0 {
            self.put_sorted(memory, number, slot);
        } else {
            self.put(memory, number, slot);
        }
        Some(ticket)
    }

    /// Gives that value a free place.
    #[inline(always)]
    fn take_free(&mut self, memory: &mut CompactMemory<'_>, slot: u64, value: u64) -> Option<(u32, Ticket)> {
        let number = self.free;
        let node = memory.nodes.get_mut(number as usize)?;
        self.free = node.next;
        (node.slot, node.value, node.serial) = (slot, value, node.serial.wrapping_add(1));
        self.pending += 1;
        Some((number, Ticket { slot, serial: node.serial, node: number }))
    }

    /// Makes a node that has never been used a free one; `None` if there is none.
    #[cold]
    #[inline(never)]
    fn take_unused(&mut self, memory: &mut CompactMemory<'_>) -> Option<u32> {
        let node = memory.nodes.get_mut(self.used as usize)?;
        (node.next, node.serial) = (NONE, self.serial.wrapping_sub(1));
        self.used += 1;
        Some(self.used - 1)
    }

    /// Takes a pending value back; `None` if it has expired or been cancelled.
    #[inline(always)]
    pub fn cancel(&mut self, memory: &mut CompactMemory<'_>, ticket: Ticket) -> Option<u64> {
        if self.is_near(ticket.slot) { self.cancel_near(memory, ticket) } else { self.cancel_far(memory, ticket) }
    }

    /// The same at level 0.
    #[inline(always)]
    pub fn cancel_near(&mut self, memory: &mut CompactMemory<'_>, ticket: Ticket) -> Option<u64> {
        self.remove(memory, self.index_near(ticket.slot), ticket)
    }

    /// The same beyond level 0.
    #[inline(always)]
    pub fn cancel_far(&mut self, memory: &mut CompactMemory<'_>, ticket: Ticket) -> Option<u64> {
        self.remove(memory, self.list_of(self.place_far(ticket.slot)), ticket)
    }

    /// Takes a pending value out of that list. The bit of the list stays, even if it is empty then.
    #[inline(always)]
    fn remove(&mut self, memory: &mut CompactMemory<'_>, index: usize, ticket: Ticket) -> Option<u64> {
        let Ticket { slot, serial, node: number } = ticket;
        let node = memory.nodes.get_mut(number as usize)?;
        if node.serial != serial || node.slot != slot || serial.is_multiple_of(2) {
            return None;
        }
        let Node { next, previous, .. } = *node;
        let list = memory.lists.get_mut(index)?;
        let last = list.0;
        // As numbers, not as branches: which of its list a value is, is as random as what is cancelled. Of a value that is alone
        // all of this writes to its own node, and leaves the list empty.
        let (is_first, is_last) = (previous == NONE, last == number);
        *list = List(select_unpredictable(is_last, previous, last));
        let before = select_unpredictable(is_first, last, previous);
        memory.nodes.get_mut(before as usize)?.next = next;
        let behind = select_unpredictable(is_last, number, next);
        memory.nodes.get_mut(behind as usize)?.previous = previous;
        let node = memory.nodes.get_mut(number as usize)?;
        (node.serial, node.next) = (serial.wrapping_add(1), self.free);
        self.free = number;
        self.pending = self.pending.wrapping_sub(1);
        Some(node.value)
    }

    /// The first slot in which a value is pending. It looks through the values of one list.
    pub fn next_slot(&mut self, memory: &mut CompactMemory<'_>) -> Option<u64> {
        if self.levels == 0 {
            return Some(memory.nodes.get(self.first_sorted(memory)? as usize)?.slot);
        }
        while self.summaries[0] != 0 {
            let slot = self.next_near(memory);
            let index = self.index_near(slot);
            if memory.lists.get(index)?.0 != NONE {
                return Some(slot);
            }
            self.clear_near(memory, index);
        }
        loop {
            let far = self.soonest(memory)?;
            let last = memory.lists.get(self.list_of(far))?.0;
            if last == NONE {
                self.clear_far(memory, far);
                continue;
            }
            let mut node = memory.nodes.get(last as usize)?;
            let mut least = node.slot;
            while node.next != last {
                node = memory.nodes.get(node.next as usize)?;
                least = least.min(node.slot);
            }
            return Some(least);
        }
    }

    /// Takes values of the next `slots` slots of level 0 that are no later than `limit`, in the order of their insertion; adds
    /// to `given` how many. Now is the slot of the last one, or `limit`, if no more are pending up to there.
    #[inline(always)]
    pub fn expire_near<P: Place>(
        &mut self,
        memory: &mut CompactMemory<'_>,
        limit: u64,
        slots: &mut u64,
        room: &mut [P],
        given: &mut usize,
    ) -> Stop {
        loop {
            let Some(places) = room.get_mut(*given..).filter(|places| !places.is_empty() && *slots > 0) else {
                return Stop::Done;
            };
            if self.summaries[0] == 0 {
                return Stop::Step;
            }
            let slot = self.next_near(memory);
            if slot > limit {
                self.now = if limit > self.now { limit } else { self.now };
                return Stop::Done;
            }
            self.now = slot;
            let taken = self.give(memory, slot, places);
            *given += taken;
            *slots -= u64::from(taken > 0);
        }
    }

    /// Does what [`expire_near`](Self::expire_near) cannot: it goes on to the next values, or says that there are none up to
    /// `limit`, which is now then.
    #[inline(never)]
    pub fn step<P: Place>(
        &mut self,
        memory: &mut CompactMemory<'_>,
        limit: u64,
        slots: &mut u64,
        room: &mut [P],
        given: &mut usize,
    ) -> Stop {
        if self.levels == 0 {
            *given += self.expire_sorted(memory, limit, *slots, room);
            return Stop::Done;
        }
        if self.enter::<P>(memory, limit) { Stop::Step } else { Stop::Done }
    }

    /// Gives values of that slot, which is now, from the front of its list; gives how many.
    #[inline(always)]
    fn give<P: Place>(&mut self, memory: &mut CompactMemory<'_>, slot: u64, room: &mut [P]) -> usize {
        let index = self.index_near(slot);
        let Some(list) = memory.lists.get_mut(index) else { return 0 };
        let last = list.0;
        let Some(first) = memory.nodes.get(last as usize).map(|node| node.next) else {
            self.clear_near(memory, index);
            return 0;
        };
        let (announces, mut number, mut given) = (self.announces(), first, 0);
        for place in room {
            if announces {
                Self::fetch::<P>(memory.nodes, number);
            }
            let Some(node) = memory.nodes.get_mut(number as usize) else { break };
            place.set(Expired { slot, value: node.value });
            node.serial = node.serial.wrapping_add(1);
            given += 1;
            if number == last {
                // The whole chain becomes free at once.
                node.next = core::mem::replace(&mut self.free, first);
                self.pending = self.pending.wrapping_sub(given as u32);
                *list = List::EMPTY;
                self.clear_near(memory, index);
                return given;
            }
            number = node.next;
        }
        self.stop_at(memory, first, last, number, given as u32);
        given
    }

    /// What is left to do where the values from `first` to the one before `number` were given, and others follow.
    #[inline(never)]
    fn stop_at(&mut self, memory: &mut CompactMemory<'_>, first: u32, last: u32, number: u32, given: u32) {
        self.pending = self.pending.wrapping_sub(given);
        if first == number {
            return;
        }
        if let Some(node) = memory.nodes.get_mut(last as usize) {
            node.next = number;
        }
        let Some(node) = memory.nodes.get_mut(number as usize) else { return };
        let taken = core::mem::replace(&mut node.previous, NONE);
        if let Some(node) = memory.nodes.get_mut(taken as usize) {
            node.next = core::mem::replace(&mut self.free, first);
        }
    }

    /// Level 0 is empty: moves now to the first list that has values, and these to lower levels, if it begins no later than
    /// `limit`. Gives whether level 0 has values then; else now is `limit`.
    #[inline(always)]
    fn enter<P: Place>(&mut self, memory: &mut CompactMemory<'_>, limit: u64) -> bool {
        while let Some(far) = self.soonest(memory) {
            let shift = self.first_bits + (far.level - 1) * self.bits;
            let first = (self.now >> shift & !((1 << self.bits) - 1) | far.index as u64) << shift;
            let Some(&List(last)) = memory.lists.get(self.list_of(far)).filter(|_| first <= limit) else { break };
            if last == NONE {
                self.clear_far(memory, far);
                continue;
            }
            // A value that is alone needs no lower level: it is given as soon as it is there.
            let alone = memory.nodes.get(last as usize).filter(|node| node.next == last).map(|node| node.slot);
            self.now = alone.unwrap_or(first).min(limit);
            self.move_down::<P>(memory, far);
            if self.summaries[0] != 0 {
                return true;
            }
            if alone.is_some() {
                break;
            }
        }
        if limit != u64::MAX {
            self.now = self.now.max(limit);
        }
        false
    }

    /// Moves the values of a list that now is in to lower levels.
    #[inline(always)]
    fn move_down<P: Place>(&mut self, memory: &mut CompactMemory<'_>, far: FarList) {
        let Some(from) = memory.lists.get_mut(self.list_of(far)) else { return };
        let List(last) = core::mem::replace(from, List::EMPTY);
        self.clear_far(memory, far);
        let announces = self.announces();
        let Some(mut number) = memory.nodes.get(last as usize).map(|node| node.next) else { return };
        while let Some(&Node { slot, next, .. }) = memory.nodes.get(number as usize) {
            if announces {
                Self::fetch::<P>(memory.nodes, number);
            }
            self.put(memory, number, slot);
            if number == last {
                break;
            }
            number = next;
        }
    }

    /// Whether a slot, no earlier than now, is at level 0.
    #[inline(always)]
    pub const fn is_near(&self, slot: u64) -> bool {
        slot ^ self.now < self.near
    }

    /// The list of a slot of level 0.
    #[inline(always)]
    const fn index_near(&self, slot: u64) -> usize {
        (slot & (self.near - 1)) as usize
    }

    /// The list of a slot beyond level 0.
    #[inline(always)]
    const fn place_far(&self, slot: u64) -> FarList {
        if self.levels == 0 {
            return FarList { level: 0, index: 0 };
        }
        // The highest bit in which it differs, counted from level 0, divided by the bits of a level: without a loop, whose end
        // would be guessed wrong.
        let bit = u64::BITS - 1 - (slot ^ self.now | 1).leading_zeros();
        let inverse = if self.announces() { 0x1_0000 / 11 + 1 } else { 0x1_0000 / 6 + 1 };
        let above = bit.wrapping_sub(self.first_bits).wrapping_mul(inverse) >> 16;
        let shift = self.first_bits + above * self.bits;
        FarList { level: above + 1, index: (slot >> (shift & 63)) as usize & ((1 << (self.bits & 63)) - 1) }
    }

    /// Its number among all lists.
    #[inline(always)]
    const fn list_of(&self, FarList { level, index }: FarList) -> usize {
        if level == 0 {
            return 0;
        }
        (1 << (self.first_bits & 63)) + ((level as usize - 1) << (self.bits & 63)) + index
    }

    /// Whether a value announces a later one of its list. Where there are few values all of them are in the cache.
    #[inline(always)]
    const fn announces(&self) -> bool {
        self.bits > 6
    }

    /// Says that the value which that one announces will be read soon.
    #[inline(always)]
    fn fetch<P: Place>(nodes: &[Node], number: u32) {
        if let Some(node) = nodes.get(number as usize)
            && let Some(ahead) = nodes.get(node.ahead as usize)
        {
            P::fetch_node(ahead);
        }
    }

    /// Puts a node at the end of the list of its slot.
    #[inline(always)]
    fn put(&mut self, memory: &mut CompactMemory<'_>, number: u32, slot: u64) {
        if self.is_near(slot) {
            let index = self.index_near(slot);
            self.push(memory, index, number);
            self.set_near(memory, index);
        } else {
            self.put_far(memory, number, slot);
        }
    }

    #[inline(always)]
    fn put_far(&mut self, memory: &mut CompactMemory<'_>, number: u32, slot: u64) {
        let far = self.place_far(slot);
        self.push(memory, self.list_of(far), number);
        self.set_far(memory, far);
    }

    /// Puts a node at the end of a list.
    #[inline(always)]
    fn push(&mut self, memory: &mut CompactMemory<'_>, index: usize, number: u32) {
        let Some(list) = memory.lists.get_mut(index) else { return };
        let last = core::mem::replace(list, List(number)).0;
        let Some(node) = memory.nodes.get_mut(number as usize) else { return };
        (node.next, node.previous, node.ahead) = (number, last, number);
        // Behind itself, where the list is empty. As a number, since that is as random as the slot.
        let before = select_unpredictable(last == NONE, number, last);
        let Some(node) = memory.nodes.get_mut(before as usize) else { return };
        let behind = select_unpredictable(self.announces(), node.ahead, NONE);
        let first = core::mem::replace(&mut node.next, number);
        let ahead = Self::announce(memory.nodes, behind, first, number);
        if let Some(node) = memory.nodes.get_mut(number as usize) {
            (node.next, node.ahead) = (first, ahead);
        }
    }

    /// Lets the value `behind`, some values before the last one, announce `number`; gives the one that announces the next one.
    /// The distance between them grows while `first`, the first one of the list, announces, and then stays.
    #[inline(always)]
    fn announce(nodes: &mut [Node], behind: u32, first: u32, number: u32) -> u32 {
        let Some(node) = nodes.get_mut(behind as usize) else { return number };
        node.ahead = number;
        select_unpredictable(behind != first || number.is_multiple_of(AHEAD), node.next, behind)
    }

    /// Puts a node into the sorted list, behind those of its slot.
    #[inline(never)]
    fn put_sorted(&mut self, memory: &mut CompactMemory<'_>, number: u32, slot: u64) {
        let Some(&List(last)) = memory.lists.first() else { return };
        let (mut previous, mut next) = (last, NONE);
        while let Some(node) = memory.nodes.get(previous as usize).filter(|node| node.slot > slot) {
            (next, previous) = (previous, node.previous);
        }
        let first = memory.nodes.get(last as usize).map_or(number, |node| node.next);
        match memory.nodes.get_mut(next as usize) {
            Some(node) => node.previous = number,
            None => memory.lists.iter_mut().take(1).for_each(|list| *list = List(number)),
        }
        // Behind the last one comes the first.
        let next = if next == NONE { first } else { next };
        let before = if previous == NONE { last } else { previous };
        if let Some(node) = memory.nodes.get_mut(before as usize) {
            node.next = number;
        }
        if let Some(node) = memory.nodes.get_mut(number as usize) {
            (node.next, node.previous) = (next, previous);
        }
    }

    /// What [`step`](Self::step) does with the sorted list.
    fn expire_sorted<P: Place>(
        &mut self,
        memory: &mut CompactMemory<'_>,
        limit: u64,
        slots: u64,
        room: &mut [P],
    ) -> usize {
        let (mut given, mut left) = (0, slots);
        while let Some(number) = self.first_sorted(memory)
            && let Some(&Node { slot, value, serial, .. }) = memory.nodes.get(number as usize)
            && slot <= limit
        {
            left -= u64::from(given > 0 && slot != self.now);
            let Some(place) = room.get_mut(given).filter(|_| left > 0) else { return given };
            place.set(Expired { slot, value });
            given += 1;
            self.now = slot;
            self.remove(memory, 0, Ticket { slot, serial, node: number });
        }
        // Where the one slot is used up, later values may be pending before `limit`.
        if limit != u64::MAX && (given == 0 || left > 1) {
            self.now = self.now.max(limit);
        }
        given
    }

    fn first_sorted(&self, memory: &CompactMemory<'_>) -> Option<u32> {
        Some(memory.nodes.get(memory.lists.first()?.0 as usize)?.next)
    }

    /// The first list beyond level 0 whose bit is set.
    #[inline(always)]
    fn soonest(&self, memory: &CompactMemory<'_>) -> Option<FarList> {
        let level = self.busy.trailing_zeros();
        let summary = self.summaries.get(level as usize)?;
        let inner = summary.trailing_zeros() as usize;
        let word = memory.words.get(self.list_of(FarList { level, index: 0 }) / 64 + inner)?;
        Some(FarList { level, index: inner * 64 + word.trailing_zeros() as usize })
    }

    /// The first slot of level 0 whose bit is set; one is. None of them is before now.
    #[inline(always)]
    fn next_near(&self, memory: &CompactMemory<'_>) -> u64 {
        let mask = self.near - 1;
        let word = self.summaries[0].trailing_zeros();
        let bits = memory.words.get(word as usize).copied().unwrap_or(0);
        self.now & !mask | u64::from(word * 64 + bits.trailing_zeros()) & mask
    }

    #[inline(always)]
    fn set_near(&mut self, memory: &mut CompactMemory<'_>, index: usize) {
        let Some(word) = memory.words.get_mut(index / 64) else { return };
        *word |= 1 << (index % 64);
        self.summaries[0] |= 1 << (index / 64 % 64);
    }

    #[inline(always)]
    fn clear_near(&mut self, memory: &mut CompactMemory<'_>, index: usize) {
        let Some(word) = memory.words.get_mut(index / 64) else { return };
        *word &= !(1 << (index % 64));
        self.summaries[0] &= !(u64::from(*word == 0) << (index / 64 % 64));
    }

    #[inline(always)]
    fn set_far(&mut self, memory: &mut CompactMemory<'_>, far: FarList) {
        let list = self.list_of(far);
        let Some(word) = memory.words.get_mut(list / 64) else { return };
        *word |= 1 << (list % 64);
        self.busy |= 1 << (far.level & 31);
        if let Some(summary) = self.summaries.get_mut(far.level as usize) {
            *summary |= 1 << (far.index / 64 % 64);
        }
    }

    #[inline(always)]
    fn clear_far(&mut self, memory: &mut CompactMemory<'_>, far: FarList) {
        let list = self.list_of(far);
        let Some(word) = memory.words.get_mut(list / 64) else { return };
        *word &= !(1 << (list % 64));
        let emptied = u64::from(*word == 0);
        if let Some(summary) = self.summaries.get_mut(far.level as usize) {
            *summary &= !(emptied << (far.index / 64 % 64));
            self.busy &= !(u32::from(*summary == 0) << (far.level & 31));
        }
    }
}

const _: () = assert!(size_of::<Node>() == 32 && size_of::<List>() == 4);
