//! The medium's clock at a user's command: stopped, let go for one event or some bit times, and started again.
//!
//! ```text
//!   real time   ──────── pause ~~~~~~~~ step ~~~~~~~~ resume ────────
//!   bit times   ────────── x ───────── x … x+n ──────── x+n ─────────
//! ```
//! A pause is a slip that the user wants: what comes meanwhile comes at the instant of the pause, in order, and nothing is
//! late. The deliveries of a step go out at once, in the order in which they are due.

use super::Coordinator;
use link::clock::monotonic_nanos;
use medium::BitTimes;
use std::cmp::Reverse;

/// How often a stopped clock is looked after.
const LOOK: u64 = 5_000_000;

/// A pause.
#[derive(Debug)]
pub(super) struct Pause {
    /// When the clock was last moved back.
    looked: u64,
}

impl Pause {
    /// When the clock is to be moved back again.
    pub fn next_look(&self) -> u64 {
        self.looked + LOOK
    }
}

impl Coordinator {
    pub(super) fn pause(&mut self) {
        if self.pause.is_some() {
            return;
        }
        let now = monotonic_nanos();
        // All that was stamped before the clock stops has been read, so no guard window is needed.
        self.take_arrivals();
        self.pause = Some(Pause { looked: self.effort.overload.looked_at() });
        self.stand_still(now);
        self.advance(now + self.rest.guard);
    }

    /// The time since the last look has not gone by for the medium.
    pub(super) fn stand_still(&mut self, now: u64) {
        let Some(pause) = &mut self.pause else { return };
        let still = now.saturating_sub(std::mem::replace(&mut pause.looked, now));
        self.effort.overload.looked(now);
        self.emulator.counts.machine.paused_ns += still;
        self.stop_clock(now, still);
    }

    /// Lets the clock go on for this long, or up to the next event.
    pub(super) fn step(&mut self, bits: Option<BitTimes>) {
        let now = monotonic_nanos();
        self.take_arrivals();
        self.stand_still(now);
        let arrival = self.frames.arrivals.peek().map(|Reverse(arrival)| arrival.at);
        let event = [arrival, self.medium.next_timeout()].into_iter().flatten().min();
        let delivery = self.frames.deliveries.peek().map(|Reverse(next)| self.clocks.timeline.instant(next.due));
        let target = match bits {
            Some(bits) => self.run_to + bits,
            None => match [event, delivery].into_iter().flatten().min() {
                Some(next) => next.max(self.run_to) + BitTimes::new(1),
                // Nothing is about to happen.
                None => return,
            },
        };
        let leap = self.clocks.timeline.nanos(target).saturating_sub(now);
        self.clocks.timeline.leap(now, leap);
        let mut waiting = std::mem::take(&mut self.frames.deliveries).into_vec();
        waiting.iter_mut().for_each(|Reverse(delivery)| delivery.due = delivery.due.saturating_sub(leap));
        self.frames.deliveries = waiting.into();
        // Before the answer, which tells what came of it.
        self.advance(now + self.rest.guard);
        self.deliver();
    }

    /// Lets the clock run again.
    pub(super) fn resume(&mut self) {
        // The time up to here counts as paused, even if the machine was late in it.
        self.stand_still(monotonic_nanos());
        self.pause = None;
    }
}
