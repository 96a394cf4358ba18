//! `ethbus sim` with several buses: files of each bus, threads, and what is of one bus alone.

use crate::common::files::{folder, path};
use crate::common::process::{Finished, ethbus, run};
use crate::common::results::check;

const WRONG_USE: i32 = 2;

/// The example of docs/bridge.md.
const ZONAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/zonal.toml");

fn sim(arguments: &[&str]) -> Finished {
    run(ethbus(["sim", ZONAL, "--duration", "100ms", "--warmup", "10ms"].iter().chain(arguments)))
}

/// The results of each bus keep every rule that results have, and are the same with one thread and several.
#[test]
fn results_do_not_depend_on_threads() {
    let one = sim(&["--format", "json", "--jobs", "1"]).succeeded();
    for jobs in ["2", "5"] {
        assert_eq!(sim(&["--format", "json", "--jobs", jobs]).succeeded().stdout, one.stdout, "{jobs}");
    }
    let results = one.json();
    let buses = results["buses"].as_object().expect("buses");
    assert_eq!(buses.keys().collect::<Vec<_>>(), ["front", "rear"]);
    buses.values().for_each(check);
    let crossed = results["crossings"].as_array().expect("crossings");
    assert_eq!(crossed.len(), 2, "both ways");
    let text = sim(&[]).succeeded().stdout;
    for words in ["Bus front: 7 stations", "Bus rear: 7 stations", "sw on rear", "front to rear"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
}

/// A bus's log is read as any other, and its record replayed alone gives the same events: the ports' frames are inputs.
#[test]
fn each_bus_has_a_log_and_a_record_of_its_own() {
    let folder = folder();
    let at = |name: &str| path(&folder, name);
    sim(&["--events", &at("run.jsonl"), "--record", &at("run.record")]).succeeded();
    for bus in ["front", "rear"] {
        let (events, record) = (at(&format!("run.{bus}.jsonl")), at(&format!("run.{bus}.record")));
        let told = run(ethbus(["explain", &events, "--station", "sw", "--frame", "1"])).succeeded().stdout;
        assert!(told.contains("sw"), "{told}");
        let again = at(&format!("again.{bus}.jsonl"));
        run(ethbus(["replay", &record, "--events", &again])).succeeded();
        let read = |path: &str| std::fs::read_to_string(path).expect("a log");
        assert!(read(&events) == read(&again), "{bus}: the replay differs");
    }
}

#[test]
fn what_is_of_one_bus_is_refused() {
    let folder = folder();
    let file = path(&folder, "file");
    for (option, value) in [
        ("--pcapng", Some(file.as_str())),
        ("--perfetto", Some(&file)),
        ("--vcd", Some(&file)),
        ("--frames", Some(&file)),
        ("--series", Some("1ms")),
        ("--watch", None),
        ("--format", Some("csv")),
    ] {
        let arguments: Vec<&str> = [option].into_iter().chain(value).collect();
        sim(&arguments).failed_with(WRONG_USE, &[option, "is of one bus", "--events FILE"]);
    }
    sim(&["--replications", "2"]).failed_with(WRONG_USE, &["--replications", "run once"]);
    sim(&["--until", "1%"]).failed_with(WRONG_USE, &["--until", "ends with its duration"]);
    for command in [["up", ZONAL], ["sweep", ZONAL]] {
        let more: &[&str] = if command[0] == "sweep" { &["--set", "run.duration=1s,2s", "--out", &file] } else { &[] };
        let ended = run(ethbus(command.iter().chain(more)));
        ended.failed_with(WRONG_USE, &["bus", "`ethbus up --background`"]);
    }
    run(ethbus(["up", ZONAL, "--bus", "middle"])).failed_with(WRONG_USE, &["--bus", "`middle`", "`front`, `rear`"]);
    let told = run(ethbus(["check", ZONAL])).succeeded().stdout;
    assert!(told.contains("right: 2 buses and 1 bridge; for `ethbus sim` and `ethbus up --background`"), "{told}");
    let commands = |path: &str| run(ethbus(["check", path, "--format", "json"])).json()[0]["commands"].clone();
    assert_eq!(commands(ZONAL), serde_json::json!(["sim", "up --background"]));
    // A bus that is too fast for real time.
    let text = std::fs::read_to_string(ZONAL).expect("an example");
    let fast = text.replacen("[bus.front]\n", "[bus.fast]\nstations = 2\nmedium.rate = '1G'\n\n[bus.front]\n", 1);
    let fast_file = folder.path().join("fast.toml");
    std::fs::write(&fast_file, fast).expect("own folder");
    let fast_file = fast_file.to_str().expect("plain");
    assert_eq!(commands(fast_file), serde_json::json!(["sim"]));
    let told = run(ethbus(["check", fast_file])).succeeded().stdout;
    assert!(told.contains("for `ethbus sim` alone, since") && told.contains("up to 100Mbit/s"), "{told}");
}
