//! `[[at]]`: changes of stations and cable during a run, in virtual time and live; and a scenario's traffic on a live
//! bus.

use crate::common::files::kind;
use crate::common::lab::Lab;
use crate::common::process::{data_plane, ethbus, replays, run};
use crate::common::results::{check, number, station, sum};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use link::Pid;
use link::signals::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Every kind of change, not in order of time.
const CHANGES: &str = "
[[at]]
time = '4ms'
mend = true

[[at]]
time = '20000 bt'
cut = ['st2', 'st3']

[[at]]
time = '1ms'
unplug = 'st1'

[[at]]
time = '5ms'
plug = 'st1'

[[at]]
time = '3ms'
station = 'st2'
fault = 'deaf'

[[at]]
time = '6ms'
station = 'st2'
fault = 'none'
";

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("own folder");
    path
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("plain")
}

/// The instants and kinds of all inputs in a record, except frames. It runs again with the same events.
fn changes_of(record: &Path) -> Vec<(u64, String)> {
    replays(record, &[]);
    let text = std::fs::read_to_string(record).expect("own folder");
    let lines = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let changes = lines.filter(|line| line["layer"] != "check" && !["offer", "end"].contains(&kind(line)));
    changes.map(|line| (number(&line, "t"), kind(&line).to_owned())).collect()
}

/// Changes happen at their bit time, in order of time, and are in the record. A station that is off the medium
/// meanwhile sends nothing and is not asked repeatedly.
#[test]
fn changes_happen_at_their_bit_times_in_virtual_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let (record, events) = (folder.path().join("run.record"), folder.path().join("run.events"));
    let text = format!("stations = 4\n[medium]\ntopology = 'bus:500m'\n{CHANGES}");
    let scenario = file(&folder, "lab.toml", &text);
    let outputs =
        ["--events", plain(&record), "--events-level", "inputs", "--events", plain(&events), "--format", "json"];
    let times = ["--duration", "10ms", "--warmup", "0s", "--frame-size", "64"];
    let results = run(ethbus([&["sim", plain(&scenario)][..], &times, &outputs].concat())).json();
    check(&results);
    let wanted = [(10_000, "unplug"), (20_000, "cut"), (30_000, "fault"), (40_000, "mend"), (50_000, "plug")];
    let wanted = wanted.into_iter().chain([(60_000, "fault")]).map(|(t, kind)| (t, kind.to_owned()));
    assert_eq!(changes_of(&record), wanted.collect::<Vec<_>>());
    let st1 = station(&results, "st1");
    assert!(number(st1, "detached") <= 1, "a saturated station waits while it is off the medium: {st1}");
    let log = std::fs::read_to_string(&events).expect("own folder");
    let lines = log.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let attempts = lines.filter(|line| line["kind"] == "attempt" && line["station"] == "st1");
    let at: Vec<u64> = attempts.map(|line| number(&line, "t")).collect();
    // An attempt that began before may continue; none begins while the cable is pulled.
    assert!(at.iter().any(|t| *t < 10_000) && at.iter().any(|t| *t >= 50_000), "{at:?}");
    assert!(!at.iter().any(|t| (10_000..50_000).contains(t)), "{at:?}");
}

/// The scenario's own drivers offer its traffic, changes happen at their times, and the record of all of it replays.
#[test]
fn a_live_lab_runs_its_scenario() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("run.record");
    let traffic = "[traffic]\narrivals = 'poisson:0.2'\nframe_size = 200\ndestination = 'broadcast'\n";
    let sections =
        "[[station]]\n[[station]]\n[[station]]\narrivals = 'periodic:0.05'\n[[station]]\narrivals = 'silent'\n";
    // Later than the lab takes to come up, and early enough for a test.
    let changes = CHANGES.replace("ms'", "00ms'").replace("20000 bt", "2000000 bt");
    let scenario = file(&folder, "lab.toml", &format!("[medium]\ntopology = 'bus:500m'\n{traffic}{sections}{changes}"));
    let mut lab =
        Lab::up(&[plain(&scenario), "--events", plain(&record), "--events-level", "inputs", "--tolerance", "100%"]);
    let stats = || lab.stats();
    wait_until(PATIENCE, "traffic of all that have some", || {
        let stats = stats();
        ["st1", "st2", "st3"].iter().all(|name| number(station(&stats, name), "frames_transmitted_ok") > 50)
    });
    lab.supervisor().wait_for_stderr("st2 has no fault any more");
    let said = lab.supervisor().stderr();
    for words in
        ["st1 is off the medium", "the cable is cut", "st2 has the fault deaf", "the cable is mended", "st1 is back"]
    {
        assert!(said.contains(words), "no `{words}` in {said}");
    }
    let results = lab.stats();
    let (offered, silent) = (sum(&results, "offered"), number(station(&results, "st4"), "offered"));
    assert!(silent * 10 < offered, "st4 has only what its kernel sends: {silent} of {offered}");
    let ended = lab.down();
    assert_eq!(ended.code(), Some(0), "{ended:#?}");
    lab.assert_nothing_left();
    let changes = changes_of(&record);
    let kinds: Vec<&str> = changes.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds, ["unplug", "cut", "fault", "mend", "plug", "fault"], "{changes:?}");
    assert!(changes.windows(2).all(|pair| pair[0].0 < pair[1].0), "{changes:?}");
}

/// A saturated station keeps its queue filled, and the queue does not overflow.
#[test]
fn a_saturated_station_of_a_live_lab_always_has_a_frame() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let text = "stations = 2\n[medium]\nrate = '1M'\n[traffic]\narrivals = 'saturated'\nframe_size = 1000\n";
    let scenario = file(&folder, "lab.toml", text);
    let mut lab = Lab::up(&[plain(&scenario)]);
    wait_until(PATIENCE, "traffic", || sum(&lab.stats(), "frames_transmitted_ok") > 100);
    let results = lab.stats();
    check(&results);
    assert_eq!(sum(&results, "queue_drops"), 0, "{results}");
    lab.down();
    lab.assert_nothing_left();
}

/// A lab reports what its drivers cannot do: a window needs hosts that answer.
#[test]
fn what_a_live_lab_leaves_out_is_said() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = file(&folder, "lab.toml", "stations = 2\n[traffic]\narrivals = 'window:4'\n");
    let mut lab = Lab::up(&[plain(&scenario)]);
    lab.supervisor().wait_for_stderr("st2 offers nothing of what the scenario says: a window needs hosts that answer");
    lab.down();
}

/// The results of a data plane that was stopped for half a second are not reliable: `--strict` reports that by its exit
/// code, in the foreground at the lab's own end, in the background at that of `down`.
#[test]
fn a_strict_lab_ends_with_3_if_it_is_not_to_be_trusted() {
    const NOT_TRUSTED: i32 = 3;
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::alone();
    let stop = |supervisor: u32| {
        let plane = Pid::from_raw(data_plane(supervisor) as i32);
        assert!(link::process::signal(plane, Signal::SIGSTOP));
        std::thread::sleep(Duration::from_millis(500));
        assert!(link::process::signal(plane, Signal::SIGCONT));
    };
    for (tolerance, code) in [("0.001%", NOT_TRUSTED), ("100%", 0)] {
        let mut lab = Lab::up(&["--stations", "2", "--strict", "--tolerance", tolerance]);
        if code == NOT_TRUSTED {
            stop(lab.supervisor().pid());
        }
        let told = lab.stats();
        let trusted = told["emulator"]["verdict"] == "trusted";
        assert_eq!(trusted, code == 0, "{tolerance}: {told}");
        assert_eq!(lab.down().code(), Some(code), "{tolerance}");
        lab.assert_nothing_left();
    }
    let unused = crate::common::lab::Unused::name();
    run(ethbus(["up", "--name", &unused.0, "--stations", "2", "--strict", "--background", "--tolerance", "0.001%"]))
        .succeeded();
    stop(in_background(&unused.0));
    assert_eq!(run(ethbus(["down", "--name", &unused.0])).code(), Some(NOT_TRUSTED));
}

/// The supervisor of a lab in the background, by its command line.
fn in_background(name: &str) -> u32 {
    let processes = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_it = |pid: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&str> = line.split('\0').collect();
        words.contains(&name) && words.contains(&"--in-background")
    };
    numbers.into_iter().find(is_it).expect("a supervisor in the background")
}
