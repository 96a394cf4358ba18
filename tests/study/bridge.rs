//! `ethbus sim` with several buses: files of each bus, threads, and what is of one bus alone.

use crate::common::files::{folder, path};
use crate::common::process::{Finished, ethbus, run};
use crate::common::results::{check, number};

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
    sim(&["--events", &at("run.jsonl"), "--events", &at("run.record"), "--events-level", "inputs"]).succeeded();
    for bus in ["front", "rear"] {
        let (events, record) = (at(&format!("run.{bus}.jsonl")), at(&format!("run.{bus}.record")));
        let told = run(ethbus(["explain", &events, "--frame", "sw#1"])).succeeded().stdout;
        assert!(told.contains("sw"), "{told}");
        let again = at(&format!("again.{bus}.jsonl"));
        run(ethbus(["replay", &record, "--events", &again])).succeeded();
        let read = |path: &str| std::fs::read_to_string(path).expect("a log");
        assert!(read(&events) == read(&again), "{bus}: the replay differs");
    }
}

/// What a file of one bus has, each of several has in one of its own.
#[test]
fn windows_and_tables_are_a_file_of_each_bus() {
    let folder = folder();
    let at = |name: &str| path(&folder, name);
    let of = ["--pcapng", "--frames", "--series-out"];
    let names = ["run.pcapng.zst", "frames.csv", "series.csv"];
    let files = names.map(at);
    let options: Vec<&str> = of.iter().zip(&files).flat_map(|(option, file)| [*option, file]).collect();
    sim(&[&options[..], &["--series", "10ms"]].concat()).succeeded();
    let size = |name: &str| std::fs::metadata(at(name)).map_or(0, |file| file.len());
    for bus in ["front", "rear"] {
        assert!(size(&format!("run.{bus}.pcapng.zst")) > 1000, "{bus}");
        let read = |name: &str| std::fs::read_to_string(at(name)).expect("a table");
        let frames = read(&format!("frames.{bus}.csv"));
        assert!(frames.contains(&format!("{bus}-1")) && frames.contains("sw"), "{bus}");
        let rows = read(&format!("series.{bus}.csv")).lines().count();
        assert_eq!(rows, 11, "{bus}: a header and ten intervals");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("own folder").count(), 6);
}

/// A row of each bus has the figures of its results. Rows have the same columns, whatever the methods.
#[test]
fn csv_has_a_row_of_each_bus() {
    let folder = folder();
    let file = path(&folder, "mixed.toml");
    let text = std::fs::read_to_string(ZONAL).expect("an example");
    let mixed = text.replacen("access.method = \"plca\"", "access.method = \"csma-cd\"\nmedium.attempt_limit = 12", 1);
    std::fs::write(&file, mixed).expect("own folder");
    let sim =
        |format: &str| run(ethbus(["sim", &file, "--duration", "100ms", "--warmup", "10ms", "-f", format])).succeeded();
    let (csv, results) = (sim("csv").stdout, sim("json").json());
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["bus", "front", "rear"]);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
    for row in &rows[1..] {
        for name in ["utilization_total", "measured_bit_times", "access_delay_mean_bt"] {
            let column = rows[0].iter().position(|column| *column == name).expect(name);
            let bus = &results["buses"][row[0]];
            let medium = &bus["medium"];
            let value = match name {
                "measured_bit_times" => bus[name].as_f64(),
                "access_delay_mean_bt" => medium["access_delay"]["mean_bt"].as_f64(),
                _ => medium[name].as_f64(),
            };
            assert_eq!(row[column].parse().ok(), value, "{name} of {}", row[0]);
        }
    }
}

/// Runs with seeds of their own, and a run that ends when enough is known.
#[test]
fn several_buses_have_replications_and_an_end() {
    let json = |more: &[&str]| sim(&[more, &["-f", "json"]].concat()).succeeded().json();
    let sent = |results: &serde_json::Value| number(&results["buses"]["rear"]["stations"][0], "frames_transmitted_ok");
    let one = json(&["--seed", "2", "--replications", "2"]);
    assert_eq!(sent(&one), sent(&json(&["--seed", "2"])) + sent(&json(&["--seed", "3"])));
    assert_eq!(one, json(&["--seed", "2", "--replications", "2", "--jobs", "1"]));
    let ended = run(ethbus(["sim", ZONAL, "--duration", "20s", "--until", "utilization_total=5%"])).succeeded();
    for words in ["front: ended after ", "rear: ended after ", "utilization_total is known to ±", "and ±5 % was asked"]
    {
        assert!(ended.stderr.contains(words), "no `{words}` in {}", ended.stderr);
    }
    let (events, two) = (["--events", "run.jsonl"], ["--replications", "2"]);
    sim(&[events, two].concat()).failed_with(WRONG_USE, &["--events", "one file is of one run"]);
    sim(&["--until", "1%", "--replications", "2"]).failed_with(WRONG_USE, &["--until", "ends one run"]);
    sim(&["--until", "collapse"]).failed_with(WRONG_USE, &["--until", "name a metric"]);
}

#[test]
fn what_is_of_one_bus_is_refused() {
    let folder = folder();
    let file = path(&folder, "file");
    for (option, value) in
        [("--pcapng", Some("-")), ("--events", Some("/dev/null")), ("--series", Some("1ms")), ("--watch", None)]
    {
        let arguments: Vec<&str> = [option].into_iter().chain(value).collect();
        sim(&arguments).failed_with(WRONG_USE, &[option, "is of one bus", "FILE"]);
    }
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
