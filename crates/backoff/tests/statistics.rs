//! The draws as chance would have them: written seeds, written thresholds. Every statistic is a number of standard
//! deviations, and lies within 5 of them: too even a spread would be as wrong as too uneven a one.

use core::time::Duration;

use backoff::{Generator, Law, Policy};

const SEED: u64 = 1975;
const LIMIT: f64 = 5.0;
const DRAWS: usize = 100_000;

fn draws(law: Law, seed: u64, stream: u64) -> Vec<u64> {
    let mut generator = Generator::stream(seed, stream);
    (0..DRAWS).map(|_| law.draw_ns(&mut generator)).collect()
}

fn law(policy: Policy, failures: u64) -> Law {
    policy.law(failures).expect("no limit")
}

/// Chi-square against the expected counts, in standard deviations of its distribution from its mean.
fn chi_square(counts: &[u64], expected: &[f64]) -> f64 {
    let terms = counts.iter().zip(expected).map(|(&count, expected)| (count as f64 - expected).powi(2) / expected);
    let freedom = counts.len() as f64 - 1.0;
    (terms.sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

/// Ranges that are no power of two: 1000 slots, 3 slots, and a number of nanoseconds cut into 100 equal parts.
#[test]
fn uniform_draws_are_as_uniform_as_chance() {
    let slot = Duration::from_nanos(1);
    for (name, law, parts) in [
        ("1000 slots", law(Policy::aloha_uniform(slot, 1000), 1), 1000),
        ("3 slots", law(Policy::slot_exponential(slot, 3, 9), 1), 3),
        ("3^6 slots", law(Policy::slot_exponential(slot, 3, 9), 6), 729),
        ("full jitter", law(Policy::full_jitter(Duration::from_nanos(12_345_678_899), slot * u32::MAX), 1), 100),
        ("Google HTTP", law(Policy::GOOGLE_HTTP, 3), 100),
        ("802.3", law(Policy::IEEE_802_3, 10), 1024),
    ] {
        for stream in 0..4 {
            let mut counts = vec![0; parts];
            let range = u128::from(law.longest_ns() - law.shortest_ns()) + 1;
            for drawn in draws(law, SEED, stream) {
                counts[(u128::from(drawn - law.shortest_ns()) * parts as u128 / range) as usize] += 1;
            }
            let deviation = chi_square(&counts, &vec![DRAWS as f64 / parts as f64; parts]);
            assert!(deviation.abs() < LIMIT, "{name}, seed {SEED}, stream {stream}: {deviation:.1}");
        }
    }
}

/// P(r) = p · (1 − p)^r, and the same in proportion where the cap cuts it.
#[test]
fn geometric_draws_are_as_geometric_as_chance() {
    let slot = Duration::from_nanos(1);
    for (slots, cap) in [(2_u32, 0), (16, 0), (16, 20), (100, 0), (100, 49), (1_000_000, 99)] {
        let law = law(Policy::aloha_geometric(slot, slots).with_cap(Duration::from_nanos(cap)), 1);
        let q = (f64::from(slots) - 1.0) / (f64::from(slots) + 1.0);
        let values = if cap == 0 { u64::MAX } else { cap + 1 };
        let all = 1.0 - q.powf(values as f64);
        // As many values as have 20 draws expected each; the rest are counted together.
        let shown = (0..values).take_while(|&r| DRAWS as f64 * (1.0 - q) * q.powi(r as i32) / all > 20.0).count();
        let mut expected: Vec<f64> = (0..shown).map(|r| DRAWS as f64 * (1.0 - q) * q.powi(r as i32) / all).collect();
        let rest = DRAWS as f64 - expected.iter().sum::<f64>();
        let mut counts = vec![0; shown + 1];
        draws(law, SEED, u64::from(slots)).iter().for_each(|&drawn| counts[shown.min(drawn as usize)] += 1);
        if rest > 20.0 {
            expected.push(rest);
        } else {
            assert!(counts.pop().is_some_and(|count| count < 100), "K {slots}: too many large values");
        }
        let deviation = chi_square(&counts[..expected.len()], &expected);
        assert!(deviation.abs() < LIMIT, "K {slots}, cap {cap}, seed {SEED}: {deviation:.1}");
    }
}

/// The sample's mean and variance against the functions that give them.
#[test]
fn the_sample_has_the_moments_of_the_law() {
    let slot = Duration::from_micros(10);
    for (name, law) in [
        ("802.3", law(Policy::IEEE_802_3, 5)),
        ("RCP", law(Policy::rcp(slot, [10, 100, 200]), 2)),
        ("ALOHA, geometric", law(Policy::aloha_geometric(slot, 50), 1)),
        ("Google Drive", law(Policy::GOOGLE_DRIVE, 5)),
        ("SimpleDB", law(Policy::AMAZON_SIMPLEDB, 3)),
        ("equal jitter", law(Policy::equal_jitter(slot, Duration::from_secs(1)), 9)),
    ] {
        let sample = draws(law, SEED, 7);
        let mean = sample.iter().map(|&drawn| drawn as f64).sum::<f64>() / DRAWS as f64;
        let deviation = (mean - law.mean_ns()) / (law.variance_ns2() / DRAWS as f64).sqrt();
        assert!(deviation.abs() < LIMIT, "{name}, seed {SEED}: the mean is {deviation:.1} off");
        let variance = sample.iter().map(|&drawn| (drawn as f64 - law.mean_ns()).powi(2)).sum::<f64>() / DRAWS as f64;
        assert!((variance / law.variance_ns2() - 1.0).abs() < 0.03, "{name}, seed {SEED}: {variance}");
    }
}

/// Correlation of two samples, in standard deviations.
fn correlation(one: &[u64], other: &[u64], law: Law) -> f64 {
    let centred = |drawn: u64| (drawn as f64 - law.mean_ns()) / law.variance_ns2().sqrt();
    let products = one.iter().zip(other).map(|(&one, &other)| centred(one) * centred(other));
    products.sum::<f64>() / (one.len().min(other.len()) as f64).sqrt()
}

/// A delay says nothing about the next 16.
#[test]
fn draws_are_not_correlated_with_later_ones() {
    for (name, law) in [("802.3", law(Policy::IEEE_802_3, 10)), ("Google HTTP", law(Policy::GOOGLE_HTTP, 4))] {
        let sample = draws(law, SEED, 1);
        for lag in 1..=16 {
            let deviation = correlation(&sample, &sample[lag..], law);
            assert!(deviation.abs() < LIMIT, "{name}, seed {SEED}, lag {lag}: {deviation:.1}");
        }
    }
}

/// Devices 1, 2, 3 … of one seed, and equal devices of seeds 1, 2, 3 …: a delay says nothing about the neighbour's.
#[test]
fn neighbours_are_not_correlated() {
    let law = law(Policy::full_jitter(Duration::from_secs(1), Duration::from_secs(9)), 1);
    for id in 1..=8 {
        let pairs =
            [(draws(law, SEED, id), draws(law, SEED, id + 1)), (draws(law, id, SEED), draws(law, id + 1, SEED))];
        for (one, other) in pairs {
            let deviation = correlation(&one, &other, law);
            assert!(deviation.abs() < LIMIT, "seed {SEED}, ids {id} and {}: {deviation:.1}", id + 1);
        }
    }
}
