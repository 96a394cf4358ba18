//! What is wrong with a configuration, and how the settings of every method check their ranges.

use crate::time::BitTimes;
use std::fmt;

/// The most stations on one medium (802.3, 8.1.1.3 for 10 Mb/s; also 13.3).
pub(super) const MAX_STATIONS: usize = 1024;

/// Whether a span is within the range that the engine allows.
pub(super) fn in_range(bits: u64) -> bool {
    (1..=1 << 31).contains(&bits)
}

/// An error that names `parameter` and what is `allowed`, unless the rule `holds`.
pub(super) fn rule(holds: bool, parameter: &'static str, allowed: &'static str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::Parameter { parameter, allowed }) }
}

/// Why a configuration makes no medium.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// No station, or more than 802.3 allows.
    Stations {
        /// The number asked for.
        stations: usize,
    },
    /// A parameter is out of its range.
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// The allowed values.
        allowed: &'static str,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Stations { stations } => {
                write!(f, "a medium with {stations} stations: 802.3 allows 1 to {} of them", MAX_STATIONS)
            }
            ConfigError::Parameter { parameter, allowed } => write!(f, "{parameter} is out of range: {allowed}"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Why a station cannot join at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeatError {
    /// A star's stations share a hub.
    NoCable,
    /// The method's stations keep the places that they have from the beginning.
    Method,
    /// Every place on the segment is too far from some station, or there is no such segment.
    Segment {
        /// The segment.
        segment: usize,
    },
    /// Some station would be farther away than planned.
    Place {
        /// The given value.
        position: BitTimes,
        /// The lowest place.
        lowest: BitTimes,
        /// The highest place.
        highest: BitTimes,
    },
}

impl fmt::Display for SeatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeatError::NoCable => write!(f, "a star has no places: leave it out, or use a bus or segments"),
            SeatError::Method => write!(
                f,
                "with PLCA and CSMA/CA a station that joins is where its seat is: leave it out, or have it join by an `[[at]]` section"
            ),
            SeatError::Segment { segment } => write!(
                f,
                "segment {segment} has no place from which no station is farther away than planned: have a station there from the beginning"
            ),
            SeatError::Place { position, lowest, highest } => write!(
                f,
                "{position} is beyond the outermost stations, which the medium's delays are planned for: the lowest place is {lowest}, the highest {highest}"
            ),
        }
    }
}

impl std::error::Error for SeatError {}
