//! The settings of slotted ALOHA.

use super::aloha::Population;
use super::capture::Capture;
use super::error::{ConfigError, rule};
use super::parameters::Parameters;
use crate::frame::packet;
use crate::time::{BitTimes, Octets};
use crate::topology::Topology;
use backoff::Policy;
use std::num::NonZeroU32;
use std::time::Duration;

/// What slotted ALOHA needs beside the frame sizes of [`Parameters`](crate::Parameters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlottedAloha {
    /// How long a slot is: one frame with its preamble, and the farthest way on the line.
    pub slot: BitTimes,
    /// R: from the end of its slot, after how many slots the sender knows what became of a frame.
    pub ack_delay: u32,
    /// A sender waits as long to learn that its frame arrived, and holds its station's next frame until then. Without it the
    /// delay is that of bad news alone, as in Lam's chain: whose frame arrived may send again at once.
    pub holds_sender: bool,
    /// How many slots to wait after the n-th unsuccessful attempt; of [`SlottedAloha::SLOT`] each. Its attempt limit and
    /// its limit of time are not used.
    pub backoff: Policy,
    /// How stations choose when to send in place of the backoff, which is not used then.
    pub control: Option<Control>,
    /// A frame survives weaker ones in its slot; `None`: two frames in a slot are lost.
    pub capture: Option<Capture>,
    /// Attempts per frame, the first included; `None`: until it gets through.
    pub attempt_limit: Option<NonZeroU32>,
    /// Who sends.
    pub population: Population,
}

/// What a station knows of the number n of frames that wait, and what it does: each of them goes out in a slot with the
/// chance 1/n, or by limits of n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// n itself.
    Known,
    /// Rivest's pseudo-Bayesian estimate, from the idle slots, successes and collisions that all stations hear.
    Estimated {
        /// New frames in a million slots, as the estimate assumes.
        arrivals_millionths: u32,
    },
    /// Control limits: Lam and Kleinrock's procedures.
    Limits(ControlLimits),
}

/// Input control, retransmission control, or both (Lam and Kleinrock 1975), by limits of the number n of frames that
/// collided and are to be sent again. New frames go out in the slot in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlLimits {
    /// New frames in a million slots, as the estimate of n assumes; `None`: stations know n.
    pub arrivals_millionths: Option<u32>,
    /// K: each of the n frames goes out in a slot with the chance 2/(K + 1).
    pub retransmit: u32,
    /// A larger K, and the largest n without it.
    pub longer: Option<(u32, u32)>,
    /// The largest n at which new frames are accepted: above it they are dropped like those of a full queue.
    pub input: Option<u32>,
}

/// Whether an estimate can assume this number of new frames in a million slots.
fn check_arrivals(millionths: u32) -> Result<(), ConfigError> {
    rule((1..1_000_000).contains(&millionths), "control", "0.000001 to 0.999999 new frames a slot")
}

impl ControlLimits {
    /// The largest K and n.
    pub const MOST: u32 = 1_000_000;

    fn check(self) -> Result<(), ConfigError> {
        let ControlLimits { arrivals_millionths, retransmit, longer, input } = self;
        let ks = (1..=Self::MOST).contains(&retransmit)
            && longer.is_none_or(|(k, n)| (retransmit + 1..=Self::MOST).contains(&k) && n <= Self::MOST);
        rule(
            ks && input.is_none_or(|n| n <= Self::MOST),
            "control",
            "K and limits up to 1000000, the second K larger",
        )?;
        arrivals_millionths.map_or(Ok(()), check_arrivals)
    }
}

impl Control {
    /// The estimate for 1/e new frames a slot, the most that slotted ALOHA carries.
    pub const ESTIMATED: Control = Control::Estimated { arrivals_millionths: 367_879 };
}

impl SlottedAloha {
    /// The slot that policies for slotted ALOHA count in: 1 ns, so that their delays are numbers of slots.
    pub const SLOT: Duration = Duration::from_nanos(1);

    /// Slots as long as a frame of `size` octets takes to the farthest station; retransmission in one of the next 20
    /// slots, known at the end of the slot, no attempt limit, and the stations as senders.
    pub fn new(size: Octets, farthest: BitTimes) -> SlottedAloha {
        SlottedAloha {
            slot: packet(size) + farthest,
            ack_delay: 0,
            holds_sender: true,
            backoff: Policy::aloha_uniform(SlottedAloha::SLOT, 20),
            control: None,
            capture: None,
            attempt_limit: None,
            population: Population::Stations,
        }
    }

    /// Checks every value against its range.
    pub(super) fn check(&self, parameters: &Parameters, topology: &Topology) -> Result<(), ConfigError> {
        let farthest = topology.round_trip().get() / 2;
        let least = packet(parameters.min_frame_size).get() + farthest;
        rule(
            (least..=1 << 31).contains(&self.slot.get()),
            "slot",
            "min_frame_size with preamble, and the farthest way, at least; at most 2^31 BT",
        )?;
        self.capture.as_ref().map_or(Ok(()), |capture| capture.check(topology))?;
        let Some(control) = self.control else { return Ok(()) };
        rule(matches!(topology, Topology::Star { .. }), "control", "on a star, where all stations hear the same")?;
        rule(self.ack_delay == 0, "control", "with an ack_delay of 0: stations hear a slot as it ends")?;
        match control {
            Control::Known => Ok(()),
            Control::Estimated { arrivals_millionths } => check_arrivals(arrivals_millionths),
            Control::Limits(limits) => limits.check(),
        }
    }
}
