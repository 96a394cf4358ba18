//! Single rows of a grid, for programs that balance the load themselves; how far a sweep is; runs that fail (issue 31).

use crate::common::Turn;
use crate::common::process::{Finished, ethbus, program, run};
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const GRID: [&str; 8] = ["--set", "stations=2..5", "--seeds", "2", "--duration", "10ms", "--warmup", "1ms"];

fn command(folder: &TempDir, name: &str, arguments: &[&str]) -> Command {
    let mut command = ethbus([name].iter().chain(arguments));
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
    let merge = |parts: &[&str]| run(command(&folder, "merge", &[&["--out", "merged.csv"], parts].concat()));
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
    let foreign = run(command(&folder, "sweep", &["status", "notes.csv"]));
    foreign.failed_with(1, &["notes.csv", "no sweep's table"]);
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
        let missing = run(command(&folder, "merge", &["--out", "merged.csv", "1.csv"]));
        missing.failed_with(1, &["shard 2/2 of the grid is missing"]);
        let again = missing.stderr.lines().find(|line| line.starts_with("  ")).expect("a command");
        let mut shell = program("sh", ["-c", again]);
        shell.current_dir(folder.path());
        run(shell).succeeded();
        run(command(&folder, "merge", &["--out", "merged.csv", "1.csv", "2.csv"])).succeeded();
        assert_eq!(read(&folder, "merged.csv"), whole);
        for name in ["1.csv", "2.csv", "merged.csv"].map(|name| folder.path().join(name)) {
            fs::remove_file(&name).expect("own table");
            fs::remove_file(name.with_extension("csv.grid.json")).expect("what is beside it");
        }
    }
}
