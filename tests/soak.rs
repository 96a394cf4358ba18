//! A soak: mixed traffic and faults for as long as `ETHBUS_SOAK` says, in seconds; then everything adds up, to the frame
//! (issue 5, "Faults to survive").
//!
//! `.ci/run` has a minute of it, `.ci/full` an hour, and a plain `cargo test` ten seconds.

mod common;

use common::lab::{INTERFACE, Lab};
use common::process::{Running, data_plane, run};
use common::results::{check, emulator, grown, number, station, sum};
use common::{PATIENCE, Turn, note, skipped, wait_until};
use link::station::StationSocket;
use serde_json::Value;
use std::time::{Duration, Instant};

const STATIONS: usize = 5;
/// Along a cable, so that it can be cut.
const SCENARIO: &str = "stations = 5\n[medium]\ntopology = 'bus:500m'\n";
/// What the data plane's own memory may differ by, in KB: a queue that was never as long before.
const GROWTH: u64 = 4_000;

fn limit() -> Duration {
    let seconds = std::env::var("ETHBUS_SOAK").map_or(10, |text| text.parse().expect("ETHBUS_SOAK is in seconds"));
    Duration::from_secs(seconds)
}

/// Memory of its own that a process has, in KB.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("the kernel tells");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// What a station's own kernel has received on its interface.
fn received_by_host(lab: &Lab, station: &str) -> u64 {
    let path = format!("/sys/class/net/{INTERFACE}/statistics/rx_packets");
    run(lab.exec(station, &["cat", &path])).succeeded().stdout.trim().parse().expect("a number")
}

fn name(station: usize) -> String {
    format!("st{station}")
}

/// So many frames as fast as the station's kernel takes them.
fn flood(lab: &Lab, from: &str, count: usize) {
    let mut socket = StationSocket::open(&lab.namespace(from), INTERFACE, 0x88b5).expect("a socket");
    let mut frame = [0xff; 200];
    frame[6..12].copy_from_slice(&socket.mac().octets());
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    for _ in 0..count {
        // What the kernel refuses it has not counted as sent.
        let _ = socket.send(&frame);
    }
}

/// A few seconds of everything at once; `number` says which trouble there is meanwhile.
fn round(lab: &Lab, number: usize) {
    let change = |command: &str, arguments: &[&str]| _ = run(lab.ethbus(command, arguments)).succeeded();
    let mut server = Running::start(lab.exec("st4", &["iperf3", "-s", "-1", "--forceflush", "-p", "5201"]), "");
    wait_until(PATIENCE, "a server", || server.has_ended() || server.stdout().contains("listening"));
    let addresses: Vec<String> = (1..=STATIONS).map(|station| lab.ipv4(&name(station))).collect();
    let pings = Running::start(lab.exec("st1", &["ping", "-q", "-i", "0.002", &addresses[1]]), "");
    let stream = ["iperf3", "-c", &addresses[3], "-p", "5201", "-t", "3", "--connect-timeout", "3000"];
    let stream = Running::start(lab.exec("st3", &stream), "");
    let datagrams = ["--from", "st2", "--to", "st5", "--frame-size", "700", "--duration", "3s", "--rate", "500/s"];
    let datagrams = Running::start(lab.ethbus("send", &datagrams), "");
    std::thread::sleep(Duration::from_millis(300));
    flood(lab, "st5", 3_000);
    let (trouble, right): (&[&str], &[&str]) = match number % 5 {
        0 => (&["detach", "st5"], &["attach", "st5"]),
        1 => (&["fault", "st5", "bad_fcs"], &["fault", "st5", "none"]),
        2 => (&["cut", "st2", "st3"], &["mend"]),
        3 => (&["fault", "st1", "deaf"], &["fault", "st1", "none"]),
        _ => (&["fault", "st2", "babble"], &["fault", "st2", "none"]),
    };
    change(trouble[0], &trouble[1..]);
    std::thread::sleep(Duration::from_millis(700));
    change(right[0], &right[1..]);
    check(&lab.stats());
    datagrams.wait().succeeded();
    // The trouble may have been too much for the stream; what matters is where its frames are.
    _ = stream.wait_for(Duration::from_secs(40));
    drop((server, pings));
}

/// Results at a moment of silence, and what each station's kernel has received by then.
///
/// Stations speak of their own accord now and then: between two looks with the same figures nobody did.
#[track_caller]
fn still(lab: &Lab) -> (Value, Vec<u64>) {
    let (mut last, mut hosts) = (lab.settled_stats(), Vec::new());
    wait_until(PATIENCE, "a silent bus", || {
        std::thread::sleep(Duration::from_millis(200));
        hosts = (1..=STATIONS).map(|number| received_by_host(lab, &name(number))).collect();
        let results = lab.stats();
        let pending = emulator(&results, "deliveries_pending") + emulator(&results, "arrivals_pending");
        let silent = sum(&results, "offered") == sum(&last, "offered") && pending + sum(&results, "queued") == 0;
        last = results;
        silent
    });
    (last, hosts)
}

#[test]
fn everything_adds_up_after_a_soak() {
    if skipped(&["ip", "ping", "iperf3"]) {
        return;
    }
    let (_turn, folder) = (Turn::alone(), tempfile::tempdir().expect("a folder"));
    let scenario = folder.path().join("soak.toml");
    std::fs::write(&scenario, SCENARIO).expect("own folder");
    let mut lab = Lab::up(&[scenario.to_str().expect("plain")]);
    let plane = data_plane(lab.supervisor().pid());
    let (before, hosts_before) = still(&lab);
    let (begin, mut rounds, mut after_first) = (Instant::now(), 0, 0);
    while rounds == 0 || begin.elapsed() < limit() {
        round(&lab, rounds);
        rounds += 1;
        // Every kind of trouble has been there, and every buffer been as long as it gets.
        if after_first == 0 && (rounds == 5 || begin.elapsed() * 4 > limit()) {
            after_first = memory(plane);
        }
    }
    let grown_to = memory(plane);
    let (after, hosts) = still(&lab);
    check(&after);
    adds_up(&before, &after, &hosts_before, &hosts);
    note(&format!(
        "{rounds} rounds in {:?}: {} frames offered, {} carried, {} copies; memory {after_first} KB, then {grown_to}",
        begin.elapsed(),
        sum(&after, "offered") - sum(&before, "offered"),
        sum(&after, "frames_transmitted_ok") - sum(&before, "frames_transmitted_ok"),
        emulator(&after, "deliveries") - emulator(&before, "deliveries"),
    ));
    assert!(grown_to < after_first + GROWTH, "{after_first} KB of memory, later {grown_to}");
    lab.down();
    lab.assert_nothing_left();
}

/// Every frame that a station's kernel sent was offered or dropped with a count; every copy handed over was received by
/// a station's kernel; and each station's frames were transmitted, discarded by cause, or are queued (`check`).
#[track_caller]
fn adds_up(before: &Value, after: &Value, hosts_before: &[u64], hosts: &[u64]) {
    let more = |key: &str| emulator(after, key) - emulator(before, key);
    let link = |results: &Value, number_of: usize, key: &str| {
        let links = results["emulator"]["links"].as_array().expect("a list");
        number(links.iter().find(|link| link["station"] == name(number_of)).expect("every station has one"), key)
    };
    let (mut from_stations, mut to_stations) = (0, 0);
    for of in 1..=STATIONS {
        from_stations += link(after, of, "from_station") - link(before, of, "from_station");
        let to_station = link(after, of, "to_station") - link(before, of, "to_station");
        assert_eq!(hosts[of - 1] - hosts_before[of - 1], to_station, "what {} received", name(of));
        to_stations += to_station;
        let queued = number(station(after, &name(of)), "queued");
        assert_eq!(queued, 0, "{after}");
        assert!(grown(before, after, &name(of), "offered") > 0, "{} had nothing to say", name(of));
    }
    let offered = sum(after, "offered") - sum(before, "offered");
    assert_eq!(from_stations, offered + more("ring_drops") + more("strays"), "{before}\n{after}");
    assert_eq!(to_stations, more("deliveries"), "{before}\n{after}");
}
