//! The log beside a sweep's table: which command ran where and when, how long each run took, and which failed.
//!
//! Each command appends a line when it begins, one for each run that ends, and one when it ends. A line is written whole, so
//! several processes may write one log. No table follows from a log: a lost one costs the estimate and the names of failures.

use super::error::TableError;
use say::program::typed;
use serde::{Deserialize, Serialize};
use sim::files::output::{LINES, place};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How the first line of each command begins.
const FORMAT: &str = "ethbus sweep log";

/// The source from which the program was built, if its build knew.
pub const COMMIT: Option<&str> = option_env!("ETHBUS_COMMIT");

/// Where results come from: what a reader needs who wants them again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The program's version.
    pub ethbus: String,
    /// Its source's commit.
    pub commit: Option<String>,
    /// What was typed.
    pub command: String,
    /// The machine's name.
    pub host: String,
    /// When the command began, UTC.
    pub start: String,
}

impl Provenance {
    /// Of this process, which begins now.
    pub fn here() -> Provenance {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Provenance {
            ethbus: env!("CARGO_PKG_VERSION").to_owned(),
            commit: COMMIT.map(str::to_owned),
            command: typed(),
            host: host.trim().to_owned(),
            start: now(),
        }
    }
}

/// This moment, UTC, in whole seconds.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    /// A command has begun.
    Begin {
        format: String,
        #[serde(flatten)]
        provenance: Provenance,
        /// Seeds of each combination: with more of them, runs have other numbers.
        seeds: u64,
        jobs: usize,
        /// The table had no rows: what the log has of an earlier one does not count.
        #[serde(default)]
        fresh: bool,
    },
    /// A run has failed. Its number in the table is from 1.
    Failed { run: u64, failed: String, end: String },
    /// A run has ended.
    Done { run: u64, seconds: f64, crc32: String, end: String },
    /// The command has ended.
    End { end: String },
}

/// The log of one command.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Its place, beside the table.
    pub fn path(table: &Path) -> PathBuf {
        let mut name = table.as_os_str().to_owned();
        name.push(".log.jsonl");
        name.into()
    }

    /// Begins this command's part of the log of `table`, whose combinations have `seeds` seeds; a `fresh` one has no rows yet.
    ///
    /// # Errors
    /// There is another file of that name, or it cannot be written.
    pub fn begin(
        table: &Path,
        provenance: &Provenance,
        fresh: bool,
        seeds: u64,
        jobs: usize,
    ) -> Result<Journal, TableError> {
        let path = place(&Journal::path(table), LINES)?;
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|source| TableError::File { what: "open", path: path.clone(), source })?;
        let mut journal = Journal { path, file };
        journal.line(&Line::Begin { format: FORMAT.to_owned(), provenance: provenance.clone(), seeds, jobs, fresh })?;
        Ok(journal)
    }

    /// Run `run`, from 0, took `seconds`, and gave `row`.
    ///
    /// # Errors
    /// The disk is full, or the like.
    pub fn done(&mut self, run: u64, seconds: f64, row: &str) -> Result<(), TableError> {
        let crc32 = format!("{:08x}", row_crc32(row));
        self.line(&Line::Done { run: run + 1, seconds: (seconds * 1e6).round() / 1e6, crc32, end: now() })
    }

    /// Run `run`, from 0, has no row, and why.
    ///
    /// # Errors
    /// The disk is full, or the like.
    pub fn failed(&mut self, run: u64, why: &str) -> Result<(), TableError> {
        self.line(&Line::Failed { run: run + 1, failed: why.to_owned(), end: now() })
    }

    /// The command ends.
    ///
    /// # Errors
    /// The disk is full, or the like.
    pub fn end(mut self) -> Result<(), TableError> {
        self.line(&Line::End { end: now() })
    }

    fn line(&mut self, line: &Line) -> Result<(), TableError> {
        let text = serde_json::to_string(line).expect("numbers and texts") + "\n";
        self.file.write_all(text.as_bytes()).map_err(|source| TableError::File {
            what: "write",
            path: self.path.clone(),
            source,
        })
    }
}

/// The checksum of a row without its number, which further seeds change.
pub fn row_crc32(row: &str) -> u32 {
    crc32fast::hash(row.split_once(',').map_or("", |(_, rest)| rest).as_bytes())
}

/// What a log says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The commands, the latest last.
    pub commands: Vec<Provenance>,
    /// Which command made the row of a run, and when that ended.
    pub made: BTreeMap<u64, (usize, String)>,
    /// Runs at a time of the latest command.
    pub jobs: usize,
    /// How long runs took, in seconds, by the run's number from 0.
    pub seconds: BTreeMap<u64, f64>,
    /// The checksums of rows.
    pub crc32: BTreeMap<u64, String>,
    /// Runs that failed and have not ended since, and why.
    pub failed: BTreeMap<u64, String>,
}

impl History {
    /// Reads the log of `table`; its combinations have `seeds` seeds now. Half a line at the end is left out, and so is a line of
    /// another version.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn read(table: &Path, seeds: u64) -> Result<History, TableError> {
        let path = Journal::path(table);
        match std::fs::read(&path) {
            Ok(text) => Ok(History::of(&String::from_utf8_lossy(&text), seeds)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(History::default()),
            Err(source) => Err(TableError::File { what: "read", path, source }),
        }
    }

    /// The command that made the row of run `run`, from 0, and when that ended.
    pub fn made_by(&self, run: u64) -> Option<(&Provenance, &str)> {
        let (command, end) = self.made.get(&run)?;
        Some((self.commands.get(*command)?, end))
    }

    /// What the text of a log says.
    pub fn of(text: &str, seeds: u64) -> History {
        let (mut history, mut own) = (History::default(), seeds.max(1));
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            let renumbered = |run: u64| run.checked_sub(1).map(|run| (run / own).saturating_mul(seeds) + run % own);
            match line {
                Line::Begin { provenance, seeds, jobs, fresh, .. } => {
                    if fresh {
                        history = History { commands: history.commands, ..History::default() };
                    }
                    history.commands.push(provenance);
                    (history.jobs, own) = (jobs, seeds.max(1));
                }
                Line::Failed { run, failed, .. } => {
                    renumbered(run).map(|run| history.failed.insert(run, failed));
                }
                Line::Done { run, seconds, crc32, end } => {
                    let Some(run) = renumbered(run) else { continue };
                    history.failed.remove(&run);
                    history.seconds.insert(run, seconds);
                    history.crc32.insert(run, crc32);
                    history.made.insert(run, (history.commands.len().saturating_sub(1), end));
                }
                Line::End { .. } => {}
            }
        }
        history
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_tells_what_failed_and_what_has_been_repeated_since() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let table = folder.path().join("runs.csv");
        let here = Provenance::here();
        let mut journal = Journal::begin(&table, &here, true, 2, 3).expect("own folder");
        journal.done(0, 0.25, "1,a,b").expect("room");
        journal.failed(1, "too long").expect("room");
        journal.failed(3, "too long").expect("room");
        journal.end().expect("room");
        // With three seeds run 3, from 0, of a grid with two has number 4.
        let mut journal = Journal::begin(&table, &here, false, 3, 1).expect("own log");
        journal.done(1, 0.5, "2,a,b").expect("room");
        let history = History::read(&table, 3).expect("own log");
        assert_eq!(history.failed.into_iter().collect::<Vec<_>>(), [(4, "too long".to_owned())]);
        assert_eq!(history.seconds.into_iter().collect::<Vec<_>>(), [(0, 0.25), (1, 0.5)]);
        assert_eq!((history.commands, history.jobs), (vec![here.clone(), here], 1));
        assert_eq!(history.crc32[&0], history.crc32[&1], "a row's number is not in its checksum");
    }

    #[test]
    fn another_file_of_that_name_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let table = folder.path().join("runs.csv");
        std::fs::write(Journal::path(&table), "milk, eggs").expect("own folder");
        assert!(Journal::begin(&table, &Provenance::here(), true, 1, 1).is_err());
        assert_eq!(
            History::of("milk\n{\"run\":0,\"seconds\":1,\"crc32\":\"\",\"end\":\"\"}\n{\"ru", 1),
            History::default()
        );
    }
}
