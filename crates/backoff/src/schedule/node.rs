//! The place of one value, pending or free, and the lists of such places. 32 octets where the value has eight.
//!
//! The values of a list are a ring: a list is known by its last value, whose next one is the first.

use core::hint::select_unpredictable;

/// No node: a list without values, and what is before the first value of a list.
pub(super) const NONE: u32 = u32::MAX;
/// In [`Node::parent`]: the value is in the tree.
pub(super) const IN_TREE: u32 = 1 << 31;

/// A value that is pending, or a free place for one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Node<V> {
    pub(super) value: V,
    pub(super) slot: u64,
    /// Odd while the value is pending; grows by one with each insertion and each removal.
    pub(super) serial: u32,
    /// In a list the next value, and after the last one the first; of a free node the next free one. In the tree the left
    /// child.
    pub(super) next: u32,
    /// In a list the value before it; in the tree the right child.
    pub(super) previous: u32,
    /// In the tree the parent and [`IN_TREE`]; else 0.
    pub(super) parent: u32,
}

impl<V> Node<V> {
    /// One without a value, `value` being anything. `serial` is even.
    #[inline]
    pub(super) const fn free(value: V, serial: u32, next: u32) -> Node<V> {
        Node { value, slot: 0, serial, next, previous: NONE, parent: 0 }
    }

    /// Whether a pending value is in the tree.
    #[inline(always)]
    pub(super) const fn is_in_tree(&self) -> bool {
        self.parent & IN_TREE != 0
    }
}

/// Puts a node behind the last one of a list, which changes.
#[inline(always)]
pub(super) fn push<V>(nodes: &mut [Node<V>], list: &mut u32, number: u32) {
    let last = core::mem::replace(list, number);
    let Some(node) = nodes.get_mut(number as usize) else { return };
    (node.next, node.previous) = (number, last);
    // Behind itself, where the list is empty. As a number, because that is as random as the slot.
    let before = select_unpredictable(last == NONE, number, last);
    let Some(node) = nodes.get_mut(before as usize) else { return };
    let first = core::mem::replace(&mut node.next, number);
    if let Some(node) = nodes.get_mut(number as usize) {
        node.next = first;
    }
}

/// Takes a node out of its list; gives whether the list is empty now.
#[inline(always)]
pub(super) fn remove<V>(nodes: &mut [Node<V>], list: &mut u32, number: u32, next: u32, previous: u32) -> bool {
    let last = *list;
    // As numbers, not as branches: which of its list a value is, is as random as what is cancelled. Of a value that is alone
    // all of this writes to its own node, and leaves the list empty.
    let (is_first, is_last) = (previous == NONE, last == number);
    *list = select_unpredictable(is_last, previous, last);
    let before = select_unpredictable(is_first, last, previous);
    if let Some(node) = nodes.get_mut(before as usize) {
        node.next = next;
    }
    let behind = select_unpredictable(is_last, number, next);
    if let Some(node) = nodes.get_mut(behind as usize) {
        node.previous = previous;
    }
    is_first & is_last
}

const _: () = assert!(size_of::<Node<u64>>() == 32);
