//! The signals on the line: BEACONs, COMMITs and frames, and what each place hears of them, and when.
//!
//! ```text
//!   at the source   |COMMIT|frame ......|       pieces of one carrier follow each other without a bit of silence
//!   at another place   |COMMIT|frame ......|
//! ```
//! On a star without distance all places hear the same, and one count of signals serves all of them. Nothing here knows
//! PLCA's machines.

use crate::config::Config;
use crate::frame::{Addressed, FrameId, Queued, StationId};
use crate::line::{Sides, Worth};
use crate::noise::Sense;
use crate::time::{BitInstant, BitTimes, Octets};
use crate::timers::NEVER;
use crate::topology::Topology;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// The kind of a piece of carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Beacon,
    Commit,
    Frame,
}

/// The number of signals at a place, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    pub beacons: u16,
    pub commits: u16,
    pub frames: u16,
    /// Carrier in which the place recognises nothing.
    pub carriers: u16,
}

impl Heard {
    #[inline]
    pub fn count(&self) -> u16 {
        self.beacons + self.commits + self.frames + self.carriers
    }

    #[inline]
    pub fn of(&mut self, what: What) -> &mut u16 {
        match what {
            What::Beacon => &mut self.beacons,
            What::Commit => &mut self.commits,
            What::Frame => &mut self.frames,
        }
    }

    /// The count of signals that were sent as `what`, and sound so at the place; none for one that it does not hear.
    #[inline]
    fn of_sensed(&mut self, what: What, sense: Option<Sense>) -> Option<&mut u16> {
        match sense {
            None => Some(self.of(what)),
            Some(Sense::Carrier) => Some(&mut self.carriers),
            Some(Sense::Nothing) => None,
        }
    }

    /// Without the signal of the place's own station.
    #[inline]
    pub fn without(mut self, own: Option<What>) -> Heard {
        if let Some(own) = own {
            *self.of(own) -= 1;
        }
        self
    }
}

/// A frame, as a signal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub id: FrameId,
    pub size: Octets,
    pub destination: Addressed,
    pub worth: Worth,
    /// The end of its last bit, if no collision cuts it short.
    pub frame_end: BitInstant,
}

impl Sent {
    pub fn new(id: FrameId, queued: &Queued, worth: Worth, frame_end: BitInstant) -> Sent {
        Sent { id, size: queued.size, destination: queued.destination, worth, frame_end }
    }

    /// The places that it is for, out of `stations`.
    #[inline]
    pub fn places(&self, stations: usize) -> impl Iterator<Item = StationId> + use<> {
        let source = self.id.station;
        self.destination.places(stations).filter(move |&place| place != source)
    }

    fn is_for(&self, place: StationId) -> bool {
        self.id.station != place && self.destination.is_for(place)
    }
}

/// One piece of carrier.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub source: StationId,
    pub what: What,
    pub begin: BitInstant,
    /// The first instant without it, once known.
    pub end: Option<BitInstant>,
    /// It follows this piece, of this kind, without a gap.
    follows: Option<(u64, What)>,
    /// Another piece follows it without a gap.
    followed: bool,
    pub frame: Option<Sent>,
    /// A collision cut it short.
    pub cut: bool,
    pub episode: Option<u64>,
    /// Places where another signal overlapped; [`EVERYWHERE`] means all of them.
    pub spoilt: Vec<u16>,
    /// Stations that sent meanwhile.
    pub spoken: Vec<u16>,
    /// Its deliveries have been reported.
    pub settled: bool,
    /// The medium has finished with the frame as soon as its deliveries have been reported.
    pub released: bool,
    /// The cable was cut as it began.
    parted: Option<Sides>,
    /// Edges that are still to come.
    edges: u32,
}

impl Piece {
    pub fn new(source: StationId, what: What, begin: BitInstant, frame: Option<Sent>) -> Piece {
        Piece {
            source,
            what,
            begin,
            end: None,
            follows: None,
            followed: false,
            frame,
            cut: false,
            episode: None,
            spoilt: Vec::new(),
            spoken: Vec::new(),
            settled: false,
            released: false,
            parted: None,
            edges: 0,
        }
    }

    pub fn is_spoilt_at(&self, place: StationId) -> bool {
        self.spoilt.iter().any(|&at| at == EVERYWHERE || usize::from(at) == place.index())
    }

    pub fn reaches(&self, place: StationId) -> bool {
        self.parted.as_ref().is_none_or(|far| far[place.index()] == far[self.source.index()])
    }
}

/// The place number that means all places.
pub(super) const EVERYWHERE: u16 = u16::MAX;

/// An edge of a signal at a place: within an instant ends come before begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edge {
    End,
    Begin,
}

/// The line, and the signals at each place.
#[derive(Debug)]
pub(super) struct Wire {
    topology: Topology,
    stations: u16,
    /// All places are one.
    one_place: bool,
    on_delay: BitTimes,
    off_delay: BitTimes,
    /// The longest way between two places.
    pub longest_way: BitTimes,
    heard: Box<[Heard]>,
    /// By place and piece: a signal that does not sound there as it was sent.
    sensed: BTreeMap<(u16, u64), Sense>,
    /// The signal of each place's own station.
    own: Box<[Option<What>]>,
    edges: BinaryHeap<Reverse<(BitInstant, Edge, u16, u64)>>,
    pub next: BitInstant,
    pieces: VecDeque<Piece>,
    first: u64,
    pub parted: Option<Sides>,
    pub episodes: u64,
}

impl Wire {
    pub fn new(config: &Config, on_delay: BitTimes, off_delay: BitTimes) -> Wire {
        let stations = config.topology.stations();
        let one_place = matches!(&config.topology, Topology::Star { distance, .. } if *distance == BitTimes::ZERO);
        Wire {
            topology: config.topology.clone(),
            stations: stations as u16,
            one_place,
            on_delay,
            off_delay,
            longest_way: BitTimes::new(config.topology.round_trip().get() / 2),
            heard: vec![Heard::default(); if one_place { 1 } else { stations }].into(),
            sensed: BTreeMap::new(),
            own: vec![None; stations].into(),
            edges: BinaryHeap::new(),
            next: NEVER,
            pieces: VecDeque::new(),
            first: 0,
            parted: None,
            episodes: 0,
        }
    }

    /// The signals at a place, and the station's own among them.
    #[inline]
    pub fn heard(&self, place: usize) -> (Heard, Option<What>) {
        (self.heard[if self.one_place { 0 } else { place }], self.own[place])
    }

    /// Nothing is on the line or on its way.
    pub fn is_silent(&self) -> bool {
        self.next == NEVER && self.heard.iter().all(|heard| heard.count() == 0)
    }

    /// Every place hears a BEACON and nothing else, and nothing is on its way.
    pub fn has_only_a_beacon(&self) -> bool {
        let beacon = |heard: &Heard| (heard.count(), heard.beacons) == (1, 1);
        self.next == NEVER && self.heard.iter().all(beacon)
    }

    /// How long a signal takes from `source` to `place`.
    #[inline]
    pub fn way(&self, source: StationId, place: StationId) -> BitTimes {
        if self.one_place || source == place { BitTimes::ZERO } else { self.topology.distance(source, place) }
    }

    /// Handles the edges that `is_over` says to be in the past. No signals overlap in them.
    pub fn catch_up(&mut self, is_over: impl Fn(BitInstant, Edge) -> bool) {
        while let Some(&Reverse((at, edge, ..))) = self.edges.peek()
            && is_over(at, edge)
            && let Some((place, id)) = self.take(at, edge)
        {
            match edge {
                Edge::Begin => self.begins_at(place, id, at, None),
                Edge::End => self.ends_at(place, id),
            }
        }
    }

    /// Drops all signals, at places and on their way.
    pub fn forget_all(&mut self) {
        self.heard.fill(Heard::default());
        self.sensed.clear();
        self.own.fill(None);
        self.edges.clear();
        self.next = NEVER;
        self.first += self.pieces.len() as u64;
        self.pieces.clear();
    }

    pub fn is_one_place(&self) -> bool {
        self.one_place
    }

    /// All places are one, nothing else is there, and this frame follows a COMMIT.
    pub fn goes_on_alone(&self, id: u64) -> bool {
        let piece = self.get(id);
        let goes_on = piece.what == What::Frame && piece.follows.is_some_and(|(_, before)| before == What::Commit);
        goes_on && self.one_place && self.heard[0].count() == 1
    }

    pub fn get(&self, id: u64) -> &Piece {
        &self.pieces[(id - self.first) as usize]
    }

    pub fn get_mut(&mut self, id: u64) -> &mut Piece {
        &mut self.pieces[(id - self.first) as usize]
    }

    /// A piece that has not been forgotten.
    pub fn find(&self, id: u64) -> Option<&Piece> {
        self.pieces.get(id.checked_sub(self.first)? as usize)
    }

    fn push(&mut self, id: u64, at: BitInstant, edge: Edge, delay: BitTimes) {
        let mut edges = 0;
        if self.one_place {
            self.edges.push(Reverse((at + delay, edge, EVERYWHERE, id)));
            edges = 1;
        } else {
            let piece = &self.pieces[(id - self.first) as usize];
            for place in 0..self.stations {
                let station = StationId::new(place);
                if piece.reaches(station) {
                    let way = self.way(piece.source, station);
                    self.edges.push(Reverse((at + way + delay, edge, place, id)));
                    edges += 1;
                }
            }
        }
        self.get_mut(id).edges += edges;
        self.look();
    }

    fn look(&mut self) {
        self.next = self.edges.peek().map_or(NEVER, |Reverse((at, ..))| *at);
    }

    /// A station sends `piece` from its begin on; with `after`, it follows that piece without a gap.
    pub fn begin(&mut self, mut piece: Piece, after: Option<u64>) -> u64 {
        self.retire();
        if let Some(after) = after {
            let before = self.get_mut(after);
            before.followed = true;
            piece.follows = Some((after, before.what));
            piece.parted.clone_from(&before.parted);
        } else {
            piece.parted.clone_from(&self.parted);
        }
        let (id, begin) = (self.first + self.pieces.len() as u64, piece.begin);
        // Its end is at least one more edge.
        self.pieces.push_back(piece);
        self.push(id, begin, Edge::Begin, self.on_delay);
        id
    }

    /// The piece ends at `at`.
    pub fn end(&mut self, id: u64, at: BitInstant) {
        self.get_mut(id).end = Some(at);
        self.push(id, at, Edge::End, self.off_delay);
    }

    /// Whether the next edge is at `at` and of this kind.
    #[inline]
    pub fn is_next(&self, at: BitInstant, edge: Edge) -> bool {
        self.edges.peek().is_some_and(|&Reverse((when, kind, ..))| when == at && kind == edge)
    }

    /// The first edge at `at`, and its place; `EVERYWHERE` if all places are one.
    #[inline]
    pub fn take(&mut self, at: BitInstant, edge: Edge) -> Option<(u16, u64)> {
        let &Reverse((when, kind, place, id)) = self.edges.peek()?;
        if when != at || kind != edge {
            return None;
        }
        self.edges.pop();
        self.look();
        self.get_mut(id).edges -= 1;
        Some((place, id))
    }

    /// Places hear different things from now on.
    pub fn places_differ(&mut self) {
        if !std::mem::replace(&mut self.one_place, false) {
            return;
        }
        self.heard = vec![self.heard[0]; usize::from(self.stations)].into();
        let mut edges = BinaryHeap::new();
        for Reverse((at, edge, place, id)) in std::mem::take(&mut self.edges) {
            assert_eq!(place, EVERYWHERE, "all places were one");
            self.pieces[(id - self.first) as usize].edges += u32::from(self.stations) - 1;
            edges.extend((0..self.stations).map(|place| Reverse((at, edge, place, id))));
        }
        self.edges = edges;
    }

    /// A piece begins to be heard at `place`; `sense`: not as it was sent.
    pub fn begins_at(&mut self, place: u16, id: u64, now: BitInstant, sense: Option<Sense>) {
        let index = if self.one_place { 0 } else { usize::from(place) };
        let (what, follows, source) = {
            let piece = self.get(id);
            (piece.what, piece.follows, piece.source.index())
        };
        if let Some((before, what)) = follows {
            let sensed = self.unsense(place, before);
            if let Some(count) = self.heard[index].of_sensed(what, sensed) {
                *count -= 1;
            }
        }
        let heard = &mut self.heard[index];
        if let Some(count) = heard.of_sensed(what, sense) {
            *count += 1;
        }
        let many = heard.count() > 1;
        if let Some(sense) = sense {
            self.sensed.insert((place, id), sense);
        }
        if self.one_place || source == usize::from(place) {
            self.own[source] = Some(what);
        }
        if many {
            self.overlap(place, now);
        }
    }

    /// How a piece that is over at `place` sounded there, if not as it was sent.
    #[inline]
    fn unsense(&mut self, place: u16, id: u64) -> Option<Sense> {
        if self.sensed.is_empty() { None } else { self.sensed.remove(&(place, id)) }
    }

    /// A piece ends at `place`.
    pub fn ends_at(&mut self, place: u16, id: u64) {
        let index = if self.one_place { 0 } else { usize::from(place) };
        let (what, followed, source) = {
            let piece = self.get(id);
            (piece.what, piece.followed, piece.source.index())
        };
        if followed {
            return;
        }
        let sensed = self.unsense(place, id);
        if let Some(count) = self.heard[index].of_sensed(what, sensed) {
            *count -= 1;
        }
        if self.one_place || source == usize::from(place) {
            self.own[source] = None;
        }
    }

    /// Several signals are at `place`: frames among them are spoilt there.
    fn overlap(&mut self, place: u16, now: BitInstant) {
        let there = self.there(place, now);
        let speakers: Vec<u16> = there
            .iter()
            .map(|&id| self.get(id).source.index() as u16)
            .filter(|&source| self.one_place || source == place)
            .collect();
        for &id in &there {
            let piece = self.get_mut(id);
            if !piece.spoilt.contains(&place) {
                piece.spoilt.push(place);
            }
            piece.spoken.extend(&speakers);
        }
    }

    /// The signals at `place` at `now`, ends and begins of that instant included.
    pub fn there(&self, place: u16, now: BitInstant) -> Vec<u64> {
        let station = StationId::new(place);
        let is_on = |piece: &Piece| {
            let way = if place == EVERYWHERE { BitTimes::ZERO } else { self.way(piece.source, station) };
            let here = place == EVERYWHERE || piece.reaches(station);
            let begun = piece.begin + way + self.on_delay <= now;
            // A followed piece ends where the next begins.
            let off = if piece.followed { self.on_delay } else { self.off_delay };
            here && begun && piece.end.is_none_or(|end| end + way + off > now)
        };
        (self.first..).zip(&self.pieces).filter(|(_, piece)| is_on(piece)).map(|(id, _)| id).collect()
    }

    /// Puts a station's frame and all signals at its place into one collision, and gives its number.
    pub fn join_episode(&mut self, id: u64, now: BitInstant) -> u64 {
        let place = self.get(id).source.index() as u16;
        let there = self.there(place, now);
        let known = there.iter().filter_map(|&other| self.get(other).episode).min();
        let episode = self.get(id).episode.or(known).unwrap_or(self.episodes + 1);
        self.episodes = self.episodes.max(episode);
        for other in there.into_iter().chain([id]) {
            self.get_mut(other).episode.get_or_insert(episode);
        }
        episode
    }

    /// The addressees of a frame at `place` that it reaches.
    pub fn addressees(&self, place: u16, id: u64) -> impl Iterator<Item = StationId> + use<> {
        let piece = self.get(id);
        let frame = piece.frame.filter(|_| place == EVERYWHERE || piece.reaches(StationId::new(place)));
        let places = match (frame, place) {
            (None, _) => 0..0,
            (Some(_), EVERYWHERE) => 0..self.stations,
            (Some(_), place) => place..place + 1,
        };
        places.map(StationId::new).filter(move |&station| frame.is_some_and(|frame| frame.is_for(station)))
    }

    /// Drops signals that have ended everywhere.
    fn retire(&mut self) {
        while self.pieces.front().is_some_and(|piece| piece.end.is_some() && piece.edges == 0) {
            self.pieces.pop_front();
            self.first += 1;
        }
    }
}
