//! Both forms of a log have the same in them, and neither is read where it was changed.

use super::*;
use medium::{Deed, Fault, Frame};

/// Every kind over and over, with inputs and the emulator's events between: more lines than are between two checks.
fn write(name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    let mut log = EventLog::create(&path, &[], &header()).expect("own folder").without_digest();
    let (events, happened) = (one_of_each(), emulator::tests::one_of_each());
    for round in 0..400 {
        let later = |at: BitInstant| BitInstant::new(at.get() + 1_000 * round);
        for event in &events {
            let event = Event { at: later(event.at), ..*event };
            if let Kind::Offered { size } = event.kind {
                let destination = [Destination::All, Destination::Nobody, Destination::Station(StationId::new(1))];
                let frame = Frame { size, destination: destination[round as usize % 3], tagged: round % 2 == 0 };
                log.input(event.at, &Input::Offer { station: event.station, frame }, None).expect("room");
            }
            log.event(&event).expect("room");
        }
        let fault = (round % 2 == 0).then_some(Fault::BadFcs);
        let station = StationId::new(1);
        log.input(later(BitInstant::new(90)), &Input::Deed(Deed::Fault { station, fault }), None).expect("room");
        let event = happened[round as usize % happened.len()].clone();
        log.emulator(&EmulatorEvent { at: later(event.at), ..event }).expect("room");
        if round % 7 == 0 {
            log.flush().expect("room");
        }
    }
    log.finish().expect("room");
    std::fs::read(&path).expect("own folder")
}

fn reader(octets: &[u8]) -> Result<EventLogReader<&[u8]>, ReadError> {
    EventLogReader::new(LineReader::new(octets, "x".to_owned()))
}

type Entries = Vec<(Entry, Option<(Destination, bool)>)>;

/// What there is, and why it is not whole.
fn entries(octets: &[u8]) -> Result<(Entries, Option<String>), ReadError> {
    let (mut log, mut entries) = (reader(octets)?, Vec::new());
    while let Some(entry) = log.next_entry()? {
        entries.push((entry, log.offered()));
    }
    assert_eq!(reader(octets)?.prove()?, log.not_whole(), "both ways to read come to the same");
    Ok((entries, log.not_whole()))
}

fn copy(octets: &[u8], name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, mut log) = (folder.path().join(name), reader(octets).expect("a log"));
    let mut copy = EventLog::create(&path, &[], log.header()).expect("own folder");
    while let Some(row) = log.next_row().expect("a log") {
        copy.copy(&row, log.offered()).expect("room");
    }
    copy.finish().expect("room");
    std::fs::read(&path).expect("own folder")
}

#[test]
fn a_log_goes_from_one_form_to_the_other_and_back() {
    let (text, binary) = (write("x.events"), write("x.ebe"));
    assert!(text.iter().filter(|&&octet| octet == b'\n').count() > 2 * 4096, "several checks");
    assert!(binary.len() * 5 < text.len(), "{} octets instead of {}", binary.len(), text.len());
    assert_eq!(entries(&text).expect("a whole log"), entries(&binary).expect("a whole log"));
    assert_eq!(entries(&text).expect("a whole log").1, None);
    assert_eq!(copy(&binary, "y.events"), text, "the same lines");
    assert_eq!(copy(&text, "y.ebe").len(), copy(&binary, "y.ebe").len(), "the same records");
}

/// Lines that are swapped, doubled, missing or changed.
#[test]
fn a_log_of_other_lines_is_found() {
    let text = String::from_utf8(write("x.events")).expect("UTF-8");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let found = |what: &str, lines: &[&str]| {
        let text = lines.concat();
        let error = reader(text.as_bytes()).expect("a header").prove().expect_err(what).to_string();
        assert!(error.contains(what), "{what}: {error}");
        assert!(entries(text.as_bytes()).is_err(), "{what}");
    };
    for at in [1, 777, 5_000, lines.len() - 2] {
        let mut swapped = lines.clone();
        swapped.swap(at, at - 1);
        if at > 1 {
            found("", &swapped);
        }
        found("1 line missing", &[&lines[..at], &lines[at + 1..]].concat());
        found("1 line too many", &[&lines[..=at], &lines[at..]].concat());
    }
    let changed = text.replacen("\"size\":46,\"destination\":\"nobody\"", "\"size\":47,\"destination\":\"nobody\"", 1);
    found("lines were changed, or are in another order,", &[&changed]);
    found("nothing comes after a trace's last line", &[&text, lines[1]]);
}

#[test]
fn a_log_without_its_end_is_read_as_far_as_it_goes() {
    let text = String::from_utf8(write("x.events")).expect("UTF-8");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for kept in [1, 2, 4_000, 5_000, lines.len() - 1] {
        let (entries, not_whole) = entries(lines[..kept].concat().as_bytes()).expect("as far as it goes");
        let checks = kept / 4_097;
        assert_eq!(entries.len(), kept - 1 - checks, "{kept}");
        let words = "has no end: the run that writes it goes on or was killed";
        assert!(not_whole.as_ref().is_some_and(|why| why.contains(words)), "{kept}: {not_whole:?}");
    }
    // An old log cannot tell.
    let old: String = lines.iter().filter(|line| !line.contains("\"layer\":\"check\"")).copied().collect();
    let old = old.replacen(",\"checked\":true", "", 1);
    assert_eq!(entries(old.as_bytes()).expect("an old log").1, None);
}

#[test]
fn a_binary_log_that_was_changed_or_cut_is_found() {
    let binary = write("x.ebe");
    let header = binary.iter().position(|&octet| octet == b'\n').expect("a header") + 1;
    for at in (header..binary.len()).step_by(4001) {
        let mut changed = binary.clone();
        changed[at] ^= 1 << (at % 8);
        let error = entries(&changed).expect_err("a changed octet").to_string();
        assert!(error.starts_with("x, block "), "{error}");
        match entries(&binary[..at]) {
            Err(error) => assert!(error.to_string().contains("the file was cut short here"), "{error}"),
            Ok((_, not_whole)) => assert!(not_whole.is_some(), "a log that ends between two blocks"),
        }
    }
    // Blocks in another place.
    let length = |at: usize| 8 + u32::from_le_bytes(binary[at..at + 4].try_into().expect("four")) as usize;
    let (second, third) = (header + length(header), header + length(header) + length(header + length(header)));
    let swapped = [&binary[..header], &binary[second..third], &binary[header..second], &binary[third..]].concat();
    assert!(entries(&swapped).is_err());
    let missing = [&binary[..header], &binary[second..]].concat();
    assert!(entries(&missing).is_err());
}

/// A log that ends since something was lost says why in its last line.
#[test]
fn a_log_that_was_broken_off_says_why() {
    for name in ["x.events", "x.ebe"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        let mut log = EventLog::create(&path, &[], &header()).expect("own folder");
        one_of_each().iter().for_each(|event| log.event(event).expect("room"));
        log.stop_writing("the files are slow").expect("room");
        one_of_each().iter().for_each(|event| log.event(event).expect("nothing is written"));
        drop(log);
        let (entries, not_whole) = entries(&std::fs::read(&path).expect("own folder")).expect("as far as it goes");
        assert_eq!(entries.len(), one_of_each().len());
        assert!(not_whole.is_some_and(|why| why.ends_with(": the files are slow")), "{name}");
    }
}
