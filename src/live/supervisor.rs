//! The supervisor's side of the data plane: starts it, asks it, ends it, and notices when it dies.

use crate::live::keeper::Keeper;
use crate::live::lab::Segment;
use crate::live::lab::processes::ended;
use crate::live::plane::COPIER;
use crate::live::plane::protocol::{Request, Setup, Told};
use crate::show::say;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use link::Pid;
use link::channel::{Channel, ChannelError, hold};
use link::clock::give_fifo;
use link::confine::lend;
use link::load::Awake;
use link::namespace::Capability;
use link::process::{lead_session, threads_called};
use link::signals::Signal;
use sim::figures::results::Results;
use sim::windows::capture::Wish;
use sim::words::choices::{LatencyChoice, PortState};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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
    /// It ended without being asked to.
    #[error("the data plane ended unexpectedly ({})", status.map_or("still running".to_owned(), manner))]
    Died {
        /// How.
        status: Option<ExitStatus>,
    },
    /// It did not answer in time.
    #[error("the data plane did not answer within {} seconds", DataPlane::PATIENCE.as_secs())]
    Silent,
}

/// How long it may take to end after its last report.
const ENDING: Duration = Duration::from_secs(2);

/// How a process ended, in words.
fn manner(status: ExitStatus) -> String {
    if status.signal() == Some(Signal::SIGSYS as i32) {
        return format!("{status}: it made a system call that a bus has no use for, and the kernel ended it");
    }
    status.to_string()
}

/// A running data plane. Killed when dropped.
#[derive(Debug)]
pub struct DataPlane {
    child: Child,
    stream: UnixStream,
    told: Receiver<Told>,
    /// Closed when everything that it had to say on standard error has been said.
    said: Receiver<()>,
    waited_for: Arc<Mutex<bool>>,
    /// Keeps the processors from sleeping deeply, if that was asked for.
    awake: Option<Awake>,
    /// Takes the last seconds, if they are kept.
    keeper: Option<Arc<Keeper>>,
}

/// Octets of results that may be on their way: those of 1,024 stations take 1.5 MB.
pub const RESULTS: usize = 4 << 20;

/// Has the C library ask for huge pages, so that the process has few pages, and touches few that were unused for a while.
const HUGE_PAGES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");

impl DataPlane {
    /// How long it may take to answer, or to read what it is asked.
    pub const PATIENCE: Duration = Duration::from_secs(10);

    /// Starts the data plane for a segment, and waits until its medium runs.
    ///
    /// It gets copies of the segment's sockets and of the outputs that the setup names, and an empty environment. What it
    /// writes to standard error is passed on as plain text: it never has the user's terminal, which could be read from, too.
    /// It dies when the calling thread ends.
    ///
    /// # Errors
    /// A process that cannot be started, or that ends at once.
    pub fn start(setup: &Setup, segment: &Segment, outputs: &[File]) -> Result<DataPlane, SupervisorError> {
        let (ours, theirs) = Channel::pair()?;
        let (stream, their_stream) = UnixStream::pair().map_err(SupervisorError::Start)?;
        // Results go through in one piece: on a busy machine each piece waits for both processes to get a processor.
        hold(&their_stream, RESULTS);
        let mut command = Command::new("/proc/self/exe");
        let low = setup.pace.latency.choice == LatencyChoice::Low;
        let awake = if low { Awake::hold().ok() } else { None };
        let setup = Setup { awake: awake.is_some(), watched: segment.watch.is_some(), ..setup.clone() };
        // It empties its bounding set, which needs this capability; a supervisor whose uid is not 0 has to lend it.
        let mut child = lend(lead_session(link::signals::unblock(&mut command)), &[Capability::SetPcap])
            .arg("__bus")
            .env_clear()
            .envs(low.then_some(HUGE_PAGES))
            .current_dir("/")
            .stdin(Stdio::from(theirs.into_fd()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(SupervisorError::Start)?;
        let waited_for = Arc::new(Mutex::new(false));
        let (pid, known) = (Pid::from_raw(child.id() as i32), waited_for.clone());
        let told = read_told(stream.try_clone().map_err(SupervisorError::Start)?, move || precede(pid, &known))?;
        let said = pass_on(child.stderr.take().expect("a pipe"))?;
        stream.set_write_timeout(Some(Self::PATIENCE)).map_err(SupervisorError::Start)?;
        let mut plane = DataPlane { child, stream, told, said, waited_for, awake, keeper: None };
        let message = serde_json::to_vec(&setup).expect("numbers and names");
        let mut descriptors =
            vec![segment.receiver.as_fd(), segment.sender.as_fd(), segment.monitor.as_fd(), their_stream.as_fd()];
        descriptors.extend(segment.fan_out.hubs().iter().map(|hub| hub.memory.as_fd()));
        descriptors.extend(segment.watch.as_ref().map(AsFd::as_fd));
        descriptors.extend(outputs.iter().map(File::as_fd));
        ours.send_with_fds(&message, &descriptors)?;
        drop(their_stream);
        plane.wait_for(Self::PATIENCE, |told| matches!(told, Told::Ready).then_some(()))?;
        Ok(plane)
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

    /// Its process number.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Lets the processors sleep deeply, until [`DataPlane::awaken`]; whether they were kept from it.
    pub fn let_sleep(&mut self) -> bool {
        self.awake.take().is_some()
    }

    /// Keeps the processors from sleeping deeply again.
    pub fn awaken(&mut self) {
        self.awake = Awake::hold().ok();
    }

    /// Asks without waiting.
    ///
    /// # Errors
    /// The data plane is gone.
    pub fn ask(&mut self, request: Request) -> Result<(), SupervisorError> {
        let line = serde_json::to_string(&request).expect("a plain name") + "\n";
        self.stream.write_all(line.as_bytes()).map_err(|_| self.died())
    }

    /// Has it write a capture to `stream`, until the other end sends no more or the bus ends.
    ///
    /// # Errors
    /// The data plane is gone, or this process has no descriptor to spare.
    pub fn capture(&mut self, wish: Wish, stream: &UnixStream) -> Result<(), SupervisorError> {
        let line = serde_json::to_string(&Request::Capture(wish)).expect("numbers and names") + "\n";
        let own = self.stream.try_clone().map_err(SupervisorError::Start)?;
        let sent = Channel::from_fd(own.into()).send_with_fds(line.as_bytes(), &[stream.as_fd()]);
        sent.map_err(|_| self.died())
    }

    /// Has it count from zero.
    ///
    /// # Errors
    /// The data plane is gone or does not answer.
    pub fn restart(&mut self) -> Result<(), SupervisorError> {
        self.ask(Request::Restart)?;
        self.wait_for(Self::PATIENCE, |told| matches!(told, Told::Restarted).then_some(()))
    }

    /// Its results so far.
    ///
    /// # Errors
    /// The data plane is gone or does not answer.
    pub fn report(&mut self) -> Result<Results, SupervisorError> {
        self.ask(Request::Report)?;
        self.wait_for(Self::PATIENCE, results)
    }

    /// Ends it and gives its last results.
    ///
    /// # Errors
    /// The data plane is gone or does not answer.
    pub fn stop(mut self) -> Result<Results, SupervisorError> {
        self.ask(Request::Stop)?;
        let results = self.wait_for(Self::PATIENCE, results)?;
        self.waits();
        // It ends by itself, or it is made to: when this is dropped.
        ended(&mut self.child, ENDING);
        Ok(results)
    }

    /// From now on its number may be another process's.
    fn waits(&self) {
        *self.waited_for.lock().expect("nothing panics with it") = true;
    }

    /// What its end looks like from here.
    pub fn died(&mut self) -> SupervisorError {
        self.waits();
        let status = ended(&mut self.child, DataPlane::PATIENCE);
        // Its last words come first.
        let _ = self.said.recv_timeout(ENDING);
        SupervisorError::Died { status }
    }

    fn wait_for<T>(&mut self, patience: Duration, want: fn(Told) -> Option<T>) -> Result<T, SupervisorError> {
        let end = Instant::now() + patience;
        loop {
            match self.told.recv_deadline(end) {
                Ok(Told::Port { station, state }) => say_port(&station, state),
                Ok(Told::Trouble(what)) => say_trouble(&what),
                Ok(Told::Kept(kept)) => self.keeper.iter().for_each(|keeper| keeper.told(kept.clone())),
                Ok(told) => {
                    if let Some(wanted) = want(told) {
                        return Ok(wanted);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(SupervisorError::Silent),
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
            }
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
        | Told::Seen(_)
        | Told::Discards(_)
        | Told::Kept(_)
        | Told::Trouble(_)
        | Told::Overload { .. }
        | Told::Port { .. }
        | Told::Gone(_) => None,
    }
}

impl Drop for DataPlane {
    fn drop(&mut self) {
        self.waits();
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
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

/// Tells the user that a file is not written any further.
pub fn say_trouble(what: &str) {
    say(&format!("ethbus: {what}; the bus goes on without it\n"));
}

/// Puts the data plane ahead of ordinary programs, unless it has been waited for.
fn precede(pid: Pid, waited_for: &Mutex<bool>) {
    let waited_for = waited_for.lock().expect("nothing panics with it");
    if !*waited_for {
        // It fails without the right, as for most users; the data plane reports that itself.
        let _ = give_fifo(pid);
        // One that is gone meanwhile needs no place.
        threads_called(pid, COPIER).into_iter().for_each(|copier| _ = give_fifo(copier));
    }
}

/// Octets of the longest line that a data plane has any reason to write: results of 1,024 stations take some 2 MB.
const LONGEST_LINE: u64 = 16 << 20;

/// Octets that are read at once.
const READ_AT_ONCE: usize = 1 << 20;

fn read_told(
    stream: impl Read + Send + 'static,
    calm: impl Fn() + Send + 'static,
) -> Result<Receiver<Told>, SupervisorError> {
    let (sender, told) = bounded(64);
    let read = move || {
        let mut input = BufReader::with_capacity(READ_AT_ONCE, stream);
        while let Some(told) = read_line(&mut input).and_then(|line| Told::read(&line)) {
            if matches!(told, Told::Calm) {
                calm();
            } else if sender.send(told).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("told".to_owned()).spawn(read).map_err(SupervisorError::Start)?;
    Ok(told)
}

/// One line; `None` at the end, and if it is longer than any.
fn read_line(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    input.take(LONGEST_LINE).read_until(b'\n', &mut line).ok()?;
    line.ends_with(b"\n").then_some(line)
}

/// Octets that a data plane has any reason to write to standard error.
const MOST_SAID: usize = 64 << 10;

/// Passes on what the data plane writes to standard error, which is little: what a panic says.
fn pass_on(mut stderr: ChildStderr) -> Result<Receiver<()>, SupervisorError> {
    let (open, said) = bounded(0);
    let read = move || {
        let (_open, mut octets, mut left): (Sender<()>, _, _) = (open, [0; 4096], MOST_SAID);
        while let Ok(count @ 1..) = stderr.read(&mut octets) {
            say(&plain(&octets[..count.min(left)]));
            left -= count.min(left);
        }
    };
    std::thread::Builder::new().name("said".to_owned()).spawn(read).map_err(SupervisorError::Start)?;
    Ok(said)
}

/// Text for a terminal: lines, and nothing that would do something to it.
fn plain(octets: &[u8]) -> String {
    let control = |character: char| character.is_control() && character != '\n';
    String::from_utf8_lossy(octets).replace(control, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data plane that has been taken over can write what it likes: neither memory nor terminal is at its mercy.
    #[test]
    fn a_line_without_end_is_not_read_to_its_end() {
        let endless = std::io::repeat(b' ');
        let told = read_told(endless, || ()).expect("a thread");
        assert!(told.recv_timeout(DataPlane::PATIENCE * 6).is_err_and(|error| !error.is_timeout()));
    }

    #[test]
    fn what_it_says_does_nothing_to_a_terminal() {
        assert_eq!(plain(b"a\x1b[31mb\r\nc\x07\xff\xc2\x9b"), "a\u{fffd}[31mb\u{fffd}\nc\u{fffd}\u{fffd}\u{fffd}");
    }

    /// One that is no more than its process, and its end of the channel.
    fn plane(seconds: &str, told: Receiver<Told>) -> (DataPlane, UnixStream) {
        let child = Command::new("sleep").arg(seconds).spawn().expect("every system can sleep");
        let (stream, theirs) = UnixStream::pair().expect("a pair");
        let waited_for = Arc::default();
        (DataPlane { child, stream, told, said: bounded(0).1, waited_for, awake: None, keeper: None }, theirs)
    }

    /// It may say that it is done, and not be: then it is killed, and the lab is taken down all the same.
    #[test]
    fn one_that_does_not_end_is_ended() {
        let (sender, told) = bounded(1);
        let results = include_bytes!("../../fuzz/corpus/messages/results");
        sender.send(Told::read(results).expect("results")).expect("somebody listens");
        let (plane, _theirs) = plane("1000", told);
        let pid = plane.child.id();
        plane.stop().expect("it told its results");
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }

    /// Its channel closes before the process has ended, on a busy machine long before.
    #[test]
    fn how_it_ended_is_told_even_if_that_takes_a_while() {
        let (mut plane, theirs) = plane("0.5", bounded(1).1);
        drop(theirs);
        let died = plane.died();
        assert_eq!(died.to_string(), "the data plane ended unexpectedly (exit status: 0)");
    }
}
