//! The data plane: the process that holds the medium and moves the frames. It gets descriptors, and nothing else.
//!
//! ```text
//!   supervisor ──descriptors, Setup──► bus       one thread: ring → arrivals → medium → deliveries → kernel
//!        ▲                              │ bounded channels
//!        └──────── one JSON a line ─────┼── two threads: reads requests, writes reports
//!   traces ◄──────────── JSON Lines ────┴── a thread that writes them, if they are wanted
//! ```
//! It makes nothing that outlives it, so when it dies in any way the supervisor has everything to clean up.
//!
//! Frames come from untrusted hosts. So before this process reads the first one, it gives up all capabilities, all
//! descriptors that it does not use, and all system calls that a running bus does not make (docs/security.md).

mod coordinator;
pub mod delivery;
pub mod discards;
mod emulator;
pub mod filter;
mod learned;
pub mod messages;
mod overload;
pub mod ports;
mod precedence;
pub mod protocol;
mod punctual;
mod reporter;
pub mod seen;
mod stamp;
mod threads;
mod timeline;
mod watch;
pub mod writer;

use coordinator::{Coordinator, Sockets};
use delivery::Delivery;
use filter::Filter;
use link::Pid;
use link::channel::Channel;
use link::clock::{ClockMap, Priority, RealtimeNanos, limit_fifo, monotonic_nanos, raise_nice};
use link::confine::{self, ConfineError};
use link::fanout::{Copiers, Helper, Hub};
use link::netlink::{LinkMonitor, LinkWatch};
use link::packet::{Receiver, RingSize, Sender};
use precedence::Precedence;
use protocol::Setup;
use sim::files::observer::Both;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use writer::Writer;
use writer::captures::{self, Captures};

/// What threads are called that help to copy frames.
pub const COPIER: &str = "copier";

/// Why the data plane could not start, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BusError {
    /// It was not started by a supervisor.
    #[error("this command is started by ethbus itself; try `ethbus --help`")]
    NoSupervisor,
    /// The supervisor's first message makes no sense.
    #[error("the supervisor's message cannot be read")]
    Message(#[from] serde_json::Error),
    /// The configuration makes no medium.
    #[error("no medium")]
    Medium(#[from] medium::ConfigError),
    /// The kernel refused a socket or a wait.
    #[error("the data plane cannot go on")]
    Link(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl BusError {
    fn link(error: impl std::error::Error + Send + Sync + 'static) -> BusError {
        BusError::Link(Box::new(error))
    }
}

/// Runs the data plane until the supervisor says stop, or is gone.
///
/// # Errors
/// No supervisor at standard input, or a kernel that refuses what the data plane needs.
pub fn run() -> Result<(), BusError> {
    confine::close_inherited().map_err(BusError::link)?;
    let stdin = std::io::stdin().as_fd().try_clone_to_owned().map_err(|_| BusError::NoSupervisor)?;
    let (setup, descriptors) = receive_setup(stdin)?;
    confine::close_stdin().map_err(BusError::link)?;
    link::process::die_with_parent(Pid::from_raw(setup.supervisor)).map_err(BusError::link)?;
    let Descriptors { sockets: [receiver, sender, monitor, stream], memories, watch, files } = descriptors;
    let receiver = Receiver::new(receiver, RingSize::default()).map_err(BusError::link)?;
    let (sender, monitor) = (Sender::new(sender), LinkMonitor::from_fd(monitor));
    let precedence = precedence();
    let latency = latency(&setup);
    // A page of the program that is read from disk again is a stop of the medium. Most users without root may not keep it.
    let _ = link::memory::lock_present();
    // Each drops its own capabilities.
    let copiers = copiers(&setup, memories, &sender)?;
    let filter = watch.map(|watch| Filter::new(&setup.ports, LinkWatch::from_fd(watch), setup.filter));
    let delivery = Delivery::new(sender, copiers, setup.ports.len(), filter.unwrap_or_default());
    // Before there are other threads, since each has capabilities of its own.
    confine::drop_capabilities().map_err(BusError::link)?;
    let observers = reporter::start(UnixStream::from(stream), &setup).map_err(BusError::link)?;
    let begin = monotonic_nanos();
    let RealtimeNanos(epoch) = ClockMap::measure().to_realtime(begin);
    let known = Arc::new(setup.known(epoch)?);
    let writer = Writer::start(&setup, &known, files, &observers.reports).map_err(BusError::link)?;
    let files = Both(writer, Captures::start(known).map_err(BusError::link)?);
    let sockets = Sockets { receiver, delivery, monitor };
    let mut coordinator = Coordinator::new(setup, begin, precedence, sockets, observers, files)?;
    coordinator.say_latency(latency);
    confine::allow_no_more(captures::MOST).map_err(BusError::link)?;
    coordinator.run()
}

/// Puts this thread, which will be the coordinator's, ahead of others, and keeps what it may do about that later.
fn precedence() -> Precedence {
    let ordinary = match raise_nice() {
        Priority::Fifo => "SCHED_FIFO".to_owned(),
        Priority::Nice(nice) => format!("nice {nice}"),
        Priority::Normal => "normal".to_owned(),
    };
    // Without the limit it is as it was before there was SCHED_FIFO.
    Precedence::new(ordinary, limit_fifo().is_ok(), monotonic_nanos())
}

/// Gets what is spent on being punctual, as far as the machine gives it, and says what that is.
fn latency(setup: &Setup) -> String {
    let latency = setup.pace.latency;
    let bound = latency.processor.is_some_and(|number| link::process::bind_to_processor(number).is_ok());
    punctual::in_words(latency, setup.awake, link::load::huge_pages_on_request(), bound)
}

/// Has the kernel copy frames behind the setup's hubs, if there are any, with the help of other processors.
fn copiers(setup: &Setup, memories: Vec<OwnedFd>, sender: &Sender) -> Result<Option<Copiers>, BusError> {
    if setup.hubs.is_empty() {
        return Ok(None);
    }
    let hubs = setup.hubs.iter().zip(memories).map(|(&index, memory)| Hub { index, memory }).collect();
    let mut copiers = Copiers::new(hubs, setup.ports.len()).map_err(BusError::link)?;
    // A user who wants the data plane on one processor wants all of it there.
    let wanted = match setup.pace.latency.processor {
        Some(_) => 0,
        None => copiers.helpers_wanted(std::thread::available_parallelism().map_or(1, usize::from)),
    };
    for _ in 0..wanted {
        let helper = copiers.helper(sender.try_clone().map_err(BusError::link)?);
        let (thread, confined) =
            threads::start_prepared(COPIER, prepare_helper, || Helper::run(helper)).map_err(BusError::link)?;
        confined.map_err(BusError::link)?;
        copiers.helped_by(thread.thread().clone());
    }
    Ok(Some(copiers))
}

/// What a helper does before it begins: a thread has a place and capabilities of its own.
fn prepare_helper() -> Result<(), ConfineError> {
    // Without the right to a higher priority, the helper runs at its own.
    let _ = raise_nice();
    confine::drop_capabilities()
}

/// How many descriptors come with every setup.
const SOCKETS: usize = 4;

/// What comes with a setup, in this order.
struct Descriptors {
    /// Receiver, sender, monitor, stream.
    sockets: [OwnedFd; SOCKETS],
    /// What each hub's program shares.
    memories: Vec<OwnedFd>,
    /// The monitor of the stations' interfaces, if there is a filter.
    watch: Option<OwnedFd>,
    /// The outputs.
    files: Vec<OwnedFd>,
}

fn receive_setup(stdin: OwnedFd) -> Result<(Setup, Descriptors), BusError> {
    let mut message = Vec::new();
    let received = Channel::from_fd(stdin).receive_with_fds(&mut message);
    let Ok(Some((_, mut descriptors))) = received else { return Err(BusError::NoSupervisor) };
    let setup: Setup = serde_json::from_slice(&message)?;
    let mut others = descriptors.split_off(SOCKETS.min(descriptors.len())).into_iter();
    let sockets = <[OwnedFd; SOCKETS]>::try_from(descriptors).map_err(|_| BusError::NoSupervisor)?;
    let mut next = |wanted: usize| {
        let found: Vec<OwnedFd> = others.by_ref().take(wanted).collect();
        if found.len() == wanted { Ok(found) } else { Err(BusError::NoSupervisor) }
    };
    let memories = next(setup.hubs.len())?;
    let watch = next(usize::from(setup.watched))?.pop();
    Ok((setup, Descriptors { sockets, memories, watch, files: others.collect() }))
}
