//! How often a run's 95 % interval of a mean delay has the true mean in it (docs/results.md, "Intervals").
//!
//! It runs for minutes, so `.ci/full` asks for it:
//! `cargo test --release --test study -- --ignored --nocapture intervals::`. SEEDS, LENGTHS (of the runs that are judged, in
//! seconds) and SECONDS (of those that the truth is taken from) change how much is run.

use crate::common::process::{ethbus, run_for};
use std::collections::HashMap;
use std::time::Duration;

/// Of 200 intervals of 95 %, fewer than 183 cover with a chance of 1.2 % only.
const LEAST: f64 = 0.915;
const STATIONS: [u64; 3] = [2, 3, 10];
const DELAYS: [&str; 2] = ["access_delay", "mac_delay"];

/// A run's figures by their columns.
type Row = HashMap<String, f64>;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// One run for each number of stations and each seed.
fn sweep(seeds: &str, seconds: u64) -> Vec<Row> {
    let duration = format!("{seconds}s");
    let sweep = ["sweep", "--set", "stations=2,3,10", "--seeds", seeds, "--duration", &duration, "--out", "-"];
    let table = run_for(ethbus(sweep), Duration::from_secs(3_600)).succeeded().stdout;
    let mut lines = table.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().expect("a header").collect();
    let row = |values: std::str::Split<'_, char>| {
        let fields =
            names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value.parse().ok()?)));
        fields.collect()
    };
    lines.map(row).collect()
}

/// The mean over the frames of many long runs, which have other seeds than those that are judged.
fn truth(rows: &[Row], stations: u64, mean: &str) -> f64 {
    let rows = || rows.iter().filter(|row| row["stations"] == stations as f64);
    let frames: f64 = rows().map(|row| row["frames_transmitted_ok"]).sum();
    rows().map(|row| row[mean] * row["frames_transmitted_ok"]).sum::<f64>() / frames
}

#[test]
#[ignore = "takes minutes: .ci/full runs it"]
fn intervals_of_mean_delays_cover_the_truth() {
    let seeds = setting("SEEDS", 200);
    let long = sweep(&format!("{}..{}", 1_000_001, 1_000_000 + seeds), setting("SECONDS", 100));
    let mut failures = Vec::new();
    let lengths = std::env::var("LENGTHS").unwrap_or("1,20,100".to_owned());
    for text in lengths.split(',') {
        let seconds: u64 = text.parse().expect("LENGTHS are whole seconds");
        let rows = sweep(&format!("1..{seeds}"), seconds);
        for stations in STATIONS {
            for delay in DELAYS {
                let mean = format!("{delay}_mean_bt");
                let (above, below) = (format!("ci95_{mean}"), format!("ci95_{mean}_below"));
                let truth = truth(&long, stations, &mean);
                let own: Vec<&Row> = rows.iter().filter(|row| row["stations"] == stations as f64).collect();
                let covers = |row: &&&Row| {
                    let below = row.get(&below).unwrap_or(&row[&above]);
                    (row[&mean] - below..=row[&mean] + row[&above]).contains(&truth)
                };
                let covered = own.iter().filter(covers).count() as f64 / own.len() as f64;
                let width = own.iter().map(|row| row[&above]).sum::<f64>() / own.len() as f64;
                let line = format!(
                    "{seconds:>4} s, {stations:>2} stations, {delay}: {covered:.3} of {} runs, truth {truth:.0} BT, \
                     {width:.0} BT above on average",
                    own.len()
                );
                crate::common::note(&line);
                if covered < LEAST {
                    failures.push(line);
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
