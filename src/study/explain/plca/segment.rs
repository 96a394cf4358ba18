//! A segment with PLCA while its log is read: what each node was told, did and met, when there was no coordinator, which
//! nodes met.

use super::super::scene::Scene;
use super::statistics::Statistics;
use crate::study::theory;
use medium::{
    BitInstant, BitTimes, Config, Event, HostKind, Input, MacKind, Part, Plca, PlcaKind, PlcaSettings, ReceiverKind,
    StationId,
};
use sim::files::event_log::Header;
use std::collections::{BTreeMap, VecDeque};

/// Collisions whose parties may still become more.
const OPEN: usize = 8;

/// One node, up to now.
#[derive(Clone, Debug)]
pub struct Node {
    pub settings: PlcaSettings,
    pub attached: bool,
    /// plca_status.
    pub ok: bool,
    pub offered: u64,
    pub first_offered: Option<BitInstant>,
    pub sent: u64,
    /// Of these, frames that never had a turn, although plca_status was OK.
    pub lost: u64,
    pub first_lost: Option<BitInstant>,
    /// Turns that it took, and the first.
    pub turns: u64,
    pub first_turn: Option<BitInstant>,
    /// Times that it was told to wait for its turn.
    pub told_to_wait: u64,
    /// From the head of the queue to the first bit, at most.
    pub longest_wait: BitTimes,
    pub largest_frame: u32,
    /// The frame for which it took its turn.
    turn_for: Option<u64>,
}

impl Node {
    /// It takes part in PLCA.
    pub fn is_on(&self) -> bool {
        self.attached && self.settings.enabled && self.settings.node_id != PlcaSettings::UNCONFIGURED
    }

    fn is_coordinator(&self) -> bool {
        self.is_on() && self.settings.node_id == 0
    }
}

/// A time without a coordinator.
#[derive(Clone, Debug)]
pub struct Spell {
    pub from: BitInstant,
    /// Who it was, and what happened to it; none if there never was one.
    pub who: Option<(StationId, Away)>,
    /// When plca_status fell, at the first node and at the last, and at how many.
    pub fell: Option<(BitInstant, BitInstant)>,
    pub nodes_fell: usize,
    pub collisions: u64,
    /// When the next coordinator began.
    pub to: Option<BitInstant>,
    /// When BEACONs had brought plca_status back at all nodes that had lost it.
    pub back: Option<BitInstant>,
}

/// What happened to a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Away {
    Unplugged,
    Disabled,
    Renumbered(u8),
}

/// PLCA of a node was told settings while the bus ran.
#[derive(Clone, Debug)]
pub struct Reset {
    pub at: BitInstant,
    pub station: StationId,
    pub before: PlcaSettings,
    pub after: PlcaSettings,
    /// When its plca_status was OK again.
    pub back: Option<BitInstant>,
}

/// Nodes that met on the line: how often, and when first.
#[derive(Clone, Debug, Default)]
pub struct Met {
    pub times: u64,
    pub first: BitInstant,
    /// Times that plca_status was OK at one of them at least.
    pub with_plca: u64,
}

/// The settings of all nodes from an instant on.
#[derive(Clone, Debug)]
pub struct Setup {
    pub at: BitInstant,
    pub nodes: Vec<Node>,
}

/// All that is known of the segment.
#[derive(Clone, Debug)]
pub struct Segment {
    pub names: Vec<String>,
    pub config: Config,
    pub plca: Plca,
    pub nodes: Vec<Node>,
    /// What nodes were told at first, and after each change.
    pub setups: Vec<Setup>,
    pub spells: Vec<Spell>,
    pub resets: Vec<Reset>,
    /// By parties, in order of station.
    pub met: BTreeMap<Vec<StationId>, Met>,
    /// Received with a bad FCS although no station noticed a collision, and the first of these.
    pub damaged: u64,
    pub first_damaged: Option<BitInstant>,
    /// plca_status fell somewhere while a coordinator was there.
    pub fell_alone: Vec<(BitInstant, StationId)>,
    pub first_cut: Option<BitInstant>,
    pub beacons: u64,
    pub empty: u64,
    pub now: BitInstant,
    pub statistics: Statistics,
    open: VecDeque<(u64, BitInstant, Vec<StationId>, bool)>,
}

impl Segment {
    /// Of a log with PLCA, before anything was read.
    pub fn new(header: &Header, plca: Plca) -> Segment {
        let node = |settings| Node {
            settings,
            attached: true,
            ok: false,
            offered: 0,
            first_offered: None,
            sent: 0,
            lost: 0,
            first_lost: None,
            turns: 0,
            first_turn: None,
            told_to_wait: 0,
            longest_wait: BitTimes::ZERO,
            largest_frame: 64,
            turn_for: None,
        };
        let statistics = Statistics::new(&plca);
        let nodes: Vec<Node> = plca.nodes.iter().map(|own| node(own.settings)).collect();
        let mut segment = Segment {
            names: header.stations.clone(),
            config: header.config(),
            plca,
            setups: vec![Setup { at: BitInstant::ZERO, nodes: nodes.clone() }],
            nodes,
            spells: Vec::new(),
            resets: Vec::new(),
            met: BTreeMap::new(),
            damaged: 0,
            first_damaged: None,
            fell_alone: Vec::new(),
            first_cut: None,
            beacons: 0,
            empty: 0,
            now: BitInstant::ZERO,
            statistics,
            open: VecDeque::new(),
        };
        if !segment.has_coordinator() {
            segment.spells.push(Spell::new(BitInstant::ZERO, None));
        }
        segment
    }

    /// The log is over.
    pub fn finish(&mut self) {
        while let Some(one) = self.open.pop_front() {
            self.close(one);
        }
    }

    fn has_coordinator(&self) -> bool {
        self.nodes.iter().any(Node::is_coordinator)
    }

    pub fn input(&mut self, at: BitInstant, input: Input) {
        self.now = at;
        let (station, away) = match input {
            Input::Attach { station } => {
                self.nodes[station.index()].attached = true;
                (station, Away::Unplugged)
            }
            Input::Detach { station } => {
                let node = &mut self.nodes[station.index()];
                (node.attached, node.ok) = (false, false);
                self.fell_alone.retain(|&fell| fell != (at, station));
                (station, Away::Unplugged)
            }
            Input::SetPlca { station, settings } => {
                let node = &mut self.nodes[station.index()];
                let before = std::mem::replace(&mut node.settings, settings);
                self.fell_alone.retain(|&fell| fell != (at, station));
                self.resets.push(Reset { at, station, before, after: settings, back: None });
                let off = !settings.enabled;
                (station, if off { Away::Disabled } else { Away::Renumbered(settings.node_id) })
            }
            Input::SetCut { cut } => {
                if cut.is_some() {
                    self.first_cut.get_or_insert(at);
                }
                return;
            }
            Input::Offer { .. } | Input::SetFault { .. } => return,
        };
        let without = self.spells.last().is_some_and(|spell| spell.to.is_none());
        match (without, self.has_coordinator()) {
            (false, false) => self.spells.push(Spell::new(at, Some((station, away)))),
            (true, true) => self.spells.last_mut().expect("there is one").to = Some(at),
            (true, false) | (false, true) => {}
        }
        self.setups.push(Setup { at, nodes: self.nodes.clone() });
    }

    /// An event has happened; the scene has it.
    pub fn event(&mut self, event: &Event, scene: &Scene) {
        self.statistics.event(event, scene);
        let Event { at, station, frame, kind } = *event;
        self.now = at;
        let node = &mut self.nodes[frame.station.index()];
        match kind.part() {
            Part::Host(HostKind::Offered { size }) => {
                node.offered += 1;
                node.first_offered.get_or_insert(at);
                node.largest_frame = node.largest_frame.max(size.get());
            }
            Part::Plca(PlcaKind::Commit { .. }) => {
                node.turns += 1;
                node.first_turn.get_or_insert(at);
                node.turn_for = Some(frame.serial);
            }
            Part::Mac(MacKind::Transmitted { access_delay, .. }) => {
                node.sent += 1;
                node.longest_wait = node.longest_wait.max(access_delay);
                let in_turn = !node.ok || node.settings.burst_count > 0 || node.turn_for == Some(frame.serial);
                if !in_turn {
                    node.lost += 1;
                    node.first_lost.get_or_insert(at);
                }
            }
            Part::Mac(MacKind::Collision { episode: 0, .. }) => node.told_to_wait += 1,
            Part::Mac(MacKind::Collision { episode, .. }) => {
                let ok = node.ok;
                self.meet(episode, at, frame.station, ok);
            }
            Part::Receiver(ReceiverKind::Damaged { .. }) => {
                self.damaged += 1;
                self.first_damaged.get_or_insert(at);
            }
            Part::Plca(PlcaKind::Beacon { empty, length: _ }) => {
                self.beacons += empty + 1;
                self.empty += empty;
            }
            Part::Plca(PlcaKind::PlcaStatus { ok }) => self.status(at, station, ok),
            Part::Host(_) | Part::Mac(_) | Part::Receiver(_) | Part::Wireless(_) => {}
        }
    }

    fn status(&mut self, at: BitInstant, station: StationId, ok: bool) {
        self.nodes[station.index()].ok = ok;
        let all_ok = self.nodes.iter().all(|node| node.ok || !node.is_on());
        if ok {
            let mut resets = self.resets.iter_mut().rev();
            if let Some(reset) = resets.find(|reset| reset.station == station && reset.back.is_none()) {
                reset.back = Some(at);
            }
            let ended = self.spells.last_mut().filter(|spell| spell.to.is_some() && all_ok);
            if let Some(spell) = ended {
                spell.back.get_or_insert(at);
            }
            return;
        }
        let reset_now = self.resets.last().is_some_and(|reset| reset.at == at && reset.station == station);
        match self.spells.last_mut().filter(|spell| spell.to.is_none()) {
            Some(spell) if spell.who.is_none_or(|(who, _)| who != station) => {
                let first = spell.fell.map_or(at, |(first, _)| first);
                spell.fell = Some((first, at));
                spell.nodes_fell += 1;
            }
            Some(_) => {}
            None if !reset_now && self.nodes[station.index()].attached => self.fell_alone.push((at, station)),
            None => {}
        }
    }

    fn meet(&mut self, episode: u64, at: BitInstant, station: StationId, ok: bool) {
        if let Some((_, _, parties, with_plca)) = self.open.iter_mut().find(|one| one.0 == episode) {
            if !parties.contains(&station) {
                parties.push(station);
            }
            *with_plca |= ok;
            return;
        }
        self.open.push_back((episode, at, vec![station], ok));
        if self.open.len() > OPEN
            && let Some(one) = self.open.pop_front()
        {
            self.close(one);
        }
    }

    fn close(&mut self, (_, at, mut parties, with_plca): (u64, BitInstant, Vec<StationId>, bool)) {
        if let Some(spell) = self.spells.iter_mut().rfind(|spell| spell.from <= at)
            && spell.back.is_none_or(|back| at < back)
        {
            spell.collisions += 1;
        }
        parties.sort_unstable();
        let met = self.met.entry(parties).or_insert_with(|| Met { first: at, ..Met::default() });
        met.times += 1;
        met.with_plca += u64::from(with_plca);
        met.first = met.first.min(at);
    }

    /// Whom `station` met, apart from itself: a name and how often, those it met most often first; and when first.
    pub fn met_by(&self, station: StationId) -> (Vec<(StationId, u64)>, Option<BitInstant>) {
        let (mut others, mut first) = (BTreeMap::new(), None::<BitInstant>);
        for (parties, met) in self.met.iter().filter(|(parties, _)| parties.contains(&station)) {
            first = Some(first.map_or(met.first, |first| first.min(met.first)));
            for &other in parties.iter().filter(|&&other| other != station) {
                *others.entry(other).or_insert(0) += met.times;
            }
        }
        let mut others: Vec<(StationId, u64)> = others.into_iter().collect();
        others.sort_by_key(|&(other, times)| (std::cmp::Reverse(times), other));
        (others, first)
    }

    pub fn name(&self, station: StationId) -> &str {
        &self.names[station.index()]
    }

    pub fn collisions(&self) -> u64 {
        self.met.values().map(|met| met.times).sum()
    }

    /// How long a frame waits at most where all is right: of `ethbus theory plca`, with the longest frame that was offered.
    pub fn bound(&self) -> Option<u64> {
        let [nodes, octets, bursts, to_timer] = self.of_the_bound()?;
        Some(theory::plca::access_delay_bound(nodes, octets, bursts, to_timer))
    }

    /// The command that tells that bound.
    pub fn theory(&self) -> Option<String> {
        let [nodes, octets, bursts, to_timer] = self.of_the_bound()?;
        let unless = |option: &str, usual: u64, value: u64| match value == usual {
            true => String::new(),
            false => format!(" --{option} {value}"),
        };
        let (bursts, to_timer) = (unless("burst-cnt", 0, bursts), unless("to-tmr", 32, to_timer));
        Some(format!("ethbus theory plca --nodes {nodes} --frame-size {octets}{bursts}{to_timer}"))
    }

    fn of_the_bound(&self) -> Option<[u64; 4]> {
        let first = &self.setups[0].nodes;
        let coordinator = first.iter().find(|node| node.is_coordinator())?;
        let octets = self.nodes.iter().map(|node| node.largest_frame).max()?;
        let bursts = first.iter().map(|node| node.settings.burst_count).max()?;
        let PlcaSettings { node_count, to_timer, .. } = coordinator.settings;
        Some([node_count.into(), octets.into(), bursts.into(), to_timer.into()])
    }
}

impl Spell {
    fn new(from: BitInstant, who: Option<(StationId, Away)>) -> Spell {
        Spell { from, who, fell: None, nodes_fell: 0, collisions: 0, to: None, back: None }
    }
}
