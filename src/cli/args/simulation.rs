//! Arguments of the commands that run the medium in virtual time, and of those that read what such runs wrote.

use super::{
    Consoles, Drawn, Jobs, MaybeOutArg, OutArg, Overruled, ParquetArg, Quick, ScenarioArg, Seeded, Series, SetArg,
    Tabled, TablesArg, Timing, TraceArg, TraceArgs, WindowArgs, Written,
};
use clap::{Args, Subcommand, ValueEnum};
use sim::settings::options::{SIM, SWEEP};
use sim::words::units::{duration, instant, whole};
use std::path::PathBuf;
use std::time::Duration;

/// Options of `sim`.
#[derive(Args, Clone, Debug)]
pub struct SimArgs {
    /// What is run.
    #[command(flatten)]
    pub file: ScenarioArg,
    /// What is run.
    #[command(flatten)]
    pub run: Overruled<SIM>,
    /// How it is written.
    #[command(flatten)]
    pub tabled: Tabled,
    /// Traces.
    #[command(flatten)]
    pub traces: TraceArgs,
    /// Windows on the run.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// A view of it.
    #[command(flatten)]
    pub drawn: Drawn,
    /// Write a row for each frame, CSV or Parquet
    ///
    /// Parquet if the name ends in .parquet; see docs/results.md.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub frames: Option<PathBuf>,
    /// Every metric over time.
    #[command(flatten)]
    pub over_time: Series,
    /// Write the rows of --series to this file, and the results as usual
    #[arg(long, value_name = "FILE", requires = "series", hide_short_help = true)]
    pub series_out: Option<PathBuf>,
    /// Threads for replications, or for the buses of a scenario.
    #[command(flatten)]
    pub jobs: Jobs,
    /// How long it took.
    #[command(flatten)]
    pub timing: Timing,
}

/// The number of a table's row.
fn row(text: &str) -> Result<u64, String> {
    whole(text, 1, u64::MAX, "7")
}

/// How many seeds a combination may get: an interval needs two.
fn max_seeds(text: &str) -> Result<u64, String> {
    whole(text, 2, 1_000_000, "50")
}

/// What `--out` of `sweep` is.
const TABLE: &str = "The table, as CSV; `-` for standard output";
const TABLE_OR_ROWS: &str = "The table, as CSV; `-` for standard output\n\nWith --rows, standard output if left out.";
/// What `--set` of `sweep` takes.
const SET: &str = "A key and its values: `stations=2,4,8`\n\nMay be given again.\n\nAlso `stations=2..1024*2`, \
    `traffic.arrivals=poisson:0.1..0.9:0.1`, `station.2.position=10m,20m`. All combinations are run.";

/// Options of `sweep`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, disable_help_subcommand = true)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "out" => arg.value_name("FILE.csv").help(TABLE).long_help(TABLE_OR_ROWS).required_unless_present_any(["rows", "list"]),
    "set" => arg.long_help(SET),
    "jobs" => arg.hide_short_help(false),
    _ => arg,
}))]
pub struct SweepArgs {
    /// What else there is to do with a sweep.
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    /// What is run.
    #[command(flatten)]
    pub file: ScenarioArg,
    /// Keys and their values.
    #[command(flatten)]
    pub grid: SetArg,
    /// Only combinations for which this holds: `stations >= 4`
    ///
    /// May be given again; then all hold. Also `and`, `or`, `not`, arithmetic, and text in quotes.
    #[arg(long, value_name = "CONDITION", hide_short_help = true)]
    pub when: Vec<String>,
    /// A key that follows from others
    ///
    /// May be given again: `traffic.arrivals=poisson:{0.8/stations}`. A name that is no key, like `load` in
    /// `load=0.8/stations`, may be used in other expressions.
    #[arg(long, value_name = "KEY=EXPRESSION", hide_short_help = true)]
    pub derive: Vec<String>,
    /// Keys whose values go together, the first with the first
    ///
    /// May be given again: `stations,medium.rate`. Each has as many values.
    #[arg(long, value_name = "KEY,KEY", hide_short_help = true)]
    pub pair: Vec<String>,
    /// A sample of the ranges instead of a grid: `sobol:256`
    ///
    /// Each key of --set takes values between the ends of its range, or of its list. All keys together fill their space evenly.
    #[arg(long, value_name = "sobol:N", hide_short_help = true, conflicts_with = "pair")]
    pub sample: Option<String>,
    /// The number of seeds, or their range: `8`, `1..20`
    ///
    /// Every combination is run with each. [default: 1; with --max-seeds: 5]
    #[arg(long, value_name = "N|A..B")]
    pub seeds: Option<String>,
    /// Add seeds until --until holds, at most N
    ///
    /// To each combination by itself, where the interval is widest first. --until is then about the mean over seeds, and ends no
    /// run. A part of --shard then has whole combinations.
    #[arg(long, value_name = "N", value_parser = max_seeds, hide_short_help = true)]
    pub max_seeds: Option<u64>,
    /// What is run.
    #[command(flatten)]
    pub run: Overruled<SWEEP>,
    /// Where to.
    #[command(flatten)]
    pub made: MaybeOutArg,
    /// The table as Parquet too.
    #[command(flatten)]
    pub packed: ParquetArg,
    /// More tables in the folder of --out: `stations,series,frames,events`
    ///
    /// Rows for each station, interval, frame or event of each run, in the same folders; see docs/sweep.md.
    #[arg(long, hide_short_help = true, value_name = "TABLE,TABLE")]
    pub tables: Option<String>,
    /// The interval of the table `series`.
    #[command(flatten)]
    pub over_time: Series,
    /// Only part i of n of the grid, for `ethbus sweep merge`
    ///
    /// `auto` takes i and n from the scheduler that runs this task: Slurm, SGE or AWS Batch. `auto/n` takes i alone: also from
    /// Kubernetes, PBS, Torque or GNU parallel. `{shard}` in the name of the table becomes i.
    #[arg(long, value_name = "i/n|auto")]
    pub shard: Option<String>,
    /// Only these rows of the grid: `7`, `11..20`
    ///
    /// For programs that balance the load themselves, like HyperQueue, GNU parallel or Dask. `auto` takes the number from the
    /// scheduler that runs this task. `{row}` in the name of the table becomes the number.
    #[arg(long, visible_alias = "row", value_name = "A..B", conflicts_with = "shard", hide_short_help = true)]
    pub rows: Option<String>,
    /// Print the number, keys and seed of each row, and run nothing
    #[arg(long, hide_short_help = true, conflicts_with_all = ["out", "parquet", "timing"])]
    pub list: bool,
    /// End a run that takes longer, on the wall clock
    ///
    /// Its row is left out, and the log beside the table names it. The same command tries it again.
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub time_limit: Option<Duration>,
    /// Runs at a time.
    #[command(flatten)]
    pub jobs: Jobs,
    /// Columns with the time of each run.
    #[command(flatten)]
    pub timing: Timing,
}

/// What else there is to do with a sweep.
#[derive(Clone, Debug, Subcommand)]
pub enum SweepCommand {
    /// Show how far the tables of a sweep are, and what failed
    #[command(after_help = "Example:\n  ethbus sweep status part-*.csv")]
    Status(SweepStatusArgs),
    /// Merge the tables of a sweep's shards
    #[command(after_help = "Example:\n  ethbus sweep merge --out runs.csv shard-*.csv")]
    Merge(MergeArgs),
    /// Run a row of a sweep's table again, and compare the two
    ///
    /// Needs no privileges. Ends with 1 if a figure of the row differs. See docs/sweep.md.
    #[command(after_help = "Example:\n  ethbus sweep row runs.csv --row 7")]
    Row(RowArgs),
}

/// Options of `sweep status`.
#[derive(Args, Clone, Debug)]
pub struct SweepStatusArgs {
    /// The tables of the sweep.
    #[command(flatten)]
    pub tables: TablesArg,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// Options of `sweep merge`.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// The merged table.
    #[command(flatten)]
    pub merged: OutArg,
    /// The table as Parquet too.
    #[command(flatten)]
    pub packed: ParquetArg,
    /// The tables of all parts, in any order.
    #[command(flatten)]
    pub shards: TablesArg,
}

/// Options of `sweep row`.
#[derive(Args, Clone, Debug)]
pub struct RowArgs {
    /// A table of `ethbus sweep`: a file or a folder
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// The number of the row in the grid [default: the first row of the table]
    #[arg(long, value_name = "N", value_parser = row)]
    pub row: Option<u64>,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// Options of `plot`.
#[derive(Args, Clone, Debug)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "seed" | "quick" => arg.requires("figure").hide_short_help(true),
    "out" => arg.help("The picture: .svg or .png"),
    _ => arg,
}))]
pub struct PlotArgs {
    /// A table of `ethbus sweep`
    #[arg(value_name = "FILE.csv", required_unless_present = "figure")]
    pub table: Option<PathBuf>,
    /// The column along the x axis, like `stations`
    #[arg(long, value_name = "COLUMN", required_unless_present = "figure")]
    pub x: Option<String>,
    /// The columns along the y axis, of one unit
    ///
    /// Like `utilization_frame,utilization_total`.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required_unless_present = "figure")]
    pub y: Vec<String>,
    /// A line for each value of this column
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// Draw differences from the line with this value of --by
    ///
    /// Runs of one seed are a pair; a test says at how many points lines differ.
    #[arg(long, value_name = "VALUE", requires = "by", hide_short_help = true)]
    pub versus: Option<String>,
    /// Only rows with this value in this column
    ///
    /// May be given again.
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub only: Vec<String>,
    /// The picture.
    #[command(flatten)]
    pub picture: OutArg,
    /// Logarithmic axes: `x`, `y` or `x,y`
    #[arg(long, value_enum, value_name = "AXES", value_delimiter = ',', hide_possible_values = true)]
    pub log: Vec<PlotAxis>,
    /// The unit of delays
    #[arg(long, value_enum, default_value_t)]
    pub unit: PlotUnit,
    /// The title above the figure
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// An axis from one number to another: `x=0..50`, `y=-1..1`
    ///
    /// Points beyond are left out. May be given again.
    #[arg(long, value_name = "AXIS=A..B", hide_short_help = true)]
    pub range: Vec<String>,
    /// Draw a figure of the literature, and no table
    ///
    /// Runs what it shows, some seconds, and says what its source says of it.
    #[arg(long, value_enum, value_name = "NAME", hide_possible_values = true, conflicts_with_all = OF_A_TABLE)]
    pub figure: Option<PlotFigure>,
    /// Seed of the runs of a figure.
    #[command(flatten)]
    pub seeded: Seeded,
    /// Shorter runs for a figure.
    #[command(flatten)]
    pub quick: Quick,
}

/// What a figure of the literature has no use for.
const OF_A_TABLE: [&str; 10] = ["table", "x", "y", "by", "versus", "only", "log", "unit", "title", "range"];

/// An axis of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlotAxis {
    /// Along
    X,
    /// Up
    Y,
}

/// Figures of the literature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlotFigure {
    /// Uniform and geometric retransmission side by side (Lam 1974)
    #[value(name = "lam-5-1")]
    UniformAndGeometric,
    /// The largest population of a stable channel over K
    #[value(name = "lam-5-9")]
    LargestPopulation,
    /// K(N, s), the smallest K of a stable channel over N
    #[value(name = "lam-5-10")]
    SmallestK,
    /// Throughput and delay of stable channels
    #[value(name = "lam-5-11")]
    StableChannels,
    /// The flow chart of CSMA/CA with RTS and CTS (IEEE 802.11)
    #[value(name = "csma-ca")]
    CsmaCa,
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

/// Options of `theory check`.
#[derive(Args, Clone, Debug)]
pub struct ValidateArgs {
    /// Seed of every run.
    #[command(flatten)]
    pub seeded: Seeded,
    /// Shorter and fewer runs.
    #[command(flatten)]
    pub quick: Quick,
    /// Only what has this in its title, like `capture`
    #[arg(long, value_name = "WORD")]
    pub only: Option<String>,
}

/// Options of `report`.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// Traces, or results as JSON
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// The page
    #[arg(short = 'o', long, value_name = "FILE.html")]
    pub out: PathBuf,
    /// Open the picture here, in bit times [default: where the access method is seen best]
    #[arg(long, value_name = "BT", value_parser = instant)]
    pub at: Option<u64>,
}

/// Options of `replay`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("consoles", |consoles| consoles.requires("programs")))]
pub struct ReplayArgs {
    /// The trace of the run; it has inputs.
    #[command(flatten)]
    pub input: TraceArg,
    /// Write the events to this file, one a line
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Windows on the run.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// A view of it.
    #[command(flatten)]
    pub drawn: Drawn,
    /// Run the programs of `ethbus run` again as well
    ///
    /// All that they send is compared with the trace, and the first difference is named. See docs/virtual.md.
    #[arg(long, conflicts_with = "watch")]
    pub programs: bool,
    /// What they print.
    #[command(flatten)]
    pub console: Consoles,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// Options of `explain`.
#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    /// What has the frame; it has events.
    #[command(flatten)]
    pub input: TraceArg,
    /// The frame: its number at its station, like st2#17
    ///
    /// From 1. The number alone will do if no other station has a frame of this number.
    #[arg(long, value_name = "N|STATION#N", conflicts_with_all = ["pick", "list"])]
    pub frame: Option<String>,
    /// The first frame that matches: `collisions=3`
    ///
    /// Also `station=st2`, `end=discarded`, `end=transmitted`; with commas between.
    #[arg(long, value_name = "KEY=VALUE")]
    pub pick: Option<String>,
    /// List the frames with most collisions instead
    ///
    /// With --pick, only those that match. The default without --frame and --pick.
    #[arg(long)]
    pub list: bool,
    /// Say what goes wrong on a segment with PLCA, and why
    ///
    /// Each finding names its cause, what the trace shows of it, and what to do. See docs/symptoms.md.
    #[arg(long, conflicts_with_all = ["frame", "pick", "list"])]
    pub segment: bool,
    /// Sum the frame's life up in a few lines
    #[arg(long, conflicts_with_all = ["list", "segment", "format"])]
    pub short: bool,
    /// Draw the frame's collisions over place and time
    ///
    /// Stations are side by side, time goes down, and each signal is a band that slants as it travels. With PLCA each
    /// node has a row and time goes right; --segment draws what shows its first finding.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "list")]
    pub svg: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}
