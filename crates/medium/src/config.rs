//! The configuration of a medium.

use crate::access::Access;
use crate::access::aloha::{Aloha, PureAloha};
use crate::access::csma::{CarrierSense, Csma};
use crate::access::csma_ca::{CsmaCa, Dcf};
use crate::access::csma_cd::{CsmaCd, Parameters};
use crate::access::plca::{Plca, Reconciliation};
use crate::access::slotted_aloha::{Contention, SlottedAloha};
use crate::time::BitRate;
use crate::topology::Topology;
use backoff::Policy;
use std::fmt;
use std::num::NonZeroU32;

/// How stations access the medium, and the method's settings beside the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is one for each medium")]
pub enum Method {
    /// CSMA/CD, by [`Parameters`] alone.
    CsmaCd,
    /// Slotted ALOHA; of [`Parameters`] only the frame sizes count.
    SlottedAloha(SlottedAloha),
    /// Pure ALOHA; of [`Parameters`] only the frame sizes count.
    Aloha(Aloha),
    /// CSMA without collision detection; of [`Parameters`] only the frame sizes count.
    Csma(Csma),
    /// IEEE 802.11 DCF; of [`Parameters`] only the frame sizes count.
    CsmaCa(CsmaCa),
    /// CSMA/CD with PLCA below it (802.3, clause 148), for 10BASE-T1S.
    Plca(Plca),
}

/// Everything a [`Medium`](crate::Medium) is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bits per second. The engine itself counts bit times only; the rate is for callers that convert.
    pub rate: BitRate,
    /// The places of the stations.
    pub topology: Topology,
    /// The access method.
    pub method: Method,
    /// Timing and limits of 802.3.
    pub parameters: Parameters,
    /// Of CSMA/CD: the slots of slotTime to wait after the n-th collision; each is
    /// [`SlottedAloha::SLOT`](crate::SlottedAloha::SLOT) to the policy, whose time limit is not used. `None`: truncated
    /// binary exponential backoff up to backoffLimit (802.3, 4.2.3.2.5).
    pub backoff: Option<Policy>,
    /// Frames that a station's transmit queue holds, the one being sent included.
    pub queue_limit: usize,
    /// The source of every random draw, one stream a station.
    pub seed: u64,
    /// Keep events for [`Medium::poll_event`](crate::Medium::poll_event). The tally works without them.
    pub keep_events: bool,
    /// Keep outputs for [`Medium::poll_output`](crate::Medium::poll_output).
    pub keep_outputs: bool,
}

impl Config {
    /// The most stations on one medium (802.3, 8.1.1.3 for 10 Mb/s; also 13.3).
    pub const MAX_STATIONS: usize = 1024;
    /// The default capacity of a transmit queue, in frames.
    pub const DEFAULT_QUEUE_LIMIT: usize = 100;

    /// The standard's parameters at `rate` over `topology`, events and outputs kept.
    pub const fn new(rate: BitRate, topology: Topology, seed: u64) -> Config {
        Config {
            rate,
            topology,
            method: Method::CsmaCd,
            parameters: Parameters::at(rate),
            backoff: None,
            queue_limit: Config::DEFAULT_QUEUE_LIMIT,
            seed,
            keep_events: true,
            keep_outputs: true,
        }
    }

    /// Checks every value against its range.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let stations = self.topology.stations();
        let rules = [
            (1..=Config::MAX_STATIONS).contains(&stations).then_some(()).ok_or(ConfigError::Stations { stations }),
            rule(self.topology.fits(), "distance", "at most 2^31 BT"),
            rule(self.queue_limit > 0, "queue_limit", "at least 1 frame"),
        ];
        rules.into_iter().collect::<Result<(), ConfigError>>()?;
        match &self.method {
            Method::CsmaCd => CsmaCd::check(self),
            Method::SlottedAloha(_) => Contention::check(self),
            Method::Aloha(_) => PureAloha::check(self),
            Method::Csma(_) => CarrierSense::check(self),
            Method::CsmaCa(_) => Dcf::check(self),
            Method::Plca(_) => Reconciliation::check(self),
        }
    }

    /// The number of a frame's last attempt; `None`: no limit.
    pub fn attempt_limit(&self) -> Option<NonZeroU32> {
        match &self.method {
            Method::CsmaCd | Method::Plca(_) => Some(self.parameters.attempt_limit),
            Method::SlottedAloha(own) => own.attempt_limit,
            Method::Aloha(own) => own.attempt_limit,
            Method::Csma(own) => own.attempt_limit,
            Method::CsmaCa(own) => own.attempt_limit(),
        }
    }
}

pub(crate) fn in_range(bits: u64) -> bool {
    (1..=1 << 31).contains(&bits)
}

pub(crate) fn rule(holds: bool, parameter: &'static str, allowed: &'static str) -> Result<(), ConfigError> {
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
                write!(f, "a medium with {stations} stations: 802.3 allows 1 to {} of them", Config::MAX_STATIONS)
            }
            ConfigError::Parameter { parameter, allowed } => write!(f, "{parameter} is out of range: {allowed}"),
        }
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::BitTimes;

    #[test]
    fn the_standard_allows_1_to_1024_stations() {
        let check = |stations| Config::new(BitRate::MBIT_10, Topology::star(stations, 0), 1).check();
        assert_eq!(check(0), Err(ConfigError::Stations { stations: 0 }));
        assert_eq!(check(1), Ok(()));
        assert_eq!(check(1024), Ok(()));
        assert_eq!(check(2000), Err(ConfigError::Stations { stations: 2000 }));
    }

    #[test]
    fn part_1_takes_two_thirds_of_the_gap_at_most() {
        let mut config = Config::new(BitRate::MBIT_10, Topology::star(2, 0), 1);
        config.parameters.inter_packet_gap_part_1 = BitTimes::new(65);
        let error = config.check().expect_err("65 of 96 is too long");
        assert_eq!(
            error.to_string(),
            "inter_packet_gap_part_1 is out of range: at most two thirds of inter_packet_gap"
        );
    }
}
