//! Where a function is zero or largest. It must never know which function.

/// Halvings after which an interval of doubles is as small as it can be.
const HALVINGS: u32 = 200;

/// The place in [`low`, `high`] where `f` changes its sign; `f(low)` and `f(high)` have different ones.
pub(super) fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let rising = f(low) < 0.0;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if (f(middle) < 0.0) == rising { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The place of the maximum of `f` between `low` and `high`, where `f` has one hill.
///
/// Golden-section search: near a maximum a double's values are flat, so the place is known to about eight digits and the
/// height to all.
pub(super) fn highest(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut f_left, mut f_right) = (f(left), f(right));
    while high - low > 1e-9 * high.abs().max(1e-9) {
        if f_left < f_right {
            (low, left, f_left) = (left, right, f_right);
            right = low + GOLDEN * (high - low);
            f_right = f(right);
        } else {
            (high, right, f_right) = (right, left, f_left);
            left = high - GOLDEN * (high - low);
            f_left = f(left);
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_and_hills_are_found() {
        assert!((root(0.0, 2.0, |x| x * x - 2.0) - std::f64::consts::SQRT_2).abs() < 1e-15);
        assert!((root(0.0, 2.0, |x| 2.0 - x * x) - std::f64::consts::SQRT_2).abs() < 1e-15);
        assert!((highest(0.0, 10.0, |x| x * (-x).exp()) - 1.0).abs() < 1e-7);
    }
}
