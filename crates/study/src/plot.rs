//! Figures of a sweep's table: metrics over a key, their mean over seeds, and how far that can be off.
//!
//! | module | holds |
//! |---|---|
//! | [`data`] | the table's rows as series of points |
//! | [`labels`] | what columns are called, and their units |
//! | [`looks`] | what tells lines apart |
//! | [`axis`] | the places of numbers and names along an axis, and its ticks |
//! | [`draw`] | the figure |
//! | [`picture`], [`bitmap`] | the figure as SVG or PNG, and the text in a PNG |

pub mod axis;
pub mod bitmap;
pub mod chart;
pub mod data;
pub mod draw;
pub mod labels;
pub mod looks;
pub mod picture;

use sim::files::output::OutputError;
use sim::words::units::many;
use std::path::{Path, PathBuf};

/// Why a file is not read as a table.
fn unread(path: &Path, error: csv::Error) -> PlotError {
    let path = path.to_owned();
    let line = |at: &Option<csv::Position>| at.as_ref().map_or(1, csv::Position::line);
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let what = format!("it has {}, and the first line {expected_len}", many(*len, "column"));
            PlotError::NoTable { path, line: line(pos), what }
        }
        csv::ErrorKind::Utf8 { pos, .. } => {
            PlotError::NoTable { path, line: line(pos), what: "it is no text in UTF-8".to_owned() }
        }
        _ => PlotError::Read { path, source: error.into() },
    }
}

/// Why a figure cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The table cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no table.
    #[error("{}, line {line}: {what}: write a table of `ethbus sweep`, or another file in CSV", path.display())]
    NoTable {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong in it.
        what: String,
    },
    /// A folder of rows cannot be read.
    #[error(transparent)]
    Folder(#[from] crate::sweep::output::TableError),
    /// An option does not fit the table.
    #[error("{option}: {what}")]
    Option {
        /// The option.
        option: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// A field of the table is no number.
    #[error("{}, line {line}: `{value}` in column {column} is no number", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The text of that field.
        value: String,
    },
    /// The picture cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
    /// The picture cannot be drawn.
    #[error("cannot draw: {0}")]
    Draw(String),
}

impl PlotError {
    fn option(option: &str, what: String) -> PlotError {
        PlotError::Option { option: option.to_owned(), what }
    }
}
