//! Events in sentences, as far as these need to know what is on the medium.

use super::signal::Signal;
use super::signals::Signals;
use crate::words::prose::Prose;
use crate::words::sentences::{self, Noticed, Party};
use medium::{Event, FrameId, Kind, Method};

impl Signals {
    /// An event in a sentence. The sentence about a collision names the other parties, if its attempt is known and it
    /// began on the line.
    pub fn sentence(&self, event: &Event, names: &[String]) -> String {
        let (parameters, rate) = (&self.config().parameters, self.config().rate);
        if let Some(noticed) = self.notice(event, names) {
            return noticed.sentence(self.parties(event, names), parameters, rate);
        }
        if self.is_into_nothing(event) {
            return sentences::jam_into_nothing(parameters, rate);
        }
        sentences::sentence(event, &names[event.station.index()], self.config())
    }

    /// Appends the sentence of a collision.
    pub fn tell_collision(&self, prose: &mut Prose<'_>, event: &Event, names: &[String]) {
        let (parameters, rate) = (&self.config().parameters, self.config().rate);
        match self.notice(event, names) {
            Some(noticed) => noticed.tell(prose, self.parties(event, names), parameters, rate),
            None => sentences::tell(prose, event, &names[event.station.index()], self.config()),
        }
    }

    /// A MAC gets a logical collision, and jams into its delay line: no attempt of it has ended here.
    fn is_into_nothing(&self, event: &Event) -> bool {
        let own = |one: &Signal| one.frame == event.frame && one.end == Some(event.at);
        let Kind::JamEnd { .. } = event.kind else { return false };
        matches!(self.config().method, Method::Plca(_)) && !self.iter().any(own)
    }

    /// Nothing where a collision is not noticed on the line that its attempt began on: with PLCA an attempt may still be in
    /// the delay line, and without collision detection it is over.
    fn notice<'a>(&self, event: &Event, names: &'a [String]) -> Option<Noticed<'a>> {
        let Kind::Collision { late, episode: episode @ 1.., .. } = event.kind else { return None };
        let Method::CsmaCd = self.config().method else { return None };
        let own = self.iter().rfind(|one| one.frame == event.frame && one.begin <= event.at)?;
        let (station, begin, preamble) = (&names[event.station.index()], own.begin, own.preamble);
        Some(Noticed { station, begin, preamble, at: event.at, late, episode })
    }

    /// The senders of the signals at the place of the station that noticed a collision.
    fn parties<'a>(&'a self, event: &'a Event, names: &'a [String]) -> impl Iterator<Item = Party<'a>> {
        let distance = |one: &Signal| self.config().way(one.source, one.begin, event.station);
        let sounds = move |one: &Signal| {
            let distance = distance(one);
            one.begin + distance <= event.at && one.end.is_none_or(|end| end + distance > event.at)
        };
        let here = move |one: &&Signal| {
            one.source != event.station && one.reaches(event.station, self.config()) && sounds(one)
        };
        let party = move |one: &'a Signal| {
            let FrameId { station, serial } = one.frame;
            Party { station: &names[station.index()], serial, begin: one.begin, distance: distance(one) }
        };
        self.iter().filter(here).map(party)
    }
}
