//! A table of a run's frames: one row for each, when the medium is done with it. See docs/results.md.

use crate::files::json_lines::WriteError;
use crate::files::observer::End;
use crate::files::table::{Cell, Column, ColumnKind, TableWriter};
use crate::run::observer::Observer;
use medium::{BitInstant, Destination, Event, Frame, FrameId, HostKind, Input, MacKind, Part, StationId};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// The fate of a frame with which the medium is not done at the end of the run.
const QUEUED: &str = "queued";

/// Writes a row for each frame with which the medium is done from an instant on, and at the end one for each that still waits.
///
/// These are the frames of the conservation law: those that were queued as the measurement began, and those offered since.
#[derive(Debug)]
pub struct FrameTable {
    table: TableWriter,
    names: Vec<String>,
    begin: BitInstant,
    /// Frames whose input has come, and whose `offered` has not.
    announced: Vec<VecDeque<Frame>>,
    /// Frames that the medium is not done with, by serial.
    pending: Vec<VecDeque<Pending>>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    serial: u64,
    frame: Frame,
    offered: BitInstant,
    first_attempt: Option<BitInstant>,
    attempts: u32,
}

impl FrameTable {
    /// The columns, in order.
    pub fn columns() -> Vec<Column> {
        use ColumnKind::{Count, Word};
        let columns = [
            ("station", Word),
            ("serial", Count),
            ("destination", Word),
            ("size_octets", Count),
            ("offered_bt", Count),
            ("first_attempt_bt", Count),
            ("attempts", Count),
            ("end_bt", Count),
            ("fate", Word),
        ];
        columns.map(|(name, kind)| Column::new(name, kind)).to_vec()
    }

    /// A table in a new file, which is none of `others`, of the frames of the stations with these `names`. Frames that the
    /// medium was done with before `begin` are left out.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(
        path: &Path,
        others: &[&Path],
        names: Vec<String>,
        begin: BitInstant,
    ) -> Result<FrameTable, WriteError> {
        Ok(FrameTable::new(TableWriter::create(path, others, &FrameTable::columns())?, names, begin))
    }

    /// The same in a table that was begun with these columns.
    pub fn new(table: TableWriter, names: Vec<String>, begin: BitInstant) -> FrameTable {
        let stations = names.len();
        let (announced, pending) = (vec![VecDeque::new(); stations], vec![VecDeque::new(); stations]);
        FrameTable { table, names, begin, announced, pending }
    }

    fn offered(&mut self, event: &Event) {
        let FrameId { station, serial } = event.frame;
        let frame = self.announced[station.index()].pop_front().expect("a frame's input is told before its events");
        let offered = event.at;
        self.pending[station.index()].push_back(Pending { serial, frame, offered, first_attempt: None, attempts: 0 });
    }

    fn attempted(&mut self, event: &Event) {
        let pending = &mut self.pending[event.frame.station.index()];
        let place = pending.partition_point(|frame| frame.serial < event.frame.serial);
        let frame = &mut pending[place];
        frame.first_attempt.get_or_insert(event.at);
        frame.attempts += 1;
    }

    fn done(&mut self, event: &Event, fate: &str) -> Result<(), WriteError> {
        let pending = &mut self.pending[event.frame.station.index()];
        let place = pending.partition_point(|frame| frame.serial < event.frame.serial);
        let frame = pending.remove(place).expect("a frame is offered before the medium is done with it");
        if event.at < self.begin { Ok(()) } else { self.row(event.frame.station, &frame, Some(event.at), fate) }
    }

    fn row(
        &mut self,
        station: StationId,
        frame: &Pending,
        end: Option<BitInstant>,
        fate: &str,
    ) -> Result<(), WriteError> {
        let destination = match frame.frame.destination {
            Destination::Station(to) => &self.names[to.index()],
            Destination::All => "all",
            Destination::Nobody | Destination::Beyond(_) => "nobody",
        };
        let cells = [
            Cell::Word(&self.names[station.index()]),
            Cell::Count(frame.serial),
            Cell::Word(destination),
            Cell::Count(frame.frame.size.get().into()),
            Cell::Count(frame.offered.get()),
            frame.first_attempt.map(BitInstant::get).into(),
            Cell::Count(frame.attempts.into()),
            end.map(BitInstant::get).into(),
            Cell::Word(fate),
        ];
        self.table.row(cells.into_iter())
    }
}

impl Observer for FrameTable {
    type Error = WriteError;

    fn input(&mut self, _: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        if let Input::Offer { station, frame } = input {
            self.announced[station.index()].push_back(*frame);
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        match event.kind.part() {
            Part::Host(HostKind::Offered { .. }) => self.offered(event),
            Part::Host(HostKind::QueueDrop) => self.done(event, "queue_drop")?,
            Part::Mac(MacKind::Attempt { .. }) => self.attempted(event),
            Part::Mac(MacKind::Transmitted { .. }) => self.done(event, "transmitted")?,
            Part::Mac(MacKind::Discarded { cause, .. }) => self.done(event, cause.name())?,
            Part::Mac(_) | Part::Receiver(_) | Part::Wireless(_) | Part::Plca(_) => {}
        }
        Ok(())
    }

    fn end(&mut self, _: End) -> Result<(), WriteError> {
        for (station, frames) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            for frame in frames {
                self.row(StationId::new(station as u16), &frame, None, QUEUED)?;
            }
        }
        self.table.finish()
    }
}
