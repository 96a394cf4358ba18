//! The supervisor's side of the data plane: starts it, asks it, ends it, and notices when it dies.
//!
//! The plane of a live bus is a process (`process.rs`), that of a lab in virtual time a thread (`thread.rs`). Both get the
//! same requests and tell the same reports.

mod process;
pub mod thread;

use crate::keeper::Keeper;
use crate::lab::Segment;
use crate::plane::protocol::{Request, Setup, Told};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use link::Pid;
use link::channel::ChannelError;
use link::load::Awake;
use medium::{Deed, StationId};
use process::{Process, manner};
use say::say;
use sim::figures::results::Results;
use sim::windows::capture::Wish;
use sim::words::choices::PortState;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thread::{Ends, Thread};

/// Why there is no data plane, or no answer from it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SupervisorError {
    /// The process could not be started.
    #[error("cannot start the data plane")]
    Start(#[source] io::Error),
    /// The setup could not be handed over.
    #[error("cannot hand the bus over to the data plane")]
    Setup(#[from] ChannelError),
    /// The data plane ended without being asked to.
    #[error("the data plane ended unexpectedly ({})", status.map_or("still running".to_owned(), manner))]
    Died {
        /// How.
        status: Option<ExitStatus>,
    },
    /// The data plane is a thread, and ended with an error.
    #[error("{why}")]
    Ended {
        /// The error.
        why: String,
    },
    /// The data plane did not answer in time.
    #[error("the data plane did not answer within {} seconds", patience.as_secs())]
    Silent {
        /// How long it was waited for.
        patience: Duration,
    },
}

/// A running data plane. Ended when dropped.
#[derive(Debug)]
pub struct DataPlane {
    way: Way,
    told: Receiver<Told>,
    /// What was told while something else was waited for.
    set_aside: VecDeque<Told>,
    /// How long it may take to answer.
    patience: Duration,
    /// Takes the last seconds, if they are kept.
    keeper: Option<Arc<Keeper>>,
}

/// What a plane is.
#[derive(Debug)]
enum Way {
    Process(Process),
    Thread(Thread),
}

/// Octets of results that may be on their way: those of 1,024 stations take 1.5 MB.
pub const RESULTS: usize = 4 << 20;

impl DataPlane {
    /// How long it may take to answer, or to read what it is asked.
    pub const PATIENCE: Duration = Duration::from_secs(10);

    fn new(way: Way, told: Receiver<Told>, patience: Duration) -> DataPlane {
        DataPlane { way, told, set_aside: VecDeque::new(), patience, keeper: None }
    }

    /// Starts the data plane for a segment, and waits until its medium runs.
    ///
    /// It gets copies of the segment's sockets and of the outputs that the setup names, and an empty environment. What it
    /// writes to standard error is passed on as plain text: it never has the user's terminal, which could be read from, too.
    /// It dies when the calling thread ends.
    ///
    /// # Errors
    /// A process that cannot be started, or that ends at once.
    pub fn start(setup: &Setup, segment: &Segment, outputs: &[File]) -> Result<DataPlane, SupervisorError> {
        let (process, told) = Process::start(setup, segment, outputs)?;
        DataPlane::new(Way::Process(process), told, Self::PATIENCE).begun()
    }

    /// Starts a plane in a thread of this process, and waits until its medium runs. It may take `patience` for a step.
    ///
    /// # Errors
    /// The kernel gives no thread; or what the plane says.
    pub fn within(
        patience: Duration,
        plane: impl FnOnce(Ends) -> Result<(), String> + Send + 'static,
    ) -> Result<DataPlane, SupervisorError> {
        let (thread, told) = Thread::start(plane).map_err(SupervisorError::Start)?;
        DataPlane::new(Way::Thread(thread), told, patience + Self::PATIENCE).begun()
    }

    fn begun(mut self) -> Result<DataPlane, SupervisorError> {
        self.wait_for(|told| matches!(told, Told::Ready).then_some(()))?;
        Ok(self)
    }

    /// How long it may take to answer.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// What it told while something else was waited for. It comes before all of [`DataPlane::told`].
    pub fn set_aside(&mut self) -> Option<Told> {
        self.set_aside.pop_front()
    }

    /// Everything the data plane tells, for those who wait for several things at once.
    pub fn told(&self) -> &Receiver<Told> {
        &self.told
    }

    /// From now on `keeper` takes the last seconds.
    pub fn keep_with(&mut self, keeper: Arc<Keeper>) {
        self.keeper = Some(keeper);
    }

    /// What takes the last seconds, if they are kept.
    pub fn keeper(&self) -> Option<Arc<Keeper>> {
        self.keeper.clone()
    }

    /// The number of the process that has the medium.
    pub fn pid(&self) -> Pid {
        match &self.way {
            Way::Process(process) => process.pid(),
            Way::Thread(_) => Pid::this(),
        }
    }

    /// Lets the processors sleep deeply, until [`DataPlane::awaken`]; whether they were kept from it.
    pub fn let_sleep(&mut self) -> bool {
        self.awake().is_some_and(|awake| awake.take().is_some())
    }

    /// Keeps the processors from sleeping deeply again.
    pub fn awaken(&mut self) {
        if let Some(awake) = self.awake() {
            *awake = Awake::hold().ok();
        }
    }

    fn awake(&mut self) -> Option<&mut Option<Awake>> {
        match &mut self.way {
            Way::Process(process) => Some(&mut process.awake),
            Way::Thread(_) => None,
        }
    }

    /// Asks without waiting.
    ///
    /// # Errors
    /// The data plane is gone.
    pub fn ask(&mut self, request: Request) -> Result<(), SupervisorError> {
        self.ask_with(request, None)
    }

    /// Has it write `answer` and a capture to `stream`, until the other end sends no more or the bus ends.
    ///
    /// # Errors
    /// The data plane is gone, or this process has no descriptor to spare.
    pub fn capture(&mut self, wish: Wish, answer: String, stream: &UnixStream) -> Result<(), SupervisorError> {
        self.ask_with(Request::Capture(wish, answer), Some(stream))
    }

    /// Has a station of a virtual lab begin a command, whose output goes to `stream`, and whose input may come from there.
    ///
    /// # Errors
    /// As [`DataPlane::capture`].
    pub fn command(
        &mut self,
        station: u16,
        command: String,
        has_input: bool,
        stream: &UnixStream,
    ) -> Result<(), SupervisorError> {
        self.ask_with(Request::Command(station, command, has_input), Some(stream))
    }

    fn ask_with(&mut self, request: Request, stream: Option<&UnixStream>) -> Result<(), SupervisorError> {
        let taken = match &mut self.way {
            Way::Process(process) => process.ask(&request, stream)?,
            Way::Thread(thread) => {
                let stream = stream.map(|stream| stream.as_fd().try_clone_to_owned()).transpose();
                thread.ask((request, stream.map_err(SupervisorError::Start)?))
            }
        };
        if taken { Ok(()) } else { Err(self.died()) }
    }

    /// Has a station leave, and waits until it is off the medium: the end of its link is then no news.
    ///
    /// # Errors
    /// The data plane is gone or does not answer.
    pub fn leave(&mut self, station: StationId) -> Result<(), SupervisorError> {
        self.ask(Request::Deed(Deed::Remove { station }))?;
        let end = Instant::now() + self.patience;
        loop {
            match self.receive(end)? {
                Told::Left => return Ok(()),
                told => self.set_aside.push_back(told),
            }
        }
    }

    /// Has it count from zero.
    ///
    /// # Errors
    /// The data plane is gone or does not answer.
    pub fn restart(&mut self) -> Result<(), SupervisorError> {
        self.ask(Request::Restart)?;
        self.wait_for(|told| matches!(told, Told::Restarted).then_some(()))
    }

    /// Its results so far.
    ///
    /// # Errors
    /// The data plane is gone or does not answer.
    pub fn report(&mut self) -> Result<Results, SupervisorError> {
        self.ask(Request::Report)?;
        self.wait_for(results)
    }

    /// Ends it, and gives its last results and what else is wrong with its run.
    ///
    /// # Errors
    /// The data plane is gone or does not answer.
    pub fn stop(mut self) -> Result<(Results, Option<String>), SupervisorError> {
        self.ask(Request::Stop)?;
        if let Way::Thread(thread) = &self.way {
            thread.hurry();
        }
        let results = self.wait_for(results)?;
        let wrong = match &mut self.way {
            Way::Process(process) => {
                process.leave();
                None
            }
            Way::Thread(thread) => thread.end(),
        };
        Ok((results, wrong))
    }

    /// What its end looks like from here.
    pub fn died(&mut self) -> SupervisorError {
        match &mut self.way {
            Way::Process(process) => SupervisorError::Died { status: process.end() },
            Way::Thread(thread) => match thread.end() {
                Some(why) => SupervisorError::Ended { why },
                None => SupervisorError::Died { status: None },
            },
        }
    }

    fn wait_for<T>(&mut self, want: fn(Told) -> Option<T>) -> Result<T, SupervisorError> {
        let end = Instant::now() + self.patience;
        loop {
            match self.set_aside().map_or_else(|| self.receive(end), Ok)? {
                Told::Port { station, state } => say_port(&station, state),
                Told::Trouble(what) => say_trouble(&what),
                Told::Kept(kept) => self.keeper.iter().for_each(|keeper| keeper.told(kept.clone())),
                told => {
                    if let Some(wanted) = want(told) {
                        return Ok(wanted);
                    }
                }
            }
        }
    }

    /// What it tells next, until `end`.
    fn receive(&mut self, end: Instant) -> Result<Told, SupervisorError> {
        match self.told.recv_deadline(end) {
            Ok(told) => Ok(told),
            Err(RecvTimeoutError::Timeout) => Err(SupervisorError::Silent { patience: self.patience }),
            Err(RecvTimeoutError::Disconnected) => Err(self.died()),
        }
    }
}

fn results(told: Told) -> Option<Results> {
    match told {
        Told::Results(results) => Some(*results),
        Told::Ready
        | Told::Restarted
        | Told::Calm
        | Told::Progress(_)
        | Told::Queues(_)
        | Told::Clock(_)
        | Told::Left
        | Told::Seen(_)
        | Told::Discards(_)
        | Told::Kept(_)
        | Told::Trouble(_)
        | Told::Overload { .. }
        | Told::Port { .. }
        | Told::Gone(_)
        | Told::Off(_) => None,
    }
}

/// Tells the user that a station's interface changed.
pub fn say_port(station: &str, state: PortState) {
    let what = match state {
        PortState::Up => "is back on the medium: its interface is up",
        PortState::Down => "is off the medium: its interface went down",
        PortState::Gone => "is off the medium: its interface or namespace is gone",
        PortState::Attached => "is back on the medium: it was attached",
        PortState::Detached => "is off the medium: it was detached",
    };
    say(&format!("ethbus: {station} {what}\n"));
}

/// Tells the user that the machine did not keep up in the last second.
pub fn say_overload(slip_ns: u64, drops: u64) {
    let slip = format!("the medium's time stood still for {:.1} ms of the last second", slip_ns as f64 / 1e6);
    let drops_text = match drops {
        1 => "1 delivery of the last second was too late and dropped".to_owned(),
        drops => format!("{drops} deliveries of the last second were too late and dropped"),
    };
    let what: Vec<String> = [(slip_ns, slip), (drops, drops_text)]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, text)| text)
        .collect();
    say(&format!("ethbus: the machine does not keep up: {}\n", what.join("; ")));
}

/// Tells the user of [`Told::Trouble`].
pub fn say_trouble(what: &str) {
    say(&format!("ethbus: {what}\n"));
}
