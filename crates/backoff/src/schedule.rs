//! Who attempts in which slot: pending values by slot, in the memory of a Rust program or of a C program.
//!
//! ```text
//! now           2^10 to 2^18 slots later          2^17 to 2^23 slots later           2^64 - 1
//! |  wheel: a list a slot  |  blocks of 32 to 1,024 slots: a list a block |  tree, by slot  |
//! ```
//!
//! A block is dealt out to the wheel when now comes near, one block a call. Its list has 64 values at most: for each one more,
//! the oldest value goes to the tree. So no call moves more than two lists of 64 values, after any calls. A value in the tree
//! stays there. While the wheel is empty, a block of eight values or fewer is not dealt out: the first of them is looked for.
//!
//! The values of a slot in the tree are older than those in its block, and these are older than any that is inserted into the
//! wheel. So the tree comes first, and the order within a slot is that of insertion.
//!
//! A schedule for a few values is a tree alone.
//!
//! The schedule must never know what a value means, nor how long a slot lasts.

mod bits;
#[cfg(feature = "alloc")]
mod growing;
mod node;
mod queue;
mod tree;

#[cfg(feature = "alloc")]
pub use growing::{Due, Schedule};
pub use node::Node;
pub use queue::{Memory, Queue, Shape};

/// Names a pending value, so that it can be cancelled. It is good until its value has been expired or cancelled. A ticket
/// of an earlier life of the memory is refused, and so is one whose value is gone: for 2^31 insertions into its place, or
/// that many schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// The slot.
    pub slot: u64,
    /// Tells it from others in the slot.
    pub serial: u32,
    /// Where it lies.
    pub node: u32,
}
