//! Quantities: instants and spans on the medium, rates and lengths. Holds no clock.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::time::Duration;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// A span of time on the medium, in bit times (BT).
///
/// One BT is one bit at the medium's rate: 100 ns at 10 Mb/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct BitTimes(u64);

impl BitTimes {
    /// An empty span.
    pub const ZERO: BitTimes = BitTimes(0);

    /// A span of `bits` bit times.
    pub const fn new(bits: u64) -> BitTimes {
        BitTimes(bits)
    }

    /// The span as a plain number of bit times.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Real time at `rate`, rounded up to whole nanoseconds: a timer never fires early.
    pub fn at(self, rate: BitRate) -> Duration {
        let nanos = (u128::from(self.0) * NANOS_PER_SECOND).div_ceil(u128::from(rate.0));
        duration_from_nanos(nanos)
    }

    /// The bit times that fit wholly into `span` at `rate`: an input is never stamped late.
    pub fn within(span: Duration, rate: BitRate) -> BitTimes {
        let bits = span.as_nanos() * u128::from(rate.0) / NANOS_PER_SECOND;
        BitTimes(u64::try_from(bits).unwrap_or(u64::MAX))
    }
}

fn duration_from_nanos(nanos: u128) -> Duration {
    let secs = u64::try_from(nanos / NANOS_PER_SECOND).unwrap_or(u64::MAX);
    Duration::new(secs, (nanos % NANOS_PER_SECOND) as u32)
}

impl Add for BitTimes {
    type Output = BitTimes;
    fn add(self, other: BitTimes) -> BitTimes {
        BitTimes(self.0 + other.0)
    }
}

impl AddAssign for BitTimes {
    fn add_assign(&mut self, other: BitTimes) {
        self.0 += other.0;
    }
}

impl Mul<u64> for BitTimes {
    type Output = BitTimes;
    fn mul(self, times: u64) -> BitTimes {
        BitTimes(self.0 * times)
    }
}

impl fmt::Display for BitTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} BT", self.0)
    }
}

/// An instant on the medium: bit times since its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct BitInstant(u64);

impl BitInstant {
    /// The beginning of the medium's time.
    pub const ZERO: BitInstant = BitInstant(0);

    /// The instant `bits` bit times after the beginning.
    pub const fn new(bits: u64) -> BitInstant {
        BitInstant(bits)
    }

    /// Bit times since the beginning, as a plain number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The span from `earlier` to this instant; zero if `earlier` is not earlier.
    pub const fn since(self, earlier: BitInstant) -> BitTimes {
        BitTimes(self.0.saturating_sub(earlier.0))
    }
}

impl Add<BitTimes> for BitInstant {
    type Output = BitInstant;
    fn add(self, span: BitTimes) -> BitInstant {
        BitInstant(self.0 + span.0)
    }
}

impl Sub for BitInstant {
    type Output = BitTimes;
    fn sub(self, earlier: BitInstant) -> BitTimes {
        assert!(earlier <= self, "an instant minus a later one has no span");
        BitTimes(self.0 - earlier.0)
    }
}

impl fmt::Display for BitInstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The medium's rate, in bits per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// 10 Mb/s.
    pub const MBIT_10: BitRate = BitRate(10_000_000);
    /// 100 Mb/s.
    pub const MBIT_100: BitRate = BitRate(100_000_000);
    /// 1000 Mb/s.
    pub const MBIT_1000: BitRate = BitRate(1_000_000_000);

    /// A rate of `bits` per second; `None` for zero.
    pub const fn per_second(bits: u64) -> Option<BitRate> {
        if bits == 0 { None } else { Some(BitRate(bits)) }
    }

    /// Bits per second, as a plain number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            rate if rate.is_multiple_of(1_000_000) => write!(f, "{}Mbit/s", rate / 1_000_000),
            rate if rate.is_multiple_of(1_000) => write!(f, "{}kbit/s", rate / 1_000),
            rate => write!(f, "{rate}bit/s"),
        }
    }
}

/// A length in octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Octets(u32);

impl Octets {
    /// A length of `octets` octets.
    pub const fn new(octets: u32) -> Octets {
        Octets(octets)
    }

    /// The length as a plain number of octets.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The time these octets take on the medium, without preamble and gap.
    pub const fn bit_times(self) -> BitTimes {
        BitTimes(self.0 as u64 * 8)
    }
}

impl fmt::Display for Octets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} octets", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slot_at_10_mbit_is_51_200_ns() {
        assert_eq!(BitTimes::new(512).at(BitRate::MBIT_10), Duration::from_nanos(51_200));
    }

    #[test]
    fn a_span_never_becomes_shorter_on_the_way_to_real_time() {
        let odd = BitRate::per_second(2_940_000).expect("not zero");
        assert_eq!(BitTimes::new(1).at(odd), Duration::from_nanos(341));
        assert_eq!(BitTimes::within(Duration::from_nanos(341), odd), BitTimes::new(1));
        assert_eq!(BitTimes::within(Duration::from_nanos(340), odd), BitTimes::ZERO);
    }

    #[test]
    fn a_rate_of_nothing_is_refused() {
        assert_eq!(BitRate::per_second(0), None);
    }
}
