//! A table of messages on a live bus (`up --plan`): real frames from real namespaces beside the bounds of `ethbus plan`.

use crate::common::lab::{Lab, Unused};
use crate::common::process::{ethbus, run};
use crate::common::results::{check, number, sum};
use crate::common::{PATIENCE, Turn, note, skipped, wait_until};
use serde_json::Value;
use tempfile::TempDir;

/// Deadlines that a machine with other work keeps, too.
const TABLE: &str = "node,name,octets,period,jitter,burst,deadline\n\
    zone,commands,128,10 ms,0 ms,1,900 ms\n\
    brake,pedal,64,8 ms,0 ms,1,900 ms\n\
    brake,state,256,50 ms,2 ms,2,900 ms\n\
    camera,image,1518,5 ms,300 us,1,900 ms\n";

fn file(folder: &TempDir, text: &str) -> String {
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text).expect("a table");
    path.to_str().expect("UTF-8").to_owned()
}

fn messages(results: &Value) -> &[Value] {
    results["plan"]["messages"].as_array().expect("a list of messages")
}

/// The results of a lab whose answer to `stats` and `down` has this exit code.
#[track_caller]
fn told(lab: &Lab, command: &str, code: i32) -> Value {
    let answer = run(lab.ethbus(command, &["--format", "json"]));
    assert_eq!(answer.code(), Some(code), "{answer:#?}");
    serde_json::from_str(&answer.stdout).expect("JSON")
}

/// Each message has its frames, none is above the bound that counts with the machine's own jitter, and that bound is no
/// less than the table's, which is the one of `ethbus plan`. Nothing else is on the bus.
#[test]
fn a_table_runs_live_beside_its_bounds() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let table = file(&folder, TABLE);
    let planned = run(ethbus(["plan", &table, "--format", "json"])).json();
    let lab = Lab::up(&["--plan", &table]);
    let sent = |results: &Value| messages(results).iter().map(|message| number(message, "frames")).min();
    wait_until(PATIENCE, "frames of each message", || sent(&lab.stats()) >= Some(60));
    let text = run(lab.ethbus("stats", &[])).succeeded().stdout;
    assert!(text.contains("message, us") && text.contains("camera image"), "{text}");
    let results = told(&lab, "down", 0);
    check(&results);
    assert_eq!(results["plan"]["other_frames"], 0, "{}", results["plan"]);
    assert_eq!(results["plan"].get("suspended"), None);
    let all: u64 = messages(&results).iter().map(|message| number(message, "frames")).sum();
    assert_eq!(all, sum(&results, "frames_transmitted_ok"));
    for (message, planned) in messages(&results).iter().zip(planned["messages"].as_array().expect("a list")) {
        let bits = |value: &Value| (value.as_f64().expect("a time") * 10.0).round() as u64;
        assert_eq!(message["message"], planned["message"]);
        assert_eq!(number(message, "planned_bound_bt"), bits(&planned["response_us"]));
        assert_eq!(number(message, "deadline_bt"), bits(&planned["deadline_us"]));
        assert!(number(message, "response_bound_bt") >= number(message, "planned_bound_bt"), "{message}");
        assert!(number(message, "response_max_bt") <= number(message, "response_bound_bt"), "{message}");
        assert!(number(message, "access_max_bt") <= number(message, "access_bound_bt"), "{message}");
        assert_eq!(message["verdict"], "met", "{message}");
        note(&format!(
            "{} {}: {} frames, response at most {} BT, bound {} BT, by the table {} BT, jitter {} BT",
            message["node"],
            message["message"],
            message["frames"],
            message["response_max_bt"],
            message["response_bound_bt"],
            message["planned_bound_bt"],
            message["release_jitter_bt"]
        ));
    }
}

/// A frame of 1518 octets takes 1.2 ms, so it is late for a deadline of 1 ms; `stats` and `down` end with 1.
#[test]
fn a_missed_deadline_is_an_exit_code() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let table = file(&folder, "node,name,octets,period,deadline\na,right,64,10 ms,900 ms\nb,late,1518,10 ms,1 ms\n");
    let lab = Lab::up(&["--plan", &table]);
    let stats = || -> Value {
        let answer = run(lab.ethbus("stats", &["--format", "json"])).stdout;
        serde_json::from_str(&answer).expect("JSON")
    };
    wait_until(PATIENCE, "frames", || messages(&stats()).iter().all(|message| number(message, "frames") > 3));
    told(&lab, "stats", 1);
    let results = told(&lab, "down", 1);
    let verdicts: Vec<&Value> = messages(&results).iter().map(|message| &message["verdict"]).collect();
    assert_eq!(verdicts, ["met", "missed"]);
}

/// A frame that the table does not have, and noise at a node, suspend all bounds, and say so; deadlines still count.
#[test]
fn what_the_table_does_not_have_suspends_its_bounds() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let table = file(&folder, TABLE);
    let lab = Lab::up(&["--plan", &table]);
    let before = lab.stats();
    assert_eq!(before["plan"].get("suspended"), None, "{}", before["plan"]);
    let send = ["--from", "zone", "--to", "broadcast", "--count", "3", "--rate", "100/s"];
    run(lab.ethbus("send", &send)).succeeded();
    wait_until(PATIENCE, "three frames", || lab.stats()["plan"]["other_frames"] == 3);
    let others = lab.stats();
    assert_eq!(others["plan"]["suspended"], "other_frames");
    assert!(
        run(lab.ethbus("stats", &[])).succeeded().stdout.contains("3 frames on the bus that the table does not have")
    );
    run(lab.ethbus("fault", &["brake", "lost_beacon:1%"])).succeeded();
    run(lab.ethbus("fault", &["brake", "none"])).succeeded();
    let noisy = told(&lab, "down", 0);
    assert_eq!(noisy["plan"]["suspended"], "noise");
    for message in messages(&noisy) {
        assert_eq!(message["response_bound_bt"], Value::Null, "{message}");
        assert_eq!(message["verdict"], "met", "{message}");
    }
}

/// The table says what is on the bus: an option that contradicts it is named, and nothing is made.
#[test]
fn an_option_that_contradicts_the_table_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = file(&folder, TABLE);
    for (option, value) in [("--topology", "bus:100m"), ("--to-timer", "24")] {
        let Unused(name) = &Unused::name();
        let answer = run(ethbus(["up", "--name", name, "--plan", &table, option, value]));
        answer.failed_with(2, &[option, "the table of `--plan` says what the bus and its messages are"]);
    }
}
