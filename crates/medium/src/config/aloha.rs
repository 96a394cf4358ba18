//! The settings of pure ALOHA, and who sends on a medium without collision detection.

use super::capture::Capture;
use super::error::{ConfigError, in_range, rule};
use super::slotted_aloha::SlottedAloha;
use crate::frame::packet;
use crate::time::{BitTimes, Octets};
use crate::topology::Topology;
use backoff::Policy;
use std::num::NonZeroU32;

/// Who sends on a medium without collision detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// The stations: each sends one frame after the other, and the others wait in its queue.
    Stations,
    /// Infinitely many users: each frame has one of its own, and goes out whatever became of those before it. The
    /// stations are where they come from and go to; their queues have no limit.
    Infinite,
}

/// What pure ALOHA needs beside the frame sizes of [`Parameters`](crate::Parameters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aloha {
    /// A frame time: what a slot of the policy takes, and a unit of `ack_delay`.
    pub slot: BitTimes,
    /// After how many frame times beyond a round trip a sender knows what became of a frame.
    pub ack_delay: u32,
    /// A sender waits as long to learn that its frame arrived, and holds its station's next frame until then. Without it the
    /// delay is that of bad news alone, as in Lam's chain: whose frame arrived may send again at once.
    pub holds_sender: bool,
    /// How many frame times to wait after the n-th unsuccessful attempt; of
    /// [`SlottedAloha::SLOT`](SlottedAloha::SLOT) each. Its attempt limit and its limit of time are not used.
    pub backoff: Policy,
    /// A frame survives weaker ones that it meets; `None`: an overlap spoils it.
    pub capture: Option<Capture>,
    /// Attempts per frame, the first included; `None`: until it gets through.
    pub attempt_limit: Option<NonZeroU32>,
    /// Who sends.
    pub population: Population,
}

impl Aloha {
    /// A frame of `size` octets as the frame time; retransmission after 0 to 19 frame times, known after a round trip, no
    /// attempt limit, and the stations as senders.
    pub fn new(size: Octets) -> Aloha {
        Aloha {
            slot: packet(size),
            ack_delay: 0,
            holds_sender: true,
            backoff: Policy::aloha_uniform(SlottedAloha::SLOT, 20),
            capture: None,
            attempt_limit: None,
            population: Population::Stations,
        }
    }

    /// Checks every value against its range.
    pub(super) fn check(&self, topology: &Topology) -> Result<(), ConfigError> {
        self.capture.as_ref().map_or(Ok(()), |capture| capture.check(topology))?;
        rule(in_range(self.slot.get()), "slot", "1 to 2^31 BT")
    }
}
