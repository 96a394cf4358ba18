//! A lab changes while it is up: by the timetable of its scenario, and by `ethbus set`, in the same way (issue 29, parts 1 and 2).

use crate::common::files::kind;
use crate::common::lab::{Lab, namespaces_of};
use crate::common::logs::{medium_layer, two_traces};
use crate::common::process::{ethbus, replays, run};
use crate::common::results::{check, number, station, stations};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use serde_json::Value;
use std::time::Duration;
use tempfile::TempDir;

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("UTF-8").to_owned()
}

fn file(folder: &TempDir, text: &str) -> String {
    let path = path(folder, "lab.toml");
    std::fs::write(&path, text).expect("own folder");
    path
}

/// The rows of a trace after its header.
fn lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let rows = text.lines().skip(1).filter(|line| !line.contains("\"layer\":\"check\""));
    rows.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The kinds of all inputs in a trace but frames, with their instants.
fn done(path: &str) -> Vec<(u64, String)> {
    let all = lines(path).into_iter().filter(|line| !["offer", "end"].contains(&kind(line)));
    all.map(|line| (number(&line, "t"), kind(&line).to_owned())).collect()
}

/// The frames of this size that a station handed over, in a record.
fn offers(path: &str, station: &str, size: u64) -> usize {
    let own = |line: &&Value| line["kind"] == "offer" && line["station"] == station && line["size"] == size;
    lines(path).iter().filter(own).count()
}

/// All of a timetable is done at its times; the record replays byte for byte, and the lab ends by itself.
#[test]
fn a_lab_follows_its_timetable_to_its_end() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let [record, events, again] = ["run.record", "run.events", "again.events"].map(|name| path(&folder, name));
    let scenario = file(
        &folder,
        "stations = 2\n[medium]\ntopology = 'bus:500m'\n\
         [[at]]\ntime = '500ms'\nadd = { name = 'late', position = '250 m', arrivals = 'periodic:every=2ms', frame_size = 333 }\n\
         [[at]]\ntime = '1s'\nstation = 'st1'\narrivals = 'poisson:0.2'\nframe_size = 444\n\
         [[at]]\ntime = '1500ms'\nqueue = 7\n\
         [[at]]\ntime = '1500ms'\nfilter = 'address'\n\
         [[at]]\ntime = '2s'\nremove = 'late'\n\
         [[at]]\ntime = '2500ms'\nadd = { name = 'late' }\n\
         [[at]]\ntime = '2500ms'\nuntil = '3500ms'\n",
    );
    let files = two_traces(&record, &events);
    let mut lab = Lab::up(&[&[scenario.as_str()], &files[..], &["--tolerance", "100%"]].concat());
    lab.supervisor().wait_for_stderr("the filter is `address` from now on");
    let results = lab.stats();
    check(&results);
    assert!(number(station(&results, "late"), "frames_transmitted_ok") > 50, "{results}");
    assert_eq!(results["emulator"]["filter"], "address", "{results}");
    let ended = lab.ended();
    assert_eq!(ended.code(), Some(0), "{ended:#?}");
    for words in
        ["late joins", "the traffic of st1 is `poisson:0.2`", "queues hold 7 frames", "late leaves", "as `until`"]
    {
        assert!(ended.stderr.contains(words), "no `{words}` in {}", ended.stderr);
    }
    lab.assert_nothing_left();
    let all = done(&record);
    let kinds: Vec<&str> = all.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds, ["add", "traffic", "queue", "remove", "add"], "{all:?}");
    // Each is done when the medium's clock has got there, and not before.
    let due = [5_000_000, 10_000_000, 15_000_000, 20_000_000, 25_000_000];
    assert!(all.iter().zip(due).all(|((at, _), due)| *at >= due), "{all:?}");
    assert!(offers(&record, "late", 333) > 100 && offers(&record, "st1", 444) > 100);
    let log = lines(&events);
    for kind in ["traffic", "filter_address"] {
        assert!(log.iter().any(|line| line["kind"] == kind), "{kind}");
    }
    replays(&record, &["--events", &again]);
    assert_eq!(medium_layer(&events), medium_layer(&again));
}

/// What a command sets takes effect, and what makes no sense is refused and changes nothing.
#[test]
fn a_lab_that_is_up_is_set() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let record = path(&folder, "run.record");
    let mut lab = Lab::up(&["--stations", "2", "--events", &record, "--events-level", "inputs", "--tolerance", "100%"]);
    let set = |words: &[&str]| run(lab.ethbus("set", words));
    for (words, answer) in [
        (&["queue=0"][..], "queue: `0` is out of range"),
        (&["queue=many"], "queue:"),
        (&["st9", "arrivals=saturated"], "`st9` is no station"),
        (&["arrivals=window:4"], "a window needs hosts that answer"),
        (&["arrivals=replay:x.pcapng"], "begin with the run"),
        (&["st1", "arrivals=poisson:0.2", "destination=st1"], "`st1` is the station itself"),
        (&["frame_size=100"], "it belongs to `arrivals`"),
        (&["queue=5", "until=9s"], "one thing happens"),
        (&["filter=address"], "bring the lab up with `filter = \"address\"`"),
        (&["fault=deaf"], "`fault` is no parameter of it"),
    ] {
        set(words).failed_with(1, &[answer]);
    }
    let sent = |name: &str| number(station(&lab.stats(), name), "frames_transmitted_ok");
    set(&["st1", "arrivals=saturated", "frame_size=500", "destination=broadcast"]).succeeded();
    wait_until(PATIENCE, "a saturated station", || sent("st1") > 500);
    set(&["st1", "arrivals=periodic:every=5ms"]).succeeded();
    set(&["queue=9"]).succeeded();
    let before = sent("st1");
    wait_until(PATIENCE, "a periodic station", || sent("st1") > before + 50);
    set(&["arrivals=silent"]).succeeded();
    run(lab.ethbus("add", &["web"])).succeeded();
    set(&["web", "arrivals=poisson:0.1", "frame_size=222"]).succeeded();
    wait_until(PATIENCE, "a station that joined", || sent("web") > 50);
    // What was set holds no namespace after the station has left.
    run(lab.ethbus("remove", &["web"])).succeeded();
    assert!(!namespaces_of(&lab.name).iter().any(|name| name.ends_with("-web")));
    let results = lab.settled_stats();
    check(&results);
    let changes = results["emulator"]["changes"].as_array().expect("changes").iter();
    let told: Vec<(&str, &str)> = changes
        .filter_map(|one| Some((one["station"].as_str()?, one["change"].as_str()?)))
        .filter(|(_, change)| change.starts_with("traffic"))
        .collect();
    let silent = [("st1", "traffic silent"), ("st2", "traffic silent"), ("web", "traffic poisson:0.1")];
    assert_eq!(told, [&[("st1", "traffic saturated"), ("st1", "traffic periodic:every=5ms")], &silent[..]].concat());
    set(&["until=1ms"]).succeeded();
    assert_eq!(lab.ended().code(), Some(0));
    lab.assert_nothing_left();
    let kinds: Vec<String> = done(&record).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, ["traffic", "traffic", "queue", "traffic", "traffic", "add", "traffic", "remove"]);
    let set: Vec<Value> = lines(&record).into_iter().filter(|line| line["kind"] == "traffic").collect();
    assert_eq!((&set[0]["station"], &set[0]["arrivals"]), (&Value::from("st1"), &Value::from("saturated")));
    assert!(offers(&record, "st1", 500) > 500 && offers(&record, "web", 222) > 50);
    replays(&record, &[]);
}

/// The end that `up --duration` gives a lab is one of the medium's clock.
#[test]
fn a_lab_ends_when_its_medium_has_run_for_so_long() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let record = path(&folder, "run.record");
    run(ethbus(["up", "--stations", "2", "--duration", "soon"])).failed_with(2, &["--duration", "soon"]);
    let mut lab = Lab::up(&["--stations", "2", "--duration", "700ms", "--events", &record, "--events-level", "inputs"]);
    let ended = lab.ended();
    assert_eq!(ended.code(), Some(0), "{ended:#?}");
    assert!(ended.stderr.contains("the lab ends, as `until` has it"), "{ended:#?}");
    lab.assert_nothing_left();
    let end = lines(&record).pop().expect("an end");
    assert!(number(&end, "t") >= 7_000_000, "{end}");
}

/// What is set after a pause begins then: nothing of the pause is made up for.
#[test]
fn traffic_that_is_set_after_a_pause_begins_then() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let record = path(&folder, "run.record");
    let mut lab = Lab::up(&["--stations", "2", "--events", &record, "--events-level", "inputs", "--tolerance", "100%"]);
    run(lab.ethbus("pause", &[])).succeeded();
    std::thread::sleep(Duration::from_secs(2));
    run(lab.ethbus("resume", &[])).succeeded();
    let sent = || number(station(&lab.stats(), "st1"), "frames_transmitted_ok");
    let before = sent();
    run(lab.ethbus("set", &["st1", "arrivals=periodic:every=100ms", "frame_size=500"])).succeeded();
    wait_until(PATIENCE, "a periodic station", || sent() > before + 20);
    lab.down().succeeded();
    let first: Vec<u64> = lines(&record)
        .iter()
        .filter(|line| line["kind"] == "offer" && line["size"] == 500)
        .map(|line| number(line, "t"))
        .take(10)
        .collect();
    // Nine periods are 9,000,000 BT; a third of them at least, since a busy machine sends what it has missed at once.
    assert!(first[9] - first[0] > 3_000_000, "{first:?}");
}

/// The seat that the timetable has for a station is taken by no other one; what cannot be done then is said.
#[test]
fn a_seat_of_the_timetable_is_kept() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = file(
        &folder,
        "stations = 1\n[[at]]\ntime = '2s'\nadd = { name = 'late' }\n[[at]]\ntime = '2500ms'\nremove = 'late'\n\
         [[at]]\ntime = '3s'\nremove = 'st1'\n",
    );
    let mut lab = Lab::up(&[&scenario]);
    run(lab.ethbus("add", &["web"])).failed_with(1, &["the next place is for late", "as the scenario has it"]);
    run(lab.ethbus("add", &["late"])).succeeded();
    run(lab.ethbus("add", &["web"])).succeeded();
    run(lab.ethbus("remove", &["st1"])).succeeded();
    lab.supervisor().wait_for_stderr("late is there already");
    lab.supervisor().wait_for_stderr("late leaves");
    lab.supervisor().wait_for_stderr("st1 is not there");
    let results = lab.settled_stats();
    let names: Vec<&str> = stations(&results).iter().map(|station| station["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["st1", "late", "web"]);
    lab.down().succeeded();
    lab.assert_nothing_left();
}
