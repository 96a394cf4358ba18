//! Which signals meet: collisions, their numbers, and where frames are spoilt.

use super::{Line, Transmission};
use crate::frame::{StationId, TransmissionId};
use crate::time::BitInstant;
use crate::timers::NEVER;

impl Line {
    /// Another transmission that reaches `place` began at the same instant as this one.
    pub fn began_together(&self, place: StationId, id: TransmissionId) -> bool {
        self.beginning_with(id).any(|other| other.reaches(place))
    }

    /// The other transmissions that began at the same instant as this one.
    pub fn beginning_with(&self, id: TransmissionId) -> impl Iterator<Item = &Transmission> {
        let (index, begin) = ((id.get() - self.first) as usize, self.get(id).begin);
        let before = self.transmissions.range(..index).rev().take_while(move |other| other.begin == begin);
        let after = self.transmissions.range(index + 1..).take_while(move |other| other.begin == begin);
        before.chain(after)
    }

    /// The signals of others at `place` at `now`, ends and begins of that instant included.
    pub fn signals_of_others(&self, place: StationId, now: BitInstant) -> impl Iterator<Item = TransmissionId> {
        (self.first..).zip(&self.transmissions).filter_map(move |(number, other)| {
            let sounds = other.source() != place && self.may_still_sound(other, place, now);
            sounds.then_some(TransmissionId::new(number))
        })
    }

    /// Other signals were at `place` while this packet was, and it was not captured there.
    pub fn damaged_at(&self, place: StationId, id: TransmissionId) -> bool {
        let this = self.get(id);
        let mut met = self.nearest(id).filter(|other| self.overlap_at(place, this, other)).peekable();
        self.transmissions.len() > 1 && met.peek().is_some() && !self.captured(place, this, met)
    }

    /// The receiver at `place` decodes this packet although it `met` others there.
    fn captured<'a>(&self, place: StationId, this: &Transmission, met: impl Iterator<Item = &'a Transmission>) -> bool {
        let Some(capture) = &self.capture else { return false };
        let there = |other: &Transmission| {
            let here = other.span().after(self.way(other, place));
            (other.source(), here.begin, here.end.unwrap_or(NEVER))
        };
        let begin = this.begin + self.way(this, place);
        capture.survives(place, (this.source(), begin), met.map(there))
    }

    /// Another packet of the same slot reached `place`, and this one was not captured there.
    pub fn damaged_in_slot(&self, place: StationId, id: TransmissionId) -> bool {
        let this = self.get(id);
        let Some(capture) = &self.capture else { return self.began_together(place, id) };
        // All of a slot are there at once, wherever in the slot each of them is.
        let others = self.beginning_with(id).filter(|other| other.reaches(place));
        let others = others.map(|other| (other.source(), this.begin, NEVER));
        !capture.survives(place, (this.source(), this.begin), others)
    }

    /// The receiver's own station sent while this packet was there.
    pub fn spoke_over(&self, place: StationId, id: TransmissionId) -> bool {
        self.own(place).any(|(other, own)| other != id && self.overlap_at(place, self.get(id), own))
    }

    fn others(&self, id: TransmissionId) -> impl Iterator<Item = &Transmission> {
        (self.first..).zip(&self.transmissions).filter(move |(number, _)| *number != id.get()).map(|(_, other)| other)
    }

    /// The transmissions from number `from` on that began before `this` had ended at every place: no later one meets it.
    fn before_end_of(&self, this: &Transmission, from: u64) -> impl Iterator<Item = (u64, &Transmission)> {
        let skipped = from.saturating_sub(self.first) as usize;
        let over = this.known_end().map(|end| end + self.longest);
        let begun = move |(_, other): &(u64, &Transmission)| over.is_none_or(|over| other.begin < over);
        (self.first + skipped as u64..).zip(self.transmissions.range(skipped..)).take_while(begun)
    }

    /// The others that it can meet: those that began after it, then those before it, the last one first. Where signals
    /// overlap in thousands, the first of them does.
    fn nearest(&self, id: TransmissionId) -> impl Iterator<Item = &Transmission> {
        let index = (id.get() - self.first) as usize;
        let after = self.before_end_of(self.get(id), id.get() + 1).map(|(_, other)| other);
        after.chain(self.transmissions.range(..index).rev())
    }

    fn overlap_at(&self, place: StationId, packet: &Transmission, other: &Transmission) -> bool {
        let here = |one: &Transmission| one.span().after(self.way(one, place));
        let is_beside = other.duplex && other.source() == place;
        !is_beside && other.reaches(place) && here(packet).spoilt_by(&here(other))
    }

    /// No transmission so far can meet this one anywhere: every earlier signal had ended at the source of this one
    /// before it began.
    ///
    /// A signal that ended at the source before this one began is ahead of it at every place, since no
    /// way round is shorter than the straight one. Where repeaters have jitter, it must have ended so much earlier.
    pub fn alone(&self, id: TransmissionId) -> bool {
        let this = self.get(id);
        self.others(id).all(|other| {
            let distance = self.way(other, this.source());
            other.known_end().is_some_and(|end| end + distance + self.ways.jitter() <= this.begin)
        })
    }

    /// Gives the number for a collision whose parties are recorded elsewhere.
    pub fn next_episode(&mut self) -> u64 {
        self.episodes += 1;
        self.episodes
    }

    /// The number of the latest collision.
    pub fn last_episode(&self) -> u64 {
        self.episodes
    }

    /// Puts `id` and all signals at `place` into one collision and gives its number, from 1.
    pub fn join_episode(&mut self, place: StationId, now: BitInstant, id: TransmissionId) -> u64 {
        if let (Some(episode), true) = (self.get(id).episode, self.untouched.is_empty()) {
            return episode;
        }
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
}

/// Signals that meet without any station detecting it.
impl Line {
    /// Another signal was at `place` while this packet was; without a `place`, at any place.
    #[inline]
    pub fn meets(&self, place: Option<StationId>, id: TransmissionId) -> bool {
        self.transmissions.len() > 1 && self.nearest(id).any(|other| self.overlap(place, self.get(id), other))
    }

    fn overlap(&self, place: Option<StationId>, packet: &Transmission, other: &Transmission) -> bool {
        let is_met = |place| packet.reaches(place) && self.overlap_at(place, packet, other);
        match place {
            Some(place) => is_met(place),
            None => (0..self.topology.stations() as u16).map(StationId::new).any(is_met),
        }
    }

    /// Puts `id` and the signals that it [meets](Self::meets) into one collision and gives its number: the lowest number
    /// that one of them has already, or `next`.
    pub fn share_episode(&mut self, place: Option<StationId>, id: TransmissionId, next: u64) -> u64 {
        let episode = self.lowest_met(place, id).unwrap_or(next);
        let skipped = self.reached.met.saturating_sub(self.first) as usize;
        let met = self.transmissions.range(skipped..).take_while(|one| one.episode.is_some()).count();
        self.reached.met = self.first + (skipped + met) as u64;
        let this = self.get(id);
        let alone = |other: &Transmission| other.episode.is_none();
        let joins =
            |one: u64, other: &Transmission| alone(other) && (one == id.get() || self.overlap(place, this, other));
        let parties = self.before_end_of(this, self.reached.met).filter(|(one, other)| joins(*one, other));
        let parties: Vec<u64> = parties.map(|(number, _)| number).collect();
        for party in parties {
            self.get_mut(TransmissionId::new(party)).episode = Some(episode);
        }
        self.get(id).episode.unwrap_or(episode)
    }

    /// The lowest number of a collision that `id`, or a signal that it meets, has taken part in.
    fn lowest_met(&mut self, place: Option<StationId>, id: TransmissionId) -> Option<u64> {
        let (this, lowest_of_all) = (self.get(id), self.reached.lowest_episode);
        let mut lowest = this.episode;
        let longest = self.reached.longest_signal + self.longest;
        for other in self.nearest(id).take_while(|other| other.begin + longest > this.begin) {
            if lowest == Some(lowest_of_all) {
                return lowest;
            }
            let is_lower = other.episode.is_some_and(|episode| lowest.is_none_or(|lowest| episode < lowest));
            if is_lower && self.overlap(place, this, other) {
                lowest = other.episode;
            }
        }
        // Numbers are given in ascending order or shared, so the lowest one only grows.
        let all = self.transmissions.iter().filter_map(|one| one.episode);
        self.reached.lowest_episode = all.chain(lowest).min().unwrap_or(0);
        lowest
    }
}
