//! `filter = "address"`: a station gets only frames for its addresses, unless a program or interface in it wants more
//! (issue 5, item 1).

use crate::common::lab::{INTERFACE, Lab};
use crate::common::process::{Running, program, run};
use crate::common::results::{check, emulator, grown, number, station};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use link::sysctl::silence_ipv6_everywhere;
use serde_json::Value;

/// A silent lab of three stations with a filter.
fn lab() -> Lab {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "stations = 3\n[emulator]\nfilter = 'address'\n").expect("own file");
    let lab = Lab::up(&[file.path().to_str().expect("plain")]);
    for station in ["st1", "st2", "st3"] {
        lab.namespace(station).run(silence_ipv6_everywhere).expect("a thread in there").expect("root");
    }
    let mut offered = None;
    wait_until(PATIENCE, "silence", || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let now = Some(crate::common::results::sum(&lab.settled_stats(), "offered"));
        std::mem::replace(&mut offered, now) == now
    });
    lab
}

/// Twenty frames from st1; results before and after.
#[track_caller]
fn send(lab: &Lab, to: &str) -> [Value; 2] {
    let before = lab.settled_stats();
    let arguments = ["--from", "st1", "--to", to, "--count", "20", "--rate", "1000/s", "--frame-size", "64"];
    run(lab.ethbus("send", &arguments)).succeeded();
    let mut after = lab.settled_stats();
    wait_until(PATIENCE, "the last frame's delivery", || {
        after = lab.settled_stats();
        grown(&before, &after, "st1", "frames_transmitted_ok") == 20 && emulator(&after, "deliveries_pending") == 0
    });
    check(&after);
    [before, after]
}

/// Of twenty frames to `to`, the number of copies handed over and of those left out.
#[track_caller]
fn copies(lab: &Lab, to: &str) -> [u64; 2] {
    let [before, after] = send(lab, to);
    ["deliveries", "filtered"].map(|key| emulator(&after, key) - emulator(&before, key))
}

/// Waits until `stations` stations hear everything.
#[track_caller]
fn wait_for_unfiltered(lab: &Lab, stations: u64) {
    let what = format!("{stations} stations that hear everything");
    wait_until(PATIENCE, &what, || emulator(&lab.stats(), "stations_unfiltered") == stations);
}

/// A command in a station, which must succeed.
#[track_caller]
fn ip(lab: &Lab, station: &str, arguments: &[&str]) {
    run(program("ip", ["-n", &lab.namespace_name(station)].iter().chain(arguments))).succeeded();
}

/// No flag of the interface shows a capture: only IFLA_PROMISCUITY does.
#[test]
fn a_capture_in_a_third_station_sees_what_is_for_others_while_it_runs() {
    if skipped(&["ip", "tcpdump"]) {
        return;
    }
    let (_turn, lab) = (Turn::shared(), lab());
    assert_eq!(lab.stats()["emulator"]["filter"], "address");
    assert_eq!(copies(&lab, "st2"), [20, 20]);
    assert_eq!(copies(&lab, "broadcast"), [40, 0]);
    let arguments = ["tcpdump", "-Z", "root", "-n", "-c", "20", "-i", INTERFACE, "ether", "proto", "0x88b5"];
    let mut capture = Running::start(lab.exec("st3", &arguments), "");
    capture.wait_for_stderr("listening on");
    wait_for_unfiltered(&lab, 1);
    let [before, after] = send(&lab, "st2");
    assert_eq!(emulator(&after, "filtered"), emulator(&before, "filtered"));
    // It ends by itself, when it has seen all twenty.
    let seen = capture.wait().succeeded();
    assert!(seen.stderr.contains("20 packets captured"), "{seen:#?}");
    assert_eq!(grown(&before, &after, "st2", "frames_received_ok"), 20);
    assert_eq!(
        number(station(&after, "st3"), "frames_received_ok"),
        number(station(&before, "st3"), "frames_received_ok")
    );
    wait_for_unfiltered(&lab, 0);
    assert_eq!(copies(&lab, "st2"), [20, 20]);
}

/// The kernel reports each before the call that makes it returns; the bus reads the report at its next look.
#[test]
fn a_second_address_a_bridge_or_an_interface_on_top_lifts_the_filter() {
    if skipped(&["ip"]) {
        return;
    }
    let (_turn, lab) = (Turn::shared(), lab());
    ip(&lab, "st3", &["link", "add", "mv0", "link", INTERFACE, "type", "macvlan"]);
    wait_for_unfiltered(&lab, 1);
    assert_eq!(copies(&lab, "st2"), [40, 0]);
    ip(&lab, "st3", &["link", "del", "mv0"]);
    wait_for_unfiltered(&lab, 0);
    let planned = lab.mac("st3");
    for (lift, restore) in [
        (
            vec!["link", "set", INTERFACE, "address", "02:00:00:00:77:77"],
            vec!["link", "set", INTERFACE, "address", &planned],
        ),
        (vec!["link", "set", INTERFACE, "master", "br0"], vec!["link", "set", INTERFACE, "nomaster"]),
    ] {
        if lift.contains(&"br0") {
            ip(&lab, "st3", &["link", "add", "br0", "type", "bridge"]);
        }
        ip(&lab, "st3", &lift);
        wait_for_unfiltered(&lab, 1);
        assert_eq!(copies(&lab, "st2"), [40, 0], "{lift:?}");
        ip(&lab, "st3", &restore);
        wait_for_unfiltered(&lab, 0);
        assert_eq!(copies(&lab, "st2"), [20, 20], "{restore:?}");
    }
}

/// A change that the kernel does not report shows as soon as the station sends.
#[test]
fn a_station_that_sends_from_another_address_hears_everything_from_then_on() {
    if skipped(&["ip"]) {
        return;
    }
    let (_turn, lab) = (Turn::shared(), lab());
    let mut socket =
        link::station::StationSocket::open(&lab.namespace("st3"), INTERFACE, 0x88b5).expect("eth0 is there");
    let mut frame = vec![0xff; 12];
    frame[6..].copy_from_slice(&[2, 0, 0, 0, 0x55, 0x55]);
    frame.resize(60, 0);
    socket.send(&frame).expect("the port is up");
    wait_for_unfiltered(&lab, 1);
    assert_eq!(copies(&lab, "st2"), [40, 0]);
}

/// A station of kind "tap" is a program, whose addresses are unknown.
#[test]
fn a_station_with_a_program_hears_everything() {
    if skipped(&["ip"]) || !std::path::Path::new("/dev/net/tun").exists() {
        return;
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    let stations = "[[station]]\n[[station]]\n[[station]]\nkind = 'tap'\n";
    std::fs::write(file.path(), format!("{stations}[emulator]\nfilter = 'address'\n")).expect("own file");
    let (_turn, lab) = (Turn::shared(), Lab::up(&[file.path().to_str().expect("plain")]));
    wait_for_unfiltered(&lab, 1);
}
