//! `ethbus theory` and `ethbus retry` from outside: keys, widths, figures that anyone can check, and refusals.

use crate::common::process::{ethbus, run};
use serde_json::Value;

fn json(arguments: &str) -> Value {
    run(ethbus(arguments.split_whitespace().chain(["--format", "json"]))).succeeded().json()
}

/// A line for each theory, each policy family and a herd.
const COMMANDS: [&str; 20] = [
    "theory aloha",
    "theory aloha --load 0.5 --stations 10",
    "theory slotted-aloha --load 1",
    "theory kleinrock-lam --retransmit 10",
    "theory lam --stations 400 --load 0.32 --retransmit 10",
    "theory lam --stations infinite --load 0.3 --retransmit 60",
    "theory lam-control --stations 400 --load 0.32",
    "theory csma --persistence 0.03",
    "theory tdma --stations 4 --load 0.5",
    "theory metcalfe-boggs --stations 5",
    "theory capture",
    "theory two-stations",
    "theory resolution --stations 3",
    "theory bianchi --stations 10 --phy ofdm-54 --rts",
    "theory backoff rcp-multipliers:10,10,2",
    "theory ceiling --stations 10,50",
    "retry google-http",
    "retry sip-e google-http full-jitter:100ms,20s decorrelated-jitter:100ms,20s polling/cap=5s/attempts=6",
    "retry published",
    "retry herd --clients 200 --outage 5s --capacity 50/s full-jitter:100ms,5s polling/cap=5s --class emergency:5:25",
];

/// Tables are at most 80 characters wide; JSON is one object with a version.
#[test]
fn every_answer_is_a_table_and_an_object() {
    for command in COMMANDS {
        let table = run(ethbus(command.split_whitespace())).succeeded().stdout;
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{command}:\n{table}");
        assert_eq!(json(command)["version"], 1, "{command}");
    }
}

/// Figures of the literature: 1/(2e), 1/e, Lam's example, SIP's intervals, E(3) = 3.5 slots.
#[test]
fn figures_of_the_literature_come_out() {
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!((number(&json("theory aloha")["max_throughput"]) - 0.1839).abs() < 5e-5);
    assert!((number(&json("theory slotted-aloha")["max_throughput"]) - 0.3679).abs() < 5e-5);
    let unstable = json("theory lam --stations 400 --load 0.32 --retransmit 10");
    assert_eq!((&unstable["stable"], unstable["equilibria"].as_array().map(Vec::len)), (&Value::Bool(false), Some(3)));
    assert!((100.0..1000.0).contains(&number(&unstable["first_exit_time_slots"])), "{unstable}");
    assert!(unstable["mean_delay_slots"].is_null() && unstable["no_value"]["mean_delay_slots"].is_string());
    let stable = json("theory lam --stations 400 --load 0.32 --retransmit 200");
    assert_eq!(stable["stable"], true);
    assert!((number(&stable["mean_delay_slots"]) - 67.0).abs() < 0.5, "{stable}");
    assert!(stable["first_exit_time_slots"].is_null());
    let sip = json("retry sip-e --count 5");
    let means: Vec<f64> = (0..5).map(|n| number(&sip["policies"][0]["delays"][n]["mean_s"])).collect();
    assert_eq!(means, [0.5, 1.0, 2.0, 4.0, 4.0]);
    assert_eq!(json("theory backoff beb --collisions 3")["mean"], 3.5);
}

/// The mean delay of TDMA that theory gives is within the interval of a run, guard time or not: D = W slots and a packet.
#[test]
fn the_mean_delay_of_tdma_is_that_of_theory() {
    for (stations, load, guard) in [(4, 0.5, 0_u32), (8, 0.8, 100)] {
        let wait = json(&format!("theory tdma --stations {stations} --load {load}"))["mean_wait_slots"].as_f64();
        let slot = f64::from(576 + guard);
        let theory = wait.expect("a number") * slot + 576.0;
        let sim = format!(
            "sim --access tdma --stations {stations} --guard {guard}bt --traffic poisson:{load}/slot --duration 400000slots \
             --seed 5 --format json"
        );
        let results = run(ethbus(sim.split_whitespace())).succeeded().json();
        let (medium, half) = (&results["medium"], &results["medium"]["ci95"]["mac_delay"]["mean_bt"]);
        let mean = medium["mac_delay"]["mean_bt"].as_f64().expect("a number");
        let half = half.as_f64().expect("a number");
        // A 95 % interval misses one run in twenty: half as much again is allowed.
        assert!(
            (mean - theory).abs() < 1.5 * half,
            "{stations} stations, S = {load}: {mean} +- {half}, theory {theory}"
        );
        assert!(half < 0.05 * theory, "{half} of {theory}");
    }
}

/// The same seed gives the same herd, byte for byte.
#[test]
fn a_herd_follows_its_seed() {
    let told = |seed: &str| {
        let arguments = format!("retry herd --clients 300 --outage 2s --capacity 50/s google-http --seed {seed}");
        run(ethbus(arguments.split_whitespace())).succeeded().stdout
    };
    assert_eq!(told("3"), told("3"));
    assert_ne!(told("3"), told("4"));
}

/// What cannot be ends with 2 and names the nearest that can.
#[test]
fn what_cannot_be_is_refused() {
    for (command, words) in [
        ("theory aloha --load -1", ["--load", "smallest is 0"]),
        ("theory slotted-aloha --load 11 --stations 10", ["--load 11", "largest is 10"]),
        ("theory lam --stations 400 --load 1.5 --retransmit 10", ["--load 1.5", "largest is 1"]),
        ("theory lam --stations 0 --load 0.3 --retransmit 10", ["--stations 0", "smallest number is 1"]),
        ("theory csma --persistence 1.5", ["--persistence 1.5", "largest is 1"]),
        ("theory csma --persistence non --distance 0", ["--distance 0", "above 0"]),
        ("theory tdma --stations 4 --load 1", ["--load 1", "below 1"]),
        ("theory resolution --stations 1", ["--stations 1", "smallest number is 2"]),
        ("theory bianchi --stations 10 --phy ofdm-7", ["ofdm-7", "ofdm-6"]),
        ("theory backoff beb --collisions 16", ["16", "largest number is 15"]),
        ("theory backoff beb:1000", ["beb:1000", "1024"]),
        ("theory ceiling --stations 1", ["--stations 1", "smallest number is 2"]),
        ("theory ceiling --stations 10 --load 1.5", ["--load 1.5", "largest is 1"]),
        ("retry slowly", ["slowly", "google-http"]),
        ("retry herd sip-e --duration 1s", ["--duration", "longer than the outage"]),
        ("retry herd sip-e --class a:60:50 --class b:60:50", ["--class", "120 % in all"]),
    ] {
        run(ethbus(command.split_whitespace())).failed_with(2, &words);
    }
}
