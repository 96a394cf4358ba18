//! How often a run's 95 % intervals have the truth in them (docs/validation.md, "Intervals").
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
    swept(&["--set", "stations=2,3,10"], seeds, seconds)
}

/// One run for each seed, with these options.
fn swept(options: &[&str], seeds: &str, seconds: u64) -> Vec<Row> {
    let duration = format!("{seconds}s");
    let sweep = [&["sweep", "--seeds", seeds, "--duration", &duration, "--out", "-"], options].concat();
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

/// A station that was held up sends its queue in a row, and 2 s have too few of these rows. Of saturated stations none queues.
#[test]
fn rows_of_one_station_have_no_interval_in_a_short_run_with_queues() {
    for (traffic, has) in [("poisson:0.4", false), ("saturated", true)] {
        for row in swept(&["--stations", "10", "--traffic", traffic], "1..3", 2) {
            assert_eq!(row.contains_key("ci95_same_winner"), has, "{traffic}: {row:?}");
            assert!(row.contains_key("ci95_access_delay_mean_bt"), "{traffic}: {row:?}");
        }
    }
}

/// Issue: of 200 intervals of any printed figure, no fewer cover the truth.
const LEAST_OF_ANY: f64 = 0.93;

/// The part of `rows` whose interval of `name` has `truth` in it, of those that have one, and how many these are.
fn coverage(rows: &[Row], name: &str, truth: f64) -> (f64, usize) {
    let bounds = rows.iter().filter_map(|row| {
        let (value, above) = (row.get(name)?, row.get(&format!("ci95_{name}"))?);
        let below = row.get(&format!("ci95_{name}_below")).unwrap_or(above);
        // Means are sums of floating-point numbers.
        let slack = 1e-9 * value.abs();
        Some((value - below - slack..=value + above + slack).contains(&truth))
    });
    let bounds: Vec<bool> = bounds.collect();
    (bounds.iter().filter(|covers| **covers).count() as f64 / bounds.len() as f64, bounds.len())
}

/// The figures of a run of `ethbus retry service`, and the half-widths of their intervals.
fn service(seed: u64, seconds: u64) -> (Row, Row) {
    let (seed, duration) = (seed.to_string(), format!("{seconds}s"));
    let policy = "full-jitter:100ms,20s/attempts=4";
    let run =
        ["retry", "service", "--load", "800/s", "--work", "exponential", "--duration", &duration, "--seed", &seed];
    let json = run_for(ethbus(run.into_iter().chain(["--format", "json", policy])), Duration::from_secs(600));
    let json: serde_json::Value = json.succeeded().json();
    let figures = |name: &str| -> Row {
        let all = json["runs"][0][name].as_object().expect("figures").iter();
        all.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect()
    };
    (figures("measured"), figures("ci95"))
}

/// A service at 80 % of its capacity: each figure that has an interval. At 90 % the interval of p99 covers 0.93 of 71 runs only.
#[test]
#[ignore = "takes minutes: .ci/full runs it"]
fn intervals_of_a_service_cover_the_truth() {
    let (seeds, seconds) = (setting("SEEDS", 200), setting("SERVICE_SECONDS", 320));
    let long: Vec<Row> = (1..=seeds / 4).map(|seed| service(1_000_000 + seed, 10 * seconds).0).collect();
    let runs: Vec<(Row, Row)> = (1..=seeds).map(|seed| service(seed, seconds)).collect();
    let mut failures = Vec::new();
    for name in long[0].keys() {
        let truth = long.iter().filter_map(|row| row.get(name)).sum::<f64>() / long.len() as f64;
        let covers = |(figures, halves): &(Row, Row)| {
            let slack = 1e-9 * truth.abs();
            Some((figures.get(name)? - truth).abs() <= halves.get(name)? + slack)
        };
        let covers: Vec<bool> = runs.iter().filter_map(covers).collect();
        if 2 * covers.len() < runs.len() {
            continue;
        }
        let covered = covers.iter().filter(|covers| **covers).count() as f64 / covers.len() as f64;
        let line = format!("service, {seconds} s, {name}: {covered:.3} of {} runs, truth {truth}", covers.len());
        crate::common::note(&line);
        if covered < LEAST_OF_ANY {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The access methods, and a load at which ten stations of each queue and collide now and then.
const METHODS: [(&str, &str); 7] = [
    ("csma-cd", "poisson:0.4"),
    ("aloha", "poisson:0.05"),
    ("slotted-aloha", "poisson:0.05"),
    ("csma", "poisson:0.2"),
    ("csma-ca", "poisson:0.02"),
    ("tdma", "poisson:0.4"),
    ("plca", "poisson:0.4"),
];

/// Runs of `seeds` seeds and `seconds` each with these options, held against the means of `long`: of the figures that have
/// an interval in at least half of the runs, the one that is covered least, and the part that covers.
fn least_covered(options: &[&str], long: &[Row], seeds: u64, seconds: u64) -> (f64, String) {
    let rows = swept(options, &format!("1..{seeds}"), seconds);
    let names = rows[0].keys().filter_map(|name| name.strip_prefix("ci95_"));
    let judged = names.filter(|name| !name.ends_with("_below")).filter_map(|name| {
        let values = || long.iter().filter_map(|row| row.get(name));
        let truth = values().sum::<f64>() / values().count() as f64;
        let (covered, of) = coverage(&rows, name, truth);
        crate::common::note(&format!("{options:?}, {seconds} s, {name}: {covered:.3} of {of} runs, truth {truth}"));
        (2 * of >= rows.len()).then(|| (covered, name.to_owned()))
    });
    judged.reduce(|a, b| if b.0 < a.0 { b } else { a }).expect("a figure with an interval")
}

/// Every figure of every method that has an interval in most of the runs: the rows of docs/validation.md, "Intervals". METHOD
/// asks for one method only.
#[test]
#[ignore = "takes minutes: .ci/full runs it"]
fn every_printed_interval_covers_the_truth() {
    let seeds = setting("SEEDS", 2_000);
    let lengths = std::env::var("LENGTHS").unwrap_or("2".to_owned());
    let only = std::env::var("METHOD").ok();
    let is_asked = |method: &str| only.as_ref().is_none_or(|only| only == method);
    assert!(METHODS.iter().any(|(method, _)| is_asked(method)), "METHOD is one of {METHODS:?}");
    let mut failures = Vec::new();
    for (method, load) in METHODS.into_iter().filter(|(method, _)| is_asked(method)) {
        for traffic in [load, "saturated"] {
            let options = ["--access", method, "--stations", "10", "--traffic", traffic];
            let long = swept(&options, "1000001..1000050", setting("SECONDS", 100));
            for text in lengths.split(',') {
                let seconds: u64 = text.parse().expect("LENGTHS are whole seconds");
                let (least, name) = least_covered(&options, &long, seeds, seconds);
                let row = format!("`{method}`, `{traffic}`, {seconds} s: {least:.3} `{name}`");
                crate::common::note(&row);
                if least < LEAST_OF_ANY {
                    failures.push(row);
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
