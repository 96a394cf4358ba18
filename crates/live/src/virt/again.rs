//! A run of programs that is compared with its trace as it goes on.

use super::bus::Intervention;
use super::lab::planned;
use medium::{BitInstant, BitTimes, Deed, Event, Input, StationId};
use sim::files::event_log::{EmulatorEvent, EventLogReader, Given};
use sim::files::json_lines::{ReadError, WriteError};
use sim::files::observer::{End, Observer};
use sim::files::programs::Call;
use sim::scenario::plan::Plan;
use std::collections::VecDeque;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Why a run cannot go on, or is none that its trace tells of.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgainError {
    /// A file of the run cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The trace cannot be read, or this run differs from it.
    #[error(transparent)]
    Trace(#[from] ReadError),
    /// The trace ends here, as its run was interrupted; all that it has was the same.
    #[error("the recorded run was interrupted here")]
    Over,
}

/// An observer, and the trace of an earlier run that this run is to repeat.
#[derive(Debug)]
pub struct Against<O> {
    observer: O,
    trace: Option<EventLogReader<BufReader<File>>>,
}

impl<O: Observer<Error = WriteError>> Against<O> {
    /// `observer` gets every note; inputs are compared with those of `trace`, if there is one.
    pub fn new(observer: O, trace: Option<EventLogReader<BufReader<File>>>) -> Against<O> {
        Against { observer, trace }
    }
}

impl<O: Observer<Error = WriteError>> Observer for Against<O> {
    type Error = AgainError;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), AgainError> {
        if let Some(trace) = &mut self.trace {
            let now = Given::Input { at, input: *input, octets: octets.map(|octets| octets.to_vec()) };
            match trace.next_given()? {
                recorded if recorded == now => {}
                Given::End { end, .. } => {
                    self.observer.end(end)?;
                    return Err(AgainError::Over);
                }
                _ => return Err(trace.wrong(differs(at, input)).into()),
            }
        }
        Ok(self.observer.input(at, input, octets)?)
    }

    fn event(&mut self, event: &Event) -> Result<(), AgainError> {
        Ok(self.observer.event(event)?)
    }

    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), AgainError> {
        if let Some(trace) = &mut self.trace {
            match trace.next_given()? {
                Given::Call { at: then, station: of, call: recorded }
                    if (then, of, &recorded) == (at, station, call) => {}
                _ => return Err(trace.wrong(format!("this run differs: a command came at {at} BT instead")).into()),
            }
        }
        Ok(self.observer.call(at, station, call)?)
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), AgainError> {
        Ok(self.observer.emulator(event)?)
    }

    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), AgainError> {
        Ok(self.observer.restart(run_to, at)?)
    }

    fn end(&mut self, end: End) -> Result<(), AgainError> {
        self.observer.end(end)?;
        let Some(trace) = &mut self.trace else { return Ok(()) };
        match trace.next_given()? {
            Given::End { end: recorded, .. } if recorded == end => Ok(()),
            _ => Err(trace.wrong(format!("this run ended at {}, and the recorded one did not", end.t)).into()),
        }
    }
}

/// What was done to a lab, each at its instant.
type Interventions = Vec<(BitInstant, Intervention)>;

/// What was done to a lab beside what its scenario says, each at its instant, and the lab's end. A trace that was cut off
/// has no end.
///
/// # Errors
/// The trace cannot be read.
pub fn interventions(path: &Path, plan: &Plan) -> Result<(Interventions, Option<Duration>), ReadError> {
    let mut trace = EventLogReader::open(path)?;
    let mut planned: VecDeque<(BitInstant, Deed)> = planned(plan).into();
    let mut interventions = Vec::new();
    loop {
        match trace.next_given()? {
            Given::Input { input: Input::Offer { .. }, .. } => {}
            Given::Input { at, input: Input::Deed(deed), .. } => {
                // The medium may have got one bit further than the scenario says.
                let is_due =
                    |(due, planned): &(BitInstant, Deed)| *planned == deed && at.since(*due) <= BitTimes::new(1);
                let is_planned =
                    planned.front().is_some_and(|(due, _)| *due <= at) && planned.front().is_some_and(is_due);
                match is_planned {
                    true => _ = planned.pop_front(),
                    false => interventions.push((at, Intervention::Deed(deed))),
                }
            }
            Given::Call { at, station, call } => interventions.push((at, Intervention::Call { station, call })),
            Given::Traffic { .. } | Given::Restart { .. } => {}
            Given::End { end, .. } => {
                // The end is the bit instant after the last one.
                let last = BitTimes::new(end.t.saturating_sub(1)).at(plan.medium.rate);
                return Ok((interventions, Some(last)));
            }
        }
    }
}

fn differs(at: BitInstant, input: &Input) -> String {
    match input {
        Input::Offer { station, frame } => format!(
            "this run differs from here on: station {} sent {} octets at {at} BT instead",
            station.index() + 1,
            frame.size.get()
        ),
        _ => format!("this run differs from here on: an input that is no frame came at {at} BT instead"),
    }
}
