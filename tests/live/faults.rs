//! Faults from outside: after any loss nothing remains, the rest of the bus keeps running, and the loss is reported.

use crate::common::lab::{INTERFACE, Lab, namespaces_of};
use crate::common::process::{Running, data_plane, is_program, program, run, runs, signal};
use crate::common::results::{check, emulator, station};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A namespace that the program did not make, which must stay in `ip netns`. Removed when dropped.
struct Foreign(String);

impl Foreign {
    #[track_caller]
    fn add(name: String) -> Foreign {
        run(program("ip", ["netns", "add", &name])).succeeded();
        Foreign(name)
    }

    fn is_there(&self) -> bool {
        run(program("ip", ["netns", "exec", &self.0, "true"])).status.success()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // It is gone already if the test failed for that reason.
        let _ = Command::new("ip").args(["netns", "del", &self.0]).output();
    }
}

/// A lab whose supervisor was killed, after its data plane has ended too.
#[track_caller]
fn lost_lab() -> Lab {
    let mut lab = Lab::up(&["--stations", "2"]);
    let plane = data_plane(lab.supervisor().pid());
    lab.lose_supervisor();
    // The kernel kills it with its parent.
    wait_until(PATIENCE, "the data plane's end", || !runs(plane));
    assert_eq!(lab.namespaces().len(), 3, "SIGKILL leaves nobody to clean up");
    lab
}

/// After SIGKILL of the supervisor `down` finds and removes the remains (issue 2), processes in stations included.
#[test]
fn down_removes_what_a_killed_lab_left() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let sleeper = Running::start(lab.exec("st1", &["sleep", "1000"]), "");
    wait_until(PATIENCE, "a program in the station", || {
        run(program("ip", ["netns", "pids", &lab.namespace_name("st1")])).stdout.trim() == sleeper.pid().to_string()
    });
    lab.lose_supervisor();
    run(lab.ethbus("stats", &[])).failed_with(1, &["no lab called", "is up"]);
    run(lab.ethbus("down", &[])).failed_with(1, &["left behind"]);
    lab.assert_nothing_left();
    assert!(sleeper.wait().signal().is_some());
    run(lab.ethbus("down", &[])).failed_with(1, &["is up"]);
}

/// After SIGKILL of the supervisor the next `up` of that name removes the remains and works (issue 2).
#[test]
fn the_next_up_removes_what_a_killed_lab_left() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = lost_lab();
    lab.start(&["--stations", "3"]);
    assert!(lab.greeting().contains("left behind"), "{}", lab.greeting());
    assert_eq!(lab.namespaces().len(), 4);
    lab.ping("st1", &lab.ipv4("st3"));
    lab.down();
    lab.assert_nothing_left();
}

/// Nothing is touched that the lab did not make: a namespace of another name, and one that has taken a name of its.
#[test]
fn a_namespace_that_the_lab_did_not_make_stays() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = lost_lab();
    let beside = Foreign::add(format!("{}x-st1", lab.name));
    let similar = Foreign::add(lab.namespace_name("st77"));
    run(program("ip", ["netns", "del", &lab.namespace_name("st1")])).succeeded();
    // The kernel frees a namespace after a while; from then on the next one may get its inode (seen on Linux 6.18).
    std::thread::sleep(Duration::from_secs(1));
    let taken = Foreign::add(lab.namespace_name("st1"));
    let sleeper = Running::start(program("ip", ["netns", "exec", &taken.0, "sleep", "1000"]), "");
    run(lab.ethbus("down", &[])).failed_with(1, &["left behind"]);
    assert!([&beside, &similar, &taken].iter().all(|namespace| namespace.is_there()));
    assert!(runs(sleeper.pid()), "a process in a foreign namespace was ended");
    assert_eq!(namespaces_of(&lab.name).len(), 2, "those two, and none of the lab's own");
    assert!(!lab.record().exists());
}

/// `up` does not take over a namespace whose name it would give: a clear error, and nothing remains.
#[test]
fn up_refuses_a_namespace_name_that_somebody_else_has() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = crate::common::lab::Unused::name();
    let taken = Foreign::add(format!("{}-st2", unused.0));
    let ended = run(crate::common::process::ethbus(["up", "--name", &unused.0, "--stations", "3"]));
    ended.failed_with(1, &[&taken.0]);
    assert!(taken.is_there());
    assert_eq!(namespaces_of(&unused.0), std::slice::from_ref(&taken.0));
    drop(taken);
    crate::common::lab::assert_nothing_of(&unused.0);
}

/// If the data plane dies in any way, the supervisor reports it, cleans up, and fails.
#[test]
fn a_data_plane_that_dies_takes_the_lab_down_and_is_reported() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    for (name, number) in [("KILL", "9"), ("SEGV", "11"), ("ABRT", "6")] {
        let mut lab = Lab::up(&["--stations", "2"]);
        let sleeper = Running::start(lab.exec("st1", &["sleep", "1000"]), "");
        wait_until(PATIENCE, "a program in the station", || is_program(sleeper.pid(), "sleep"));
        let plane = data_plane(lab.supervisor().pid());
        signal(name, &plane.to_string());
        if name == "SEGV" {
            // Rust's handler takes the first signal for a stack overflow, finds none, and removes itself before the
            // next.
            std::thread::sleep(Duration::from_millis(100));
            signal(name, &plane.to_string());
        }
        lab.ended().failed_with(1, &["data plane", &format!("signal: {number}")]);
        lab.assert_nothing_left();
        assert!(sleeper.wait().signal().is_some());
    }
}

/// Folders in which groups of processes have a limit of memory, and the file of the limit: version 2's and version 1's.
const MEMORY_GROUPS: [(&str, &str); 2] =
    [("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")];

/// A group of processes that may use at most one page of memory. Removed when dropped.
struct Starved(PathBuf);

impl Starved {
    /// `None` where no group with a memory limit can be made.
    fn make(name: &str) -> Option<Starved> {
        MEMORY_GROUPS.iter().find_map(|(folder, limit)| {
            let group = Path::new(folder).join(format!("ethbus-{name}"));
            std::fs::create_dir(&group).ok()?;
            let starved = Starved(group);
            // A folder that is no group has no such file.
            write(&starved.0.join(limit), "4096").ok()?;
            Some(starved)
        })
    }

    #[track_caller]
    fn take(&self, pid: u32) {
        write(&self.0.join("cgroup.procs"), &pid.to_string()).expect("root may");
    }
}

impl Drop for Starved {
    fn drop(&mut self) {
        // Empty by now: the process has ended.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Writes to an existing file.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

/// A data plane that the kernel kills for lack of memory: the lab reports it and ends, and its log up to then adds up
/// (issue 12, "Endurance").
#[test]
fn a_data_plane_without_memory_takes_the_lab_down_and_its_books_are_exact() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let events = folder.path().join("events");
    // Enough stations that their results need memory that was not used before.
    let mut lab = Lab::up(&["--stations", "150", "--events", events.to_str().expect("plain")]);
    let Some(starved) = Starved::make(&lab.name) else {
        return crate::common::skip("needs a control group that limits memory");
    };
    let plane = data_plane(lab.supervisor().pid());
    let _pings = Running::start(lab.exec("st1", &["ping", "-q", "-i", "0.002", &lab.ipv4("st2")]), "");
    let transmitted = || {
        let log = std::fs::read_to_string(&events).expect("own folder");
        log.lines().filter(|line| line.contains("\"kind\":\"transmitted\"")).count()
    };
    wait_until(PATIENCE, "traffic", || transmitted() > 100);
    let before = transmitted();
    starved.take(plane);
    run(lab.ethbus("stats", &["--format", "json"]));
    wait_until(PATIENCE, "its end", || !runs(plane));
    lab.ended().failed_with(1, &["data plane", "signal: 9"]);
    lab.assert_nothing_left();
    // `ended` has derived the log again, up to its last whole line.
    assert!(transmitted() >= before, "{} frames in the log, {before} before", transmitted());
}

/// A request notices a data plane that hangs, and the lab is removed.
#[test]
fn a_data_plane_that_hangs_is_told_to_whoever_asks() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    signal("STOP", &data_plane(lab.supervisor().pid()).to_string());
    let asked = run(lab.ethbus("stats", &["--format", "json"]));
    asked.failed_with(1, &[&lab.name, "answer"]);
    lab.ended().failed_with(1, &["data plane", "answer"]);
    lab.assert_nothing_left();
}

/// A panic removes all namespaces, interfaces and processes (issue 2). Builds for tests panic on request.
#[test]
fn a_panic_in_the_supervisor_leaves_nothing() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let plane = data_plane(lab.supervisor().pid());
    let sleeper = Running::start(lab.exec("st1", &["sleep", "1000"]), "");
    wait_until(PATIENCE, "a program in the station", || is_program(sleeper.pid(), "sleep"));
    let mut control = UnixStream::connect(lab.record().join("control.sock")).expect("the lab listens");
    control.write_all(Lab::request("panic").as_bytes()).expect("the lab reads");
    let ended = lab.ended();
    assert!(!ended.status.success() && ended.stderr.contains("panicked"), "{ended:#?}");
    lab.assert_nothing_left();
    wait_until(PATIENCE, "the data plane's end", || !runs(plane));
    assert!(sleeper.wait().signal().is_some());
}

/// Invalid requests on the control socket do no harm, nor does a client that connects and sends nothing.
#[test]
fn nonsense_on_the_control_socket_does_no_harm() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let connect = || UnixStream::connect(lab.record().join("control.sock")).expect("the lab listens");
    let long = vec![b'x'; 100_000];
    for words in [&b"nonsense\n"[..], b"", b"\xff\xfe\n", b"stats down\n", b"{\"jsonrpc\":\"2.0\"}", &long] {
        // The lab may close its end in the middle of an invalid request.
        let _ = connect().write_all(words);
    }
    let silent: Vec<UnixStream> = (0..2).map(|_| connect()).collect();
    check(&lab.stats());
    lab.ping("st1", &lab.ipv4("st2"));
    drop(silent);
    lab.down();
    lab.assert_nothing_left();
}

/// Waits until the lab has counted `count` lost ports, and gives the results.
#[track_caller]
fn wait_for_ports_lost(lab: &Lab, count: u64) -> Value {
    let mut results = Value::Null;
    wait_until(PATIENCE, "a lost port", || {
        results = lab.stats();
        emulator(&results, "ports_lost") >= count
    });
    check(&results);
    results
}

/// A station whose namespace vanishes is reported and counted; the bus keeps running for the others (issue 2).
#[test]
fn a_station_removed_while_running_is_reported_and_the_others_go_on() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "3"]);
    let mut pings = Running::start(lab.exec("st1", &["ping", "-i", "0.01", &lab.ipv4("st3")]), "");
    run(program("ip", ["netns", "del", &lab.namespace_name("st2")])).succeeded();
    let results = wait_for_ports_lost(&lab, 1);
    assert_eq!(station(&results, "st2")["attached"], false, "{results}");
    assert_eq!(station(&results, "st1")["attached"], true, "{results}");
    lab.supervisor().wait_for_stderr("st2 is off the medium");
    lab.ping("st1", &lab.ipv4("st3"));
    lab.ping("st3", &lab.ipv6("st1"));
    assert!(!pings.has_ended());
    pings.signal("INT");
    let pings = pings.wait().succeeded();
    assert!(pings.stdout.contains(" 0% packet loss"), "the others noticed: {}", pings.stdout);
    run(lab.exec("st2", &["true"])).failed_with(1, &["st2"]);
    let ended = lab.down();
    assert_eq!(ended.code(), Some(0), "{ended:#?}");
    lab.assert_nothing_left();
}

/// The bus's own namespace loses its name: the lab holds it, so stations join, and what the kernel counts is known.
#[test]
fn a_bus_whose_namespace_lost_its_name_goes_on() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    run(program("ip", ["netns", "del", &format!("{}-bus", lab.name)])).succeeded();
    lab.ping("st1", &lab.ipv4("st2"));
    run(lab.ethbus("add", &["web"])).succeeded();
    lab.ping("web", &lab.ipv4("st1"));
    let links = &lab.stats()["emulator"]["links"];
    assert_eq!(links.as_array().map(Vec::len), Some(3), "{links}");
    run(lab.ethbus("remove", &["web"])).succeeded();
    lab.down();
    lab.assert_nothing_left();
}

/// The same in the middle of its own traffic, which is lost and accounted for.
#[test]
fn a_station_removed_while_it_sends_leaves_no_frame_unaccounted_for() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "3"]);
    let sender = Running::start(lab.exec("st2", &["ping", "-q", "-f", "-s", "1400", &lab.ipv4("st1")]), "");
    let receiver = Running::start(lab.exec("st1", &["ping", "-q", "-f", "-s", "1400", &lab.ipv4("st2")]), "");
    wait_until(PATIENCE, "traffic", || station(&lab.stats(), "st2")["frames_transmitted_ok"].as_u64() > Some(100));
    // The interface ends with the namespace's last process, name and socket; deleting it is quicker.
    run(lab.exec("st2", &["ip", "link", "del", INTERFACE])).succeeded();
    let results = wait_for_ports_lost(&lab, 1);
    assert_eq!(station(&results, "st2")["attached"], false, "{results}");
    drop((sender, receiver));
    lab.ping("st1", &lab.ipv4("st3"));
    check(&lab.settled_stats());
}

/// A station whose interface goes down is reported and counted; when it comes up again it is on the medium again.
#[test]
fn an_interface_that_goes_down_is_off_the_medium_until_it_comes_up() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "3"]);
    run(lab.exec("st2", &["ip", "link", "set", INTERFACE, "down"])).succeeded();
    let results = wait_for_ports_lost(&lab, 1);
    assert_eq!(station(&results, "st2")["attached"], false, "{results}");
    lab.supervisor().wait_for_stderr("st2 is off the medium: its interface went down");
    lab.ping("st1", &lab.ipv4("st3"));
    run(lab.exec("st2", &["ip", "link", "set", INTERFACE, "up"])).succeeded();
    lab.supervisor().wait_for_stderr("st2 is back on the medium");
    wait_until(PATIENCE, "st2 back", || station(&lab.stats(), "st2")["attached"] == true);
    lab.ping("st2", &lab.ipv4("st1"));
    lab.ping("st3", &lab.ipv4("st2"));
    let results = lab.settled_stats();
    check(&results);
    assert_eq!(emulator(&results, "ports_lost"), 1, "{results}");
}

/// A full disk or a closed terminal behind standard error: everything made is removed all the same (issue 2).
#[test]
fn a_lab_that_can_tell_nobody_anything_leaves_nothing() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = crate::common::lab::Unused::name();
    let full = "exec \"$0\" up --name \"$1\" --stations 2 2> /dev/full";
    let ended = run(program("sh", ["-c", full, crate::common::ETHBUS, &unused.0]));
    assert!(!ended.status.success(), "{ended:#?}");
    crate::common::lab::assert_nothing_of(&unused.0);

    let closed = "\"$0\" up --name \"$1\" --stations 2 2>&1 | grep -m 1 IPv4";
    let reader = Running::start(program("sh", ["-c", closed, crate::common::ETHBUS, &unused.0]), "");
    wait_until(PATIENCE, "a lab whose reader has ended", || {
        let stats = run(crate::common::process::ethbus(["stats", "--name", &unused.0]));
        stats.status.success() && reader.stdout().contains("IPv4")
    });
    run(crate::common::process::ethbus(["down", "--name", &unused.0])).succeeded();
    crate::common::lab::assert_nothing_of(&unused.0);
}

/// Two processes that start a lab of the same name at once: one gets it, the other gets an error.
#[test]
fn of_two_that_start_at_once_one_is_refused() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = crate::common::lab::Unused::name();
    let start = || Running::start(crate::common::process::ethbus(["up", "--name", &unused.0, "--stations", "2"]), "");
    let mut pair = [start(), start()];
    wait_until(PATIENCE, "one to be refused and one to be up", || {
        pair.iter_mut().filter(|one| one.stderr().contains("ethbus stats")).count() == 1
            && pair.iter_mut().filter_map(|one| one.has_ended().then_some(())).count() == 1
    });
    assert_eq!(namespaces_of(&unused.0).len(), 3);
    for mut one in pair {
        let refused = one.has_ended();
        one.signal("TERM");
        let ended = one.wait();
        assert_eq!(ended.code(), Some(i32::from(refused)), "{ended:#?}");
        assert!(!refused || ended.stderr.contains("is up"), "{ended:#?}");
    }
    crate::common::lab::assert_nothing_of(&unused.0);
}

/// A supervisor that is killed at any moment of its start leaves only what `down` can remove.
#[test]
fn a_start_that_is_killed_half_way_can_be_removed() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    for delay_ms in [5, 20, 40, 60, 80, 120, 200] {
        let unused = crate::common::lab::Unused::name();
        let up = Running::start(crate::common::process::ethbus(["up", "--name", &unused.0, "--stations", "8"]), "");
        std::thread::sleep(Duration::from_millis(delay_ms));
        up.signal("KILL");
        assert_eq!(up.wait().signal(), Some(9), "{delay_ms} ms after its start");
        let down = run(crate::common::process::ethbus(["down", "--name", &unused.0]));
        // If it is killed very early, `down` finds nothing yet.
        assert!(["left behind", "is up"].iter().any(|words| down.stderr.contains(words)), "{down:#?}");
        crate::common::lab::assert_nothing_of(&unused.0);
    }
}
