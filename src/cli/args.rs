//! The command line. Used by `build.rs` too, which makes man pages and completions from it: std, clap, and the table of settings.
//!
//! Here are the commands and the demonstration's options; each group of commands has its options in a file of its own.

use clap::builder::Resettable;
use clap::{Args, CommandFactory, Parser, Subcommand};
use sim::settings::options::DEMO;

// By path: build.rs includes this file by path too, and would look for the modules elsewhere.
#[path = "args/labs.rs"]
mod labs;
#[path = "args/machine.rs"]
mod machine;
#[path = "args/overruled.rs"]
mod overruled;
#[path = "args/plan.rs"]
mod plan;
#[path = "args/retry.rs"]
pub mod retry;
#[path = "args/shared.rs"]
mod shared;
#[path = "args/simulation.rs"]
mod simulation;
#[path = "args/theory.rs"]
pub mod theory;
#[path = "args/traces.rs"]
mod traces;
#[path = "args/virtual_lab.rs"]
mod virtual_lab;
#[path = "args/windows.rs"]
mod windows;

pub use self::labs::{
    AddArgs, CutArgs, DownArgs, ExecArgs, FAULTS, FaultArgs, ListArgs, PlcaArgs, PlcaCommand, PlcaSetArgs,
    PlcaStationArgs, PortArgs, ReceiveArgs, SendArgs, SetArgs, StatsArgs, StepArgs, UpArgs, WatchArgs,
};
pub use self::machine::{
    Beginning, CheckArgs, CompletionsArgs, DockerArgs, DoctorArgs, HelpCommand, InitArgs, ManArgs, NamesArgs,
    PrometheusArgs, ServeCommand, Shell,
};
pub use self::overruled::Overruled;
pub use self::plan::PlanArgs;
pub use self::shared::{
    Consoles, Drawn, Format, Jobs, LabArgs, LimitArgs, MaybeOutArg, NamedLabArgs, OutArg, ParquetArg, PoliciesArg,
    Quick, ScenarioArg, Seeded, Series, SetArg, SimFormat, StreamArg, Tabled, TablesArg, TimedArgs, Timing, TraceArg,
    Trust, Written,
};
pub use self::simulation::{
    ExplainArgs, MergeArgs, PlotArgs, PlotAxis, PlotFigure, PlotUnit, ReplayArgs, ReportArgs, RowArgs, SimArgs,
    SweepArgs, SweepCommand, SweepStatusArgs, ValidateArgs,
};
pub use self::traces::{LevelArg, TraceArgs};
pub use self::virtual_lab::{BesideVirtual, KernelArgs, KernelBuildArgs, KernelCommand, RunArgs};
pub use self::windows::{CaptureArgs, ConvertArgs, ConvertTo, ExtcapArgs, WindowArgs, WishArgs};

/// Every command but the verbs, as `--help` and docs/commands.md group them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("See a collision", &["sim", "watch", "explain", "report"]),
    ("A lab", &["up", "down", "list", "exec", "stats", "capture"]),
    ("Change it", &["set", "plca", "send", "receive"]),
    ("Many runs", &["run", "replay", "sweep", "plot", "convert"]),
    ("Before you build", &["init", "check", "plan", "theory"]),
    ("This machine", &["doctor", "serve", "kernel", "retry", "help"]),
];

/// What `-h` shows: a newcomer's.
const FIRST: [&str; 10] = ["sim", "explain", "report", "up", "exec", "watch", "stats", "set", "down", "doctor"];

/// Commands that are verbs of `set`: they have no row of their own in `--help`, but one in that of `set`.
const VERBS: [&str; 10] = ["add", "remove", "plug", "unplug", "fault", "cut", "mend", "pause", "step", "resume"];

/// What the help says below the commands.
const EXAMPLES: &str = "\
Examples:
  ethbus                                   four stations contend for ten seconds
  ethbus --stations 16 --frame-size 64     sixteen stations, the shortest frames
  ethbus up, then: ethbus exec st1 ping st2
  ethbus sim --stations 50 --duration 10s  no privileges, no waiting

Exit codes: 0 success, 1 failure, 2 wrong use, 3 not to be trusted (`--strict`),
130 interrupted; `exec` ends with the code of its program.";

/// What the help of `set` ends with.
const SET_EXAMPLES: &str = "\
Examples:
  ethbus set st1 arrivals=poisson:0.4 frame_size=200
  ethbus set queue=50
  ethbus set until=60s";

/// The whole command line, with the options of every command. Its help lists the commands that it has: their definitions
/// are made once.
pub fn command() -> clap::Command {
    let plain = Cli::command();
    let (first, grouped) = (first_commands(&plain), grouped_commands(&plain));
    let verbs = format!("Verbs, each with a page of its own:\n{}\n{SET_EXAMPLES}", lines(&plain, &VERBS));
    let mut command = Cli::command().after_help(first).after_long_help(grouped);
    command = command.mut_subcommand("set", |set| set.after_long_help(verbs));
    // A command without this, and without a long text of an option, prints its short help for `--help` too.
    command = command.mut_subcommands(|one| {
        if one.get_long_about().is_none() || one.get_after_long_help().is_some() {
            return one;
        }
        let end = one.get_after_help().cloned();
        one.after_long_help(Resettable::from(end))
    });
    command.build();
    // Options that are made late bring the text of their own type along, in place of what the command does.
    for made in command.get_subcommands_mut() {
        let Some(own) = plain.find_subcommand(made.get_name()) else { continue };
        let (about, more) = (own.get_about().cloned(), own.get_long_about().cloned());
        *made = std::mem::take(made).about(Resettable::from(about)).long_about(Resettable::from(more));
    }
    command
}

/// The commands of a group, each with what it does.
fn lines(all: &clap::Command, commands: &[&str]) -> String {
    let about = |name: &str| all.find_subcommand(name).and_then(clap::Command::get_about).map(ToString::to_string);
    commands.iter().map(|name| format!("  {name:<11}  {}\n", about(name).unwrap_or_default())).collect()
}

/// What a newcomer needs, for `-h`.
fn first_commands(all: &clap::Command) -> String {
    format!("{}`ethbus COMMAND -h` tells about one, `ethbus --help` about all.", lines(all, &FIRST))
}

/// All commands in their groups, for `--help`.
fn grouped_commands(all: &clap::Command) -> String {
    let groups = GROUPS.map(|(title, commands)| format!("{title}:\n{}\n", lines(all, commands)));
    format!("{}{EXAMPLES}", groups.concat())
}

/// Shared-medium Ethernet on your own machine: real frames over one CSMA/CD bus
///
/// Without a command: a demonstration. Stations in network namespaces of their own contend for a 10 Mb/s
/// half-duplex bus for ten seconds; then a table says what happened. It needs root, or a kernel that lets
/// you make user namespaces. Everything it makes is gone when it ends.
#[derive(Debug, Parser)]
#[command(name = "ethbus", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
#[command(mut_arg("pcapng", |pcapng| pcapng.hide_short_help(true)))]
#[command(mut_arg("format", |format| format.hide_short_help(true)))]
#[command(
    disable_help_subcommand = true,
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

/// What to do. Options are made for the command that is typed alone; [`command()`] makes all.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Bring a lab up and keep it up until interrupted
    ///
    /// As root, or without root where you may make user namespaces: then the lab is yours alone, its folder is in
    /// /run/user/UID/ethbus, its namespaces have no names for `ip netns`, and the bus has no higher priority than other
    /// programs. Only the user who brought a lab up reaches it: root's lab with sudo, a user's lab without.
    #[command(after_help = "Examples:\n  ethbus up lab.toml --background\n  ethbus up --topology bus:500m --name coax")]
    Up(UpArgs),
    /// Run programs in stations that are kernels (experimental)
    ///
    /// Each station of the scenario is a kernel of its own, whose clock is the lab's: the same scenario and seed give the
    /// same run each time, however busy the machine is. It needs no root. The run ends when all programs of `run = [...]` have
    /// ended, with the code of the first one that failed. See docs/virtual.md.
    ///
    /// Do not run an image of somebody else's as root: see "Virtual labs" in docs/security.md.
    #[command(
        after_help = "Examples:\n  ethbus run lab.toml\n  ethbus run lab.toml --events run.events --consoles out"
    )]
    Run(RunArgs),
    /// Build the kernel that `ethbus run` needs
    #[command(subcommand, after_help = "Example:\n  ethbus kernel build")]
    Kernel(KernelCommand),
    /// List the labs that are up, their stations and addresses
    ///
    /// Labs of the user who runs it, and what killed labs left behind, which `ethbus down` removes.
    #[command(visible_alias = "ls", alias = "ps", after_help = "Examples:\n  ethbus list\n  ethbus list --format json")]
    List(ListArgs),
    /// Run a program in a station of a lab
    ///
    /// Input, output, signals and the exit code pass through. Stations know each other by name. Without a program: a shell.
    /// Without a station: a prompt, where a line is a station and a program, or a command of ethbus; Tab completes it.
    ///
    /// In a lab of root's the program has all of root's rights. In a user's it runs as that user, with every capability over
    /// the lab's namespaces and none outside.
    #[command(
        after_help = "Examples:\n  ethbus exec st1 ping st2\n  ethbus exec st1 -- tcpdump -ni eth0\n  ethbus exec st1\n  ethbus exec"
    )]
    Exec(ExecArgs),
    /// Show what has happened on a lab's bus so far
    #[command(
        after_help = "Examples:\n  ethbus stats\n  ethbus stats --watch\n  ethbus stats --station st1\n  ethbus stats coax --format json"
    )]
    Stats(StatsArgs),
    /// Serve figures to Prometheus, or networks to Docker
    #[command(subcommand, after_help = "Examples:\n  ethbus serve prometheus\n  sudo ethbus serve docker")]
    Serve(ServeCommand),
    /// Show a lab's bus as it is, drawn on the terminal
    ///
    /// Stations are at their places, signals travel between them, and collisions show where they are noticed. `?` tells
    /// the keys. With a trace instead of a lab it shows that run; see docs/watch.md.
    #[command(
        after_help = "Examples:\n  ethbus watch\n  ethbus watch run.events --at 30,216,041\n  ethbus sim --watch"
    )]
    Watch(WatchArgs),
    /// Capture what happens on a lab's bus from now on, for Wireshark
    ///
    /// Until interrupted, until the reader of a pipe is gone, or until the lab ends. The bus waits for no reader: what a
    /// capture misses is counted, and the command ends with 1. Wireshark and tshark list running labs themselves, if
    /// ethbus is in their extcap folder; see docs/seeing.md.
    #[command(
        after_help = "Examples:\n  ethbus capture -o lab.pcapng --duration 10s\n  ethbus capture coax | wireshark -k -i -\n  ethbus capture --last 10s -o last.pcapng"
    )]
    Capture(CaptureArgs),
    /// Add a station to a lab that is up
    ///
    /// It has a namespace of its own, unless an option says otherwise, and the next addresses of the lab. Prints its name.
    #[command(
        after_help = "Examples:\n  ethbus add\n  ethbus add web --netns docker:web\n  ethbus add vm --tap\n  ethbus add --lend eth1"
    )]
    Add(AddArgs),
    /// Remove a station from a lab that is up
    ///
    /// Programs in its namespace are ended, and what was lent for it goes back. Its counts stay in the results.
    #[command(after_help = "Example:\n  ethbus remove st5")]
    Remove(PortArgs),
    /// Put a station back on the medium
    #[command(alias = "attach", after_help = "Example:\n  ethbus plug st3")]
    Plug(PortArgs),
    /// Take a station off the medium, as if its cable were pulled
    ///
    /// What it sends is discarded and counted, and it hears nothing, until `ethbus plug`.
    #[command(alias = "detach", after_help = "Example:\n  ethbus unplug st3")]
    Unplug(PortArgs),
    /// Change a lab that is up, by key or by verb: add, unplug, fault …
    ///
    /// The keys and values are those of `[[at]]` in a scenario: `arrivals`, `frame_size` and `destination` of one station, or
    /// of all together if no station is named; `queue`, `filter`, `link` and `until` of the lab. `--help` lists the verbs.
    #[command(after_help = SET_EXAMPLES)]
    Set(SetArgs),
    /// Make a station faulty on purpose, or right again
    #[command(after_help = "Examples:\n  ethbus fault st2 deaf\n  ethbus fault st2 none")]
    Fault(FaultArgs),
    /// Print or change a station's PLCA, as ethtool does
    ///
    /// New settings come with a reset of the station's PLCA.
    #[command(
        after_help = "Examples:\n  ethbus plca get st1\n  ethbus plca status st1\n  ethbus plca set st3 enable on node-id 2"
    )]
    Plca(PlcaArgs),
    /// Bound response times of a table of messages on PLCA
    ///
    /// For each message the longest wait and response, its deadline and slack, and what the bound consists of. Ends with 1
    /// if a deadline is not kept. See docs/plan.md.
    #[command(
        after_help = "Examples:\n  ethbus plan examples/plca/vehicle.toml\n  ethbus plan table.csv --duration 10s --format json"
    )]
    Plan(PlanArgs),
    /// Cut the cable between two stations: two media from then on
    ///
    /// Halfway between them, each end terminated; on a bus or on one segment. `ethbus mend` joins the ends again.
    #[command(after_help = "Example:\n  ethbus cut st2 st3")]
    Cut(CutArgs),
    /// Mend a cable that was cut
    #[command(after_help = "Example:\n  ethbus mend")]
    Mend(NamedLabArgs),
    /// Stop the clock of a lab's medium
    ///
    /// What stations send meanwhile waits. Results tell how long the clock stood still.
    #[command(after_help = "Example:\n  ethbus pause")]
    Pause(NamedLabArgs),
    /// Let a stopped clock go on a little
    ///
    /// To the next event, or for some bit times.
    #[command(after_help = "Examples:\n  ethbus step\n  ethbus step --bits 1")]
    Step(StepArgs),
    /// Start a stopped clock again
    #[command(after_help = "Example:\n  ethbus resume")]
    Resume(NamedLabArgs),
    /// Take a lab down, or remove what a killed one left behind
    ///
    /// Prints the lab's last results. Without a name: the lab called `ethbus`, which is what `ethbus up` calls one; another lab is
    /// taken down by its name. It ends with 1 if the lab had failed or was killed.
    #[command(
        aliases = ["stop", "rm", "destroy"],
        after_help = "Examples:\n  ethbus down\n  ethbus down coax --format json\n  ethbus down --all"
    )]
    Down(DownArgs),
    /// Offer frames from a station, with sequence numbers
    #[command(after_help = "Example:\n  ethbus send --from st1 --to st2 --rate 100/s --count 50")]
    Send(SendArgs),
    /// Receive frames of `ethbus send`, and tell loss, order and delay
    #[command(after_help = "Example:\n  ethbus receive --at st2 --duration 12s")]
    Receive(ReceiveArgs),
    /// Run the medium in virtual time, and tell every counter and metric
    ///
    /// Needs no privileges. The same options and seed give the same numbers on every machine.
    #[command(
        after_help = "Examples:\n  ethbus sim --stations 50 --duration 10s\n  ethbus sim lab.toml --events run.events --format json"
    )]
    Sim(SimArgs),
    /// Run a grid of scenario keys and seeds on all cores into one table
    ///
    /// Needs no privileges. Interrupted, it goes on where it was with the same command; see docs/sweep.md.
    #[command(
        override_usage = "ethbus sweep [OPTIONS] --out FILE.csv [SCENARIO.toml]\n       ethbus sweep status|merge|row ...",
        help_template = "{about-with-newline}\n{usage-heading} {usage}\n\nOptions:\n{options}{after-help}",
        after_help = "Example:\n  ethbus sweep --set stations=2..64*2 --seeds 5 --out runs.csv"
    )]
    Sweep(SweepArgs),
    /// Draw figures of a sweep's table
    #[command(after_help = "Example:\n  ethbus plot runs.csv --x stations --y utilization_total --out runs.svg")]
    Plot(PlotArgs),
    /// Work out what theory says of ALOHA, CSMA, 802.3, 802.11, backoff
    ///
    /// Each answer names its paper and equation, and says where it holds. See docs/theory.md.
    #[command(after_help = "Example: ethbus theory bianchi --stations 10")]
    Theory(theory::TheoryArgs),
    /// Show how clients retry, and what a service sees
    ///
    /// See docs/retry.md.
    #[command(after_help = "Examples:\n  ethbus retry google-http sip-e\n  ethbus retry herd full-jitter:100ms,20s")]
    Retry(retry::RetryArgs),
    /// Run a recorded run again, and give the same events
    #[command(after_help = "Example:\n  ethbus replay run.trace --events again.events")]
    Replay(ReplayArgs),
    /// Tell the life of one frame in words and as a timeline
    #[command(
        after_help = "Examples:\n  ethbus explain run.events --list\n  ethbus explain run.events --pick collisions=3\n  ethbus explain run.events --frame st2#17 --svg collision.svg"
    )]
    Explain(ExplainArgs),
    /// Make a page of runs, to hand out
    ///
    /// One file that needs no network: what was run, its figures with intervals, plots, theory beside measurement, and
    /// what happened over place and time, to zoom in from seconds to bit times. A run is a trace, or
    /// results of `--format json`; two runs are side by side. See docs/report.md.
    #[command(
        after_help = "Examples:\n  ethbus report run.events -o report.html\n  ethbus report before.trace after.trace -o report.html"
    )]
    Report(ReportArgs),
    /// Make a capture, a timeline, a table or another trace from a trace
    ///
    /// The same run in the format of another tool; see docs/seeing.md.
    #[command(
        after_help = "Examples:\n  ethbus convert run.events --to pcapng --out run.pcapng\n  ethbus convert run.trace --to pcapng | wireshark -k -i -"
    )]
    Convert(ConvertArgs),
    /// Write a scenario to begin with, with comments
    #[command(after_help = "Examples:\n  ethbus init bus\n  ethbus init segments --out campus.toml")]
    Init(InitArgs),
    /// Check scenario files, without running anything
    ///
    /// Says all that is wrong, as FILE:LINE:COLUMN: key: value: what would be right, and ends with 2 if anything is.
    #[command(after_help = "Example:\n  ethbus check lab.toml")]
    Check(CheckArgs),
    /// Look at what a lab needs of this machine, and say what to do
    #[command(after_help = "Examples:\n  ethbus doctor\n  sudo ethbus doctor --measure")]
    Doctor(DoctorArgs),
    /// Show the help of a command, man pages, or a shell's completions
    #[command(
        subcommand,
        after_help = "Examples:\n  ethbus help sim\n  ethbus help man sim\n  source <(ethbus help completions bash)"
    )]
    Help(HelpCommand),
    /// The data plane; started by the supervisor
    #[command(name = "__bus", hide = true)]
    Bus,
    /// What Wireshark asks of a program in its extcap folder
    #[command(hide = true)]
    Extcap(ExtcapArgs),
    /// Names that are possible at a place of a command line; the shells' completions ask for them
    #[command(name = "__names", hide = true)]
    Names(NamesArgs),
}

/// Options of the demonstration.
#[derive(Args, Clone, Debug)]
pub struct DemoArgs {
    /// What is run.
    #[command(flatten)]
    pub run: Overruled<DEMO>,
    /// Traces.
    #[command(flatten)]
    pub traces: TraceArgs,
    /// Windows on the run.
    #[command(flatten)]
    pub windows: WindowArgs,
    /// Whether it is to be trusted.
    #[command(flatten)]
    pub trust: Trust,
    /// How it is written.
    #[command(flatten)]
    pub written: Written,
}

#[cfg(test)]
#[path = "args/tests.rs"]
mod tests;
