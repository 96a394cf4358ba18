//! What tips a service: the shortest dip after which it does not recover, predicted by the recursion and confirmed by runs.

use super::{Dip, Service, Verdict};
use crate::{Named, RunError, side_by_side, span, wrapped};
use serde::Serialize;
use sim::figures::intervals::half_width;

/// Version of the JSON form.
const VERSION: u32 = 1;
/// The longest dip that is tried, in nanoseconds: ten minutes.
const LONGEST: u64 = 600_000_000_000;
/// The shortest, 1 ms.
const SHORTEST: u64 = 1_000_000;
/// How near the bounds of the shortest dip get to each other.
const NEAR: f64 = 1.01;
/// What a bound is multiplied by while both are on one side.
const STRIDE: f64 = 1.3;

/// Several policies with one service.
#[derive(Clone, Debug, Serialize)]
pub struct Tips {
    version: u32,
    seed: u64,
    seeds: u64,
    dip_start_s: f64,
    capacity_left: f64,
    after_dip_s: f64,
    /// One for each policy.
    pub tips: Vec<Tip>,
}

/// The shortest dip after which a service does not recover.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tip {
    /// The policy, as it was written.
    pub policy: String,
    /// By the recursion; none if no dip does it.
    pub predicted_s: Option<f64>,
    /// Why the recursion does not describe the service, if so.
    pub not_predicted: Option<&'static str>,
    /// By runs: the mean over the seeds; none if ten minutes do not do it with one of them.
    pub simulated_s: Option<f64>,
    /// Half of its 95 % interval.
    pub ci95_s: Option<f64>,
    /// Predicted over simulated, less 1.
    pub difference: Option<f64>,
}

/// The smallest length, between 1 ms and ten minutes, at which `tips` holds; `guess` is where the search begins.
fn smallest(guess: u64, mut tips: impl FnMut(u64) -> Result<bool, RunError>) -> Result<Option<u64>, RunError> {
    let times = |length: u64, factor: f64| ((length as f64 * factor) as u64).clamp(SHORTEST, LONGEST);
    let mut high = guess.clamp(SHORTEST, LONGEST);
    let mut low = high;
    if tips(high)? {
        while low > SHORTEST {
            low = times(high, 1.0 / STRIDE);
            if !tips(low)? {
                break;
            }
            high = low;
        }
    } else {
        loop {
            if low == LONGEST {
                return Ok(None);
            }
            high = times(low, STRIDE);
            if tips(high)? {
                break;
            }
            low = high;
        }
    }
    while high as f64 > NEAR * low as f64 {
        let middle = ((low as f64) * (high as f64)).sqrt() as u64;
        if tips(middle)? { high = middle } else { low = middle }
    }
    Ok(Some(high))
}

impl Service {
    /// The same with a dip of another length, and as long a time after it.
    fn with_dip_of(&self, dip: Dip, length: u64, seed: u64) -> Service {
        let duration = self.duration - dip.length + length;
        Service { dips: vec![Dip { length, ..dip }], duration, seed, ..self.clone() }
    }

    /// What tips it with one policy, by the recursion and with this number of seeds.
    ///
    /// # Errors
    /// No dip or several; a run that makes too many requests.
    pub fn tip(&self, named: &Named, seeds: u64) -> Result<Tip, RunError> {
        let [dip] = self.dips[..] else {
            let what = "the trigger is one dip, like `--dip 60s,20s,10%`; its length is what is looked for";
            return Err(RunError::new("--dip", what));
        };
        let is_out = |verdict: Option<Verdict>| !matches!(verdict, None | Some(Verdict::Recovered { .. }));
        let mut not_predicted = None;
        let predicted = smallest(dip.length, |length| {
            let verdict = self.with_dip_of(dip, length, self.seed).predicted(named);
            Ok(verdict.map_or_else(
                |why| {
                    not_predicted = Some(why);
                    true
                },
                is_out,
            ))
        })?;
        let predicted = predicted.filter(|_| not_predicted.is_none());
        let mut lengths = Vec::new();
        for number in 0..seeds {
            let guess = predicted.unwrap_or(dip.length);
            let length = smallest(guess, |length| {
                let outcome = self.with_dip_of(dip, length, self.seed.wrapping_add(number)).run(named)?;
                Ok(is_out(outcome.verdict))
            })?;
            match length {
                Some(length) => lengths.push(length as f64 / 1e9),
                None => break,
            }
        }
        let all = lengths.len() as u64 == seeds;
        let simulated = all.then(|| lengths.iter().sum::<f64>() / lengths.len() as f64);
        let predicted = predicted.map(|length| length as f64 / 1e9);
        Ok(Tip {
            policy: named.name.clone(),
            predicted_s: predicted,
            not_predicted,
            simulated_s: simulated,
            ci95_s: simulated.and_then(|_| half_width(lengths.iter().copied())),
            difference: predicted.zip(simulated).map(|(predicted, simulated)| predicted / simulated - 1.0),
        })
    }
}

impl Tips {
    /// Puts the tips of one service together.
    pub fn new(service: &Service, seeds: u64, tips: Vec<Tip>) -> Tips {
        let dip = service.dips.first().copied().unwrap_or(Dip { start: 0, length: 0, left: 0.0 });
        let seconds = |ns: u64| ns as f64 / 1e9;
        Tips {
            version: VERSION,
            seed: service.seed,
            seeds,
            dip_start_s: seconds(dip.start),
            capacity_left: dip.left,
            after_dip_s: seconds(service.duration - dip.end()),
            tips,
        }
    }

    /// For people, at most 80 characters wide.
    pub fn table(&self) -> String {
        let time = |seconds: f64| span(seconds * 1e9);
        let column = |tip: &Tip| {
            let half = tip.ci95_s.map_or(String::new(), |half| format!(" ± {}", time(half)));
            vec![
                tip.predicted_s.map_or_else(|| tip.not_predicted.map_or("none tips it", |_| "-").to_owned(), time),
                tip.simulated_s.map_or("none tips it".to_owned(), |seconds| time(seconds) + &half),
                tip.difference.map_or("-".to_owned(), |part| format!("{:+.1} %", 100.0 * part)),
            ]
        };
        let heads: Vec<String> = self.tips.iter().map(|tip| tip.policy.clone()).collect();
        let labels = ["shortest dip, predicted", "shortest dip, simulated", "difference"].map(str::to_owned);
        let mut text = format!(
            "dips to {:.0} % of the capacity at {}, watched for {} after it, {} seeds from {}\n\n",
            100.0 * self.capacity_left,
            time(self.dip_start_s),
            time(self.after_dip_s),
            self.seeds,
            self.seed
        );
        text += &side_by_side("", &labels, &heads, &self.tips.iter().map(column).collect::<Vec<_>>());
        for tip in &self.tips {
            if let Some(why) = tip.not_predicted {
                text += &wrapped(&format!("{}: no prediction: ", tip.policy), why);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_length_is_found_from_any_guess() {
        for guess in [1, SHORTEST, 900_000_000, 5_000_000_000, LONGEST] {
            let found = smallest(guess, |length| Ok(length >= 1_000_000_000)).expect("no run fails");
            let found = found.expect("a length") as f64;
            assert!((1e9..1.011e9).contains(&found), "{guess}: {found}");
            assert_eq!(smallest(guess, |_| Ok(false)).expect("no run fails"), None);
            assert_eq!(smallest(guess, |_| Ok(true)).expect("no run fails"), Some(SHORTEST));
        }
    }
}
