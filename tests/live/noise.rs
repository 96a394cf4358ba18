//! Noise on a live bus with PLCA: what a scenario has in store for a node shows in its counters, in its kernel, in the
//! findings of `explain`, and in the bound. And jitter of a repeater.

use crate::common::lab::{INTERFACE, Lab};
use crate::common::logs::medium_layer;
use crate::common::process::{ethbus, replays, run};
use crate::common::results::{check, number, station, stations};
use crate::common::{PATIENCE, Turn, note, skipped, wait_until};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// st3 has wrong bits, one in 2,000, and st4 misses half of all BEACONs; both from 500 ms on. Broadcasts, so that every
/// node receives the same.
const SCENARIO: &str = "stations = 4\n[access]\nmethod = 'plca'\n\
    [traffic]\narrivals = 'periodic:every=5ms'\nframe_size = 100\ndestination = 'broadcast'\n\
    [[at]]\ntime = '500 ms'\nstation = 'st3'\nfault = 'ber:5e-4'\n\
    [[at]]\ntime = '500 ms'\nstation = 'st4'\nfault = 'lost_beacon:50%'\n";

/// Frames that a station's kernel has received, by its own count.
#[track_caller]
fn received(lab: &Lab, name: &str) -> u64 {
    let links = run(lab.exec(name, &["ip", "-s", "-j", "link", "show", INTERFACE])).json();
    number(&links[0]["stats64"]["rx"], "packets")
}

fn plca<'a>(results: &'a Value, name: &str) -> &'a Value {
    &station(results, name)["plca"]
}

#[test]
fn noise_of_a_scenario_shows_in_counters_kernel_and_findings() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (scenario, events) = (path("noise.toml"), path("run.events"));
    std::fs::write(&scenario, SCENARIO).expect("a scenario");
    let mut lab = Lab::up(&[&scenario, "--events", &events]);
    let errors = |results: &Value, name: &str| number(station(results, name), "fcs_errors");
    wait_until(PATIENCE, "frames with wrong bits", || errors(&lab.stats(), "st3") >= 100);
    for name in ["st3", "st4"] {
        run(lab.ethbus("fault", &[name, "none"])).succeeded();
    }
    // The kernels got the right frames alone. The scenario's frames go on meanwhile.
    let [at_st3, at_st2] = ["st3", "st2"].map(|name| received(&lab, name));
    let results = lab.stats();
    let missing = errors(&results, "st3");
    assert!(at_st2.saturating_sub(at_st3) + 30 >= missing, "{at_st3} of {at_st2} frames, {missing} of them damaged");
    lab.down().succeeded();
    check(&results);
    for name in ["st1", "st2", "st4"] {
        assert_eq!(errors(&results, name), 0, "{name}");
    }
    // 800 bits at one in 2,000: a third of the frames.
    let share = errors(&results, "st3") as f64 / number(station(&results, "st2"), "frames_received_ok") as f64;
    assert!((0.1..0.45).contains(&share), "{share} of the frames");
    let beacons = |name: &str| number(&plca(&results, name)["counters"], "beacons");
    assert!(beacons("st2").abs_diff(beacons("st1")) <= 2, "{} and {}", beacons("st2"), beacons("st1"));
    // Half of those of some time, before and after which it has all of them.
    assert!(beacons("st4") < beacons("st1") * 97 / 100, "{} of {}", beacons("st4"), beacons("st1"));
    // It is over, and what was measured is not all within the bound.
    let cycles = &results["medium"]["plca"];
    assert_eq!(cycles["access_delay_bound_bt"], Value::Null);
    let until = number(cycles, "noise_until_bt");
    assert!(until > 0 && until < number(&results, "measured_bit_times"), "{cycles}");
    let noisy = stations(&results).iter().filter(|it| it["plca"]["noise_until_bt"].is_number());
    assert_eq!(noisy.map(|it| it["name"].clone()).collect::<Vec<_>>(), ["st3", "st4"]);
    let told = run(ethbus(["explain", &events, "--segment"])).unwrapped();
    for finding in ["Bits arrive wrong at st3 (fault `ber:5e-4`)", "BEACONs get lost at st4 (fault `lost_beacon:50%`)"]
    {
        assert!(told.contains(finding), "no `{finding}` in {told}");
    }
    note(&format!(
        "noise: {share:.3} of the frames for st3 are damaged, st4 counts {} of {} BEACONs",
        beacons("st4"),
        beacons("st1")
    ));
}

/// A repeater with jitter: each frame comes through it after 8 BT and a draw of its own, and a replay has the same draws.
#[test]
fn a_repeater_delays_each_frame_by_a_draw_of_its_own() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let [scenario, record, events, again] =
        ["jitter.toml", "run.record", "run.events", "again.events"].map(|name| folder.path().join(name));
    let text = "[medium]\ntopology = 'segments'\n[[segment]]\nname = 'a'\nlength = '0 m'\n[[segment]]\nname = 'b'\n\
                length = '0 m'\n[[repeater]]\njitter = '95 BT'\nports = ['a:0m', 'b:0m']\n\
                [[station]]\nsegment = 'a'\n[[station]]\nsegment = 'b'\n[[station]]\nsegment = 'b'\n";
    std::fs::write(&scenario, text).expect("own folder");
    let [scenario, record, events, again] =
        [&scenario, &record, &events, &again].map(|path| path.to_str().expect("plain"));
    let mut lab = Lab::up(&[scenario, "--events", record, "--events-level", "inputs", "--events", events]);
    let ping = ["ping", "-c", "20", "-i", "0.01", "-W", "5", &lab.ipv4("st2")];
    run(lab.exec("st1", &ping)).succeeded();
    lab.down().succeeded();
    replays(record, &["--events", again]);
    assert!(medium_layer(events) == medium_layer(again), "the replay has other events");
    let log = std::fs::read_to_string(events).expect("UTF-8");
    let lines = log.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let (mut sent, mut delays) = (HashMap::new(), BTreeSet::new());
    for line in lines.filter(|line| line["frame"].as_str().is_some_and(|frame| frame.starts_with("st1#"))) {
        let (frame, at) = (line["frame"].as_str().expect("a name").to_owned(), number(&line, "t"));
        match line["kind"].as_str() {
            Some("transmitted") => _ = sent.insert(frame, at),
            Some("delivered") => _ = delays.insert(at - sent[&frame]),
            _ => {}
        }
    }
    assert!(delays.len() > 3 && delays.iter().all(|delay| (8..=103).contains(delay)), "{delays:?}");
}
