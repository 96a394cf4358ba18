//! Arguments of windows on a run: files that other tools open.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Files for other tools, of a run.
#[derive(Args, Clone, Debug, Default)]
pub struct WindowArgs {
    /// Write a capture for Wireshark; `-` for a pipe
    ///
    /// With preamble, FCS, collision fragments and jam, and what is no frame on an interface of its own; see docs/seeing.md.
    /// To see a run while it goes on: `--pcapng - | wireshark -k -i -`. What else goes to standard output then goes to standard
    /// error.
    #[arg(long, value_name = "FILE|-")]
    pub pcapng: Option<PathBuf>,
    /// Only whole frames in it, without preamble
    ///
    /// For tools that know nothing but Ethernet frames (link type 1).
    #[arg(long, requires = "pcapng", hide_short_help = true)]
    pub pcapng_plain: bool,
    /// A new capture file every `100MB`, `60s`, or both
    ///
    /// Of the bus's time; both with a comma between. FILE-00001 is the first.
    #[arg(long, value_name = "SIZE|TIME", requires = "pcapng", hide_short_help = true)]
    pub pcapng_rotate: Option<String>,
    /// Write a timeline for ui.perfetto.dev
    #[arg(long, value_name = "FILE|-", hide_short_help = true)]
    pub perfetto: Option<PathBuf>,
    /// Write waveforms for GTKWave or Surfer
    ///
    /// Both machines of each station, carrier and collision.
    #[arg(long, value_name = "FILE|-", hide_short_help = true)]
    pub vcd: Option<PathBuf>,
}

/// What an event log or a record is made into.
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
    /// An event log: a binary one for a name that ends in .ebe, else JSON Lines
    Events,
}

/// Options of `convert`.
#[derive(Args, Clone, Debug)]
pub struct ConvertArgs {
    /// An event log or a record
    ///
    /// As `--events` and `--record` wrote it. A record is run again. That of a live bus has the frames' octets.
    #[arg(value_name = "LOG|RECORD")]
    pub input: PathBuf,
    /// What it is made into
    #[arg(long, value_enum)]
    pub to: ConvertTo,
    /// The file; `-` for standard output
    #[arg(short = 'o', long, value_name = "FILE|-", default_value = "-")]
    pub out: PathBuf,
    /// Only whole frames in a capture, without preamble
    #[arg(long)]
    pub plain: bool,
}
