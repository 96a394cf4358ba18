//! ALOHA and CSMA without collision detection, and what slotted methods share with them: whole frames, acknowledged.

use crate::bus::Bus;
use crate::queue::is_infinite;
use crate::signal::PREAMBLE_AND_SFD;
use crate::violation::{BACKOFF, ONE_FRAME, SENSE};
use crate::ways::later;
use medium::{Fault, FrameId, MacKind, Method};

impl Bus {
    /// An event of a station's own frame, under a method that sends each frame to its end.
    pub fn contends(&mut self, frame: FrameId, kind: MacKind) {
        match kind {
            MacKind::Attempt { attempt, .. } => self.sends_whole(frame, attempt),
            MacKind::Backoff { slots, .. } => self.waits(frame, slots),
            MacKind::Defer { .. } | MacKind::Collision { .. } | MacKind::JamEnd { .. } => {
                self.named(frame, kind_name(kind));
            }
            MacKind::Transmitted { .. } | MacKind::Discarded { .. } => {}
        }
    }

    fn sends_whole(&mut self, frame: FrameId, attempt: u32) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(index) = self.attempts(frame, attempt) else { return };
        let last = self.air.iter().rfind(|signal| signal.station == place).and_then(|signal| signal.end);
        let busy = last.filter(|end| *end > now && !is_infinite(&self.config));
        self.demand(busy.is_none(), &ONE_FRAME, place, || {
            format!("{frame} begins, and the frame before is out at {}", busy.unwrap_or_default())
        });
        let ready = self.stations[place].queue[index].ready;
        match self.config.method {
            Method::Tdma(_) | Method::SlottedAloha(_) => self.begins_slot(frame, ready),
            Method::Aloha(_) => self.demand(ready == Some(now), &BACKOFF, place, || match ready {
                Some(ready) => format!("{frame} begins, and its wait ends at {ready}"),
                None => format!("{frame} begins, and nothing let it begin now"),
            }),
            _ => self.is_silent(frame, ready),
        }
        let queued = &mut self.stations[place].queue[index];
        let end = now + PREAMBLE_AND_SFD + queued.size * 8;
        (queued.ready, queued.sent) = (None, Some((now, end)));
        let queued = queued.clone();
        self.send(place, &queued, now, end, true);
        self.expect(self.air.len() - 1);
    }

    /// CSMA: the line at the station was silent in the bit time before.
    fn is_silent(&mut self, frame: FrameId, ready: Option<u64>) {
        let (place, now) = (frame.station.index(), self.now);
        self.demand(ready.is_none_or(|ready| ready <= now), &BACKOFF, place, || {
            format!("{frame} begins, and its wait ends at {}", ready.unwrap_or_default())
        });
        let station = &self.stations[place];
        if station.doubtful || station.fault.is_some_and(Fault::is_deaf) {
            return;
        }
        let others = self.air.iter().filter(|signal| signal.station != place && signal.is_sensed(place));
        let on = others.filter_map(|signal| signal.first_within(place, now.saturating_sub(1), now)).next();
        self.demand(on.is_none(), &SENSE, place, || format!("{frame} begins while another signal is there"));
    }

    fn waits(&mut self, frame: FrameId, slots: u64) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(index) = self.named(frame, "backs off") else { return };
        let ready = match &self.config.method {
            Method::Aloha(own) => Some(later(&self.config, place, now, slots * own.slot.get())),
            Method::Csma(own) => Some(later(&self.config, place, now, slots * own.slot.get())),
            Method::SlottedAloha(_) | Method::Tdma(_) => self.slot_after(place, slots),
            Method::CsmaCd | Method::CsmaCa(_) | Method::Plca(_) => None,
        };
        self.stations[place].queue[index].ready = ready;
    }
}

fn kind_name(kind: MacKind) -> &'static str {
    match kind {
        MacKind::Defer { .. } => "is deferred",
        MacKind::Collision { .. } => "collides",
        _ => "acts",
    }
}
