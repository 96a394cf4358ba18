//! The schedule: a wheel for the slots that come next, blocks for those after it, and a trie for all others, in memory that
//! the caller lends.
//!
//! ```text
//! wheel:   the 2^w slots from now on, one list for each; w is 6 to 12, by the capacity
//! blocks:  the 2^w blocks of 2^w slots from now on, one bucket for each
//! root:    one bucket for all slots after those
//! ```
//!
//! Every slot of the wheel is before every slot of a block, and that before every slot of the root: `far_from` and
//! `root_from` tell them apart. A bucket lists up to [`MOST`] values of any slots in its range; when it has more, they
//! are dealt out to a node, whose 64 buckets are told apart by the highest 6 bits in which the values differ. So
//! values are sorted as they come, and no later call finds many of them unsorted: when the wheel is empty, one bucket of
//! the soonest values is dealt out to it, at most [`MOST`] of them, or one node of 64 lists as they are.
//!
//! Nothing is moved twice in one direction: each value is dealt out once for each digit at most, and moved into the wheel
//! once. Values of one slot always lie in one list, in the order of their insertion, wherever that is.
//!
//! The file is long because one call walks all three of them: the wheel, the blocks and the trie share what they know.
//!
//! One file above 500 lines because wheel, blocks and trie share one memory and its invariants.

use super::Ticket;
use super::occupancy::{BITS, BUCKETS, Occupancy};
use super::pool::{Bucket, Chunk, Free, Handle, Item, NONE, Pool, Span};

/// How many values a bucket may list before they are dealt out.
const MOST: u32 = 192;
/// From so many on a list of a wide range is dealt out before its soonest values go to the wheel.
const FEW: u32 = 8;
/// How many bits of a slot tell the buckets of a node apart.
const DIGIT: u32 = 6;
/// No path is longer: 64 bits are 11 digits.
const DEPTH: usize = 12;

/// Sixty-four buckets, by one digit of the slot. 1,048 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// What is above the digit, the same for all values here.
    prefix: u64,
    /// Which buckets have anything.
    occupied: u64,
    /// The place of the digit: 0 for the lowest, where each list is one slot. Of a free node: the next free one.
    level: u64,
    buckets: [Bucket; 64],
}

/// The memory that a schedule lives in, lent for one call; always the same. What has not been used may hold anything.
pub struct Memory<'a> {
    /// As many as [`buckets_for`] says, each `Chunk::EMPTY` at first.
    pub wheel: &'a mut [Chunk],
    /// As many again, each `Bucket::EMPTY` at first.
    pub blocks: &'a mut [Bucket],
    /// Some; without one, lists grow.
    pub nodes: &'a mut [Node],
    /// One more than there may be values.
    pub chunks: &'a mut [Chunk],
    /// One for each value.
    pub handles: &'a mut [Handle],
}

/// What of the memory most calls need: all but the nodes.
pub struct Near<'a> {
    /// As in [`Memory`].
    pub wheel: &'a mut [Chunk],
    /// As in [`Memory`].
    pub blocks: &'a mut [Bucket],
    /// As in [`Memory`].
    pub chunks: &'a mut [Chunk],
    /// As in [`Memory`].
    pub handles: &'a mut [Handle],
}

/// How many buckets the wheel has, and the blocks: a power of two, at least twice the capacity, from 64 to 4096.
pub const fn buckets_for(capacity: u32) -> usize {
    let mut buckets = 64;
    while buckets < BUCKETS && buckets < capacity as usize * 2 {
        buckets *= 2;
    }
    buckets
}

/// How many nodes there are for so many values: each was made by more than `MOST` of them.
pub const fn nodes_for(capacity: u32) -> usize {
    if capacity <= MOST { 0 } else { capacity as usize / 64 + 2 }
}

/// Where pending values are, but for the memory.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Head {
    now: u64,
    /// No value that is not in the wheel has an earlier slot.
    far_from: u64,
    /// The last slot whose values go to the wheel: before `far_from`, and near enough.
    near_last: u64,
    /// No value in the root has an earlier slot, and every value of a block has.
    root_from: u64,
    /// w.
    bits: u32,
    pending: u32,
    /// How many values are in blocks, and in the root.
    in_blocks: u32,
    in_root: u32,
    free: Free,
    /// The first free node, and how many have ever been used.
    free_node: u32,
    used_nodes: u32,
    root: Bucket,
    wheel: Occupancy,
    blocks: Occupancy,
}

/// Where the soonest values that are not in the wheel lie.
struct Place {
    path: Path,
    /// No value there is sooner, nor anywhere else but in the wheel.
    from: u64,
    /// No value elsewhere is sooner than this.
    others: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A list whose range fits the wheel.
    Narrow,
    /// A list whose range does not, or is not its own.
    Wide,
    /// A node with a list for each slot.
    Exact,
}

/// The buckets from the blocks or the root down: nodes, and the digit in each. As small as it can be, so that no compiler
/// calls memcpy for it.
#[derive(Clone, Copy)]
struct Path {
    block: Option<usize>,
    nodes: [u32; DEPTH],
    digits: [u8; DEPTH],
    length: u32,
}

impl Path {
    const fn from(block: Option<usize>) -> Path {
        Path { block, nodes: [NONE; DEPTH], digits: [0; DEPTH], length: 0 }
    }

    #[inline(always)]
    fn push(&mut self, node: u32, digit: usize) {
        let length = self.length as usize;
        if let (Some(last), Some(taken)) = (self.nodes.get_mut(length), self.digits.get_mut(length)) {
            (*last, *taken) = (node, digit as u8);
            self.length += 1;
        }
    }

    #[inline(always)]
    fn last(&self) -> Option<(u32, usize)> {
        let last = (self.length as usize).checked_sub(1)?;
        Some((*self.nodes.get(last)?, *self.digits.get(last)? as usize & 63))
    }
}

impl Head {
    /// An empty schedule with that many buckets in wheel and blocks; the first slot that can expire is `now`.
    pub const fn new(buckets: usize, now: u64) -> Head {
        Head {
            now,
            far_from: u64::MAX,
            near_last: now.saturating_add(if buckets < 64 { 63 } else { buckets as u64 - 1 }),
            root_from: u64::MAX,
            bits: if buckets < 64 { DIGIT } else { buckets.trailing_zeros() },
            pending: 0,
            in_blocks: 0,
            in_root: 0,
            free: Free::ALL,
            free_node: NONE,
            used_nodes: 0,
            root: Bucket::EMPTY,
            wheel: Occupancy::NOTHING,
            blocks: Occupancy::NOTHING,
        }
    }

    /// Makes an empty schedule of memory that is all 0, as [`new`](Self::new) does.
    pub fn begin(&mut self, buckets: usize, now: u64) {
        let Head { far_from, near_last, root_from, bits, free, free_node, root, .. } = Head::new(buckets, now);
        (self.now, self.far_from, self.near_last, self.root_from) = (now, far_from, near_last, root_from);
        (self.bits, self.free, self.free_node, self.root) = (bits, free, free_node, root);
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

    /// The slot that has been reached.
    #[inline]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Inserts a value for the wheel, or for a block that has no node, the shortest way; `None`: nothing has happened, and
    /// [`Work::insert`] does it.
    #[inline(always)]
    pub fn insert_near(&mut self, near: Near<'_>, slot: u64, value: u64, ticket: bool) -> Option<Ticket> {
        if slot < self.now || self.pending as usize + 1 >= near.chunks.len() {
            return None;
        }
        if slot > self.near_last {
            return self.insert_into_block(near, slot, value, ticket);
        }
        let Near { wheel, chunks, handles, .. } = near;
        let index = slot as usize & self.mask();
        let bucket = wheel.get_mut(index)?;
        let mut pool = Pool { handles, chunks, free: &mut self.free };
        let (node, serial) = if ticket { pool.new_handle(slot)? } else { (NONE, 0) };
        pool.append_to_slot(bucket, index, Item { value, low: slot as u32, handle: node });
        self.wheel.set(index);
        self.pending += 1;
        Some(Ticket { slot, serial, node })
    }

    #[inline(always)]
    fn insert_into_block(&mut self, near: Near<'_>, slot: u64, value: u64, ticket: bool) -> Option<Ticket> {
        let Near { blocks, chunks, handles, .. } = near;
        let block = slot >> self.bits;
        if block - (self.now >> self.bits) > self.mask() as u64 || (self.in_root > 0 && slot >= self.root_from) {
            return None;
        }
        let index = block as usize & self.mask();
        let bucket = blocks.get_mut(index)?;
        let is_far = self.in_blocks + self.in_root > 0 && slot >= self.far_from;
        if bucket.child != NONE || bucket.count >= MOST || !(is_far || slot - self.now > self.mask() as u64) {
            return None;
        }
        let mut pool = Pool { handles, chunks, free: &mut self.free };
        let (node, serial) = if ticket { pool.new_handle(slot)? } else { (NONE, 0) };
        pool.append(bucket, Item { value, low: slot as u32, handle: node });
        self.blocks.set(index);
        if !is_far {
            self.far_from = slot;
            self.near_last = self.near_last.min(slot - 1);
        }
        self.in_blocks += 1;
        self.pending += 1;
        Some(Ticket { slot, serial, node })
    }

    /// Brings the values of the first block into the wheel, which is empty, the shortest way; `false`: nothing has
    /// happened, and [`Work::fetch`] does it.
    #[inline(always)]
    pub fn fetch_block(&mut self, near: Near<'_>, limit: u64) -> bool {
        let Near { wheel, blocks, chunks, handles } = near;
        let here = (self.now >> self.bits) as usize & self.mask();
        let Some(index) = self.blocks.next(here).or_else(|| self.blocks.next(0)) else { return false };
        let block = (self.now >> self.bits) + (index.wrapping_sub(here) & self.mask()) as u64;
        let start = block << self.bits;
        let Some(bucket) = blocks.get_mut(index) else { return false };
        if bucket.child != NONE || start > limit {
            return false;
        }
        self.now = self.now.max(start);
        self.in_blocks = self.in_blocks.saturating_sub(bucket.count);
        let (mask, occupied, span) = (self.mask(), &mut self.wheel, Span::of(start, self.bits));
        let mut pool = Pool { handles, chunks, free: &mut self.free };
        pool.take_apart(bucket, |pool, item| {
            let index = pool.slot(&item, span) as usize & mask;
            if let Some(slot) = wheel.get_mut(index) {
                occupied.set(index);
                pool.append_to_slot(slot, index, item);
            }
        });
        self.blocks.clear(index);
        // What follows is in a later block, or in the root.
        self.far_from = match self.blocks.next(index).or_else(|| self.blocks.next(0)) {
            Some(next) => (block + (next.wrapping_sub(index) & self.mask()) as u64) << self.bits,
            None => self.root_from,
        };
        true
    }

    /// Takes values of the next slot in the wheel that is no later than `limit`, at most `room` of them and at least one;
    /// gives them to `expired` in the order of their insertion. Now is that slot. `None` if there is none: then
    /// [`Work::fetch`] may bring some.
    #[inline(always)]
    pub fn expire_near(
        &mut self,
        near: Near<'_>,
        limit: u64,
        room: usize,
        mut expired: impl FnMut(u64, u64),
    ) -> Option<usize> {
        let slot = self.next_in_wheel()?;
        if slot > limit || room == 0 {
            return None;
        }
        self.go_to(slot);
        let Near { wheel, chunks, handles, .. } = near;
        let index = slot as usize & self.mask();
        let bucket = wheel.get_mut(index)?;
        let mut pool = Pool { handles, chunks, free: &mut self.free };
        let given = pool.drain_slot(bucket, room, |value| expired(slot, value));
        if bucket.is_empty() {
            self.wheel.clear(index);
        }
        self.pending = self.pending.saturating_sub(given as u32);
        Some(given)
    }

    /// Whether values that are not in the wheel may be due, as nothing in the wheel is.
    #[inline(always)]
    pub fn may_fetch(&self, limit: u64) -> bool {
        self.in_blocks + self.in_root > 0 && self.far_from <= limit && self.next_in_wheel().is_none()
    }

    /// Nothing is pending up to that slot: now is it, unless it has been passed.
    #[inline(always)]
    pub fn go_to(&mut self, slot: u64) {
        if slot > self.now {
            self.now = slot;
        }
        let last = self.now.saturating_add(self.mask() as u64);
        let far = self.in_blocks + self.in_root > 0;
        self.near_last = if far && self.far_from <= last { self.far_from.wrapping_sub(1) } else { last };
    }

    #[inline(always)]
    const fn mask(&self) -> usize {
        (1 << (self.bits & 15)) - 1
    }

    /// The first slot of the wheel that has values.
    #[inline(always)]
    pub fn next_in_wheel(&self) -> Option<u64> {
        let here = self.now as usize & self.mask();
        let index = self.wheel.next(here).or_else(|| self.wheel.next(0))?;
        Some(self.now + (index.wrapping_sub(here) & self.mask()) as u64)
    }

    /// Together with its memory.
    #[inline(always)]
    pub fn with<'a>(&'a mut self, memory: Memory<'a>) -> Work<'a> {
        let Memory { wheel, blocks, nodes, chunks, handles } = memory;
        let Head { now, far_from, near_last, root_from, bits, pending, .. } = self;
        Work {
            now,
            far_from,
            near_last,
            root_from,
            bits: *bits,
            pending,
            in_blocks: &mut self.in_blocks,
            in_root: &mut self.in_root,
            root: &mut self.root,
            wheel_occupied: &mut self.wheel,
            blocks_occupied: &mut self.blocks,
            wheel,
            blocks,
            nodes: Nodes { nodes, free: &mut self.free_node, used: &mut self.used_nodes },
            pool: Pool { handles, chunks, free: &mut self.free },
        }
    }
}

struct Nodes<'a> {
    nodes: &'a mut [Node],
    free: &'a mut u32,
    used: &'a mut u32,
}

impl Nodes<'_> {
    #[inline(always)]
    fn get(&self, number: u32) -> Option<&Node> {
        self.nodes.get(number as usize)
    }

    #[inline(always)]
    fn get_mut(&mut self, number: u32) -> Option<&mut Node> {
        self.nodes.get_mut(number as usize)
    }

    fn make(&mut self, prefix: u64, level: u32) -> Option<u32> {
        let mut number = *self.free;
        if let Some(node) = self.nodes.get(number as usize) {
            *self.free = node.level as u32;
        } else {
            number = *self.used;
            if number as usize >= self.nodes.len() {
                return None;
            }
            *self.used = number + 1;
        }
        let node = self.get_mut(number)?;
        (node.prefix, node.occupied, node.level) = (prefix, 0, level.into());
        for bucket in &mut node.buckets {
            *bucket = Bucket::EMPTY;
        }
        Some(number)
    }

    fn release(&mut self, number: u32) {
        let next = *self.free;
        if let Some(node) = self.get_mut(number) {
            node.level = next.into();
            *self.free = number;
        }
    }
}

impl Node {
    /// One that holds anything.
    pub const UNUSED: Node = Node { prefix: 0, occupied: 0, level: 0, buckets: [Bucket::EMPTY; 64] };

    #[inline(always)]
    const fn shift(&self) -> u32 {
        (self.level as u32 & 15) * DIGIT
    }

    #[inline(always)]
    const fn is_for(&self, slot: u64) -> bool {
        above(slot, self.shift()) == self.prefix
    }

    #[inline(always)]
    const fn digit(&self, slot: u64) -> usize {
        digit(slot, self.shift())
    }

    /// The first slot of the bucket of that digit.
    #[inline(always)]
    const fn start(&self, digit: usize) -> u64 {
        match (self.prefix << DIGIT | digit as u64).checked_shl(self.shift()) {
            Some(start) => start,
            None => 0,
        }
    }
}

/// What is above the digit at that shift.
#[inline(always)]
const fn above(slot: u64, shift: u32) -> u64 {
    match slot.checked_shr(shift + DIGIT) {
        Some(above) => above,
        None => 0,
    }
}

#[inline(always)]
const fn digit(slot: u64, shift: u32) -> usize {
    match slot.checked_shr(shift) {
        Some(low) => low as usize & 63,
        None => 0,
    }
}

/// A schedule and its memory, during one call.
pub struct Work<'a> {
    now: &'a mut u64,
    far_from: &'a mut u64,
    near_last: &'a mut u64,
    root_from: &'a mut u64,
    bits: u32,
    pending: &'a mut u32,
    in_blocks: &'a mut u32,
    in_root: &'a mut u32,
    root: &'a mut Bucket,
    wheel_occupied: &'a mut Occupancy,
    blocks_occupied: &'a mut Occupancy,
    wheel: &'a mut [Chunk],
    blocks: &'a mut [Bucket],
    nodes: Nodes<'a>,
    pool: Pool<'a>,
}

impl Work<'_> {
    /// Makes `value` pending in `slot`, or in now where the slot has passed; `None` if there is no room. Where no `ticket` is
    /// asked for, the one that comes cancels nothing.
    pub fn insert(&mut self, slot: u64, value: u64, ticket: bool) -> Option<Ticket> {
        let slot = slot.max(*self.now);
        if *self.pending as usize + 1 >= self.pool.chunks.len() {
            return None;
        }
        let near = slot - *self.now <= self.mask() as u64 && !self.is_far(slot);
        // In the root the 32 low bits do not tell slots apart: there a handle says the slot.
        let handle = ticket || (!near && self.block_of(slot).is_none());
        let (node, serial) = if handle { self.pool.new_handle(slot)? } else { (NONE, 0) };
        *self.pending += 1;
        let item = Item { value, low: slot as u32, handle: node };
        if near {
            let index = slot as usize & self.mask();
            self.wheel_occupied.set(index);
            if let Some(bucket) = self.wheel.get_mut(index) {
                self.pool.append_to_slot(bucket, index, item);
            }
        } else {
            self.insert_far(slot, item);
        }
        Some(Ticket { slot, serial, node })
    }

    /// Takes a pending value back; `None` if it has expired or been cancelled.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<u64> {
        let Ticket { slot, serial, node } = ticket;
        if node >= self.pool.free.handles || serial & 1 == 0 {
            return None;
        }
        let handle = self.pool.handles.get(node as usize)?;
        if (handle.slot, handle.serial) != (slot, serial) {
            return None;
        }
        let value = if self.is_far(slot) {
            let path = self.path_to(slot);
            let bucket = bucket_at(self.root, self.blocks, &mut self.nodes, &path)?;
            let value = self.pool.remove(bucket, node)?;
            self.uncount(&path, 1);
            self.tidy(path);
            value
        } else {
            let index = slot as usize & self.mask();
            let bucket = self.wheel.get_mut(index)?;
            let value = self.pool.remove_from_slot(bucket, node)?;
            if bucket.is_empty() {
                self.wheel_occupied.clear(index);
            }
            value
        };
        *self.pending = self.pending.saturating_sub(1);
        self.pool.free_handle(node);
        Some(value)
    }

    /// The first slot in which a value is pending.
    pub fn next_slot(&self) -> Option<u64> {
        match self.next_in_wheel() {
            Some(slot) => Some(slot),
            None => self.locate(true).map(|place| place.from),
        }
    }

    #[inline(always)]
    const fn mask(&self) -> usize {
        (1 << (self.bits & 15)) - 1
    }

    /// Whether a value of that slot is not in the wheel.
    #[inline(always)]
    const fn is_far(&self, slot: u64) -> bool {
        slot >= *self.far_from && *self.in_blocks + *self.in_root > 0
    }

    #[inline(always)]
    fn next_in_wheel(&self) -> Option<u64> {
        let here = *self.now as usize & self.mask();
        let index = self.wheel_occupied.next(here).or_else(|| self.wheel_occupied.next(0))?;
        Some(*self.now + (index.wrapping_sub(here) & self.mask()) as u64)
    }

    /// Which slots the lists of that block are for, or those of the root.
    #[inline(always)]
    fn span_of(&self, block: Option<usize>) -> Span {
        let Some(index) = block else { return Span::Any };
        let now = *self.now >> self.bits;
        let block = now + (index.wrapping_sub(now as usize) & self.mask()) as u64;
        Span::of(block << self.bits, self.bits)
    }

    /// The block of a slot, if it is one that now has a bucket, and the slot before all of the root.
    #[inline(always)]
    fn block_of(&self, slot: u64) -> Option<usize> {
        let block = slot >> self.bits;
        let near = block - (*self.now >> self.bits) <= self.mask() as u64;
        if near && (slot < *self.root_from || *self.in_root == 0) { Some(block as usize & self.mask()) } else { None }
    }

    #[inline(never)]
    fn insert_far(&mut self, slot: u64, item: Item) {
        let block = self.block_of(slot);
        if *self.in_blocks + *self.in_root == 0 || slot < *self.far_from {
            *self.far_from = slot;
            *self.near_last = (*self.near_last).min(slot.wrapping_sub(1));
        }
        let mut child = match block {
            Some(index) => {
                *self.in_blocks += 1;
                self.blocks_occupied.set(index);
                self.blocks.get(index).map_or(NONE, |bucket| bucket.child)
            }
            None => {
                if *self.in_root == 0 || slot < *self.root_from {
                    *self.root_from = slot;
                }
                *self.in_root += 1;
                self.root.child
            }
        };
        let (mut at, mut digit, mut exact) = (NONE, 0, false);
        while let Some(node) = self.nodes.get_mut(child)
            && node.is_for(slot)
            && !exact
        {
            (at, digit, exact) = (child, node.digit(slot), node.level == 0);
            node.occupied |= 1 << digit;
            child = node.buckets.get(digit).map_or(NONE, |bucket| bucket.child);
        }
        let Some(bucket) = end_of(self.root, self.blocks, &mut self.nodes, block, at, digit) else { return };
        self.pool.append(bucket, item);
        if bucket.count > MOST && !exact {
            let mut full = *bucket;
            self.deal_out(&mut full, self.span_of(block));
            if let Some(bucket) = end_of(self.root, self.blocks, &mut self.nodes, block, at, digit) {
                *bucket = full;
            }
        }
    }

    /// Makes a node of the list, and of the node that the bucket may have; if there is no node to be had, nothing happens.
    fn deal_out(&mut self, bucket: &mut Bucket, span: Span) {
        let any = self.pool.first_slot(bucket, span);
        let mut difference = self.pool.difference(bucket, span, any);
        let child = self.nodes.get(bucket.child).map(|node| node.start(0));
        if let Some(start) = child {
            // Below its own digit the node has all values.
            let below = self.nodes.get(bucket.child).map_or(0, |node| node.shift() + DIGIT);
            difference |= match (any ^ start).checked_shr(below) {
                Some(above) => above << below,
                None => 0,
            };
        }
        let level = (u64::BITS - 1 - (difference | 1).leading_zeros()) / DIGIT;
        let shift = level * DIGIT;
        let Some(number) = self.nodes.make(above(any, shift), level) else { return };
        let nodes = &mut self.nodes;
        self.pool.take_apart(bucket, |pool, item| {
            let digit = digit(pool.slot(&item, span), shift);
            if let Some(node) = nodes.get_mut(number)
                && let Some(below) = node.buckets.get_mut(digit)
            {
                node.occupied |= 1 << digit;
                pool.append(below, item);
            }
        });
        if let Some(start) = child
            && let Some(node) = self.nodes.get_mut(number)
        {
            let digit = digit(start, shift);
            node.occupied |= 1 << digit;
            if let Some(below) = node.buckets.get_mut(digit) {
                below.child = bucket.child;
            }
        }
        bucket.child = number;
    }

    /// Where a value of that slot lies, which is not in the wheel.
    fn path_to(&self, slot: u64) -> Path {
        let in_root = *self.in_root > 0 && slot >= *self.root_from;
        let mut path = Path::from(if in_root { None } else { Some((slot >> self.bits) as usize & self.mask()) });
        let mut child = match path.block {
            Some(index) => self.blocks.get(index).map_or(NONE, |bucket| bucket.child),
            None => self.root.child,
        };
        while let Some(node) = self.nodes.get(child)
            && node.is_for(slot)
        {
            let digit = node.digit(slot);
            path.push(child, digit);
            if node.level == 0 {
                break;
            }
            child = node.buckets.get(digit).map_or(NONE, |bucket| bucket.child);
        }
        path
    }

    /// Where the soonest values lie that are not in the wheel; `None` if there are none. `exactly`: the soonest slot is
    /// looked for also in a list that would be moved as a whole.
    #[inline]
    fn locate(&self, exactly: bool) -> Option<Place> {
        if *self.in_blocks > 0 {
            let now = *self.now >> self.bits;
            let here = now as usize & self.mask();
            let index = self.blocks_occupied.next(here).or_else(|| self.blocks_occupied.next(0))?;
            let block = now + (index.wrapping_sub(here) & self.mask()) as u64;
            let others = if *self.in_root > 0 { *self.root_from } else { u64::MAX };
            return self.descend(
                Path::from(Some(index)),
                self.blocks.get(index)?,
                (block << self.bits, others),
                exactly,
            );
        }
        if *self.in_root > 0 { self.descend(Path::from(None), self.root, (0, u64::MAX), exactly) } else { None }
    }

    fn descend<'b>(
        &'b self,
        mut path: Path,
        mut bucket: &'b Bucket,
        (mut start, mut others): (u64, u64),
        exactly: bool,
    ) -> Option<Place> {
        let (span, mut narrow) = (self.span_of(path.block), path.block.is_some() && !exactly);
        loop {
            let Some(node) = self.nodes.get(bucket.child) else {
                let (kind, from) =
                    if narrow { (Kind::Narrow, start) } else { (Kind::Wide, self.pool.soonest(bucket, span)) };
                return Some(Place { path, from, others, kind });
            };
            let digit = node.occupied.trailing_zeros() as usize & 63;
            let below = node.start(digit);
            if bucket.count > 0 {
                let soonest = self.pool.soonest(bucket, span);
                if soonest < below {
                    let others = if below < others { below } else { others };
                    return Some(Place { path, from: soonest, others, kind: Kind::Wide });
                }
                others = if soonest < others { soonest } else { others };
            }
            path.push(bucket.child, digit);
            if node.level == 0 {
                return Some(Place { path, from: below, others, kind: Kind::Exact });
            }
            (bucket, start, narrow) = (node.buckets.get(digit)?, below, node.shift() <= self.bits && !exactly);
        }
    }

    /// Brings the soonest values into the wheel, which is empty, unless they are after `limit`.
    #[inline(never)]
    pub fn fetch(&mut self, limit: u64) {
        let Some(mut place) = self.locate(false) else { return };
        if place.kind == Kind::Wide
            && place.from <= limit
            && let Some(bucket) = bucket_at(self.root, self.blocks, &mut self.nodes, &place.path)
            && bucket.count > FEW
        {
            let mut wide = *bucket;
            self.deal_out(&mut wide, self.span_of(place.path.block));
            if let Some(bucket) = bucket_at(self.root, self.blocks, &mut self.nodes, &place.path) {
                *bucket = wide;
            }
            match self.locate(false) {
                Some(found) => place = found,
                None => return,
            }
        }
        if place.from <= limit {
            *self.now = place.from.max(*self.now);
            let last = match place.kind {
                Kind::Narrow | Kind::Wide => self.fetch_list(&place),
                Kind::Exact => self.fetch_node(&place),
            };
            self.tidy(place.path);
            self.look_again(last);
        } else {
            self.look_again(0);
        }
    }

    /// Finds from where on values are not in the wheel, `last` being the last slot that has been moved there: a place says
    /// where its range begins, which may be before that.
    fn look_again(&mut self, last: u64) {
        let Some(place) = self.locate(false) else { return };
        *self.far_from = place.from.max(last.saturating_add(1)).max(*self.far_from);
        if place.path.block.is_none() {
            *self.root_from = *self.far_from;
        }
    }

    /// Moves what fits the wheel out of a list.
    fn fetch_list(&mut self, place: &Place) -> u64 {
        let end = (*self.now).saturating_add(self.mask() as u64);
        // The last slot of all stands for nowhere too; two places never have values of one slot.
        let end = if place.others <= end && place.others < u64::MAX { place.others - 1 } else { end };
        let (mask, span) = (self.mask(), self.span_of(place.path.block));
        let (mut moved, mut last) = (0, 0);
        let Some(bucket) = bucket_at(self.root, self.blocks, &mut self.nodes, &place.path) else { return 0 };
        let (mut list, mut rest) = (*bucket, Bucket::with_child(bucket.child));
        let (wheel, occupied) = (&mut *self.wheel, &mut *self.wheel_occupied);
        self.pool.take_apart(&mut list, |pool, item| {
            let slot = pool.slot(&item, span);
            let index = slot as usize & mask;
            if slot > end {
                pool.append(&mut rest, item);
            } else if let Some(bucket) = wheel.get_mut(index) {
                occupied.set(index);
                pool.append_to_slot(bucket, index, item);
                moved += 1;
                last = if slot > last { slot } else { last };
            }
        });
        *bucket = rest;
        self.uncount(&place.path, moved);
        last
    }

    /// Moves the lists of a node, a slot each, into the wheel as they are.
    fn fetch_node(&mut self, place: &Place) -> u64 {
        let Some((number, _)) = place.path.last() else { return 0 };
        let (mut moved, mut last, mask) = (0, 0, self.mask());
        let Some(node) = self.nodes.get_mut(number) else { return 0 };
        while node.occupied != 0 {
            let digit = node.occupied.trailing_zeros() as usize & 63;
            node.occupied &= node.occupied - 1;
            let slot = node.start(digit);
            let index = slot as usize & mask;
            last = slot;
            let (Some(from), Some(to)) = (node.buckets.get_mut(digit), self.wheel.get_mut(index)) else { return last };
            moved += from.count;
            self.wheel_occupied.set(index);
            self.pool.move_to_slot(from, to);
        }
        self.uncount(&place.path, moved);
        last
    }

    #[inline(always)]
    fn uncount(&mut self, path: &Path, values: u32) {
        let count = if path.block.is_some() { &mut *self.in_blocks } else { &mut *self.in_root };
        *count = count.saturating_sub(values);
    }

    /// Takes what is empty at the end of the path out of what it belongs to.
    fn tidy(&mut self, mut path: Path) {
        while let Some((number, digit)) = path.last() {
            let Some(node) = self.nodes.get_mut(number) else { return };
            if node.buckets.get(digit).is_some_and(|bucket| !bucket.is_empty()) {
                return;
            }
            node.occupied &= !(1 << digit);
            if node.occupied != 0 {
                return;
            }
            self.nodes.release(number);
            path.length -= 1;
            if let Some(bucket) = bucket_at(self.root, self.blocks, &mut self.nodes, &path) {
                bucket.child = NONE;
            }
        }
        if let Some(index) = path.block
            && self.blocks.get(index).is_some_and(Bucket::is_empty)
        {
            self.blocks_occupied.clear(index);
        }
    }
}

/// The bucket at the end of the path.
#[inline(always)]
fn bucket_at<'b>(
    root: &'b mut Bucket,
    blocks: &'b mut [Bucket],
    nodes: &'b mut Nodes<'_>,
    path: &Path,
) -> Option<&'b mut Bucket> {
    let (node, digit) = path.last().unwrap_or((NONE, 0));
    end_of(root, blocks, nodes, path.block, node, digit)
}

/// The bucket of that digit of the node; without a node that of the block, or the root.
#[inline(always)]
fn end_of<'b>(
    root: &'b mut Bucket,
    blocks: &'b mut [Bucket],
    nodes: &'b mut Nodes<'_>,
    block: Option<usize>,
    node: u32,
    digit: usize,
) -> Option<&'b mut Bucket> {
    match (node, block) {
        (NONE, Some(index)) => blocks.get_mut(index),
        (NONE, None) => Some(root),
        (node, _) => nodes.get_mut(node)?.buckets.get_mut(digit),
    }
}

const _: () = assert!(BITS == 12 && size_of::<Bucket>() == 16 && size_of::<Chunk>() == 128);
