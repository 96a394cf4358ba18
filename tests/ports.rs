//! Labs in the background and side by side, and everything that a port of the bus can be or have.

mod common;

use common::lab::{INTERFACE, Unused, assert_nothing_of};
use common::process::{Finished, data_plane, ethbus, run, signal};
use common::results::check;
use common::{PATIENCE, Turn, skipped, wait_until};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A lab in the background, brought up by `ethbus up --detach`; taken down when dropped.
struct Detached {
    unused: Unused,
    greeting: Finished,
}

impl Detached {
    #[track_caller]
    fn up(arguments: &[&str]) -> Detached {
        let unused = Unused::name();
        let greeting = run(ethbus(["up", "--detach", "--name", &unused.0].iter().chain(arguments))).succeeded();
        Detached { unused, greeting }
    }

    fn name(&self) -> &str {
        &self.unused.0
    }

    fn ethbus(&self, command: &str, arguments: &[&str]) -> Command {
        ethbus([command, "--name", self.name()].iter().chain(arguments))
    }

    fn exec(&self, station: &str, command: &[&str]) -> Command {
        ethbus(["exec", "--name", self.name(), station, "--"].iter().chain(command))
    }

    fn log(&self) -> PathBuf {
        Path::new("/run/ethbus").join(self.name()).join("log")
    }

    /// The process that keeps it up: it alone holds the log open besides the data plane, its child.
    #[track_caller]
    fn supervisor(&self) -> u32 {
        let processes = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let line = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let ours = |pid: &u32| line(pid).contains("--in-background") && line(pid).contains(self.name());
        let found: Vec<u32> = numbers.filter(ours).collect();
        assert_eq!(found.len(), 1, "supervisors of {}", self.name());
        found[0]
    }
}

/// `up --detach` prints what `up` prints and returns; the lab stays, without a terminal, until `down`, which tells the
/// last results since nobody else can see them.
#[test]
fn a_detached_lab_stays_until_it_is_taken_down() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Detached::up(&["--stations", "2"]);
    assert!(lab.greeting.stderr.contains("10.77.0.2") && lab.greeting.stderr.contains("is up"), "{:#?}", lab.greeting);
    let supervisor = lab.supervisor();
    let stat = std::fs::read_to_string(format!("/proc/{supervisor}/stat")).expect("it runs");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    assert_eq!((fields[3], fields[4]), (supervisor.to_string().as_str(), "0"), "session and terminal");
    run(lab.exec("st1", &["ping", "-c", "1", "-W", "5", "10.77.0.2"])).succeeded();
    run(lab.exec("st2", &["ip", "link", "set", INTERFACE, "down"])).succeeded();
    wait_until(PATIENCE, "the message in the log", || {
        std::fs::read_to_string(lab.log()).is_ok_and(|log| log.contains("st2 is off the medium"))
    });
    check(&run(lab.ethbus("stats", &["--format", "json"])).json());
    let told = run(lab.ethbus("down", &[])).succeeded();
    assert!(told.stderr.contains("it adds up at every station"), "{told:#?}");
    assert_nothing_of(lab.name());
}

/// What goes wrong while the lab is made is told by `up --detach` itself, with the exit code that `up` has for it.
#[test]
fn errors_of_a_detached_lab_are_told_before_it_returns() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = Unused::name();
    let up = |arguments: &[&str]| run(ethbus(["up", "--detach", "--name", &unused.0].iter().chain(arguments)));
    up(&["--stations", "2000"]).failed_with(2, &["2000 stations", "1 to 1024"]);
    up(&["no such file"]).failed_with(2, &["no such file"]);
    assert_nothing_of(&unused.0);
    let lab = Detached::up(&["--stations", "2"]);
    run(lab.ethbus("up", &["--detach"])).failed_with(1, &[lab.name(), "is up"]);
    run(lab.exec("st1", &["true"])).succeeded();
}

/// A lab in the background that ends by itself leaves its last words, and everybody who asks is told where.
#[test]
fn the_last_words_of_a_detached_lab_are_kept() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Detached::up(&["--stations", "2"]);
    signal("KILL", &data_plane(lab.supervisor()).to_string());
    let record = Path::new("/run/ethbus").join(lab.name()).join("lab.json");
    wait_until(PATIENCE, "the end of the lab", || !record.exists());
    assert_eq!(common::lab::namespaces_of(lab.name()), Vec::<String>::new());
    let log = lab.log();
    run(lab.ethbus("stats", &[])).failed_with(1, &["is up", log.to_str().expect("plain")]);
    let words = "the data plane ended unexpectedly";
    wait_until(PATIENCE, "the last words", || std::fs::read_to_string(&log).is_ok_and(|log| log.contains(words)));
    let told = run(lab.ethbus("down", &[])).succeeded();
    assert!(told.stderr.contains(words), "{told:#?}");
    assert_nothing_of(lab.name());
}

/// Two labs with the same addresses side by side: each has its own medium, and neither hears the other.
#[test]
fn two_labs_with_the_same_network_do_not_meet() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let labs = [Detached::up(&["--stations", "2"]), Detached::up(&["--stations", "3"])];
    for lab in &labs {
        run(lab.exec("st1", &["ping", "-c", "1", "-W", "5", "10.77.0.2"])).succeeded();
    }
    // There is a third station in the second lab only.
    run(labs[1].exec("st1", &["ping", "-c", "1", "-W", "5", "10.77.0.3"])).succeeded();
    let ended = run(labs[0].exec("st1", &["ping", "-c", "1", "-W", "1", "10.77.0.3"]));
    assert_eq!(ended.code(), Some(1), "{ended:#?}");
    run(labs[0].ethbus("down", &[])).succeeded();
    assert_nothing_of(labs[0].name());
    run(labs[1].exec("st2", &["ping", "-c", "1", "-W", "5", "10.77.0.1"])).succeeded();
    run(labs[1].ethbus("down", &[])).succeeded();
    assert_nothing_of(labs[1].name());
}
