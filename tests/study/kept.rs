//! Files of released versions, which every later one reads (docs/stability.md). None of them is ever made anew.

use crate::common::files::{folder, path};
use crate::common::process::{ethbus, run};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn kept(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kept/0.2.0").join(name);
    path.to_str().expect("letters").to_owned()
}

/// The events of a trace, without its first line.
fn events(trace: &str) -> String {
    let text = fs::read_to_string(trace).expect("a trace");
    text.split_once('\n').expect("a first line").1.to_owned()
}

#[test]
fn a_kept_scenario_gives_the_events_and_figures_of_its_version() {
    let folder = folder();
    let trace = path(&folder, "run.trace");
    run(ethbus(["check", &kept("lab.toml")])).succeeded();
    let arguments = ["sim", &kept("lab.toml"), "--events", &trace, "--events-level", "all", "--format", "json"];
    let told = run(ethbus(arguments)).succeeded().stdout;
    assert!(events(&trace) == events(&kept("run.trace")), "other events");
    let then = fs::read_to_string(kept("results.json")).expect("kept");
    let [now, then] = [told, then].map(|text| serde_json::from_str::<Value>(&text).expect("JSON"));
    has_all_of(&now, &then, "results");
}

/// Names may be added, and those that there were have the values that they had.
#[track_caller]
fn has_all_of(now: &Value, then: &Value, place: &str) {
    match then {
        Value::Object(keys) => {
            keys.iter().for_each(|(key, value)| has_all_of(&now[key], value, &format!("{place}.{key}")));
        }
        Value::Array(values) if values.iter().any(|value| value.is_object()) => {
            values.iter().enumerate().for_each(|(index, value)| {
                has_all_of(&now[index], value, &format!("{place}.{index}"));
            });
        }
        value => assert_eq!(now, value, "{place}"),
    }
}

#[test]
fn kept_traces_are_read_by_all_that_read_a_run() {
    let folder = folder();
    let [then, again] = ["then.trace", "again.trace"].map(|name| path(&folder, name));
    run(ethbus(["convert", &kept("run.trace"), "--to", "trace", "--level", "events", "-o", &then])).succeeded();
    for trace in ["run.trace", "run.ebe"].map(kept) {
        run(ethbus(["replay", &trace, "--events", &again])).succeeded();
        assert!(events(&again) == events(&then), "{trace}: other events");
        run(ethbus(["explain", &trace, "--pick", "collisions=1"])).succeeded();
        for to in ["csv", "perfetto", "vcd", "pcapng"] {
            run(ethbus(["convert", &trace, "--to", to, "-o", &path(&folder, to)])).succeeded();
        }
        run(ethbus(["report", &trace, "-o", &path(&folder, "run.html")])).succeeded();
    }
    run(ethbus(["report", &kept("results.json"), "-o", &path(&folder, "results.html")])).succeeded();
}

#[test]
fn a_kept_table_is_plotted_and_its_rows_run_again() {
    let folder = folder();
    let figure = path(&folder, "figure.svg");
    let table = kept("runs.csv");
    run(ethbus(["plot", &table, "--x", "stations", "--y", "utilization_total", "--out", &figure])).succeeded();
    run(ethbus(["sweep", "row", &table, "--row", "1"])).succeeded();
}
