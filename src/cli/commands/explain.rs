//! `ethbus explain`: the life of one frame, told from an event log.

use super::{CommandError, Outcome, print};
use crate::cli::args::ExplainArgs;
use crate::study::explain::{Wanted, find, tell};
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::LineReader;
use std::process::ExitCode;

/// Tells the life of a frame.
///
/// # Errors
/// A log that is damaged before the frame's end, no such frame or more than one, or a text that cannot be written.
pub fn explain(args: &ExplainArgs) -> Outcome {
    let mut log = EventLogReader::new(LineReader::open(&args.events)?)?;
    let wanted = Wanted::parse(&args.frame, args.station.as_deref(), log.header()).map_err(CommandError::Explain)?;
    let story = find(&mut log, wanted).map_err(CommandError::Explain)?;
    print(&tell(&story, log.header()))?;
    Ok(ExitCode::SUCCESS)
}
