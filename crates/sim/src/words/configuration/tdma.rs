//! The mirror of TDMA's settings.

use super::bit_times;
use medium::{BitTimes, StationId, Tdma};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

#[derive(Serialize, Deserialize)]
#[serde(remote = "Tdma", deny_unknown_fields)]
pub(super) struct TdmaMirror {
    #[serde(rename = "slot_bt", with = "bit_times")]
    slot: BitTimes,
    #[serde(rename = "guard_bt", with = "bit_times")]
    guard: BitTimes,
    #[serde(rename = "slots", with = "stations")]
    owners: Vec<StationId>,
    #[serde(rename = "ack_delay_slots")]
    ack_delay: u32,
    attempt_limit: Option<NonZeroU32>,
}

/// Stations as a list of their numbers, from 0.
mod stations {
    use medium::StationId;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(stations: &[StationId], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(stations.iter().map(|station| station.index()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<StationId>, D::Error> {
        Vec::<u16>::deserialize(deserializer).map(|list| list.into_iter().map(StationId::new).collect())
    }
}
