//! A program in a station learns that the medium gave its frame up (802.3, 4.3.2: excessiveCollisionError).

use crate::common::lab::{INTERFACE, Lab};
use crate::common::process::{Running, run};
use crate::common::results::{number, station};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use serde_json::Value;

/// Every collision is followed by no more than one slot of backoff, so that five saturated stations collide for good.
fn crowd() -> String {
    let saturated = "[[station]]\narrivals = 'saturated'\n".repeat(5);
    format!("[medium]\nrate = '1Mbit/s'\nbackoff_limit = 1\n[[station]]\n{saturated}")
}

/// Sends a frame, and waits on the stream for its discard: the frame is known by its octets.
const SENDER: &str = r#"
import json, os, select, socket, sys
events = socket.socket(socket.AF_UNIX)
events.connect(os.environ["ETHBUS_DISCARDS"])
lines = events.makefile()
print(next(lines), end="")
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
port.bind((sys.argv[1], 0))
number = 0
for _ in range(200):
    number += 1
    frame = b"\xff" * 6 + b"\x02\0\0\0\0\x01" + b"\x88\xb5" + b"frame %d of the sender" % number
    port.send(frame)
    if not select.select([events], [], [], 0.5)[0]:
        continue  # This one got through.
    line = next(lines)
    told = json.loads(line)
    if bytes.fromhex(told["octets"]) == frame and told["kind"] == "discarded":
        print(line, end="")
        sys.exit(0)
sys.exit("no discard")
"#;

fn scenario(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lab.toml");
    std::fs::write(&path, text).expect("own folder");
    let path = path.to_str().expect("plain").to_owned();
    (folder, path)
}

#[test]
fn a_sender_learns_of_sixteen_collisions() {
    if skipped(&["python3"]) {
        return;
    }
    let _turn = Turn::shared();
    let (_folder, path) = scenario(&crowd());
    let mut lab = Lab::up(&[&path]);
    let told = run(lab.exec("st1", &["python3", "-c", SENDER, INTERFACE])).succeeded().stdout;
    let lines: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [greeting, discard] = &lines[..] else { panic!("{told}") };
    assert_eq!(greeting["format"], "ethbus discards");
    assert_eq!(greeting["station"], "st1");
    assert_eq!(discard["station"], "st1");
    assert_eq!(discard["cause"], "excessive_collisions", "{discard}");
    assert_eq!((number(discard, "attempts"), number(discard, "missed")), (16, 0), "{discard}");
    // The counter of the same station, and the line of the event log.
    let counters = run(lab.ethbus("stats", &["--station", "st1"])).succeeded().stdout;
    let counted = counters.lines().find_map(|line| line.trim().strip_prefix("excessive_collisions: "));
    assert!(counted.expect("a counter").parse::<u64>().expect("a number") >= 1, "{counters}");
    let one = run(lab.ethbus("stats", &["--station", "st1", "--format", "json"])).json();
    assert!(number(&one, "excessive_collisions") >= 1, "{one}");
    run(lab.ethbus("stats", &["--station", "st9"])).failed_with(1, &["st9", "st1", "st6"]);
    lab.down();
}

/// A stream has the frames of its own station and no others, and ends with the lab.
#[test]
fn a_stream_has_its_own_stations_frames() {
    if skipped(&["python3"]) {
        return;
    }
    let _turn = Turn::shared();
    let (_folder, path) = scenario(&crowd());
    let mut lab = Lab::up(&[&path]);
    let reader = "import os, socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(os.environ['ETHBUS_DISCARDS'])\n\
                  f = s.makefile()\nnext(f)\nprint('listens', file=sys.stderr, flush=True)\n\
                  for line in f: print(line, end='', flush=True)\n";
    let mut reading = Running::start(lab.exec("st2", &["python3", "-c", reader]), "");
    reading.wait_for_stderr("listens");
    wait_until(PATIENCE, "discards of st2", || number(station(&lab.stats(), "st2"), "excessive_collisions") > 3);
    lab.down();
    let told = reading.wait();
    let lines: Vec<Value> = told.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().all(|line| line["station"] == "st2"), "of no other station");
    assert!(lines.iter().filter(|line| line["kind"] == "discarded").count() > 3, "{}", lines.len());
}
