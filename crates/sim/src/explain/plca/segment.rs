//! A segment with PLCA while its trace is read: what each node was told, did and met, when there was no coordinator, which
//! nodes met.

use super::super::scene::Scene;
use super::noise::Noises;
use super::setup::{Counts, Met, Node, Setup, Without};
use super::statistics::Statistics;
use crate::figures::cycle::{BURST_TIMER, Bus};
use crate::files::event_log::Header;
use medium::{
    BitInstant, BitTimes, Config, Deed, Event, FrameId, HostKind, Input, MacKind, Part, Plca, PlcaKind, PlcaNode,
    PlcaSettings, ReceiverKind, StationId,
};
use std::collections::{BTreeSet, VecDeque};

/// Collisions whose parties may still become more.
const OPEN: usize = 8;

/// Frames that collided with plain CSMA/CD and were still there when BEACONs came: their MACs went on with the attempts,
/// and the backoff, that they had.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carried {
    pub frames: u64,
    /// The frame that was over last: its collisions on the line, how long after plca_status rose it was over, and whether
    /// it was discarded.
    pub last: Option<(FrameId, u32, BitTimes, bool)>,
}

impl Carried {
    fn add(&mut self, frame: FrameId, collisions: u32, after: BitTimes, is_discarded: bool) {
        self.frames += 1;
        if self.last.is_none_or(|(_, _, longest, _)| longest < after) {
            self.last = Some((frame, collisions, after, is_discarded));
        }
    }
}

/// A cold start: the time before the first BEACON.
#[derive(Clone, Debug, Default)]
pub struct Cold {
    /// When plca_status was OK at all nodes.
    pub back: Option<BitInstant>,
    pub collisions: u64,
    /// The stations whose frames met.
    pub met: BTreeSet<StationId>,
    pub carried: Carried,
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
    pub carried: Carried,
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
    /// When its plca_status was OK again, or its next settings came.
    pub back: Option<BitInstant>,
    /// Its next settings came before that.
    pub is_replaced: bool,
}

/// A collision whose parties may still become more.
#[derive(Clone, Debug)]
struct Open {
    episode: u64,
    at: BitInstant,
    parties: Vec<StationId>,
    some_ok: bool,
    all_ok: bool,
    /// The number of its setup.
    setup: usize,
}

/// All that is known of the segment.
#[derive(Clone, Debug)]
pub struct Segment {
    pub names: Vec<String>,
    pub config: Config,
    pub plca: Plca,
    /// What nodes were told at first, and after each change.
    pub setups: Vec<Setup>,
    /// The counts of all setups, with the nodes of the first.
    pub whole: Setup,
    /// Before the first BEACON, after a cold start of a bus with a coordinator.
    pub cold: Option<Cold>,
    pub spells: Vec<Spell>,
    pub resets: Vec<Reset>,
    /// Received with a bad FCS although no station noticed a collision, and the first of these.
    pub damaged: u64,
    pub first_damaged: Option<BitInstant>,
    pub noises: Noises,
    /// plca_status fell somewhere while a coordinator was there.
    pub fell_alone: Vec<(BitInstant, StationId)>,
    pub first_cut: Option<BitInstant>,
    pub empty: u64,
    pub now: BitInstant,
    pub statistics: Statistics,
    /// What D-PLCA found.
    pub found: super::dynamic::Found,
    open: VecDeque<Open>,
}

impl Segment {
    /// Of a trace with PLCA, before anything was read.
    pub fn new(header: &Header, plca: Plca) -> Segment {
        let node = |&own: &PlcaNode| Node {
            own,
            attached: true,
            ok: false,
            counts: Counts::default(),
            turn_for: None,
            collided: None,
            carries: None,
        };
        let statistics = Statistics::new(&plca);
        let first = Setup::from(BitInstant::ZERO, plca.nodes.iter().map(node).collect());
        let has_coordinator = first.coordinator().is_some();
        let spells =
            if has_coordinator || first.has_dynamic() { Vec::new() } else { vec![Spell::new(BitInstant::ZERO, None)] };
        Segment {
            names: header.seats(),
            config: header.config(),
            cold: (plca.cold_start && has_coordinator).then(Cold::default),
            plca,
            whole: first.clone(),
            setups: vec![first],
            spells,
            resets: Vec::new(),
            damaged: 0,
            first_damaged: None,
            noises: Noises::default(),
            fell_alone: Vec::new(),
            first_cut: None,
            empty: 0,
            now: BitInstant::ZERO,
            statistics,
            found: Default::default(),
            open: VecDeque::new(),
        }
    }

    /// The trace is over.
    pub fn finish(&mut self) {
        while let Some(one) = self.open.pop_front() {
            self.close(one);
        }
        let (first, others) = self.setups.split_first().expect("there is a first");
        self.whole = first.clone();
        others.iter().for_each(|setup| self.whole.join(setup));
    }

    fn setup(&mut self) -> &mut Setup {
        self.setups.last_mut().expect("there is a first")
    }

    fn node(&mut self, station: StationId) -> &mut Node {
        &mut self.setup().nodes[station.index()]
    }

    pub fn input(&mut self, at: BitInstant, input: Input) {
        self.now = at;
        let mut next = Setup::from(at, self.setup().nodes.clone());
        let node = |station: StationId| station.index();
        let (station, away) = match input {
            Input::Deed(Deed::Plug { station } | Deed::Add { station, .. }) => {
                next.nodes[node(station)].attached = true;
                (station, Away::Unplugged)
            }
            Input::Deed(Deed::Unplug { station } | Deed::Remove { station }) => {
                let node = &mut next.nodes[node(station)];
                (node.attached, node.ok) = (false, false);
                self.fell_alone.retain(|&fell| fell != (at, station));
                (station, Away::Unplugged)
            }
            Input::Deed(Deed::Plca { station, settings }) => {
                let settings = settings.told();
                let own = &mut next.nodes[node(station)].own;
                let before = std::mem::replace(&mut own.settings, settings);
                self.fell_alone.retain(|&fell| fell != (at, station));
                let last = self.resets.iter_mut().rfind(|reset| reset.station == station);
                if let Some(last) = last.filter(|last| last.back.is_none()) {
                    (last.back, last.is_replaced) = (Some(at), true);
                }
                self.resets.push(Reset { at, station, before, after: settings, back: None, is_replaced: false });
                let off = !settings.enabled;
                (station, if off { Away::Disabled } else { Away::Renumbered(settings.node_id) })
            }
            Input::Deed(Deed::Cut(cut)) => {
                if cut.is_some() {
                    self.first_cut.get_or_insert(at);
                }
                return;
            }
            Input::Deed(Deed::Fault { station, fault }) => return self.noises.set(at, station, fault),
            Input::Offer { .. } | Input::Deed(_) => return,
        };
        let without = self.spells.last().is_some_and(|spell| spell.to.is_none());
        // With D-PLCA nodes find another one by themselves.
        let is_there = next.coordinator().is_some() || next.has_dynamic();
        match (without, is_there) {
            (false, false) => self.spells.push(Spell::new(at, Some((station, away)))),
            (true, true) => self.spells.last_mut().expect("there is one").to = Some(at),
            (true, false) | (false, true) => {}
        }
        self.setup().until = Some(at);
        self.setups.push(next);
    }

    /// An event has happened; the scene has it.
    pub fn event(&mut self, event: &Event, scene: &Scene) {
        self.statistics.event(event, scene);
        let Event { at, station, frame, kind } = *event;
        self.now = at;
        let node = self.node(frame.station);
        let counts = &mut node.counts;
        match kind.part() {
            Part::Host(HostKind::Offered { size }) => {
                counts.offered += 1;
                counts.first_offered.get_or_insert(at);
                counts.largest_frame = counts.largest_frame.max(size.get());
            }
            Part::Plca(PlcaKind::Commit { .. }) => {
                counts.turns += 1;
                counts.first_turn.get_or_insert(at);
                node.turn_for = Some(frame.serial);
            }
            Part::Mac(MacKind::Transmitted { access_delay, .. }) => {
                counts.sent += 1;
                counts.longest_wait = counts.longest_wait.max(access_delay);
                let in_turn = !node.ok || node.own.settings.burst_count > 0 || node.turn_for == Some(frame.serial);
                if !in_turn {
                    counts.lost += 1;
                    counts.first_lost.get_or_insert(at);
                }
                self.carried(frame, at, false);
            }
            Part::Mac(MacKind::Discarded { .. }) => self.carried(frame, at, true),
            Part::Mac(MacKind::Collision { episode: 0, .. }) => counts.told_to_wait += 1,
            Part::Mac(MacKind::Collision { episode, .. }) => {
                let ok = node.ok;
                let before = node.collided.filter(|(serial, _)| *serial == frame.serial).map_or(0, |(_, times)| times);
                node.collided = Some((frame.serial, before + 1));
                self.meet(episode, at, frame.station, ok);
                self.noises.meets(at, frame.station);
            }
            Part::Receiver(ReceiverKind::Damaged { .. }) => {
                self.damaged += 1;
                self.noises.damages(at, station);
                self.first_damaged.get_or_insert(at);
            }
            Part::Plca(PlcaKind::Beacon { empty, length: _ }) => {
                self.setup().beacons += empty + 1;
                self.empty += empty;
            }
            Part::Plca(PlcaKind::PlcaStatus { ok }) => self.status(at, station, ok),
            Part::Plca(PlcaKind::PlcaId { id, turns: count }) => self.assigned(at, station, id, count),
            Part::Host(_) | Part::Mac(_) | Part::Receiver(_) | Part::Wireless(_) => {}
        }
    }

    /// D-PLCA has given a node another id, or a coordinator another number of turns.
    fn assigned(&mut self, at: BitInstant, station: StationId, id: u32, count: u32) {
        let mut next = Setup::from(at, self.setup().nodes.clone());
        let settings = &mut next.nodes[station.index()].own.settings;
        let led = std::mem::replace(settings, settings.assigned(id, count)).node_id == 0;
        self.found.take(at, station, id, led);
        self.setup().until = Some(at);
        self.setups.push(next);
    }

    /// A frame is out of its queue: it may have collided before plca_status rose.
    fn carried(&mut self, frame: FrameId, at: BitInstant, is_discarded: bool) {
        let node = self.node(frame.station);
        node.collided = None;
        let Some((_, collisions, since, without)) = node.carries.take_if(|(serial, ..)| *serial == frame.serial) else {
            return;
        };
        let carried = match without {
            Without::Cold => self.cold.as_mut().map(|cold| &mut cold.carried),
            Without::Spell(number) => Some(&mut self.spells[number].carried),
        };
        carried.into_iter().for_each(|carried| carried.add(frame, collisions, at.since(since), is_discarded));
    }

    /// The time in which nodes sent with plain CSMA/CD, if plca_status rises now for the first time since then.
    fn without(&self) -> Option<Without> {
        let spell = self.spells.last().filter(|spell| spell.to.is_some() && spell.back.is_none());
        let cold = self.cold.as_ref().filter(|cold| cold.back.is_none());
        spell.map(|_| Without::Spell(self.spells.len() - 1)).or(cold.map(|_| Without::Cold))
    }

    fn status_rises(&mut self, at: BitInstant, station: StationId) {
        let (without, node) = (self.without(), self.node(station));
        if let (Some(without), Some((serial, collisions))) = (without, node.collided) {
            node.carries = Some((serial, collisions, at, without));
        }
        let reset = self.resets.iter_mut().rfind(|reset| reset.station == station);
        reset.into_iter().for_each(|reset| _ = reset.back.get_or_insert(at));
        if !self.setup().nodes.iter().all(|node| node.ok || !node.is_on()) {
            return;
        }
        match without {
            Some(Without::Spell(number)) => self.spells[number].back = Some(at),
            Some(Without::Cold) => self.cold.iter_mut().for_each(|cold| cold.back = Some(at)),
            None => {}
        }
    }

    fn status(&mut self, at: BitInstant, station: StationId, ok: bool) {
        self.node(station).ok = ok;
        if ok {
            return self.status_rises(at, station);
        }
        let reset_now = self.resets.last().is_some_and(|reset| reset.at == at && reset.station == station);
        let attached = self.node(station).attached;
        let by_noise = self.noises.fells(at, station);
        match self.spells.last_mut().filter(|spell| spell.to.is_none()) {
            Some(spell) if spell.who.is_none_or(|(who, _)| who != station) => {
                let first = spell.fell.map_or(at, |(first, _)| first);
                spell.fell = Some((first, at));
                spell.nodes_fell += 1;
            }
            Some(_) => {}
            None if !reset_now && attached && !by_noise => self.fell_alone.push((at, station)),
            None => {}
        }
    }

    fn meet(&mut self, episode: u64, at: BitInstant, station: StationId, ok: bool) {
        if let Some(open) = self.open.iter_mut().find(|one| one.episode == episode) {
            if !open.parties.contains(&station) {
                open.parties.push(station);
            }
            open.some_ok |= ok;
            open.all_ok &= ok;
            return;
        }
        let setup = self.setups.len() - 1;
        self.open.push_back(Open { episode, at, parties: vec![station], some_ok: ok, all_ok: ok, setup });
        if self.open.len() > OPEN
            && let Some(one) = self.open.pop_front()
        {
            self.close(one);
        }
    }

    fn close(&mut self, Open { at, mut parties, some_ok, all_ok, setup, .. }: Open) {
        if let Some(spell) = self.spells.iter_mut().rfind(|spell| spell.from <= at)
            && spell.back.is_none_or(|back| at < back)
        {
            spell.collisions += 1;
        } else if let Some(cold) = self.cold.as_mut().filter(|cold| cold.back.is_none_or(|back| at < back)) {
            cold.collisions += 1;
            cold.met.extend(&parties);
        }
        parties.sort_unstable();
        let setup = &mut self.setups[setup];
        let why = setup.why(&parties, some_ok, all_ok);
        let one = Met { times: 1, in_turns: some_ok.into(), first: at };
        setup.met.entry((why, parties)).and_modify(|known| known.add(&one)).or_insert(one);
    }

    pub fn name(&self, station: StationId) -> &str {
        &self.names[station.index()]
    }

    pub fn collisions(&self) -> u64 {
        self.whole.met.values().map(|met| met.times).sum()
    }

    /// Of these, those with a node that had plca_status OK.
    pub fn collisions_in_turns(&self) -> u64 {
        self.whole.met.values().map(|met| met.in_turns).sum()
    }

    /// How long a frame waits at most where all is right: of `ethbus theory plca`, with the longest frame that was offered.
    pub fn bound(&self) -> Option<u64> {
        let [nodes, octets, bursts, to_timer] = self.of_the_bound()?;
        Some(Bus { nodes, octets, bursts, burst_timer: BURST_TIMER, to: to_timer }.access_delay_bound())
    }

    /// The command that tells that bound.
    pub fn theory(&self) -> Option<String> {
        let [nodes, octets, bursts, to_timer] = self.of_the_bound()?;
        let unless = |option: &str, usual: u64, value: u64| match value == usual {
            true => String::new(),
            false => format!(" --{option} {value}"),
        };
        let (bursts, to_timer) = (unless("burst-count", 0, bursts), unless("to-timer", 32, to_timer));
        Some(format!("ethbus theory plca --stations {nodes} --frame-size {octets}{bursts}{to_timer}"))
    }

    fn of_the_bound(&self) -> Option<[u64; 4]> {
        let (_, coordinator) = self.whole.coordinator()?;
        let octets = self.whole.nodes.iter().map(|node| node.counts.largest_frame).max()?.max(64);
        let bursts = self.whole.nodes.iter().map(|node| node.own.settings.burst_count).max()?;
        let PlcaSettings { node_count, to_timer, .. } = coordinator;
        Some([node_count.into(), octets.into(), bursts.into(), to_timer.into()])
    }
}

impl Spell {
    fn new(from: BitInstant, who: Option<(StationId, Away)>) -> Spell {
        Spell { from, who, fell: None, nodes_fell: 0, collisions: 0, to: None, back: None, carried: Carried::default() }
    }
}
