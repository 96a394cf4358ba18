//! Makes the traces that the options name.

use super::args::{LevelArg, TraceArgs};
use sim::files::event_log::{EventLog, Header, Level};
use sim::files::json_lines::{self, WriteError};
use sim::files::output::place_name;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Creates the traces of a run in virtual time, each written by a thread of its own; none is one of `others`, or one before.
///
/// # Errors
/// A file cannot be made, or its header not be written.
pub fn create(args: &TraceArgs, others: &[&Path], header: &Header) -> Result<Vec<EventLog>, WriteError> {
    let create = |(number, (path, level)): (usize, &(PathBuf, LevelArg))| {
        let others: Vec<&Path> = others.iter().copied().chain(args.paths().take(number)).collect();
        Ok(EventLog::create(path, &others, &header.clone().at_level((*level).into()))?.of_a_run().on_a_thread())
    };
    args.0.iter().enumerate().map(create).collect()
}

/// A trace's level, and what messages call it.
type Named = (Level, String);

/// The traces that a data plane writes, each with its level and name, and their files.
///
/// # Errors
/// A file cannot be made.
pub fn handed_over(args: &TraceArgs) -> Result<(Vec<Named>, Vec<File>), WriteError> {
    let paths: Vec<&Path> = args.paths().collect();
    let files = paths.iter().enumerate().map(|(number, path)| json_lines::create(path, &paths[..number]));
    let named = args.0.iter().map(|(path, level)| ((*level).into(), place_name(path))).collect();
    Ok((named, files.collect::<Result<_, _>>()?))
}

impl From<LevelArg> for Level {
    fn from(level: LevelArg) -> Level {
        match level {
            LevelArg::Inputs => Level::Inputs,
            LevelArg::Events => Level::Events,
            LevelArg::All => Level::All,
        }
    }
}
