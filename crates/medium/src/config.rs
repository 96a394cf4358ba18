//! The configuration of a medium: what all methods share, and in `config/*` the settings of each method.
//!
//! Knows stations, frames, bit times and lines. Nothing here knows how a method works.

mod aloha;
mod capture;
mod csma;
mod csma_ca;
mod error;
mod macphy;
mod parameters;
mod phy;
mod plca;
mod slotted_aloha;
mod station_clock;
mod tdma;

pub use aloha::{Aloha, Population};
pub use capture::Capture;
pub(crate) use csma::CERTAIN;
pub use csma::{Csma, Persistence};
pub use csma_ca::{CsmaCa, Reach};
pub use error::{ConfigError, SeatError};
pub use macphy::MacPhy;
pub use parameters::Parameters;
pub use phy::{OfdmRate, Phy, Spans};
pub use plca::{HostDelay, Plca, PlcaNode, PlcaSettings};
pub use slotted_aloha::{Control, ControlLimits, SlottedAloha};
pub use station_clock::Clock;
pub use tdma::Tdma;

use crate::frame::{Addressed, Destination, StationId};
use crate::time::{BitRate, BitTimes};
use crate::topology::Topology;
use crate::topology::segments::Place;
use backoff::Policy;
use error::rule;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

/// How stations access the medium, and the method's settings beside the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is one for each medium")]
pub enum Method {
    /// CSMA/CD, by [`Parameters`] alone.
    CsmaCd,
    /// Slotted ALOHA; of [`Parameters`] only the frame sizes count.
    SlottedAloha(SlottedAloha),
    /// TDMA; of [`Parameters`] only the frame sizes count.
    Tdma(Tdma),
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
    /// The last stations are ports of bridges, which receive every frame: for each, the frames that its transmit queue
    /// holds.
    pub ports: Vec<usize>,
    /// The number of free seats: the last stations of the topology, which are off the medium until they are attached.
    pub seats: usize,
    /// By how many parts per million the clock of each station is fast, in order of number; those of further stations are
    /// right.
    pub clocks_ppm: Vec<i32>,
    /// The source of every random draw, one stream a station.
    pub seed: u64,
    /// Keep events for [`Medium::poll_event`](crate::Medium::poll_event). The tally works without them.
    pub keep_events: bool,
    /// Keep outputs for [`Medium::poll_output`](crate::Medium::poll_output).
    pub keep_outputs: bool,
}

impl Config {
    /// The most stations on one medium (802.3, 8.1.1.3 for 10 Mb/s; also 13.3).
    pub const MAX_STATIONS: usize = error::MAX_STATIONS;
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
            ports: Vec::new(),
            seats: 0,
            clocks_ppm: Vec::new(),
            seed,
            keep_events: true,
            keep_outputs: true,
        }
    }

    /// The places on a segment at which a station can join, if it is not to be where its seat is.
    ///
    /// When deliveries are settled depends on how far the farthest station is from each sender, and that is planned as the
    /// medium is made. From each of these places, no station is farther than planned.
    ///
    /// # Errors
    /// No place can be chosen, and why.
    pub fn places(&self, segment: usize) -> Result<RangeInclusive<BitTimes>, SeatError> {
        match self.method {
            Method::Plca(_) | Method::CsmaCa(_) => return Err(SeatError::Method),
            Method::CsmaCd | Method::SlottedAloha(_) | Method::Tdma(_) | Method::Aloha(_) | Method::Csma(_) => {}
        }
        match self.topology {
            Topology::Star { .. } => Err(SeatError::NoCable),
            Topology::Bus { .. } | Topology::Segments(_) => {
                self.topology.within_reach(segment).ok_or(SeatError::Segment { segment })
            }
        }
    }

    /// Checks that a station can join at `place`.
    ///
    /// # Errors
    /// As [`Config::places`]; a place that is none of them.
    pub fn check_place(&self, place: Place) -> Result<(), SeatError> {
        let places = self.places(place.segment)?;
        if places.contains(&place.position) {
            return Ok(());
        }
        Err(SeatError::Place { position: place.position, lowest: *places.start(), highest: *places.end() })
    }

    /// Takes in that a station joins at a place of its own; whether it does.
    pub fn take_place(&mut self, station: StationId, place: Place) -> bool {
        let placed = self.topology.with_place(station, place).ok().flatten();
        placed.map(|placed| self.topology = placed).is_some()
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
            rule(self.seats <= stations, "seats", "at most the number of stations"),
            rule(self.are_clocks_right(), "clock", "-100000 to 100000 ppm, for each station at most once"),
            rule(
                self.are_ports_right(),
                "ports",
                "of CSMA/CD with or without PLCA, at most the stations, and no seats",
            ),
        ];
        rules.into_iter().collect::<Result<(), ConfigError>>()?;
        let Config { parameters, topology, .. } = self;
        let is_steady = topology.jitter() == BitTimes::ZERO || self.method == Method::CsmaCd;
        rule(is_steady, "jitter", "0 BT with PLCA, and with every access method but CSMA/CD")?;
        let shares_slots = matches!(&self.method, Method::SlottedAloha(own) if own.control.is_some());
        rule(!(shares_slots && self.has_wrong_clocks()), "clock", "0 ppm with control, which needs slots in common")?;
        match &self.method {
            Method::CsmaCd => parameters.check(topology),
            Method::SlottedAloha(own) => own.check(parameters, topology),
            Method::Tdma(own) => own.check(parameters, topology),
            Method::Aloha(own) => own.check(topology),
            Method::Csma(own) => own.check(parameters, topology),
            Method::CsmaCa(own) => own.check(self.rate, topology),
            Method::Plca(own) => {
                parameters.check(topology)?;
                own.check(self.rate, parameters, stations)
            }
        }
    }

    fn are_ports_right(&self) -> bool {
        let is_ethernet = matches!(self.method, Method::CsmaCd | Method::Plca(_));
        let fit = self.ports.len() <= self.topology.stations() && self.ports.iter().all(|limit| *limit > 0);
        self.ports.is_empty() || (is_ethernet && fit && self.seats == 0)
    }

    fn are_clocks_right(&self) -> bool {
        let are_allowed = self.clocks_ppm.iter().all(|ppm| Clock::new(*ppm).is_allowed());
        are_allowed && self.clocks_ppm.len() <= self.topology.stations()
    }

    /// The clock of `station`.
    #[inline]
    pub fn clock(&self, station: StationId) -> Clock {
        self.clocks_ppm.get(station.index()).map_or(Clock::RIGHT, |ppm| Clock::new(*ppm))
    }

    /// The clock of some station is off.
    pub fn has_wrong_clocks(&self) -> bool {
        self.clocks_ppm.iter().any(|ppm| *ppm != 0)
    }

    /// At most how long the inter-packet gap of any station lasts.
    pub fn longest_gap(&self) -> BitTimes {
        self.slowest_clock().longest(self.parameters.inter_packet_gap)
    }

    /// The clock by which timers last longest: that of the slowest station, or one that is right.
    pub(crate) fn slowest_clock(&self) -> Clock {
        Clock::new(self.clocks_ppm.iter().copied().min().unwrap_or(0).min(0))
    }

    /// The stations that are ports of bridges.
    pub fn port_stations(&self) -> impl DoubleEndedIterator<Item = StationId> + use<> {
        let stations = self.topology.stations();
        (stations - self.ports.len()..stations).map(|port| StationId::new(port as u16))
    }

    /// A frame for `to` on this medium.
    #[inline]
    pub(crate) fn addressed(&self, to: Destination) -> Addressed {
        if self.ports.is_empty() {
            return Addressed::new(to, (0, 0));
        }
        let stations = self.topology.stations() as u16;
        Addressed::new(to, (stations - self.ports.len() as u16, stations))
    }

    /// The frames that the queue of `station` holds, if it is a port.
    #[inline]
    pub(crate) fn queue_of_port(&self, station: StationId) -> Option<usize> {
        if self.ports.is_empty() {
            return None;
        }
        let first = self.topology.stations() - self.ports.len();
        self.ports.get(station.index().checked_sub(first)?).copied()
    }

    /// When a frame survives those that it meets; `None`: never.
    pub fn capture(&self) -> Option<&Capture> {
        match &self.method {
            Method::CsmaCd | Method::Plca(_) | Method::Tdma(_) => None,
            Method::SlottedAloha(own) => own.capture.as_ref(),
            Method::Aloha(own) => own.capture.as_ref(),
            Method::Csma(own) => own.capture.as_ref(),
            Method::CsmaCa(own) => own.capture.as_ref(),
        }
    }

    /// Whether `station` is a seat: off the medium until it is attached.
    pub fn is_seat(&self, station: StationId) -> bool {
        station.index() >= self.topology.stations() - self.seats
    }

    /// The number of a frame's last attempt; `None`: no limit.
    pub fn attempt_limit(&self) -> Option<NonZeroU32> {
        match &self.method {
            Method::CsmaCd | Method::Plca(_) => Some(self.parameters.attempt_limit),
            Method::SlottedAloha(own) => own.attempt_limit,
            Method::Tdma(own) => own.attempt_limit,
            Method::Aloha(own) => own.attempt_limit,
            Method::Csma(own) => own.attempt_limit,
            Method::CsmaCa(own) => own.attempt_limit(),
        }
    }
}

/// The part of the configuration that a method's engine is made from.
impl Config {
    /// The settings of slotted ALOHA, whose medium this is.
    pub(crate) fn slotted_aloha(&self) -> &SlottedAloha {
        let Method::SlottedAloha(own) = &self.method else {
            panic!("a medium of slotted ALOHA with another method's settings")
        };
        own
    }

    /// The settings of TDMA, whose medium this is.
    pub(crate) fn tdma(&self) -> &Tdma {
        let Method::Tdma(own) = &self.method else { panic!("a medium of TDMA with another method's settings") };
        own
    }

    /// The settings of ALOHA, whose medium this is.
    pub(crate) fn aloha(&self) -> &Aloha {
        let Method::Aloha(own) = &self.method else { panic!("a medium of ALOHA with another method's settings") };
        own
    }

    /// The settings of CSMA, whose medium this is.
    pub(crate) fn csma(&self) -> &Csma {
        let Method::Csma(own) = &self.method else { panic!("a medium of CSMA with another method's settings") };
        own
    }

    /// The settings of CSMA/CA, whose medium this is.
    pub(crate) fn csma_ca(&self) -> &CsmaCa {
        let Method::CsmaCa(own) = &self.method else { panic!("a medium of CSMA/CA with another method's settings") };
        own
    }

    /// The settings of PLCA, whose medium this is.
    pub(crate) fn plca(&self) -> &Plca {
        let Method::Plca(own) = &self.method else { panic!("a medium of PLCA with another method's settings") };
        own
    }
}

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
