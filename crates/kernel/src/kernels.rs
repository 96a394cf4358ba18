//! All kernels of a lab: one runs at a time, for as long as the calendar lets it.

use crate::calendar::Page;
use crate::card::{Card, CardError, Wants};
use crate::message::{CALENDAR, Calendar, Operation};
use crate::process::{self, Common, Station};
use crate::sys;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How long a kernel may take from its start to its first message.
const FIRST_MESSAGE: Duration = Duration::from_secs(20);
/// How often a run that takes long is looked at.
const LOOK: u16 = 200;
/// The lab's time of day at instant 0: 2001-09-09 01:46:40, a round number of nanoseconds.
pub const EPOCH: u64 = 1_000_000_000_000_000_000;

/// What the stations' cards lead to.
pub trait Wire {
    /// How many more frames of `station` it takes now.
    fn room(&self, station: usize) -> usize;
    /// Takes a frame at `now`, whose descriptor has number `head`.
    fn frame(&mut self, station: usize, now: u64, octets: Vec<u8>, head: u16);
    /// The next instant at which it has something for a kernel.
    fn next(&self) -> Option<u64>;
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
    calendar: UnixStream,
    card: Card,
    /// Where commands reach it.
    console: Card,
    /// The instant at which it is switched on, and from which it counts its own time.
    begins: u64,
    /// Its START, until then.
    start: Option<Calendar>,
    is_alive: bool,
}

/// All kernels of a lab, and their page.
#[derive(Debug)]
pub struct Kernels {
    page: Page,
    kernels: Vec<Kernel>,
    /// What the kernels would log about the page.
    nowhere: File,
    /// How long a kernel may run without yielding.
    patience: Duration,
    /// How many times a kernel has run.
    runs: u64,
}

impl Kernels {
    /// Starts a kernel for each station in the private `folder`. All wait to be switched on.
    ///
    /// # Errors
    /// The system refuses, or a kernel does not start.
    pub fn start(
        kernel: &Path,
        folder: &Path,
        clock_cost: u64,
        patience: Duration,
        stations: Vec<Station>,
    ) -> Result<Kernels, StartError> {
        let system = |call| move |source| StartError::System { call, source };
        let page = Page::new(stations.len()).map_err(system("make the kernels' calendar"))?;
        let listener = UnixListener::bind(folder.join("calendar")).map_err(system("make a socket"))?;
        let common = Common { kernel, folder, clock_cost };
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
            let (name, begins, start) = (station.name, station.begins, Some(start));
            kernels.push(Kernel { name, process, calendar, card, console, begins, start, is_alive: true });
        }
        Ok(Kernels { page, kernels, nowhere, patience, runs: 0 })
    }

    /// The instant, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.page.now()
    }

    /// How many times a kernel has run.
    pub fn runs(&self) -> u64 {
        self.runs
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

    fn request(&self, station: usize) -> Option<u64> {
        let kernel = &self.kernels[station];
        let asked = || self.page.request(station);
        kernel.start.map(|_| kernel.begins).or_else(asked).filter(|_| kernel.is_alive)
    }

    /// An instant that no kernel has got to. A kernel passes time on its own, and tells [`Kernels::now`] of it only when it
    /// sends.
    pub fn free_until(&self) -> u64 {
        if self.runs == 0 { 0 } else { self.page.free_until() }
    }

    /// Runs the kernel of `station` from `now` until it waits, ends or has to let others run, before `limit` at the latest.
    ///
    /// # Errors
    /// It does not yield, or says what no kernel says.
    pub fn run(&mut self, station: usize, now: u64, limit: u64, wire: &mut impl Wire) -> Result<(), RunError> {
        self.runs += 1;
        let others = (0..self.kernels.len()).filter(|other| *other != station);
        let others = others.filter_map(|other| self.request(other)).min();
        // Kernels take instants for signed numbers.
        let limit = others.into_iter().chain(wire.next()).chain([limit, i64::MAX as u64]).min().expect("two");
        self.page.run(station, now, limit);
        let kernel = &mut self.kernels[station];
        // Instants on the page are the lab's, and those in messages the kernel's own.
        let first = Calendar { operation: Operation::Run, sequence: 0, time: now - kernel.begins };
        let sent = match kernel.start.take() {
            None => sys::send(&kernel.calendar, &first.written(), &[]),
            Some(start) => {
                let own = station as u64 + 1;
                let answer = Calendar { operation: Operation::Acknowledge, time: own, ..start };
                sys::send(&kernel.calendar, &answer.written(), &[self.page.as_fd(), self.nowhere.as_fd()])
            }
        };
        match sent {
            Ok(true) => self.serve(station, wire),
            Ok(false) => {
                self.ended(station);
                Ok(())
            }
            Err(source) => Err(RunError::System { station: kernel.name.clone(), source }),
        }
    }

    /// Serves the running kernel until it waits.
    fn serve(&mut self, station: usize, wire: &mut impl Wire) -> Result<(), RunError> {
        let (mut since, mut at) = (Instant::now(), self.page.now());
        loop {
            let kernel = &mut self.kernels[station];
            let system = |source: io::Error| RunError::System { station: kernel.name.clone(), source };
            let source = |fd| PollFd::new(fd, PollFlags::POLLIN);
            let (card, console) = (source(kernel.card.source()), source(kernel.console.source()));
            let mut sources = [card, console, source(kernel.calendar.as_fd())];
            match poll(&mut sources, PollTimeout::from(LOOK)) {
                Ok(0) | Err(nix::Error::EINTR) => {
                    if wire.is_interrupted() {
                        return Err(RunError::Interrupted);
                    }
                    let now = self.page.now();
                    if now > at {
                        (since, at) = (Instant::now(), now);
                    }
                    if since.elapsed() > self.patience {
                        let station = self.kernels[station].name.clone();
                        return Err(RunError::NeverYields { station, at: now, wall: since.elapsed() });
                    }
                    continue;
                }
                Err(error) => return Err(system(error.into())),
                Ok(_) => {}
            }
            let [from_card, from_console, _] = sources.map(|source| source.any().unwrap_or(true));
            if from_card {
                self.serve_card(station, wire)?;
                continue;
            }
            if from_console {
                self.serve_console(station)?;
                continue;
            }
            let mut octets = [0; CALENDAR];
            if !sys::receive(&kernel.calendar, &mut octets, &mut Vec::new()).map_err(system)? {
                self.ended(station);
                return Ok(());
            }
            let message = Calendar::read(octets);
            let time = match message.operation {
                Operation::Acknowledge => continue,
                Operation::Wait => return Ok(()),
                Operation::TimeOfDay => EPOCH + kernel.begins,
                Operation::Get => self.page.now() - kernel.begins,
                Operation::Start | Operation::Run | Operation::Other(_) => message.time,
            };
            let answer = Calendar { operation: Operation::Acknowledge, time, ..message };
            sys::send(&kernel.calendar, &answer.written(), &[]).map_err(system)?;
        }
    }

    fn serve_card(&mut self, station: usize, wire: &mut impl Wire) -> Result<(), RunError> {
        let wants = self.kernels[station].card.serve().map_err(|error| self.wrong(station, error))?;
        if let Wants::Send(answer) = wants {
            self.send(station, wire);
            // What the wire now does is for this kernel too.
            wire.next().into_iter().for_each(|next| self.page.limit(next));
            self.kernels[station].card.acknowledge(answer).map_err(|error| self.wrong(station, error.into()))?;
        }
        Ok(())
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

    /// Has a station read a line from its console, while all kernels wait: whether it had room for it.
    ///
    /// # Errors
    /// Its socket fails.
    pub fn tell(&mut self, station: usize, line: &str) -> Result<bool, RunError> {
        if !self.kernels[station].is_alive {
            return Ok(false);
        }
        let received = self.kernels[station].console.receive(line.as_bytes());
        self.received(station, received)
    }

    /// Gives the wire the frames in a station's ring that it has room for.
    pub fn send(&mut self, station: usize, wire: &mut impl Wire) {
        let now = self.page.now();
        while wire.room(station) > 0 {
            let Some(sent) = self.kernels[station].card.next() else { return };
            wire.frame(station, now, sent.octets, sent.head);
        }
    }

    /// All kernels wait, and it is `now`.
    pub fn stop(&self, now: u64) {
        self.page.stop(now);
    }

    /// The wire is done with the frame of a station whose descriptor is `head`.
    ///
    /// # Errors
    /// Its socket fails.
    pub fn done(&mut self, station: usize, head: u16) -> Result<(), RunError> {
        if self.kernels[station].is_alive {
            let done = self.kernels[station].card.done(head);
            self.answered(station, done)?;
        }
        Ok(())
    }

    /// A frame arrives at a station: whether it had a buffer for it.
    ///
    /// # Errors
    /// Its socket fails.
    pub fn receive(&mut self, station: usize, frame: &[u8]) -> Result<bool, RunError> {
        // One that is not switched on has no buffers.
        if !self.kernels[station].is_alive {
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
        self.page.forget(station);
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        self.kernels.iter_mut().for_each(|kernel| end(&mut kernel.process));
    }
}

/// Kernels that have been started; they end with it.
struct Started(Vec<(Child, Card, Card)>);

impl Started {
    /// The next kernel that asks for the calendar.
    fn next(
        &mut self,
        listener: &UnixListener,
        stations: &[Station],
        starts: &[Option<(UnixStream, Calendar)>],
    ) -> Result<(UnixStream, Calendar), StartError> {
        let system = |source| StartError::System { call: "wait for a kernel", source };
        let begin = Instant::now();
        loop {
            let mut sources = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
            if poll(&mut sources, PollTimeout::from(LOOK)).map_err(|error| system(error.into()))? > 0 {
                let (socket, _) = listener.accept().map_err(system)?;
                let mut octets = [0; CALENDAR];
                if sys::receive(&socket, &mut octets, &mut Vec::new()).map_err(system)? {
                    return Ok((socket, Calendar::read(octets)));
                }
            }
            for (number, station) in stations.iter().enumerate().filter(|(number, _)| starts[*number].is_none()) {
                let ended = self.0[number].0.try_wait().map_err(system)?;
                let how = match ended {
                    Some(status) => status.to_string(),
                    None if begin.elapsed() > FIRST_MESSAGE => format!("silent for {} s", FIRST_MESSAGE.as_secs()),
                    None => continue,
                };
                return Err(StartError::Silent { station: station.name.clone(), how, said: last_line(&station.log) });
            }
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|(process, ..)| end(process));
    }
}

fn end(process: &mut Child) {
    // The whole group: while a kernel begins, it tries ptrace on children of its own. Both fail only if it has ended already.
    let _ = killpg(Pid::from_raw(process.id() as i32), Signal::SIGKILL);
    let _ = process.wait();
}

/// The last line of what was written to a file.
fn last_line(log: &File) -> String {
    use std::os::unix::fs::FileExt;
    let mut octets = vec![0; 4096];
    let length = log.metadata().map_or(0, |it| it.len());
    let read = log.read_at(&mut octets, length.saturating_sub(4096)).unwrap_or(0);
    let text = String::from_utf8_lossy(&octets[..read]).into_owned();
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}
