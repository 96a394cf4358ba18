//! One row of a table with what made it, and how it differs from the same run of today.

use super::error::TableError;
#[cfg(feature = "parquet")]
use super::folder;
use super::journal::{History, Provenance};
use super::lines::record;
use super::manifest::Manifest;
use super::output::{Rows, is_folder};
use serde::Serialize;
use std::path::Path;

/// A row that a table has.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The grid that it is of.
    pub grid: Manifest,
    /// Its number, from 0.
    pub run: u64,
    /// Its columns, each with its value.
    pub columns: Vec<(String, String)>,
    /// The command that made it, if known.
    pub made_by: Option<Provenance>,
    /// When it was written, likewise.
    pub end: Option<String>,
    /// Numbers are kept as numbers, and not as digits.
    typed: bool,
}

/// A column whose value is another today.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The column.
    pub column: String,
    /// Its value in the table; none if the table has no such column.
    pub there: Option<String>,
    /// Its value today; none if there is no such column.
    pub here: Option<String>,
}

impl Kept {
    /// Reads row `run`, from 0, of a table, or its first one. The table is CSV, a folder or a Parquet file.
    ///
    /// # Errors
    /// The table was altered, is no sweep's, or does not have the row.
    pub fn read(table: &Path, run: Option<u64>) -> Result<Kept, TableError> {
        let is_parquet = table.extension().is_some_and(|extension| extension == "parquet");
        if is_parquet && !is_folder(table) {
            return Kept::of_parquet(table, None, run);
        }
        let grid = Manifest::of_table(table)?;
        if is_folder(table) {
            return Kept::of_parquet(table, Some(&grid), run);
        }
        let rows = Rows::read(table, &grid)?;
        rows.check(table, &grid)?;
        let run = run.or_else(|| rows.lines.first_key_value().map(|(run, _)| *run)).unwrap_or(0);
        let Some((header, line)) = rows.header.as_deref().zip(rows.lines.get(&run)) else {
            return Err(TableError::Shards { path: table.to_owned(), what: format!("it has no row {}", run + 1) });
        };
        let history = History::read(table, grid.seeds().len() as u64)?;
        let (made_by, end) = history.made_by(run).map(|(by, end)| (by.clone(), end.to_owned())).unzip();
        Ok(Kept { grid, run, columns: columns(header, line), made_by, end, typed: false })
    }

    #[cfg(feature = "parquet")]
    fn of_parquet(table: &Path, grid: Option<&Manifest>, run: Option<u64>) -> Result<Kept, TableError> {
        let (run, columns, origin) = match grid {
            Some(grid) => folder::row_of_all(table, grid, run)?,
            None => folder::row(table, run)?,
        };
        let (made_by, end) = (Some(origin.made_by), Some(origin.end));
        Ok(Kept { grid: origin.grid, run, columns, made_by, end, typed: true })
    }

    #[cfg(not(feature = "parquet"))]
    fn of_parquet(table: &Path, _: Option<&Manifest>, _: Option<u64>) -> Result<Kept, TableError> {
        let what = format!("this ethbus was built without Parquet: {}", sim::files::table::BUILD_WITH_PARQUET);
        Err(TableError::Shards { path: table.to_owned(), what })
    }

    /// What differs from the same run of today, whose header and row are these; columns in `left_out` may differ.
    pub fn differences(&self, header: &str, row: &str, left_out: &[&str]) -> Vec<Difference> {
        let here = columns(header, row);
        let find = |all: &[(String, String)], name: &str| {
            all.iter().find(|(column, _)| column == name).map(|(_, value)| value.clone())
        };
        let keys: Vec<&str> = self.grid.values(self.run).iter().map(|(key, _)| *key).collect();
        let names = self.columns.iter().map(|(name, _)| name);
        // A file of a folder has no columns for keys: the row's number tells them.
        let further = here.iter().map(|(name, _)| name).filter(|name| find(&self.columns, name).is_none());
        let further = further.filter(|name| !(self.typed && keys.contains(&name.as_str())));
        let names = names.chain(further).filter(|name| !left_out.contains(&name.as_str()));
        let pairs = names.map(|name| (name, find(&self.columns, name), find(&here, name)));
        pairs
            .filter(|(_, there, here)| !self.is_same(there.as_deref(), here.as_deref()))
            .map(|(name, there, here)| Difference { column: name.clone(), there, here })
            .collect()
    }

    fn is_same(&self, there: Option<&str>, here: Option<&str>) -> bool {
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok()).map(f64::to_bits);
        there == here || (self.typed && number(there).is_some() && number(there) == number(here))
    }
}

fn columns(header: &str, line: &str) -> Vec<(String, String)> {
    record(header).iter().zip(record(line).iter()).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
