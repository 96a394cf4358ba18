//! A run in memory: what happened, and the scene at any of its instants.

use crate::picture::{Drawn, drawn};
use medium::{BitInstant, Event, Input, StationId};
use serde::Serialize;
use sim::figures::results::Results;
use sim::files::event_log::{EventLog, EventLogReader, Header};
use sim::files::json_lines::{ReadError, WriteError};
use sim::files::replay::ReplayError;
use sim::run::measure;
use sim::run::observer::{Both, Observer};
use sim::run::told::{Told, results};
use sim::scenario::plan::{Overrides, Plan};
use sim::scene::{Signal, Signals};
use sim::words::prose::with_causes;
use sim::words::sentences::{TIED, frame_name};
use std::cell::{Cell, OnceCell};
use std::io::Cursor;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// Events that a page keeps of a scenario: a run that has more ends there.
const MOST: usize = 300_000;
/// From one scene that is kept to the next, in events.
const PACE: usize = 4096;
/// Signals that are over and that a sentence may still name.
const KEPT: usize = 96;

/// A run that is over.
#[derive(Debug)]
pub struct Run {
    /// What happened.
    pub told: Told,
    /// The signals that matter, before event number 0, [`PACE`], twice that …
    scenes: Vec<Signals>,
    results: OnceCell<Results>,
    /// It had more events than a page keeps.
    pub is_cut: bool,
    trace: Arc<[u8]>,
}

/// An event in words.
#[derive(Debug, Serialize)]
pub struct Row {
    /// When it was.
    pub t: u64,
    /// Its kind.
    pub kind: &'static str,
    /// Of which frame.
    pub frame: String,
    /// In a sentence.
    pub says: String,
}

/// Counts the events of a run that is not over.
#[derive(Debug)]
struct Counted {
    told: Told,
    count: Rc<Cell<usize>>,
}

impl Observer for Counted {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        self.told.input(at, input, octets)
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.told.event(event)?;
        self.count.set(self.told.events.len());
        Ok(())
    }

    fn restart(&mut self, now: BitInstant, at: BitInstant) -> Result<(), WriteError> {
        self.told.restart(now, at)
    }
}

impl Run {
    /// Runs a scenario as `ethbus sim` does: the same events, and the same trace.
    ///
    /// # Errors
    /// What the program would say of the scenario.
    pub fn of(scenario: String) -> Result<Run, String> {
        let plan = Plan::of_text(Path::new("scenario.toml"), scenario.clone(), &Overrides::default(), 1);
        let plan = plan.map_err(|error| with_causes(&error))?;
        let header = Header::new(&plan.name, &plan.medium, &plan.station_names()).of_scenario(Some(scenario));
        let count = Rc::<Cell<usize>>::default();
        let names = Header { stations: plan.all_names(), ..header.clone() };
        let counted = Counted { told: Told::new(names), count: count.clone() };
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let log = EventLog::in_memory(&written, &header).map_err(|error| with_causes(&error))?;
        let mut both = Both(log.without_digest(), counted);
        let run = measure::run(&plan, plan.medium.seed, &mut both, |_| count.get() < MOST);
        let measured = run.map_err(|error| with_causes(&error))?;
        let mut told = both.1.told;
        told.end = measured.end;
        let is_cut = !measured.is_done();
        let results = measure::results(&plan, &[measured]).into();
        let trace = std::mem::take(&mut *written.lock().expect("one thread")).into();
        Ok(Run { scenes: scenes(&told), told, results, is_cut, trace })
    }

    /// A run of which there is a trace.
    ///
    /// # Errors
    /// What the program would say of the trace.
    pub fn open(trace: Arc<[u8]>, name: &str) -> Result<Run, String> {
        let error = |error: ReadError| with_causes(&error);
        let reader = EventLogReader::in_memory(trace.clone(), name).map_err(error)?;
        let told = Told::read(reader).map_err(|error: ReplayError| with_causes(&error))?;
        Ok(Run { scenes: scenes(&told), results: OnceCell::new(), told, is_cut: false, trace })
    }

    /// A run of which it is known what happened, and what its figures are.
    pub fn with_results(told: Told, results: Results, trace: Arc<[u8]>) -> Run {
        Run { scenes: scenes(&told), results: results.into(), told, is_cut: false, trace }
    }

    /// Its figures.
    pub fn results(&self) -> &Results {
        self.results.get_or_init(|| results(&self.told))
    }

    /// The stations, in order of station number.
    pub fn stations(&self) -> impl Iterator<Item = StationId> {
        (0..self.told.header.stations.len() as u16).map(StationId::new)
    }

    /// The number of the first event that is after an instant.
    fn after(&self, at: u64) -> usize {
        self.told.events.partition_point(|event| event.at.get() <= at)
    }

    /// Signals before event number `number`, of which each that comes after is kept, and every event from there on that
    /// `next` takes.
    fn walk(&self, number: usize, mut next: impl FnMut(usize, &Event, &Signals) -> bool) -> Option<Signals> {
        let kept = number / PACE;
        let mut signals = self.scenes.get(kept).cloned()?.keeping(usize::MAX);
        let first = kept * PACE;
        let inputs = &self.told.inputs[self.told.inputs.partition_point(|(before, ..)| *before <= first)..];
        let mut inputs = inputs.iter().peekable();
        for (place, event) in self.told.events.iter().enumerate().skip(first) {
            while let Some((_, at, input)) = inputs.next_if(|(before, ..)| *before <= place) {
                signals.input(*at, input);
            }
            signals.event(event);
            if !next(place, event, &signals) {
                break;
            }
        }
        Some(signals)
    }

    /// From an instant on, the stretch that has this number of events.
    pub fn stretch(&self, from: u64, events: usize) -> (u64, u64) {
        let first = self.told.events.partition_point(|event| event.at.get() < from);
        let last = self.told.events.get(first + events - 1);
        (from, last.map_or(self.told.end, |event| event.at).get())
    }

    /// The signals that are at some place between two instants.
    pub fn scene(&self, from: u64, to: u64) -> Vec<Drawn> {
        let way = self.told.header.config().topology.longest_distance().get();
        let begun = self.after(from.saturating_sub(way)).saturating_sub(1);
        let (from, to) = (BitInstant::new(from), BitInstant::new(to));
        // What begins in time is drawn whole.
        let is_open = |signals: &Signals| signals.iter().any(|one| one.begin < to && one.end.is_none());
        let signals = self.walk(begun, |_, event, signals| event.at < to || is_open(signals));
        let Some(signals) = signals else { return Vec::new() };
        let end = |one: &Signal| one.end.map_or(self.told.end, |end| end + signals.longest());
        let there = signals.iter().filter(|one| one.begin < to && end(one) > from);
        there.map(|one| drawn(&signals, one, self.stations(), &self.told.header.stations, self.told.end)).collect()
    }

    /// The last events up to an instant, at most `most`, each in a sentence.
    pub fn rows(&self, to: u64, most: usize) -> Vec<Row> {
        let (last, mut rows) = (self.after(to), Vec::new());
        let first = last.saturating_sub(most);
        if first < last {
            self.walk(first, |place, event, signals| {
                if place >= first {
                    rows.push(self.row(event, signals));
                }
                place + 1 < last
            });
        }
        rows
    }

    fn row(&self, event: &Event, signals: &Signals) -> Row {
        let names = &self.told.header.stations;
        Row {
            t: event.at.get(),
            kind: event.kind.name(),
            frame: frame_name(names, event.frame),
            says: signals.sentence(event, names).replace(TIED, " "),
        }
    }

    /// When the next event after an instant is, of this kind if one is named.
    pub fn next(&self, after: u64, kind: Option<&str>) -> Option<u64> {
        let is_it = |event: &&Event| kind.is_none_or(|kind| kind == event.kind.name());
        self.told.events[self.after(after)..].iter().find(is_it).map(|event| event.at.get())
    }

    /// The trace, as the program writes it.
    pub fn trace(&self) -> &[u8] {
        &self.trace
    }

    /// Reads the trace.
    ///
    /// # Errors
    /// None: it was read before, or written by this program.
    pub fn log(&self) -> Result<EventLogReader<Cursor<Arc<[u8]>>>, ReadError> {
        EventLogReader::in_memory(self.trace.clone(), "trace")
    }
}

/// What is on the medium before every [`PACE`]th event.
fn scenes(told: &Told) -> Vec<Signals> {
    let mut signals = Signals::new(Arc::new(told.header.config()), KEPT);
    let mut scenes = Vec::new();
    let mut inputs = told.inputs.iter().peekable();
    for (place, event) in told.events.iter().enumerate() {
        while let Some((_, at, input)) = inputs.next_if(|(before, ..)| *before <= place) {
            signals.input(*at, input);
        }
        if place.is_multiple_of(PACE) {
            scenes.push(signals.clone());
        }
        signals.event(event);
    }
    scenes
}
