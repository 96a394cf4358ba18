//! The same table as Parquet: a row group for some rows at a time, so that memory does not grow with the table.

use super::{Cell, Column, ColumnKind};
use crate::files::json_lines::WriteError;
use parquet::basic::{Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::fs::File;
use std::sync::Arc;

/// Rows of a group: some megabytes of memory for the widest table.
const GROUP: usize = 1 << 16;

/// See the module.
#[derive(Debug)]
pub struct ParquetTable {
    place: String,
    writer: SerializedFileWriter<File>,
    columns: Vec<Values>,
    rows: usize,
}

/// What waits to be written of one column: 1 in `there` for each value that is.
#[derive(Debug)]
struct Values {
    there: Vec<i16>,
    values: Kind,
}

#[derive(Debug)]
enum Kind {
    Counts(Vec<i64>),
    Measures(Vec<f64>),
    Words(Vec<ByteArray>),
}

impl ParquetTable {
    /// Begins a table in `file`, which is at `place`.
    pub fn new(file: File, place: String, columns: &[Column]) -> Result<ParquetTable, WriteError> {
        let begin = || -> Result<SerializedFileWriter<File>, ParquetError> {
            let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_, _>>()?;
            let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
            let program = concat!("ethbus ", env!("CARGO_PKG_VERSION"));
            let mut properties = WriterProperties::builder().set_created_by(program.to_owned());
            for column in columns.iter().filter(|column| column.kind == ColumnKind::Count) {
                // Instants and numbers of frames grow from row to row by little.
                let path = ColumnPath::from(column.name.as_str());
                properties = properties.set_column_dictionary_enabled(path.clone(), false);
                properties = properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
            SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
        };
        let writer = begin().map_err(|source| WriteError::Table { place: place.clone(), source: source.into() })?;
        let columns = columns.iter().map(|column| Values::new(column.kind)).collect();
        Ok(ParquetTable { place, writer, columns, rows: 0 })
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
        self.end_group()?;
        self.writer.finish().map(|_| ()).map_err(|source| self.failed(source))
    }

    fn end_group(&mut self) -> Result<(), WriteError> {
        self.rows = 0;
        self.write_group().map_err(|source| self.failed(source))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for values in &mut self.columns {
            let mut column = group.next_column()?.expect("the schema was made from the columns");
            values.write(&mut column)?;
            column.close()?;
        }
        group.close().map(|_| ())
    }

    fn failed(&self, source: ParquetError) -> WriteError {
        WriteError::Table { place: self.place.clone(), source: source.into() }
    }
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        ColumnKind::Count => (Physical::INT64, None),
        ColumnKind::Measure => (Physical::DOUBLE, None),
        ColumnKind::Word => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let field = Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    field.with_logical_type(logical).build()
}

impl Values {
    fn new(kind: ColumnKind) -> Values {
        let values = match kind {
            ColumnKind::Count => Kind::Counts(Vec::new()),
            ColumnKind::Measure => Kind::Measures(Vec::new()),
            ColumnKind::Word => Kind::Words(Vec::new()),
        };
        Values { there: Vec::new(), values }
    }

    fn push(&mut self, cell: Cell<'_>) {
        self.there.push(i16::from(cell != Cell::Missing));
        match (&mut self.values, cell) {
            (Kind::Counts(counts), Cell::Count(count)) => counts.push(count as i64),
            (Kind::Measures(measures), Cell::Measure(measure)) => measures.push(measure),
            (Kind::Words(words), Cell::Word(word)) => words.push(word.into()),
            (Kind::Counts(_) | Kind::Measures(_) | Kind::Words(_), Cell::Missing) => {}
            (Kind::Counts(_), cell @ (Cell::Measure(_) | Cell::Word(_)))
            | (Kind::Measures(_), cell @ (Cell::Count(_) | Cell::Word(_)))
            | (Kind::Words(_), cell @ (Cell::Count(_) | Cell::Measure(_))) => {
                panic!("{cell:?} in a column of another kind")
            }
        }
    }

    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let there = Some(&self.there[..]);
        match &mut self.values {
            Kind::Counts(counts) => {
                column.typed::<Int64Type>().write_batch(counts, there, None)?;
                counts.clear();
            }
            Kind::Measures(measures) => {
                column.typed::<DoubleType>().write_batch(measures, there, None)?;
                measures.clear();
            }
            Kind::Words(words) => {
                column.typed::<ByteArrayType>().write_batch(words, there, None)?;
                words.clear();
            }
        }
        self.there.clear();
        Ok(())
    }
}
