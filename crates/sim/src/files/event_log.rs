//! The event log: JSON Lines, a header and then one event a line. docs/trace.md tells every column.
//!
//! ```text
//!   {"format":"ethbus event log","version":1,…,"configuration":{…},"stations":["st1","st2"]}
//!   {"t":576,"kind":"attempt","station":"st1","frame":"st1#1","attempt":1,"excessive_deferral":false}
//! ```
//! Written by hand, since a run has millions; the same events give the same octets.
//!
//! What is done to the medium (faults, cuts, stations that come and go) has lines of the layer `deed`, and an `offered`
//! line says whom its frame is for. The digest leaves both out: it is over what the medium itself did, as records of
//! version 1 have always had it, and what was done to the medium is in the record already.

pub mod binary;
mod check;
mod emulator;
mod joined;
mod line;
mod names;
mod pen;
mod read;
mod sheet;
mod text;

pub(crate) use emulator::write as write_emulator;
pub use emulator::{Container, EMULATOR_KINDS, EmulatorEvent, EmulatorKind};
pub use names::Names;
pub use read::{Entry, EventLogReader};
pub use sheet::write_event;

pub use crate::files::inputs::write_octets;

use crate::files::beside::{Beside, Note, Worker, take_each};
use crate::files::inputs;
use crate::files::json_lines::{LineReader, LineWriter, ReadError, WriteError, create};
use crate::files::observer::Observer;
use crate::files::output::place_name;
use crate::files::programs::Programs;
use crate::files::record::End;
use crate::words::configuration::WrittenConfig;
use binary::Binary;
use medium::{BitInstant, Config, Destination, Event, Input, Place, StationId, Topology};
use pen::Pen;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::File;
use std::io::BufRead;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The version of event logs.
pub const VERSION: u32 = 1;
const FORMAT: &str = "ethbus event log";

/// The first line of an event log, and of a record: what the run was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// What the file is.
    pub format: String,
    /// The format's version.
    pub version: u32,
    /// The program that wrote it.
    pub program: String,
    /// The lab's or scenario's name; may be empty.
    pub name: String,
    /// What the medium was made from, the seed included.
    pub configuration: WrittenConfig,
    /// The stations' names, in order of station number.
    pub stations: Vec<String>,
    /// The log has everything from this instant on, in bit times, and before it only frames that were not over then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_from_bt: Option<u64>,
    /// The log proves that it is whole, with lines of the layer `check`.
    #[serde(default, skip_serializing_if = "crate::words::configuration::is_false")]
    pub checked: bool,
    /// What follows the header is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<Binary>,
    /// The record of a virtual lab has its programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<Programs>,
    /// The places of stations that join in this file at places of their own.
    #[serde(skip)]
    pub placed: Vec<(StationId, Place)>,
}

/// A header's first two fields, which every version has.
#[derive(Deserialize)]
struct Identity {
    format: String,
    version: u32,
}

impl Header {
    /// The header of an event log about a medium made from `config`.
    pub fn new(name: &str, config: &Config, stations: &[String]) -> Header {
        Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            program: concat!("ethbus ", env!("CARGO_PKG_VERSION")).to_owned(),
            name: name.to_owned(),
            configuration: WrittenConfig::from(config),
            stations: stations.to_vec(),
            kept_from_bt: None,
            checked: false,
            binary: None,
            programs: None,
            placed: Vec::new(),
        }
    }

    /// The same for a file of another format.
    pub fn of_format(self, format: &str, version: u32) -> Header {
        Header { format: format.to_owned(), version, ..self }
    }

    /// Reads the first line of a file of this format and version.
    ///
    /// # Errors
    /// An empty file, another format or version, a configuration that makes no medium, names that are not one each.
    pub fn read<R: BufRead>(lines: &mut LineReader<R>, format: &str, version: u32) -> Result<Header, ReadError> {
        if !lines.advance()? {
            return Err(lines.cut_short(format!("the first line of an {format} is its header")));
        }
        let not_ours =
            |_| lines.wrong(format!("this is no {format}: the first line of one begins {{\"format\":\"{format}\""));
        let identity: Identity = lines.json().map_err(not_ours)?;
        if identity.format != format {
            return Err(lines.wrong(format!("this is an {}, where an {format} is wanted", identity.format)));
        }
        if identity.version != version {
            return Err(lines
                .wrong(format!("version {} of the format; this program reads version {version}", identity.version)));
        }
        let header: Header = lines.json()?;
        Config::try_from(header.configuration.clone())
            .map_err(|error| lines.wrong(format!("configuration: {error}")))?;
        let (named, stations) = (header.stations.len(), header.configuration.stations());
        // A station that has not joined has no name.
        if !(stations - header.configuration.config().seats..=stations).contains(&named) {
            return Err(lines.wrong(format!("{named} names for {stations} stations: each has one")));
        }
        let mut others = HashSet::new();
        match header.stations.iter().find(|name| !others.insert(name.as_str())) {
            Some(name) => Err(lines.wrong(format!("two stations are called `{name}`: each has a name of its own"))),
            None => Ok(header),
        }
    }

    /// The stations' names, and for each seat where no station has been a text that is no name.
    pub fn seats(&self) -> Vec<String> {
        let (named, all) = (self.stations.len(), self.configuration.stations());
        self.stations.iter().cloned().chain((named..all).map(|seat| format!("+{}", seat + 1))).collect()
    }

    /// The same with the names of those that were there from the beginning: the others have lines of their own.
    pub(super) fn as_begun(&self) -> Header {
        let mut own = self.clone();
        own.stations.truncate(self.configuration.stations() - self.configuration.config().seats);
        own
    }

    /// Knows the stations that join in the file that this is the first line of: each window has them from its beginning.
    ///
    /// Of a pipe nothing is known before it is read.
    pub(super) fn look_ahead(&mut self, path: &Path) {
        let room = self.configuration.stations() - self.stations.len();
        if room > 0 && path.is_file() {
            let joined = joined::stations(path, &self.stations).unwrap_or_default();
            for (seat, (name, place)) in (self.stations.len() as u16..).zip(joined.into_iter().take(room)) {
                self.stations.push(name);
                self.placed.extend(place.map(|place| (StationId::new(seat), place)));
            }
        }
    }

    /// What the medium was made from, events and outputs not kept; stations that join at places of their own are there.
    pub fn config(&self) -> Config {
        let begun = self.begun();
        let place = |topology: Topology, &(seat, place): &(StationId, Place)| {
            topology.with_place(seat, place).ok().flatten().unwrap_or(topology)
        };
        Config { topology: self.placed.iter().fold(begun.topology.clone(), place), ..begun }
    }

    /// The same as it was at the first instant, from which a run can be made again.
    pub fn begun(&self) -> Config {
        Config::try_from(self.configuration.clone()).expect("checked when it was read, or made from a medium's own")
    }
}

/// Appends an event, or an input that is no frame, as a line has it, without the line's end.
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
    /// CRC-32 (that of IEEE 802.3) over the log's lines for them, line ends included, without `destination` and `tagged`.
    pub crc32: u32,
}

/// Takes events: writes them if a log is wanted, and keeps the digest of all.
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
        let own = Header { checked: true, binary: is_binary.then(Binary::new), programs: None, ..header.as_begun() };
        let mut text = serde_json::to_vec(&own).expect("numbers and names");
        text.push(b'\n');
        output.unit(|line| line.extend_from_slice(&text))?;
        // A log with nothing in it yet says what it is about; and what cannot be written at all is known at once.
        output.flush()?;
        let of = if is_binary { Pen::of_blocks } else { Pen::of_lines };
        Ok(EventLog { writer: Writer::Here(Box::new(of(&header.stations, output, &text))) })
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
            true => LineWriter::of(file, place, "events", |_| (0, 0)),
            false => LineWriter::new(file, place, "events").with_last_words(check::last_words),
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

    /// The digest is not wanted, which spares its work.
    pub fn without_digest(mut self) -> EventLog {
        match &mut self.writer {
            Writer::Here(pen) => pen.without_digest(),
            Writer::Beside(_) => panic!("what is wanted is said before there is a thread"),
        }
        self
    }

    /// Takes what another log has, in its place there; `offered` says whom the frame of an `offered` is for.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn copy(&mut self, entry: &Entry, offered: Option<(Destination, bool)>) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.copy(entry, offered),
            Writer::Beside(_) => panic!("a copy has no other thread"),
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

    /// An input that the medium is about to be given at `at`. The log writes it where it took effect.
    ///
    /// # Errors
    /// As [`EventLog::event`].
    #[inline]
    pub fn input(&mut self, at: BitInstant, input: &Input) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => {
                pen.input(at, input);
                Ok(())
            }
            Writer::Beside(thread) => thread.input(at, input, None),
        }
    }

    /// Some inputs before this moment are not known: what was to be written of the others is left out.
    pub fn forget_inputs(&mut self) {
        match &mut self.writer {
            Writer::Here(pen) => pen.forget_inputs(),
            Writer::Beside(_) => panic!("only a live bus loses inputs, and it has one thread for its files"),
        }
    }

    /// Takes one more event.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    #[inline]
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        match &mut self.writer {
            Writer::Here(pen) => pen.event(event),
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
        match &mut self.writer {
            Writer::Here(pen) => pen.finish()?,
            Writer::Beside(thread) => thread.finish(None)?,
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
            Writer::Here(pen) => pen.digest(),
            Writer::Beside(thread) => thread.told(),
        }
    }
}

impl Worker for Pen {
    type Told = Digest;

    fn take(&mut self, batch: &[Note]) -> Result<(), WriteError> {
        take_each(self, batch)
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        Pen::flush(self)
    }

    fn finish(&mut self, _: Option<End>) -> Result<(), WriteError> {
        Pen::finish(self)
    }

    fn told(&self) -> Digest {
        self.digest()
    }
}

/// In a thread of its own.
impl Observer for Pen {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        Pen::input(self, at, input);
        Ok(())
    }

    #[inline]
    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        Pen::event(self, event)
    }
}

#[cfg(test)]
mod tests;
