//! The values that are in no list: those beyond the blocks, and the older ones of a block that has too many. A search tree by
//! slot whose shape is that of random insertions: of two values the one whose number has the higher rank is nearer to the root.
//! A tree of n values is some 2.8 times log2 n deep, at most.
//!
//! Of equal slots the later insertion is to the right, so the order within a slot is that of insertion.

use super::node::{IN_TREE, NONE, Node};

/// No parent: of the root.
const ROOT: u32 = !IN_TREE;

/// What of a tree is not in the lent memory.
#[repr(C)]
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The first slot; the last of all, where the tree is empty.
    pub(super) slot: u64,
    /// The first value; `NONE`: the tree is empty.
    pub(super) first: u32,
    top: u32,
}

impl Root {
    pub(super) const EMPTY: Root = Root { slot: u64::MAX, first: NONE, top: NONE };
}

/// A tree with its memory.
pub(super) struct Tree<'a, V> {
    pub(super) root: &'a mut Root,
    pub(super) nodes: &'a mut [Node<V>],
}

/// The rank of a node: all are different, and as good as random.
#[inline(always)]
const fn rank(number: u32) -> u32 {
    let mixed = (number ^ number >> 16).wrapping_mul(0x7FEB_352D);
    (mixed ^ mixed >> 15).wrapping_mul(0x846C_A68B)
}

impl<V> Tree<'_, V> {
    /// Puts a node whose slot is set behind all of its slot.
    #[inline(always)]
    pub(super) fn insert(&mut self, number: u32, slot: u64) {
        let (mut parent, mut at, mut is_right) = (ROOT, self.root.top, false);
        while let Some(node) = self.nodes.get(at as usize) {
            (parent, is_right) = (at, slot >= node.slot);
            at = core::hint::select_unpredictable(is_right, node.previous, node.next);
        }
        if self.root.first == NONE || slot < self.root.slot {
            (self.root.slot, self.root.first) = (slot, number);
        }
        if let Some(node) = self.nodes.get_mut(number as usize) {
            (node.next, node.previous, node.parent) = (NONE, NONE, parent | IN_TREE);
        }
        match self.nodes.get_mut(parent as usize) {
            Some(node) if is_right => node.previous = number,
            Some(node) => node.next = number,
            None => self.root.top = number,
        }
        let own = rank(number);
        while parent != ROOT && rank(parent) < own {
            parent = self.lift(number, parent);
        }
    }

    /// Puts a node in the place of its parent, which becomes its child; gives its new parent.
    #[inline(always)]
    fn lift(&mut self, number: u32, parent: u32) -> u32 {
        let Some(&Node { next: left, previous: right, .. }) = self.nodes.get(number as usize) else { return ROOT };
        let Some(node) = self.nodes.get_mut(parent as usize) else { return ROOT };
        let (above, is_left) = (node.parent & !IN_TREE, node.next == number);
        node.parent = number | IN_TREE;
        let moved = if is_left { right } else { left };
        *if is_left { &mut node.next } else { &mut node.previous } = moved;
        self.set_parent(moved, parent);
        if let Some(node) = self.nodes.get_mut(number as usize) {
            *if is_left { &mut node.previous } else { &mut node.next } = parent;
        }
        self.replace(parent, number, above);
        above
    }

    #[inline(always)]
    fn set_parent(&mut self, number: u32, parent: u32) {
        if let Some(node) = self.nodes.get_mut(number as usize) {
            node.parent = parent | IN_TREE;
        }
    }

    /// Puts `child`, or nothing, below `above` in place of `old`.
    #[inline(always)]
    fn replace(&mut self, old: u32, child: u32, above: u32) {
        match self.nodes.get_mut(above as usize) {
            Some(node) if node.next == old => node.next = child,
            Some(node) => node.previous = child,
            None => self.root.top = child,
        }
        self.set_parent(child, above);
    }

    /// Takes a value out.
    #[inline(never)]
    pub(super) fn remove(&mut self, number: u32) {
        let Some(&Node { previous: right, parent, .. }) = self.nodes.get(number as usize) else { return };
        if number == self.root.first {
            // Nothing is to its left: what follows is the leftmost value to its right, or else its parent.
            let mut next = if right == NONE { parent & !IN_TREE } else { right };
            while right != NONE
                && let Some(node) = self.nodes.get(next as usize).filter(|node| node.next != NONE)
            {
                next = node.next;
            }
            self.root.first = if next == ROOT { NONE } else { next };
            self.root.slot = self.nodes.get(next as usize).map_or(u64::MAX, |node| node.slot);
        }
        while let Some(&Node { next: left, previous: right, parent, .. }) = self.nodes.get(number as usize) {
            if left == NONE || right == NONE {
                self.replace(number, if left == NONE { right } else { left }, parent & !IN_TREE);
                break;
            }
            self.lift(if rank(left) < rank(right) { right } else { left }, number);
        }
        if let Some(node) = self.nodes.get_mut(number as usize) {
            node.parent = 0;
        }
    }
}
