//! What belongs to frames, from when they are offered until no station can receive them any more.

use medium::{BitInstant, BitTimes, Config, Event, FrameId, Kind, Method};
use std::collections::{HashMap, VecDeque};

/// Octets, or anything else that the medium does not know of its frames.
#[derive(Clone, Debug)]
pub struct InFlight<T> {
    /// See [`InFlight::longest`].
    longest: BitTimes,
    frames: HashMap<FrameId, T>,
    /// Frames that their senders have finished with, until all stations have them.
    ending: VecDeque<(BitInstant, FrameId)>,
}

impl<T> InFlight<T> {
    /// None yet, on a medium made from `config`.
    pub fn new(config: &Config) -> InFlight<T> {
        let longest = config.topology.longest_distance() + delayed(config);
        InFlight { longest, frames: HashMap::new(), ending: VecDeque::new() }
    }

    /// How long after its sender has finished with it a frame's last bit is at all stations.
    pub fn longest(&self) -> BitTimes {
        self.longest
    }

    /// The frame that is offered next has this.
    pub fn insert(&mut self, frame: FrameId, what: T) {
        self.frames.insert(frame, what);
    }

    /// What a frame has, if it was inserted and can still arrive.
    pub fn get(&self, frame: FrameId) -> Option<&T> {
        self.frames.get(&frame)
    }

    /// Those with which their senders have not finished, in no order.
    pub fn held(&self) -> impl Iterator<Item = (FrameId, &T)> {
        let is_held = |frame: &FrameId| !self.ending.iter().any(|(_, ending)| ending == frame);
        self.frames.iter().filter(move |(frame, _)| is_held(frame)).map(|(frame, what)| (*frame, what))
    }

    /// Whether no frame can arrive.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Learns what has happened. Returns what the frame has, if its sender has finished with it.
    pub fn event(&mut self, event: &Event) -> Option<&T> {
        if !matches!(event.kind, Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop) {
            return None;
        }
        self.finished(event.at, event.frame)
    }

    /// A frame's sender has finished with it at `at`: returns what it has.
    pub fn finished(&mut self, at: BitInstant, frame: FrameId) -> Option<&T> {
        let what = self.frames.get(&frame)?;
        self.ending.push_back((at + self.longest + BitTimes::new(1), frame));
        Some(what)
    }

    /// Everything before `now` has happened.
    pub fn passed(&mut self, now: BitInstant) {
        while let Some((_, frame)) = self.ending.pop_front_if(|(end, _)| *end < now) {
            self.frames.remove(&frame);
        }
    }
}

/// How long a frame's last bit may wait below its MAC: PLCA holds bits back until their station's turn.
fn delayed(config: &Config) -> BitTimes {
    if let Method::Plca(own) = &config.method { own.delay_line + own.phy_on + own.phy_off } else { BitTimes::ZERO }
}
