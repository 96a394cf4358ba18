//! A table of messages: which node sends what, how often, and until when, on a segment with PLCA. See docs/plan.md.
//!
//! It is TOML, or CSV for the messages alone. Both become entries, a key and a text with its place, so that every value is
//! checked by the same rule. Quantities are in bit times at 10 Mb/s, the only rate of 10BASE-T1S.

mod scenario;
#[cfg(test)]
mod tests;
mod text;

pub use text::{DAY, KEYS, Other, TableKey};

use super::file::{ScenarioError, file_text};
use super::wrong::{Wrong, Wrongs};
use crate::figures::cycle::PREAMBLE;
use crate::words::plca::{Segment, unwise};
use medium::{BitRate, BitTimes, HostDelay, MacPhy, Octets, Plca, PlcaNode, PlcaSettings, StationId, Topology};
use std::path::Path;

/// The rate of 10BASE-T1S.
pub const RATE: BitRate = BitRate::MBIT_10;

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// aPLCALocalNodeID.
    pub id: u8,
    /// aPLCAMaxBurstCount.
    pub burst_count: u8,
    /// aPLCABurstTimer, in bit times.
    pub burst_timer: u8,
    /// How long its host takes to hand over the frame at the head of the queue.
    pub host_delay: HostDelay,
    /// Its MAC is behind SPI: then `host_delay` passes before the transfer.
    pub macphy: Option<MacPhy>,
    /// Own turns that pass unused after each turn with a frame.
    pub skipped_turns: u8,
}

impl Node {
    /// Its host may hand a frame over late.
    pub fn is_late(&self) -> bool {
        self.macphy.is_some() || !self.host_delay.is_none()
    }

    /// How long its host takes to hand over a frame, at most, if it has no other, in bit times.
    pub fn longest_host_delay(&self, octets: u32) -> u64 {
        let lone = |macphy: MacPhy| macphy.lone(self.host_delay, Octets::new(octets));
        self.macphy.map_or(self.host_delay, lone).most.get()
    }
}

/// A message, which a node sends again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The number of the node that sends it, from 0.
    pub node: usize,
    /// Its name.
    pub name: String,
    /// From destination address to FCS.
    pub octets: u32,
    /// From one release to the next, in bit times; of a message that is not periodic, at least.
    pub period: u64,
    /// Releases are even. Otherwise `period` is the least distance.
    pub is_periodic: bool,
    /// How much later than its even instant a frame may be released.
    pub jitter: u64,
    /// From release to reception, at most.
    pub deadline: u64,
    /// Frames of one release.
    pub burst: u64,
    /// The first even instant by the node's clock, if known.
    pub phase: Option<u64>,
    /// Of the frames that wait in its node, those with the highest number go first.
    pub priority: u8,
    /// idleSlope of its class, the messages of its node with its priority, in bit/s; none of a class without a shaper.
    pub idle_slope: Option<u64>,
}

impl Message {
    /// Frames that are released in a closed interval of `span`, at most.
    pub fn released(&self, span: u64) -> u64 {
        (span.saturating_add(self.jitter) / self.period + 1).saturating_mul(self.burst)
    }

    /// A frame with its preamble, in bit times.
    pub fn packet(&self) -> u64 {
        PREAMBLE + 8 * u64::from(self.octets.max(64))
    }
}

/// The whole table.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageTable {
    /// aPLCANodeCount of the coordinator.
    pub node_count: u8,
    /// aPLCATransmitOpportunityTimer of all nodes, in bit times.
    pub to_timer: u8,
    /// The cable in metres, on which the nodes are evenly spaced.
    pub cable: f64,
    /// From TX_EN to CRS as a signal begins, in bit times.
    pub phy_on: u64,
    /// The same as it ends.
    pub phy_off: u64,
    /// The nodes, in order of the table.
    pub nodes: Vec<Node>,
    /// The messages, in order of the table.
    pub messages: Vec<Message>,
}

impl MessageTable {
    /// Reads the table `path`: CSV if it is called so, otherwise TOML.
    ///
    /// # Errors
    /// A file that cannot be read; all that is wrong in it, with its place.
    pub fn read(path: &Path) -> Result<MessageTable, ScenarioError> {
        let other = |path: &Path| file_text(path);
        MessageTable::from_text(path, &file_text(path)?, &other)
    }

    /// The same of a text; `other` reads a file that it names.
    ///
    /// # Errors
    /// All that is wrong in it, with its place.
    pub fn from_text(path: &Path, text: &str, other: Other<'_>) -> Result<MessageTable, ScenarioError> {
        let mut wrongs = Vec::new();
        let table = text::table(path, text, other, &mut wrongs)?;
        match table.filter(|_| wrongs.is_empty()) {
            Some(table) => Ok(table),
            None => Err(ScenarioError::Content(Wrongs::new(wrongs))),
        }
    }

    /// How much later the end of a signal is heard than it is sent, at most.
    pub fn late(&self) -> BitTimes {
        self.topology().round_trip() + BitTimes::new(self.phy_off)
    }

    /// The nodes' places.
    pub fn topology(&self) -> Topology {
        let last = self.nodes.len().saturating_sub(1).max(1) as f64;
        let metres: Vec<f64> = (0..self.nodes.len()).map(|node| self.cable * node as f64 / last).collect();
        let speed = super::plan::usual_speed(false);
        Topology::bus(&metres, speed, RATE).expect("the cable's length was checked")
    }

    /// How much later than it ends a frame of each node is over at the farthest node, in bit times.
    pub fn farthest(&self) -> impl Iterator<Item = u64> {
        let topology = self.topology();
        let stations = (0..self.nodes.len() as u16).map(StationId::new);
        stations.map(move |station| topology.farthest(station).get() + self.phy_off)
    }

    /// PLCA of the segment.
    pub fn plca(&self) -> Plca {
        let node = |node: &Node| {
            let settings = PlcaSettings {
                to_timer: self.to_timer,
                burst_count: node.burst_count,
                burst_timer: node.burst_timer,
                ..PlcaSettings::new(node.id, self.node_count)
            };
            let Node { host_delay, macphy, skipped_turns, .. } = *node;
            PlcaNode { host_delay, macphy, skipped_turns, ..PlcaNode::new(settings) }
        };
        let plca = Plca::new(self.nodes.iter().map(node).collect());
        Plca { phy_on: BitTimes::new(self.phy_on), phy_off: BitTimes::new(self.phy_off), cold_start: false, ..plca }
    }

    /// What is legal but unwise, with its cost in bit times.
    pub fn warnings(&self) -> Vec<String> {
        let plca = self.plca();
        let nodes: Vec<(PlcaSettings, &[u8])> = plca.nodes.iter().map(|node| (node.settings, &[][..])).collect();
        let names: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        let round_trip = self.topology().round_trip() + plca.phy_on;
        let mut all = unwise(Segment { nodes: &nodes, names: &names, round_trip });
        let slow = self.nodes.iter().filter(|node| node.burst_count > 0 && node.is_late());
        all.extend(slow.map(|node| {
            let wait = node.burst_timer;
            format!(
                "{}: its host hands frames over late, so a burst may end: then its turn is {wait} BT longer",
                node.name
            )
        }));
        all
    }

    /// A node whose messages have more than one priority, or a shaper: it does not send in order of release.
    pub fn has_classes(&self, node: usize) -> bool {
        let own = || self.messages.iter().filter(|message| message.node == node);
        let first = own().next().map(|message| message.priority);
        own().any(|message| message.idle_slope.is_some() || Some(message.priority) != first)
    }

    /// Why the table makes no scenario, if it makes none.
    pub fn no_scenario(&self) -> Option<String> {
        let node = self.nodes.iter().enumerate().find(|(number, _)| self.has_classes(*number)).map(|(_, node)| node)?;
        Some(format!(
            "the messages of {} have more than one `priority` or an `idle-slope`, and a station sends in order of release: give them one priority and no slope, or leave this option out",
            node.name
        ))
    }

    /// Offered load: bits of frames from destination address to FCS, as a part of the rate.
    pub fn utilization(&self) -> f64 {
        let part = |message: &Message| (8 * message.burst * u64::from(message.octets.max(64))) as f64;
        self.messages.iter().map(|message| part(message) / message.period as f64).sum()
    }
}

/// A value that is wrong, at its place.
fn wrong(place: &crate::scenario::wrong::FilePlace, name: &str, what: String) -> Wrong {
    Wrong { place: Some(place.clone()), name: name.to_owned(), what }
}
