//! Lists of values in chunks of seven, and handles for the values that can be cancelled.
//!
//! A list is a chain of chunks; its values lie side by side in them, so that a list is read as it lies in memory. Each
//! slot of the wheel has a chunk of its own, which is never given away; other chunks come from a common stock. Each of
//! those that is in use has at least one value that is not cancelled: so as many as values are always enough. A value
//! that can be cancelled has a handle, which knows where it lies. Numbers that are none of the lists' give wrong answers,
//! never a panic.
//!
//! One file above 500 lines because lists, chunks and handles point into each other.

use core::hint::select_unpredictable;

use super::Ticket;
use super::compact::Node;
use super::fixed::FEW;

/// No chunk, no handle, no place.
pub(super) const NONE: u32 = u32::MAX;
/// In place of the handle of an item that was cancelled.
const DEAD: u32 = u32::MAX - 1;
/// How many items a chunk has.
const ITEMS: usize = 7;
/// The bits of a place that say where in the chunk it is; all set behind the last item, and in `NONE`.
const PLACE_BITS: u32 = 3;
const BEHIND: u32 = 7;
/// In a handle: the value waits in the heap, and the rest is its number there.
pub(super) const IN_HEAP: u32 = 1 << 31;

/// A value that is pending. 16 octets, in two words: so it is copied from register to register.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) value: u64,
    /// The 32 low bits of its slot, and above them its handle: `NONE` if it cannot be cancelled.
    tag: u64,
}

impl Item {
    #[inline(always)]
    pub(super) const fn new(value: u64, slot: u64, handle: u32) -> Item {
        Item { value, tag: slot & 0xFFFF_FFFF | (handle as u64) << 32 }
    }

    #[inline(always)]
    pub(super) const fn low(&self) -> u64 {
        self.tag & 0xFFFF_FFFF
    }

    #[inline(always)]
    pub(super) const fn handle(&self) -> u32 {
        (self.tag >> 32) as u32
    }

    #[inline(always)]
    const fn is_live(&self) -> bool {
        self.handle() != DEAD
    }
}

/// A value that has expired, and its slot.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    /// The slot.
    pub slot: u64,
    /// The value.
    pub value: u64,
}

/// Where an expired value goes.
pub trait Place {
    /// Puts one there, and overwrites the one before.
    fn set(&mut self, expired: Expired);

    /// Says that the chunk will be read soon.
    #[inline(always)]
    fn fetch(chunk: &Chunk) {
        _ = chunk;
    }

    /// Says that the handle will be read soon.
    #[inline(always)]
    fn fetch_handle(handle: &Handle) {
        _ = handle;
    }

    /// Says that the node will be read soon.
    #[inline(always)]
    fn fetch_node(node: &Node) {
        _ = node;
    }
}

impl Place for Expired {
    #[inline(always)]
    fn set(&mut self, expired: Expired) {
        *self = expired;
    }
}

/// Seven values of a list. 128 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    items: [Item; ITEMS],
    previous: u32,
    /// The next chunk of the list, or the next free one; of the last chunk it says nothing.
    next: u32,
    /// A chunk that comes some chunks later, to be fetched in time; or any other one.
    ahead: u32,
    list: u16,
    /// Counts the chunks of the list.
    order: u8,
    /// Not 0: one of the items had a handle. In the bits below `TICKETED`, how many of the items that have not been taken are
    /// cancelled.
    marks: u8,
}

/// In the marks of a chunk.
const TICKETED: u8 = 1 << 7;
/// How many chunks ahead are fetched.
const AHEAD: u8 = 3;

impl Chunk {
    /// Nothing, for that list.
    pub const fn of_list(list: u32) -> Chunk {
        let nothing = Item::new(0, 0, DEAD);
        Chunk {
            items: [nothing; ITEMS],
            previous: NONE,
            next: NONE,
            ahead: NONE,
            list: list as u16,
            order: 0,
            marks: 0,
        }
    }
}

/// Where a value that can be cancelled lies. 16 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    pub(super) slot: u64,
    /// Of a free handle: the next free one.
    pub(super) place: u32,
    /// Odd while the value is pending; grows by one with each insertion and each removal.
    pub(super) serial: u32,
}

impl Handle {
    /// One that holds anything.
    pub const UNUSED: Handle = Handle { slot: 0, place: NONE, serial: 0 };
}

/// How many values the bucket of a list has, if it is not of the wheel, and how many it may have before that is looked at
/// again. 12 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Count {
    pub(super) values: u32,
    pub(super) limit: u32,
    /// A chunk some chunks before the last one.
    chunk: u32,
}

impl Count {
    /// Of an empty list.
    pub const ZERO: Count = Count { values: 0, limit: FEW, chunk: 0 };
}

/// What is free.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Free {
    handle: u32,
    chunk: u32,
    /// How many handles and chunks have ever been used.
    handles: u32,
    chunks: u32,
    /// The serial number of a handle that is used for the first time. Odd, and another one in each life of the memory.
    serial: u32,
    unused: u32,
}

impl Free {
    /// The wheel's own chunks are in use.
    pub(super) const fn behind(own: usize, life: u32) -> Free {
        Free { handle: NONE, chunk: NONE, handles: 0, chunks: own as u32, serial: serial_of(life), unused: 0 }
    }
}

/// The first serial number of a life. Those of 2^31 lives in a row differ, and those of few lives lie far apart: a multiple
/// of the golden ratio.
pub(super) const fn serial_of(life: u32) -> u32 {
    life.wrapping_mul(0x9E37_79B9) << 1 | 1
}

/// All lists, their chunks and handles, and what is free of them.
pub(super) struct Lists<'a> {
    /// Of each list where its next item goes: in the last chunk, and how many items that has. `NONE`: it has no chunk.
    pub(super) ends: &'a mut [u32],
    /// Of each list its first item.
    pub(super) firsts: &'a mut [u32],
    /// Of each list a chunk some chunks before its last one.
    pub(super) behind: &'a mut [Count],
    pub(super) chunks: &'a mut [Chunk],
    pub(super) handles: &'a mut [Handle],
    pub(super) free: &'a mut Free,
    /// How many lists have a chunk of their own: the first ones, of the same number.
    pub(super) own: u32,
}

impl Lists<'_> {
    /// A free handle for that slot, with its serial number.
    #[inline(always)]
    pub(super) fn new_handle(&mut self, slot: u64) -> Option<(u32, u32)> {
        let number = self.free.handle;
        if let Some(handle) = self.handles.get_mut(number as usize) {
            self.free.handle = handle.place;
            handle.serial = handle.serial.wrapping_add(1);
            handle.slot = slot;
            return Some((number, handle.serial));
        }
        let number = self.free.handles;
        let serial = self.free.serial;
        *self.handles.get_mut(number as usize)? = Handle { slot, place: NONE, serial };
        self.free.handles = number + 1;
        Some((number, serial))
    }

    /// Where the value of a ticket lies; `None` if it has expired or been cancelled, or this life of the memory has not written
    /// that handle.
    #[inline(always)]
    pub(super) fn place_of(&self, Ticket { slot, serial, node }: Ticket) -> Option<u32> {
        if node >= self.free.handles {
            return None;
        }
        let handle = self.handles.get(node as usize)?;
        let holds = handle.serial == serial && handle.slot == slot && !serial.is_multiple_of(2);
        if holds { Some(handle.place) } else { None }
    }

    #[inline(always)]
    pub(super) fn free_handle(&mut self, number: u32) {
        if let Some(handle) = self.handles.get_mut(number as usize) {
            handle.place = self.free.handle;
            handle.serial = handle.serial.wrapping_add(1);
            self.free.handle = number;
        }
    }

    /// As [`push`](Self::push), with all of it inline.
    #[inline(always)]
    pub(super) fn push_here(&mut self, list: usize, item: Item) {
        let Some(end) = self.ends.get_mut(list) else { return };
        let place = *end;
        if place & BEHIND == BEHIND {
            return self.push_behind(list, place, item);
        }
        *end = place + 1;
        self.put(place, item);
    }

    /// Puts an item at the end of a list.
    #[inline(always)]
    pub(super) fn push(&mut self, list: usize, item: Item) {
        let Some(end) = self.ends.get_mut(list) else { return };
        let place = *end;
        if place & BEHIND == BEHIND {
            return self.push_apart(list, place, item);
        }
        *end = place + 1;
        self.put(place, item);
    }

    #[inline(always)]
    fn put(&mut self, place: u32, item: Item) {
        let Some(chunk) = self.chunks.get_mut(chunk_of(place)) else { return };
        if item.handle() != NONE {
            chunk.marks |= TICKETED;
            if let Some(handle) = self.handles.get_mut(item.handle() as usize) {
                handle.place = place;
            }
        }
        if let Some(free) = chunk.items.get_mut(in_chunk(place)) {
            *free = item;
        }
    }

    /// The same where the last chunk has no place left. Apart, so that only an insertion has it inline.
    #[inline(never)]
    fn push_apart(&mut self, list: usize, end: u32, item: Item) {
        self.push_behind(list, end, item);
    }

    /// Puts an item into a chunk from the stock, behind the one that `end` says, if any.
    #[inline(always)]
    pub(super) fn push_behind(&mut self, list: usize, end: u32, item: Item) {
        let mut number = self.free.chunk;
        match self.chunks.get(number as usize) {
            Some(chunk) => self.free.chunk = chunk.next,
            None => {
                number = self.free.chunks;
                self.free.chunks = number.saturating_add(1);
            }
        }
        let (place, previous) = (number << PLACE_BITS, if end == NONE { NONE } else { end >> PLACE_BITS });
        let mut order = 0;
        match self.chunks.get_mut(previous as usize) {
            Some(chunk) => {
                chunk.next = number;
                order = chunk.order.wrapping_add(1);
            }
            None => set(self.firsts, list, place),
        }
        if let Some(chunk) = self.chunks.get_mut(number as usize) {
            (chunk.previous, chunk.ahead, chunk.list) = (previous, NONE, list as u16);
            (chunk.order, chunk.marks) = (order, 0);
        }
        self.point_ahead(list, number, order, previous == NONE || previous < self.own);
        set(self.ends, list, place + 1);
        self.put(place, item);
    }

    /// Marks a chunk some chunks before this one as ahead. It may mark a chunk that has gone meanwhile, which does no
    /// harm.
    #[inline(always)]
    fn point_ahead(&mut self, list: usize, number: u32, order: u8, is_first: bool) {
        let Some(behind) = self.behind.get_mut(list) else { return };
        if is_first {
            behind.chunk = number;
        } else if let Some(chunk) = self.chunks.get_mut(behind.chunk as usize) {
            let distance = order.wrapping_sub(chunk.order);
            if distance >= AHEAD {
                chunk.ahead = number;
                behind.chunk = chunk.next;
            }
        }
    }

    /// Puts an item without a handle at the end of a list, if its last chunk has room.
    #[inline(always)]
    pub(super) fn push_plain(ends: &mut [u32], chunks: &mut [Chunk], list: usize, item: Item) -> bool {
        let Some(end) = ends.get_mut(list) else { return false };
        let place = *end;
        if place & BEHIND != BEHIND
            && let Some(chunk) = chunks.get_mut(chunk_of(place))
            && let Some(free) = chunk.items.get_mut(in_chunk(place))
        {
            *end = place + 1;
            *free = item;
            return true;
        }
        false
    }

    /// Takes the item of that place out where that is shortest: it is the last one of its list, nothing in its chunk was
    /// cancelled before, and the chunk stays in the list. Gives its value, its list, and whether that is empty then.
    #[inline(always)]
    pub(super) fn take_last(&mut self, place: u32) -> Option<(u64, usize, bool)> {
        let number = place >> PLACE_BITS;
        let chunk = self.chunks.get_mut(number as usize)?;
        let list = usize::from(chunk.list);
        let (end, first) = (self.ends.get_mut(list)?, self.firsts.get_mut(list)?);
        let start = number << PLACE_BITS;
        let begin = if *first >> PLACE_BITS == number { *first } else { start };
        let emptied = place == begin;
        if *end != place + 1 || chunk.marks & !TICKETED != 0 || emptied && number >= self.own {
            return None;
        }
        let value = chunk.items.get(in_chunk(place))?.value;
        // As numbers: how many values a slot has is random.
        *end = select_unpredictable(emptied, start, place);
        *first = select_unpredictable(emptied, start, *first);
        chunk.marks = select_unpredictable(emptied, 0, chunk.marks);
        Some((value, list, emptied))
    }

    #[inline(always)]
    fn free_chunk(&mut self, number: u32) {
        if number >= self.own
            && let Some(chunk) = self.chunks.get_mut(number as usize)
        {
            chunk.next = self.free.chunk;
            self.free.chunk = number;
        }
    }

    /// Makes the list an empty one.
    #[inline(always)]
    fn reset(&mut self, list: usize) {
        let mut place = NONE;
        if (list as u32) < self.own {
            place = (list as u32) << PLACE_BITS;
            if let Some(chunk) = self.chunks.get_mut(list) {
                chunk.marks = 0;
            }
        }
        set(self.ends, list, place);
        set(self.firsts, list, place);
    }

    /// Takes values from the front of a list of the wheel, as many as there is room for; gives how many, and whether it is
    /// empty then.
    #[inline(always)]
    pub(super) fn drain<P: Place>(&mut self, list: usize, slot: u64, room: &mut [P]) -> (usize, bool) {
        let (Some(&first), Some(&end)) = (self.firsts.get(list), self.ends.get(list)) else { return (0, true) };
        let Some(chunk) = self.chunks.get(list) else { return (0, true) };
        if first == (list as u32) << PLACE_BITS
            && first ^ end <= BEHIND
            && chunk.marks == 0
            && let Some(room) = room.first_chunk_mut::<ITEMS>()
        {
            // All places at once, and then as many as count: without a loop whose end would be guessed wrong.
            let count = in_chunk(end);
            let give = |index: usize, room: &mut [P; ITEMS]| {
                room[index].set(Expired { slot, value: chunk.items[index].value });
            };
            (0..3).for_each(|index| give(index, room));
            if count > 3 {
                (3..ITEMS).for_each(|index| give(index, room));
            }
            set(self.ends, list, first);
            return (count, true);
        }
        self.drain_chunks(list, slot, room)
    }

    /// The same, whatever the list is made of.
    #[inline(never)]
    pub(super) fn drain_chunks<P: Place>(&mut self, list: usize, slot: u64, room: &mut [P]) -> (usize, bool) {
        let (Some(&first), Some(&end)) = (self.firsts.get(list), self.ends.get(list)) else { return (0, true) };
        let (mut place, mut given) = (first, 0);
        loop {
            let (number, used) = (place >> PLACE_BITS, used_of(place, end));
            let Some(chunk) = self.chunks.get(number as usize) else { break };
            if let Some(ahead) = self.chunks.get(chunk.ahead as usize) {
                P::fetch(ahead);
            }
            let (next, items) = (chunk.next, chunk.items.get(in_chunk(place)..used).unwrap_or_default());
            let Some(places) = room.get_mut(given..) else { break };
            if chunk.marks == 0 && items.len() <= places.len() {
                given += items.len();
                for (place, item) in places.iter_mut().zip(items) {
                    place.set(Expired { slot, value: item.value });
                }
            } else {
                let (taken, stopped) = self.drain_some(place, used, slot, places);
                given += taken;
                if let Some(stopped) = stopped {
                    set(self.firsts, list, stopped);
                    return (given, false);
                }
            }
            self.free_chunk(number);
            if number == end >> PLACE_BITS {
                break;
            }
            place = next << PLACE_BITS;
        }
        self.reset(list);
        (given, true)
    }

    /// Takes items of one chunk; gives how many, and the place of the first one that is left.
    #[inline(never)]
    fn drain_some<P: Place>(&mut self, mut place: u32, used: usize, slot: u64, room: &mut [P]) -> (usize, Option<u32>) {
        let mut given = 0;
        while in_chunk(place) < used
            && let Some(chunk) = self.chunks.get_mut(chunk_of(place))
            && let Some(&item) = chunk.items.get(in_chunk(place))
        {
            if !item.is_live() {
                chunk.marks = TICKETED | (chunk.marks & !TICKETED).saturating_sub(1);
            } else {
                let Some(free) = room.get_mut(given) else { return (given, Some(place)) };
                free.set(Expired { slot, value: item.value });
                given += 1;
                self.free_handle(item.handle());
            }
            place += 1;
        }
        (given, None)
    }

    /// Takes all values of a list of level 1 that has one chunk without tickets, sorted by slot, if there is room for a whole
    /// chunk; gives how many, and the slot of the last one. `high` is what items do not have of their slots.
    #[inline(always)]
    pub(super) fn give_chunk<P: Place>(&mut self, list: usize, high: u64, room: &mut [P]) -> (usize, u64) {
        let (Some(&first), Some(&end)) = (self.firsts.get(list), self.ends.get(list)) else { return (0, 0) };
        let number = first >> PLACE_BITS;
        let Some(chunk) = self.chunks.get(number as usize) else { return (0, 0) };
        let Some(room) = room.first_chunk_mut::<ITEMS>() else { return (0, 0) };
        if first ^ end > BEHIND || chunk.marks != 0 {
            return (0, 0);
        }
        let count = in_chunk(end);
        // What lies behind the last one sorts behind it; all of it is given, and what does not count is written over.
        let slots: [u32; ITEMS] =
            core::array::from_fn(|index| if index < count { chunk.items[index].low() as u32 } else { u32::MAX });
        let mut ranks = [0; ITEMS];
        for later in 1..ITEMS {
            for earlier in 0..later {
                let after = usize::from(slots[later] >= slots[earlier]);
                ranks[later] += after;
                ranks[earlier] += 1 - after;
            }
        }
        for (item, rank) in chunk.items.iter().zip(ranks) {
            if let Some(place) = room.get_mut(rank) {
                place.set(Expired { slot: high | item.low(), value: item.value });
            }
        }
        let mut last = 0;
        for (&slot, rank) in slots.iter().zip(ranks) {
            last = if rank + 1 == count { slot } else { last };
        }
        self.free_chunk(number);
        self.reset(list);
        (count, high | u64::from(last))
    }

    /// Takes the first chunk off a list, and gives its items, in their order, to `each`; gives how many, and whether the
    /// list is empty then.
    #[inline(always)]
    pub(super) fn take_chunk<P: Place>(&mut self, list: usize, mut each: impl FnMut(&mut Self, Item)) -> (u32, bool) {
        let (Some(&first), Some(&end)) = (self.firsts.get(list), self.ends.get(list)) else { return (0, true) };
        let (number, used) = (first >> PLACE_BITS, used_of(first, end));
        let Some(chunk) = self.chunks.get(number as usize) else { return (0, true) };
        if let Some(ahead) = self.chunks.get(chunk.ahead as usize) {
            P::fetch(ahead);
        }
        let (next, last, mut count) = (chunk.next, number == end >> PLACE_BITS, 0);
        for index in in_chunk(first)..used {
            let item = self.chunks.get(number as usize).and_then(|chunk| chunk.items.get(index));
            if let Some(&item) = item
                && item.is_live()
            {
                count += 1;
                each(self, item);
            }
        }
        // Only now: what `each` does may take a chunk, and would write where this one is read.
        self.free_chunk(number);
        if last {
            self.reset(list);
        } else {
            set(self.firsts, list, next << PLACE_BITS);
        }
        (count, last)
    }

    /// The smallest of what `of` makes of the items of a list.
    pub(super) fn least(&self, list: usize, of: impl Fn(&Item) -> u64) -> Option<u64> {
        let (&first, &end) = (self.firsts.get(list)?, self.ends.get(list)?);
        let (mut place, mut least) = (first, None);
        loop {
            let chunk = self.chunks.get(chunk_of(place))?;
            let items = chunk.items.get(in_chunk(place)..used_of(place, end)).unwrap_or_default();
            for item in items.iter().filter(|item| item.is_live()) {
                let found = of(item);
                least = Some(least.map_or(found, |least: u64| least.min(found)));
            }
            if chunk_of(place) == chunk_of(end) {
                return least;
            }
            place = chunk.next << PLACE_BITS;
        }
    }

    /// Takes the item of that place out of its list; gives its value, its list, and whether that is empty then.
    #[inline(always)]
    pub(super) fn remove(&mut self, place: u32) -> Option<(u64, usize, bool)> {
        let number = place >> PLACE_BITS;
        let chunk = self.chunks.get_mut(number as usize)?;
        let item = chunk.items.get_mut(in_chunk(place))?;
        *item = Item::new(item.value, item.low(), DEAD);
        let value = item.value;
        chunk.marks = chunk.marks.saturating_add(1);
        let (previous, next, list, dead) =
            (chunk.previous, chunk.next, usize::from(chunk.list), chunk.marks & !TICKETED);
        let (first, end) = (*self.firsts.get(list)?, *self.ends.get(list)?);
        let (is_first, is_last) = (first >> PLACE_BITS == number, end >> PLACE_BITS == number);
        let begin = if is_first { in_chunk(first) } else { 0 };
        if (dead as usize) < used_of(place, end).saturating_sub(begin) {
            return Some((value, list, false));
        }
        self.free_chunk(number);
        match (is_first, is_last) {
            (true, true) => self.reset(list),
            (true, false) => set(self.firsts, list, next << PLACE_BITS),
            // The one before is full.
            (false, true) => set(self.ends, list, previous << PLACE_BITS | BEHIND),
            (false, false) => {
                if let Some(chunk) = self.chunks.get_mut(previous as usize) {
                    chunk.next = next;
                }
                if let Some(chunk) = self.chunks.get_mut(next as usize) {
                    chunk.previous = previous;
                }
            }
        }
        Some((value, list, is_first && is_last))
    }
}

#[inline(always)]
fn set(places: &mut [u32], list: usize, place: u32) {
    if let Some(old) = places.get_mut(list) {
        *old = place;
    }
}

#[inline(always)]
const fn chunk_of(place: u32) -> usize {
    (place >> PLACE_BITS) as usize
}

#[inline(always)]
const fn in_chunk(place: u32) -> usize {
    (place & BEHIND) as usize
}

/// How many items the chunk of that place has, in a list with that end.
#[inline(always)]
const fn used_of(place: u32, end: u32) -> usize {
    if place >> PLACE_BITS == end >> PLACE_BITS { in_chunk(end) } else { ITEMS }
}

const _: () = assert!(size_of::<Item>() == 16 && size_of::<Chunk>() == 128 && size_of::<Handle>() == 16);
