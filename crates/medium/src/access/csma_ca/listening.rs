//! What a station that waits has heard, and when it may send: DIFS or EIFS of silence, then slots that stand still
//! while the medium is busy (IEEE 802.11, 10.3.4).
//!
//! ```text
//!   signal | DIFS | slot | slot | signal, by which two slots are counted | DIFS | slot | …
//! ```
//! A station looks at the instant at which it could send if it heard nothing more. If signals came before, it takes
//! account of them, and looks again when it could send after these.

use super::Spans;
use super::air::{Air, Arrival, Heard};
use crate::frame::StationId;
use crate::time::{BitInstant, BitTimes};
use crate::topology::Topology;

/// What a station knows of its place, and what it waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listening {
    /// What began here before is taken account of.
    since: BitInstant,
    /// No signal before this number is still to be taken account of.
    next: u64,
    pub gap: Gap,
    /// It does not count before this instant.
    not_before: BitInstant,
    /// Slots that are left; none if it may send after the gap without any.
    pub slots: Option<u64>,
    /// It may send without slots, and heard a signal before it could.
    pub interrupted: bool,
}

/// What the gap before the next slot follows from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap {
    /// Since when no signal has been here; in the future while one is.
    pub silent: BitInstant,
    /// NAV: up to here the medium is reserved for others.
    pub reserved: BitInstant,
    /// What was heard last could not be made out.
    pub spoilt: bool,
}

impl Gap {
    /// When it ends.
    #[inline]
    pub fn end(&self, spans: &Spans) -> BitInstant {
        let gap = self.silent.max(self.reserved) + spans.difs;
        if self.spoilt { gap.max(self.silent + spans.eifs) } else { gap }
    }
}

/// Where all this happens.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub air: &'a Air,
    pub topology: &'a Topology,
    pub spans: &'a Spans,
    pub station: StationId,
    /// How long any signal takes to any other place, if everybody hears everything on a star.
    pub way: Option<BitTimes>,
    /// Everybody hears everything: whatever is in the air for longer than it takes to get everywhere stays alone.
    pub alike: bool,
}

impl Listening {
    /// Of a station that has never waited.
    pub const IDLE: Listening = Listening {
        since: BitInstant::ZERO,
        next: 0,
        gap: Gap { silent: BitInstant::ZERO, reserved: BitInstant::ZERO, spoilt: false },
        not_before: BitInstant::ZERO,
        slots: None,
        interrupted: false,
    };

    /// It begins to wait at `now` for so many slots, which it does not count before `not_before`.
    pub fn new(air: &Air, now: BitInstant, not_before: BitInstant, slots: Option<u64>) -> Listening {
        let since = air.horizon(now);
        Listening { since, next: air.next_after(0, since), not_before, slots, ..Listening::IDLE }
    }

    /// It knows of all that began before `now`, and waits for so many slots, which it does not count before `not_before`.
    pub fn with(gap: Gap, now: BitInstant, not_before: BitInstant, slots: Option<u64>) -> Listening {
        Listening { since: now, gap, not_before, slots, ..Listening::IDLE }
    }

    /// From now on it goes through the signals that begin from `since` on.
    pub fn goes_on_from(&mut self, air: &Air, since: BitInstant) {
        (self.since, self.next) = (since, air.next_after(0, since));
    }

    /// It does not count slots before this instant.
    pub fn not_before(&self) -> BitInstant {
        self.not_before
    }

    /// It has drawn `slots`, which it counts from `now` on.
    pub fn draw(&mut self, slots: u64, now: BitInstant) {
        (self.slots, self.not_before, self.interrupted) = (Some(slots), now, false);
    }

    /// When its gap ends, and slots begin.
    #[inline]
    pub fn from(&self, spans: &Spans) -> BitInstant {
        self.gap.end(spans).max(self.not_before)
    }

    /// When it may send if it hears nothing more.
    pub fn may_send(&self, spans: &Spans) -> BitInstant {
        self.from(spans) + spans.slot * self.slots.unwrap_or(0)
    }

    /// When it has to look again at `now`, if signals last `shortest` at least: when it may send, or sooner if a signal
    /// that it could make out would end its EIFS before that.
    pub fn looks_at(&self, now: BitInstant, shortest: BitTimes, spans: &Spans) -> BitInstant {
        let at = self.may_send(spans);
        match self.slots {
            Some(slots) if self.gap.spoilt && now < self.gap.silent + spans.eifs => {
                at.min(now + shortest + spans.difs + spans.slot * slots)
            }
            Some(_) | None => at,
        }
    }

    /// Carrier or a reservation keeps the medium busy at `now`.
    pub fn is_busy(&self, now: BitInstant) -> bool {
        let carrier = self.gap.silent >= now && now > BitInstant::ZERO;
        carrier || self.gap.reserved > now
    }

    /// Up to when the medium is reserved for others, as far as it has heard.
    pub fn reserved(&self) -> BitInstant {
        self.gap.reserved
    }

    /// Slots that are left at `now`.
    pub fn left(&self, now: BitInstant, spans: &Spans) -> u64 {
        let passed = now.since(self.from(spans)).get() / spans.slot.get();
        self.slots.unwrap_or(0) - passed
    }

    /// Takes account of what began here before `now`. What it returns holds as long as nothing more is heard; it may be
    /// too early while a signal is here, since nobody knows what will become of that.
    #[inline]
    pub fn look(&mut self, place: Place<'_>, now: BitInstant, room: &mut Vec<Arrival>) -> Listening {
        let before = *self;
        if let Some(way) = place.way
            && let Some(heard) = self.look_where_all_hear_the_same(place, now, way)
        {
            return heard;
        }
        *self = before;
        let Place { air, topology, station, .. } = place;
        air.arrivals(topology, station, (self.since, now), self.next, room);
        let mut looking = Looking { state: *self, certain: None };
        room.iter().for_each(|&arrival| looking.hear(arrival, place, now));
        self.go_on(looking, place, now)
    }

    /// The same on a star that hides nobody; `None` if signals did not get here in the order in which they were sent.
    #[inline]
    fn look_where_all_hear_the_same(&mut self, place: Place<'_>, now: BitInstant, way: BitTimes) -> Option<Listening> {
        let mut looking = Looking { state: *self, certain: None };
        let (since, mut last) = (self.since, BitInstant::ZERO);
        for (number, signal) in place.air.from(self.next) {
            let way = if signal.source == place.station { BitTimes::ZERO } else { way };
            let (begin, end) = (signal.begin + way, signal.end + way);
            if begin < last || signal.parted().is_some() {
                return None;
            }
            last = begin;
            if begin >= since && begin < now {
                looking.hear(Arrival { begin, end, number }, place, now);
            }
        }
        Some(self.go_on(looking, place, now))
    }

    #[inline]
    fn go_on(&mut self, looking: Looking, place: Place<'_>, now: BitInstant) -> Listening {
        let next = self.next;
        *self = looking.certain.unwrap_or(Listening { since: now, ..looking.state });
        self.next = place.air.next_after(next, self.since);
        looking.state
    }

    /// Slots pass until a signal begins.
    pub fn count_slots(&mut self, begin: BitInstant, spans: &Spans) {
        if begin <= self.gap.silent {
            return;
        }
        let passed = begin.since(self.from(spans)).get() / spans.slot.get();
        self.interrupted |= self.slots.is_none() && begin >= self.not_before;
        // Where the gap is not certain, it may be longer, and less slots may have passed.
        self.slots = self.slots.map(|slots| slots.saturating_sub(passed));
    }

    fn hear(&mut self, arrival: Arrival, place: Place<'_>, is_certain: bool) {
        let Place { air, topology, station, .. } = place;
        let (signal, Arrival { end, number, .. }) = (air.signal(arrival.number), arrival);
        self.gap.silent = self.gap.silent.max(end);
        if signal.source == station || !is_certain {
            self.gap.spoilt = false;
            return;
        }
        match air.heard_as(topology, number, station) {
            Heard::Clear => {
                self.gap.spoilt = false;
                if signal.to != Some(station) {
                    self.gap.reserved = self.gap.reserved.max(end + signal.reserves);
                }
            }
            Heard::Spoilt => self.gap.spoilt = true,
            Heard::SpokenOver => {}
        }
    }
}

/// A look that goes on.
struct Looking {
    state: Listening,
    /// The state before the first signal of which nobody knows what will become of it.
    certain: Option<Listening>,
}

impl Looking {
    #[inline]
    fn hear(&mut self, arrival: Arrival, place: Place<'_>, now: BitInstant) {
        let is_certain = arrival.end <= now || place.will_stay_alone(arrival, now);
        if !is_certain && self.certain.is_none() {
            self.certain = Some(Listening { since: arrival.begin, ..self.state });
        }
        self.state.count_slots(arrival.begin, place.spans);
        self.state.hear(arrival, place, is_certain);
    }
}

impl Place<'_> {
    /// Whoever has not begun while the signal is here will not before it ends.
    fn will_stay_alone(&self, arrival: Arrival, now: BitInstant) -> bool {
        let signal = self.air.signal(arrival.number);
        self.alike && signal.parted().is_none() && signal.begin + self.air.longest() < now
    }
}

/// Whoever sends in a slot is heard everywhere in the next, and answers begin in time.
pub(super) fn fits(longest: BitTimes, spans: &Spans) -> bool {
    longest * 2 < spans.slot
}
