//! TDMA and slotted ALOHA: when the slots of a station begin, and whose they are.

use crate::bus::Bus;
use crate::violation::{BACKOFF, OWNER, SLOT};
use crate::ways::instant_of;
use medium::{FrameId, Method};

impl Bus {
    fn slot_length(&self) -> u64 {
        match &self.config.method {
            Method::Tdma(own) => own.slot.get(),
            Method::SlottedAloha(own) => own.slot.get(),
            Method::CsmaCd | Method::CsmaCa(_) | Method::Plca(_) | Method::Aloha(_) | Method::Csma(_) => 1,
        }
    }

    fn slot_begin(&self, place: usize, number: u64) -> u64 {
        instant_of(&self.config, place, number * self.slot_length())
    }

    /// The number of the slot that begins now by the clock of `place`, if one does.
    fn slot_now(&self, place: usize) -> Option<u64> {
        let guess = self.now / self.slot_length();
        // Clocks differ by a tenth at most.
        let (first, last) = (guess - guess / 9, guess + guess / 9 + 2);
        let (mut low, mut high) = (first.saturating_sub(2), last);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.slot_begin(place, middle) < self.now { low = middle + 1 } else { high = middle }
        }
        (self.slot_begin(place, low) == self.now).then_some(low)
    }

    /// The begin of the slot that is `slots` after the one that begins now.
    pub fn slot_after(&self, place: usize, slots: u64) -> Option<u64> {
        self.slot_now(place).map(|number| self.slot_begin(place, number + slots))
    }

    /// An attempt begins with a slot, one of the station's own where slots have owners.
    pub fn begins_slot(&mut self, frame: FrameId, ready: Option<u64>) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(number) = self.slot_now(place) else {
            let length = self.slot_length();
            return self.violate(&SLOT, place, format!("{frame} begins within a slot of {length} BT"));
        };
        self.demand(ready.is_none_or(|ready| ready <= now), &BACKOFF, place, || {
            format!("{frame} begins, and its wait ends at {}", ready.unwrap_or_default())
        });
        let Method::Tdma(own) = &self.config.method else { return };
        let owner = own.owners[(number % own.owners.len() as u64) as usize].index();
        self.demand(owner == place, &OWNER, place, || {
            format!("{frame} begins in slot {number}, which is that of station {}", owner + 1)
        });
    }
}
