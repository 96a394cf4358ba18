//! What the owner of a station does to its interface: each effect has its own count (issue 12, 1).

use crate::common::lab::{INTERFACE, Lab};
use crate::common::process::{Running, run};
use crate::common::results::{check, emulator, sum};
use crate::common::{PATIENCE, Turn, note, skipped, wait_until};

/// Every copy is accounted for: made and handed over, or not, by cause.
#[track_caller]
fn copies_add_up(before: &serde_json::Value, after: &serde_json::Value, stations: u64) {
    check(after);
    let carried = sum(after, "frames_transmitted_ok") - sum(before, "frames_transmitted_ok");
    let causes = ["deliveries", "deliveries_to_absent", "delivery_failures", "copies_to_detached", "refused_by_mtu"];
    let copies: u64 = causes.iter().map(|key| emulator(after, key) - emulator(before, key)).sum();
    assert_eq!(copies, carried * (stations - 1), "{before}\n{after}");
}

fn send(lab: &Lab, size: &str) {
    let arguments = ["--from", "st1", "--to", "st2", "--frame-size", size, "--rate", "200/s", "--count", "20"];
    run(lab.ethbus("send", &arguments)).succeeded();
}

/// Copies for a detached station are not made, refusals of a station with a low MTU do not count as absence, and a
/// station whose namespace was removed is distinguished from one that is down.
#[test]
fn a_copy_that_a_station_did_not_get_has_its_cause() {
    if skipped(&["ip"]) {
        return;
    }
    let (_turn, mut lab) = (Turn::shared(), Lab::up(&["--stations", "4"]));
    lab.silence(4);
    let start = lab.settled_stats();
    run(lab.ethbus("detach", &["st3"])).succeeded();
    send(&lab, "200");
    let detached = lab.settled_stats();
    assert_eq!(emulator(&detached, "copies_to_detached") - emulator(&start, "copies_to_detached"), 20);
    run(lab.ethbus("attach", &["st3"])).succeeded();
    run(lab.exec("st2", &["ip", "link", "set", INTERFACE, "mtu", "500"])).succeeded();
    send(&lab, "200");
    send(&lab, "1000");
    let low = lab.settled_stats();
    assert_eq!(emulator(&low, "refused_by_mtu") - emulator(&detached, "refused_by_mtu"), 20, "{low}");
    assert_eq!(emulator(&low, "deliveries_to_absent"), emulator(&start, "deliveries_to_absent"), "{low}");
    assert_eq!(emulator(&low, "ports_gone"), 0);
    run(crate::common::process::program("ip", ["netns", "del", &lab.namespace_name("st4")])).succeeded();
    wait_until(PATIENCE, "the end of st4", || emulator(&lab.stats(), "ports_gone") == 1);
    send(&lab, "200");
    let after = lab.settled_stats();
    copies_add_up(&start, &after, 4);
    // The table is wrapped at 80 columns.
    let shown = run(lab.ethbus("stats", &[])).unwrapped();
    for words in ["a station's MTU 20", "ports gone 1", "copies not made for detached stations"] {
        assert!(shown.contains(words), "no `{words}` in {shown}");
    }
    lab.down();
}

/// A station that switches offloads on again gets frames that a wire carries all the same, and `stats` names it.
#[test]
fn a_station_with_offloads_on_gets_its_share_and_is_named() {
    if skipped(&["ip", "ethtool", "iperf3"]) {
        return;
    }
    let (_turn, mut lab) = (Turn::alone(), Lab::up(&["--stations", "2"]));
    run(lab.exec("st1", &["ethtool", "-K", INTERFACE, "tx", "on", "sg", "on", "tso", "on", "gso", "on"])).succeeded();
    let mut server = Running::start(lab.exec("st2", &["iperf3", "-s", "-1", "--forceflush"]), "");
    wait_until(PATIENCE, "a server", || server.has_ended() || server.stdout().contains("listening"));
    let client = run(lab.exec("st1", &["iperf3", "-c", &lab.ipv4("st2"), "-t", "3", "-J"])).json();
    let octets = client["end"]["sum_received"]["bytes"].as_f64().expect("a number");
    note(&format!("{:.2} Mb/s of TCP with all offloads on", 8.0 * octets / 3e6));
    let results = lab.settled_stats();
    check(&results);
    assert_eq!(sum(&results, "too_long") + emulator(&results, "oversized"), 0, "{results}");
    assert!(emulator(&results, "checksums_repaired") > 100, "{results}");
    // Without the limit it is 0.26 Mb/s, nearly all of it in frames that no wire carries.
    assert!(octets > 1e6, "{octets} octets in 3 s");
    let offloads = results["emulator"]["links"][0]["offloads"].to_string();
    assert!(offloads.contains("TCP segmentation"), "{results}");
    let shown = run(lab.ethbus("stats", &[])).succeeded().stdout;
    assert!(shown.contains("somebody switched them on in st1"), "{shown}");
    server.signal("TERM");
    lab.down();
}
