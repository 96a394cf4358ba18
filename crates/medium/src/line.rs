//! The line between the stations: the transmissions on it, and what each place hears, and when.
//!
//! ```text
//!   at the source    |begin ........ end|
//!   at a place d away      |begin+d ........ end+d|
//! ```
//! Transmissions are the only truth; the carrier at a place is derived from them when a station asks. On a star it is
//! also counted, since a signal reaches all places but its source's at once. Nothing here knows access methods, or how
//! a station reacts to what it hears.
//!
//! One file above 500 lines because what is heard where is one question, asked in several ways of one list.

mod deafness;
mod memory;
mod overlaps;
mod seat;
mod sensing;
mod station_set;
mod stretches;
mod transmission;
mod ways;

pub(crate) use station_set::StationSet;
pub(crate) use transmission::{Course, Sides, Transmission, Worth};

use crate::agenda::Agenda;
use crate::config::Capture;
use crate::frame::{StationId, TransmissionId};
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;
use crate::topology::Topology;
use deafness::Deafness;
use std::collections::VecDeque;
use stretches::Stretches;
use ways::Ways;

/// Carrier at a place: from `begin` up to `end`, or still present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Carrier {
    pub begin: BitInstant,
    pub end: Option<BitInstant>,
    /// The place's own station sent it.
    pub own: bool,
}

/// The line.
#[derive(Debug)]
pub(crate) struct Line {
    topology: Topology,
    /// As it was before a station joined at a place of its own.
    planned: Option<Box<Topology>>,
    /// Which frame is received of several; `None`: no one.
    capture: Option<Capture>,
    ways: Ways,
    farthest: Box<[BitTimes]>,
    longest: BitTimes,
    /// In order of begin; removed from the front when nothing depends on them any more.
    transmissions: VecDeque<Transmission>,
    first: u64,
    /// How long an ended signal still matters to a station: the inter-packet gap.
    memory: BitTimes,
    /// Stations that listen for signals that begin at their place.
    for_begins: StationSet,
    /// Stations that listen for silence at their place.
    for_silence: StationSet,
    /// Along a cable: the next notice of each station that listens for begins.
    next_begin: Box<[BitInstant]>,
    /// Along a cable: the carrier that each station waiting for silence hears, as far as ends are known.
    busy: Box<[Busy]>,
    /// On a star: signals that have reached all other places and have not ended there.
    sounding: usize,
    /// The number of transmissions without an end, and the end of the last one that has one.
    on_air: usize,
    last_end: BitInstant,
    stretches: Stretches,
    episodes: u64,
    reached: Reached,
    /// Transmissions that have taken part in no collision yet.
    untouched: VecDeque<TransmissionId>,
    /// Each station's last transmission, and when it began.
    last_of: Box<[Option<(TransmissionId, BitInstant)>]>,
    /// For each station whose last transmission is retired: the end of the carrier at its place that has not paused
    /// since.
    spoke: Box<[Option<BitInstant>]>,
    speakers: Vec<StationId>,
    deafness: Box<[Deafness]>,
    /// There is, or will be, a transmission that some station does not hear.
    any_deaf: bool,
    /// The sides of the cut for transmissions that begin now.
    parted: Option<Sides>,
}

/// Where a walk along the transmissions may begin, so that the work of one does not grow with their number.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    /// Every transmission before this number has ended at every place.
    ended: u64,
    /// Every transmission before this number has met another.
    met: u64,
    /// No transmission that is still known has a collision with a lower number.
    lowest_episode: u64,
    /// No signal has lasted longer.
    longest_signal: BitTimes,
}

/// A stretch of carrier at a place, of signals whose ends are known; none if it ends at 0.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    from: BitInstant,
    to: BitInstant,
    /// The instant at which the place is checked: the end of the stretch, or, if it has grown since, an earlier one.
    looked_at: BitInstant,
}

impl Line {
    pub fn new(topology: Topology, seed: u64, memory: BitTimes, capture: Option<Capture>) -> Line {
        let stations = topology.stations();
        let farthest: Box<[BitTimes]> =
            (0..stations as u16).map(|station| topology.farthest(StationId::new(station))).collect();
        let ways = Ways::new(&topology, seed);
        Line {
            longest: farthest.iter().copied().max().unwrap_or(BitTimes::ZERO),
            farthest,
            topology,
            planned: None,
            capture,
            transmissions: VecDeque::new(),
            first: 0,
            memory,
            for_begins: StationSet::new(stations),
            for_silence: StationSet::new(stations),
            next_begin: vec![NEVER; stations].into(),
            busy: vec![Busy::default(); stations].into(),
            sounding: 0,
            on_air: 0,
            last_end: BitInstant::ZERO,
            stretches: Stretches::new(ways.of_star() == Some(BitTimes::ZERO)),
            ways,
            episodes: 0,
            reached: Reached::default(),
            untouched: VecDeque::new(),
            last_of: vec![None; stations].into(),
            spoke: vec![None; stations].into(),
            speakers: Vec::new(),
            deafness: vec![Deafness::default(); stations].into(),
            any_deaf: false,
            parted: None,
        }
    }

    /// Sets the cut, or none, for transmissions that begin from now on. Never on a star.
    pub fn part(&mut self, parted: Option<Sides>) {
        assert!(parted.is_none() || self.ways.of_star().is_none(), "a star has no cable that could be cut");
        self.parted = parted;
    }

    /// Signals reach all places but the source's at once.
    #[inline]
    pub fn is_star(&self) -> bool {
        self.ways.of_star().is_some()
    }

    /// How long a signal takes from `station` to the one farthest from it.
    pub fn farthest(&self, station: StationId) -> BitTimes {
        self.farthest[station.index()]
    }

    /// Stations that listen for signals that begin at their place.
    #[inline]
    pub fn for_begins(&self) -> &StationSet {
        &self.for_begins
    }

    /// Stations that listen for silence at their place.
    #[inline]
    pub fn for_silence(&self) -> &StationSet {
        &self.for_silence
    }

    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// How long a signal takes to a place.
    #[inline]
    pub fn way(&self, one: &Transmission, place: StationId) -> BitTimes {
        self.ways.between(one.source(), one.begin, place)
    }

    /// The transmission `id`, which has not been retired.
    #[inline]
    pub fn get(&self, id: TransmissionId) -> &Transmission {
        &self.transmissions[(id.get() - self.first) as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, id: TransmissionId) -> &mut Transmission {
        &mut self.transmissions[(id.get() - self.first) as usize]
    }

    fn next_id(&self) -> TransmissionId {
        TransmissionId::new(self.first + self.transmissions.len() as u64)
    }

    /// A station starts to send at `now`. Stations that listen for begins hear it when it arrives; the sender listens
    /// from now on.
    pub fn begin(&mut self, now: BitInstant, mut transmission: Transmission, agenda: &mut Agenda) -> TransmissionId {
        self.retire(now);
        let (id, source) = (self.next_id(), transmission.source());
        if self.parted.is_some() {
            transmission.parted.clone_from(&self.parted);
        }
        let met = if let Some(distance) = self.ways.of_star() {
            self.pass_by(now, agenda);
            self.for_begins.insert(source);
            let others = self.for_begins.len() > 1 || !agenda.begins.everywhere.is_empty();
            agenda.begins.push_everywhere(now + distance, id, others);
            self.sounding > 0
        } else {
            for place in self.for_begins.iter().filter(|&place| place != source && transmission.reaches(place)) {
                let at = now + self.ways.between(source, now, place);
                if at < self.next_begin[place.index()] {
                    self.next_begin[place.index()] = at;
                    agenda.begins.push(at, place, id);
                }
            }
            if self.for_begins.insert(source) {
                self.expect_begin(now, source, agenda);
            }
            self.transmissions.iter().any(|other| self.may_still_sound(other, source, now))
        };
        // Its own signal immediately meets those already there; checked in the phase in which signals begin.
        if met {
            agenda.begins.push(now, source, id);
        }
        self.stretches.begin(now, self.on_air == 0);
        let previous = self.last_of[source.index()].replace((id, now));
        transmission.previous = previous.map(|(previous, _)| previous);
        self.untouched.push_back(id);
        self.on_air += 1;
        self.push(transmission);
        id
    }

    fn push(&mut self, transmission: Transmission) {
        let lasts = transmission.course.end() - transmission.begin;
        self.reached.longest_signal = self.reached.longest_signal.max(lasts);
        self.transmissions.push_back(transmission);
    }

    /// Nothing is on the line at `now`, at any place, no station but `station` listens, and all hear all signals.
    #[inline]
    pub fn is_clear_for(&mut self, station: StationId, now: BitInstant) -> bool {
        if self.any_deaf || self.on_air > 0 || self.for_silence.len() > 0 || self.parted.is_some() {
            return false;
        }
        if self.for_begins.len() > usize::from(self.for_begins.contains(station)) {
            return false;
        }
        self.retire(now);
        self.transmissions.is_empty() || self.last_end + self.longest <= now
    }

    /// How long a signal takes to the last place that it reaches.
    #[inline]
    pub fn longest(&self) -> BitTimes {
        self.longest
    }

    /// All places hear the same, and no station has been deaf: retired transmissions, which all are, are remembered as
    /// stretches of carrier.
    #[inline]
    pub fn is_one_place(&self) -> bool {
        self.stretches.are_valid() && self.transmissions.is_empty()
    }

    /// `source` has sent alone from `begin` to `end`, on a line that is one place: gives the same state as if the
    /// transmission had been there and were retired.
    #[inline]
    pub fn was_alone_here(&mut self, source: StationId, begin: BitInstant, end: BitInstant) {
        self.stretches.begin(begin, true);
        self.stretches.end(end);
        self.last_of[source.index()] = Some((self.next_id(), begin));
        self.first += 1;
        self.last_end = end;
    }

    /// `transmission`, which is whole, was sent alone, and its first bit has reached every place: schedules its end at
    /// other places.
    pub fn was_alone(&mut self, transmission: Transmission, end: BitInstant, agenda: &mut Agenda) {
        let (id, source, begin) = (self.next_id(), transmission.source(), transmission.begin);
        self.stretches.begin(begin, true);
        self.stretches.end(end);
        self.last_end = end;
        if let Some(distance) = self.ways.of_star() {
            self.sounding += 1;
            agenda.ends.push_everywhere(end + distance, id, true);
        } else {
            for place in transmission.destination.places(self.topology.stations()).filter(|&place| place != source) {
                agenda.ends.push(end + self.ways.between(source, begin, place), place, id);
            }
        }
        let previous = self.last_of[source.index()].replace((id, begin));
        let previous = previous.map(|(previous, _)| previous);
        self.push(Transmission { previous, ..transmission });
    }

    /// On a star without distance: others have begun at `now` too, so all of them detect a collision at this instant.
    #[inline]
    pub fn collides_at_once(&self, now: BitInstant) -> bool {
        self.on_air > 1 && self.stretches.are_valid() && self.stretches.last().is_some_and(|(begin, _)| begin == now)
    }

    /// A station sends at `now` a signal that ends on its own. Its addressees hear it end; no other station gets a
    /// notice.
    pub fn send_whole(
        &mut self,
        now: BitInstant,
        mut transmission: Transmission,
        agenda: &mut Agenda,
    ) -> TransmissionId {
        self.retire(now);
        let id = self.next_id();
        let end = transmission.known_end().expect("nothing will cut it short");
        transmission.parted.clone_from(&self.parted);
        let hear = |place: StationId| {
            if transmission.is_for(place) && transmission.reaches(place) {
                agenda.ends.push(end + self.way(&transmission, place), place, id);
            }
        };
        transmission.destination.places(self.topology.stations()).for_each(hear);
        self.last_end = self.last_end.max(end);
        self.push(transmission);
        id
    }

    /// The transmission ends at `now`, whole or cut. Its addressees hear it end, and so do stations that wait for
    /// silence.
    pub fn end(&mut self, now: BitInstant, id: TransmissionId, whole: bool, agenda: &mut Agenda) {
        let transmission = self.get_mut(id);
        transmission.course = if whole { Course::Whole { end: now } } else { Course::Cut { end: now } };
        self.on_air -= 1;
        self.last_end = now;
        self.stretches.end(now);
        if let Some(distance) = self.ways.of_star() {
            return agenda.ends.push_everywhere(now + distance, id, true);
        }
        let transmission = &self.transmissions[(id.get() - self.first) as usize];
        let (source, begin) = (transmission.source(), transmission.begin);
        for place in transmission.destination.places(self.topology.stations()) {
            if transmission.is_for(place) && transmission.reaches(place) {
                agenda.ends.push(now + self.ways.between(source, begin, place), place, id);
            }
        }
        let heard = |place: &StationId| transmission.reaches(*place) && self.deafness[place.index()].hears(id.get());
        for place in self.for_silence.iter().filter(heard) {
            let distance = self.ways.between(source, begin, place);
            self.busy[place.index()].add(begin + distance, now + distance, place, agenda);
        }
    }

    /// From now on the station at `place` listens for signals that begin there, those under way included.
    pub fn hear_begins(&mut self, now: BitInstant, place: StationId, agenda: &mut Agenda) {
        let is_new = self.for_begins.insert(place);
        if self.ways.of_star().is_some() {
            self.pass_by(now, agenda);
            if !agenda.begins.everywhere.is_empty() {
                agenda.begins.let_go();
            }
        } else if is_new {
            self.expect_begin(now, place, agenda);
        }
    }

    /// On a star: whether one of the signals in `begun` is from another station than the one at `place`, and whether
    /// that station hears such a one.
    #[inline]
    pub fn begin_at(&self, place: StationId, begun: &[TransmissionId]) -> (bool, bool) {
        let other = match begun {
            [] => false,
            [one] => self.get(*one).source() != place,
            // No station has two that begin at one instant.
            [_, _, ..] => true,
        };
        let hears = |&id: &TransmissionId| self.get(id).source() != place && self.hears(place, id);
        (other, other && (!self.any_deaf || begun.iter().any(hears)))
    }

    /// Along a cable: schedules the first of the known signals that begins at `place` at `from` or later.
    pub fn expect_begin(&mut self, from: BitInstant, place: StationId, agenda: &mut Agenda) {
        let mut first = None;
        let begun = self.transmissions.iter().enumerate().rev();
        // Those before it began so early that they have reached every place.
        for (index, other) in begun.take_while(|(_, other)| other.begin + self.longest >= from) {
            let number = self.first + index as u64;
            let at = other.begin + self.way(other, place);
            let is_first = first.is_none_or(|(first, _)| at <= first);
            if at >= from && is_first && other.source() != place && other.reaches(place) {
                first = Some((at, TransmissionId::new(number)));
            }
        }
        self.next_begin[place.index()] = first.map_or(NEVER, |(at, _)| at);
        if let Some((at, id)) = first {
            agenda.begins.push(at, place, id);
        }
    }

    /// Along a cable: whether the station at `place` must now get the notice that a signal begins, and whether it hears
    /// that signal.
    pub fn begin_is_due(&mut self, now: BitInstant, place: StationId) -> Option<bool> {
        if self.next_begin[place.index()] != now {
            return None;
        }
        self.next_begin[place.index()] = NEVER;
        if !self.any_deaf {
            return Some(true);
        }
        let begins = |other: &Transmission| {
            let here = other.source() != place && other.reaches(place);
            here && other.begin + self.way(other, place) == now
        };
        let mut now_beginning = (self.first..).zip(&self.transmissions).filter(|(_, other)| begins(other));
        Some(now_beginning.any(|(number, _)| self.hears(place, TransmissionId::new(number))))
    }

    /// From now on the station at `place` listens for silence; signals under way count.
    pub fn hear_silence(&mut self, now: BitInstant, place: StationId, agenda: &mut Agenda) {
        if !self.for_silence.insert(place) {
            return;
        }
        if let Some(distance) = self.ways.of_star() {
            // Others hear its own signal end later than it does itself.
            let own_is_first = distance > BitTimes::ZERO;
            if own_is_first && self.own(place).any(|(_, own)| own.known_end() == Some(now)) {
                agenda.silences.push(now, place);
            }
            return;
        }
        self.busy[place.index()] = Busy::default();
        let deafness = &self.deafness[place.index()];
        let all = (self.first..).zip(&self.transmissions);
        let heard = all.filter(|(number, other)| other.is_sensed(place, *number, deafness));
        let longest = self.longest;
        let lasts = |other: &Transmission| other.known_end().is_some_and(|end| end + longest >= now);
        for (_, other) in heard.filter(|(_, other)| lasts(other) && other.reaches(place)) {
            let distance = self.way(other, place);
            if let Some(end) = other.known_end().map(|end| end + distance).filter(|&end| end >= now) {
                self.busy[place.index()].add(other.begin + distance, end, place, agenda);
            }
        }
    }

    /// Along a cable: whether the place must be checked now, since a stretch of carrier has ended there.
    pub fn silence_is_due(&mut self, now: BitInstant, place: StationId, agenda: &mut Agenda) -> bool {
        let busy = &mut self.busy[place.index()];
        if busy.from <= now && now < busy.to {
            if busy.looked_at == now {
                busy.looked_at = busy.to;
                agenda.silences.push(busy.to, place);
            }
            return false;
        }
        if busy.to == now {
            *busy = Busy::default();
        }
        self.for_silence.contains(place)
    }

    /// The station at `place` stops listening for begins.
    pub fn ignore_begins(&mut self, place: StationId) {
        if self.for_begins.remove(place) {
            self.next_begin[place.index()] = NEVER;
        }
    }

    /// The station at `place` stops waiting for silence.
    pub fn ignore_silence(&mut self, place: StationId) {
        if self.for_silence.remove(place) {
            self.busy[place.index()] = Busy::default();
        }
    }

    /// On a star: accounts for signals that reached all others before `now` without a notice.
    #[inline]
    pub fn pass_by(&mut self, now: BitInstant, agenda: &mut Agenda) {
        self.sounding += agenda.begins.pass_by(now);
    }

    /// On a star: `signals` have reached all others.
    pub fn got_there(&mut self, signals: usize) {
        self.sounding += signals;
    }

    /// On a star: `signals` have ended at all others.
    pub fn ended_there(&mut self, signals: usize) {
        self.sounding -= signals;
    }

    /// It is over at every place by `now`.
    #[inline]
    fn is_over_everywhere(&self, transmission: &Transmission, now: BitInstant) -> bool {
        transmission.known_end().is_some_and(|end| end + self.longest <= now)
    }

    #[inline]
    fn may_still_sound(&self, other: &Transmission, place: StationId, now: BitInstant) -> bool {
        if self.is_over_everywhere(other, now) {
            return false;
        }
        let distance = self.way(other, place);
        other.span().after(distance).sounds(now) && other.reaches(place)
    }

    /// The transmissions of the station at `place` that are not retired, the last one first.
    fn own(&self, place: StationId) -> impl Iterator<Item = (TransmissionId, &Transmission)> {
        let mut next = self.last_of[place.index()].map(|(id, _)| id);
        std::iter::from_fn(move || {
            let id = next.filter(|id| id.get() >= self.first)?;
            let own = self.get(id);
            next = own.previous;
            Some((id, own))
        })
    }

    /// The waiting station at `place` hears nothing from `now` on: no signal remains, and none begins just as the last
    /// ends. On a star, `coming` are the sources of signals that begin at `now`.
    pub fn silent(&self, place: StationId, now: BitInstant, coming: &[StationId]) -> bool {
        match self.ways.of_star() {
            Some(BitTimes::ZERO) if !self.any_deaf => return self.on_air == 0,
            Some(distance) if !self.any_deaf => {
                let sounds = |own: &Transmission| {
                    own.begin + distance < now && own.known_end().is_none_or(|end| end + distance > now)
                };
                let own_elsewhere = self.own(place).filter(|(_, own)| sounds(own)).count();
                return self.sounding == own_elsewhere && coming.iter().all(|&source| source == place);
            }
            Some(_) | None => {}
        }
        let deafness = &self.deafness[place.index()];
        // The last to begin is the most likely to be still there.
        (self.transmissions.iter().enumerate().rev()).all(|(index, transmission)| {
            if self.is_over_everywhere(transmission, now) {
                return true;
            }
            let number = self.first + index as u64;
            let distance = self.way(transmission, place);
            let over = transmission.known_end().is_some_and(|end| end + distance <= now);
            over || transmission.begin + distance > now
                || !transmission.is_sensed(place, number, deafness)
                || !transmission.reaches(place)
        })
    }
}

impl Busy {
    /// A signal is at `place` from `begin` to `end`.
    #[inline]
    fn add(&mut self, begin: BitInstant, end: BitInstant, place: StationId, agenda: &mut Agenda) {
        if self.to == BitInstant::ZERO {
            *self = Busy { from: begin, to: end, looked_at: end };
            agenda.silences.push(end, place);
        } else if begin <= self.to && end >= self.from {
            self.from = self.from.min(begin);
            self.to = self.to.max(end);
        } else {
            // Separate from the stretch: silence is possible after each.
            agenda.silences.push(end, place);
        }
    }
}
