//! A run as its trace or its results tell it.

use medium::{Config, Kind};
use say::verdict::{TOLERANCE, against, verdict};
use sim::figures::results::Results;
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::ReadError;
use sim::files::replay::ReplayError;
use sim::run::told::{Told, results};
use sim::words::units::many;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Why a run cannot be described.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// A trace is damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A trace cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// It is neither.
    #[error("{}: this is no trace and no results of `--format json`: {why}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A trace with events.
    Events,
    /// A trace of inputs, run again.
    Inputs,
    /// Results.
    Results,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where it comes from.
    pub path: PathBuf,
    /// What that is.
    pub of: Of,
    /// Its figures.
    pub results: Results,
    /// What happened, unless only results are known.
    pub told: Option<Told>,
}

impl Run {
    /// Reads a run.
    ///
    /// # Errors
    /// A file that is damaged, or no run.
    pub fn read(path: &Path) -> Result<Run, GatherError> {
        let mut beginning = Vec::new();
        let read = File::open(path).and_then(|file| file.take(32).read_to_end(&mut beginning));
        let (of, told) = match read {
            // The reader reports a file that cannot be read.
            Ok(_) if !beginning.starts_with(b"{\"format\":") && !beginning.is_empty() => (Of::Results, None),
            Ok(_) | Err(_) => {
                let trace = EventLogReader::open(path)?;
                let of = if trace.header().level.has_events() { Of::Events } else { Of::Inputs };
                (of, Some(Told::read(trace)?))
            }
        };
        let results = match &told {
            Some(told) => results(told),
            None => of_results(path)?,
        };
        Ok(Run { path: path.to_owned(), of, results, told })
    }

    /// What the machine did to a live run, and whether the run is to be trusted.
    pub fn of_the_machine(&self) -> String {
        let mut results = self.results.clone();
        if let Some(told) = self.told.as_ref().filter(|told| told.emulated > 0) {
            let deliveries = told.events.iter().filter(|event| matches!(event.kind, Kind::Delivered { .. })).count();
            let mut machine = told.machine.clone();
            machine.timing.deliveries = deliveries as u64;
            results.emulator = Some(machine);
        }
        let Some(emulator) = &results.emulator else {
            return match self.of {
                Of::Inputs => "not known: a trace of inputs does not tell, one of events and the results do".to_owned(),
                Of::Events => "no line of the trace tells of it".to_owned(),
                Of::Results => "the run was in virtual time".to_owned(),
            };
        };
        let verdict = emulator.verdict.clone().unwrap_or_else(|| verdict(&against(&results, TOLERANCE)));
        let slips = match emulator.machine.slips {
            0 => String::new(),
            slips => format!(
                "; its clock stood still {}, for {:.1} ms in all",
                many(slips, "time"),
                emulator.machine.slip_ns as f64 / 1e6
            ),
        };
        let lines = self.told.as_ref().map_or(0, |told| told.emulated);
        let more = match lines {
            0 => String::new(),
            lines => format!("; the trace has {} about it: see `ethbus explain`", many(lines, "line")),
        };
        format!("{verdict}{slips}{more}")
    }

    /// Nothing happened in it, or none of its time is measured.
    pub fn is_empty(&self) -> bool {
        self.results.measured_bit_times == 0 || self.told.as_ref().is_some_and(|told| told.events.is_empty())
    }

    /// What it is called on the page.
    pub fn label(&self) -> String {
        self.path
            .file_name()
            .map_or_else(|| self.path.display().to_string(), |name| name.to_string_lossy().into_owned())
    }

    /// What the medium is made from.
    pub fn config(&self) -> Config {
        self.results.config.medium.config().clone()
    }
}

fn of_results(path: &Path) -> Result<Results, GatherError> {
    let unknown = |why: String| GatherError::Unknown { path: path.to_owned(), why };
    let file = File::open(path).map_err(|error| unknown(error.to_string()))?;
    serde_json::from_reader(BufReader::new(file)).map_err(|error| unknown(error.to_string()))
}
