//! The command line. Used by `build.rs` too, which makes man pages and completions from it: std and clap only.
//!
//! One file above 500 lines because build.rs includes it by its path, and each option stands beside its command.

use clap::{Args, Parser, Subcommand, ValueEnum};
use sim::words::units::{
    FrameRate, Load, count, duration, duration_or_zero, frame_rate, frame_size, jobs, lab_name, load, rate,
    replications, seed, stations, time_scale, tolerance,
};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

// By path: build.rs includes this file by path too, and would look for the modules elsewhere.
#[path = "args/retry.rs"]
pub mod retry;
#[path = "args/theory.rs"]
pub mod theory;

/// All commands in their groups, for `-h`.
const COMMANDS_SHORT: &str = "\
Labs:        up, list, exec, shell, stats, send, receive, down,
             plug, unplug, fault, cut, mend
Simulation:  sim, sweep, merge, plot, validate, replay, explain
Theory:      theory, retry
Files:       init, check
Machine:     doctor, bench, completions, man
`ethbus COMMAND -h` tells about one, `ethbus --help` about all.";

/// All commands in their groups with what they do, for `--help`.
const COMMANDS_LONG: &str = "\
Labs:
  up           Bring a lab up: stations with kernels of their own on one bus
  list         List the labs that are up, their stations and addresses
  exec         Run a program in a station
  shell        Open a shell in a station
  stats        Show what has happened on a lab's bus so far
  plug         Put a station back on the medium
  unplug       Take a station off the medium, as if its cable were pulled
  fault        Make a station faulty on purpose, or right again
  cut          Cut the cable between two stations
  mend         Mend a cable that was cut
  send         Offer frames from a station, with sequence numbers
  receive      Receive such frames, and tell loss, order and delay
  down         Take a lab down, or remove what a killed one left behind

Simulation:
  sim          Run the medium in virtual time
  sweep        Run a grid of scenario keys and seeds into one table
  merge        Merge the tables of a sweep's shards
  plot         Draw figures of a sweep's table
  validate     Show known figures beside measured ones
  replay       Run a recorded run again, and give the same events
  explain      Tell the life of one frame

Theory:
  theory       Work out a formula of ALOHA, CSMA, Ethernet, 802.11 or backoff
  retry        Show how clients retry, and what a service sees

Files:
  init         Write a scenario to begin with
  check        Check scenario files, without running anything

Machine:
  doctor       Look at what a lab needs of this machine, and say what to do
  bench        Measure what this machine makes of a bus
  completions  Print a shell's completions
  man          Show the man page of a command

Examples:
  ethbus                                    four stations contend for ten seconds
  ethbus --stations 16 --frame-size 64      sixteen stations, the shortest frames
  ethbus up, then: ethbus exec st1 ping st2
  ethbus sim --stations 50 --duration 10s   no privileges, no waiting

Exit codes: 0 success, 1 failure, 2 wrong use, 3 not to be trusted (`--strict`), 130 interrupted; `exec` and `shell` give
their program's own.";

/// Shared-medium Ethernet on your own machine: real frames over one CSMA/CD bus
///
/// Without a command: a demonstration. Stations in network namespaces of their own contend for a 10 Mb/s
/// half-duplex bus for ten seconds; then a table says what happened. It needs root, or a kernel that lets
/// you make user namespaces. Everything it makes is gone when it ends.
#[derive(Debug, Parser)]
#[command(name = "ethbus", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
#[command(after_help = COMMANDS_SHORT, after_long_help = COMMANDS_LONG, disable_help_subcommand = true)]
#[command(
    override_usage = "ethbus [OPTIONS]    the demonstration\n       ethbus COMMAND ...",
    help_template = "{about-with-newline}\n{usage-heading} {usage}\n\n{options}{after-help}"
)]
pub struct Cli {
    /// What to do; the demonstration if left out.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The demonstration's options.
    #[command(flatten)]
    pub demo: DemoArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Bring a lab up and keep it up until interrupted
    ///
    /// As root, or without root where you may make user namespaces: then the lab is yours alone, its record stands in
    /// /run/user/UID/ethbus, its namespaces have no names for `ip netns`, and the bus has the priority of any program. A lab
    /// is reached by whoever brought it up, root's with sudo and a user's without.
    #[command(after_help = "Examples:\n  ethbus up lab.toml --background\n  ethbus up --topology bus:500m --name coax")]
    Up(UpArgs),
    /// List the labs that are up, their stations and addresses
    ///
    /// Labs of the user who asks, and what killed ones left behind, which `ethbus down` removes.
    #[command(visible_alias = "ls", after_help = "Examples:\n  ethbus list\n  ethbus list --format json")]
    List(ListArgs),
    /// Run a program in a station of a lab
    ///
    /// Input, output, signals and the exit code pass through. Stations know each other by name. Without a program: a shell.
    ///
    /// In a lab of root's the program has all of root's rights. In a user's it runs as that user, with every capability over
    /// the lab's namespaces and none outside.
    #[command(
        after_help = "Examples:\n  ethbus exec st1 ping st2\n  ethbus exec st1 -- tcpdump -ni eth0\n  ethbus exec st1"
    )]
    Exec(ExecArgs),
    /// Open a shell in a station of a lab
    #[command(after_help = "Examples:\n  ethbus shell st1\n  ethbus shell --name coax st2")]
    Shell(ShellArgs),
    /// Show what has happened on a lab's bus so far
    #[command(after_help = "Examples:\n  ethbus stats\n  ethbus stats --watch\n  ethbus stats coax --format json")]
    Stats(StatsArgs),
    /// Put a station back on the medium
    #[command(alias = "attach", after_help = "Example:\n  ethbus plug st3")]
    Plug(PortArgs),
    /// Take a station off the medium while the bus runs, as if its cable were pulled
    ///
    /// What it sends is discarded and counted, and it hears nothing, until `ethbus plug`.
    #[command(alias = "detach", after_help = "Example:\n  ethbus unplug st3")]
    Unplug(PortArgs),
    /// Make a station faulty on purpose, or right again
    #[command(after_help = "Examples:\n  ethbus fault st2 deaf\n  ethbus fault st2 none")]
    Fault(FaultArgs),
    /// Cut the cable between two stations while the bus runs: two media from then on
    ///
    /// Halfway between them, each end terminated; on a bus or on one segment. `ethbus mend` joins the ends again.
    #[command(after_help = "Example:\n  ethbus cut st2 st3")]
    Cut(CutArgs),
    /// Mend a cable that was cut
    #[command(after_help = "Example:\n  ethbus mend")]
    Mend(NamedLabArgs),
    /// Take a lab down, or remove what a killed one left behind
    #[command(after_help = "Examples:\n  ethbus down\n  ethbus down coax")]
    Down(NamedLabArgs),
    /// Offer frames from a station, with sequence numbers
    #[command(after_help = "Example:\n  ethbus send --from st1 --to st2 --rate 100/s --count 50")]
    Send(SendArgs),
    /// Receive such frames in a station, and tell loss, duplicates, order and delay
    #[command(after_help = "Example:\n  ethbus receive --at st2 --duration 12s")]
    Receive(ReceiveArgs),
    /// Run the medium in virtual time, and tell every counter and metric
    ///
    /// Needs no privileges. The same options and seed give the same numbers on every machine.
    #[command(
        after_help = "Examples:\n  ethbus sim --stations 50 --duration 10s\n  ethbus sim lab.toml --events run.events --format json"
    )]
    Sim(SimArgs),
    /// Run a grid of scenario keys and seeds on all cores, into one table
    ///
    /// Needs no privileges. Interrupted, it goes on where it was with the same command; see docs/sweep.md.
    #[command(after_help = "Example:\n  ethbus sweep --set stations=2..64*2 --seeds 5 --out runs.csv")]
    Sweep(SweepArgs),
    /// Merge the tables of a sweep's shards
    #[command(after_help = "Example:\n  ethbus merge --out runs.csv shard-*.csv")]
    Merge(MergeArgs),
    /// Draw figures of a sweep's table
    #[command(after_help = "Example:\n  ethbus plot runs.csv --x stations --y utilization_total --out runs.svg")]
    Plot(PlotArgs),
    /// Run what anyone can check, and show agreement and deviation side by side
    ///
    /// Needs no privileges. Ends with 1 if a figure deviates and nothing explains it. See docs/validation.md.
    #[command(after_help = "Example:\n  ethbus validate --quick --only capture")]
    Validate(ValidateArgs),
    /// Work out what theory says of ALOHA, CSMA, Ethernet, 802.11 and backoff
    ///
    /// Each answer names its paper and equation, and says where it holds. See docs/theory.md.
    Theory(theory::TheoryArgs),
    /// Show how clients retry: delays of policies, and what a service sees when all come back at once
    ///
    /// See docs/retry.md. Examples: ethbus retry google-http sip-e; ethbus retry herd full-jitter:100ms,20s
    Retry(retry::RetryArgs),
    /// Run a recorded run again, and give the same events
    #[command(after_help = "Example:\n  ethbus replay run.record --events again.events")]
    Replay(ReplayArgs),
    /// Tell the life of one frame in words and as a timeline
    #[command(
        after_help = "Examples:\n  ethbus explain run.events --list\n  ethbus explain run.events --pick collisions=3\n  ethbus explain run.events --frame st2#17"
    )]
    Explain(ExplainArgs),
    /// Write a scenario to begin with: every line has a comment
    #[command(after_help = "Examples:\n  ethbus init bus\n  ethbus init segments --out campus.toml")]
    Init(InitArgs),
    /// Check scenario files, without running anything
    ///
    /// Says all that is wrong, as FILE:LINE:COLUMN: key: value: what would be right, and ends with 2 if anything is.
    #[command(after_help = "Example:\n  ethbus check *.toml")]
    Check(CheckArgs),
    /// Look at what a lab needs of this machine, and say what to do about each thing that is missing
    #[command(after_help = "Examples:\n  ethbus doctor\n  ethbus doctor --format json")]
    Doctor(DoctorArgs),
    /// Measure what this machine makes of a bus
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Print a shell's completions
    #[command(after_help = "Example:\n  ethbus completions bash > /etc/bash_completion.d/ethbus")]
    Completions(CompletionsArgs),
    /// Show the man page of ethbus, or of one of its commands
    #[command(after_help = "Examples:\n  ethbus man\n  ethbus man sim\n  ethbus man --out /usr/local/share/man/man1")]
    Man(ManArgs),
    /// The data plane; started by the supervisor
    #[command(name = "__bus", hide = true)]
    Bus,
}

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// One JSON object, described in docs/results.md.
    Json,
}

/// Options of the demonstration.
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// How many stations, 1 to 1024
    #[arg(short = 'n', long, value_name = "N", default_value_t = 4, value_parser = stations)]
    pub stations: usize,
    /// The medium's rate
    #[arg(short = 'r', long, value_name = "RATE", default_value = "10Mbit/s", value_parser = rate)]
    pub rate: u64,
    /// How long the stations offer frames
    #[arg(short = 't', long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub duration: Duration,
    /// Seed of every draw [default: drawn, and printed]
    #[arg(short = 's', long, value_name = "SEED", value_parser = seed)]
    pub seed: Option<u64>,
    /// What all offer, like 40%
    ///
    /// What all stations offer together, as a part of the medium's rate.
    #[arg(long, value_name = "LOAD", default_value = "saturated", value_parser = load)]
    pub load: Load,
    /// Frame size in octets, 64 to 1518
    ///
    /// From destination address to FCS.
    #[arg(short = 'l', long, value_name = "OCTETS", default_value_t = 512, value_parser = frame_size)]
    pub frame_size: u32,
    /// Run slower than life: 0.1 is ten times slower
    ///
    /// The medium's time as a part of real time. Programs in stations see real time, so `ping` prints ten times the medium's.
    #[arg(long, value_name = "PART", value_parser = time_scale, hide_short_help = true)]
    pub time_scale: Option<f64>,
    /// Write all events, for `ethbus explain`
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// What a trusted run may be off by
    ///
    /// A part: of the time that the medium's clock stood still, and of frames that were late or lost.
    #[arg(long, value_name = "PART", default_value = "1%", value_parser = tolerance)]
    pub tolerance: f64,
    /// End with 3 if the run is not to be trusted
    #[arg(long, hide_short_help = true)]
    pub strict: bool,
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

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// Options of `sim`.
#[derive(Args, Clone, Debug)]
pub struct SimArgs {
    /// Scenario file; see docs/scenario.md
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: Option<PathBuf>,
    /// What is run.
    #[command(flatten)]
    pub run: RunArgs,
    /// Seed of every random draw [default: 1]
    #[arg(short = 's', long, value_name = "SEED", value_parser = seed)]
    pub seed: Option<u64>,
    /// Independent runs, taken together [default: 1]
    ///
    /// Seeded SEED, SEED + 1 …, on all cores.
    #[arg(long, value_name = "R", value_parser = replications)]
    pub replications: Option<u64>,
    /// `table`, `json` or `csv`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: SimFormat,
    /// Write all events, for `ethbus explain`
    ///
    /// One a line; see docs/trace.md.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Record the run, for `ethbus replay`
    ///
    /// See docs/trace.md.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write a row for each frame, CSV or Parquet
    ///
    /// Which of both, the file's name says; see docs/results.md.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub frames: Option<PathBuf>,
    /// Print every metric over time, in steps of this
    ///
    /// As CSV, one row for each interval, instead of the results.
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub series: Option<Duration>,
    /// Write the rows of --series to this file, and the results as usual
    #[arg(long, value_name = "FILE", requires = "series", hide_short_help = true)]
    pub series_out: Option<PathBuf>,
    /// Tell on standard error how long it took
    #[arg(long, hide_short_help = true)]
    pub timing: bool,
}

/// What is run in virtual time: over what the scenario says.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    /// How many stations, 1 to 1024 [default: 4]
    #[arg(short = 'n', long, value_name = "N", value_parser = stations)]
    pub stations: Option<usize>,
    /// Octets: `64`, `64:7,1518:1`, `uniform:64-1518`
    ///
    /// From destination address to FCS; a mix has weights. 64 if left out.
    #[arg(short = 'l', long, value_name = "OCTETS")]
    pub frame_size: Option<String>,
    /// What stations offer: `saturated`, `poisson:0.4`, …
    ///
    /// Also `periodic:0.4`, `on_off:0.4`, `window:4`, `bernoulli:0.01`, `replay:FILE`; see docs/traffic.md. Saturated if left
    /// out.
    #[arg(long, value_name = "TRAFFIC")]
    pub traffic: Option<String>,
    /// `csma-cd` or `slotted-aloha` [default: csma-cd]
    ///
    /// How stations get to send; see docs/access.md.
    #[arg(long, value_name = "METHOD", hide_short_help = true)]
    pub access: Option<String>,
    /// Of slotted ALOHA: `uniform:20`, `geometric:20`, `beb`, …
    ///
    /// How many slots a sender waits after an unsuccessful attempt; also `rcp:10,100,200`. `uniform:20` if left out.
    #[arg(long, value_name = "BACKOFF", hide_short_help = true)]
    pub backoff: Option<String>,
    /// Of slotted ALOHA: slots until the sender knows [default: 0]
    #[arg(long, value_name = "SLOTS", hide_short_help = true)]
    pub ack_delay: Option<u32>,
    /// The medium's rate [default: 10M]
    #[arg(short = 'r', long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<u64>,
    /// `star:50bt`, `bus:500m` [default: star:0bt]
    ///
    /// A star has the same distance between every pair, a bus is a cable of this length.
    #[arg(long, value_name = "TOPOLOGY")]
    pub topology: Option<String>,
    /// Frame bursting, at 1000 Mb/s only [default: on there]
    #[arg(long, value_name = "on|off", value_enum, hide_possible_values = true, hide_short_help = true)]
    pub bursting: Option<Switch>,
    /// How long is measured [default: 100s]
    #[arg(short = 't', long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// How long the medium runs before [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = duration_or_zero, hide_short_help = true)]
    pub warmup: Option<Duration>,
}

/// Options of `sweep`.
#[derive(Args, Clone, Debug)]
pub struct SweepArgs {
    /// Scenario file; see docs/scenario.md
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: Option<PathBuf>,
    /// A key and its values: `stations=2,4,8`
    ///
    /// May be given again.
    ///
    /// Also `stations=2..1024*2`, `traffic.arrivals=poisson:0.1..0.9:0.1`, `station.2.position=10m,20m`. All combinations are run.
    #[arg(long, value_name = "KEY=VALUES")]
    pub set: Vec<String>,
    /// So many seeds, or these: `8`, `1..20`
    ///
    /// Every combination is run with each.
    #[arg(long, value_name = "N|A..B", default_value = "1")]
    pub seeds: String,
    /// What is run.
    #[command(flatten)]
    pub run: RunArgs,
    /// The table, as CSV; `-` for standard output
    #[arg(short = 'o', long, value_name = "FILE.csv")]
    pub out: PathBuf,
    /// Write the whole table as Parquet too, when it is done
    #[arg(long, hide_short_help = true, value_name = "FILE.parquet")]
    pub parquet: Option<PathBuf>,
    /// Only part i of n of the grid, for `ethbus merge`
    #[arg(long, value_name = "i/n")]
    pub shard: Option<String>,
    /// Runs at a time [default: one for each core]
    #[arg(long, value_name = "J", value_parser = jobs)]
    pub jobs: Option<u16>,
    /// Add the wall-clock time of each run
    ///
    /// It differs each time: use --jobs 1 on a machine that does nothing else.
    #[arg(long, hide_short_help = true)]
    pub timing: bool,
}

/// Options of `merge`.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// The merged table
    #[arg(short = 'o', long, value_name = "FILE.csv")]
    pub out: PathBuf,
    /// Write it as Parquet too
    #[arg(long, value_name = "FILE.parquet")]
    pub parquet: Option<PathBuf>,
    /// The tables of all shards, in any order
    #[arg(value_name = "SHARD.csv", required = true)]
    pub shards: Vec<PathBuf>,
}

/// Options of `plot`.
#[derive(Args, Clone, Debug)]
pub struct PlotArgs {
    /// A table of `ethbus sweep`
    #[arg(value_name = "FILE.csv")]
    pub table: PathBuf,
    /// The column along the x axis, like `stations`
    #[arg(long, value_name = "COLUMN")]
    pub x: String,
    /// The columns along the y axis, of one unit
    ///
    /// Like `utilization_frame,utilization_total`.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required = true)]
    pub y: Vec<String>,
    /// A line for each value of this column
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// Only rows with this value in this column
    ///
    /// May be given again.
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub only: Vec<String>,
    /// The picture: .svg or .png
    #[arg(short = 'o', long, value_name = "FILE")]
    pub out: PathBuf,
    /// A logarithmic x axis
    #[arg(long)]
    pub log_x: bool,
    /// A logarithmic y axis
    #[arg(long)]
    pub log_y: bool,
    /// The unit of delays
    #[arg(long, value_enum, default_value_t)]
    pub unit: PlotUnit,
    /// What stands above the figure
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// The x axis from one number to another; points beyond are left out
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, hide_short_help = true)]
    pub x_range: Option<String>,
    /// The same of the y axis
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, hide_short_help = true)]
    pub y_range: Option<String>,
}

/// The unit of delays in a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlotUnit {
    /// Bit times
    #[default]
    Bt,
    /// Nanoseconds
    Ns,
    /// Microseconds
    Us,
    /// Milliseconds
    Ms,
    /// Seconds
    S,
}

/// Options of `validate`.
#[derive(Args, Clone, Debug)]
pub struct ValidateArgs {
    /// Seed of every run
    #[arg(short = 's', long, value_name = "SEED", default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// Shorter runs and fewer rows: some seconds instead of a minute
    #[arg(long)]
    pub quick: bool,
    /// Only the topics with this in their title, like `capture`
    #[arg(long, value_name = "WORD")]
    pub only: Option<String>,
    /// How the report is written
    #[arg(short = 'f', long, value_enum, default_value_t)]
    pub format: Format,
}

/// What to measure.
#[derive(Clone, Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure a live bus beside what is asked of it, and beside a veth pair and a kernel bridge
    ///
    /// Needs what the demonstration needs, and `iperf3` for some rows. See docs/live.md.
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
    /// End with 1 if a figure is not as asked, or a row was skipped
    #[arg(long)]
    pub check: bool,
    /// Write as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

/// Which lab.
#[derive(Args, Clone, Debug)]
pub struct LabArgs {
    /// The lab's name [default: the only one, or ethbus]
    #[arg(long, value_name = "LAB", value_parser = lab_name)]
    pub name: Option<String>,
}

/// Which lab, with or without `--name`.
#[derive(Args, Clone, Debug)]
pub struct NamedLabArgs {
    /// The lab's name [default: the only one, or ethbus]
    #[arg(value_name = "LAB", value_parser = lab_name, conflicts_with = "name")]
    pub lab: Option<String>,
    /// The same
    #[arg(long, value_name = "LAB", value_parser = lab_name, hide_short_help = true)]
    pub name: Option<String>,
}

impl NamedLabArgs {
    /// The name that was given, if any.
    pub fn given(&self) -> Option<&str> {
        self.lab.as_deref().or(self.name.as_deref())
    }
}

/// Options of `up`.
#[derive(Args, Clone, Debug)]
pub struct UpArgs {
    /// Scenario file; see docs/scenario.md
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: Option<PathBuf>,
    /// How many stations, 1 to 1024 [default: 4]
    #[arg(short = 'n', long, value_name = "N", value_parser = stations)]
    pub stations: Option<usize>,
    /// The medium's rate [default: 10M]
    #[arg(short = 'r', long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<u64>,
    /// `star:50bt`, `bus:500m` [default: star:0bt]
    ///
    /// A star has the same distance between every pair, a bus is a cable of this length.
    #[arg(long, value_name = "TOPOLOGY")]
    pub topology: Option<String>,
    /// The lab's name [default: ethbus]
    #[arg(long, value_name = "LAB", value_parser = lab_name)]
    pub name: Option<String>,
    /// Run slower than life: 0.1 is ten times slower
    ///
    /// The medium's time as a part of real time. Programs in stations see real time, so `ping` prints ten times the medium's.
    #[arg(long, value_name = "PART", value_parser = time_scale, hide_short_help = true)]
    pub time_scale: Option<f64>,
    /// How punctual: `normal` or `low` [default: normal]
    ///
    /// `low` keeps the processors from sleeping deeply, and reads on for a while after each frame; see docs/live.md.
    #[arg(long, value_name = "LATENCY", value_enum, hide_possible_values = true, hide_short_help = true)]
    pub latency: Option<Punctuality>,
    /// Seed of every draw [default: drawn, and printed]
    #[arg(short = 's', long, value_name = "SEED", value_parser = seed)]
    pub seed: Option<u64>,
    /// Record the run, for `ethbus replay`
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write all events, for `ethbus explain`
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Lend an interface of this machine to the lab
    ///
    /// As a station. A network card, or a virtual machine's TAP; may be given again. The station is named after it. It belongs to the lab until its end, and then
    /// comes back as it was; see docs/ports.md.
    #[arg(long, alias = "attach", value_name = "INTERFACE")]
    pub lend: Vec<String>,
    /// Lend even an interface with a default route
    ///
    /// This machine may lose its network.
    #[arg(long, hide_short_help = true)]
    pub even_default_route: bool,
    /// Go on in the background until `ethbus down`
    #[arg(short = 'b', short_alias = 'd', long, alias = "detach")]
    pub background: bool,
    /// Tell as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
    /// Be the supervisor that `--background` starts.
    #[arg(long, hide = true)]
    pub in_background: bool,
}

/// What a live bus spends on being punctual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Punctuality {
    /// It sleeps whenever nothing is due.
    Normal,
    /// It keeps processors from sleeping deeply, and reads on for a while after each frame.
    Low,
}

/// Options of `exec`.
#[derive(Args, Clone, Debug)]
pub struct ExecArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station
    pub station: String,
    /// The program and its arguments; a shell if left out
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// Options of `shell`.
#[derive(Args, Clone, Debug)]
pub struct ShellArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station
    pub station: String,
}

/// Options of `list`.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// How the list is written
    #[arg(short = 'f', long, value_enum, default_value_t)]
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

/// Options of `man`.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// The command; ethbus itself if left out
    pub command: Option<String>,
    /// Write all pages into this folder instead
    #[arg(short = 'o', long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// Options of `stats`.
#[derive(Args, Clone, Debug)]
pub struct StatsArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: NamedLabArgs,
    /// Show it again every second, until interrupted
    #[arg(short = 'w', long, conflicts_with = "format")]
    pub watch: bool,
    /// Write as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

/// Options of `plug` and `unplug`.
#[derive(Args, Clone, Debug)]
pub struct PortArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station
    pub station: String,
}

/// What can be wrong with a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum StationFault {
    /// It has no carrier sense, so it never defers.
    Deaf,
    /// Its frames arrive everywhere with a bad FCS, and no host gets them.
    BadFcs,
    /// Its MAC takes frames of any length; its MAU cuts off what is longer than the jabber limit.
    Babble,
    /// It is right again.
    None,
}

/// Options of `fault`.
#[derive(Args, Clone, Debug)]
pub struct FaultArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station
    pub station: String,
    /// What is wrong with it from now on
    #[arg(value_enum)]
    pub fault: StationFault,
}

/// Options of `cut`.
#[derive(Args, Clone, Debug)]
pub struct CutArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// A station on one side
    pub station: String,
    /// A station on the other
    pub other: String,
}

/// Options of `send`.
#[derive(Args, Clone, Debug)]
pub struct SendArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station that sends
    #[arg(long, value_name = "STATION")]
    pub from: String,
    /// Whom to: a station, a MAC address, `broadcast`
    #[arg(long, value_name = "DESTINATION")]
    pub to: String,
    /// Frame size in octets, 64 to 1518
    ///
    /// From destination address to FCS.
    #[arg(short = 'l', long, value_name = "OCTETS", default_value_t = 512, value_parser = frame_size)]
    pub frame_size: u32,
    /// Frames per second like 100/s, or `max`
    #[arg(short = 'r', long, value_name = "RATE", default_value = "max", value_parser = frame_rate)]
    pub rate: FrameRate,
    /// Stop after so many frames
    #[arg(long, value_name = "N", value_parser = count)]
    pub count: Option<u64>,
    /// Stop after so long [default: 10s]
    ///
    /// Without --count.
    #[arg(short = 't', long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Write as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

/// Options of `receive`.
#[derive(Args, Clone, Debug)]
pub struct ReceiveArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station that receives
    #[arg(long, value_name = "STATION")]
    pub at: String,
    /// Stop after so many frames
    #[arg(long, value_name = "N", value_parser = count)]
    pub count: Option<u64>,
    /// Stop after so long [default: never]
    #[arg(short = 't', long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Write as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

/// Options of `check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    /// Scenario files; see docs/scenario.md
    #[arg(value_name = "SCENARIO.toml", required = true)]
    pub scenarios: Vec<PathBuf>,
}

/// Options of `replay`.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// The record, as `--record` wrote it; see docs/trace.md
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// Write the events to this file, one a line
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Write as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

/// Options of `explain`.
#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    /// The event log, as `--events` wrote it; see docs/trace.md
    #[arg(value_name = "EVENTS")]
    pub events: PathBuf,
    /// The frame: its number at its station, like st2#17
    ///
    /// From 1. The number alone will do if no other station has a frame of this number.
    #[arg(long, value_name = "N|STATION#N", conflicts_with_all = ["pick", "list"])]
    pub frame: Option<String>,
    /// The station that offered it
    #[arg(long, value_name = "STATION")]
    pub station: Option<String>,
    /// The first frame that is like this: `collisions=3`
    ///
    /// Also `station=st2`, `end=discarded`, `end=transmitted`; with commas between.
    #[arg(long, value_name = "KEY=VALUE")]
    pub pick: Option<String>,
    /// List the frames with most collisions instead
    ///
    /// With --pick, those that are like this. This is what happens without --frame and --pick, too.
    #[arg(long)]
    pub list: bool,
    /// Write the list as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The groups of the help are written by hand, so that a command cannot be forgotten in them.
    #[test]
    fn both_helps_name_every_command_once() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            let long = COMMANDS_LONG.lines().filter(|line| line.trim_start().split(' ').next() == Some(name));
            assert_eq!(long.filter(|line| !line.contains("ethbus ")).count(), 1, "{name}");
            let words = COMMANDS_SHORT.lines().take(6).flat_map(|line| line.split([' ', ',', ':']));
            assert_eq!(words.filter(|word| *word == name).count(), 1, "{name}");
        }
    }

    /// A terminal of 24 lines shows a command's short help without scrolling.
    #[test]
    fn a_short_help_fits_a_terminal() {
        let whole = Cli::command().term_width(80);
        let mut long = Vec::new();
        for command in whole.get_subcommands().chain([&whole]) {
            let help = command.clone().term_width(80).render_help().to_string();
            if help.lines().count() > 24 {
                long.push(format!("{}: {} lines\n{help}", command.get_name(), help.lines().count()));
            }
        }
        assert!(long.is_empty(), "{}", long.join("\n"));
    }
}
