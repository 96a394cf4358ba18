//! `ethbus explain` from outside: a life told as the golden file has it, every frame of odd runs told without a panic,
//! and what cannot be explained named.

use crate::common::logs::unproven;
use crate::common::process::{ethbus, run, unwrapped};
use sim::explain::{Wanted, find, tell};
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::LineReader;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Three stations, 50 BT apart: two wait for a third, which then goes on too early for them to hear.
const CLASS: &str = r#"{"format":"ethbus trace","version":2,"level":"inputs","program":"ethbus 0.1.0","name":"class","configuration":{"rate_bits_per_second":10000000,"topology":{"star":{"stations":3,"distance_bt":50}},"parameters":{"slot_time_bt":512,"inter_packet_gap_bt":96,"inter_packet_gap_part_1_bt":64,"attempt_limit":16,"backoff_limit":10,"jam_size_bt":32,"max_frame_size_octets":1518,"min_frame_size_octets":64,"extend_size_octets":0,"burst_limit_bt":0,"max_defer_time_bt":24288,"jabber_limit_bt":200000},"queue_limit":100,"seed":5},"stations":["st1","st2","st3"]}
{"t":0,"layer":"input","kind":"offer","station":"st3","size":200,"destination":{"station":"st1"},"tagged":false}
{"t":500,"layer":"input","kind":"offer","station":"st1","size":46,"destination":{"station":"st2"},"tagged":false}
{"t":520,"layer":"input","kind":"offer","station":"st2","size":64,"destination":{"station":"st1"},"tagged":false}
{"t":530,"layer":"input","kind":"offer","station":"st1","size":600,"destination":"all","tagged":false}
{"t":560,"layer":"input","kind":"offer","station":"st3","size":64,"destination":{"station":"st1"},"tagged":false}
{"t":100000,"layer":"input","kind":"end","run_to":100000}
"#;

struct Class {
    folder: TempDir,
    events: String,
}

impl Class {
    fn new() -> Class {
        Class::of(CLASS)
    }

    /// The same of another record.
    fn of(text: &str) -> Class {
        let folder = tempfile::tempdir().expect("a folder");
        let [record, events] =
            ["record", "events"].map(|name| folder.path().join(name).to_str().expect("UTF-8").to_owned());
        fs::write(&record, text).expect("a file");
        run(ethbus(["replay", &record, "--events", &events])).succeeded();
        Class { folder, events }
    }

    fn log(&self) -> String {
        unproven(&fs::read_to_string(&self.events).expect("UTF-8"))
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
    assert!(by_name.starts_with("Frame st2#1 of `class`"), "{by_name}");
    explain(&["--frame", "2"])
        .failed_with(1, &["2 stations have a frame 2: st1#2, st3#2; say which, as in `--frame st1#2`"]);
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
        (vec!["--frame", "st2#9"], "the trace has no frame st2#9: of st2 it has st2#1 only"),
        (vec!["--frame", "st1#9"], "the trace has no frame st1#9: of st1 it has st1#1 to st1#2"),
        (vec!["--frame", "9"], "the trace has no frame 9: "),
        (vec!["--frame", "st9#1"], "no station is called `st9`; the trace has st1, st2, st3"),
        (vec!["--frame", "0"], "--frame 0: a frame is called by its station and its number there, like st1#17"),
        (vec!["--frame", "st1#"], "--frame st1#: a frame is called by"),
        (vec!["--frame", "first"], "--frame first: a frame is called by"),
    ] {
        // What is no name of a frame is wrong use; a frame that the log does not have is a failure.
        let code = if words.starts_with("the trace has no") { 1 } else { 2 };
        run(ethbus([&["explain", &class.events], &arguments[..]].concat())).failed_with(code, &[words]);
    }
    let damaged = class.with(&class.log().replacen("\"kind\":\"defer\"", "\"kind\":\"defre\"", 1));
    run(ethbus(["explain", &damaged, "--frame", "st1#1"]))
        .failed_with(1, &["other, line 5: `defre` is no kind of event"]);
    for more in [&["--list"][..], &[]] {
        let asked = [&["explain", &class.events, "--pick", "station=zz"], more].concat();
        run(ethbus(asked)).failed_with(2, &["no station is called `zz`; the trace has st1, "]);
    }
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
        assert!(told.contains("The trace ends at t = ") && told.contains(words), "{count}: {told}");
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
            let wanted = Wanted::parse(frame, reader.header()).expect("its name");
            let story = find(&mut reader, wanted).expect("it is in the log");
            let text = tell(&story);
            let own = format!("\"frame\":\"{frame}\"");
            let own: Vec<&str> = log.lines().filter(|line| line.contains(&own)).collect();
            let count = |kind: &str| own.iter().filter(|line| line.contains(&format!("\"kind\":\"{kind}\""))).count();
            let ended = count("transmitted") + count("discarded") + count("queue_drop") > 0;
            assert_eq!(ended, !text.contains("before its end"), "{frame} in {options:?}: {text}");
            assert_eq!(text.matches("  Collision ").count(), count("collision"), "{text}");
        }
    }
}

/// A run in virtual time with its log.
struct Simulated {
    log: String,
}

impl Simulated {
    fn new(options: &[&str]) -> Simulated {
        let folder = tempfile::tempdir().expect("a folder");
        let events = folder.path().join("events");
        let rest = ["--warmup", "0s", "--traffic", "saturated", "--events", events.to_str().expect("UTF-8")];
        // What comes last wins, so a test may have traffic of its own.
        let traffic = if options.contains(&"--traffic") { &rest[..2] } else { &rest[..4] };
        run(ethbus([&["sim"], options, traffic, &rest[4..]].concat())).succeeded();
        Simulated { log: unproven(&fs::read_to_string(&events).expect("UTF-8")) }
    }

    fn lines(&self) -> impl Iterator<Item = serde_json::Value> {
        self.log.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON"))
    }

    /// The frames of events that `which` picks, `most` of them.
    fn frames(&self, most: usize, which: impl Fn(&serde_json::Value) -> bool) -> Vec<String> {
        let picked = self.lines().filter(|line| which(line)).take(most);
        let frames: Vec<String> = picked.map(|line| line["frame"].as_str().expect("a frame").to_owned()).collect();
        assert!(!frames.is_empty(), "the run has what is asked for");
        frames
    }

    /// The explanation of a frame, in one line.
    fn tell(&self, frame: &str) -> String {
        unwrapped(&self.told(frame))
    }

    fn told(&self, frame: &str) -> String {
        let mut log = EventLogReader::new(LineReader::new(self.log.as_bytes(), "log".to_owned())).expect("a log");
        let wanted = Wanted::parse(frame, log.header()).expect("its name");
        let story = find(&mut log, wanted).expect("it is in the log");
        tell(&story)
    }
}

/// An undetected collision is one, though it is the frame's beginning that the receiver's own signal meets.
#[test]
fn a_receiver_that_sends_spoils_what_it_would_receive() {
    let run =
        Simulated::new(&["--stations", "2", "--topology", "star:300bt", "--frame-size", "64", "--duration", "100ms"]);
    for frame in run.frames(40, |line| line["kind"] == "damaged") {
        let told = run.tell(&frame);
        assert!(told.contains(", the receiver's own lay over it there"), "{told}");
        assert!(!told.contains("faulty"), "{told}");
    }
}

/// A signal is noticed when it arrives, and not when it is sent.
#[test]
fn a_signal_that_has_not_arrived_is_not_noticed() {
    let run = Simulated::new(&["--stations", "4", "--topology", "bus:500m", "--duration", "30ms"]);
    let told = run.tell("st2#1");
    let first = told.split("Collision ").nth(1).expect("a collision").split("Preamble").next();
    let notices = first.expect("words").split(" notices ").nth(1).expect("a party");
    assert_eq!(notices.matches('#').count(), 2, "st1 and st3 are 7 BT away, st4 15: {notices}");
    assert!(!notices.contains("st4#"), "{notices}");
}

/// At 1 Gb/s a collision after a burst's first frame is late whenever it comes, and a fragment is what is below slotTime.
#[test]
fn bursts_have_rules_of_their_own() {
    let run = Simulated::new(&[
        "--stations",
        "4",
        "--topology",
        "star:3000bt",
        "--rate",
        "1G",
        "--frame-size",
        "64",
        "--duration",
        "20ms",
    ]);
    let mut begin = std::collections::HashMap::new();
    let mut early = Vec::new();
    for line in run.lines() {
        let (frame, t) = (line["frame"].as_str().unwrap_or("").to_owned(), line["t"].as_u64().expect("an instant"));
        match line["kind"].as_str() {
            Some("attempt") => _ = begin.insert(frame, t),
            Some("collision") if line["late"] == true && t - begin[&frame] <= 4096 => early.push(frame),
            _ => {}
        }
    }
    assert!(!early.is_empty(), "a run with late collisions that come early");
    for frame in early.iter().take(5) {
        let told = run.tell(frame);
        assert!(told.contains("After a burst's first frame every collision is a late one"), "{told}");
        assert!(!told.contains("later than slotTime"), "{told}");
        assert!(told.contains("late_collisions"), "{told}");
    }
    let long = |line: &serde_json::Value| line["kind"] == "fragment" && line["bits"].as_u64() > Some(512);
    for frame in run.frames(5, long) {
        let told = run.tell(&frame);
        assert!(told.contains("That is less than slotTime, 4,096 BT"), "{told}");
    }
}

/// Waits of more than 100 ms have columns of their own, and excessive deferrals are counted.
#[test]
fn long_waits_keep_their_columns_and_count() {
    let simulated = Simulated::new(&[
        "--stations",
        "40",
        "--topology",
        "star:0bt",
        "--frame-size",
        "1518",
        "--duration",
        "400ms",
        "--traffic",
        "poisson:3",
    ]);
    let long = |line: &serde_json::Value| line["kind"] == "transmitted" && line["mac_delay"].as_u64() > Some(1_234_567);
    for frame in simulated.frames(5, long) {
        let told = simulated.told(&frame);
        let steps = told.lines().filter(|line| line.contains(" ms  ") || line.contains(" us  "));
        let apart = steps.filter(|line| line.contains("The last bit is out")).count();
        assert_eq!(apart, 1, "{told}");
    }
    let class = Class::of(&CLASS.replace("\"max_defer_time_bt\":24288", "\"max_defer_time_bt\":500"));
    let told = run(ethbus(["explain", &class.events, "--frame", "st1#1"])).succeeded().stdout;
    assert!(told.contains("excessive_deferrals"), "{told}");
}

/// A data plane that was stopped runs the medium through the stop before it looks at deliveries: the trace has the fate
/// of a copy after a second and more of the medium's time.
#[test]
fn a_copy_that_was_dropped_after_a_long_stop_is_told() {
    let mut simulated = Simulated::new(&["--stations", "2", "--topology", "star:0bt", "--duration", "3s"]);
    let instant = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        event["t"].as_u64().expect("an instant")
    };
    let sent = |line: &&str| line.contains("\"transmitted\"") && instant(line) > 1_000_000;
    let line = simulated.log.lines().skip(1).find(sent).expect("a frame");
    let frame = line.split("\"frame\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("its name").to_owned();
    assert!(!simulated.tell(&frame).contains("The emulator"));
    let late = instant(line) + 15_000_000;
    let drop = format!(
        "{{\"t\":{late},\"layer\":\"emulator\",\"real_ns\":{late}00,\"kind\":\"overload_drop\",\"frame\":\"{frame}\",\
         \"ns\":1500000000,\"copies\":2}}"
    );
    let next = simulated.log.lines().skip(1).find(|line| instant(line) > late).expect("a longer run").to_owned();
    simulated.log = simulated.log.replacen(&next, &format!("{drop}\n{next}"), 1);
    let told = simulated.tell(&frame);
    assert!(told.contains("The emulator, not the medium: 2 copies were dropped"), "{told}");
}

/// Changes of stations and cable are explained where they mattered.
#[test]
fn faults_and_cuts_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let [record, events] =
        ["record", "events"].map(|name| folder.path().join(name).to_str().expect("UTF-8").to_owned());
    let bus = CLASS.replace(r#"{"star":{"stations":3,"distance_bt":50}}"#, r#"{"bus":{"positions_bt":[0,20,300]}}"#);
    let header = bus.lines().next().expect("a header");
    let inputs = [
        r#"{"t":0,"layer":"deed","station":"st2","fault":"deaf"}"#,
        r#"{"t":10,"layer":"input","kind":"offer","station":"st1","size":600,"destination":{"station":"st3"},"tagged":false}"#,
        r#"{"t":900,"layer":"input","kind":"offer","station":"st2","size":64,"destination":{"station":"st1"},"tagged":false}"#,
        r#"{"t":901,"layer":"input","kind":"offer","station":"st2","size":64,"destination":{"station":"st1"},"tagged":false}"#,
        r#"{"t":40000,"layer":"deed","station":"st2","fault":"bad_fcs"}"#,
        r#"{"t":40001,"layer":"input","kind":"offer","station":"st2","size":64,"destination":{"station":"st1"},"tagged":false}"#,
        r#"{"t":50000,"layer":"deed","cut":{"segment":0,"position_bt":100}}"#,
        r#"{"t":50001,"layer":"input","kind":"offer","station":"st1","size":64,"destination":{"station":"st3"},"tagged":false}"#,
        r#"{"t":90000,"layer":"input","kind":"end","run_to":90000}"#,
    ];
    fs::write(&record, format!("{header}\n{}\n", inputs.join("\n"))).expect("a file");
    run(ethbus(["replay", &record, "--events", &events])).succeeded();
    let told = run(ethbus(["explain", &events, "--frame", "st2#2"])).unwrapped();
    assert!(!told.contains("does not hear st2#"), "a station misses no signal of its own: {told}");
    for (frame, words) in [
        ("st2#1", "it does not hear st1#1, since it had no carrier sense when that began (5.2.4.2)"),
        ("st2#1", "st2 has the fault `deaf`: no carrier sense."),
        ("st2#3", "st2 had the fault `bad_fcs` as it began"),
        ("st1#2", "The cable is cut on segment 0, just before 100 BT (10 us)."),
        ("st1#2", "st3, the addressee, hears nothing of it: the cable was cut in between as it began."),
    ] {
        let told = run(ethbus(["explain", &events, "--frame", frame])).unwrapped();
        assert!(told.contains(words), "{frame}: {words}: {told}");
    }
}
