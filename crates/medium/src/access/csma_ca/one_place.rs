//! CSMA/CA while all places are one: on a star without distance, as long as no station is deaf.
//!
//! All stations hear the same signals at the same instants, so one state and one countdown serve all waiting stations.
//! No station looks by itself: a signal costs the countdown one addition, however many stations wait.
//!
//! ```text
//!   gap ends: `from`             a signal begins, `counted` slots more have passed
//!      | slot | slot | slot |  sig |………| gap | slot | slot | slot |
//!      a draw of r slots here acts ────────────────────────────────▸  when `counted` has grown by r
//! ```
//! A few stations are not in the crowd of the shared countdown, and have a gap or a reservation of their own: those
//! that have just sent or are about to answer, and those that found silence and have drawn nothing yet. After the next
//! signal nearly all of them join it.
//!
//! A station does not hear a signal that begins as it acts. So signals of one instant are processed at the next. The events and their order are those of the general path in `listening`. The medium
//! leaves this fast path for good when a station becomes deaf.

mod alone;
mod leaving;

use super::listening::{Gap, Listening};
use super::{Dcf, State, WAIT};
use crate::access::Access;
use crate::config::{Clock, Config, Spans};
use crate::engine::Engine;
use crate::engine::clock::{Next, Path};
use crate::frame::{Addressed, StationId, TransmissionId};
use crate::inputs::Host;
use crate::star::{self, Together};
use crate::time::{BitInstant, BitTimes};
use crate::timers::{Key, NEVER, NONE, instant, key, number};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The state of the medium that all stations share.
#[derive(Debug)]
pub(super) struct OnePlace {
    /// All places are one, and the fields below are valid.
    holds: bool,
    spans: Spans,
    /// The effect of all signals; without the last ones while `new` is set.
    heard: Heard,
    /// The sources of the last signals, which began together. The agenda has their ends at addressees.
    last: Together<StationId>,
    /// If there is only one and it can be decoded: its addressee, and the end of its reservation.
    clear: Option<(Option<StationId>, BitInstant)>,
    /// The sources of the signals before them.
    earlier: Vec<StationId>,
    /// `heard` does not include the last signals yet.
    new: bool,
    /// The instant after the begin of the signals before them; 0 if there were none.
    before_last: u64,
    /// The end of the crowd's gap.
    from: BitInstant,
    /// Slots that the crowd had counted before this gap.
    counted: u64,
    /// The crowd, one number a station: in the high bits the value of `counted` at which the station acts, in the low
    /// bits the station. Entries of some stations that have left are still here.
    crowd: BinaryHeap<Reverse<u64>>,
    /// When the first station of the crowd acts.
    first: Key,
    /// Waiting stations outside the crowd, each with the instant at which it acts.
    others: Vec<(StationId, BitInstant)>,
    /// The first of them.
    first_other: Key,
}

/// The combined effect of signals.
#[derive(Clone, Copy, Debug)]
struct Heard {
    gap: Gap,
    /// The two stations that the last reservation does not bind, since it is for them.
    exempt: [Option<StationId>; 2],
    /// The end of the reservation for others without the last one.
    reserved_before: BitInstant,
    /// Up to here reservations of several pairs overlap, and each station has to process the signals by itself.
    tangled: BitInstant,
}

/// A waiting station's place in the shared countdown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stand {
    /// In the crowd: the value of `counted` at which it acts.
    due: Option<u64>,
    /// The same of its entry that is still in the heap.
    entry: Option<u64>,
}

const fn member(due: u64, station: StationId) -> u64 {
    due << 16 | station.index() as u64
}

/// A waiting station's key among timers.
#[inline]
fn wait_key(at: BitInstant, station: StationId) -> Key {
    key(at, (station.index() * Dcf::TIMERS + WAIT) as u16)
}

impl OnePlace {
    /// A medium made from `config` before the first signal.
    pub fn new(config: &Config, spans: Spans) -> OnePlace {
        let gap = Gap::default();
        OnePlace {
            holds: star::is_shared(config) && config.csma_ca().reach.is_none() && !config.has_wrong_clocks(),
            spans,
            heard: Heard { gap, exempt: [None; 2], reserved_before: BitInstant::ZERO, tangled: BitInstant::ZERO },
            last: Together::default(),
            clear: None,
            earlier: Vec::new(),
            new: false,
            before_last: 0,
            from: gap.end(&spans, Clock::RIGHT),
            counted: 0,
            crowd: BinaryHeap::new(),
            first: NONE,
            others: Vec::new(),
            first_other: NONE,
        }
    }

    #[inline]
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// The next event other than timers and signals, or an earlier instant.
    pub fn due(&self) -> BitInstant {
        if !self.holds {
            return NEVER;
        }
        let first = self.next();
        if self.new { first.min(self.last.begin + BitTimes::new(1)) } else { first }
    }

    /// When the next waiting station acts, if no signal begins.
    #[inline]
    fn next(&self) -> BitInstant {
        instant(self.first.min(self.first_other))
    }

    /// A signal begins at `now`.
    #[inline]
    pub fn begin(
        &mut self,
        now: BitInstant,
        source: StationId,
        end: BitInstant,
        clear: Option<(Option<StationId>, BitTimes)>,
    ) {
        if self.new {
            self.last.join(end, source);
            self.clear = None;
            return;
        }
        (self.before_last, self.new) = (self.begun(), true);
        self.clear = clear.map(|(to, reserves)| (to, end + reserves));
        std::mem::swap(&mut self.last.signals, &mut self.earlier);
        self.last.begin(now, end, source);
    }

    /// The last signal, which has just begun, is an answer to this station.
    pub fn answers(&mut self, station: StationId) {
        if let Some((to, _)) = &mut self.clear {
            *to = Some(station);
        }
    }

    /// The instant after the begin of the last signals.
    fn begun(&self) -> u64 {
        if self.last.signals.is_empty() { 0 } else { self.last.begin.get() + 1 }
    }

    /// A signal that stations know by now began at `since` or later.
    fn has_begun_since(&self, since: BitInstant) -> bool {
        let begun = if self.new { self.before_last } else { self.begun() };
        begun > since.get()
    }

    /// What `station` has heard; `None` if it has to process the signals by itself.
    #[inline]
    fn view(&self, station: StationId) -> Option<Gap> {
        let Heard { gap, exempt, reserved_before, tangled } = self.heard;
        let sources = if self.new { &self.earlier } else { &self.last.signals };
        let spoilt = gap.spoilt && !sources.contains(&station);
        if gap.silent < tangled {
            return None;
        }
        if !exempt.contains(&Some(station)) {
            return Some(Gap { spoilt, ..gap });
        }
        (reserved_before <= gap.silent).then_some(Gap { reserved: reserved_before, spoilt, ..gap })
    }

    /// The last signal was for this station alone, and it could decode it.
    fn is_clear_for(&self, station: StationId) -> bool {
        self.clear.is_some_and(|(to, _)| to == Some(station))
    }

    /// Adds the effect of the last signals.
    fn take_in_last(&mut self) {
        self.new = false;
        let (begin, end, clear) = (self.last.begin, self.last.end, self.clear);
        self.counted += begin.since(self.from).get() / self.spans.slot.get();
        let heard = &mut self.heard;
        heard.gap.silent = heard.gap.silent.max(end);
        heard.gap.spoilt = clear.is_none();
        if let Some((to, until)) = clear {
            let pair = [Some(self.last.signals[0]), to];
            if pair != heard.exempt && [pair[1], pair[0]] != heard.exempt {
                if heard.gap.reserved > heard.gap.silent {
                    heard.tangled = heard.tangled.max(heard.gap.reserved);
                }
                (heard.exempt, heard.reserved_before) = (pair, heard.gap.reserved);
            }
            heard.gap.reserved = heard.gap.reserved.max(until);
        }
        self.from = heard.gap.end(&self.spans, Clock::RIGHT);
    }

    /// Whether a station with this history may join the shared countdown.
    #[inline]
    fn is_in_step(&self, listening: &Listening) -> bool {
        let (own, all) = (&listening.gap, &self.heard.gap);
        let same = own.reserved == all.reserved || own.reserved.max(all.reserved) <= all.silent;
        same && listening.from(&self.spans) == self.from
    }

    fn join(&mut self, station: StationId, stand: &mut Stand, slots: u64) {
        let due = self.counted + slots;
        stand.due = Some(due);
        if stand.entry != Some(due) {
            stand.entry = Some(due);
            self.crowd.push(Reverse(member(due, station)));
        }
    }

    fn stay_apart(&mut self, station: StationId, at: BitInstant) {
        self.others.push((station, at));
        self.first_other = self.first_other.min(wait_key(at, station));
    }

    fn look_who_is_first_of_others(&mut self) {
        self.first_other = self.others.iter().map(|&(station, at)| wait_key(at, station)).min().unwrap_or(NONE);
    }

    /// The remaining slots of a member of the crowd at `now`.
    fn left(&self, due: u64, now: BitInstant) -> u64 {
        due - self.counted - now.since(self.from).get() / self.spans.slot.get()
    }
}

/// The next decision is that of a timer, of the first of the crowd, or of the first station outside it.
impl Path<Dcf> for OnePlace {
    type Decision = (Key, Key, Key);

    #[inline(always)]
    fn next(engine: &mut Engine<Dcf>) -> Next<(Key, Key, Key)> {
        let timer = engine.core.agenda.timers.first();
        let OnePlace { first: crowd, first_other: other, .. } = engine.method.here;
        let decides = instant(timer).min(instant(crowd)).min(instant(other));
        Next { decides, signals: engine.core.agenda.next_signal(), decision: (timer, crowd, other) }
    }

    #[inline(always)]
    fn instant_ends<H: Host>(engine: &mut Engine<Dcf>, next: BitInstant, _: &mut H) -> bool {
        let here = &engine.method.here;
        let are_heard = here.new && here.last.begin < next;
        if are_heard {
            engine.settle_in_one_place();
        }
        are_heard
    }

    #[inline(always)]
    fn decide<H: Host>(engine: &mut Engine<Dcf>, (timer, crowd, other): (Key, Key, Key), host: &mut H) {
        if timer <= crowd.min(other) {
            let timer = engine.core.agenda.timers.take();
            Dcf::timer_ends(engine, StationId::new((timer / Dcf::TIMERS) as u16), timer % Dcf::TIMERS, host);
        } else if crowd <= other {
            engine.first_of_crowd(host);
        } else {
            engine.first_of_others(host);
        }
    }

    #[inline(always)]
    fn signals_change<H: Host>(engine: &mut Engine<Dcf>, host: &mut H) {
        engine.signals_end_in_one_place(host);
    }
}

impl Engine<Dcf> {
    /// Schedules the end of signal `id` of `source` at its addressees.
    #[inline]
    pub(super) fn expect_ends(
        &mut self,
        source: StationId,
        destination: Addressed,
        end: BitInstant,
        id: TransmissionId,
    ) {
        let others = destination.places(self.stations.len()).filter(|&place| place != source);
        others.for_each(|place| self.core.agenda.ends.push(end, place, id));
    }

    /// Signals end at their addressees.
    fn signals_end_in_one_place<H: Host>(&mut self, host: &mut H) {
        while let Some((place, id)) = self.core.agenda.ends.pop(self.core.instant) {
            if !self.station(place).attached {
                continue;
            }
            self.receive_signal(place, id, host);
            let mac = &self.stations[place.index()].mac;
            if mac.stand.due.is_some() && mac.answer.is_none() && self.method.here.is_clear_for(place) {
                self.step_out(place);
            }
        }
    }

    /// The slots of the first of the crowd are over.
    fn first_of_crowd<H: Host>(&mut self, host: &mut H) {
        let Reverse(first) = self.method.here.crowd.pop().expect("somebody is due");
        let station = StationId::new(first as u16);
        self.stations[station.index()].mac.stand = Stand::default();
        self.look_who_is_first();
        self.countdown_is_over(station, host);
    }

    /// The first station outside the crowd acts.
    fn first_of_others<H: Host>(&mut self, host: &mut H) {
        let station = StationId::new(number(self.method.here.first_other) / Dcf::TIMERS as u16);
        self.forget_waiting(station);
        if self.stations[station.index()].mac.listening.slots.is_some() {
            return self.countdown_is_over(station, host);
        }
        self.look(station, host);
    }

    /// Finds the first station of the crowd.
    fn look_who_is_first(&mut self) {
        let here = &mut self.method.here;
        while let Some(&Reverse(first)) = here.crowd.peek() {
            let (due, station) = (first >> 16, StationId::new(first as u16));
            let stand = &mut self.stations[station.index()].mac.stand;
            if stand.due == Some(due) {
                let at = here.from + here.spans.slot * (due - here.counted);
                here.first = wait_key(at, station);
                return;
            }
            // It has left, and may have joined again at a later count.
            if stand.entry == Some(due) {
                stand.entry = None;
            }
            here.crowd.pop();
        }
        here.first = NONE;
    }

    /// What `station` has heard by the instant `at`.
    fn view(&self, station: StationId, at: BitInstant) -> Gap {
        match self.method.here.view(station) {
            Some(gap) => gap,
            None => self.hear_by_itself(station, at),
        }
    }

    /// The end of the reservation for others, as far as the station has heard.
    pub(super) fn reserved_in_one_place(&self, station: StationId) -> BitInstant {
        self.view(station, self.core.instant).reserved
    }

    /// The station begins to wait for `slots`, which it does not count before `not_before`.
    #[inline]
    pub(super) fn hear_in_one_place(
        &mut self,
        station: StationId,
        not_before: BitInstant,
        slots: Option<u64>,
    ) -> Listening {
        let now = self.core.instant;
        let listening = Listening::with(self.view(station, now), now, not_before, slots);
        self.stations[station.index()].mac.listening = listening;
        listening
    }

    /// Whether a station that found silence has heard a signal since, so that it may not send now.
    pub(super) fn interrupted_in_one_place(&mut self, station: StationId) -> bool {
        let listening = &self.stations[station.index()].mac.listening;
        let interrupted = listening.slots.is_none() && self.method.here.has_begun_since(listening.not_before());
        if interrupted {
            self.hear_in_one_place(station, self.core.instant, None);
        }
        interrupted
    }

    /// The station waits up to `at` if it hears nothing more.
    #[inline]
    pub(super) fn wait_in_one_place(&mut self, station: StationId, at: BitInstant) {
        let (here, mac) = (&mut self.method.here, &mut self.stations[station.index()].mac);
        match mac.listening.slots {
            Some(slots) if here.is_in_step(&mac.listening) && mac.sends_until <= self.core.instant => {
                here.join(station, &mut mac.stand, slots);
                let at = wait_key(here.from + here.spans.slot * slots, station);
                here.first = here.first.min(at);
            }
            Some(_) | None => here.stay_apart(station, at),
        }
    }

    /// The remaining slots of a waiting station.
    pub(super) fn left_in_one_place(&self, station: StationId) -> u64 {
        let (now, mac) = (self.core.instant, &self.stations[station.index()].mac);
        match mac.stand.due {
            Some(due) => self.method.here.left(due, now),
            None => mac.listening.left(now, &self.method.spans),
        }
    }

    /// The station stops waiting.
    pub(super) fn forget_waiting(&mut self, station: StationId) {
        if self.stations[station.index()].mac.stand.due.take().is_some() {
            return self.look_who_is_first();
        }
        let here = &mut self.method.here;
        if let Some(place) = here.others.iter().position(|&(other, _)| other == station) {
            here.others.swap_remove(place);
            here.look_who_is_first_of_others();
        }
    }

    /// All stations process the signals that began last.
    fn settle_in_one_place(&mut self) {
        let begin = self.method.here.last.begin;
        self.method.here.take_in_last();
        if !self.method.here.others.is_empty() {
            self.join_in(begin);
        }
        let here = &self.method.here;
        // A waiting station that sent the signal has answered. Its own signal is never spoilt, and never reserves for
        // the sender.
        if let [source] = here.last.signals[..]
            && (here.heard.gap.spoilt || here.heard.gap.reserved > here.heard.gap.silent)
        {
            self.step_out(source);
        }
        self.look_who_is_first();
    }

    /// The station leaves the crowd, since it has heard something different from the others.
    fn step_out(&mut self, station: StationId) {
        let Some(due) = self.stations[station.index()].mac.stand.due.take() else { return };
        let gap = self.view(station, self.core.instant.max(self.method.here.last.begin + BitTimes::new(1)));
        let (here, mac) = (&mut self.method.here, &mut self.stations[station.index()].mac);
        mac.listening = Listening::with(gap, BitInstant::ZERO, BitInstant::ZERO, Some(due - here.counted));
        let at = mac.listening.may_send(&here.spans);
        here.stay_apart(station, at);
        self.look_who_is_first();
    }

    /// Stations outside the crowd count the slots before `begin`, when signals began, and join the crowd if they can.
    fn join_in(&mut self, begin: BitInstant) {
        let mut others = std::mem::take(&mut self.method.here.others);
        others.retain_mut(|(station, at)| {
            let index = station.index();
            if self.stations[index].mac.listening.slots.is_none() {
                return true;
            }
            let gap = self.view(*station, begin + BitTimes::new(1));
            let (here, mac) = (&mut self.method.here, &mut self.stations[index].mac);
            mac.listening.count_slots(begin, &here.spans);
            mac.listening.gap = gap;
            if here.is_in_step(&mac.listening) {
                let slots = mac.listening.slots.expect("it counts slots");
                here.join(*station, &mut mac.stand, slots);
                return false;
            }
            *at = mac.listening.may_send(&here.spans);
            true
        });
        self.method.here.others = others;
        self.method.here.look_who_is_first_of_others();
    }

    /// The station has counted all its slots.
    fn countdown_is_over<H: Host>(&mut self, station: StationId, host: &mut H) {
        debug_assert!(matches!(self.station(station).mac.state, State::Waiting), "{station} does not wait");
        self.send_or_rest(station, host);
    }
}
