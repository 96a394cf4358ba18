//! Options of several commands: each is declared here, and flattened into those of a command.

use clap::{Args, ValueEnum};
use sim::words::units::{count, duration, jobs, lab_name, seed, tolerance};
use std::path::PathBuf;
use std::time::Duration;

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs, as JSON; docs/results.md describes that of a run.
    Json,
}

/// The option of commands that write a table or JSON.
#[derive(Args, Clone, Copy, Debug)]
pub struct Written {
    /// Write as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

/// How results of a run in virtual time are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SimFormat {
    /// For people.
    #[default]
    Table,
    /// One JSON object, described in docs/results.md.
    Json,
    /// A header and one line with the medium's metrics.
    Csv,
}

/// The option of commands that write CSV too.
#[derive(Args, Clone, Copy, Debug)]
pub struct Tabled {
    /// Write as `table`, `json` or `csv`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: SimFormat,
}

/// The option of commands whose draws are the same each time.
#[derive(Args, Clone, Copy, Debug)]
pub struct Seeded {
    /// Seed of every draw
    #[arg(short = 's', long, value_name = "SEED", default_value_t = 1, value_parser = seed)]
    pub seed: u64,
}

/// Which lab.
#[derive(Args, Clone, Debug)]
pub struct LabArgs {
    /// The lab [default: $ETHBUS_LAB, your only one, ethbus]
    #[arg(long, value_name = "LAB", value_parser = lab_name)]
    pub name: Option<String>,
}

/// Which lab, with or without `--name`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("name", |name| name.help("Another way to say LAB").hide_short_help(true)))]
pub struct NamedLabArgs {
    /// The lab [default: $ETHBUS_LAB, your only one, ethbus]
    #[arg(value_name = "LAB", value_parser = lab_name, conflicts_with = "name")]
    pub lab: Option<String>,
    /// The same.
    #[command(flatten)]
    pub named: LabArgs,
}

impl NamedLabArgs {
    /// The name that was given, if any.
    pub fn given(&self) -> Option<&str> {
        self.lab.as_deref().or(self.named.name.as_deref())
    }
}

/// What is run, where options can say all of it.
#[derive(Args, Clone, Debug)]
pub struct ScenarioArg {
    /// Scenario file; see docs/scenario.md
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: Option<PathBuf>,
}

/// What is read.
#[derive(Args, Clone, Debug)]
pub struct TraceArg {
    /// The trace; see docs/trace.md
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
}

/// Where a capture, or a trace as something else, goes to.
#[derive(Args, Clone, Debug)]
pub struct StreamArg {
    /// The file; `-` for standard output
    #[arg(short = 'o', long, value_name = "FILE|-", default_value = "-")]
    pub out: PathBuf,
}

/// The file that a command makes.
#[derive(Args, Clone, Debug)]
pub struct OutArg {
    /// The file that is made
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: PathBuf,
}

/// The same where it may be left out.
#[derive(Args, Clone, Debug)]
pub struct MaybeOutArg {
    /// The file that is made; `-` for standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A key and its values.
#[derive(Args, Clone, Debug)]
pub struct SetArg {
    /// A key and its values: `stations=2,4,8`
    ///
    /// May be given again: all combinations are run. A value with a comma in it is in quotes.
    #[arg(long, value_name = "KEY=VALUES")]
    pub set: Vec<String>,
}

/// Policies for retries.
#[derive(Args, Clone, Debug)]
pub struct PoliciesArg {
    /// A preset, or a policy with its values
    ///
    /// Like `google-http`, `full-jitter:100ms,20s` or `polling/cap=5s/attempts=8`; see docs/retry.md.
    #[arg(value_name = "POLICY", required = true)]
    pub policies: Vec<String>,
}

/// A sweep's table in another form too.
#[derive(Args, Clone, Debug)]
pub struct ParquetArg {
    /// Write the whole table as Parquet too, when it is done
    #[arg(long, value_name = "FILE.parquet", hide_short_help = true)]
    pub parquet: Option<PathBuf>,
}

/// Tables of a sweep.
#[derive(Args, Clone, Debug)]
pub struct TablesArg {
    /// Tables of `ethbus sweep`
    #[arg(value_name = "TABLE", required = true)]
    pub tables: Vec<PathBuf>,
}

/// When a command ends by itself.
#[derive(Args, Clone, Copy, Debug)]
pub struct TimedArgs {
    /// Stop after so long
    #[arg(short = 't', long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
}

/// The same of frames.
#[derive(Args, Clone, Copy, Debug)]
pub struct LimitArgs {
    /// Stop after this number of frames
    #[arg(long, value_name = "N", value_parser = count)]
    pub count: Option<u64>,
    /// Or earlier.
    #[command(flatten)]
    pub timed: TimedArgs,
}

/// What a trusted live run may be off by.
#[derive(Args, Clone, Copy, Debug)]
pub struct Trust {
    /// What a trusted run may be off by [default: 1%]
    ///
    /// The part of the time for which the medium's clock was stopped, and of the frames that were late or lost.
    #[arg(long, value_name = "PART", default_value = "1%", hide_default_value = true, value_parser = tolerance, hide_short_help = true)]
    pub tolerance: f64,
    /// End with 3 if the run is not to be trusted
    ///
    /// With --background `ethbus down` ends so.
    #[arg(long, hide_short_help = true)]
    pub strict: bool,
}

/// How long a run took.
#[derive(Args, Clone, Copy, Debug)]
pub struct Timing {
    /// Tell how long each run took, on standard error or in the table
    #[arg(long, hide_short_help = true)]
    pub timing: bool,
}

/// Threads of runs in virtual time.
#[derive(Args, Clone, Copy, Debug)]
pub struct Jobs {
    /// Threads for runs or buses [default: one for each core]
    ///
    /// Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = jobs, hide_short_help = true)]
    pub jobs: Option<u16>,
}

/// Figures over time.
#[derive(Args, Clone, Copy, Debug)]
pub struct Series {
    /// Metrics over time, in steps of this
    ///
    /// A row of CSV for each interval, instead of the results; a sweep writes them to its table `series`.
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub series: Option<Duration>,
}

/// A run that is looked at.
#[derive(Args, Clone, Copy, Debug)]
pub struct Drawn {
    /// Draw the bus as it is; `?` tells the keys
    ///
    /// Time goes on as slowly as you want, and back; see docs/watch.md.
    #[arg(long, hide_short_help = true)]
    pub watch: bool,
}

/// Runs that are shorter than those of papers.
#[derive(Args, Clone, Copy, Debug)]
pub struct Quick {
    /// Shorter and fewer runs: some seconds, and wider intervals
    #[arg(long)]
    pub quick: bool,
}

/// What kernels print.
#[derive(Args, Clone, Debug)]
pub struct Consoles {
    /// The folder that gets each station's console, as NAME.txt
    #[arg(long, value_name = "FOLDER")]
    pub consoles: Option<PathBuf>,
}
