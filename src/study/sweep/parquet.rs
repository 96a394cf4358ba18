//! A sweep's table as Parquet: the same columns and rows as in CSV, with types.

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use parquet::{basic, errors::ParquetError};
use sim::figures::table::is_measure;
use sim::files::output::{PARQUET, Unfinished};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// What a column holds. It follows from its name, or from the grid; so every table of one grid has the same types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Whole, and at most 2^63 − 1; may be missing.
    Count,
    /// May be missing.
    Measure,
    Text,
}

impl Kind {
    fn of(name: &str, values: &[&str]) -> Kind {
        let is_measure = is_measure(name) || name.starts_with("ci95_") || name.ends_with("wall_s");
        let is_count = |value: &&str| value.is_empty() || value.parse::<i64>().is_ok_and(|count| count >= 0);
        match () {
            () if is_measure => Kind::Measure,
            () if values.iter().all(is_count) => Kind::Count,
            // A seed above 2^63 − 1 would lose digits as a number.
            () if !name.contains('.') => Kind::Text,
            () if values.iter().all(|value| value.parse::<f64>().is_ok()) => Kind::Measure,
            () => Kind::Text,
        }
    }

    fn field(self, name: &str) -> Result<Arc<Type>, ParquetError> {
        let (physical, repetition) = match self {
            Kind::Count => (basic::Type::INT64, basic::Repetition::OPTIONAL),
            Kind::Measure => (basic::Type::DOUBLE, basic::Repetition::OPTIONAL),
            Kind::Text => (basic::Type::BYTE_ARRAY, basic::Repetition::REQUIRED),
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        let logical = match self {
            Kind::Count => Some(basic::LogicalType::integer(64, true)),
            Kind::Measure => None,
            Kind::Text => Some(basic::LogicalType::String),
        };
        field.with_logical_type(logical).build().map(Arc::new)
    }

    fn write(
        self,
        column: &mut SerializedColumnWriter<'_>,
        values: &[&str],
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let is_there: Vec<i16> = values.iter().map(|value| i16::from(!value.is_empty())).collect();
        let there = values.iter().filter(|value| !value.is_empty());
        match self {
            Kind::Count => {
                let counts = there.map(|value| value.parse()).collect::<Result<Vec<i64>, _>>()?;
                column.typed::<Int64Type>().write_batch(&counts, Some(&is_there), None)?;
            }
            Kind::Measure => {
                let measures = there.map(|value| value.parse()).collect::<Result<Vec<f64>, _>>()?;
                column.typed::<DoubleType>().write_batch(&measures, Some(&is_there), None)?;
            }
            Kind::Text => {
                let texts: Vec<ByteArray> = values.iter().map(|&value| value.into()).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
            }
        }
        Ok(())
    }
}

/// Writes the table `csv`, which is whole, to `path`.
///
/// # Errors
/// One cannot be read, or the other not be written.
pub fn write(csv: &Path, path: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut reader = csv::Reader::from_path(csv)?;
    let names = reader.headers()?.clone();
    let rows = reader.into_records().collect::<Result<Vec<_>, _>>()?;
    let columns: Vec<Vec<&str>> = (0..names.len()).map(|index| rows.iter().map(|row| &row[index]).collect()).collect();
    let kinds: Vec<Kind> = names.iter().zip(&columns).map(|(name, values)| Kind::of(name, values)).collect();
    let fields = names.iter().zip(&kinds).map(|(name, kind)| kind.field(name)).collect::<Result<_, _>>()?;
    let schema = Arc::new(Type::group_type_builder("sweep").with_fields(fields).build()?);
    let (unfinished, file) = Unfinished::begin(path, PARQUET)?;
    let properties = WriterProperties::builder().set_created_by(format!("ethbus {}", env!("CARGO_PKG_VERSION")));
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()))?;
    let mut group = writer.next_row_group()?;
    for (kind, values) in kinds.iter().zip(&columns) {
        let mut column = group.next_column()?.ok_or("a column more than the schema has")?;
        kind.write(&mut column, values)?;
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    unfinished.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::fs::File;

    #[test]
    fn what_is_written_is_read_back_with_its_type() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let (csv, path) = (folder.path().join("runs.csv"), folder.path().join("runs.parquet"));
        let text = "run,medium.rate,medium.queue,seed,fairness,ci95_fairness,collision_frames_15\n\
                    1,10M,5,7,0.25,,\n2,\"a,b\",6,9223372036854775808,1,0.5,9\n";
        std::fs::write(&csv, text).expect("own folder");
        write(&csv, &path).expect("room");
        let reader = SerializedFileReader::new(File::open(&path).expect("own file")).expect("a Parquet file");
        let rows = reader.get_row_iter(None).expect("rows").collect::<Result<Vec<_>, _>>().expect("sound rows");
        let fields: Vec<Vec<Field>> =
            rows.iter().map(|row| row.get_column_iter().map(|(_, field)| field.clone()).collect()).collect();
        let (long, double, text) = (Field::Long, Field::Double, |text: &str| Field::Str(text.to_owned()));
        let first = vec![long(1), text("10M"), long(5), text("7"), double(0.25), Field::Null, Field::Null];
        let large = text("9223372036854775808");
        let second = vec![long(2), text("a,b"), long(6), large, double(1.0), double(0.5), long(9)];
        assert_eq!(fields, [first, second]);
    }
}
