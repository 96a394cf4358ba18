//! The seeds of a grid, and those that are added to a combination until a metric's mean over them is known well enough.
//!
//! How many a combination gets follows from its own rows alone, seed by seed. So the table does not depend on the number of runs
//! at a time, nor on interrupts.

#[cfg(feature = "parquet")]
use super::folder;
use super::grid::MOST_RUNS;
use super::manifest::Manifest;
use super::output::{Rows, TableError, is_folder, record};
use serde::{Deserialize, Serialize};
use sim::figures::until::Until;
use std::collections::BTreeMap;
use std::path::Path;

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
    fn wanted(&self) -> Option<Until> {
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
            "an interval needs two seeds at least, and --max-seeds {most} allows {most}: write a number between"
        ));
    }
    let (there, last) = (seeds.len() as u64, seeds.iter().copied().max().unwrap_or(0));
    seeds.extend((1..=most - there).map(|number| last.wrapping_add(number)));
    Ok(seeds)
}

/// What the metric was in each run, from 0; nothing where it has no value, or where the run failed.
pub type Values = BTreeMap<u64, Option<f64>>;

/// The metric in a row; none if it has no such column.
pub fn value(header: &str, row: &str, metric: &str) -> Option<Option<f64>> {
    let column = record(header).iter().position(|name| name == metric)?;
    Some(record(row).get(column).and_then(|value| value.parse().ok()))
}

/// What a table has.
///
/// # Errors
/// The table cannot be read, or is not that of `manifest`.
pub fn values(table: &Path, manifest: &Manifest) -> Result<Values, TableError> {
    let metric = manifest.enough().map_or(String::new(), Enough::metric);
    #[cfg(feature = "parquet")]
    if is_folder(table) {
        let (names, rows) = folder::read(table)?;
        let column = |name: &str| names.iter().position(|known| known == name);
        let (run, metric) = (column("run").unwrap_or(0), column(&metric));
        let number = |row: &csv::StringRecord| row[run].parse::<u64>().ok()?.checked_sub(1);
        let value = |row: &csv::StringRecord| metric.and_then(|metric| row[metric].parse().ok());
        return Ok(rows.iter().filter_map(|row| Some((number(row)?, value(row)))).collect());
    }
    debug_assert!(!is_folder(table), "only a build with Parquet has folders");
    Ok(of_rows(&Rows::read(table, manifest)?, &metric))
}

fn of_rows(rows: &Rows, metric: &str) -> Values {
    let Some(header) = &rows.header else { return Values::new() };
    rows.lines.iter().map(|(run, line)| (*run, value(header, line, metric).flatten())).collect()
}

/// Whether every combination of a table has enough seeds.
pub fn is_enough(rows: &Rows, manifest: &Manifest) -> bool {
    manifest.enough().is_some_and(|enough| due(manifest, &of_rows(rows, &enough.metric())).is_empty())
}

/// How many runs a table has when it is finished, as far as its rows tell.
///
/// # Errors
/// The table cannot be read, or is not that of `manifest`.
pub fn expected(table: &Path, manifest: &Manifest) -> Result<u64, TableError> {
    if manifest.enough().is_none() {
        return Ok(manifest.share());
    }
    let values = values(table, manifest)?;
    Ok((values.len() + due(manifest, &values).len()) as u64)
}

/// Which runs of the manifest's part are next, those of the combination with the widest interval first; none when all have enough
/// seeds.
pub fn due(manifest: &Manifest, values: &Values) -> Vec<u64> {
    let Some((enough, until)) = manifest.enough().and_then(|enough| Some((enough, enough.wanted()?))) else {
        return Vec::new();
    };
    let most = manifest.seeds().len() as u64;
    let mut due: Vec<(f64, Vec<u64>)> = Vec::new();
    for point in (0..manifest.runs() / most).filter(|point| manifest.has(point * most)) {
        let (mut seeds, mut width) = ((enough.first as u64).clamp(1, most), f64::INFINITY);
        loop {
            let runs = point * most..point * most + seeds;
            let missing: Vec<u64> = runs.clone().filter(|run| !values.contains_key(run)).collect();
            if !missing.is_empty() {
                due.push((width, missing));
                break;
            }
            let known: Vec<f64> = runs.filter_map(|run| values[&run]).collect();
            width = Until::half_width_over_seeds(&known).unwrap_or(f64::INFINITY);
            if width <= until.part || seeds == most {
                break;
            }
            seeds = next(seeds, width / until.part).min(most);
        }
    }
    due.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    due.into_iter().flat_map(|(_, runs)| runs).collect()
}

/// How many seeds are tried after `seeds`, whose interval is `times` too wide: about as many as it takes, and at most half of them
/// again, since the first interval may be far off.
fn next(seeds: u64, times: f64) -> u64 {
    let wanted = (seeds as f64 * times * times).ceil();
    let most = seeds + seeds.div_ceil(2);
    if wanted < most as f64 { (wanted as u64).max(seeds + 1) } else { most }
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn seeds_grow_by_one_at_least_and_by_half_at_most() {
        assert_eq!([next(10, 1.001), next(10, 1.1), next(10, 7.0), next(5, f64::INFINITY)], [11, 13, 15, 8]);
    }
}
