//! How the delay before jitter grows from failure to failure. Total over every count; what passes `u64` is `u64::MAX`.

/// The delay after failure number n, counted from 1, before ceiling, priority and jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Growth {
    /// base, base + increment, base + 2 · increment …; constant where the increment is 0.
    Linear { base: u64, increment: u64 },
    /// base · 1, 1, 2, 3, 5, 8 …
    Fibonacci { base: u64 },
    /// base · 2^(shift · (n − 1)); the shift is at least 1, so that 64 steps leave `u64`.
    Doubling { base: u64, shift: u32 },
    /// base · (numerator/denominator)^(n − 1); in lowest terms, and not below 1.
    Exponential { base: u64, numerator: u32, denominator: u32 },
    /// base · (last/base)^((n − 1)/steps), and `last` from failure number steps + 1 on.
    Steps { base: u64, last: u64, steps: u32 },
}

impl Growth {
    /// base · (percent/100)^(n − 1); what would shrink stays constant.
    pub(crate) const fn exponential(base: u64, percent: u32) -> Growth {
        Growth::ratio(base, percent, 100)
    }

    /// base · (of/whole)^(n − 1); what would shrink stays constant. `whole` is not 0.
    #[inline]
    pub(crate) const fn ratio(base: u64, of: u32, whole: u32) -> Growth {
        let of = if of < whole { whole } else { of };
        let (mut divisor, mut rest) = (of, whole);
        while let Some(next) = divisor.checked_rem(rest) {
            (divisor, rest) = (rest, next);
        }
        let (Some(numerator), Some(denominator)) = (of.checked_div(divisor), whole.checked_div(divisor)) else {
            return Growth::Linear { base, increment: 0 };
        };
        if denominator == 1 && numerator > 1 && numerator.is_power_of_two() {
            return Growth::Doubling { base, shift: numerator.trailing_zeros() };
        }
        Growth::Exponential { base, numerator, denominator }
    }

    /// What it starts from.
    #[inline]
    pub(crate) const fn base(self) -> u64 {
        match self {
            Growth::Linear { base, .. } | Growth::Fibonacci { base } => base,
            Growth::Doubling { base, .. } | Growth::Exponential { base, .. } | Growth::Steps { base, .. } => base,
        }
    }

    /// The same from another start.
    pub(crate) const fn with_base(self, base: u64) -> Growth {
        match self {
            Growth::Linear { increment, .. } => Growth::Linear { base, increment },
            Growth::Fibonacci { .. } => Growth::Fibonacci { base },
            Growth::Doubling { shift, .. } => Growth::Doubling { base, shift },
            Growth::Exponential { numerator, denominator, .. } => Growth::Exponential { base, numerator, denominator },
            Growth::Steps { last, steps, .. } => Growth::Steps { base, last, steps },
        }
    }

    /// Whether it does not grow at all.
    #[inline]
    pub(crate) const fn is_constant(self) -> bool {
        match self {
            Growth::Linear { increment, .. } => increment == 0,
            Growth::Exponential { numerator, denominator, .. } => numerator <= denominator,
            Growth::Steps { base, last, steps } => steps == 0 || last <= base,
            Growth::Fibonacci { .. } | Growth::Doubling { .. } => false,
        }
    }

    /// The delay after failure number `failures`, which is at least 1.
    #[inline(always)]
    pub(crate) const fn after(self, failures: u64) -> u64 {
        let steps = failures.saturating_sub(1);
        match self {
            Growth::Linear { base, increment } => base.saturating_add(increment.saturating_mul(steps)),
            Growth::Fibonacci { base } => base.saturating_mul(fibonacci(failures)),
            Growth::Doubling { base, shift } => shifted(base, if steps < 64 { steps * shift as u64 } else { steps }),
            Growth::Exponential { base, numerator, denominator } => scaled(base, numerator, denominator, steps),
            Growth::Steps { base, last, steps } => stepped(base, last, steps, failures),
        }
    }
}

/// The growths as functions, for the C face, whose policies are not of this crate's types. n counts from 1.
#[doc(hidden)]
pub mod parts {
    use super::Growth;
    pub use super::{fibonacci, shifted, stepped};

    /// base · (millionths / 10^6)^(n − 1).
    #[inline(never)]
    pub const fn scaled(base: u64, millionths: u32, failures: u64) -> u64 {
        Growth::ratio(base, millionths, 1_000_000).after(failures)
    }

    /// base · 1.5^(n − 1).
    #[inline]
    pub const fn three_halves(base: u64, failures: u64) -> u64 {
        Growth::Exponential { base, numerator: 3, denominator: 2 }.after(failures)
    }
}

/// base · 2^shift.
#[inline]
pub const fn shifted(base: u64, shift: u64) -> u64 {
    if base == 0 {
        0
    } else if shift <= base.leading_zeros() as u64 {
        base << shift
    } else {
        u64::MAX
    }
}

/// base · (last/base)^((n − 1)/steps), to the nearest nanosecond or 2^−48 of it; `last` after that, and the base for ever
/// where there are no steps or `last` is not above it.
#[inline(never)]
pub const fn stepped(base: u64, last: u64, steps: u32, failures: u64) -> u64 {
    let done = failures.saturating_sub(1);
    if done == 0 || steps == 0 || last <= base || last == u64::MAX {
        return base;
    }
    if done >= steps as u64 {
        return last;
    }
    let (low, high) = (logarithm(base), logarithm(last));
    match ((high - low) as u128 * done as u128).checked_div(steps as u128) {
        Some(part) => power_of_2(low + part as u64),
        None => base,
    }
}

/// How many bits a logarithm has behind its point.
pub(crate) const LOGARITHM_BITS: u32 = 57;

/// log2 in units of 2^−57, digit by digit: a square doubles it.
pub(crate) const fn logarithm(value: u64) -> u64 {
    if value == 0 {
        return 0;
    }
    let whole = value.ilog2();
    let (mut mantissa, mut result) = (value << (63 - whole), whole as u64);
    let mut digit = 0;
    while digit < LOGARITHM_BITS {
        let square = mantissa as u128 * mantissa as u128;
        // The mantissa counts 2^−63; its square is below 4.
        let carry = (square >> 127) as u64;
        mantissa = (square >> (63 + carry)) as u64;
        result = result << 1 | carry;
        digit += 1;
    }
    result
}

/// 2^(2^−1), 2^(2^−2) … in units of 2^−63.
const ROOTS: [u64; LOGARITHM_BITS as usize] = {
    let mut roots = [0; LOGARITHM_BITS as usize];
    let (mut root, mut index) = (1_u128 << 64, 0);
    while index < roots.len() {
        root = (root << 63).isqrt();
        roots[index] = root as u64;
        index += 1;
    }
    roots
};

/// 2^(the fraction of that logarithm), in units of 2^−63.
#[inline(never)]
pub(crate) const fn mantissa_of(logarithm: u64) -> u64 {
    let (mut mantissa, mut digit) = (1_u64 << 63, 0);
    while digit < ROOTS.len() {
        if logarithm >> (LOGARITHM_BITS as usize - 1 - digit) & 1 == 1 {
            mantissa = ((mantissa as u128 * ROOTS[digit] as u128) >> 63) as u64;
        }
        digit += 1;
    }
    mantissa
}

/// 2^(logarithm / 2^57), rounded.
pub(crate) const fn power_of_2(logarithm: u64) -> u64 {
    let (whole, mantissa) = (logarithm >> LOGARITHM_BITS, mantissa_of(logarithm));
    let half = if whole < 63 { 1_u128 << (62 - whole) } else { 0 };
    at_most_u64((mantissa as u128 + half) >> (63 - if whole < 63 { whole } else { 63 }))
}

/// F(0), F(1) … F(93), the last that fits, and what all others count as.
const FIBONACCI: [u64; 95] = {
    let mut numbers = [u64::MAX; 95];
    (numbers[0], numbers[1]) = (0, 1);
    let mut n = 2;
    while n < 94 {
        numbers[n] = numbers[n - 1] + numbers[n - 2];
        n += 1;
    }
    numbers
};

/// F(n) with F(1) = F(2) = 1.
#[inline]
pub const fn fibonacci(n: u64) -> u64 {
    FIBONACCI[if n < 94 { n as usize } else { 94 }]
}

/// floor(base · (numerator/denominator)^steps): exact while numerator^steps fits `u64`, which for 3/2 is up to 40 steps;
/// beyond, to one part in 2^48 or to 1 for every ratio that 64 bits can tell from 1.
const fn scaled(base: u64, numerator: u32, denominator: u32, steps: u64) -> u64 {
    if numerator <= denominator {
        return base;
    }
    // 1.5^110 is beyond 2^64.
    if steps >= 110 && numerator as u64 * 2 >= denominator as u64 * 3 {
        return u64::MAX;
    }
    // Three halves, by the table: a multiplication and a shift.
    if numerator == 3 && denominator == 2 && (steps as usize) < POWERS_OF_3.len() {
        let product = base as u128 * POWERS_OF_3[steps as usize] as u128;
        return at_most_u64(product >> steps);
    }
    let Some(up) = (numerator as u64).checked_pow(if steps < 64 { steps as u32 } else { 64 }) else {
        return approximately_scaled(base, numerator, denominator, steps);
    };
    // The denominator is less than the numerator: its power fits as well. And the numerator is at least
    // 2, so that its 64th power does not fit.
    let (product, down) = (base as u128 * up as u128, (denominator as u64).saturating_pow(steps as u32));
    // A division of 128 bits is slow; 3/2 and 5/4 do without.
    at_most_u64(if down.is_power_of_two() { product >> down.trailing_zeros() } else { divided(product, down) })
}

/// 3^0 to 3^40, the last that fits.
const POWERS_OF_3: [u64; 41] = {
    let mut powers = [1; 41];
    let mut n = 1;
    while n < 41 {
        powers[n] = powers[n - 1] * 3;
        n += 1;
    }
    powers
};

/// The same with a power of 64 significant bits: mantissa · 2^exponent, the mantissa's highest bit set.
const fn approximately_scaled(base: u64, numerator: u32, denominator: u32, mut steps: u64) -> u64 {
    let mut factor = normalised(divided((numerator as u128) << 64, denominator as u64), -64);
    let mut result = normalised(base as u128, 0);
    while steps > 0 {
        if steps & 1 == 1 {
            result = normalised(result.0 as u128 * factor.0 as u128, result.1.saturating_add(factor.1));
        }
        factor = normalised(factor.0 as u128 * factor.0 as u128, factor.1.saturating_add(factor.1));
        steps >>= 1;
    }
    let (mantissa, exponent) = result;
    if exponent > 0 { u64::MAX } else { mantissa >> if exponent < -63 { 63 } else { -exponent } }
}

/// The quotient; a divisor of 0 leaves the value as it is, so that no path to a panic remains.
const fn divided(value: u128, divisor: u64) -> u128 {
    match value.checked_div(divisor as u128) {
        Some(quotient) => quotient,
        None => value,
    }
}

/// The 64 high bits of a value, and the power of two that they count.
const fn normalised(value: u128, exponent: i64) -> (u64, i64) {
    if value == 0 {
        return (0, 0);
    }
    let shift = 64 - value.leading_zeros() as i64;
    let mantissa = if shift >= 0 { value >> shift } else { value << -shift };
    (mantissa as u64, exponent.saturating_add(shift))
}

const fn at_most_u64(value: u128) -> u64 {
    if value > u64::MAX as u128 { u64::MAX } else { value as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1.5^(n−1) in 128 bits, where nothing is lost, up to where the exact path ends; then against its neighbour.
    #[test]
    fn three_halves_are_exact_and_then_go_on() {
        let growth = Growth::exponential(500_000_000, 150);
        for failures in 1..=41_u64 {
            let exact = (500_000_000_u128 * 3_u128.pow(failures as u32 - 1)) >> (failures - 1);
            assert_eq!(u128::from(growth.after(failures)), exact, "{failures}");
        }
        for failures in 42..=60_u64 {
            let (last, this) = (growth.after(failures - 1) as f64, growth.after(failures) as f64);
            assert!((this / last - 1.5).abs() < 1e-12, "{failures}: {last} {this}");
        }
        assert_eq!(growth.after(100), u64::MAX);
        assert_eq!(growth.after(u64::MAX), u64::MAX);
    }

    /// A multiplier that 64 steps cannot exhaust.
    #[test]
    fn slow_growth_is_close_to_its_power() {
        let growth = Growth::exponential(1_000_000, 101);
        let power = 1.01_f64.powi(999) * 1e6;
        assert!((growth.after(1000) as f64 / power - 1.0).abs() < 1e-9);
        assert_eq!(growth.after(u64::MAX), u64::MAX);
    }

    /// Powers of two take a path of their own.
    #[test]
    fn doubling_constant_and_tripling_saturate_each_in_its_way() {
        let counts = [1, 2, 3, 40, 64, 65, 66, 1000, u64::MAX];
        for percent in [0, 99, 100] {
            assert_eq!(counts.map(|failures| Growth::exponential(7, percent).after(failures)), [7; 9]);
        }
        for (percent, factor) in [(200, 2_u64), (300, 3), (400, 4), (6400, 64), (6600, 66)] {
            for failures in counts {
                let steps = u32::try_from(failures - 1).unwrap_or(u32::MAX);
                let exact = factor.saturating_pow(steps).saturating_mul(7);
                assert_eq!(Growth::exponential(7, percent).after(failures), exact, "{percent} %, {failures}");
            }
        }
    }

    /// 2, 4, 8, 16 s; and against floating point, where that is good enough.
    #[test]
    fn steps_go_from_the_base_to_the_last() {
        let second = 1_000_000_000;
        let found = [1, 2, 3, 4, 5, u64::MAX].map(|failures| stepped(2 * second, 16 * second, 3, failures) / second);
        assert_eq!(found, [2, 4, 8, 16, 16, 16]);
        for steps in 1..100_u32 {
            for failures in 1..=u64::from(steps) + 1 {
                let (base, last) = (100_000_000, 37 * second + u64::from(steps));
                let exact = base as f64 * (last as f64 / base as f64).powf((failures - 1) as f64 / f64::from(steps));
                let found = stepped(base, last, steps, failures) as f64;
                assert!((found - exact).abs() <= 1.0, "{steps} {failures}: {found} {exact}");
            }
        }
        assert_eq!([(0, 9), (5, 0), (5, 3), (5, u64::MAX)].map(|(steps, last)| stepped(7, last, steps, 4)), [7; 4]);
        assert_eq!(stepped(1, u64::MAX - 1, 2, 2), 1 << 32);
    }

    #[test]
    fn fibonacci_ends_at_the_largest_word() {
        assert_eq!([1, 2, 3, 4, 5, 6, 93].map(fibonacci), [1, 1, 2, 3, 5, 8, 12_200_160_415_121_876_738]);
        assert_eq!([94, 95, u64::MAX].map(fibonacci), [u64::MAX; 3]);
    }
}
