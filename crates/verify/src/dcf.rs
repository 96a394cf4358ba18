//! CSMA/CA: the distributed coordination function of 802.11, seen from its pauses.
//!
//! ```text
//!   ‥signal│─ DIFS ─│ slots │frame│─ SIFS ─│ACK│
//! ```
//! A signal that began less than a slot before may not have been sensed yet.

use crate::bus::Bus;
use crate::station::Queued;
use crate::times::Times;
use crate::violation::{DIFS, ONE_FRAME, SIFS, WINDOW};
use crate::ways::later;
use medium::{CsmaCa, Destination, Fault, FrameId, MacKind, Method, WirelessKind};

impl Bus {
    fn times(&self) -> Option<(CsmaCa, Times)> {
        let Method::CsmaCa(own) = &self.config.method else { return None };
        Some((own.clone(), Times::of(own.phy)))
    }

    /// An event of a station's own frame.
    pub fn dcf(&mut self, frame: FrameId, kind: MacKind) {
        match kind {
            MacKind::Attempt { attempt, .. } => self.tries(frame, attempt),
            MacKind::Backoff { attempt, slots } => self.draws(frame, attempt, slots),
            MacKind::Defer { .. } | MacKind::Collision { .. } | MacKind::JamEnd { .. } => {
                self.named(frame, "waits");
            }
            MacKind::Transmitted { .. } | MacKind::Discarded { .. } => {}
        }
    }

    fn draws(&mut self, frame: FrameId, attempt: u32, slots: u64) {
        let Some((own, _)) = self.times() else { return };
        let window = (u64::from(own.window) << attempt.min(20)).min(own.most_window.into());
        self.demand(slots < window, &WINDOW, frame.station.index(), || {
            format!("{frame} waits {slots} slots after attempt {attempt}: the window has {window} values, from 0")
        });
    }

    fn tries(&mut self, frame: FrameId, attempt: u32) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(index) = self.attempts(frame, attempt) else { return };
        let Some((own, times)) = self.times() else { return };
        let last = self.air.iter().filter(|signal| signal.station == place).filter_map(|signal| signal.end).max();
        self.demand(last.is_none_or(|end| end <= now), &ONE_FRAME, place, || {
            format!("{frame} begins, and the signal before is out at {}", last.unwrap_or_default())
        });
        self.was_silent(frame, &times);
        let queued = &mut self.stations[place].queue[index];
        // An address that no station has is that of one station.
        let asks = own.rts && queued.destination != Destination::All;
        let end = now + if asks { times.rts } else { times.data(queued.size as u32) };
        queued.sent = Some((now, end));
        let queued = queued.clone();
        self.send(place, &queued, now, end, true).is_frame = !asks;
        if !asks {
            self.expect(self.air.len() - 1);
        }
    }

    /// The medium was silent for DIFS at the station, but for signals of the last slot.
    fn was_silent(&mut self, frame: FrameId, times: &Times) {
        let (place, now) = (frame.station.index(), self.now);
        let station = &self.stations[place];
        if station.doubtful || station.fault.is_some_and(Fault::is_deaf) {
            return;
        }
        let noticed = now.saturating_sub(times.slot);
        let others =
            self.air.iter().filter(|it| it.station != place && it.is_sensed(place) && it.begin_at(place) < noticed);
        let Some(end) = others.map(|signal| signal.end_at(place)).max() else { return };
        let earliest = later(&self.config, place, end, times.difs);
        self.demand(earliest <= now, &DIFS, place, || {
            format!("{frame} begins, and carrier ended at {end}: DIFS is over at {earliest}")
        });
    }

    /// An answer, or what follows one: it begins SIFS after the end of what it answers.
    pub fn wireless(&mut self, place: usize, frame: FrameId, kind: WirelessKind) {
        let Some((_, times)) = self.times() else { return };
        let (length, is_data, word) = match kind {
            WirelessKind::Cts { .. } => (times.cts, false, "cts"),
            WirelessKind::Ack => (times.ack, false, "ack"),
            WirelessKind::Data { .. } => {
                let Some(index) = self.named(frame, "is sent") else { return };
                (times.data(self.stations[frame.station.index()].queue[index].size as u32), true, "data")
            }
            WirelessKind::Rts { .. } | WirelessKind::Duplicate { .. } => return,
        };
        let now = self.now;
        let of_it = self.air.iter().filter(|it| it.frame == frame && it.station != place && it.reaches[place]);
        let ends = of_it.map(|signal| later(&self.config, place, signal.end_at(place), times.sifs));
        let answers = ends.filter(|due| *due == now).count() > 0;
        self.demand(answers, &SIFS, place, || {
            format!("`{word}` of {frame} begins, and nothing of it ended SIFS before")
        });
        let queued = self.frame(frame).map(|index| self.stations[frame.station.index()].queue[index].clone());
        let queued = queued.filter(|_| is_data).unwrap_or(Queued {
            id: frame,
            size: 0,
            destination: Destination::Nobody,
            too_long: false,
            arrived: now,
            head_since: now,
            attempts: 0,
            deferred: false,
            sent: None,
            ready: None,
        });
        self.send(place, &queued, now, now + length, true).is_frame = is_data;
        if is_data {
            self.expect(self.air.len() - 1);
        }
    }
}
