//! The command line. Used by `build.rs` too, which makes man pages and completions from it: std and clap only.

use clap::{Args, Parser, Subcommand, ValueEnum};
use sim::words::units::{
    FrameRate, Load, count, duration, duration_or_zero, frame_rate, frame_size, jobs, lab_name, load, rate,
    replications, seed, stations, time_scale,
};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Shared-medium Ethernet on your own machine: real frames between real stations over one CSMA/CD bus.
///
/// Without a command: a demonstration. Stations in network namespaces of their own contend for a 10 Mb/s
/// half-duplex bus for ten seconds; then a table says what happened. It needs root, or a kernel that lets
/// you make user namespaces. Everything it makes is gone when it ends.
#[derive(Debug, Parser)]
#[command(name = "ethbus", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 success, 1 failure, 2 wrong use, 130 interrupted; `exec` gives its command's own."
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
    /// Run the medium in virtual time, and tell every counter and metric
    ///
    /// Needs no privileges. The same options and seed give the same numbers on every machine.
    Sim(SimArgs),
    /// Run a grid of scenario keys and seeds on all cores, into one table
    ///
    /// Needs no privileges. Interrupted, it goes on where it was with the same command; see docs/sweep.md.
    Sweep(SweepArgs),
    /// Merge the tables of a sweep's shards
    Merge(MergeArgs),
    /// Draw figures of a sweep's table
    Plot(PlotArgs),
    /// Run what anyone can check, and show agreement and deviation side by side
    ///
    /// Needs no privileges. Ends with 1 if a figure deviates and nothing explains it. See docs/validation.md.
    Validate(ValidateArgs),
    /// Measure what this machine makes of a bus
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Bring a lab up and keep it up until interrupted
    ///
    /// As root, or without root where you may make user namespaces: then the lab is yours alone, its record stands in
    /// /run/user/UID/ethbus, its namespaces have no names for `ip netns`, and the bus has the priority of any program. A lab
    /// is reached by whoever brought it up, root's with sudo and a user's without.
    Up(UpArgs),
    /// Run a program in a station of a lab
    ///
    /// Input, output, signals and the exit code pass through. Example: ethbus exec st1 -- ping 10.77.0.2
    ///
    /// In a lab of root's the program has all of root's rights. In a user's it runs as that user, with every capability over
    /// the lab's namespaces and none outside.
    Exec(ExecArgs),
    /// Show what has happened on a lab's bus so far
    Stats(StatsArgs),
    /// Put a station back on the medium
    Attach(PortArgs),
    /// Take a station off the medium while the bus runs, as if its cable were pulled
    ///
    /// What it sends is discarded and counted, and it hears nothing, until `ethbus attach`.
    Detach(PortArgs),
    /// Make a station faulty on purpose, or right again
    Fault(FaultArgs),
    /// Cut the cable between two stations while the bus runs: two media from then on, each end terminated
    ///
    /// Halfway between them; on a bus or on one segment. `ethbus mend` joins the ends again.
    Cut(CutArgs),
    /// Mend a cable that was cut
    Mend(LabArgs),
    /// Take a lab down, or remove what a killed one left behind
    Down(LabArgs),
    /// Offer frames from a station, with sequence numbers
    Send(SendArgs),
    /// Receive such frames in a station, and tell loss, duplicates, order and delay
    Receive(ReceiveArgs),
    /// Check scenario files, without running anything
    ///
    /// Says all that is wrong, as FILE:LINE:COLUMN: key: value: what would be right, and ends with 2 if anything is.
    Check(CheckArgs),
    /// Run a recorded run again, and give the same events
    Replay(ReplayArgs),
    /// Tell the life of one frame in words and as a timeline
    Explain(ExplainArgs),
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
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = stations)]
    pub stations: usize,
    /// The medium's rate
    #[arg(long, value_name = "RATE", default_value = "10Mbit/s", value_parser = rate)]
    pub rate: u64,
    /// How long the stations offer frames
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub duration: Duration,
    /// Seed of every random draw; drawn and printed if left out
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub seed: Option<u64>,
    /// What the stations offer together: `saturated`, or a part of the rate like 0.4 or 40%
    #[arg(long, value_name = "LOAD", default_value = "saturated", value_parser = load)]
    pub load: Load,
    /// Frame size in octets, from destination address to FCS, 64 to 1518
    #[arg(long, value_name = "OCTETS", default_value_t = 512, value_parser = frame_size)]
    pub frame_size: u32,
    /// The medium's time as a part of real time: 0.1 runs the bus ten times slower than life
    #[arg(long, value_name = "PART", value_parser = time_scale)]
    pub time_scale: Option<f64>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
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
    /// Seed of every random draw [default: 1, or as the scenario says]
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub seed: Option<u64>,
    /// Independent runs, seeded SEED, SEED + 1 …, on all cores; their figures are taken together [default: 1]
    #[arg(long, value_name = "R", value_parser = replications)]
    pub replications: Option<u64>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    pub format: SimFormat,
    /// Write every event of the medium, one a line; see docs/trace.md
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Record the run for `ethbus replay`; see docs/trace.md
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write one row for each frame, CSV or Parquet by the file's name; see docs/results.md
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    pub frames: Option<PathBuf>,
    /// Print every metric over time instead of the results: CSV, one row for each interval of this length
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub series: Option<Duration>,
    /// Write the rows of --series to this file, and the results as usual
    #[arg(long, value_name = "FILE.csv|FILE.parquet", requires = "series")]
    pub series_out: Option<PathBuf>,
    /// Tell on standard error how long it took
    #[arg(long)]
    pub timing: bool,
}

/// What is run in virtual time: over what the scenario says.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    /// How many stations, 1 to 1024 [default: 4, or as the scenario says]
    #[arg(long, value_name = "N", value_parser = stations)]
    pub stations: Option<usize>,
    /// Frame sizes in octets, from destination address to FCS: `64`, `64:7,594:4,1518:1` or `uniform:64-1518` [default: 64]
    #[arg(long, value_name = "OCTETS")]
    pub frame_size: Option<String>,
    /// What stations offer: `saturated`, `poisson:0.4`, `periodic:0.4`, `on_off:0.4`, `replay:FILE`; see docs/traffic.md [default: saturated]
    #[arg(long, value_name = "TRAFFIC")]
    pub traffic: Option<String>,
    /// The medium's rate [default: 10Mbit/s, or as the scenario says]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<u64>,
    /// `star:50bt`: between every pair; `bus:500m`: along a cable [default: star:0bt]
    #[arg(long, value_name = "TOPOLOGY")]
    pub topology: Option<String>,
    /// Frame bursting, at 1000 Mb/s only [default: on there]
    #[arg(long, value_name = "on|off", value_enum)]
    pub bursting: Option<Switch>,
    /// How long is measured, in the medium's time [default: 100s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// How long the medium runs before that [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = duration_or_zero)]
    pub warmup: Option<Duration>,
}

/// Options of `sweep`.
#[derive(Args, Clone, Debug)]
pub struct SweepArgs {
    /// Scenario file; see docs/scenario.md
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: Option<PathBuf>,
    /// A key of the scenario and its values: `stations=2,4,8`, `stations=2..1024*2`, `traffic.arrivals=poisson:0.1..0.9:0.1`,
    /// `station.2.position=10m,20m`; may be given again for other keys, all combinations are run
    #[arg(long, value_name = "KEY=VALUES")]
    pub set: Vec<String>,
    /// Every combination is run with each of so many seeds, or with these: `8`, `1..20`, `1,2,5`
    #[arg(long, value_name = "N|A..B", default_value = "1")]
    pub seeds: String,
    /// What is run.
    #[command(flatten)]
    pub run: RunArgs,
    /// The table, as CSV; `-` for standard output
    #[arg(long, value_name = "FILE.csv")]
    pub out: PathBuf,
    /// Write the whole table as Parquet too, when it is done
    #[arg(long, value_name = "FILE.parquet")]
    pub parquet: Option<PathBuf>,
    /// Only part i of n parts of the grid, for `ethbus merge`
    #[arg(long, value_name = "i/n")]
    pub shard: Option<String>,
    /// How many runs at a time [default: one for each core]
    #[arg(long, value_name = "J", value_parser = jobs)]
    pub jobs: Option<u16>,
    /// Add the wall-clock time of each run; it differs each time, so use --jobs 1 on a machine that does nothing else
    #[arg(long)]
    pub timing: bool,
}

/// Options of `merge`.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// The merged table
    #[arg(long, value_name = "FILE.csv")]
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
    /// The column along the x axis, like `stations` or `medium.rate`
    #[arg(long, value_name = "COLUMN")]
    pub x: String,
    /// The columns along the y axis, of one unit, like `utilization_frame,utilization_total`
    #[arg(long, value_name = "COLUMN[,COLUMN]", value_delimiter = ',', required = true)]
    pub y: Vec<String>,
    /// A line for each value of this column
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// Only rows with this value in this column; may be given again
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub only: Vec<String>,
    /// The picture: .svg or .png
    #[arg(long, value_name = "FILE.svg|FILE.png")]
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
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub x_range: Option<String>,
    /// The same of the y axis
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
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
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// Shorter runs and fewer rows: some seconds instead of a minute
    #[arg(long)]
    pub quick: bool,
    /// Only the topics with this in their title, like `capture`
    #[arg(long, value_name = "WORD")]
    pub only: Option<String>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// What to measure.
#[derive(Clone, Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure a live bus beside what is asked of it, and beside a veth pair and a kernel bridge
    ///
    /// Needs what the demonstration needs, and `ping` and `iperf3` for some rows. See docs/live.md.
    Live(BenchLiveArgs),
}

/// Options of `bench live`.
#[derive(Args, Clone, Debug)]
pub struct BenchLiveArgs {
    /// Only these rows, like `ping,idle`
    #[arg(long, value_name = "ROW[,ROW]", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How long each measurement takes
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub duration: Duration,
    /// Seed of every random draw; drawn and printed if left out
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub seed: Option<u64>,
    /// End with 1 if a figure is not as asked, or a row was skipped
    #[arg(long)]
    pub check: bool,
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Which lab.
#[derive(Args, Clone, Debug)]
pub struct LabArgs {
    /// The lab's name
    #[arg(long, value_name = "LAB", default_value = "ethbus", value_parser = lab_name)]
    pub name: String,
}

/// Options of `up`.
#[derive(Args, Clone, Debug)]
pub struct UpArgs {
    /// Scenario file; see docs/scenario.md
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: Option<PathBuf>,
    /// How many stations, 1 to 1024 [default: 4, or as the scenario says]
    #[arg(long, value_name = "N", value_parser = stations)]
    pub stations: Option<usize>,
    /// The medium's rate [default: 10Mbit/s, or as the scenario says]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<u64>,
    /// The lab's name [default: ethbus, or as the scenario says]
    #[arg(long, value_name = "LAB", value_parser = lab_name)]
    pub name: Option<String>,
    /// The medium's time as a part of real time: 0.1 runs the bus ten times slower than life
    #[arg(long, value_name = "PART", value_parser = time_scale)]
    pub time_scale: Option<f64>,
    /// Seed of every random draw; drawn and printed if left out
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub seed: Option<u64>,
    /// Record everything that the medium is given, so that `ethbus replay` can run it again
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write every event on the medium to this file, one a line
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Make an interface of this machine a station, named after it: a network card, a virtual machine's TAP; may be given
    /// again. It belongs to the lab until its end, and then comes back as it was; see docs/ports.md
    #[arg(long, value_name = "INTERFACE")]
    pub attach: Vec<String>,
    /// Attach even an interface that carries a default route: this machine may lose its network
    #[arg(long)]
    pub even_default_route: bool,
    /// Return when the lab is up; it goes on in the background until `ethbus down`
    #[arg(long)]
    pub detach: bool,
    /// Be the supervisor that `--detach` starts.
    #[arg(long, hide = true)]
    pub in_background: bool,
}

/// Options of `exec`.
#[derive(Args, Clone, Debug)]
pub struct ExecArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station
    pub station: String,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Options of `stats`.
#[derive(Args, Clone, Debug)]
pub struct StatsArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Options of `attach` and `detach`.
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
    /// Whom to: a station of the lab, a MAC address, or `broadcast`
    #[arg(long, value_name = "STATION|MAC|broadcast")]
    pub to: String,
    /// Frame size in octets, from destination address to FCS, 64 to 1518
    #[arg(long, value_name = "OCTETS", default_value_t = 512, value_parser = frame_size)]
    pub frame_size: u32,
    /// Frames per second like 100/s, or `max`: what saturates the medium
    #[arg(long, value_name = "RATE", default_value = "max", value_parser = frame_rate)]
    pub rate: FrameRate,
    /// Stop after so many frames
    #[arg(long, value_name = "N", value_parser = count)]
    pub count: Option<u64>,
    /// Stop after so long [default: 10s, unless --count is given]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
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
    /// Stop after so long [default: until interrupted, unless --count is given]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
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
    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Options of `explain`.
#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    /// The event log, as `--events` wrote it; see docs/trace.md
    #[arg(value_name = "EVENTS")]
    pub events: PathBuf,
    /// The frame: which of its station's frames it is, from 1, like 17; or with the station, like st2#17
    #[arg(long, value_name = "N|STATION#N")]
    pub frame: String,
    /// The station that offered it; may be left out if no other has a frame of this number
    #[arg(long, value_name = "STATION")]
    pub station: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
