//! What a waiting station has heard, and when it may send: DIFS or EIFS of silence, then slots, whose countdown stops
//! while the medium is busy (IEEE 802.11, 10.3.4).
//!
//! ```text
//!   signal | DIFS | slot | slot | signal, by which two slots are counted | DIFS | slot | …
//! ```
//! A station looks at the instant at which it could send if it heard nothing more. If signals came before, it processes
//! them, and looks again when it could send after these.

use super::Spans;
use super::air::{Air, Arrival, Heard};
use crate::config::Clock;
use crate::frame::StationId;
use crate::noise::Noise;
use crate::time::{BitInstant, BitTimes};
use crate::topology::Topology;

/// What a station has heard at its place, and what it waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listening {
    /// Signals that began here before this instant are processed.
    since: BitInstant,
    /// Signals before this number are all processed.
    next: u64,
    pub gap: Gap,
    /// The end here, and the number, of the signal that decides `gap.spoilt`. With capture that is the last of several to
    /// end.
    last: (BitInstant, u64),
    /// It does not count before this instant.
    not_before: BitInstant,
    /// The remaining slots; `None` if it may send right after the gap.
    pub slots: Option<u64>,
    /// It could have sent without slots, but heard a signal before.
    pub interrupted: bool,
    /// What times its gaps and slots.
    pub clock: Clock,
}

/// What determines the gap before the next slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap {
    /// The begin of the present silence; in the future while a signal is here.
    pub silent: BitInstant,
    /// NAV: the end of the reservation for others.
    pub reserved: BitInstant,
    /// The last signal could not be decoded.
    pub spoilt: bool,
}

impl Gap {
    /// The end of the gap by `clock`.
    #[inline]
    pub fn end(&self, spans: &Spans, clock: Clock) -> BitInstant {
        let gap = clock.after(self.silent.max(self.reserved), spans.difs);
        if self.spoilt { gap.max(clock.after(self.silent, spans.eifs)) } else { gap }
    }
}

/// A station's place and the signals in the air.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub air: &'a Air,
    pub topology: &'a Topology,
    pub noise: &'a Noise,
    pub spans: &'a Spans,
    pub station: StationId,
    /// How long any signal takes to any other place, if all stations hear all signals on a star.
    pub way: Option<BitTimes>,
    /// All stations hear all signals: a signal stays alone once it has been in the air longer than the longest way.
    pub alike: bool,
}

impl Listening {
    /// The state of a station that has never waited.
    pub const IDLE: Listening = Listening {
        since: BitInstant::ZERO,
        next: 0,
        gap: Gap { silent: BitInstant::ZERO, reserved: BitInstant::ZERO, spoilt: false },
        last: (BitInstant::ZERO, 0),
        not_before: BitInstant::ZERO,
        slots: None,
        interrupted: false,
        clock: Clock::RIGHT,
    };

    /// A station that begins to wait at `now` for `slots`, which it does not count before `not_before`.
    pub fn new(air: &Air, now: BitInstant, not_before: BitInstant, slots: Option<u64>) -> Listening {
        let since = air.horizon(now);
        Listening { since, next: air.next_after(0, since), not_before, slots, ..Listening::IDLE }
    }

    /// A station that has processed everything before `now`, and waits for `slots`, which it does not count before
    /// `not_before`.
    pub fn with(gap: Gap, now: BitInstant, not_before: BitInstant, slots: Option<u64>) -> Listening {
        Listening { since: now, gap, not_before, slots, ..Listening::IDLE }
    }

    /// From now on it processes the signals that begin at `since` or later.
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

    /// The end of its gap, when slots begin.
    #[inline]
    pub fn from(&self, spans: &Spans) -> BitInstant {
        self.gap.end(spans, self.clock).max(self.not_before)
    }

    /// When it may send if it hears nothing more.
    pub fn may_send(&self, spans: &Spans) -> BitInstant {
        self.clock.after(self.from(spans), spans.slot * self.slots.unwrap_or(0))
    }

    /// When it has to look again after `now`, if every signal lasts at least `shortest`: when it may send, or earlier
    /// if a signal that it can decode would end its EIFS before that.
    pub fn looks_at(&self, now: BitInstant, shortest: BitTimes, spans: &Spans) -> BitInstant {
        let at = self.may_send(spans);
        match self.slots {
            Some(slots) if self.gap.spoilt && now < self.clock.after(self.gap.silent, spans.eifs) => {
                let slots = self.clock.after(now + shortest, spans.difs + spans.slot * slots);
                // Gap and slots are rounded one by one, and so may end earlier.
                let early = if self.clock.is_right() { slots } else { BitInstant::new(slots.get() - 2) };
                at.min(early)
            }
            Some(_) | None => at,
        }
    }

    /// Carrier or a reservation keeps the medium busy at `now`.
    pub fn is_busy(&self, now: BitInstant) -> bool {
        let carrier = self.gap.silent >= now && now > BitInstant::ZERO;
        carrier || self.gap.reserved > now
    }

    /// The end of the reservation for others, as far as it has heard.
    pub fn reserved(&self) -> BitInstant {
        self.gap.reserved
    }

    /// The remaining slots at `now`.
    pub fn left(&self, now: BitInstant, spans: &Spans) -> u64 {
        let passed = self.clock.slots_between(self.from(spans), now, spans.slot);
        self.slots.unwrap_or(0).saturating_sub(passed)
    }

    /// Processes the signals that began here before `now`. The result holds as long as no further signal comes; it may
    /// be too early while a signal is here, since the fate of that signal is open.
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

    /// The same on a star without hidden stations; `None` if signals did not arrive here in the order in which they
    /// were sent.
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

    /// Counts the slots that pass before a signal begins at `begin`.
    pub fn count_slots(&mut self, begin: BitInstant, spans: &Spans) {
        if begin <= self.gap.silent {
            return;
        }
        let passed = self.clock.slots_between(self.from(spans), begin, spans.slot);
        self.interrupted |= self.slots.is_none() && begin >= self.not_before;
        // If the gap is not certain, it may be longer, and fewer slots may have passed.
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
        let heard = match air.heard_as(topology, number, station) {
            Heard::Clear if air.is_struck(topology, place.noise, number, station) => Heard::Spoilt,
            heard @ (Heard::Clear | Heard::Spoilt | Heard::SpokenOver) => heard,
        };
        if heard != Heard::SpokenOver && (end, number) >= self.last {
            (self.last, self.gap.spoilt) = ((end, number), heard == Heard::Spoilt);
        }
        match heard {
            Heard::Clear => {
                if signal.to != Some(station) {
                    self.gap.reserved = self.gap.reserved.max(end + signal.reserves);
                }
            }
            Heard::Spoilt | Heard::SpokenOver => {}
        }
    }
}

/// A look in progress.
struct Looking {
    state: Listening,
    /// The state before the first signal whose fate is open.
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
    /// Every station hears the signal by now, and does not begin before its end.
    fn will_stay_alone(&self, arrival: Arrival, now: BitInstant) -> bool {
        let signal = self.air.signal(arrival.number);
        self.alike && signal.parted().is_none() && signal.begin + self.air.longest() < now
    }
}
