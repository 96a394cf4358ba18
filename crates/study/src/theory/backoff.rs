//! Bounds, mean and variance of the delay after the n-th collision, in slots.
//!
//! A delay of r slots means: the next attempt is in slot r + 1 after the collision.

use super::{Answer, Refusal, Value};
use sim::words::contention::after_a_collision;

const SOURCE: &str = "IEEE 802.3, 4.2.3.2.5: r in 0 to 2^min(n, 10) - 1, so E(c) = (2^c - 1)/2; Lam, dissertation, 1974, \
    chapters 5 and 6: one of K slots, (K - 1)/2 and (K^2 - 1)/12; the chance p = 2/(K + 1), (1 - p)/p and (1 - p)/p^2";
const HOLDS: &str = "each delay by itself; how many there are depends on the channel";

/// Delays that an answer shows if it is not told which.
const SHOWN: u32 = 16;
/// attemptLimit: there is no delay after the 16th collision (IEEE 802.3, 4.4.2).
const ATTEMPT_LIMIT: u32 = 16;
/// The largest exponent of a range.
const MOST_EXPONENT: u32 = 52;

/// The largest base of a range that grows.
const MOST_BASE: u64 = 1000;

/// A policy that counts slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// r in 0 to 2^min(n, limit) − 1; after `attempts` collisions there is none.
    Binary {
        /// The exponent from which on the range stays.
        limit: u32,
        /// The collision that is the last.
        attempts: u32,
    },
    /// r in 0 to B^n − 1, without a ceiling and without a last collision.
    Unbounded(u64),
    /// r in 0 to K(n) − 1, K(1), K(2) … as given, the last one from then on.
    Table(Vec<u64>),
    /// In each slot with the chance p = 2/(K + 1).
    Geometric(u64),
}

/// What is known of one delay, in slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// The shortest.
    pub shortest: f64,
    /// The longest; `None` if there is none.
    pub longest: Option<f64>,
    /// The mean.
    pub mean: f64,
    /// The variance, in slots squared.
    pub variance: f64,
}

impl Policy {
    /// Reads `beb`, `beb:1024` (the largest range), `exponential:2,none` (without a ceiling), `uniform:60`, `geometric:60`, `rcp:1,10,100,200` (in the notation of
    /// [`after_a_collision`]) or `rcp-multipliers:10,10,2`.
    ///
    /// # Errors
    /// Another name, or numbers that make no range.
    pub fn parse(text: &str) -> Result<Policy, Refusal> {
        let refuse = |because: &str, nearest: &str| Err(Refusal::new(format!("`{text}`"), because, nearest));
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        if let ("exponential", Some(base)) = (name, rest.and_then(|rest| rest.strip_suffix(",none"))) {
            return match base.trim().parse() {
                Ok(base @ 2..=MOST_BASE) => Ok(Policy::Unbounded(base)),
                _ => refuse("the base of a growing range is a whole number", "it is from 2 to 1000"),
            };
        }
        let numbers: Result<Vec<u64>, _> =
            rest.map_or(Ok(Vec::new()), |rest| rest.split(',').map(|number| number.trim().parse()).collect());
        let Ok(numbers) = numbers else {
            return refuse("its numbers are whole ones", "write it like `rcp:1,10,100,200`");
        };
        if numbers.contains(&0) {
            return refuse("a choice from 0 slots is none", "the smallest number is 1");
        }
        if numbers.iter().any(|&number| number > 1 << MOST_EXPONENT) {
            return refuse("no double holds so many slots", "the largest number is 2^52");
        }
        match (name, numbers.as_slice()) {
            ("beb", []) => Ok(Policy::Binary { limit: 10, attempts: ATTEMPT_LIMIT }),
            ("beb", [range]) if range.is_power_of_two() && *range > 1 => {
                Ok(Policy::Binary { limit: range.ilog2(), attempts: ATTEMPT_LIMIT })
            }
            ("beb", [range]) => {
                let nearest = format!("the next one is {}", range.next_power_of_two().max(2));
                refuse("the largest range is a power of 2", &nearest)
            }
            ("uniform", [k]) => Ok(Policy::Table(vec![*k])),
            ("geometric", [k]) => Ok(Policy::Geometric(*k)),
            ("rcp", [_, ..]) => Ok(Policy::Table(after_a_collision(&numbers).to_vec())),
            ("rcp-multipliers", [_, ..]) => Ok(Policy::Table(products(&numbers))),
            _ => refuse(
                "there is no such policy, or not with so many numbers",
                "there are `beb`, `beb:1024`, `exponential:2,none`, `uniform:60`, `geometric:60`, `rcp:1,10,100,200`, `rcp-multipliers:10,10,2`",
            ),
        }
    }

    /// The delay after collision number `collisions`, counted from 1.
    ///
    /// # Errors
    /// No collision, or one after which the packet is given up.
    pub fn delay(&self, collisions: u32) -> Result<Delay, Refusal> {
        let given = || format!("--collisions {collisions}");
        if collisions == 0 {
            return Err(Refusal::new(given(), "there is no delay before a collision", "the smallest number is 1"));
        }
        let uniform = |slots: f64| Delay {
            shortest: 0.0,
            longest: Some(slots - 1.0),
            mean: (slots - 1.0) / 2.0,
            variance: (slots * slots - 1.0) / 12.0,
        };
        match self {
            Policy::Binary { attempts, .. } if collisions >= *attempts => {
                let because = format!("collision number {attempts} is the last, and the packet is given up");
                Err(Refusal::new(given(), because, format!("the largest number is {}", attempts - 1)))
            }
            Policy::Binary { limit, .. } => Ok(uniform((collisions.min(*limit) as f64).exp2())),
            Policy::Unbounded(base) if collisions > Policy::last_of(*base) => {
                let because = "no double holds the variance of a range that large";
                Err(Refusal::new(given(), because, format!("the largest number is {}", Policy::last_of(*base))))
            }
            Policy::Unbounded(base) => Ok(uniform((*base as f64).powi(collisions as i32))),
            Policy::Table(table) => {
                let place = (collisions as usize - 1).min(table.len() - 1);
                Ok(uniform(table[place] as f64))
            }
            Policy::Geometric(k) => {
                let p = 2.0 / (*k as f64 + 1.0);
                let longest = (*k == 1).then_some(0.0);
                Ok(Delay { shortest: 0.0, longest, mean: (1.0 - p) / p, variance: (1.0 - p) / (p * p) })
            }
        }
    }

    /// The last collision for which the square of B^n is a double.
    fn last_of(base: u64) -> u32 {
        (511.0 / (base as f64).log2()) as u32
    }

    /// How many delays differ, or come before the packet is given up; 16 at most.
    fn shown(&self) -> u32 {
        match self {
            Policy::Binary { attempts, .. } => (attempts - 1).min(SHOWN),
            Policy::Unbounded(_) => SHOWN,
            Policy::Table(table) => (table.len() as u32).min(SHOWN),
            Policy::Geometric(_) => 1,
        }
    }
}

/// K(n) = K(n − 1) · multiplier(n) with K(0) = 1; no larger than 2^52.
fn products(multipliers: &[u64]) -> Vec<u64> {
    let mut k = 1_u64;
    multipliers
        .iter()
        .map(|&multiplier| {
            k = k.saturating_mul(multiplier).min(1 << MOST_EXPONENT);
            k
        })
        .collect()
}

/// What `ethbus theory backoff` prints: the delay after collision number `collisions`, or all that differ.
///
/// # Errors
/// As [`Policy::parse`] and [`Policy::delay`].
pub fn answer(policy: &str, collisions: Option<u32>) -> Result<Answer, Refusal> {
    let parsed = Policy::parse(policy)?;
    let answer = Answer::new("backoff", SOURCE, HOLDS).with("policy", "", Value::Text(policy.to_owned()));
    let Some(n) = collisions else {
        let row = |n: u32| {
            let delay = parsed.delay(n)?;
            let values =
                [Some(f64::from(n)), Some(delay.shortest), delay.longest, Some(delay.mean), Some(delay.variance)];
            Ok(values.to_vec())
        };
        let rows = (1..=parsed.shown()).map(row).collect::<Result<Vec<_>, Refusal>>()?;
        let columns = vec!["collisions", "shortest", "longest", "mean", "variance"];
        let meaning = match parsed {
            Policy::Binary { .. } => "delay in slots; there is none after the last",
            Policy::Unbounded(_) => "delay in slots; the range grows on after the last",
            Policy::Table(_) | Policy::Geometric(_) => "delay in slots; later ones are as the last",
        };
        return Ok(answer.with("delays", meaning, Value::Curve { columns, rows }));
    };
    let delay = parsed.delay(n)?;
    Ok(answer
        .with("collisions", "n", Value::Count(n.into()))
        .with("shortest", "slots", Value::Number(delay.shortest))
        .with_some("longest", "slots", delay.longest.map(Value::Number), || {
            "a geometric delay has no longest".to_owned()
        })
        .with("mean", "slots", Value::Number(delay.mean))
        .with("variance", "slots squared", Value::Number(delay.variance)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay(policy: &str, collisions: u32) -> Delay {
        Policy::parse(policy).and_then(|policy| policy.delay(collisions)).expect("a delay")
    }

    /// E(c) = (2^c − 1)/2: 0.5, 1.5, 3.5 … 511.5; the longest is 1023 slots.
    #[test]
    fn expected_backoff_is_that_of_the_literature() {
        assert_eq!([1, 2, 3].map(|n| delay("beb", n).mean), [0.5, 1.5, 3.5]);
        for n in 10..=15 {
            assert_eq!((delay("beb", n).mean, delay("beb", n).longest), (511.5, Some(1023.0)));
        }
        assert_eq!(delay("beb:4", 9).longest, Some(3.0));
        // The longest sum over one frame: 7,151 slots (1 + 3 + … + 1023, and five times 1023 more).
        assert_eq!((1..=15).filter_map(|n| delay("beb", n).longest).sum::<f64>(), 7151.0);
    }

    /// Without a ceiling the delay of 802.3 goes on: after 16 collisions 65,535 slots, which are 3.4 s, and so on.
    #[test]
    fn without_a_ceiling_delays_grow_without_end() {
        assert_eq!([1, 10, 16].map(|n| delay("exponential:2,none", n).longest), [1.0, 1023.0, 65535.0].map(Some));
        assert_eq!(delay("exponential:10,none", 3).mean, 499.5);
        assert!(delay("exponential:2,none", 511).variance.is_finite());
        let none = Policy::parse("exponential:2,none").expect("a policy");
        assert!(none.delay(512).expect_err("too large").to_string().contains("511"));
        for policy in
            ["exponential:1,none", "exponential:x,none", "exponential:2", "exponential", "exponential:1001,none"]
        {
            assert!(Policy::parse(policy).is_err(), "{policy}");
        }
    }

    /// Lam's example: 10 after the first collision, then 100, then 200 for good; as table and as multipliers.
    #[test]
    fn rcp_is_lams() {
        for policy in ["rcp:1,10,100,200", "rcp:10,100,200", "rcp-multipliers:10,10,2"] {
            assert_eq!([1, 2, 3, 4, 9].map(|n| delay(policy, n).longest), [9.0, 99.0, 199.0, 199.0, 199.0].map(Some));
        }
    }

    /// Uniform and geometric delays of one K have one mean, (K + 1)/2 with the packet's own slot; by summing, too.
    #[test]
    fn both_kinds_of_aloha_have_one_mean() {
        for k in [1_u64, 2, 10, 60] {
            let (uniform, geometric) = (delay(&format!("uniform:{k}"), 1), delay(&format!("geometric:{k}"), 1));
            assert!((uniform.mean - geometric.mean).abs() < 1e-12, "K = {k}");
            let squares: f64 = (0..k).map(|r| (r as f64 - uniform.mean).powi(2)).sum();
            assert!((uniform.variance - squares / k as f64).abs() < 1e-9, "K = {k}");
            let p = 2.0 / (k as f64 + 1.0);
            let second: f64 = (0..20_000).map(|r| (f64::from(r)).powi(2) * p * (1.0 - p).powi(r)).sum();
            assert!((geometric.variance - (second - geometric.mean.powi(2))).abs() < 1e-6, "K = {k}");
        }
    }

    #[test]
    fn what_is_no_policy_or_has_no_delay_is_refused() {
        for policy in
            ["", "beb:1000", "beb:1", "uniform", "uniform:0", "uniform:-1", "rcp:", "rcp:0", "sip", "geometric:x"]
        {
            assert!(Policy::parse(policy).is_err(), "{policy}");
        }
        assert!(Policy::parse("beb:1000").expect_err("no power of 2").to_string().contains("1024"));
        let beb = Policy::parse("beb").expect("a policy");
        assert!(beb.delay(0).is_err());
        assert!(beb.delay(16).expect_err("given up").to_string().contains("15"));
        assert!(matches!(answer("geometric:60", Some(1)).expect("a delay").value("longest"), Some(Value::None(_))));
        assert!(answer("rcp-multipliers:9999999,9999999,9999999", None).is_ok());
    }
}
