//! Captures in other people's readers: libpcap (tcpdump), Wireshark's library (tshark) and Scapy find the same packets in
//! each capture, and those of the event log.

use crate::common::files::{folder, logged, path};
use crate::common::is_installed;
use crate::common::lab::Lab;
use crate::common::process::{ethbus, program, run};
use crate::common::{Turn, skip, skipped};
use serde_json::Value;
use std::fs;

/// A packet as a reader has it: nanoseconds, and its length.
type Packet = (u64, u64);

const SCAPY: &str = "
import sys
from scapy.utils import RawPcapNgReader, RawPcapReader
for octets, told in RawPcapReader(sys.argv[1]):
    if hasattr(told, 'sec'):
        nanos = told.sec * 1_000_000_000 + told.usec
    else:
        nanos = ((told.tshigh << 32 | told.tslow) * 1_000_000_000) // int(told.tsresol)
    print(f'{nanos // 1_000_000_000}.{nanos % 1_000_000_000:09} {len(octets)}')
";

/// What a reader prints: a packet each line that begins with its time.
fn read(reader: &str, file: &str) -> Vec<Packet> {
    let (command, arguments) = match reader {
        "tcpdump" => (reader, vec!["-nn", "-e", "-tt", "--nano", "-r", file]),
        "tshark" => (reader, vec!["-r", file, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len"]),
        "scapy" => ("/usr/bin/python3", vec!["-c", SCAPY, file]),
        other => panic!("{other}"),
    };
    let told = run(program(command, arguments)).succeeded().stdout;
    let packets = told.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let packet = |line: &str| {
        let (stamp, rest) = line.split_once([' ', '\t']).expect("a time");
        let (seconds, nanos) = stamp.split_once('.').expect("a fraction");
        let length = rest.split_once("length ").map_or(rest, |(_, after)| after);
        let digits = length.split(|other: char| !other.is_ascii_digit()).next().expect("a length");
        let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{reader}: {line}"));
        (number(seconds) * 1_000_000_000 + number(nanos), number(digits))
    };
    packets.map(packet).collect()
}

/// Frames that are transmitted, as the log has them, with `more` octets than from destination address to FCS.
fn transmitted(log: &str, nanos: u64, more: i64) -> Vec<Packet> {
    let mut begins = std::collections::BTreeMap::new();
    let mut packets = Vec::new();
    for event in logged(log, &["attempt", "transmitted"]) {
        let (frame, t) = (event["frame"].to_string(), event["t"].as_u64().expect("an instant"));
        match event["size"].as_i64() {
            None => _ = begins.insert(frame, t),
            Some(size) => packets.push((begins[&frame] * nanos, (size + more) as u64)),
        }
    }
    packets.sort_unstable();
    packets
}

/// Of a capture that is not plain, tcpdump reads nothing: libpcap knows one link type a file.
#[test]
fn three_readers_find_the_frames_of_the_log_in_each_capture() {
    if skipped(&["tcpdump", "tshark"]) {
        return;
    }
    if !is_installed("scapy3") {
        return skip("needs scapy3");
    }
    let folder = folder();
    let log = path(&folder, "run.events");
    let file = |name: &str| path(&folder, name);
    let options = ["--topology", "bus:500m", "--duration", "50ms", "--warmup", "0s", "--frame-size", "64:3,300:1"];
    let sim = |more: &[&str]| run(ethbus([&["sim"], &options[..], more].concat())).succeeded();
    sim(&["--events", &log, "--pcapng", &file("whole.pcapng")]);
    run(ethbus(["convert", &log, "--to", "pcapng", "--plain", "--out", &file("plain.pcapng")])).succeeded();
    let told = sim(&["--pcapng", &file("classic.pcap")]).stderr;
    assert!(told.contains("collisions are left out"), "{told}");
    for (to, more) in [("converted.pcapng", &["--plain"][..]), ("converted.pcap", &[])] {
        run(ethbus([&["convert", &log, "--to", "pcapng", "-o", &file(to)], more].concat())).succeeded();
    }
    let text = fs::read_to_string(&log).expect("a log");
    let (with_fcs, without) = (transmitted(&text, 100, 0), transmitted(&text, 100, -4));
    assert!(with_fcs.len() > 50, "frames worth reading");
    for (name, expected) in [
        ("plain.pcapng", &with_fcs),
        ("converted.pcapng", &with_fcs),
        ("classic.pcap", &without),
        ("converted.pcap", &without),
    ] {
        for reader in ["tcpdump", "tshark", "scapy"] {
            assert!(&read(reader, &file(name)) == expected, "{reader} of {name}");
        }
    }
    let whole = read("tshark", &file("whole.pcapng"));
    assert_eq!(whole, read("scapy", &file("whole.pcapng")));
    assert!(whole.len() > with_fcs.len(), "collisions are in it");
    // Parts of a classic capture are classic captures.
    sim(&["--pcapng", &file("part.pcap"), "--pcapng-rotate", "25ms"]);
    let parts = ["part-00001.pcap", "part-00002.pcap"].map(|name| read("tcpdump", &file(name)));
    assert_eq!(parts.concat(), without);
    // ethbus itself reads each of them, too: `replay:FILE` offers as many frames.
    for name in ["whole.pcapng", "plain.pcapng", "classic.pcap"] {
        let traffic = format!("replay:{}", file(name));
        let command = ["sim", "--stations", "1", "--traffic", &traffic, "--duration", "60ms", "--warmup", "0s"];
        let told = run(ethbus([&command[..], &["--format", "json"]].concat())).succeeded();
        let results: Value = serde_json::from_str(&told.stdout).expect("JSON");
        assert_eq!(results["stations"][0]["offered"], with_fcs.len(), "{name}: {}", told.stderr);
        assert_eq!(told.stderr.contains("of link type 252"), name == "whole.pcapng", "{}", told.stderr);
    }
}

/// A capture of a lab that is up, in both plain forms; a lab without stations has one, too.
#[test]
fn tcpdump_reads_captures_of_a_lab() {
    if skipped(&["ip", "ping", "tcpdump", "tshark"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = folder();
    let [plain, classic, empty] = ["plain.pcapng", "classic.pcap", "empty.pcapng"].map(|name| path(&folder, name));
    let lab = Lab::up(&["--stations", "2"]);
    let captures = [
        ethbus(["capture", &lab.name, "--plain", "-t", "3s", "-o", &plain]),
        ethbus(["capture", &lab.name, "-t", "3s", "-o", &classic]),
    ];
    let captures = captures.map(|command| crate::common::process::Running::start(command, ""));
    run(lab.exec("st1", &["ping", "-c", "8", "-i", "0.3", "-q", &lab.ipv4("st2")])).succeeded();
    for capture in captures {
        let ended = capture.wait();
        assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    }
    let lengths =
        |reader: &str, file: &str| read(reader, file).into_iter().map(|(_, length)| length).collect::<Vec<_>>();
    for (file, octets) in [(&plain, 102), (&classic, 98)] {
        let told = lengths("tcpdump", file);
        assert!(told.iter().filter(|length| **length == octets).count() >= 10, "{told:?}");
        assert_eq!(told, lengths("tshark", file));
    }
    drop(lab);
    let lab = Lab::up(&["--stations", "0", "--capacity", "2"]);
    run(ethbus(["capture", &lab.name, "--plain", "-t", "200ms", "-o", &empty])).succeeded();
    assert!(read("tcpdump", &empty).is_empty() && read("tshark", &empty).is_empty());
    run(ethbus(["capture", &lab.name, "--plain", "--filter", "rows"])).failed_with(2, &["neither collisions nor rows"]);
}
