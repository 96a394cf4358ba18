//! Lists of values in chunks of seven, and handles for the values that can be cancelled.
//!
//! A list is a chain of chunks; its values lie side by side in them, so that a list is read as it lies in memory. Each
//! chunk that is in use has at least one value that is not cancelled: so as many chunks as values are always enough.
//! A value that can be cancelled has a handle, which knows where it lies. Numbers that are none of the pool's give wrong
//! answers, never a panic.
//!
//! One file above 500 lines because chunks and handles point into each other.

/// No chunk, no handle, no node.
pub(super) const NONE: u32 = u32::MAX;
/// In place of the handle of an item that was cancelled.
const DEAD: u32 = u32::MAX - 1;
/// How many items a chunk has.
pub(super) const ITEMS: usize = 7;
/// The bits of a place that say where in the chunk it is.
const PLACE_BITS: u32 = 3;
/// Set in the place of an item in a slot of the wheel.
const IN_WHEEL: u32 = 1 << 31;

/// A value that is pending. 16 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) value: u64,
    /// The 32 low bits of its slot.
    pub(super) low: u32,
    /// `NONE`: it cannot be cancelled.
    pub(super) handle: u32,
}

impl Item {
    const NOTHING: Item = Item { value: 0, low: 0, handle: DEAD };

    #[inline(always)]
    const fn is_live(&self) -> bool {
        self.handle != DEAD
    }
}

/// Seven values of a list. 128 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    items: [Item; ITEMS],
    previous: u32,
    /// The next chunk of the list, or the next free one. Of a slot of the wheel: the first chunk after this one.
    next: u32,
    /// Of a slot of the wheel: where the next item goes, in the last chunk.
    end: u32,
    /// The first item that has not been taken, and how many have been cancelled.
    start: u8,
    dead: u8,
    /// Of a slot of the wheel: how many items have been put here, and how many of them are left. Of a chunk the list says
    /// it, so that an item is put there without anything being read.
    used: u8,
    live: u8,
}

impl Chunk {
    /// Nothing.
    pub const EMPTY: Chunk = Chunk {
        items: [Item::NOTHING; ITEMS],
        previous: NONE,
        next: NONE,
        end: NONE,
        start: 0,
        dead: 0,
        used: 0,
        live: 0,
    };

    #[inline(always)]
    fn items(&self) -> &[Item] {
        self.items.get(self.start as usize..self.used as usize).unwrap_or_default()
    }

    /// Of a slot of the wheel: whether it has nothing at all.
    #[inline(always)]
    pub(super) const fn is_empty(&self) -> bool {
        self.live == 0 && self.next == NONE
    }

    #[inline(always)]
    const fn reset(&mut self) {
        (self.start, self.used, self.live) = (0, 0, 0);
    }
}

/// A list of values that are not in the wheel, and, where it has one, a node with more. 16 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    first: u32,
    /// The place where the next item goes: the last chunk, and how many items it has.
    end: u32,
    pub(super) count: u32,
    pub(super) child: u32,
}

impl Bucket {
    /// Nothing. The two numbers differ, because a compiler fills memory with one octet by calling memset, and the C face
    /// has no C library to call.
    pub const EMPTY: Bucket = Bucket { first: NONE, end: NONE - 1, count: 0, child: NONE };

    /// No value of its own.
    pub(super) const fn with_child(child: u32) -> Bucket {
        Bucket { child, ..Bucket::EMPTY }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0 && self.child == NONE
    }
}

/// Where a value that can be cancelled lies. 16 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    pub(super) slot: u64,
    /// Of a free handle: the next free one.
    place: u32,
    /// Odd while the value is pending; grows by one with each insertion and each removal.
    pub(super) serial: u32,
}

impl Handle {
    /// One that holds anything.
    pub const UNUSED: Handle = Handle { slot: 0, place: NONE, serial: 0 };
}

/// What is free.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Free {
    handle: u32,
    chunk: u32,
    /// How many handles and chunks have ever been used.
    pub(super) handles: u32,
    chunks: u32,
}

impl Free {
    pub(super) const ALL: Free = Free { handle: NONE, chunk: NONE, handles: 0, chunks: 0 };
}

/// Which slots a list is for, as far as its items do not say it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    /// All have these high bits, and the 32 low bits of the item.
    High(u64),
    /// Any: each item has a handle that knows.
    Any,
}

impl Span {
    /// Of `bits` bits from `start` on.
    #[inline(always)]
    pub(super) const fn of(start: u64, bits: u32) -> Span {
        if bits <= 32 { Span::High(start >> 32 << 32) } else { Span::Any }
    }
}

/// Chunks and handles, and what is free of them.
pub(super) struct Pool<'a> {
    pub(super) chunks: &'a mut [Chunk],
    pub(super) handles: &'a mut [Handle],
    pub(super) free: &'a mut Free,
}

impl Pool<'_> {
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
        *self.handles.get_mut(number as usize)? = Handle { slot, place: NONE, serial: 1 };
        self.free.handles = number + 1;
        Some((number, 1))
    }

    #[inline(always)]
    pub(super) fn free_handle(&mut self, number: u32) {
        if let Some(handle) = self.handles.get_mut(number as usize) {
            handle.place = self.free.handle;
            handle.serial = handle.serial.wrapping_add(1);
            self.free.handle = number;
        }
    }

    /// The slot of an item of a list.
    #[inline(always)]
    pub(super) fn slot(&self, item: &Item, span: Span) -> u64 {
        match span {
            Span::High(high) => high | item.low as u64,
            Span::Any => self.handles.get(item.handle as usize).map_or(0, |handle| handle.slot),
        }
    }

    #[inline(always)]
    fn set_place(&mut self, handle: u32, place: u32) {
        if let Some(handle) = self.handles.get_mut(handle as usize) {
            handle.place = place;
        }
    }

    /// Where the first item of an empty chunk goes, which follows `previous`; and the number of the chunk.
    #[inline]
    fn new_chunk(&mut self, previous: u32) -> u32 {
        let mut number = self.free.chunk;
        match self.chunks.get(number as usize) {
            Some(chunk) => self.free.chunk = chunk.next,
            None => {
                number = self.free.chunks;
                self.free.chunks = number.saturating_add(1);
            }
        }
        if let Some(chunk) = self.chunks.get_mut(number as usize) {
            (chunk.previous, chunk.next, chunk.start, chunk.dead) = (previous, NONE, 0, 0);
        }
        if let Some(chunk) = self.chunks.get_mut(previous as usize) {
            chunk.next = number;
        }
        number
    }

    #[inline(always)]
    fn free_chunk(&mut self, number: u32) {
        if let Some(chunk) = self.chunks.get_mut(number as usize) {
            chunk.next = self.free.chunk;
            self.free.chunk = number;
        }
    }

    /// Puts an item there.
    #[inline(always)]
    fn put(&mut self, place: u32, item: Item) {
        if let Some(chunk) = self.chunks.get_mut((place >> PLACE_BITS) as usize)
            && let Some(free) = chunk.items.get_mut(in_chunk(place))
        {
            *free = item;
        }
        if item.handle != NONE {
            self.set_place(item.handle, place);
        }
    }

    /// Puts an item at the end of the list.
    #[inline(always)]
    pub(super) fn append(&mut self, bucket: &mut Bucket, item: Item) {
        if bucket.count == 0 {
            bucket.first = self.new_chunk(NONE);
            bucket.end = bucket.first << PLACE_BITS;
        } else if in_chunk(bucket.end) == ITEMS {
            bucket.end = self.new_chunk(bucket.end >> PLACE_BITS) << PLACE_BITS;
        }
        self.put(bucket.end, item);
        bucket.end = bucket.end.wrapping_add(1);
        bucket.count += 1;
    }

    /// Puts an item at the end of the list of slot number `index` of the wheel.
    #[inline(always)]
    pub(super) fn append_to_slot(&mut self, slot: &mut Chunk, index: usize, item: Item) {
        if slot.next == NONE
            && let Some(place) = slot.items.get_mut(slot.used as usize)
        {
            *place = item;
            if item.handle != NONE {
                self.set_place(item.handle, IN_WHEEL | (index as u32) << PLACE_BITS | u32::from(slot.used));
            }
            slot.used += 1;
            slot.live += 1;
            return;
        }
        self.append_behind_slot(slot, item);
    }

    /// The same behind the seven that the slot itself has.
    #[inline(always)]
    fn append_behind_slot(&mut self, slot: &mut Chunk, item: Item) {
        if slot.next == NONE {
            slot.next = self.new_chunk(NONE);
            slot.end = slot.next << PLACE_BITS;
        } else if in_chunk(slot.end) == ITEMS {
            slot.end = self.new_chunk(slot.end >> PLACE_BITS) << PLACE_BITS;
        }
        self.put(slot.end, item);
        slot.end = slot.end.wrapping_add(1);
    }

    /// Takes the list apart: gives each item, in its order, and the pool, to `each`.
    #[inline(always)]
    pub(super) fn take_apart(&mut self, bucket: &mut Bucket, mut each: impl FnMut(&mut Self, Item)) {
        let (mut number, end, count) = (bucket.first, bucket.end, bucket.count);
        bucket.count = 0;
        while count > 0
            && let Some(chunk) = self.chunks.get(number as usize)
        {
            let (next, used) = (chunk.next, used_of(number, end));
            for index in chunk.start as usize..used {
                let item = self.chunks.get(number as usize).and_then(|chunk| chunk.items.get(index));
                if let Some(&item) = item
                    && item.is_live()
                {
                    each(self, item);
                }
            }
            // Only now: what `each` does may take a chunk, and would write where this one is read.
            self.free_chunk(number);
            number = next;
        }
    }

    /// Takes up to `room` values of the slot, in their order; gives how many. `room` is not 0.
    #[inline(always)]
    pub(super) fn drain_slot(&mut self, slot: &mut Chunk, room: usize, mut each: impl FnMut(u64)) -> usize {
        let mut given = 0;
        if slot.live > 0 {
            if slot.live as usize > room {
                return self.drain_some(slot, room, each);
            }
            for item in slot.items() {
                if item.handle == NONE {
                    each(item.value);
                } else if item.is_live() {
                    self.free_handle(item.handle);
                    each(item.value);
                }
            }
            given = slot.live as usize;
        }
        slot.reset();
        if slot.next != NONE {
            given += self.drain_behind(slot, room - given, each);
        }
        given
    }

    /// The same where it has more of its own than there is room for.
    #[cold]
    #[inline(never)]
    fn drain_some(&mut self, slot: &mut Chunk, room: usize, mut each: impl FnMut(u64)) -> usize {
        let mut given = 0;
        while given < room
            && let Some(item) = slot.items().first().copied()
        {
            slot.start += 1;
            if item.is_live() {
                slot.live -= 1;
                given += 1;
                self.free_handle(item.handle);
                each(item.value);
            }
        }
        given
    }

    /// The same for the chunks behind the slot.
    #[inline(always)]
    fn drain_behind(&mut self, slot: &mut Chunk, room: usize, mut each: impl FnMut(u64)) -> usize {
        let (mut given, mut number) = (0, slot.next);
        while let Some(chunk) = self.chunks.get_mut(number as usize) {
            let used = used_of(number, slot.end);
            while let Some(item) = chunk.items.get(chunk.start as usize)
                && (chunk.start as usize) < used
            {
                if !item.is_live() {
                    chunk.start += 1;
                    chunk.dead -= 1;
                    continue;
                }
                if given == room {
                    slot.next = number;
                    chunk.previous = NONE;
                    return given;
                }
                chunk.start += 1;
                if let Some(handle) = self.handles.get_mut(item.handle as usize) {
                    handle.place = self.free.handle;
                    handle.serial = handle.serial.wrapping_add(1);
                    self.free.handle = item.handle;
                }
                each(item.value);
                given += 1;
            }
            let next = chunk.next;
            chunk.next = self.free.chunk;
            self.free.chunk = number;
            number = next;
        }
        slot.next = NONE;
        given
    }

    /// Takes the item of that handle out of a list that is not in the wheel; gives its value.
    pub(super) fn remove(&mut self, bucket: &mut Bucket, handle: u32) -> Option<u64> {
        let place = self.handles.get(handle as usize)?.place;
        bucket.count = bucket.count.checked_sub(1)?;
        let mut ends = (bucket.first, bucket.end);
        let value = self.remove_from_chunk(place, &mut ends)?;
        (bucket.first, bucket.end) = ends;
        Some(value)
    }

    /// Takes the item of that handle out of a slot of the wheel; gives its value.
    pub(super) fn remove_from_slot(&mut self, slot: &mut Chunk, handle: u32) -> Option<u64> {
        let place = self.handles.get(handle as usize)?.place;
        if place & IN_WHEEL != 0 {
            let item = slot.items.get_mut(in_chunk(place))?;
            item.handle = DEAD;
            let value = item.value;
            slot.live = slot.live.checked_sub(1)?;
            if slot.is_empty() {
                slot.reset();
            }
            return Some(value);
        }
        let mut ends = (slot.next, slot.end);
        let value = self.remove_from_chunk(place, &mut ends)?;
        (slot.next, slot.end) = ends;
        if slot.is_empty() {
            slot.reset();
        }
        Some(value)
    }

    /// Marks the item, and takes its chunk out of the list if nothing is left there; gives its value. The list is from the
    /// first chunk to the place where its next item goes.
    fn remove_from_chunk(&mut self, place: u32, (first, end): &mut (u32, u32)) -> Option<u64> {
        let number = place >> PLACE_BITS;
        let chunk = self.chunks.get_mut(number as usize)?;
        let item = chunk.items.get_mut(in_chunk(place))?;
        item.handle = DEAD;
        let value = item.value;
        chunk.dead += 1;
        if ((chunk.start + chunk.dead) as usize) < used_of(number, *end) {
            return Some(value);
        }
        let (previous, next) = (chunk.previous, chunk.next);
        match self.chunks.get_mut(previous as usize) {
            Some(chunk) => chunk.next = next,
            None => *first = next,
        }
        match self.chunks.get_mut(next as usize) {
            Some(chunk) => chunk.previous = previous,
            // The one before is full: the next item takes a new chunk.
            None => *end = previous << PLACE_BITS | ITEMS as u32,
        }
        self.free_chunk(number);
        Some(value)
    }

    /// Moves the whole list behind that of a slot of the wheel. Whatever it holds, that takes a few operations.
    pub(super) fn move_to_slot(&mut self, from: &mut Bucket, slot: &mut Chunk) {
        let Bucket { first, end, count, .. } = *from;
        from.count = 0;
        if count == 0 {
            return;
        }
        if slot.next == NONE {
            slot.next = first;
        } else {
            // Not the last chunk any more, the one before has to be full: what it lacks counts as cancelled.
            self.fill_up(slot.end);
            let last = slot.end >> PLACE_BITS;
            if let Some(chunk) = self.chunks.get_mut(last as usize) {
                chunk.next = first;
            }
            if let Some(chunk) = self.chunks.get_mut(first as usize) {
                chunk.previous = last;
            }
        }
        slot.end = end;
    }

    /// Marks the rest of the chunk, from that place on.
    fn fill_up(&mut self, end: u32) {
        if let Some(chunk) = self.chunks.get_mut((end >> PLACE_BITS) as usize) {
            for item in chunk.items.iter_mut().skip(in_chunk(end)) {
                *item = Item::NOTHING;
                chunk.dead += 1;
            }
        }
    }

    /// All bits in which slots of the list differ from that slot.
    pub(super) fn difference(&self, bucket: &Bucket, span: Span, slot: u64) -> u64 {
        self.fold(bucket, span, 0, |difference, other| difference | (slot ^ other))
    }

    /// The soonest slot in the list; `u64::MAX` of an empty one.
    pub(super) fn soonest(&self, bucket: &Bucket, span: Span) -> u64 {
        self.fold(bucket, span, u64::MAX, |soonest, slot| if slot < soonest { slot } else { soonest })
    }

    /// The slot of the first value of the list.
    pub(super) fn first_slot(&self, bucket: &Bucket, span: Span) -> u64 {
        let Some(chunk) = self.chunks.get(bucket.first as usize) else { return 0 };
        let items = chunk.items.get(chunk.start as usize..).unwrap_or_default();
        items.iter().find(|item| item.is_live()).map_or(0, |item| self.slot(item, span))
    }

    /// Goes through the slots of a list.
    fn fold(&self, bucket: &Bucket, span: Span, mut folded: u64, mut fold: impl FnMut(u64, u64) -> u64) -> u64 {
        if bucket.count == 0 {
            return folded;
        }
        let mut number = bucket.first;
        while let Some(chunk) = self.chunks.get(number as usize) {
            let items = chunk.items.get(chunk.start as usize..used_of(number, bucket.end)).unwrap_or_default();
            for item in items.iter().filter(|item| item.is_live()) {
                folded = fold(folded, self.slot(item, span));
            }
            number = chunk.next;
        }
        folded
    }
}

/// Where in its chunk that place is.
#[inline(always)]
const fn in_chunk(place: u32) -> usize {
    (place & ((1 << PLACE_BITS) - 1)) as usize
}

/// How many items have been put into that chunk of a list which ends there: all but the last are full.
#[inline(always)]
const fn used_of(number: u32, end: u32) -> usize {
    if number == end >> PLACE_BITS { in_chunk(end) } else { ITEMS }
}
