//! The line between the stations: which transmissions are on it, and what is heard where, and when.
//!
//! ```text
//!   at the source    |begin ........ end|
//!   at a place d away      |begin+d ........ end+d|
//! ```
//! Transmissions are the only truth; carrier at a place is worked out from them when a station asks. On a star it
//! is also counted, since a signal gets to all places but its source's at once.
//! Knows nothing of access methods, and nothing of what a station makes of what it hears.

mod deafness;
mod station_set;
mod transmission;

pub(crate) use transmission::{Course, Sides, Transmission, Worth};

use crate::agenda::Agenda;
use crate::frame::{Destination, StationId, TransmissionId};
use crate::time::{BitInstant, BitTimes};
use crate::topology::Topology;
use deafness::Deafness;
use station_set::StationSet;
use std::collections::VecDeque;

/// Carrier at a place: from `begin` up to `end`, or still going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Carrier {
    pub begin: BitInstant,
    pub end: Option<BitInstant>,
    /// The place's own station sent it.
    pub own: bool,
}

/// The bus.
#[derive(Debug)]
pub(crate) struct Line {
    topology: Topology,
    /// On a star: how long a signal takes to any other place.
    star: Option<BitTimes>,
    farthest: Box<[BitTimes]>,
    longest: BitTimes,
    /// In order of begin; retired from the front when nothing depends on them any more.
    transmissions: VecDeque<Transmission>,
    first: u64,
    /// How long an ended signal still matters to a station that asks: the inter-packet gap.
    memory: BitTimes,
    /// Stations that are told when a signal begins or ends at their place.
    listeners: StationSet,
    /// On a star: signals that have got to all others and not ended there.
    sounding: usize,
    /// Transmissions without an end, and the end of the last one that has one.
    on_air: usize,
    last_end: BitInstant,
    episodes: u64,
    /// Transmissions that have taken part in no collision yet.
    untouched: Vec<TransmissionId>,
    /// Each station's last transmission.
    last_of: Box<[Option<TransmissionId>]>,
    /// For each station that sent: up to when carrier at its place is known not to have paused since.
    spoke: Box<[Option<BitInstant>]>,
    speakers: Vec<StationId>,
    deafness: Box<[Deafness]>,
    /// There is a transmission, or will be, that some station does not hear.
    any_deaf: bool,
    /// What begins now is parted so.
    parted: Option<Sides>,
}

impl Line {
    pub fn new(topology: Topology, memory: BitTimes) -> Line {
        let stations = topology.stations();
        let farthest: Box<[BitTimes]> =
            (0..stations as u16).map(|station| topology.farthest(StationId::new(station))).collect();
        let star = matches!(topology, Topology::Star { .. }).then(|| topology.farthest(StationId::new(0)));
        Line {
            star,
            longest: farthest.iter().copied().max().unwrap_or(BitTimes::ZERO),
            farthest,
            topology,
            transmissions: VecDeque::new(),
            first: 0,
            memory,
            listeners: StationSet::new(stations),
            sounding: 0,
            on_air: 0,
            last_end: BitInstant::ZERO,
            episodes: 0,
            untouched: Vec::new(),
            last_of: vec![None; stations].into(),
            spoke: vec![None; stations].into(),
            speakers: Vec::new(),
            deafness: vec![Deafness::default(); stations].into(),
            any_deaf: false,
            parted: None,
        }
    }

    /// From now on what begins is parted so, or not at all. Never on a star.
    pub fn part(&mut self, parted: Option<Sides>) {
        assert!(parted.is_none() || self.star.is_none(), "a star has no cable that could be cut");
        self.parted = parted;
    }

    /// Signals get to all places but the source's at once.
    pub fn is_star(&self) -> bool {
        self.star.is_some()
    }

    /// How long a signal takes from `station` to the one farthest from it.
    pub fn farthest(&self, station: StationId) -> BitTimes {
        self.farthest[station.index()]
    }

    /// Stations that are told when a signal begins or ends at their place.
    pub fn listeners(&self) -> &StationSet {
        &self.listeners
    }

    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The transmission `id`, which has not been retired.
    pub fn get(&self, id: TransmissionId) -> &Transmission {
        &self.transmissions[(id.get() - self.first) as usize]
    }

    pub fn get_mut(&mut self, id: TransmissionId) -> &mut Transmission {
        &mut self.transmissions[(id.get() - self.first) as usize]
    }

    /// A station starts to send at `now`. Whoever listens will hear it when it gets there.
    pub fn begin(&mut self, now: BitInstant, mut transmission: Transmission, agenda: &mut Agenda) -> TransmissionId {
        self.retire(now);
        let id = TransmissionId::new(self.first + self.transmissions.len() as u64);
        let source = transmission.source();
        transmission.parted = self.parted.clone();
        let met = if let Some(distance) = self.star {
            agenda.begins.push_everywhere(now + distance, id);
            self.sounding > 0
        } else {
            for place in self.listeners.iter().filter(|&place| place != source && transmission.reaches(place)) {
                agenda.begins.push(now + self.topology.distance(source, place), place, id);
            }
            self.transmissions.iter().any(|other| self.may_still_sound(other, source, now))
        };
        // Its own signal meets at once whatever is already there; asked when signals begin.
        if met {
            agenda.begins.push(now, source, id);
        }
        transmission.previous = self.last_of[source.index()].replace(id);
        self.untouched.push(id);
        self.on_air += 1;
        self.transmissions.push_back(transmission);
        id
    }

    /// A station sends at `now` what nothing will cut short. Its addressees will hear it end; nobody else is told.
    pub fn send_whole(
        &mut self,
        now: BitInstant,
        mut transmission: Transmission,
        agenda: &mut Agenda,
    ) -> TransmissionId {
        self.retire(now);
        let id = TransmissionId::new(self.first + self.transmissions.len() as u64);
        let (source, end) = (transmission.source(), transmission.known_end().expect("nothing will cut it short"));
        transmission.parted = self.parted.clone();
        let mut hear = |place: StationId| {
            if transmission.is_for(place) && transmission.reaches(place) {
                agenda.ends.push(end + self.topology.distance(source, place), place, id);
            }
        };
        match transmission.destination {
            Destination::Station(addressee) => hear(addressee),
            Destination::All => (0..self.topology.stations() as u16).map(StationId::new).for_each(hear),
            Destination::Nobody => {}
        }
        self.transmissions.push_back(transmission);
        id
    }

    /// Another transmission that reaches `place` began at the very instant at which this one did.
    pub fn began_together(&self, place: StationId, id: TransmissionId) -> bool {
        let (index, begin) = ((id.get() - self.first) as usize, self.get(id).begin);
        let reaches = |other: &Transmission| other.reaches(place);
        let before = self.transmissions.range(..index).rev().take_while(|other| other.begin == begin);
        let after = self.transmissions.range(index + 1..).take_while(|other| other.begin == begin);
        before.chain(after).any(reaches)
    }

    fn may_still_sound(&self, other: &Transmission, place: StationId, now: BitInstant) -> bool {
        let distance = self.topology.distance(other.source(), place);
        other.span().after(distance).sounds(now) && other.reaches(place)
    }

    /// The transmission ends at `now`, whole or cut. Its addressees and whoever listens will hear it end.
    pub fn end(&mut self, now: BitInstant, id: TransmissionId, whole: bool, agenda: &mut Agenda) {
        let transmission = self.get_mut(id);
        transmission.course = if whole { Course::Whole { end: now } } else { Course::Cut { end: now } };
        let (source, destination) = (transmission.source(), transmission.destination);
        let parted = transmission.parted.clone();
        self.on_air -= 1;
        self.last_end = now;
        if self.deafness[source.index()].hears(id.get()) && self.spoke[source.index()].replace(now).is_none() {
            self.speakers.push(source);
        }
        if let Some(distance) = self.star {
            return agenda.ends.push_everywhere(now + distance, id);
        }
        let reaches = |place: StationId| parted.as_ref().is_none_or(|far| far[place.index()] == far[source.index()]);
        let mut hear = |place| {
            if reaches(place) {
                agenda.ends.push(now + self.topology.distance(source, place), place, id);
            }
        };
        let told = |place: &StationId| *place != source && destination != Destination::Station(*place);
        match destination {
            Destination::All => {
                let everyone = (0..self.topology.stations() as u16).map(StationId::new);
                return everyone.filter(|&place| place != source).for_each(hear);
            }
            Destination::Station(addressee) if addressee != source => hear(addressee),
            Destination::Station(_) | Destination::Nobody => {}
        }
        self.listeners.iter().filter(told).for_each(hear);
    }

    /// From now on `place` is told of signals that begin or end there; those under way are in the agenda.
    pub fn listen(&mut self, now: BitInstant, place: StationId, agenda: &mut Agenda) {
        if self.listeners.contains(place) {
            return;
        }
        self.listeners.insert(place);
        if let Some(distance) = self.star {
            // The others hear its own signal end later than it does itself.
            let own_is_first = distance > BitTimes::ZERO;
            for (id, _) in self.own(place).filter(|(_, own)| own_is_first && own.known_end() == Some(now)) {
                agenda.ends.push(now, place, id);
            }
            return;
        }
        for (number, other) in (self.first..).zip(&self.transmissions).filter(|(_, other)| other.reaches(place)) {
            let (id, distance) = (TransmissionId::new(number), self.topology.distance(other.source(), place));
            if other.begin + distance >= now && other.source() != place {
                agenda.begins.push(other.begin + distance, place, id);
            }
            // An addressee has the end in the agenda already, and must not receive twice.
            let told = other.destination == Destination::Station(place) || other.destination == Destination::All;
            let ended = other.known_end().filter(|&end| end <= now && end + distance >= now);
            if let Some(end) = ended.filter(|_| !told || other.source() == place) {
                agenda.ends.push(end + distance, place, id);
            }
        }
    }

    /// `place` no longer cares.
    pub fn ignore(&mut self, place: StationId) {
        self.listeners.remove(place);
    }

    /// On a star: so many signals have got to all others.
    pub fn got_there(&mut self, signals: usize) {
        self.sounding += signals;
    }

    /// On a star: so many signals have ended at all others.
    pub fn ended_there(&mut self, signals: usize) {
        self.sounding -= signals;
    }

    /// The transmissions of the station at `place` that are not retired, the last one first.
    fn own(&self, place: StationId) -> impl Iterator<Item = (TransmissionId, &Transmission)> {
        let mut next = self.last_of[place.index()];
        std::iter::from_fn(move || {
            let id = next.filter(|id| id.get() >= self.first)?;
            let own = self.get(id);
            next = own.previous;
            Some((id, own))
        })
    }

    /// Carrier at `place` that its station hears and that began before `now`, in order of begin, into `into`.
    pub fn carrier(&self, place: StationId, now: BitInstant, into: &mut Vec<Carrier>) {
        into.clear();
        let deafness = &self.deafness[place.index()];
        let spoke = self.spoke[place.index()];
        into.extend(spoke.map(|end| Carrier { begin: BitInstant::ZERO, end: Some(end), own: true }));
        into.extend((self.first..).zip(&self.transmissions).filter_map(|(number, transmission)| {
            let distance = self.topology.distance(transmission.source(), place);
            let begin = transmission.begin + distance;
            let end = transmission.known_end().map(|end| end + distance);
            (begin < now && deafness.hears(number) && transmission.reaches(place)).then_some(Carrier {
                begin,
                end,
                own: transmission.source() == place,
            })
        }));
        into.sort_unstable();
    }

    /// Signals of others that are at `place` at `now`, ends and begins of that instant included.
    pub fn signals_of_others(&self, place: StationId, now: BitInstant) -> impl Iterator<Item = TransmissionId> {
        (self.first..).zip(&self.transmissions).filter_map(move |(number, other)| {
            let sounds = other.source() != place && self.may_still_sound(other, place, now);
            sounds.then_some(TransmissionId::new(number))
        })
    }

    /// The station at `place`, which waits, hears nothing from `now` on: no signal goes on, and none begins just as
    /// the last ends; `coming` are the sources of those that begin at `now` if it is a star.
    pub fn silent(&self, place: StationId, now: BitInstant, coming: &[StationId]) -> bool {
        if let (Some(distance), false) = (self.star, self.any_deaf) {
            let sounds = |own: &Transmission| {
                own.begin + distance < now && own.known_end().is_none_or(|end| end + distance > now)
            };
            let own_elsewhere = self.own(place).filter(|(_, own)| sounds(own)).count();
            return self.sounding == own_elsewhere && coming.iter().all(|&source| source == place);
        }
        let deafness = &self.deafness[place.index()];
        (self.first..).zip(&self.transmissions).all(|(number, transmission)| {
            let distance = self.topology.distance(transmission.source(), place);
            let over = transmission.known_end().is_some_and(|end| end + distance <= now);
            transmission.begin + distance > now || over || !deafness.hears(number) || !transmission.reaches(place)
        })
    }

    /// The station at `place` hears this transmission when it gets there.
    pub fn hears(&self, place: StationId, id: TransmissionId) -> bool {
        self.deafness[place.index()].hears(id.get())
    }

    /// Nobody is deaf to it, and no cut keeps it from anyone.
    pub fn heard_by_all(&self, id: TransmissionId) -> bool {
        if self.get(id).parted.is_some() {
            return false;
        }
        !self.any_deaf || self.deafness.iter().all(|deafness| deafness.hears(id.get()))
    }

    /// From now on `place` hears no transmission that begins.
    pub fn deafen(&mut self, place: StationId) {
        self.deafness[place.index()].begin(self.first + self.transmissions.len() as u64);
        self.any_deaf = true;
    }

    /// From now on `place` hears every transmission that begins.
    pub fn heal(&mut self, place: StationId) {
        self.deafness[place.index()].end(self.first + self.transmissions.len() as u64);
    }

    /// What was not heard is retired.
    fn forget_deafness(&mut self) {
        let first = self.first;
        self.deafness.iter_mut().for_each(|deafness| deafness.forget_before(first));
        self.any_deaf = self.deafness.iter().any(|deafness| !deafness.hears_all());
    }

    /// Another signal was at `place` while this packet was.
    pub fn damaged_at(&self, place: StationId, id: TransmissionId) -> bool {
        self.others(id).any(|other| self.overlap_at(place, self.get(id), other))
    }

    /// The receiver's own station sent while this packet was there.
    pub fn spoke_over(&self, place: StationId, id: TransmissionId) -> bool {
        self.own(place).any(|(other, own)| other != id && self.overlap_at(place, self.get(id), own))
    }

    fn others(&self, id: TransmissionId) -> impl Iterator<Item = &Transmission> {
        (self.first..).zip(&self.transmissions).filter(move |(number, _)| *number != id.get()).map(|(_, other)| other)
    }

    fn overlap_at(&self, place: StationId, packet: &Transmission, other: &Transmission) -> bool {
        let here = |one: &Transmission| one.span().after(self.topology.distance(one.source(), place));
        other.reaches(place) && here(packet).spoilt_by(&here(other))
    }

    /// No transmission that has begun can meet this one anywhere: whoever was heard was heard to end first.
    ///
    /// A signal that ended at the source before this one began is ahead of it at every place, since no
    /// way round is shorter than the straight one.
    pub fn alone(&self, id: TransmissionId) -> bool {
        let this = self.get(id);
        self.others(id).all(|other| {
            let distance = self.topology.distance(other.source(), this.source());
            other.known_end().is_some_and(|end| end + distance <= this.begin)
        })
    }

    /// Takes `id` and all signals at `place` into one collision and gives its number, from 1.
    pub fn join_episode(&mut self, place: StationId, now: BitInstant, id: TransmissionId) -> u64 {
        let episode = self.get(id).episode.unwrap_or_else(|| {
            let others = self.signals_of_others(place, now);
            let met_before = others.filter_map(|one| self.get(one).episode).min();
            met_before.unwrap_or(self.episodes + 1)
        });
        self.episodes = self.episodes.max(episode);
        let mut untouched = std::mem::take(&mut self.untouched);
        untouched.retain(|&one| {
            let other = self.get(one);
            let meets = one == id || (other.source() != place && self.may_still_sound(other, place, now));
            if meets {
                self.get_mut(one).episode = Some(episode);
            }
            !meets
        });
        self.untouched = untouched;
        episode
    }

    /// Forgets transmissions that no station can hear, ask about, or have been disturbed by any more.
    fn retire(&mut self, now: BitInstant) {
        if !self.oldest_is_over(now) {
            return;
        }
        let unfinished = self.transmissions.iter().find(|other| !self.finished(other, now));
        let limit = unfinished.map_or(now, |other| other.begin);
        if !self.oldest_is_over(limit) {
            return;
        }
        self.remember_who_spoke(now);
        while self.oldest_is_over(limit) {
            self.transmissions.pop_front();
            self.first += 1;
        }
        let first = self.first;
        self.untouched.retain(|id| id.get() >= first);
        if self.any_deaf {
            self.forget_deafness();
        }
    }

    /// Nobody that begins from `limit` on can have to do with the oldest transmission.
    fn oldest_is_over(&self, limit: BitInstant) -> bool {
        let Some(oldest) = self.transmissions.front() else { return false };
        oldest.known_end().is_some_and(|end| end + self.farthest(oldest.source()) + self.memory <= limit)
    }

    /// Follows the carrier at the place of each station that spoke, as long as it does not pause.
    ///
    /// `wasTransmitting` of 4.2.8 holds to the end of the busy period, however many signals it has.
    fn remember_who_spoke(&mut self, now: BitInstant) {
        let mut speakers = std::mem::take(&mut self.speakers);
        let all_long_over = self.on_air == 0 && self.last_end + self.longest + self.memory <= now;
        speakers.retain(|&place| {
            let spoke = self.spoke[place.index()].filter(|_| !all_long_over).and_then(|mut end| {
                let goes_on = self.follow(place, &mut end);
                (goes_on || end + self.memory > now).then_some(end)
            });
            self.spoke[place.index()] = spoke;
            spoke.is_some()
        });
        self.speakers = speakers;
    }

    /// Moves `end`, up to which carrier at `place` lasts, to the end of all signals that leave no pause; whether one
    /// of them has no known end yet.
    fn follow(&self, place: StationId, end: &mut BitInstant) -> bool {
        loop {
            let (so_far, mut goes_on) = (*end, false);
            let deafness = &self.deafness[place.index()];
            let heard = (self.first..).zip(&self.transmissions);
            for (_, other) in heard.filter(|(number, other)| deafness.hears(*number) && other.reaches(place)) {
                let distance = self.topology.distance(other.source(), place);
                if other.begin + distance <= so_far {
                    match other.known_end() {
                        Some(known) => *end = (*end).max(known + distance),
                        None => goes_on = true,
                    }
                }
            }
            if *end == so_far {
                return goes_on;
            }
        }
    }

    fn finished(&self, transmission: &Transmission, now: BitInstant) -> bool {
        transmission.known_end().is_some_and(|end| end + self.farthest(transmission.source()) < now)
    }
}
