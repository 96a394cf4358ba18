//! What met an attempt: under CSMA/CD the signals that its sender noticed, that spoilt it where it was received, or that
//! had part in its collision; without collision detection those that overlapped it where it is for.

use super::hearing::there;
use super::scene::Scene;
use super::story::{Met, Other, Sent, Setting, Story, Try};
use crate::scene::{Collided, Signal};
use medium::{Config, Destination, Event, Kind, Method, StationId};

impl Story {
    /// A signal began, changed or ended.
    pub(super) fn signal(&mut self, sent: Sent, scene: &Scene) {
        let known = self
            .tries
            .iter_mut()
            .rev()
            .take(2)
            .flat_map(|one| one.parts.iter_mut().chain(one.others.iter_mut().map(|other| &mut other.sent)));
        let known: Vec<&mut Sent> = known.filter(|known| known.number == sent.number).collect();
        let is_new = known.is_empty();
        known.into_iter().for_each(|known| *known = sent.clone());
        let is_own = sent.frame == self.frame;
        match self.config.method {
            Method::CsmaCd if !is_own => self.other_ends(&sent),
            Method::CsmaCd | Method::Plca(_) => {}
            _ if !is_new => {}
            _ if is_own => {
                let Some(last) = self.tries.last_mut() else { return };
                let others = scene.signals.numbered().filter(|(_, other)| other.frame != self.frame).map(Sent::new);
                last.others(others.filter(|other| meet(&self.config, self.destination, &sent, other).is_some()));
            }
            _ => {
                let Some(last) = self.tries.last_mut() else { return };
                let meets = |one: &Sent| meet(&self.config, self.destination, one, &sent).is_some();
                if last.parts.iter().any(meets) {
                    last.others(std::iter::once(sent.clone()));
                }
            }
        }
        if let (true, true, Some(last)) = (is_own, is_new, self.tries.last_mut()) {
            last.parts.push(sent);
        }
    }

    /// The signal with this number, which was expected, does not come.
    pub(super) fn withdraw(&mut self, number: u64) {
        for one in &mut self.tries {
            one.parts.retain(|part| part.number != number);
            one.others.retain(|other| other.sent.number != number);
        }
    }

    /// CSMA/CD: a signal of another frame collided, or ended.
    fn other_ends(&mut self, sent: &Sent) {
        let episode = |one: &Sent| one.collision.map(|collision| collision.episode);
        for one in self.tries.iter_mut().rev().take(2) {
            let own = one.own().and_then(episode);
            if own.is_some() && own == episode(sent) {
                one.others(std::iter::once(sent.clone()));
            }
        }
        // A decision in the very bit time of its end may come before it in the trace, and has seen it going on.
        for step in self.steps.iter_mut().filter(|step| sent.end == Some(step.at)) {
            let Setting::Hears { heard, .. } = &mut step.setting else { continue };
            heard.iter_mut().filter(|one| one.number == sent.number).for_each(|one| *one = sent.clone());
        }
    }

    /// What an event says beside the signals.
    pub(super) fn happens(&mut self, event: &Event, scene: &Scene) {
        let is_own = event.frame == self.frame;
        if let (true, Method::CsmaCd, Some(step)) = (is_own, &self.config.method, self.steps.last())
            && let Setting::Meets(met) | Setting::Receives { spoilt_by: met, .. } = &step.setting
            && let Some(last) = self.tries.last_mut()
        {
            last.others(met.iter().cloned());
        }
        let (Kind::Collision { attempt, episode, .. }, false) = (event.kind, scene.config.detects_collisions()) else {
            return;
        };
        if is_own {
            let own = self.tries.iter_mut().rfind(|one| one.attempt == attempt).and_then(|one| one.parts.first_mut());
            if let Some(own) = own {
                // There is no jam.
                let jam = own.end.unwrap_or(event.at);
                own.collision = Some(Collided { at: event.at, episode, jam });
            }
            return;
        }
        let others = self.tries.iter_mut().rev().take(2).flat_map(|one| &mut one.others);
        let is = |other: &&mut Other| (other.sent.frame, other.sent.attempt) == (event.frame, attempt);
        others.filter(is).for_each(|other| other.lost = true);
    }
}

impl Try {
    /// These were met, as far as that is not known.
    fn others(&mut self, met: impl Iterator<Item = Sent>) {
        for sent in met {
            if !self.others.iter().any(|known| known.sent.number == sent.number) {
                self.others.push(Other { sent, lost: false });
            }
        }
    }
}

/// Without collision detection: the place at which `other` spoils `one`. This is the place of the addressee, or, if `one`
/// is for no single station or does not get there, any place.
fn meet(config: &Config, destination: Option<Destination>, one: &Signal, other: &Signal) -> Option<StationId> {
    let meets = |place: &StationId| match (there(one, *place, config), there(other, *place, config)) {
        (Some((begin, end)), Some((from, to))) => begin < to && from < end,
        (Some(_) | None, None) | (None, Some(_)) => false,
    };
    match addressee(destination, one).filter(|to| one.reaches(*to, config)) {
        Some(place) => Some(place).filter(meets),
        None => (0..config.topology.stations() as u16).map(StationId::new).find(meets),
    }
}

/// The single station that a part of an attempt is for, if that is not its sender.
pub fn addressee(destination: Option<Destination>, part: &Signal) -> Option<StationId> {
    match destination {
        _ if part.source != part.frame.station => Some(part.frame.station),
        Some(Destination::Station(to)) if to != part.source => Some(to),
        Some(Destination::Station(_) | Destination::All | Destination::Nobody | Destination::Beyond(_)) | None => None,
    }
}

/// Without collision detection: who met what, in order of time, once every signal is known.
pub fn met(story: &mut Story) {
    let (config, destination) = (&story.config, story.destination);
    for one in &mut story.tries {
        let mut found = Vec::new();
        for (part, own) in one.parts.iter().enumerate() {
            for (number, other) in one.others.iter().enumerate() {
                if let Some(place) = meet(config, destination, own, &other.sent) {
                    let (a, b) = (own.number, other.sent.number);
                    found.push(((a.max(b), a.min(b)), Met { part, other: number, place }));
                }
            }
        }
        found.sort_by_key(|(order, _)| *order);
        one.met = found.into_iter().map(|(_, met)| met).collect();
        one.forget_others();
    }
}

impl Try {
    /// Keeps those that met a part, in order of time.
    fn forget_others(&mut self) {
        let mut order: Vec<usize> = Vec::new();
        for met in &mut self.met {
            let place = order.iter().position(|other| *other == met.other);
            met.other = place.unwrap_or_else(|| {
                order.push(met.other);
                order.len() - 1
            });
        }
        self.others = order.into_iter().map(|other| self.others[other].clone()).collect();
    }
}
