//! `ethbus capture`: what happens on the bus of a lab that is up, from now on.

use super::last::last;
use super::{CommandError, Outcome, interrupts, running_lab, station_names};
use crate::cli::args::CaptureArgs;
use crate::cli::windows::{self, WindowFile, open_one};
use crossbeam_channel::Receiver;
use link::pipe::is_unread;
use link::signals::Signal;
use live::control;
use live::lab::inventory::{Content, Inventory};
use say::say;
use sim::files::json_lines::{LineWriter, WriteError};
use sim::windows::WindowKind;
use sim::windows::capture::Framing;
use sim::windows::passing::{self, PassError, Passing};
use sim::words::units::many;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often the command looks for an interrupt, for its end, and for its reader, while nothing comes.
const LOOK: Duration = Duration::from_millis(50);
/// How long the lab may take to end the capture.
const PATIENCE: Duration = Duration::from_secs(5);
/// Octets read at once.
const PIECE: usize = 1 << 16;

/// A capture that is wanted of a lab.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The lab.
    pub lab: &'a str,
    /// What frames are written with.
    pub framing: Framing,
    /// Which packets; everything if it is empty.
    pub filter: &'a str,
    /// What has the name of the file.
    pub option: &'static str,
    /// The file.
    pub out: &'a Path,
    /// Nothing is said of a capture that is whole.
    pub is_quiet: bool,
    /// How long it goes on at the longest, from the lab's answer on.
    pub duration: Option<Duration>,
}

/// Captures what happens on a lab's bus until an interrupt, the end of `--duration`, of the reader or of the lab.
///
/// # Errors
/// No such lab, or one that gives no capture; a filter that is none; a file that cannot be written.
pub fn capture(args: &CaptureArgs) -> Outcome {
    let lab = running_lab(args.lab.given())?;
    if let Some(span) = args.last {
        return last(args, &lab, span);
    }
    let content = Inventory::of_running(&lab)?;
    let filter = args.wish.filter.as_deref().map(|filter| meant(filter, &content));
    let filter = filter.as_deref();
    let wish = windows::wish("--filter", Some(&args.output.out), args.wish.plain, filter, &station_names(&content))?;
    take(Wanted {
        lab: &lab,
        framing: wish.framing,
        filter: filter.unwrap_or_default(),
        option: "--out",
        out: &args.output.out,
        is_quiet: false,
        duration: args.timed.duration,
    })
}

/// The filter with each station under its own name, where the user wrote that of its container.
fn meant(filter: &str, content: &Content) -> String {
    let term = |term: &str| match term.split_once('=') {
        Some(("station", given)) => format!("station={}", content.station_meant(given)),
        Some(_) | None => term.to_owned(),
    };
    filter.split(',').map(term).collect::<Vec<_>>().join(",")
}

/// The same once lab and filter have been checked.
///
/// # Errors
/// As [`capture`].
pub fn take(wanted: Wanted<'_>) -> Outcome {
    let interrupts = interrupts()?;
    let kind = WindowKind::Pcapng(wanted.framing.unfiltered());
    let (files, trailing) = open_one(wanted.option, kind, wanted.out, &[])?.into_files();
    let silent = |source| CommandError::Control { name: wanted.lab.to_owned(), source };
    let stream = control::capture(wanted.lab, wanted.framing, wanted.filter)
        .map_err(|error| CommandError::of_lab(wanted.lab, error))?;
    let end = wanted.duration.and_then(|duration| Instant::now().checked_add(duration));
    stream.set_read_timeout(Some(LOOK)).map_err(silent)?;
    let mut passing = Passing::default();
    for WindowFile { file, place, .. } in files {
        let mut output = passing::output(file, place.clone());
        match follow(&stream, &mut output, &mut passing, end, &interrupts) {
            Ok(()) => {}
            // The reader has what it wanted, unless it is a thread that could not go on.
            Err(Stop::Unread) => {
                return windows::finish(trailing).map_or_else(|error| Err(error.into()), |()| Ok(ExitCode::SUCCESS));
            }
            Err(Stop::Write(error)) => return Err(error.into()),
            Err(Stop::Lab(source)) => return Err(silent(source)),
        }
        if !wanted.is_quiet {
            say(&format!("ethbus: {} in {place}\n", many(passing.packets(), "packet")));
        }
    }
    windows::finish(trailing)?;
    Ok(tell_end(&passing))
}

/// Says what the capture misses.
fn tell_end(passing: &Passing) -> ExitCode {
    match passing.missing() {
        Some(0) => return ExitCode::SUCCESS,
        Some(missing) => say(&format!(
            "ethbus: it misses {} of the bus, since it was read more slowly than the bus goes; rows of the kind `missing` say where\n",
            many(missing, "event")
        )),
        None => say("ethbus: it ends early: the lab did not end it\n"),
    }
    ExitCode::FAILURE
}

/// Why a capture ends early.
enum Stop {
    /// The reader of a pipe has closed it.
    Unread,
    Write(WriteError),
    Lab(io::Error),
}

impl From<PassError> for Stop {
    fn from(error: PassError) -> Stop {
        match error {
            PassError::Write(error) => error.into(),
            error => Stop::Lab(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
}

impl From<WriteError> for Stop {
    fn from(error: WriteError) -> Stop {
        match &error {
            WriteError::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => Stop::Unread,
            _ => Stop::Write(error),
        }
    }
}

/// Passes on the octets of the capture until the lab ends it.
fn follow(
    mut stream: &UnixStream,
    output: &mut LineWriter,
    passing: &mut Passing,
    end: Option<Instant>,
    interrupts: &Receiver<Signal>,
) -> Result<(), Stop> {
    let (mut piece, mut deadline, mut octets) = (vec![0; PIECE], None, 0);
    loop {
        let now = Instant::now();
        let ends = deadline.is_none() && (!interrupts.is_empty() || end.is_some_and(|end| end <= now));
        if ends {
            // The lab ends the capture, and then the stream.
            stream.shutdown(Shutdown::Write).map_err(Stop::Lab)?;
            deadline = Some(now + PATIENCE);
        }
        if deadline.is_some_and(|deadline| deadline <= now) {
            return Ok(());
        }
        let count = match stream.read(&mut piece) {
            Ok(0) if octets == 0 => return Err(Stop::Lab(io::Error::other(REFUSED))),
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(Stop::Lab(error)),
        };
        octets += count;
        passing.take(&piece[..count], |block| output.unit(|into| into.extend_from_slice(block)))?;
        output.flush()?;
        if count == 0 && output.stream().is_some_and(|stream| is_unread(stream.as_fd())) {
            return Err(Stop::Unread);
        }
    }
}

/// What an empty answer means.
const REFUSED: &str =
    "it gives no capture: it is about to end, or four captures of it go on already, which is the most";
