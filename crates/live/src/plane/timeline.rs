//! Real time and the medium's time, in one place.

use medium::{BitInstant, BitRate, BitTimes};
use std::time::Duration;

/// Where on the monotonic clock bit instant 0 is, how fast bits go by, and when they did not.
///
/// ```text
///   real time   ────────────── from ~~~~~~~~~~~ until ──────────────
///   bit times   ────────────── x │ x: none go by │ x ──────────────
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Timeline {
    origin: u64,
    rate: BitRate,
    /// The latest slip, or slips without a gap between them: the end, and where bit instant 0 had been before.
    slip: Option<(u64, u64)>,
}

impl Timeline {
    /// Bit instant 0 is at `origin` nanoseconds of the monotonic clock; `rate` is in bits per real second.
    pub fn new(origin: u64, rate: BitRate) -> Timeline {
        Timeline { origin, rate, slip: None }
    }

    /// The bit instant at a monotonic time, rounded down; 0 before the origin. What lies in the latest slip is where
    /// the slip is.
    pub fn instant(&self, nanos: u64) -> BitInstant {
        match self.slip {
            Some((until, origin)) if nanos < until => self.bits(nanos, origin).min(self.bits(until, self.origin)),
            Some(_) | None => self.bits(nanos, self.origin),
        }
    }

    fn bits(&self, nanos: u64, origin: u64) -> BitInstant {
        BitInstant::ZERO + BitTimes::within(Duration::from_nanos(nanos.saturating_sub(origin)), self.rate)
    }

    /// The monotonic time of a bit instant, rounded up: nothing is early.
    pub fn nanos(&self, instant: BitInstant) -> u64 {
        self.origin + self.span(instant.since(BitInstant::ZERO))
    }

    /// Nanoseconds that a span takes, rounded up.
    pub fn span(&self, span: BitTimes) -> u64 {
        u64::try_from(span.at(self.rate).as_nanos()).unwrap_or(u64::MAX)
    }

    /// All bits of the next `length` nanoseconds go by at once, at `now`: what came before comes after them.
    pub fn leap(&mut self, now: u64, length: u64) {
        self.slip = Some((now, 0));
        self.origin = self.origin.saturating_sub(length);
    }

    /// No bit went by in the `length` nanoseconds before `until`.
    pub fn slip(&mut self, until: u64, length: u64) {
        let before = self.slip.filter(|&(end, _)| end >= until.saturating_sub(length));
        self.slip = Some((until, before.map_or(self.origin, |(_, origin)| origin)));
        self.origin += length;
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

    #[test]
    fn no_bit_goes_by_in_a_slip() {
        let mut timeline = Timeline::new(0, BitRate::per_second(1_000_000_000).expect("not zero"));
        timeline.slip(1_000, 300);
        let instants = [0, 699, 700, 850, 999, 1_000, 1_001].map(|nanos| timeline.instant(nanos).get());
        assert_eq!(instants, [0, 699, 700, 700, 700, 700, 701]);
        assert_eq!(timeline.nanos(BitInstant::new(701)), 1_001);
        timeline.slip(2_000, 100);
        assert_eq!([1_899, 1_950, 2_000].map(|nanos| timeline.instant(nanos).get()), [1_599, 1_600, 1_600]);
    }

    /// A pause is looked after every few milliseconds, and a frame may be read two looks after it came.
    #[test]
    fn slips_without_a_gap_are_one_slip() {
        let mut timeline = Timeline::new(0, BitRate::per_second(1_000_000_000).expect("not zero"));
        timeline.slip(1_000, 300);
        timeline.slip(1_500, 500);
        let instants = [699, 700, 900, 1_100, 1_500, 1_501].map(|nanos| timeline.instant(nanos).get());
        assert_eq!(instants, [699, 700, 700, 700, 700, 701]);
    }

    /// A frame that came before a step, and is read after it, finds the bits of the step gone by.
    #[test]
    fn all_bits_of_a_leap_go_by_at_once() {
        let mut timeline = Timeline::new(10_000, BitRate::per_second(1_000_000_000).expect("not zero"));
        timeline.slip(11_000, 300);
        timeline.leap(11_000, 50);
        timeline.slip(11_200, 200);
        let instants = [10_600, 10_990, 11_000, 11_200, 11_201].map(|nanos| timeline.instant(nanos).get());
        assert_eq!(instants, [750, 750, 750, 750, 751]);
    }
}
