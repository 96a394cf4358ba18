//! The event log and the record as observers of a run, virtual or live.

pub use crate::files::observer::{Both, Observer};

use crate::files::event_log::{EmulatorEvent, EventLog};
use crate::files::json_lines::WriteError;
use crate::files::programs::Call;
use crate::files::record::{End, Recorder};
use medium::{BitInstant, Event, Input, StationId};
use std::sync::Arc;

/// The event log takes the events of both layers; inputs tell it of destinations, faults and cuts.
impl Observer for EventLog {
    type Error = WriteError;

    #[inline]
    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        EventLog::input(self, at, input)
    }

    #[inline]
    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        EventLog::event(self, event)
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        EventLog::emulator(self, event)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        EventLog::flush(self)
    }

    fn end(&mut self, _: End) -> Result<(), WriteError> {
        self.finish().map(|_| ())
    }
}

/// The record takes inputs. Its end has the digest that [`Recorder::confirm`] gave it.
impl Observer for Recorder {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        Recorder::input(self, at, input, octets.map(AsRef::as_ref))
    }

    fn event(&mut self, _: &Event) -> Result<(), WriteError> {
        Ok(())
    }

    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), WriteError> {
        Recorder::call(self, at, station, call)
    }

    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), WriteError> {
        Recorder::restart(self, run_to, at)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Recorder::flush(self)
    }

    fn end(&mut self, end: End) -> Result<(), WriteError> {
        self.finish(end).map(|_| ())
    }
}

/// A run's event log and record.
#[derive(Debug)]
pub struct RunFiles {
    /// The log; an unwritten one if only the record needs its digest.
    pub log: EventLog,
    /// The record, if one is wanted.
    pub record: Option<Recorder>,
}

impl Observer for RunFiles {
    type Error = WriteError;

    #[inline]
    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        Observer::input(&mut self.log, at, input, octets)?;
        Observer::input(&mut self.record, at, input, octets)
    }

    #[inline]
    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        Observer::event(&mut self.log, event)
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        Observer::emulator(&mut self.log, event)
    }

    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), WriteError> {
        Observer::call(&mut self.record, at, station, call)
    }

    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), WriteError> {
        Observer::restart(&mut self.log, run_to, at)?;
        Observer::restart(&mut self.record, run_to, at)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Observer::flush(&mut self.log)?;
        Observer::flush(&mut self.record)
    }

    fn end(&mut self, end: End) -> Result<(), WriteError> {
        Observer::end(&mut self.log, end)?;
        let digest = self.log.digest();
        self.record.as_mut().map_or(Ok(()), |record| {
            record.confirm(digest);
            Observer::end(record, end)
        })
    }
}
