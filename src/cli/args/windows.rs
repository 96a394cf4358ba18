//! Arguments of windows on a run: files that other tools open.

use super::{LevelArg, NamedLabArgs, StreamArg, TimedArgs, TraceArg};
use clap::{Args, ValueEnum};
use sim::words::units::duration;
use std::path::PathBuf;
use std::time::Duration;

/// The capture of a run; `convert` makes files for other tools of its trace.
#[derive(Args, Clone, Debug, Default)]
pub struct WindowArgs {
    /// Write a capture for Wireshark; `-` for a pipe
    ///
    /// With preamble, FCS, collision fragments and jam; other events are on an interface `bus`. See docs/seeing.md. A name
    /// that ends in `.pcap` gives classic pcap: whole frames alone. To see a run while it goes on: `--pcapng - | wireshark
    /// -k -i -`; results then go to standard error.
    #[arg(long, value_name = "FILE|-")]
    pub pcapng: Option<PathBuf>,
    /// A new capture file every `100MB`, `60s`, or both
    ///
    /// Of the bus's time; both with a comma between. FILE-00001 is the first.
    #[arg(long, value_name = "SIZE|TIME", requires = "pcapng", hide_short_help = true)]
    pub pcapng_rotate: Option<String>,
}

/// What a trace is made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConvertTo {
    /// A capture for Wireshark
    Pcapng,
    /// A timeline for ui.perfetto.dev
    Perfetto,
    /// Waveforms for GTKWave or Surfer
    Vcd,
    /// A table, one row an event
    Csv,
    /// The same as Parquet
    Parquet,
    /// The same as an Arrow file
    Arrow,
    /// A trace: a binary one for a name that ends in .ebe, else JSON Lines
    Trace,
}

/// Options of `convert`.
#[derive(Args, Clone, Debug)]
pub struct ConvertArgs {
    /// The trace; one without events is run again.
    #[command(flatten)]
    pub input: TraceArg,
    /// What it is made into
    #[arg(long, value_enum)]
    pub to: ConvertTo,
    /// Where to.
    #[command(flatten)]
    pub output: StreamArg,
    /// What a trace has: `inputs`, `events` or `all` [default: what the given one has]
    #[arg(long, value_enum, hide_possible_values = true)]
    pub level: Option<LevelArg>,
    /// Leave the frames' octets out of a trace
    #[arg(long)]
    pub without_octets: bool,
    /// What a capture has.
    #[command(flatten)]
    pub wish: WishArgs,
}

/// What a capture has.
#[derive(Args, Clone, Debug)]
pub struct WishArgs {
    /// Only whole frames in a capture, without preamble
    #[arg(long)]
    pub plain: bool,
    /// Only these packets of a capture: `collisions,station=st1`
    ///
    /// `frames`, `collisions` or `rows`; `station=NAME`; `address=02:eb:…`. With commas between, all hold; see docs/seeing.md.
    #[arg(long)]
    pub filter: Option<String>,
}

/// Options of `capture`.
#[derive(Args, Clone, Debug)]
pub struct CaptureArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: NamedLabArgs,
    /// Where to.
    #[command(flatten)]
    pub output: StreamArg,
    /// When it ends.
    #[command(flatten)]
    pub timed: TimedArgs,
    /// What a lab with `up --keep` had on its bus last, like `10s`
    ///
    /// In place of what comes. A capture where the file's name ends in .pcapng or .pcap, else a trace.
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "duration")]
    pub last: Option<Duration>,
    /// Which packets a capture has, and whether fragments are among them.
    #[command(flatten)]
    pub wish: WishArgs,
}

/// How Wireshark calls programs that capture for it.
#[derive(Args, Clone, Debug)]
pub struct ExtcapArgs {
    /// List the labs that are up
    #[arg(long)]
    pub extcap_interfaces: bool,
    /// Wireshark's version
    #[arg(long, value_name = "VERSION")]
    pub extcap_version: Option<String>,
    /// The lab
    #[arg(long, value_name = "LAB")]
    pub extcap_interface: Option<String>,
    /// List link types
    #[arg(long)]
    pub extcap_dlts: bool,
    /// List options
    #[arg(long)]
    pub extcap_config: bool,
    /// Capture
    #[arg(long)]
    pub capture: bool,
    /// Where to
    #[arg(long, value_name = "PIPE")]
    pub fifo: Option<PathBuf>,
    /// What Wireshark calls the filter
    #[arg(long, value_name = "FILTER")]
    pub extcap_capture_filter: Option<String>,
    /// As those of `capture`.
    #[command(flatten)]
    pub wish: WishArgs,
}
