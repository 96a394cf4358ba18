//! Messages of a table (docs/plan.md): how long each waits and takes, as the medium treats its frames, and what results
//! say of that. It must never know how a bound is found.

use crate::figures::cycle::{DELIMITER, PREAMBLE};
use crate::figures::histogram::Histogram;
use medium::{BitInstant, BitTimes, Event, FrameId, Kind};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What was seen of one message, in bit times.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// From release to the last bit at the farthest node.
    pub response: Histogram<11>,
    /// The longest.
    pub response_max: u64,
    /// The longest from the head of the queue to the first bit.
    pub access_max: u64,
    /// Frames that were not sent: the queue was full, or attempts were over.
    pub lost: u64,
}

/// The frames of one node that are not sent.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// Each with its number, its message, its release, and when the MAC got it.
    queue: VecDeque<(u64, usize, BitInstant, BitInstant)>,
    /// When the MAC finished with the last frame.
    free: BitInstant,
    /// How much later than it ends a frame is over at the farthest node.
    farthest: u64,
}

impl Waiting {
    /// The frame that the MAC is done with, if it is one of a message: the first, or, behind a full queue, the last.
    fn take(&mut self, serial: u64) -> Option<(usize, BitInstant, BitInstant)> {
        let place = self.queue.iter().position(|(known, ..)| *known == serial)?;
        self.queue.remove(place).map(|(_, message, released, handed)| (message, released, handed))
    }
}

/// Delays of all messages: a fold of the engine's events.
#[derive(Clone, Debug)]
pub struct MessageDelays {
    nodes: Vec<Waiting>,
    observed: Vec<Observed>,
}

impl MessageDelays {
    /// Of this number of messages, on a segment where a frame of each node is over at the farthest one so much later.
    pub fn new(farthest: impl IntoIterator<Item = u64>, messages: usize) -> MessageDelays {
        let nodes = farthest.into_iter().map(|farthest| Waiting { farthest, ..Waiting::default() });
        MessageDelays { nodes: nodes.collect(), observed: vec![Observed::default(); messages] }
    }

    /// `frame` is one of `message`, is released now, and handed over.
    pub fn released(&mut self, frame: FrameId, message: usize, at: BitInstant) {
        self.handed(frame, message, at, at);
    }

    /// `frame` is one of `message`, was released then, and is handed over at `at`.
    pub fn handed(&mut self, frame: FrameId, message: usize, released: BitInstant, at: BitInstant) {
        self.nodes[frame.station.index()].queue.push_back((frame.serial, message, released, at));
    }

    /// Takes an event in.
    pub fn event(&mut self, event: &Event) {
        let Some(node) = self.nodes.get_mut(event.station.index()) else { return };
        match event.kind {
            Kind::Transmitted { size, access_delay, .. } => {
                if let Some((message, released, handed)) = node.take(event.frame.serial) {
                    let begin = handed.max(node.free) + access_delay;
                    let packet = PREAMBLE + size.bit_times().get() + DELIMITER;
                    let response = (begin + BitTimes::new(packet + node.farthest)).since(released).get();
                    let observed = &mut self.observed[message];
                    observed.response.record(response);
                    observed.response_max = observed.response_max.max(response);
                    observed.access_max = observed.access_max.max(access_delay.get());
                }
                node.free = event.at;
            }
            Kind::Discarded { attempts, .. } => {
                let lost = node.take(event.frame.serial);
                lost.into_iter().for_each(|(message, ..)| self.observed[message].lost += 1);
                // A frame that the MAC does not take has never been at the head.
                if attempts > 0 {
                    node.free = event.at;
                }
            }
            Kind::QueueDrop => {
                let lost = node.take(event.frame.serial);
                lost.into_iter().for_each(|(message, ..)| self.observed[message].lost += 1);
            }
            _ => {}
        }
    }

    /// What was seen of each message.
    pub fn observed(&self) -> &[Observed] {
        &self.observed
    }

    /// The same at the beginning of another run: no frame waits.
    #[must_use]
    pub fn of_next_run(mut self) -> MessageDelays {
        for node in &mut self.nodes {
            *node = Waiting { farthest: node.farthest, ..Waiting::default() };
        }
        self
    }

    /// Some frame is not sent yet.
    pub fn some_wait(&self) -> bool {
        self.nodes.iter().any(|node| !node.queue.is_empty())
    }

    /// Counts from zero; frames that wait stay.
    pub fn restart(&mut self) {
        self.observed.fill_with(Observed::default);
    }
}

/// What a lab that runs a table of messages comes to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanResults {
    /// Frames on the bus that are none of the table's.
    pub other_frames: u64,
    /// Why no bound holds for what was measured: `noise`, `plca_status` or `other_frames`; none if all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub suspended: Option<Suspension>,
    /// Each message, in order of the table.
    pub messages: Vec<MessageResults>,
}

impl PlanResults {
    /// A frame of some message was late, lost, or above its bound.
    pub fn is_missed(&self) -> bool {
        let is_missed = |verdict| matches!(verdict, Verdict::Missed | Verdict::Lost | Verdict::AboveBound);
        self.messages.iter().any(|message| is_missed(message.verdict))
    }
}

/// Why no bound holds for what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspension {
    /// Noise was at a node, or its receiver was deaf.
    Noise,
    /// A node lost plca_status, or got other settings.
    PlcaStatus,
    /// Frames were on the bus that the table does not have.
    OtherFrames,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Each frame was in time, and within its bound if there is one.
    Met,
    /// A frame took longer than the deadline.
    Missed,
    /// A frame was not sent at all.
    Lost,
    /// A frame took longer than the bound, which so was none.
    AboveBound,
    /// No frame has been sent yet.
    #[default]
    Nothing,
}

/// A message in a lab, in bit times of the medium.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MessageResults {
    /// The node that sends it.
    pub node: String,
    /// Its name.
    pub message: String,
    /// Frames that were sent.
    pub frames: u64,
    /// Frames that were not: the queue was full, or attempts were over.
    pub lost: u64,
    /// How unevenly the machine released its frames: the jitter in the table, and what the host adds to it.
    pub release_jitter_bt: u64,
    /// The longest from the head of the queue to the first bit; like the others, none of no frame.
    pub access_max_bt: Option<u64>,
    /// From release to the last bit at the farthest node: the median.
    pub response_p50_bt: Option<u64>,
    /// Its 99th percentile.
    pub response_p99_bt: Option<u64>,
    /// The longest.
    pub response_max_bt: Option<u64>,
    /// The response, at most.
    pub deadline_bt: u64,
    /// The bound of the response by the table.
    pub planned_bound_bt: Option<u64>,
    /// The same with releases as uneven as the machine makes them; none of a message without a bound, and of all messages
    /// where bounds are suspended.
    pub response_bound_bt: Option<u64>,
    /// The bound of the access delay, likewise.
    pub access_bound_bt: Option<u64>,
    /// What became of it: `met`, `missed`, `lost`, `above_bound` or, if no frame was sent, `nothing`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub verdict: Verdict,
}

impl MessageResults {
    /// What was seen of a message; the rest is not known yet.
    pub fn new(node: &str, message: &str, seen: &Observed, release_jitter_bt: u64) -> MessageResults {
        let some = |bits: u64| (seen.response.total() > 0).then_some(bits);
        let [p50, p99] = seen.response.quantiles([0.5, 0.99], seen.response_max);
        MessageResults {
            node: node.to_owned(),
            message: message.to_owned(),
            frames: seen.response.total(),
            lost: seen.lost,
            release_jitter_bt,
            access_max_bt: some(seen.access_max),
            response_p50_bt: p50,
            response_p99_bt: p99,
            response_max_bt: some(seen.response_max),
            ..MessageResults::default()
        }
    }

    /// The verdict that follows from the other figures.
    pub fn judge(&mut self) {
        let is_above = |seen: Option<u64>, most: Option<u64>| seen.zip(most).is_some_and(|(seen, most)| seen > most);
        let deadline = Some(self.deadline_bt);
        self.verdict = if self.lost > 0 {
            Verdict::Lost
        } else if is_above(self.response_max_bt, deadline) {
            Verdict::Missed
        } else if is_above(self.response_max_bt, self.response_bound_bt)
            || is_above(self.access_max_bt, self.access_bound_bt)
        {
            Verdict::AboveBound
        } else if self.frames == 0 {
            Verdict::Nothing
        } else {
            Verdict::Met
        };
    }
}
