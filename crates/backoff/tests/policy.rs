//! Every policy by its public door: the numbers of its source, its cap, its moments; total over all of `u64`.
//!
//! One file above 500 lines because each policy has its table of delays.

use core::time::Duration;

use backoff::{Generator, Jitter, Law, Policy};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const SECOND: Duration = Duration::from_secs(1);
const SLOT: Duration = Duration::from_micros(10);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn law(policy: Policy, failures: u64) -> Law {
    policy.law(failures).unwrap_or_else(|| panic!("{policy:?} gives up after {failures}"))
}

/// The bounds after failures 1, 2, 3 …, in units of `unit` nanoseconds.
fn bounds<const N: usize>(policy: Policy, unit: u64) -> [(u64, u64); N] {
    core::array::from_fn(|index| {
        let law = law(policy, index as u64 + 1);
        (law.shortest_ns() / unit, law.longest_ns() / unit)
    })
}

/// The delays of a policy without jitter, in milliseconds.
fn millis<const N: usize>(policy: Policy) -> [u64; N] {
    bounds(policy, MS).map(|(shortest, longest)| {
        assert_eq!(shortest, longest);
        longest
    })
}

/// One policy of each kind, with whatever could overflow.
fn every_policy(base: Duration, ceiling: Duration) -> Vec<Policy> {
    let timed = Policy::exponential(base);
    vec![
        Policy::IEEE_802_3,
        Policy::slot_exponential(base, 3, 7),
        Policy::slot_exponential(base, u32::MAX, u32::MAX),
        Policy::rcp(base, [10, 100, 200]),
        Policy::rcp(base, [0, u32::MAX]),
        Policy::aloha_uniform(base, 7),
        Policy::aloha_geometric(base, 1),
        Policy::aloha_geometric(base, 16),
        Policy::aloha_geometric(base, u32::MAX),
        Policy::SIP_TIMER_A.with_base(base),
        Policy::SIP_TIMER_E.with_base(base),
        Policy::GOOGLE_HTTP.with_base(base),
        Policy::GOOGLE_DRIVE.with_base(base),
        Policy::AMAZON_SIMPLEDB.with_base(base),
        Policy::POLLING.with_base(base),
        Policy::full_jitter(base, ceiling),
        Policy::equal_jitter(base, ceiling),
        Policy::decorrelated_jitter(base, ceiling),
        Policy::constant(base),
        Policy::linear(base, ceiling),
        Policy::fibonacci(base),
        timed.with_jitter(Jitter::Below),
        timed.with_multiplier_percent(400).with_jitter(Jitter::Equal),
        Policy::slot_exponential(base, 2, 63),
        Policy::slot_exponential(base, 2, 64),
        Policy::IEEE_802_3.with_ceiling(ceiling),
        timed.with_multiplier_percent(101).with_jitter(Jitter::Proportional { percent: u32::MAX }),
        timed.with_multiplier_percent(u32::MAX).with_jitter(Jitter::AddedMillis { most: u32::MAX }),
    ]
}

/// r slots, 0 ≤ r < 2^min(n,10); the 16th failure is the last (802.3, 4.2.3.2.5).
#[test]
fn ieee_802_3_is_the_backoff_in_nanoseconds() {
    let mut drawn = Policy::IEEE_802_3.delays(Generator::stream(1, 1));
    let (mut generator, mut slots) = (Generator::stream(1, 1), backoff::Backoff::new(backoff::Limits::IEEE_802_3));
    for collision in 1..=15 {
        let expected = slots.collide_with(&mut generator).expect("below attemptLimit") * 51_200;
        assert_eq!(drawn.next(), Some(Duration::from_nanos(expected)), "{collision}");
        let longest = backoff::Limits::IEEE_802_3.max_slots(collision as u32).expect("below attemptLimit") * 51_200;
        assert_eq!(law(Policy::IEEE_802_3, collision).longest_ns(), longest);
        assert_eq!(law(Policy::IEEE_802_3, collision).mean_ns(), longest as f64 / 2.0);
    }
    assert_eq!(drawn.next(), None);
    assert_eq!(drawn.next(), None);
}

#[test]
fn the_generalised_exponential_takes_any_base_and_limit() {
    let policy = Policy::slot_exponential(SLOT, 3, 4);
    assert_eq!(bounds(policy, 10_000), [(0, 2), (0, 8), (0, 26), (0, 80), (0, 80)]);
    assert_eq!(Policy::slot_exponential(SLOT, 0, 0), Policy::slot_exponential(SLOT, 2, 10));
    assert_eq!(Policy::slot_exponential(SLOT, 1, 10), Policy::slot_exponential(SLOT, 2, 10));
}

/// K = 10, 100, 200, 200 …: the bottom row of table III (Lam and Kleinrock 1975).
#[test]
fn the_rcp_has_the_intervals_of_its_paper() {
    let table = Policy::rcp(SLOT, [10, 100, 200]);
    assert_eq!(bounds(table, 10_000), [(0, 9), (0, 99), (0, 199), (0, 199), (0, 199)]);
    assert_eq!(Policy::rcp_multipliers(SLOT, [10, 10, 2]), table);
    assert_eq!(law(table, u64::MAX - 1).longest_ns(), 199 * 10_000);
}

/// The products of multipliers end at 2^64 − 1 slots, not at 2^32 − 1.
#[test]
fn products_of_multipliers_saturate_at_the_largest_word() {
    let nano = Duration::from_nanos(1);
    let policy = Policy::rcp_multipliers(nano, [u32::MAX, 9, 1 << 20, 1 << 20]);
    let most = u64::from(u32::MAX);
    let expected = [most - 1, most * 9 - 1, most * 9 * (1 << 20) - 1, u64::MAX - 1, u64::MAX - 1];
    assert_eq!(bounds(policy, 1).map(|(_, longest): (u64, u64)| longest), expected);
    assert_eq!(law(Policy::rcp_multipliers(nano, [5, 0, 7]), 3).longest_ns(), 0, "after a 0 there is no delay");
}

/// A ceiling holds at every failure, also where base^n has passed 2^64.
#[test]
fn a_ceiling_bounds_every_exponential_choice_of_slots() {
    for (base, exponents) in [(2, 64), (3, 200), (10, 200), (100, 200), (u32::MAX, 200)] {
        let policy = Policy::slot_exponential(SLOT, base, exponents).with_ceiling(SECOND);
        for failures in 1..=300 {
            assert!(law(policy, failures).longest_ns() <= 1_000_000_000, "base {base}, failure {failures}");
        }
        assert_eq!(law(policy, 300).longest_ns(), 1_000_000_000);
    }
    // Without a ceiling every word is a delay, as before.
    assert_eq!(law(Policy::slot_exponential(Duration::from_nanos(1), 100, 20), 10).longest_ns(), u64::MAX);
}

/// A ceiling cuts a geometric law and leaves p as it is; so it does what a cap of the same length does.
#[test]
fn a_ceiling_bounds_a_geometric_delay_and_keeps_its_proportions() {
    let ten = SLOT * 10;
    let ceiling = law(Policy::aloha_geometric(SLOT, 200).with_ceiling(ten), 1);
    assert_eq!(ceiling, law(Policy::aloha_geometric(SLOT, 200).with_cap(ten), 1));
    assert_eq!(ceiling.longest_ns(), 100_000);
    // Almost uniform over 0 to 10: the mean is a little below 5 slots. With p changed to 2/12 it was 5.0 without a bound.
    assert!((49_000.0..50_000.0).contains(&ceiling.mean_ns()), "{}", ceiling.mean_ns());
    let mut generator = Generator::new(1);
    assert!((0..10_000).all(|_| ceiling.draw_ns(&mut generator) <= 100_000));
    // Not to less than a slot.
    let short = law(Policy::aloha_geometric(SLOT, 200).with_ceiling(Duration::from_nanos(1)), 1);
    assert_eq!(short.longest_ns(), 10_000);
}

/// BEB is the RCP with K(m) = 2^m.
#[test]
fn the_binary_exponential_is_an_rcp() {
    let rcp = Policy::rcp_multipliers(SLOT, [2; 10]);
    for failures in 1..=40 {
        assert_eq!(law(rcp, failures), law(Policy::slot_exponential(SLOT, 2, 10), failures), "{failures}");
    }
}

/// 1/p = (K + 1)/2 keeps the mean of the uniform choice: (K − 1)/2 slots before the one that is used.
#[test]
fn both_alohas_wait_equally_long_on_average() {
    for intervals in [2, 3, 16, 1000, 1 << 20] {
        let (uniform, geometric) =
            (law(Policy::aloha_uniform(SLOT, intervals), 1), law(Policy::aloha_geometric(SLOT, intervals), 1));
        let mean = 10_000.0 * (f64::from(intervals) - 1.0) / 2.0;
        assert_eq!(uniform.mean_ns(), mean);
        assert!((geometric.mean_ns() / mean - 1.0).abs() < 1e-9, "{intervals}: {}", geometric.mean_ns());
        // (1 − p)/p² with p = 2/(K + 1).
        let p = 2.0 / (f64::from(intervals) + 1.0);
        let variance = 1e8 * (1.0 - p) / (p * p);
        assert!((geometric.variance_ns2() / variance - 1.0).abs() < 1e-9);
    }
}

/// Retransmissions of a non-INVITE request at 0.5, 1.5, 3.5, 7.5 … 31.5 s, and of an INVITE at 0.5 … 31.5 s: eleven
/// and seven requests in all (RFC 3261, 17.1.1.2 and 17.1.2.2). The elapsed limit is shown in `retry.rs`.
#[test]
fn the_sip_timers_are_those_of_the_rfc() {
    assert_eq!(millis(Policy::SIP_TIMER_E), [500, 1000, 2000, 4000, 4000, 4000]);
    assert_eq!(millis(Policy::SIP_TIMER_A), [500, 1000, 2000, 4000, 8000, 16_000, 32_000]);
    assert_eq!(Policy::SIP_TIMER_E.elapsed_limit_ns(), Some(32_000 * MS));
}

/// The table of the library's documentation: 0.5, 0.75, 1.125 … s times [0.5, 1.5], in units of 0.1 ms here.
#[test]
fn google_http_is_the_table_of_its_source() {
    let expected =
        [(2500, 7500), (3750, 11250), (5625, 16875), (8437, 25312), (12656, 37968), (18984, 56953), (28476, 85429)];
    assert_eq!(bounds(Policy::GOOGLE_HTTP, MS / 10), expected);
    assert_eq!(law(Policy::GOOGLE_HTTP, 100).longest_ns(), 90_000 * MS);
    let capped = law(Policy::GOOGLE_HTTP.with_cap(Duration::from_secs(75)), 100);
    assert_eq!((capped.shortest_ns(), capped.longest_ns()), (15_000 * MS, 75_000 * MS), "moved down, width kept");
    let narrow = law(Policy::GOOGLE_HTTP.with_cap(Duration::from_secs(20)), 100);
    assert_eq!((narrow.shortest_ns(), narrow.longest_ns()), (0, 20_000 * MS));
}

/// 2^N s + [0, 1000] ms for N = 0 … 4: five delays.
#[test]
fn google_drive_ends_after_five_delays() {
    let expected = [(1000, 2000), (2000, 3000), (4000, 5000), (8000, 9000), (16_000, 17_000)];
    assert_eq!(bounds(Policy::GOOGLE_DRIVE, MS), expected);
    assert_eq!(Policy::GOOGLE_DRIVE.law(6), None);
    let delays: Vec<_> = Policy::GOOGLE_DRIVE.delays(Generator::new(1)).collect();
    assert_eq!(delays.len(), 5);
    assert!(delays.iter().all(|delay| delay.as_nanos() % u128::from(MS) == 0), "whole milliseconds: {delays:?}");
}

/// [0, 400), [0, 1600) … [0, 102400) ms: the upper end is not reached.
#[test]
fn amazon_simpledb_stays_below_its_bounds() {
    let ends: [(u64, u64); 5] = bounds(Policy::AMAZON_SIMPLEDB, 1);
    assert_eq!(ends.map(|(_, longest)| longest + 1), [400, 1600, 6400, 25_600, 102_400].map(|millis| millis * MS));
}

/// The presets of 2026, each as its table.
#[test]
fn the_presets_are_the_tables_of_their_sources() {
    assert_eq!(bounds(Policy::AWS_STANDARD, MS), [(0, 50), (0, 100)]);
    assert_eq!(Policy::AWS_STANDARD.law(3), None, "three attempts");
    assert_eq!(bounds(Policy::AWS_THROTTLING, MS), [(0, 1000), (0, 2000)]);
    assert_eq!(bounds(Policy::AWS_DYNAMODB, MS), [(0, 25), (0, 50), (0, 100)]);
    assert_eq!(Policy::AWS_DYNAMODB.law(4), None, "four attempts");
    let longer = Policy::AWS_STANDARD.with_attempt_limit(0);
    assert_eq!(law(longer, 20).longest_ns(), 20_000 * MS);
    assert_eq!(bounds(Policy::AWS_STANDARD_BEFORE, MS), [(0, 1000), (0, 2000)]);
    assert_eq!(millis(Policy::KUBERNETES_QUEUE), [5, 10, 20, 40, 80, 160, 320, 640, 1280]);
    assert_eq!(law(Policy::KUBERNETES_QUEUE, 19).longest_ns(), 1_000_000 * MS);
    assert_eq!(millis(Policy::KUBERNETES_CRASH_LOOP), [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    assert_eq!(millis(Policy::TCP_RTO), [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    let restart = |last| Policy::systemd_restart(Duration::from_secs(1), 2, Duration::from_secs(last));
    assert_eq!(millis(restart(4)), [1000, 2000, 4000, 4000]);
    assert_eq!(millis(restart(0)), [1000, 1000], "without RestartMaxDelaySec no step");
    let below = Policy::systemd_restart(Duration::from_secs(1), 2, Duration::from_millis(300));
    assert_eq!(millis(below), [1000; 4], "RestartMaxDelaySec below RestartSec is none");
    assert_eq!(bounds(Policy::TRICKLE, 1), [(4 * MS, 8 * MS - 1), (8 * MS, 16 * MS - 1)]);
    assert_eq!(law(Policy::TRICKLE, 30).longest_ns() + 1, (8 * MS) << 20);
    assert_eq!(bounds(Policy::IEEE_802_15_4, 320_000), [(0, 7), (0, 15), (0, 31), (0, 31), (0, 31)]);
    assert_eq!(Policy::IEEE_802_15_4.law(6), None);
    assert_eq!(bounds(Policy::GRPC_RETRY, MS), [(80, 120), (160, 240), (320, 480)]);
    assert_eq!(Policy::GRPC_RETRY.law(4), None);
    assert_eq!(bounds(Policy::ENVOY.with_attempt_limit(0), MS), [(0, 24), (0, 74), (0, 174), (0, 249)]);
    assert_eq!(Policy::ENVOY.law(2), None, "one retry");
    assert_eq!(millis(Policy::CURL), [1000, 2000, 4000, 8000, 16_000]);
    assert_eq!(law(Policy::CURL, 11).longest_ns(), 600_000 * MS);
    assert_eq!(bounds(Policy::OTLP, 100_000), [(25_000, 75_000), (37_500, 112_500), (56_250, 168_750)]);
    assert_eq!(law(Policy::OTLP, 20).longest_ns(), 45_000 * MS);
    assert_eq!(bounds(Policy::KAFKA, MS), [(80, 120), (160, 240), (320, 480), (640, 960), (1000, 1000)]);
    assert_eq!(bounds(Policy::DHCPV4, 1000 * MS), [(3, 5), (7, 9), (15, 17), (31, 33), (63, 65), (63, 65)]);
}

/// A draw above the cap becomes the cap, and delays around one another are never negative.
#[test]
fn the_new_jitters_stay_in_their_bounds() {
    let kafka = Policy::KAFKA.with_ceiling(SECOND);
    let (mean, _) = law(kafka, 9).moments();
    assert!((mean - 950e6).abs() < 1e3, "half of [800, 1000] ms, and the cap: {mean}");
    let mut delays = kafka.delays(Generator::new(5)).skip(8);
    let capped = (0..3000).filter(|_| delays.next() == Some(SECOND)).count();
    assert!((1350..1650).contains(&capped), "{capped} of 3000 at the cap");
    let around = Policy::constant(ms(400)).with_jitter(Jitter::AroundMillis { most: 1000 });
    assert_eq!(bounds(around, MS), [(0, 1400)]);
}

#[test]
fn polling_constant_linear_and_fibonacci_count_from_their_base() {
    assert_eq!(millis(Policy::POLLING.with_cap(SECOND)), [100, 200, 400, 800, 1000, 1000]);
    assert_eq!(millis(Policy::constant(ms(70))), [70, 70, 70]);
    assert_eq!(millis(Policy::linear(ms(100), ms(50))), [100, 150, 200, 250]);
    assert_eq!(millis(Policy::fibonacci(ms(10))), [10, 10, 20, 30, 50, 80, 130]);
}

/// random(0, min(cap, base · 2^n)) and the half of it plus random(0, the half) (AWS Architecture Blog, 2015).
#[test]
fn the_jitters_have_the_ranges_of_their_source() {
    let (base, ceiling) = (ms(100), ms(1000));
    assert_eq!(bounds(Policy::full_jitter(base, ceiling), MS), [(0, 100), (0, 200), (0, 400), (0, 800), (0, 1000)]);
    assert_eq!(
        bounds(Policy::equal_jitter(base, ceiling), MS),
        [(50, 100), (100, 200), (200, 400), (400, 800), (500, 1000)]
    );
}

/// random(base, 3 · the delay before), and all of [0, cap] where that would pass the cap: never the cap alone.
#[test]
fn decorrelated_jitter_follows_the_delay_before() {
    let policy = Policy::decorrelated_jitter(ms(100), ms(1000));
    let range = |previous| {
        let law = policy.law_after(2, previous * MS).expect("no limit");
        (law.shortest_ns() / MS, law.longest_ns() / MS)
    };
    assert_eq!(
        [0, 20, 100, 200, 350, 900, 1000].map(range),
        [(100, 100), (100, 100), (100, 300), (100, 600), (50, 1000), (0, 1000), (0, 1000)]
    );
    let mut same = Policy::decorrelated_jitter(ms(100), ms(100)).delays(Generator::new(2));
    assert!((0..100).filter_map(|_| same.next()).any(|delay| delay > Duration::ZERO), "base = cap is not 0 for ever");
}

/// Emergency traffic backs off less, also at the ceiling; other traffic may back off more, up to the cap.
#[test]
fn priority_scales_the_delay_before_jitter() {
    let policy = Policy::full_jitter(ms(100), ms(400)).with_priority_percent(25);
    assert_eq!(bounds(policy, MS), [(0, 25), (0, 50), (0, 100), (0, 100)]);
    let slow = Policy::POLLING.with_priority_percent(300).with_cap(SECOND);
    assert_eq!(millis(slow), [300, 600, 1000]);
    let slots = Policy::IEEE_802_3.with_priority_percent(50);
    assert_eq!(bounds(slots, 51_200), [(0, 1), (0, 1), (0, 3), (0, 7), (0, 15)]);
    assert_eq!(law(Policy::constant(Duration::from_nanos(1)).with_priority_percent(1), 1).longest_ns(), 1);
}

/// Zero means the default, so that a field that is left out makes no storm.
#[test]
fn a_base_a_slot_and_a_cap_of_0_are_the_defaults() {
    let zero = Duration::ZERO;
    assert_eq!(Policy::exponential(zero), Policy::POLLING);
    assert_eq!(Policy::constant(zero), Policy::constant(ms(100)));
    assert_eq!(Policy::fibonacci(zero), Policy::fibonacci(ms(100)));
    assert_eq!(Policy::slot_exponential(zero, 2, 10).with_attempt_limit(16), Policy::IEEE_802_3);
    let policy = Policy::full_jitter(zero, SECOND);
    let same = policy.with_cap(zero).with_attempt_limit(0).with_elapsed_limit(zero).with_priority_percent(0);
    assert_eq!(same, policy);
    for policy in every_policy(zero, zero) {
        let (mut delays, mut waited) = (policy.delays(Generator::new(9)), false);
        (0..40).for_each(|_| waited |= delays.next().is_some_and(|delay| delay > zero));
        assert!(waited || matches!(policy, p if p == Policy::aloha_geometric(zero, 1)), "a storm: {policy:?}");
    }
}

/// In slots, whole slots; the cap is met exactly where it is one, and kept where not even one slot fits.
#[test]
fn a_cap_keeps_whole_slots_while_one_fits() {
    let policy = Policy::slot_exponential(SLOT, 2, 10);
    assert_eq!(law(policy.with_cap(Duration::from_micros(75)), 9), law(Policy::aloha_uniform(SLOT, 8), 1));
    let tiny = law(policy.with_cap(Duration::from_micros(3)), 9);
    assert_eq!((tiny.shortest_ns(), tiny.longest_ns()), (0, 3000));
    let geometric = law(Policy::aloha_geometric(SLOT, 16).with_cap(Duration::from_micros(35)), 1);
    assert_eq!(geometric.longest_ns(), 30_000);
}

/// Every value of small laws, from the words at the middle of its share: the mean and the variance are those of the
/// formulas, exactly.
#[test]
fn the_moments_of_small_laws_are_exact() {
    for top in 0..200_u64 {
        let law = law(Policy::aloha_uniform(SLOT, top as u32 + 1), 1);
        let values: Vec<f64> = (0..=top).map(|slot| (slot * 10_000) as f64).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
        assert_eq!(law.mean_ns(), mean, "{top}");
        assert!((law.variance_ns2() - variance).abs() <= 1e-12 * variance, "{top}");
        for slot in 0..=top {
            let word = ((u128::from(slot) * 2 + 1) << 63) / u128::from(top + 1);
            assert_eq!(law.at_ns(word as u64), slot * 10_000, "{top}");
        }
    }
}

/// The closed form beyond the sums, against the law without a cut and against a sum of its own.
#[test]
fn the_moments_of_a_cut_geometric_law_are_those_of_its_sum() {
    for (slots, values) in [(1000_u32, 70_000_u64), (40_000, 70_000), (100_000, 80_000)] {
        let cap = Duration::from_nanos(10_000 * (values - 1));
        let law = law(Policy::aloha_geometric(SLOT, slots).with_cap(cap), 1);
        let q = (f64::from(slots) - 1.0) / (f64::from(slots) + 1.0);
        let (mut weights, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for value in 0..values {
            let weight = q.powf(value as f64);
            weights += weight;
            sum += weight * value as f64;
            squares += weight * (value as f64).powi(2);
        }
        let (mean, variance) = (sum / weights, squares / weights - (sum / weights).powi(2));
        assert!((law.mean_ns() / (1e4 * mean) - 1.0).abs() < 1e-7, "{slots}");
        assert!((law.variance_ns2() / (1e8 * variance) - 1.0).abs() < 1e-5, "{slots}");
    }
}

/// Where q is so near to 1 that every difference of the closed form cancels: the numbers are those of the same formulas
/// worked out with 60 decimal digits.
#[test]
fn the_moments_of_a_cut_geometric_law_do_not_cancel() {
    let nano = Duration::from_nanos(1);
    for (slots, values, mean, variance) in REFERENCE_MOMENTS {
        let law = law(Policy::aloha_geometric(nano, slots).with_cap(Duration::from_nanos(values - 1)), 1);
        let (found_mean, found_variance) = (law.mean_ns(), law.variance_ns2());
        assert!((found_mean / mean - 1.0).abs() < 1e-10, "K = {slots}, {values} values: mean {found_mean}, not {mean}");
        let close = (found_variance / variance - 1.0).abs() < 1e-9;
        assert!(close, "K = {slots}, {values} values: variance {found_variance}, not {variance}");
    }
}

/// K, how many values are left of the law, mean and variance.
#[rustfmt::skip]
const REFERENCE_MOMENTS: [(u32, u64, f64, f64); 81] = [
    (2, 2, 0.25, 0.1875),
    (2, 50, 0.5, 0.75),
    (2, 65, 0.5, 0.75),
    (2, 100, 0.5, 0.75),
    (2, 1000, 0.5, 0.75),
    (2, 70000, 0.5, 0.75),
    (2, 10000000, 0.5, 0.75),
    (2, 1000000000, 0.5, 0.75),
    (2, 1000000000000, 0.5, 0.75),
    (3, 2, 0.3333333333333333, 0.2222222222222222),
    (3, 50, 0.9999999999999556, 1.9999999999977796),
    (3, 65, 1.0, 1.9999999999999998),
    (3, 100, 1.0, 2.0),
    (3, 1000, 1.0, 2.0),
    (3, 70000, 1.0, 2.0),
    (3, 10000000, 1.0, 2.0),
    (3, 1000000000, 1.0, 2.0),
    (3, 1000000000000, 1.0, 2.0),
    (16, 2, 0.46875, 0.2490234375),
    (16, 50, 7.404077771493889, 58.94468750077287),
    (16, 65, 7.480954492980714, 62.51167931240877),
    (16, 100, 7.499633363785646, 63.713336244142496),
    (16, 1000, 7.5, 63.75),
    (16, 70000, 7.5, 63.75),
    (16, 10000000, 7.5, 63.75),
    (16, 1000000000, 7.5, 63.75),
    (16, 1000000000000, 7.5, 63.75),
    (200, 2, 0.4975, 0.24999375),
    (200, 50, 22.426112065562172, 205.67140194782738),
    (200, 65, 28.504517014544597, 344.68500160731094),
    (200, 100, 41.30309654565332, 793.1800828907827),
    (200, 1000, 99.45460179256042, 9954.34973156319),
    (200, 70000, 99.5, 9999.75),
    (200, 10000000, 99.5, 9999.75),
    (200, 1000000000, 99.5, 9999.75),
    (200, 1000000000000, 99.5, 9999.75),
    (1000, 2, 0.4995, 0.24999975),
    (1000, 50, 24.083569289139074, 208.14587460212653),
    (1000, 65, 31.296198026023422, 351.70268880484815),
    (1000, 100, 47.83460949956509, 831.5859740461539),
    (1000, 1000, 342.98247792729745, 68984.4932115185),
    (1000, 70000, 499.5, 249999.75),
    (1000, 10000000, 499.5, 249999.75),
    (1000, 1000000000, 499.5, 249999.75),
    (1000, 1000000000000, 499.5, 249999.75),
    (40000, 2, 0.4999875, 0.24999999984375),
    (40000, 50, 24.4895875010829, 208.24993489585987),
    (40000, 65, 31.9824000030954, 351.99981405607787),
    (40000, 100, 49.45833751735242, 833.2489583343768),
    (40000, 1000, 495.3335110999098, 83322.83436663805),
    (40000, 70000, 17819.863853592822, 242674655.7707727),
    (40000, 10000000, 19999.5, 399999999.75),
    (40000, 1000000000, 19999.5, 399999999.75),
    (40000, 1000000000000, 19999.5, 399999999.75),
    (1000000, 2, 0.4999995, 0.24999999999975),
    (1000000, 50, 24.49958350000007, 208.24999989583335),
    (1000000, 65, 31.999296000000196, 351.9999997024896),
    (1000000, 100, 49.49833350000111, 833.2499983333333),
    (1000000, 1000, 499.33333351111105, 83333.23333333599),
    (1000000, 70000, 34183.099986842186, 407933477.61069846),
    (1000000, 10000000, 499999.4793884637, 249999793884.3869),
    (1000000, 1000000000, 499999.5, 249999999999.75),
    (1000000, 1000000000000, 499999.5, 249999999999.75),
    (100000000, 2, 0.499999995, 0.24999999999999997),
    (100000000, 50, 24.499995835, 208.24999999998957),
    (100000000, 65, 31.99999296, 351.99999999997027),
    (100000000, 100, 49.499983335, 833.2499999998333),
    (100000000, 1000, 499.498333335, 83333.24999833334),
    (100000000, 70000, 34991.333333601775, 408333293.23333645),
    (100000000, 10000000, 4833443.838730054, 8316693084704.042),
    (100000000, 1000000000, 49999997.43884637, 2499997938846369.0),
    (100000000, 1000000000000, 49999999.5, 2500000000000000.0),
    (4294967295, 2, 0.4999999998835847, 0.25),
    (4294967295, 50, 24.499999903026037, 208.25),
    (4294967295, 65, 31.999999836087227, 352.0),
    (4294967295, 100, 49.49999961198773, 833.2499999999999),
    (4294967295, 1000, 499.49996119493153, 83333.2499999991),
    (4294967295, 70000, 34999.309854974344, 408333333.22830695),
    (4294967295, 10000000, 4996118.990673951, 8333324298322.916),
    (4294967295, 1000000000, 461334414.0072877, 8.243754736527976e+16),
    (4294967295, 1000000000000, 2147483647.0, 4.611686016279904e+18),
];

fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![any::<u64>().prop_map(Duration::from_nanos), (0..64_u32).prop_map(|bit| Duration::from_nanos(1 << bit))]
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..100_u64, Just(u64::MAX), Just(u64::MAX - 1)]
}

proptest! {
    /// Never above the cap, full spread at the cap, draws inside the bounds, moments inside them too: for every policy, every
    /// count, every word.
    #[test]
    fn every_input_has_an_answer_within_the_bounds(
        base in span(), ceiling in span(), cap in span(), priority in any::<u32>(),
        failures in count(), previous in any::<u64>(), word in any::<u64>(),
    ) {
        for policy in every_policy(base, ceiling) {
            let free = policy.with_priority_percent(priority).with_attempt_limit(0).with_cap(Duration::ZERO);
            let capped = if cap.is_zero() { free } else { free.with_cap(cap) };
            let (wide, law) = (free.law_after(failures, previous), capped.law_after(failures, previous));
            let (wide, law) = (wide.expect("no limit"), law.expect("no limit"));
            let (shortest, longest) = (law.shortest_ns(), law.longest_ns());
            if !cap.is_zero() {
                prop_assert!(u128::from(longest) <= cap.as_nanos(), "{:?}", capped);
                if u128::from(wide.longest_ns()) > cap.as_nanos() && wide.shortest_ns() < wide.longest_ns() {
                    prop_assert!(shortest < longest, "no spread at the cap: {:?}", capped);
                }
            }
            for drawn in [law.at_ns(word), law.at_ns(0), law.at_ns(u64::MAX), law.draw_ns(&mut Generator::new(word))] {
                prop_assert!((shortest..=longest).contains(&drawn), "{:?}", capped);
            }
            let mean = law.mean_ns();
            prop_assert!(mean >= shortest as f64 * 0.999_999 && mean <= longest as f64 * 1.000_001, "{:?}: {}", law, mean);
            prop_assert!(law.variance_ns2() >= 0.0, "{:?}: {}", law, law.variance_ns2());
        }
    }

    /// The iterator keeps what it can from delay to delay; what it draws is what the laws say, for every policy.
    #[test]
    fn the_iterator_draws_from_the_laws(
        base in span(), ceiling in span(), cap in span(), priority in prop_oneof![Just(100), any::<u32>()], seed in any::<u64>(),
    ) {
        for policy in every_policy(base, ceiling) {
            for policy in [policy, policy.with_cap(cap), policy.with_cap(cap).with_priority_percent(priority)] {
                let (mut delays, mut generator) = (policy.delays(Generator::new(seed)), Generator::new(seed));
                for round in 0..2 {
                    // Before the first delay decorrelated jitter takes the base for the delay before, as `law` does.
                    let mut previous = None;
                    for failures in 1..=70 {
                        let law = match previous {
                            None => policy.law(failures),
                            Some(previous) => policy.law_after(failures, previous),
                        };
                        let drawn = law.map(|law| law.draw_ns(&mut generator));
                        let delay = delays.next().map(|delay| delay.as_nanos() as u64);
                        prop_assert_eq!(delay, drawn, "round {}, failure {}: {:?}", round, failures, policy);
                        previous = drawn.or(previous);
                    }
                    delays.reset();
                }
            }
        }
    }

    /// Without jitter a later failure never waits less.
    #[test]
    fn growth_never_falls(base in span(), percent in 0..1000_u32, failures in 1..200_u64) {
        let policy = Policy::exponential(base).with_multiplier_percent(percent);
        prop_assert!(law(policy, failures).longest_ns() <= law(policy, failures + 1).longest_ns());
    }
}
