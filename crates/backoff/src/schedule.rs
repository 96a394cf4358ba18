//! Who attempts in which slot: a wheel of slots that grows; one of fixed size in memory that the caller lends, whose calls
//! are bounded; and a compact one.
//!
//! All give the values of a slot in the order of their insertion. They must never know what a value means, nor how
//! long a slot lasts.

#[cfg(feature = "alloc")]
extern crate alloc;

mod compact;
#[cfg(feature = "alloc")]
mod far;
mod fixed;
#[cfg(feature = "alloc")]
mod growing;
mod heap;
mod levels;
mod lists;
#[cfg(feature = "alloc")]
mod occupancy;
#[cfg(feature = "alloc")]
mod wheel;

pub use compact::{Compact, CompactMemory, CompactShape, List, Node};
pub use fixed::{Head, Inserted, Memory, Near, Plain, Stop, Work};
#[cfg(feature = "alloc")]
pub use growing::{Due, Schedule};
pub use heap::Waiting;
pub use levels::Shape;
pub use lists::{Chunk, Count, Expired, Handle, Place};

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
