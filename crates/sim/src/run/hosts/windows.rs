//! Closed loops: sources with a window, the answers to their frames, and what never arrives.
//!
//! ```text
//!   request ──delivered──► answer ──delivered──► pause ─► request        each ► is a bit time at least
//!      └──────────────── timeout ────────────────────────► request       if the answer is missing
//! ```
//! A host learns that a frame has arrived at the end of the instant, when signals end. What it hands over then arrives in the
//! next bit time.

use super::agenda::{Agenda, Due};
use crate::traffic::Source;
use medium::{BitInstant, BitTimes, Destination, Event, Frame, FrameId, Octets};
use std::collections::HashMap;
use std::ops::Range;

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

/// Frames under way, for all stations.
#[derive(Debug, Default)]
pub(super) struct Windows {
    requests: HashMap<FrameId, UnderWay>,
    /// The request that each answer is for.
    answers: HashMap<FrameId, FrameId>,
    /// Some source waits for answers.
    answered: bool,
}

impl Windows {
    /// Opens the window of `source` where its time begins; nothing if it has none.
    pub fn begin(&mut self, index: usize, source: &mut Source, agenda: &mut Agenda) -> Option<()> {
        let (station, begin) = (source.station(), source.begin());
        let window = source.closed_loop()?;
        self.answered |= window.reply.is_some();
        for _ in 0..window.frames {
            let at = begin + window.pauses.draw();
            agenda.expect(at, station, Due::Request { index });
        }
        Some(())
    }

    /// Closes the windows of the sources with these indices: what is under way is not waited for any more.
    pub fn close(&mut self, own: &Range<usize>) {
        self.requests.retain(|_, under_way| !own.contains(&under_way.index));
    }

    /// Whether hosts answer frames.
    pub fn have_answers(&self) -> bool {
        self.answered
    }

    /// `request`, of the source with this index, is offered at `at`.
    pub fn request(
        &mut self,
        at: BitInstant,
        request: FrameId,
        index: usize,
        source: &mut Source,
        agenda: &mut Agenda,
    ) {
        let window = source.closed_loop().expect("only a source with a window has requests");
        let (reply, timeout) = (window.reply, window.timeout);
        self.requests.insert(request, UnderWay { index, reply, answer: None });
        agenda.expect(at + timeout, request.station, Due::Lost { request });
    }

    /// Whether `answer` is still waited for, as it is offered.
    pub fn answers(&mut self, request: FrameId, answer: FrameId) -> bool {
        let Some(under_way) = self.requests.get_mut(&request) else { return false };
        under_way.answer = Some(answer);
        self.answers.insert(answer, request);
        true
    }

    /// A frame has arrived: its addressee answers, or its window has room.
    pub fn delivered(&mut self, event: &Event, sources: &mut [Source], agenda: &mut Agenda) {
        let request = self.answers.remove(&event.frame);
        let Some(under_way) = self.requests.get(&request.unwrap_or(event.frame)) else { return };
        let next = event.at + BitTimes::new(1);
        match (request, under_way.reply) {
            (None, Some(size)) => {
                let frame = Frame::new(size, Destination::Station(event.frame.station));
                agenda.expect(next, event.station, Due::Reply { request: event.frame, frame });
            }
            (Some(_), _) | (None, None) => {
                let index = under_way.index;
                self.requests.remove(&request.unwrap_or(event.frame));
                let pause = sources[index].closed_loop().map_or(BitTimes::ZERO, |window| window.pauses.draw());
                agenda.expect(next + pause, sources[index].station(), Due::Request { index });
            }
        }
    }

    /// The source whose `request` is lost; none if it was answered.
    pub fn give_up(&mut self, request: FrameId) -> Option<usize> {
        let UnderWay { index, answer, .. } = self.requests.remove(&request)?;
        answer.map(|answer| self.answers.remove(&answer));
        Some(index)
    }
}
