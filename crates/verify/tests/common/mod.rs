//! A run of the engine as a trace, and what the verifier says of a trace.
#![allow(dead_code, reason = "each test file uses its own part of this module")]

pub mod damage;

use medium::{BitInstant, Config, Destination, Event, Host, Input, Medium};
use sim::files::event_log::{Entry, EventLog, EventLogReader, Header, Level, Row};
use sim::files::json_lines::LineReader;
use sim::files::observer::End;
use std::sync::{Arc, Mutex};
use verify::{Verdict, verify};

struct Writes(EventLog);

impl Host for Writes {
    fn event(&mut self, event: &Event) {
        self.0.event(event).expect("memory takes every line");
    }
}

fn header(config: &Config) -> Header {
    let names: Vec<String> = (1..=config.topology.stations()).map(|number| format!("st{number}")).collect();
    Header::new("random", config, &names).at_level(Level::All)
}

/// The trace of a run up to `until`.
pub fn trace_of(config: &Config, inputs: &[(u64, Input)], until: u64) -> String {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let mut host = Writes(EventLog::in_memory(&kept, &header(config)).expect("memory"));
    let config = Config { keep_events: false, keep_outputs: false, ..config.clone() };
    let mut medium = Medium::new(config).expect("a valid configuration");
    for (at, input) in inputs {
        medium.run_until(BitInstant::new(*at), &mut host);
        host.0.input(BitInstant::new(*at), input, None).expect("memory takes every line");
        medium.give(BitInstant::new(*at), *input, &mut host);
    }
    medium.run_until(BitInstant::new(until), &mut host);
    host.0.finish_at(Some(End { run_to: until, t: until })).expect("memory takes every line");
    let text = kept.lock().expect("no panic").clone();
    String::from_utf8(text).expect("UTF-8")
}

pub fn verdict(text: &str) -> Verdict {
    let lines = LineReader::new(text.as_bytes(), "trace".to_owned());
    verify(&mut EventLogReader::new(lines).expect("a trace"), |_, _| {}).expect("a trace with events")
}

/// What was found, one line each.
pub fn found(text: &str) -> Vec<String> {
    let line = |it: &verify::Violation| format!("{} {} {}: {}", it.at, it.station, it.rule.name, it.text);
    verdict(text).violations.iter().map(line).collect()
}

/// A row, and whom an offered frame is for.
pub type Told = (Entry, Option<(Destination, bool)>);

/// The events and deeds of a trace.
pub fn rows(text: &str) -> Vec<Told> {
    let mut trace = EventLogReader::new(LineReader::new(text.as_bytes(), "trace".to_owned())).expect("a trace");
    let mut rows = Vec::new();
    while let Some(row) = trace.next_row().expect("a row") {
        if let Row::Entry(entry) = row {
            rows.push((entry, trace.offered()));
        }
    }
    rows
}

/// A trace of the level `events` with these rows, and checks that are right.
pub fn written(config: &Config, rows: &[Told]) -> String {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let mut log = EventLog::in_memory(&kept, &header(config).at_level(Level::Events)).expect("memory");
    for (entry, offered) in rows {
        log.copy(&Row::Entry(entry.clone()), *offered).expect("memory takes every line");
    }
    log.finish().expect("memory takes every line");
    let text = kept.lock().expect("no panic").clone();
    String::from_utf8(text).expect("UTF-8")
}
