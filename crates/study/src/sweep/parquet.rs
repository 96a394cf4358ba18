//! A sweep's rows as Parquet: the same columns as in CSV, with types, units and definitions, and with what made them.

use super::journal::Provenance;
use super::lines::record;
use super::manifest::Manifest;
use serde::{Deserialize, Serialize};
use sim::figures::table::{definition, is_measure, label};
use sim::files::json_lines::WriteError;
use sim::files::output::{PARQUET, Unfinished};
use sim::files::table::{Cell, Column, ColumnKind, Form, TableWriter};
use std::error::Error;
use std::fs::File;
use std::path::Path;

/// The key under which a file has what made it.
pub const KEY: &str = "ethbus";

/// What a Parquet file of rows says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The command, and where and when it ran.
    pub made_by: Provenance,
    /// When the file was written, UTC.
    pub end: String,
    /// The grid that the rows are of.
    pub grid: Manifest,
}

/// The column's kind follows from its name and from the grid, and not from the rows of a file: so all files have the same.
fn column(name: &str, grid: Option<&Manifest>, in_table: &[&str]) -> Column {
    let values = grid.and_then(|grid| match name {
        "seed" => Some(grid.seeds().iter().map(u64::to_string).collect::<Vec<_>>()),
        name => grid.values_of(name).map(|values| values.into_iter().map(str::to_owned).collect()),
    });
    let is_count = |value: &str| value.is_empty() || value.parse::<i64>().is_ok_and(|count| count >= 0);
    let all = |test: &dyn Fn(&str) -> bool| match &values {
        Some(values) => values.iter().all(|value| test(value)),
        None => in_table.iter().all(|value| test(value)),
    };
    let kind = match () {
        () if name == "station" => ColumnKind::Word,
        () if is_measure(name) => ColumnKind::Measure,
        () if all(&is_count) => ColumnKind::Count,
        // A seed above 2^63 − 1 would lose digits as a number.
        () if !name.contains('.') => ColumnKind::Word,
        () if all(&|value| value.parse::<f64>().is_ok()) => ColumnKind::Measure,
        () => ColumnKind::Word,
    };
    let unit = label(name.strip_prefix("ci95_").unwrap_or(name)).map_or("", |(_, unit)| unit);
    Column::new(name, kind).with_unit(unit).with_about(definition(name).unwrap_or_default())
}

/// Writes rows of CSV, each under `header`, to `file`; the columns in `left_out` are not written.
pub fn write_rows(
    (file, place): (File, String),
    header: &csv::StringRecord,
    rows: &[csv::StringRecord],
    left_out: &[&str],
    (grid, made_by): (Option<&Manifest>, &Provenance),
) -> Result<(), WriteError> {
    let kept: Vec<usize> = (0..header.len()).filter(|&at| !left_out.contains(&&header[at])).collect();
    let values = |at: usize| rows.iter().map(|row| &row[at]).collect::<Vec<&str>>();
    let columns: Vec<Column> = kept.iter().map(|&at| column(&header[at], grid, &values(at))).collect();
    let origin = grid.map(|grid| Origin { made_by: made_by.clone(), end: super::journal::now(), grid: grid.clone() });
    let origin = origin.map(|origin| (KEY, serde_json::to_string(&origin).expect("numbers and texts")));
    let texts: Vec<(&str, String)> = origin.into_iter().collect();
    let mut table = TableWriter::open_with(Form::Parquet, file, place, &columns, &texts)?;
    for row in rows {
        let cells = kept.iter().zip(&columns).map(|(&at, column)| match (column.kind, &row[at]) {
            (ColumnKind::Word, word) => Cell::Word(word),
            (_, "") => Cell::Missing,
            (ColumnKind::Measure, number) => number.parse().map_or(Cell::Missing, Cell::Measure),
            (ColumnKind::Count, count) => count.parse().map_or(Cell::Missing, Cell::Count),
            (ColumnKind::Truth, truth) => Cell::Truth(truth == "true"),
        });
        table.row(cells)?;
    }
    table.finish()
}

/// Writes the table `csv`, which is whole, to `path`.
///
/// # Errors
/// One cannot be read, or the other not be written.
pub fn write(csv: &Path, path: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let grid = Manifest::read(csv)?;
    let text = std::fs::read_to_string(csv)?;
    let mut lines = text.lines().map(record);
    let header = lines.next().unwrap_or_default();
    let rows: Vec<csv::StringRecord> = lines.collect();
    if let Some(row) = rows.iter().position(|row| row.len() != header.len()) {
        return Err(format!("{}, line {}: a row of other columns", csv.display(), row + 2).into());
    }
    let (unfinished, file) = Unfinished::begin(path, PARQUET)?;
    let place = path.display().to_string();
    write_rows((file, place), &header, &rows, &[], (grid.as_ref(), &Provenance::here()))?;
    unfinished.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

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
