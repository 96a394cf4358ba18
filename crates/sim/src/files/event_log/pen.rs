//! Puts events and inputs in the order in which a log has them, and writes lines, blocks, or only their digest.

use super::binary::Blocks;
use super::check::Check;
use super::emulator::EmulatorEvent;
use super::read::Entry;
use super::sheet::Sheet;
use super::{Digest, Names};
use crate::files::json_lines::{LineWriter, WriteError};
use medium::{BitInstant, Cause, Deed, Destination, Event, Frame, Input, Kind, Octets};
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Pen {
    names: Names,
    output: Option<LineWriter>,
    /// Lines, which are written, or only summed up.
    sheet: Option<Sheet>,
    /// Blocks, which are written instead.
    blocks: Option<Blocks>,
    /// Inputs whose place in the log no event has shown yet, oldest first.
    inputs: VecDeque<(BitInstant, Input)>,
    /// The last line has been written.
    ended: bool,
}

impl Pen {
    /// Writes nothing, and keeps the digest.
    pub fn unwritten(stations: &[String]) -> Pen {
        Pen::new(stations, None, Sheet::new(stations, None), None)
    }

    /// Writes lines to `output`, which has `header`.
    pub fn of_lines(stations: &[String], output: LineWriter, header: &[u8]) -> Pen {
        Pen::new(stations, Some(output), Sheet::new(stations, Some(Check::after(header))), None)
    }

    /// Writes blocks to `output`, which has `header`, and keeps the digest of lines.
    pub fn of_blocks(stations: &[String], output: LineWriter, header: &[u8]) -> Pen {
        let blocks = Blocks::after(header, stations.len());
        Pen::new(stations, Some(output), Sheet::new(stations, None), Some(blocks))
    }

    fn new(stations: &[String], output: Option<LineWriter>, sheet: Sheet, blocks: Option<Blocks>) -> Pen {
        Pen { names: Names::new(stations), output, sheet: Some(sheet), blocks, inputs: VecDeque::new(), ended: false }
    }

    /// The digest is not wanted: lines that are not written need not be made.
    pub fn without_digest(&mut self) {
        if self.blocks.is_some() || self.output.is_none() {
            self.sheet = None;
        }
        self.sheet.iter_mut().for_each(Sheet::without_digest);
    }

    /// From now on a thread of its own hands lines to the kernel, if the system gives one.
    pub fn write_beside(&mut self) {
        self.output.iter_mut().for_each(LineWriter::write_beside);
    }

    pub fn input(&mut self, at: BitInstant, input: &Input) {
        self.know(input);
        if self.output.is_some() {
            self.inputs.push_back((at, *input));
        }
    }

    /// Knows a station that joins, before anything is written of it.
    fn know(&mut self, input: &Input) {
        let Input::Deed(Deed::Add { who, .. }) = input else { return };
        self.names.join(who.name());
        self.sheet.iter_mut().for_each(|sheet| sheet.know(&self.names));
        self.blocks.iter_mut().for_each(|blocks| blocks.know(self.names.len()));
    }

    pub fn forget_inputs(&mut self) {
        self.inputs.clear();
    }

    /// Ends the file, for this reason; the digest continues.
    pub fn stop_writing(&mut self, why: &str) -> Result<(), WriteError> {
        self.forget_inputs();
        let ended = self.end(Some(why));
        (self.output, self.blocks) = (None, None);
        ended
    }

    #[inline]
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        if !self.inputs.is_empty() {
            self.inputs_before(event);
        }
        let offered = if matches!(event.kind, Kind::Offered { .. }) { self.offered(event) } else { None };
        self.write_event(event, offered.as_ref())
    }

    #[inline]
    fn write_event(&mut self, event: &Event, offered: Option<&Frame>) -> Result<(), WriteError> {
        if let Some(sheet) = &mut self.sheet {
            sheet.event(&self.names, event, offered);
        }
        if let Some(blocks) = &mut self.blocks {
            blocks.event(event, offered);
        }
        self.hand_over_full()
    }

    /// The frame that is offered, if its input is known.
    fn offered(&mut self, event: &Event) -> Option<Frame> {
        let Some(&(_, Input::Offer { station, frame })) = self.inputs.front() else { return None };
        (station == event.station).then(|| {
            self.inputs.pop_front();
            frame
        })
    }

    /// Writes the inputs that took effect before `event`.
    fn inputs_before(&mut self, event: &Event) {
        while let Some(&(at, input)) = self.inputs.front().filter(|(at, input)| took_effect(*at, input, event)) {
            self.inputs.pop_front();
            self.write_input(at, &input);
        }
    }

    fn write_input(&mut self, at: BitInstant, input: &Input) {
        // Of a frame its event `offered` tells.
        let Input::Deed(deed) = *input else { return };
        self.sheet.iter_mut().for_each(|sheet| sheet.deed(&self.names, at, deed));
        self.blocks.iter_mut().for_each(|blocks| blocks.deed(&self.names, at, deed));
    }

    pub fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        if self.output.is_none() {
            return Ok(());
        }
        while let Some(&(at, input)) = self.inputs.front().filter(|(at, input)| *at < event.at && !is_offer(input)) {
            self.inputs.pop_front();
            self.write_input(at, &input);
        }
        self.sheet.iter_mut().for_each(|sheet| sheet.emulator(&self.names, event));
        self.blocks.iter_mut().for_each(|blocks| blocks.emulator(&self.names, event));
        self.hand_over_full()
    }

    /// Writes what another log has, in its place there.
    pub fn copy(&mut self, entry: &Entry, offered: Option<(Destination, bool)>) -> Result<(), WriteError> {
        match entry {
            Entry::Medium(event) => {
                // The event has the size. What was offered last may be known at later events, too.
                let offered = offered.filter(|_| matches!(event.kind, Kind::Offered { .. }));
                let frame = offered.map(|(destination, tagged)| Frame { size: Octets::new(0), destination, tagged });
                self.write_event(event, frame.as_ref())
            }
            Entry::Deed { at, deed } => {
                let input = Input::Deed(*deed);
                self.know(&input);
                self.write_input(*at, &input);
                self.hand_over_full()
            }
            Entry::Emulator(event) => self.emulator(event),
        }
    }

    #[inline]
    fn hand_over_full(&mut self) -> Result<(), WriteError> {
        let is_full =
            self.sheet.as_ref().is_some_and(Sheet::is_full) || self.blocks.as_ref().is_some_and(Blocks::is_full);
        if is_full { self.flush() } else { Ok(()) }
    }

    /// Hands everything so far to the kernel.
    #[cold]
    pub fn flush(&mut self) -> Result<(), WriteError> {
        let is_binary = self.blocks.is_some();
        let lines = self.sheet.as_mut().map(Sheet::take);
        let blocks = self.blocks.as_mut().and_then(Blocks::take);
        let written = match (&mut self.output, lines, blocks) {
            (Some(output), lines, Some((block, count))) => {
                lines.into_iter().for_each(|(text, _)| text.clear());
                output.lines(block, count)
            }
            (Some(output), Some((text, lines)), None) if !is_binary => output.lines(text, lines),
            (_, lines, _) => {
                lines.into_iter().for_each(|(text, _)| text.clear());
                Ok(())
            }
        };
        self.blocks.iter_mut().for_each(Blocks::begin);
        written
    }

    /// Writes what is left, inputs that no event has followed too, and that the log ends here.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        for (at, input) in std::mem::take(&mut self.inputs) {
            self.write_input(at, &input);
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

    pub fn digest(&self) -> Digest {
        self.sheet.as_ref().map_or_else(Digest::default, Sheet::digest)
    }
}

impl Drop for Pen {
    fn drop(&mut self) {
        // A log that was not finished has no end, and what reads it says so.
        let _ = self.flush();
    }
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
        Kind::Discarded { cause: Cause::Detached, .. } => input.plugs() == Some((event.station, false)),
        Kind::Discarded { .. } | Kind::QueueDrop | Kind::Defer { .. } | Kind::Attempt { .. } => false,
        Kind::JamEnd { .. } | Kind::Backoff { .. } | Kind::Transmitted { .. } => false,
        Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack => false,
        Kind::Beacon { .. } | Kind::Commit { .. } => false,
        Kind::PlcaStatus { .. } | Kind::PlcaId { .. } => {
            matches!(input, Input::Deed(Deed::Plca { station, .. }) if *station == event.station)
        }
    };
    !is_offer(input) && (at < event.at || at == event.at && after_arrivals)
}
