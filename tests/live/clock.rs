//! The medium's clock at a user's command.

use crate::common::lab::Lab;
use crate::common::process::{Running, replays, run};
use crate::common::results::{check, emulator, number, sum};
use crate::common::{PATIENCE, Turn, skipped};
use std::time::{Duration, Instant};

/// The bit time that a command about the clock prints.
fn bits(lab: &Lab, command: &str, arguments: &[&str]) -> u64 {
    let told = run(lab.ethbus(command, arguments)).succeeded().stdout;
    told.trim_end().trim_end_matches(" BT").replace(',', "").parse().unwrap_or_else(|_| panic!("{told}"))
}

/// A frame of a stopped medium waits, goes on event by event, and the record has all of it at its bit times.
#[test]
fn a_stopped_clock_goes_on_by_events_and_by_bits() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("run.record");
    let mut lab =
        Lab::up(&["--stations", "2", "--events", record.to_str().expect("plain"), "--events-level", "inputs"]);
    lab.ping("st1", &lab.ipv4("st2"));
    run(lab.ethbus("step", &[])).failed_with(1, &["its clock runs", "ethbus pause"]);
    let before = lab.settled_stats();
    let begin = bits(&lab, "pause", &[]);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(bits(&lab, "pause", &[]), begin, "no bit goes by");
    let paused = lab.stats();
    for step in 1..=3 {
        assert_eq!(bits(&lab, "step", &["--bits", "1"]), begin + step);
    }
    run(lab.ethbus("step", &["--bits", "0"])).failed_with(2, &["`0`: write a whole number, 1 or more"]);
    let ping = Running::start(lab.exec("st1", &["ping", "-c", "1", "-W", "30", &lab.ipv4("st2")]), "");
    let mut now = begin;
    let begun = Instant::now();
    while sum(&lab.stats(), "frames_transmitted_ok") < sum(&before, "frames_transmitted_ok") + 2 {
        let then = bits(&lab, "step", &[]);
        assert!(then >= now, "time never goes back: {now} to {then}");
        now = then;
        assert!(begun.elapsed() < PATIENCE, "two frames take few events");
    }
    let stopped = lab.stats();
    assert!(number(&stopped["emulator"], "paused_ns") > 300_000_000, "{stopped}");
    // A clock that runs may have some: the machine is busy.
    let late = [&paused, &stopped].map(|results| emulator(results, "late_arrivals"));
    assert_eq!(late[0], late[1], "what comes in a pause comes in order");
    // A ping and its answer take a few thousand bit times, and the test's own time is not the medium's.
    assert!(now - begin < 1_000_000, "{begin} to {now}");
    bits(&lab, "resume", &[]);
    ping.wait().succeeded();
    let after = lab.settled_stats();
    check(&after);
    lab.down().succeeded();
    replays(&record, &[]);
}

/// A medium that a user steps is not slow: all that a step brings goes out before its answer, and nothing of it is late.
#[test]
fn steps_under_load_are_neither_slips_nor_lateness() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("lab.toml");
    let text = "stations = 4\n[medium]\ntopology = 'bus:1000m'\n[traffic]\narrivals = 'saturated'\nframe_size = 200\n";
    std::fs::write(&scenario, text).expect("own folder");
    let mut lab = Lab::up(&[scenario.to_str().expect("plain")]);
    bits(&lab, "pause", &[]);
    let before = lab.stats();
    (0..40).for_each(|_| _ = bits(&lab, "step", &["--bits", "51200"]));
    let after = lab.stats();
    for figure in ["slips", "slip_ns", "late_deliveries", "late_arrivals", "overload_drops"] {
        assert_eq!(emulator(&after, figure), emulator(&before, figure), "{figure}");
    }
    assert!(emulator(&after, "deliveries") > emulator(&before, "deliveries") + 1_000, "{after}");
    assert!(emulator(&after, "deliveries_pending") <= 6, "a frame to three stations, and the next: {after}");
    bits(&lab, "resume", &[]);
    lab.down();
}

/// A timetable is the medium's: what is to be done at 100 s is done when the clock has been stepped there.
#[test]
fn a_timetable_follows_the_clock_of_the_medium() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("lab.toml");
    let text = "stations = 2\n[[at]]\ntime = '100s'\nqueue = 7\n[[at]]\ntime = '100s'\nuntil = '101s'\n";
    std::fs::write(&scenario, text).expect("own folder");
    let mut lab = Lab::up(&[scenario.to_str().expect("plain")]);
    bits(&lab, "pause", &[]);
    let now = bits(&lab, "step", &["--bits", "1000000000"]);
    assert!(now >= 1_000_000_000, "{now}");
    assert!(!lab.supervisor().stderr().contains("queues hold"), "nothing is done while the clock is stopped");
    bits(&lab, "resume", &[]);
    let ended = lab.ended();
    assert_eq!(ended.code(), Some(0), "{ended:#?}");
    for words in ["queues hold 7 frames", "as `until`"] {
        assert!(ended.stderr.contains(words), "no `{words}` in {}", ended.stderr);
    }
    lab.assert_nothing_left();
}
