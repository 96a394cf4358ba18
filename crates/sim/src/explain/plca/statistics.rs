//! Statistics of a trace of PLCA under the names that INET's EthernetPlca gives them, in bit times.
//!
//! A turn is as long as it is used: COMMIT, frames and ESD, or to_tmr. Turns that pass in cycles without a frame are counted
//! and not told one by one.

use super::super::scene::Scene;
use medium::{BitInstant, BitTimes, Event, Kind, PREAMBLE_AND_SFD, Plca};
use serde::Serialize;
use std::collections::BTreeMap;

/// How many values there were, and what they come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
}

impl Moments {
    fn add(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        self.least = if self.count == 0 { value } else { self.least.min(value) };
        self.most = self.most.max(value);
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
    }
}

/// The same, to be written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Written {
    /// How many values there were.
    pub count: u64,
    /// Their mean; none if there was none.
    pub mean: Option<f64>,
    /// The least.
    pub min: u64,
    /// The greatest.
    pub max: u64,
}

impl From<Moments> for Written {
    fn from(of: Moments) -> Written {
        let mean = (of.count > 0).then(|| of.sum as f64 / of.count as f64);
        Written { count: of.count, mean, min: of.least, max: of.most }
    }
}

/// One node's part.
#[derive(Clone, Debug, Default)]
struct Node {
    /// The attempt that goes on.
    attempt: Option<BitInstant>,
    /// The turn that it has taken, and the frames in it.
    turn: Option<(BitInstant, u64)>,
    last_end: BitInstant,
    last_begin: Option<BitInstant>,
    pending_delay: Moments,
    interval: Moments,
    own_length: Moments,
    own_packets: Moments,
    used: u64,
}

/// A trace's statistics.
#[derive(Clone, Debug)]
pub struct Statistics {
    nodes: Vec<Node>,
    turns_in_cycle: u64,
    turn: u64,
    delimiter: BitTimes,
    bursts: Vec<u8>,
    cycle_length: Moments,
    cycle_packets: Moments,
    packets: u64,
    beacon: Option<BitInstant>,
    used_lengths: Moments,
    used_packets: Moments,
    cycles: u64,
}

/// A name's values for the bus as a whole, or by node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Of {
    /// The bus as a whole.
    Bus(Written),
    /// Each node, by its name.
    Nodes(BTreeMap<String, Written>),
}

impl Statistics {
    pub fn new(plca: &Plca) -> Statistics {
        let coordinator = plca.nodes.iter().map(|node| node.settings).find(|settings| settings.node_id == 0);
        Statistics {
            nodes: vec![Node::default(); plca.nodes.len()],
            turns_in_cycle: coordinator.map_or(0, |settings| settings.node_count.into()),
            turn: coordinator.map_or(32, |settings| settings.to_timer.into()),
            delimiter: plca.end_delimiter,
            bursts: plca.nodes.iter().map(|node| node.settings.burst_count).collect(),
            cycle_length: Moments::default(),
            cycle_packets: Moments::default(),
            packets: 0,
            beacon: None,
            used_lengths: Moments::default(),
            used_packets: Moments::default(),
            cycles: 0,
        }
    }

    /// An event has happened; the scene has it.
    pub fn event(&mut self, event: &Event, scene: &Scene) {
        let Event { at, frame, kind, .. } = *event;
        let row = frame.station.index();
        match kind {
            Kind::Attempt { .. } => self.nodes[row].attempt = Some(at),
            Kind::Discarded { .. } => self.nodes[row].attempt = None,
            Kind::Commit { .. } => {
                self.end_turn(row);
                self.nodes[row].turn = Some((at, 0));
            }
            Kind::Transmitted { size, access_delay, .. } => {
                let begin = scene.waited_since.map_or(at, |head| head + access_delay);
                if scene.ok[row] && self.nodes[row].turn.is_some() {
                    let end = begin + PREAMBLE_AND_SFD + size.bit_times() + self.delimiter;
                    self.sent(row, begin, end);
                }
                self.nodes[row].attempt = None;
            }
            Kind::Beacon { empty, length } => self.beacon(at, empty, length),
            _ => {}
        }
    }

    /// A frame was on the line from `begin` to `end`, in its node's turn.
    fn sent(&mut self, row: usize, begin: BitInstant, end: BitInstant) {
        self.packets += 1;
        let node = &mut self.nodes[row];
        let attempt = node.attempt.unwrap_or(begin);
        node.pending_delay.add(begin.since(attempt).get(), 1);
        if let Some(last) = node.last_begin.replace(begin) {
            node.interval.add(begin.since(last).get(), 1);
        }
        node.last_end = end;
        if let Some((_, frames)) = &mut node.turn {
            *frames += 1;
            if *frames > u64::from(self.bursts[row]) {
                self.end_turn(row);
            }
        }
    }

    /// The turn of a node is over, if it had one.
    fn end_turn(&mut self, row: usize) {
        let node = &mut self.nodes[row];
        let Some((begin, frames)) = node.turn.take().filter(|(_, frames)| *frames > 0) else { return };
        let length = node.last_end.since(begin).get();
        node.own_length.add(length, 1);
        node.own_packets.add(frames, 1);
        node.used += 1;
        self.used_lengths.add(length, 1);
        self.used_packets.add(frames, 1);
    }

    fn beacon(&mut self, at: BitInstant, empty: u64, length: BitTimes) {
        for row in 0..self.nodes.len() {
            // A burst ends with the cycle, if not before.
            if self.nodes[row].attempt.is_none() {
                self.end_turn(row);
            }
        }
        if let Some(last) = self.beacon.replace(at) {
            let idle = at.since(last).get().saturating_sub(length.get()).checked_div(empty);
            if let Some(idle) = idle {
                self.cycle_length.add(idle, empty);
                self.cycle_packets.add(0, empty);
                self.cycles += empty;
            }
            if length > BitTimes::ZERO {
                self.cycle_length.add(length.get(), 1);
                self.cycle_packets.add(self.packets, 1);
                self.cycles += 1;
            }
        }
        self.packets = 0;
    }

    /// All of them, by name.
    pub fn written(&self, names: &[String]) -> BTreeMap<&'static str, Of> {
        let unused = (self.cycles * self.turns_in_cycle).saturating_sub(self.used_lengths.count);
        let with = |mut used: Moments, value: u64, times: u64| {
            used.add(value, times);
            used
        };
        let by_node = |of: &dyn Fn(&Node) -> Moments| {
            Of::Nodes(names.iter().cloned().zip(self.nodes.iter().map(|node| of(node).into())).collect())
        };
        let own_unused = |node: &Node| self.cycles.saturating_sub(node.used);
        let used = |node: &Node| with(with(Moments::default(), 1, node.used), 0, own_unused(node));
        BTreeMap::from([
            ("cycleLength", Of::Bus(self.cycle_length.into())),
            ("numPacketsPerCycle", Of::Bus(self.cycle_packets.into())),
            ("toLength", Of::Bus(with(self.used_lengths, self.turn, unused).into())),
            ("numPacketsPerTo", Of::Bus(with(self.used_packets, 0, unused).into())),
            ("transmitOpportunityUsed", by_node(&used)),
            ("ownToLength", by_node(&|node| with(node.own_length, self.turn, own_unused(node)))),
            ("numPacketsPerOwnTo", by_node(&|node| with(node.own_packets, 0, own_unused(node)))),
            ("packetPendingDelay", by_node(&|node| node.pending_delay)),
            ("packetInterval", by_node(&|node| node.interval)),
        ])
    }
}
