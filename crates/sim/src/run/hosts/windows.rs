//! Closed loops: sources with a window, the answers to their frames, and what never arrives.
//!
//! ```text
//!   request ──delivered──► answer ──delivered──► pause ─► request        each ► is a bit time at least
//!      └──────────────── timeout ────────────────────────► request       if the answer is missing
//! ```
//! A host learns that a frame has arrived at the end of the instant, when signals end. What it hands over then arrives in the
//! next bit time.

use crate::traffic::Source;
use medium::{BitInstant, BitTimes, Destination, Event, Frame, FrameId, Octets, StationId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
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
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// Its source.
    index: usize,
    /// How long its answer is, if the source waits for one.
    reply: Option<Octets>,
    /// Its answer, once offered.
    answer: Option<FrameId>,
}

/// Frames under way and timers that will end, for all stations.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// By instant, station, and the order in which it became due.
    due: BinaryHeap<Reverse<(BitInstant, StationId, u64)>>,
    what: BTreeMap<u64, Due>,
    order: u64,
    requests: HashMap<FrameId, UnderWay>,
    /// The request that each answer is for.
    answers: HashMap<FrameId, FrameId>,
    /// Some source waits for answers.
    answered: bool,
}

impl Windows {
    /// Opens the window of `source`, if it has one, where the source's time begins.
    pub fn begin(&mut self, index: usize, source: &mut Source) {
        let (station, begin) = (source.station(), source.begin());
        let Some(window) = source.closed_loop() else { return };
        self.answered |= window.reply.is_some();
        for _ in 0..window.frames {
            let at = begin + window.pause();
            self.expect(at, station, Due::Request { index });
        }
    }

    /// Closes the windows of the sources with these indices: what is under way is not waited for any more.
    pub fn close(&mut self, own: &Range<usize>) {
        self.requests.retain(|_, under_way| !own.contains(&under_way.index));
        self.what.retain(|_, due| !matches!(due, Due::Request { index } if own.contains(index)));
        self.due.retain(|Reverse((.., order))| self.what.contains_key(order));
    }

    /// Whether hosts answer frames.
    pub fn have_answers(&self) -> bool {
        self.answered
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty()
    }

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

    /// `request`, of the source with this index, is offered at `at`.
    pub fn request(&mut self, at: BitInstant, request: FrameId, index: usize, source: &mut Source) {
        let window = source.closed_loop().expect("only a source with a window has requests");
        let (reply, timeout) = (window.reply, window.timeout);
        self.requests.insert(request, UnderWay { index, reply, answer: None });
        self.expect(at + timeout, request.station, Due::Lost { request });
    }

    /// Whether `answer` is still waited for, as it is offered.
    pub fn answers(&mut self, request: FrameId, answer: FrameId) -> bool {
        let Some(under_way) = self.requests.get_mut(&request) else { return false };
        under_way.answer = Some(answer);
        self.answers.insert(answer, request);
        true
    }

    /// A frame has arrived: its addressee answers, or its window has room.
    pub fn delivered(&mut self, event: &Event, sources: &mut [Source]) {
        let request = self.answers.remove(&event.frame);
        let Some(under_way) = self.requests.get(&request.unwrap_or(event.frame)) else { return };
        let next = event.at + BitTimes::new(1);
        match (request, under_way.reply) {
            (None, Some(size)) => {
                let frame = Frame::new(size, Destination::Station(event.frame.station));
                self.expect(next, event.station, Due::Reply { request: event.frame, frame });
            }
            (Some(_), _) | (None, None) => {
                let index = under_way.index;
                self.requests.remove(&request.unwrap_or(event.frame));
                let pause = sources[index].closed_loop().map_or(BitTimes::ZERO, |window| window.pause());
                self.expect(next + pause, sources[index].station(), Due::Request { index });
            }
        }
    }

    /// The source whose `request` is lost; none if it was answered.
    pub fn give_up(&mut self, request: FrameId) -> Option<usize> {
        let UnderWay { index, answer, .. } = self.requests.remove(&request)?;
        answer.map(|answer| self.answers.remove(&answer));
        Some(index)
    }

    fn expect(&mut self, at: BitInstant, station: StationId, due: Due) {
        self.order += 1;
        self.due.push(Reverse((at, station, self.order)));
        self.what.insert(self.order, due);
    }
}
