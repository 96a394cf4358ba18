//! A machine that does not keep up, and a bus that is slow on purpose (issue 5, item 2).

mod common;

use common::lab::Lab;
use common::process::{Running, data_plane, ethbus, program, run, signal};
use common::results::{check, emulator, sum};
use common::{Turn, note, skipped};
use std::time::Duration;

/// A scenario file with these lines.
fn scenario(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("own file");
    file
}

/// Stops the data plane for a second while a station sends a frame every 20 ms.
fn stop_for_a_second(lab: &mut Lab) {
    let arguments = ["--from", "st1", "--to", "st2", "--rate", "50/s", "--count", "100", "--frame-size", "64"];
    let sender = Running::start(lab.ethbus("send", &arguments), "");
    std::thread::sleep(Duration::from_millis(500));
    let plane = data_plane(lab.supervisor().pid()).to_string();
    signal("STOP", &plane);
    std::thread::sleep(Duration::from_secs(1));
    signal("CONT", &plane);
    sender.wait().succeeded();
}

/// The medium's time stands still while nobody looks after it; then everything goes on where it was, and nothing is lost.
#[test]
fn a_data_plane_that_was_stopped_for_a_second_slips_and_loses_nothing() {
    if skipped(&["ip"]) {
        return;
    }
    let (_turn, mut lab) = (Turn::alone(), Lab::up(&["--stations", "2"]));
    lab.silence(2);
    let before = lab.stats();
    stop_for_a_second(&mut lab);
    let after = lab.settled_stats();
    check(&after);
    let slipped = emulator(&after, "slip_ns") - emulator(&before, "slip_ns");
    assert!(slipped > 900_000_000, "{slipped} ns");
    assert_eq!(sum(&after, "offered") - sum(&before, "offered"), 100);
    assert_eq!(sum(&after, "delivered") - sum(&before, "delivered"), 100);
    assert_eq!(emulator(&after, "ring_drops") + emulator(&after, "overload_drops"), 0);
    let told = lab.down();
    assert!(told.stderr.contains("the machine does not keep up: the medium's time stood still"), "{told:#?}");
}

/// With `drop`, what would come too late does not come, and is counted.
#[test]
fn a_lab_that_drops_on_overload_counts_what_it_drops() {
    if skipped(&["ip"]) {
        return;
    }
    let file = scenario("stations = 2\n[emulator]\non_overload = 'drop'\n");
    let (_turn, mut lab) = (Turn::alone(), Lab::up(&[file.path().to_str().expect("plain")]));
    lab.silence(2);
    let before = lab.stats();
    stop_for_a_second(&mut lab);
    let after = lab.settled_stats();
    check(&after);
    let dropped = emulator(&after, "overload_drops") - emulator(&before, "overload_drops");
    let copies = emulator(&after, "deliveries") - emulator(&before, "deliveries");
    // Some fifty frames come in the second; that of the last millisecond and those outside it are on time.
    assert!(dropped >= 25, "{dropped}");
    assert_eq!(dropped + copies, 100, "each frame goes to one other station, or is counted");
    assert_eq!(emulator(&after, "slips"), 0);
    assert_eq!(sum(&after, "offered") - sum(&before, "offered"), 100);
}

/// At a tenth of real time a bit takes ten times as long, so a ping does at least.
#[test]
fn a_bus_slower_than_life_carries_a_ping_ten_times_slower() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let (_turn, lab) = (Turn::shared(), Lab::up(&["--stations", "2", "--time-scale", "0.1"]));
    let address = lab.ipv4("st2");
    lab.ping("st1", &address);
    let pings = run(lab.exec("st1", &["ping", "-c", "5", "-i", "0.2", &address])).succeeded();
    let times = pings.stdout.lines().filter_map(|line| line.split_once("time=")?.1.split_once(' ')?.0.parse().ok());
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    note(&format!("ping at a tenth of real time: {times:?} ms"));
    // Two frames of 102 octets: 2 × (64 + 816) BT at a million bits a second.
    assert!(times[2] > 1.76 && times.len() == 5, "{times:?}");
    assert_eq!(lab.stats()["emulator"]["time_scale"], 0.1);
    assert_eq!(lab.stats()["config"]["rate_bits_per_second"], 10_000_000);
}

#[test]
fn a_gigabit_bus_needs_a_time_scale() {
    for (arguments, words) in [
        (vec!["up", "--rate", "1G"], vec!["rate", "100Mbit/s", "--time-scale", "ethbus sim"]),
        (vec!["--rate", "1G", "--duration", "1s"], vec!["rate", "--time-scale"]),
        (vec!["up", "--time-scale", "0"], vec!["time_scale", "0.000001 to 1"]),
        (vec!["up", "--time-scale", "2"], vec!["time_scale", "2"]),
    ] {
        run(ethbus(arguments)).failed_with(2, &words);
    }
    let file = scenario("[emulator]\non_overload = 'panic'\n");
    run(program(common::ETHBUS, ["up", file.path().to_str().expect("plain")]))
        .failed_with(2, &["line 2", "panic", "slip", "drop"]);
}
