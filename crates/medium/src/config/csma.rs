//! The settings of CSMA without collision detection.

use super::aloha::Population;
use super::capture::Capture;
use super::error::{ConfigError, in_range, rule};
use super::parameters::Parameters;
use super::slotted_aloha::SlottedAloha;
use crate::frame::packet;
use crate::time::{BitTimes, Octets};
use crate::topology::Topology;
use backoff::Policy;
use std::num::NonZeroU32;

/// What CSMA needs beside the frame sizes of [`Parameters`](crate::Parameters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csma {
    /// What a sender does when it finds the line busy or silent.
    pub persistence: Persistence,
    /// A frame time: the slot of the policy, and the unit of `ack_delay`.
    pub slot: BitTimes,
    /// After how many frame times beyond a round trip a sender knows the fate of a frame.
    pub ack_delay: u32,
    /// Whether a sender waits as long to learn that its frame arrived, and holds its station's next frame until then.
    /// Otherwise only the news of a failure is delayed, as in Lam's chain: after a success the station may send at once.
    pub holds_sender: bool,
    /// How many frame times to wait after the n-th failure; each is [`SlottedAloha::SLOT`]
    /// to the policy. A failure is an attempt that did not arrive, or giving way to another sender. The attempt limit
    /// and the time limit of the policy are not used.
    pub backoff: Policy,
    /// A frame survives weaker ones that it meets; `None`: an overlap spoils it.
    pub capture: Option<Capture>,
    /// Attempts per frame, the first included; `None`: without limit.
    pub attempt_limit: Option<NonZeroU32>,
    /// The senders.
    pub population: Population,
}

/// What a sender does when it finds the line busy or silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Busy: waits for silence, then sends. Silent: sends.
    One,
    /// Busy: gives way, and looks again after a backoff. Silent: sends.
    Non,
    /// Busy: waits for silence. Silent: sends in each slot of the line with this probability in millionths, 1 to
    /// 1,000,000; if a signal comes before, it gives way.
    Millionths(u32),
}

/// The millionths of certainty.
pub(crate) const CERTAIN: u32 = 1_000_000;

impl Csma {
    /// 1-persistent, a frame of `size` octets as the frame time; retransmission after 0 to 19 frame times, fate known
    /// after a round trip, 16 attempts as in 802.3, and the stations as senders.
    pub fn new(size: Octets) -> Csma {
        Csma {
            persistence: Persistence::One,
            slot: packet(size),
            ack_delay: 0,
            holds_sender: true,
            backoff: Policy::aloha_uniform(SlottedAloha::SLOT, 20),
            capture: None,
            attempt_limit: NonZeroU32::new(16),
            population: Population::Stations,
        }
    }

    /// Checks every value against its range.
    pub(super) fn check(&self, parameters: &Parameters, topology: &Topology) -> Result<(), ConfigError> {
        self.capture.as_ref().map_or(Ok(()), |capture| capture.check(topology))?;
        let probable = match self.persistence {
            Persistence::One | Persistence::Non => true,
            Persistence::Millionths(millionths) => (1..=CERTAIN).contains(&millionths),
        };
        rule(in_range(self.slot.get()), "slot", "1 to 2^31 BT")?;
        rule(parameters.inter_packet_gap > BitTimes::ZERO, "inter_packet_gap", "at least 1 BT")?;
        rule(probable, "persistence", "a chance of 0.000001 to 1")
    }
}
