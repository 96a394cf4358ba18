//! Puts events and inputs in the order in which a trace has them, and writes lines, blocks, or only their digest.

use super::EmulatorEvent;
use super::binary::Blocks;
use super::check::Check;
use super::row::{Entry, Row};
use super::sheet::Sheet;
use super::{Digest, Level, Names};
use crate::files::inputs::Given;
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::End;
use medium::{BitInstant, Cause, Deed, Destination, Event, Frame, Input, Kind, Octets};
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Pen {
    names: Names,
    level: Level,
    /// Frames that were given have their octets.
    has_octets: bool,
    output: Option<LineWriter>,
    /// Lines that are written.
    sheet: Option<Sheet>,
    /// Blocks, which are written instead.
    blocks: Option<Blocks>,
    /// Lines of which only the digest is wanted, where those that are written have none.
    digest: Option<Sheet>,
    /// What was given and has no place in the trace yet, since no event has shown it; oldest first.
    waiting: VecDeque<Given>,
    /// The last line has been written.
    ended: bool,
}

impl Pen {
    /// Writes nothing, and keeps the digest.
    pub fn unwritten(stations: &[String]) -> Pen {
        let digest = Some(Sheet::new(stations, None));
        let (names, level, waiting) = (Names::new(stations), Level::Events, VecDeque::new());
        Pen { names, level, has_octets: true, output: None, sheet: None, blocks: None, digest, waiting, ended: false }
    }

    /// Writes lines to `output`, which has `header`.
    pub fn of_lines(stations: &[String], level: Level, output: LineWriter, header: &[u8]) -> Pen {
        let sheet = Sheet::new(stations, Some(Check::after(header)));
        let mut pen = Pen::unwritten(stations);
        (pen.level, pen.output) = (level, Some(output));
        if level.has_events() {
            (pen.sheet, pen.digest) = (Some(sheet), None);
        } else {
            pen.sheet = Some(sheet.without_digest());
        }
        pen
    }

    /// Writes blocks to `output`, which has `header`, and keeps the digest of lines.
    pub fn of_blocks(stations: &[String], level: Level, output: LineWriter, header: &[u8]) -> Pen {
        let mut pen = Pen::unwritten(stations);
        (pen.level, pen.output) = (level, Some(output));
        pen.blocks = Some(Blocks::after(header, stations.len()));
        pen
    }

    /// Keeps the digest only where the trace can be replayed: a replay alone asks for it.
    pub fn of_a_run(&mut self) {
        if !self.level.has_inputs() {
            self.without_digest();
        }
    }

    /// The digest is not wanted: lines that are not written need not be made.
    pub fn without_digest(&mut self) {
        self.digest = None;
        self.sheet = self.sheet.take().map(Sheet::without_digest);
    }

    pub fn without_octets(&mut self) {
        self.has_octets = false;
    }

    /// From now on a thread of its own hands lines to the kernel, if the system gives one.
    pub fn write_beside(&mut self) {
        self.output.iter_mut().for_each(LineWriter::write_beside);
    }

    /// Takes what the run is given; at the level of inputs it is written at once, and at others where it takes effect.
    pub fn given(&mut self, given: Given) -> Result<(), WriteError> {
        self.know(&given);
        let is_wanted = self.level.has_inputs() || matches!(given, Given::Input { .. });
        match self.level {
            _ if self.output.is_none() || !is_wanted => Ok(()),
            Level::Inputs => {
                self.write_given(&given);
                self.hand_over_full()
            }
            Level::Events | Level::All => {
                self.waiting.push_back(given);
                Ok(())
            }
        }
    }

    /// The same of an input of the medium.
    #[inline]
    pub fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        let octets = octets.filter(|_| self.level.has_inputs()).map(|octets| octets.to_vec());
        self.given(Given::Input { at, input: *input, octets })
    }

    /// Knows a station that joins, before anything is written of it.
    fn know(&mut self, given: &Given) {
        let Given::Input { input: Input::Deed(Deed::Add { who, .. }), .. } = given else { return };
        self.names.join(who.name());
        self.sheet.iter_mut().chain(&mut self.digest).for_each(|sheet| sheet.know(&self.names));
        self.blocks.iter_mut().for_each(|blocks| blocks.know(self.names.len()));
    }

    /// Some inputs and events never came. A trace that has them ends here, for this reason; one of inputs that misses only
    /// events goes on, without their digest.
    pub fn miss(&mut self, inputs: u64, why: &str) -> Result<bool, WriteError> {
        self.waiting.clear();
        if self.level == Level::Inputs && inputs == 0 {
            self.without_digest();
            return Ok(false);
        }
        self.stop_writing(why).map(|()| true)
    }

    /// Ends the file, for this reason; the digest continues.
    pub fn stop_writing(&mut self, why: &str) -> Result<(), WriteError> {
        self.waiting.clear();
        let ended = self.end(Some(why));
        if self.digest.is_none() {
            self.digest = self.sheet.take();
        }
        (self.output, self.sheet, self.blocks) = (None, None, None);
        ended
    }

    /// Writes an event, and before it what was given and took effect before.
    // A thread of its own has it inlined in its loop; it is too much for every place that has an event.
    #[inline(always)]
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        if !self.waiting.is_empty() {
            self.inputs_before(event);
        }
        let offered = if matches!(event.kind, Kind::Offered { .. }) { self.offered(event) } else { None };
        self.write_event(event, offered.as_ref())
    }

    #[inline(always)]
    fn write_event(&mut self, event: &Event, offered: Option<&Frame>) -> Result<(), WriteError> {
        if self.level.has_events() {
            if let Some(sheet) = &mut self.sheet {
                sheet.event(&self.names, event, offered);
            }
            if let Some(blocks) = &mut self.blocks {
                blocks.event(event, offered);
            }
        }
        if let Some(digest) = &mut self.digest {
            digest.event(&self.names, event, None);
        }
        self.hand_over_full()
    }

    /// The frame that is offered, if its input is known.
    fn offered(&mut self, event: &Event) -> Option<Frame> {
        let Some(Given::Input { input: Input::Offer { station, frame }, .. }) = self.waiting.front() else {
            return None;
        };
        let frame = (*station == event.station).then_some(*frame)?;
        let given = self.waiting.pop_front().expect("the one that was looked at");
        if self.level.has_inputs() {
            self.write_given(&given);
        }
        Some(frame)
    }

    /// Writes the inputs that took effect before `event`.
    fn inputs_before(&mut self, event: &Event) {
        while let Some(given) = self.waiting.pop_front_if(|given| took_effect(given, event)) {
            self.write_given(&given);
        }
    }

    fn write_given(&mut self, given: &Given) {
        let Pen { names, has_octets, sheet, blocks, .. } = self;
        match given {
            Given::Input { at, input: Input::Offer { station, frame }, octets } => {
                let octets = octets.as_deref().filter(|_| *has_octets);
                sheet.iter_mut().for_each(|sheet| sheet.offer(names, *at, *station, frame, octets));
                blocks.iter_mut().for_each(|blocks| blocks.offer(*at, *station, frame, octets));
            }
            Given::Input { at, input: Input::Deed(deed), .. } => {
                sheet.iter_mut().for_each(|sheet| sheet.deed(names, *at, *deed));
                blocks.iter_mut().for_each(|blocks| blocks.deed(names, *at, *deed));
            }
            Given::Call { .. } | Given::Traffic { .. } | Given::Restart { .. } | Given::End { .. } => {
                sheet.iter_mut().for_each(|sheet| sheet.given(names, given));
                blocks.iter_mut().for_each(|blocks| blocks.given(names, given));
            }
        }
    }

    pub fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        if self.output.is_none() || !self.level.has_events() {
            return Ok(());
        }
        let is_before = |given: &mut Given| given.instant() < event.at && !given.is_offer();
        while let Some(given) = self.waiting.pop_front_if(is_before) {
            self.write_given(&given);
        }
        self.sheet.iter_mut().for_each(|sheet| sheet.emulator(&self.names, event));
        self.blocks.iter_mut().for_each(|blocks| blocks.emulator(&self.names, event));
        self.hand_over_full()
    }

    /// Writes what another trace has, in its place there, as far as it belongs to this level.
    pub fn copy(&mut self, row: &Row, offered: Option<(Destination, bool)>) -> Result<(), WriteError> {
        match row {
            Row::Entry(Entry::Medium(event)) => {
                // The event has the size. What was offered last may be known at later events, too.
                let offered = offered.filter(|_| matches!(event.kind, Kind::Offered { .. }));
                let frame = offered.map(|(destination, tagged)| Frame { size: Octets::new(0), destination, tagged });
                self.write_event(event, frame.as_ref())
            }
            Row::Entry(Entry::Deed { at, deed }) => {
                let given = Given::Input { at: *at, input: Input::Deed(*deed), octets: None };
                self.know(&given);
                self.write_given(&given);
                self.hand_over_full()
            }
            Row::Entry(Entry::Emulator(event)) => self.emulator(event),
            Row::Given(given) if self.level.has_inputs() => {
                self.write_given(given);
                self.hand_over_full()
            }
            Row::Given(_) => Ok(()),
        }
    }

    #[inline]
    fn hand_over_full(&mut self) -> Result<(), WriteError> {
        let is_full = |sheet: &Option<Sheet>| sheet.as_ref().is_some_and(Sheet::is_full);
        let is_full =
            is_full(&self.sheet) || is_full(&self.digest) || self.blocks.as_ref().is_some_and(Blocks::is_full);
        if is_full { self.flush() } else { Ok(()) }
    }

    /// Hands everything so far to the kernel.
    #[cold]
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.digest.iter_mut().for_each(|digest| digest.take().0.clear());
        let Some(output) = &mut self.output else { return Ok(()) };
        let pieces = self.sheet.as_mut().map(Sheet::take).into_iter();
        let pieces = pieces.chain(self.blocks.as_mut().and_then(Blocks::take));
        let written = pieces.map(|(piece, count)| output.lines(piece, count)).fold(Ok(()), Result::and);
        self.blocks.iter_mut().for_each(Blocks::begin);
        written
    }

    /// Writes what is left, inputs that no event has followed too, and that the trace ends here; with inputs, also how the
    /// run ended, if it did.
    pub fn finish(&mut self, end: Option<End>) -> Result<(), WriteError> {
        for given in std::mem::take(&mut self.waiting) {
            if self.level.has_inputs() || !given.is_offer() {
                self.write_given(&given);
            }
        }
        if let Some(end) = end.filter(|_| self.level.has_inputs() && !self.ended) {
            let digest = self.digest();
            self.write_given(&Given::End { end, digest });
        }
        self.end(None)
    }

    fn end(&mut self, broken_off: Option<&str>) -> Result<(), WriteError> {
        if self.output.is_some() && !std::mem::replace(&mut self.ended, true) {
            self.sheet.iter_mut().for_each(|sheet| sheet.end(broken_off));
            self.blocks.iter_mut().for_each(|blocks| blocks.end(broken_off));
        }
        self.flush()
    }

    /// The digest of all events so far; nothing if none is wanted.
    pub fn digest(&self) -> Option<Digest> {
        self.digest.as_ref().or(self.sheet.as_ref()).and_then(Sheet::digest)
    }
}

impl Drop for Pen {
    fn drop(&mut self) {
        // A trace that was not finished has no end, and what reads it says so.
        let _ = self.flush();
    }
}

/// Whether what was given, and is no frame, took effect before `event`: one of an earlier instant; one that came before the
/// frame that the event is about; and, where a signal ends or begins, one of the same instant, since arrivals come
/// first. Ends of timers come before arrivals. What is no input of the medium only keeps its place among these.
fn took_effect(given: &Given, event: &Event) -> bool {
    let Given::Input { at, input, .. } = given else { return true };
    let after_arrivals = match event.kind {
        Kind::Offered { .. } => true,
        Kind::Collision { .. } | Kind::Delivered { .. } | Kind::Fragment { .. } => true,
        Kind::Damaged { .. } | Kind::TooLong { .. } | Kind::Duplicate { .. } => true,
        Kind::Discarded { cause: Cause::Detached, .. } => input.plugs() == Some((event.station, false)),
        Kind::Discarded { .. } | Kind::QueueDrop | Kind::Defer { .. } | Kind::Attempt { .. } => false,
        Kind::JamEnd { .. } | Kind::Backoff { .. } | Kind::Transmitted { .. } => false,
        Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack => false,
        Kind::Beacon { .. } | Kind::Commit { .. } => false,
        Kind::PlcaStatus { .. } | Kind::PlcaId { .. } => {
            matches!(input, Input::Deed(Deed::Plca { station, .. }) if *station == event.station)
        }
    };
    !given.is_offer() && (*at < event.at || *at == event.at && after_arrivals)
}
