//! Draws of numbers from a stream's words: integers and exponential gaps, the same on every machine.

use backoff::Generator;

/// A number below `n`, each as likely as the others; `n` is not 0.
///
/// The high half of word times `n`; the few words that would favour some numbers are drawn again (Lemire, 2019).
pub(super) fn below(generator: &mut Generator, n: u64) -> u64 {
    loop {
        let product = u128::from(generator.next_u64()) * u128::from(n);
        let low = product as u64;
        if low >= n || low >= n.wrapping_neg() % n {
            return (product >> 64) as u64;
        }
    }
}

/// A number from 0 up to, not including, 1: 53 bits of a word.
pub(super) fn fraction(generator: &mut Generator) -> f64 {
    (generator.next_u64() >> 11) as f64 * UNIT
}

/// How often in a row something with a chance does not happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Misses {
    /// −ln(1 − chance); none if the chance is 1.
    rate: Option<f64>,
}

impl Misses {
    /// Of something with this chance, above 0.
    pub fn of(chance: f64) -> Misses {
        Misses { rate: (chance < 1.0).then(|| -libm::log1p(-chance)) }
    }

    /// P(n) = chance · (1 − chance)^n, from one word: ⌊ln U / ln(1 − chance)⌋.
    pub fn draw(self, generator: &mut Generator) -> u64 {
        self.rate.map_or(0, |rate| (exponential(generator) / rate) as u64)
    }
}

/// An exponentially distributed number with mean 1.
///
/// `libm`, since a platform's own logarithm may differ in the last bit, and a trace would with it.
pub fn exponential(generator: &mut Generator) -> f64 {
    -libm::log(((generator.next_u64() >> 11) + 1) as f64 * UNIT)
}

/// 2^−53.
const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    /// Frozen: another platform, or another `libm`, must give these very bits.
    #[test]
    fn a_stream_gives_the_same_numbers_everywhere() {
        let mut generator = Generator::stream(1, 2 << 32);
        let drawn: Vec<u64> = (0..4).map(|_| exponential(&mut generator).to_bits()).collect();
        assert_eq!(drawn, [0x3fd0_4048_9739_c300, 0x3fe7_0bc0_1f79_57d8, 0x3ff3_a7d2_a08b_8b5a, 0x4003_220c_6e53_aa86]);
    }

    #[test]
    fn numbers_below_a_bound_stay_below_it() {
        let mut generator = Generator::new(1);
        for n in [1, 2, 3, 1000, u64::MAX / 2 + 2, u64::MAX] {
            assert!((0..1_000).all(|_| below(&mut generator, n) < n), "{n}");
        }
    }
}
