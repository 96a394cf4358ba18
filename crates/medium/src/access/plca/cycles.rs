//! Cycles from BEACON to BEACON: their number and length, and whether the next one must be the same as the last.

use super::counters::PlcaCounters;
use super::node::Node;
use super::watch::Watch;
use crate::frame::StationId;
use crate::time::{BitInstant, BitTimes};

/// Cycles of a bus with PLCA, from one BEACON of the coordinator to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlcaCycles {
    /// The number of cycles that ended.
    pub cycles: u64,
    /// The number of those in which no node sent.
    pub empty: u64,
    /// The sum of their lengths.
    pub sum: BitTimes,
    /// The length of the shortest; 0 if there was none.
    pub shortest: BitTimes,
    /// The length of the longest.
    pub longest: BitTimes,
    /// Times in which nothing was on the line for longer than 255 turns, while PLCA was on at some node: no coordinator
    /// sent BEACONs.
    pub silences: u64,
}

impl PlcaCycles {
    /// The cycles of two runs together.
    pub fn and(self, other: PlcaCycles) -> PlcaCycles {
        let shortest = match (self.cycles, other.cycles) {
            (0, _) => other.shortest,
            (_, 0) => self.shortest,
            (_, _) => self.shortest.min(other.shortest),
        };
        PlcaCycles {
            cycles: self.cycles + other.cycles,
            empty: self.empty + other.empty,
            sum: self.sum + other.sum,
            shortest,
            longest: self.longest.max(other.longest),
            silences: self.silences + other.silences,
        }
    }

    /// Adds `count` cycles, each of `length`.
    fn add(&mut self, length: BitTimes, count: u64, empty: bool) {
        self.shortest = if self.cycles == 0 { length } else { self.shortest.min(length) };
        self.longest = self.longest.max(length);
        self.cycles += count;
        self.empty += if empty { count } else { 0 };
        self.sum += length * count;
    }
}

/// The state of all nodes just before the coordinator sent a BEACON.
#[derive(Debug)]
struct Begin {
    at: BitInstant,
    nodes: Vec<(Node, Watch)>,
    counters: Vec<PlcaCounters>,
}

/// A repeating cycle: the state of the nodes as it begins, its length, and the counts of each node in it.
#[derive(Debug)]
struct Known {
    nodes: Vec<(Node, Watch)>,
    length: BitTimes,
    counted: Vec<PlcaCounters>,
}

/// The knowledge about cycles.
#[derive(Debug)]
pub(super) struct Cycles {
    pub sums: PlcaCycles,
    /// The last BEACON of the coordinator.
    last: Option<BitInstant>,
    /// When the last signal on the line ended.
    pub silent_since: BitInstant,
    /// Empty cycles since the last event that reported a BEACON.
    pub untold: u64,
    begin: Option<Begin>,
    /// The last repeating cycle. It repeats whenever all nodes are in the same state again.
    known: Option<Known>,
    /// The number of empty cycles in a row.
    quiet: u8,
    /// The coordinator whose cycles they are.
    pub owner: Option<StationId>,
    /// The bus is in a cycle that repeats until an input from outside.
    pub regular: bool,
}

impl Cycles {
    pub fn new() -> Cycles {
        Cycles {
            sums: PlcaCycles::default(),
            last: None,
            silent_since: BitInstant::ZERO,
            untold: 0,
            begin: None,
            known: None,
            quiet: 0,
            owner: None,
            regular: false,
        }
    }

    /// An event comes that is not part of an empty cycle.
    #[inline]
    pub fn disturb(&mut self) {
        self.begin = None;
        self.quiet = 0;
        self.regular = false;
    }

    /// The same, and all knowledge of cycles is dropped: places hear something different from now on.
    pub fn forget(&mut self) {
        self.disturb();
        self.known = None;
    }

    /// The cycle that ends was empty: whether the next may be a known one, since the one before it was empty too, or
    /// since a repeating cycle is known.
    pub fn may_be_known(&mut self) -> bool {
        self.quiet = self.quiet.saturating_add(1);
        self.quiet > 1 || self.known.is_some()
    }

    /// The coordinator sends a BEACON at `now`: gives the length of the cycle that ends, if one does.
    pub fn beacon(&mut self, now: BitInstant, busy: bool) -> Option<BitTimes> {
        let length = self.last.replace(now).map(|last| now - last);
        if let Some(length) = length {
            self.sums.add(length, 1, !busy);
        }
        length
    }

    /// From the state of the nodes at `now`, if nothing is in progress: the length of the repeating cycle, and the
    /// counts of each node in it.
    pub fn period(
        &mut self,
        now: BitInstant,
        nodes: Option<Vec<(Node, Watch)>>,
        counters: Vec<PlcaCounters>,
    ) -> Option<(BitTimes, Vec<PlcaCounters>)> {
        let Some(nodes) = nodes else {
            self.disturb();
            return None;
        };
        if let Some(known) = self.known.as_ref().filter(|known| known.nodes == nodes) {
            self.begin = Some(Begin { at: now, nodes, counters });
            return Some((known.length, known.counted.clone()));
        }
        let before = self.begin.replace(Begin { at: now, nodes, counters })?;
        let begin = self.begin.as_ref()?;
        if before.nodes != begin.nodes {
            return None;
        }
        let counted = begin.counters.iter().zip(&before.counters).map(|(now, before)| now.since(before));
        let (length, counted): (_, Vec<PlcaCounters>) = (now - before.at, counted.collect());
        self.known = Some(Known { nodes: begin.nodes.clone(), length, counted: counted.clone() });
        Some((length, counted))
    }

    /// Skips `count` empty cycles, each of `length`, and adds `counted` for each node and cycle.
    pub fn pass(&mut self, length: BitTimes, count: u64, counted: &[PlcaCounters]) {
        self.sums.add(length, count, true);
        self.untold += count;
        let span = length * count;
        self.last = self.last.map(|last| last + span);
        self.silent_since = self.silent_since + span;
        if let Some(begin) = &mut self.begin {
            begin.at = begin.at + span;
            begin.counters.iter_mut().zip(counted).for_each(|(sum, more)| *sum = sum.and(more, count));
        }
    }
}
