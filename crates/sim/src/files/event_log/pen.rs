//! Makes lines of events and inputs, and their digest.
//!
//! ```text
//!   lines:   |offered … |,"destination":"all"…|}⏎|attempt …⏎|input …⏎|transmitted …⏎|
//!   digest:  |==========|                     |=============|        |==============|
//! ```
//! Nothing is looked at twice: a piece of many lines is summed up in one go, and the places that the digest leaves out
//! are remembered while it grows.

use super::emulator::{self, EmulatorEvent};
use super::line::{Line, Piece};
use super::{Digest, Names};
use crate::files::columns::{Sink, number, string, truth};
use crate::files::inputs;
use crate::files::json_lines::{LineWriter, PIECE, WriteError};
use medium::{BitInstant, Cause, Event, FrameId, Input, Kind, StationId, Value, Visitor};
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Pen {
    names: Names,
    output: Option<LineWriter>,
    events: u64,
    crc32: crc32fast::Hasher,
    /// Whole lines that wait to be written.
    text: Vec<u8>,
    lines: u64,
    /// Up to where `text` has been summed up.
    summed: usize,
    /// How a line of the latest instant begins, `{"t":576,"kind":"`: many events share one.
    begin: (BitInstant, Piece),
    /// The columns of each station, and of its latest frame; none where a name is too long for a piece.
    columns: Vec<Option<StationColumns>>,
    line: Box<Line>,
    /// Inputs whose place in the log no event has shown yet, oldest first.
    inputs: VecDeque<(BitInstant, Input)>,
}

impl Pen {
    pub fn new(stations: &[String], output: Option<LineWriter>) -> Pen {
        Pen {
            names: Names::new(stations),
            output,
            events: 0,
            crc32: crc32fast::Hasher::new(),
            text: Vec::with_capacity(2 * PIECE),
            lines: 0,
            summed: 0,
            // No event is as late as this, so the first begins its line.
            begin: (BitInstant::new(u64::MAX), Piece::EMPTY),
            columns: StationColumns::all(stations),
            line: Box::new(Line::EMPTY),
            inputs: VecDeque::new(),
        }
    }

    /// From now on a thread of its own hands lines to the kernel, if the system gives one.
    pub fn write_beside(&mut self) {
        self.output.iter_mut().for_each(LineWriter::write_beside);
    }

    pub fn input(&mut self, at: BitInstant, input: &Input) {
        if self.output.is_some() {
            self.inputs.push_back((at, *input));
        }
    }

    pub fn forget_inputs(&mut self) {
        self.inputs.clear();
    }

    /// Ends the file; the digest goes on.
    pub fn stop_writing(&mut self, _why: &str) -> Result<(), WriteError> {
        let flushed = self.flush();
        self.forget_inputs();
        self.output = None;
        flushed
    }

    #[inline]
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        if !self.inputs.is_empty() {
            self.inputs_before(event);
        }
        self.write_event(event);
        if matches!(event.kind, Kind::Offered { .. }) {
            self.write_destination(event);
        }
        self.text.extend_from_slice(b"}\n");
        self.events += 1;
        self.lines += 1;
        if self.text.len() >= PIECE { self.hand_over() } else { Ok(()) }
    }

    /// An event as the log has always had it, up to its last column.
    #[inline]
    fn write_event(&mut self, event: &Event) {
        let Event { at, station, frame, kind } = event;
        if self.begin.0 != *at {
            self.begin.0 = *at;
            self.begin.1.clear();
            begin_line(*at, &mut self.begin.1);
        }
        let Pen { text, names, begin, columns, line, .. } = self;
        line.clear();
        line.put_piece(&begin.1);
        line.put_short(kind.name().as_bytes());
        line.put(b"\"");
        let known = |station: StationId| columns[station.index()].is_some();
        if known(*station) && known(frame.station) {
            columns[station.index()].iter().for_each(|own| line.put_piece(&own.station));
            columns[frame.station.index()].iter_mut().for_each(|its| line.put_piece(its.frame(*frame, names)));
            kind.fields(Columns(&mut **line));
            return text.extend_from_slice(line.text());
        }
        write_event(text, names, event);
    }

    /// Whom an offered frame is for, if its input is known.
    fn write_destination(&mut self, event: &Event) {
        let Some((_, Input::Offer { station, frame })) = self.inputs.front() else { return };
        if *station == event.station {
            sum_up(&mut self.crc32, &self.text, &mut self.summed, self.text.len());
            inputs::write_destination(&mut self.text, &self.names, frame);
            self.summed = self.text.len();
            self.inputs.pop_front();
        }
    }

    /// Writes the inputs that took effect before `event`.
    fn inputs_before(&mut self, event: &Event) {
        while let Some(&(at, input)) = self.inputs.front().filter(|(at, input)| took_effect(*at, input, event)) {
            self.inputs.pop_front();
            self.write_input(at, &input);
        }
    }

    fn write_input(&mut self, at: BitInstant, input: &Input) {
        sum_up(&mut self.crc32, &self.text, &mut self.summed, self.text.len());
        inputs::write(&mut self.text, &self.names, at, input, None, Some(inputs::LAYER));
        self.text.push(b'\n');
        self.lines += 1;
        self.summed = self.text.len();
    }

    pub fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        if self.output.is_none() {
            return Ok(());
        }
        while let Some(&(at, input)) = self.inputs.front().filter(|(at, input)| *at < event.at && !is_offer(input)) {
            self.inputs.pop_front();
            self.write_input(at, &input);
        }
        sum_up(&mut self.crc32, &self.text, &mut self.summed, self.text.len());
        emulator::write(&mut self.text, &self.names, event);
        self.text.push(b'\n');
        self.lines += 1;
        self.summed = self.text.len();
        if self.text.len() >= PIECE { self.hand_over() } else { Ok(()) }
    }

    /// Sums up what is left, and hands all lines to the kernel.
    #[cold]
    fn hand_over(&mut self) -> Result<(), WriteError> {
        sum_up(&mut self.crc32, &self.text, &mut self.summed, self.text.len());
        self.summed = 0;
        let lines = std::mem::take(&mut self.lines);
        match &mut self.output {
            Some(output) => output.lines(&mut self.text, lines),
            None => {
                self.text.clear();
                Ok(())
            }
        }
    }

    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.hand_over()
    }

    pub fn finish(&mut self) -> Result<(), WriteError> {
        for (at, input) in std::mem::take(&mut self.inputs) {
            if !is_offer(&input) {
                self.write_input(at, &input);
            }
        }
        self.hand_over()
    }

    pub fn digest(&self) -> Digest {
        let mut crc32 = self.crc32.clone();
        crc32.update(&self.text[self.summed..]);
        Digest { events: self.events, crc32: crc32.finalize() }
    }
}

impl Drop for Pen {
    fn drop(&mut self) {
        // Whoever wanted to know has flushed.
        let _ = self.finish();
    }
}

/// Appends an event as the log has it, up to its last column.
pub(crate) fn write_event(text: &mut Vec<u8>, names: &Names, event: &Event) {
    begin_line(event.at, text);
    text.extend_from_slice(event.kind.name().as_bytes());
    text.push(b'"');
    text.extend_from_slice(names.station_column(event.station));
    names.write_frame(text, event.frame);
    event.kind.fields(Columns(text));
}

fn sum_up(crc32: &mut crc32fast::Hasher, text: &[u8], summed: &mut usize, to: usize) {
    crc32.update(&text[*summed..to]);
    *summed = to;
}

/// Nothing has this serial: those of frames begin at 1, and what is no frame has 0.
const NO_SERIAL: u64 = u64::MAX;

/// What lines about a station, and about the latest of its frames, have in common.
#[derive(Debug)]
struct StationColumns {
    /// `,"station":"st1"`.
    station: Piece,
    /// `,"frame":"st1#17"`, and which frame that is.
    frame: Piece,
    serial: u64,
}

impl StationColumns {
    /// Those of all stations; none where there is no room for a name and any number after it.
    fn all(stations: &[String]) -> Vec<Option<StationColumns>> {
        const LONGEST_NUMBER: usize = 20;
        let names = Names::new(stations);
        let column = |station| {
            let (own, frame) = (names.station_column(station), names.frame_column(station));
            let fits = own.len() <= Piece::ROOM && frame.len() + LONGEST_NUMBER < Piece::ROOM;
            fits.then(|| {
                let mut columns = StationColumns { station: Piece::EMPTY, frame: Piece::EMPTY, serial: NO_SERIAL };
                columns.station.put(own);
                columns
            })
        };
        (0..stations.len() as u16).map(StationId::new).map(column).collect()
    }

    #[inline]
    fn frame(&mut self, frame: FrameId, names: &Names) -> &Piece {
        if self.serial != frame.serial {
            self.serial = frame.serial;
            self.frame.clear();
            self.frame.put(names.frame_column(frame.station));
            self.frame.put_number(frame.serial);
            self.frame.put(b"\"");
        }
        &self.frame
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

fn is_offer(input: &Input) -> bool {
    matches!(input, Input::Offer { .. })
}

/// Whether an input that is no frame took effect before `event`: one of an earlier instant; one that came before the
/// frame that the event is about; and, where a signal ends or begins, one of the same instant, since arrivals come
/// first. Ends of timers come before arrivals.
fn took_effect(at: BitInstant, input: &Input, event: &Event) -> bool {
    let after_arrivals = match event.kind {
        Kind::Offered { .. } => true,
        Kind::Collision { .. } | Kind::Delivered { .. } | Kind::Fragment { .. } => true,
        Kind::Damaged { .. } | Kind::TooLong { .. } | Kind::Duplicate { .. } => true,
        Kind::Discarded { cause: Cause::Detached, .. } => {
            matches!(input, Input::Detach { station } if *station == event.station)
        }
        Kind::Discarded { .. } | Kind::QueueDrop | Kind::Defer { .. } | Kind::Attempt { .. } => false,
        Kind::JamEnd { .. } | Kind::Backoff { .. } | Kind::Transmitted { .. } => false,
        Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack => false,
        Kind::Beacon { .. } | Kind::Commit { .. } => false,
        Kind::PlcaStatus { .. } => matches!(input, Input::SetPlca { station, .. } if *station == event.station),
    };
    !is_offer(input) && (at < event.at || at == event.at && after_arrivals)
}
