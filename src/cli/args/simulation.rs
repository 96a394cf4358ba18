//! Arguments of the commands that run the medium in virtual time, and of those that read what such runs wrote.

use super::{Format, WindowArgs};
use clap::{Args, ValueEnum};
use sim::words::units::{RunTime, duration, instant, jobs, rate, replications, run_time, seed, stations};
use std::path::PathBuf;
use std::time::Duration;

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
    #[arg(long, value_name = "R", value_parser = replications, hide_short_help = true)]
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
    /// Windows on the run.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// Draw the bus as it is; `?` tells the keys
    ///
    /// Time goes on as slowly as you want, and back; see docs/watch.md.
    #[arg(long, hide_short_help = true)]
    pub watch: bool,
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
    /// `csma-cd`, `plca`, `csma`, `csma-ca`, `aloha`, `slotted-aloha` [default: csma-cd]
    ///
    /// How stations get to send; see docs/access.md.
    #[arg(long, value_name = "METHOD", hide_short_help = true)]
    pub access: Option<String>,
    /// `beb:1024`, `uniform:20`, `geometric:20`, `rcp:1,10,100,200`, …
    ///
    /// How many slots a sender waits after an unsuccessful attempt; also `rcp-multipliers:10,10,2` and `exponential:3,6`. If left
    /// out, that of 802.3 with `csma-cd`, and `uniform:20` with others.
    #[arg(long, value_name = "BACKOFF", hide_short_help = true)]
    pub backoff: Option<String>,
    /// Slots until the sender knows of a collision, without collision detection [default: 0]
    #[arg(long, value_name = "SLOTS", hide_short_help = true)]
    pub ack_delay: Option<u32>,
    /// Of `csma`: `1`, `non`, or a probability like `0.1` [default: 1]
    ///
    /// What a sender does that finds the medium busy: waits for silence, gives way, or waits and sends in each slot of the
    /// line with this probability.
    #[arg(long, value_name = "PERSISTENCE", hide_short_help = true)]
    pub persistence: Option<String>,
    /// What only `csma-ca` has.
    #[command(flatten)]
    pub csma_ca: CsmaCaArgs,
    /// What only `plca` has.
    #[command(flatten)]
    pub plca: PlcaOptions,
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
    ///
    /// In slots as in `1000000slots`, too: those of the access method, slotTime with `csma-cd`, frame times with `aloha`.
    #[arg(short = 't', long, value_name = "TIME", value_parser = run_time)]
    pub duration: Option<RunTime>,
    /// How long the medium runs before [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = run_time, hide_short_help = true)]
    pub warmup: Option<RunTime>,
    /// End a run when a metric is known this well: `1%`
    ///
    /// When the half-width of its 95 % interval is at most this part of it; --duration ends the run at the latest. The metric
    /// is access_delay_mean_bt, or as in `mac_delay_p99_bt=5%`; see docs/results.md. `collapse` ends it when infinitely many
    /// users of ALOHA have run away; see docs/access.md.
    #[arg(long, value_name = "[METRIC=]PART", hide_short_help = true)]
    pub until: Option<String>,
}

/// What only `--access plca` has, in virtual time and in a lab.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct PlcaOptions {
    /// Of `plca`: turns in a cycle, 1 to 255 [default: stations]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..), hide_short_help = true)]
    pub node_count: Option<u8>,
    /// Of `plca`: how long a turn is, 1 to 255 BT [default: 32]
    #[arg(long, value_name = "BT", value_parser = clap::value_parser!(u8).range(1..), hide_short_help = true)]
    pub to_timer: Option<u8>,
    /// Of `plca`: frames that may follow the first of a turn [default: 0]
    #[arg(long, value_name = "FRAMES", hide_short_help = true)]
    pub burst_count: Option<u8>,
    /// Of `plca`: how long a turn is kept for the next frame, in BT [default: 128]
    #[arg(long, value_name = "BT", hide_short_help = true)]
    pub burst_timer: Option<u8>,
}

/// What only `--access csma-ca` has.
#[derive(Args, Clone, Debug, Default)]
pub struct CsmaCaArgs {
    /// Of `csma-ca`: `dsss-1`, `dsss-11`, `ofdm-6` … `ofdm-54`, `fhss-1` [default: dsss-11]
    ///
    /// The physical layer. Its rate is the medium's; `fhss-1` has the values of Bianchi 2000.
    #[arg(long, value_name = "PHY", hide_short_help = true)]
    pub phy: Option<String>,
    /// Of `csma-ca`: RTS and CTS before each frame [default: off]
    #[arg(long, value_name = "on|off", value_enum, hide_possible_values = true, hide_short_help = true)]
    pub rts: Option<Switch>,
    /// Of `csma-ca`: first and largest window, `32:1024` [default: the layer's]
    ///
    /// From how many numbers of slots, 0 included, the first draw of a frame chooses; each failure doubles it up to the largest.
    #[arg(long, value_name = "FIRST:MOST", hide_short_help = true)]
    pub window: Option<String>,
    /// Of `csma-ca`: short and long retry limit [default: 7:4]
    ///
    /// A frame is discarded after so many attempts without CTS (or ACK, if no RTS was sent), or so many with CTS and without ACK.
    #[arg(long, value_name = "SHORT:LONG", hide_short_help = true)]
    pub retry_limits: Option<String>,
    /// Of `csma-ca`: how far stations hear each other, on a bus [default: everywhere]
    ///
    /// Stations that are farther apart are hidden from each other.
    #[arg(long, value_name = "LENGTH", hide_short_help = true)]
    pub range: Option<String>,
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
    ///
    /// `auto` takes i and n from the scheduler that runs this task: Slurm, SGE or AWS Batch. `auto/n` takes i alone: also from
    /// Kubernetes, PBS, Torque or GNU parallel. `{shard}` in the name of the table becomes i.
    #[arg(long, value_name = "i/n|auto")]
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

/// Options of `story`.
#[derive(Args, Clone, Debug)]
pub struct StoryArgs {
    /// Write the page to this file
    #[arg(short = 'o', long, value_name = "FILE", default_value = "story.html")]
    pub out: PathBuf,
    /// Seed of every run
    #[arg(short = 's', long, value_name = "SEED", default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// Shorter runs, half a minute in all: wider intervals
    #[arg(long)]
    pub quick: bool,
    /// Only the sections with this in their title, like `ethernet`
    #[arg(long, value_name = "WORD")]
    pub only: Option<String>,
}

/// Options of `report`.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// Event logs, records, or results as JSON
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// The page
    #[arg(short = 'o', long, value_name = "FILE.html")]
    pub out: PathBuf,
    /// Draw what happened from here on, in bit times
    #[arg(long, value_name = "BT", value_parser = instant)]
    pub from: Option<u64>,
    /// Draw what happened before this
    #[arg(long, value_name = "BT", value_parser = instant)]
    pub to: Option<u64>,
    /// Open the drawing here [default: at the first collision]
    #[arg(long, value_name = "BT", value_parser = instant)]
    pub at: Option<u64>,
    /// Write the plots into this folder too, as SVG
    #[arg(long, value_name = "FOLDER")]
    pub svg: Option<PathBuf>,
    /// The same as PNG
    #[arg(long, value_name = "FOLDER")]
    pub png: Option<PathBuf>,
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
    /// Windows on the run.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// Draw the bus as it is; `?` tells the keys
    ///
    /// See docs/watch.md.
    #[arg(long)]
    pub watch: bool,
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
    /// Say what goes wrong on a segment with PLCA, and why
    ///
    /// Each finding names its cause, what the log shows of it, and what to do. See docs/plca.md.
    #[arg(long, conflicts_with_all = ["frame", "pick", "list", "station"])]
    pub segment: bool,
    /// Tell only what its life comes to, in a few lines
    #[arg(long, conflicts_with_all = ["list", "segment", "format"])]
    pub short: bool,
    /// Draw the frame's collisions over place and time
    ///
    /// Stations stand side by side, time goes down, and each signal is a band that slants as it travels. With PLCA each
    /// node has a row and time goes right; --segment draws what shows its first finding.
    #[arg(long, value_name = "FILE.svg", conflicts_with = "list")]
    pub svg: Option<PathBuf>,
    /// Write as `table` or `json`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: Format,
}
