//! Why a sweep's table cannot be made, continued or read.

use super::manifest::{Manifest, ManifestError};
use sim::files::json_lines::WriteError;
use sim::files::output::OutputError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a table cannot be made or continued. Rows that are in it stay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// It cannot be opened, read or written.
    #[error("cannot {what} {}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The disk is full, the pipe is closed, or the like.
    #[error("cannot write {place} any further; {kept} of {runs} runs are in it, whole")]
    Full {
        /// The file.
        place: String,
        /// How many rows it has.
        kept: u64,
        /// How many it should have.
        runs: u64,
        /// What the system said.
        source: io::Error,
    },
    /// All runs are in the file, but it could not be put in order.
    #[error("all {runs} runs are in {}, but in the order in which they ended: make room and give the same command again", path.display())]
    Order {
        /// The file.
        path: PathBuf,
        /// How many runs.
        runs: u64,
        /// Why.
        source: OutputError,
    },
    /// It is no place for a table.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// There is such a file, and no sweep wrote it.
    #[error("{} is there already and is no sweep's table, since there is no {} beside it: choose another name", path.display(), manifest.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The file that should be beside it.
        manifest: PathBuf,
    },
    /// A table that is to be read is no sweep's.
    #[error("{}: {}", path.display(), no_table(path))]
    Unknown {
        /// The table.
        path: PathBuf,
    },
    /// Another process writes it.
    #[error("another sweep writes {} now", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The table there is of another grid.
    #[error("{} is of another grid; what differs is {difference}. Choose another name, or remove it and {}", path.display(), Manifest::path(path).display())]
    Differs {
        /// The file.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// A line of the table is not what it should be.
    #[error("{}, line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// Rows cannot be written as Parquet.
    #[error(transparent)]
    Rows(#[from] WriteError),
    /// The manifest beside the table cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The finished table is another than the one that the sweep wrote.
    #[error(
        "{}: its rows are not those that the sweep wrote: their CRC-32 was {written:08x} and is {found:08x}; bring back the \
         table that was written, or remove this one and {} and give its command again", path.display(), Manifest::path(path).display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The checksum of what the sweep wrote.
        written: u32,
        /// The checksum of the rows that exist.
        found: u32,
    },
    /// Seeds are added until a figure is known that runs do not have.
    #[error("--until: runs of this grid have no figure `{metric}`: name another one")]
    Until {
        /// The figure.
        metric: String,
    },
    /// Shards that do not make a whole.
    #[error("{}: {what}", path.display())]
    Shards {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Why a path is no table that could be read.
fn no_table(path: &Path) -> String {
    match path.try_exists() {
        Ok(false) => "there is no such table".to_owned(),
        _ => format!(
            "no sweep's table, since there is no {} beside it: copy that file too",
            Manifest::path(path).display()
        ),
    }
}
