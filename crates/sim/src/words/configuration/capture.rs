//! Radio capture, as it is written down.

use medium::Capture;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Capture", deny_unknown_fields)]
struct CaptureMirror {
    #[serde(rename = "threshold_hundredths_db")]
    threshold: u32,
    #[serde(rename = "exponent_hundredths")]
    exponent: u32,
    #[serde(rename = "positions_mm")]
    positions: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct Mirror(#[serde(with = "CaptureMirror")] Capture);

pub(super) fn serialize<S: Serializer>(capture: &Option<Capture>, serializer: S) -> Result<S::Ok, S::Error> {
    capture.clone().map(Mirror).serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Capture>, D::Error> {
    Ok(Option::<Mirror>::deserialize(deserializer)?.map(|Mirror(capture)| capture))
}
