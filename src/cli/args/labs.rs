//! Arguments of the commands that bring labs up, use them and take them down.

use super::{
    BesideVirtual, LabArgs, LimitArgs, NamedLabArgs, Overruled, ScenarioArg, TraceArgs, Trust, WindowArgs, Written,
};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args, Subcommand};
use sim::settings::options::UP;
use sim::words::units::{FrameRate, count, duration, frame_rate, frame_size, instant};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// What `down` takes.
const LAB_OR_SEVERAL: &str =
    "The lab's name [default: ethbus]\n\nOr that of a scenario with several buses, whose labs are called LAB.BUS.";

/// Options of `down`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("lab", |lab| lab.help("The lab's name [default: ethbus]").long_help(LAB_OR_SEVERAL)))]
pub struct DownArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: NamedLabArgs,
    /// Take down all labs that you have
    #[arg(short = 'a', long, conflicts_with_all = ["lab", "name"])]
    pub all: bool,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// Options of `up`.
#[derive(Args, Clone, Debug)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "tolerance" | "strict" => arg.conflicts_with("is_virtual"),
    "format" => arg.long_help(
        "Write as `table` or `json`\n\nAs JSON the lab when it is up, and its last results when it ends; with --background only the first.",
    ),
    _ => arg,
}))]
pub struct UpArgs {
    /// What is run.
    #[command(flatten)]
    pub file: ScenarioArg,
    /// What is said over the scenario.
    #[command(flatten)]
    pub over: Overruled<UP>,
    /// The bus of a scenario with several: the lab LAB.NAME
    ///
    /// The kernel is the bridge to the labs of the others; see docs/bridge.md.
    #[arg(long, hide_short_help = true, value_name = "NAME", requires = "scenario", conflicts_with_all = ["plan", "is_virtual", "lend"])]
    pub bus: Option<String>,
    /// Run a table of messages beside its bounds
    ///
    /// A table as `ethbus plan` takes it. `stats` and `down` say what each message took, and end with 1 if a deadline was
    /// missed; see docs/plan.md.
    #[arg(long, hide_short_help = true, value_name = "TABLE", conflicts_with_all = ["scenario", "lend"])]
    pub plan: Option<PathBuf>,
    /// Traces.
    #[command(flatten)]
    pub traces: TraceArgs,
    /// Keep the last seconds of events for `--on` and `ethbus capture --last`
    ///
    /// Written to FILE-00001 and so on, each a trace for `ethbus explain`; in the binary form where the name ends in .ebe.
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with = "is_virtual")]
    pub keep: Option<PathBuf>,
    /// How much of the bus's time is kept [default: 10s]
    ///
    /// Less where a million events take less time.
    #[arg(long, value_name = "TIME", default_value = "10s", hide_default_value = true, value_parser = duration, requires = "keep", hide_short_help = true)]
    pub keep_for: Duration,
    /// Write the kept seconds when `late_collision`, `slip` … happens
    ///
    /// Kinds of events by their names in traces, with commas between; see docs/trace.md. At most 20 files, which do not
    /// overlap.
    #[arg(long, value_name = "KIND,…", requires = "keep", hide_short_help = true)]
    pub on: Option<String>,
    /// Windows on the run.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// Serve metrics for Prometheus: `9610` [default: none]
    ///
    /// At http://127.0.0.1:PORT/metrics, unless an address is given, as in `0.0.0.0:9610`. `ethbus serve prometheus` serves all
    /// labs.
    #[arg(long, value_name = "[ADDRESS:]PORT", hide_short_help = true, conflicts_with = "is_virtual")]
    pub metrics: Option<String>,
    /// Lend an interface of this machine to the lab
    ///
    /// As a station. A network card, or a virtual machine's TAP; may be given again. The station is named after it. It belongs to the lab until its end, and then
    /// comes back as it was; see docs/ports.md.
    #[arg(long, alias = "attach", value_name = "INTERFACE", conflicts_with = "is_virtual")]
    pub lend: Vec<String>,
    /// Lend even an interface with a default route
    ///
    /// This machine may lose its network.
    #[arg(long, hide_short_help = true, conflicts_with = "is_virtual")]
    pub even_default_route: bool,
    /// Whether it is to be trusted.
    #[command(flatten)]
    pub trust: Trust,
    /// Stations are kernels in virtual time, as those of `run`
    ///
    /// The same run each time, until something is done to it; see docs/virtual.md.
    #[arg(long = "virtual", hide_short_help = true)]
    pub is_virtual: bool,
    /// How its kernels run.
    #[command(flatten)]
    pub kernels: BesideVirtual,
    /// Go on in the background until `ethbus down`
    #[arg(short = 'b', short_alias = 'd', long, alias = "detach")]
    pub background: bool,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
    /// Be the supervisor that `--background` starts.
    #[arg(long, hide = true)]
    pub in_background: bool,
}

/// Options of `exec`.
#[derive(Args, Clone, Debug)]
pub struct ExecArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station; a prompt for the whole lab if left out
    pub station: Option<String>,
    /// The program and its arguments; a shell if left out
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// Options of `list`.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// Options of `stats`.
#[derive(Args, Clone, Debug)]
pub struct StatsArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: NamedLabArgs,
    /// Show it again every second; `q` ends
    #[arg(short = 'w', long, conflicts_with = "format")]
    pub watch: bool,
    /// Show every counter of one station, as `ethtool -S` does of an interface
    #[arg(short = 's', long, conflicts_with = "watch")]
    pub station: Option<String>,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// Options of `watch`.
#[derive(Args, Clone, Debug)]
pub struct WatchArgs {
    /// The lab [default: $ETHBUS_LAB, your only one, or `ethbus`]; or a trace
    #[arg(value_name = "LAB|TRACE")]
    pub lab: Option<String>,
    /// Show the trace from this bit time on
    #[arg(long, value_name = "BT", value_parser = instant)]
    pub at: Option<u64>,
}

/// Options of `add`.
#[derive(Args, Clone, Debug)]
pub struct AddArgs {
    /// The station's name [default: st and its number]
    #[arg(value_name = "NAME")]
    pub station: Option<String>,
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// A namespace: a name, `pid:4711`, `docker:web`, a path
    #[arg(long, value_name = "NETNS", group = "host")]
    pub netns: Option<String>,
    /// An interface of this machine, lent to the lab
    #[arg(long, value_name = "INTERFACE", group = "host")]
    pub lend: Option<String>,
    /// A TAP device in its namespace, for a program
    #[arg(long, group = "host")]
    pub tap: bool,
    /// A bridge of this machine; without a name one is made
    #[arg(long, value_name = "BRIDGE", num_args = 0..=1, group = "host")]
    pub bridge: Option<Option<String>>,
    /// The machine at the other end of a tunnel
    #[arg(long, value_name = "ADDRESS", group = "host")]
    pub vxlan: Option<String>,
    /// The tunnel's number [default: 1]
    #[arg(long, value_name = "VNI", requires = "vxlan", hide_short_help = true)]
    pub vni: Option<u32>,
    /// What its interface is called in NETNS [default: eth0]
    #[arg(long, value_name = "NAME", requires = "netns", hide_short_help = true)]
    pub interface: Option<String>,
    /// Its place on the cable, like `120m`, or on a segment, like `a:120m`
    #[arg(long, value_name = "PLACE")]
    pub at: Option<String>,
    /// Its MAC address
    #[arg(long, value_name = "MAC", hide_short_help = true)]
    pub mac: Option<String>,
    /// Its IPv4 address with prefix length, or `none`
    #[arg(long, value_name = "ADDRESS", hide_short_help = true)]
    pub ipv4: Option<String>,
    /// Its IPv6 address with prefix length, or `none`
    #[arg(long, value_name = "ADDRESS", hide_short_help = true)]
    pub ipv6: Option<String>,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// Options of `step`.
#[derive(Args, Clone, Debug)]
pub struct StepArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: NamedLabArgs,
    /// For this number of bit times [default: up to the next event]
    #[arg(long, value_name = "BITS", value_parser = count, allow_negative_numbers = true)]
    pub bits: Option<u64>,
}

/// Options of `plug`, `unplug` and `remove`.
#[derive(Args, Clone, Debug)]
pub struct PortArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station
    pub station: String,
}

/// Faults as they are completed; `medium::Fault` reads them.
pub const FAULTS: [&str; 14] = [
    "deaf",
    "one_way",
    "bad_fcs",
    "babble",
    "full_duplex",
    "ber:1e-6",
    "burst:1e-6:400",
    "line_ber:1e-6",
    "line_burst:1e-6:400",
    "lost_beacon:10%",
    "bad_beacon:10%",
    "lost_commit:10%",
    "bad_commit:10%",
    "none",
];

/// Takes any text, and offers [`FAULTS`].
#[derive(Clone, Debug)]
struct FaultParser;

impl TypedValueParser for FaultParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        Some(Box::new(FAULTS.into_iter().map(PossibleValue::new)))
    }
}

/// Options of `fault`.
#[derive(Args, Clone, Debug)]
pub struct FaultArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station; `all` for noise on the medium
    pub station: String,
    /// What is wrong with it from now on
    ///
    /// `deaf`, `one_way`, `full_duplex`, `bad_fcs`, `babble`; `ber:1e-6`, `burst:1e-6:400`, `line_ber:1e-6`,
    /// `line_burst:1e-6:400`; of PLCA `lost_beacon:10%`, `bad_beacon:10%`, `lost_commit:10%`, `bad_commit:10%`; `none`: it is
    /// right again. See docs/fidelity.md.
    #[arg(value_parser = FaultParser, hide_possible_values = true)]
    pub fault: String,
}

/// Options of `plca`.
#[derive(Args, Clone, Debug)]
pub struct PlcaArgs {
    /// What to do.
    #[command(subcommand)]
    pub what: PlcaCommand,
}

/// What can be done with PLCA of a lab that is up.
#[derive(Clone, Debug, Subcommand)]
pub enum PlcaCommand {
    /// Print a station's settings, as `ethtool --get-plca-cfg` does
    #[command(after_help = "Example:\n  ethbus plca get st1")]
    Get(PlcaStationArgs),
    /// Print whether a station takes turns, as `ethtool --get-plca-status`
    #[command(after_help = "Example:\n  ethbus plca status st1")]
    Status(PlcaStationArgs),
    /// Print a station's registers, as chips have them (MMD 31)
    #[command(after_help = "Example:\n  ethbus plca registers st1")]
    Registers(PlcaStationArgs),
    /// Change a station's settings, as `ethtool --set-plca-cfg` does
    #[command(after_help = "Example:\n  ethbus plca set st3 enable on node-id 2")]
    Set(PlcaSetArgs),
}

/// Options of `plca get`, `plca status` and `plca registers`.
#[derive(Args, Clone, Debug)]
pub struct PlcaStationArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station
    pub station: String,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

/// Options of `plca set`.
#[derive(Args, Clone, Debug)]
pub struct PlcaSetArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// The station
    pub station: String,
    /// `enable on|off`; with N: `node-id`, `node-cnt`, `to-tmr`, `burst-cnt`, …
    ///
    /// And `burst-tmr`. As for ethtool, `to-tmr` and `burst-tmr` are in bit times, `burst-cnt` is in frames.
    #[arg(value_name = "NAME VALUE", required = true, num_args = 2..)]
    pub settings: Vec<String>,
}

/// Options of `set`.
#[derive(Args, Clone, Debug)]
pub struct SetArgs {
    /// Which lab.
    #[command(flatten)]
    pub lab: LabArgs,
    /// A station, if it is about one, and KEY=VALUE
    #[arg(value_name = "SETTING", required = true, num_args = 1..)]
    pub settings: Vec<String>,
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
#[command(mut_arg("duration", |duration| duration.help("Stop after so long [default: 10s without --count]")))]
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
    /// When it ends; 10 s from its beginning without this.
    #[command(flatten)]
    pub limit: LimitArgs,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
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
    /// When it ends.
    #[command(flatten)]
    pub limit: LimitArgs,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}
