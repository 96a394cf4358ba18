//! The same table as Parquet, or as an Arrow file (IPC): rows are written in groups, so that memory does not grow with
//! the table. A column's unit is in its metadata, which Parquet keeps in its Arrow schema.

use super::{Cell, Column, ColumnKind, Form};
use crate::files::json_lines::WriteError;
use arrow_array::builder::{ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Encoding;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::sync::Arc;

/// Rows of a group: some megabytes of memory for the widest table.
const GROUP: usize = 1 << 16;

type Wrong = Box<dyn Error + Send + Sync>;

/// See the module.
pub struct ArrowTable {
    place: String,
    file: Sink,
    schema: SchemaRef,
    columns: Vec<Values>,
    rows: usize,
}

enum Sink {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<File>>),
}

/// What waits to be written of one column.
enum Values {
    Counts(Int64Builder),
    Measures(Float64Builder),
    Truths(BooleanBuilder),
    Words(StringBuilder),
}

impl fmt::Debug for ArrowTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrowTable").field("place", &self.place).field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl ArrowTable {
    /// Begins a table in `file`, which is at `place`.
    pub fn new(
        form: Form,
        file: File,
        place: String,
        columns: &[Column],
        texts: &[(&str, String)],
    ) -> Result<ArrowTable, WriteError> {
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<Field>>()));
        let sink = match form {
            Form::Arrow => FileWriter::try_new(file, &schema).map(|it| Sink::Arrow(Box::new(it))).map_err(Wrong::from),
            Form::Parquet | Form::Csv => ArrowWriter::try_new(file, schema.clone(), Some(properties(columns, texts)))
                .map(|it| Sink::Parquet(Box::new(it)))
                .map_err(Wrong::from),
        };
        let file = sink.map_err(|source| WriteError::Table { place: place.clone(), source })?;
        let columns = columns.iter().map(|column| Values::new(column.kind)).collect();
        Ok(ArrowTable { place, file, schema, columns, rows: 0 })
    }

    /// Adds a row.
    pub fn row<'a>(&mut self, cells: impl Iterator<Item = Cell<'a>>) -> Result<(), WriteError> {
        let columns = self.columns.len();
        let taken = self.columns.iter_mut().zip(cells).map(|(column, cell)| column.push(cell)).count();
        assert_eq!(taken, columns, "a row has a cell for each column");
        self.rows += 1;
        if self.rows < GROUP { Ok(()) } else { self.end_group() }
    }

    /// Writes what is left, and the file's end.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        if self.rows > 0 {
            self.end_group()?;
        }
        let finished = match &mut self.file {
            Sink::Parquet(file) => file.finish().map(|_| ()).map_err(Wrong::from),
            Sink::Arrow(file) => file.finish().map_err(Wrong::from),
        };
        finished.map_err(|source| WriteError::Table { place: self.place.clone(), source })
    }

    fn end_group(&mut self) -> Result<(), WriteError> {
        self.rows = 0;
        self.write_group().map_err(|source| WriteError::Table { place: self.place.clone(), source })
    }

    fn write_group(&mut self) -> Result<(), Wrong> {
        let arrays = self.columns.iter_mut().map(Values::take).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)?;
        match &mut self.file {
            Sink::Parquet(file) => {
                file.write(&batch)?;
                file.flush()?;
            }
            Sink::Arrow(file) => file.write(&batch)?,
        }
        Ok(())
    }
}

fn field(column: &Column) -> Field {
    let kind = match column.kind {
        ColumnKind::Count => DataType::Int64,
        ColumnKind::Measure => DataType::Float64,
        ColumnKind::Truth => DataType::Boolean,
        ColumnKind::Word => DataType::Utf8,
    };
    let texts = [("unit", column.unit), ("definition", &column.about)];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let texts = texts.map(|(key, text)| (key.to_owned(), text.to_owned()));
    Field::new(&column.name, kind, true).with_metadata(texts.collect::<HashMap<_, _>>())
}

fn properties(columns: &[Column], texts: &[(&str, String)]) -> WriterProperties {
    let program = concat!("ethbus ", env!("CARGO_PKG_VERSION"));
    let mut properties = WriterProperties::builder().set_created_by(program.to_owned());
    if !texts.is_empty() {
        let pair = |(key, text): &(&str, String)| KeyValue::new((*key).to_owned(), text.clone());
        properties = properties.set_key_value_metadata(Some(texts.iter().map(pair).collect()));
    }
    for column in columns.iter().filter(|column| column.kind == ColumnKind::Count) {
        // Instants and numbers of frames grow from row to row by little.
        let path = ColumnPath::from(column.name.as_str());
        properties = properties.set_column_dictionary_enabled(path.clone(), false);
        properties = properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

impl Values {
    fn new(kind: ColumnKind) -> Values {
        match kind {
            ColumnKind::Count => Values::Counts(Int64Builder::new()),
            ColumnKind::Measure => Values::Measures(Float64Builder::new()),
            ColumnKind::Truth => Values::Truths(BooleanBuilder::new()),
            ColumnKind::Word => Values::Words(StringBuilder::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Values::Counts(counts), Cell::Count(count)) => counts.append_value(count as i64),
            (Values::Measures(measures), Cell::Measure(measure)) => measures.append_value(measure),
            (Values::Truths(truths), Cell::Truth(truth)) => truths.append_value(truth),
            (Values::Words(words), Cell::Word(word)) => words.append_value(word),
            (Values::Counts(counts), Cell::Missing) => counts.append_null(),
            (Values::Measures(measures), Cell::Missing) => measures.append_null(),
            (Values::Truths(truths), Cell::Missing) => truths.append_null(),
            (Values::Words(words), Cell::Missing) => words.append_null(),
            (_, cell) => panic!("{cell:?} in a column of another kind"),
        }
    }

    fn take(&mut self) -> ArrayRef {
        let builder: &mut dyn ArrayBuilder = match self {
            Values::Counts(counts) => counts,
            Values::Measures(measures) => measures,
            Values::Truths(truths) => truths,
            Values::Words(words) => words,
        };
        builder.finish()
    }
}
