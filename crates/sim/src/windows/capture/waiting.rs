//! What waits before it is in the capture: packets are in order of their first bit, and some are known only at their end.

use super::packets::{OpenRow, Transmission};
use medium::FrameId;

/// An entry that waits for its turn in the capture.
#[derive(Clone, Copy, Debug)]
pub enum Waiting {
    /// A transmission that is not over, or was never one.
    Open,
    /// The draft with this number.
    Draft(usize),
    Nothing,
}

/// A block that waits.
#[derive(Debug, Default)]
pub struct Draft {
    /// Empty, if nothing is to be written after all.
    pub block: Vec<u8>,
    /// Of a collision: its row so far.
    pub collision: Option<Collision>,
}

/// A collision whose sender has not stopped.
#[derive(Clone, Copy, Debug)]
pub struct Collision {
    pub frame: FrameId,
    pub row: OpenRow,
}

/// A transmission that is not over.
#[derive(Debug)]
pub struct Sending {
    pub sent: Transmission,
    /// Which signal.
    pub signal: u64,
    /// Which of those that wait.
    pub number: u64,
    /// Its addressee has received it whole.
    pub arrived: bool,
}
