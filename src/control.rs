//! Requests to a lab that is up: one line on a socket that only root may open.

use crate::lab::record::Record;
use crossbeam_channel::{Receiver, bounded};
use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

/// How long somebody who connects may take to say what he wants.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a lab may take to answer: taking down a thousand stations takes a while.
const LONGEST_ANSWER: Duration = Duration::from_secs(60);
/// The longest request.
const LONGEST: u64 = 64;

/// What somebody asks of a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Tell the results so far.
    Stats,
    /// Take the lab down.
    Down,
    /// Panic, so that a test can see the lab cleaned up all the same. Not in release builds.
    Panic,
    /// Have the data plane make a system call that it may not make, for a test again. Not in release builds.
    Trespass,
    /// Have it panic, likewise.
    BusPanic,
}

impl Control {
    const fn word(self) -> &'static str {
        match self {
            Control::Stats => "stats",
            Control::Down => "down",
            Control::Panic => "panic",
            Control::Trespass => "trespass",
            Control::BusPanic => "bus-panic",
        }
    }
}

/// Listens for requests to the lab `name`. Each comes with the stream that its answer goes to.
///
/// # Errors
/// The socket cannot be made.
pub fn listen(name: &str) -> io::Result<Receiver<(Control, UnixStream)>> {
    let path = Record::control_socket(name);
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    let (sender, requests) = bounded(16);
    let serve = move || {
        for stream in listener.incoming().flatten() {
            let Some(request) = read_request(&stream) else { continue };
            if sender.send((request, stream)).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("control".to_owned()).spawn(serve)?;
    Ok(requests)
}

fn read_request(stream: &UnixStream) -> Option<Control> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST)).read_line(&mut line).ok()?;
    let known = [Control::Stats, Control::Down, Control::Panic, Control::Trespass, Control::BusPanic];
    known.into_iter().find(|request| line.trim_end() == request.word())
}

/// Asks the lab `name`, and gives its whole answer; an empty one means that it has ended.
///
/// # Errors
/// No lab listens, or it does not answer.
pub fn ask(name: &str, request: Control) -> io::Result<String> {
    let mut stream = UnixStream::connect(Record::control_socket(name))?;
    stream.set_read_timeout(Some(LONGEST_ANSWER))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{}\n", request.word()).as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
