//! Delays that follow from the delay before and are not uniform: DHCPv6, AWS's clamped jitter, and Polly's.

use std::time::Duration;

use backoff::{Generator, Jitter, Law, Policy, Retry};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

fn ns(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

fn law(policy: Policy, failures: u64, previous: u64) -> Law {
    policy.law_after(failures, previous).expect("it is not the last failure")
}

fn bounds(policy: Policy, failures: u64, previous: u64) -> (u64, u64) {
    let law = law(policy, failures, previous);
    (law.shortest_ns(), law.longest_ns())
}

/// RFC 8415, 7.6: IRT and MRT in seconds, MRC, MRD in seconds; 0 is none. And 18.2.1: the first delay of a Solicit is longer
/// than IRT.
#[test]
fn dhcpv6_has_the_parameters_of_the_rfc() {
    let table = [
        (Policy::DHCPV6_SOLICIT, 1, 3600, 0, 0),
        (Policy::DHCPV6_REQUEST, 1, 30, 10, 0),
        (Policy::DHCPV6_CONFIRM, 1, 4, 0, 10),
        (Policy::DHCPV6_RENEW, 10, 600, 0, 0),
        (Policy::DHCPV6_INFORMATION, 1, 3600, 0, 0),
        (Policy::DHCPV6_RELEASE, 1, 0, 4, 0),
        (Policy::DHCPV6_RECONFIGURE, 2, 0, 8, 0),
    ];
    for (policy, irt, mrt, mrc, mrd) in table {
        let first = if policy == Policy::DHCPV6_SOLICIT { irt * SECOND + 1 } else { irt * 900 * MS };
        assert_eq!(bounds(policy, 1, 0), (first, irt * 1100 * MS), "{policy:?}");
        assert_eq!(bounds(policy, 2, irt * SECOND), (irt * 1900 * MS, irt * 2100 * MS), "{policy:?}");
        let limit = if mrc == 0 { None } else { Some(mrc + 1) };
        assert_eq!(policy.attempt_limit(), limit, "a delay after each of MRC transmissions: {policy:?}");
        assert_eq!(policy.elapsed_limit_ns(), if mrd == 0 { None } else { Some(mrd * SECOND) }, "{policy:?}");
        if mrt > 0 {
            assert_eq!(bounds(policy, 3, mrt * SECOND), (mrt * 900 * MS, mrt * 1100 * MS), "{policy:?}");
        }
    }
}

/// RT = 2 · RTprev + RAND · RTprev; RT = MRT + RAND · MRT where that is above MRT. Counted through for short times.
#[test]
fn what_passes_the_longest_time_is_drawn_again_around_it() {
    let policy = Policy::exponential(ns(100)).with_jitter(Jitter::Dhcpv6 { percent: 10, first_above: false });
    assert_eq!(bounds(policy, 1, 0), (90, 110));
    for limit in 180..=220 {
        let law = law(policy.with_ceiling(ns(limit)), 2, 100);
        let again = (limit - limit / 10)..=(limit + limit / 10);
        let share = |value: u64, range: &std::ops::RangeInclusive<u64>| {
            if range.contains(&value) { 1.0 / (range.end() - range.start() + 1) as f64 } else { 0.0 }
        };
        let above = (190..=210).filter(|&value| value > limit).count() as f64 / 21.0;
        let chance = |value| {
            let kept = if value <= limit { share(value, &(190..=210)) } else { 0.0 };
            kept + above * share(value, &again)
        };
        let mean: f64 = (0..300).map(|value| chance(value) * value as f64).sum();
        let variance: f64 = (0..300).map(|value| chance(value) * (value as f64 - mean).powi(2)).sum();
        assert!((law.mean_ns() - mean).abs() < 1e-9, "{limit}: {} {mean}", law.mean_ns());
        assert!((law.variance_ns2() - variance).abs() < 1e-7, "{limit}: {} {variance}", law.variance_ns2());
        let values: Vec<u64> = (0..300).filter(|&value| chance(value) > 0.0).collect();
        assert_eq!((law.shortest_ns(), law.longest_ns()), (values[0], values[values.len() - 1]), "{limit}");
        let (mut generator, draws) = (Generator::stream(8415, limit), 20_000);
        let drawn = (0..draws).map(|_| law.draw_ns(&mut generator) as f64).sum::<f64>() / f64::from(draws);
        assert!(
            (drawn - mean).abs() < 5.0 * (variance / f64::from(draws)).sqrt(),
            "seed (8415, {limit}): {drawn} {mean}"
        );
    }
}

/// min(cap, uniform in [base, 3 · the delay before]): the cap comes as often as the values above it would, and itself.
#[test]
fn the_clamped_jitter_is_that_of_aws() {
    for cap in 1..40 {
        let law = law(Policy::decorrelated_jitter_clamped(ns(3), ns(cap)), 2, 10);
        let values: Vec<u64> = (3..=30).map(|value: u64| value.min(cap)).collect();
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        let variance = values.iter().map(|&value| (value as f64 - mean).powi(2)).sum::<f64>() / values.len() as f64;
        assert_eq!((law.shortest_ns(), law.longest_ns()), (values[0], values[27]), "{cap}");
        assert!((law.mean_ns() - mean).abs() < 1e-9, "{cap}: {} {mean}", law.mean_ns());
        assert!((law.variance_ns2() - variance).abs() < 1e-9, "{cap}: {} {variance}", law.variance_ns2());
        let mut generator = Generator::stream(2015, cap);
        let (mut free, plain) = (generator.clone(), Policy::decorrelated_jitter(ns(3), Duration::ZERO));
        for _ in 0..1000 {
            let uncut = plain.law_after(2, 10).expect("no limit").draw_ns(&mut free);
            assert_eq!(law.draw_ns(&mut generator), uncut.min(cap), "the same words: {cap}");
        }
    }
}

/// base/1.4 · f(t), in floating point.
fn curve(base: f64, t: f64) -> f64 {
    base * t.exp2() * (2.0 * t.sqrt()).tanh() / 1.4
}

/// Against the formula of the source, for every count and for u from its whole range.
#[test]
fn pollys_delays_are_the_distances_on_its_curve() {
    let base = 1_000_000_000_u64;
    let mut generator = Generator::new(530);
    for failures in 1..=30_u64 {
        for word in [0, 1 << 20, u64::MAX].into_iter().chain((0..200).map(|_| generator.next_u64())) {
            let (whole, u) = ((failures - 1) as f64, (word >> 11) as f64 / 2_f64.powi(53));
            let exact = curve(base as f64, whole + u);
            let found = law(Policy::polly(ns(base)), failures, 0).at_ns(word) as f64;
            assert!((found - exact).abs() <= 1.0 + exact * 1e-12, "{failures} {word:#x}: {found} {exact}");
        }
    }
    for stream in 0..100 {
        let (mut words, mut before) = (Generator::stream(530, stream), 0.0);
        for (failures, delay) in (0..30).zip(Policy::polly(ns(base)).delays(Generator::stream(530, stream))) {
            let next = curve(base as f64, f64::from(failures) + (words.next_u64() >> 11) as f64 / 2_f64.powi(53));
            let (found, exact) = (delay.as_nanos() as f64, next - before);
            assert!((found - exact).abs() <= 2.0 + next * 1e-12, "stream {stream}, {failures}: {found} {exact}");
            before = next;
        }
    }
}

/// The mean and the variance, given how long the delays before have lasted, against sums over the curve; and cut by a cap.
#[test]
fn pollys_mean_is_the_integral_of_its_curve() {
    for failures in [1_u64, 2, 3, 5, 9, 20, 30] {
        let base = 1e9;
        let waited = if failures == 1 { 0.0 } else { curve(base, failures as f64 - 1.3) };
        for cap in [f64::INFINITY, 0.7, 0.2] {
            let longest = curve(base, failures as f64) - waited;
            let cap = if cap.is_finite() { (longest * cap).floor() } else { cap };
            let steps = 1 << 20;
            let delay = |step: i32| {
                // s² for u, so that the root at the curve's begin does no harm.
                let s = (f64::from(step) + 0.5) / f64::from(steps);
                let delay = (curve(base, failures as f64 - 1.0 + s * s) - waited).max(0.0);
                (delay.min(cap), 2.0 * s / f64::from(steps))
            };
            let mean: f64 = (0..steps).map(delay).map(|(delay, weight)| delay * weight).sum();
            let variance: f64 = (0..steps).map(delay).map(|(delay, weight)| (delay - mean).powi(2) * weight).sum();
            let cap_of_policy = if cap.is_finite() { ns(cap as u64) } else { Duration::ZERO };
            let law = law(Policy::polly(ns(base as u64)).with_cap(cap_of_policy), failures, waited as u64);
            let (found, spread) = (law.mean_ns(), law.variance_ns2());
            assert!((found / mean - 1.0).abs() < 1e-5, "{failures}, cap {cap}: {found} {mean}");
            assert!((spread / variance - 1.0).abs() < 1e-4, "{failures}, cap {cap}: {spread} {variance}");
        }
    }
}

/// A cap cuts a delay and leaves the curve alone, as in Polly: the next delay counts from the point that was drawn.
#[test]
fn a_cap_does_not_move_pollys_curve() {
    let policy = Policy::polly(ns(SECOND));
    let free: Vec<Duration> = policy.delays(Generator::stream(1, 2)).take(20).collect();
    let cut: Vec<Duration> = policy.with_cap(ns(3 * SECOND)).delays(Generator::stream(1, 2)).take(20).collect();
    let expected: Vec<Duration> = free.into_iter().map(|delay| delay.min(ns(3 * SECOND))).collect();
    assert_eq!(cut, expected);
}

fn span() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), (0..64_u32).prop_map(|bit| 1 << bit), 0..1000_u64]
}

proptest! {
    /// Every input has an answer within the bounds, and no delay passes the cap.
    #[test]
    fn every_input_has_an_answer(
        base in span(), ceiling in span(), cap in span(), priority in 1..1000_u32, percent in 0..200_u32,
        failures in prop_oneof![1..80_u64, any::<u64>()], previous in span(), word in any::<u64>(),
    ) {
        for jitter in [
            Jitter::DecorrelatedClamped,
            Jitter::Polly,
            Jitter::Dhcpv6 { percent, first_above: false },
            Jitter::Dhcpv6 { percent, first_above: true },
            Jitter::ProportionalClamped { percent },
            Jitter::AroundMillis { most: percent },
        ] {
            let policy = Policy::exponential(ns(base)).with_jitter(jitter).with_ceiling(ns(ceiling)).with_cap(ns(cap));
            let policy = policy.with_priority_percent(priority);
            let law = law(policy, failures.max(1), previous);
            let (shortest, longest) = (law.shortest_ns(), law.longest_ns());
            prop_assert!(cap == 0 || longest <= cap, "{:?}", policy);
            for drawn in [law.at_ns(word), law.at_ns(0), law.at_ns(u64::MAX), law.draw_ns(&mut Generator::new(word))] {
                prop_assert!((shortest..=longest).contains(&drawn), "{:?}: {} not in {}..={}", policy, drawn, shortest, longest);
            }
            let mean = law.mean_ns();
            let slack = 1e-6 * longest as f64 + 1.0;
            prop_assert!(mean >= shortest as f64 - slack && mean <= longest as f64 + slack, "{:?}: {}", law, mean);
            prop_assert!(law.variance_ns2() >= 0.0, "{:?}", law);
        }
    }

    /// An operation and the iterator draw the same delays, and each is what the law says.
    #[test]
    fn operations_and_iterators_agree(base in span(), cap in span(), seed in any::<u64>()) {
        for jitter in [
            Jitter::DecorrelatedClamped,
            Jitter::Polly,
            Jitter::Dhcpv6 { percent: 10, first_above: true },
            Jitter::ProportionalClamped { percent: 20 },
            Jitter::AroundMillis { most: 1000 },
        ] {
            let policy = Policy::exponential(ns(base)).with_jitter(jitter).with_cap(ns(cap));
            let (mut generator, mut words) = (Generator::new(seed), Generator::new(seed));
            let (mut retry, mut previous) = (Retry::starting_at(Duration::ZERO), None);
            for (failures, delay) in (1..).zip(policy.delays(Generator::new(seed)).take(70)) {
                prop_assert_eq!(retry.fail(&policy, Duration::ZERO, None, &mut generator), Ok(delay));
                let law = previous.map_or_else(|| policy.law(failures), |before| policy.law_after(failures, before));
                let (drawn, remembered) = law.expect("no limit").draw_and_remember_ns(&mut words);
                prop_assert_eq!(ns(drawn), delay);
                previous = Some(remembered);
            }
        }
    }
}
