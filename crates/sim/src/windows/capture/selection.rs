//! Which packets are in a capture: those that its filter takes, and of one that begins late those that it knows whole.

use super::filter::Subject;
use super::packets::Transmission;
use super::{Capture, Framing, Wish, bus};
use crate::files::json_lines::{LineWriter, WriteError};
use crate::windows::{Known, pcapng};
use medium::{BitInstant, BitTimes, Event, Kind};
use std::fs::File;

/// How long a capture that begins late leaves out what begins, in bit times: no packet of 802.3 is longer.
const PATIENCE: u64 = 1 << 16;

impl Capture {
    /// Writes the beginning of a capture that begins at `now`, on a medium that has been running, to a stream. Next come
    /// the frames that the medium has, and what has been done to it.
    ///
    /// The capture leaves out what it cannot know whole: what begins in the first 65,536 bit times.
    ///
    /// # Errors
    /// The stream is closed.
    pub fn begin_late(
        stream: File,
        place: String,
        known: &Known,
        wish: Wish,
        now: BitInstant,
    ) -> Result<Capture, WriteError> {
        let mut capture =
            Capture::on(LineWriter::on_stream(stream, place, "blocks", pcapng::whole_blocks), known, wish)?;
        (capture.now, capture.from) = (now, Capture::first(now));
        Ok(capture)
    }

    /// From when on a capture that begins at `now` has everything.
    pub fn first(now: BitInstant) -> BitInstant {
        now + BitTimes::new(PATIENCE)
    }

    /// Whether a transmission is in the capture.
    pub(super) fn is_wanted(&self, sent: &Transmission, is_collision: bool) -> bool {
        let subject = Subject { is_row: false, is_collision, station: sent.frame.station, frame: sent.frame };
        self.filter.takes(subject, || self.packets.frames.addresses(sent.frame))
    }

    /// Whether an event's row is in the capture.
    pub(super) fn shows(&self, event: &Event) -> bool {
        let is_collision = matches!(event.kind, Kind::Collision { .. });
        let subject = Subject { is_row: true, is_collision, station: event.station, frame: event.frame };
        event.at >= self.from && self.filter.takes(subject, || self.packets.frames.addresses(event.frame))
    }

    /// Writes the row of an event in its turn.
    pub(super) fn row(&mut self, event: &Event) -> Result<(), WriteError> {
        if !self.shows(event) {
            return Ok(());
        }
        self.put(|packets, into| packets.event(into, event))
    }

    /// Ends a capture on a stream: its last block says how many notes it misses.
    ///
    /// # Errors
    /// The stream is closed.
    pub fn finish(mut self, missing: u64) -> Result<(), WriteError> {
        self.close()?;
        if self.packets.framing == Framing::Plain && self.declared == 0 {
            // No station was ever there, and the count needs an interface.
            self.output.unit(|into| pcapng::interface(into, &bus(pcapng::ETHERNET, self.packets.config.rate.get())))?;
        }
        let (bus, now) = (self.packets.bus(), self.packets.nanos(self.now));
        self.output.unit(|into| pcapng::statistics(into, bus, now, missing))?;
        self.output.flush()
    }

    /// The stream that it is written to.
    pub fn stream(&self) -> Option<&File> {
        self.output.stream()
    }
}
