//! A machine that does not keep up, and a bus that is slow on purpose (issue 5, item 2).

use crate::common::lab::{Lab, Unused};
use crate::common::process::{Running, data_plane, ethbus, program, run, signal};
use crate::common::results::{check, emulator, number, sum};
use crate::common::{Turn, note, skipped};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// A scenario file with these lines.
fn scenario(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("own file");
    file
}

/// The events of this kind in the emulator's layer of the event log.
fn happened(path: &str, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let lines = text.lines().filter(|line| line.contains("\"layer\":\"emulator\""));
    let events = lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    events.filter(|event| event["kind"] == kind).collect()
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

/// 80 stations that saturate 100 Mb/s need more copies than any machine's processors are taken to make.
#[test]
fn a_bus_that_needs_too_many_copies_is_warned_of_before_it_runs() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::alone();
    for (stations, rate, is_warned_of) in [(80, "100Mbit/s", true), (10, "10Mbit/s", false)] {
        let text = format!("stations = {stations}\n[medium]\nrate = '{rate}'\n[traffic]\narrivals = 'saturated'\n");
        let (lab, file) = (Unused::name(), scenario(&text));
        let path = file.path().to_str().expect("plain");
        let told = run(ethbus(["up", "--name", &lab.0, "--duration", "100ms", path])).succeeded().stderr;
        assert_eq!(told.contains("frames a second to 79 stations each are"), is_warned_of, "{told}");
        assert_eq!(told.contains("filter = \"address\""), is_warned_of, "{told}");
    }
}

/// The medium's time stops while the data plane is stopped; then everything continues at the same place, and nothing is
/// lost.
#[test]
fn a_data_plane_that_was_stopped_for_a_second_slips_and_loses_nothing() {
    if skipped(&["ip"]) {
        return;
    }
    let events = tempfile::NamedTempFile::new().expect("a file");
    let path = events.path().to_str().expect("plain");
    let (_turn, mut lab) = (Turn::alone(), Lab::up(&["--stations", "2", "--events", path]));
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
    // The log has each slip, and together they are what `stats` counted; a few may have come before or since.
    let slips: Vec<u64> = happened(path, "slip").iter().map(|event| number(event, "ns")).collect();
    assert!(slips.len() as u64 >= emulator(&after, "slips"), "{slips:?}");
    assert!(slips.iter().sum::<u64>() >= emulator(&after, "slip_ns") && slips.iter().max() > Some(&500_000_000));
    // The stopped process was not ready to run, so no other program had its processor.
    assert!(emulator(&after, "cpu_wait_ns") - emulator(&before, "cpu_wait_ns") < slipped);
}

/// With `drop`, a copy that would come too late is not sent, and is counted.
#[test]
fn a_lab_that_drops_on_overload_counts_what_it_drops() {
    if skipped(&["ip"]) {
        return;
    }
    let file = scenario("stations = 2\n[emulator]\non_overload = 'drop'\n");
    let events = tempfile::NamedTempFile::new().expect("a file");
    let path = events.path().to_str().expect("plain");
    let (_turn, mut lab) = (Turn::alone(), Lab::up(&[file.path().to_str().expect("plain"), "--events", path]));
    lab.silence(2);
    let before = lab.stats();
    stop_for_a_second(&mut lab);
    let after = lab.settled_stats();
    check(&after);
    let dropped = emulator(&after, "overload_drops") - emulator(&before, "overload_drops");
    let copies = emulator(&after, "deliveries") - emulator(&before, "deliveries");
    // Some fifty frames come in the second; those of its last millisecond and those outside it are on time.
    assert!(dropped >= 25, "{dropped}");
    assert_eq!(dropped + copies, 100, "each frame goes to one other station, or is counted");
    assert_eq!(emulator(&after, "slips"), 0);
    lab.down();
    let drops = happened(path, "overload_drop");
    assert!(drops.iter().map(|event| number(event, "copies")).sum::<u64>() >= dropped, "{drops:?}");
    assert!(drops.iter().all(|event| number(event, "ns") > 1_000_000), "{drops:?}");
    let frame = drops[0]["frame"].as_str().expect("a name");
    let told = run(ethbus(["explain", path, "--frame", frame])).unwrapped();
    assert!(told.contains("The emulator, not the medium: 1 copies were dropped"), "{told}");
    assert_eq!(sum(&after, "offered") - sum(&before, "offered"), 100);
}

/// Setting the clock moves no frame: stamps are mapped anew, and mappings from in between are discarded.
///
/// No namespace has a CLOCK_REALTIME of its own, so this sets the machine's, by a second or `STEP_CLOCK_MS`, and back.
/// It runs only on request.
#[test]
#[ignore = "sets the machine's clock"]
fn a_clock_that_is_set_does_no_harm() {
    if skipped(&["ip", "date"]) {
        return;
    }
    let events = tempfile::NamedTempFile::new().expect("a file");
    let path = events.path().to_str().expect("plain");
    let (_turn, mut lab) = (Turn::alone(), Lab::up(&["--stations", "2", "--events", path]));
    lab.silence(2);
    let before = lab.stats();
    let arguments = ["--from", "st1", "--to", "st2", "--rate", "200/s", "--count", "400", "--frame-size", "64"];
    let sender = Running::start(lab.ethbus("send", &arguments), "");
    let ms: i64 = std::env::var("STEP_CLOCK_MS").map_or(1_000, |ms| ms.parse().expect("milliseconds"));
    for step in [-ms, ms] {
        std::thread::sleep(Duration::from_millis(500));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_millis() as i64;
        let then = now + step;
        run(program("date", ["-s".to_owned(), format!("@{}.{:03}", then / 1_000, then % 1_000)])).succeeded();
    }
    sender.wait().succeeded();
    let after = lab.settled_stats();
    check(&after);
    assert_eq!(sum(&after, "offered") - sum(&before, "offered"), 400);
    assert_eq!(sum(&after, "delivered") - sum(&before, "delivered"), 400);
    let steps = emulator(&after, "clock_steps") - emulator(&before, "clock_steps");
    let doubted = emulator(&after, "future_stamps") + emulator(&after, "stale_stamps");
    note(&format!("{steps} steps, {doubted} stamps not believed"));
    assert_eq!(steps, 2, "{after}");
    // No frame was taken for one that is a second late.
    assert!(emulator(&after, "late_arrival_max_ns") < 900_000_000, "{after}");
    note(&format!("the latest arrival by {} ns", emulator(&after, "late_arrival_max_ns")));
    lab.down();
    let steps: Vec<i64> =
        happened(path, "clock_step").iter().map(|event| event["ns"].as_i64().expect("whole")).collect();
    note(&format!("the clock moved by {steps:?} ns"));
    // `date` takes a while to start, and sets the clock back by less in consequence.
    assert!(steps[0] < -ms * 900_000 && steps[1] > ms * 900_000 - 100_000_000, "{steps:?}");
}

/// At a tenth of real time a bit takes ten times as long, and a ping at least as much.
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
        (vec!["up", "--time-scale", "0"], vec!["--time-scale: `0`", "0.000001 to 1"]),
        (vec!["up", "--time-scale", "2"], vec!["--time-scale: `2`", "0.000001 to 1"]),
    ] {
        run(ethbus(arguments)).failed_with(2, &words);
    }
    let file = scenario("[emulator]\non_overload = 'panic'\n");
    run(program(crate::common::ETHBUS, ["up", file.path().to_str().expect("plain")]))
        .failed_with(2, &[":2:15: on_overload:", "panic", "slip", "drop"]);
}
