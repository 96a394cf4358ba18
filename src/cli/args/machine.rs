//! Arguments of the commands about files and this machine.

use super::Format;
use clap::{Args, Subcommand, ValueEnum};
use sim::words::units::{duration, seed};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What to measure.
#[derive(Clone, Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure a live bus beside what is asked of it, and beside a veth pair and a kernel bridge
    ///
    /// Needs what the demonstration needs, and `iperf3` for some rows. See docs/live.md.
    #[command(after_help = "Example:\n  ethbus bench live --only idle,echo --duration 2s")]
    Live(BenchLiveArgs),
}

/// Options of `bench live`.
#[derive(Args, Clone, Debug)]
pub struct BenchLiveArgs {
    /// Only these rows, like `echo,idle`
    #[arg(long, value_name = "ROW[,ROW]", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How long each measurement takes
    #[arg(short = 't', long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub duration: Duration,
    /// Seed of every draw [default: drawn, and printed]
    #[arg(short = 's', long, value_name = "SEED", value_parser = seed)]
    pub seed: Option<u64>,
    /// Keep the event log of each run in this folder
    #[arg(long, value_name = "FOLDER")]
    pub logs: Option<PathBuf>,
    /// End with 1 if a figure is not as asked, or a row was skipped
    #[arg(long)]
    pub check: bool,
    /// Write as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

/// Options of `init`.
#[derive(Args, Clone, Debug)]
pub struct InitArgs {
    /// What to begin with
    #[arg(value_enum)]
    pub kind: Beginning,
    /// The file to write, `-` for standard output [default: lab.toml]
    #[arg(short = 'o', long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
}

/// A scenario to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Beginning {
    /// Every pair of stations at the same distance.
    Star,
    /// Stations along one cable.
    Bus,
    /// Segments that repeaters join.
    Segments,
}

/// Options of `doctor`.
#[derive(Args, Clone, Debug)]
pub struct DoctorArgs {
    /// How the findings are written
    #[arg(short = 'f', long, value_enum, default_value_t)]
    pub format: Format,
}

/// Options of `completions`.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// A shell that completions are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(clippy::enum_variant_names, reason = "that is its name")]
pub enum Shell {
    /// GNU Bash.
    Bash,
    /// Elvish.
    Elvish,
    /// Fish.
    Fish,
    /// PowerShell.
    #[value(name = "powershell")]
    PowerShell,
    /// Z shell.
    Zsh,
}

/// A command line so far.
#[derive(Args, Clone, Debug)]
pub struct NamesArgs {
    /// Its words; the last is the one that is being typed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}

/// Options of `man`.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// The command; ethbus itself if left out
    pub command: Option<String>,
    /// Write all pages into this folder instead
    #[arg(short = 'o', long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// Options of `check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// Scenario files; see docs/scenario.md
    #[arg(value_name = "SCENARIO.toml", required_unless_present = "schema")]
    pub scenarios: Vec<PathBuf>,
    /// Write as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
    /// Print a JSON Schema of scenarios instead, for editors
    #[arg(long, conflicts_with_all = ["scenarios", "format"])]
    pub schema: bool,
}
