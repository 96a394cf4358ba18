//! A run of random inputs and its event log, for checks that use the log's lines alone.

use medium::{BitInstant, BitTimes, Config, Input, Medium, Place};
use serde_json::Value;
use sim::files::event_log::{EventLog, Header};

/// Runs a medium up to a bit time; gives it with its log as text, and the log's events as JSON.
pub fn logged(config: &Config, inputs: &[(u64, Input)], until: u64) -> (Medium, String, Vec<Value>) {
    let names: Vec<String> = (1..=config.topology.stations()).map(|number| format!("st{number}")).collect();
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut log = EventLog::create(file.path(), &[], &Header::new("", config, &names)).expect("a file");
    let mut medium = Medium::new(config.clone()).expect("valid");
    let take = |medium: &mut Medium, log: &mut EventLog| {
        while let Some(event) = medium.poll_event() {
            log.event(&event).expect("room");
        }
    };
    for &(at, input) in inputs {
        log.input(BitInstant::new(at), &input, None).expect("room");
        medium.handle_input(BitInstant::new(at), input);
        take(&mut medium, &mut log);
    }
    medium.advance(BitInstant::new(until));
    take(&mut medium, &mut log);
    log.finish().expect("room");
    let log = std::fs::read_to_string(file.path()).expect("UTF-8");
    // What proves the log is no event.
    let log: String = log.split_inclusive('\n').filter(|line| !line.contains("\"layer\":\"check\"")).collect();
    let log = log.replacen(",\"checked\":true", "", 1);
    let lines = log.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (medium, log, lines)
}

/// A text of a line; empty if it has no such key.
pub fn text<'a>(line: &'a Value, key: &str) -> &'a str {
    line[key].as_str().unwrap_or("")
}

/// A number of a line.
pub fn number(line: &Value, key: &str) -> u64 {
    line[key].as_u64().unwrap_or_else(|| panic!("no {key} in {line}"))
}

/// The number of a station, from 0 on, by its name or a frame's.
pub fn station(name: &str) -> usize {
    name.trim_start_matches("st").split('#').next().and_then(|digits| digits.parse::<usize>().ok()).expect("a name") - 1
}

/// The stations beyond the cut in a line of a deed; none if it mends the cable.
pub fn beyond_cut(config: &Config, line: &Value) -> Vec<bool> {
    let place = |cut: &Value| Place {
        segment: number(cut, "segment") as usize,
        position: BitTimes::new(number(cut, "position_bt")),
    };
    let cut = Some(&line["cut"]).filter(|cut| !cut.is_null()).map(place);
    cut.map_or(vec![false; config.topology.stations()], |cut| config.topology.beyond(cut).expect("a cut").to_vec())
}
