//! Single rows of a grid, for programs that balance the load themselves; how far a sweep is; runs that fail (issue 31).

use crate::common::Turn;
use crate::common::process::{Finished, ethbus, program, run};
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const GRID: [&str; 8] = ["--set", "stations=2..5", "--seeds", "2", "--duration", "10ms", "--warmup", "1ms"];

fn command(folder: &TempDir, name: &str, arguments: &[&str]) -> Command {
    let mut command = ethbus(name.split(' ').chain(arguments.iter().copied()));
    command.current_dir(folder.path());
    command
}

/// `ethbus sweep` of the short grid in `folder`.
fn sweep(folder: &TempDir, arguments: &[&str]) -> Finished {
    run(command(folder, "sweep", &[&GRID[..], arguments].concat()))
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).expect("a table")
}

fn place() -> (Turn, TempDir) {
    (Turn::shared(), tempfile::tempdir().expect("a folder"))
}

/// A row alone is the row of the whole table, on standard output and in a file; rows in files merge to the whole table.
#[test]
fn rows_by_themselves_are_those_of_the_whole() {
    let (_turn, folder) = place();
    sweep(&folder, &["--out", "whole.csv"]).succeeded();
    let whole = read(&folder, "whole.csv");
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(sweep(&folder, &["--row", "3"]).succeeded().stdout, format!("{}\n{}\n", lines[0], lines[3]));
    for rows in ["1..3", "4", "5..8"] {
        sweep(&folder, &["--rows", rows, "--out", "part-{row}.csv"]).succeeded();
    }
    let merge = |parts: &[&str]| run(command(&folder, "sweep merge", &[&["--out", "merged.csv"], parts].concat()));
    let missing = merge(&["part-1-3.csv", "part-5-8.csv"]);
    missing.failed_with(1, &["row 4 of the grid is missing", "--rows 4 --out rows-4.csv"]);
    sweep(&folder, &["--rows", "3..4", "--out", "twice.csv"]).succeeded();
    merge(&["part-1-3.csv", "twice.csv"]).failed_with(1, &["twice.csv: row 3 is in part-1-3.csv too"]);
    merge(&["part-5-8.csv", "part-4.csv", "part-1-3.csv"]).succeeded();
    assert_eq!(read(&folder, "merged.csv"), whole);
    assert_eq!(read(&folder, "merged.csv.grid.json"), read(&folder, "whole.csv.grid.json"));
    sweep(&folder, &["--rows", "9"]).failed_with(2, &["--rows 9", "the grid has rows 1 to 8"]);
}

/// The scheduler's number is the row's, and a list names every row without a run.
#[test]
fn a_task_runs_its_row_and_a_list_names_all() {
    let (_turn, folder) = place();
    let mut task = command(&folder, "sweep", &[&GRID[..], &["--rows", "auto", "--out", "r-{row}.csv"]].concat());
    task.env("HQ_TASK_ID", "6");
    let said = run(task).succeeded().stderr;
    assert!(said.contains("this is row 6, as told by HyperQueue, where HQ_TASK_ID is 6"), "{said}");
    assert!(read(&folder, "r-6.csv").lines().last().expect("a row").starts_with("6,2,4,"));
    let list = sweep(&folder, &["--list"]).succeeded().stdout;
    assert_eq!(list.lines().collect::<Vec<_>>()[..3], ["run,stations,seed", "1,2,1", "2,2,2"]);
    assert_eq!(list.lines().count(), 9);
}

/// A run that takes too long costs its own row only; status names it, with the command that tries it again.
#[test]
fn a_run_that_takes_too_long_is_left_out_and_named() {
    let (_turn, folder) = place();
    let long = ["--set", "run.duration=10ms,100000s", "--warmup", "1ms", "--seeds", "2", "--out", "runs.csv"];
    let ended = run(command(&folder, "sweep", &[&long[..], &["--time-limit", "500ms"]].concat()));
    ended.failed_with(1, &["2 runs failed: rows 3..4", "row 3: not done after 500ms (--time-limit)"]);
    assert_eq!(read(&folder, "runs.csv").lines().count(), 3, "the other rows are there");
    let status = run(command(&folder, "sweep", &["status", "runs.csv", "--format", "json"])).succeeded().stdout;
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    let one = &status[0];
    assert_eq!((&one["done"], &one["left"], &one["state"]), (&2.into(), &2.into(), &"stopped".into()));
    assert_eq!(one["failed"][1]["row"], 4);
    let again = one["failed"][1]["command"].as_str().expect("a command");
    assert!(again.contains("--rows 4 --out rows-4.csv"), "{again}");
    let table = run(command(&folder, "sweep", &["status", "runs.csv"])).succeeded().stdout;
    assert!(table.contains("row 3 failed: not done after 500ms"), "{table}");
    let told = || run(command(&folder, "sweep", &["status", "notes.csv"]));
    told().failed_with(1, &["notes.csv: there is no such table"]);
    std::fs::write(folder.path().join("notes.csv"), "milk, eggs\n").expect("own folder");
    told().failed_with(1, &["notes.csv", "no sweep's table"]);
}

/// Conditions and derived keys choose rows, and shards of them merge; a sample is the same each time.
#[test]
fn conditions_and_samples_make_one_grid() {
    let (_turn, folder) = place();
    let chosen =
        ["--set", "stations=2..8*2", "--when", "stations >= 4", "--derive", "traffic.arrivals=poisson:{0.8/stations}"];
    let short = ["--seeds", "2", "--duration", "10ms", "--warmup", "1ms"];
    let sampled = ["--set", "stations=2..64", "--set", "traffic.arrivals=poisson:0.01..0.1", "--sample", "sobol:4"];
    for (grid, rows) in
        [(chosen, ["1,poisson:0.2,1,4,", "3,poisson:0.1,1,8,"]), (sampled, ["1,poisson:0.05832,1,", "3,poisson:"])]
    {
        let one = |more: &[&str]| run(command(&folder, "sweep", &[&grid[..], &short, more].concat())).succeeded();
        let whole = one(&["--out", "-"]).stdout;
        let begins = |row: &str| whole.lines().any(|line| line.starts_with(row));
        assert!(rows.iter().all(|row| begins(row)), "{whole}");
        one(&["--shard", "1/2", "--out", "1.csv"]);
        let missing = run(command(&folder, "sweep merge", &["--out", "merged.csv", "1.csv"]));
        missing.failed_with(1, &["shard 2/2 of the grid is missing"]);
        let again = missing.stderr.lines().find(|line| line.starts_with("  ")).expect("a command");
        let mut shell = program("sh", ["-c", again]);
        shell.current_dir(folder.path());
        run(shell).succeeded();
        run(command(&folder, "sweep merge", &["--out", "merged.csv", "1.csv", "2.csv"])).succeeded();
        assert_eq!(read(&folder, "merged.csv"), whole);
        for name in ["1.csv", "2.csv", "merged.csv"].map(|name| folder.path().join(name)) {
            fs::remove_file(&name).expect("own table");
            fs::remove_file(name.with_extension("csv.grid.json")).expect("what is beside it");
        }
    }
}

/// A row again is the row that the table has; one that was changed is refused by all readers; a table of another engine differs.
#[test]
fn a_row_is_reproduced_and_a_changed_one_is_refused() {
    let (_turn, folder) = place();
    sweep(&folder, &["--out", "runs.csv"]).succeeded();
    let reproduce = |arguments: &[&str]| run(command(&folder, "sweep row", &[&["runs.csv"], arguments].concat()));
    let said = reproduce(&["--row", "3"]).succeeded().stdout;
    for words in ["row 3 of runs.csv: stations = 3, seed = 1", "--out runs.csv", "the same, byte for byte"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let json = reproduce(&["--row", "3", "--format", "json"]).succeeded().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json["same"], &json["row"], &json["made_by"]["ethbus"]),
        (&true.into(), &3.into(), &env!("CARGO_PKG_VERSION").into())
    );
    reproduce(&["--row", "9"]).failed_with(1, &["runs.csv: it has no row 9"]);
    // One digit more, in a finished table and in one that has the log only.
    let (path, beside) = (folder.path().join("runs.csv"), folder.path().join("runs.csv.grid.json"));
    let (whole, log) = (read(&folder, "runs.csv"), folder.path().join("runs.csv.log.jsonl"));
    let row = whole.lines().nth(3).expect("row 3").to_owned();
    fs::write(&path, whole.replace(&row, &format!("{row}0"))).expect("own table");
    let plot = ["runs.csv", "--x", "stations", "--y", "utilization_total", "--out", "p.svg"];
    reproduce(&[]).failed_with(1, &["its rows are not those that the sweep wrote"]);
    run(command(&folder, "plot", &plot)).failed_with(1, &["its rows are not those that the sweep wrote"]);
    let mut manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&beside).expect("a manifest")).expect("JSON");
    manifest.as_object_mut().expect("an object").remove("rows_crc32");
    fs::write(&beside, manifest.to_string()).expect("own file");
    reproduce(&[]).failed_with(1, &["runs.csv: row 3 was changed since the sweep wrote it"]);
    // With neither checksum the run itself tells.
    fs::remove_file(&log).expect("own log");
    let said = reproduce(&["--row", "3"]);
    assert_eq!(said.code(), Some(1));
    for words in ["no log is beside the table", "1 of ", "differ:"] {
        assert!(said.stdout.contains(words), "{words}: {}", said.stdout);
    }
    reproduce(&["--row", "2"]).succeeded();
    manifest["shard"]["of"] = 0.into();
    fs::write(&beside, manifest.to_string()).expect("own file");
    reproduce(&[]).failed_with(1, &["runs.csv.grid.json", "cannot be"]);
    fs::remove_file(&beside).expect("own file");
    reproduce(&[]).failed_with(1, &["there is no runs.csv.grid.json beside it"]);
}

/// Access methods with other figures are one table: each column is in every part, in the same order, empty where a method has none.
#[test]
fn access_methods_with_other_columns_share_a_table() {
    let (_turn, folder) = place();
    let methods = ["--set", "access.method=csma-cd,csma-ca,slotted-aloha"];
    let one = |more: &[&str]| sweep(&folder, &[&methods[..], more].concat()).succeeded().stdout;
    let whole = one(&["--out", "-"]);
    let names: Vec<&str> = whole.lines().next().expect("a header").split(',').collect();
    let value = |row: usize, name: &str| {
        let column = names.iter().position(|known| *known == name).expect(name);
        whole.lines().nth(row).expect("a row").split(',').nth(column).expect("a field").to_owned()
    };
    // Rows 1, 3 and 5 are of CSMA/CD, CSMA/CA and slotted ALOHA.
    for (name, there) in [("throughput", [false, true, true]), ("goodput_mbps", [false, true, false])] {
        assert_eq!([1, 3, 5].map(|row| !value(row, name).is_empty()), there, "{name}");
    }
    for shard in ["1/2", "2/2"] {
        one(&["--shard", shard, "--out", "part-{shard}.csv"]);
    }
    run(command(&folder, "sweep merge", &["--out", "merged.csv", "part-1.csv", "part-2.csv"])).succeeded();
    assert_eq!(read(&folder, "merged.csv"), whole);
    run(command(&folder, "sweep row", &["part-2.csv", "--row", "6"])).succeeded();
}

/// Seeds are added to each combination until its interval is narrow enough; the table is the same with other jobs and after a stop.
#[test]
fn seeds_are_added_until_a_half_width_is_met() {
    let (_turn, folder) = place();
    let grid = ["--set", "stations=2,8", "--duration", "50ms", "--warmup", "10ms"];
    let wish = ["--until", "mac_delay_mean_bt=5%", "--seeds", "3", "--max-seeds", "12"];
    let one = |more: &[&str]| run(command(&folder, "sweep", &[&grid[..], &wish, more].concat()));
    one(&["--jobs", "1", "--out", "one.csv"]).succeeded();
    one(&["--jobs", "4", "--out", "four.csv"]).succeeded();
    let table = read(&folder, "one.csv");
    assert_eq!(read(&folder, "four.csv"), table);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let names = reader.headers().expect("a header").clone();
    let column = |name: &str| names.iter().position(|known| known == name).expect(name);
    let rows: Vec<csv::StringRecord> = reader.into_records().collect::<Result<_, _>>().expect("rows");
    for stations in ["2", "8"] {
        let own = rows.iter().filter(|row| &row[column("stations")] == stations);
        let values: Vec<f64> = own.map(|row| row[column("mac_delay_mean_bt")].parse().expect("a number")).collect();
        assert!((3..=12).contains(&values.len()), "{stations}: {}", values.len());
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let half = sim::figures::intervals::half_width(values.iter().copied()).expect("three values");
        assert!(values.len() == 12 || half <= 0.05 * mean, "{stations}: {half} of {mean}");
    }
    // Rows that are missing come back, and nothing else.
    let lines: Vec<&str> = table.lines().collect();
    fs::write(folder.path().join("four.csv"), lines[..3].join("\n") + "\n").expect("own table");
    let beside = folder.path().join("four.csv.grid.json");
    let manifest = fs::read_to_string(&beside).expect("a manifest");
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    manifest.as_object_mut().expect("an object").remove("rows_crc32");
    fs::write(&beside, manifest.to_string()).expect("own file");
    one(&["--out", "four.csv"]).succeeded();
    assert_eq!(read(&folder, "four.csv"), table);
    assert!(one(&["--out", "one.csv"]).succeeded().stderr.contains("0 runs in"), "enough is enough");
    run(command(&folder, "sweep row", &["one.csv"])).succeeded();
    let other = run(command(&folder, "sweep", &[&grid[..], &["--seeds", "12", "--out", "one.csv"]].concat()));
    other.failed_with(1, &["--max-seeds: there --until mac_delay_mean_bt=5% from 3 seeds on, here none"]);
    let missing = ["--until", "throughput=1%", "--max-seeds", "9", "--out", "none.csv"];
    run(command(&folder, "sweep", &[&grid[..], &missing].concat()))
        .failed_with(1, &["--until: runs of this grid have no figure `throughput`"]);
}

/// With seeds that are added, a part has whole combinations: parts merge to the table of one sweep, and one that stopped goes on.
#[test]
fn parts_to_which_seeds_are_added_merge_to_the_whole() {
    let (_turn, folder) = place();
    let grid = ["--set", "stations=2..5", "--duration", "20ms", "--warmup", "1ms", "--seeds", "2"];
    let wish = ["--until", "mac_delay_mean_bt=20%", "--max-seeds", "6"];
    let one = |more: &[&str]| run(command(&folder, "sweep", &[&grid[..], &wish, more].concat()));
    let merge = |parts: &[&str]| run(command(&folder, "sweep merge", &[&["--out", "merged.csv"], parts].concat()));
    one(&["--out", "whole.csv"]).succeeded();
    one(&["--shard", "1/3", "--out", "part-{shard}.csv"]).succeeded();
    // Combinations 1 and 4, with two seeds at least and six at most.
    let stations = |line: &str| record(line, &read(&folder, "part-1.csv"), "stations");
    let mut own: Vec<String> = read(&folder, "part-1.csv").lines().skip(1).map(stations).collect();
    own.dedup();
    assert_eq!(own, ["2", "5"]);
    let missing = merge(&["part-1.csv"]);
    missing.failed_with(1, &["shard 2/3, 3/3 of the grid are missing", "--max-seeds 6"]);
    for line in missing.stderr.lines().filter(|line| line.starts_with("  ")) {
        let mut shell = program("sh", ["-c", line]);
        shell.current_dir(folder.path());
        run(shell).succeeded();
    }
    merge(&["part-2.csv", "part-3.csv", "part-1.csv"]).succeeded();
    for name in ["whole.csv", "whole.csv.grid.json"] {
        assert_eq!(read(&folder, &name.replace("whole", "merged")), read(&folder, name), "{name}");
    }
    let said =
        run(command(&folder, "plot", &["part-1.csv", "--x", "stations", "--y", "mac_delay_mean_bt", "-o", "p.svg"]));
    assert!(!said.succeeded().stderr.contains("warning"), "a table with enough seeds lacks no run");
    // A part that lacks its last row is not finished, and its command adds that row alone.
    let (part, beside) = (read(&folder, "part-1.csv"), folder.path().join("part-1.csv.grid.json"));
    let kept = part.trim_end().rsplit_once('\n').expect("rows").0.to_owned() + "\n";
    fs::write(folder.path().join("part-1.csv"), kept).expect("own table");
    let manifest = fs::read_to_string(&beside).expect("a manifest");
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    manifest.as_object_mut().expect("an object").remove("rows_crc32");
    fs::write(&beside, manifest.to_string()).expect("own file");
    merge(&["part-2.csv", "part-3.csv", "part-1.csv"]).failed_with(1, &["asks for further ones", "--shard 1/3"]);
    let again = one(&["--shard", "1/3", "--out", "part-{shard}.csv"]).succeeded().stderr;
    assert!(again.contains("1 run in"), "{again}");
    assert_eq!(read(&folder, "part-1.csv"), part);
}

/// A field of a row of a table.
fn record(line: &str, table: &str, name: &str) -> String {
    let column = table.lines().next().expect("a header").split(',').position(|known| known == name).expect(name);
    line.split(',').nth(column).expect("a field").to_owned()
}
