//! Events as a table: one row an event, one column for each field that any event has. CSV, Parquet or Arrow.

use super::{Known, Nanos, Window};
use crate::files::beside::{Batch, take_each};
use crate::files::event_log::{EmulatorEvent, Names, write_emulator};
use crate::files::inputs;
use crate::files::json_lines::WriteError;
use crate::files::observer::{End, Observer};
use crate::files::table::{Cell, Column, ColumnKind, Form, TableWriter};
use medium::{BitInstant, Deed, Event, FrameId, Input, Kind, Shape, Value};
use std::fmt::Write as _;
use std::fs::File;
use std::sync::Arc;

/// Writes a table of events.
#[derive(Debug)]
pub struct EventTable {
    output: TableWriter,
    nanos: Nanos,
    stations: Vec<String>,
    names: Names,
    /// The fields of all kinds, in order of their first kind.
    fields: Vec<&'static str>,
    /// The latest frame's name.
    frame: String,
    /// It is on a disk, or given up.
    is_finished: bool,
}

/// The fields of all kinds as columns, in order of their first kind. A field is the same in every kind.
fn fields() -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let kinds = Kind::ALL.iter().zip(Kind::SHAPES).zip(Kind::UNITS);
    for (((_, fields), shapes), units) in kinds {
        for ((field, shape), unit) in fields.iter().zip(*shapes).zip(*units) {
            let kind = match shape {
                Shape::Number => ColumnKind::Count,
                Shape::Truth => ColumnKind::Truth,
                Shape::Word => ColumnKind::Word,
            };
            let column = Column::new(*field, kind).with_unit(unit);
            if !columns.iter().any(|known| known.name == column.name) {
                columns.push(column);
            }
        }
    }
    columns
}

impl EventTable {
    /// Begins a table in a file that the caller opened at `place`.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed.
    pub fn new(form: Form, file: File, place: String, known: &Known) -> Result<EventTable, WriteError> {
        EventTable::with(known, |columns| TableWriter::open(form, file, place, columns))
    }

    /// The same in a table that `open` begins.
    ///
    /// # Errors
    /// It cannot be begun.
    pub fn with(
        known: &Known,
        open: impl FnOnce(&[Column]) -> Result<TableWriter, WriteError>,
    ) -> Result<EventTable, WriteError> {
        let own = fields();
        let names: Vec<&str> = own.iter().map(|column| column.name.as_str()).collect();
        let all = Kind::ALL.iter().flat_map(|(_, fields)| *fields);
        let fields = names.iter().filter_map(|name| all.clone().find(|field| *field == name).copied()).collect();
        let mut columns = vec![
            Column::new("t", ColumnKind::Count).with_unit("BT"),
            Column::new("ns", ColumnKind::Count).with_unit("ns"),
        ];
        columns.extend(["layer", "kind", "station", "frame"].map(|name| Column::new(name, ColumnKind::Word)));
        columns.extend(own);
        columns.push(Column::new("detail", ColumnKind::Word));
        Ok(EventTable {
            output: open(&columns)?,
            nanos: Nanos::new(known.header.configuration.rate()),
            stations: known.header.seats(),
            names: Names::new(&known.header.seats()),
            fields,
            frame: String::new(),
            is_finished: false,
        })
    }

    /// A row of another layer: the last column has the event, as the trace has it.
    fn other(&mut self, at: BitInstant, layer: &str, json: &[u8]) -> Result<(), WriteError> {
        let detail = String::from_utf8_lossy(json);
        let begin = [Cell::Count(at.get()), Cell::Count(self.nanos.of(at)), Cell::Word(layer)];
        let none = std::iter::repeat_n(Cell::Missing, 3 + self.fields.len());
        self.output.row(begin.into_iter().chain(none).chain([Cell::Word(&detail)]))
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        if std::mem::replace(&mut self.is_finished, true) { Ok(()) } else { self.output.finish() }
    }
}

/// A run that cannot be read to its end leaves a table that is whole.
impl Drop for EventTable {
    fn drop(&mut self) {
        // The caller reports why the run has no end.
        let _ = self.finish();
    }
}

impl Window for EventTable {
    fn write_beside(&mut self) {
        self.output.write_beside();
    }

    fn take(&mut self, batch: &Batch) -> Result<(), WriteError> {
        take_each(self, batch)
    }
}

impl Observer for EventTable {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        let Input::Deed(deed) = input else { return Ok(()) };
        if let Deed::Add { station, who } = deed {
            self.names.call(*station, who.name());
            who.name().clone_into(&mut self.stations[station.index()]);
        }
        let mut json = Vec::new();
        inputs::write_deed(&mut json, &self.names, at, *deed);
        self.other(at, inputs::LAYER, &json)
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        let Event { at, station, frame: FrameId { station: of, serial }, kind } = *event;
        self.frame.clear();
        write!(self.frame, "{}#{serial}", self.stations[of.index()]).expect("a string takes any text");
        let mut values = vec![Cell::Missing; self.fields.len()];
        kind.fields(|name: &'static str, value: Value<'static>| {
            let column = self.fields.iter().position(|field| *field == name).expect("every field has a column");
            values[column] = match value {
                Value::Number(number) => Cell::Count(number),
                Value::Truth(truth) => Cell::Truth(truth),
                Value::Word(word) => Cell::Word(word),
            };
        });
        let begin = [
            Cell::Count(at.get()),
            Cell::Count(self.nanos.of(at)),
            Cell::Word("medium"),
            Cell::Word(kind.name()),
            Cell::Word(&self.stations[station.index()]),
            Cell::Word(&self.frame),
        ];
        self.output.row(begin.into_iter().chain(values).chain([Cell::Missing]))
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
        self.finish()
    }
}
