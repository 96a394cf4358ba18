//! Every signal on its way, as events tell of them, and who meets whom. Where a signal is at an instant follows from the
//! event that began it and from the distances.

use crate::words::configuration::longest_distance;
use crate::words::prose::Prose;
use crate::words::sentences::{self, Noticed, Party};
use medium::{BitInstant, BitTimes, Config, Event, FrameId, Kind, Method, PREAMBLE_AND_SFD, Place, StationId};
use std::collections::VecDeque;
use std::sync::Arc;

/// A collision that its sender noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collided {
    /// When.
    pub at: BitInstant,
    /// Which overlap on the medium, from 1.
    pub episode: u64,
}

/// An attempt on its way, at its sender's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Whose.
    pub frame: FrameId,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The first bit.
    pub begin: BitInstant,
    /// Where the preamble begins, or would have: after extension bits, in a burst.
    pub preamble: BitInstant,
    /// Its sender has noticed a collision.
    pub collision: Option<Collided>,
    /// After the last bit, once that is out.
    pub end: Option<BitInstant>,
    /// Carrier extension before the end.
    pub extension: BitTimes,
    /// The cable was cut as it began: which stations were on the far side.
    pub parted: Option<Arc<[bool]>>,
}

/// What of a signal is somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Preamble and SFD.
    Preamble,
    /// The frame.
    Frame,
    /// The jam.
    Jam,
    /// Extension bits.
    Extension,
}

impl Signal {
    /// What its sender sends at `at`; nothing before it begins and after it has ended.
    pub fn part(&self, at: BitInstant) -> Option<Part> {
        if at < self.begin || self.end.is_some_and(|end| at >= end) {
            return None;
        }
        if let Some(Collided { at: noticed, .. }) = self.collision {
            let jam = if noticed < self.preamble { noticed } else { noticed.max(self.preamble + PREAMBLE_AND_SFD) };
            if at >= jam {
                return Some(Part::Jam);
            }
        }
        if at < self.preamble {
            return Some(Part::Extension);
        }
        if at < self.preamble + PREAMBLE_AND_SFD {
            return Some(Part::Preamble);
        }
        let extended = self.end.is_some_and(|end| at.get() >= end.get().saturating_sub(self.extension.get()));
        Some(if extended { Part::Extension } else { Part::Frame })
    }

    /// It gets to `station`.
    pub fn reaches(&self, station: StationId) -> bool {
        self.parted.as_ref().is_none_or(|far| far[station.index()] == far[self.frame.station.index()])
    }
}

/// Signals in order of begin.
#[derive(Clone, Debug)]
pub struct Signals {
    config: Arc<Config>,
    longest: BitTimes,
    /// How many are kept of those that are over everywhere.
    kept: usize,
    all: VecDeque<Signal>,
    far: Option<Arc<[bool]>>,
}

impl Signals {
    /// None so far. Of those that are over everywhere the last `kept` are kept.
    pub fn new(config: Arc<Config>, kept: usize) -> Signals {
        let longest = longest_distance(&config.topology);
        Signals { config, longest, kept, all: VecDeque::new(), far: None }
    }

    /// In order of begin.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Signal> {
        self.all.iter()
    }

    /// The longest time that a signal takes to another station.
    pub fn longest(&self) -> BitTimes {
        self.longest
    }

    /// Transmissions that begin from now on meet this cut.
    pub fn set_cut(&mut self, cut: Option<Place>) {
        self.far = cut.and_then(|cut| self.config.topology.beyond(cut).ok()).map(Arc::from);
    }

    /// The cable is cut somewhere between two stations.
    pub fn is_cut_between(&self, one: StationId, other: StationId) -> bool {
        self.far.as_ref().is_some_and(|far| far[one.index()] != far[other.index()])
    }

    /// Nothing is known of any.
    pub fn forget(&mut self) {
        self.all.clear();
    }

    /// A station begins an attempt; `end` is known where nothing can cut it short.
    pub fn begin(&mut self, at: BitInstant, frame: FrameId, attempt: u32, burst: bool, end: Option<BitInstant>) {
        let passed = |one: &Signal| one.end.is_some_and(|end| end + self.longest < at);
        while self.all.len() > self.kept && self.all.front().is_some_and(passed) {
            self.all.pop_front();
        }
        let gap = if burst { self.config.parameters.inter_packet_gap } else { BitTimes::ZERO };
        self.all.push_back(Signal {
            frame,
            attempt,
            begin: at,
            preamble: at + gap,
            collision: None,
            end,
            extension: BitTimes::ZERO,
            parted: self.far.clone(),
        });
    }

    /// The sender of an attempt that goes on notices a collision.
    pub fn collide(&mut self, at: BitInstant, frame: FrameId, episode: u64) {
        self.change(frame, |one| one.collision = Some(Collided { at, episode }));
    }

    /// The last bit of an attempt is out, carrier extension included.
    pub fn end(&mut self, at: BitInstant, frame: FrameId, extension: BitTimes) {
        self.change(frame, |one| (one.end, one.extension) = (Some(at), extension));
    }

    /// An attempt that goes on was none on the medium: PLCA told its MAC to wait (802.3, 148.4.5).
    pub fn withdraw(&mut self, frame: FrameId) {
        if let Some(one) = self.all.iter().rposition(|one| one.frame == frame && one.end.is_none()) {
            self.all.remove(one);
        }
    }

    fn change(&mut self, frame: FrameId, change: impl FnOnce(&mut Signal)) {
        if let Some(one) = self.all.iter_mut().rfind(|one| one.frame == frame && one.end.is_none()) {
            change(one);
        }
    }

    /// An event in a sentence. A collision is told with whom it met, if its attempt is known and it began on the line.
    pub fn sentence(&self, event: &Event, names: &[String]) -> String {
        let (parameters, rate) = (&self.config.parameters, self.config.rate);
        if let Some(noticed) = self.notice(event, names) {
            return noticed.sentence(self.met(event, names), parameters, rate);
        }
        if self.is_into_nothing(event) {
            return sentences::jam_into_nothing(parameters, rate);
        }
        sentences::sentence(&event.kind, event.at, &names[event.station.index()], &self.config)
    }

    /// Appends the sentence of a collision.
    pub(super) fn tell_collision(&self, prose: &mut Prose<'_>, event: &Event, names: &[String]) {
        let (parameters, rate) = (&self.config.parameters, self.config.rate);
        match self.notice(event, names) {
            Some(noticed) => noticed.tell(prose, self.met(event, names), parameters, rate),
            None => sentences::tell(prose, &event.kind, event.at, &names[event.station.index()], &self.config),
        }
    }

    /// A MAC is told of a logical collision, and jams into its delay line: no attempt of it has ended here.
    fn is_into_nothing(&self, event: &Event) -> bool {
        let own = |one: &Signal| one.frame == event.frame && one.end == Some(event.at);
        let Kind::JamEnd { .. } = event.kind else { return false };
        matches!(self.config.method, Method::Plca(_)) && !self.all.iter().any(own)
    }

    /// Nothing where a collision is not noticed on the line that its attempt began on: with PLCA an attempt may still be in
    /// the delay line, and without collision detection it is over.
    fn notice<'a>(&self, event: &Event, names: &'a [String]) -> Option<Noticed<'a>> {
        let Kind::Collision { late, episode: episode @ 1.., .. } = event.kind else { return None };
        let Method::CsmaCd = self.config.method else { return None };
        let own = self.all.iter().rfind(|one| one.frame == event.frame && one.begin <= event.at)?;
        let (station, begin, preamble) = (&names[event.station.index()], own.begin, own.preamble);
        Some(Noticed { station, begin, preamble, at: event.at, late, episode })
    }

    /// Whose signals were at the place of whoever noticed a collision.
    fn met<'a>(&'a self, event: &'a Event, names: &'a [String]) -> impl Iterator<Item = Party<'a>> {
        let distance = |one: &Signal| self.config.topology.distance(one.frame.station, event.station);
        let sounds = move |one: &Signal| {
            let distance = distance(one);
            one.begin + distance <= event.at && one.end.is_none_or(|end| end + distance > event.at)
        };
        let here = move |one: &&Signal| one.frame.station != event.station && one.reaches(event.station) && sounds(one);
        let party = move |one: &'a Signal| {
            let FrameId { station, serial } = one.frame;
            Party { station: &names[station.index()], serial, begin: one.begin, distance: distance(one) }
        };
        self.all.iter().filter(here).map(party)
    }
}
