//! The bus as other tools see it: what tshark and capinfos read of a capture is what the event log says, octet for octet.

use crate::common::files::{folder, logged, path};
use crate::common::logs::unproven;
use crate::common::process::{ethbus, program, run};
use crate::common::{Turn, skipped};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A packet as tshark gives it: interface, nanoseconds, octets in hexadecimal.
pub(crate) type Packet = (String, u64, String);

/// Everything in a capture, none of it malformed.
pub(crate) fn packets(capture: &str) -> Vec<Packet> {
    let told = run(program("tshark", ["-r", capture, "-T", "json", "-x", "-J", "frame"])).succeeded().stdout;
    let told: Vec<Value> = serde_json::from_str(&told).expect("JSON");
    let malformed = run(program("tshark", ["-r", capture, "-Y", "_ws.malformed"])).succeeded().stdout;
    assert_eq!(malformed, "");
    let one = |packet: &Value| {
        let layers = &packet["_source"]["layers"];
        let frame = &layers["frame"];
        let name = frame["frame.interface_id_tree"]["frame.interface_name"].as_str().expect("an interface").to_owned();
        let (seconds, nanos) = frame["frame.time_epoch"].as_str().expect("a time").split_once('.').expect("a point");
        let at = seconds.parse::<u64>().expect("seconds") * 1_000_000_000 + nanos.parse::<u64>().expect("nanoseconds");
        (name, at, layers["frame_raw"][0].as_str().expect("octets").to_owned())
    };
    told.iter().map(one).collect()
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// The remainder of a frame (802.3, 3.2.9), bit by bit, as it is sent.
fn fcs(frame: &[u8]) -> [u8; 4] {
    let step = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
    (!frame.iter().fold(!0_u32, |crc, octet| (0..8).fold(crc ^ u32::from(*octet), step))).to_le_bytes()
}

/// The address that ethbus gives a station of the lab without a name of its own.
fn mac(station: &str) -> Vec<u8> {
    let number: u8 = station.strip_prefix("st").expect("a default name").parse().expect("a number");
    let hash = "ethbus".bytes().fold(0x811c_u16, |hash, octet| (hash ^ u16::from(octet)).wrapping_mul(0x0193));
    [&[0x02, 0xeb][..], &hash.to_be_bytes(), &[0, number]].concat()
}

/// A frame of virtual time, without FCS.
fn octets(name: &str, destination: &Value, size: usize) -> Vec<u8> {
    let (station, _) = name.split_once('#').expect("a frame");
    let to = destination["station"].as_str().map_or_else(|| vec![0xff; 6], mac);
    let mut frame = [to, mac(station), vec![0x88, 0xb5], name.as_bytes().to_vec()].concat();
    frame.resize(size - 4, 0);
    frame
}

/// What the capture is to have for each transmission, from the event log alone. `nanos` are those of a bit.
fn sent(log: &str, nanos: u64) -> Vec<Packet> {
    const PREAMBLE: &str = "55555555555555d5";
    let (mut frames, mut begins, mut packets) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for line in log.lines().skip(1) {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let (Some(frame), Some(station)) = (event["frame"].as_str(), event["station"].as_str()) else { continue };
        let t = event["t"].as_u64().expect("an instant");
        match event["kind"].as_str().expect("a kind") {
            "offered" => {
                let size = event["size"].as_u64().expect("a size").max(64) as usize;
                frames.insert(frame.to_owned(), octets(frame, &event["destination"], size));
            }
            "attempt" => _ = begins.insert(frame.to_owned(), t),
            "jam_end" => {
                let begin = begins.remove(frame).expect("it was sent");
                let whole = &frames[frame][..((t - begin - 64 - 32) / 8) as usize];
                packets.push((station.to_owned(), begin * nanos, format!("{PREAMBLE}{}aaaaaaaa", hex(whole))));
            }
            "transmitted" => {
                let whole = &frames[frame];
                let octets = format!("{PREAMBLE}{}{}", hex(whole), hex(&fcs(whole)));
                packets.push((station.to_owned(), begins.remove(frame).expect("it was sent") * nanos, octets));
            }
            _ => {}
        }
    }
    packets.sort();
    packets
}

/// The rows of the interface "bus": instant, and the line without what only a capture says.
pub(crate) fn rows(packets: &[Packet]) -> Vec<(u64, Value)> {
    let text = |octets: &str| {
        let octets: Vec<u8> = (0..octets.len() / 2)
            .map(|at| u8::from_str_radix(&octets[2 * at..2 * at + 2], 16).expect("hexadecimal"))
            .collect();
        let begin = octets.iter().position(|octet| *octet == b'{').expect("JSON");
        serde_json::from_slice::<Value>(&octets[begin..]).expect("JSON")
    };
    packets.iter().filter(|(name, ..)| name == "bus").map(|(_, at, octets)| (*at, text(octets))).collect()
}

/// On a long cable fragments have many lengths, and stations notice a collision one after the other.
#[test]
fn a_capture_has_every_transmission_octet_for_octet() {
    if skipped(&["tshark", "capinfos"]) {
        return;
    }
    for (rate, nanos, topology) in [("10M", 100, "bus:2000m"), ("100M", 10, "star:0bt"), ("10M", 100, "bus:4000m")] {
        let folder = folder();
        let [events, capture] = ["run.events", "run.pcapng"].map(|name| path(&folder, name));
        let options = ["--rate", rate, "--topology", topology, "--duration", "6ms", "--warmup", "0s"];
        let files = ["--events", &events, "--pcapng", &capture, "--frame-size", "64:3,300:1"];
        run(ethbus([&["sim"][..], &options, &files].concat())).succeeded();
        let (log, packets) = (fs::read_to_string(&events).expect("a log"), packets(&capture));
        let mut own: Vec<Packet> = packets.iter().filter(|(name, ..)| name != "bus").cloned().collect();
        assert!(own.is_sorted_by_key(|(_, at, _)| *at), "{topology}: packets are in order of their first bits");
        own.sort();
        assert_eq!(own, sent(&log, nanos), "{topology}");
        assert!(own.len() > 30, "{topology}: a capture worth reading");

        let told = rows(&packets);
        let rows_of = |kinds: &[&str]| {
            let rows = told.iter().filter(|(_, row)| kinds.contains(&row["kind"].as_str().expect("a kind")));
            rows.cloned().collect::<Vec<_>>()
        };
        for (at, row) in &told {
            assert_eq!(*at, row["t"].as_u64().expect("an instant") * nanos, "{row}");
        }
        let plain = ["backoff", "discarded", "queue_drop"];
        let bare = |(_, mut row): (u64, Value)| {
            let says = row.as_object_mut().and_then(|own| own.remove("says")).expect("a sentence");
            assert!(says.as_str().is_some_and(|says| says.ends_with('.')), "{says}");
            row
        };
        let plain_rows: Vec<Value> = rows_of(&plain).into_iter().map(bare).collect();
        assert_eq!(plain_rows, logged(&log, &plain));
        let collisions = rows_of(&["collision"]);
        let lines = logged(&log, &["collision"]);
        assert_eq!(collisions.len(), lines.len());
        let attempts = attempts(&log);
        for ((_, row), line) in collisions.iter().zip(&lines) {
            assert_eq!(row["position_bt"].is_u64(), topology != "star:0bt", "where");
            let others = row["with"].as_array().expect("who met whom").iter();
            let told: BTreeSet<&str> = others.map(|other| other.as_str().expect("a name")).collect();
            assert_eq!(told, met(&attempts, &collisions, row), "{row}");
            let mut row = row.clone();
            let own = row.as_object_mut().expect("an object");
            own.retain(|column, _| !["with", "says", "position_bt"].contains(&column.as_str()));
            assert_eq!(row, *line);
        }
        told_as_explained(&events, &told);

        let told = run(program("capinfos", [&capture])).succeeded().stdout;
        let count = |word: &str| told.matches(word).count();
        assert_eq!(count("Capture length"), 5, "four stations and the bus: {told}");
        assert_eq!(count("Time precision = nanoseconds"), 5, "{told}");
        assert_eq!((count("IEEE 802.3br mPackets"), count("Wireshark Upper PDU")), (5, 2), "{told}");
    }
}

/// Each attempt of a log: its frame, its first bit, and the bit after its last.
fn attempts(log: &str) -> Vec<(String, u64, u64)> {
    let mut attempts: Vec<(String, u64, u64)> = Vec::new();
    for line in logged(log, &["attempt", "jam_end", "transmitted"]) {
        let (frame, t) = (line["frame"].as_str().expect("a frame"), line["t"].as_u64().expect("an instant"));
        match attempts.iter_mut().rfind(|own| own.0 == frame) {
            Some(own) if line["kind"] != "attempt" => own.2 = t,
            Some(_) | None => attempts.push((frame.to_owned(), t, u64::MAX >> 1)),
        }
    }
    attempts
}

/// The frames whose signals lay over that of a collision's row at its sender's place.
fn met<'a>(attempts: &'a [(String, u64, u64)], collisions: &[(u64, Value)], row: &Value) -> BTreeSet<&'a str> {
    let station = |frame: &str| frame.split_once('#').expect("a name").0.to_owned();
    let place = |frame: &str| {
        let own =
            collisions.iter().find(|(_, other)| other["station"] == station(frame)).expect("each station collided");
        own.1["position_bt"].as_u64().unwrap_or(0)
    };
    let (frame, t) = (row["frame"].as_str().expect("a frame"), row["t"].as_u64().expect("an instant"));
    let (_, begin, end) = attempts.iter().rfind(|own| own.0 == frame && own.1 <= t).expect("an attempt");
    let lies_over = |other: &&(String, u64, u64)| {
        let way = place(&other.0).abs_diff(place(frame));
        station(&other.0) != station(frame) && other.1 + way < *end && *begin < other.2 + way
    };
    attempts.iter().filter(lies_over).map(|other| other.0.as_str()).collect()
}

/// Rows of the capture say what `explain` says: same stations, same bit time, same words.
fn told_as_explained(events: &str, rows: &[(u64, Value)]) {
    let of = |kind: &'static str| rows.iter().map(|(_, row)| row).filter(move |row| row["kind"] == kind).take(4);
    for row in of("collision").chain(of("backoff")) {
        let [frame, says] = ["frame", "says"].map(|column| row[column].as_str().expect("a text"));
        let explained = run(ethbus(["explain", events, "--frame", frame])).unwrapped();
        assert!(explained.contains(says), "{says}\n{explained}");
    }
    assert!(of("collision").count() == 4 && of("backoff").count() == 4);
}

/// Whatever way a run becomes a capture, it is the same one.
#[test]
fn replay_and_convert_make_the_same_capture() {
    let folder = folder();
    let names = ["run.events", "run.record", "a.pcapng", "b.pcapng", "c.pcapng", "d.pcapng"];
    let [events, record, a, b, c, d] = names.map(|name| path(&folder, name));
    let files = ["--events", &events, "--events", &record, "--events-level", "inputs", "--pcapng", &a];
    run(ethbus([&["sim", "--duration", "50ms", "--warmup", "10ms"][..], &files].concat())).succeeded();
    run(ethbus(["replay", &record, "--pcapng", &b])).succeeded();
    run(ethbus(["convert", &record, "--to", "pcapng", "--out", &c])).succeeded();
    run(ethbus(["convert", &events, "--to", "pcapng", "--out", &d])).succeeded();
    let capture = fs::read(&a).expect("a capture");
    assert!(capture.len() > 10_000);
    for other in [&b, &c, &d] {
        assert!(fs::read(other).expect("a capture") == capture, "{other} is another capture than the run's own");
    }
}

/// A filter takes the packets that Wireshark's own filter takes of a whole capture; a compressed capture has the same packets.
#[test]
fn a_filter_takes_what_it_says() {
    if skipped(&["tshark"]) {
        return;
    }
    let folder = folder();
    let [record, full, part] = ["run.record", "full.pcapng", "part.pcapng.zst"].map(|name| path(&folder, name));
    let options = ["--stations", "3", "--topology", "bus:500m", "--duration", "20ms", "--warmup", "0s"];
    let files = ["--events", &record, "--events-level", "inputs", "--pcapng", &full];
    run(ethbus([&["sim"][..], &options, &files].concat())).succeeded();
    let lines = |capture: &str, filter: &str| {
        let fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "frame.interface_name"];
        run(program("tshark", [&["-r", capture, "-Y", filter][..], &fields].concat())).succeeded().stdout
    };
    let st2: String = mac("st2").iter().map(|octet| format!("{octet:02x}:")).collect();
    let st2 = format!("address={}", st2.trim_end_matches(':'));
    for (filter, same) in [
        ("frames", "frame.interface_name != \"bus\""),
        ("rows", "frame.interface_name == \"bus\""),
        (
            "collisions",
            "(frame.interface_name != \"bus\" && frame.comment matches \"collision\") || json.value.string == \"collision\"",
        ),
        ("frames,station=st2", "frame.interface_name == \"st2\""),
        // Frames of st1 are for st2, those of st2 for st3, those of st3 for st1.
        (&format!("frames,{st2}"), "frame.interface_name in {\"st1\", \"st2\"}"),
    ] {
        run(ethbus(["convert", &record, "--to", "pcapng", "--out", &part, "--filter", filter])).succeeded();
        let taken = lines(&part, "");
        assert!(taken == lines(&full, same) && taken.lines().count() > 5, "{filter}: {taken}");
    }
    run(ethbus([&["sim"][..], &options, &["--pcapng", &part, "--seed", "1"]].concat())).succeeded();
    run(ethbus([&["sim"][..], &options, &["--pcapng", &full, "--seed", "1"]].concat())).succeeded();
    assert_eq!(lines(&part, ""), lines(&full, ""), "compressed or not");
    let [packed, whole] = [&part, &full].map(|file| fs::metadata(file).expect("a capture").len());
    assert!(packed * 2 < whole, "{packed} of {whole} octets");
    for (filter, words) in
        [("st9", "--filter: `st9` is no filter: write `frames`"), ("station=st9", "no station is called `st9`")]
    {
        let convert = ["convert", &record, "--to", "pcapng", "--out", "x.pcapng", "--filter", filter];
        run(ethbus(convert)).failed_with(2, &[words]);
    }
    let rotate = ["sim", "--duration", "1ms", "--pcapng", "x.pcapng.zst", "--pcapng-rotate", "1MB"];
    run(ethbus(rotate)).failed_with(2, &["--pcapng-rotate: files that begin anew"]);
    run(ethbus(["convert", &record, "--to", "vcd", "--filter", "rows", "-o", &full]))
        .failed_with(2, &["--filter: it is about captures"]);
    assert!(!std::path::Path::new("x.pcapng").exists());
}

/// What a station's fault does is in the capture: a wrong FCS is one, and its flag says so.
#[test]
fn a_fault_is_in_the_capture() {
    if skipped(&["tshark"]) {
        return;
    }
    let folder = folder();
    let [scenario, events, capture, plain] =
        ["lab.toml", "run.events", "run.pcapng", "plain.pcapng"].map(|name| path(&folder, name));
    let text =
        "[[station]]\nname = \"st1\"\n[[station]]\nname = \"st2\"\nfault = \"bad_fcs\"\n[[station]]\nname = \"st3\"\n";
    fs::write(&scenario, text).expect("own folder");
    let options = ["--duration", "200ms", "--warmup", "0s", "--topology", "bus:100m", "--traffic", "poisson:0.4"];
    run(ethbus([&["sim", &scenario, "--pcapng", &capture][..], &options].concat())).succeeded();
    let count = |capture: &str, filter: &str| {
        run(program("tshark", ["-r", capture, "-Y", filter])).succeeded().stdout.lines().count()
    };
    let from =
        |station: &str, what: &str| format!("frame.interface_name == \"{station}\" && frame.len >= 72 && {what}");
    for (station, bad) in [("st1", false), ("st2", true), ("st3", false)] {
        let all = count(&capture, &from(station, "frame"));
        let flagged = count(&capture, &from(station, "frame.packet_flags_crc_error == 1"));
        let wrong = count(&capture, &from(station, "fpp.checksum.status == \"Bad\""));
        assert!(all > 0);
        assert_eq!((flagged, wrong), if bad { (all, all) } else { (0, 0) }, "{station} of {all}");
    }
    assert_eq!(count(&capture, "json.value.string == \"deed\" && json.value.string == \"bad_fcs\""), 1);
    assert!(count(&capture, "json.value.string == \"damaged\"") > 0);
    assert_eq!(count(&capture, "_ws.malformed"), 0);

    run(ethbus([&["sim", &scenario, "--events", &events][..], &options].concat())).succeeded();
    run(ethbus(["convert", &events, "--to", "pcapng", "--plain", "--out", &plain])).succeeded();
    let whole = count(&capture, "frame.interface_name != \"bus\" && frame.len >= 72");
    assert_eq!(count(&plain, "frame.interface_name != \"bus\" && eth && frame.len >= 64"), whole);
    assert_eq!(count(&plain, "frame.interface_name != \"bus\""), whole, "no fragments");
    assert_eq!(count(&plain, "_ws.malformed"), 0);
}

/// Each file can be opened alone, none is longer than was said, and together they are the capture.
#[test]
fn a_capture_is_rotated_by_size_and_time() {
    let folder = folder();
    let [whole, parts] = ["whole.pcapng", "part.pcapng"].map(|name| path(&folder, name));
    let options = ["sim", "--duration", "200ms", "--warmup", "0s"];
    run(ethbus([&options[..], &["--pcapng", &whole]].concat())).succeeded();
    run(ethbus([&options[..], &["--pcapng", &parts, "--pcapng-rotate", "64kB,50ms"]].concat())).succeeded();
    let whole = fs::read(&whole).expect("a capture");
    let head = whole.windows(4).position(|word| word == 6_u32.to_ne_bytes()).expect("a packet");
    let (mut together, mut number) = (whole[..head].to_vec(), 0);
    while let Ok(part) = fs::read(path(&folder, &format!("part-{:05}.pcapng", number + 1))) {
        assert!(part.len() <= 64_000 && part.starts_with(&whole[..head]), "part {number}");
        together.extend_from_slice(&part[head..]);
        number += 1;
    }
    assert!(number >= 4, "{number} files of 200 ms");
    assert!(together == whole);
}

#[test]
fn what_cannot_be_written_or_read_is_told() {
    let folder = folder();
    let [events, newer, cut, out] = ["run.events", "newer", "cut", "out.pcapng"].map(|name| path(&folder, name));
    run(ethbus(["sim", "--duration", "20ms", "--warmup", "0s", "--events", &events])).succeeded();
    let log = fs::read_to_string(&events).expect("a log");
    fs::write(&newer, log.replacen("\"version\":2", "\"version\":3", 1)).expect("own folder");
    fs::write(&cut, &log[..log.len() / 2 + 7]).expect("own folder");
    let convert = |from: &str| run(ethbus(["convert", from, "--to", "pcapng", "--out", &out]));
    convert(&newer).failed_with(1, &["line 1: version 3 of the format; this program reads version 2"]);
    convert(&cut).failed_with(1, &["the file was cut short here", "what came before is written"]);
    if !skipped(&["tshark"]) {
        assert!(packets(&out).len() > 10, "what was written is whole");
    }
    let full = ["sim", "--duration", "1s", "--pcapng", "/dev/full"];
    run(ethbus(full)).failed_with(1, &["cannot write /dev/full: no blocks are in it"]);
    let notes = path(&folder, "notes");
    fs::write(&notes, "milk, eggs").expect("own folder");
    run(ethbus(["sim", "--pcapng", &notes])).failed_with(1, &["is there already and is not a capture in pcapng"]);
    for (wrong, words) in [
        (&["sim", "--pcapng", "x", "--pcapng-rotate", "often"][..], "write a size like `100MB`"),
        (&["sim", "--pcapng", "-", "--pcapng-rotate", "1MB"], "standard output is one stream"),
        (&["sim", "--pcapng", &out, "--events", &out], "is the file of"),
    ] {
        run(ethbus(wrong)).failed_with(2, &[words]);
    }
}

/// Through a pipe, as `| wireshark -k -i -` reads it; the results go to standard error.
#[test]
fn a_live_capture_is_what_the_bus_did() {
    if skipped(&["tshark"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = folder();
    let [events, capture] = ["run.events", "run.pcapng"].map(|name| path(&folder, name));
    let command = format!(
        "{} --stations 3 --frame-size 64 --duration 1s --events {events} --pcapng - | tee --output-error=warn-nopipe {capture} | tshark -c 20 -i - -T fields -e frame.interface_name",
        crate::common::ETHBUS
    );
    let told = run(program("sh", ["-c", &command])).succeeded();
    assert_eq!(told.stdout.lines().count(), 20, "tshark saw them while the bus ran: {told:#?}");
    assert!(told.stderr.contains("3 stations, "), "{told:#?}");
    let events = fs::read_to_string(&events).expect("a log");
    let attempts = logged(&events, &["jam_end", "transmitted"]).len();
    let read = |filter: &str| run(program("tshark", ["-r", &capture, "-Y", filter])).succeeded().stdout.lines().count();
    assert_eq!(read("frame.interface_name != \"bus\""), attempts);
    assert_eq!(read("json.value.string == \"collision\""), logged(&events, &["collision"]).len());
    assert_eq!(read("_ws.malformed"), 0);
    // Frames that met no other frame are whole, as the stations' kernels sent them.
    let whole = logged(&events, &["transmitted"]).len();
    assert_eq!(read("fpp.checksum.status == \"Good\" && eth.type == 0x88b5"), whole);
}

/// One row an event, with the log's own numbers.
#[test]
fn a_table_of_events_has_every_event() {
    let folder = folder();
    let [events, table] = ["run.events", "run.csv"].map(|name| path(&folder, name));
    run(ethbus(["sim", "--duration", "20ms", "--warmup", "0s", "--events", &events])).succeeded();
    run(ethbus(["convert", &events, "--to", "csv", "--out", &table])).succeeded();
    let mut rows = csv::Reader::from_path(&table).expect("a table");
    let names = rows.headers().expect("names").clone();
    let log = unproven(&fs::read_to_string(&events).expect("a log"));
    for (line, row) in log.lines().skip(1).zip(rows.records().map(|row| row.expect("a row"))) {
        let event: Value = serde_json::from_str(line).expect("JSON");
        for (name, value) in event.as_object().expect("an object") {
            let Some(column) = names.iter().position(|column| column == name) else { continue };
            let told = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(row[column], told, "{name} of {line}");
        }
        assert_eq!(row[1].parse::<u64>().expect("nanoseconds"), event["t"].as_u64().expect("an instant") * 100);
    }
    let lines = fs::read_to_string(&table).expect("a table").lines().count();
    assert_eq!(lines, log.lines().count(), "a row for each line");
    // A table with types has its own test in crates/sim; here is what a program without them says.
    if !cfg!(feature = "parquet") {
        for form in ["parquet", "arrow"] {
            let other = path(&folder, &format!("run.{form}"));
            let ended = run(ethbus(["convert", &events, "--to", form, "--out", &other]));
            ended.failed_with(2, &["--to", "`--to csv`, or build it with `cargo build --release --features parquet`"]);
            assert!(!fs::exists(&other).expect("own folder"));
        }
    }
}
