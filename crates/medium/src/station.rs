//! A station: its transmit queue, whether it is on the medium, its fault, and its MAC.

use crate::fault::Fault;
use crate::frame::{FrameId, Queued, StationId};
use std::collections::VecDeque;

/// A station whose access method keeps the state `M` for it.
#[derive(Debug)]
pub(crate) struct Station<M> {
    pub id: StationId,
    pub attached: bool,
    pub fault: Option<Fault>,
    pub queue: VecDeque<Queued>,
    /// Frames that the method has taken out of the queue and has not finished.
    pub held: usize,
    /// Frames offered so far.
    pub serial: u64,
    pub mac: M,
}

impl<M> Station<M> {
    pub fn new(id: StationId, mac: M) -> Station<M> {
        Station { id, attached: true, fault: None, queue: VecDeque::new(), held: 0, serial: 0, mac }
    }

    /// The frame at the head of the queue.
    pub fn head(&self) -> &Queued {
        self.queue.front().expect("a station that is at a frame has one at the head of its queue")
    }

    /// The name of the frame at the head of the queue.
    pub fn frame(&self) -> FrameId {
        FrameId { station: self.id, serial: self.head().serial }
    }

    /// The number of frames that the medium has not finished.
    pub fn queued(&self) -> usize {
        self.queue.len() + self.held
    }
}
