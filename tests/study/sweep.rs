//! `ethbus sweep` and `merge` from outside: the grid's order, going on after any end, shards, and bad input (issue 4).

use crate::common::process::{Finished, Running, ethbus, program, run};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// As clap ends for wrong options.
const WRONG_USE: i32 = 2;
const FAILURE: i32 = 1;
const INTERRUPTED: i32 = 130;

/// A folder for tables, and a turn on the machine.
struct Place {
    folder: TempDir,
    _turn: Turn,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a folder for temporary files"), _turn: Turn::shared() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a table")
    }

    /// A sweep into the table `out`, with these arguments.
    fn sweep(&self, out: &str, arguments: &str) -> std::process::Command {
        let mut command = ethbus(["sweep", "--duration", "20ms", "--warmup", "1ms", "--out"]);
        command.arg(self.path(out)).args(arguments.split_whitespace());
        command
    }

    fn merge(&self, out: &str, shards: &[&str]) -> Finished {
        let mut command = ethbus(["sweep", "merge", "--out"]);
        command.arg(self.path(out)).args(shards.iter().map(|shard| self.path(shard)));
        run(command)
    }
}

/// `count` fields of a table's lines from column `from` on.
fn columns(table: &str, from: usize, count: usize) -> Vec<String> {
    table.lines().map(|line| line.split(',').skip(from).take(count).collect::<Vec<_>>().join(",")).collect()
}

#[test]
fn rows_stand_in_the_grids_order_whatever_ends_first() {
    let place = Place::new();
    let grid = "--set stations=8,2 --set medium.rate=10M,1M --seeds 4..5";
    run(place.sweep("one.csv", &format!("{grid} --jobs 1"))).succeeded();
    run(place.sweep("many.csv", &format!("{grid} --jobs 8"))).succeeded();
    let table = place.read("one.csv");
    assert_eq!(table, place.read("many.csv"), "the same command, the same bytes");
    let rows = [
        "run,medium.rate,seed,stations",
        "1,10M,4,8",
        "2,10M,5,8",
        "3,1M,4,8",
        "4,1M,5,8",
        "5,10M,4,2",
        "6,10M,5,2",
        "7,1M,4,2",
        "8,1M,5,2",
    ];
    assert_eq!(columns(&table, 0, 4), rows);
    let mut command = ethbus(["sweep", "--duration", "20ms", "--warmup", "1ms", "--out", "-"]);
    command.args(grid.split_whitespace());
    assert_eq!(run(command).succeeded().stdout, table, "a pipe gets the same");
}

/// A row is what `ethbus sim` says of the same medium, traffic and seed.
#[test]
fn a_row_is_what_a_single_run_gives() {
    let place = Place::new();
    let scenario = place.path("scenario.toml");
    fs::write(&scenario, "[medium]\nqueue = 7\n").expect("own folder");
    let mut sweep = place.sweep("runs.csv", "--set medium.topology=star:10BT,star:50BT --set stations=5 --seeds 3,9");
    sweep.arg(&scenario);
    run(sweep).succeeded();
    let options = "sim --topology star:50BT --stations 5 --seed 9 --duration 20ms --warmup 1ms --format csv";
    let mut sim = ethbus(options.split_whitespace());
    sim.arg(&scenario);
    let single = run(sim).succeeded().stdout;
    let last = place.read("runs.csv").lines().last().expect("rows").to_owned();
    let figures = last.strip_prefix("4,star:50BT,").unwrap_or_else(|| panic!("{last}"));
    assert_eq!(Some(figures), single.lines().nth(1));
}

/// Starts a sweep, ends it with a signal when it has some rows, and says how it ended.
fn broken_off(place: &Place, out: &str, arguments: &str, signal: &str) -> Finished {
    let running = Running::start(place.sweep(out, &format!("{arguments} --jobs 1")), "");
    let rows = || fs::read_to_string(place.path(out)).unwrap_or_default().lines().count();
    wait_until(PATIENCE, "some rows", || rows() > 3);
    running.signal(signal);
    running.wait()
}

/// Long enough to be broken off.
const LONG: &str = "--set stations=2..60";

#[test]
fn an_interrupted_sweep_keeps_its_rows_and_goes_on_to_the_same_bytes() {
    let place = Place::new();
    let ended = broken_off(&place, "runs.csv", LONG, "INT");
    ended.failed_with(INTERRUPTED, &["interrupted", "of 59 runs", "goes on"]);
    let kept = place.read("runs.csv");
    assert!(kept.ends_with('\n') && kept.lines().count() < 60, "{kept}");
    run(place.sweep("runs.csv", LONG)).failed_with(0, &["were there"]);
    run(place.sweep("whole.csv", LONG)).succeeded();
    let table = place.read("runs.csv");
    assert_eq!(table, place.read("whole.csv"));
    assert!(
        kept.lines().all(|line| table.lines().any(|whole| whole == line)),
        "a row was kept and not there at the end"
    );
}

#[test]
fn a_killed_sweep_goes_on_without_the_half_of_a_line() {
    let place = Place::new();
    let ended = broken_off(&place, "runs.csv", LONG, "KILL");
    assert_eq!(ended.signal(), Some(9));
    let mut file = fs::File::options().append(true).open(place.path("runs.csv")).expect("own table");
    file.write_all(b"7,1,8,100000").expect("room");
    run(place.sweep("runs.csv", LONG)).failed_with(0, &["were there"]);
    run(place.sweep("whole.csv", LONG)).succeeded();
    assert_eq!(place.read("runs.csv"), place.read("whole.csv"));
}

#[test]
fn a_finished_sweep_runs_nothing_again() {
    let place = Place::new();
    for words in ["2 runs in", "0 runs in"] {
        run(place.sweep("runs.csv", "--set stations=2,3")).failed_with(0, &[words]);
    }
}

#[test]
fn merged_shards_are_the_unsharded_table() {
    let place = Place::new();
    let grid = "--set stations=2..6 --seeds 2";
    run(place.sweep("whole.csv", grid)).succeeded();
    for number in 1..=3 {
        run(place.sweep(&format!("{number}.csv"), &format!("{grid} --shard {number}/3"))).succeeded();
    }
    place.merge("merged.csv", &["3.csv", "1.csv", "2.csv"]).succeeded();
    assert_eq!(place.read("merged.csv"), place.read("whole.csv"));
    assert_eq!(place.read("merged.csv.grid.json"), place.read("whole.csv.grid.json"));
    // Again, over itself; and it counts as the finished sweep that it is.
    place.merge("merged.csv", &["1.csv", "2.csv", "3.csv"]).succeeded();
    run(place.sweep("merged.csv", grid)).failed_with(0, &["0 runs in"]);
}

#[test]
fn shards_that_make_no_whole_are_named() {
    let place = Place::new();
    let grid = "--set stations=2..5";
    for number in 1..=3 {
        run(place.sweep(&format!("{number}.csv"), &format!("{grid} --shard {number}/3"))).succeeded();
    }
    run(place.sweep("foreign.csv", "--set stations=2..6 --shard 3/3")).succeeded();
    run(place.sweep("fourth.csv", &format!("{grid} --shard 4/4"))).succeeded();
    fs::write(place.path("notes.csv"), "a,b\n").expect("own folder");
    let cases: [(&[&str], &[&str]); 7] = [
        (&["1.csv", "3.csv"], &["2/3", "missing"]),
        (&["1.csv", "2.csv", "foreign.csv"], &["foreign.csv", "another grid", "stations=2,3,4,5,6"]),
        (&["1.csv", "2.csv", "fourth.csv"], &["fourth.csv", "number of shards"]),
        (&["1.csv", "2.csv", "2.csv"], &["2.csv", "shard 2/3"]),
        (&["1.csv", "notes.csv"], &["notes.csv", "no shard"]),
        (&["1.csv", "nothing.csv"], &["nothing.csv"]),
        (&["1.csv", "2.csv", "3.csv", "merged.csv"], &["merged.csv"]),
    ];
    for (shards, words) in cases {
        place.merge("merged.csv", shards).failed_with(FAILURE, words);
        assert!(!place.path("merged.csv").exists());
    }
    place.merge("notes.csv", &["1.csv", "2.csv", "3.csv"]).failed_with(FAILURE, &["notes.csv", "no sweep's table"]);
    place.merge("1.csv", &["1.csv", "2.csv", "3.csv"]).failed_with(FAILURE, &["1.csv", "another name"]);
    let shard = place.read("2.csv");
    fs::write(place.path("2.csv"), shard.split_inclusive('\n').take(1).collect::<String>()).expect("own folder");
    place.merge("merged.csv", &["1.csv", "2.csv", "3.csv"]).failed_with(FAILURE, &["2.csv", "0 of its 1 runs"]);
}

#[test]
fn another_grid_is_refused_and_what_differs_is_named() {
    let place = Place::new();
    run(place.sweep("runs.csv", "--set stations=2,3")).succeeded();
    let table = place.read("runs.csv");
    let cases: [(&str, &[&str]); 6] = [
        ("--set stations=2,4", &["--set stations=2,4"]),
        ("--set stations=3,2", &["--set stations=3,2"]),
        ("--set stations=2,3 --seeds 2..3", &["seeds", "here 2..3"]),
        ("--set stations=2,3 --traffic poisson:0.4", &["--traffic poisson:0.4"]),
        ("--set stations=2,3 --shard 1/2", &["shard", "1/2"]),
        ("--set stations=2,3 --timing", &["--timing"]),
    ];
    for (arguments, words) in cases {
        run(place.sweep("runs.csv", arguments)).failed_with(FAILURE, words);
    }
    let scenario = place.path("scenario.toml");
    fs::write(&scenario, "[medium]\nqueue = 3\n").expect("own folder");
    let mut command = place.sweep("runs.csv", "--set stations=2,3");
    command.arg(&scenario);
    run(command).failed_with(FAILURE, &["scenario's text"]);
    assert_eq!(place.read("runs.csv"), table, "a refusal changes nothing");
    fs::write(place.path("notes.csv"), "mine\n").expect("own folder");
    run(place.sweep("notes.csv", "--set stations=2")).failed_with(FAILURE, &["notes.csv", "no sweep's table"]);
    assert_eq!(place.read("notes.csv"), "mine\n");
}

#[test]
fn a_table_that_something_else_changed_is_refused_with_its_line() {
    let place = Place::new();
    run(place.sweep("runs.csv", "--set stations=2,3")).succeeded();
    let table = place.read("runs.csv");
    let second = table.lines().nth(1).expect("a row");
    for (text, words) in [
        (format!("{table}{second}\n"), ["line 4", "twice"]),
        (format!("{table}nonsense\n"), ["line 4", "no row"]),
        (format!("{table}9{}\n", &second[1..]), ["line 4", "no row"]),
    ] {
        fs::write(place.path("runs.csv"), text).expect("own folder");
        run(place.sweep("runs.csv", "--set stations=2,3")).failed_with(FAILURE, &words);
    }
}

#[test]
fn bad_input_is_named_before_anything_is_made() {
    let place = Place::new();
    let cases: [(&str, &[&str]); 22] = [
        ("--set medium.raet=10M", &["--set medium.raet=10M", "raet: no such key", "`rate`"]),
        ("--set medium.rate=10M,bananas", &["medium.rate", "`bananas`", "10Mbit/s"]),
        ("--set medium.topology=ring:5m", &["ring:5m", "star:50bt"]),
        ("--set stations=two", &["stations", "`two`"]),
        ("--set stations=2,2000", &["stations: `2000` is out of range", "1024"]),
        ("--set stations", &["--set stations", "stations=2,4,8"]),
        ("--set stations=", &["--set stations=", "missing"]),
        ("--set stations=9..2", &["9..2", "ends before"]),
        ("--set stations=2 --set stations=3", &["stations", "already"]),
        ("--stations 4 --set stations=2", &["--stations", "stations", "leave one"]),
        ("--rate 10M --set medium.rate=1M", &["--rate", "leave one"]),
        ("--set seed=1,2", &["--seeds"]),
        ("--set run.replications=3", &["run.replications", "--seeds"]),
        ("--set station.1.position=5m", &["[[station]]", "station.1.position"]),
        ("--set stations=2 --set medium.bursting=true", &["with stations = 2, medium.bursting = true", "1Gbit/s"]),
        ("--set traffic.arrivals=replay:no-such.pcap", &["traffic.arrivals = replay:no-such.pcap", "no-such.pcap"]),
        ("--seeds 0", &["--seeds 0"]),
        ("--seeds a..b", &["--seeds a..b"]),
        ("--shard 4/3", &["--shard", "4/3", "1/4"]),
        ("--jobs 0", &["--jobs"]),
        ("--set stations=1..1000 --seeds 100000", &["runs"]),
        ("no-such-scenario.toml", &["no-such-scenario.toml"]),
    ];
    for (arguments, words) in cases {
        let ended = run(place.sweep("runs.csv", arguments));
        ended.failed_with(WRONG_USE, words);
        assert!(!ended.stderr.contains("panicked") && ended.took < PATIENCE / 2, "{ended:#?}");
    }
    assert_eq!(fs::read_dir(place.folder.path()).expect("own folder").count(), 0, "something was made");
    run(place.sweep("no-such-folder/runs.csv", "")).failed_with(FAILURE, &["no-such-folder/runs.csv"]);
}

/// A scenario's own mistakes keep their file and line.
#[test]
fn a_wrong_scenario_is_named_with_its_line() {
    let place = Place::new();
    let scenario = place.path("scenario.toml");
    fs::write(&scenario, "seed = 1\n[medium]\nraet = '10M'\n").expect("own folder");
    let mut command = place.sweep("runs.csv", "--set stations=2");
    command.arg(&scenario);
    run(command).failed_with(WRONG_USE, &["scenario.toml:3:1: raet:"]);
}

#[test]
fn a_full_disk_or_a_closed_pipe_ends_a_sweep_with_a_message() {
    let place = Place::new();
    if Path::new("/dev/full").exists() {
        let arguments = "sweep --set stations=2,3 --duration 1ms --warmup 0s --out /dev/full";
        run(ethbus(arguments.split_whitespace())).failed_with(FAILURE, &["/dev/full", "0 of 2 runs", "No space left"]);
    }
    // More than a pipe holds, so that it cannot all be written before the pipe is closed.
    let line = "\"$0\" sweep --set stations=2..200 --duration 20ms --warmup 0s --out - | head -n 2";
    let mut shell = crate::common::process::program("bash", ["-o", "pipefail", "-c", line]);
    shell.arg(crate::common::ETHBUS);
    let ended = run(shell);
    ended.failed_with(FAILURE, &["standard output", "of 199 runs", "Broken pipe"]);
    assert_eq!(ended.stdout.lines().count(), 2, "{ended:#?}");
    let refused = ethbus("sweep --set stations=2,3 --shard 1/2 --out -".split_whitespace());
    run(refused).failed_with(WRONG_USE, &["--shard", "file"]);
    drop(place);
}

/// The kernel's limit on a file's size replaces a full disk: a part of a row cannot be written.
#[test]
fn a_disk_that_fills_up_keeps_whole_rows_and_the_sweep_goes_on_when_there_is_room() {
    let place = Place::new();
    let grid = "--set stations=2..20 --jobs 1";
    let mut shell = crate::common::process::program("bash", ["-c", "trap '' XFSZ; ulimit -f 6; exec \"$0\" \"$@\""]);
    let sweep = place.sweep("runs.csv", grid);
    shell.arg(crate::common::ETHBUS).args(sweep.get_args());
    run(shell).failed_with(FAILURE, &["runs.csv", "of 19 runs are in it, whole", "File too large"]);
    let kept = place.read("runs.csv");
    let rows = kept.lines().count() - 1;
    assert!(kept.ends_with('\n') && (1..19).contains(&rows), "{kept}");
    run(place.sweep("runs.csv", grid)).failed_with(0, &[&format!("{} runs in", 19 - rows), "were there"]);
    run(place.sweep("whole.csv", grid)).succeeded();
    assert_eq!(place.read("runs.csv"), place.read("whole.csv"));
}

#[test]
fn timing_adds_its_columns_and_nothing_else() {
    let place = Place::new();
    run(place.sweep("plain.csv", "--set stations=2,3")).succeeded();
    run(place.sweep("timed.csv", "--set stations=2,3 --timing")).succeeded();
    let (plain, timed) = (place.read("plain.csv"), place.read("timed.csv"));
    assert!(timed.lines().next().is_some_and(|header| header.ends_with(",wall_s,frames_per_wall_s")));
    for (plain, timed) in plain.lines().zip(timed.lines()) {
        let timing = timed.strip_prefix(plain).unwrap_or_else(|| panic!("{timed} does not begin with {plain}"));
        assert_eq!(timing.matches(',').count(), 2, "{timing}");
    }
}

/// `merge --out` once replaced a device, a pipe or a link by a table.
#[test]
fn only_regular_files_are_replaced() {
    if skipped(&["mkfifo"]) {
        return;
    }
    let place = Place::new();
    let grid = "--set stations=2,3";
    run(place.sweep("1.csv", &format!("{grid} --shard 1/2"))).succeeded();
    run(place.sweep("2.csv", &format!("{grid} --shard 2/2"))).succeeded();
    run(program("mkfifo", [place.path("pipe")])).succeeded();
    std::os::unix::fs::symlink("/dev/full", place.path("device")).expect("own folder");
    for (name, is) in [("pipe", "a pipe"), ("device", "a device")] {
        place.merge(name, &["1.csv", "2.csv"]).failed_with(FAILURE, &[name, is, "regular file"]);
        assert!(!place.path(&format!("{name}.grid.json")).exists());
    }
    let kind = |name: &str| fs::symlink_metadata(place.path(name)).expect("still there").file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind("pipe")) && kind("device").is_symlink());
    fs::write(place.path("target.csv"), "").expect("own folder");
    std::os::unix::fs::symlink("target.csv", place.path("link.csv")).expect("own folder");
    place.merge("link.csv", &["1.csv", "2.csv"]).succeeded();
    assert!(kind("link.csv").is_symlink() && place.read("target.csv").lines().count() == 3);
    let mut merge = ethbus(["sweep", "merge", "--out", "-"]);
    merge.args([place.path("1.csv"), place.path("2.csv")]);
    assert_eq!(run(merge).succeeded().stdout, place.read("target.csv"));
}

/// A grid over attempt_limit is one table: columns for the highest, empty where a run's own limit is lower.
#[test]
fn columns_do_not_depend_on_attempt_limit() {
    let place = Place::new();
    run(place.sweep("limits.csv", "--set medium.attempt_limit=4,20,16")).succeeded();
    let table = place.read("limits.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|known| *known == name).expect("a column");
    assert!(rows[1..].iter().all(|row| !row[column("collision_frames_3")].is_empty()));
    let last: Vec<bool> = rows[1..].iter().map(|row| row[column("collision_frames_19")].is_empty()).collect();
    assert_eq!(last, [true, false, true]);
}

/// Further seeds join a finished table, and the result is the table of one sweep with all of them.
#[test]
fn a_finished_sweep_takes_further_seeds() {
    let place = Place::new();
    let grid = "--set stations=2,3,4";
    run(place.sweep("grown.csv", &format!("{grid} --seeds 2"))).succeeded();
    let ended = run(place.sweep("grown.csv", &format!("{grid} --seeds 5"))).succeeded();
    assert!(ended.stderr.contains("9 runs") && ended.stderr.contains("6 were there"), "{ended:#?}");
    run(place.sweep("whole.csv", &format!("{grid} --seeds 5"))).succeeded();
    assert_eq!(place.read("grown.csv"), place.read("whole.csv"));
    assert_eq!(place.read("grown.csv.grid.json"), place.read("whole.csv.grid.json"));
    // Fewer seeds than are there are another grid; and a row is only ever taken for the seed that it has.
    run(place.sweep("grown.csv", &format!("{grid} --seeds 2"))).failed_with(FAILURE, &["seeds"]);
    let swapped = place.read("grown.csv").replace("\n1,", "\nx,").replace("\n2,", "\n1,").replace("\nx,", "\n2,");
    fs::write(place.path("grown.csv"), swapped).expect("own folder");
    run(place.sweep("grown.csv", &format!("{grid} --seeds 5"))).failed_with(FAILURE, &["line 2", "seed 2"]);
}
