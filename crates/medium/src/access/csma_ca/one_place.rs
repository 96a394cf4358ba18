//! CSMA/CA while all places are one: on a star without distance, as long as nobody is deaf.
//!
//! Everybody hears the same signals at the same instants, so one state of the medium and one countdown stand for all
//! that wait. Nobody looks: what a signal does to the countdown is one addition, whoever waits.
//!
//! ```text
//!   gap ends: `from`             a signal begins, `counted` slots more have passed
//!      | slot | slot | slot |  sig |………| gap | slot | slot | slot |
//!      who has drawn r slots here is due ─────────────────────────▸  when `counted` has grown by r
//! ```
//! A few are not in the crowd, and have a gap or a reservation of their own: who has just sent or is to answer, and who
//! has found silence and drawn nothing yet. After the next signal nearly all of them join it.
//!
//! Signals that begin together are told apart from what came before only when the next instant comes, since whoever acts
//! at that instant has not heard them. The events and their order are those of the general way in `listening`. The
//! medium leaves this way for good when a station becomes deaf.

mod alone;
mod leaving;

use super::listening::{Gap, Listening};
use super::phy::Spans;
use super::{Dcf, State, WAIT};
use crate::access::Access;
use crate::config::Config;
use crate::engine::Engine;
use crate::frame::{Destination, StationId, TransmissionId};
use crate::inputs::Host;
use crate::time::{BitInstant, BitTimes};
use crate::timers::{Key, NEVER, NONE, instant, key, number};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The medium as everyone hears it.
#[derive(Debug)]
pub(super) struct OnePlace {
    /// All places are one, and what follows holds.
    holds: bool,
    spans: Spans,
    /// What came of all signals but the last, if these are `new`.
    heard: Heard,
    /// The last signals, which began together.
    last: Together,
    /// `heard` does not know of them yet.
    new: bool,
    /// Just after the signals before them began; 0 if there were none.
    before_last: u64,
    /// When the gap of the crowd ends.
    from: BitInstant,
    /// Slots that the crowd has counted before it.
    counted: u64,
    /// The crowd: at which `counted` each is due, and below it which station. Of those that have left it, some are
    /// still here.
    crowd: BinaryHeap<Reverse<u64>>,
    /// When the first of the crowd is due.
    first: Key,
    /// Who waits and is not in the crowd, with the instant at which it does something.
    others: Vec<(StationId, BitInstant)>,
    /// The first of them.
    first_other: Key,
}

/// What signals have come to.
#[derive(Clone, Copy, Debug)]
struct Heard {
    gap: Gap,
    /// Who takes no heed of the last reservation: the two that it is for.
    exempt: [Option<StationId>; 2],
    /// Up to when the medium was reserved for others without it.
    reserved_before: BitInstant,
    /// Up to here reservations of several pairs are in force, and each station has to go through them by itself.
    tangled: BitInstant,
}

/// Signals that began together.
#[derive(Debug, Default)]
struct Together {
    begin: BitInstant,
    end: BitInstant,
    sources: Vec<StationId>,
    /// Of the only one, if it can be made out: whom it is for, and up to when it reserves the medium.
    clear: Option<(Option<StationId>, BitInstant)>,
    /// Who sent those before.
    earlier: Vec<StationId>,
}

/// Where a waiting station stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stand {
    /// In the crowd: at which `counted` it is due.
    due: Option<u64>,
    /// The same of an entry of the heap that is still there.
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
    /// A medium made from `config` on which nobody has sent.
    pub fn new(config: &Config, spans: Spans) -> OnePlace {
        let together = config.topology.is_one_place();
        let gap = Gap::default();
        OnePlace {
            holds: together && !config.keep_outputs && super::own(config).reach.is_none(),
            spans,
            heard: Heard { gap, exempt: [None; 2], reserved_before: BitInstant::ZERO, tangled: BitInstant::ZERO },
            last: Together::default(),
            new: false,
            before_last: 0,
            from: gap.end(&spans),
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

    /// When something is due next, timers and signals left aside; no later than that.
    pub fn due(&self) -> BitInstant {
        if !self.holds {
            return NEVER;
        }
        let first = self.next();
        if self.new { first.min(self.last.begin + BitTimes::new(1)) } else { first }
    }

    /// When somebody who waits does something next, if nothing begins.
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
            self.last.end = self.last.end.max(end);
            self.last.clear = None;
        } else {
            self.before_last = self.begun();
            (self.new, self.last.begin, self.last.end) = (true, now, end);
            self.last.clear = clear.map(|(to, reserves)| (to, end + reserves));
            std::mem::swap(&mut self.last.sources, &mut self.last.earlier);
            self.last.sources.clear();
        }
        self.last.sources.push(source);
    }

    /// The last signal, which has just begun, is an answer to this station.
    pub fn answers(&mut self, station: StationId) {
        if let Some((to, _)) = &mut self.last.clear {
            *to = Some(station);
        }
    }

    /// Just after the last signals began.
    fn begun(&self) -> u64 {
        if self.last.sources.is_empty() { 0 } else { self.last.begin.get() + 1 }
    }

    /// A signal of which one knows now has begun at `since` or later.
    fn has_begun_since(&self, since: BitInstant) -> bool {
        let begun = if self.new { self.before_last } else { self.begun() };
        begun > since.get()
    }

    /// What `station` has heard; `None` if it has to go through the signals by itself.
    #[inline]
    fn view(&self, station: StationId) -> Option<Gap> {
        let Heard { gap, exempt, reserved_before, tangled } = self.heard;
        let sources = if self.new { &self.last.earlier } else { &self.last.sources };
        let spoilt = gap.spoilt && !sources.contains(&station);
        if gap.silent < tangled {
            return None;
        }
        if !exempt.contains(&Some(station)) {
            return Some(Gap { spoilt, ..gap });
        }
        (reserved_before <= gap.silent).then_some(Gap { reserved: reserved_before, spoilt, ..gap })
    }

    /// The last signal was for this station alone, and it could make it out.
    fn is_clear_for(&self, station: StationId) -> bool {
        self.last.clear.is_some_and(|(to, _)| to == Some(station))
    }

    /// Takes account of the last signals.
    fn take_in_last(&mut self) {
        self.new = false;
        let Together { begin, end, clear, .. } = self.last;
        self.counted += begin.since(self.from).get() / self.spans.slot.get();
        let heard = &mut self.heard;
        heard.gap.silent = heard.gap.silent.max(end);
        heard.gap.spoilt = clear.is_none();
        if let Some((to, until)) = clear {
            let pair = [Some(self.last.sources[0]), to];
            if pair != heard.exempt && [pair[1], pair[0]] != heard.exempt {
                if heard.gap.reserved > heard.gap.silent {
                    heard.tangled = heard.tangled.max(heard.gap.reserved);
                }
                (heard.exempt, heard.reserved_before) = (pair, heard.gap.reserved);
            }
            heard.gap.reserved = heard.gap.reserved.max(until);
        }
        self.from = heard.gap.end(&self.spans);
    }

    /// Whether whoever has heard this, and counts from when that gap ends, goes with the crowd.
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

    /// Slots that a member of the crowd still has at `now`.
    fn left(&self, due: u64, now: BitInstant) -> u64 {
        due - self.counted - now.since(self.from).get() / self.spans.slot.get()
    }
}

impl Engine<Dcf> {
    /// Runs everything before `limit`, and with `timers_too` the ends of timers at it: what the engine's own loop does.
    pub(super) fn run_in_one_place<H: Host>(&mut self, limit: BitInstant, timers_too: bool, host: &mut H) {
        self.core.limit = limit;
        while self.method.here.holds && !host.stops() {
            let (timer, signal) = (self.core.agenda.timers.first(), self.core.agenda.next_signal());
            let here = &self.method.here;
            let (crowd, other, now) = (here.first, here.first_other, self.core.instant);
            let first = timer.min(crowd).min(other);
            let at = instant(first);
            if here.new && here.last.begin < at.min(signal).min(limit) {
                self.settle_in_one_place();
            } else if H::FEEDS && !self.core.done.is_empty() && at > now && now < limit {
                self.feed(host);
            } else if at <= signal && (at < limit || (timers_too && at == limit)) {
                self.core.instant = at;
                if first == timer {
                    let timer = self.core.agenda.timers.take();
                    Dcf::timer_ends(self, StationId::new((timer / Dcf::TIMERS) as u16), timer % Dcf::TIMERS, host);
                } else if first == crowd {
                    self.first_of_crowd(host);
                } else {
                    self.first_of_others(host);
                }
            } else if signal < limit && signal < at {
                self.core.instant = signal;
                self.signals_end_in_one_place(host);
            } else {
                break;
            }
        }
        self.core.limit = BitInstant::ZERO;
    }

    /// The signal `id` of `source` will end at those that it is for.
    #[inline]
    pub(super) fn expect_ends(
        &mut self,
        source: StationId,
        destination: Destination,
        end: BitInstant,
        id: TransmissionId,
    ) {
        let others = destination.places(self.stations.len()).filter(|&place| place != source);
        others.for_each(|place| self.core.agenda.ends.push(end, place, id));
    }

    /// Signals end at those that they are for.
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

    /// The first of those beside the crowd does something.
    fn first_of_others<H: Host>(&mut self, host: &mut H) {
        let station = StationId::new(number(self.method.here.first_other) / Dcf::TIMERS as u16);
        self.forget_waiting(station);
        if self.stations[station.index()].mac.listening.slots.is_some() {
            return self.countdown_is_over(station, host);
        }
        self.look(station, host);
    }

    /// Finds the first of the crowd.
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
            // It has left, and may have joined again behind.
            if stand.entry == Some(due) {
                stand.entry = None;
            }
            here.crowd.pop();
        }
        here.first = NONE;
    }

    /// What `station` has heard when it is asked at `at`.
    fn view(&self, station: StationId, at: BitInstant) -> Gap {
        match self.method.here.view(station) {
            Some(gap) => gap,
            None => self.hear_by_itself(station, at),
        }
    }

    /// Up to when the medium is reserved for others, as far as the station has heard.
    pub(super) fn reserved_in_one_place(&self, station: StationId) -> BitInstant {
        self.view(station, self.core.instant).reserved
    }

    /// The station begins to wait for so many slots, which it does not count before `not_before`.
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

    /// A station that has found silence may send now, unless it has heard a signal since.
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

    /// Slots that are left of a station that waits.
    pub(super) fn left_in_one_place(&self, station: StationId) -> u64 {
        let (now, mac) = (self.core.instant, &self.stations[station.index()].mac);
        match mac.stand.due {
            Some(due) => self.method.here.left(due, now),
            None => mac.listening.left(now, &self.method.spans),
        }
    }

    /// The station does not wait any more.
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

    /// Everybody takes account of the signals that began last.
    fn settle_in_one_place(&mut self) {
        let begin = self.method.here.last.begin;
        self.method.here.take_in_last();
        if !self.method.here.others.is_empty() {
            self.join_in(begin);
        }
        let here = &self.method.here;
        // Whoever sent that and waits has answered. Its own signal is never spoilt, and a reservation not for itself.
        if let [source] = here.last.sources[..]
            && (here.heard.gap.spoilt || here.heard.gap.reserved > here.heard.gap.silent)
        {
            self.step_out(source);
        }
        self.look_who_is_first();
    }

    /// The station leaves the crowd, since it has heard something else than the others.
    fn step_out(&mut self, station: StationId) {
        let Some(due) = self.stations[station.index()].mac.stand.due.take() else { return };
        let gap = self.view(station, self.core.instant.max(self.method.here.last.begin + BitTimes::new(1)));
        let (here, mac) = (&mut self.method.here, &mut self.stations[station.index()].mac);
        mac.listening = Listening::with(gap, BitInstant::ZERO, BitInstant::ZERO, Some(due - here.counted));
        let at = mac.listening.may_send(&here.spans);
        here.stay_apart(station, at);
        self.look_who_is_first();
    }

    /// Who is beside the crowd counts the slots before `begin`, when signals began, and joins it, if it can.
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
