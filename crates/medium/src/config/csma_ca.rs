//! The settings of CSMA/CA, and which stations are hidden from each other.

use super::capture::Capture;
use super::error::{ConfigError, rule};
use super::phy::Phy;
use crate::frame::StationId;
use crate::time::{BitRate, BitTimes, Octets};
use crate::topology::Topology;
use std::num::NonZeroU32;

/// The largest window: that of a counter of 16 bits.
const MOST_WINDOW: u32 = 1 << 16;

/// What CSMA/CA needs beside the frame sizes of [`Parameters`](crate::Parameters). The rate of the medium is the
/// layer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsmaCa {
    /// The lengths of signals and pauses.
    pub phy: Phy,
    /// RTS and CTS precede each frame that is for one station.
    pub rts: bool,
    /// CWmin + 1: the number of values that the first draw of a frame chooses from.
    pub window: u32,
    /// CWmax + 1: the largest number of values that a draw chooses from.
    pub most_window: u32,
    /// The limit of attempts of a frame that get no CTS, or, without RTS, no ACK (dot11ShortRetryLimit).
    pub short_retry_limit: NonZeroU32,
    /// The limit of attempts of a frame that get a CTS and no ACK (dot11LongRetryLimit).
    pub long_retry_limit: NonZeroU32,
    /// Which stations are hidden from each other; `None`: no station is hidden.
    pub reach: Option<Reach>,
    /// A signal survives weaker ones that it meets within the range; `None`: an overlap spoils it.
    pub capture: Option<Capture>,
    /// A frame time, for rules that count in frame times: the duration of the longest frame offered.
    pub frame_time: BitTimes,
}

impl CsmaCa {
    /// The standard's windows and retry limits for `phy`, no RTS, all stations in range, and a frame of `size` octets
    /// as the frame time.
    pub fn new(phy: Phy, size: Octets) -> CsmaCa {
        let (window, most_window) = phy.window();
        CsmaCa {
            phy,
            rts: false,
            window,
            most_window,
            short_retry_limit: NonZeroU32::new(7).expect("above zero"),
            long_retry_limit: NonZeroU32::new(4).expect("above zero"),
            reach: None,
            capture: None,
            frame_time: phy.frame_time(size),
        }
    }

    /// The most attempts that a frame can have.
    pub(crate) fn attempt_limit(&self) -> Option<NonZeroU32> {
        let long = if self.rts { self.long_retry_limit.get() - 1 } else { 0 };
        NonZeroU32::new(self.short_retry_limit.get().saturating_add(long))
    }

    /// The longest way between two stations in range.
    fn longest_heard(&self, topology: &Topology) -> BitTimes {
        let Some(reach) = &self.reach else { return BitTimes::new(topology.round_trip().get() / 2) };
        let all = || (0..topology.stations() as u16).map(StationId::new);
        let pairs = all().flat_map(|a| all().map(move |b| (a, b))).filter(|&(a, b)| reach.joins(a, b));
        pairs.map(|(a, b)| topology.distance(a, b)).max().unwrap_or(BitTimes::ZERO)
    }

    /// Checks every value against its range.
    pub(super) fn check(&self, rate: BitRate, topology: &Topology) -> Result<(), ConfigError> {
        let CsmaCa { phy, window, most_window, reach, capture, .. } = self;
        capture.as_ref().map_or(Ok(()), |capture| capture.check(topology))?;
        let placed = reach.as_ref().is_none_or(|reach| reach.positions.len() == topology.stations());
        rule(placed, "reach", "a position for each station")?;
        rule(rate == phy.rate(), "rate", "that of the physical layer: leave it out, or choose another `phy`")?;
        rule((1..=MOST_WINDOW).contains(window), "window", "1 to 65536 slots")?;
        rule((*window..=MOST_WINDOW).contains(most_window), "window", "the second number is the largest")?;
        // A sender of one slot is heard everywhere in the next, and answers begin in time.
        let heard_in_time = self.longest_heard(topology) * 2 < phy.slot();
        rule(heard_in_time, "distance", "there and back in less than a slot, within the range")
    }
}

/// Which stations hear each other: stations on a line, and the greatest distance at which they hear each other, in a
/// unit of its own.
///
/// Bit times are too coarse: at 1 Mb/s one of them is 300 m.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Stations that are farther apart than this do not hear each other.
    pub range: u64,
    /// Where each station is.
    pub positions: Vec<u64>,
}

impl Reach {
    /// Whether these two hear each other.
    #[inline]
    pub fn joins(&self, a: StationId, b: StationId) -> bool {
        self.positions[a.index()].abs_diff(self.positions[b.index()]) <= self.range
    }

    /// Whether any two do not.
    pub fn hides_some(&self) -> bool {
        let (first, last) = (self.positions.iter().min(), self.positions.iter().max());
        last.zip(first).is_some_and(|(last, first)| last - first > self.range)
    }
}
