//! One frame of a run over place and time, as `ethbus explain --svg` draws it.

use link::memory::memory_file;
use sim::explain::choice::{Pick, ended};
use sim::explain::{ExplainError, Wanted, draw, find};
use sim::files::event_log::{EventLog, EventLogReader, Header};
use sim::files::json_lines::{LineReader, ReadError, WriteError};
use sim::run::measure::{self, RunError};
use sim::scenario::plan::Plan;
use std::fs::File;
use std::io::{self, BufReader, Seek};

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum LifeError {
    /// No log in memory.
    #[error("a log in memory: {0}")]
    Memory(#[from] io::Error),
    /// A log that cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A run that cannot be.
    #[error(transparent)]
    Run(#[from] RunError<WriteError>),
    /// A log that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A frame that cannot be explained.
    #[error(transparent)]
    Explain(#[from] ExplainError),
    /// No frame matches.
    #[error("no frame with {0} was sent")]
    None(&'static str),
}

/// The picture of the first frame of a run that matches `pick`, and the command that draws it from `run.events`.
pub(super) fn picture(plan: &Plan, pick: &'static str) -> Result<(String, String), LifeError> {
    let names = plan.station_names();
    let header = Header::new(&plan.name, &plan.medium, &names);
    let file = memory_file("life")?;
    let mut log = EventLog::from_file(file.try_clone()?, "a log in memory".to_owned(), &header)?;
    measure::run(plan, plan.medium.seed, &mut log, |_| true)?;
    log.finish()?;
    let wanted = Pick::parse(pick).map_err(|_| LifeError::None(pick))?;
    let mut first = None;
    ended(&mut reader(&file)?, |one| {
        first = wanted.is(&one).then_some(one.frame);
        first.is_none()
    })?;
    let frame = first.ok_or(LifeError::None(pick))?;
    let story = find(&mut reader(&file)?, Wanted::parse(&frame, None, &header)?)?;
    let svg = draw(&story).ok_or(LifeError::None(pick))?;
    Ok((svg, format!("ethbus explain run.events --pick {pick} --svg life.svg")))
}

fn reader(mut file: &File) -> Result<EventLogReader<BufReader<&File>>, LifeError> {
    file.rewind()?;
    Ok(EventLogReader::new(LineReader::new(BufReader::new(file), "a log in memory".to_owned()))?)
}
