//! The dissector and the profile for Wireshark: installed as docs/seeing.md says, they show what the event log says, under
//! every access method.

use crate::common::files::{folder, logged, path};
use crate::common::process::{ethbus, program, run};
use crate::common::skipped;
use crate::seeing::{packets, rows};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use tempfile::TempDir;

const ACCESS: [&str; 7] = ["csma-cd", "csma", "csma-ca", "aloha", "slotted-aloha", "tdma", "plca"];

/// The user who reads captures: for root, tshark 4.4 loads no dissector of a home.
const READER: u32 = 65534;

/// The home of that user, with dissector and profile.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        let folder = folder();
        let [profile, plugins] =
            [".config/wireshark/profiles/ethbus", ".local/lib/wireshark/plugins"].map(|name| path(&folder, name));
        [&profile, &plugins].into_iter().for_each(|folder| fs::create_dir_all(folder).expect("own folder"));
        for file in ["preferences", "colorfilters", "dfilter_buttons", "io_graphs", "recent"] {
            fs::copy(format!("examples/wireshark/{file}"), format!("{profile}/{file}")).expect("own folder");
        }
        fs::copy("examples/wireshark/ethbus.lua", format!("{plugins}/ethbus.lua")).expect("own folder");
        let owner = format!("{READER}:{READER}");
        run(program("chown", ["--recursive", &owner, folder.path().to_str().expect("plain")])).succeeded();
        Home(folder)
    }

    /// What tshark prints of a capture, without a word of complaint.
    fn tshark(&self, capture: &str, options: &[&str]) -> String {
        let mut tshark = program("tshark", [&["-C", "ethbus", "-r", capture], options].concat());
        tshark.env("HOME", self.0.path()).env_remove("XDG_CONFIG_HOME").uid(READER).gid(READER);
        // The folder of the tests may be closed to that user.
        tshark.current_dir(self.0.path());
        let told = run(tshark).succeeded();
        assert_eq!(told.stderr, "", "complaints");
        told.stdout
    }

    /// How many packets each filter shows, in one pass.
    fn counts(&self, capture: &str, filters: &[String]) -> Vec<usize> {
        let statistics = format!("io,stat,0,{}", filters.join(","));
        let told = self.tshark(capture, &["-q", "-z", &statistics]);
        let line = told.lines().find(|line| line.contains("<>")).unwrap_or_else(|| panic!("no statistics: {told}"));
        let cells: Vec<&str> = line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        // The interval comes first, then frames and octets of each filter.
        let counts: Vec<usize> = cells[1..].iter().step_by(2).map(|cell| cell.parse().expect("a count")).collect();
        assert_eq!(counts.len(), filters.len(), "{told}");
        counts
    }
}

/// A run: its log and its capture, which every user can read.
fn simulated(folder: &TempDir, access: &str) -> (String, String) {
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("own folder");
    let [events, capture] = [format!("{access}.events"), format!("{access}.pcapng")].map(|name| path(folder, &name));
    // On a longer cable, PLCA's fragments are too short for a packet.
    let topology = if access == "plca" { "bus:25m" } else { "bus:500m" };
    let options = ["--duration", "30ms", "--warmup", "0s", "--topology", topology, "--traffic", "poisson:0.6"];
    let files = ["--stations", "4", "--frame-size", "64:3,300:1", "--events", &events, "--pcapng", &capture];
    run(ethbus([&["sim", "--access", access][..], &options, &files].concat())).succeeded();
    (fs::read_to_string(&events).expect("a log"), capture)
}

/// Lines of a file of the profile, its comments left out, in their fields.
fn entries(file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(format!("examples/wireshark/{file}")).expect("a file of the profile");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let fields = |line: &str| match line.strip_prefix('@') {
        Some(rule) => rule.split('@').map(str::to_owned).collect(),
        None => line.trim_matches('"').split("\",\"").map(|field| field.replace("\\x22", "\"")).collect(),
    };
    lines.map(fields).collect()
}

/// The filter that a rule, a button or a graph of the profile has, by its name.
fn filters() -> Vec<(String, String)> {
    let of = |file: &str, name: usize| {
        let own = move |fields: Vec<String>| (fields[name].clone(), fields[name + 1].clone());
        entries(file).into_iter().map(own).collect::<Vec<_>>()
    };
    let all = [of("colorfilters", 0), of("dfilter_buttons", 1), of("io_graphs", 1)].concat();
    all.into_iter().filter(|(_, filter)| !filter.is_empty()).collect()
}

/// How many packets of a capture a filter of the profile is to show, by the log alone.
fn expected(name: &str, log: &str) -> usize {
    let count = |kinds: &[&str]| logged(log, kinds).len();
    match name {
        "Collision" | "Collisions" => count(&["collision"]),
        "Given up" | "Lost" | "Frames given up" => count(&["discarded", "queue_drop"]),
        "The machine" | "Machine" | "Faults and cuts" => 0,
        "Destroyed by a collision" | "Destroyed" | "Transmissions destroyed by a collision" => met(log),
        "Destroyed otherwise" => transmissions(log)[1] + count(&["damaged", "too_long"]),
        "Backoff" => count(&["backoff"]),
        "PLCA and CSMA/CA" => count(&["beacon", "commit", "plca_status", "rts", "cts", "ack", "duplicate"]),
        "Transmitted" | "Frames" | "Frames transmitted" => count(&["transmitted"]),
        "Late" => logged(log, &["collision"]).into_iter().filter(|event| event["late"] == true).count(),
        name => panic!("{name}: the profile has a filter that this test does not know"),
    }
}

/// How many transmissions met another.
fn met(log: &str) -> usize {
    logged(log, &["collision"]).into_iter().filter(|event| event["episode"] != 0).count()
}

/// How many transmissions that are over were received, and how many were not.
fn transmissions(log: &str) -> [usize; 2] {
    if !logged(log, &["jam_end"]).is_empty() {
        return [logged(log, &["transmitted"]).len(), met(log)];
    }
    // Without collision detection an attempt is over when its sender knows what became of it.
    let (mut open, mut counts) = (BTreeMap::new(), [0, 0]);
    for event in logged(log, &["attempt", "delivered", "duplicate", "transmitted", "backoff", "discarded"]) {
        let frame = event["frame"].to_string();
        match event["kind"].as_str() {
            Some("attempt") => _ = open.insert(frame, false),
            Some("delivered" | "duplicate") => open.get_mut(&frame).into_iter().for_each(|received| *received = true),
            kind => {
                let received = open.remove(&frame).map(|received| received || kind == Some("transmitted"));
                received.into_iter().for_each(|received| counts[usize::from(!received)] += 1);
            }
        }
    }
    counts
}

/// A destroyed frame has a right FCS where its sender did not notice the collision, and is not to be shown as received.
#[test]
fn filters_of_the_profile_count_what_the_log_has() {
    if skipped(&["tshark"]) {
        return;
    }
    let (folder, home) = (folder(), Home::new());
    let (names, mut filters): (Vec<String>, Vec<String>) = filters().into_iter().unzip();
    filters.push("fpp.checksum.status == \"Good\" && frame.packet_flags_crc_error == 0".to_owned());
    for access in ACCESS {
        let (log, capture) = simulated(&folder, access);
        let mut counts = home.counts(&capture, &filters);
        let received = counts.pop().expect("one for each filter");
        for ((name, filter), count) in names.iter().zip(&filters).zip(counts) {
            assert_eq!(count, expected(name, &log), "{access}: {name}, {filter}");
        }
        assert_eq!(received, transmissions(&log)[0], "{access}: frames that are received");
        assert!(received > 20, "{access}: {received} frames");
    }
}

/// The first rule that holds colours a packet, so the order of the rules matters.
#[test]
fn each_packet_has_a_colour() {
    if skipped(&["tshark"]) {
        return;
    }
    let (folder, home) = (folder(), Home::new());
    let rules: Vec<String> = entries("colorfilters").into_iter().map(|fields| fields[0].clone()).collect();
    let mut seen = BTreeSet::new();
    for access in ["csma-cd", "csma-ca", "aloha", "plca"] {
        let (log, capture) = simulated(&folder, access);
        let told = home.tshark(&capture, &["--color", "-T", "fields", "-e", "frame.coloring_rule.name"]);
        let count = |rule: &str| told.lines().filter(|line| *line == rule).count();
        for rule in ["Collision", "Backoff", "Transmitted", "Given up"] {
            assert_eq!(count(rule), expected(rule, &log), "{access}: {rule}");
        }
        assert_eq!(count("Destroyed by a collision"), expected("Destroyed", &log), "{access}");
        assert_eq!(count(""), 0, "{access}: packets without a colour");
        seen.extend(told.lines().map(str::to_owned));
    }
    assert!(seen.iter().all(|rule| rules.contains(rule)) && seen.len() > 5, "{seen:?}");
}

/// Two columns as the list of packets has them. In Wireshark 4.4 the fields `_ws.col.*` are those before this dissector.
const COLUMNS: [&str; 4] = ["-o", r#"gui.column.format:"Info","%i","Protocol","%p""#, "-T", "tabs"];

/// Wireshark 4.0 has no text of its own in Info for the rows; the dissector has: as `explain` says it.
#[test]
fn columns_are_the_logs() {
    if skipped(&["tshark"]) {
        return;
    }
    const FIELDS: [&str; 6] =
        ["ethbus.kind", "ethbus.t", "ethbus.frame", "ethbus.attempt", "ethbus.backoff.slots", "ethbus.with"];
    let (folder, home) = (folder(), Home::new());
    let (log, capture) = simulated(&folder, "csma-cd");
    let options: Vec<&str> = FIELDS.iter().flat_map(|field| ["-e", field]).collect();
    let told = home.tshark(&capture, &[&["-T", "fields", "-Y", "ethbus.kind"][..], &options].concat());
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let shown = |row: &Value| {
        let cells =
            ["kind", "t", "frame", "attempt", "slots"].map(|column| row.get(column).map_or(String::new(), text));
        let with =
            row["with"].as_array().map_or(String::new(), |with| with.iter().map(text).collect::<Vec<_>>().join(","));
        format!("{}\t{with}", cells.join("\t"))
    };
    let packets = packets(&capture);
    let rows: Vec<Value> = rows(&packets).into_iter().map(|(_, row)| row).collect();
    assert_eq!(told.lines().collect::<Vec<_>>(), rows.iter().map(shown).collect::<Vec<_>>());

    // Delays in the medium's time: 100 ns a bit.
    let delays = ["-T", "fields", "-Y", "ethbus.access_delay", "-e", "ethbus.frame", "-e", "ethbus.attempt"];
    let told = home.tshark(&capture, &[&delays[..], &["-e", "ethbus.access_delay", "-e", "ethbus.mac_delay"]].concat());
    let transmitted = logged(&log, &["transmitted"]);
    let seconds = |event: &Value, column: &str| {
        let nanos = event[column].as_u64().expect("a delay") * 100;
        format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
    };
    let line = |event: &Value| {
        let [frame, attempts] = ["frame", "attempts"].map(|column| text(&event[column]));
        format!("{frame}\t{attempts}\t{}\t{}", seconds(event, "access_delay"), seconds(event, "mac_delay"))
    };
    let (mut told, mut expected): (Vec<String>, Vec<String>) =
        (told.lines().map(str::to_owned).collect(), transmitted.iter().map(line).collect());
    [&mut told, &mut expected].into_iter().for_each(|lines| lines.sort());
    assert_eq!(told, expected);

    let told = home.tshark(&capture, &COLUMNS);
    for row in &rows {
        let line = format!("{}\t{}", text(&row["says"]), text(&row["kind"]).to_uppercase());
        assert!(told.contains(&line), "{line}");
    }
    for words in [", attempt 1: access delay 0 ns, MAC delay 57600 ns\tFRAME\n", " BT, jam until ", "\tFRAGMENT\n"] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

/// Every column that a row has is a field of the dissector, so that a new one cannot be forgotten.
#[test]
fn each_column_of_a_row_has_a_field() {
    if skipped(&["tshark"]) {
        return;
    }
    let script = fs::read_to_string("examples/wireshark/ethbus.lua").expect("the dissector");
    let columns: BTreeSet<&str> = script
        .lines()
        .filter_map(|line| line.strip_prefix("    ")?.split_once(" = { \""))
        .map(|(column, _)| column)
        .collect();
    let folder = folder();
    let scenario = path(&folder, "lab.toml");
    fs::write(&scenario, "[[station]]\nname = \"st1\"\n[[station]]\nname = \"st2\"\nfault = \"bad_fcs\"\n")
        .expect("own folder");
    let faulty = path(&folder, "faulty.pcapng");
    run(ethbus(["sim", &scenario, "--duration", "20ms", "--warmup", "0s", "--pcapng", &faulty])).succeeded();
    let mut captures: Vec<String> = ACCESS.iter().map(|access| simulated(&folder, access).1).collect();
    captures.push(faulty);
    for capture in captures {
        for (_, row) in rows(&packets(&capture)) {
            let unknown: Vec<&String> = row
                .as_object()
                .expect("an object")
                .keys()
                .filter(|column| !columns.contains(column.as_str()))
                .collect();
            assert!(unknown.is_empty(), "{capture}: {unknown:?} of {row}");
        }
    }
}
