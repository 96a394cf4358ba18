//! Who attempts in which slot: a wheel of slots that grows, and one of fixed size in borrowed memory.
//!
//! Both give the values of a slot in the order of their insertion. They must never know what a value means, nor how
//! long a slot lasts.

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "alloc")]
mod far;
#[cfg(feature = "alloc")]
mod growing;
mod lists;
#[cfg(feature = "alloc")]
mod occupancy;
#[cfg(feature = "alloc")]
mod wheel;

#[cfg(feature = "alloc")]
pub use growing::{Due, Schedule};
pub use lists::{FixedSchedule, Node};

/// Names a pending value, so that it can be cancelled. It is good until its value has been expired or cancelled, and
/// for 2^31 insertions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// The slot.
    pub slot: u64,
    /// Tells it from others in the slot.
    pub serial: u32,
    /// Where it lies, for the schedule of fixed size.
    pub node: u32,
}
