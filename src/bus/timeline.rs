//! Real time and the medium's time, in one place.

use medium::{BitInstant, BitRate, BitTimes};
use std::time::Duration;

/// Where on the monotonic clock bit instant 0 is, and how fast bits go by.
#[derive(Clone, Copy, Debug)]
pub struct Timeline {
    origin: u64,
    rate: BitRate,
}

impl Timeline {
    /// Bit instant 0 is at `origin` nanoseconds of the monotonic clock.
    pub fn new(origin: u64, rate: BitRate) -> Timeline {
        Timeline { origin, rate }
    }

    /// The bit instant at a monotonic time, rounded down; 0 before the origin.
    pub fn instant(&self, nanos: u64) -> BitInstant {
        let span = Duration::from_nanos(nanos.saturating_sub(self.origin));
        BitInstant::ZERO + BitTimes::within(span, self.rate)
    }

    /// The monotonic time of a bit instant, rounded up: nothing is early.
    pub fn nanos(&self, instant: BitInstant) -> u64 {
        self.origin + self.span(instant.since(BitInstant::ZERO))
    }

    /// Nanoseconds that a span takes, rounded up.
    pub fn span(&self, span: BitTimes) -> u64 {
        u64::try_from(span.at(self.rate).as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_the_same_bit() {
        let timeline = Timeline::new(1_000, BitRate::per_second(2_940_000).expect("not zero"));
        for bits in [0, 1, 511, 512, 1_000_003, 1 << 40] {
            let instant = BitInstant::new(bits);
            assert_eq!(timeline.instant(timeline.nanos(instant)), instant);
        }
        assert_eq!(timeline.instant(0), BitInstant::ZERO);
    }
}
