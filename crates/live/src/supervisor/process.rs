//! A plane that is a process of its own: that of a live bus, which gives up every right before it reads a frame.

use super::{DataPlane, RESULTS, SupervisorError};
use crate::lab::Segment;
use crate::lab::processes::ended;
use crate::plane::COPIER;
use crate::plane::protocol::{Request, Setup, Told};
use crossbeam_channel::{Receiver, Sender, bounded};
use link::Pid;
use link::channel::{Channel, hold};
use link::clock::give_fifo;
use link::confine::lend;
use link::load::Awake;
use link::namespace::Capability;
use link::process::{lead_session, threads_called};
use link::signals::Signal;
use say::say;
use sim::words::choices::LatencyChoice;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long it may take to end after its last report.
const ENDING: Duration = Duration::from_secs(2);

/// How a process ended, in words.
pub(super) fn manner(status: ExitStatus) -> String {
    if status.signal() == Some(Signal::SIGSYS as i32) {
        return format!("{status}: it made a system call that a bus has no use for, and the kernel ended it");
    }
    status.to_string()
}

/// The process. Killed when dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stream: UnixStream,
    /// Closed when everything that it had to say on standard error has been said.
    said: Receiver<()>,
    waited_for: Arc<Mutex<bool>>,
    /// Keeps the processors from sleeping deeply, with `latency = "low"`.
    pub awake: Option<Awake>,
}

/// Has the C library ask for huge pages, so that the process has few pages, and touches few that were unused for a while.
const HUGE_PAGES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");

impl Process {
    /// Starts the process, and gives what it tells.
    pub fn start(
        setup: &Setup,
        segment: &Segment,
        outputs: &[File],
    ) -> Result<(Process, Receiver<Told>), SupervisorError> {
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
        stream.set_write_timeout(Some(DataPlane::PATIENCE)).map_err(SupervisorError::Start)?;
        let process = Process { child, stream, said, waited_for, awake };
        let message = serde_json::to_vec(&setup).expect("numbers and names");
        let mut descriptors =
            vec![segment.receiver.as_fd(), segment.sender.as_fd(), segment.monitor.as_fd(), their_stream.as_fd()];
        descriptors.extend(segment.fan_out.hubs().iter().map(|hub| hub.memory.as_fd()));
        descriptors.extend(segment.watch.as_ref().map(AsFd::as_fd));
        descriptors.extend(outputs.iter().map(File::as_fd));
        ours.send_with_fds(&message, &descriptors)?;
        drop(their_stream);
        Ok((process, told))
    }

    /// Its number.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Whether it is there to take the request, and the stream that comes with it.
    pub fn ask(&mut self, request: &Request, stream: Option<&UnixStream>) -> Result<bool, SupervisorError> {
        let line = serde_json::to_string(request).expect("numbers and names") + "\n";
        let Some(stream) = stream else { return Ok(self.stream.write_all(line.as_bytes()).is_ok()) };
        let own = self.stream.try_clone().map_err(SupervisorError::Start)?;
        Ok(Channel::from_fd(own.into()).send_with_fds(line.as_bytes(), &[stream.as_fd()]).is_ok())
    }

    /// It has told its last: it ends by itself, or it is made to, when this is dropped.
    pub fn leave(&mut self) {
        self.waits();
        ended(&mut self.child, ENDING);
    }

    /// How it ended, if it has.
    pub fn end(&mut self) -> Option<ExitStatus> {
        self.waits();
        let status = ended(&mut self.child, DataPlane::PATIENCE);
        // Its last words come first.
        let _ = self.said.recv_timeout(ENDING);
        status
    }

    /// From now on its number may be another process's.
    fn waits(&self) {
        *self.waited_for.lock().expect("nothing panics with it") = true;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.waits();
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
    use super::super::Way;
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
    fn plane(seconds: &str, told: Receiver<Told>) -> (DataPlane, Pid, UnixStream) {
        let child = Command::new("sleep").arg(seconds).spawn().expect("every system can sleep");
        let (stream, theirs) = UnixStream::pair().expect("a pair");
        let waited_for = Arc::default();
        let process = Process { child, stream, said: bounded(0).1, waited_for, awake: None };
        let pid = process.pid();
        (DataPlane::new(Way::Process(process), told, DataPlane::PATIENCE), pid, theirs)
    }

    /// It may say that it is done, and not be: then it is killed, and the lab is taken down all the same.
    #[test]
    fn one_that_does_not_end_is_ended() {
        let (sender, told) = bounded(1);
        let results = include_bytes!("../../../../fuzz/corpus/messages/results");
        sender.send(Told::read(results).expect("results")).expect("somebody listens");
        let (plane, pid, _theirs) = plane("1000", told);
        let _ = plane.stop().expect("it told its results");
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }

    /// Its channel closes before the process has ended, on a busy machine long before.
    #[test]
    fn how_it_ended_is_told_even_if_that_takes_a_while() {
        let (mut plane, _, theirs) = plane("0.5", bounded(1).1);
        drop(theirs);
        let died = plane.died();
        assert_eq!(died.to_string(), "the data plane ended unexpectedly (exit status: 0)");
    }
}
