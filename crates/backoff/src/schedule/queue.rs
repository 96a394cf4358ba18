//! The one schedule, for C and Rust: its head, and the memory that it is lent for one call.
//!
//! One file above 500 lines because wheel and blocks share one memory and its invariants.

use super::Ticket;
use super::bits::{MOST_LISTS, Part, words_for};
use super::node::{self, NONE, Node};
use super::tree::{Root, Tree};

/// A schedule for this number of values or fewer is a tree alone.
const FEW: u32 = 32;
/// A wheel has at least this number of slots.
const LEAST_WHEEL: usize = 1 << 10;
/// At least this number of blocks follows.
const LEAST_BLOCKS: usize = 1 << 8;
/// A block has no more values in its list; older ones are in the tree. So a call deals out at most two times as many.
const MOST_OF_A_BLOCK: u8 = 64;
/// With this number of values or fewer a block gives them one by one, and is not dealt out.
const FEW_OF_A_BLOCK: u8 = 8;

/// How large the wheel of a schedule is, and how many blocks follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    wheel: usize,
    blocks: usize,
    /// A block is 2^bits slots.
    bits: u32,
}

impl Shape {
    /// For a schedule whose memory grows.
    pub const WIDE: Shape = Shape { wheel: 1 << 12, blocks: 1 << 14, bits: 6 };

    /// For `capacity` values: eight octets for each value and 7,600 more are for the wheel and the blocks. The wheel has about
    /// as many slots as there may be values.
    pub const fn of(capacity: u32) -> Shape {
        if capacity <= FEW {
            return Shape { wheel: 0, blocks: 0, bits: 0 };
        }
        let room = capacity as u64 * 8 + 7600;
        let mut shape = Shape { wheel: LEAST_WHEEL, blocks: LEAST_BLOCKS, bits: 5 };
        while shape.wheel < MOST_LISTS && shape.wheel < capacity as usize / 2 {
            shape.wheel *= 2;
        }
        if capacity < 8000 {
            // Few values, far apart: a block is half of the wheel.
            while shape.wheel < 2 * LEAST_WHEEL && (Shape { wheel: shape.wheel * 2, ..shape }).octets() <= room {
                shape.wheel *= 2;
            }
            shape.bits = shape.wheel.trailing_zeros() - 1;
        } else if capacity < 300_000 {
            shape.bits = 6;
        }
        while shape.blocks < MOST_LISTS && (Shape { blocks: shape.blocks * 2, ..shape }).octets() <= room {
            shape.blocks *= 2;
        }
        shape
    }

    const fn octets(self) -> u64 {
        self.lists() as u64 * 4 + self.words() as u64 * 8 + self.blocks as u64
    }

    /// How many lists there are.
    pub const fn lists(self) -> usize {
        self.wheel + self.blocks
    }

    /// How many blocks there are.
    pub const fn blocks(self) -> usize {
        self.blocks
    }

    /// How many words of bits there are.
    pub const fn words(self) -> usize {
        words_for(self.wheel, self.blocks)
    }
}

/// The memory that a schedule lives in, lent for one call; always the same.
pub struct Memory<'a, V> {
    /// As many as [`Shape::lists`], [`Queue::NO_NODE`] at first: the last node of each list, first those of the wheel.
    pub lists: &'a mut [u32],
    /// As many as [`Shape::words`], 0 at first.
    pub words: &'a mut [u64],
    /// As many as [`Shape::blocks`], 0 at first: how many values each block has.
    pub counts: &'a mut [u8],
    /// Those that [`Queue::another_node`] has given, in their order.
    pub nodes: &'a mut [Node<V>],
}

/// Where pending values are, but for the memory.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Queue {
    now: u64,
    /// The first slot of the wheel. It is after `now` only while a block waits that was dealt out early.
    near_first: u64,
    /// How many slots the wheel has; no more than it has lists. The next one begins a block that has not been dealt out.
    near_slots: u64,
    /// The highest bits of the wheel, and those of the blocks.
    near_top: u64,
    block_top: u64,
    root: Root,
    /// How many lists the wheel has, and how many blocks there are.
    wheel: u32,
    blocks: u32,
    bits: u32,
    pending: u32,
    /// The first free node.
    free: u32,
    /// How many nodes there are.
    nodes: u32,
    /// The serial number of a new node: even, and another one in each life of the memory.
    serial: u32,
    /// What of a number is that of a list of the wheel.
    mask: u32,
    /// What of a slot is its place in a block; all of it, where there are none.
    block_mask: u64,
}

impl Queue {
    /// What a list without values holds.
    pub const NO_NODE: u32 = NONE;
    /// There may be no more nodes.
    pub const MOST: u32 = 1 << 27;

    /// An empty schedule of that shape; the first slot that can expire is `now`. `life` tells its tickets from those of
    /// other schedules: a number that counts them.
    pub const fn new(shape: Shape, now: u64, life: u32) -> Queue {
        let mut queue = Queue {
            now,
            near_first: 0,
            near_slots: 0,
            near_top: 0,
            block_top: 0,
            root: Root::EMPTY,
            wheel: shape.wheel as u32,
            blocks: shape.blocks as u32,
            bits: shape.bits,
            pending: 0,
            free: NONE,
            nodes: 0,
            // Those of 2^31 lives in a row differ, and those of few lives lie far apart: a multiple of the golden ratio.
            serial: life.wrapping_mul(0x9E37_79B9) << 1,
            mask: (shape.wheel as u32).wrapping_sub(1),
            block_mask: if shape.blocks == 0 { u64::MAX } else { (1 << shape.bits) - 1 },
        };
        queue.near_first = now >> shape.bits << shape.bits;
        queue.near_slots = queue.most_slots();
        queue
    }

    /// How many values are pending.
    #[inline(always)]
    pub const fn len(&self) -> u32 {
        self.pending
    }

    /// Whether none is.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// The slot that has been reached.
    #[inline(always)]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// How many nodes there are.
    #[inline(always)]
    pub const fn nodes(&self) -> u32 {
        self.nodes
    }

    /// A free node more, to be put behind the others of the memory; `value` is anything.
    #[inline]
    pub const fn another_node<V>(&mut self, value: V) -> Node<V> {
        let node = Node::free(value, self.serial, self.free);
        self.free = self.nodes;
        self.nodes += 1;
        node
    }

    /// Takes a free node for a value that is to be pending in `slot`, or in now, where the slot has passed;
    /// [`place`](Self::place) is to be called next. `None`: no node is free, and nothing has changed.
    #[inline(always)]
    pub fn take<V>(&mut self, memory: &mut Memory<'_, V>, slot: u64, value: V) -> Option<Ticket> {
        let slot = if slot < self.now { self.now } else { slot };
        let number = self.free;
        let node = memory.nodes.get_mut(number as usize)?;
        self.free = node.next;
        node.value = value;
        node.slot = slot;
        node.serial = node.serial.wrapping_add(1);
        self.pending += 1;
        Some(Ticket { slot, serial: node.serial, node: number })
    }

    /// Whether a slot is in the wheel.
    #[inline(always)]
    const fn is_near(&self, slot: u64) -> bool {
        slot.wrapping_sub(self.near_first) < self.near_slots
    }

    /// Puts a node that was taken where its slot is, if that is in the wheel, or in a block that has room; gives whether it
    /// is. Else [`place_beyond`](Self::place_beyond) is to be called.
    #[inline(always)]
    pub fn place<V>(&mut self, memory: &mut Memory<'_, V>, slot: u64, number: u32) -> bool {
        let ahead = slot.wrapping_sub(self.near_first);
        let mut list = self.slot_list(slot);
        if ahead >= self.near_slots {
            // Before the wheel this is far beyond the blocks.
            let blocks = ahead.wrapping_sub(self.near_slots) >> self.bits;
            let block = self.block(slot);
            if slot < self.near_first || blocks >= self.blocks.into() {
                return false;
            }
            let Some(count) = memory.counts.get_mut(block).filter(|count| **count < MOST_OF_A_BLOCK) else {
                return false;
            };
            *count += 1;
            list = self.block_list(block);
        }
        self.push(memory, list, number);
        true
    }

    /// Puts a node behind the last one of that list.
    #[inline(always)]
    fn push<V>(&mut self, memory: &mut Memory<'_, V>, list: usize, number: u32) {
        let Some(last) = memory.lists.get_mut(list) else { return };
        node::push(memory.nodes, last, number);
        let Some(word) = memory.words.get_mut(list / 64) else { return };
        let was_empty = *word == 0;
        *word |= 1 << (list % 64);
        if was_empty {
            self.note(memory.words, list, true);
        }
    }

    /// Takes a node out of that list, its neighbours being `next` and `previous`.
    #[inline(always)]
    fn pull<V>(&mut self, memory: &mut Memory<'_, V>, list: usize, number: u32, next: u32, previous: u32) {
        let Some(last) = memory.lists.get_mut(list) else { return };
        let emptied = node::remove(memory.nodes, last, number, next, previous);
        self.clear_if(memory.words, emptied, list);
    }

    /// Clears the bit of a list if `emptied`: as a number, because a branch would be guessed wrong where values are
    /// cancelled.
    #[inline(always)]
    fn clear_if(&mut self, words: &mut [u64], emptied: bool, list: usize) {
        let Some(word) = words.get_mut(list / 64) else { return };
        *word &= !(u64::from(emptied) << (list % 64));
        if *word == 0 {
            self.note(words, list, false);
        }
    }

    /// Notes that the word of that list has become empty, or is no longer.
    #[inline(never)]
    fn note(&mut self, words: &mut [u64], list: usize, is_set: bool) {
        let (near, blocks) = (self.near_part(), self.block_part());
        match list.checked_sub(self.wheel as usize) {
            None => near.note(words, &mut self.near_top, list, is_set),
            Some(block) => blocks.note(words, &mut self.block_top, block, is_set),
        }
    }

    #[inline(always)]
    const fn near_part(&self) -> Part {
        Part { lists: 0, words: (self.wheel as usize + self.blocks as usize) / 64 }
    }

    #[inline(always)]
    const fn block_part(&self) -> Part {
        Part { lists: self.wheel as usize / 64, words: self.near_part().words + (self.wheel as usize).div_ceil(4096) }
    }

    /// Puts a node that was taken where its slot is, if that is in a block without room, or in none.
    #[inline(never)]
    pub fn place_beyond<V: Copy>(&mut self, memory: &mut Memory<'_, V>, slot: u64, number: u32) {
        if !self.is_in_a_block(slot) {
            return self.tree(memory.nodes).insert(number, slot);
        }
        self.move_to_the_tree(memory, self.block(slot));
        self.place(memory, slot, number);
    }

    /// Moves the oldest value of a block that has several to the tree.
    #[inline(always)]
    fn move_to_the_tree<V: Copy>(&mut self, memory: &mut Memory<'_, V>, block: usize) {
        let Some(last) = memory.lists.get(self.block_list(block)) else { return };
        let Some(number) = memory.nodes.get(*last as usize).map(|last| last.next) else { return };
        let Some(&node) = memory.nodes.get(number as usize) else { return };
        self.remove(memory, number, &node);
        self.tree(memory.nodes).insert(number, node.slot);
    }

    /// Whether a slot that is not in the wheel is in a block.
    #[inline(always)]
    const fn is_in_a_block(&self, slot: u64) -> bool {
        let ahead = slot.wrapping_sub(self.near_first).wrapping_sub(self.near_slots);
        slot >= self.near_first && (ahead >> self.bits) < self.blocks as u64
    }

    /// The list of a slot in the wheel.
    #[inline(always)]
    const fn slot_list(&self, slot: u64) -> usize {
        slot as usize & self.mask as usize
    }

    /// The block of a slot.
    #[inline(always)]
    const fn block(&self, slot: u64) -> usize {
        (slot >> self.bits) as usize & (self.blocks as usize).wrapping_sub(1)
    }

    /// The list of a block.
    #[inline(always)]
    const fn block_list(&self, block: usize) -> usize {
        self.wheel as usize + block
    }

    /// How many slots the wheel can have: as many as it has lists, or up to the last slot of all.
    const fn most_slots(&self) -> u64 {
        let (lists, left) = (self.wheel as u64, u64::MAX - self.near_first);
        if lists <= left { lists } else { left + 1 }
    }

    #[inline(always)]
    fn tree<'a, V>(&'a mut self, nodes: &'a mut [Node<V>]) -> Tree<'a, V> {
        Tree { root: &mut self.root, nodes }
    }

    /// Takes a pending value back; `None` if it has expired or been cancelled.
    #[inline(always)]
    pub fn cancel<V: Copy>(&mut self, memory: &mut Memory<'_, V>, ticket: Ticket) -> Option<V> {
        let Ticket { slot, serial, node: number } = ticket;
        let node = memory.nodes.get(number as usize)?;
        if node.serial != serial || node.slot != slot || serial.is_multiple_of(2) {
            return None;
        }
        let taken = *node;
        if taken.is_in_tree() {
            self.tree(memory.nodes).remove(number);
        } else {
            self.remove(memory, number, &taken);
        }
        self.release(memory, number);
        Some(taken.value)
    }

    /// Takes a value out of its list.
    #[inline(always)]
    fn remove<V>(&mut self, memory: &mut Memory<'_, V>, number: u32, taken: &Node<V>) {
        let &Node { slot, next, previous, .. } = taken;
        let mut list = self.slot_list(slot);
        if !self.is_near(slot) {
            let block = self.block(slot);
            let Some(count) = memory.counts.get_mut(block) else { return };
            *count = count.wrapping_sub(1);
            list = self.block_list(block);
        }
        self.pull(memory, list, number, next, previous);
    }

    /// Makes the node of a value that is no longer pending a free one.
    #[inline(always)]
    fn release<V>(&mut self, memory: &mut Memory<'_, V>, number: u32) {
        if let Some(node) = memory.nodes.get_mut(number as usize) {
            (node.serial, node.next) = (node.serial.wrapping_add(1), self.free);
            self.free = number;
            self.pending = self.pending.wrapping_sub(1);
        }
    }

    /// The first slot in which a value is pending.
    pub fn next_slot<V: Copy>(&self, memory: &Memory<'_, V>) -> Option<u64> {
        let listed = match self.next_near(memory.words) {
            None if self.block_top != 0 => self.soonest(memory, self.next_block(memory.words)).map(|(slot, ..)| slot),
            near => near,
        };
        self.sooner_in_the_tree(listed)
    }

    /// That slot, or the first one of the tree, if that is no later.
    #[inline(always)]
    fn sooner_in_the_tree(&self, listed: Option<u64>) -> Option<u64> {
        match listed {
            None if self.root.first == NONE => None,
            None => Some(self.root.slot),
            Some(listed) => Some(if listed < self.root.slot { listed } else { self.root.slot }),
        }
    }

    /// The first slot of the wheel that has a value.
    #[inline(always)]
    fn next_near(&self, words: &[u64]) -> Option<u64> {
        if self.near_top == 0 {
            return None;
        }
        let from = if self.now < self.near_first { self.near_first } else { self.now };
        let here = self.slot_list(from);
        let index = self.near_part().next(words, self.near_top, here);
        Some(from + self.slot_list(index.wrapping_sub(here) as u64) as u64)
    }

    /// The first block that has a value; one has.
    #[inline(always)]
    fn next_block(&self, words: &[u64]) -> usize {
        let here = self.block(self.near_first.wrapping_add(self.near_slots));
        self.block_part().next(words, self.block_top, here)
    }

    /// The first slot of a block.
    const fn start(&self, block: usize) -> u64 {
        let behind = self.near_first.wrapping_add(self.near_slots);
        let blocks = block.wrapping_sub(self.block(behind)) & (self.blocks as usize).wrapping_sub(1);
        behind.wrapping_add((blocks as u64) << self.bits)
    }

    /// Whether a block has too few values to be dealt out.
    #[inline(always)]
    fn has_few(counts: &[u8], block: usize) -> bool {
        counts.get(block).is_some_and(|count| *count <= FEW_OF_A_BLOCK)
    }

    /// The first value of a block: its slot, its node, and whether no other one is in that slot.
    #[inline(always)]
    fn soonest<V>(&self, memory: &Memory<'_, V>, block: usize) -> Option<(u64, u32, bool)> {
        let last = *memory.lists.get(self.block_list(block))?;
        let mut number = memory.nodes.get(last as usize)?.next;
        let Node { mut slot, mut next, .. } = *memory.nodes.get(number as usize)?;
        let (mut least, mut soonest, mut is_alone) = (slot, number, true);
        while number != last {
            number = next;
            Node { slot, next, .. } = *memory.nodes.get(number as usize)?;
            if slot <= least {
                is_alone = slot < least;
                soonest = if is_alone { number } else { soonest };
                least = slot;
            }
        }
        Some((least, soonest, is_alone))
    }

    /// Deals out a block, which begins with the slot `start`, to the wheel, which has nothing at or after it.
    #[inline(never)]
    fn deal<V>(&mut self, memory: &mut Memory<'_, V>, block: usize, start: u64) {
        let list = self.block_list(block);
        let Some(last) = memory.lists.get_mut(list) else { return };
        let last = core::mem::replace(last, NONE);
        if let Some(count) = memory.counts.get_mut(block) {
            *count = 0;
        }
        self.clear_if(memory.words, true, list);
        self.near_slots = start.wrapping_sub(self.near_first).wrapping_add(1 << self.bits);
        let Some(mut number) = memory.nodes.get(last as usize).map(|node| node.next) else { return };
        while let Some(&Node { slot, next, .. }) = memory.nodes.get(number as usize) {
            self.push(memory, self.slot_list(slot), number);
            if number == last {
                return;
            }
            number = next;
        }
    }

    /// Now has come to another block: the wheel begins there, and has one more block that has values, if there is one near.
    #[inline(never)]
    pub fn follow<V>(&mut self, memory: &mut Memory<'_, V>) {
        if self.wheel == 0 {
            return;
        }
        let first = self.now & !self.block_mask;
        // Nothing is pending before now. The block of now may not have been dealt out.
        self.near_slots = self.near_slots.saturating_sub(first.wrapping_sub(self.near_first));
        self.near_first = first;
        if self.block_top == 0 {
            self.near_slots = self.most_slots();
            return;
        }
        let block = self.next_block(memory.words);
        let start = self.start(block);
        if start.wrapping_sub(first) >= self.most_slots() {
            self.near_slots = self.most_slots();
        } else if Self::has_few(memory.counts, block) {
            self.near_slots = start.wrapping_sub(first);
        } else {
            self.deal(memory, block, start);
        }
    }

    /// Moves now; gives whether that is another block of the wheel, and [`follow`](Self::follow) is to be called.
    #[inline(always)]
    pub const fn arrive(&mut self, slot: u64) -> bool {
        self.now = slot;
        slot > self.near_first | self.block_mask
    }

    /// The first slot that has any value, where that is in the wheel, no later than `limit`, and before the tree.
    #[inline(always)]
    pub fn soon(&self, words: &[u64], limit: u64) -> Option<u64> {
        self.next_near(words).filter(|slot| *slot <= limit && *slot < self.root.slot)
    }

    /// Takes up to `room` values of the first slot that has any and is no later than `limit`, in the order of their
    /// insertion; gives that slot, which is now then. `None`: there is none, and now is `limit`, unless that is
    /// `u64::MAX`, any slot. `room` is not 0.
    #[inline(always)]
    pub fn expire_next<V: Copy>(
        &mut self,
        memory: &mut Memory<'_, V>,
        limit: u64,
        room: usize,
        each: &mut impl FnMut(u64, V),
    ) -> Option<u64> {
        let Some(slot) = self.soon(memory.words, limit) else {
            return self.expire_closely(memory, limit, room, each);
        };
        self.give(memory, slot, room, each, |_| ());
        if self.arrive(slot) {
            self.follow(memory);
        }
        Some(slot)
    }

    /// The same where the first slot may be in a block or in the tree.
    #[inline(never)]
    pub fn expire_closely<V: Copy>(
        &mut self,
        memory: &mut Memory<'_, V>,
        limit: u64,
        room: usize,
        each: &mut impl FnMut(u64, V),
    ) -> Option<u64> {
        if let Some((slot, number, block)) = self.first_of_few(memory, limit) {
            each(slot, self.take_of_few(memory, slot, number, block)?);
            return Some(slot);
        }
        if self.near_top == 0 && self.block_top != 0 {
            self.approach(memory, limit);
        }
        let near = self.next_near(memory.words);
        let found = self.sooner_in_the_tree(near).filter(|slot| *slot <= limit);
        let slot = match found {
            Some(slot) => slot,
            None if limit != u64::MAX && limit > self.now => limit,
            None => return None,
        };
        let mut left = if found.is_some() { room } else { 0 };
        while left > 0
            && self.root.slot == slot
            && let Some(node) = memory.nodes.get(self.root.first as usize)
        {
            each(slot, node.value);
            let number = self.root.first;
            self.tree(memory.nodes).remove(number);
            self.release(memory, number);
            left -= 1;
        }
        if left > 0 && near == Some(slot) {
            self.give(memory, slot, left, each, |_| ());
        }
        if self.arrive(slot) {
            self.follow(memory);
        }
        found
    }

    /// The first value, where the wheel is empty, the first block has few values and no other one in that slot, and it comes no
    /// later than `limit` and before the tree: its slot, its node and its block.
    #[inline(always)]
    pub fn first_of_few<V>(&self, memory: &Memory<'_, V>, limit: u64) -> Option<(u64, u32, usize)> {
        if self.near_top != 0 || self.block_top == 0 {
            return None;
        }
        let block = self.next_block(memory.words);
        if !Self::has_few(memory.counts, block) {
            return None;
        }
        let (slot, number, is_alone) = self.soonest(memory, block)?;
        (is_alone && slot <= limit && slot < self.root.slot).then_some((slot, number, block))
    }

    /// Takes that value. The wheel has no slots then: its block is not dealt out.
    #[inline(always)]
    pub fn take_of_few<V: Copy>(
        &mut self,
        memory: &mut Memory<'_, V>,
        slot: u64,
        number: u32,
        block: usize,
    ) -> Option<V> {
        let &Node { value, next, previous, .. } = memory.nodes.get(number as usize)?;
        let count = memory.counts.get_mut(block)?;
        *count = count.wrapping_sub(1);
        self.pull(memory, self.block_list(block), number, next, previous);
        self.release(memory, number);
        (self.now, self.near_first, self.near_slots) = (slot, slot & !self.block_mask, 0);
        Some(value)
    }

    /// Deals out the first block that has values, if one of them comes no later than `limit` and the first slot of the tree.
    /// The wheel is empty, and begins there.
    #[inline(never)]
    fn approach<V>(&mut self, memory: &mut Memory<'_, V>, limit: u64) {
        let block = self.next_block(memory.words);
        let start = self.start(block);
        if start <= limit && start <= self.root.slot {
            (self.near_first, self.near_slots) = (start, 0);
            self.deal(memory, block, start);
        }
    }

    /// Gives up to `room` values, at least one, of that slot in the wheel, from the front of its list. `fetch` is called for
    /// nodes from its end on: a long list is read from both ends at the same time, and so waits for memory half as long.
    #[inline(always)]
    pub fn give<V: Copy>(
        &mut self,
        memory: &mut Memory<'_, V>,
        slot: u64,
        room: usize,
        each: &mut impl FnMut(u64, V),
        fetch: impl Fn(&Node<V>),
    ) {
        let index = self.slot_list(slot);
        let Some(list) = memory.lists.get_mut(index) else { return };
        let last = *list;
        let Some(first) = memory.nodes.get(last as usize).map(|node| node.next) else { return };
        let (mut number, mut given, mut back) = (first, 0, last);
        while given < room {
            if let Some(node) = memory.nodes.get(back as usize) {
                back = node.previous;
                fetch(node);
            }
            let Some(node) = memory.nodes.get_mut(number as usize) else { return };
            each(slot, node.value);
            node.serial = node.serial.wrapping_add(1);
            given += 1;
            if number == last {
                // The whole chain becomes free at once.
                node.next = core::mem::replace(&mut self.free, first);
                *list = NONE;
                self.pending = self.pending.wrapping_sub(given as u32);
                return self.clear_if(memory.words, true, index);
            }
            number = node.next;
        }
        self.pending = self.pending.wrapping_sub(given as u32);
        self.stop_at(memory.nodes, first, last, number);
    }

    /// What is left to do where the values from `first` to the one before `number` were given, and others follow.
    #[inline(never)]
    fn stop_at<V>(&mut self, nodes: &mut [Node<V>], first: u32, last: u32, number: u32) {
        if let Some(node) = nodes.get_mut(last as usize) {
            node.next = number;
        }
        let Some(node) = nodes.get_mut(number as usize) else { return };
        let taken = core::mem::replace(&mut node.previous, NONE);
        if let Some(node) = nodes.get_mut(taken as usize) {
            node.next = core::mem::replace(&mut self.free, first);
        }
    }
}
