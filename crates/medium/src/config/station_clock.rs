//! The clock of a station, which may be fast or slow: the only place where its time becomes the medium's.
//!
//! ```text
//!   the medium's bits  0    1    2    3    4    5    6 …      tick n is at n × 1,000,000 / (1,000,000 + ppm),
//!   a fast clock       0   1   2   3   4   5   6   7   …      rounded to the nearest bit time, a half up
//! ```
//! All clocks show 0 at the medium's first instant. A timer starts at the tick nearest to its begin, of two
//! that are equally near at the later one, and lasts whole ticks. So the error of a long wait, of many short ones, and of slots since the beginning accumulates.

use crate::time::{BitInstant, BitTimes};

/// A million: parts per million of a whole.
const MILLION: u32 = 1_000_000;

/// How fast the clock of a station is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    ppm: i32,
}

impl Clock {
    /// A clock that goes with the medium's bits.
    pub const RIGHT: Clock = Clock { ppm: 0 };
    /// The largest error, in parts per million.
    pub const MOST_PPM: u32 = 100_000;

    /// A clock that is this many parts per million faster than the medium's bits.
    pub const fn new(ppm: i32) -> Clock {
        Clock { ppm }
    }

    /// By how many parts per million it is fast.
    pub const fn ppm(self) -> i32 {
        self.ppm
    }

    /// It goes with the medium's bits.
    #[inline]
    pub const fn is_right(self) -> bool {
        self.ppm == 0
    }

    /// Its error is in the range of [`Clock::MOST_PPM`].
    pub const fn is_allowed(self) -> bool {
        self.ppm.unsigned_abs() <= Clock::MOST_PPM
    }

    /// Its ticks in a million of the medium's bits.
    const fn rate(self) -> u32 {
        MILLION.saturating_add_signed(self.ppm)
    }

    /// When a timer ends that it starts at `now` for `span`: a bit time later at least, unless `span` is 0.
    #[inline]
    pub fn after(self, now: BitInstant, span: BitTimes) -> BitInstant {
        if self.ppm == 0 { now + span } else { self.after_by_ticks(now, span) }
    }

    #[cold]
    fn after_by_ticks(self, now: BitInstant, span: BitTimes) -> BitInstant {
        if span == BitTimes::ZERO {
            return now;
        }
        self.instant(self.tick(now).saturating_add(span.get())).max(now + BitTimes::new(1))
    }

    /// The begin of slot number `number`, if slots of `slot` follow each other from the medium's first instant on.
    #[inline]
    pub fn slot_begin(self, number: u64, slot: BitTimes) -> BitInstant {
        let tick = number.saturating_mul(slot.get());
        if self.ppm == 0 { BitInstant::new(tick) } else { self.instant(tick) }
    }

    /// The number of the first of these slots that begins at `now` or later.
    pub fn next_slot(self, now: BitInstant, slot: BitTimes) -> u64 {
        if self.ppm == 0 {
            return now.get().div_ceil(slot.get());
        }
        let near = (self.tick(now) / slot.get()).saturating_sub(1);
        (near..).find(|&number| self.slot_begin(number, slot) >= now).unwrap_or(near)
    }

    /// The number of slots of `slot` that are over at `now`, counted from `since` on.
    pub(crate) fn slots_between(self, since: BitInstant, now: BitInstant, slot: BitTimes) -> u64 {
        let elapsed = now.since(since).get();
        if self.ppm == 0 {
            return elapsed / slot.get();
        }
        // Clocks differ by less than a ninth, and each slot's begin is rounded to a bit time.
        let least = (elapsed * 8 / 9).saturating_sub(3) / slot.get();
        (least..).take_while(|&slots| self.after(since, slot * slots) <= now).last().unwrap_or(0)
    }

    /// At most how long a timer of `span` lasts on the medium.
    #[inline]
    pub fn longest(self, span: BitTimes) -> BitTimes {
        if self.ppm == 0 {
            return span;
        }
        let bits = (u128::from(span.get()) * u128::from(MILLION)).div_ceil(u128::from(self.rate()));
        BitTimes::new(bits as u64 + 1)
    }

    /// The length of `span` of its ticks on the medium, from an instant that is `behind` a whole bit time; and by how
    /// much the end is behind one: in parts of a bit time, of which a bit time has [`Clock::rate`].
    #[inline]
    pub(crate) fn span_from(self, behind: i64, span: BitTimes) -> (BitTimes, i64) {
        if self.ppm == 0 {
            return (span, behind);
        }
        let rate = i64::from(self.rate());
        let parts = span.get() as i64 * i64::from(MILLION) + behind;
        let bits = ((parts + rate / 2) / rate).max(0);
        (BitTimes::new(bits as u64), parts - bits * rate)
    }

    /// The tick nearest to `at`.
    fn tick(self, at: BitInstant) -> u64 {
        nearest(at.get(), self.rate(), MILLION)
    }

    /// When tick number `tick` is.
    fn instant(self, tick: u64) -> BitInstant {
        BitInstant::new(nearest(tick, MILLION, self.rate()))
    }
}

/// `count` times `by` over `of`, to the nearest whole number, a half up.
fn nearest(count: u64, by: u32, of: u32) -> u64 {
    let twice = u128::from(count) * u128::from(by) * 2 + u128::from(of);
    u64::try_from(twice / (u128::from(of) * 2)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(bits: u64) -> BitInstant {
        BitInstant::new(bits)
    }

    /// 1,023 slots of 512 BT at 100 ppm differ by 52 BT; the mean gap is 96 BT divided by the clock's rate.
    #[test]
    fn long_waits_and_many_short_ones_differ_by_the_clocks_error() {
        let (fast, slow) = (Clock::new(100), Clock::new(-100));
        let wait = BitTimes::new(1023 * 512);
        assert_eq!(fast.after(at(0), wait), at(1023 * 512 - 52));
        assert_eq!(slow.after(at(0), wait), at(1023 * 512 + 52));
        for (clock, mean) in [(fast, 95.9904), (slow, 96.0096), (Clock::new(10_000), 95.0495)] {
            let gaps: u64 =
                (0..100_000).map(|n| (clock.after(at(n * 7919), BitTimes::new(96)) - at(n * 7919)).get()).sum();
            assert!((gaps as f64 / 1e5 - mean).abs() < 0.002, "{clock:?}: {gaps}");
        }
    }

    #[test]
    fn a_clock_that_is_right_changes_nothing() {
        let (right, slot) = (Clock::RIGHT, BitTimes::new(600));
        assert_eq!(right.after(at(17), BitTimes::new(96)), at(113));
        assert_eq!(right.longest(slot), slot);
        assert_eq!([0, 1, 600, 601].map(|now| right.next_slot(at(now), slot)), [0, 1, 1, 2]);
        assert_eq!(right.slots_between(at(10), at(1209), slot), 1);
    }

    /// Slots walk: by the medium's bit 6,000,000 a clock that is 100 ppm fast is a slot of 600 BT ahead.
    #[test]
    fn slots_since_the_beginning_walk() {
        let (fast, slot) = (Clock::new(100), BitTimes::new(600));
        assert_eq!(fast.slot_begin(10_001, slot), at(6_000_000));
        assert_eq!(fast.next_slot(at(6_000_000), slot), 10_001);
        for ppm in [-100_000, -333, 1, 99, 100_000] {
            let clock = Clock::new(ppm);
            for now in (0..40_000).chain(9_999_990_000..9_999_992_000).step_by(13) {
                let next = clock.next_slot(at(now), slot);
                assert!(clock.slot_begin(next, slot) >= at(now), "{ppm} {now}");
                assert!(next == 0 || clock.slot_begin(next - 1, slot) < at(now), "{ppm} {now}");
                let passed = clock.slots_between(at(now), at(now + 5_000), slot);
                assert!(clock.after(at(now), slot * passed) <= at(now + 5_000), "{ppm} {now}");
                assert!(clock.after(at(now), slot * (passed + 1)) > at(now + 5_000), "{ppm} {now}");
                assert!(clock.after(at(now), slot) - at(now) <= clock.longest(slot), "{ppm} {now}");
            }
        }
    }
}
