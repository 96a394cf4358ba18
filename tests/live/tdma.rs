//! TDMA on a live bus: frames of programs, each in a slot of its station.

use crate::common::lab::Lab;
use crate::common::logs::medium_layer;
use crate::common::process::{ethbus, run};
use crate::common::results::{number, sum};
use crate::common::{Turn, skipped};
use serde_json::Value;
use std::fs;

/// Slots have room for the longest frame of a program without being asked to. Pings of that length arrive, every attempt
/// begins with a slot of its station, nothing collides, and the record gives the same run again.
#[test]
fn programs_send_in_the_slots_of_their_stations() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let [events, record, again] = ["run.events", "run.record", "again.events"].map(path);
    let files = ["--events", &events, "--events", &record, "--events-level", "inputs"];
    let access = ["--access", "tdma", "--stations", "3", "--slots", "st1,st2,st3,st2"];
    let mut lab = Lab::up(&[&access, &files[..]].concat());
    let address = lab.ipv4("st3");
    let ping = ["ping", "-c", "4", "-i", "0.1", "-W", "5", "-s", "1472", &address];
    let pinged = run(lab.exec("st2", &ping)).succeeded();
    assert!(pinged.stdout.contains("4 received"), "{pinged:#?}");
    let results = lab.settled_stats();
    lab.down().succeeded();
    assert!(sum(&results, "frames_transmitted_ok") >= 8, "{results}");

    let log = fs::read_to_string(&events).expect("UTF-8");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let own = &lines[0]["configuration"]["method"]["tdma"];
    let (slot, guard) = (number(own, "slot_bt"), number(own, "guard_bt"));
    assert_eq!(slot, (8 + 1522) * 8 + guard, "{own}");
    let (mut attempts, mut longest) = (0, 0);
    for event in &lines[1..] {
        if event["kind"] == "attempt" {
            let t = number(event, "t");
            let owner = ["st1", "st2", "st3", "st2"][(t / slot % 4) as usize];
            assert_eq!((t % slot, event["station"].as_str()), (0, Some(owner)), "{event}");
            attempts += 1;
        }
        assert_ne!(event["kind"], "collision", "{event}");
        longest = longest.max(event["size"].as_u64().unwrap_or(0));
    }
    assert!(attempts >= 8, "{attempts} attempts");
    assert_eq!(longest, 1518, "the longest frame of a ping");
    run(ethbus(["replay", &record, "--events", &again])).succeeded();
    assert!(medium_layer(&events) == medium_layer(&again), "the record gives another run");
}

/// A station whose clock is fast sends as slots of its own begin, which walk; the record gives the same run again.
#[test]
fn a_station_with_a_fast_clock_has_slots_of_its_own() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let [scenario, events, record, again] = ["lab.toml", "run.events", "run.record", "again.events"].map(path);
    let text = "[access]\nmethod = 'tdma'\n[[station]]\n[[station]]\nclock = '200 ppm'\n[[station]]\n";
    fs::write(&scenario, text).expect("a scenario");
    let mut lab = Lab::up(&[&scenario, "--events", &events, "--events", &record, "--events-level", "inputs"]);
    let address = lab.ipv4("st3");
    run(lab.exec("st2", &["ping", "-c", "4", "-i", "0.1", "-W", "5", &address])).succeeded();
    lab.down().succeeded();

    let log = fs::read_to_string(&events).expect("UTF-8");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["configuration"]["clocks_ppm"], serde_json::json!([0, 200]), "{}", lines[0]);
    let slot = number(&lines[0]["configuration"]["method"]["tdma"], "slot_bt");
    let of_st2 = lines.iter().filter(|event| event["kind"] == "attempt" && event["station"] == "st2");
    let mut attempts = 0;
    for t in of_st2.map(|event| number(event, "t")) {
        let tick = (t as f64 * 1.0002 / slot as f64).round() * slot as f64;
        assert_eq!((tick / 1.0002).round() as u64, t, "an attempt outside of the slots of its station");
        assert_eq!(tick as u64 / slot % 3, 1, "slot 2 of 3 is its own, and not that at {t}");
        attempts += 1;
    }
    assert!(attempts >= 4, "{attempts} attempts");
    run(ethbus(["replay", &record, "--events", &again])).succeeded();
    assert!(medium_layer(&events) == medium_layer(&again), "the record gives another run");
}

/// A slot without room for the frames of programs is refused, with the remedy.
#[test]
fn slots_that_are_too_short_for_programs_are_refused() {
    let words = ["--slot", "frames of up to 1522 octets", "write `--slot 12240bt`, or leave it out"];
    run(ethbus(["up", "--access", "tdma", "--slot", "700bt"])).failed_with(2, &words);
}
