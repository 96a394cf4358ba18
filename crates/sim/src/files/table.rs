//! Tables that are written row by row: CSV, Parquet or Arrow.
//!
//! Knows nothing of a column's content but its kind.

#[cfg(feature = "parquet")]
mod arrow;

use crate::files::json_lines::{LineWriter, WriteError, create_as};
use crate::files::output;
use crate::words::prose::push_number;
use std::fs::File;
use std::path::Path;

/// What a column holds. Any value may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A whole number, not negative.
    Count,
    /// A number.
    Measure,
    /// A fact that is true or false.
    Truth,
    /// One of few words.
    Word,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// The unit, unless it is at the name's end or there is none; only Parquet and Arrow files have it.
    pub unit: &'static str,
    /// The column's meaning; only Parquet and Arrow files have it.
    pub about: String,
}

impl Column {
    /// A column of this name.
    pub fn new(name: impl Into<String>, kind: ColumnKind) -> Column {
        Column { name: name.into(), kind, unit: "", about: String::new() }
    }

    /// The same with a unit.
    pub fn with_unit(self, unit: &'static str) -> Column {
        Column { unit, ..self }
    }

    /// The same with its definition.
    pub fn with_about(self, about: String) -> Column {
        Column { about, ..self }
    }
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// In a column of counts.
    Count(u64),
    /// Of a column of measures; written with as many digits as bring it back exactly.
    Measure(f64),
    /// Of a column of facts.
    Truth(bool),
    /// Of a column of words.
    Word(&'a str),
    /// There is none.
    Missing,
}

impl From<Option<u64>> for Cell<'_> {
    fn from(count: Option<u64>) -> Self {
        count.map_or(Cell::Missing, Cell::Count)
    }
}

/// Writes a table.
#[derive(Debug)]
pub struct TableWriter {
    format: Format,
    /// What every row begins with.
    lead: Vec<u64>,
}

#[derive(Debug)]
enum Format {
    Csv(LineWriter),
    #[cfg(feature = "parquet")]
    Arrow(Box<arrow::ArrowTable>),
}

/// What a table's file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines with commas (RFC 4180).
    Csv,
    /// Parquet.
    Parquet,
    /// An Arrow file (IPC), which readers map into memory.
    Arrow,
}

/// What a user of a program without Parquet and Arrow does.
pub const BUILD_WITH_PARQUET: &str = "build it with `cargo build --release --features parquet`";

impl Form {
    /// Whether this program can write it.
    pub fn is_built(self) -> bool {
        self == Form::Csv || cfg!(feature = "parquet")
    }
}

/// Whether a file of this name is one that only a build with Parquet can write, and this is none.
pub fn lacks_parquet(path: &Path) -> bool {
    !form(path).is_built()
}

/// The form that a file's name asks for.
fn form(path: &Path) -> Form {
    if path.extension().is_some_and(|extension| extension == "parquet") { Form::Parquet } else { Form::Csv }
}

impl TableWriter {
    /// Begins a table with these columns in a new file, which is none of `others`.
    ///
    /// # Errors
    /// The file cannot be made, or its beginning not be written.
    pub fn create(path: &Path, others: &[&Path], columns: &[Column]) -> Result<TableWriter, WriteError> {
        let (file, place) = (create_as(output::ROWS, path, others)?, output::place_name(path));
        TableWriter::open(form(path), file, place, columns)
    }

    /// Begins a table in a file that the caller opened at `place`, in a form that this program can write.
    ///
    /// # Errors
    /// Its beginning cannot be written.
    pub fn open(form: Form, file: File, place: String, columns: &[Column]) -> Result<TableWriter, WriteError> {
        TableWriter::open_with(form, file, place, columns, &[])
    }

    /// The same with texts about the whole table, each under its key; only Parquet files have them.
    ///
    /// # Errors
    /// As [`TableWriter::open`].
    pub fn open_with(
        form: Form,
        file: File,
        place: String,
        columns: &[Column],
        texts: &[(&str, String)],
    ) -> Result<TableWriter, WriteError> {
        #[cfg(feature = "parquet")]
        if form != Form::Csv {
            let table = arrow::ArrowTable::new(form, file, place, columns, texts)?;
            return Ok(TableWriter { format: Format::Arrow(Box::new(table)), lead: Vec::new() });
        }
        let _ = texts;
        assert!(form == Form::Csv, "the caller has asked whether {form:?} is built");
        let mut lines = LineWriter::new(file, place, "rows");
        lines.line(|line| write_row(line, columns.iter().map(|column| Cell::Word(&column.name))))?;
        lines.flush()?;
        Ok(TableWriter { format: Format::Csv(lines), lead: Vec::new() })
    }

    /// The same with counts that every row begins with, each under its column's name.
    ///
    /// # Errors
    /// As [`TableWriter::open`].
    pub fn open_led(
        form: Form,
        file: File,
        place: String,
        columns: &[Column],
        lead: &[(&str, u64)],
    ) -> Result<TableWriter, WriteError> {
        let first = lead.iter().map(|(name, _)| Column::new(*name, ColumnKind::Count));
        let columns: Vec<Column> = first.chain(columns.iter().cloned()).collect();
        let writer = TableWriter::open(form, file, place, &columns)?;
        Ok(TableWriter { lead: lead.iter().map(|(_, count)| *count).collect(), ..writer })
    }

    /// Adds a row: a cell for each column, of its kind or missing.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn row<'a>(&mut self, cells: impl Iterator<Item = Cell<'a>>) -> Result<(), WriteError> {
        let cells = self.lead.iter().map(|count| Cell::Count(*count)).chain(cells);
        match &mut self.format {
            Format::Csv(lines) => lines.line(|line| write_row(line, cells)),
            #[cfg(feature = "parquet")]
            Format::Arrow(table) => table.row(cells),
        }
    }

    /// From now on a thread of its own hands lines to the kernel, if the system gives one.
    pub fn write_beside(&mut self) {
        match &mut self.format {
            Format::Csv(lines) => lines.write_beside(),
            #[cfg(feature = "parquet")]
            Format::Arrow(_) => {}
        }
    }

    /// Hands what there is to the kernel, as far as the form has whole parts.
    ///
    /// # Errors
    /// As [`TableWriter::row`].
    pub fn flush(&mut self) -> Result<(), WriteError> {
        match &mut self.format {
            Format::Csv(lines) => lines.flush(),
            #[cfg(feature = "parquet")]
            Format::Arrow(_) => Ok(()),
        }
    }

    /// The table is whole. Nothing may be added any more.
    ///
    /// # Errors
    /// As [`TableWriter::row`].
    pub fn finish(&mut self) -> Result<(), WriteError> {
        match &mut self.format {
            Format::Csv(lines) => lines.flush(),
            #[cfg(feature = "parquet")]
            Format::Arrow(table) => table.finish(),
        }
    }
}

fn write_row<'a>(line: &mut Vec<u8>, cells: impl Iterator<Item = Cell<'a>>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            line.push(b',');
        }
        match cell {
            Cell::Count(count) => push_number(line, count),
            Cell::Measure(measure) => line.extend_from_slice(measure.to_string().as_bytes()),
            Cell::Truth(truth) => line.extend_from_slice(if truth { b"true" } else { b"false" }),
            Cell::Word(word) if word.contains(['"', ',', '\n', '\r']) => {
                line.push(b'"');
                line.extend_from_slice(word.replace('"', "\"\"").as_bytes());
                line.push(b'"');
            }
            Cell::Word(word) => line.extend_from_slice(word.as_bytes()),
            Cell::Missing => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_as_csv_readers_want_it() {
        let columns = [("n", ColumnKind::Count), ("x", ColumnKind::Measure), ("a,b", ColumnKind::Word)];
        let columns = columns.map(|(name, kind)| Column::new(name, kind));
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("table.csv");
        let mut table = TableWriter::create(&path, &[], &columns).expect("own folder");
        table.row([Cell::Count(3), Cell::Measure(0.1), Cell::Word("s\"1")].into_iter()).expect("room");
        table.row([Cell::Missing, Cell::Missing, Cell::Word("st1")].into_iter()).expect("room");
        table.finish().expect("room");
        let mut reader = csv::Reader::from_path(&path).expect("own file");
        assert_eq!(reader.headers().expect("a header"), &csv::StringRecord::from(vec!["n", "x", "a,b"]));
        let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("CSV");
        assert_eq!(rows, [vec!["3", "0.1", "s\"1"], vec!["", "", "st1"]].map(csv::StringRecord::from));
    }

    #[test]
    fn a_full_disk_is_told() {
        let columns = [Column::new("n", ColumnKind::Count)];
        let error = TableWriter::create(Path::new("/dev/full"), &[], &columns).expect_err("full").to_string();
        assert_eq!(error, "cannot write /dev/full: no rows are in it");
    }
}
