//! The files that are wanted of a live run, and what is known to miss in each. The coordinator and the writer share it.

use super::super::protocol::Outputs;
use super::Counts;
use sim::figures::results::{FileResults, ObserverResults};
use sim::files::event_log::Level;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What results call a trace.
pub const TRACE: &str = "trace";

/// A file that is wanted, and what is not in it, though it should be.
#[derive(Debug)]
pub struct Wanted {
    /// Its name, as the user gave it.
    pub name: String,
    /// What results call it.
    holds: &'static str,
    missing: AtomicU64,
    incomplete: AtomicBool,
    /// The user got the message that it misses something.
    told: AtomicBool,
}

impl Wanted {
    /// One of which nothing is lost.
    pub fn new(name: &str, holds: &'static str) -> Wanted {
        let (missing, [incomplete, told]) = (AtomicU64::new(0), [false; 2].map(AtomicBool::new));
        Wanted { name: name.to_owned(), holds, missing, incomplete, told }
    }

    /// So much more is not in it.
    pub fn misses(&self, count: u64) {
        self.missing.fetch_add(count, Ordering::Relaxed);
        self.incomplete.fetch_or(count > 0, Ordering::Relaxed);
    }

    /// Notes that the file is not whole.
    pub fn ends_early(&self) {
        self.incomplete.store(true, Ordering::Relaxed);
    }

    /// Whether the user needs the message; true once.
    pub fn is_news(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }

    /// The number of notes that are not in it.
    pub fn missing(&self) -> u64 {
        self.missing.load(Ordering::Relaxed)
    }

    fn results(&self) -> Option<FileResults> {
        let missing = self.missing();
        let of = || FileResults { file: self.name.clone(), holds: self.holds.to_owned(), missing };
        self.incomplete.load(Ordering::Relaxed).then(of)
    }
}

/// All files that are wanted.
#[derive(Debug, Default)]
pub struct Files {
    /// Traces.
    pub traces: Vec<(Level, Wanted)>,
    /// Files for other tools.
    pub windows: Vec<Wanted>,
    /// The last seconds are wanted.
    pub keeps: bool,
    /// Triggers whose last seconds are not written.
    pub keeps_missed: Arc<AtomicU64>,
}

impl Files {
    /// Those that a setup names.
    pub fn of(outputs: &Outputs) -> Files {
        Files {
            traces: outputs.traces.iter().map(|(level, name)| (*level, Wanted::new(name, TRACE))).collect(),
            windows: outputs.windows.iter().map(|(kind, name)| Wanted::new(name, kind.holds())).collect(),
            keeps: outputs.keep.is_some(),
            keeps_missed: Arc::default(),
        }
    }

    /// Each of them.
    pub fn all(&self) -> impl Iterator<Item = &Wanted> {
        self.traces.iter().map(|(_, trace)| trace).chain(&self.windows)
    }

    /// Whether a trace has what the bus is given.
    pub fn have_inputs(&self) -> bool {
        self.traces.iter().any(|(level, _)| level.has_inputs())
    }

    /// Whether a trace has what happens.
    pub fn have_events(&self) -> bool {
        self.traces.iter().any(|(level, _)| level.has_events())
    }

    /// Events and inputs found no room.
    pub fn miss(&self, counts: Counts) {
        let Counts { inputs, events } = counts;
        self.traces.iter().for_each(|(level, trace)| trace.misses(counts.of(*level)));
        self.windows.iter().for_each(|window| window.misses(inputs + events));
    }

    /// As results tell it.
    pub fn results(&self) -> ObserverResults {
        let missing = |events: bool| {
            let traces = self.traces.iter().filter(|(level, _)| level.has_events() == events);
            traces.map(|(_, trace)| trace.missing()).sum()
        };
        let incomplete_files: Vec<FileResults> = self.all().filter_map(Wanted::results).collect();
        ObserverResults {
            inputs_skipped: missing(false),
            events_skipped: missing(true),
            files_incomplete: incomplete_files.len() as u64,
            incomplete_files,
            keeps_missed: self.keeps_missed.load(Ordering::Relaxed),
            ..ObserverResults::default()
        }
    }
}
