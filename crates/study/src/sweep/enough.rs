//! Adds seeds to a combination until a metric's mean over them is known well enough.
//!
//! How many a combination gets follows from its own rows alone, seed by seed. So the table does not depend on the number of runs
//! at a time, nor on interrupts.

use super::error::TableError;
#[cfg(feature = "parquet")]
use super::folder;
use super::lines::record;
use super::manifest::Manifest;
use super::output::{Rows, is_folder};
use super::seeds::Enough;
use sim::figures::until::Until;
use std::collections::BTreeMap;
use std::path::Path;

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
