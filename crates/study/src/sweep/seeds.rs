//! The seeds of a grid, and when a combination has enough of them.

use super::grid::MOST_RUNS;
use serde::{Deserialize, Serialize};
use sim::figures::until::Until;

/// Seeds of a combination before its first interval, unless `--seeds` says otherwise.
pub const FIRST: &str = "5";

/// When a combination has enough seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enough {
    /// The metric and its half-width, as `--until` has them.
    pub until: String,
    /// Seeds before the first interval.
    pub first: usize,
}

impl Enough {
    /// The metric's column, and the half-width as a part of it.
    pub(super) fn wanted(&self) -> Option<Until> {
        self.until.parse().ok()
    }

    /// The metric's column.
    pub fn metric(&self) -> String {
        self.wanted().map_or(String::new(), |until| until.metric)
    }
}

/// `8`: eight seeds from `first` on; `3..10`, `1,2,5`: those.
///
/// # Errors
/// It is neither.
pub fn read(text: &str, first: u64) -> Result<Vec<u64>, String> {
    let wrong = || "write a number of seeds like `8`, or seeds like `1..20` or `1,2,5`".to_owned();
    if let Ok(count) = text.trim().parse::<u64>() {
        return match count {
            1..=MOST_RUNS => Ok((0..count).map(|number| first.wrapping_add(number)).collect()),
            _ => Err(format!("there are 1 to {MOST_RUNS} seeds: {}", wrong())),
        };
    }
    let backwards = |part: &str| {
        let (low, high) = part.split_once("..")?;
        let (low, high): (u64, u64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        (high < low).then_some(())
    };
    if let Some(part) = text.split(',').find(|part| backwards(part).is_some()) {
        return Err(format!("`{}` ends before it begins: {}", part.trim(), wrong()));
    }
    super::values::values(text)?
        .iter()
        .map(|value| value.text.parse().map_err(|_| format!("{value} is no seed: {}", wrong())))
        .collect()
}

/// Seeds up to `most` of them: the largest is counted up.
///
/// # Errors
/// There are too few for an interval, or more than `most` already.
pub fn with_more(mut seeds: Vec<u64>, most: Option<u64>) -> Result<Vec<u64>, String> {
    let Some(most) = most else { return Ok(seeds) };
    if !(2..=most).contains(&(seeds.len() as u64)) {
        return Err(format!(
            "an interval needs two seeds at least, and --max-seeds allows {most}: write a number from 2 to {most}"
        ));
    }
    let (there, last) = (seeds.len() as u64, seeds.iter().copied().max().unwrap_or(0));
    seeds.extend((1..=most - there).map(|number| last.wrapping_add(number)));
    Ok(seeds)
}
