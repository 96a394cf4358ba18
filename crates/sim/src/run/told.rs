//! A run as its events tell it: everything that happened, and the figures that follow.

use crate::figures::delays::Delays;
use crate::figures::intervals::{Samples, intervals};
use crate::figures::metrics::Sums;
use crate::figures::results::{ConfigResults, EmulatorResults, MediumResults, Results};
use crate::figures::snapshot::Snapshot;
use crate::files::event_log::{EmulatorEvent, EmulatorKind, EventLog, EventLogReader, Header};
use crate::files::json_lines::{ReadError, WriteError};
use crate::files::observer::{End, Observer};
use crate::files::replay::{ReplayError, replay_before};
use crate::scene::Stations;
use medium::{BitInstant, BitTimes, Config, Deed, Event, Input, Place, StationId, Tally};
use std::io::BufRead;
use std::sync::Arc;

/// Stretches of a run from which intervals are made, as `sim` makes them.
const BATCHES: u64 = 32;

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
    /// The emulator's counters, summed from these.
    pub machine: EmulatorResults,
    /// Why the trace is not whole.
    pub cut_short: Option<String>,
}

impl Told {
    /// Nothing so far.
    pub fn new(header: Header) -> Told {
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

    /// Reads a trace. One of inputs is run again.
    ///
    /// # Errors
    /// A trace that is damaged or cannot be replayed. Of one that is cut short, what came before is there.
    pub fn read<R: BufRead>(mut trace: EventLogReader<R>) -> Result<Told, ReplayError> {
        if !trace.header().level.has_events() {
            let Header { name, stations, scenario, .. } = trace.header().clone();
            let header = Header { scenario, ..Header::new(&name, &trace.header().config(), &stations) };
            let mut told = Told::new(header.clone());
            replay_before(trace, EventLog::unwritten(&header), &mut told)?;
            return Ok(told);
        }
        let mut told = Told::new(trace.header().clone());
        told.begin = BitInstant::new(trace.header().kept_from_bt.unwrap_or(0));
        match trace.tell(&mut told)? {
            Ok(()) => {}
            Err(error @ (ReadError::CutShort { .. } | ReadError::NotWhole { .. })) => {
                told.cut_short = Some(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(told)
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

/// Figures of what happened since results count, with the intervals that its batches give.
pub fn results(told: &Told) -> Results {
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
        // A trace does not tell what a node counts.
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
    MediumResults::new(&Sums::of(&tally, delays.contention(), &[], span), delays.packed().figures())
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
            Input::Offer { .. } | Input::Deed(_) => {}
        }
    }
    (attached, faults, cut)
}
