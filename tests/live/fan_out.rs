//! A frame goes to every other station, by each way of copying (issue 5, item 1).

use crate::common::lab::{INTERFACE, Lab};
use crate::common::process::{Running, ethbus, program, run};
use crate::common::results::{check, emulator, grown, sum};
use crate::common::user::{PublicCopy, users_may_have_labs};
use crate::common::{Turn, skip, skipped};
use link::station::{EXPERIMENTAL_ETHERTYPE, StationSocket};
use link::sysctl::silence_ipv6_everywhere;
use serde_json::Value;
use std::time::Duration;

const STATIONS: usize = 24;

/// Twenty-four stations at the same distance from each other.
const STAR: &str = "stations = 24\n";

/// A scenario file with this layout, and this line about the emulator.
fn scenario(layout: &str, emulator: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), format!("{layout}\n[emulator]\n{emulator}\n")).expect("own file");
    file
}

/// Three groups of eight stations: each hears another group later than its own.
fn heaps() -> String {
    let station = |number: usize| format!("[[station]]\nposition = '{} m'\n", 100 * (number / 8));
    "[medium]\ntopology = 'bus:200m'\n".to_owned() + &(0..STATIONS).map(station).collect::<String>()
}

/// A silent lab, and an ear in each station; `None` if the kernel refuses to copy frames here.
fn lab(layout: &str, way: &str) -> Option<(Lab, Vec<StationSocket>)> {
    let file = scenario(layout, &format!("fan_out = '{way}'"));
    let path = file.path().to_str().expect("plain");
    if way == "kernel" && !kernel_copies() {
        return None;
    }
    let lab = Lab::up(&[path]);
    assert!(lab.greeting().contains(if way == "kernel" { "fan-out in the kernel" } else { "fan-out as a batch" }));
    let namespaces: Vec<_> = (1..=STATIONS).map(|number| lab.namespace(&format!("st{number}"))).collect();
    for namespace in &namespaces {
        namespace.run(silence_ipv6_everywhere).expect("a thread in there").expect("root");
    }
    // Frames that the stations' kernels sent before that.
    let mut offered = None;
    crate::common::wait_until(crate::common::PATIENCE, "silence", || {
        std::thread::sleep(Duration::from_millis(100));
        let now = Some(sum(&lab.settled_stats(), "offered"));
        std::mem::replace(&mut offered, now) == now
    });
    let ear = |namespace| StationSocket::open_promiscuous(namespace, INTERFACE).expect("eth0 is there");
    let ears = namespaces.iter().map(ear).collect();
    Some((lab, ears))
}

/// Whether this machine allows a hub; prints the reason if not.
fn kernel_copies() -> bool {
    let bus = link::namespace::Namespace::anonymous().expect("root");
    let made = link::fanout::make_hub(&bus, "hub", &[1]);
    made.map_err(|error| skip(&error.to_string())).is_ok()
}

/// The frames that wait in an ear.
fn heard(ear: &mut StationSocket) -> Vec<Vec<u8>> {
    let mut buffer = [0; 2048];
    let mut frames = Vec::new();
    while let Some(frame) = ear.receive(Some(Duration::ZERO), &mut buffer).expect("the station is there") {
        frames.push(buffer[..frame.octets].to_vec());
    }
    frames
}

/// The number of frames that have reached an ear, read or not.
fn count(ear: &mut StationSocket) -> u64 {
    let statistics = ear.statistics().expect("an open socket");
    statistics.received + statistics.dropped
}

/// A frame that gets no answer: to all stations, or to an address without a station.
fn frame(source: usize, to_all: bool, octets: usize, tag: Option<u16>) -> Vec<u8> {
    let mut frame = if to_all { vec![0xff; 6] } else { vec![2, 0, 0, 0, 0, 99] };
    frame.extend([2, 0, 0, 0, 1, source as u8]);
    frame.extend(tag.into_iter().flat_map(|protocol| [protocol.to_be_bytes(), [0x60, 0x07]].concat()));
    frame.extend(EXPERIMENTAL_ETHERTYPE.to_be_bytes());
    let begin = frame.len();
    frame.resize(octets.max(begin), 0);
    (begin..frame.len()).for_each(|place| frame[place] = (place * 7 + source) as u8);
    frame
}

/// Every kind of frame from three stations: the others hear each as it was sent, padded to 60 octets (802.3, 4.2.3.3).
#[track_caller]
fn everybody_else_hears_every_frame_once(layout: &str, way: &str) {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let Some((lab, mut ears)) = lab(layout, way) else { return };
    let before = lab.stats();
    let mut expected = vec![Vec::new(); STATIONS];
    let (mut sent, mut long) = (0, 0);
    for source in [0, 11, STATIONS - 1] {
        for octets in [
            frame(source, true, 60, None),
            frame(source, false, 60, None),
            frame(source, true, 20, None),
            frame(source, false, 1514, None),
            frame(source, true, 64, Some(0x8100)),
            frame(source, true, 64, Some(0x88a8)),
            frame(source, false, 1518, Some(0x8100)),
        ] {
            ears[source].send(&octets).expect("the port is up");
            let mut delivered = octets.clone();
            delivered.resize(octets.len().max(60), 0);
            let others = expected.iter_mut().enumerate().filter(|(number, _)| *number != source);
            others.for_each(|(_, frames)| frames.push(delivered.clone()));
            (sent, long) = (sent + 1, long + u64::from(octets.len() > 1514));
        }
    }
    let after = settled(&lab, &before, sent);
    for (number, (ear, mut expected)) in ears.iter_mut().zip(expected).enumerate() {
        let mut heard = heard(ear);
        heard.sort();
        expected.sort();
        assert!(heard == expected, "st{} heard {} frames of {}", number + 1, heard.len(), expected.len());
    }
    check(&after);
    let grown = |key: &str| emulator(&after, key) - emulator(&before, key);
    let others = STATIONS as u64 - 1;
    assert_eq!(grown("deliveries"), sent * others);
    assert_eq!(grown("kernel_copies"), if way == "kernel" { (sent - long) * others } else { 0 });
    for key in ["ring_drops", "deliveries_to_absent", "delivery_failures", "fan_out_failures", "overload_drops"] {
        assert_eq!(emulator(&after, key), 0, "{key}");
    }
    assert_eq!(after["emulator"]["fan_out"], way);
}

/// Results once `frames` more frames were offered and every queue is empty.
fn settled(lab: &Lab, before: &Value, frames: u64) -> Value {
    let mut stats = lab.stats();
    crate::common::wait_until(crate::common::PATIENCE, "every frame on the medium and delivered", || {
        stats = lab.settled_stats();
        sum(&stats, "offered") - sum(before, "offered") == frames
    });
    // A copy that was handed over reaches its station a little later.
    std::thread::sleep(Duration::from_millis(20));
    lab.stats()
}

#[test]
fn everybody_else_hears_every_frame_once_by_the_kernels_copies() {
    everybody_else_hears_every_frame_once(STAR, "kernel");
}

#[test]
fn everybody_else_hears_every_frame_once_by_a_batch() {
    everybody_else_hears_every_frame_once(STAR, "batch");
}

/// Each group has its own delivery time, so the kernel copies for a part of the stations at a time.
#[test]
fn everybody_else_hears_every_frame_once_at_different_distances() {
    everybody_else_hears_every_frame_once(&heaps(), "kernel");
}

/// Two stations send while a third is detached and attached again, and the interface of a fourth is deleted.
#[track_caller]
fn a_detached_station_hears_nothing_and_the_others_everything(way: &str) {
    const FRAMES: u64 = 1_000;
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let Some((lab, mut ears)) = lab(STAR, way) else { return };
    let before = lab.stats();
    let send = |from: &str| {
        let arguments =
            ["--from", from, "--to", "broadcast", "--rate", "500/s", "--count", "1000", "--frame-size", "64"];
        Running::start(lab.ethbus("send", &arguments), "")
    };
    let senders = [send("st1"), send("st2")];
    std::thread::sleep(Duration::from_millis(600));
    let off = run(lab.ethbus("detach", &["st5"])).succeeded();
    let heard_before = count(&mut ears[4]);
    std::thread::sleep(Duration::from_millis(300));
    let heard_meanwhile = count(&mut ears[4]) - heard_before;
    run(program("ip", ["-n", &lab.namespace_name("st9"), "link", "del", INTERFACE])).succeeded();
    run(lab.ethbus("attach", &["st5"])).succeeded();
    senders.into_iter().for_each(|sender| _ = sender.wait().succeeded());
    let after = settled(&lab, &before, 2 * FRAMES);
    check(&after);
    assert_eq!(heard_meanwhile, 0, "{off:#?}");
    let counts: Vec<u64> = ears.iter_mut().map(count).collect();
    for (number, count) in counts.iter().enumerate() {
        match number {
            0 | 1 => assert_eq!(*count, FRAMES, "st{}", number + 1),
            4 | 8 => assert!((1..2 * FRAMES).contains(count), "st{}: {count}", number + 1),
            _ => assert_eq!(*count, 2 * FRAMES, "st{}", number + 1),
        }
    }
    // A copy that was scheduled just before the detachment and not sent yet is no longer sent. One whose last bit was
    // on its way as the station came back may be sent, and is not counted.
    let received = grown(&before, &after, "st5", "frames_received_ok");
    assert!((counts[4] - 1..=counts[4] + 2).contains(&received), "{received} and {}", counts[4]);
    // Copies that the kernel had taken for the deleted interface may have been lost with it; no others may.
    let deliveries = emulator(&after, "deliveries") - emulator(&before, "deliveries");
    let lost = deliveries - counts.iter().sum::<u64>();
    assert!(lost <= 2, "{lost} of {deliveries} deliveries got nowhere");
    assert_eq!((emulator(&after, "ports_lost"), emulator(&after, "fan_out_failures")), (1, 0));
    assert_eq!(after["stations"][8]["attached"], false);
}

#[test]
fn a_detached_station_hears_nothing_by_the_kernels_copies() {
    a_detached_station_hears_nothing_and_the_others_everything("kernel");
}

#[test]
fn a_detached_station_hears_nothing_by_a_batch() {
    a_detached_station_hears_nothing_and_the_others_everything("batch");
}

/// With few stations no hub is made; with many the kernel copies where it may.
#[test]
fn the_way_is_chosen_by_how_many_stations_there_are() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let ways = |stations: &str| {
        let arguments = ["--stations", stations, "--duration", "200ms", "--traffic", "poisson:0.1", "--format", "json"];
        run(ethbus(arguments)).succeeded().json()["emulator"]["fan_out"].clone()
    };
    assert_eq!(ways("16"), "batch");
    assert_eq!(ways("17"), if kernel_copies() { "kernel" } else { "batch" });
}

/// More stations than one hub has ports: two processors make the copies at the same time, and each copy is counted
/// once.
#[test]
fn every_copy_for_many_stations_is_counted_once_whoever_made_it() {
    const MANY: u64 = 130;
    const FRAMES: u64 = 1_000;
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    if !kernel_copies() {
        return;
    }
    let lab = Lab::up(&["--stations", "130"]);
    for number in 1..=MANY {
        let station = lab.namespace(&format!("st{number}"));
        station.run(silence_ipv6_everywhere).expect("a thread in there").expect("root");
    }
    std::thread::sleep(Duration::from_millis(500));
    let before = lab.settled_stats();
    let arguments = ["--from", "st7", "--to", "broadcast", "--rate", "4000/s", "--count", "1000", "--frame-size", "64"];
    run(lab.ethbus("send", &arguments)).succeeded();
    let after = settled(&lab, &before, FRAMES);
    check(&after);
    let grown = |key: &str| emulator(&after, key) - emulator(&before, key);
    // After a slip many frames come at once: frames that find the queue full are dropped, and counted.
    let [carried, dropped] = ["frames_transmitted_ok", "queue_drops"].map(|key| sum(&after, key) - sum(&before, key));
    assert!(carried + dropped == FRAMES && carried > FRAMES / 2, "{carried} carried, {dropped} dropped");
    assert_eq!((grown("deliveries"), grown("kernel_copies")), (carried * (MANY - 1), carried * (MANY - 1)));
    let helped = grown("helped_copies");
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(helped <= grown("kernel_copies") && (helped > 0 || processors == 1), "{helped} copies");
    let arrived = |results: &Value| {
        let links = results["emulator"]["links"].as_array().expect("one for each station");
        links.iter().map(|link| link["to_station"].as_u64().expect("a count")).sum::<u64>()
    };
    assert_eq!(arrived(&after) - arrived(&before), carried * (MANY - 1));
    for key in ["deliveries_to_absent", "delivery_failures", "fan_out_failures", "overload_drops"] {
        assert_eq!(grown(key), 0, "{key}");
    }
}

/// If the hub is removed, frames go one by one, and that is counted.
#[test]
fn without_its_hub_a_bus_goes_on_by_batches() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let Some((lab, mut ears)) = lab(STAR, "kernel") else { return };
    run(program("ip", ["-n", &lab.namespace_name("bus"), "link", "del", "bus"])).succeeded();
    let before = lab.stats();
    ears[0].send(&frame(0, true, 60, None)).expect("the port is up");
    let after = settled(&lab, &before, 1);
    assert!(ears.iter_mut().skip(1).all(|ear| count(ear) == 1));
    assert_eq!(emulator(&after, "deliveries") - emulator(&before, "deliveries"), 23);
    assert_eq!(emulator(&after, "fan_out_failures"), 1);
}

/// The root of a user namespace may load no program: then frames go one by one, and the reason is printed.
#[test]
fn a_kernel_that_refuses_is_told_of() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let (_turn, copy) = (Turn::shared(), PublicCopy::new());
    let arguments = ["-Ur", &copy.path(), "--stations", "17", "--duration", "200ms", "--traffic", "poisson:0.1"];
    let refused = run(program("unshare", arguments)).succeeded();
    assert!(refused.stderr.contains("fan-out as a batch (the kernel lets only root"), "{refused:#?}");
    assert!(refused.stdout.contains("fan-out: batch"), "{refused:#?}");
    // A lab keeps its record in /run, so this root needs a /run of its own.
    let file = scenario("", "fan_out = 'kernel'");
    let script = format!("mount -t tmpfs none /run && {} up {}", copy.path(), file.path().display());
    let words = ["`fan_out = \"kernel\"`", "\"auto\" or \"batch\"", "BPF"];
    run(program("unshare", ["-Urnm", "sh", "-c", &script])).failed_with(1, &words);
}

#[test]
fn an_unknown_way_is_an_error_that_names_those_there_are() {
    let words = ["fan_out", "kernel", "auto", "batch", ":3:"];
    let file = scenario("", "fan_out = 'kernle'");
    run(program(crate::common::ETHBUS, ["up", file.path().to_str().expect("plain")])).failed_with(2, &words);
}
