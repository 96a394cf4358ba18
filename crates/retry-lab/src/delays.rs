//! The delays of policies over their failures: bounds, mean, variance and a sample.

use super::{Named, side_by_side, span};
use backoff::{Generator, Retry};
use serde::Serialize;
use std::time::Duration;

/// Version of the JSON form.
const VERSION: u32 = 1;

const NS: f64 = 1e9;

/// Several policies, side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    version: u32,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    within_s: Option<f64>,
    /// The policies.
    pub policies: Vec<Delays>,
}

/// The delays of one policy.
#[derive(Clone, Debug, Serialize)]
pub struct Delays {
    /// As it was written.
    pub policy: String,
    /// The failure that is the last.
    pub attempt_limit: Option<u64>,
    /// The time after which nothing is tried again, in seconds.
    pub elapsed_limit_s: Option<f64>,
    /// The delay after each failure.
    pub delays: Vec<Delay>,
    /// The failure after which the sample gives up.
    pub sample_gives_up_after: Option<u64>,
    /// Attempts of the sample within the span of `--within`, the first one not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_within: Option<u64>,
    /// The status codes that its source retries; empty: any failure.
    pub retried_answers: &'static [&'static str],
}

/// The delay after one failure, in seconds. For decorrelated jitter bounds, mean and variance are those given the sample's
/// delay before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// Failures so far, from 1.
    pub failures: u64,
    /// The shortest.
    pub shortest_s: f64,
    /// The longest.
    pub longest_s: f64,
    /// The mean.
    pub mean_s: f64,
    /// The variance, in seconds squared.
    pub variance_s2: f64,
    /// What the sample drew; none once it has given up.
    pub sample_s: Option<f64>,
    /// Mean time from the first attempt to the next one, attempts taking none.
    pub mean_elapsed_s: f64,
}

impl Comparison {
    /// The first `count` delays of each policy, with samples of `seed`, and how many attempts come `within` a span.
    pub fn new(policies: &[Named], count: u64, seed: u64, within: Option<Duration>) -> Comparison {
        let delays = |(number, named): (u64, &Named)| {
            let generator = Generator::operation(seed, number);
            let attempts_within = within.map(|within| attempts(named, within, generator.clone()));
            Delays { attempts_within, ..Delays::new(named, count, generator) }
        };
        let policies = (0..).zip(policies).map(delays).collect();
        Comparison { version: VERSION, seed, within_s: within.map(|within| within.as_secs_f64()), policies }
    }

    /// For people, at most 80 characters wide.
    pub fn table(&self) -> String {
        let within = self.attempts_table();
        if let [only] = self.policies.as_slice() {
            return only.table() + &within;
        }
        let rows = self.policies.iter().map(|policy| policy.delays.len()).max().unwrap_or(0);
        let labels: Vec<String> = (1..=rows).map(|failures| failures.to_string()).collect();
        let heads: Vec<String> = self.policies.iter().map(|policy| policy.policy.clone()).collect();
        let cell = |delay: &Delay| {
            let mean = span(delay.mean_s * NS);
            if delay.shortest_s == delay.longest_s {
                return mean;
            }
            format!("{mean} [{}, {}]", span(delay.shortest_s * NS), longest(delay))
        };
        let column = |policy: &Delays| {
            let mut cells: Vec<String> = policy.delays.iter().map(cell).collect();
            cells.resize(rows, "gives up".to_owned());
            cells
        };
        let columns: Vec<Vec<String>> = self.policies.iter().map(column).collect();
        format!("mean [shortest, longest]\n\n{}{within}", side_by_side("failures", &labels, &heads, &columns))
    }

    /// How many attempts come within the span, and how many fewer these are than of the first policy.
    fn attempts_table(&self) -> String {
        let Some(within) = self.within_s else { return String::new() };
        let first = self.policies.first().and_then(|first| first.attempts_within).unwrap_or(0);
        let labels: Vec<String> = self.policies.iter().map(|policy| policy.policy.clone()).collect();
        let attempts: Vec<u64> = self.policies.iter().map(|policy| policy.attempts_within.unwrap_or(0)).collect();
        let saved = |&attempts: &u64| match attempts == first {
            true => "-".to_owned(),
            false => format!("{:.1} %", 100.0 * (1.0 - attempts as f64 / first.max(1) as f64)),
        };
        let columns = [attempts.iter().map(u64::to_string).collect(), attempts.iter().map(saved).collect()];
        let heads = [format!("attempts in {}", span(within * NS)), "fewer than the first".to_owned()];
        format!("\n{}", side_by_side("policy", &labels, &heads, &columns))
    }
}

/// The longest delay of a law, which may have none: geometric ones go on for ever.
fn longest(delay: &Delay) -> String {
    // What a count of nanoseconds cannot hold ends short of 585 years.
    if delay.longest_s * NS >= (u64::MAX / 2) as f64 { "unbounded".to_owned() } else { span(delay.longest_s * NS) }
}

/// The most attempts that are counted.
const MOST: u64 = 1_000_000;

/// Attempts of a sample after the first one, up to [`MOST`].
fn attempts(named: &Named, within: Duration, mut generator: Generator) -> u64 {
    let (within, mut retry, mut now) = (within.as_nanos() as u64, Retry::resume(0, 0, 0), 0_u64);
    let next = || match retry.fail_ns(&named.policy, now, 0, &mut generator) {
        Ok(delay) => {
            now = now.saturating_add(delay);
            (now <= within).then_some(())
        }
        Err(_) => None,
    };
    std::iter::from_fn(next).take(MOST as usize).count() as u64
}

impl Delays {
    fn new(named: &Named, count: u64, mut generator: Generator) -> Delays {
        let policy = named.policy;
        let mut retry = Retry::resume(0, 0, 0);
        let (mut delays, mut gives_up) = (Vec::new(), None);
        let (mut now, mut previous, mut mean_elapsed, mut least) = (0_u64, None, 0.0, 0_u64);
        for failures in 1..=count {
            let law = match previous {
                Some(previous) => policy.law_after(failures, previous),
                None => policy.law(failures),
            };
            let Some(law) = law else { break };
            least = least.saturating_add(law.shortest_ns());
            // No client gets this far.
            if policy.elapsed_limit_ns().is_some_and(|limit| least > limit) {
                break;
            }
            let sample = match gives_up {
                None => retry.fail_ns(&policy, now, 0, &mut generator).ok(),
                Some(_) => None,
            };
            match sample {
                Some(sample) => {
                    now = now.saturating_add(sample);
                    previous = Some(sample);
                }
                None => gives_up = gives_up.or(Some(failures)),
            }
            mean_elapsed += law.mean_ns();
            delays.push(Delay {
                failures,
                shortest_s: law.shortest_ns() as f64 / NS,
                longest_s: law.longest_ns() as f64 / NS,
                mean_s: law.mean_ns() / NS,
                variance_s2: law.variance_ns2() / (NS * NS),
                sample_s: sample.map(|sample| sample as f64 / NS),
                mean_elapsed_s: mean_elapsed / NS,
            });
        }
        let next = delays.len() as u64 + 1;
        Delays {
            policy: named.name.clone(),
            attempt_limit: policy.attempt_limit(),
            elapsed_limit_s: policy.elapsed_limit_ns().map(|limit| limit as f64 / NS),
            sample_gives_up_after: gives_up.or((next <= count).then_some(next)),
            attempts_within: None,
            retried_answers: named.answers,
            delays,
        }
    }

    fn table(&self) -> String {
        let labels: Vec<String> = self.delays.iter().map(|delay| delay.failures.to_string()).collect();
        let heads = ["shortest", "longest", "mean", "sample", "elapsed, mean"].map(str::to_owned);
        let column = |value: &dyn Fn(&Delay) -> Option<f64>| -> Vec<String> {
            self.delays.iter().map(|delay| value(delay).map_or("-".to_owned(), |seconds| span(seconds * NS))).collect()
        };
        let all_longest = || self.delays.iter().map(longest).collect::<Vec<String>>();
        let columns = [
            column(&|delay| Some(delay.shortest_s)),
            all_longest(),
            column(&|delay| Some(delay.mean_s)),
            column(&|delay| delay.sample_s),
            column(&|delay| Some(delay.mean_elapsed_s)),
        ];
        let mut text = format!("{}\n\n{}", self.policy, side_by_side("failures", &labels, &heads, &columns));
        let mut limit = |what: String| text += &format!("  {what}\n");
        if let Some(attempts) = self.attempt_limit {
            limit(format!("failure {attempts} is the last"));
        }
        if let Some(elapsed) = self.elapsed_limit_s {
            limit(format!("nothing is tried later than {} after the start", span(elapsed * NS)));
        }
        if !self.retried_answers.is_empty() {
            limit(format!("only answers with status {} are retried", self.retried_answers.join(", ")));
        }
        if let Some(failures) = self.sample_gives_up_after {
            limit(format!("the sample gives up after failure {failures}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, count: u64) -> Delays {
        let named = Named::parse(text).expect("a policy");
        Comparison::new(&[named], count, 1, None).policies.remove(0)
    }

    /// RFC 3261: timer E fires after 0.5, 1, 2, 4, 4 … s; the last of ten retransmissions comes 31.5 s after the start.
    #[test]
    fn sip_timer_e_is_that_of_the_rfc() {
        let sip = of("sip-e", 20);
        let means: Vec<f64> = sip.delays.iter().map(|delay| delay.mean_s).collect();
        assert_eq!(means, [0.5, 1.0, 2.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]);
        assert_eq!(sip.sample_gives_up_after, Some(11));
        assert!((sip.delays[9].mean_elapsed_s - 31.5).abs() < 1e-9);
    }

    /// E(3) = 3.5 slots of 51.2 us, and no delay after the 16th failure.
    #[test]
    fn ethernet_backs_off_as_the_standard_says() {
        let ethernet = of("ieee-802.3", 20);
        assert_eq!(ethernet.delays.len(), 15);
        assert!((ethernet.delays[2].mean_s - 3.5 * 51.2e-6).abs() < 1e-15);
        assert!((ethernet.delays[14].longest_s - 1023.0 * 51.2e-6).abs() < 1e-12);
        assert_eq!(ethernet.sample_gives_up_after, Some(16));
    }

    #[test]
    fn samples_keep_within_their_bounds_and_follow_their_seed() {
        for text in super::super::named::FAMILIES {
            let delays = of(text, 12);
            for delay in &delays.delays {
                let sample = delay.sample_s.expect("no limit is met");
                assert!((delay.shortest_s..=delay.longest_s).contains(&sample), "{text}: {delay:?}");
            }
            assert_eq!(delays.delays, of(text, 12).delays, "{text}");
        }
    }

    /// Seed 002: an app that is not used since its last update polls less and less.
    #[test]
    fn an_app_that_backs_off_wakes_up_less_often() {
        let named: Vec<Named> = ["constant:1m", "exponential:1m/ceiling=1h", "constant:1m/attempts=4"]
            .map(|text| Named::parse(text).expect("a policy"))
            .into();
        let comparison = Comparison::new(&named, 3, 1, Some(Duration::from_secs(8 * 3600)));
        let attempts = [0, 1, 2].map(|policy| comparison.policies[policy].attempts_within);
        // 1 + 2 + 4 + … + 32 = 63 minutes, then one an hour.
        assert_eq!(attempts, [Some(480), Some(12), Some(3)]);
        assert!(comparison.table().contains("97.5 %"), "{}", comparison.table());
    }

    #[test]
    fn a_geometric_delay_has_no_longest() {
        let table = Comparison::new(&[Named::parse("geometric:60").expect("a policy")], 2, 1, None).table();
        assert!(table.contains("unbounded") && !table.contains("18446744074"), "{table}");
    }

    #[test]
    fn tables_are_at_most_80_characters_wide() {
        let policies: Vec<Named> =
            super::super::named::FAMILIES.iter().map(|text| Named::parse(text).expect("a policy")).collect();
        for some in [&policies[..1], &policies[..2], &policies[..]] {
            let table = Comparison::new(some, 12, 1, None).table();
            assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
        }
    }
}
