//! What a place has heard: carrier derived from transmissions, the deafness of stations, and what may be forgotten.

use super::{Carrier, Line, Reached, Transmission};
use crate::frame::{FrameId, StationId, TransmissionId};
use crate::time::BitInstant;

impl Line {
    /// Writes the carrier at `place` that its station hears and that began before `now`, in order of begin, into
    /// `into`.
    pub fn carrier(&self, place: StationId, now: BitInstant, into: &mut Vec<Carrier>) {
        into.clear();
        let spoke = self.spoke[place.index()];
        into.extend(spoke.map(|end| Carrier { begin: BitInstant::ZERO, end: Some(end), own: true }));
        into.extend((self.first..).zip(&self.transmissions).filter_map(|(number, transmission)| {
            let distance = self.way(transmission, place);
            let begin = transmission.begin + distance;
            let end = transmission.known_end().map(|end| end + distance);
            (begin < now && self.senses(place, number, transmission) && transmission.reaches(place))
                .then_some(Carrier { begin, end, own: transmission.source() == place })
        }));
        if !into.is_sorted() {
            into.sort_unstable();
        }
    }

    /// The station at `place` hears this transmission when it arrives.
    pub fn hears(&self, place: StationId, id: TransmissionId) -> bool {
        self.deafness[place.index()].hears(id.get())
    }

    /// The station at `place` senses transmission `number`.
    #[inline]
    pub(super) fn senses(&self, place: StationId, number: u64, one: &Transmission) -> bool {
        one.is_sensed(place, number, &self.deafness[place.index()])
    }

    /// No station is deaf to it, and no cut keeps it from any station.
    pub fn heard_by_all(&self, id: TransmissionId) -> bool {
        if self.get(id).parted.is_some() {
            return false;
        }
        !self.any_deaf || self.deafness.iter().all(|deafness| deafness.hears(id.get()))
    }

    /// From now on `place` hears no transmission that begins.
    pub fn deafen(&mut self, place: StationId) {
        self.recall_who_was_alone();
        self.deafness[place.index()].begin(self.first + self.transmissions.len() as u64);
        self.any_deaf = true;
        self.stretches.somebody_is_deaf();
    }

    /// Puts the last transmission back into the list if it was sent alone.
    fn recall_who_was_alone(&mut self) {
        let Some((begin, end)) = self.stretches.last().filter(|_| self.transmissions.is_empty() && self.first > 0)
        else {
            return;
        };
        let id = self.first - 1;
        let its_own = self.last_of.iter().position(|last| *last == Some((TransmissionId::new(id), begin)));
        if let Some(source) = its_own.filter(|_| self.last_end == end) {
            let frame = FrameId { station: StationId::new(source as u16), serial: 0 };
            self.transmissions.push_front(Transmission::unheard_of(frame, begin, end));
            self.first = id;
            self.reached =
                Reached { longest_signal: self.reached.longest_signal.max(end - begin), ..Reached::default() };
        }
    }

    /// Fills an empty line with `transmissions`, which end on their own, as the last ones before number `next`. Their
    /// ends at the addressees are already scheduled.
    pub fn recall(&mut self, transmissions: Vec<Transmission>, next: TransmissionId) {
        debug_assert!(self.transmissions.is_empty(), "the line was not used so far");
        self.first = next.get() - transmissions.len() as u64;
        self.reached = Reached::default();
        let ends = transmissions.iter().filter_map(Transmission::known_end);
        self.last_end = ends.max().unwrap_or(self.last_end);
        transmissions.into_iter().for_each(|one| self.push(one));
    }

    /// From now on `place` hears every transmission that begins.
    pub fn heal(&mut self, place: StationId) {
        self.deafness[place.index()].end(self.first + self.transmissions.len() as u64);
    }

    /// Transmissions that were not heard are retired.
    fn forget_deafness(&mut self) {
        let first = self.first;
        self.deafness.iter_mut().for_each(|deafness| deafness.forget_before(first));
        self.any_deaf = self.deafness.iter().any(|deafness| !deafness.hears_all());
    }

    /// The last stretches of carrier that the station at `place` heard before `now`, if all places hear the same.
    #[inline]
    pub fn stretches(&self, place: StationId, now: BitInstant) -> Option<(Option<Carrier>, Option<Carrier>)> {
        self.stretches.heard(now, self.last_of[place.index()].map(|(_, begin)| begin), self.on_air > 0)
    }

    /// Drops transmissions that no station can hear, ask about, or have been disturbed by any more.
    #[inline]
    pub(super) fn retire(&mut self, now: BitInstant) {
        if !self.oldest_is_over(now) {
            return;
        }
        if self.on_air == 0 && self.last_end + self.longest + self.memory <= now {
            return self.retire_all();
        }
        self.retire_some(now);
    }

    fn retire_all(&mut self) {
        while self.transmissions.pop_front().is_some() {
            self.first += 1;
        }
        self.untouched.clear();
        while let Some(place) = self.speakers.pop() {
            self.spoke[place.index()] = None;
        }
        if self.any_deaf {
            self.forget_deafness();
        }
        self.stretches.all_is_long_over(self.any_deaf);
    }

    fn retire_some(&mut self, now: BitInstant) {
        let skipped = self.reached.ended.saturating_sub(self.first) as usize;
        let ended = self.transmissions.range(skipped..).take_while(|other| self.finished(other, now)).count();
        self.reached.ended = self.first + (skipped + ended) as u64;
        let limit = self.transmissions.get(skipped + ended).map_or(now, |other| other.begin);
        let is_over = |old: &&Transmission| self.is_over(old, limit);
        let gone = self.transmissions.iter().take_while(is_over).count();
        if gone == 0 {
            return;
        }
        self.remember_who_spoke(now, gone);
        self.first += gone as u64;
        (0..gone).for_each(|_| _ = self.transmissions.pop_front());
        while self.untouched.pop_front_if(|id| id.get() < self.first).is_some() {}
        if self.any_deaf {
            self.forget_deafness();
        }
    }

    /// No station that begins from `limit` on can meet the oldest transmission.
    fn oldest_is_over(&self, limit: BitInstant) -> bool {
        self.transmissions.front().is_some_and(|oldest| self.is_over(oldest, limit))
    }

    fn is_over(&self, old: &Transmission, limit: BitInstant) -> bool {
        old.known_end().is_some_and(|end| end + self.farthest(old.source()) + self.memory <= limit)
    }

    /// For each station whose last transmission is among the first `gone`, or was dropped earlier, follows the carrier
    /// at its place until it pauses.
    ///
    /// `wasTransmitting` of 4.2.8 is true to the end of the busy period, however many signals it has.
    fn remember_who_spoke(&mut self, now: BitInstant, gone: usize) {
        for index in 0..gone {
            let own = &self.transmissions[index];
            let (place, id) = (own.source(), self.first + index as u64);
            let is_last = self.last_of[place.index()].is_some_and(|(last, _)| last.get() == id);
            if is_last && self.senses(place, id, own) {
                let end = own.known_end();
                if std::mem::replace(&mut self.spoke[place.index()], end).is_none() {
                    self.speakers.push(place);
                }
            }
        }
        let mut speakers = std::mem::take(&mut self.speakers);
        speakers.retain(|&place| {
            let spoke = self.spoke[place.index()].and_then(|mut end| {
                let goes_on = self.follow(place, &mut end);
                (goes_on || end + self.memory > now).then_some(end)
            });
            self.spoke[place.index()] = spoke;
            spoke.is_some()
        });
        self.speakers = speakers;
    }

    /// Moves `end`, the end of carrier at `place`, to the end of all signals that leave no pause; true if one of them
    /// has no known end yet.
    fn follow(&self, place: StationId, end: &mut BitInstant) -> bool {
        loop {
            let (so_far, mut goes_on) = (*end, false);
            // Signals that began too late or ended too early, at any place, cannot move it.
            let touching = (self.first..).zip(&self.transmissions).take_while(|(_, other)| other.begin <= so_far);
            let touching = touching.filter(|(_, other)| !self.is_over_everywhere(other, so_far));
            let touching = touching.filter(|(number, other)| self.senses(place, *number, other));
            for (_, other) in touching.filter(|(_, other)| other.reaches(place)) {
                let distance = self.way(other, place);
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
