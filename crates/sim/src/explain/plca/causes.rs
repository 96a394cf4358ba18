//! Causes by name, as an engineer at the bench would look for them, each with the numbers that show it.
//!
//! The causes are read off what nodes were told; the trace says what came of them. A finding holds for an interval of
//! time, its counts are those of the interval, and each collision has one cause ([`Why`]). One function for each entry
//! of docs/symptoms.md, in its order. `words/findings.rs` has the sentences.
//!
//! One file above 500 lines because the causes and what shows each of them are one table.

use super::dynamic::Found;
use super::noise::Noise;
use super::segment::{Cold, Reset, Segment, Spell};
use super::setup::{Meetings, Met, Node, Setup, Why};
use medium::{BitInstant, Fault, HostDelay, PlcaSettings, StationId};
use std::collections::BTreeSet;

/// Something that is wrong on a segment, or unwise.
#[derive(Clone, Debug)]
pub struct Finding {
    pub cause: Cause,
    pub since: BitInstant,
    /// When it ended; none if it holds as the trace ends.
    pub until: Option<BitInstant>,
    /// The stretch of time that shows it best, in bit times.
    pub window: (u64, u64),
}

/// Why, with what the trace shows of it.
#[derive(Clone, Debug)]
pub enum Cause {
    /// 1. The coordinator is lost, or there is none.
    NoCoordinator { spell: Spell },
    /// 2. More than one node has the id 0; these had no turn, with this many frames offered.
    TwoCoordinators { coordinators: Vec<StationId>, starved: Vec<StationId>, offered: u64, free: FreeIds },
    /// 3. Nodes with the same id, other than 0: how often their frames met, and how often those of others did.
    SameId { id: u8, nodes: Vec<StationId>, among: u64, elsewhere: u64, free: FreeIds },
    /// 4. An id at or above the node count of the coordinator; the node's turns, frames offered and sent, and BEACONs.
    AboveTheCount { node: StationId, id: u8, coordinator: StationId, count: u8, came: [u64; 4] },
    /// 5. A node without an id, and what it met.
    NoId { node: StationId, met: Meetings, free: FreeIds },
    /// 6. More turns than nodes.
    CountTooHigh { coordinator: StationId, count: u8, used: u64, empty: u64, to_timer: u8 },
    /// 7. A node with PLCA off, and what it met.
    Off { node: StationId, met: Meetings, free: FreeIds },
    /// 8. A node that counts its turns by another timer than the coordinator; the node whose turn begins with its own; what
    ///    it met.
    OtherTimer {
        node: StationId,
        id: u8,
        own: u8,
        coordinator: StationId,
        right: u8,
        same: Option<(StationId, u8)>,
        met: Meetings,
    },
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
    SlowHost { node: StationId, delay: HostDelay, over_spi: bool },
    /// 15. A node that was told settings while the bus ran.
    Reset { reset: Reset },
    /// 16. A node whose clock is fast or slow; how far its turn is off; what it met.
    OtherClock { node: StationId, ppm: i32, to_timer: u8, id: u8, off: u64, met: Meetings },
    /// 17. Frames met before the first BEACON.
    ColdStart { cold: Cold },
    /// 18 to 20. Noise at a node: wrong bits, one that hears nothing, BEACONs and COMMITs that get lost.
    Noise { noise: Noise },
    /// 21. Nodes that find their ids by D-PLCA, what they found, and how often their frames met on the line.
    Dynamic { nodes: Vec<StationId>, found: Found, met: u64 },
    /// 22. A node that skips turns after each with a frame.
    SkipsTurns { node: StationId, skipped: u8 },
    /// plca_status fell although a coordinator was there.
    Unreached { nodes: Vec<StationId>, at: BitInstant, cut: Option<BitInstant> },
    /// Frames met in turns, and no setting says why.
    Unexplained { nodes: Vec<StationId>, times: u64, first: BitInstant },
}

/// Ids that are proposed, one for each node that needs one, and the node count that they need if that is higher.
#[derive(Clone, Debug, Default)]
pub struct FreeIds {
    pub ids: Vec<(StationId, u8)>,
    pub count: Option<(StationId, u8)>,
}

impl Cause {
    /// Its number in docs/symptoms.md, and the first part of its scenario's name; 0 if it has none.
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
            Cause::ColdStart { .. } => 17,
            Cause::Noise { noise } => match noise.fault {
                Fault::BitErrors(_) => 18,
                Fault::OneWay => 19,
                Fault::Signals { .. } | Fault::Deaf | Fault::BadFcs | Fault::Babble | Fault::FullDuplex => 20,
            },
            Cause::Dynamic { .. } => 21,
            Cause::SkipsTurns { .. } => 22,
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
            | Cause::Dynamic { nodes, .. }
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
            | Cause::SkipsTurns { node, .. }
            | Cause::OtherClock { node, .. } => vec![*node],
            Cause::Reset { reset } => vec![reset.station],
            Cause::Noise { noise } => vec![noise.node],
            Cause::ColdStart { cold } => cold.met.iter().copied().collect(),
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

    /// The trace shows that it did harm, in an interval that took `span` on a bus whose idle cycle takes `cycle`.
    fn did_harm(&self, span: u64, cycle: u64) -> bool {
        match self {
            Cause::SameId { among, .. } => *among > 0,
            Cause::NoId { met, .. } | Cause::Off { met, .. } | Cause::OtherTimer { met, .. } => met.first.is_some(),
            _ => span >= cycle,
        }
    }

    /// The proposed ids, and the nodes that need one.
    fn free_ids(&mut self) -> Option<(&mut FreeIds, Vec<StationId>)> {
        match self {
            Cause::TwoCoordinators { free, coordinators: nodes, .. } | Cause::SameId { free, nodes, .. } => {
                let others = nodes[1..].to_vec();
                Some((free, others))
            }
            Cause::NoId { free, node, .. } | Cause::Off { free, node, .. } => Some((free, vec![*node])),
            _ => None,
        }
    }
}

/// All that is wrong.
pub fn findings(segment: &Segment) -> Vec<Finding> {
    let mut found: Vec<Finding> = segment.spells.iter().filter_map(without_coordinator).collect();
    found.extend(of_setups(segment));
    found.extend(no_detection(segment));
    found.extend(stations(segment).filter_map(|station| heedless(segment, station)));
    found.extend(stations(segment).filter_map(|station| several_ids(segment, station)));
    found.extend(phy_delay(segment));
    found.extend(long_cable(segment));
    found.extend(super::chips::findings(segment));
    // Another finding has the change of settings with which it began or ended.
    let told: BTreeSet<u64> =
        found.iter().flat_map(|one| [Some(one.since), one.until]).flatten().map(|at| at.get()).collect();
    let spells = segment.spells.iter().flat_map(|spell| [Some(spell.from), spell.to]).flatten();
    let told: BTreeSet<u64> = told.into_iter().chain(spells.map(|at| at.get())).collect();
    found.extend(segment.resets.iter().filter(|reset| !told.contains(&reset.at.get())).map(reset));
    found.extend(cold_start(segment));
    found.extend(super::dynamic::finding(segment));
    found.extend(of_noise(segment));
    // With D-PLCA the coordinator may have left by itself.
    found.extend(status_fell(segment).filter(|_| !segment.setups.iter().any(Setup::has_dynamic)));
    let delays = found.iter().any(|finding| matches!(finding.cause, Cause::PhyDelay { .. } | Cause::LongCable { .. }));
    if !delays && !segment.noises.made_meet() {
        found.extend(unexplained(segment));
    }
    propose_ids(segment, &mut found);
    found.sort_by_key(|finding| match finding.cause.number() {
        0 => (99, finding.since),
        number => (number, finding.since),
    });
    found
}

/// What is wrong with settings: one finding for each interval in which it holds. Of those that are over, only what did
/// harm is left.
fn of_setups(segment: &Segment) -> Vec<Finding> {
    let mut spans: Vec<(Cause, Setup)> = Vec::new();
    // Without a coordinator there are no turns that could be wrong.
    let with_turns =
        segment.setups.iter().filter(|setup| setup.coordinator().is_some() && setup.until != Some(setup.at));
    for setup in with_turns {
        for Finding { cause, .. } in of_setup(segment, setup) {
            let before = spans.iter_mut().find(|(known, span)| span.until == Some(setup.at) && known.is_same(&cause));
            match before {
                Some((_, span)) => span.join(setup),
                None => spans.push((cause, setup.clone())),
            }
        }
    }
    let counted = |(cause, span): &(Cause, Setup)| {
        let (_, coordinator) = span.coordinator()?;
        let cycle = segment.plca.beacon.get() + u64::from(coordinator.to_timer) * u64::from(coordinator.node_count);
        let whole = of_setup(segment, span).into_iter().find(|finding| finding.cause.is_same(cause))?;
        let holds = span.until.is_none_or(|until| whole.cause.did_harm(until.since(span.at).get(), cycle));
        holds.then_some(whole)
    };
    spans.iter().filter_map(counted).collect()
}

fn of_setup(segment: &Segment, setup: &Setup) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(two_coordinators(segment, setup));
    found.extend(twins(setup));
    found.extend(stations(segment).filter_map(|station| above_the_count(setup, station)));
    found.extend(stations(segment).filter_map(|station| off(setup, station)));
    found.extend(count_too_high(setup));
    found.extend(stations(segment).filter_map(|station| other_timer(setup, station)));
    found
}

/// Gives each node that needs an id its own: the lowest that no other node has or is given.
fn propose_ids(segment: &Segment, found: &mut [Finding]) {
    let Some(now) = segment.setups.last() else { return };
    let mut taken: BTreeSet<u8> = now.nodes.iter().flat_map(Node::ids).collect();
    for finding in found.iter_mut().filter(|finding| finding.until.is_none()) {
        let Some((free, nodes)) = finding.cause.free_ids() else { continue };
        for node in nodes {
            let id =
                (1..PlcaSettings::UNCONFIGURED).find(|id| !taken.contains(id)).unwrap_or(PlcaSettings::UNCONFIGURED);
            taken.insert(id);
            free.ids.push((node, id));
        }
        let most = free.ids.iter().map(|(_, id)| id.saturating_add(1)).max();
        free.count = now
            .coordinator()
            .and_then(|(first, settings)| most.filter(|&most| most > settings.node_count).map(|most| (first, most)));
    }
}

pub(super) fn stations(segment: &Segment) -> impl Iterator<Item = StationId> + use<> {
    (0..segment.names.len() as u16).map(StationId::new)
}

/// The nodes of a setup of which `is_it` holds.
fn nodes(setup: &Setup, is_it: impl Fn(&Node) -> bool) -> Vec<StationId> {
    let nodes = (0..).map(StationId::new).zip(&setup.nodes);
    nodes.filter(|(_, node)| is_it(node)).map(|(station, _)| station).collect()
}

/// The stretch of time round `at`.
pub(super) fn window(at: BitInstant, before: u64, after: u64) -> (u64, u64) {
    (at.get().saturating_sub(before), at.get() + after)
}

fn without_coordinator(spell: &Spell) -> Option<Finding> {
    // Settings of a coordinator that is there again at once are a reset.
    if spell.to == Some(spell.from) {
        return None;
    }
    let last = spell.fell.map_or(spell.from.get() + 10_000, |(_, last)| last.get() + 10_000);
    let window = (spell.from.get().saturating_sub(10_000), last);
    let until = spell.to;
    Some(Finding { cause: Cause::NoCoordinator { spell: spell.clone() }, since: spell.from, until, window })
}

/// A finding that holds as long as a setup.
fn in_setup(setup: &Setup, cause: Cause, window: (u64, u64)) -> Finding {
    Finding { cause, since: setup.at, until: setup.until, window }
}

fn two_coordinators(segment: &Segment, setup: &Setup) -> Option<Finding> {
    let coordinators = nodes(setup, |node| node.is_coordinator() && node.is_fixed());
    if coordinators.len() < 2 {
        return None;
    }
    let counts = |station: &StationId| &setup.node(*station).counts;
    let starved: Vec<StationId> = stations(segment)
        .filter(|station| setup.node(*station).is_on() && counts(station).offered > 0 && counts(station).turns == 0)
        .collect();
    let at = starved.first().and_then(|station| counts(station).first_offered).unwrap_or(setup.at);
    let offered = starved.iter().map(|station| counts(station).offered).sum();
    let cause = Cause::TwoCoordinators { coordinators, starved, offered, free: FreeIds::default() };
    Some(in_setup(setup, cause, window(at, 300, 2_500)))
}

fn twins(setup: &Setup) -> Vec<Finding> {
    let ids: BTreeSet<u8> = setup.nodes.iter().flat_map(Node::ids).collect();
    let mut found = Vec::new();
    for id in ids.into_iter().filter(|&id| id != 0) {
        let nodes = nodes(setup, |node| node.is_fixed() && node.ids().any(|own| own == id));
        if nodes.len() < 2 {
            continue;
        }
        let among = setup.met(Why::SameId, |parties| parties.iter().all(|party| nodes.contains(party)));
        let first = among.iter().map(|(_, met)| met.first).min();
        let among = sum(&among);
        let all: u64 = setup.met.iter().filter(|((why, _), _)| *why != Why::Fallen).map(|(_, met)| met.times).sum();
        let cause = Cause::SameId { id, nodes, among, elsewhere: all - among, free: FreeIds::default() };
        found.push(in_setup(setup, cause, window(first.unwrap_or(setup.at), 500, 1_500)));
    }
    found
}

fn sum(met: &[(&[StationId], Met)]) -> u64 {
    met.iter().map(|(_, met)| met.times).sum()
}

fn above_the_count(setup: &Setup, station: StationId) -> Option<Finding> {
    let (first, PlcaSettings { node_count: count, .. }) = setup.coordinator()?;
    let node = setup.node(station);
    let id = node.ids().find(|&id| id >= count && id != 0).filter(|_| node.is_fixed())?;
    let came = [node.counts.turns, node.counts.offered, node.counts.sent, setup.beacons];
    let cause = Cause::AboveTheCount { node: station, id, coordinator: first, count, came };
    let at = node.counts.first_offered.unwrap_or(setup.at);
    Some(in_setup(setup, cause, window(at, 300, 2_500)))
}

fn off(setup: &Setup, station: StationId) -> Option<Finding> {
    let node = setup.node(station);
    if node.is_on() || !node.attached {
        return None;
    }
    let (met, free) = (setup.met_by(station, Why::Off), FreeIds::default());
    let at = met.first.unwrap_or(setup.at);
    let cause = match node.own.settings.enabled {
        true => Cause::NoId { node: station, met, free },
        false => Cause::Off { node: station, met, free },
    };
    Some(in_setup(setup, cause, window(at, 700, 1_500)))
}

fn count_too_high(setup: &Setup) -> Option<Finding> {
    let (coordinator, PlcaSettings { node_count: count, to_timer, .. }) = setup.coordinator()?;
    if !setup.nodes.iter().all(Node::is_fixed) {
        return None;
    }
    let ids: BTreeSet<u8> = setup.nodes.iter().flat_map(Node::ids).collect();
    let used = ids.iter().filter(|&&id| id < count).count() as u64;
    // A node that is off, or whose id is wrong, leaves its turn empty: another finding tells that.
    let wrong = (setup.nodes.len() as u64).saturating_sub(used);
    let empty = u64::from(count).saturating_sub(used + wrong);
    let cause = Cause::CountTooHigh { coordinator, count, used, empty, to_timer };
    (empty > 0).then_some(in_setup(setup, cause, window(setup.at, 0, 4_000)))
}

fn other_timer(setup: &Setup, station: StationId) -> Option<Finding> {
    let (coordinator, PlcaSettings { to_timer: right, .. }) = setup.coordinator()?;
    let node = setup.node(station);
    let PlcaSettings { to_timer: own, node_id: id, .. } = node.own.settings;
    if !node.is_on() || own == right {
        return None;
    }
    let begins = u64::from(own) * u64::from(id);
    let is_same = |other: &Node| {
        let other_id = other.own.settings.node_id;
        other.is_on() && u64::from(other_id) * u64::from(right) == begins && other_id != id
    };
    let same = nodes(setup, is_same).first().map(|other| (*other, setup.node(*other).own.settings.node_id));
    let met = setup.met_by(station, Why::OtherTimer);
    let at = met.first.unwrap_or(setup.at);
    let cause = Cause::OtherTimer { node: station, id, own, coordinator, right, same, met };
    Some(in_setup(setup, cause, window(at, 500, 1_500)))
}

fn cold_start(segment: &Segment) -> Option<Finding> {
    let cold = segment.cold.as_ref().filter(|cold| cold.collisions > 0)?;
    let cause = Cause::ColdStart { cold: cold.clone() };
    Some(Finding { cause, since: BitInstant::ZERO, until: cold.back, window: (0, 4_000) })
}

/// A finding that holds from the beginning.
pub(super) fn from_the_beginning(cause: Cause, window: (u64, u64)) -> Option<Finding> {
    Some(Finding { cause, since: BitInstant::ZERO, until: None, window })
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
    let at = segment.whole.node(node).counts.first_lost.unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::Heedless { node }, window(at, 1_500, 700))
}

fn several_ids(segment: &Segment, node: StationId) -> Option<Finding> {
    let ids: Vec<u8> = segment.plca.nodes[node.index()].ids().collect();
    let is_shared = |id: &u8| segment.whole.nodes.iter().filter(|other| other.ids().any(|own| own == *id)).count() > 1;
    let count = segment.whole.coordinator().map_or(u8::MAX, |(_, settings)| settings.node_count);
    // Another finding has ids that are wrong.
    if ids.len() < 2 || ids.iter().any(|id| is_shared(id) || *id >= count) {
        return None;
    }
    let others = stations(segment).filter(|&other| other != node);
    let most = others.map(|other| segment.whole.node(other).counts.turns).max().unwrap_or(0);
    let at = segment.whole.node(node).counts.first_turn.unwrap_or(BitInstant::ZERO);
    from_the_beginning(Cause::SeveralIds { node, ids, most }, window(at, 200, 3_500))
}

fn phy_delay(segment: &Segment) -> Option<Finding> {
    if segment.plca.phy_off.get() == 0 {
        return None;
    }
    let coordinator = segment.whole.coordinator().map(|(_, settings)| settings);
    from_the_beginning(Cause::PhyDelay { coordinator }, (0, 4_000))
}

fn long_cable(segment: &Segment) -> Option<Finding> {
    let longest = segment.config.topology.longest_distance().get();
    let turn = segment.whole.nodes.iter().filter(|node| node.is_on()).map(|node| node.own.settings.to_timer).min()?;
    if 2 * longest < u64::from(turn) {
        return None;
    }
    let all = segment.whole.met(Why::Unknown, |_| true);
    let (met, at) = (sum(&all), all.iter().map(|(_, met)| met.first).min().unwrap_or(BitInstant::ZERO));
    from_the_beginning(Cause::LongCable { longest, turn, met }, window(at, 500, 1_500))
}

fn reset(reset: &Reset) -> Finding {
    let back = reset.back.unwrap_or(reset.at);
    let window = (reset.at.get().saturating_sub(800), back.get() + 1_200);
    Finding { cause: Cause::Reset { reset: reset.clone() }, since: reset.at, until: reset.back, window }
}

fn status_fell(segment: &Segment) -> Option<Finding> {
    let (at, _) = *segment.fell_alone.first()?;
    let mut nodes: Vec<StationId> = segment.fell_alone.iter().map(|(_, station)| *station).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let cause = Cause::Unreached { nodes, at, cut: segment.first_cut.filter(|&cut| cut < at) };
    Some(Finding { cause, since: at, until: None, window: window(at, 3_000, 2_000) })
}

fn unexplained(segment: &Segment) -> Option<Finding> {
    let all = segment.whole.met(Why::Unknown, |_| true);
    let (nodes, _) = all.iter().max_by_key(|(_, met)| met.times)?;
    let first = all.iter().map(|(_, met)| met.first).min()?;
    let cause = Cause::Unexplained { nodes: nodes.to_vec(), times: sum(&all), first };
    Some(Finding { cause, since: first, until: None, window: window(first, 500, 1_500) })
}

/// One finding for each noise.
fn of_noise(segment: &Segment) -> impl Iterator<Item = Finding> {
    segment.noises.iter().map(|noise| {
        let at = noise.first.unwrap_or(noise.from).get();
        let window = (at.saturating_sub(2_000), at + 2_000);
        Finding { cause: Cause::Noise { noise: noise.clone() }, since: noise.from, until: noise.to, window }
    })
}
