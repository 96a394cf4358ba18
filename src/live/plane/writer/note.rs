//! What the coordinator hands over, one note a fact.

use medium::{BitInstant, Event, Input};
use sim::files::event_log::EmulatorEvent;
use sim::files::json_lines::WriteError;
use sim::files::record::End;
use sim::windows::Window;
use std::sync::Arc;

/// One fact, or a wish.
#[derive(Debug)]
pub enum Note {
    Input {
        at: BitInstant,
        input: Input,
        octets: Option<Arc<[u8]>>,
    },
    Event(Event),
    Emulator(EmulatorEvent),
    Restart {
        run_to: BitInstant,
        at: BitInstant,
    },
    Missing(Counts),
    /// A client wants the last seconds.
    Keep(BitInstant),
    End(End),
}

/// What found no room.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub inputs: u64,
    pub events: u64,
}

/// Gives a window a note. The end comes after all notes.
pub fn tell(window: &mut dyn Window, note: &Note) -> Result<(), WriteError> {
    match note {
        Note::Input { at, input, octets } => window.input(*at, input, octets.as_ref()),
        Note::Event(event) => window.event(event),
        Note::Emulator(event) => window.emulator(event),
        Note::Restart { run_to, at } => window.restart(*run_to, *at),
        Note::Missing(Counts { inputs: 0, events: 0 }) | Note::Keep(_) | Note::End(_) => Ok(()),
        Note::Missing(Counts { inputs, events }) => window.missing(*inputs, *events),
    }
}
