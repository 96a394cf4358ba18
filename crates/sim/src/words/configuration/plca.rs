//! PLCA's part of a configuration in writing.

use super::{bit_times, is_so, yes};
use medium::{BitTimes, HostDelay, MacPhy, Plca, PlcaNode, PlcaSettings};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Plca", deny_unknown_fields)]
pub(super) struct PlcaMirror {
    #[serde(with = "plca_nodes")]
    nodes: Vec<PlcaNode>,
    #[serde(rename = "beacon_bt", with = "bit_times")]
    beacon: BitTimes,
    #[serde(rename = "beacon_detection_bt", with = "bit_times")]
    beacon_detection: BitTimes,
    #[serde(rename = "invalid_beacon_bt", with = "bit_times")]
    invalid_beacon: BitTimes,
    #[serde(rename = "commit_bt", with = "bit_times")]
    commit: BitTimes,
    #[serde(rename = "pending_bt", with = "bit_times")]
    pending: BitTimes,
    #[serde(rename = "status_bt", with = "bit_times")]
    status: BitTimes,
    #[serde(rename = "delay_line_bt", with = "bit_times")]
    delay_line: BitTimes,
    #[serde(rename = "end_delimiter_bt", with = "bit_times")]
    end_delimiter: BitTimes,
    #[serde(rename = "phy_on_bt", with = "bit_times")]
    phy_on: BitTimes,
    #[serde(rename = "phy_off_bt", with = "bit_times")]
    phy_off: BitTimes,
    /// Left out of older files, whose nodes began so.
    #[serde(default = "yes", skip_serializing_if = "is_so")]
    cold_start: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(remote = "PlcaNode", deny_unknown_fields)]
struct PlcaNodeMirror {
    settings: PlcaSettings,
    more_ids: [u8; 8],
    collision_detection: bool,
    heeds_logical_collisions: bool,
    #[serde(rename = "host_delay_bt", with = "host_delay")]
    host_delay: HostDelay,
    /// Left out without one: files of before have none.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "macphy")]
    macphy: Option<MacPhy>,
    #[serde(default, skip_serializing_if = "is_none")]
    skipped_turns: u8,
    #[serde(default, skip_serializing_if = "is_right")]
    clock_ppm: i32,
}

/// A chip that skips no turns is not written down: files of before have none.
fn is_none(turns: &u8) -> bool {
    *turns == 0
}

/// A clock that is right is not written down: files of before have none.
fn is_right(ppm: &i32) -> bool {
    *ppm == 0
}

/// A host delay in bit times: a number, or both ends of a range.
mod host_delay {
    use medium::{BitTimes, HostDelay};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Fixed(u64),
        Range([u64; 2]),
    }

    pub fn serialize<S: Serializer>(delay: &HostDelay, serializer: S) -> Result<S::Ok, S::Error> {
        let (least, most) = (delay.least.get(), delay.most.get());
        let written = if least == most { Written::Fixed(least) } else { Written::Range([least, most]) };
        written.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HostDelay, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Fixed(delay) => HostDelay::fixed(BitTimes::new(delay)),
            Written::Range([least, most]) => HostDelay { least: BitTimes::new(least), most: BitTimes::new(most) },
        })
    }
}

/// A MAC-PHY behind SPI, under the names of its keys.
mod macphy {
    use medium::MacPhy;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(remote = "MacPhy", deny_unknown_fields)]
    struct Mirror {
        #[serde(rename = "spi_clock_hz")]
        clock: u64,
        #[serde(rename = "spi_chunk")]
        chunk: u64,
        #[serde(rename = "spi_transfer")]
        transfer: u64,
        #[serde(rename = "tx_credits")]
        credits: u64,
        #[serde(rename = "tx_threshold")]
        threshold: u64,
        cut_through: Option<u64>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Written(#[serde(with = "Mirror")] MacPhy);

    pub fn serialize<S: Serializer>(macphy: &Option<MacPhy>, serializer: S) -> Result<S::Ok, S::Error> {
        macphy.map(Written).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MacPhy>, D::Error> {
        Ok(Option::<Written>::deserialize(deserializer)?.map(|Written(macphy)| macphy))
    }
}

/// The nodes, one for each station.
mod plca_nodes {
    use super::{PlcaNode, PlcaNodeMirror};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Node(#[serde(with = "PlcaNodeMirror")] PlcaNode);

    pub fn serialize<S: Serializer>(nodes: &[PlcaNode], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(nodes.iter().map(|&node| Node(node)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PlcaNode>, D::Error> {
        Ok(Vec::<Node>::deserialize(deserializer)?.into_iter().map(|Node(node)| node).collect())
    }
}
