//! A sweep into a folder of Parquet files (issue 31). `.ci/full` runs these, and has DuckDB, polars, pandas and pyarrow read one.

use crate::common::Turn;
use crate::common::process::{Finished, ethbus, run};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const GRID: [&str; 10] = [
    "--set",
    "stations=2,3",
    "--set",
    "medium.topology=star:0bt,star:50bt",
    "--seeds",
    "3",
    "--duration",
    "10ms",
    "--warmup",
    "1ms",
];

fn place() -> (Turn, TempDir) {
    (Turn::shared(), tempfile::tempdir().expect("a folder"))
}

fn ethbus_in(folder: &TempDir, arguments: &[&str]) -> Finished {
    let mut command = ethbus(arguments);
    command.current_dir(folder.path());
    run(command)
}

fn sweep(folder: &TempDir, arguments: &[&str]) -> Finished {
    ethbus_in(folder, &[&["sweep"], &GRID[..], arguments].concat())
}

/// Parquet files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "parquet"))
        .collect();
    found.sort();
    found
}

/// The points of a figure, from the table that was drawn.
fn picture(folder: &TempDir, table: &str) -> String {
    let options = ["--x", "stations", "--y", "mac_delay_mean_bt", "--by", "medium.topology", "--out", "p.svg"];
    ethbus_in(folder, &[&["plot", table], &options[..]].concat()).succeeded();
    let svg = fs::read_to_string(folder.path().join("p.svg")).expect("a figure");
    svg.split("</metadata>").last().expect("a figure").to_owned()
}

/// Several commands fill one folder, each key is a folder's name, and a figure of it is that of the table in CSV.
#[test]
fn rows_of_several_commands_become_one_folder() {
    let (_turn, folder) = place();
    sweep(&folder, &["--rows", "1..4", "--out", "runs/"]).succeeded();
    sweep(&folder, &["--row", "8", "--out", "runs/"]).succeeded();
    let status = ethbus_in(&folder, &["sweep", "status", "runs", "--format", "json"]).succeeded().stdout;
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    assert_eq!((&status[0]["done"], &status[0]["runs"]), (&5.into(), &12.into()));
    let options = ["--x", "stations", "--y", "fairness", "--by", "medium.topology", "--out", "part.svg"];
    let part = ethbus_in(&folder, &[&["plot", "runs"], &options[..]].concat());
    part.failed_with(0, &["runs/ has 5 of the 12 runs of its sweep", "--out runs/"]);
    sweep(&folder, &["--out", "runs"]).failed_with(0, &["7 runs in", "5 were there"]);
    sweep(&folder, &["--out", "runs"]).failed_with(0, &["0 runs in", "12 were there"]);
    let own = files(&folder.path().join("runs/stations=3/medium.topology=star%3A50bt"));
    assert_eq!(own.len(), 1, "three seeds of one point are one file: {own:?}");
    sweep(&folder, &["--out", "whole.csv"]).succeeded();
    assert_eq!(picture(&folder, "runs"), picture(&folder, "whole.csv"));
}

/// Readers refuse a file that was changed, and a sweep takes no folder of another grid.
#[test]
fn an_altered_file_and_another_grid_are_refused() {
    let (_turn, folder) = place();
    sweep(&folder, &["--out", "runs/"]).succeeded();
    ethbus_in(&folder, &["sweep", "--set", "stations=2,4", "--out", "runs"])
        .failed_with(1, &["runs/ is of another grid"]);
    let file = files(&folder.path().join("runs")).remove(0);
    let mut content = fs::read(&file).expect("own file");
    content[100] ^= 1;
    fs::write(&file, content).expect("own file");
    for arguments in
        [&["sweep", "status", "runs"][..], &["plot", "runs", "--x", "stations", "--y", "fairness", "--out", "p.svg"]]
    {
        ethbus_in(&folder, arguments).failed_with(1, &["was changed since the sweep wrote it"]);
    }
    sweep(&folder, &["--out", "runs"]).failed_with(1, &["was changed since the sweep wrote it"]);
    fs::create_dir(folder.path().join("notes")).expect("own folder");
    fs::write(folder.path().join("notes/a.txt"), "milk").expect("own folder");
    sweep(&folder, &["--out", "notes"]).failed_with(1, &["notes/ is there already and is no sweep's table"]);
}

/// A row of the folder, and one of a single file of it, is the same again.
#[test]
fn a_row_of_a_folder_is_reproduced() {
    let (_turn, folder) = place();
    sweep(&folder, &["--out", "runs/"]).succeeded();
    let said = ethbus_in(&folder, &["sweep", "row", "runs", "--row", "8"]).succeeded().stdout;
    assert!(said.contains("row 8 of runs/: stations = 3, medium.topology = star:0bt, seed = 2"), "{said}");
    assert!(said.contains("--out runs/\n") && said.contains("the same, byte for byte"), "{said}");
    let file = files(&folder.path().join("runs"))[1].display().to_string();
    ethbus_in(&folder, &["sweep", "row", &file]).succeeded();
    ethbus_in(&folder, &["sweep", "row", &file, "--row", "1"]).failed_with(1, &["it has no row 1"]);
}

/// A process that ends between the two renames of a combination leaves rows of stations without the row of their runs. The sweep
/// that goes on, whatever rows it writes together, has each row of a station once.
#[test]
fn rows_of_stations_without_their_runs_are_written_once() {
    let (_turn, folder) = place();
    let sweep = |more: &[&str]| sweep(&folder, &[&["--tables", "stations", "--out", "runs/"], more].concat());
    sweep(&[]).succeeded();
    let place = folder.path().join("runs/stations=3/medium.topology=star%3A50bt");
    let runs = |table: &str| -> Vec<String> {
        let name = |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        let of_table = |name: String| Some(name.strip_prefix(table)?.rsplit_once('-')?.0.to_owned());
        files(&place).iter().map(name).filter_map(of_table).collect()
    };
    assert_eq!([runs("runs-"), runs("stations-")], [["10-3"], ["10-3"]]);
    fs::remove_file(files(&place).remove(0)).expect("own file");
    assert_eq!((runs("runs-").len(), runs("stations-").len()), (0, 1), "as the process leaves it");
    sweep(&["--rows", "11..12"]).succeeded();
    assert_eq!([runs("runs-"), runs("stations-")], [["11-2"], ["11-2"]]);
    sweep(&[]).failed_with(0, &["1 run in", "11 were there"]);
    assert_eq!([runs("runs-"), runs("stations-")], [["10-1", "11-2"], ["10-1", "11-2"]]);
}
