//! Network namespaces that others have made: how they are found, and what they lack.

use super::MakeError;
use super::processes::ended;
use link::namespace::{Namespace, NamespaceError};
use link::sysctl::has_ipv6;
use say::say;
use sim::scenario::plan::host::{Engine, Existing, Host, Netns};
use sim::scenario::plan::{Plan, StationPlan};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a container engine may take to answer about a container.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a namespace could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExistingError {
    /// No such name or process, or no right to it.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The engine's program cannot be run.
    #[error("cannot run `{engine}`: install it, or write `netns = \"pid:N\"` with a process of the container")]
    NoEngine {
        /// Which one.
        engine: Engine,
        /// The system's answer.
        source: io::Error,
    },
    /// The engine does not answer.
    #[error("`{engine} inspect {name}` has not answered for {} s", patience.as_secs())]
    Silent {
        /// Which one.
        engine: Engine,
        /// The container.
        name: String,
        /// How long it had.
        patience: Duration,
    },
    /// The engine knows no such container, or does not let the user ask.
    #[error("`{engine} inspect {name}`: {says}")]
    Refused {
        /// Which one.
        engine: Engine,
        /// The container.
        name: String,
        /// Its own words.
        says: String,
    },
    /// The container has no process.
    #[error("the container does not run: `{engine} start {name}` starts it")]
    Stopped {
        /// Which one.
        engine: Engine,
        /// The container.
        name: String,
    },
}

/// The namespace that a station is to be in. It is its owner's: nothing in it is changed but the station's interface.
pub fn open(station: &StationPlan, existing: &Existing) -> Result<Namespace, MakeError> {
    let opened = match &existing.netns {
        Netns::Named(name) => Namespace::open_listed(name).map_err(ExistingError::from),
        Netns::Path(path) => Namespace::open_path(Path::new(path)).map_err(ExistingError::from),
        Netns::Process(number) => Namespace::open_of_process(*number).map_err(ExistingError::from),
        Netns::Container { engine, name } => {
            process_of(*engine, name).and_then(|pid| Ok(Namespace::open_of_process(pid)?))
        }
    };
    let (station, netns) = (station.name.clone(), existing.netns.to_string());
    opened.map_err(|source| MakeError::Existing { station, netns, source })
}

/// Takes from the plan what these namespaces lack: where IPv6 is off, the station has no IPv6 address.
///
/// # Errors
/// As [`open`].
pub fn adapt(plan: &mut Plan) -> Result<(), MakeError> {
    plan.stations.iter_mut().try_for_each(adapt_station)
}

/// The same of one station.
///
/// # Errors
/// As [`open`].
pub fn adapt_station(station: &mut StationPlan) -> Result<(), MakeError> {
    let Host::Existing(existing) = &station.host else { return Ok(()) };
    let namespace = open(station, existing)?;
    let with_ipv6 = namespace.run(has_ipv6).map_err(|source| MakeError::Existing {
        station: station.name.clone(),
        netns: existing.netns.to_string(),
        source: source.into(),
    })?;
    if !with_ipv6 && station.addresses.iter().any(|network| network.address.is_ipv6()) {
        say(&without_ipv6(&station.name, &existing.netns));
        station.addresses.retain(|network| network.address.is_ipv4());
    }
    Ok(())
}

fn without_ipv6(station: &str, netns: &Netns) -> String {
    let remedy = match netns {
        Netns::Container { engine, .. } => {
            format!("; `{engine} run --sysctl net.ipv6.conf.all.disable_ipv6=0` switches it on")
        }
        Netns::Named(_) | Netns::Path(_) | Netns::Process(_) => String::new(),
    };
    format!("ethbus: IPv6 is off in the namespace {netns}, so {station} has no IPv6 address{remedy}\n")
}

/// The number of a container's first process.
///
/// # Errors
/// The engine cannot be asked, knows no such container, or the container does not run.
pub fn process_of(engine: Engine, name: &str) -> Result<u32, ExistingError> {
    let told = ask(engine, &["inspect", "--type", "container", "--format", "{{.State.Pid}}"], name, PATIENCE)?;
    match told.trim().parse() {
        Ok(pid) if pid > 0 => Ok(pid),
        Ok(_) | Err(_) => Err(ExistingError::Stopped { engine, name: name.to_owned() }),
    }
}

/// What an engine's program says within `patience` to these words about `name`, which comes after them.
///
/// # Errors
/// There is no such program, it does not answer, or it refuses.
pub fn ask(engine: Engine, words: &[&str], name: &str, patience: Duration) -> Result<String, ExistingError> {
    let mut command = Command::new(engine.to_string());
    command.args(words).arg(name);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|source| ExistingError::NoEngine { engine, source })?;
    let name = name.to_owned();
    // Read meanwhile, since a program with much to say waits for its reader.
    let told = child.stdout.take().map(reading);
    let complaint = child.stderr.take().map(reading);
    let Some(status) = ended(&mut child, patience) else {
        // Its end is waited for: nothing of it stays.
        let _ = child.kill().and_then(|()| child.wait());
        return Err(ExistingError::Silent { engine, name, patience });
    };
    if !status.success() {
        let says = text(complaint).lines().next().unwrap_or("no such container").to_owned();
        return Err(ExistingError::Refused { engine, name, says });
    }
    Ok(text(told))
}

/// The most octets of an answer: a network of a hundred thousand containers.
const LONGEST: u64 = 16 << 20;

/// Reads what a program says while it runs.
fn reading(stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        // Words that are no text are no answer.
        let _ = stream.take(LONGEST).read_to_string(&mut text);
        text
    })
}

/// What a program that has ended said.
fn text(reading: Option<JoinHandle<String>>) -> String {
    reading.and_then(|reading| reading.join().ok()).unwrap_or_default()
}
