//! Shared by the tests of the medium: running it, and golden files.
#![allow(dead_code, reason = "each test file uses its own part of this module")]

use medium::{BitInstant, Config, Destination, Event, Frame, Input, Medium, Octets, StationId};
use std::fmt::Write;
use std::path::Path;

/// The station with number `number`.
pub fn station(number: u16) -> StationId {
    StationId::new(number)
}

/// At `at`, the host of station `from` hands over `octets` octets for station `to`.
pub fn offer(at: u64, from: u16, to: u16, octets: u32) -> (u64, Input) {
    let frame = Frame::new(Octets::new(octets), Destination::Station(station(to)));
    (at, Input::Offer { station: station(from), frame })
}

/// Gives `inputs` in order, each at its instant, and runs the medium until there is no further event, or until `until`.
pub fn run(config: Config, inputs: &[(u64, Input)], until: u64) -> (Medium, Vec<Event>) {
    let mut medium = Medium::new(config).expect("a valid configuration");
    for &(at, input) in inputs {
        medium.handle_input(BitInstant::new(at), input);
    }
    medium.advance(BitInstant::new(until));
    let events = std::iter::from_fn(|| medium.poll_event()).collect();
    (medium, events)
}

/// One line an event.
pub fn trace(events: &[Event]) -> String {
    events.iter().fold(String::new(), |mut text, event| {
        writeln!(text, "{event}").expect("a string takes any text");
        text
    })
}

/// Compares `text` with `tests/golden/NAME`; `BLESS=1` rewrites the file.
pub fn check_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    for (number, (is, was)) in text.lines().zip(golden.lines()).enumerate() {
        assert_eq!(is, was, "{name}, line {}; BLESS=1 rewrites the file", number + 1);
    }
    assert_eq!(text.lines().count(), golden.lines().count(), "lines of {name}; BLESS=1 rewrites the file");
}
