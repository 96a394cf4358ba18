//! The decorrelated jitter of Polly, version 2. A point of a smooth curve is drawn in each unit of its axis. A delay is the
//! distance between two points.
//!
//! ```text
//! f(t) = 2^t · tanh(2 · √t)       t(n) = n − 1 + u, u uniform in [0, 1)
//! the time from the first failure to the end of delay n is base/1.4 · f(t(n))
//! ```
//!
//! All in integers, so that the same words give the same delays on every machine; the curve is right to one part in 2^44.
//! A law of this kind knows no policy and no clock.

use crate::growth::{LOGARITHM_BITS, logarithm, mantissa_of, power_of_2};

/// The delay after failure number `failures`, where those before it have lasted `waited` together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Smooth {
    pub(crate) failures: u32,
    pub(crate) base: u64,
    pub(crate) waited: u64,
    /// A delay that would pass it is that long, as Polly has it; the next point of the curve does not depend on it.
    pub(crate) cap: u64,
}

/// 1 in units of 2^−63.
const ONE: u64 = 1 << 63;
/// log2(4 · log2(e)) in units of 2^−57.
const EXPONENT: u64 = 364_433_641_436_853_812;

/// In how many parts the integrals are taken.
const PARTS: u64 = 1024;

impl Smooth {
    /// The end of the delay that belongs to one word, since the first failure; u is its 57 high bits.
    #[inline(never)]
    pub(crate) const fn end(&self, word: u64) -> u64 {
        let whole = self.failures.saturating_sub(1) as u64;
        if whole > 63 {
            return u64::MAX;
        }
        let fraction = word >> (64 - LOGARITHM_BITS);
        let point = (mantissa_of(fraction) as u128 * flattened(whole << LOGARITHM_BITS | fraction) as u128) >> 63;
        // 1/1.4 = 5/7; the product with 5 fits since that with 1/7 is below 2^126.
        let scaled = self.base as u128 * point / 7 * 5;
        let end = scaled >> (63 - whole);
        if end > u64::MAX as u128 { u64::MAX } else { end as u64 }
    }

    /// The delay that belongs to one word.
    #[inline(never)]
    pub(crate) const fn at_ns(&self, word: u64) -> u64 {
        let delay = self.end(word).saturating_sub(self.waited);
        if delay < self.cap { delay } else { self.cap }
    }

    /// Mean and variance of the delay, to one part in 10^6: integrals over u = s², along which the curve has no kink.
    ///
    /// They are taken of the distance from one of the delays: the difference of two large squares would lose the variance
    /// where most delays are the cap.
    #[inline(never)]
    pub(crate) fn moments(&self) -> (f64, f64) {
        let (mut mean, mut square) = (0.0, 0.0);
        let from = self.at_ns(1 << 63) as f64;
        for part in 0..PARTS {
            // The middle of the part, as a share of 2^32; and its square, of 2^64.
            let s = (2 * part + 1) << (31 - PARTS.ilog2());
            let delay = self.at_ns(s * s) as f64 - from;
            let weight = s as f64 / (1_u64 << 31) as f64 / PARTS as f64;
            mean += weight * delay;
            square += weight * delay * delay;
        }
        let variance = square - mean * mean;
        (from + mean, if variance > 0.0 { variance } else { 0.0 })
    }
}

/// tanh(2 · √t) in units of 2^−63, t in units of 2^−57: (1 − E)/(1 + E) with E = e^(−4 · √t) = 2^(−4 · log2(e) · √t).
#[inline(always)]
const fn flattened(t: u64) -> u64 {
    if t == 0 {
        return 0;
    }
    // The root by half the logarithm. t counts 2^−57, so that a half of 57 is taken off; and the result is to count it too.
    let root = logarithm(t) / 2 + EXPONENT + ((LOGARITHM_BITS as u64) << LOGARITHM_BITS) / 2;
    let exponent = power_of_2(root);
    let whole = 63 << LOGARITHM_BITS;
    let rest = if exponent < whole { power_of_2(whole - exponent) } else { 0 };
    let rest = if rest < ONE { rest } else { ONE };
    match (((ONE - rest) as u128) << 63).checked_div(ONE as u128 + rest as u128) {
        Some(quotient) => quotient as u64,
        None => ONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where every delay is the cap nothing varies, whatever the size of the cap; and with a part below it, the variance is
    /// that of many draws.
    #[test]
    fn the_variance_at_the_cap_is_none() {
        for cap in [1_000_000_007, 1 << 40, (1 << 60) + 12_345] {
            let law = Smooth { failures: 63, base: 100_000_000, waited: 0, cap };
            assert_eq!(law.moments(), (cap as f64, 0.0), "{cap}");
        }
        let law = Smooth { failures: 1, base: 100_000_000, waited: 0, cap: 103_000_000 };
        let draws = || (0..1_u64 << 16).map(|n| law.at_ns(n << 48 | 1 << 47) as f64);
        let mean = draws().sum::<f64>() / 65_536.0;
        let variance = draws().map(|delay| (delay - mean).powi(2)).sum::<f64>() / 65_536.0;
        let found = law.moments();
        assert!(
            (found.0 / mean - 1.0).abs() < 1e-4 && (found.1 / variance - 1.0).abs() < 1e-3,
            "{found:?} {mean} {variance}"
        );
    }
}
