//! What CSMA/CA needs, as it is written down.

use super::bit_times;
use medium::{BitTimes, Capture, CsmaCa, Phy, Reach};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

#[derive(Serialize, Deserialize)]
#[serde(remote = "CsmaCa", deny_unknown_fields)]
pub(super) struct CsmaCaMirror {
    #[serde(with = "phy")]
    phy: Phy,
    rts: bool,
    #[serde(rename = "window_slots")]
    window: u32,
    #[serde(rename = "most_window_slots")]
    most_window: u32,
    short_retry_limit: NonZeroU32,
    long_retry_limit: NonZeroU32,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "reach")]
    reach: Option<Reach>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "super::capture")]
    capture: Option<Capture>,
    #[serde(rename = "frame_time_bt", with = "bit_times")]
    frame_time: BitTimes,
}

/// A physical layer as people write it.
mod phy {
    use crate::words::contention;
    use medium::Phy;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(phy: &Phy, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(phy.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Phy, D::Error> {
        contention::phy(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Who hears whom, in millimetres along a line.
mod reach {
    use medium::Reach;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Mirror {
        range_mm: u64,
        positions_mm: Vec<u64>,
    }

    pub fn serialize<S: Serializer>(reach: &Option<Reach>, serializer: S) -> Result<S::Ok, S::Error> {
        let mirror = |reach: &Reach| Mirror { range_mm: reach.range, positions_mm: reach.positions.clone() };
        reach.as_ref().map(mirror).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Reach>, D::Error> {
        let mirror = Option::<Mirror>::deserialize(deserializer)?;
        Ok(mirror.map(|Mirror { range_mm, positions_mm }| Reach { range: range_mm, positions: positions_mm }))
    }
}
