//! `ethbus explain` from outside: a life told as the golden file has it, every frame of odd runs told without a panic,
//! and what cannot be told named.

mod common;

use common::process::{ethbus, run};
use ethbus::study::explain::{Wanted, find, tell};
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::LineReader;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Three stations, 50 BT apart: two wait for a third, which then goes on too early for them to hear.
const CLASS: &str = r#"{"format":"ethbus record","version":1,"program":"ethbus 0.1.0","name":"class","configuration":{"rate_bits_per_second":10000000,"topology":{"star":{"stations":3,"distance_bt":50}},"parameters":{"slot_time_bt":512,"inter_packet_gap_bt":96,"inter_packet_gap_part_1_bt":64,"attempt_limit":16,"backoff_limit":10,"jam_size_bt":32,"max_frame_size_octets":1518,"min_frame_size_octets":64,"extend_size_octets":0,"burst_limit_bt":0,"max_defer_time_bt":24288,"jabber_limit_bt":200000},"queue_limit":100,"seed":5},"stations":["st1","st2","st3"]}
{"t":0,"kind":"offer","station":"st3","size":200,"destination":{"station":"st1"},"tagged":false}
{"t":500,"kind":"offer","station":"st1","size":46,"destination":{"station":"st2"},"tagged":false}
{"t":520,"kind":"offer","station":"st2","size":64,"destination":{"station":"st1"},"tagged":false}
{"t":530,"kind":"offer","station":"st1","size":600,"destination":"all","tagged":false}
{"t":560,"kind":"offer","station":"st3","size":64,"destination":{"station":"st1"},"tagged":false}
{"kind":"end","t":100000,"run_to":100000,"inputs":5,"missing":0}
"#;

struct Class {
    folder: TempDir,
    events: String,
}

impl Class {
    fn new() -> Class {
        let folder = tempfile::tempdir().expect("a folder");
        let [record, events] =
            ["record", "events"].map(|name| folder.path().join(name).to_str().expect("UTF-8").to_owned());
        fs::write(&record, CLASS).expect("a file");
        run(ethbus(["replay", &record, "--events", &events])).succeeded();
        Class { folder, events }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.events).expect("UTF-8")
    }

    /// Another log, in a file of its own.
    fn with(&self, text: &str) -> String {
        let path = self.folder.path().join("other").to_str().expect("UTF-8").to_owned();
        fs::write(&path, text).expect("a file");
        path
    }
}

/// Step by step with clauses, drawn, and in short. `BLESS=1` rewrites the file.
#[test]
fn a_life_is_told_as_the_golden_file_has_it() {
    let class = Class::new();
    let told = ["st1#1", "st2#1", "st3#2"]
        .map(|frame| run(ethbus(["explain", &class.events, "--frame", frame])).succeeded().stdout);
    let told = told.join("\n----\n\n");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/explain.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&golden, &told).expect("the repository can be written");
    }
    let wanted = fs::read_to_string(&golden).expect("a golden file");
    assert!(told == wanted, "told:\n{told}\ngolden:\n{wanted}");
}

/// A number alone will do where one station has such a frame; otherwise those that have are named.
#[test]
fn a_frame_is_found_by_number_or_name() {
    let class = Class::new();
    let explain = |arguments: &[&str]| run(ethbus([&["explain", &class.events], arguments].concat()));
    let by_name = explain(&["--frame", "st2#1"]).succeeded().stdout;
    assert_eq!(explain(&["--frame", "1", "--station", "st2"]).succeeded().stdout, by_name);
    assert_eq!(explain(&["--frame", "st2#1", "--station", "st2"]).succeeded().stdout, by_name);
    explain(&["--frame", "2"]).failed_with(1, &["2 stations have a frame 2: st1#2, st3#2; say which with --station"]);
    let alone: String =
        class.log().lines().filter(|line| !line.contains("st3#2")).map(|line| line.to_owned() + "\n").collect();
    let alone = class.with(&alone);
    let told = run(ethbus(["explain", &alone, "--frame", "2"])).succeeded().stdout;
    assert!(told.starts_with("Frame st1#2 of `class`"), "{told}");
}

#[test]
fn what_is_not_there_is_named() {
    let class = Class::new();
    for (arguments, words) in [
        (vec!["--frame", "st2#9"], "the log has no frame st2#9: of st2 it has st2#1 only"),
        (vec!["--frame", "st1#9"], "the log has no frame st1#9: of st1 it has st1#1 to st1#2"),
        (vec!["--frame", "9"], "the log has no frame 9: "),
        (vec!["--frame", "st9#1"], "no station is called `st9`; the log has st1, st2, st3"),
        (vec!["--frame", "1", "--station", "st9"], "no station is called `st9`"),
        (vec!["--frame", "st1#1", "--station", "st2"], "are of two stations: give one"),
        (vec!["--frame", "0"], "--frame 0: a frame is called by its station and its number there, like st1#17"),
        (vec!["--frame", "st1#"], "--frame st1#: a frame is called by"),
        (vec!["--frame", "first"], "--frame first: a frame is called by"),
    ] {
        run(ethbus([&["explain", &class.events], &arguments[..]].concat())).failed_with(1, &[words]);
    }
    let damaged = class.with(&class.log().replacen("\"kind\":\"defer\"", "\"kind\":\"defre\"", 1));
    run(ethbus(["explain", &damaged, "--frame", "st1#1"]))
        .failed_with(1, &["other, line 5: `defre` is no kind of event"]);
    run(ethbus(["explain", "/no/such/log", "--frame", "1"])).failed_with(1, &["cannot read /no/such/log"]);
}

/// A log that ends too early says where, and what the frame was doing; one cut within a line says that, too.
#[test]
fn a_log_that_ends_before_the_frame_says_so() {
    let class = Class::new();
    let log = class.log();
    let lines: Vec<&str> = log.lines().collect();
    for (count, words) in [
        (4, "1 was waiting in the queue"),
        (5, "it was deferring"),
        (14, "it was being sent"),
        (16, "it was in a collision, its jam not yet out"),
        (22, "it was backing off"),
    ] {
        let path = class.with(&(lines[..count].join("\n") + "\n"));
        let told = run(ethbus(["explain", &path, "--frame", "st1#1"])).succeeded().stdout;
        let words = words.trim_start_matches("1 was ");
        assert!(told.contains("The log ends at t = ") && told.contains(words), "{count}: {told}");
    }
    let path = class.with(&log[..log.find("\"jam_end\"").expect("a jam")]);
    let told = run(ethbus(["explain", &path, "--frame", "st1#1"])).succeeded().stdout;
    assert!(told.contains("the file was cut short here"), "{told}");
}

/// Long cables, bursts, a rate of its own: every frame has a story that ends as the
/// log has it, and no number in it makes the telling panic.
#[test]
fn every_frame_of_odd_runs_has_a_story() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = folder.path().join("events");
    for options in [
        ["--topology", "bus:900bt", "--stations", "5", "--frame-size", "64", "--rate", "10M", "--duration", "4ms"],
        [
            "--topology",
            "star:50bt",
            "--stations",
            "9",
            "--frame-size",
            "uniform:64-1518",
            "--rate",
            "2.94M",
            "--duration",
            "15ms",
        ],
        ["--topology", "star:200bt", "--stations", "4", "--frame-size", "64", "--rate", "1G", "--duration", "100us"],
        ["--topology", "star:0bt", "--stations", "2", "--frame-size", "1518", "--rate", "100M", "--duration", "400us"],
    ] {
        let path = events.to_str().expect("UTF-8");
        let rest = ["--warmup", "0s", "--traffic", "saturated", "--events", path];
        run(ethbus([&["sim"], &options[..], &rest[..]].concat())).succeeded();
        let log = fs::read_to_string(&events).expect("UTF-8");
        let offered = log.lines().filter(|line| line.contains("\"kind\":\"offered\""));
        let frames: Vec<&str> = offered
            .map(|line| line.split("\"frame\":\"").nth(1).expect("a frame").split('"').next().expect("its end"))
            .collect();
        assert!(frames.len() > 3, "{options:?} gave {} frames", frames.len());
        // Each is a pass over the log: forty of them, spread evenly, and the last ones, whose end it may not have.
        let step = frames.len().div_ceil(40);
        for frame in frames.iter().step_by(step).chain(frames.iter().rev().take(5)) {
            let mut reader = EventLogReader::new(LineReader::new(log.as_bytes(), "log".to_owned())).expect("a log");
            let wanted = Wanted::parse(frame, None, reader.header()).expect("its name");
            let story = find(&mut reader, wanted).expect("it is in the log");
            let text = tell(&story, reader.header());
            let own = format!("\"frame\":\"{frame}\"");
            let own: Vec<&str> = log.lines().filter(|line| line.contains(&own)).collect();
            let count = |kind: &str| own.iter().filter(|line| line.contains(&format!("\"kind\":\"{kind}\""))).count();
            let ended = count("transmitted") + count("discarded") + count("queue_drop") > 0;
            assert_eq!(ended, !text.contains("before its end"), "{frame} in {options:?}: {text}");
            assert_eq!(text.matches("Collision (4.2.3.2.4)").count(), count("collision"), "{text}");
        }
    }
}
