//! All kernels of a lab: some run at once, each for as long as the caller lets it.

mod started;

use crate::calendar::{KERNEL, Page};
use crate::card::{Card, CardError, Wants};
use crate::message::{CALENDAR, Calendar, Operation};
use crate::process::{self, Common, Station};
use crate::rings::Sent;
use crate::sys;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use started::{Started, end};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How often a run that takes long is looked at.
const LOOK: u16 = 200;
/// The lab's time of day at instant 0: 2001-09-09 01:46:40, a round number of nanoseconds.
pub const EPOCH: u64 = 1_000_000_000_000_000_000;

/// What the stations' cards lead to.
pub trait Wire {
    /// Takes what `station` sends at `now`, which may be later than what other stations send next. Gives an instant before
    /// which nothing that comes of it reaches the station.
    fn send(&mut self, station: usize, now: u64, frames: Vec<Sent>) -> u64;
    /// Whether the lab is to end at once, asked now and then while a kernel runs.
    fn is_interrupted(&self) -> bool;
}

/// Why the kernels could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The system refused something.
    #[error("cannot {call}")]
    System {
        /// What was tried.
        call: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A kernel ended or was silent before it asked for the calendar.
    #[error("the kernel of {station} does not start ({how}): {}", told(said))]
    Silent {
        /// The station.
        station: String,
        /// How it ended.
        how: String,
        /// The last line that it said.
        said: String,
    },
}

fn told(said: &str) -> &str {
    if said.is_empty() { "it says nothing; it needs ptrace or seccomp, which some containers forbid" } else { said }
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A program of the station computes for ever, or polls something other than the clock.
    #[error("{station} does not yield: it has run {} s without a pause, last seen at {:.6} s of virtual time", wall.as_secs(), *at as f64 / 1e9)]
    NeverYields {
        /// The station.
        station: String,
        /// Its instant, in nanoseconds.
        at: u64,
        /// How long it has run.
        wall: Duration,
    },
    /// A kernel said what no kernel of ours says.
    #[error("the kernel of {station} sent {what}")]
    Wrong {
        /// The station.
        station: String,
        /// What.
        what: &'static str,
    },
    /// The system refused something.
    #[error("cannot talk to the kernel of {station}")]
    System {
        /// The station.
        station: String,
        /// What the system said.
        source: io::Error,
    },
    /// The caller wanted the end.
    #[error("interrupted")]
    Interrupted,
}

/// One kernel.
#[derive(Debug)]
struct Kernel {
    name: String,
    process: Child,
    page: Page,
    calendar: UnixStream,
    card: Card,
    /// Where commands reach it.
    console: Card,
    /// The instant at which it is switched on, and from which it counts its own time.
    begins: u64,
    /// Its START, until then.
    start: Option<Calendar>,
    is_alive: bool,
    /// The real time in which it ran.
    took: Duration,
}

/// A stretch of virtual time, in nanoseconds, in which a kernel may run: nothing else reaches it there.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// The station.
    pub station: usize,
    /// When it wants to run.
    pub from: u64,
    /// It does not get to this.
    pub limit: u64,
}

/// A kernel that runs.
#[derive(Debug)]
struct Running {
    station: usize,
    begun: Instant,
    /// Virtual time got to `at` then.
    since: Instant,
    at: u64,
}

/// All kernels of a lab.
#[derive(Debug)]
pub struct Kernels {
    kernels: Vec<Kernel>,
    /// What the kernels would log about the page.
    nowhere: File,
    /// How long a kernel may run without yielding.
    patience: Duration,
    /// How many kernels run at once at most.
    at_once: usize,
    /// How many times a kernel has run.
    runs: u64,
}

impl Kernels {
    /// Starts a kernel for each station in the private `folder`, with its memory in files in the folder `memory`. All wait to
    /// be switched on.
    ///
    /// # Errors
    /// The system refuses, or a kernel does not start.
    pub fn start(
        kernel: &Path,
        (folder, memory): (&Path, &Path),
        clock_cost: u64,
        patience: Duration,
        stations: Vec<Station>,
    ) -> Result<Kernels, StartError> {
        let system = |call| move |source| StartError::System { call, source };
        let listener = UnixListener::bind(folder.join("calendar")).map_err(system("make a socket"))?;
        let common = Common { kernel, folder, memory, clock_cost };
        let mut started = Started(Vec::new());
        for (number, station) in stations.iter().enumerate() {
            let device = |name: &str, mac| {
                let socket = UnixListener::bind(folder.join(format!("{name}{}", number + 1)));
                socket.map(|socket| Card::new(socket, mac)).map_err(system("make a socket"))
            };
            let (card, console) = (device("card", Some(station.mac))?, device("console", None)?);
            let process = process::start(&common, number, station).map_err(system("start a kernel"))?;
            started.0.push((process, card, console));
        }
        let mut starts: Vec<Option<(UnixStream, Calendar)>> = stations.iter().map(|_| None).collect();
        while starts.iter().any(Option::is_none) {
            let (socket, message) = started.next(&listener, &stations, &starts)?;
            let number = (message.time as usize).wrapping_sub(1);
            let place = starts.get_mut(number).filter(|place| place.is_none() && message.operation == Operation::Start);
            let unexpected = || system("take a kernel's START")(io::ErrorKind::InvalidData.into());
            *place.ok_or_else(unexpected)? = Some((socket, message));
        }
        let nowhere = File::options().write(true).open("/dev/null").map_err(system("open /dev/null"))?;
        let mut kernels = Vec::with_capacity(stations.len());
        let all = stations.into_iter().zip(std::mem::take(&mut started.0)).zip(starts);
        for ((station, (process, card, console)), start) in all {
            let (calendar, start) = start.expect("each has started");
            let page = Page::new().map_err(system("make a kernel's calendar"))?;
            let (name, begins, start, took) = (station.name, station.begins, Some(start), Duration::ZERO);
            kernels.push(Kernel { name, process, page, calendar, card, console, begins, start, is_alive: true, took });
        }
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Kernels { kernels, nowhere, patience, at_once, runs: 0 })
    }

    /// The last instant, in nanoseconds, that a station's kernel has told: it passes time on its own, and tells of it only
    /// when it sends.
    pub fn told(&self, station: usize) -> u64 {
        self.kernels[station].page.now()
    }

    /// How many times a kernel has run.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// The real time in which a station's kernel has run.
    pub fn took(&self, station: usize) -> Duration {
        self.kernels[station].took
    }

    /// Whether a station's kernel is there.
    pub fn is_alive(&self, station: usize) -> bool {
        self.kernels[station].is_alive
    }

    /// Notes kernels that were killed while they waited. A kernel that ends by itself does so while it runs.
    pub fn look_for_ended(&mut self) {
        for station in 0..self.kernels.len() {
            let kernel = &mut self.kernels[station];
            if kernel.is_alive && matches!(kernel.process.try_wait(), Ok(Some(_))) {
                self.ended(station);
            }
        }
    }

    /// How a station's kernel ended, if it has.
    pub fn end_of(&mut self, station: usize) -> Option<ExitStatus> {
        self.kernels[station].process.wait().ok().filter(|_| !self.kernels[station].is_alive)
    }

    /// The kernel that runs next, and when; at one instant the one with the lowest number.
    pub fn next(&self) -> Option<(u64, usize)> {
        (0..self.kernels.len()).filter_map(|station| Some((self.request(station)?, station))).min()
    }

    /// When the kernel of each station wants to run next, if it has a wish.
    pub fn requests(&self) -> impl Iterator<Item = Option<u64>> {
        (0..self.kernels.len()).map(|station| self.request(station))
    }

    fn request(&self, station: usize) -> Option<u64> {
        let kernel = &self.kernels[station];
        kernel.start.map(|_| kernel.begins).or_else(|| kernel.page.request()).filter(|_| kernel.is_alive)
    }

    /// An instant that no kernel has got to.
    pub fn free_until(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.page.free_until()).max().unwrap_or(0)
    }

    /// Runs kernels until each waits or ends, before its limit at the latest; some at once. What they send comes to the wire in
    /// no order.
    ///
    /// # Errors
    /// One does not yield, or says what no kernel says.
    pub fn run(&mut self, stretches: &[Stretch], wire: &mut impl Wire) -> Result<(), RunError> {
        self.runs += stretches.len() as u64;
        let (mut stretches, mut running) = (stretches.iter(), Vec::new());
        loop {
            while running.len() < self.at_once
                && let Some(stretch) = stretches.next()
            {
                running.extend(self.begin(stretch)?);
            }
            if running.is_empty() {
                return Ok(());
            }
            self.serve(&mut running, wire)?;
        }
    }

    /// Has a kernel run; nothing if it has ended.
    fn begin(&mut self, stretch: &Stretch) -> Result<Option<Running>, RunError> {
        let Stretch { station, from, limit } = *stretch;
        let kernel = &mut self.kernels[station];
        // Kernels take instants for signed numbers.
        kernel.page.run(from, limit.min(i64::MAX as u64));
        // Instants on the page are the lab's, and those in messages the kernel's own.
        let first = Calendar { operation: Operation::Run, sequence: 0, time: from - kernel.begins };
        let sent = match kernel.start.take() {
            None => sys::send(&kernel.calendar, &first.written(), &[]),
            Some(start) => {
                let answer = Calendar { operation: Operation::Acknowledge, time: KERNEL, ..start };
                sys::send(&kernel.calendar, &answer.written(), &[kernel.page.as_fd(), self.nowhere.as_fd()])
            }
        };
        let now = Instant::now();
        match sent {
            Ok(true) => Ok(Some(Running { station, begun: now, since: now, at: from })),
            Ok(false) => {
                self.ended(station);
                Ok(None)
            }
            Err(source) => Err(RunError::System { station: kernel.name.clone(), source }),
        }
    }

    /// Serves those of the running kernels that say something next. Those that wait then run no longer.
    fn serve(&mut self, running: &mut Vec<Running>, wire: &mut impl Wire) -> Result<(), RunError> {
        let source = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let kernels = running.iter().map(|it| &self.kernels[it.station]);
        let mut sources: Vec<PollFd<'_>> = kernels
            .flat_map(|it| [source(it.card.source()), source(it.console.source()), source(it.calendar.as_fd())])
            .collect();
        match poll(&mut sources, PollTimeout::from(LOOK)) {
            Ok(0) | Err(nix::Error::EINTR) => {
                if wire.is_interrupted() {
                    return Err(RunError::Interrupted);
                }
                return running.iter_mut().try_for_each(|it| self.look_at(it));
            }
            Err(error) => {
                let station = self.kernels[running[0].station].name.clone();
                return Err(RunError::System { station, source: error.into() });
            }
            Ok(_) => {}
        }
        let says: Vec<bool> = sources.iter().map(|source| source.any().unwrap_or(true)).collect();
        let mut says = says.chunks_exact(3);
        let mut failed = Ok(());
        running.retain(|it| {
            let says = says.next().expect("one for each");
            let served = match says {
                [true, ..] => self.serve_card(it.station, wire).map(|()| true),
                [_, true, _] => self.serve_console(it.station).map(|()| true),
                [_, _, true] => self.serve_calendar(it.station),
                _ => Ok(true),
            };
            if !matches!(served, Ok(true)) {
                self.kernels[it.station].took += it.begun.elapsed();
            }
            served.unwrap_or_else(|error| {
                failed = Err(error);
                false
            })
        });
        failed
    }

    /// Looks whether virtual time passes.
    fn look_at(&self, running: &mut Running) -> Result<(), RunError> {
        let Kernel { page, name, .. } = &self.kernels[running.station];
        let now = page.now();
        if now > running.at {
            (running.since, running.at) = (Instant::now(), now);
        }
        let wall = running.since.elapsed();
        if wall <= self.patience { Ok(()) } else { Err(RunError::NeverYields { station: name.clone(), at: now, wall }) }
    }

    /// Takes one message of the calendar: whether the kernel runs on.
    fn serve_calendar(&mut self, station: usize) -> Result<bool, RunError> {
        let kernel = &self.kernels[station];
        let system = |source: io::Error| RunError::System { station: kernel.name.clone(), source };
        let mut octets = [0; CALENDAR];
        if !sys::receive(&kernel.calendar, &mut octets, &mut Vec::new()).map_err(system)? {
            self.ended(station);
            return Ok(false);
        }
        let message = Calendar::read(octets);
        let time = match message.operation {
            Operation::Acknowledge => return Ok(true),
            Operation::Wait => return Ok(false),
            Operation::TimeOfDay => EPOCH + kernel.begins,
            Operation::Get => kernel.page.now() - kernel.begins,
            Operation::Start | Operation::Run | Operation::Other(_) => message.time,
        };
        let answer = Calendar { operation: Operation::Acknowledge, time, ..message };
        sys::send(&kernel.calendar, &answer.written(), &[]).map_err(system)?;
        Ok(true)
    }

    fn serve_card(&mut self, station: usize, wire: &mut impl Wire) -> Result<(), RunError> {
        let kernel = &mut self.kernels[station];
        let served = kernel.card.serve().and_then(|wants| {
            if let Wants::Send(answer) = wants {
                let frames = std::iter::from_fn(|| kernel.card.next()).collect();
                kernel.page.limit(wire.send(station, kernel.page.now(), frames));
                kernel.card.acknowledge(answer)?;
            }
            Ok(())
        });
        served.map_err(|error| self.wrong(station, error))
    }

    /// What a kernel writes to its console is the echo of what it was told.
    fn serve_console(&mut self, station: usize) -> Result<(), RunError> {
        let console = &mut self.kernels[station].console;
        let served = console.serve().and_then(|wants| {
            if let Wants::Send(answer) = wants {
                console.drain();
                console.acknowledge(answer)?;
            }
            Ok(())
        });
        served.map_err(|error| self.wrong(station, error))
    }

    /// Something is about to happen to a kernel that waits at `now`. Whether it is there.
    fn interrupt(&self, station: usize, now: u64) -> bool {
        let Kernel { page, name, is_alive, .. } = &self.kernels[station];
        assert!(now >= page.free_until(), "{name} may have got to {}, and is interrupted at {now}", page.free_until());
        page.stop(now);
        *is_alive
    }

    /// Has a station read a line from its console at `now`: whether it had room for it.
    ///
    /// # Errors
    /// Its socket fails.
    pub fn tell(&mut self, station: usize, now: u64, line: &str) -> Result<bool, RunError> {
        if !self.interrupt(station, now) {
            return Ok(false);
        }
        let received = self.kernels[station].console.receive(line.as_bytes());
        self.received(station, received)
    }

    /// The wire is done at `now` with the frame of a station whose descriptor is `head`.
    ///
    /// # Errors
    /// Its socket fails.
    pub fn done(&mut self, station: usize, now: u64, head: u16) -> Result<(), RunError> {
        if self.interrupt(station, now) {
            let done = self.kernels[station].card.done(head);
            self.answered(station, done)?;
        }
        Ok(())
    }

    /// A frame arrives at a station at `now`: whether it had a buffer for it.
    ///
    /// # Errors
    /// Its socket fails.
    pub fn receive(&mut self, station: usize, now: u64, frame: &[u8]) -> Result<bool, RunError> {
        // One that is not switched on has no buffers.
        if !self.interrupt(station, now) {
            return Ok(false);
        }
        let received = self.kernels[station].card.receive(frame);
        self.received(station, received)
    }

    fn received(&mut self, station: usize, received: io::Result<Option<bool>>) -> Result<bool, RunError> {
        let taken = !matches!(received, Ok(None));
        self.answered(station, received.map(|alive| alive.unwrap_or(true)))?;
        Ok(taken)
    }

    fn answered(&mut self, station: usize, answered: io::Result<bool>) -> Result<(), RunError> {
        match answered {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.ended(station);
                Ok(())
            }
            Err(source) => Err(RunError::System { station: self.kernels[station].name.clone(), source }),
        }
    }

    fn wrong(&self, station: usize, error: CardError) -> RunError {
        let station = self.kernels[station].name.clone();
        match error {
            CardError::Io(source) => RunError::System { station, source },
            CardError::Wrong(wrong) => RunError::Wrong { station, what: wrong.0 },
        }
    }

    fn ended(&mut self, station: usize) {
        self.kernels[station].is_alive = false;
        self.kernels[station].page.forget();
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        self.kernels.iter_mut().for_each(|kernel| end(&mut kernel.process));
    }
}
