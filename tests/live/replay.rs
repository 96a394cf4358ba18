//! Record and event log from outside: a lab's run with real traffic replays to the same events, and outputs or inputs
//! that fail are reported.

use crate::common::lab::Lab;
use crate::common::logs::{medium_layer, two_traces};
use crate::common::process::{Running, ethbus, program, replays, run};
use crate::common::results::{check, emulator, number};
use crate::common::{Turn, note, skipped};
use std::fs;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("UTF-8").to_owned()
}

/// The table without `emulator`, which a replay does not have, and without the sentences at its end.
fn figures(table: &str) -> &str {
    let begin = table.find(" stations, ").expect("a table");
    let end = table.find("emulator (").or_else(|| sentences(table)).unwrap_or(table.len());
    table[begin..end].trim_end()
}

/// The place in the table where the sentences at its end begin.
fn sentences(table: &str) -> Option<usize> {
    let shared = table.find(" shared the bus")?;
    table[..shared].rfind('\n').map(|end| end + 1)
}

fn lines(path: &str) -> usize {
    fs::read_to_string(path).expect("UTF-8").lines().count()
}

/// The same configuration, seed and inputs give the same events, byte for byte: pings, and two stations that contend.
#[test]
fn a_live_run_replays_byte_for_byte() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = folder();
    let [record, events, again] = ["run.record", "run.events", "again.events"].map(|name| path(&folder, name));
    let mut lab = Lab::up(&["--stations", "3", "--events", &record, "--events-level", "inputs", "--events", &events]);
    let address = lab.ipv4("st2");
    run(lab.exec("st1", &["ping", "-c", "3", "-i", "0.2", "-W", "5", &address])).succeeded();
    let sends = ["st1", "st2"].map(|from| {
        let arguments = ["--from", from, "--to", "st3", "--frame-size", "300", "--duration", "1s", "--rate", "max"];
        Running::start(lab.ethbus("send", &arguments), "")
    });
    sends.into_iter().for_each(|send| _ = send.wait().succeeded());
    run(lab.exec("st3", &["ip", "link", "set", "eth0", "down"])).succeeded();
    run(lab.exec("st3", &["ip", "link", "set", "eth0", "up"])).succeeded();
    lab.ping("st1", &lab.ipv4("st3"));
    let live = lab.down().succeeded();

    let replayed = replays(&record, &["--events", &again]);
    assert!(medium_layer(&events) == medium_layer(&again), "the replay has other events");
    assert_eq!(figures(&live.stderr), figures(&replayed.stdout));
    let said = sentences(&replayed.stdout).map(|begin| replayed.stdout[begin..].trim_end()).expect("sentences");
    assert!(live.stderr.contains(said), "{said}: {live:#?}");
    let text = fs::read_to_string(&events).expect("UTF-8");
    for kind in ["offered", "defer", "collision", "jam_end", "backoff", "transmitted", "delivered"] {
        assert!(text.contains(&format!("\"kind\":\"{kind}\"")), "no {kind} in a run worth replaying");
    }
    for kind in ["port_down", "port_up"] {
        let line = format!("\"kind\":\"{kind}\",\"station\":\"st3\"}}");
        assert!(text.lines().any(|it| it.contains("\"layer\":\"emulator\"") && it.ends_with(&line)), "no {line}");
    }
    let inputs = fs::read_to_string(&record).expect("UTF-8");
    assert!(inputs.contains("\"unplug\":\"st3\"") && inputs.contains("\"plug\":\"st3\""), "st3 went and came");
    note(&format!("{} inputs and {} events replayed", lines(&record) - 2, lines(&again) - 1));
    lab.assert_nothing_left();
}

/// Runs in virtual time replay as live ones do, on any medium.
#[test]
fn a_simulated_run_replays_byte_for_byte() {
    let folder = folder();
    let [record, events, again] = ["run.record", "run.events", "again.events"].map(|name| path(&folder, name));
    for options in [
        ["--topology", "star:50bt", "--stations", "6", "--traffic", "saturated", "--rate", "10M"],
        ["--topology", "bus:900bt", "--stations", "5", "--traffic", "poisson:0.6", "--rate", "2.94M"],
        ["--topology", "star:100bt", "--stations", "8", "--traffic", "saturated", "--rate", "1G"],
    ] {
        let files = ["--duration", "50ms", "--warmup", "5ms", "--seed", "7"];
        let traces = two_traces(&record, &events);
        let simulated = run(ethbus([&["sim"], &options[..], &files, &traces, &["--format", "json"]].concat())).json();
        let replayed = replays(&record, &["--events", &again, "--format", "json"]);
        assert!(fs::read(&events).expect("a log") == fs::read(&again).expect("a log"), "{options:?}: other events");
        let replayed = replayed.json();
        for key in ["measured_bit_times", "stations", "seed"] {
            assert_eq!(simulated[key], replayed[key], "{options:?}: {key}");
        }
        for key in ["utilization_frame", "collision_episodes", "fairness", "access_delay", "mac_delay"] {
            assert_eq!(simulated["medium"][key], replayed["medium"][key], "{options:?}: {key}");
        }
    }
}

/// The coordinator waits for no disk: a pipe without a reader costs the trace, not the lab, and is reported.
#[test]
fn a_record_that_nobody_takes_is_counted_and_the_lab_goes_on() {
    if skipped(&["ip", "mkfifo"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = folder();
    let record = path(&folder, "pipe");
    run(program("mkfifo", [&record])).succeeded();
    // A reader that opens the pipe, and reads nothing for as long as the lab runs.
    let reader = Running::start(program("sh", ["-c", "exec sleep 60 < \"$0\"", &record]), "");
    let mut lab = Lab::up(&["--stations", "2", "--events", &record, "--events-level", "inputs"]);
    let arguments = ["--from", "st1", "--to", "st2", "--frame-size", "64", "--duration", "4s", "--rate", "max"];
    run(lab.ethbus("send", &arguments)).succeeded();
    let results = lab.settled_stats();
    check(&results);
    assert!(number(&results["stations"][0], "frames_transmitted_ok") > 1_000, "{results}");
    let skipped = emulator(&results, "inputs_skipped");
    assert!(skipped > 0, "{results}");
    let ended = {
        run(lab.ethbus("down", &[])).failed_with(1, &["not whole: ", "pipe"]);
        lab.ended()
    };
    ended.failed_with(1, &["not whole: ", "pipe"]);
    note(&format!("{skipped} inputs skipped by the time of `stats`"));
    reader.signal("KILL");
    lab.assert_nothing_left();
}

/// A full disk ends the record after a whole line, and the lab keeps running; `ulimit -f` acts as the disk.
#[test]
fn a_full_disk_keeps_whole_lines_and_the_lab() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = folder();
    let [record, events] = ["run.record", "run.events"].map(|name| path(&folder, name));
    // In blocks of 512 octets: enough for the headers and a few lines.
    let script = "ulimit -f 64; exec \"$0\" \"$@\"";
    let name = crate::common::lab::fresh_name();
    let arguments = ["-c", script, crate::common::ETHBUS, "up", "--name", &name, "--stations", "2"];
    let traces = two_traces(&record, &events);
    let mut lab = Running::start(program("sh", arguments.iter().chain(&traces)), "");
    lab.wait_for_stderr("ethbus stats --name");
    let send = ["send", "--name", &name, "--from", "st1", "--to", "st2", "--count", "200", "--rate", "500/s"];
    run(ethbus(send)).succeeded();
    lab.wait_for_stderr("the bus goes on without it");
    let results = run(ethbus(["stats", "--name", &name, "--format", "json"])).json();
    check(&results);
    assert!(emulator(&results, "inputs_skipped") > 0 && emulator(&results, "events_skipped") > 0, "{results}");
    run(ethbus(["down", "--name", &name])).failed_with(1, &["not whole: ", "run.record", "run.events"]);
    lab.wait().failed_with(1, &["run.record any further", "run.events any further", "File too large", "is not whole"]);
    for file in [&record, &events] {
        let octets = fs::read(file).expect("a file");
        assert!(octets.len() > 1_000 && octets.len() <= 64 * 512, "{} octets", octets.len());
        let says_why = String::from_utf8_lossy(&octets).contains("\"kind\":\"broken_off\"");
        assert!(says_why, "the last line of {file} says why it ends");
        assert_eq!(octets.last(), Some(&b'\n'), "{file} ends within a line");
    }
    let cut = run(ethbus(["replay", &record]));
    cut.failed_with(1, &["misses what came after its", "File too large"]);
    crate::common::lab::assert_nothing_of(&name);
}

/// Two outputs in one file, or an output over an input, would destroy both.
#[test]
fn a_record_is_never_written_over() {
    let folder = folder();
    let record = path(&folder, "run.record");
    fs::write(&record, HEADER.to_owned() + END).expect("a file");
    run(ethbus(["replay", &record, "--events", &record])).failed_with(1, &["run.record cannot be two things at once"]);
    assert_eq!(fs::read_to_string(&record).expect("a file"), HEADER.to_owned() + END);
    if !skipped(&[]) {
        let both = path(&folder, "both");
        let lab = crate::common::lab::Unused::name();
        let up = ethbus([
            "up",
            "--name",
            &lab.0,
            "--stations",
            "2",
            "--events",
            &both,
            "--events-level",
            "inputs",
            "--events",
            &both,
        ]);
        run(up).failed_with(2, &["both` is the file of --events too"]);
    }
}

const HEADER: &str = concat!(
    r#"{"format":"ethbus trace","version":2,"level":"inputs","program":"ethbus 0.1.0","name":"by hand","configuration":{"rate_bits_per_second":10000000,"#,
    r#""topology":{"star":{"stations":2,"distance_bt":0}},"parameters":{"slot_time_bt":512,"inter_packet_gap_bt":96,"#,
    r#""inter_packet_gap_part_1_bt":64,"attempt_limit":16,"backoff_limit":10,"jam_size_bt":32,"max_frame_size_octets":1518,"#,
    r#""min_frame_size_octets":64,"extend_size_octets":0,"burst_limit_bt":0,"max_defer_time_bt":24288,"jabber_limit_bt":200000},"#,
    r#""queue_limit":100,"seed":1},"stations":["st1","st2"]}"#,
    "\n"
);
const OFFERS: &str = concat!(
    r#"{"t":0,"layer":"input","kind":"offer","station":"st1","size":64,"destination":{"station":"st2"},"tagged":false}"#,
    "\n",
    r#"{"t":0,"layer":"input","kind":"offer","station":"st2","size":64,"destination":{"station":"st1"},"tagged":false}"#,
    "\n"
);
const END: &str = "{\"t\":100000,\"layer\":\"input\",\"kind\":\"end\",\"run_to\":100000}\n";

/// A record written by hand is accepted: both start together and collide (802.3, 4.2.3.2.4).
fn by_hand(folder: &TempDir) -> String {
    let record = path(folder, "by-hand.record");
    fs::write(&record, HEADER.to_owned() + OFFERS + END).expect("a file");
    record
}

#[test]
fn a_record_written_by_hand_runs() {
    let folder = folder();
    let results = run(ethbus(["replay", &by_hand(&folder), "--format", "json"])).json();
    assert!(number(&results["medium"], "collision_episodes") > 0, "{results}");
    assert_eq!(results["config"]["name"], "by hand");
    assert_eq!(number(&results, "measured_bit_times"), 100_000);
}

/// A full disk or a closed pipe ends the run with a message that gives the number of events kept.
#[test]
fn events_that_cannot_be_written_end_the_replay() {
    let folder = folder();
    let record = by_hand(&folder);
    let full = run(ethbus(["replay", &record, "--events", "/dev/full"]));
    full.failed_with(1, &["cannot write /dev/full: no events are in it", "No space left on device"]);
    let nowhere = run(ethbus(["replay", &record, "--events", "/no/such/folder/events"]));
    nowhere.failed_with(1, &["cannot create /no/such/folder/events", "No such file or directory"]);
    let mut offers = String::new();
    for n in 0..3_000 {
        offers += &OFFERS.replace("\"t\":0", &format!("\"t\":{}", n * 2_000));
    }
    fs::write(&record, HEADER.to_owned() + &offers + END).expect("a file");
    // The pipe's reader takes one line, and ends.
    let script = "\"$0\" replay \"$1\" --events /dev/fd/3 3>&1 >/dev/null | head -n 1; exit ${PIPESTATUS[0]}";
    let closed = run(program("bash", ["-c", script, crate::common::ETHBUS, &record]));
    closed.failed_with(1, &["cannot write /dev/fd/3", " events are in it", "Broken pipe"]);
    assert!(closed.stdout.starts_with("{\"format\":\"ethbus trace\""), "{closed:#?}");
}

/// A record that is cut, damaged or no record at all is named with file and line; no input makes the program panic.
#[test]
fn a_bad_record_is_named_with_file_and_line() {
    let folder = folder();
    let bad = path(&folder, "bad");
    let whole = HEADER.to_owned() + OFFERS + END;
    let with = |from: &str, to: &str| whole.replacen(from, to, 1);
    for (text, words) in [
        (HEADER.to_owned() + OFFERS, "bad has no end of its run"),
        (whole[..whole.len() - 40].to_owned(), "bad, line 4: the file was cut short here"),
        (with("\"st2\"},\"tagged\"", "\"st9\"},\"tagged\""), "bad, line 2: no station is called `st9`"),
        (with("\"kind\":\"offer\"", "\"kind\":\"ofer\""), "bad, line 2: `ofer` is no kind of input"),
        (with("\"stations\":2", "\"stations\":2000"), "bad, line 1: configuration: a medium with 2000 stations"),
        (with("\"rate_bits_per_second\":10000000", "\"rate_bits_per_second\":0"), "at least 1 bit per second"),
        ("PK\u{3}\u{4}".to_owned(), "bad, line 1: the file was cut short here"),
        (String::new(), "bad, line 1: the file was cut short here"),
        ("{}\n".to_owned(), "bad, line 1: this is no ethbus trace"),
    ] {
        fs::write(&bad, &text).expect("a file");
        run(ethbus(["replay", &bad])).failed_with(1, &[words]);
    }
    run(ethbus(["replay", "/no/such/record"])).failed_with(1, &["cannot read /no/such/record", "No such file"]);
}

/// The digest is that of version 0.1.0, whose log had neither destinations nor inputs: it covers those lines.
const OLD: &str = concat!(
    r#"{"format":"ethbus trace","version":2,"level":"inputs","program":"ethbus 0.1.0","name":"ethbus","#,
    r#""configuration":{"rate_bits_per_second":10000000,"topology":{"star":{"stations":3,"#,
    r#""distance_bt":50}},"parameters":{"slot_time_bt":512,"inter_packet_gap_bt":96,"#,
    r#""inter_packet_gap_part_1_bt":64,"attempt_limit":16,"backoff_limit":10,"jam_size_bt":32,"#,
    r#""max_frame_size_octets":1518,"min_frame_size_octets":64,"extend_size_octets":0,"burst_limit_bt":0,"#,
    r#""max_defer_time_bt":24288,"jabber_limit_bt":200000},"queue_limit":100,"seed":1},"stations":["st1","#,
    r#""st2","st3"]}"#,
    "\n",
    r#"{"t":0,"layer":"input","kind":"offer","station":"st1","size":64,"destination":{"station":"st2"},"tagged":false}"#,
    "\n",
    r#"{"t":0,"layer":"input","kind":"offer","station":"st2","size":64,"destination":{"station":"st3"},"tagged":false}"#,
    "\n",
    r#"{"t":0,"layer":"input","kind":"offer","station":"st3","size":64,"destination":{"station":"st1"},"tagged":false}"#,
    "\n",
    r#"{"t":818,"layer":"input","kind":"offer","station":"st3","size":64,"destination":{"station":"st1"},"tagged":false}"#,
    "\n",
    r#"{"t":3000,"layer":"input","kind":"end","run_to":2999,"events":46,"events_crc32":783890151}"#,
    "\n",
);

/// The digest is what it always was: it leaves out columns added since.
#[test]
fn the_digest_of_the_first_version_is_confirmed() {
    let folder = folder();
    let [record, events] = ["old.record", "events"].map(|name| path(&folder, name));
    fs::write(&record, OLD).expect("a file");
    let replayed = replays(&record, &["--events", &events]);
    assert!(replayed.stderr.contains("46 events: "), "{replayed:#?}");
    let log = fs::read_to_string(&events).expect("UTF-8");
    let offered: Vec<&str> = log.lines().filter(|line| line.contains("\"kind\":\"offered\"")).collect();
    assert_eq!(offered.len(), 4, "{log}");
    assert!(offered[0].ends_with(r#""size":64,"destination":{"station":"st2"},"tagged":false}"#), "{}", offered[0]);
}

/// Files of version 1 had two formats; no reader of them is left, and the error names the ethbus that reads them.
#[test]
fn a_file_of_version_1_is_refused_by_the_name_of_its_program() {
    let folder = folder();
    let old = path(&folder, "old");
    for (format, command) in [("record", "replay"), ("event log", "explain"), ("record", "convert")] {
        let header = format!("{{\"format\":\"ethbus {format}\",\"version\":1,\"program\":\"ethbus 0.0.9\"}}\n");
        fs::write(&old, header).expect("a file");
        let options: &[&str] = if command == "convert" { &["--to", "vcd"] } else { &[] };
        let words = format!("this is an ethbus {format} of version 1, which ethbus 0.0.9 wrote");
        run(ethbus([&[command, &*old], options].concat())).failed_with(1, &[&words]);
    }
}

/// Each level is made of the level `all`, and the events of inputs; no level is made of what does not have it.
#[test]
fn a_trace_becomes_one_of_another_level() {
    let folder = folder();
    let names = ["all.trace", "inputs.trace", "run.events", "a.trace", "b.trace", "c.events", "d.ebe", "e.trace"];
    let [all, inputs, events, a, b, c, d, e] = names.map(|name| path(&folder, name));
    let levels = ["--events", &all, "--events-level", "all", "--events", &inputs, "--events-level", "inputs"];
    let sim = ["sim", "--duration", "20ms", "--warmup", "5ms", "--events", &events];
    run(ethbus([&sim[..], &levels].concat())).succeeded();
    let convert = |from: &str, to: &str, options: &[&str]| {
        run(ethbus([&["convert", from, "--to", "trace", "-o", to], options].concat()))
    };
    convert(&all, &a, &["--level", "inputs"]).succeeded();
    convert(&inputs, &b, &["--level", "all"]).succeeded();
    convert(&all, &c, &["--level", "events"]).succeeded();
    convert(&all, &d, &[]).succeeded();
    convert(&d, &e, &["--without-octets"]).succeeded();
    let same = |one: &str, other: &str| fs::read(one).expect("a trace") == fs::read(other).expect("a trace");
    for (one, other) in [(&a, &inputs), (&b, &all), (&c, &events), (&e, &all)] {
        assert!(same(one, other), "{one} is another trace than {other}");
    }
    replays(&d, &[]);
    convert(&events, &e, &["--level", "all"])
        .failed_with(1, &["this trace has the level `events`, and `--level all` needs"]);
    run(ethbus(["explain", &inputs, "--list"])).failed_with(1, &["level `inputs`, and `ethbus explain` needs"]);
    run(ethbus(["replay", &events])).failed_with(1, &["level `events`, and `ethbus replay` needs"]);
    run(ethbus(["convert", &all, "--to", "vcd", "--level", "all"])).failed_with(2, &["--level: it is about traces"]);
}
