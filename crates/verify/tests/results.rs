//! Figures of results, computed again from events: the same for every method, and a changed one is found.

use medium::{Config, Event};
use serde_json::{Value, json};
use sim::run::measure;
use sim::run::observer::Observer;
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use std::convert::Infallible;
use std::path::Path;
use verify::{Compared, Figures};

#[derive(Default)]
struct Events(Vec<Event>);

impl Observer for Events {
    type Error = Infallible;

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        self.0.push(*event);
        Ok(())
    }
}

/// A run: its medium, its events and its results.
fn run(text: &str) -> (Config, Vec<Event>, Value) {
    let (scenario, source) = Scenario::from_text(Path::new("r.toml"), text.to_owned()).expect("a scenario");
    let plan = Plan::new(&scenario, Some(&source), &Overrides::default(), 1).expect("a plan");
    let mut events = Events::default();
    let measured = measure::run(&plan, 5, &mut events, |_| true).expect("a plan that was checked");
    let results = serde_json::to_value(measure::results(&plan, &[measured])).expect("numbers and names");
    (plan.medium, events.0, results)
}

fn compared(config: &Config, events: &[Event], results: &Value) -> Compared {
    let mut figures = Figures::of(results, config).expect("results of one run");
    events.iter().for_each(|event| figures.take(event));
    figures.compare(results)
}

#[test]
fn figures_are_those_of_the_trace() {
    for access in ["csma-cd", "plca", "csma", "csma-ca", "aloha", "slotted-aloha", "tdma"] {
        for traffic in ["saturated", "poisson:0.3"] {
            let text = format!(
                "stations = 4\n[access]\nmethod = '{access}'\n[traffic]\narrivals = '{traffic}'\n\
                 [run]\nduration = '300ms'\nwarmup = '50ms'\n[[at]]\ntime = '100ms'\nunplug = 'st2'\n"
            );
            let (config, events, mut results) = run(&text);
            let found = compared(&config, &events, &results);
            assert!(found.differ.is_empty(), "{access}, {traffic}: {:#?}", found.differ);
            assert!(found.same > 150, "{access}: {}", found.same);
            // A node that leaves takes its bus out of step, and no row tells of the turns until all nodes count alike.
            assert!(access == "plca" || found.skipped == ["ci95"], "{access}: {:?}", found.skipped);
            let attempts = results["stations"][2]["attempts"].as_u64().expect("a counter");
            results["stations"][2]["attempts"] = json!(attempts + 1);
            let differ = compared(&config, &events, &results).differ;
            let words = format!("stations/2/attempts is {} in the results, and {attempts} by the trace", attempts + 1);
            assert_eq!(differ, [words]);
        }
    }
}

/// Cycles and turns from before the measurement to its end, with idle cycles at both, busy ones, and logical collisions.
#[test]
fn turns_of_plca_are_counted_again() {
    for (traffic, count, warm_up) in [("saturated", 6, "50ms"), ("poisson:0.02", 16, "51ms"), ("poisson:0.6", 5, "0s")]
    {
        let text = format!(
            "stations = 5\n[access]\nmethod = 'plca'\n[plca]\nnode-cnt = {count}\n[traffic]\narrivals = '{traffic}'\n\
             frame_size = '64:3,600:1'\n[medium]\ntopology = 'bus:20m'\n[run]\nduration = '300ms'\nwarmup = '{warm_up}'\n"
        );
        let (config, events, results) = run(&text);
        let found = compared(&config, &events, &results);
        assert!(found.differ.is_empty(), "{traffic}: {:#?}", found.differ);
        assert_eq!(found.skipped, ["ci95"], "{traffic}");
    }
}

/// Figures that other methods have.
#[test]
fn a_changed_figure_of_turns_or_backlogs_is_found() {
    let changed = [
        ("plca", "/medium/plca/cycles"),
        ("plca", "/medium/plca/empty_cycles"),
        ("plca", "/medium/plca/cycle_mean_bt"),
        ("plca", "/medium/plca/cycle_min_bt"),
        ("plca", "/medium/plca/cycle_max_bt"),
        ("plca", "/medium/plca/frame_max_octets"),
        ("plca", "/medium/plca/silences"),
        ("plca", "/stations/1/plca/counters/used"),
        ("plca", "/stations/1/plca/counters/yielded"),
        ("plca", "/stations/2/plca/counters/beacons"),
        ("plca", "/stations/2/plca/counters/opportunities"),
        ("plca", "/stations/3/plca/counters/logical_collisions"),
        ("plca", "/stations/3/plca/counters/corrupted"),
        ("slotted-aloha", "/medium/backlog"),
        ("slotted-aloha", "/medium/backlog_distribution/1"),
        ("aloha", "/medium/longest_waiting_bt"),
    ];
    for (access, path) in changed {
        let arrivals = if access == "plca" { "poisson:0.2" } else { "saturated" };
        let (config, events, mut results) = run(&format!(
            "stations = 5\n[access]\nmethod = '{access}'\n[run]\nduration = '300ms'\nwarmup = '50ms'\n\
             [traffic]\narrivals = '{arrivals}'\n"
        ));
        let figure = results.pointer_mut(path).unwrap_or_else(|| panic!("{path}"));
        *figure = json!(figure.as_f64().unwrap_or_else(|| panic!("{path}")) * 2.0 + 1000.0);
        let differ = compared(&config, &events, &results).differ;
        assert!(differ.len() == 1 && differ[0].starts_with(&path[1..]), "{path}: {differ:?}");
    }
    // A bound that a frame exceeds.
    let (config, events, mut results) = run("stations = 3\n[access]\nmethod = 'plca'\n[run]\nduration = '300ms'\n");
    results["medium"]["plca"]["access_delay_bound_bt"] = json!(1);
    assert_eq!(compared(&config, &events, &results).differ.len(), 1);
}

/// Each kind of figure: counters, lists, metrics, means, quantiles, bins, queues.
#[test]
fn a_changed_figure_is_found() {
    let (config, events, results) =
        run("stations = 5\n[run]\nduration = '900ms'\nwarmup = '50ms'\n[medium]\ntopology = 'bus:500m'\n\
             [traffic]\narrivals = 'poisson:0.6'\n");
    let changed = [
        "/stations/0/octets_received_ok",
        "/stations/1/collision_frames/0",
        "/stations/1/queued",
        "/stations/4/mac_delay/max_bt",
        "/medium/utilization_wire",
        "/medium/same_winner",
        "/medium/fairness",
        "/medium/collision_episodes",
        "/medium/collision_multiplicity/1",
        "/medium/capture_runs/0",
        "/medium/episodes_before_success/0",
        "/medium/access_delay/mean_bt",
        "/medium/access_delay/p50_bt",
        "/medium/access_delay/p90_bt",
    ];
    for path in changed {
        let mut results = results.clone();
        let figure = results.pointer_mut(path).unwrap_or_else(|| panic!("{path}"));
        *figure = json!(figure.as_f64().unwrap_or_else(|| panic!("{path}")) * 2.0 + 1000.0);
        let differ = compared(&config, &events, &results).differ;
        assert!(differ.len() == 1 && differ[0].starts_with(&path[1..]), "{path}: {differ:?}");
    }
    for path in
        ["/medium/ci95/utilization_frame", "/medium/ci95/attempts_per_frame", "/medium/ci95/access_delay/mean_bt"]
    {
        let mut results = results.clone();
        let half = results.pointer_mut(path).unwrap_or_else(|| panic!("{path}"));
        *half = json!(half.as_f64().unwrap_or_else(|| panic!("{path}")) / 10.0);
        let differ = compared(&config, &events, &results).differ;
        assert!(differ.len() == 1 && differ[0].starts_with(&path[1..]), "{path}: {differ:?}");
    }
}

#[test]
fn results_of_several_runs_and_other_files_are_refused() {
    let config = run("stations = 2\n[run]\nduration = '10ms'\n").0;
    let refused = |results: Value| Figures::of(&results, &config).expect_err("no results of one run");
    assert!(refused(json!({})).starts_with("`measured_bit_times` is missing"));
    let several = json!({ "measured_bit_times": 5, "config": { "replications": 2 } });
    assert!(refused(several).contains("several runs"));
}
