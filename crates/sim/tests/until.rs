//! Runs that end when a metric is known well enough. Seeds are written down.

use sim::figures::results::Results;
use sim::figures::row::{Value, columns};
use sim::run::measure;
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use std::path::Path;

fn plan(text: &str) -> Result<Plan, String> {
    let (scenario, source) =
        Scenario::from_text(Path::new("u.toml"), text.to_owned()).map_err(|error| error.to_string())?;
    Plan::new(&scenario, Some(&source), &Overrides::default(), 1).map_err(|error| error.to_string())
}

fn run(text: &str, seed: u64) -> (Results, bool) {
    let plan = plan(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let measured = measure::run(&plan, seed, &mut (), |_| true).expect("a plan that was checked");
    (measure::results(&plan, std::slice::from_ref(&measured)), measured.whole)
}

fn number(results: &Results, name: &str) -> Option<f64> {
    columns(results).into_iter().find(|(column, _)| column == name).and_then(|(_, value)| value.number())
}

const FIVE: &str = "stations = 5\n[run]\nwarmup = '100ms'\n";

/// The run ends once the half-width is reached: after a power of two of the first look's time.
#[test]
fn a_run_ends_when_the_metric_is_known() {
    for (metric, part) in [("", 0.3), ("utilization_total=", 0.01), ("mac_delay_p50_bt=", 0.2)] {
        let name = if metric.is_empty() { "access_delay_mean_bt" } else { metric.trim_end_matches('=') };
        let (results, whole) = run(&format!("{FIVE}duration = '200s'\nuntil = '{metric}{part}'\n"), 3);
        let until = results.config.run.as_ref().and_then(|run| run.until.clone()).expect("it was asked for");
        assert!(whole && until.reached && until.metric == name, "{until:?}");
        assert!(results.measured_bit_times < 2_000_000_000, "{} BT", results.measured_bit_times);
        let half = number(&results, &format!("ci95_{name}")).expect("an interval");
        let own = half / number(&results, name).expect("a metric");
        let told = until.half_width.expect("an interval");
        assert!(own <= told && told <= part, "{name}: {own}, {told} of {part}");
        assert_eq!(results.medium.ci95.as_ref().map(|intervals| intervals.samples), Some(32));
        assert!(results.stations.iter().all(|station| station.adds_up()), "conservation");
    }
}

/// What ends at `duration` is the run that it would have been without `until`.
#[test]
fn the_duration_is_the_longest_that_a_run_takes() {
    for duration in ["4s", "7s", "200ms"] {
        let plain = run(&format!("{FIVE}duration = '{duration}'\n"), 9).0;
        let (capped, whole) = run(&format!("{FIVE}duration = '{duration}'\nuntil = '0.001%'\n"), 9);
        let until = capped.config.run.as_ref().and_then(|run| run.until.clone()).expect("it was asked for");
        assert!(whole && !until.reached && until.half_width.is_some_and(|half| half > 1e-5), "{until:?}");
        let (plain, capped) = (columns(&plain), columns(&capped));
        for ((name, one), (_, other)) in plain.into_iter().zip(capped) {
            let close = match (one, other) {
                // Sums of floating-point numbers in another order.
                (Value::Measure(one), Value::Measure(other)) => (one - other).abs() <= 1e-9 * one.abs(),
                (Value::Count(_) | Value::Measure(_) | Value::Missing, _) => one == other,
            };
            assert!(close, "{name}: {one} and {other} after {duration}");
        }
    }
}

/// Of a metric that is 0 no part can be known, so the run goes to its end and says so.
#[test]
fn a_metric_that_is_nothing_ends_no_run() {
    let (results, whole) = run("stations = 1\n[run]\nduration = '3s'\nuntil = 'discard_fraction=1%'\n", 1);
    let until = results.config.run.and_then(|run| run.until).expect("it was asked for");
    assert!(whole && !until.reached && until.half_width.is_none(), "{until:?}");
}

#[test]
fn a_slotted_medium_ends_by_its_own_metrics() {
    let text = "stations = 10\n[access]\nmethod = 'slotted-aloha'\n[traffic]\narrivals = 'bernoulli:0.02'\n[run]\n\
                duration = '500s'\nuntil = 'throughput=5%'\n";
    let (results, _) = run(text, 2);
    let until = results.config.run.as_ref().and_then(|run| run.until.clone()).expect("it was asked for");
    assert!(until.reached && results.measured_bit_times < 5_000_000_000, "{until:?}");
}

#[test]
fn what_ends_no_run_is_refused_with_its_place() {
    for (text, words) in [
        ("until = '1%'\nreplications = 3", "u.toml:2:9: until: `access_delay_mean_bt=1%` ends one run, and 3"),
        ("until = 'throughput=1%'", "u.toml:2:9: until: CSMA/CD has no `throughput`"),
        ("until = '0'", "u.toml:2:9: until: `0`: write a part above 0"),
        ("until = 'delays=1%'", "u.toml:2:9: until: `delays` has no interval: write one of"),
        ("until = 5", "u.toml:2:9: until: "),
    ] {
        let error = plan(&format!("[run]\n{text}\n")).err().unwrap_or_else(|| panic!("not refused: {text}"));
        assert!(error.contains(words), "{error}: {text}");
    }
}
