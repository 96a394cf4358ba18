//! Windows on a run for tools that others wrote: captures for Wireshark, timelines for Perfetto and GTKWave, tables.
//!
//! Each is an [`Observer`] of a run, virtual or live, of a replay, and of a trace that is read.
//!
//! ```text
//!   run, replay, live bus, trace ──inputs, events──► windows ──► files, pipes
//! ```

pub mod capture;
pub mod classic;
mod frames;
pub mod packing;
pub mod passing;
mod pcapng;
pub mod perfetto;
pub mod rotation;
pub mod table;
pub mod vcd;

use crate::files::beside::{Batch, Beside, Worker};
use crate::files::event_log::{Container, EmulatorEvent, Header};
use crate::files::json_lines::WriteError;
use crate::files::observer::{End, Observer};
use crate::files::output::{self, OutputError, THREADS};
use crate::files::system;
use crate::files::table::Form;
use crate::scenario::plan::default_mac;
use capture::{Capture, Wish};
use medium::{BitInstant, BitRate, Event, Input, Kind, StationId};
use perfetto::Perfetto;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::PipeReader;
use std::path::Path;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use table::EventTable;
use vcd::Vcd;

/// A thread between a capture and its files, which are whole when it has ended.
#[derive(Debug)]
pub struct Trailing(JoinHandle<Result<(), WriteError>>);

impl Trailing {
    /// Waits until the thread has ended. The writer of the capture has ended before.
    ///
    /// # Errors
    /// A file that could not be made or written any further.
    pub fn finish(self) -> Result<(), WriteError> {
        self.0.join().expect("a panic ends the process")
    }
}

/// Starts a thread that makes the files at `path` from a capture: the capture is to be written to the file that comes back.
fn between(
    path: &Path,
    name: &str,
    work: impl FnOnce(PipeReader) -> Result<(), WriteError> + Send + 'static,
) -> Result<(File, Trailing), WriteError> {
    let system = |call| move |source| OutputError::System { call, path: path.to_owned(), source };
    let (reader, writer) = system::pipe().map_err(system("make a pipe for"))?;
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        THREADS.begin();
        work(reader)
    });
    let thread = thread.map_err(system("start a thread for"))?;
    Ok((writer, Trailing(thread)))
}

/// What every window knows of the run.
#[derive(Clone, Debug)]
pub struct Known {
    /// What the medium is made from, and the stations' names.
    pub header: Header,
    /// The stations' addresses, in order of station number.
    pub macs: Vec<[u8; 6]>,
    /// Of a live bus: the time of day at bit instant 0, in nanoseconds since 1970. Captures have it in their stamps.
    pub epoch: Option<u64>,
    /// Which containers stations are, as far as that is known when the window begins.
    pub containers: Vec<(StationId, Container)>,
}

impl Known {
    /// What is known of a run from its trace alone: stations have the addresses that ethbus gives them.
    pub fn of(header: Header) -> Known {
        let stations = header.configuration.stations();
        let macs = (0..stations).map(|index| default_mac(&header.name, index).octets()).collect();
        Known { header, macs, epoch: None, containers: Vec::new() }
    }

    /// The same with the addresses of the first stations. Seats have theirs when stations join.
    pub fn with_macs(self, first: impl IntoIterator<Item = [u8; 6]>) -> Known {
        let mut macs = self.macs;
        macs.iter_mut().zip(first).for_each(|(mac, own)| *mac = own);
        Known { macs, ..self }
    }
}

/// What a window makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowKind {
    /// A capture.
    Pcapng(Wish),
    /// A timeline for Perfetto.
    Perfetto,
    /// Waveforms.
    Vcd,
    /// A table of events.
    Csv,
    /// The same as Parquet.
    Parquet,
    /// The same as an Arrow file.
    Arrow,
}

impl WindowKind {
    /// What files of its are, and how one can tell.
    pub fn kind(self) -> output::Kind {
        match self {
            WindowKind::Pcapng(_) => output::PCAPNG,
            WindowKind::Perfetto => output::PERFETTO,
            WindowKind::Vcd => output::VCD,
            WindowKind::Csv => output::EVENT_TABLE,
            WindowKind::Parquet => output::PARQUET,
            WindowKind::Arrow => output::ARROW,
        }
    }

    /// What one of its files is called in results.
    pub fn holds(self) -> &'static str {
        match self {
            WindowKind::Pcapng(_) => "capture",
            WindowKind::Perfetto => "Perfetto trace",
            WindowKind::Vcd => "VCD",
            WindowKind::Csv | WindowKind::Parquet | WindowKind::Arrow => "table of events",
        }
    }

    /// Opens the window, in a file that the caller opened at `place`.
    ///
    /// # Errors
    /// Its beginning cannot be written.
    pub fn open(self, file: File, place: String, known: &Known) -> Result<Box<dyn Window>, WriteError> {
        Ok(match self {
            WindowKind::Pcapng(wish) => Box::new(Capture::new(file, place, known, wish)?),
            WindowKind::Perfetto => Box::new(Perfetto::new(file, place, known)?),
            WindowKind::Vcd => Box::new(Vcd::new(file, place, known)?),
            WindowKind::Csv => Box::new(EventTable::new(Form::Csv, file, place, known)?),
            WindowKind::Parquet => Box::new(EventTable::new(Form::Parquet, file, place, known)?),
            WindowKind::Arrow => Box::new(EventTable::new(Form::Arrow, file, place, known)?),
        })
    }
}

/// An observer that makes a file, and may be sent to another thread.
pub trait Window: Observer<Error = WriteError> + Send + fmt::Debug {
    /// From now on a thread of its own hands what the window makes to the kernel, if the system gives one.
    fn write_beside(&mut self);

    /// Takes a batch, the whole of it.
    ///
    /// # Errors
    /// The first thing that could not be written.
    fn take(&mut self, batch: &Batch) -> Result<(), WriteError>;

    /// Events that the window makes nothing of, by their kinds' names.
    fn passes_over(&self) -> &'static [&'static str] {
        &[]
    }
}

/// All windows on a run that are open.
#[derive(Debug, Default)]
pub struct Windows(pub Vec<Box<dyn Window>>);

impl Windows {
    /// Has what the windows show made in a thread of its own, and each file written in another, if the system gives them.
    pub fn on_a_thread(mut self) -> WindowsBeside {
        self.0.iter_mut().for_each(|window| window.write_beside());
        let heeds = |name: &str| self.0.iter().any(|window| !window.passes_over().contains(&name));
        let heeded = Kind::ALL.iter().map(|(name, _)| heeds(name)).collect();
        WindowsBeside { heeded, windows: Beside::start("windows", Box::new(self)) }
    }

    fn each(&mut self, act: impl FnMut(&mut Box<dyn Window>) -> Result<(), WriteError>) -> Result<(), WriteError> {
        self.0.iter_mut().try_for_each(act)
    }
}

impl Observer for Windows {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        self.each(|window| window.input(at, input, octets))
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.each(|window| window.event(event))
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        self.each(|window| window.emulator(event))
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), WriteError> {
        self.each(|window| window.missing(inputs, events))
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.each(|window| window.flush())
    }

    fn end(&mut self, end: End) -> Result<(), WriteError> {
        self.each(|window| window.end(end))
    }
}

impl Worker for Windows {
    type Told = ();

    fn take(&mut self, batch: &Batch) -> Result<(), WriteError> {
        let mut taken = Ok(());
        for window in &mut self.0 {
            taken = taken.and(window.take(batch));
        }
        taken
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Observer::flush(self)
    }

    fn finish(&mut self, end: Option<End>) -> Result<(), WriteError> {
        match end {
            Some(end) => self.end(end),
            None => Observer::flush(self),
        }
    }

    fn told(&self) {}
}

/// Windows that a run in virtual time hands its events to; they are made beside it.
#[derive(Debug)]
pub struct WindowsBeside {
    /// Which events a window uses, by [`Kind::number`].
    heeded: Box<[bool]>,
    /// Here, if the system gave no thread.
    windows: Result<Beside<Windows>, Box<Windows>>,
}

impl Observer for WindowsBeside {
    type Error = WriteError;

    #[inline]
    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        match &mut self.windows {
            Ok(beside) => beside.input(at, input, octets),
            Err(windows) => Observer::input(&mut **windows, at, input, octets),
        }
    }

    #[inline]
    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        if !self.heeded[event.kind.number()] {
            return Ok(());
        }
        match &mut self.windows {
            Ok(beside) => beside.event(event),
            Err(windows) => Observer::event(&mut **windows, event),
        }
    }

    fn emulator(&mut self, _: &EmulatorEvent) -> Result<(), WriteError> {
        panic!("only a live bus has an emulator, and it has one thread for its files")
    }

    fn end(&mut self, end: End) -> Result<(), WriteError> {
        match &mut self.windows {
            Ok(beside) => beside.finish(Some(end)),
            Err(windows) => windows.end(end),
        }
    }
}

/// When `at` is, in nanoseconds of the medium's time.
#[derive(Clone, Copy, Debug)]
struct Nanos {
    rate: u64,
    /// Nanoseconds of a bit, where that is a whole number.
    bit: Option<u64>,
}

impl Nanos {
    const SECOND: u64 = 1_000_000_000;

    fn new(rate: BitRate) -> Nanos {
        let rate = rate.get();
        Nanos { rate, bit: Nanos::SECOND.is_multiple_of(rate).then_some(Nanos::SECOND / rate) }
    }

    #[inline]
    fn of(self, at: BitInstant) -> u64 {
        let exact = || (u128::from(at.get()) * u128::from(Nanos::SECOND) / u128::from(self.rate)) as u64;
        self.bit.and_then(|bit| at.get().checked_mul(bit)).unwrap_or_else(exact)
    }
}

/// Appends the first `count` octets. All are copied, which takes no call and no loop.
#[inline(always)]
fn append<const ROOM: usize>(into: &mut Vec<u8>, octets: &[u8; ROOM], count: usize) {
    let end = into.len() + count;
    into.extend_from_slice(octets);
    into.truncate(end);
}
