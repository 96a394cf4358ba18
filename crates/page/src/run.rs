//! A run in memory: its notes, its trace, and the scene at any of its instants.

use crate::course::Course;
use crate::picture::{Drawn, drawn};
use medium::{BitInstant, Event, Input, StationId};
use serde::Serialize;
use serde_json::{Value, json};
use sim::figures::results::Results;
use sim::files::event_log::{EventLog, EventLogReader, Header};
use sim::files::json_lines::{LineReader, ReadError, WriteError};
use sim::run::measure;
use sim::run::observer::{Both, Observer};
use sim::scenario::plan::{Overrides, Plan};
use sim::scene::{Layout, Shape, Signal, Signals};
use sim::words::configuration::kind;
use sim::words::prose::with_causes;
use sim::words::sentences::{TIED, frame_name};
use std::cell::Cell;
use std::io::Cursor;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// Events that a page keeps: a run that has more ends there.
const MOST: usize = 300_000;
/// From one scene that is kept to the next, in notes.
const PACE: usize = 4096;
/// Signals that are over and that a sentence may still name.
const KEPT: usize = 96;

/// What happened, or what was done.
#[derive(Clone, Copy, Debug)]
enum Note {
    Event(Event),
    Input(BitInstant, Input),
}

impl Note {
    fn at(&self) -> BitInstant {
        match self {
            Note::Event(event) => event.at,
            Note::Input(at, _) => *at,
        }
    }

    fn tell(&self, signals: &mut Signals) {
        match self {
            Note::Event(event) => signals.event(event),
            Note::Input(at, input) => signals.input(*at, input),
        }
    }
}

/// Keeps what it observes.
#[derive(Debug)]
struct Keeper {
    notes: Vec<Note>,
    /// All signals of the run.
    signals: Signals,
    /// Those that matter, before note number 0, [`PACE`], twice that …
    scenes: Vec<Signals>,
    now: Signals,
    course: Course,
    count: Rc<Cell<usize>>,
}

impl Keeper {
    fn take(&mut self, note: Note) {
        if self.notes.len().is_multiple_of(PACE) {
            self.scenes.push(self.now.clone());
        }
        note.tell(&mut self.signals);
        note.tell(&mut self.now);
        self.notes.push(note);
        self.count.set(self.notes.len());
    }
}

impl Observer for Keeper {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        if !matches!(input, Input::Offer { .. }) {
            self.take(Note::Input(at, *input));
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.course.take(event);
        self.take(Note::Event(*event));
        Ok(())
    }
}

/// A run that is over.
#[derive(Debug)]
pub struct Run {
    keeper: Keeper,
    names: Vec<String>,
    plan: Plan,
    results: Results,
    end: BitInstant,
    /// It had more events than a page keeps.
    is_cut: bool,
    trace: Arc<[u8]>,
}

/// An event in words.
#[derive(Debug, Serialize)]
pub struct Row {
    t: u64,
    kind: &'static str,
    frame: String,
    says: String,
}

impl Run {
    /// Runs a scenario as `ethbus sim` does: the same events, and the same trace.
    ///
    /// # Errors
    /// What the program would say of the scenario.
    pub fn of(scenario: String) -> Result<Run, String> {
        let plan = Plan::of_text(Path::new("scenario.toml"), scenario, &Overrides::default(), 1);
        let plan = plan.map_err(|error| with_causes(&error))?;
        let (config, names) = (Arc::new(plan.medium.clone()), plan.all_names());
        let count = Rc::<Cell<usize>>::default();
        let keeper = Keeper {
            notes: Vec::new(),
            signals: Signals::new(config.clone(), usize::MAX),
            scenes: Vec::new(),
            now: Signals::new(config.clone(), KEPT),
            course: Course::new(&plan),
            count: count.clone(),
        };
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let log = EventLog::in_memory(&written, &Header::new(&plan.name, &config, &plan.station_names()));
        let mut both = Both(log.map_err(|error| with_causes(&error))?.without_digest(), keeper);
        let run = measure::run(&plan, plan.medium.seed, &mut both, |_| count.get() < MOST);
        let measured = run.map_err(|error| with_causes(&error))?;
        let (is_cut, end) = (!measured.is_done(), measured.end);
        let results = measure::results(&plan, &[measured]);
        let trace = std::mem::take(&mut *written.lock().expect("one thread")).into();
        Ok(Run { keeper: both.1, names, plan, results, end, is_cut, trace })
    }

    /// Stations, figures, and figures over time.
    pub fn about(&self) -> Value {
        let config = &self.plan.medium;
        let layout = Layout::new(config);
        let shape = match layout.shape {
            Shape::Cable => "cable",
            Shape::Places => "places",
            Shape::Senders => "senders",
        };
        let order: Vec<usize> = layout.order.iter().map(|station| station.index()).collect();
        let place = |station: &StationId| config.topology.place(*station).map(|place| place.position.get());
        let places: Vec<Option<u64>> = self.stations().map(|station| place(&station)).collect();
        let first_collision = self.next(0, Some("collision"));
        json!({
            "topology": kind(&config.topology), "shape": shape, "stations": self.names, "order": order,
            "places": places, "rate": config.rate.get(), "end": self.end.get(), "cut": self.is_cut,
            "events": self.keeper.notes.len(), "first_collision": first_collision, "results": self.results,
            "course": self.keeper.course.figures(),
        })
    }

    fn stations(&self) -> impl Iterator<Item = StationId> {
        (0..self.plan.medium.topology.stations() as u16).map(StationId::new)
    }

    /// The signals that are at some place between two instants.
    pub fn scene(&self, from: u64, to: u64) -> Vec<Drawn> {
        let (signals, (from, to)) = (&self.keeper.signals, (BitInstant::new(from), BitInstant::new(to)));
        let way = signals.longest();
        let end = |one: &Signal| one.end.map_or(self.end, |end| end + way);
        let there = signals.iter().filter(|one| one.begin < to && end(one) > from);
        there.map(|one| drawn(signals, one, self.stations(), &self.names, self.end)).collect()
    }

    /// The last events up to an instant, at most `most`, each in a sentence.
    pub fn rows(&self, to: u64, most: usize) -> Vec<Row> {
        let notes = &self.keeper.notes[..self.keeper.notes.partition_point(|note| note.at().get() <= to)];
        let first = notes.len().saturating_sub(most);
        let kept = first / PACE;
        let Some(mut signals) = self.keeper.scenes.get(kept).cloned() else { return Vec::new() };
        let mut rows = Vec::new();
        for (number, note) in notes.iter().enumerate().skip(kept * PACE) {
            note.tell(&mut signals);
            let Note::Event(event) = note else { continue };
            if number >= first {
                rows.push(self.row(event, &signals));
            }
        }
        rows
    }

    fn row(&self, event: &Event, signals: &Signals) -> Row {
        Row {
            t: event.at.get(),
            kind: event.kind.name(),
            frame: frame_name(&self.names, event.frame),
            says: signals.sentence(event, &self.names).replace(TIED, " "),
        }
    }

    /// When the next event after an instant is, of this kind if one is named.
    pub fn next(&self, after: u64, kind: Option<&str>) -> Option<u64> {
        let first = self.keeper.notes.partition_point(|note| note.at().get() <= after);
        let is_it = |note: &&Note| match note {
            Note::Event(event) => kind.is_none_or(|kind| kind == event.kind.name()),
            Note::Input(..) => kind.is_none(),
        };
        self.keeper.notes[first..].iter().find(is_it).map(|note| note.at().get())
    }

    /// The trace, as the program writes it.
    pub fn trace(&self) -> &[u8] {
        &self.trace
    }

    /// Reads the trace.
    ///
    /// # Errors
    /// None: the trace was written by this program.
    pub fn log(&self) -> Result<EventLogReader<Cursor<&[u8]>>, ReadError> {
        EventLogReader::new(LineReader::new(Cursor::new(self.trace()), "trace".to_owned()))
    }
}
