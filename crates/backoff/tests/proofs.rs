//! Where a domain is small, all of it; where it is all of `u64`, the few words at which anything can change.

use core::convert::Infallible;
use core::time::Duration;

use backoff::rand_core::TryRng;
use backoff::{Jitter, Law, Policy};
use proptest::prelude::*;

const SLOT: Duration = Duration::from_nanos(1);

fn law(policy: Policy, failures: u64) -> Law {
    policy.law(failures).unwrap_or_else(|| panic!("{policy:?} gives up after {failures}"))
}

/// A generator that gives the words it was made of, and counts them.
struct Script<'a> {
    words: &'a [u64],
    taken: usize,
}

impl TryRng for Script<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("a draw takes whole words")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.taken += 1;
        Ok(self.words[self.taken - 1])
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("a draw takes whole words")
    }
}

/// What the law draws with `word` first, and whether it took that word.
fn drawn(law: Law, word: u64) -> (u64, bool) {
    // The largest word is taken by every law: its product's low half is 2^64 − m.
    let mut script = Script { words: &[word, u64::MAX], taken: 0 };
    (law.draw_ns(&mut script), script.taken == 1)
}

/// Of 2^64 words, every value of a uniform law is given by exactly floor(2^64 / m) of them, m values in all.
///
/// The words that lead to value v are those from ceil(v · 2^64 / m) up to the next value's first; the delay never
/// falls as the word grows. The first of them alone can be refused: for every later one, the low half of word · m is m at
/// least, and 2^64 mod m is less. So both ends of each interval, and whether its first word is taken, are the whole domain.
#[test]
fn every_value_has_equally_many_words() {
    let two_to_the_64 = 1_u128 << 64;
    for values in (1..=300_u32).chain([1000, 1023, 1024, 1025, 4097, 10_007]) {
        let law = law(Policy::aloha_uniform(SLOT, values), 1);
        let first_of = |value: u32| (u128::from(value) * two_to_the_64).div_ceil(u128::from(values));
        for value in 0..values {
            let (first, next) = (first_of(value), first_of(value + 1));
            let (drawn_first, taken) = drawn(law, first as u64);
            assert!(!taken || drawn_first == u64::from(value), "{value} of {values}");
            for word in [first + 1, next - 1] {
                assert_eq!(drawn(law, word as u64), (value.into(), true), "{value} of {values}, word {word:#x}");
            }
            let words = next - first - u128::from(!taken);
            assert_eq!(words, two_to_the_64 / u128::from(values), "{value} of {values}");
        }
    }
}

/// A whole number of any size, the low digits first, in base 2^32.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Whole(Vec<u32>);

impl Whole {
    fn of(value: u64) -> Whole {
        Whole(vec![value as u32, (value >> 32) as u32])
    }

    fn times(&self, factor: u64) -> Whole {
        let mut carry = 0_u128;
        let mut digits: Vec<u32> = Vec::with_capacity(self.0.len() + 2);
        for digit in &self.0 {
            carry += u128::from(*digit) * u128::from(factor);
            digits.push(carry as u32);
            carry >>= 32;
        }
        digits.extend([carry as u32, (carry >> 32) as u32]);
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Whole(digits)
    }

    fn is_at_most(&self, other: &Whole) -> bool {
        let digit = |whole: &Whole, place: usize| whole.0.get(place).copied().unwrap_or(0);
        let places = (0..self.0.len().max(other.0.len())).rev();
        let pairs = places.map(|place| (digit(self, place), digit(other, place)));
        pairs.into_iter().find(|(one, two)| one != two).is_none_or(|(one, two)| one < two)
    }
}

/// base · (p/100)^(n−1) for every n until it stays at the largest word, against whole numbers of any size: rounded
/// down exactly as long as (p/100)'s numerator to that power fits a word, and within one part in 2^48, or 1 ns, beyond.
#[test]
fn growth_is_that_of_its_formula_up_to_saturation() {
    for percent in [101, 110, 120, 125, 130, 150, 160, 175, 180, 200, 225, 250, 300, 320, 400, 999, 1000, 6400, 6550] {
        for base in [1, 3, 999_999_937, 100_000_000, u64::MAX / 3] {
            let policy = Policy::exponential(Duration::from_nanos(base)).with_multiplier_percent(percent);
            // base · p^(n−1) and 100^(n−1).
            let (mut exact, mut hundreds) = (Whole::of(base), Whole::of(1));
            for failures in 1.. {
                let delay = law(policy, failures).longest_ns();
                let reaches = |delay: u64| hundreds.times(delay).is_at_most(&exact);
                if delay == u64::MAX {
                    assert!(reaches(u64::MAX - (1 << 17)), "{base} · {percent} %, {failures}: saturated too soon");
                    break;
                }
                // Beyond the powers that fit a word.
                let approximate = u64::from(percent / divisor(percent)).checked_pow(failures as u32 - 1).is_none();
                let slack = if approximate { (delay >> 48) + 1 } else { 0 };
                let low = reaches(delay.saturating_sub(slack));
                assert!(low && !reaches(delay.saturating_add(slack + 1)), "{base} · {percent} %, {failures}: {delay}");
                (exact, hundreds) = (exact.times(percent.into()), hundreds.times(100));
            }
        }
    }
}

/// The greatest common one with 100.
fn divisor(percent: u32) -> u32 {
    (1..=100).rev().find(|divisor| percent.is_multiple_of(*divisor) && 100_u32.is_multiple_of(*divisor)).unwrap_or(1)
}

/// The other growths, until each stays where it is.
#[test]
fn the_growths_of_whole_numbers_are_those_of_their_formulas() {
    let capped = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
    for base in [1_u64, 100_000_000, 1 << 62] {
        let (mut last, mut this) = (0_u128, 1_u128);
        for failures in 1..=110_u64 {
            let fibonacci = law(Policy::fibonacci(Duration::from_nanos(base)), failures).longest_ns();
            assert_eq!(fibonacci, capped(this.saturating_mul(base.into())), "F({failures}) · {base}");
            (last, this) = (this, this.saturating_add(last));
            for increment in [0, 1, 7_000_000_000, 1 << 60] {
                let policy = Policy::linear(Duration::from_nanos(base), Duration::from_nanos(increment));
                let expected = u128::from(base) + u128::from(increment) * u128::from(failures - 1);
                assert_eq!(law(policy, failures).longest_ns(), capped(expected), "{base} + {increment}, {failures}");
            }
        }
    }
    for (base, limit) in (2..=17_u32).flat_map(|base| [1, 2, 10, 15, 63, 64, 200].map(|limit| (base, limit))) {
        for failures in 1..=210_u64 {
            let slots = u128::from(base).saturating_pow(failures.min(limit.into()) as u32).min(1 << 64);
            let longest = law(Policy::slot_exponential(SLOT, base, limit), failures).longest_ns();
            // K is a `u64`; only 2^64 itself, which every word fits, is kept besides.
            let expected = if base != 2 && slots > u128::from(u64::MAX) { slots.min(1 << 64) } else { slots } - 1;
            assert_eq!(u128::from(longest), expected, "{base}^min({failures}, {limit})");
        }
    }
}

fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![1..=u64::MAX, (0..64_u32).prop_map(|bit| 1 << bit)].prop_map(Duration::from_nanos)
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![1..u64::MAX, 1..100_u64, Just(u64::MAX - 1)]
}

proptest! {
    /// At the cap the range ends there to the nanosecond, and keeps its width as far as there is room: for every jitter
    /// that counts nanoseconds.
    #[test]
    fn the_cap_keeps_the_whole_spread(
        base in span(), ceiling in span(), cap in span(), percent in 100..1000_u32, share in any::<u32>(),
        failures in count(), previous in any::<u64>(),
    ) {
        let growing = Policy::exponential(base).with_multiplier_percent(percent).with_ceiling(ceiling);
        let cap_ns = cap.as_nanos() as u64;
        for jitter in [
            Jitter::None, Jitter::Full, Jitter::Below, Jitter::Equal, Jitter::Proportional { percent: share }, Jitter::Decorrelated,
        ] {
            let free = growing.with_jitter(jitter);
            let law = |policy: Policy| policy.law_after(failures, previous).expect("no limit");
            let (wide, capped) = (law(free), law(free.with_cap(cap)));
            if wide.longest_ns() <= cap_ns {
                prop_assert_eq!(wide, capped);
                continue;
            }
            prop_assert_eq!(capped.longest_ns(), cap_ns, "{:?}", free);
            let width = wide.longest_ns() - wide.shortest_ns();
            prop_assert_eq!(capped.longest_ns() - capped.shortest_ns(), width.min(cap_ns), "{:?}", free);
        }
    }

    /// No storm: with any numbers, a client waits on average at least a quarter of the shortest that it was told to
    /// wait for, if that is 2 ns or more; and at any priority it waits at all.
    #[test]
    fn no_policy_hammers(
        base in span(), ceiling in span(), cap in span(), priority in any::<u32>(), failures in count(), previous in any::<u64>(),
    ) {
        let slotted = Policy::slot_exponential(base, 2, 10);
        for policy in [
            slotted, Policy::rcp(base, [2, 3]), Policy::aloha_uniform(base, 2), Policy::aloha_geometric(base, 2),
            Policy::SIP_TIMER_A.with_base(base), Policy::SIP_TIMER_E.with_base(base), Policy::GOOGLE_HTTP.with_base(base),
            Policy::GOOGLE_DRIVE.with_base(base).with_attempt_limit(0), Policy::AMAZON_SIMPLEDB.with_base(base * 2),
            Policy::POLLING.with_base(base), Policy::full_jitter(base, Duration::ZERO), Policy::equal_jitter(base, Duration::ZERO),
            Policy::decorrelated_jitter(base, Duration::ZERO), Policy::constant(base), Policy::linear(base, ceiling),
            Policy::fibonacci(base),
        ] {
            let least = base.min(ceiling).min(cap).as_nanos() as f64;
            let asked = policy.with_cap(cap).with_ceiling(ceiling);
            let law = asked.law_after(failures, previous).expect("no limit");
            prop_assert!(law.mean_ns() >= least / 4.0 || least < 2.0, "{:?}: {} of {}", asked, law.mean_ns(), least);
            let hurried = asked.with_priority_percent(priority).law_after(failures, previous).expect("no limit");
            prop_assert!(hurried.longest_ns() > 0 || least < 2.0, "{:?}", asked);
        }
    }
}
