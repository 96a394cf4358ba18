//! The bench from outside: it gives the requested rows, and leaves nothing. Its figures are not judged here.

use crate::common::derive::derive_file;
use crate::common::process::{
    Running, assert_held_by_nobody, children, ethbus, namespaces_held_by, program, run, run_for, runs,
};
use crate::common::{ETHBUS, PATIENCE, Turn, skipped, wait_until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

/// A few short rows.
const LIMIT: Duration = Duration::from_secs(60);

fn bench(arguments: &str) -> Command {
    ethbus(["doctor", "--measure"].into_iter().chain(arguments.split_whitespace()))
}

#[track_caller]
fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["rows"].as_array().expect("`rows` is a list");
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))
}

/// Exactly the requested rows, each with its figures, conditions and emulator (issue 5, "Figures to reach").
#[test]
fn the_rows_that_were_wanted_are_measured_and_nothing_is_left() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::alone();
    let logs = tempfile::tempdir().expect("a folder");
    let mut command = bench("idle,echo --duration 1s --seed 7 --format json --logs");
    command.arg(logs.path());
    let running = Running::start(command, "");
    let mut held = BTreeSet::new();
    wait_until(PATIENCE, "a bus at work", || {
        held.extend(namespaces_held_by(running.pid()));
        held.len() >= 3
    });
    let ended = running.wait_for(LIMIT);
    assert!(ended.stderr.contains("seed 7"), "{ended:#?}");
    assert_held_by_nobody(&held);
    let report = ended.json();
    assert_eq!((&report["version"], &report["seed"]), (&1.into(), &7.into()));
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(2), "{report}");
    for (name, figures, runs) in [("idle", 2, 1), ("echo", 30, 4)] {
        let row = row(&report, name);
        assert_eq!(row["state"], "measured", "{row}");
        assert_eq!(row["figures"].as_array().map(Vec::len), Some(figures), "{row}");
        assert!(row["figures"][0]["value"].is_number() && !row["figures"][0]["verdict"].is_null(), "{row}");
        assert_eq!(row["runs"].as_array().map(Vec::len), Some(runs), "{row}");
        assert!(row["runs"][0]["emulator"]["slip_ns"].is_number(), "{row}");
        for condition in ["steal_percent", "wake_p50_us", "page_stall_percent"] {
            assert!(row["runs"][0]["conditions"][condition].is_number(), "{row}");
        }
    }
    // Three buses, two of them with echoes: the stations' actions agree with clause 4.
    let events = [1, 2, 3].map(|number| derive_file(&logs.path().join(format!("{number}.jsonl")), true));
    assert!(events[1] > 100 && events[2] > 100, "{events:?}");
}

/// A stream's arrivals give the same events in virtual time, so its share can be compared with the total that the
/// medium carried.
#[test]
fn a_stream_is_recorded_and_replayed() {
    if skipped(&["iperf3"]) {
        return;
    }
    let _turn = Turn::alone();
    let report = run_for(bench("tcp --duration 1s --format json"), LIMIT).json();
    let row = row(&report, "tcp");
    assert_eq!(row["state"], "measured", "{row}");
    let notes = row["notes"].to_string();
    assert!(notes.contains("byte for byte"), "{row}");
    let figures = row["figures"].as_array().expect("a list");
    for name in ["goodput, as the medium delivered it", "the simulator's hosts, lowest"] {
        let figure = figures.iter().find(|figure| figure["name"] == name).unwrap_or_else(|| panic!("{row}"));
        assert!(figure["value"].as_f64().is_some_and(|megabits| megabits > 0.0 && megabits < 9.415), "{row}");
    }
}

/// When a bench is killed, its stations and the programs in them end too.
#[test]
fn a_killed_bench_leaves_nothing() {
    if skipped(&["iperf3"]) {
        return;
    }
    let _turn = Turn::shared();
    let running = Running::start(bench("tcp --duration 60s"), "");
    let sending = |(_, line): &(u32, String)| line.contains("-t 60");
    wait_until(PATIENCE, "a stream at work", || children(running.pid()).iter().any(sending));
    let held = namespaces_held_by(running.pid());
    let programs = children(running.pid());
    assert!(programs.len() >= 2 && held.len() >= 3, "{programs:?} {held:?}");
    running.signal("KILL");
    assert_eq!(running.wait().signal(), Some(9));
    wait_until(PATIENCE, "the end of its programs", || programs.iter().all(|(pid, _)| !runs(*pid)));
    assert_held_by_nobody(&held);
}

/// An interrupt ends it at once, with the exit code of shells.
#[test]
fn an_interrupted_bench_judges_nothing() {
    if skipped(&["iperf3"]) {
        return;
    }
    let _turn = Turn::shared();
    let running = Running::start(bench("tcp --duration 60s"), "");
    wait_until(PATIENCE, "a stream at work", || children(running.pid()).len() >= 3);
    let programs = children(running.pid());
    running.signal("INT");
    let ended = running.wait();
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(130), ""), "{ended:#?}");
    assert!(programs.iter().all(|(pid, _)| !runs(*pid)), "{programs:?}");
}

/// Where a program is missing, its row names the package that has it; that is no failure unless the row was requested.
#[test]
fn a_row_without_its_program_is_skipped_and_says_why() {
    if skipped(&["unshare"]) {
        return;
    }
    let _turn = Turn::shared();
    let script = "for folder in /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin; do \
                  [ ! -e $folder/iperf3 ] || mount --bind /dev/null $folder/iperf3 || exit 99; done; exec \"$0\" doctor --measure \
                  tcp --duration 200ms --format json $1";
    for (check, code) in [("", 0), ("--check", 1)] {
        let ended = run(program("unshare", ["--mount", "sh", "-c", script, ETHBUS, check]));
        if ended.code() == Some(99) || ended.stderr.contains("unshare") {
            return crate::common::skip(&format!("cannot hide a program here: {}", ended.stderr.trim()));
        }
        assert_eq!(ended.code(), Some(code), "{ended:#?}");
        let report: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:#?}"));
        let why = row(&report, "tcp")["state"]["skipped"].as_str().unwrap_or_else(|| panic!("{report}")).to_owned();
        assert!(why.contains("Debian package iperf3"), "{why}");
    }
}

/// A request for an unknown row gets an error that lists the known ones.
#[test]
fn a_row_that_there_is_not_is_told() {
    run(bench("echo,pong")).failed_with(2, &["`pong`", "echo", "tcp_pairs"]);
    run(bench("echo --duration never")).failed_with(2, &["--duration", "never"]);
}
