//! The rows of a trace, and what an event's row says.

use super::EmulatorEvent;
use super::Names;
use super::text::{Line, no_frame};
use crate::files::inputs::Given;
use medium::{BitInstant, Deed, Destination, Event};

/// A row of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// It happened, or was done to the bus.
    Entry(Entry),
    /// What the run was given beside that.
    Given(Given),
}

/// What happened, or was done to the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It happened on the medium.
    Medium(Event),
    /// It was done to the bus.
    Deed {
        /// When.
        at: BitInstant,
        /// What.
        deed: Deed,
    },
    /// It happened to the emulator.
    Emulator(EmulatorEvent),
}

/// The event that a line tells of, and whom its frame is for, if it says so.
pub(super) fn event(line: &mut Line<'_>, names: &Names) -> Result<(Event, Option<(Destination, bool)>), String> {
    let (station, name) = (line.take_station(names)?, line.take_frame_column()?);
    let frame = names.numbered(&name).ok_or_else(|| no_frame(&name))?;
    let destination = match &*line.kind {
        "offered" => {
            let tagged = line.tagged.take().unwrap_or(false);
            line.destination.take().map(|to| to.destination(names).map(|to| (to, tagged))).transpose()?
        }
        _ => None,
    };
    let event = Event { at: BitInstant::new(line.t), station, frame, kind: line.take_kind()? };
    check_frame(&event, || name.into_owned())?;
    Ok((event, destination))
}

/// Refuses an event of a kind that needs a frame, or a frame of its own station, and has none.
pub(super) fn check_frame(event: &Event, name: impl FnOnce() -> String) -> Result<(), String> {
    let Event { station, frame, kind, .. } = event;
    match frame.serial {
        0 if kind.needs_a_frame() => Err(no_frame(&name())),
        _ if frame.station != *station && !kind.is_a_receivers() => Err(format!(
            "`{}` is a frame of another station, and an event of kind `{}` is about one of its own",
            name(),
            kind.name()
        )),
        _ => Ok(()),
    }
}
