//! A credit-based shaper (802.1Q, 8.6.8.2): when a class may send. It must never know frames or nodes.
//!
//! ```text
//!   credit       |waits: + idleSlope|on the line: + idleSlope - rate |waits for credit: + idleSlope
//!   0 -----------^released ---------^first bit ----------------------^last bit ------------^may send
//! ```

use medium::{BitInstant, BitTimes};
use sim::scenario::messages::RATE;

/// The credit of a class. Its unit is a bit divided by the line's rate, so that nothing is rounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    /// idleSlope in bit/s: what credit gains in a bit time.
    slope: u64,
    credit: i128,
    /// Up to when it is counted.
    at: BitInstant,
}

impl Shaper {
    /// Without credit.
    pub fn new(slope: u64) -> Shaper {
        Shaper { slope, credit: 0, at: BitInstant::ZERO }
    }

    /// Counts up to `at`; until then the class had a frame, or had none, and then credit ends at zero.
    pub fn pass(&mut self, at: BitInstant, had_frame: bool) {
        self.credit += i128::from(self.slope) * i128::from(at.since(self.at).get());
        self.at = at;
        if !had_frame {
            self.empty();
        }
    }

    /// A frame of the class is over, which took `bits` of the line.
    pub fn sent(&mut self, bits: u64) {
        self.credit -= i128::from(bits) * i128::from(RATE.get());
    }

    /// The class has no frame left.
    pub fn empty(&mut self) {
        self.credit = self.credit.min(0);
    }

    /// From when on the class may send, if it goes on having frames.
    pub fn may_send(&self) -> BitInstant {
        let owed = u128::try_from(-self.credit).unwrap_or(0);
        self.at + BitTimes::new(owed.div_ceil(self.slope.into()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{BitInstant, Shaper};

    /// At a quarter of the line, 100 bits that waited for 40 BT owe 100 - 140 / 4 bits, which take 260 BT. Credit that is
    /// left goes with the last frame; a debt does not.
    #[test]
    fn credit_comes_back_at_the_slope() {
        let mut shaper = Shaper::new(2_500_000);
        shaper.pass(BitInstant::new(1000), false);
        assert_eq!(shaper.may_send(), BitInstant::new(1000));
        shaper.pass(BitInstant::new(1140), true);
        shaper.sent(100);
        shaper.empty();
        assert_eq!(shaper.may_send(), BitInstant::new(1400));
        shaper.pass(BitInstant::new(1300), false);
        assert_eq!(shaper.may_send(), BitInstant::new(1400));
        shaper.pass(BitInstant::new(1500), false);
        assert_eq!(shaper.may_send(), BitInstant::new(1500));
    }
}
