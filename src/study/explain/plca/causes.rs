//! Causes by name, as an engineer at the bench would look for them, each with the numbers that show it.
//!
//! The causes are read off what nodes were told; the log says what came of them. One function for each entry of
//! docs/plca.md, in its order. `words/findings.rs` has the sentences.

use super::segment::{Met, Node, Reset, Segment, Setup, Spell};
use medium::{BitInstant, PlcaSettings, StationId};
use sim::words::configuration::longest_distance;
use std::collections::BTreeSet;

/// Something that is wrong on a segment, or unwise.
#[derive(Clone, Debug)]
pub struct Finding {
    pub cause: Cause,
    pub since: BitInstant,
    /// The stretch of time that shows it best, in bit times.
    pub window: (u64, u64),
}

/// Why, with what the log shows of it.
#[derive(Clone, Debug)]
pub enum Cause {
    /// 1. The coordinator is lost, or there is none.
    NoCoordinator { spell: Spell },
    /// 2. More than one node has the id 0; these had no turn, with this many frames offered.
    TwoCoordinators { coordinators: Vec<StationId>, starved: Vec<StationId>, offered: u64, free: u8 },
    /// 3. Nodes with the same id, other than 0: how often their frames met, and how often those of others did.
    SameId { id: u8, nodes: Vec<StationId>, among: u64, elsewhere: u64, free: u8 },
    /// 4. An id at or above the node count of the coordinator.
    AboveTheCount { node: StationId, id: u8, coordinator: StationId, count: u8 },
    /// 5. A node without an id.
    NoId { node: StationId, free: u8 },
    /// 6. More turns than nodes.
    CountTooHigh { coordinator: StationId, count: u8, used: u64, empty: u64, to_timer: u8 },
    /// 7. A node with PLCA off.
    Off { node: StationId, free: u8 },
    /// 8. A node that counts its turns by another timer than the coordinator; the node whose turn begins with its own.
    OtherTimer { node: StationId, id: u8, own: u8, coordinator: StationId, right: u8, same: Option<(StationId, u8)> },
    /// 9. PHYs that tell their MACs of no collision.
    NoDetection { nodes: Vec<StationId>, lost: Option<BitInstant> },
    /// 10. A MAC that takes no notice of logical collisions.
    Heedless { node: StationId },
    /// 11. Several turns for one node; the most turns that any other node took.
    SeveralIds { node: StationId, ids: Vec<u8>, most: u64 },
    /// 12. PHYs that take their time; the coordinator's settings.
    PhyDelay { coordinator: Option<PlcaSettings> },
    /// 13. Signals that take as long as a turn; how often frames met on the line.
    LongCable { longest: u64, turn: u8, met: u64 },
    /// 14. A host that is slow to hand over.
    SlowHost { node: StationId, delay: u64 },
    /// 15. A node that was told settings while the bus ran.
    Reset { reset: Reset },
    /// 16. A node whose clock is fast or slow; how far its turn is off.
    OtherClock { node: StationId, ppm: i32, to_timer: u8, id: u8, off: u64 },
    /// plca_status fell although a coordinator was there.
    Unreached { nodes: Vec<StationId>, at: BitInstant, cut: Option<BitInstant> },
    /// Frames met in turns, and no setting says why.
    Unexplained { nodes: Vec<StationId>, times: u64, first: BitInstant },
}

impl Cause {
    /// Its number in docs/plca.md, and the first part of its scenario's name; 0 if it has none.
    pub fn number(&self) -> u8 {
        match self {
            Cause::NoCoordinator { .. } => 1,
            Cause::TwoCoordinators { .. } => 2,
            Cause::SameId { .. } => 3,
            Cause::AboveTheCount { .. } => 4,
            Cause::NoId { .. } => 5,
            Cause::CountTooHigh { .. } => 6,
            Cause::Off { .. } => 7,
            Cause::OtherTimer { .. } => 8,
            Cause::NoDetection { .. } => 9,
            Cause::Heedless { .. } => 10,
            Cause::SeveralIds { .. } => 11,
            Cause::PhyDelay { .. } => 12,
            Cause::LongCable { .. } => 13,
            Cause::SlowHost { .. } => 14,
            Cause::Reset { .. } => 15,
            Cause::OtherClock { .. } => 16,
            Cause::Unreached { .. } | Cause::Unexplained { .. } => 0,
        }
    }

    /// The stations that it names.
    pub fn stations(&self) -> Vec<StationId> {
        match self {
            Cause::NoCoordinator { spell } => spell.who.map(|(who, _)| who).into_iter().collect(),
            Cause::TwoCoordinators { coordinators: nodes, .. }
            | Cause::SameId { nodes, .. }
            | Cause::NoDetection { nodes, .. }
            | Cause::Unreached { nodes, .. }
            | Cause::Unexplained { nodes, .. } => nodes.clone(),
            Cause::AboveTheCount { node, coordinator, .. } | Cause::OtherTimer { node, coordinator, .. } => {
                vec![*node, *coordinator]
            }
            Cause::CountTooHigh { coordinator, .. } => vec![*coordinator],
            Cause::NoId { node, .. }
            | Cause::Off { node, .. }
            | Cause::Heedless { node }
            | Cause::SeveralIds { node, .. }
            | Cause::SlowHost { node, .. }
            | Cause::OtherClock { node, .. } => vec![*node],
            Cause::Reset { reset } => vec![reset.station],
            Cause::PhyDelay { .. } | Cause::LongCable { .. } => Vec::new(),
        }
    }

    /// Settings that make it another cause, beside its stations.
    fn settings(&self) -> [u64; 2] {
        match self {
            Cause::SameId { id, .. } => [u64::from(*id), 0],
            Cause::AboveTheCount { id, count, .. } => [u64::from(*id), u64::from(*count)],
            Cause::CountTooHigh { count, used, .. } => [u64::from(*count), *used],
            Cause::OtherTimer { own, right, .. } => [u64::from(*own), u64::from(*right)],
            _ => [0, 0],
        }
    }

    fn is_same(&self, other: &Cause) -> bool {
        let key = |one: &Cause| (one.number(), one.stations(), one.settings());
        key(self) == key(other)
    }
}

/// All that is wrong.
pub fn findings(segment: &Segment) -> Vec<Finding> {
    let mut found: Vec<Finding> = segment.spells.iter().filter_map(without_coordinator).collect();
    for setup in &segment.setups {
        let there = |node: &Node| node.is_on() && node.settings.node_id == 0;
        // Without a coordinator there are no turns that could be wrong.
        if setup.nodes.iter().any(there) {
            of_setup(segment, setup, &mut found);
        }
    }
    found.extend(no_detection(segment));
    found.extend(stations(segment).filter_map(|station| heedless(segment, station)));
    found.extend(stations(segment).filter_map(|station| several_ids(segment, station)));
    found.extend(phy_delay(segment));
    found.extend(long_cable(segment));
    found.extend(stations(segment).filter_map(|station| slow_host(segment, station)));
    found.extend(stations(segment).filter_map(|station| other_clock(segment, station)));
    // A spell tells what took the coordinator away, or brought it back.
    let told = |at: BitInstant| segment.spells.iter().any(|spell| spell.from == at || spell.to == Some(at));
    found.extend(segment.resets.iter().filter(|reset| !told(reset.at)).map(reset));
    found.extend(status_fell(segment));
    if found.is_empty() {
        found.extend(unexplained(segment));
    }
    found.sort_by_key(|finding| match finding.cause.number() {
        0 => (99, finding.since),
        number => (number, finding.since),
    });
    found
}

/// What is wrong with settings, each told of once, from when it is so.
fn of_setup(segment: &Segment, setup: &Setup, found: &mut Vec<Finding>) {
    let mut new = Vec::new();
    new.extend(two_coordinators(segment, setup));
    new.extend(twins(segment, setup));
    new.extend(stations(segment).filter_map(|station| above_the_count(segment, setup, station)));
    new.extend(stations(segment).filter_map(|station| off(segment, setup, station)));
    new.extend(count_too_high(segment, setup));
    new.extend(stations(segment).filter_map(|station| other_timer(segment, setup, station)));
    for finding in new {
        if !found.iter().any(|known| known.cause.is_same(&finding.cause)) {
            found.push(finding);
        }
    }
}

fn stations(segment: &Segment) -> impl Iterator<Item = StationId> + use<> {
    (0..segment.names.len() as u16).map(StationId::new)
}

/// The nodes of a setup of which `is_it` holds.
fn nodes(setup: &Setup, is_it: impl Fn(&Node) -> bool) -> Vec<StationId> {
    let nodes = (0..).map(StationId::new).zip(&setup.nodes);
    nodes.filter(|(_, node)| is_it(node)).map(|(station, _)| station).collect()
}

/// The coordinator: the first node with id 0.
fn coordinator(setup: &Setup) -> (StationId, PlcaSettings) {
    let all = nodes(setup, |node| node.is_on() && node.settings.node_id == 0);
    let first = *all.first().expect("asked only where there is one");
    (first, setup.nodes[first.index()].settings)
}

/// The stretch of time round `at`.
fn window(at: BitInstant, before: u64, after: u64) -> (u64, u64) {
    (at.get().saturating_sub(before), at.get() + after)
}

/// The lowest id that no node has.
fn free_id(setup: &Setup) -> u8 {
    let taken: BTreeSet<u8> =
        setup.nodes.iter().filter(|node| node.is_on()).map(|node| node.settings.node_id).collect();
    (1..PlcaSettings::UNCONFIGURED).find(|id| !taken.contains(id)).unwrap_or(PlcaSettings::UNCONFIGURED)
}

fn without_coordinator(spell: &Spell) -> Option<Finding> {
    // Settings of a coordinator that is there again at once are a reset.
    if spell.to == Some(spell.from) {
        return None;
    }
    let last = spell.fell.map_or(spell.from.get() + 10_000, |(_, last)| last.get() + 10_000);
    let window = (spell.from.get().saturating_sub(10_000), last);
    Some(Finding { cause: Cause::NoCoordinator { spell: spell.clone() }, since: spell.from, window })
}

fn two_coordinators(segment: &Segment, setup: &Setup) -> Option<Finding> {
    let coordinators = nodes(setup, |node| node.is_on() && node.settings.node_id == 0);
    if coordinators.len() < 2 {
        return None;
    }
    let of = |station: &StationId| &segment.nodes[station.index()];
    let starved: Vec<StationId> = stations(segment)
        .filter(|station| of(station).is_on() && of(station).offered > 0 && of(station).turns == 0)
        .collect();
    let at = starved.first().and_then(|station| of(station).first_offered).unwrap_or(setup.at);
    let (offered, free) = (starved.iter().map(|station| of(station).offered).sum(), free_id(setup));
    let cause = Cause::TwoCoordinators { coordinators, starved, offered, free };
    Some(Finding { cause, since: setup.at, window: window(at, 300, 2_500) })
}

fn twins(segment: &Segment, setup: &Setup) -> Vec<Finding> {
    let ids: BTreeSet<u8> = setup.nodes.iter().filter(|node| node.is_on()).map(|node| node.settings.node_id).collect();
    let mut found = Vec::new();
    for id in ids.into_iter().filter(|&id| id != 0) {
        let nodes = nodes(setup, |node| node.is_on() && node.settings.node_id == id);
        if nodes.len() < 2 {
            continue;
        }
        let is_among = |parties: &&Vec<StationId>| parties.iter().all(|party| nodes.contains(party));
        let (among, elsewhere): (Vec<_>, Vec<_>) = segment.met.iter().partition(|(parties, _)| is_among(parties));
        let count = |met: &[(&Vec<StationId>, &Met)]| met.iter().map(|(_, met)| met.times).sum::<u64>();
        let first = among.iter().map(|(_, met)| met.first).min();
        let (among, elsewhere, free) = (count(&among), count(&elsewhere), free_id(setup));
        let cause = Cause::SameId { id, nodes, among, elsewhere, free };
        found.push(Finding { cause, since: setup.at, window: window(first.unwrap_or(setup.at), 500, 1_500) });
    }
    found
}

fn above_the_count(segment: &Segment, setup: &Setup, station: StationId) -> Option<Finding> {
    let (first, PlcaSettings { node_count: count, .. }) = coordinator(setup);
    let node = &setup.nodes[station.index()];
    let id = node.settings.node_id;
    if !node.is_on() || id < count || id == 0 {
        return None;
    }
    let cause = Cause::AboveTheCount { node: station, id, coordinator: first, count };
    let at = segment.nodes[station.index()].first_offered.unwrap_or(setup.at);
    Some(Finding { cause, since: setup.at, window: window(at, 300, 2_500) })
}

fn off(segment: &Segment, setup: &Setup, station: StationId) -> Option<Finding> {
    let node = &setup.nodes[station.index()];
    if node.is_on() || !node.attached {
        return None;
    }
    let free = free_id(setup);
    let cause = match node.settings.enabled {
        true => Cause::NoId { node: station, free },
        false => Cause::Off { node: station, free },
    };
    let (_, first) = segment.met_by(station);
    let at = first.filter(|&first| first >= setup.at).unwrap_or(setup.at);
    Some(Finding { cause, since: setup.at, window: window(at, 700, 1_500) })
}

fn count_too_high(segment: &Segment, setup: &Setup) -> Option<Finding> {
    let (coordinator, PlcaSettings { node_count: count, to_timer, .. }) = coordinator(setup);
    let mut ids = BTreeSet::new();
    for (node, own) in setup.nodes.iter().zip(&segment.plca.nodes).filter(|(node, _)| node.is_on()) {
        ids.insert(node.settings.node_id);
        ids.extend(own.more_ids.iter().filter(|&&id| id != PlcaSettings::UNCONFIGURED));
    }
    let used = ids.iter().filter(|&&id| id < count).count() as u64;
    // A node that is off, or whose id is wrong, leaves its turn empty: another finding tells that.
    let wrong = (setup.nodes.len() as u64).saturating_sub(used);
    let empty = u64::from(count).saturating_sub(used + wrong);
    let cause = Cause::CountTooHigh { coordinator, count, used, empty, to_timer };
    (empty > 0).then_some(Finding { cause, since: setup.at, window: window(setup.at, 0, 4_000) })
}

fn other_timer(segment: &Segment, setup: &Setup, station: StationId) -> Option<Finding> {
    let (coordinator, PlcaSettings { to_timer: right, .. }) = coordinator(setup);
    let node = &setup.nodes[station.index()];
    let PlcaSettings { to_timer: own, node_id: id, .. } = node.settings;
    if !node.is_on() || own == right {
        return None;
    }
    let begins = u64::from(own) * u64::from(id);
    let is_same = |other: &Node| {
        other.is_on() && u64::from(other.settings.node_id) * u64::from(right) == begins && other.settings.node_id != id
    };
    let same = nodes(setup, is_same).first().map(|other| (*other, setup.nodes[other.index()].settings.node_id));
    let (_, first) = segment.met_by(station);
    let cause = Cause::OtherTimer { node: station, id, own, coordinator, right, same };
    Some(Finding { cause, since: setup.at, window: window(first.unwrap_or(setup.at), 500, 1_500) })
}

/// A finding that holds from the beginning.
fn from_the_beginning(cause: Cause, window: (u64, u64)) -> Option<Finding> {
    Some(Finding { cause, since: BitInstant::ZERO, window })
}

fn no_detection(segment: &Segment) -> Option<Finding> {
    let nodes: Vec<StationId> =
        stations(segment).filter(|station| !segment.plca.nodes[station.index()].collision_detection).collect();
    if nodes.is_empty() {
        return None;
    }
    let lost = segment.spells.iter().find_map(|spell| spell.fell).map(|(fell, _)| fell);
    let at = segment.first_damaged.unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::NoDetection { nodes, lost }, window(at, 1_500, 1_000))
}

fn heedless(segment: &Segment, node: StationId) -> Option<Finding> {
    if segment.plca.nodes[node.index()].heeds_logical_collisions {
        return None;
    }
    let at = segment.nodes[node.index()].first_lost.unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::Heedless { node }, window(at, 1_500, 700))
}

fn several_ids(segment: &Segment, node: StationId) -> Option<Finding> {
    let own = &segment.plca.nodes[node.index()];
    let mut ids = vec![own.settings.node_id];
    ids.extend(own.more_ids.iter().filter(|&&id| id != PlcaSettings::UNCONFIGURED));
    if ids.len() == 1 {
        return None;
    }
    let others = stations(segment).filter(|&other| other != node);
    let most = others.map(|other| segment.nodes[other.index()].turns).max().unwrap_or(0);
    let at = segment.nodes[node.index()].first_turn.unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::SeveralIds { node, ids, most }, window(at, 200, 3_500))
}

fn phy_delay(segment: &Segment) -> Option<Finding> {
    if segment.plca.phy_off.get() == 0 {
        return None;
    }
    let first = segment.setups[0].nodes.iter().find(|node| node.is_on() && node.settings.node_id == 0);
    from_the_beginning(Cause::PhyDelay { coordinator: first.map(|node| node.settings) }, (0, 4_000))
}

fn long_cable(segment: &Segment) -> Option<Finding> {
    let longest = longest_distance(&segment.config.topology).get();
    let turn = segment.setups[0].nodes.iter().filter(|node| node.is_on()).map(|node| node.settings.to_timer).min()?;
    if 2 * longest < u64::from(turn) {
        return None;
    }
    let with_plca = segment.met.values().filter(|met| met.with_plca > 0);
    let met = with_plca.clone().map(|met| met.with_plca).sum();
    let at = with_plca.map(|met| met.first).min().unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::LongCable { longest, turn, met }, window(at, 500, 1_500))
}

fn slow_host(segment: &Segment, node: StationId) -> Option<Finding> {
    let delay = segment.plca.nodes[node.index()].host_delay.get();
    if delay == 0 {
        return None;
    }
    let at = segment.nodes[node.index()].first_offered.unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::SlowHost { node, delay }, window(at, 200, delay + 1_500))
}

fn other_clock(segment: &Segment, node: StationId) -> Option<Finding> {
    let own = &segment.plca.nodes[node.index()];
    if own.clock_ppm == 0 {
        return None;
    }
    let PlcaSettings { to_timer, node_id: id, .. } = own.settings;
    let right = medium::BitTimes::new(u64::from(to_timer) * u64::from(id));
    let off = own.on_medium(right).get().abs_diff(right.get());
    let (_, first) = segment.met_by(node);
    let at = first.or(segment.nodes[node.index()].first_offered).unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::OtherClock { node, ppm: own.clock_ppm, to_timer, id, off }, window(at, 700, 1_000))
}

fn reset(reset: &Reset) -> Finding {
    let back = reset.back.unwrap_or(reset.at);
    let window = (reset.at.get().saturating_sub(800), back.get() + 1_200);
    Finding { cause: Cause::Reset { reset: reset.clone() }, since: reset.at, window }
}

fn status_fell(segment: &Segment) -> Option<Finding> {
    let (at, _) = *segment.fell_alone.first()?;
    let mut nodes: Vec<StationId> = segment.fell_alone.iter().map(|(_, station)| *station).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let cause = Cause::Unreached { nodes, at, cut: segment.first_cut.filter(|&cut| cut < at) };
    Some(Finding { cause, since: at, window: window(at, 3_000, 2_000) })
}

fn unexplained(segment: &Segment) -> Option<Finding> {
    let (nodes, met) = segment.met.iter().filter(|(_, met)| met.with_plca > 0).max_by_key(|(_, met)| met.with_plca)?;
    let cause = Cause::Unexplained { nodes: nodes.clone(), times: met.with_plca, first: met.first };
    Some(Finding { cause, since: met.first, window: window(met.first, 500, 1_500) })
}
