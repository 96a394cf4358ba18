//! What the coordinator tells the writers, and how a window takes it.

use medium::{BitInstant, Event, Frame, FrameId, Input, Kind, StationId};
use sim::files::event_log::{EmulatorEvent, Level};
use sim::files::json_lines::WriteError;
use sim::files::observer::End;
use sim::windows::Window;
use std::sync::Arc;

/// What the coordinator tells.
#[derive(Debug)]
pub(super) enum Note {
    Input {
        at: BitInstant,
        input: Input,
        octets: Option<Arc<[u8]>>,
    },
    Event(Event),
    Emulator(EmulatorEvent),
    /// A station offers something else, for traces of inputs.
    Traffic {
        at: BitInstant,
        station: StationId,
        arrivals: Box<str>,
    },
    Restart {
        run_to: BitInstant,
        at: BitInstant,
    },
    /// Frames that the medium has as a capture begins, and when that is.
    Held(BitInstant, Vec<(FrameId, Frame, Arc<[u8]>)>),
    Missing(Counts),
    /// A client wants the last seconds.
    Keep(BitInstant),
    End(End),
}

/// Notes without room.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub inputs: u64,
    pub events: u64,
}

impl Counts {
    /// How many rows these are of a trace of this level.
    pub fn of(self, level: Level) -> u64 {
        match level {
            Level::Inputs => self.inputs,
            Level::Events => self.events,
            Level::All => self.inputs + self.events,
        }
    }
}

/// Gives a window a note. The end comes after all notes.
pub(super) fn tell(window: &mut dyn Window, note: &Note) -> Result<(), WriteError> {
    match note {
        Note::Input { at, input, octets } => window.input(*at, input, octets.as_ref()),
        Note::Event(event) => window.event(event),
        Note::Emulator(event) => window.emulator(event),
        Note::Restart { run_to, at } => window.restart(*run_to, *at),
        Note::Held(at, frames) => frames.iter().try_for_each(|held| tell_held(window, *at, held)),
        Note::Missing(Counts { inputs: 0, events: 0 }) | Note::Keep(_) | Note::End(_) | Note::Traffic { .. } => Ok(()),
        Note::Missing(Counts { inputs, events }) => window.missing(*inputs, *events),
    }
}

/// Gives a window a frame that the medium has, as if it were offered now: a capture does not tell when that was.
fn tell_held(window: &mut dyn Window, at: BitInstant, held: &(FrameId, Frame, Arc<[u8]>)) -> Result<(), WriteError> {
    let (id, frame, octets) = held;
    let (station, kind) = (id.station, Kind::Offered { size: frame.size });
    window.input(at, &Input::Offer { station, frame: *frame }, Some(octets))?;
    window.event(&Event { at, station, frame: *id, kind })
}
