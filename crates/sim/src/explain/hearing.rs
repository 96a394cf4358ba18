//! Without collision detection: what the station of a frame hears of others until it sends.

use super::scene::Scene;
use super::story::{Sent, Setting, Wait};
use crate::scene::Signal;
use medium::{BitInstant, BitTimes, Carried, Config, FrameId, Kind, StationId};

/// Signals that are kept of one wait. No reader follows more stretches of a window of 65,536 slots.
const MOST: usize = 65_536;

/// What a station hears of others.
#[derive(Debug)]
pub(super) struct Hearing {
    station: StationId,
    wait: Wait,
    busy_until: BitInstant,
    /// From when to when signals are there whose begin had not come at the last look.
    coming: Vec<(BitInstant, BitInstant)>,
    /// When the frame can be sent as far as the station itself goes.
    ready: BitInstant,
}

/// From when to when `station` hears a signal; none if it does not.
pub(super) fn heard(signal: &Signal, station: StationId, config: &Config) -> Option<(BitInstant, BitInstant)> {
    there(signal, station, config).filter(|_| signal.is_heard(station, config))
}

/// From when to when a signal is at the place of `station`; none if it does not get there.
pub(super) fn there(signal: &Signal, station: StationId, config: &Config) -> Option<(BitInstant, BitInstant)> {
    let span = signal.at(station, config);
    signal.reaches(station, config).then_some((span.begin, span.end.unwrap_or(BitInstant::new(u64::MAX))))
}

impl Hearing {
    pub fn new(at: BitInstant, station: StationId, scene: &Scene) -> Hearing {
        let coming = scene.signals.iter().filter_map(|one| heard(one, station, &scene.config)).collect();
        Hearing { station, wait: Wait::default(), busy_until: BitInstant::ZERO, coming, ready: at }
    }

    /// What has begun at its station's place before `at` keeps that busy.
    fn look(&mut self, at: BitInstant) {
        for (_, end) in self.coming.extract_if(.., |(begin, _)| *begin < at) {
            self.busy_until = self.busy_until.max(end);
        }
    }

    /// Its frame came to the head of the queue.
    pub fn comes_to_the_head(&mut self, at: BitInstant) {
        self.ready = at;
    }

    /// It draws a number of slots for its frame.
    pub fn backs_off(&mut self, frame: FrameId, at: BitInstant, slots: u64, scene: &Scene) {
        let by_itself = at + BitTimes::new(scene.config.backoff_slot().get().saturating_mul(slots));
        self.ready = scene.config.backoff_end(self.station, at, slots).unwrap_or(by_itself);
        let other = |(_, one): &(u64, &Signal)| one.frame != frame && one.source != frame.station;
        let heard =
            scene.signals.numbered().filter(other).map(|one| (Sent::new(one), scene.addressee(one.1))).collect();
        self.wait = Wait { from: at, to: at, slots: Some(slots), heard };
    }

    /// A signal begins or changes.
    pub fn hears(&mut self, frame: FrameId, sent: &Sent, scene: &Scene) {
        if sent.source == self.station && sent.frame == frame {
            return;
        }
        let to = scene.addressee(sent);
        let has_room = self.wait.slots.is_some() && self.wait.heard.len() < MOST;
        match self.wait.heard.iter_mut().rfind(|(known, _)| known.number == sent.number) {
            Some(known) => *known = (sent.clone(), to),
            None if has_room => self.wait.heard.push((sent.clone(), to)),
            None => {}
        }
        self.coming.extend(heard(sent, self.station, &scene.config));
        self.look(sent.begin);
    }

    /// What the station hears as an event of its frame happens.
    pub fn setting(&mut self, frame: FrameId, kind: &Kind, at: BitInstant, scene: &Scene) -> Setting {
        self.look(at);
        let free = self.ready.max(self.busy_until);
        let wait = matches!(kind, Kind::Attempt { .. }).then(|| Wait { to: at, ..std::mem::take(&mut self.wait) });
        if wait.is_none() && !matches!(kind, Kind::Defer { .. }) {
            return Setting::Alone;
        }
        let here = |(_, one): &(u64, &Signal)| {
            one.frame != frame && heard(one, self.station, &scene.config).is_some_and(|(_, end)| end >= at)
        };
        let signals = scene.signals.numbered().filter(here).map(Sent::new).collect();
        Setting::Around { signals, wait, free }
    }
}

/// What stopped the count of slots.
#[derive(Clone, Debug)]
pub(super) struct Stopped {
    /// In how many stretches the medium was busy at the station's place.
    pub stretches: u64,
    /// Of these, those that ended with something that the station could not make out.
    pub spoilt: u64,
    /// How long the medium was busy.
    pub busy: BitTimes,
    /// Signals, in order.
    pub signals: Vec<Signal>,
    /// The latest reservation for others: up to when, and by what.
    pub reserved: Option<(BitInstant, Signal)>,
}

impl Wait {
    /// What was at the place of `station` meanwhile. Signals that follow each other within `gap`, DIFS, are one stretch,
    /// since no slot counts between them.
    pub fn stopped(&self, config: &Config, station: StationId, gap: BitTimes) -> Stopped {
        let mut stopped =
            Stopped { stretches: 0, spoilt: 0, busy: BitTimes::ZERO, signals: Vec::new(), reserved: None };
        let here = |(one, to): &(Sent, Option<StationId>)| {
            heard(one, station, config).map(|(begin, end)| (begin, end, one.signal.clone(), *to))
        };
        let mut heard: Vec<_> = self.heard.iter().filter_map(here).collect();
        heard.retain(|(begin, end, ..)| *begin < self.to && *end > self.from);
        heard.sort_by_key(|(begin, ..)| *begin);
        let mut until: Option<BitInstant> = None;
        let mut spoilt = false;
        for (number, (begin, end, signal, to)) in heard.iter().enumerate() {
            let (from, over) = ((*begin).max(self.from), (*end).min(self.to));
            if until.is_none_or(|until| from > until + gap) {
                stopped.spoilt += u64::from(std::mem::take(&mut spoilt));
                stopped.stretches += 1;
            }
            let counted = until.map_or(from, |until| from.max(until));
            stopped.busy += over.since(counted);
            until = until.max(Some(over));
            let others = heard.iter().enumerate().filter(|(other, _)| *other != number);
            spoilt = others.into_iter().any(|(_, (other, over, ..))| other < end && begin < over);
            let reserved = *end + signal.reserves;
            let is_for_others = *to != Some(station) && signal.reserves > BitTimes::ZERO;
            // Of those that end together, the request and its answer say more than the frame.
            let is_later = stopped.reserved.as_ref().is_none_or(|(until, _)| match signal.what {
                Carried::Frame => *until < reserved,
                _ => *until <= reserved,
            });
            if !spoilt && is_for_others && is_later {
                stopped.reserved = Some((reserved, signal.clone()));
            }
            stopped.signals.push(signal.clone());
        }
        stopped.spoilt += u64::from(spoilt);
        stopped
    }
}
