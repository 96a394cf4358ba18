//! What hosts do at instants that follow from what the medium did: in order of instant, station, and when it became due.

use medium::{BitInstant, Frame, FrameId, StationId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

/// What a host does when it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The source with this index offers a frame.
    Request { index: usize },
    /// The addressee of `request` offers its answer.
    Reply { request: FrameId, frame: Frame },
    /// `request` is lost, unless it was answered.
    Lost { request: FrameId },
    /// The stack of the connection end with this number has something to do.
    Stack { end: usize },
    /// The oldest frame of the station's stacks is handed over.
    Segment,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    due: BinaryHeap<Reverse<(BitInstant, StationId, u64)>>,
    what: BTreeMap<u64, Due>,
    order: u64,
}

impl Agenda {
    /// When a host does something next, and which station's.
    pub fn next(&self) -> Option<(BitInstant, StationId)> {
        self.due.peek().map(|Reverse((at, station, _))| (*at, *station))
    }

    /// Takes what is next.
    pub fn take_next(&mut self) -> Option<(BitInstant, StationId, Due)> {
        let Reverse((at, station, order)) = self.due.pop()?;
        let due = self.what.remove(&order).expect("what is due stands there until it is taken");
        Some((at, station, due))
    }

    /// The sources with these indices offer nothing of what was expected of them.
    pub fn forget_requests(&mut self, own: &Range<usize>) {
        self.what.retain(|_, due| !matches!(due, Due::Request { index } if own.contains(index)));
        self.due.retain(|Reverse((.., order))| self.what.contains_key(order));
    }

    /// A host of `station` does this at `at`.
    pub fn expect(&mut self, at: BitInstant, station: StationId, due: Due) {
        self.order += 1;
        self.due.push(Reverse((at, station, self.order)));
        self.what.insert(self.order, due);
    }
}
