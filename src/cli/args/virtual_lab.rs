//! Arguments of the commands that run labs of kernels in virtual time.

use super::{Consoles, Overruled, ScenarioArg, Timing, TraceArgs, WindowArgs, Written};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use sim::settings::options::RUN;
use sim::words::units::duration;
use std::path::PathBuf;
use std::time::Duration;

/// Options of `run`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("scenario", |scenario| scenario.required(true)))]
pub struct RunArgs {
    /// What is run.
    #[command(flatten)]
    pub file: ScenarioArg,
    /// What is said over it.
    #[command(flatten)]
    pub over: Overruled<RUN>,
    /// How the kernels run.
    #[command(flatten)]
    pub kernels: KernelArgs,
    /// Traces.
    #[command(flatten)]
    pub traces: TraceArgs,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
    /// How long it took.
    #[command(flatten)]
    pub timing: Timing,
    /// Windows on the run.
    #[command(flatten)]
    pub windows: WindowArgs,
}

/// How a lab's kernels run.
#[derive(Args, Clone, Debug)]
pub struct KernelArgs {
    /// Virtual seconds in a real one
    ///
    /// `run` goes as fast as possible without it, and `up --virtual` as fast as life, which is 1.
    #[arg(long, value_name = "N", value_parser = pace)]
    pub pace: Option<f64>,
    /// What they print.
    #[command(flatten)]
    pub console: Consoles,
    /// The kernel [default: that of `ethbus kernel build`]
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// How long a station may run while its clock does not move [default: 30s]
    ///
    /// A station that runs longer has a program that computes for ever, and ends the run.
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub patience: Option<Duration>,
}

/// The same beside `--virtual`, which they need.
#[derive(Clone, Debug)]
pub struct BesideVirtual(pub KernelArgs);

impl Args for BesideVirtual {
    fn augment_args(command: Command) -> Command {
        let options = ["pace", "consoles", "kernel", "patience"];
        let beside = |command: Command, option| {
            command.mut_arg(option, |option| option.hide_short_help(true).requires("is_virtual"))
        };
        options.into_iter().fold(KernelArgs::augment_args(command), beside)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for BesideVirtual {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        KernelArgs::from_arg_matches(matches).map(BesideVirtual)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

fn pace(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|pace| (0.001..=1000.0).contains(pace));
    number.ok_or_else(|| "it is a number from 0.001 to 1000, like `1`".to_owned())
}

/// What is to be done about the kernel.
#[derive(Clone, Debug, Subcommand)]
pub enum KernelCommand {
    /// Build it from Debian's linux-source
    ///
    /// Takes five minutes of one processor, 1.5 GB while it is built, and 6 MB afterwards. It needs gcc, make, flex, bison, bc,
    /// patch and xz, and fetches linux-source with apt if it is not installed. See docs/virtual.md.
    #[command(after_help = "Example:\n  ethbus kernel build")]
    Build(KernelBuildArgs),
}

/// Options of `kernel build`.
#[derive(Args, Clone, Debug)]
pub struct KernelBuildArgs {
    /// The folder for the kernel [default: ~/.cache/ethbus/kernel]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}
