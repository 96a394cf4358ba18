//! One file for each command: what it makes, in which order, and what it says.

pub mod add;
pub mod capture;
pub mod change;
pub mod check;
pub mod convert;
pub mod demo;
pub mod doctor;
pub mod down;
pub mod exec;
pub mod explain;
pub mod extcap;
pub mod help;
pub mod init;
mod interrupts;
mod last;
pub mod list;
mod measure;
pub mod names;
pub mod plan;
pub mod plca;
pub mod plot;
mod prompt;
pub mod receive;
pub mod replay;
pub mod report;
pub mod retry;
mod rights;
pub mod run;
pub mod send;
pub mod serve;
pub mod sim;
pub mod stats;
pub mod sweep;
pub mod theory;
pub mod up;
pub mod validate;
pub mod watch;
mod watch_live;

use crate::cli::args::Format;
use crate::cli::windows::OpenError;
use ::sim::explain::ExplainError;
use ::sim::files::json_lines::{ReadError, WriteError};
use ::sim::files::output::{OutputError, STDOUT_PLACE, is_stdout, is_stdout_taken};
use ::sim::files::replay::ReplayError;
use ::sim::scenario::file::ScenarioError;
use ::sim::scenario::plan::{self as whole, DEFAULT_NAME, PlanError};
use ::sim::traffic::TrafficError;
use crossbeam_channel::Receiver;
use interrupts::{interrupts, interrupts_of_a_run};
use link::namespace::{Capability, NamespaceError, capabilities_missing};
use link::random::random;
use link::signals::Signal;
use live::control::{self, answer::RpcError};
use live::lab::MakeError;
use live::lab::inventory::{Content, Inventory, InventoryError};
use live::scrape::ScrapeError;
use live::supervisor::SupervisorError;
use live::virt::lab::{ImageError, LabError};
use retry_lab::{NamedError, RunError};
use say::terminal::in_locale;
use say::{making, say, with_causes};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use study::plot::PlotError;
use study::sweep::output::TableError;
use study::theory::Refusal;

/// Why a command failed. `main` alone prints it, with everything that led to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The user may not enter a station of root's.
    #[error("entering {station} needs {}, which you do not have: run it as root, with `sudo`", list(missing))]
    NotPermitted {
        /// The station.
        station: String,
        /// What is missing.
        missing: Vec<Capability>,
    },
    /// Neither is the user root, nor may he have a user namespace.
    #[error("{command} needs {}: run it as root, `sudo {command}`", list(missing))]
    NoUserNamespace {
        /// The command.
        command: &'static str,
        /// What is missing.
        missing: Vec<Capability>,
        /// Why a user namespace does not help.
        source: link::namespace::UserNamespaceError,
    },
    /// The user namespace of a lab without root cannot be entered.
    #[error("cannot enter {station}")]
    Join {
        /// The station.
        station: String,
        /// What went wrong.
        source: link::namespace::UserNamespaceError,
    },
    /// The station is no namespace.
    #[error(
        "{station} is a kernel in virtual time, which nothing on this machine can enter: `ethbus exec {station} PROGRAM` has it run a program"
    )]
    Kernel {
        /// The station.
        station: String,
    },
    /// There is no thread for captures.
    #[error("cannot get ready for captures")]
    Captures(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The scenario file is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Scenario or options make no lab.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A namespace, link or socket could not be made.
    #[error(transparent)]
    Make(#[from] MakeError),
    /// There is no such lab, or it is in use.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// The data plane failed.
    #[error(transparent)]
    Supervisor(#[from] SupervisorError),
    /// A station's socket failed.
    #[error("cannot use {station}'s interface")]
    Station {
        /// The station.
        station: String,
        /// What went wrong.
        source: link::packet::PacketError,
    },
    /// A station's namespace cannot be entered.
    #[error("cannot enter {station}")]
    Enter {
        /// The station.
        station: String,
        /// What went wrong.
        source: NamespaceError,
    },
    /// The lab has no such station.
    #[error("the lab `{lab}` has no station `{station}`; it has {}", stations.join(", "))]
    NoStation {
        /// The lab.
        lab: String,
        /// What was asked for.
        station: String,
        /// The stations that the lab has.
        stations: Vec<String>,
    },
    /// Several labs are up, and none was named.
    #[error("several labs are up: say which with --name: {}", labs.join(", "))]
    WhichLab {
        /// Their names.
        labs: Vec<String>,
    },
    /// No lab was named, and none has the name that labs have by default.
    #[error("no lab is called `{DEFAULT_NAME}`: say which one with --name, or take all down with --all: {}", labs.join(", "))]
    NotNamed {
        /// The names of those that there are.
        labs: Vec<String>,
    },
    /// A file that is there already, or cannot be made.
    #[error("cannot write {}", path.display())]
    Init {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// PLCA of a station cannot be read or changed this way.
    #[error("{what}")]
    Plca {
        /// Why, and what would be right.
        what: String,
    },
    /// There is no cable to cut.
    #[error("no cut: {what}")]
    NoCut {
        /// Why.
        what: String,
    },
    /// The station's host is a bridge, which is where the lab was brought up, or a namespace that ethbus has not made.
    #[error(
        "{station} has no namespace of the lab's own to enter: run the program where its host is, without `ethbus exec` (`ip netns exec NAME PROGRAM`, `nsenter --net --target PID PROGRAM`)"
    )]
    NoNamespace {
        /// The station.
        station: String,
    },
    /// A destination is neither station nor address.
    #[error("`{to}` is neither a station of the lab, nor a MAC address, nor `broadcast`; the lab has {}", stations.join(", "))]
    NoDestination {
        /// What was asked for.
        to: String,
        /// The stations that the lab has.
        stations: Vec<String>,
    },
    /// The scenario's traffic cannot be offered.
    #[error(transparent)]
    Offer(#[from] live::driver::scenario::OfferError),
    /// The result could not be written.
    #[error("cannot write the result")]
    Output(#[source] io::Error),
    /// A trace cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A trace cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The medium cannot be made.
    #[error(transparent)]
    Medium(#[from] medium::ConfigError),
    /// Traffic cannot be had.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// A trace cannot be replayed.
    #[error(transparent)]
    Replay(ReplayError),
    /// A run cannot be reported.
    #[error(transparent)]
    Report(#[from] study::report::gather::GatherError),
    /// A frame cannot be explained.
    #[error(transparent)]
    Explain(ExplainError),
    /// A sweep's table cannot be made or continued.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A table cannot be written as Parquet.
    #[error("cannot write {}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A figure cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A theory says nothing about such parameters.
    #[error(transparent)]
    Theory(#[from] Refusal),
    /// A text is no policy.
    #[error(transparent)]
    Policy(#[from] NamedError),
    /// Clients and service that cannot be.
    #[error(transparent)]
    Retry(#[from] RunError),
    /// The live view has nothing to be drawn on.
    #[error(
        "the live view needs a terminal that can place text, and standard output is none: leave `> FILE` or `|` out; \
         with TERM=dumb, use another terminal"
    )]
    NoTerminal,
    /// The lab does not answer.
    #[error("the lab `{name}` does not answer")]
    Control {
        /// Its name.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The lab refuses.
    #[error("the lab `{name}` refuses")]
    Refused {
        /// Its name.
        name: String,
        /// Why.
        source: RpcError,
    },
    /// A port for metrics cannot be had.
    #[error(transparent)]
    Scrape(#[from] ScrapeError),
    /// A virtual lab, or its kernel.
    #[error(transparent)]
    Virtual(#[from] run::VirtualError),
    /// The system refused something else.
    #[error("cannot {what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl CommandError {
    /// What a lab's control socket, or its answer, said.
    fn of_lab(name: &str, error: io::Error) -> CommandError {
        let name = name.to_owned();
        match control::refusal(&error) {
            None if error.kind() == io::ErrorKind::NotFound => InventoryError::NotUp { name }.into(),
            Some(refusal) => CommandError::Refused { name, source: refusal.clone() },
            None => CommandError::Control { name, source: error },
        }
    }
}

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> CommandError {
        match error {
            OpenError::Plan(error) => error.into(),
            OpenError::Write(error) => error.into(),
        }
    }
}

impl From<whole::ReadError> for CommandError {
    fn from(error: whole::ReadError) -> CommandError {
        match error {
            whole::ReadError::Scenario(error) => error.into(),
            whole::ReadError::Plan(error) => error.into(),
        }
    }
}

fn list(missing: &[Capability]) -> String {
    missing.iter().map(Capability::to_string).collect::<Vec<_>>().join(", ")
}

impl CommandError {
    /// The reader of standard output has closed it. Tables that grow, like a sweep's, count their rows and say how many
    /// arrived; that is another error.
    pub fn is_reader_gone(&self) -> bool {
        match self {
            CommandError::Output(source) => source.kind() == io::ErrorKind::BrokenPipe,
            CommandError::Write(WriteError::Write { place, source, .. }) => {
                place == STDOUT_PLACE && source.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }

    /// An interrupt ended the command before it had begun its work.
    pub fn is_interrupt(&self) -> bool {
        if let CommandError::Virtual(run::VirtualError::Lab(error)) = self {
            return matches!(**error, LabError::Image { why: ImageError::Interrupted, .. });
        }
        matches!(
            self,
            CommandError::Make(MakeError::Interrupted)
                | CommandError::Write(WriteError::Output(OutputError::Unread { .. }))
                | CommandError::Table(TableError::Output(OutputError::Unread { .. }))
        )
    }

    /// What went wrong, with everything that led to it: a line for each thing that is wrong in a file or with an option.
    pub fn told(&self) -> String {
        let wrongs = match self {
            CommandError::Plan(error) => error.wrongs(),
            CommandError::Scenario(ScenarioError::Content(wrongs)) => wrongs,
            error => return format!("ethbus: {}\n", with_causes(error).trim_end()),
        };
        // A place in a file is at the beginning of its line, where editors look for it.
        let line = |line: &str| match wrongs.iter().any(|wrong| wrong.place.is_some()) {
            true => format!("{line}\n"),
            false => format!("ethbus: {line}\n"),
        };
        wrongs.to_string().lines().map(line).collect()
    }
}

/// Refuses one file for two things, before either is made. Standard output is one too.
fn refuse_one_file_for_two(outputs: &[(&str, Option<&Path>)]) -> Result<(), PlanError> {
    let whole = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    let given: Vec<(&str, &Path)> = outputs.iter().filter_map(|(option, path)| Some((*option, (*path)?))).collect();
    for (index, (option, path)) in given.iter().enumerate() {
        let same = |other: &Path| other == *path || (whole(other).is_some() && whole(other) == whole(path));
        if let Some((other, _)) = given[..index].iter().find(|(_, other)| same(other)) {
            let file = if is_stdout(path) { "standard output".to_owned() } else { format!("`{}`", path.display()) };
            let what = format!("{file} is the file of {other} too: write another one");
            return Err(PlanError::option(option, what));
        }
    }
    Ok(())
}

/// The lab of a command: that of the option or of the shell's environment; else the user's only lab, or of several the one
/// called `ethbus`. Prints the name if it was chosen and is not `ethbus`.
fn running_lab(given: Option<&str>) -> Result<String, CommandError> {
    if let Some(named) = named(given) {
        return Ok(named);
    }
    let lab = lab_of_this_person()?;
    if lab != DEFAULT_NAME {
        say(&format!("lab {lab}:\n"));
    }
    Ok(lab)
}

/// The same without a word.
fn lab_meant(given: Option<&str>) -> Result<String, CommandError> {
    named(given).map_or_else(lab_of_this_person, Ok)
}

/// A lab's name, or that of the network that it is for a container engine.
fn named(given: Option<&str>) -> Option<String> {
    let named = given.map(str::to_owned).or_else(|| std::env::var(LAB).ok())?;
    let is_lab = Inventory::exists(&named).unwrap_or(true);
    Some(if is_lab { named } else { Inventory::labelled(&named).unwrap_or(named) })
}

fn lab_of_this_person() -> Result<String, CommandError> {
    let mut meant = Inventory::names_meant();
    match (meant.iter().any(|name| name == DEFAULT_NAME), meant.len()) {
        (false, 1) => Ok(meant.remove(0)),
        (false, 2..) => Err(CommandError::WhichLab { labs: meant }),
        (true, _) | (false, 0) => Ok(DEFAULT_NAME.to_owned()),
    }
}

/// The variable that `ethbus exec` sets, and that names the lab for a shell.
const LAB: &str = "ETHBUS_LAB";

/// What a command ends with, if it did not fail.
pub type Outcome = Result<ExitCode, CommandError>;

/// A run that is not to be trusted, where `--strict` asks for that.
pub const NOT_TRUSTED: u8 = 3;

/// Ended by an interrupt, as shells tell it: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// What a live bus needs and this process lacks.
fn missing_capabilities() -> Result<Vec<Capability>, CommandError> {
    capabilities_missing().map_err(|source| CommandError::System { what: "read own capabilities", source })
}

/// A random seed, for a command without `--seed`.
fn draw_seed() -> Result<u64, CommandError> {
    let drawn = random().map_err(|source| CommandError::System { what: "draw a seed from /dev/urandom", source })?;
    // Short enough to be typed again, and exact in every JSON reader.
    Ok(drawn >> 32)
}

/// Writes to standard output, or to standard error if a file is standard output; a full disk or a closed pipe is an error.
/// `main` ends quietly if the pipe is closed.
fn print(text: &str) -> Result<(), CommandError> {
    if is_stdout_taken() {
        say(text);
        return Ok(());
    }
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(CommandError::Output)
}

/// A result as the user wants it.
fn print_result<T: serde::Serialize>(
    format: Format,
    result: &T,
    table: impl FnOnce(&T) -> String,
) -> Result<(), CommandError> {
    print(&result_text(format, result, table))
}

fn result_text<T: serde::Serialize>(format: Format, result: &T, table: impl FnOnce(&T) -> String) -> String {
    match format {
        Format::Table => in_locale(table(result)),
        Format::Json => serde_json::to_string_pretty(result).expect("numbers and names") + "\n",
    }
}

/// The progress callback of a lab's maker: shows how many stations are connected, and continues until there is an
/// interrupt.
fn making_until(interrupts: &Receiver<Signal>, stations: usize) -> impl FnMut(usize) -> bool {
    let show = making(stations);
    move |number| {
        show(number);
        interrupts.is_empty()
    }
}

/// A station of a lab that is up, as `given` means it.
fn station_meant(lab: &str, given: &str) -> Result<String, CommandError> {
    Ok(Inventory::of_running(lab)?.station_meant(given))
}

fn station_names(content: &Content) -> Vec<String> {
    content.stations.iter().map(|port| port.name.clone()).collect()
}
