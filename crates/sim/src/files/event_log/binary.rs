//! The binary form of a trace: the header's line, and blocks of records after it (docs/trace.md).
//!
//! ```text
//!   header line ⏎ | length  crc32  payload | length  crc32  payload | …        length, crc32: 4 octets, little endian
//!   payload:        record record …                       crc32: over the header's line and all payloads so far
//!   event:          head  t  station [frame's station] [serial] fields… [destination]         numbers: LEB128
//!   offered frame:  0x3e  t  station  size  destination  [1 + length of octets, or 0]  octets
//!   line:           0x3f  length  the line that the text form has for it
//! ```
//! The header names the kinds and their fields, so that a kind needs no code here. What is rare is a line of text.

use super::check;
use super::names::Names;
use super::record::{RECORD, Record, unzigzag, zigzag};
use super::{EmulatorEvent, emulator};
use crate::files::inputs::{self, Given};
use crate::files::json_lines::PIECE;
use medium::{BitInstant, Deed, Destination, Event, Frame, FrameId, Kind, Octets, Shape, StationId, Value};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How the names of binary traces end.
pub const ENDING: &str = "ebe";
/// The head of a line of text; heads of events have the number of their kind in these bits.
const LINE: u8 = 0x3f;
/// The head of a frame that a run was given.
const OFFER: u8 = 0x3e;
/// The frame's station is another one.
const FOREIGN: u8 = 0x80;
/// The serial is another one than that of the station's latest frame.
const SERIAL: u8 = 0x40;
/// Octets before a block's payload.
const HEAD: usize = 8;
/// The longest payload that is read: a writer's are as long as a piece of a file, and a record.
const LONGEST: u32 = 1 << 20;

const _: () = assert!(Kind::ALL.len() <= OFFER as usize, "kinds fit into a head");

/// Whether a trace of this name is binary.
pub fn is_named(place: &str) -> bool {
    Path::new(place).extension().is_some_and(|ending| ending == ENDING)
}

/// What the header says of a binary trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binary {
    /// The kinds of events, in the order of their numbers.
    kinds: Vec<KindFields>,
}

/// A kind, and its fields in the order in which records have them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindFields {
    name: String,
    fields: Vec<(String, FieldShape)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FieldShape {
    Number,
    Truth,
    Word,
}

impl Binary {
    /// That of the kinds that this program knows.
    pub(super) fn new() -> Binary {
        let shape = |shape: &Shape| match shape {
            Shape::Number => FieldShape::Number,
            Shape::Truth => FieldShape::Truth,
            Shape::Word => FieldShape::Word,
        };
        let kind = |((name, fields), shapes): (&(&str, &[&str]), &&[Shape])| KindFields {
            name: (*name).to_owned(),
            fields: fields.iter().zip(*shapes).map(|(field, it)| ((*field).to_owned(), shape(it))).collect(),
        };
        Binary { kinds: Kind::ALL.iter().zip(Kind::SHAPES).map(kind).collect() }
    }
}

/// Makes blocks.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Room for a block's head and its payload, and one record at least.
    block: Vec<u8>,
    /// How much of it is written.
    filled: usize,
    records: u64,
    /// Records so far, and the header.
    lines: u64,
    crc32: crc32fast::Hasher,
    /// The latest event's instant.
    t: u64,
    /// That of the latest record.
    latest: u64,
    /// Each station's latest frame.
    serials: Vec<u64>,
}

impl Blocks {
    /// Blocks after a header, its line's end included.
    pub fn after(header: &[u8], stations: usize) -> Blocks {
        let mut crc32 = crc32fast::Hasher::new();
        crc32.update(header);
        let serials = vec![0; stations];
        let mut blocks = Blocks { block: Vec::new(), filled: 0, records: 0, lines: 1, crc32, t: 0, latest: 0, serials };
        blocks.begin();
        blocks
    }

    /// Knows this number of stations.
    pub fn know(&mut self, stations: usize) {
        self.serials.resize(stations, 0);
    }

    /// Makes room for another block's head.
    pub fn begin(&mut self) {
        self.block.clear();
        self.filled = HEAD;
        self.make_room();
    }

    /// Most records are written in place, without asking for room.
    #[cold]
    fn make_room(&mut self) {
        self.block.resize(self.filled.max(PIECE) + RECORD, 0);
    }

    /// The place of the next record.
    #[inline(always)]
    fn place(&mut self) -> Record<'_> {
        Record::at(&mut self.block[self.filled..])
    }

    /// A record of this length is in its place.
    #[inline(always)]
    fn keep(&mut self, length: u8) {
        self.filled += usize::from(length);
        self.records += 1;
        if self.block.len() < self.filled + RECORD {
            self.make_room();
        }
    }

    /// The same, and `text` comes after it.
    fn keep_with(&mut self, length: u8, text: &[u8]) {
        let begin = self.filled + usize::from(length);
        let end = begin + text.len();
        if self.block.len() < end {
            self.block.resize(end, 0);
        }
        self.block[begin..end].copy_from_slice(text);
        self.filled = end - usize::from(length);
        self.keep(length);
    }

    /// Writes an event; `offered` is the frame of one that is `offered`, if its input is known.
    #[inline(always)]
    pub fn event(&mut self, event: &Event, offered: Option<&Frame>) {
        let Event { at, station, frame, kind } = *event;
        let latest = std::mem::replace(&mut self.serials[frame.station.index()], frame.serial);
        let foreign = if frame.station == station { 0 } else { FOREIGN };
        let serial = if frame.serial == latest { 0 } else { SERIAL };
        let passed = at.get().wrapping_sub(self.t);
        let mut record = self.place();
        record.octet(kind.number() as u8 | foreign | serial);
        record.number(passed);
        record.number(station.index() as u64);
        if foreign != 0 {
            record.number(frame.station.index() as u64);
        }
        if serial != 0 {
            record.number(zigzag(frame.serial.wrapping_sub(latest)));
        }
        kind.fields(&mut record);
        if matches!(kind, Kind::Offered { .. }) {
            record.number(offered.map_or(0, destination_code));
        }
        let length = record.length;
        self.keep(length);
        (self.t, self.latest) = (at.get(), at.get());
    }

    /// Writes a frame that the run was given.
    pub fn offer(&mut self, at: BitInstant, station: StationId, frame: &Frame, octets: Option<&[u8]>) {
        let passed = at.get().wrapping_sub(self.t);
        let mut record = self.place();
        record.octet(OFFER);
        record.number(passed);
        record.number(station.index() as u64);
        record.number(frame.size.get().into());
        record.number(destination_code(frame));
        record.number(octets.map_or(0, |octets| 1 + octets.len() as u64));
        let length = record.length;
        self.keep_with(length, octets.unwrap_or_default());
        (self.t, self.latest) = (at.get(), at.get());
    }

    pub fn deed(&mut self, names: &Names, at: BitInstant, deed: Deed) {
        self.latest = at.get();
        self.line(|text| inputs::write_deed(text, names, at, deed));
    }

    /// Writes what the run was given, neither frame nor deed.
    pub fn given(&mut self, names: &Names, given: &Given) {
        self.line(|text| inputs::write_given(text, names, given));
    }

    pub fn emulator(&mut self, names: &Names, event: &EmulatorEvent) {
        self.latest = event.at.get();
        self.line(|text| emulator::write(text, names, event));
    }

    /// Writes the last record. Its lines are records, and the header.
    pub fn end(&mut self, broken_off: Option<&str>) {
        let kind = broken_off.map_or(check::Kind::End, check::Kind::BrokenOff);
        let (t, lines) = (self.latest, self.lines + self.records);
        self.line(|text| {
            check::write(text, t, kind, lines, None);
            text.pop();
        });
    }

    /// A line without its end.
    fn line(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut text = Vec::new();
        write(&mut text);
        let mut record = self.place();
        record.octet(LINE);
        record.number(text.len() as u64);
        let length = record.length;
        self.keep_with(length, &text);
    }

    /// Whether there is enough to be taken.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.filled >= PIECE
    }

    /// A whole block, and how many records it has; nothing if it has none. [`Blocks::begin`] comes after it.
    pub fn take(&mut self) -> Option<(&mut Vec<u8>, u64)> {
        if self.records == 0 {
            return None;
        }
        let records = std::mem::take(&mut self.records);
        self.lines += records;
        self.block.truncate(self.filled);
        let payload = &self.block[HEAD..];
        self.crc32.update(payload);
        let (length, crc32) = (payload.len() as u32, self.crc32.clone().finalize());
        self.block[..4].copy_from_slice(&length.to_le_bytes());
        self.block[4..HEAD].copy_from_slice(&crc32.to_le_bytes());
        Some((&mut self.block, records))
    }
}

/// Whom a frame is for, and whether it is tagged; 0 is what is not known.
fn destination_code(frame: &Frame) -> u64 {
    let to = match frame.destination {
        Destination::All => 1,
        Destination::Nobody | Destination::Beyond(_) => 2,
        Destination::Station(station) => 3 + station.index() as u64,
    };
    to << 1 | u64::from(frame.tagged)
}

/// A record that was read.
pub(super) enum Read<'a> {
    /// An event, and for one that is `offered` whom the frame is for, if it tells.
    Event(Event, Option<(Destination, bool)>),
    /// A frame that the run was given.
    Offer { at: BitInstant, station: StationId, frame: Frame, octets: Option<&'a [u8]> },
    /// A line of text.
    Line(&'a [u8]),
}

/// Reads records.
#[derive(Clone, Debug)]
pub(super) struct Blocked {
    kinds: Vec<KindFields>,
    stations: usize,
    crc32: crc32fast::Hasher,
    /// How far the present payload has been read; beyond its end before there is one.
    from: usize,
    t: u64,
    serials: Vec<u64>,
    /// Records that were read, and the header.
    pub lines: u64,
}

impl Blocked {
    /// Of a trace that has its header, the line's end included.
    pub fn after(header: &[u8], binary: &Binary, stations: usize) -> Blocked {
        let mut crc32 = crc32fast::Hasher::new();
        crc32.update(header);
        let (kinds, serials) = (binary.kinds.clone(), vec![0; stations]);
        Blocked { kinds, stations, crc32, from: usize::MAX, t: 0, serials, lines: 1 }
    }

    /// Knows this number of stations.
    pub fn know(&mut self, stations: usize) {
        self.stations = stations;
        self.serials.resize(stations, 0);
    }

    /// The length of a block's payload.
    ///
    /// # Errors
    /// A block that no writer makes.
    pub fn length(head: &[u8; HEAD]) -> Result<usize, String> {
        match half(head, 0) {
            length @ 1..=LONGEST => Ok(length as usize),
            length => Err(format!("a block of {length} octets: it has from 1 to {LONGEST}")),
        }
    }

    /// Begins with another block.
    ///
    /// # Errors
    /// It is not the one that was written here.
    pub fn begin(&mut self, head: &[u8; HEAD], payload: &[u8]) -> Result<(), String> {
        self.crc32.update(payload);
        self.from = 0;
        // What is fuzzed is what comes after it.
        if cfg!(fuzzing) || self.crc32.clone().finalize() == half(head, 4) {
            return Ok(());
        }
        Err("this block or one before it was changed, is missing or in another place: take the trace as it was written"
            .to_owned())
    }

    /// The next record; nothing at the payload's end.
    ///
    /// # Errors
    /// A record that no writer makes.
    pub fn next<'a>(&mut self, payload: &'a [u8]) -> Result<Option<Read<'a>>, String> {
        let mut octets = Octet { octets: payload.get(self.from..).unwrap_or_default() };
        let Some(head) = octets.next() else { return Ok(None) };
        self.lines += 1;
        let read = match head & LINE {
            LINE => octets.word()?.map_or_else(cut, |line| Ok(Read::Line(line))),
            OFFER => self.offer(&mut octets),
            number => self.event(&mut octets, head, number),
        };
        self.from = payload.len() - octets.octets.len();
        read.map(Some)
    }

    fn offer<'a>(&mut self, octets: &mut Octet<'a>) -> Result<Read<'a>, String> {
        let t = self.t.checked_add(octets.number()?).ok_or("an instant beyond all others")?;
        let station = station(octets.number()?, self.stations)?;
        let size = u32::try_from(octets.number()?).map_err(|_| "a frame of 4 GiB or more")?;
        let to = destination(octets.number()?, self.stations)?;
        let (destination, tagged) = to.ok_or("a frame for an addressee that is not known")?;
        let octets = match octets.number()? {
            0 => None,
            above => Some(octets.take(above - 1).map_or_else(cut, Ok)?),
        };
        self.t = t;
        let frame = Frame { size: Octets::new(size), destination, tagged };
        Ok(Read::Offer { at: BitInstant::new(t), station, frame, octets })
    }

    fn event<'a>(&mut self, octets: &mut Octet<'a>, head: u8, number: u8) -> Result<Read<'a>, String> {
        let kind = self.kinds.get(usize::from(number)).ok_or_else(|| format!("the header has no kind {number}"))?;
        let t = self.t.checked_add(octets.number()?).ok_or("an instant beyond all others")?;
        let station = station(octets.number()?, self.stations)?;
        let owner = if head & FOREIGN == 0 { station } else { self::station(octets.number()?, self.stations)? };
        let serial = &mut self.serials[owner.index()];
        if head & SERIAL != 0 {
            *serial = serial.wrapping_add(unzigzag(octets.number()?));
        }
        let frame = FrameId { station: owner, serial: *serial };
        let mut values = Vec::with_capacity(kind.fields.len());
        for (name, shape) in &kind.fields {
            values.push((name.as_str(), octets.value(*shape)?));
        }
        let value = |field: &str| values.iter().find(|(name, _)| *name == field).map(|(_, value)| *value);
        let read = Kind::read(&kind.name, value).map_err(|error| super::text::wrong_kind(&kind.name, error))?;
        let destination = match read {
            Kind::Offered { .. } => destination(octets.number()?, self.stations)?,
            _ => None,
        };
        self.t = t;
        Ok(Read::Event(Event { at: BitInstant::new(t), station, frame, kind: read }, destination))
    }
}

fn half(head: &[u8; HEAD], from: usize) -> u32 {
    u32::from_le_bytes(head[from..from + 4].try_into().expect("four octets"))
}

fn cut<T>() -> Result<T, String> {
    Err("a record ends after its block".to_owned())
}

fn station(number: u64, stations: usize) -> Result<StationId, String> {
    match u16::try_from(number) {
        Ok(index) if usize::from(index) < stations => Ok(StationId::new(index)),
        _ => Err(format!("station {number} of {stations}")),
    }
}

fn destination(code: u64, stations: usize) -> Result<Option<(Destination, bool)>, String> {
    let to = match code >> 1 {
        0 => return Ok(None),
        1 => Destination::All,
        2 => Destination::Nobody,
        number => Destination::Station(station(number - 3, stations)?),
    };
    Ok(Some((to, code & 1 == 1)))
}

/// Octets that have not been read.
struct Octet<'a> {
    octets: &'a [u8],
}

impl<'a> Octet<'a> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.octets.split_first()?;
        self.octets = rest;
        Some(*first)
    }

    fn number(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let Some(octet) = self.next() else { return cut() };
            let bits = u64::from(octet & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if octet & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number of more than 64 bits".to_owned())
    }

    /// As many octets as the number before them says; nothing if there are fewer.
    fn word(&mut self) -> Result<Option<&'a [u8]>, String> {
        let length = self.number()?;
        Ok(self.take(length))
    }

    /// This number of octets; nothing if there are fewer.
    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (taken, rest) = self.octets.split_at_checked(length)?;
        self.octets = rest;
        Some(taken)
    }

    fn value(&mut self, shape: FieldShape) -> Result<Value<'a>, String> {
        match shape {
            FieldShape::Number => self.number().map(Value::Number),
            FieldShape::Truth => match self.next() {
                Some(truth @ 0..=1) => Ok(Value::Truth(truth == 1)),
                Some(other) => Err(format!("a truth of {other}")),
                None => cut(),
            },
            FieldShape::Word => {
                let Some(word) = self.word()? else { return cut() };
                std::str::from_utf8(word).map(Value::Word).map_err(|_| "a word that is no text".to_owned())
            }
        }
    }
}
