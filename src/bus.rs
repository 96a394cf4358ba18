//! The data plane: the process that holds the medium and moves the frames. It gets descriptors, and nothing else.
//!
//! ```text
//!   supervisor ──descriptors, Setup──► bus       one thread: ring → arrivals → medium → deliveries → kernel
//!        ▲                              │ bounded channels
//!        └──────── one JSON a line ─────┼── two threads: reads requests, writes reports
//!   record, event log ◄── JSON Lines ────┴── a thread that writes them, if they are wanted
//! ```
//! It makes nothing that outlives it, so when it dies in any way the supervisor has everything to clean up.

mod coordinator;
mod emulator;
mod overload;
mod ports;
pub mod protocol;
mod reporter;
mod timeline;
mod writer;

use coordinator::Coordinator;
use link::Pid;
use link::channel::Channel;
use link::netlink::LinkMonitor;
use link::packet::{Receiver, RingSize, Sender};
use protocol::Setup;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use writer::Writer;

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
    let stdin = std::io::stdin().as_fd().try_clone_to_owned().map_err(|_| BusError::NoSupervisor)?;
    let (setup, descriptors) = receive_setup(stdin)?;
    link::process::die_with_parent(Pid::from_raw(setup.supervisor)).map_err(BusError::link)?;
    let ([receiver, sender, monitor, stream], files) = descriptors;
    let receiver = Receiver::new(receiver, RingSize::default()).map_err(BusError::link)?;
    let (sender, monitor) = (Sender::new(sender), LinkMonitor::from_fd(monitor));
    let observers = reporter::start(UnixStream::from(stream), &setup).map_err(BusError::link)?;
    let writer = Writer::start(&setup, files).map_err(BusError::link)?;
    Coordinator::new(setup, receiver, sender, monitor, observers, writer)?.run()
}

/// How many descriptors come with the setup, besides those of its outputs: receiver, sender, monitor, stream.
const DESCRIPTORS: usize = 4;

type Descriptors = ([OwnedFd; DESCRIPTORS], Vec<OwnedFd>);

fn receive_setup(stdin: OwnedFd) -> Result<(Setup, Descriptors), BusError> {
    let mut message = Vec::new();
    let received = Channel::from_fd(stdin).receive_with_fds(&mut message);
    let Ok(Some((_, mut descriptors))) = received else { return Err(BusError::NoSupervisor) };
    let files = descriptors.split_off(DESCRIPTORS.min(descriptors.len()));
    let descriptors = <[OwnedFd; DESCRIPTORS]>::try_from(descriptors).map_err(|_| BusError::NoSupervisor)?;
    Ok((serde_json::from_slice(&message)?, (descriptors, files)))
}
