//! Event logs written and read back.

use super::*;
use crate::files::json_lines::{LineReader, ReadError};
use medium::{BitRate, BitTimes, Cause, Config, Deed, FrameId, Kind, Octets, Topology};

mod forms;

fn names() -> Vec<String> {
    // An interface may be called so.
    ["st1", "s\"#2"].map(str::to_owned).to_vec()
}

fn header() -> Header {
    Header::new("lab", &Config::new(BitRate::MBIT_10, Topology::star(2, 50), 7), &names())
}

/// One of each kind, no value a default; the match makes the compiler ask for kinds to come.
fn one_of_each() -> Vec<Event> {
    let causes = [Cause::ExcessiveCollisions, Cause::LateCollision, Cause::TooShort, Cause::TooLong, Cause::Detached];
    let kinds = [
        Kind::Offered { size: Octets::new(46) },
        Kind::QueueDrop,
        Kind::Defer { attempt: 1 },
        Kind::Attempt { attempt: 2, excessive_deferral: true, burst: true },
        Kind::Collision { attempt: 3, late: true, episode: 9 },
        Kind::JamEnd { attempt: 4 },
        Kind::Backoff { attempt: 5, slots: 1023 },
        Kind::Transmitted {
            size: Octets::new(64),
            attempts: 6,
            deferred: true,
            access_delay: BitTimes::new(1 << 40),
            mac_delay: BitTimes::new(1 << 62),
            extension: BitTimes::new(3584),
            no_carrier: true,
        },
        Kind::Delivered { size: Octets::new(1518) },
        Kind::Fragment { bits: BitTimes::new(32) },
        Kind::Damaged { bits: BitTimes::new(513) },
        Kind::TooLong { size: Octets::new(24_992) },
        Kind::Rts { attempt: 2, reserves: BitTimes::new(9_000) },
        Kind::Cts { reserves: BitTimes::new(8_000) },
        Kind::Data { attempt: 2, reserves: BitTimes::new(314) },
        Kind::Ack,
        Kind::Duplicate { size: Octets::new(64) },
        Kind::Beacon { empty: 7, length: BitTimes::new(276) },
        Kind::Commit { id: 254 },
        Kind::PlcaStatus { ok: true },
        Kind::PlcaId { id: 254, turns: 8 },
    ];
    let discards = causes.map(|cause| Kind::Discarded { cause, attempts: 16 });
    let event = |(at, kind): (u64, Kind)| match kind {
        Kind::Offered { .. } | Kind::QueueDrop | Kind::Defer { .. } | Kind::Attempt { .. } => (at, 0, 0, kind),
        Kind::Collision { .. } | Kind::JamEnd { .. } | Kind::Backoff { .. } => (at, 1, 1, kind),
        Kind::Transmitted { .. } | Kind::Discarded { .. } => (at, 1, 1, kind),
        Kind::Delivered { .. } | Kind::Fragment { .. } => (at, 0, 1, kind),
        Kind::Damaged { .. } | Kind::TooLong { .. } => (at, 0, 1, kind),
        Kind::Rts { .. } | Kind::Data { .. } => (at, 1, 1, kind),
        Kind::Cts { .. } | Kind::Ack | Kind::Duplicate { .. } => (at, 0, 1, kind),
        Kind::Beacon { .. } | Kind::Commit { .. } => (at, 1, 1, kind),
        Kind::PlcaStatus { .. } | Kind::PlcaId { .. } => (at, 1, 1, kind),
    };
    let events = (5..).zip(kinds.into_iter().chain(discards)).map(event);
    events
        .map(|(at, station, source, kind)| Event {
            at: BitInstant::new(at),
            station: StationId::new(station),
            frame: FrameId { station: StationId::new(source), serial: 1 << 33 },
            kind,
        })
        .collect()
}

fn log_of(events: &[Event]) -> (Vec<u8>, Digest) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut log = EventLog::create(file.path(), &[], &header()).expect("a file");
    events.iter().for_each(|event| log.event(event).expect("room"));
    log.flush().expect("room");
    (std::fs::read(file.path()).expect("a file"), log.digest())
}

/// Lines with names that have no room in a piece are made in another way.
#[test]
fn a_long_name_changes_nothing_else() {
    let events = one_of_each();
    let text = |long: &str| {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let header = Header { stations: ["st1", long].map(str::to_owned).to_vec(), ..header() };
        let mut log = EventLog::create(file.path(), &[], &header).expect("a file");
        events.iter().for_each(|event| log.event(event).expect("room"));
        log.flush().expect("room");
        std::fs::read_to_string(file.path()).expect("a file")
    };
    let short = text("st2");
    for octets in [10, 30, 31, 32, 33, 34, 35, 50, 51, 52, 60, 200] {
        let long = "x".repeat(octets);
        assert_eq!(text(&long), short.replace("st2", &long), "a name of {octets} octets");
    }
}

fn read(text: &[u8]) -> Result<Vec<Event>, ReadError> {
    let mut log = EventLogReader::new(LineReader::new(text, "x".to_owned()))?;
    std::iter::from_fn(|| log.next_event().transpose()).collect()
}

#[test]
fn every_kind_comes_back_as_it_was_written() {
    let (text, digest) = log_of(&one_of_each());
    assert_eq!(read(&text).expect("a log"), one_of_each());
    let lines = text.iter().position(|&octet| octet == b'\n').expect("a header") + 1;
    let crc32 = crc32fast::hash(&text[lines..]);
    assert_eq!(digest, Digest { events: one_of_each().len() as u64, crc32 });
}

/// Both layers are in one log, in order; the digest covers only events of the medium.
#[test]
fn events_of_the_emulator_come_back_and_change_no_digest() {
    let (plain, digest) = log_of(&one_of_each());
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut log = EventLog::create(file.path(), &[], &header()).expect("a file");
    one_of_each().iter().for_each(|event| log.event(event).expect("room"));
    let happened = emulator::tests::one_of_each();
    happened.iter().for_each(|event| log.emulator(event).expect("room"));
    log.flush().expect("room");
    assert_eq!(log.digest(), digest);
    let text = std::fs::read_to_string(file.path()).expect("UTF-8");
    let medium: String = text.split_inclusive('\n').filter(|line| !line.contains("\"layer\":\"emulator\"")).collect();
    assert_eq!(medium.as_bytes(), plain, "what is left without them is the log of a replay");

    let mut log = EventLogReader::new(LineReader::new(text.as_bytes(), "x".to_owned())).expect("a log");
    let entries: Vec<Entry> = std::iter::from_fn(|| log.next_entry().expect("a log")).collect();
    let wanted = one_of_each().into_iter().map(Entry::Medium).chain(happened.into_iter().map(Entry::Emulator));
    assert_eq!(entries, wanted.collect::<Vec<_>>());
    assert_eq!(read(text.as_bytes()).expect("a log"), one_of_each());
}

#[test]
fn a_damaged_line_of_the_emulator_is_named_with_what_is_wrong() {
    let header = String::from_utf8(log_of(&[]).0).expect("UTF-8");
    for (line, words) in [
        (r#""layer":"emulator","kind":"slip","ns":1"#, "no `real_ns` in an event of the layer `emulator`"),
        (r#""layer":"emulator","real_ns":1,"kind":"slip""#, "no `ns` in an event of kind `slip`"),
        (r#""layer":"emulator","real_ns":1,"kind":"slip","ns":-1"#, "`ns` is -1, and is a length"),
        (r#""layer":"emulator","real_ns":1,"kind":"slip","ns":1,"size":3"#, "`size` does not belong"),
        (r#""layer":"emulator","real_ns":1,"kind":"slip","ns":1,"station":"st1""#, "`station` does not belong"),
        (r#""layer":"emulator","real_ns":1,"kind":"offered","ns":1"#, "`offered` is no kind of event of the layer"),
        (r#""layer":"emulator","real_ns":1,"kind":"port_up","station":"st9""#, "no station is called `st9`"),
        (r#""layer":"emulator","real_ns":1,"kind":"late_arrival","ns":1"#, "no `frame` in an event of kind"),
        (r#""layer":"host","kind":"slip""#, "`host` is no layer"),
        (r#""kind":"queue_drop","station":"st1","frame":"st1\u00231","ns":1"#, "`ns` does not belong"),
        (r#""kind":"queue_drop","station":"st1""#, "no `frame` in an event of kind `queue_drop`"),
    ] {
        let error = read(format!("{header}{{\"t\":1,{line}}}\n").as_bytes()).expect_err(words).to_string();
        assert!(error.starts_with("x, line 2: ") && error.contains(words), "{error}");
    }
}

#[test]
fn a_line_is_as_docs_trace_md_shows_it() {
    let (text, _) = log_of(&one_of_each()[3..5]);
    let text = String::from_utf8(text).expect("UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with(r#"{"format":"ethbus trace","version":2,"level":"events","program":"ethbus "#),
        "{text}"
    );
    let attempt = r##"{"t":8,"kind":"attempt","station":"st1","frame":"st1#8589934592","attempt":2,"excessive_deferral":true,"burst":true}"##;
    let collision = r##"{"t":9,"kind":"collision","station":"s\"#2","frame":"s\"#2#8589934592","attempt":3,"late":true,"episode":9}"##;
    assert_eq!(lines[1..], [attempt, collision]);
}

/// A BEACON and a status are no frames, and a COMMIT may have none: their number is 0. No frame has it.
#[test]
fn what_is_no_frame_of_a_node_with_plca_comes_back_as_it_was_written() {
    let frame = FrameId { station: StationId::new(1), serial: 0 };
    let event = |at, kind| Event { at: BitInstant::new(at), station: frame.station, frame, kind };
    let events = [
        event(5, Kind::Beacon { empty: 7, length: BitTimes::new(276) }),
        event(7, Kind::Commit { id: 1 }),
        event(9, Kind::PlcaStatus { ok: false }),
    ];
    let (text, _) = log_of(&events);
    assert_eq!(read(&text).expect("a log"), events);
    let queued = String::from_utf8(log_of(&one_of_each()).0).expect("UTF-8").replace("#8589934592", "#0");
    assert!(read(queued.as_bytes()).is_err(), "other kinds are of frames");
}

#[test]
fn a_change_of_plca_is_read() {
    let header = String::from_utf8(log_of(&[]).0).expect("UTF-8");
    let plca = r#""plca":{"enabled":true,"node-id":3,"node-cnt":8,"to-tmr":32,"burst-cnt":0,"burst-tmr":128}"#;
    let line = format!(r#"{{"t":7,"layer":"deed","station":"st1",{plca}}}"#);
    let text = format!("{header}{line}\n");
    let mut log = EventLogReader::new(LineReader::new(text.as_bytes(), "x".to_owned())).expect("a log");
    let Some(Entry::Deed { at, deed: Deed::Plca { station, settings } }) = log.next_entry().expect("an input") else {
        panic!("not read as a change of PLCA: {text}");
    };
    assert_eq!((at.get(), station.index(), settings.node_id), (7, 0, 3));
    let without = text.replace(&format!(",{plca}"), "");
    let mut log = EventLogReader::new(LineReader::new(without.as_bytes(), "x".to_owned())).expect("a log");
    let error = log.next_entry().expect_err("incomplete").to_string();
    assert!(error.contains("a deed is one of `plug`"), "{error}");
}

#[test]
fn a_damaged_line_is_named_with_what_is_wrong() {
    let (good, _) = log_of(&one_of_each()[..3]);
    let good = String::from_utf8(good).expect("UTF-8");
    for (from, to, words) in [
        ("\"size\":46", "\"size\":46,\"slots\":1", "line 2: `slots` does not belong to an event of kind `offered`"),
        ("\"size\":46", "\"bits\":46", "line 2: no `size` in an event of kind `offered`"),
        ("\"size\":46", "\"sizes\":46", "line 2: `sizes` is no key of such a line"),
        ("\"size\":46", "\"size\":-46", "line 2: `-46` stands where a whole number from 0 up belongs"),
        ("\"t\":6", "\"t\":4", "line 3: `t` is 4, but the line before is of 5"),
        ("queue_drop", "queue_dorp", "line 3: `queue_dorp` is no kind of event"),
        ("\"station\":\"st1\"", "\"station\":\"st3\"", "line 2: no station is called `st3`"),
        ("\"station\":\"st1\"", r##""station":"s\"#2""##, "an event of kind `offered` is about one of its own"),
        ("#8589934592", "#0", "is no frame: a station of the header, `#`, and a number from 1 are"),
        ("\"seed\":7", "\"seed\":true", "line 1: `true` stands where a whole number from 0 up belongs"),
        ("\"version\":2", "\"version\":3", "line 1: version 3 of the format; this program reads version 2"),
        ("ethbus trace", "ethbus sweep", "line 1: this is an ethbus sweep, where an ethbus trace is wanted"),
        ("ethbus trace\",\"version\":2", "ethbus record\",\"version\":1", "of version 1, which ethbus 0."),
        ("\"stations\":2", "\"stations\":3", "line 1: 2 names for 3 stations"),
        ("[\"st1\",", r##"["s\"#2","##, r##"line 1: two stations are called `s"#2`"##),
        ("\"slot_time_bt\":512", "\"slot_time_bt\":0", "line 1: configuration: slot_time is out of range"),
        ("{\"format\"", "\u{0}", "line 1: this is no ethbus trace"),
    ] {
        assert!(good.contains(from), "{good}");
        let error = read(good.replacen(from, to, 1).as_bytes()).expect_err(to).to_string();
        assert!(error.starts_with("x, line ") && error.contains(words), "{error}");
    }
    let error = read(&good.as_bytes()[..good.len() - 9]).expect_err("cut").to_string();
    assert_eq!(error, "x, line 4: the file was cut short here; 3 whole lines are before it");
    assert!(read(b"").expect_err("empty").to_string().contains("line 1: the file was cut short here"));
}

/// Counts of frames by attempts have a place for each number from 1 to the limit, and no other.
#[test]
fn a_frame_transmitted_after_no_attempt_or_too_many_is_refused() {
    let header = String::from_utf8(log_of(&[]).0).expect("UTF-8");
    let log = |attempts: u32| {
        format!(
            "{header}{{\"t\":1,\"kind\":\"transmitted\",\"station\":\"st1\",\"frame\":\"st1#1\",\"size\":64,\
             \"attempts\":{attempts},\"deferred\":false,\"access_delay\":0,\"mac_delay\":0,\"extension\":0,\
             \"no_carrier\":false}}\n"
        )
    };
    for wrong in [0, 17, u32::MAX] {
        let error = read(log(wrong).as_bytes()).expect_err("no frame has that many").to_string();
        let words = format!("`attempts` is {wrong} in an event of kind `transmitted`: it is from 1 to 16");
        assert_eq!(error, format!("x, line 2: {words}"));
    }
    for right in [1, 16] {
        read(log(right).as_bytes()).expect("a frame at its last attempt at the latest");
    }
}

/// An instant plus a span of an event never overflows.
#[test]
fn a_span_beyond_all_instants_is_refused() {
    let head = log_of(&[]).0;
    let too_long = (1u64 << 62) + 1;
    for (line, field) in [
        (format!(r#"{{"t":{too_long},"station":"st1","frame":"st1#1","kind":"jam_end","attempt":1}}"#), "t"),
        (
            r#"{"t":9,"station":"st1","frame":"st1#1","kind":"backoff","attempt":1,"slots":18446744073709551615}"#
                .into(),
            "slots",
        ),
        (format!(r#"{{"t":9,"station":"st1","frame":"st1#1","kind":"fragment","bits":{too_long}}}"#), "bits"),
        (format!(r#"{{"t":9,"station":"st1","frame":"st1#1","kind":"cts","reserves":{too_long}}}"#), "reserves"),
    ] {
        let mut text = head.clone();
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        let error = read(&text).expect_err(&line).to_string();
        assert!(error.contains(&format!("`{field}` is ")), "{error}");
    }
}

/// The reader's columns are the fields that the kinds have: each of them, once, and no other.
#[test]
fn the_reader_knows_every_field_of_every_kind() {
    use std::collections::BTreeSet;
    let own: BTreeSet<&str> = Kind::ALL.iter().flat_map(|(_, fields)| fields.iter().copied()).collect();
    assert_eq!(text::FIELDS.iter().copied().collect::<BTreeSet<_>>(), own);
    assert_eq!(text::FIELDS.len(), own.len(), "a field twice");
}
