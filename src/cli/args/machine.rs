//! Arguments of the commands about files and this machine.

use super::{MaybeOutArg, TimedArgs, Written};
use clap::{Args, Subcommand, ValueEnum};
use sim::words::units::seed;
use std::ffi::OsString;
use std::path::PathBuf;

/// Options of `init`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("out", |out| out.help("The file to write, `-` for standard output [default: lab.toml]")))]
pub struct InitArgs {
    /// What to begin with
    #[arg(value_enum)]
    pub kind: Beginning,
    /// Where to.
    #[command(flatten)]
    pub made: MaybeOutArg,
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

/// The rows of `doctor --measure` that a live bus needs most.
const USUAL_ROWS: &str = "echo,sixty_four,frames_100";

/// Options of `doctor`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("duration", |duration| duration.help("How long each measurement takes [default: 5s]")))]
pub struct DoctorArgs {
    /// Measure what a live bus holds here: `all`, or rows like `echo,idle`
    ///
    /// Each figure is beside its goal, a veth pair and a kernel bridge. Without rows: `echo`, `sixty_four` and `frames_100`, some
    /// 30 s. Needs what the demonstration needs, and `iperf3` for some rows. See docs/live.md.
    #[arg(long, value_name = "ROW[,ROW]", value_delimiter = ',', num_args = 0..=1, default_missing_value = USUAL_ROWS)]
    pub measure: Option<Vec<String>>,
    /// How long each measurement takes.
    #[command(flatten)]
    pub timed: TimedArgs,
    /// Seed of every draw [default: drawn, and printed]
    #[arg(short = 's', long, value_name = "SEED", requires = "measure", value_parser = seed)]
    pub seed: Option<u64>,
    /// Keep the trace of each run in this folder
    #[arg(long, value_name = "FOLDER", requires = "measure")]
    pub logs: Option<PathBuf>,
    /// End with 1 if a figure is not as asked, or a row was skipped
    #[arg(long, requires = "measure")]
    pub check: bool,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// What there is to read.
#[derive(Clone, Debug, Subcommand)]
pub enum HelpCommand {
    /// Show the man page of ethbus, or of one of its commands
    #[command(after_help = "Examples:\n  ethbus help man sim\n  ethbus help man --out /usr/local/share/man/man1")]
    Man(ManArgs),
    /// Print a shell's completions
    ///
    /// In bash, zsh and fish the Tab key then also knows topologies, traffic and other values, and the names of your labs that
    /// are up, and of their stations. A root shell knows root's labs.
    #[command(
        after_help = "Examples:\n  source <(ethbus help completions bash)\n  ethbus help completions bash > /etc/bash_completion.d/ethbus\n  ethbus help completions zsh > /usr/local/share/zsh/site-functions/_ethbus\n  ethbus help completions fish > ~/.config/fish/completions/ethbus.fish"
    )]
    Completions(CompletionsArgs),
}

/// Options of `help completions`.
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

/// Options of `help man`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("out", |out| out.value_name("FOLDER").help("Write all pages into this folder instead")))]
pub struct ManArgs {
    /// The command; ethbus itself if left out
    pub command: Option<String>,
    /// Where to.
    #[command(flatten)]
    pub made: MaybeOutArg,
}

/// Options of `check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// Scenario files; see docs/scenario.md
    #[arg(value_name = "SCENARIO.toml", required_unless_present = "schema")]
    pub scenarios: Vec<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
    /// Print a JSON Schema of scenarios instead, for editors
    #[arg(long, conflicts_with_all = ["scenarios", "format"])]
    pub schema: bool,
}

/// Which program is served.
#[derive(Clone, Debug, Subcommand)]
pub enum ServeCommand {
    /// Serve the figures of all labs that are up to Prometheus
    ///
    /// At http://127.0.0.1:9610/metrics, in the format of OpenMetrics, until interrupted: the labs of the user who runs it.
    /// `ethbus up --metrics` serves one lab as long as it is up. See docs/seeing.md.
    #[command(after_help = "Example:\n  ethbus serve prometheus --listen 0.0.0.0:9610")]
    Prometheus(PrometheusArgs),
    /// Serve Docker's daemon: a network of containers is a bus
    ///
    /// `docker network create -d ethbus -o access=plca -o topology=bus:25m t1s` brings a lab up, and a container of that
    /// network is a station. Options are those of `ethbus up`. When the command ends, labs stay up.
    #[command(after_help = "Example:\n  sudo ethbus serve docker")]
    Docker(DockerArgs),
}

/// Options of `serve docker`.
#[derive(Args, Clone, Debug)]
pub struct DockerArgs {
    /// Where the daemon finds the driver; the name of the file is that of the driver
    #[arg(long, value_name = "PATH", default_value = "/run/docker/plugins/ethbus.sock")]
    pub socket: PathBuf,
    /// Where the driver keeps which network has which lab
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/ethbus-docker")]
    pub state: PathBuf,
}

/// Options of `serve prometheus`.
#[derive(Args, Clone, Debug)]
pub struct PrometheusArgs {
    /// Where to listen
    ///
    /// A port of the loopback, or an address with a port, as in `0.0.0.0:9610`.
    #[arg(long, value_name = "[ADDRESS:]PORT", default_value = "9610")]
    pub listen: String,
}
