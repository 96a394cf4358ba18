//! A machine, a station and an observer that put a live bus under pressure (issue 5, "Faults to survive"): every loss
//! is counted, the rest of the bus keeps running, and nothing remains.

use crate::common::lab::{INTERFACE, Lab, namespaces_of};
use crate::common::process::{Running, data_plane, program, run};
use crate::common::results::{check, emulator, grown, number, station, stations, sum};
use crate::common::{PATIENCE, Turn, note, skipped, wait_until};
use link::namespace::Namespace;
use link::station::StationSocket;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How much a figure of the emulator has grown.
#[track_caller]
fn more(before: &Value, after: &Value, key: &str) -> u64 {
    emulator(after, key) - emulator(before, key)
}

/// The kernel's counts on the links of all stations, in sum.
fn on_links(results: &Value, key: &str) -> u64 {
    results["emulator"]["links"].as_array().expect("a list").iter().map(|link| number(link, key)).sum()
}

/// Every frame is accounted for: frames that stations sent were offered or dropped at the ring, and copies handed over
/// reached them.
#[track_caller]
fn adds_up(before: &Value, after: &Value) {
    check(after);
    let links = |key| on_links(after, key) - on_links(before, key);
    let pending = emulator(after, "arrivals_pending") + emulator(after, "deliveries_pending");
    assert_eq!(pending, 0, "{after}");
    let offered = sum(after, "offered") - sum(before, "offered");
    let lost = more(before, after, "ring_drops") + more(before, after, "strays");
    assert_eq!(links("from_station"), offered + lost, "{before}\n{after}");
    assert_eq!(links("to_station"), more(before, after, "deliveries"), "{before}\n{after}");
}

/// Frames at a pace that a bus at 10 Mb/s can carry; gives the results before and after.
fn send_paced(lab: &Lab, from: &str, to: &str, count: &str) -> (Value, Value) {
    let before = lab.settled_stats();
    let arguments = ["--from", from, "--to", to, "--rate", "200/s", "--count", count, "--frame-size", "64"];
    run(lab.ethbus("send", &arguments)).succeeded();
    (before, lab.settled_stats())
}

/// How long a process has run on a core: the first number of `/proc/PID/schedstat`.
fn nanoseconds_on_a_core(pid: u32) -> u64 {
    let path = format!("/proc/{pid}/schedstat");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{path}: {text}"))
}

/// Two programs for each core that only use it: the bus may slip, and loses nothing.
#[test]
fn a_bus_on_cores_that_others_hog_loses_nothing() {
    if skipped(&["sh"]) {
        return;
    }
    let _turn = Turn::alone();
    let lab = Lab::up(&["--stations", "3"]);
    lab.silence(3);
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
    let hogs: Vec<Running> =
        (0..2 * cores).map(|_| Running::start(program("sh", ["-c", "while :; do :; done"]), "")).collect();
    let (before, after) = send_paced(&lab, "st1", "st2", "400");
    let hogged: Vec<u64> = hogs.iter().map(|hog| nanoseconds_on_a_core(hog.pid())).collect();
    drop(hogs);
    adds_up(&before, &after);
    assert_eq!(sum(&after, "offered") - sum(&before, "offered"), 400);
    assert_eq!(sum(&after, "delivered") - sum(&before, "delivered"), 400);
    let [waited, slips] = ["cpu_wait_ns", "slips"].map(|key| more(&before, &after, key));
    note(&format!("{} hogs on {cores} cores: waited {} us for one, {slips} slips", 2 * cores, waited / 1_000));
    // The data plane may not have waited at all: it is ahead of every ordinary program.
    assert!(hogged.iter().all(|&nanoseconds| nanoseconds > 0), "a hog never had a core: {hogged:?}");
}

/// A station that sends as fast as it can: its frames are carried, or dropped at its own queue or the ring, and
/// counted. The others still get their share, by CSMA/CD: a queue of one frame sometimes wins against a full one.
#[test]
fn a_station_that_floods_takes_only_what_csma_cd_gives_it() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::alone();
    let lab = Lab::up(&["--stations", "3"]);
    lab.silence(3);
    let mut socket = StationSocket::open(&lab.namespace("st1"), INTERFACE, 0x88b5).expect("a socket");
    let before = lab.settled_stats();
    let go_on = Arc::new(AtomicBool::new(true));
    let flood = std::thread::spawn({
        let go_on = go_on.clone();
        let mut frame = [0xff; 60];
        frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
        frame[12..14].copy_from_slice(&[0x88, 0xb5]);
        move || {
            let mut sent = 0_u64;
            while go_on.load(Ordering::Relaxed) {
                sent += u64::from(socket.send(&frame).is_ok());
            }
            sent
        }
    });
    let arguments = ["--from", "st2", "--to", "st3", "--rate", "100/s", "--count", "200", "--frame-size", "64"];
    let sender = run(lab.ethbus("send", &arguments));
    let during = lab.stats();
    go_on.store(false, Ordering::Relaxed);
    let sent = flood.join().expect("no panic");
    sender.succeeded();
    let after = lab.settled_stats();
    check(&during);
    adds_up(&before, &after);
    let from_flooder = |results: &Value| number(&results["emulator"]["links"][0], "from_station");
    assert_eq!(from_flooder(&after) - from_flooder(&before), sent, "{after}");
    let [carried, dropped] = ["frames_transmitted_ok", "queue_drops"].map(|key| number(station(&after, "st1"), key));
    let ring = emulator(&after, "ring_drops");
    note(&format!("{sent} frames flooded: {carried} carried, {dropped} dropped at the queue, {ring} at the ring"));
    assert!(dropped + ring > 0, "a flood that the bus could carry is none: {after}");
    // Of 200 frames some may find the flooder with the medium sixteen times in a row; most get through.
    let [offered, got_through] = ["offered", "frames_transmitted_ok"].map(|key| grown(&before, &after, "st2", key));
    assert!(offered + ring >= 200 && got_through * 2 > offered, "{got_through} of {offered}: {after}");
}

/// Namespaces and labs come and go beside a lab that is up: it is not affected, and nothing of them remains.
///
/// `ETHBUS_NAMESPACES` sets their number, 200 by default.
#[test]
fn namespaces_that_come_and_go_do_a_running_lab_no_harm() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let namespaces: usize =
        std::env::var("ETHBUS_NAMESPACES").map_or(200, |text| text.parse().expect("ETHBUS_NAMESPACES is a number"));
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "3"]);
    let mut pings = Running::start(lab.exec("st1", &["ping", "-q", "-i", "0.01", &lab.ipv4("st2")]), "");
    let plane = data_plane_of(&lab);
    let before = (memory(plane), descriptors(plane));
    // Half of them foreign ones with links of their own, half those of other labs: ten stations and a bus each.
    let (begin, mut made, mut labs) = (Instant::now(), 0, 0);
    while made < namespaces {
        let name = format!("{}-foreign", lab.name.replace('-', "f"));
        let namespace = Namespace::named(&name).expect("a namespace");
        run(program("ip", ["-n", &name, "link", "add", "name", "a", "type", "veth", "peer", "name", "b"])).succeeded();
        let removed = Namespace::remove_named(&name, namespace.identity()).expect("our own");
        assert_eq!(removed, link::namespace::Removal::Removed);
        made += 1;
        if made >= labs * 22 + 11 {
            let mut other = Lab::up(&["--stations", "10"]);
            other.ping("st1", &other.ipv4("st10"));
            other.down();
            other.assert_nothing_left();
            (made, labs) = (made + 11, labs + 1);
        }
    }
    note(&format!("{made} namespaces, {labs} labs among them, came and went in {:?}", begin.elapsed()));
    assert!(!pings.has_ended());
    pings.signal("INT");
    let pings = pings.wait().succeeded();
    assert!(pings.stdout.contains(" 0% packet loss"), "{}", pings.stdout);
    let after = lab.settled_stats();
    check(&after);
    assert_eq!(emulator(&after, "ports_lost") + emulator(&after, "link_changes_missed"), 0, "{after}");
    assert!(stations(&after).iter().all(|station| station["attached"] == true), "{after}");
    assert_eq!(namespaces_of(&lab.name).len(), 4, "its own are all there");
    assert_eq!(descriptors(plane), before.1);
    assert!(memory(plane) < before.0 + 4_000, "{} KB before, {} after", before.0, memory(plane));
}

/// The data plane of a lab whose supervisor another process watches.
#[track_caller]
fn data_plane_of(lab: &Lab) -> u32 {
    let text = format!("--name {} ", lab.name);
    let processes = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let line =
        |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ");
    let supervisor = numbers.into_iter().find(|pid| line(pid).contains(" up ") && line(pid).contains(&text));
    data_plane(supervisor.expect("a supervisor"))
}

/// Memory of a process's own, in KB: no files, and no ring.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("the kernel tells");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").count()
}

/// A memory controller's group of processes; removed when dropped.
struct Group(PathBuf);

impl Group {
    /// `None` where this process cannot make one.
    fn new(name: &str) -> Option<Group> {
        let roots = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].map(Path::new);
        let root = roots.into_iter().find(|root| root.join("cgroup.procs").exists())?;
        let group = Group(root.join(name));
        std::fs::create_dir(&group.0).ok()?;
        group.limit_file().exists().then_some(group)
    }

    fn limit_file(&self) -> PathBuf {
        let new = self.0.join("memory.max");
        if new.exists() { new } else { self.0.join("memory.limit_in_bytes") }
    }

    fn limit(&self, octets: u64) {
        std::fs::write(self.limit_file(), octets.to_string()).expect("a limit");
    }

    fn add(&self, pid: u32) {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string()).expect("a process may be moved");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that is still in it goes back to its former group.
        for pid in std::fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default().lines() {
            let _ = std::fs::write(self.0.parent().expect("a root").join("cgroup.procs"), pid);
        }
        for _ in 0..100 {
            if std::fs::remove_dir(&self.0).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A program takes all available memory beside a bus that shares it: the kernel ends the one or the other. If it ends
/// the program, the bus keeps running and has lost nothing; if the data plane, that is reported, and nothing of the lab
/// remains.
#[test]
fn memory_that_somebody_else_takes_costs_no_frame_in_silence() {
    if skipped(&["sh", "tail"]) {
        return;
    }
    let _turn = Turn::alone();
    let mut lab = Lab::up(&["--stations", "3"]);
    lab.silence(3);
    let plane = data_plane(lab.supervisor().pid());
    let Some(group) = Group::new(&lab.name) else {
        return note("no memory controller here: what the kernel does to the data plane is in tests/live/faults.rs");
    };
    let before = lab.settled_stats();
    group.limit(32 << 20);
    group.add(plane);
    // It joins the group by itself, since it may be over before another process could move it.
    let script = "echo $$ > \"$0\"; head -c 1000000000 /dev/zero | tail -c 900000000 > /dev/null";
    let hog = Running::start(program("sh", ["-c", script, group.0.join("cgroup.procs").to_str().expect("plain")]), "");
    let sender = ["--from", "st1", "--to", "st2", "--rate", "200/s", "--count", "400", "--frame-size", "64"];
    let sent = run(lab.ethbus("send", &sender));
    let hog = hog.wait();
    note(&format!("the program that took memory: {:?}", hog.status));
    // The supervisor ends a moment after its data plane.
    if sent.code() != Some(0) || lab.supervisor().has_ended() {
        lab.ended().failed_with(1, &["data plane", "signal: 9"]);
        note("the kernel ended the data plane");
        return lab.assert_nothing_left();
    }
    sent.succeeded();
    let after = lab.settled_stats();
    adds_up(&before, &after);
    assert_eq!(sum(&after, "offered") - sum(&before, "offered"), 400);
    assert_eq!(sum(&after, "delivered") - sum(&before, "delivered"), 400);
    lab.down();
    lab.assert_nothing_left();
}

/// An event log into a pipe without a reader: the bus keeps running, missing lines are counted, and neither memory nor
/// the end of the lab waits for the reader.
#[test]
fn an_event_log_that_nobody_reads_is_counted_and_the_bus_goes_on() {
    if skipped(&["mkfifo"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("events").to_str().expect("plain").to_owned();
    run(program("mkfifo", [&pipe])).succeeded();
    let reader = Running::start(program("sh", ["-c", "exec sleep 60 < \"$0\"", &pipe]), "");
    let mut lab = Lab::up(&["--stations", "2", "--events", &pipe]);
    let plane = data_plane(lab.supervisor().pid());
    let arguments = ["--from", "st1", "--to", "st2", "--frame-size", "64", "--duration", "2s", "--rate", "max"];
    let send = || run(lab.ethbus("send", &arguments)).succeeded();
    send();
    send();
    let results = lab.settled_stats();
    check(&results);
    assert!(emulator(&results, "events_skipped") > 0, "{results}");
    // The queue of notes is full; more traffic takes no more memory.
    let full = memory(plane);
    send();
    assert!(memory(plane) < full + 2_000, "{full} KB, then {}", memory(plane));
    assert!(emulator(&lab.stats(), "events_skipped") > emulator(&results, "events_skipped"));
    run(lab.ethbus("down", &[])).failed_with(1, &["not whole: ", "events"]);
    lab.ended().failed_with(1, &["not whole: ", "events"]);
    reader.signal("KILL");
    lab.assert_nothing_left();
}

/// A stopped terminal, or a full pipe behind standard error: the lab answers, is taken down, and leaves nothing;
/// messages without room are dropped, not waited for.
#[test]
fn a_lab_whose_messages_nobody_reads_goes_on_and_can_be_taken_down() {
    if skipped(&["ip", "mkfifo"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("messages").to_str().expect("plain").to_owned();
    run(program("mkfifo", [&pipe])).succeeded();
    let unused = crate::common::lab::Unused::name();
    // Reads until the lab is up, and then no more; the pipe stays open.
    let script = "exec 9< \"$0\"; grep -m 1 'ethbus stats' <&9; exec sleep 60";
    let reader = Running::start(program("sh", ["-c", script, &pipe]), "");
    let up = "exec \"$0\" up --name \"$1\" --stations 2 2> \"$2\"";
    let mut lab = Running::start(program("sh", ["-c", up, crate::common::ETHBUS, &unused.0, &pipe]), "");
    wait_until(PATIENCE, "the lab", || reader.stdout().contains("ethbus stats"));
    // Fills the rest of the pipe, so that the first message finds no room.
    let fill = "dd if=/dev/zero of=\"$0\" oflag=nonblock bs=4096 count=64 status=none; dd if=/dev/zero of=\"$0\" oflag=nonblock bs=1 count=8192 status=none";
    let filled = run(program("sh", ["-c", fill, &pipe]));
    assert!(filled.stderr.contains("temporarily unavailable"), "the pipe has room left: {filled:#?}");
    let ethbus = |command: &[&str]| run(crate::common::process::ethbus([command, &["--name", &unused.0]].concat()));
    for _ in 0..200 {
        ethbus(&["detach", "st2"]).succeeded();
        ethbus(&["attach", "st2"]).succeeded();
    }
    check(&ethbus(&["stats", "--format", "json"]).json());
    assert!(!lab.has_ended());
    ethbus(&["down"]).succeeded();
    lab.wait().succeeded();
    reader.signal("KILL");
    crate::common::lab::assert_nothing_of(&unused.0);
}
