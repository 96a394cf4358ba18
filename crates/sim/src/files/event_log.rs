//! The event log: JSON Lines, a header and then one event a line. docs/trace.md tells every column.
//!
//! ```text
//!   {"format":"ethbus event log","version":1,…,"configuration":{…},"stations":["st1","st2"]}
//!   {"t":576,"kind":"attempt","station":"st1","frame":"st1#1","attempt":1,"excessive_deferral":false}
//! ```
//! Written by hand, since a run has millions; the same events give the same octets.

mod emulator;

pub use emulator::{EmulatorEvent, EmulatorKind};

use crate::files::json_lines::{LineReader, LineWriter, ReadError, WriteError, create};
use crate::words::configuration::Configuration;
use medium::{BitInstant, BitTimes, Cause, Config, Event, FrameId, Kind, Octets, StationId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::BufRead;
use std::path::Path;

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
    pub configuration: Configuration,
    /// The stations' names, in order of station number.
    pub stations: Vec<String>,
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
            configuration: Configuration::from(config),
            stations: stations.to_vec(),
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
        if named != stations {
            return Err(lines.wrong(format!("{named} names for {stations} stations: each has one")));
        }
        Ok(header)
    }

    /// What the medium was made from, events and outputs not kept.
    pub fn config(&self) -> Config {
        Config::try_from(self.configuration.clone()).expect("checked when it was read, or made from a medium's own")
    }
}

/// Stations' names, ready to be written and looked up.
#[derive(Clone, Debug)]
pub struct Names {
    /// As JSON strings, without the quotes.
    escaped: Vec<String>,
    numbers: HashMap<String, StationId>,
}

impl Names {
    /// Names in order of station number.
    pub fn new(names: &[String]) -> Names {
        let escape = |name: &String| {
            let quoted = serde_json::to_string(name).expect("a string");
            quoted[1..quoted.len() - 1].to_owned()
        };
        let numbers = names.iter().cloned().zip((0..).map(StationId::new)).collect();
        Names { escaped: names.iter().map(escape).collect(), numbers }
    }

    /// Which station is called so.
    pub fn station(&self, name: &str) -> Option<StationId> {
        self.numbers.get(name).copied()
    }

    /// Which frame is called so: a station, `#`, and which of its frames, from 1.
    pub fn frame(&self, name: &str) -> Option<FrameId> {
        let (station, serial) = name.rsplit_once('#')?;
        let serial = serial.parse().ok().filter(|&serial| serial > 0)?;
        Some(FrameId { station: self.station(station)?, serial })
    }

    pub(crate) fn escaped(&self, station: StationId) -> &str {
        &self.escaped[station.index()]
    }

    /// Appends `,"frame":"st1#17"`.
    fn write_frame(&self, line: &mut Vec<u8>, frame: FrameId) {
        string(line, "frame", self.escaped(frame.station));
        // Into the string just written: the frame's number after its station's name.
        line.pop();
        line.push(b'#');
        line.extend_from_slice(itoa::Buffer::new().format(frame.serial).as_bytes());
        line.push(b'"');
    }
}

/// Appends `,"name":value`.
pub(crate) fn number(line: &mut Vec<u8>, name: &str, value: u64) {
    key(line, name);
    line.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends `,"name":true` or `,"name":false`.
pub(crate) fn truth(line: &mut Vec<u8>, name: &str, value: bool) {
    key(line, name);
    line.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Appends `,"name":"text"`; `text` is such that it needs no escapes, or has them.
pub(crate) fn string(line: &mut Vec<u8>, name: &str, text: &str) {
    key(line, name);
    line.push(b'"');
    line.extend_from_slice(text.as_bytes());
    line.push(b'"');
}

pub(crate) fn key(line: &mut Vec<u8>, name: &str) {
    line.extend_from_slice(b",\"");
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b"\":");
}

/// Appends an event as the log has it, without the line's end.
fn write_event(line: &mut Vec<u8>, names: &Names, event: &Event) {
    let Event { at, station, frame, kind } = event;
    line.extend_from_slice(b"{\"t\":");
    line.extend_from_slice(itoa::Buffer::new().format(at.get()).as_bytes());
    string(line, "kind", kind.name());
    string(line, "station", names.escaped(*station));
    names.write_frame(line, *frame);
    write_kind(line, kind);
    line.push(b'}');
}

fn write_kind(line: &mut Vec<u8>, kind: &Kind) {
    match *kind {
        Kind::Offered { size } | Kind::Delivered { size } | Kind::TooLong { size } => {
            number(line, "size", size.get().into())
        }
        Kind::QueueDrop => {}
        Kind::Defer { attempt } | Kind::JamEnd { attempt } => number(line, "attempt", attempt.into()),
        Kind::Attempt { attempt, excessive_deferral, burst } => {
            number(line, "attempt", attempt.into());
            truth(line, "excessive_deferral", excessive_deferral);
            truth(line, "burst", burst);
        }
        Kind::Collision { attempt, late, episode } => {
            number(line, "attempt", attempt.into());
            truth(line, "late", late);
            number(line, "episode", episode);
        }
        Kind::Backoff { attempt, slots } => {
            number(line, "attempt", attempt.into());
            number(line, "slots", slots);
        }
        Kind::Transmitted { size, attempts, deferred, access_delay, mac_delay, extension, no_carrier } => {
            number(line, "size", size.get().into());
            number(line, "attempts", attempts.into());
            truth(line, "deferred", deferred);
            number(line, "access_delay", access_delay.get());
            number(line, "mac_delay", mac_delay.get());
            number(line, "extension", extension.get());
            truth(line, "no_carrier", no_carrier);
        }
        Kind::Discarded { cause, attempts } => {
            string(line, "cause", cause.name());
            number(line, "attempts", attempts.into());
        }
        Kind::Fragment { bits } | Kind::Damaged { bits } => number(line, "bits", bits.get()),
    }
}

/// How many events of the medium there were, and what their lines add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digest {
    /// How many.
    pub events: u64,
    /// CRC-32 (that of IEEE 802.3) over the log's lines for them, line ends included.
    pub crc32: u32,
}

/// Takes events: writes them if somebody wants them written, and keeps the digest of all.
#[derive(Debug)]
pub struct EventLog {
    names: Names,
    output: Option<LineWriter>,
    events: u64,
    crc32: crc32fast::Hasher,
    /// Room for one line.
    line: Vec<u8>,
}

impl EventLog {
    /// Writes the header to `output`, and then every event.
    ///
    /// # Errors
    /// The header cannot be written.
    fn new(mut output: LineWriter, header: &Header) -> Result<EventLog, WriteError> {
        output.line(|line| serde_json::to_writer(line, header).expect("numbers and names"))?;
        // A log with nothing in it yet says what it is about; and what cannot be written at all is known at once.
        output.flush()?;
        Ok(EventLog { output: Some(output), ..EventLog::unwritten(header) })
    }

    /// The same in a new file, which is none of `others`.
    ///
    /// # Errors
    /// The file cannot be made, or the header not be written.
    pub fn create(path: &Path, others: &[&Path], header: &Header) -> Result<EventLog, WriteError> {
        EventLog::from_file(create(path, others)?, path.display().to_string(), header)
    }

    /// The same in a file that somebody else opened at `place`.
    ///
    /// # Errors
    /// The header cannot be written.
    pub fn from_file(file: File, place: String, header: &Header) -> Result<EventLog, WriteError> {
        EventLog::new(LineWriter::new(file, place, "events"), header)
    }

    /// Only keeps the digest.
    pub fn unwritten(header: &Header) -> EventLog {
        let (names, crc32) = (Names::new(&header.stations), crc32fast::Hasher::new());
        EventLog { names, output: None, events: 0, crc32, line: Vec::new() }
    }

    /// Takes one more event.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.line.clear();
        write_event(&mut self.line, &self.names, event);
        self.crc32.update(&self.line);
        self.crc32.update(b"\n");
        self.events += 1;
        match &mut self.output {
            Some(output) => output.line(|buffer| buffer.extend_from_slice(&self.line)),
            None => Ok(()),
        }
    }

    /// Takes an event of the emulator, which is no part of the digest.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        let names = &self.names;
        self.output.as_mut().map_or(Ok(()), |output| output.line(|buffer| emulator::write(buffer, names, event)))
    }

    /// Hands everything so far to the kernel.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.output.as_mut().map_or(Ok(()), LineWriter::flush)
    }

    /// The digest of all events so far.
    pub fn digest(&self) -> Digest {
        Digest { events: self.events, crc32: self.crc32.clone().finalize() }
    }
}

/// What may stand in an event's line.
macro_rules! columns {
    ($($name:ident: $type:ty,)*) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Line<'a> {
            t: u64,
            #[serde(borrow)]
            layer: Option<Cow<'a, str>>,
            #[serde(borrow)]
            kind: Cow<'a, str>,
            #[serde(borrow)]
            station: Option<Cow<'a, str>>,
            #[serde(borrow)]
            frame: Option<Cow<'a, str>>,
            $($name: Option<$type>,)*
        }

        impl Line<'_> {
            /// A column that nobody has taken.
            fn left_over(&self) -> Option<&'static str> {
                for (name, there) in [("station", self.station.is_some()), ("frame", self.frame.is_some())] {
                    if there {
                        return Some(name);
                    }
                }
                $(if self.$name.is_some() { return Some(stringify!($name)); })*
                None
            }
        }
    };
}

columns! {
    size: u32,
    attempt: u32,
    excessive_deferral: bool,
    burst: bool,
    late: bool,
    episode: u64,
    slots: u64,
    attempts: u32,
    deferred: bool,
    access_delay: u64,
    mac_delay: u64,
    extension: u64,
    no_carrier: bool,
    cause: CauseName,
    bits: u64,
    real_ns: u64,
    ns: i64,
    copies: u64,
    count: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(remote = "Cause", rename_all = "snake_case")]
enum CauseMirror {
    ExcessiveCollisions,
    LateCollision,
    TooShort,
    TooLong,
    Detached,
}

#[derive(Clone, Copy, Deserialize)]
struct CauseName(#[serde(with = "CauseMirror")] Cause);

impl Line<'_> {
    fn take_station(&mut self, names: &Names) -> Result<StationId, String> {
        let station = self.station.take().ok_or_else(|| format!("no `station` in an event of kind `{}`", self.kind))?;
        names.station(&station).ok_or_else(|| format!("no station is called `{station}`"))
    }

    fn take_frame(&mut self, names: &Names) -> Result<FrameId, String> {
        let frame = self.frame.take().ok_or_else(|| format!("no `frame` in an event of kind `{}`", self.kind))?;
        let no_frame = || format!("`{frame}` is no frame: a station of the header, `#`, and a number from 1 are");
        names.frame(&frame).ok_or_else(no_frame)
    }

    fn nothing_left(&self) -> Result<(), String> {
        let wrong = |column| format!("`{column}` does not belong to an event of kind `{}`", self.kind);
        self.left_over().map_or(Ok(()), |column| Err(wrong(column)))
    }

    /// What happened, with everything that belongs to it and nothing else.
    fn take_kind(&mut self) -> Result<Kind, String> {
        macro_rules! take {
            ($column:ident) => {
                self.$column.take().ok_or(concat!("no `", stringify!($column), "`"))
            };
        }
        let mut take = || -> Result<Option<Kind>, &'static str> {
            let kind = match &*self.kind {
                "offered" => Kind::Offered { size: Octets::new(take!(size)?) },
                "queue_drop" => Kind::QueueDrop,
                "defer" => Kind::Defer { attempt: take!(attempt)? },
                "attempt" => Kind::Attempt {
                    attempt: take!(attempt)?,
                    excessive_deferral: take!(excessive_deferral)?,
                    burst: take!(burst)?,
                },
                "collision" => {
                    Kind::Collision { attempt: take!(attempt)?, late: take!(late)?, episode: take!(episode)? }
                }
                "jam_end" => Kind::JamEnd { attempt: take!(attempt)? },
                "backoff" => Kind::Backoff { attempt: take!(attempt)?, slots: take!(slots)? },
                "transmitted" => Kind::Transmitted {
                    size: Octets::new(take!(size)?),
                    attempts: take!(attempts)?,
                    deferred: take!(deferred)?,
                    access_delay: BitTimes::new(take!(access_delay)?),
                    mac_delay: BitTimes::new(take!(mac_delay)?),
                    extension: BitTimes::new(take!(extension)?),
                    no_carrier: take!(no_carrier)?,
                },
                "discarded" => Kind::Discarded { cause: take!(cause)?.0, attempts: take!(attempts)? },
                "delivered" => Kind::Delivered { size: Octets::new(take!(size)?) },
                "fragment" => Kind::Fragment { bits: BitTimes::new(take!(bits)?) },
                "damaged" => Kind::Damaged { bits: BitTimes::new(take!(bits)?) },
                "too_long" => Kind::TooLong { size: Octets::new(take!(size)?) },
                _ => return Ok(None),
            };
            Ok(Some(kind))
        };
        let taken = take().map_err(|missing| format!("{missing} in an event of kind `{}`", self.kind))?;
        let kind = taken.ok_or_else(|| format!("`{}` is no kind of event", self.kind))?;
        self.nothing_left().map(|()| kind)
    }
}

/// Reads an event log, one event at a time.
#[derive(Debug)]
pub struct EventLogReader<R> {
    lines: LineReader<R>,
    header: Header,
    names: Names,
    now: u64,
}

impl<R: BufRead> EventLogReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// What is no event log, or one of a medium that cannot be.
    pub fn new(mut lines: LineReader<R>) -> Result<EventLogReader<R>, ReadError> {
        let header = Header::read(&mut lines, FORMAT, VERSION)?;
        let names = Names::new(&header.stations);
        Ok(EventLogReader { lines, header, names, now: 0 })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The stations' names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The next event of the medium; `None` at the end of the log.
    ///
    /// # Errors
    /// As [`EventLogReader::next_entry`].
    pub fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        loop {
            match self.next_entry()? {
                Some(Entry::Medium(event)) => return Ok(Some(event)),
                Some(Entry::Emulator(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// The next event of either layer; `None` at the end of the log.
    ///
    /// # Errors
    /// A line that is no event, or one of before the last; a log that ends within a line.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let mut line: Line<'_> =
            serde_json::from_slice(self.lines.line()).map_err(|error| self.lines.wrong_json(&error))?;
        let now = line.t;
        let entry = entry(&mut line, &self.names, self.now).map_err(|what| self.lines.wrong(what))?;
        self.now = now;
        Ok(Some(entry))
    }
}

/// An event of one layer or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It happened on the medium.
    Medium(Event),
    /// It happened to the emulator.
    Emulator(EmulatorEvent),
}

fn entry(line: &mut Line<'_>, names: &Names, now: u64) -> Result<Entry, String> {
    if line.t < now {
        return Err(format!("`t` is {}, but the line before is of {now}: time never goes back", line.t));
    }
    match line.layer.take() {
        None => event(line, names).map(Entry::Medium),
        Some(layer) if layer == emulator::LAYER => emulator::take(line, names).map(Entry::Emulator),
        Some(layer) => Err(format!("`{layer}` is no layer: events of the medium have none, others are of `emulator`")),
    }
}

fn event(line: &mut Line<'_>, names: &Names) -> Result<Event, String> {
    let (station, frame) = (line.take_station(names)?, line.take_frame(names)?);
    Ok(Event { at: BitInstant::new(line.t), station, frame, kind: line.take_kind()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{BitRate, Topology};

    fn names() -> Vec<String> {
        // An interface may be called so.
        ["st1", "s\"#2"].map(str::to_owned).to_vec()
    }

    fn header() -> Header {
        Header::new("lab", &Config::new(BitRate::MBIT_10, Topology::star(2, 50), 7), &names())
    }

    /// One of each kind, no value a default; the match makes the compiler ask for kinds to come.
    fn one_of_each() -> Vec<Event> {
        let causes =
            [Cause::ExcessiveCollisions, Cause::LateCollision, Cause::TooShort, Cause::TooLong, Cause::Detached];
        let kinds = [
            Kind::Offered { size: Octets::new(46) },
            Kind::QueueDrop,
            Kind::Defer { attempt: 1 },
            Kind::Attempt { attempt: 2, excessive_deferral: true, burst: true },
            Kind::Collision { attempt: 3, late: true, episode: 9 },
            Kind::JamEnd { attempt: 4 },
            Kind::Backoff { attempt: 5, slots: 1023 },
            Kind::Transmitted {
                size: Octets::new(64),
                attempts: 6,
                deferred: true,
                access_delay: BitTimes::new(1 << 40),
                mac_delay: BitTimes::new(u64::MAX),
                extension: BitTimes::new(3584),
                no_carrier: true,
            },
            Kind::Delivered { size: Octets::new(1518) },
            Kind::Fragment { bits: BitTimes::new(32) },
            Kind::Damaged { bits: BitTimes::new(513) },
            Kind::TooLong { size: Octets::new(24_992) },
        ];
        let discards = causes.map(|cause| Kind::Discarded { cause, attempts: 16 });
        let event = |(at, kind): (u64, Kind)| match kind {
            Kind::Offered { .. } | Kind::QueueDrop | Kind::Defer { .. } | Kind::Attempt { .. } => (at, 0, 1, kind),
            Kind::Collision { .. } | Kind::JamEnd { .. } | Kind::Backoff { .. } => (at, 1, 1, kind),
            Kind::Transmitted { .. } | Kind::Discarded { .. } => (at, 1, 1, kind),
            Kind::Delivered { .. } | Kind::Fragment { .. } => (at, 0, 1, kind),
            Kind::Damaged { .. } | Kind::TooLong { .. } => (at, 0, 1, kind),
        };
        let events = (5..).zip(kinds.into_iter().chain(discards)).map(event);
        events
            .map(|(at, station, source, kind)| Event {
                at: BitInstant::new(at),
                station: StationId::new(station),
                frame: FrameId { station: StationId::new(source), serial: 1 << 33 },
                kind,
            })
            .collect()
    }

    fn log_of(events: &[Event]) -> (Vec<u8>, Digest) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut log = EventLog::create(file.path(), &[], &header()).expect("a file");
        events.iter().for_each(|event| log.event(event).expect("room"));
        log.flush().expect("room");
        (std::fs::read(file.path()).expect("a file"), log.digest())
    }

    fn read(text: &[u8]) -> Result<Vec<Event>, ReadError> {
        let mut log = EventLogReader::new(LineReader::new(text, "x".to_owned()))?;
        std::iter::from_fn(|| log.next_event().transpose()).collect()
    }

    #[test]
    fn every_kind_comes_back_as_it_was_written() {
        let (text, digest) = log_of(&one_of_each());
        assert_eq!(read(&text).expect("a log"), one_of_each());
        let lines = text.iter().position(|&octet| octet == b'\n').expect("a header") + 1;
        let crc32 = crc32fast::hash(&text[lines..]);
        assert_eq!(digest, Digest { events: one_of_each().len() as u64, crc32 });
    }

    /// Both layers stand in one log, in order; only what happened on the medium makes the digest.
    #[test]
    fn events_of_the_emulator_come_back_and_change_no_digest() {
        let (plain, digest) = log_of(&one_of_each());
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut log = EventLog::create(file.path(), &[], &header()).expect("a file");
        one_of_each().iter().for_each(|event| log.event(event).expect("room"));
        let happened = emulator::tests::one_of_each();
        happened.iter().for_each(|event| log.emulator(event).expect("room"));
        log.flush().expect("room");
        assert_eq!(log.digest(), digest);
        let text = std::fs::read_to_string(file.path()).expect("UTF-8");
        let medium: String =
            text.split_inclusive('\n').filter(|line| !line.contains("\"layer\":\"emulator\"")).collect();
        assert_eq!(medium.as_bytes(), plain, "what is left without them is the log of a replay");

        let mut log = EventLogReader::new(LineReader::new(text.as_bytes(), "x".to_owned())).expect("a log");
        let entries: Vec<Entry> = std::iter::from_fn(|| log.next_entry().expect("a log")).collect();
        let wanted = one_of_each().into_iter().map(Entry::Medium).chain(happened.into_iter().map(Entry::Emulator));
        assert_eq!(entries, wanted.collect::<Vec<_>>());
        assert_eq!(read(text.as_bytes()).expect("a log"), one_of_each());
    }

    #[test]
    fn a_damaged_line_of_the_emulator_is_named_with_what_is_wrong() {
        let header = String::from_utf8(log_of(&[]).0).expect("UTF-8");
        for (line, words) in [
            (r#""layer":"emulator","kind":"slip","ns":1"#, "no `real_ns` in an event of the layer `emulator`"),
            (r#""layer":"emulator","real_ns":1,"kind":"slip""#, "no `ns` in an event of kind `slip`"),
            (r#""layer":"emulator","real_ns":1,"kind":"slip","ns":-1"#, "`ns` is -1, and is a length"),
            (r#""layer":"emulator","real_ns":1,"kind":"slip","ns":1,"size":3"#, "`size` does not belong"),
            (r#""layer":"emulator","real_ns":1,"kind":"slip","ns":1,"station":"st1""#, "`station` does not belong"),
            (r#""layer":"emulator","real_ns":1,"kind":"offered","ns":1"#, "`offered` is no kind of event of the layer"),
            (r#""layer":"emulator","real_ns":1,"kind":"port_up","station":"st9""#, "no station is called `st9`"),
            (r#""layer":"emulator","real_ns":1,"kind":"late_arrival","ns":1"#, "no `frame` in an event of kind"),
            (r#""layer":"host","kind":"slip""#, "`host` is no layer"),
            (r#""kind":"queue_drop","station":"st1","frame":"st1\u00231","ns":1"#, "`ns` does not belong"),
            (r#""kind":"queue_drop","station":"st1""#, "no `frame` in an event of kind `queue_drop`"),
        ] {
            let error = read(format!("{header}{{\"t\":1,{line}}}\n").as_bytes()).expect_err(words).to_string();
            assert!(error.starts_with("x, line 2: ") && error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_line_is_as_docs_trace_md_shows_it() {
        let (text, _) = log_of(&one_of_each()[3..5]);
        let text = String::from_utf8(text).expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with(r#"{"format":"ethbus event log","version":1,"program":"ethbus "#), "{text}");
        let attempt = r##"{"t":8,"kind":"attempt","station":"st1","frame":"s\"#2#8589934592","attempt":2,"excessive_deferral":true,"burst":true}"##;
        let collision = r##"{"t":9,"kind":"collision","station":"s\"#2","frame":"s\"#2#8589934592","attempt":3,"late":true,"episode":9}"##;
        assert_eq!(lines[1..], [attempt, collision]);
    }

    #[test]
    fn a_damaged_line_is_named_with_what_is_wrong() {
        let (good, _) = log_of(&one_of_each()[..3]);
        let good = String::from_utf8(good).expect("UTF-8");
        for (from, to, words) in [
            ("\"size\":46", "\"size\":46,\"slots\":1", "line 2: `slots` does not belong to an event of kind `offered`"),
            ("\"size\":46", "\"bits\":46", "line 2: no `size` in an event of kind `offered`"),
            ("\"size\":46", "\"length\":46", "line 2: unknown field `length`"),
            ("\"size\":46", "\"size\":-46", "line 2: invalid value: integer `-46`"),
            ("\"t\":6", "\"t\":4", "line 3: `t` is 4, but the line before is of 5"),
            ("queue_drop", "queue_dorp", "line 3: `queue_dorp` is no kind of event"),
            ("\"station\":\"st1\"", "\"station\":\"st3\"", "line 2: no station is called `st3`"),
            ("#8589934592", "#0", "is no frame: a station of the header, `#`, and a number from 1 are"),
            ("\"seed\":7", "\"seed\":true", "line 1: invalid type: boolean `true`, expected u64"),
            ("\"version\":1", "\"version\":2", "line 1: version 2 of the format; this program reads version 1"),
            (
                "ethbus event log",
                "ethbus record",
                "line 1: this is an ethbus record, where an ethbus event log is wanted",
            ),
            ("\"stations\":2", "\"stations\":3", "line 1: 2 names for 3 stations"),
            ("\"slot_time_bt\":512", "\"slot_time_bt\":0", "line 1: configuration: slot_time is out of range"),
            ("{\"format\"", "\u{0}", "line 1: this is no ethbus event log"),
        ] {
            assert!(good.contains(from), "{good}");
            let error = read(good.replacen(from, to, 1).as_bytes()).expect_err(to).to_string();
            assert!(error.starts_with("x, line ") && error.contains(words), "{error}");
        }
        let error = read(&good.as_bytes()[..good.len() - 9]).expect_err("cut").to_string();
        assert_eq!(error, "x, line 4: the file was cut short here; 3 whole lines are before it");
        assert!(read(b"").expect_err("empty").to_string().contains("line 1: the file was cut short here"));
    }
}
