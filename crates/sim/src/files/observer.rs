//! One way to watch a run, virtual or live: what the medium was given, what happened, and how it ended.
//!
//! ```text
//!   input ─► its events ─► input ─► … ─► restart ─► … ─► end       in order of the medium's time
//! ```
//! A run is compiled once for all observers, and once without one: a run that nothing observes pays nothing.

use crate::files::emulated::EmulatorEvent;
use crate::files::programs::Call;
use medium::{BitInstant, Event, Input, StationId};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Everything that was due up to this instant has been run.
    pub run_to: u64,
    /// The instant at which the results were taken.
    pub t: u64,
}

/// Who observes a run. What an observer does not look at, it need not take.
pub trait Observer {
    /// Why it cannot continue.
    type Error;

    /// It ignores all that it gets, from its first note to its last: a run may leave it out.
    fn is_nothing(&self) -> bool {
        false
    }

    /// The medium is about to be given `input` at `at`. Frames of a live bus have `octets`, without FCS.
    ///
    /// # Errors
    /// The observer cannot keep what it wants to keep; so for every method.
    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), Self::Error> {
        let _ = (at, input, octets);
        Ok(())
    }

    /// A fact of the medium. The events of one input come after it.
    fn event(&mut self, event: &Event) -> Result<(), Self::Error>;

    /// Something happened to the emulator of a live bus.
    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), Self::Error> {
        let _ = event;
        Ok(())
    }

    /// A station of a virtual lab gets something from outside.
    ///
    /// # Errors
    /// As [`Observer::input`].
    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), Self::Error> {
        let _ = (at, station, call);
        Ok(())
    }

    /// A station offers something else from now on; the frames that it offers are inputs.
    fn traffic(&mut self, at: BitInstant, station: StationId, arrivals: &str) -> Result<(), Self::Error> {
        let _ = (at, station, arrivals);
        Ok(())
    }

    /// Everything due up to `run_to` has been run; results count from zero from `at` on.
    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), Self::Error> {
        let _ = (run_to, at);
        Ok(())
    }

    /// This number of inputs and events came before the next note and could not be taken; only a live bus has such.
    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), Self::Error> {
        let _ = (inputs, events);
        Ok(())
    }

    /// Hands everything so far to the reader.
    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The run is over. Nothing comes after it.
    fn end(&mut self, end: End) -> Result<(), Self::Error> {
        let _ = end;
        Ok(())
    }
}

/// No observer.
impl Observer for () {
    type Error = Infallible;

    fn is_nothing(&self) -> bool {
        true
    }

    fn event(&mut self, _: &Event) -> Result<(), Infallible> {
        Ok(())
    }
}

/// An observer, or none.
impl<O: Observer> Observer for Option<O> {
    type Error = O::Error;

    fn is_nothing(&self) -> bool {
        self.as_ref().is_none_or(O::is_nothing)
    }

    #[inline]
    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), O::Error> {
        self.as_mut().map_or(Ok(()), |observer| observer.input(at, input, octets))
    }

    #[inline(always)]
    fn event(&mut self, event: &Event) -> Result<(), O::Error> {
        match self {
            Some(observer) => observer.event(event),
            None => Ok(()),
        }
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), O::Error> {
        self.as_mut().map_or(Ok(()), |observer| observer.emulator(event))
    }

    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), O::Error> {
        self.as_mut().map_or(Ok(()), |observer| observer.call(at, station, call))
    }

    fn traffic(&mut self, at: BitInstant, station: StationId, arrivals: &str) -> Result<(), O::Error> {
        self.as_mut().map_or(Ok(()), |observer| observer.traffic(at, station, arrivals))
    }

    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), O::Error> {
        self.as_mut().map_or(Ok(()), |observer| observer.restart(run_to, at))
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), O::Error> {
        self.as_mut().map_or(Ok(()), |observer| observer.missing(inputs, events))
    }

    fn flush(&mut self) -> Result<(), O::Error> {
        self.as_mut().map_or(Ok(()), O::flush)
    }

    fn end(&mut self, end: End) -> Result<(), O::Error> {
        self.as_mut().map_or(Ok(()), |observer| observer.end(end))
    }
}

/// Several of a kind; each gets a note before the next does.
impl<O: Observer> Observer for Vec<O> {
    type Error = O::Error;

    fn is_nothing(&self) -> bool {
        self.iter().all(O::is_nothing)
    }

    #[inline]
    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), O::Error> {
        self.iter_mut().try_for_each(|observer| observer.input(at, input, octets))
    }

    #[inline(always)]
    fn event(&mut self, event: &Event) -> Result<(), O::Error> {
        for observer in self {
            observer.event(event)?;
        }
        Ok(())
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), O::Error> {
        self.iter_mut().try_for_each(|observer| observer.emulator(event))
    }

    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), O::Error> {
        self.iter_mut().try_for_each(|observer| observer.call(at, station, call))
    }

    fn traffic(&mut self, at: BitInstant, station: StationId, arrivals: &str) -> Result<(), O::Error> {
        self.iter_mut().try_for_each(|observer| observer.traffic(at, station, arrivals))
    }

    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), O::Error> {
        self.iter_mut().try_for_each(|observer| observer.restart(run_to, at))
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), O::Error> {
        self.iter_mut().try_for_each(|observer| observer.missing(inputs, events))
    }

    fn flush(&mut self) -> Result<(), O::Error> {
        self.iter_mut().try_for_each(O::flush)
    }

    fn end(&mut self, end: End) -> Result<(), O::Error> {
        self.iter_mut().try_for_each(|observer| observer.end(end))
    }
}

/// Two observers; the first gets each note first.
#[derive(Debug)]
pub struct Both<A, B>(pub A, pub B);

impl<A: Observer, B: Observer<Error = A::Error>> Observer for Both<A, B> {
    type Error = A::Error;

    fn is_nothing(&self) -> bool {
        self.0.is_nothing() && self.1.is_nothing()
    }

    #[inline]
    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), A::Error> {
        self.0.input(at, input, octets)?;
        self.1.input(at, input, octets)
    }

    #[inline(always)]
    fn event(&mut self, event: &Event) -> Result<(), A::Error> {
        self.0.event(event)?;
        self.1.event(event)
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), A::Error> {
        self.0.emulator(event)?;
        self.1.emulator(event)
    }

    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), A::Error> {
        self.0.call(at, station, call)?;
        self.1.call(at, station, call)
    }

    fn traffic(&mut self, at: BitInstant, station: StationId, arrivals: &str) -> Result<(), A::Error> {
        self.0.traffic(at, station, arrivals)?;
        self.1.traffic(at, station, arrivals)
    }

    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), A::Error> {
        self.0.restart(run_to, at)?;
        self.1.restart(run_to, at)
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), A::Error> {
        self.0.missing(inputs, events)?;
        self.1.missing(inputs, events)
    }

    fn flush(&mut self) -> Result<(), A::Error> {
        self.0.flush()?;
        self.1.flush()
    }

    fn end(&mut self, end: End) -> Result<(), A::Error> {
        self.0.end(end)?;
        self.1.end(end)
    }
}
