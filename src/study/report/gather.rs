//! A run as its trace or its results tell it.

use crate::show::verdict::{TOLERANCE, against, verdict};
use medium::{BitInstant, BitTimes, Config, Deed, Event, Input, Kind, Place, StationId, Tally};
use sim::figures::delays::Delays;
use sim::figures::intervals::{Samples, intervals};
use sim::figures::metrics::Sums;
use sim::figures::results::{ConfigResults, EmulatorResults, MediumResults, Results, Snapshot};
use sim::files::event_log::{EmulatorEvent, EmulatorKind, EventLog, EventLogReader, Header};
use sim::files::json_lines::{ReadError, WriteError};
use sim::files::observer::{End, Observer};
use sim::files::replay::{ReplayError, replay_before};
use sim::scene::Stations;
use sim::words::units::many;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Stretches of a run from which intervals are made, as `sim` makes them.
const BATCHES: u64 = 32;

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

/// Everything that happened.
#[derive(Clone, Debug)]
pub struct Told {
    /// What the medium is made from, and the stations' names.
    pub header: Header,
    /// In order of time.
    pub events: Vec<Event>,
    /// What was done to the medium, with the number of the event that comes next.
    pub inputs: Vec<(usize, BitInstant, Input)>,
    /// Since when results count.
    pub begin: BitInstant,
    /// How far it was run.
    pub end: BitInstant,
    /// How many things happened to the emulator of a live bus.
    pub emulated: u64,
    /// What they come to.
    pub machine: EmulatorResults,
    /// Why the log is not whole.
    pub cut_short: Option<String>,
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
                let (of, told) = of_trace(path)?;
                (of, Some(told))
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

impl Told {
    fn new(header: Header) -> Told {
        Told {
            header,
            events: Vec::new(),
            inputs: Vec::new(),
            begin: BitInstant::ZERO,
            end: BitInstant::ZERO,
            emulated: 0,
            machine: EmulatorResults::default(),
            cut_short: None,
        }
    }

    /// Events that results are of, in batches of equal length, with the length of each.
    fn batches(&self) -> impl Iterator<Item = (&[Event], u64)> {
        let (begin, span) = (self.begin.get(), self.end.since(self.begin).get());
        let at = move |batch: u64| begin + (u128::from(span) * u128::from(batch) / u128::from(BATCHES)) as u64;
        let place = move |at: u64| self.events.partition_point(|event| event.at.get() < at);
        (0..BATCHES).map(move |batch| {
            let (from, to) = (at(batch), at(batch + 1));
            let last = if batch + 1 == BATCHES { self.events.len() } else { place(to) };
            (&self.events[place(from).min(last)..last], to - from)
        })
    }
}

impl Observer for Told {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        if !matches!(input, Input::Offer { .. }) {
            self.inputs.push((self.events.len(), at, *input));
        }
        if let Input::Deed(Deed::Add { who, .. }) = input
            && !self.header.stations.iter().any(|known| known == who.name())
        {
            self.header.stations.push(who.name().to_owned());
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.events.push(*event);
        self.end = self.end.max(event.at);
        Ok(())
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        self.emulated += 1;
        let EmulatorResults { machine, timing, undelivered, .. } = &mut self.machine;
        match event.kind {
            EmulatorKind::Slip { ns } => {
                machine.slips += 1;
                machine.slip_ns += ns;
            }
            EmulatorKind::LateArrival { .. } => timing.late_arrivals += 1,
            EmulatorKind::LateDelivery { .. } => machine.late_deliveries += 1,
            EmulatorKind::OverloadDrop { copies, .. } => machine.overload_drops += copies,
            EmulatorKind::RingDrops { count } => undelivered.ring_drops += count,
            EmulatorKind::Refused { .. } | EmulatorKind::ReportsSkipped { .. } => {}
            EmulatorKind::InputsSkipped { .. } | EmulatorKind::LinkChangesMissed { .. } => {}
            EmulatorKind::Port { .. } | EmulatorKind::Steal { .. } => {}
            EmulatorKind::CpuWait { .. } | EmulatorKind::ClockStep { .. } => {}
            EmulatorKind::Filter { .. } | EmulatorKind::Link { .. } | EmulatorKind::Traffic { .. } => {}
            EmulatorKind::Container { .. } => {}
        }
        Ok(())
    }

    fn restart(&mut self, _: BitInstant, at: BitInstant) -> Result<(), WriteError> {
        self.begin = at;
        Ok(())
    }

    fn end(&mut self, end: End) -> Result<(), WriteError> {
        self.end = self.end.max(BitInstant::new(end.t));
        Ok(())
    }
}

fn of_trace(path: &Path) -> Result<(Of, Told), GatherError> {
    let mut log = EventLogReader::open(path)?;
    if !log.header().level.has_events() {
        let Header { name, stations, .. } = log.header().clone();
        let header = Header::new(&name, &log.header().config(), &stations);
        let mut told = Told::new(header.clone());
        replay_before(log, EventLog::unwritten(&header), &mut told)?;
        return Ok((Of::Inputs, told));
    }
    let mut told = Told::new(log.header().clone());
    told.begin = BitInstant::new(log.header().kept_from_bt.unwrap_or(0));
    match log.tell(&mut told).map_err(ReplayError::from)? {
        Ok(()) => {}
        Err(error @ (ReadError::CutShort { .. } | ReadError::NotWhole { .. })) => {
            told.cut_short = Some(error.to_string())
        }
        Err(error) => return Err(error.into()),
    }
    Ok((Of::Events, told))
}

fn of_results(path: &Path) -> Result<Results, GatherError> {
    let unknown = |why: String| GatherError::Unknown { path: path.to_owned(), why };
    let file = File::open(path).map_err(|error| unknown(error.to_string()))?;
    serde_json::from_reader(BufReader::new(file)).map_err(|error| unknown(error.to_string()))
}

/// Figures of what happened since results count, with the intervals that its batches give.
fn results(told: &Told) -> Results {
    let config = told.header.config();
    let stations = config.topology.stations();
    let measured = told.end.since(told.begin);
    let (mut tally, mut delays) = (Tally::new(stations, config.attempt_limit()), Delays::default());
    let before = told.events.partition_point(|event| event.at < told.begin);
    let (warm_up, counted) = told.events.split_at(before);
    // Who was in a collision, or sent last, is known from before.
    for event in warm_up {
        tally.record(event);
        delays.record(event);
    }
    let queued = |events: &[Event]| -> Vec<u64> {
        let mut scene = Stations::new(stations);
        for event in events {
            scene.event(event, &config);
        }
        (0..stations as u16).map(|station| scene.get(StationId::new(station)).queue() as u64).collect()
    };
    tally.restart();
    delays.restart();
    for event in counted {
        tally.record(event);
        delays.record(event);
    }
    let (attached, faults, cut) = ended(told, stations);
    let queued_at_start = queued(warm_up);
    let sums = Sums::of(&tally, delays.contention(), &queued_at_start, measured.get());
    let snapshot = Snapshot {
        delays: delays.results(),
        station_delays: delays.of_stations(stations),
        longest_frame: delays.longest_frame(),
        contention: delays.contention().clone(),
        tally,
        measured,
        queued_at_start,
        queued: queued(&told.events),
        attached,
        faults,
        cut,
        // An event log does not tell what a node counts.
        plca: None,
        emulator: None,
        plan: None,
    };
    let of = ConfigResults::new(&told.header.configuration, &told.header.name);
    let seed = told.header.configuration.seed();
    let mut results = Results::new(of, seed, &told.header.stations, &snapshot);
    if measured > BitTimes::new(BATCHES) {
        let batches: Vec<MediumResults> = told.batches().map(|(events, span)| batch(events, span, &config)).collect();
        results.medium.ci95 = Some(intervals(Samples::Batches(&batches), None, &results.medium, &sums, &config));
    }
    results
}

fn batch(events: &[Event], span: u64, config: &Config) -> MediumResults {
    let (mut tally, mut delays) = (Tally::new(config.topology.stations(), config.attempt_limit()), Delays::default());
    for event in events {
        tally.record(event);
        delays.record(event);
    }
    // Batches have no fairness, which alone asks for queues.
    MediumResults::new(&Sums::of(&tally, delays.contention(), &[], span), delays.figures())
}

/// The state at the end: which stations are attached, which faults they have, where the cable is cut.
fn ended(told: &Told, stations: usize) -> (Vec<bool>, Vec<Option<medium::Fault>>, Option<Place>) {
    let (mut attached, mut faults, mut cut) = (vec![true; stations], vec![None; stations], None);
    for (_, _, input) in &told.inputs {
        match *input {
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => attached[station.index()] = true,
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => attached[station.index()] = false,
            Input::Deed(Deed::Fault { station, fault }) => faults[station.index()] = fault,
            Input::Deed(Deed::Cut(place)) => cut = place,
            Input::Offer { .. } | Input::Deed(Deed::Plca { .. } | Deed::Queue { .. }) => {}
        }
    }
    (attached, faults, cut)
}
