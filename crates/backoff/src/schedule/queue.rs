//! The one schedule, for C and Rust: its head, and the memory that it is lent for one call.
//!
//! One file above 500 lines because wheel and blocks share one memory and its invariants.

use super::Ticket;
use super::bits::{self, Bits, MOST_LISTS, words_for};
use super::node::{self, NONE, Node};
use super::tree::{Root, Tree};

/// A schedule for this number of values or fewer is a tree alone.
const FEW: u32 = 32;
/// A wheel has at least this number of slots.
const LEAST_WHEEL: usize = 1 << 10;
/// A block has no more values in its list; older ones are in the tree. So a call deals out at most two times as many.
const MOST_OF_A_BLOCK: u8 = 64;

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
        let bits = match capacity {
            0..8000 => 8,
            8000..300_000 => 6,
            _ => 5,
        };
        let room = capacity as u64 * 8 + 7600;
        let mut shape = Shape { wheel: LEAST_WHEEL, blocks: 256, bits };
        while shape.wheel < MOST_LISTS && shape.wheel < capacity as usize / 2 {
            shape.wheel *= 2;
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
        words_for(self.wheel) + words_for(self.blocks)
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
    /// The first slot of the wheel: not after now, but for a block that was dealt out before now came to it.
    near_first: u64,
    /// The last slot of the wheel. The next one begins a block that has not been dealt out.
    near_last: u64,
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
    unused: u32,
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
            near_last: 0,
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
            unused: 0,
        };
        queue.near_first = now >> shape.bits << shape.bits;
        // No slot, where there is no wheel.
        queue.near_last = if shape.wheel == 0 { queue.near_first } else { queue.farthest() };
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
    pub const fn is_near(&self, slot: u64) -> bool {
        self.near_first <= slot && slot <= self.near_last && self.wheel > 0
    }

    /// Puts a node that was taken where its slot is.
    #[inline(always)]
    pub fn place<V>(&mut self, memory: &mut Memory<'_, V>, slot: u64, number: u32) {
        if self.is_near(slot) { self.place_near(memory, slot, number) } else { self.place_far(memory, slot, number) }
    }

    /// The same in the wheel.
    #[inline(always)]
    pub fn place_near<V>(&mut self, memory: &mut Memory<'_, V>, slot: u64, number: u32) {
        let index = self.slot_list(slot);
        let Some(list) = memory.lists.get_mut(index) else { return };
        node::push(memory.nodes, list, number);
        self.near_bits(memory.words).set(index);
    }

    /// The same beyond the wheel.
    #[inline(always)]
    pub fn place_far<V>(&mut self, memory: &mut Memory<'_, V>, slot: u64, number: u32) {
        if !self.is_in_a_block(slot) {
            return self.tree(memory.nodes).insert(number, slot);
        }
        let block = self.block(slot);
        let Some(count) = memory.counts.get_mut(block) else { return };
        if *count == MOST_OF_A_BLOCK {
            self.move_to_the_tree(memory, block);
        } else {
            *count += 1;
        }
        let Some(list) = memory.lists.get_mut(self.wheel as usize + block) else { return };
        node::push(memory.nodes, list, number);
        self.block_bits(memory.words).set(block);
    }

    /// Moves the oldest value of a block that has several to the tree.
    #[inline(never)]
    fn move_to_the_tree<V>(&mut self, memory: &mut Memory<'_, V>, block: usize) {
        let Some(list) = memory.lists.get_mut(self.wheel as usize + block) else { return };
        let Some(number) = memory.nodes.get(*list as usize).map(|last| last.next) else { return };
        let Some(&Node { next, previous, slot, .. }) = memory.nodes.get(number as usize) else { return };
        node::remove(memory.nodes, list, number, next, previous);
        self.tree(memory.nodes).insert(number, slot);
    }

    /// Whether a slot beyond the wheel is in a block.
    #[inline(always)]
    const fn is_in_a_block(&self, slot: u64) -> bool {
        slot > self.near_last && ((slot - self.near_last - 1) >> self.bits) < self.blocks as u64
    }

    /// The list of a slot in the wheel.
    #[inline(always)]
    const fn slot_list(&self, slot: u64) -> usize {
        slot as usize & (self.wheel as usize).wrapping_sub(1)
    }

    /// The block of a slot.
    #[inline(always)]
    const fn block(&self, slot: u64) -> usize {
        (slot >> self.bits) as usize & (self.blocks as usize).wrapping_sub(1)
    }

    /// The last slot that the wheel can have.
    const fn farthest(&self) -> u64 {
        self.near_first.saturating_add(self.wheel as u64 - 1)
    }

    #[inline(always)]
    fn near_bits<'a>(&'a mut self, words: &'a mut [u64]) -> Bits<'a> {
        let lists = self.wheel as usize;
        Bits { words, top: &mut self.near_top, lists }
    }

    #[inline(always)]
    fn block_bits<'a>(&'a mut self, words: &'a mut [u64]) -> Bits<'a> {
        let words = words.get_mut(words_for(self.wheel as usize)..).unwrap_or_default();
        Bits { words, top: &mut self.block_top, lists: self.blocks as usize }
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
        if slot <= self.near_last {
            let index = self.slot_list(slot);
            let Some(list) = memory.lists.get_mut(index) else { return };
            let emptied = node::remove(memory.nodes, list, number, next, previous);
            self.near_bits(memory.words).clear_if(emptied, index);
        } else {
            let block = self.block(slot);
            let Some(list) = memory.lists.get_mut(self.wheel as usize + block) else { return };
            let emptied = node::remove(memory.nodes, list, number, next, previous);
            if let Some(count) = memory.counts.get_mut(block) {
                *count = count.wrapping_sub(1);
            }
            self.block_bits(memory.words).clear_if(emptied, block);
        }
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
    pub fn next_slot<V>(&self, memory: &Memory<'_, V>) -> Option<u64> {
        let listed = match self.next_near(memory.words) {
            None if self.block_top != 0 => self.least(memory, self.next_block(memory.words)),
            near => near,
        };
        self.sooner_in_the_tree(listed)
    }

    /// That slot, or the first one of the tree, if that is no later.
    #[inline(always)]
    fn sooner_in_the_tree(&self, listed: Option<u64>) -> Option<u64> {
        if self.root.first == NONE {
            return listed;
        }
        Some(listed.map_or(self.root.slot, |listed| if listed < self.root.slot { listed } else { self.root.slot }))
    }

    /// The first slot of the wheel that has a value.
    #[inline(always)]
    fn next_near(&self, words: &[u64]) -> Option<u64> {
        if self.near_top == 0 {
            return None;
        }
        let from = if self.now < self.near_first { self.near_first } else { self.now };
        let here = self.slot_list(from);
        let index = bits::next(words, self.near_top, self.wheel as usize, here);
        Some(from + self.slot_list(index.wrapping_sub(here) as u64) as u64)
    }

    /// The first slot of the first block that has a value; one has.
    fn next_block(&self, words: &[u64]) -> u64 {
        let here = self.block(self.near_last.wrapping_add(1));
        let words = words.get(words_for(self.wheel as usize)..).unwrap_or_default();
        let index = bits::next(words, self.block_top, self.blocks as usize, here);
        let blocks = index.wrapping_sub(here) & (self.blocks as usize).wrapping_sub(1);
        self.near_last.wrapping_add(1) + ((blocks as u64) << self.bits)
    }

    /// The soonest slot of the values of a block.
    fn least<V>(&self, memory: &Memory<'_, V>, start: u64) -> Option<u64> {
        let last = *memory.lists.get(self.wheel as usize + self.block(start))?;
        let mut node = memory.nodes.get(last as usize)?;
        let mut least = node.slot;
        while node.next != last {
            node = memory.nodes.get(node.next as usize)?;
            least = least.min(node.slot);
        }
        Some(least)
    }

    /// Deals out the block that begins with that slot to the wheel, which has nothing at or after it.
    #[inline(never)]
    fn deal<V>(&mut self, memory: &mut Memory<'_, V>, start: u64) {
        let block = self.block(start);
        let Some(list) = memory.lists.get_mut(self.wheel as usize + block) else { return };
        let last = core::mem::replace(list, NONE);
        if let Some(count) = memory.counts.get_mut(block) {
            *count = 0;
        }
        self.block_bits(memory.words).clear_if(true, block);
        self.near_last = start + ((1 << self.bits) - 1);
        let Some(mut number) = memory.nodes.get(last as usize).map(|node| node.next) else { return };
        while let Some(&Node { slot, next, .. }) = memory.nodes.get(number as usize) {
            self.place_near(memory, slot, number);
            if number == last {
                return;
            }
            number = next;
        }
    }

    /// Now has come to another block: the wheel begins there, and has one more block that has values, if there is one near.
    #[inline(never)]
    fn follow<V>(&mut self, memory: &mut Memory<'_, V>) {
        if self.wheel == 0 {
            return;
        }
        self.near_first = self.now >> self.bits << self.bits;
        if self.near_last < self.near_first {
            // Nothing is pending before now: the block of now has not been dealt out.
            self.near_last = self.near_first.wrapping_sub(1);
        }
        let farthest = self.farthest();
        if self.block_top == 0 {
            self.near_last = farthest;
            return;
        }
        let start = self.next_block(memory.words);
        if start > farthest {
            self.near_last = farthest;
        } else {
            self.deal(memory, start);
        }
    }

    /// Moves now.
    #[inline(always)]
    fn arrive<V>(&mut self, memory: &mut Memory<'_, V>, slot: u64) {
        self.now = slot;
        if slot.wrapping_sub(self.near_first) >> self.bits != 0 && slot >= self.near_first {
            self.follow(memory);
        }
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
        each: &mut impl FnMut(&Node<V>, u64, V),
    ) -> Option<u64> {
        if self.near_top == 0 && self.block_top != 0 {
            self.approach(memory, limit);
        }
        let near = self.next_near(memory.words);
        let Some(slot) = self.sooner_in_the_tree(near).filter(|slot| *slot <= limit) else {
            if limit != u64::MAX && limit > self.now {
                self.arrive(memory, limit);
            }
            return None;
        };
        let mut left = room;
        if self.root.first != NONE && self.root.slot == slot {
            left = self.give_from_the_tree(memory, slot, room, each);
        }
        if left > 0 && near == Some(slot) {
            self.give(memory, slot, left, each);
        }
        self.arrive(memory, slot);
        Some(slot)
    }

    /// Deals out the first block that has values, if it begins no later than `limit` and the first slot of the tree. The wheel
    /// is empty, and begins there.
    #[inline(never)]
    fn approach<V>(&mut self, memory: &mut Memory<'_, V>, limit: u64) {
        let start = self.next_block(memory.words);
        if start <= limit && (self.root.first == NONE || start <= self.root.slot) {
            self.near_first = start;
            self.deal(memory, start);
        }
    }

    /// Gives up to `room` values of the first slot of the tree; gives for how many more there is room.
    #[inline(never)]
    fn give_from_the_tree<V: Copy>(
        &mut self,
        memory: &mut Memory<'_, V>,
        slot: u64,
        room: usize,
        each: &mut impl FnMut(&Node<V>, u64, V),
    ) -> usize {
        let mut left = room;
        while left > 0
            && self.root.slot == slot
            && let Some(node) = memory.nodes.get(self.root.first as usize)
        {
            each(node, slot, node.value);
            let number = self.root.first;
            self.tree(memory.nodes).remove(number);
            self.release(memory, number);
            left -= 1;
        }
        left
    }

    /// Gives up to `room` values, at least one, of that slot in the wheel, from the front of its list.
    #[inline(always)]
    fn give<V: Copy>(
        &mut self,
        memory: &mut Memory<'_, V>,
        slot: u64,
        room: usize,
        each: &mut impl FnMut(&Node<V>, u64, V),
    ) {
        let index = self.slot_list(slot);
        let Some(list) = memory.lists.get_mut(index) else { return };
        let last = *list;
        let Some(first) = memory.nodes.get(last as usize).map(|node| node.next) else { return };
        let (mut number, mut given) = (first, 0);
        while given < room {
            let Some(&Node { value, third: ahead, .. }) = memory.nodes.get(number as usize) else { return };
            let Some(later) = memory.nodes.get(ahead as usize) else { return };
            each(later, slot, value);
            let Some(node) = memory.nodes.get_mut(number as usize) else { return };
            node.serial = node.serial.wrapping_add(1);
            given += 1;
            if number == last {
                // The whole chain becomes free at once.
                node.next = core::mem::replace(&mut self.free, first);
                *list = NONE;
                self.pending = self.pending.wrapping_sub(given as u32);
                return self.near_bits(memory.words).clear_if(true, index);
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
