//! The hosts of the nodes, and what is seen of their frames.
//!
//! A node with classes gives its MAC one frame at a time, when the MAC is done with the last one: the first of the highest
//! queue (802.1Q, 8.6.8.1) that has credit, if it has a shaper (8.6.8.2). The other nodes give theirs as they are released:
//! what a slow host or a MAC-PHY makes of them is the engine's.

use super::shaper::Shaper;
use medium::{BitInstant, Event, Frame, FrameId, Host, Medium, StationId};
use sim::figures::messages::MessageDelays;
use sim::scenario::messages::MessageTable;
use std::collections::{BTreeSet, VecDeque};

/// All hosts.
pub(super) struct Nodes<'a> {
    table: &'a MessageTable,
    delays: MessageDelays,
    hosts: Vec<Queues>,
    /// When hosts look again whether a class has credit.
    wakes: BTreeSet<(BitInstant, StationId)>,
    /// Up to where the medium runs.
    until: BitInstant,
}

/// The queues of a node, and its MAC.
#[derive(Clone, Default)]
struct Queues {
    /// Frames go by class.
    has_classes: bool,
    /// What the MAC has: the frame's priority, and what it takes of the line.
    in_mac: Option<(u8, u64)>,
    /// Frames that the MAC had so far.
    handed: u64,
    /// By priority.
    classes: [Class; 8],
}

/// The frames of a class that the MAC does not have.
#[derive(Clone, Default)]
struct Class {
    shaper: Option<Shaper>,
    /// In the order of release: the message, its instant, the frame.
    waiting: VecDeque<(usize, BitInstant, Frame)>,
}

impl Queues {
    fn has_frame(&self, priority: u8) -> bool {
        !self.classes[usize::from(priority)].waiting.is_empty() || self.in_mac.is_some_and(|(own, _)| own == priority)
    }

    /// Counts credit up to `at`.
    fn pass(&mut self, at: BitInstant) {
        for priority in 0..8 {
            let has_frame = self.has_frame(priority);
            let shaper = self.classes[usize::from(priority)].shaper.as_mut();
            shaper.into_iter().for_each(|shaper| shaper.pass(at, has_frame));
        }
    }

    /// The MAC is done with its frame.
    fn done(&mut self) {
        let Some((priority, bits)) = self.in_mac.take() else { return };
        let Class { shaper: Some(shaper), waiting } = &mut self.classes[usize::from(priority)] else { return };
        shaper.sent(bits);
        if waiting.is_empty() {
            shaper.empty();
        }
    }

    /// The class that may send at `at`; otherwise when one may.
    fn next(&self, at: BitInstant) -> Result<u8, Option<BitInstant>> {
        let waiting = (0..8).rev().filter(|priority| !self.classes[usize::from(*priority)].waiting.is_empty());
        let mut first = None;
        for priority in waiting {
            let may = self.classes[usize::from(priority)].shaper.map_or(at, |shaper| shaper.may_send());
            if may <= at {
                return Ok(priority);
            }
            first = Some(first.map_or(may, |first: BitInstant| first.min(may)));
        }
        Err(first)
    }
}

impl Nodes<'_> {
    pub fn new(table: &MessageTable, delays: MessageDelays) -> Nodes<'_> {
        let host = |number: usize| Queues { has_classes: table.has_classes(number), ..Queues::default() };
        let mut hosts: Vec<Queues> = (0..table.nodes.len()).map(host).collect();
        for message in &table.messages {
            hosts[message.node].classes[usize::from(message.priority)].shaper = message.idle_slope.map(Shaper::new);
        }
        Nodes { table, delays, hosts, wakes: BTreeSet::new(), until: BitInstant::ZERO }
    }

    /// Runs the medium up to `until`, or to where a host wakes before that: when, and whose.
    pub fn run(&mut self, medium: &mut Medium, until: BitInstant) -> Option<(BitInstant, StationId)> {
        loop {
            let wake = self.wakes.first().copied().filter(|(at, _)| *at < until);
            self.until = wake.map_or(until, |(at, _)| at);
            medium.run_until(self.until, self);
            if !self.stops() {
                wake.into_iter().for_each(|wake| assert!(self.wakes.remove(&wake), "it is the first one"));
                return wake;
            }
        }
    }

    /// A frame is released. Returns it if the MAC gets it now.
    pub fn release(&mut self, at: BitInstant, station: StationId, message: usize, frame: Frame) -> Option<Frame> {
        let host = &mut self.hosts[station.index()];
        if !host.has_classes {
            return Some(self.hand_over(at, station, (message, at, frame)));
        }
        host.pass(at);
        let class = usize::from(self.table.messages[message].priority);
        host.classes[class].waiting.push_back((message, at, frame));
        self.serve(at, station)
    }

    /// Credit of a class of `station` is back. Returns the frame that its MAC gets now.
    pub fn wakes(&mut self, at: BitInstant, station: StationId) -> Option<Frame> {
        let host = &mut self.hosts[station.index()];
        host.pass(at);
        self.serve(at, station)
    }

    /// What was seen.
    pub fn into_delays(self) -> MessageDelays {
        self.delays
    }

    /// The next frame, if the MAC of this host with classes has none and a class may send.
    fn serve(&mut self, at: BitInstant, station: StationId) -> Option<Frame> {
        let host = &mut self.hosts[station.index()];
        if host.in_mac.is_some() {
            return None;
        }
        match host.next(at) {
            Ok(priority) => {
                let next = host.classes[usize::from(priority)].waiting.pop_front()?;
                host.in_mac = Some((priority, self.table.messages[next.0].packet()));
                Some(self.hand_over(at, station, next))
            }
            Err(wake) => {
                self.wakes.extend(wake.map(|at| (at, station)));
                None
            }
        }
    }

    fn hand_over(&mut self, at: BitInstant, station: StationId, next: (usize, BitInstant, Frame)) -> Frame {
        let (message, released, frame) = next;
        let host = &mut self.hosts[station.index()];
        host.handed += 1;
        self.delays.handed(FrameId { station, serial: host.handed }, message, released, at);
        frame
    }
}

impl Host for Nodes<'_> {
    fn feeds(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event) {
        self.delays.event(event);
    }

    fn next_frame(&mut self, at: BitInstant, station: StationId) -> Option<Frame> {
        let host = &mut self.hosts[station.index()];
        if !host.has_classes {
            return None;
        }
        host.pass(at);
        host.done();
        self.serve(at, station)
    }

    fn stops(&self) -> bool {
        self.wakes.first().is_some_and(|(at, _)| *at < self.until)
    }
}
