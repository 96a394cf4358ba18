//! The trace of a run: JSON Lines or their binary form, a header and then one row a fact. docs/trace.md tells every column.
//!
//! ```text
//!   {"format":"ethbus trace","version":2,"level":"events",…,"configuration":{…},"stations":["st1","st2"]}
//!   {"t":576,"kind":"attempt","station":"st1","frame":"st1#1","attempt":1,"excessive_deferral":false}
//! ```
//! Written by hand, since a run has millions; the same events give the same octets.
//!
//! What is done to the medium (faults, cuts, stations that come and go) has rows of the layer `deed`, and an `offered`
//! row says whom its frame is for. Frames with their octets, and what else a replay needs, have rows of the layer `input`
//! at the levels that have inputs. The digest leaves all of these out: it is over what the medium itself did.

pub mod binary;
mod check;
mod emulator;
mod header;
mod joined;
mod level;
mod line;
mod memory;
mod names;
mod pen;
mod read;
mod record;
mod row;
mod sheet;
mod text;

pub use crate::files::emulated::{Container, EMULATOR_KINDS, EmulatorEvent, EmulatorKind};
pub(crate) use emulator::write as write_emulator;
pub use header::{Header, VERSION};
pub use level::Level;
pub use names::Names;
pub use read::EventLogReader;
pub use row::{Entry, Row};
pub use sheet::write_event;

pub use crate::files::inputs::{Given, write_octets};

use crate::files::beside::{Batch, Beside, Worker, take_each};
use crate::files::inputs;
use crate::files::json_lines::{LineWriter, ReadError, WriteError, create};
use crate::files::observer::{End, Observer};
use crate::files::output::place_name;
use crate::files::programs::Call;
use binary::Binary;
use medium::{BitInstant, Destination, Event, Input, StationId};
use pen::Pen;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::BufRead;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Appends an event or a deed as a line has it, without the line's end.
pub fn append(text: &mut Vec<u8>, names: &Names, entry: &Entry) {
    match entry {
        Entry::Medium(event) => {
            write_event(text, names, event);
            text.push(b'}');
        }
        Entry::Deed { at, deed } => inputs::write_deed(text, names, *at, *deed),
        Entry::Emulator(event) => emulator::write(text, names, event),
    }
}

/// How many events of the medium there were, and what their lines add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digest {
    /// How many.
    pub events: u64,
    /// CRC-32 (that of IEEE 802.3) over the trace's lines for them, line ends included, without `destination` and `tagged`.
    pub crc32: u32,
}

/// Takes events: writes them if a trace is wanted, and keeps the digest of all.
#[derive(Debug)]
pub struct EventLog {
    writer: Writer,
}

/// Who makes the lines.
#[derive(Debug)]
enum Writer {
    /// In the thread that has the events.
    Here(Box<Pen>),
    /// In one beside it.
    Beside(Beside<Pen>),
}

impl EventLog {
    /// Writes the header to `output`, and then every event: in the binary form, or as lines.
    ///
    /// # Errors
    /// The header cannot be written.
    fn new(mut output: LineWriter, is_binary: bool, header: &Header) -> Result<EventLog, WriteError> {
        let level = header.level;
        let mut own = Header { checked: true, binary: is_binary.then(Binary::new), ..header.as_begun() };
        own.programs.take_if(|_| !level.has_inputs());
        let mut text = serde_json::to_vec(&own).expect("numbers and names");
        text.push(b'\n');
        output.unit(|line| line.extend_from_slice(&text))?;
        // A trace with nothing in it yet says what it is about; and what cannot be written at all is known at once.
        output.flush()?;
        let of = if is_binary { Pen::of_blocks } else { Pen::of_lines };
        Ok(EventLog { writer: Writer::Here(Box::new(of(&header.stations, level, output, &text))) })
    }

    /// The same in a new file, which is none of `others`.
    ///
    /// # Errors
    /// The file cannot be made, or the header not be written.
    pub fn create(path: &Path, others: &[&Path], header: &Header) -> Result<EventLog, WriteError> {
        EventLog::from_file(create(path, others)?, place_name(path), header)
    }

    /// The same in a file that the caller opened at `place`.
    ///
    /// # Errors
    /// The header cannot be written.
    pub fn from_file(file: File, place: String, header: &Header) -> Result<EventLog, WriteError> {
        let is_binary = binary::is_named(&place);
        let output = match is_binary {
            // Each piece is one block.
            true => LineWriter::of(file, place, header.level.holds(), |_| (0, 0)),
            false => LineWriter::new(file, place, header.level.holds()).with_last_words(check::last_words),
        };
        EventLog::new(output, is_binary, header)
    }

    /// The same in an empty file that others write to as well, at other times; nothing is taken back where it cannot be
    /// written any further.
    ///
    /// # Errors
    /// The header cannot be written.
    pub fn shared(file: Arc<File>, place: String, header: &Header) -> Result<EventLog, WriteError> {
        let is_binary = binary::is_named(&place);
        EventLog::new(LineWriter::shared(file, place, "events"), is_binary, header)
    }

    /// The same in memory, as lines.
    ///
    /// # Errors
    /// None: memory takes every line.
    pub fn in_memory(kept: &Arc<Mutex<Vec<u8>>>, header: &Header) -> Result<EventLog, WriteError> {
        EventLog::new(LineWriter::in_memory(kept), false, header)
    }

    /// The same in memory, in the binary form.
    ///
    /// # Errors
    /// None: memory takes every block.
    pub fn packed(kept: &Arc<Mutex<Vec<u8>>>, header: &Header) -> Result<EventLog, WriteError> {
        EventLog::new(LineWriter::in_memory(kept), true, header)
    }

    /// The digest is not wanted, which spares its work.
    pub fn without_digest(self) -> EventLog {
        self.wanted(Pen::without_digest)
    }

    /// That of a run, which keeps the digest only where a replay asks for it.
    pub fn of_a_run(self) -> EventLog {
        self.wanted(Pen::of_a_run)
    }

    /// Frames have no octets.
    pub fn without_octets(self) -> EventLog {
        self.wanted(Pen::without_octets)
    }

    fn wanted(mut self, say: impl FnOnce(&mut Pen)) -> EventLog {
        match &mut self.writer {
            Writer::Here(pen) => say(pen),
            Writer::Beside(_) => panic!("what is wanted is said before there is a thread"),
        }
        self
    }

    /// Takes what another trace has, in its place there, as far as it is of this level; `offered` says whom the frame of an `offered` is for.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn copy(&mut self, row: &Row, offered: Option<(Destination, bool)>) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.copy(row, offered),
            Writer::Beside(_) => panic!("a copy has no other thread"),
        }
    }

    /// Takes all that is left of another trace, as [`EventLog::copy`] does; the inner error is of the other one, and what came
    /// before it is taken.
    ///
    /// # Errors
    /// As [`EventLog::event`].
    pub fn copy_rest<R: BufRead>(
        &mut self,
        trace: &mut EventLogReader<R>,
    ) -> Result<Result<(), ReadError>, WriteError> {
        loop {
            match trace.next_row() {
                Ok(Some(row)) => self.copy(&row, trace.offered())?,
                Ok(None) => return Ok(trace.not_whole().map_or(Ok(()), |why| Err(ReadError::NotWhole { why }))),
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// Only keeps the digest.
    pub fn unwritten(header: &Header) -> EventLog {
        EventLog { writer: Writer::Here(Box::new(Pen::unwritten(&header.stations))) }
    }

    /// From now on lines are made and written in a thread of their own, if the system gives one. Errors come later, at
    /// the latest from [`EventLog::finish`].
    pub fn on_a_thread(self) -> EventLog {
        match self.writer {
            Writer::Here(mut pen) => {
                pen.write_beside();
                EventLog { writer: Beside::start("event log", pen).map_or_else(Writer::Here, Writer::Beside) }
            }
            Writer::Beside(_) => self,
        }
    }

    /// An input that the medium is about to be given at `at`. A trace with events has it where it took effect.
    ///
    /// # Errors
    /// As [`EventLog::event`].
    #[inline]
    pub fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.input(at, input, octets),
            Writer::Beside(thread) => thread.input(at, input, octets),
        }
    }

    /// This number of inputs, and events, could not be taken: a trace that has such ends here, for this reason. Whether it
    /// does.
    ///
    /// # Errors
    /// As [`EventLog::event`].
    pub fn miss(&mut self, inputs: u64, why: &str) -> Result<bool, WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.miss(inputs, why),
            Writer::Beside(_) => panic!("only a live bus loses inputs, and it has one thread for its files"),
        }
    }

    /// Takes one more event.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    #[inline(always)]
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => event_here(pen, event),
            Writer::Beside(thread) => thread.event(event),
        }
    }

    /// Takes an event of the emulator, which is no part of the digest.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.emulator(event),
            Writer::Beside(_) => panic!("only a live bus has an emulator, and it has one thread for its files"),
        }
    }

    /// Hands everything so far to the kernel. Inputs that no event has followed wait.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.flush(),
            Writer::Beside(thread) => thread.flush(),
        }
    }

    /// Writes what is left, inputs that no event has followed too, and gives the digest of all events.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn finish(&mut self) -> Result<Digest, WriteError> {
        self.finish_at(None)
    }

    /// The same, and how the run ended, which a replay needs.
    ///
    /// # Errors
    /// As [`EventLog::finish`].
    pub fn finish_at(&mut self, end: Option<End>) -> Result<Digest, WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.finish(end)?,
            Writer::Beside(thread) => thread.finish(end)?,
        }
        Ok(self.digest())
    }

    /// Hands everything so far to the kernel and ends the file, for this reason: from now on only the digest is kept.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn stop_writing(&mut self, why: &str) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.stop_writing(why),
            Writer::Beside(_) => panic!("only a live bus loses events, and it has one thread for its files"),
        }
    }

    /// The digest of all events so far; of a thread of its own, up to when it was last flushed.
    pub fn digest(&self) -> Digest {
        match &self.writer {
            Writer::Here(pen) => pen.digest().unwrap_or_default(),
            Writer::Beside(thread) => thread.told(),
        }
    }
}

#[inline(never)]
fn event_here(pen: &mut Pen, event: &Event) -> Result<(), WriteError> {
    pen.event(event)
}

impl Worker for Pen {
    type Told = Digest;

    fn take(&mut self, batch: &Batch) -> Result<(), WriteError> {
        take_each(self, batch)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Pen::flush(self)
    }

    fn finish(&mut self, end: Option<End>) -> Result<(), WriteError> {
        Pen::finish(self, end)
    }

    fn told(&self) -> Digest {
        self.digest().unwrap_or_default()
    }
}

/// In a thread of its own.
impl Observer for Pen {
    type Error = WriteError;

    #[inline]
    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        Pen::input(self, at, input, octets)
    }

    #[inline(always)]
    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        Pen::event(self, event)
    }

    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), WriteError> {
        Pen::given(self, Given::Call { at, station, call: call.clone() })
    }

    fn traffic(&mut self, at: BitInstant, station: StationId, arrivals: &str) -> Result<(), WriteError> {
        Pen::given(self, Given::Traffic { at, station, arrivals: arrivals.to_owned() })
    }

    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), WriteError> {
        Pen::given(self, Given::Restart { run_to, at })
    }
}

/// The trace takes what a run is given and what happens, as its level asks.
impl Observer for EventLog {
    type Error = WriteError;

    #[inline]
    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        EventLog::input(self, at, input, octets)
    }

    #[inline(always)]
    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        EventLog::event(self, event)
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        EventLog::emulator(self, event)
    }

    fn call(&mut self, at: BitInstant, station: StationId, call: &Call) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.call(at, station, call),
            Writer::Beside(thread) => thread.call(at, station, call),
        }
    }

    fn traffic(&mut self, at: BitInstant, station: StationId, arrivals: &str) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.traffic(at, station, arrivals),
            Writer::Beside(thread) => thread.traffic(at, station, arrivals),
        }
    }

    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.restart(run_to, at),
            Writer::Beside(thread) => thread.restart(run_to, at),
        }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        EventLog::flush(self)
    }

    fn end(&mut self, end: End) -> Result<(), WriteError> {
        self.finish_at(Some(end)).map(|_| ())
    }
}

#[cfg(test)]
mod tests;
