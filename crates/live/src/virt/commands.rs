//! Commands from outside that run in stations: what they print goes to the clients that asked for them.
//!
//! A station writes to files of its own folder, which are read here now and then. The lab waits for no client: output that
//! finds no room stays in its file until there is some, and input comes in when the lab is ready for it.

use super::init;
use crate::control::{CommandEnded, Notification, Output, digits_of};
use crate::watchers::{Lines, writer};
use crossbeam_channel::{Receiver, TrySendError, bounded};
use kernel::files;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

/// Lines that wait for their reader.
const WAITING: usize = 64;
/// Octets in a line of output, and in a piece of input, at most.
const PIECE: u64 = 1 << 14;

/// Pieces of input that wait for the lab.
const PIECES: usize = 4;

/// A command that runs.
#[derive(Debug)]
pub struct Command {
    /// The number of its station.
    pub station: usize,
    /// The command's number there.
    pub number: usize,
    /// What the client sends as its input; an empty piece is the end.
    input: Option<Receiver<Vec<u8>>>,
    /// The file of the command itself; those of its output are beside it.
    file: PathBuf,
    /// The virtual instant at which it began.
    from: u64,
    /// How much of its outputs the client has.
    told: [u64; init::OUTPUTS.len()],
    lines: Lines,
}

impl Command {
    /// Command `number` of `station`, which has begun at `from`, for the client at `stream`; none if there is no thread for
    /// the client.
    pub fn new(
        (station, number): (usize, usize),
        file: PathBuf,
        from: u64,
        stream: OwnedFd,
        has_input: bool,
    ) -> Option<Command> {
        let stream = UnixStream::from(stream);
        let input = has_input.then(|| reader(stream.try_clone().ok()?)).flatten();
        let lines = writer(stream, WAITING)?;
        Some(Command { station, number, input, file, from, told: [0; init::OUTPUTS.len()], lines })
    }

    /// What the client has sent since this was asked last. A client that is gone sends nothing more.
    pub fn take_input(&mut self) -> Vec<Vec<u8>> {
        let pieces: Vec<Vec<u8>> = self.input.iter().flat_map(Receiver::try_iter).take(PIECES).collect();
        if pieces.last().is_some_and(Vec::is_empty) {
            self.input = None;
        }
        pieces
    }

    /// Tells the client what is new at `now`; whether there may be more. `is_over`: its station has ended.
    pub fn go_on(&mut self, now: u64, is_over: bool) -> bool {
        // Before the output: what is written then is all.
        let code = init::code_in(&self.beside(init::CODE));
        for number in 0..init::OUTPUTS.len() {
            match self.tell(number) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => return true,
                Err(TrySendError::Disconnected(_)) => return false,
            }
        }
        if code.is_none() && !is_over {
            return true;
        }
        let ended = CommandEnded { code, from_ns: self.from, until_ns: now };
        matches!(self.lines.try_send(Notification::line("ended", ended).into()), Err(TrySendError::Full(_)))
    }

    fn tell(&mut self, number: usize) -> Result<(), TrySendError<Arc<[u8]>>> {
        loop {
            let output = self.beside(init::OUTPUTS[number]);
            let octets = files::read(&output, self.told[number], PIECE).unwrap_or_default();
            if octets.is_empty() {
                return Ok(());
            }
            let output = Output { error: number == 1, octets: digits_of(&octets) };
            self.lines.try_send(Notification::line("output", output).into())?;
            self.told[number] += octets.len() as u64;
        }
    }

    fn beside(&self, end: &str) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push(end);
        name.into()
    }
}

/// A thread that reads what a client sends, and an empty piece at the end; none if there is no thread for it.
fn reader(mut stream: UnixStream) -> Option<Receiver<Vec<u8>>> {
    let (pieces, waiting) = bounded(PIECES);
    let read = move || {
        let mut octets = vec![0; PIECE as usize];
        loop {
            let count = stream.read(&mut octets).unwrap_or(0);
            if pieces.send(octets[..count].to_vec()).is_err() || count == 0 {
                return;
            }
        }
    };
    std::thread::Builder::new().name("input".to_owned()).spawn(read).ok().map(|_| waiting)
}
