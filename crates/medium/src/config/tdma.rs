//! The settings of TDMA.

use super::error::{ConfigError, rule};
use super::parameters::Parameters;
use crate::frame::{StationId, packet};
use crate::time::{BitTimes, Octets};
use crate::topology::Topology;
use std::num::NonZeroU32;

/// What TDMA needs beside the frame sizes of [`Parameters`](crate::Parameters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tdma {
    /// How long a slot is, its guard time included.
    pub slot: BitTimes,
    /// The end of each slot in which no sender sends: a signal passes every place before the next slot begins.
    pub guard: BitTimes,
    /// The frame of slots: which station sends in each. It repeats without end.
    pub owners: Vec<StationId>,
    /// R: how many slots after the end of its slot a sender knows that a frame did not arrive.
    pub ack_delay: u32,
    /// Attempts per frame, the first included; `None`: until it arrives.
    pub attempt_limit: Option<NonZeroU32>,
}

impl Tdma {
    /// The most slots of a frame.
    pub const MAX_SLOTS: usize = 65_536;

    /// One slot for each of `stations`, as long as a frame of `size` octets takes to the farthest one; no satellite, no
    /// attempt limit.
    pub fn new(size: Octets, farthest: BitTimes, stations: usize) -> Tdma {
        Tdma {
            slot: packet(size) + farthest,
            guard: farthest,
            owners: (0..stations).map(|number| StationId::new(number as u16)).collect(),
            ack_delay: 0,
            attempt_limit: None,
        }
    }

    /// How long a frame of slots is.
    pub fn frame(&self) -> BitTimes {
        self.slot * self.owners.len() as u64
    }

    /// Checks every value against its range.
    pub(super) fn check(&self, parameters: &Parameters, topology: &Topology) -> Result<(), ConfigError> {
        let (least, stations) = (packet(parameters.min_frame_size).get(), topology.stations());
        let mut has_slot = vec![false; stations];
        let known = self.owners.iter().all(|owner| has_slot.get_mut(owner.index()).is_some_and(set));
        let guards = topology.round_trip().get() / 2..1 << 31;
        rule(guards.contains(&self.guard.get()), "guard", "the farthest way at least; less than 2^31 BT")?;
        rule(
            (least + self.guard.get()..=1 << 31).contains(&self.slot.get()),
            "slot",
            "min_frame_size with preamble, and guard, at least; at most 2^31 BT",
        )?;
        rule(self.owners.len() <= Tdma::MAX_SLOTS, "slots", "at most 65536 slots")?;
        rule(known && has_slot.into_iter().all(|it| it), "slots", "stations of the medium, each at least once")
    }
}

fn set(flag: &mut bool) -> bool {
    *flag = true;
    true
}
