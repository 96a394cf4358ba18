//! The settings of all nodes between two changes, what the nodes did meanwhile, and which of them met on the line, and why.

use medium::{BitInstant, BitTimes, PlcaNode, PlcaSettings, StationId};
use std::collections::BTreeMap;

/// A time in which nodes send with plain CSMA/CD: before the first BEACON, or without a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    Cold,
    Spell(usize),
}

/// What one node did in a stretch of time.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub offered: u64,
    pub first_offered: Option<BitInstant>,
    pub sent: u64,
    /// Of these, frames that never had a turn, although plca_status was OK.
    pub lost: u64,
    pub first_lost: Option<BitInstant>,
    /// Turns that it took, and the first.
    pub turns: u64,
    pub first_turn: Option<BitInstant>,
    /// Logical collisions.
    pub told_to_wait: u64,
    /// From the head of the queue to the first bit, at most.
    pub longest_wait: BitTimes,
    pub largest_frame: u32,
}

impl Counts {
    fn add(&mut self, later: &Counts) {
        self.offered += later.offered;
        self.sent += later.sent;
        self.lost += later.lost;
        self.turns += later.turns;
        self.told_to_wait += later.told_to_wait;
        self.first_offered = self.first_offered.or(later.first_offered);
        self.first_lost = self.first_lost.or(later.first_lost);
        self.first_turn = self.first_turn.or(later.first_turn);
        self.longest_wait = self.longest_wait.max(later.longest_wait);
        self.largest_frame = self.largest_frame.max(later.largest_frame);
    }
}

/// One node, and what it has done since its setup began.
#[derive(Clone, Debug)]
pub struct Node {
    pub own: PlcaNode,
    pub attached: bool,
    /// plca_status.
    pub ok: bool,
    pub counts: Counts,
    /// The frame for which it took its turn.
    pub turn_for: Option<u64>,
    /// The frame at its MAC, and how often that has collided on the line.
    pub collided: Option<(u64, u32)>,
    /// The frame that had collided as plca_status rose, how often, when that was, and after which time without it.
    pub carries: Option<(u64, u32, BitInstant, Without)>,
}

impl Node {
    /// It takes part in PLCA.
    pub fn is_on(&self) -> bool {
        self.attached && self.own.settings.is_on()
    }

    pub fn is_coordinator(&self) -> bool {
        self.is_on() && self.own.settings.node_id == 0
    }

    /// Its id is not its own affair.
    pub fn is_fixed(&self) -> bool {
        !self.own.settings.dplca
    }

    /// The ids of its turns.
    pub fn ids(&self) -> impl Iterator<Item = u8> + use<> {
        self.own.ids().filter(|_| self.is_on()).collect::<Vec<_>>().into_iter()
    }
}

/// Why frames met on the line: the first reason that applies, so that no collision has two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// One of them has PLCA off.
    Off,
    /// plca_status was FAIL at all of them.
    Fallen,
    /// plca_status was FAIL at one of them.
    Status,
    TwoCoordinators,
    SameId,
    AboveTheCount,
    OtherTimer,
    OtherClock,
    /// Settings of a third node are wrong: it sends in turns of others.
    Disturbed,
    /// Settings do not say.
    Unknown,
}

/// Nodes that met on the line: how often, and when first.
#[derive(Clone, Copy, Debug)]
pub struct Met {
    pub times: u64,
    /// Times that plca_status was OK at one of them.
    pub in_turns: u64,
    pub first: BitInstant,
}

impl Met {
    pub fn add(&mut self, later: &Met) {
        self.times += later.times;
        self.in_turns += later.in_turns;
    }
}

/// The settings of all nodes from an instant on, and what came of them until one changed.
#[derive(Clone, Debug)]
pub struct Setup {
    pub at: BitInstant,
    pub until: Option<BitInstant>,
    pub nodes: Vec<Node>,
    /// By reason and parties, these in order of station.
    pub met: BTreeMap<(Why, Vec<StationId>), Met>,
    pub beacons: u64,
}

impl Setup {
    pub fn from(at: BitInstant, mut nodes: Vec<Node>) -> Setup {
        nodes.iter_mut().for_each(|node| node.counts = Counts::default());
        Setup { at, until: None, nodes, met: BTreeMap::new(), beacons: 0 }
    }

    /// The counts of the next setup are added, which begins as this one ends.
    pub fn join(&mut self, later: &Setup) {
        self.until = later.until;
        self.beacons += later.beacons;
        for (node, later) in self.nodes.iter_mut().zip(&later.nodes) {
            node.counts.add(&later.counts);
        }
        for (key, met) in &later.met {
            self.met.entry(key.clone()).and_modify(|known| known.add(met)).or_insert(*met);
        }
    }

    pub fn node(&self, station: StationId) -> &Node {
        &self.nodes[station.index()]
    }

    /// Some node finds its own id.
    pub fn has_dynamic(&self) -> bool {
        self.nodes.iter().any(|node| !node.is_fixed())
    }

    /// The first node with id 0, and its settings.
    pub fn coordinator(&self) -> Option<(StationId, PlcaSettings)> {
        let first = self.nodes.iter().position(Node::is_coordinator)?;
        Some((StationId::new(first as u16), self.nodes[first].own.settings))
    }

    /// Meetings for this reason, of which `are_they` holds.
    pub fn met(&self, why: Why, are_they: impl Fn(&[StationId]) -> bool) -> Vec<(&[StationId], Met)> {
        let all = self.met.iter().filter(|((one, parties), _)| *one == why && are_they(parties));
        all.map(|((_, parties), met)| (&parties[..], *met)).collect()
    }

    /// What a node met for this reason, apart from itself: the stations and how often, those that it met most often
    /// first; and when first.
    pub fn met_by(&self, station: StationId, why: Why) -> Meetings {
        let (mut others, mut first) = (BTreeMap::new(), None::<BitInstant>);
        for (parties, met) in self.met(why, |parties| parties.contains(&station)) {
            first = Some(first.map_or(met.first, |first| first.min(met.first)));
            for &other in parties.iter().filter(|&&other| other != station) {
                *others.entry(other).or_insert(0) += met.times;
            }
        }
        let mut others: Vec<(StationId, u64)> = others.into_iter().collect();
        others.sort_by_key(|&(other, times)| (std::cmp::Reverse(times), other));
        Meetings { others, first }
    }

    /// Why nodes met, whose plca_status was OK at `some`, and FAIL at others if not at `all`.
    pub fn why(&self, parties: &[StationId], some_ok: bool, all_ok: bool) -> Why {
        let nodes = || parties.iter().map(|&party| self.node(party));
        let Some((_, coordinator)) = self.coordinator() else { return Why::Fallen };
        let shares = |node: &Node| {
            let has = |id| self.nodes.iter().filter(|other| other.ids().any(|own| own == id)).count() > 1;
            node.ids().any(has)
        };
        let is_above = |node: &Node| node.ids().any(|id| id >= coordinator.node_count);
        let has_other_timer = |node: &Node| node.is_on() && node.own.settings.to_timer != coordinator.to_timer;
        let has_other_clock = |node: &Node| node.own.clock_ppm != 0;
        let is_wrong = |node: &Node| {
            let is_off = node.attached && !node.is_on();
            is_off || shares(node) || is_above(node) || has_other_timer(node) || has_other_clock(node)
        };
        match () {
            () if nodes().any(|node| !node.is_on()) => Why::Off,
            () if !some_ok => Why::Fallen,
            () if !all_ok => Why::Status,
            () if self.nodes.iter().filter(|node| node.is_coordinator()).count() > 1 => Why::TwoCoordinators,
            () if nodes().all(shares) => Why::SameId,
            () if nodes().any(is_above) => Why::AboveTheCount,
            () if nodes().any(has_other_timer) => Why::OtherTimer,
            () if nodes().any(has_other_clock) => Why::OtherClock,
            () if self.nodes.iter().any(is_wrong) => Why::Disturbed,
            () => Why::Unknown,
        }
    }
}

/// What a node met on the line, and when first.
#[derive(Clone, Debug, Default)]
pub struct Meetings {
    pub others: Vec<(StationId, u64)>,
    pub first: Option<BitInstant>,
}
