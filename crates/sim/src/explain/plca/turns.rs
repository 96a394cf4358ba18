//! What was on the line in a stretch of time: BEACONs, turns, and the scene's COMMITs, frames and jams; which frames waited
//! meanwhile, and which MACs were told of a collision.

use super::super::scene::Scene;
use crate::scene::{Part, Signal};
use medium::{BitInstant, BitTimes, Carried, Deed, Event, FrameId, Input, Kind, Plca, StationId};
use std::collections::BTreeMap;

/// Signals that are kept of a stretch of time that the trace does not end.
const MOST: usize = 1 << 18;
/// What begins in time may end, and be told of, as late as this.
pub const LATE: BitTimes = BitTimes::new(40_000);

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Beacon,
    Commit,
    Frame,
    Jam,
    /// A frame is at the head of its queue, and nothing of it is on the line.
    Waits,
    /// plca_status is FAIL: plain CSMA/CD.
    Fallen,
}

/// It does so for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub row: usize,
    pub what: What,
    pub from: BitInstant,
    pub to: BitInstant,
    pub frame: Option<FrameId>,
    /// In whose turn, as its node counts.
    pub id: Option<u32>,
}

/// Its PHY signals a collision to its MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub row: usize,
    pub at: BitInstant,
    /// Nothing has met on the line: it is to wait for its turn.
    pub logical: bool,
}

/// A turn that passed without a frame, or with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub id: u64,
    pub from: BitInstant,
    pub to: BitInstant,
}

/// The stretch of time.
#[derive(Clone, Debug)]
pub struct Turns {
    pub from: BitInstant,
    pub to: BitInstant,
    pub names: Vec<String>,
    /// The nodes' ids, as they were told at first.
    pub ids: Vec<u8>,
    pub stretches: Vec<Stretch>,
    pub marks: Vec<Mark>,
    pub beacons: Vec<BitInstant>,
    pub turns: Vec<Turn>,
}

/// A trace of which a stretch of time is to be shown, while it is read.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Nothing before this matters.
    from: BitInstant,
    /// Nothing after this matters.
    to: BitInstant,
    plca: Plca,
    /// Signals by number, each with the id in whose turn it began.
    signals: BTreeMap<u64, (Signal, Option<u32>)>,
    /// Waits, and times without plca_status.
    others: Vec<Stretch>,
    marks: Vec<Mark>,
    /// Each with its coordinator.
    beacons: Vec<(usize, BitInstant)>,
    /// By node: the turn that it took last.
    ids: Vec<Option<u32>>,
    /// By node: since when plca_status is FAIL.
    fallen: Vec<Option<BitInstant>>,
    last_beacon: Option<BitInstant>,
}

impl Recorder {
    /// Before anything was read. Everything matters until [`forget`](Recorder::forget) says otherwise.
    pub fn new(plca: &Plca) -> Recorder {
        let nodes = plca.nodes.len();
        Recorder {
            from: BitInstant::ZERO,
            to: BitInstant::new(u64::MAX),
            plca: plca.clone(),
            signals: BTreeMap::new(),
            others: Vec::new(),
            marks: Vec::new(),
            beacons: Vec::new(),
            ids: vec![None; nodes],
            fallen: vec![Some(BitInstant::ZERO); nodes],
            last_beacon: None,
        }
    }

    /// Nothing before `from` matters.
    pub fn forget(&mut self, from: BitInstant) {
        self.from = from;
        self.others.retain(|one| one.to > from);
        self.marks.retain(|mark| mark.at >= from);
        // Turns are counted from the BEACON before them.
        let last = self.beacons.iter().rposition(|(_, at)| *at <= from).unwrap_or(0);
        self.beacons.drain(..last);
        let since = self.beacons.first().map_or(from, |(_, at)| from.min(*at));
        self.signals.retain(|_, (one, _)| one.end.is_none_or(|end| end > since));
    }

    /// Nothing after `to` matters.
    pub fn close(&mut self, to: BitInstant) {
        self.to = to;
    }

    pub fn input(&mut self, at: BitInstant, input: Input) {
        if let Input::Deed(Deed::Unplug { station }) = input {
            self.fallen[station.index()].get_or_insert(at);
        }
    }

    /// An event has happened; the scene has it.
    pub fn event(&mut self, event: &Event, scene: &Scene) {
        let Event { at, station, frame, kind } = *event;
        let row = frame.station.index();
        if let Kind::Commit { id } = kind {
            self.ids[row] = Some(id);
        }
        for &number in scene.signals.changed() {
            self.signal(number, scene);
        }
        match kind {
            Kind::Collision { episode, .. } if at <= self.to && self.has_room() => {
                self.marks.push(Mark { row, at, logical: episode == 0 });
            }
            Kind::Transmitted { .. } => {
                let sent = self.signals.values().rev().find(|(one, _)| is_of(one, frame));
                let until = sent.map_or(at, |(one, _)| one.begin);
                self.waited(frame.station, scene.waited_since, until, Some(frame));
            }
            Kind::Discarded { .. } => self.waited(frame.station, scene.waited_since, at, Some(frame)),
            Kind::Beacon { empty, length } => self.beacon(station.index(), at, empty, length),
            Kind::PlcaStatus { ok: false } => _ = self.fallen[station.index()].get_or_insert(at),
            Kind::PlcaStatus { ok: true } => {
                let since = self.fallen[station.index()].take();
                self.stretch(What::Fallen, station.index(), since, at, None);
            }
            _ => {}
        }
    }

    fn has_room(&self) -> bool {
        self.signals.len() + self.others.len() + self.marks.len() < MOST
    }

    fn signal(&mut self, number: u64, scene: &Scene) {
        let Some(signal) = scene.signals.get(number) else {
            self.signals.remove(&number);
            return;
        };
        if let Some((known, _)) = self.signals.get_mut(&number) {
            *known = signal.clone();
        } else if signal.begin < self.to && signal.what != Carried::Beacon && self.has_room() {
            let row = signal.source.index();
            let id = self.ids[row].filter(|_| scene.ok[row]);
            self.signals.insert(number, (signal.clone(), id));
        }
    }

    fn stretch(&mut self, what: What, row: usize, from: Option<BitInstant>, to: BitInstant, frame: Option<FrameId>) {
        if let Some(from) = from.filter(|from| *from < self.to && *from < to && to > self.from)
            && self.has_room()
        {
            self.others.push(Stretch { row, what, from, to, frame, id: None });
        }
    }

    fn waited(&mut self, station: StationId, since: Option<BitInstant>, until: BitInstant, frame: Option<FrameId>) {
        self.stretch(What::Waits, station.index(), since, until, frame);
    }

    /// A BEACON that the trace tells of, and those after empty cycles before it.
    fn beacon(&mut self, row: usize, at: BitInstant, empty: u64, length: BitTimes) {
        if let Some(last) = self.last_beacon.replace(at)
            && empty > 0
        {
            let over = at.since(last).get().saturating_sub(length.get()) / empty;
            // The turns of one before `from` may reach beyond it.
            let first = self.from.since(last).get() / over.max(1);
            let beacons = (first.max(1)..=empty).map(|number| last + BitTimes::new(over * number));
            self.beacons.extend(beacons.take_while(|one| *one <= self.to).take(MOST).map(|one| (row, one)));
        }
        if at <= self.to && self.beacons.len() < MOST {
            self.beacons.push((row, at));
        }
    }

    /// What there was from `from` to `to`.
    pub fn finish(mut self, from: BitInstant, to: BitInstant, names: &[String], scene: &Scene) -> Turns {
        for row in 0..self.fallen.len() {
            self.stretch(What::Fallen, row, self.fallen[row], to, None);
            self.stretch(What::Waits, row, scene.heads[row], to, None);
        }
        let mut turns = Turns {
            from,
            to,
            names: names.to_vec(),
            ids: self.plca.nodes.iter().map(|node| node.settings.node_id).collect(),
            stretches: Vec::new(),
            marks: self.marks.into_iter().filter(|mark| mark.at >= from && mark.at <= to).collect(),
            beacons: self.beacons.iter().map(|(_, at)| *at).collect(),
            turns: Vec::new(),
        };
        self.others.into_iter().for_each(|one| turns.add(one));
        for &(row, at) in &self.beacons {
            let (what, until) = (What::Beacon, at + self.plca.beacon);
            turns.add(Stretch { row, what, from: at, to: until, frame: None, id: None });
        }
        for (signal, id) in self.signals.values() {
            turns.signal(signal, *id);
        }
        turns.beacons.sort_unstable();
        turns.beacons.dedup();
        let used = |(one, _): &(Signal, Option<u32>)| (one.begin, one.end.unwrap_or(to), one.source.index());
        let mut used: Vec<Used> = self.signals.values().map(used).collect();
        used.sort_unstable();
        turns.count(&self.plca, &used);
        turns
    }
}

/// The frame itself, on the line.
fn is_of(signal: &Signal, frame: FrameId) -> bool {
    signal.frame == frame && signal.what == Carried::Frame
}

impl Turns {
    fn add(&mut self, one: Stretch) {
        let (from, to) = (one.from.max(self.from), one.to.min(self.to));
        if from < to {
            self.stretches.push(Stretch { from, to, ..one });
        }
    }

    /// A signal, as the parts that are drawn: the jam is apart from what came before it.
    fn signal(&mut self, signal: &Signal, id: Option<u32>) {
        let (row, frame) = (signal.source.index(), Some(signal.frame));
        let mut parts: Vec<Stretch> = Vec::new();
        for (part, from, to) in signal.parts(self.to) {
            let what = match part {
                Part::Commit => What::Commit,
                Part::Jam => What::Jam,
                _ => What::Frame,
            };
            match parts.last_mut() {
                Some(one) if one.what == what => one.to = to,
                _ => parts.push(Stretch { row, what, from, to, frame, id }),
            }
        }
        parts.into_iter().for_each(|one| self.add(one));
    }

    /// Turns as the coordinator counts them, from each BEACON on.
    fn count(&mut self, plca: &Plca, used: &[Used]) {
        let settings = plca.nodes.iter().map(|node| node.settings).find(|settings| settings.node_id == 0);
        let Some(settings) = settings else { return };
        let to_timer = BitTimes::new(settings.to_timer.into());
        for (number, &beacon) in self.beacons.iter().enumerate() {
            let next = self.beacons.get(number + 1).copied().unwrap_or(self.to);
            let mut at = beacon + plca.beacon + plca.phy_off;
            for id in 0..u64::from(settings.node_count) {
                if at >= next {
                    break;
                }
                let end = turn_end(used, at, at + to_timer);
                let (from, to) = (at.max(self.from), end.min(self.to));
                if from < to {
                    self.turns.push(Turn { id, from, to });
                }
                at = end;
            }
        }
    }
}

/// From when to when a signal is on the line, and whose it is.
type Used = (BitInstant, BitInstant, usize);

/// When the turn that begins at `at` is over: at `limit`, or if a signal begins before that, as the line falls silent.
fn turn_end(signals: &[Used], at: BitInstant, limit: BitInstant) -> BitInstant {
    let mut used: Option<(BitInstant, usize)> = None;
    for &(from, to, row) in signals.iter().filter(|(_, to, _)| *to > at) {
        used = match used {
            None if from >= limit => break,
            None => Some((to, row)),
            // A COMMIT and its frame follow each other; the next node's turn is another one.
            Some((end, own)) if from < end || (from == end && row == own) => Some((end.max(to), own)),
            Some(_) => break,
        };
    }
    used.map_or(limit, |(end, _)| end)
}
