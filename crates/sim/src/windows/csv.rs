//! Events as a table: one row an event, one column for each field that any event has.

use super::{Known, Nanos, Window};
use crate::files::beside::{Note, take_each};
use crate::files::event_log::{EmulatorEvent, Names, write_emulator};
use crate::files::inputs;
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::Observer;
use crate::files::record::End;
use medium::{BitInstant, Event, Input, Kind, StationId, Value};
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

/// Writes a table of events.
#[derive(Debug)]
pub struct EventTable {
    output: LineWriter,
    nanos: Nanos,
    /// The stations' names, as they are and as cells.
    plain: Vec<String>,
    stations: Vec<String>,
    names: Names,
    /// The fields of all kinds, in order of their first kind.
    columns: Vec<&'static str>,
}

impl EventTable {
    /// Writes the names of the columns to a file that the caller opened at `place`.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed.
    pub fn new(file: File, place: String, known: &Known) -> Result<EventTable, WriteError> {
        let mut columns: Vec<&'static str> = Vec::new();
        for field in Kind::ALL.iter().flat_map(|(_, fields)| *fields) {
            if !columns.contains(field) {
                columns.push(field);
            }
        }
        let mut table = EventTable {
            output: LineWriter::new(file, place, "rows"),
            nanos: Nanos::new(known.header.configuration.rate()),
            plain: known.header.stations.clone(),
            stations: known.header.stations.iter().map(|name| quoted(name)).collect(),
            names: Names::new(&known.header.stations),
            columns,
        };
        let names = format!("t,ns,layer,kind,station,frame,{},detail", table.columns.join(","));
        table.output.line(|line| line.extend_from_slice(names.as_bytes()))?;
        table.output.flush()?;
        Ok(table)
    }

    fn station(&self, station: StationId) -> &str {
        &self.stations[station.index()]
    }

    /// A row of another layer: the last column has the event, as the event log has it.
    fn other(&mut self, at: BitInstant, layer: &str, json: &[u8]) -> Result<(), WriteError> {
        let (ns, empty) = (self.nanos.of(at), ",".repeat(self.columns.len()));
        let detail = quoted(&String::from_utf8_lossy(json));
        self.output.line(|line| write!(line, "{at},{ns},{layer},,,{empty},{detail}").expect("a Vec takes any text"))
    }
}

impl Window for EventTable {
    fn write_beside(&mut self) {
        self.output.write_beside();
    }

    fn take(&mut self, batch: &[Note]) -> Result<(), WriteError> {
        take_each(self, batch)
    }
}

impl Observer for EventTable {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        if matches!(input, Input::Offer { .. }) {
            return Ok(());
        }
        let mut json = Vec::new();
        inputs::write(&mut json, &self.names, at, input, None, Some(inputs::LAYER));
        self.other(at, inputs::LAYER, &json)
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        let (at, ns, kind) = (event.at, self.nanos.of(event.at), event.kind.name());
        let frame = quoted(&format!("{}#{}", self.plain[event.frame.station.index()], event.frame.serial));
        let mut row = format!("{at},{ns},medium,{kind},{},{frame},", self.station(event.station)).into_bytes();
        let mut values = vec![None; self.columns.len()];
        event.kind.fields(|name: &'static str, value: Value<'static>| {
            let column = self.columns.iter().position(|column| *column == name).expect("every field has a column");
            values[column] = Some(value);
        });
        for value in values {
            match value {
                None => {}
                Some(Value::Number(number)) => write!(row, "{number}").expect("a Vec takes any text"),
                Some(Value::Truth(truth)) => write!(row, "{truth}").expect("a Vec takes any text"),
                Some(Value::Word(word)) => row.extend_from_slice(word.as_bytes()),
            }
            row.push(b',');
        }
        self.output.line(|line| line.extend_from_slice(&row))
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        let mut json = Vec::new();
        write_emulator(&mut json, &self.names, event);
        self.other(event.at, "emulator", &json)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.output.flush()
    }

    fn end(&mut self, _: End) -> Result<(), WriteError> {
        self.output.flush()
    }
}

/// A text as a table's cell (RFC 4180).
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
