//! Bit instants as a stack counts time, in microseconds.

use medium::{BitInstant, BitRate};
use smoltcp::time::Instant;

const MICROS: u128 = 1_000_000;

/// Converts between a medium's time and a stack's.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    rate: u128,
}

impl Clock {
    /// That of a medium of this rate.
    pub fn new(rate: BitRate) -> Clock {
        Clock { rate: rate.get().into() }
    }

    /// What a stack's clock shows at `at`: the last whole microsecond.
    pub fn instant(self, at: BitInstant) -> Instant {
        Instant::from_micros((u128::from(at.get()) * MICROS / self.rate) as i64)
    }

    /// The first bit instant at which a stack's clock shows `at`. Before the medium's time began there is none, so it is 0.
    pub fn bit(self, at: Instant) -> BitInstant {
        let micros = at.total_micros().max(0) as u128;
        BitInstant::new((micros * self.rate).div_ceil(MICROS) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timer never ends early, and a stack that is polled at a timer's bit instant sees that it has ended.
    #[test]
    fn a_timer_has_ended_at_its_bit_instant() {
        for rate in [BitRate::MBIT_10, BitRate::MBIT_100, BitRate::per_second(54_000_001).expect("a rate")] {
            let clock = Clock::new(rate);
            for micros in [0, 1, 3, 999_999, 1_000_000, 7_654_321] {
                let timer = Instant::from_micros(micros);
                let at = clock.bit(timer);
                assert!(clock.instant(at) >= timer, "{rate}: {micros}");
                let before = at.get().checked_sub(1).map(BitInstant::new);
                assert!(before.is_none_or(|before| clock.instant(before) < timer), "{rate}: {micros}");
            }
        }
    }
}
