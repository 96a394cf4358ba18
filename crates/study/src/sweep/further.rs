//! What a run adds to a folder beside its row: a row for each station, and files of its own.

use super::error::TableError;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The tables of a folder beside that of runs. Each is a part of its files' names.
pub const TABLES: [&str; 4] = [STATIONS, SERIES, FRAMES, EVENTS];
/// A row for each station of each run.
pub const STATIONS: &str = "stations";
/// A row for each interval of each run.
pub const SERIES: &str = "series";
/// A row for each frame.
pub const FRAMES: &str = "frames";
/// A row for each event.
pub const EVENTS: &str = "events";
/// The table with a row for each run.
pub const RUNS: &str = "runs";

/// Which tables a folder has beside that of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Their names.
    pub tables: Vec<String>,
    /// The interval of the series, as it is typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
}

impl Wanted {
    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Whether there is a table of this name.
    pub fn has(&self, table: &str) -> bool {
        self.tables.iter().any(|known| known == table)
    }

    /// Options of a command that asks for these.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let tables = (!self.is_empty()).then(|| ("--tables", self.tables.join(",")));
        tables.into_iter().chain(self.series.clone().map(|every| ("--series", every))).collect()
    }
}

/// A file that is removed unless it gets its name.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
}

impl NewFile {
    /// The file at `path`, which another part of the program makes.
    pub fn at(path: PathBuf) -> NewFile {
        NewFile { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it a name, when all of it is on the disk.
    ///
    /// # Errors
    /// It cannot be read, or not be renamed.
    pub fn name(self, place: &Path, name: impl FnOnce(u32) -> String) -> Result<(), TableError> {
        let system = |what: &'static str| {
            let path = place.to_owned();
            move |source| TableError::File { what, path, source }
        };
        let content = std::fs::read(&self.path).map_err(system("read"))?;
        std::fs::File::open(&self.path).and_then(|file| file.sync_all()).map_err(system("write"))?;
        std::fs::rename(&self.path, place.join(name(crc32fast::hash(&content)))).map_err(system("write"))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // It has its name, or what led here is reported.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What one run adds.
#[derive(Debug, Default)]
pub struct Further {
    /// The columns of a station's row, and the rows.
    pub stations: Option<(String, Vec<String>)>,
    /// Files that are whole, each with its table's name.
    pub files: Vec<(&'static str, NewFile)>,
}
