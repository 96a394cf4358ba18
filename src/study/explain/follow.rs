//! Reads a log as far as a frame's life goes, whatever the access method.

use super::emulated;
use super::{ExplainError, Wanted};
use medium::{BitInstant, Destination, Event, Input};
use sim::files::event_log::{EmulatorEvent, Entry, EventLogReader};
use sim::files::json_lines::ReadError;
use std::io::BufRead;

/// What is known of a medium while its log is read, and of the frames that are told of.
pub(super) trait Follows {
    /// Something happened; `destination` is that of a frame that is offered.
    fn event(&mut self, event: &Event, wanted: Wanted, destination: Option<Destination>);
    /// Something was done to the medium.
    fn input(&mut self, at: BitInstant, input: Input);
    /// Whether one of the frames has not come to its end.
    fn goes_on(&self) -> bool;
    /// Whether one has, so long ago that nobody hears anything of it any more.
    fn is_over(&self) -> bool;
}

/// Reads up to the end of the frame that is wanted by its number, or of the log. Gives what the emulator did to it, and why the
/// log ends too early, if it does.
///
/// # Errors
/// A damaged log.
pub(super) fn follow<R: BufRead>(
    log: &mut EventLogReader<R>,
    wanted: Wanted,
    scene: &mut impl Follows,
) -> Result<(Vec<EmulatorEvent>, Option<String>), ExplainError> {
    let mut events = Vec::new();
    loop {
        match log.next_entry() {
            Ok(Some(Entry::Medium(event))) => scene.event(&event, wanted, log.destination()),
            Ok(Some(Entry::Input { at, input })) => scene.input(at, input),
            Ok(Some(Entry::Emulator(event))) => {
                // Of a late arrival the log tells before the frame itself.
                if scene.goes_on() || event.kind.frame().is_some_and(|frame| wanted.is(frame)) {
                    emulated::keep(&mut events, event);
                }
            }
            Ok(None) => return Ok((events, None)),
            Err(error @ ReadError::CutShort { .. }) => return Ok((events, Some(error.to_string()))),
            Err(error) => return Err(error.into()),
        }
        if matches!(wanted, Wanted::Frame(_)) && scene.is_over() {
            return Ok((events, None));
        }
    }
}
