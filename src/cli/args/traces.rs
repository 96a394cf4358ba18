//! The traces of a run: their files, and what each has.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, ValueEnum};
use std::path::{Path, PathBuf};

/// The traces of a run, in the order of the options.
#[derive(Clone, Debug, Default)]
pub struct TraceArgs(pub Vec<(PathBuf, LevelArg)>);

/// The options as clap knows them.
#[derive(Args, Clone, Debug)]
struct Options {
    /// Write all events, for `ethbus explain`
    ///
    /// One a line, or smaller and faster where the name ends in .ebe; see docs/trace.md. Several files may have a level each.
    #[arg(long, value_name = "FILE")]
    events: Vec<PathBuf>,
    /// What the trace has: `events`, `inputs` for `ethbus replay`, or `all`
    ///
    /// For the file of the --events before it; `events` if left out.
    #[arg(long, value_name = "LEVEL", requires = "events", hide_possible_values = true, hide_short_help = true)]
    events_level: Vec<LevelArg>,
}

/// A level as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// What the run was given
    Inputs,
    /// What happened
    Events,
    /// Both
    All,
}

impl TraceArgs {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|(path, _)| path.as_path())
    }

    /// Whether one has what the run is given.
    pub fn have_inputs(&self) -> bool {
        self.0.iter().any(|(_, level)| *level != LevelArg::Events)
    }

    /// The files under the name of their option.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, Option<&Path>)> {
        self.paths().map(|path| ("--events", Some(path)))
    }
}

impl Args for TraceArgs {
    fn augment_args(command: Command) -> Command {
        Options::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Options::augment_args_for_update(command)
    }
}

/// A level is that of the file before it.
impl FromArgMatches for TraceArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Options { events, events_level } = Options::from_arg_matches(matches)?;
        let indices = |id| matches.indices_of(id).into_iter().flatten();
        let mut traces: Vec<(PathBuf, LevelArg)> = events.into_iter().map(|path| (path, LevelArg::Events)).collect();
        let files: Vec<usize> = indices("events").collect();
        for (at, word) in indices("events_level").zip(events_level) {
            let before = files.partition_point(|file| *file < at);
            traces[before.saturating_sub(1)].1 = word;
        }
        Ok(TraceArgs(traces))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
