//! Makes lines of events and inputs, their digest, and what proves that the lines are whole.
//!
//! ```text
//!   lines:   |offered … |,"destination":"all"…|}⏎|attempt …⏎|input …⏎|transmitted …⏎|check …⏎|
//!   digest:  |==========|                     |=============|        |==============|
//!   check:   |======================================================================|
//! ```
//! A piece of many lines is summed up in one go: the places that the digest leaves out are remembered while it grows.

use super::check::{self, Check};
use super::line::{Line, Piece};
use super::{Digest, Names};
use super::{EmulatorEvent, emulator};
use crate::files::columns::{Sink, number, string, truth};
use crate::files::inputs::{self, Given};
use crate::files::json_lines::PIECE;
use crate::files::repeated::Repeated;
use medium::{BitInstant, Deed, Event, Frame, FrameId, StationId, Value, Visitor};

#[derive(Debug)]
pub(super) struct Sheet {
    events: u64,
    /// Nothing, if no digest is wanted.
    crc32: Option<crc32fast::Hasher>,
    /// Whole lines that have not been taken.
    text: Vec<u8>,
    lines: u64,
    /// Up to where the digest has `text`.
    summed: usize,
    /// What lines prove themselves with; nothing if only their digest is wanted.
    check: Option<Check>,
    /// Up to where the check has `text`.
    checked: usize,
    /// The latest instant of a line.
    latest: u64,
    /// How a line of the latest instant begins, `{"t":576,"kind":"`: many events share one.
    begin: (BitInstant, Piece),
    /// The columns of each station, and of its latest frames; none where a name is too long for a piece.
    columns: Vec<Option<StationColumns>>,
    /// The columns of an event's fields.
    fields: Repeated,
    line: Box<Line>,
}

impl Sheet {
    /// Lines after those that `check` knows.
    pub fn new(stations: &[String], check: Option<Check>) -> Sheet {
        Sheet {
            events: 0,
            crc32: Some(crc32fast::Hasher::new()),
            text: Vec::with_capacity(2 * PIECE),
            lines: 0,
            summed: 0,
            check,
            checked: 0,
            latest: 0,
            // No event is as late as this, so the first begins its line.
            begin: (BitInstant::new(u64::MAX), Piece::EMPTY),
            columns: StationColumns::after(0, &Names::new(stations)),
            fields: Repeated::new(),
            line: Box::new(Line::EMPTY),
        }
    }

    /// Knows the stations that have joined.
    pub fn know(&mut self, names: &Names) {
        self.columns.extend(StationColumns::after(self.columns.len(), names));
    }

    /// The digest is not wanted.
    pub fn without_digest(self) -> Sheet {
        Sheet { crc32: None, ..self }
    }

    /// Writes an event; `offered` is the frame of one that is `offered`, if its input is known.
    #[inline]
    pub fn event(&mut self, names: &Names, event: &Event, offered: Option<&Frame>) {
        const END: &[u8] = b"}\n";
        self.write_event(names, event, if offered.is_none() { END } else { b"" });
        if let Some(frame) = offered {
            self.sum_up();
            inputs::write_destination(&mut self.text, names, frame);
            self.summed = self.text.len();
            self.text.extend_from_slice(END);
        }
        self.events += 1;
        self.end_line(event.at);
    }

    /// An event as the trace has always had it, up to its last column, and `end` after it.
    #[inline(always)]
    fn write_event(&mut self, names: &Names, event: &Event, end: &[u8]) {
        let Event { at, station, frame, kind } = event;
        if self.begin.0 != *at {
            self.begin.0 = *at;
            self.begin.1.clear();
            begin_line(*at, &mut self.begin.1);
        }
        let Sheet { text, begin, columns, fields, line, .. } = self;
        line.clear();
        line.put_piece(&begin.1);
        line.put_short(kind.name().as_bytes());
        line.put(b"\"");
        let known = |station: StationId| columns[station.index()].is_some();
        if known(*station) && known(frame.station) {
            if let Some(own) = &columns[station.index()] {
                line.put_piece(&own.station);
            }
            if let Some(its) = &mut columns[frame.station.index()] {
                line.put_piece(its.frame(*frame, names));
            }
            line.put(fields.of(kind, |text| kind.fields(Columns(text))));
            line.put(end);
            return text.extend_from_slice(line.text());
        }
        write_event(text, names, event);
        text.extend_from_slice(end);
    }

    /// Writes what was done to the bus.
    pub fn deed(&mut self, names: &Names, at: BitInstant, deed: Deed) {
        self.beside_the_digest(at, |text| inputs::write_deed(text, names, at, deed));
    }

    /// Writes a frame that the run was given.
    pub fn offer(&mut self, names: &Names, at: BitInstant, station: StationId, frame: &Frame, octets: Option<&[u8]>) {
        self.beside_the_digest(at, |text| inputs::write_offer(text, names, at, (station, frame), octets));
    }

    /// Writes what the run was given, neither frame nor deed. Its instant says nothing of its place.
    pub fn given(&mut self, names: &Names, given: &Given) {
        let at = BitInstant::new(self.latest);
        self.beside_the_digest(at, |text| inputs::write_given(text, names, given));
    }

    /// Writes an event of the emulator.
    pub fn emulator(&mut self, names: &Names, event: &EmulatorEvent) {
        self.beside_the_digest(event.at, |text| emulator::write(text, names, event));
    }

    /// Writes the last line: how many there are, or why there are no more.
    pub fn end(&mut self, broken_off: Option<&str>) {
        let kind = broken_off.map_or(check::Kind::End, check::Kind::BrokenOff);
        self.write_check(kind);
    }

    fn beside_the_digest(&mut self, at: BitInstant, write: impl FnOnce(&mut Vec<u8>)) {
        self.sum_up();
        write(&mut self.text);
        self.text.push(b'\n');
        self.summed = self.text.len();
        self.end_line(at);
    }

    #[inline]
    fn end_line(&mut self, at: BitInstant) {
        self.lines += 1;
        self.latest = at.get();
        if self.check.as_mut().is_some_and(Check::counts_a_line) {
            self.write_check(check::Kind::SoFar);
        }
    }

    #[cold]
    fn write_check(&mut self, kind: check::Kind<'_>) {
        self.sum_up();
        let Some(check) = &mut self.check else { return };
        check.update(&self.text[self.checked..]);
        self.checked = self.text.len();
        check.write(&mut self.text, self.latest, kind);
        self.lines += 1;
        check.counts_a_line();
        self.summed = self.text.len();
    }

    /// Whether there is enough to be taken.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.text.len() >= PIECE
    }

    /// Whole lines, which the caller empties, and how many.
    pub fn take(&mut self) -> (&mut Vec<u8>, u64) {
        self.sum_up();
        if let Some(check) = &mut self.check {
            check.update(&self.text[self.checked..]);
        }
        (self.summed, self.checked) = (0, 0);
        (&mut self.text, std::mem::take(&mut self.lines))
    }

    fn sum_up(&mut self) {
        self.crc32.iter_mut().for_each(|crc32| crc32.update(&self.text[self.summed..]));
        self.summed = self.text.len();
    }

    /// The digest; nothing if none is wanted.
    pub fn digest(&self) -> Option<Digest> {
        let mut crc32 = self.crc32.clone()?;
        crc32.update(&self.text[self.summed..]);
        Some(Digest { events: self.events, crc32: crc32.finalize() })
    }
}

/// Appends an event as the trace has it, up to its last column.
pub fn write_event(text: &mut Vec<u8>, names: &Names, event: &Event) {
    begin_line(event.at, text);
    text.extend_from_slice(event.kind.name().as_bytes());
    text.push(b'"');
    text.extend_from_slice(names.station_column(event.station));
    names.write_frame(text, event.frame);
    event.kind.fields(Columns(text));
}

/// Nothing has this serial: those of frames begin at 1, and what is no frame has 0.
const NO_SERIAL: u64 = u64::MAX;

/// Text that lines about a station share: its name, and the names of its two latest frames. Receivers may still report the
/// earlier one.
#[derive(Debug)]
struct StationColumns {
    /// `,"station":"st1"`.
    station: Piece,
    /// `,"frame":"st1#17"`, and which frame that is.
    frames: [(u64, Piece); 2],
}

impl StationColumns {
    /// Those of stations from number `first` on; none where there is no room for a name and any number after it.
    fn after(first: usize, names: &Names) -> Vec<Option<StationColumns>> {
        const LONGEST_NUMBER: usize = 20;
        let column = |station| {
            let (own, frame) = (names.station_column(station), names.frame_column(station));
            let fits = own.len() <= Piece::ROOM && frame.len() + LONGEST_NUMBER < Piece::ROOM;
            fits.then(|| {
                let none = || (NO_SERIAL, Piece::EMPTY);
                let mut columns = StationColumns { station: Piece::EMPTY, frames: [none(), none()] };
                columns.station.put(own);
                columns
            })
        };
        (first as u16..names.len() as u16).map(StationId::new).map(column).collect()
    }

    #[inline]
    fn frame(&mut self, frame: FrameId, names: &Names) -> &Piece {
        let (serial, piece) = &mut self.frames[frame.serial as usize % 2];
        if *serial != frame.serial {
            *serial = frame.serial;
            piece.clear();
            piece.put(names.frame_column(frame.station));
            piece.put_number(frame.serial);
            piece.put(b"\"");
        }
        piece
    }
}

/// Appends an event's fields.
struct Columns<'a, S>(&'a mut S);

impl<S: Sink> Visitor for Columns<'_, S> {
    /// Where the name is known when this is compiled, it is a few stores and no copy of unknown length.
    #[inline(always)]
    fn field(&mut self, name: &'static str, value: Value<'static>) {
        match value {
            Value::Number(value) => number(self.0, name, value),
            Value::Truth(value) => truth(self.0, name, value),
            Value::Word(value) => string(self.0, name, value),
        }
    }
}

/// How a line of `at` begins.
#[inline]
fn begin_line(at: BitInstant, into: &mut impl Sink) {
    into.put(b"{\"t\":");
    into.put_number(at.get());
    into.put(b",\"kind\":\"");
}
