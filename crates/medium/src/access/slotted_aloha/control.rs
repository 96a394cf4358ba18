//! Optimal control: a frame goes out in a slot with a chance that follows the backlog, in place of a backoff.
//!
//! ```text
//!   slot k ends ──► idle, success or collision ──► v ──► slot k + 1: each frame that waits goes out with the chance 1/v
//! ```
//! New frames wait like those that collided (Rivest, "Network control by Bayesian broadcast", IEEE Trans. Inf. Theory 33 (3),
//! 1987; Bertsekas and Gallager, "Data Networks", 1992, 4.2.3). A frame draws in the slots that begin after it was offered.
//!
//! With limits, new frames go out in their slot, and those that collided wait: v is then an estimate of these alone
//! (`limits`).

mod limits;

use super::Contention;
use crate::access::contenders::State;
use crate::config::Control;
use crate::engine::Engine;
use crate::frame::FrameId;
use crate::inputs::Host;
use crate::time::{BitInstant, BitTimes};
use limits::Limits;
use std::collections::BTreeMap;

/// 1/(e - 2): how much the estimate grows at a collision, beside the new frames.
const COLLISION: f64 = 1.0 / (std::f64::consts::E - 2.0);

/// The frames that wait, and what stations know or assume of their number.
#[derive(Debug)]
pub(super) struct Controlled {
    /// The frames, in the order in which they draw, each with its contender.
    waiting: BTreeMap<FrameId, usize>,
    /// v, and the new frames of a slot; none if stations know the number.
    estimate: Option<Estimate>,
    /// In place of both: what the limits say.
    limits: Option<Limits>,
    /// Slots before this have changed the estimate.
    judged: BitInstant,
    /// The next slot in which frames that wait draw.
    next: BitInstant,
}

#[derive(Debug)]
struct Estimate {
    backlog: f64,
    arrivals: f64,
}

impl Estimate {
    /// One slot without a collision: a frame less if there was a success, and the same for an idle slot.
    fn fall(&mut self) {
        self.backlog = self.arrivals.max(self.backlog + self.arrivals - 1.0);
    }

    /// `slots` idle slots. At the lowest estimate more of them change nothing.
    fn idle(&mut self, slots: u64) {
        for _ in 0..slots {
            let before = self.backlog;
            self.fall();
            if self.backlog == before {
                return;
            }
        }
    }
}

impl Controlled {
    pub fn new(control: Control) -> Controlled {
        let limits = match control {
            Control::Limits(own) => Some(Limits::new(own)),
            Control::Known | Control::Estimated { .. } => None,
        };
        let estimate = match control {
            Control::Known | Control::Limits(_) => None,
            Control::Estimated { arrivals_millionths } => {
                let arrivals = f64::from(arrivals_millionths) / 1e6;
                Some(Estimate { backlog: arrivals, arrivals })
            }
        };
        Controlled { waiting: BTreeMap::new(), estimate, limits, judged: BitInstant::ZERO, next: BitInstant::ZERO }
    }

    /// When frames that wait draw next; `None` without one.
    pub fn next(&self) -> Option<BitInstant> {
        // While new frames are dropped, idle slots have to lower the estimate.
        (!self.waiting.is_empty() || self.rejects()).then_some(self.next)
    }

    /// The slot before `now` had this number of frames; the slots before that one, as far as they are not judged, had none.
    fn judge(&mut self, now: BitInstant, slot: BitTimes, sent: usize) {
        let slots = (now - self.judged).get() / slot.get();
        self.judged = now;
        if let Some(limits) = &mut self.limits {
            limits.slots_end(slots, sent);
        }
        let Some(estimate) = &mut self.estimate else { return };
        estimate.idle(if sent > 0 { slots - 1 } else { slots });
        match sent {
            0 => {}
            1 => estimate.fall(),
            _ => estimate.backlog += estimate.arrivals + COLLISION,
        }
    }

    /// The chance of each frame that waits, of 2^64; `None`: certain.
    fn chance(&mut self) -> Option<u64> {
        if let Some(limits) = &mut self.limits {
            return limits.chance(self.waiting.len());
        }
        let backlog = self.estimate.as_ref().map_or(self.waiting.len() as f64, |estimate| estimate.backlog);
        (backlog > 1.0).then(|| (2_f64.powi(64) / backlog) as u64)
    }
}

impl Controlled {
    /// New frames draw like those that collided.
    pub fn holds_new(&self) -> bool {
        self.limits.is_none()
    }

    /// New frames are dropped in the present slot.
    pub fn rejects(&self) -> bool {
        self.limits.as_ref().is_some_and(Limits::rejects)
    }
}

impl Engine<Contention> {
    /// The contender waits for a draw, if frames draw; whether they do.
    pub(super) fn await_draw(&mut self, index: usize) -> bool {
        let (now, slot) = (self.core.instant, self.method.slot);
        let Some(controlled) = &mut self.method.controlled else { return false };
        controlled.next = BitInstant::new((now.get() / slot.get() + 1) * slot.get());
        controlled.waiting.insert(self.method.contenders.get(index).frame, index);
        self.method.contenders.hold(index, State::Waiting);
        true
    }

    /// A slot begins: after the slot before it, with `sent` frames, each frame that waits draws.
    pub(super) fn draw_all<H: Host>(&mut self, sent: usize, host: &mut H) {
        let (now, slot) = (self.core.instant, self.method.slot);
        let Some(controlled) = &mut self.method.controlled else { return };
        controlled.judge(now, slot, sent);
        controlled.next = now + slot;
        let chance = controlled.chance();
        self.core.done.extend(self.core.rejected.drain(..));
        let mut sending = Vec::new();
        for (frame, &index) in &controlled.waiting {
            let generator = &mut self.stations[frame.station.index()].mac.generator;
            if chance.is_none_or(|chance| generator.next_u64() < chance) {
                sending.push((*frame, index));
            }
        }
        for (frame, index) in sending {
            self.method.controlled.iter_mut().for_each(|controlled| _ = controlled.waiting.remove(&frame));
            self.attempt(index, host);
        }
    }

    /// Frames that are discarded draw no more.
    pub(super) fn forget_discarded(&mut self) {
        let Contention { controlled, contenders, .. } = &mut self.method;
        let waits =
            |frame, index| contenders.get(index).frame == frame && contenders.get(index).state == State::Waiting;
        controlled
            .iter_mut()
            .for_each(|controlled| controlled.waiting.retain(|&frame, &mut index| waits(frame, index)));
    }
}
