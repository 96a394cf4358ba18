//! What several kinds of figures are computed with.

use crate::signal::PREAMBLE_AND_SFD;

/// Addresses, type and FCS, in octets.
pub const HEADER_AND_FCS: u64 = medium::HEADER_AND_FCS.get() as u64;
/// The gap that utilization counts, in bits.
const GAP: u64 = 96;

/// Whether a figure that was told is one's own.
pub fn is_same(told: f64, own: f64) -> bool {
    (told - own).abs() <= 1e-9 * own.abs().max(1.0)
}

/// A part of a whole; `None` of nothing.
pub fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// The names of the utilizations, and the bits that each counts beside those of a frame.
pub const UTILIZATIONS: [(&str, f64); 4] = [
    ("utilization_frame", 0.0),
    ("utilization_wire", PREAMBLE_AND_SFD as f64),
    ("utilization_total", (PREAMBLE_AND_SFD + GAP) as f64),
    ("utilization_payload", -8.0 * HEADER_AND_FCS as f64),
];

/// A utilization by its name: the part of `span` that `frames` of `bits` in all take, with what it counts beside each.
pub fn utilization(name: &str, bits: u64, frames: u64, span: f64) -> Option<f64> {
    let (_, more) = UTILIZATIONS.iter().find(|(own, _)| *own == name)?;
    Some((bits as f64 + more * frames as f64) / span)
}
