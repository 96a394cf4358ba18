//! The last seconds of a live bus, written on a trigger and by hand, are a part of the whole log.

use crate::common::lab::{Lab, Unused};
use crate::common::process::{ethbus, run};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The lines of a log without header and checks, each with its instant.
fn lines(path: &Path) -> Vec<(u64, String)> {
    let text = fs::read_to_string(path).expect("a log");
    let events = text.lines().skip(1).filter(|line| !line.contains("\"layer\":\"check\""));
    let instant = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["t"].as_u64().expect("an instant");
    events.map(|line| (instant(line), line.to_owned())).collect()
}

/// From when on a log has everything, and its lines since then.
fn window(path: &Path) -> (u64, Vec<(u64, String)>) {
    let text = fs::read_to_string(path).expect("a log");
    let header: Value = serde_json::from_str(text.lines().next().expect("a header")).expect("JSON");
    let from = header["kept_from_bt"].as_u64().unwrap_or(0);
    (from, lines(path).into_iter().filter(|(at, _)| *at >= from).collect())
}

/// A lab that keeps half a second, and the folder of its files.
fn keeping(on: &str) -> (Lab, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let (files, log) = (folder.path().join("kept.events"), folder.path().join("all.events"));
    let (files, log) = (files.to_str().expect("plain"), log.to_str().expect("plain"));
    let own = ["--stations", "3", "--events", log, "--keep", files, "--keep-for", "500ms", "--on", on];
    (Lab::up(&own), folder)
}

#[test]
fn the_last_seconds_are_a_part_of_the_whole_log() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let (mut lab, folder) = keeping("fault");
    let file = |name: &str| folder.path().join(name);
    // A file of another program keeps its name and its content.
    fs::write(file("kept-00001.events"), "notes").expect("own folder");
    let ping = |count| {
        let count = format!("{count}");
        _ = run(lab.exec("st1", &["ping", "-q", "-c", &count, "-i", "0.05", "-W", "1", &lab.ipv4("st2")]));
    };
    ping(30);
    let capture = file("last.pcapng");
    let last = ["--last", "10s", "--out", capture.to_str().expect("plain")];
    let by_hand = run(lab.ethbus("capture", &last)).succeeded();
    assert!(by_hand.stderr.contains(file("kept-00002.events").to_str().expect("plain")), "{by_hand:?}");
    assert!(fs::metadata(&capture).expect("a capture").len() > 1000);
    fs::remove_file(capture).expect("own folder");
    run(lab.ethbus("fault", &["st3", "deaf"])).succeeded();
    wait_until(PATIENCE, "the file of the trigger", || {
        ping(4);
        file("kept-00003.events").exists()
    });
    lab.supervisor().wait_for_stderr("ethbus: fault: the last ");
    let stats = lab.stats();
    let names = ["kept-00002.events", "kept-00003.events"].map(|name| file(name).display().to_string());
    assert_eq!(stats["emulator"]["kept_files"], serde_json::json!(names));
    assert_eq!(stats["emulator"]["keeps_missed"], 0);
    lab.down();
    let whole = lines(&file("all.events"));
    for name in ["kept-00002.events", "kept-00003.events"] {
        let (from, kept) = window(&file(name));
        let last = kept.last().expect("events").0;
        let same: Vec<_> =
            whole.iter().filter(|(at, _)| (from..=last).contains(at)).take(kept.len()).cloned().collect();
        assert_eq!(kept, same, "{name} from {from}");
        for command in ["explain", "report"] {
            let page = file("page.html");
            let more: &[&str] = if command == "report" { &["--out", page.to_str().expect("plain")] } else { &[] };
            let path = file(name);
            run(ethbus([&[command, path.to_str().expect("plain")], more].concat())).succeeded();
        }
    }
    let (_, of_the_fault) = window(&file("kept-00003.events"));
    assert!(of_the_fault.iter().any(|(_, line)| line.contains("\"fault\":\"deaf\"")), "the trigger itself");
    assert_eq!(fs::read_to_string(file("kept-00001.events")).expect("a file"), "notes");
    assert_eq!(fs::read_dir(folder.path()).expect("own folder").count(), 5, "nothing else is left");
}

/// A lab in the background opens some files when it is up: they lie where its caller was.
#[test]
fn later_files_of_a_lab_in_the_background_lie_where_its_caller_was() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let (folder, lab) = (tempfile::tempdir().expect("a folder"), Unused::name());
    let mut up = ethbus(["up", "--background", "--name", &lab.0, "--stations", "2", "--keep", "k.ebe"]);
    up.args(["--pcapng", "r.pcapng", "--pcapng-rotate", "100ms"]).current_dir(folder.path());
    run(up).succeeded();
    let there = |name: &str| folder.path().join(name);
    let mut last = ethbus(["capture", &lab.0, "--last", "2s", "--out"]);
    last.arg(there("last.events"));
    let kept = run(last).succeeded();
    assert!(kept.stderr.contains(there("k-00001.ebe").to_str().expect("plain")), "{kept:?}");
    wait_until(PATIENCE, "a second capture", || there("r-00002.pcapng").exists());
    run(ethbus(["down", &lab.0])).succeeded();
    assert!(there("k-00001.ebe").exists());
}

/// What waits when the lab ends is written.
#[test]
fn the_end_of_a_lab_writes_what_waits() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let (mut lab, folder) = keeping("plug,unplug");
    run(lab.ethbus("unplug", &["st3"])).succeeded();
    lab.down();
    let (_, kept) = window(&folder.path().join("kept-00001.events"));
    assert!(kept.iter().any(|(_, line)| line.contains("\"unplug\":")), "{kept:?}");
}

#[test]
fn what_cannot_be_kept_is_refused() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    run(lab.ethbus("capture", &["--last", "1s"]))
        .failed_with(1, &["it keeps no last seconds: bring it up with `--keep FILE`"]);
    let wrong = run(ethbus(["up", "--keep", "x.events", "--on", "late_colision"]));
    wrong.failed_with(2, &["`late_colision` is no kind of event", "late_collision", "slip", "fault"]);
    let nowhere = run(ethbus(["up", "--name", "never", "--keep", "/nowhere/x.events"]));
    nowhere.failed_with(1, &["/nowhere/x-00001.events"]);
    run(ethbus(["up", "--on", "slip"])).failed_with(2, &["--keep"]);
}
