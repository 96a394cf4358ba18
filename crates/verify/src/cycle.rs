//! What the rows tell of the cycles of PLCA, and whether all nodes count the same turns.
//!
//! ```text
//!   signals meet │ … │ silence │BEACON│ silence │ turn 0 │ …
//!   nodes differ ──────────────────────────────►│ all nodes are in step
//! ```
//! After a cold start, or once signals have met, nodes may count different turns (802.3, 148.4.4): one that begins to send
//! while a BEACON is on the line makes the coordinator count a turn that its followers do not count. The next BEACON that all
//! hear alone brings them in step again.

use medium::{Config, Method};
use std::collections::{HashMap, HashSet};

/// The cycle under way.
#[derive(Debug, Default)]
pub struct Cycle {
    /// Turns of this medium never meet once its nodes are in step.
    can_hold: bool,
    /// All nodes are in step.
    in_step: bool,
    /// A BEACON that began then and may bring them in step.
    candidate: Option<u64>,
    /// By station: plca_status is OK.
    ok: Vec<bool>,
    /// By station: PLCA holds its MAC's frames back until its turn.
    holds: Vec<bool>,
    /// When the latest signal began.
    spoken: Option<u64>,
    /// The latest BEACON that a row tells of, if the nodes have been in step since.
    pub beacon: Option<u64>,
    /// The latest turn that was taken since.
    pub turn: Option<(u32, usize)>,
    /// The coordinator has taken a turn since. If no frame followed, its cycle counts as one without a frame, and is longer.
    pub is_longer: bool,
    /// When the frame of that turn is out.
    pub busy_until: u64,
    /// The longest way of a signal, the delays of its PHYs included.
    farthest: u64,
    /// The length of a BEACON, and of a cycle without a frame, if PHYs add nothing.
    pub idle: Option<(u64, u64)>,
    /// The latest frame that each station received of each other one.
    pub latest: HashMap<(usize, usize), u64>,
}

impl Cycle {
    pub fn new(config: &Config) -> Cycle {
        let Method::Plca(own) = &config.method else { return Cycle::default() };
        let (stations, delays) = (config.topology.stations(), own.phy_on.get() + own.phy_off.get());
        let coordinator = own.nodes.iter().map(|node| node.settings).find(|it| it.node_id == 0);
        let turns = coordinator.map_or(0, |it| u64::from(it.node_count) * u64::from(it.to_timer));
        Cycle {
            can_hold: can_hold(config),
            in_step: !own.cold_start,
            ok: vec![!own.cold_start; stations],
            holds: vec![!own.cold_start; stations],
            farthest: config.topology.longest_distance().get() + delays,
            idle: (delays == 0).then(|| (own.beacon.get(), own.beacon.get() + turns)),
            ..Cycle::default()
        }
    }

    /// All nodes count the same turns.
    pub fn is_in_step(&self) -> bool {
        self.can_hold && self.in_step
    }

    /// Something happens that no rule of turns covers.
    pub fn never_holds(&mut self) {
        self.can_hold = false;
    }

    /// Signals have met, or a node comes or goes.
    pub fn differs(&mut self) {
        (self.in_step, self.candidate, self.beacon) = (false, None, None);
    }

    /// A station is plugged in or taken off.
    pub fn plugs(&mut self, place: usize) {
        if !self.ok.is_empty() {
            self.status(place, false);
        }
    }

    pub fn status(&mut self, place: usize, ok: bool) {
        self.ok[place] = ok;
        if !ok {
            self.holds[place] = false;
            self.differs();
        }
    }

    /// A BEACON begins.
    pub fn begins(&mut self, now: u64) {
        (self.turn, self.is_longer) = (None, false);
        self.beacon = Some(now).filter(|_| self.in_step);
        let is_silent = self.spoken.is_none_or(|at| at + self.farthest < now);
        self.candidate = Some(now).filter(|_| !self.in_step && is_silent);
    }

    /// A signal of `place` begins: a COMMIT, or a frame that PLCA does not hold back.
    pub fn speaks(&mut self, place: usize, now: u64, is_commit: bool, attached: impl Iterator<Item = bool>) {
        if self.holds.is_empty() || (!is_commit && self.holds[place]) {
            return;
        }
        self.spoken = Some(now);
        let Some(begin) = self.candidate else { return };
        let beacon = self.idle.map_or(20, |(beacon, _)| beacon);
        // The coordinator may take its turn as its BEACON ends.
        let is_first = is_commit && now == begin + beacon;
        if now <= begin + beacon + 2 * self.farthest && !is_first {
            self.candidate = None;
            return;
        }
        if self.ok.iter().zip(attached).all(|(ok, attached)| *ok || !attached) {
            (self.in_step, self.candidate, self.beacon) = (true, None, Some(begin));
            self.holds.copy_from_slice(&self.ok);
        }
    }
}

fn can_hold(config: &Config) -> bool {
    let Method::Plca(own) = &config.method else { return false };
    let settings = || own.nodes.iter().map(|node| node.settings);
    let ids: HashSet<u8> = own.nodes.iter().flat_map(|node| node.ids()).collect();
    let all: usize = own.nodes.iter().map(|node| node.ids().count()).sum();
    let timer = settings().map(|it| it.to_timer).min().unwrap_or(0);
    let is_alike = settings().all(|it| it.to_timer == timer && it.enabled && it.node_id != 255);
    let count = settings().find(|it| it.node_id == 0).map_or(0, |it| it.node_count);
    let farthest = config.topology.longest_distance().get();
    let varies = own.nodes.iter().any(|node| node.settings.dplca || node.clock_ppm != 0);
    is_alike
        && all == ids.len()
        && ids.iter().all(|id| *id < count)
        && farthest * 2 + own.phy_on.get() < u64::from(timer)
        && !config.has_wrong_clocks()
        && !varies
        && config.seats == 0
}
