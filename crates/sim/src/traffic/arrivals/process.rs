//! Instants of arrivals, drawn from streams of random numbers.

use crate::traffic::draw;
use backoff::Generator;
use medium::{BitInstant, BitRate, BitTimes};
use std::time::Duration;

/// Time that grows by fractions of a bit time: none is lost, so that the mean of gaps is kept.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    whole: u64,
    /// 0 up to, not including, 1.
    fraction: f64,
}

impl Clock {
    /// Moves on by `span` bit times, which is not negative.
    fn advance(&mut self, span: f64) {
        let sum = self.fraction + span;
        // Rounds down, and exactly: from 2^53 on a number has no fraction.
        let whole = sum as u64;
        self.whole = self.whole.saturating_add(whole);
        self.fraction = sum - whole as f64;
    }

    /// The bit time in which we are; `None` at the end of time.
    fn now(self) -> Option<BitInstant> {
        (self.whole < u64::MAX).then(|| BitInstant::new(self.whole))
    }
}

/// Instants of arrivals, in order; endless but for the end of time.
#[derive(Clone, Debug)]
pub(in crate::traffic) struct Process {
    clock: Clock,
    gaps: Generator,
    law: Law,
}

/// All in bit times.
#[derive(Clone, Debug)]
enum Law {
    Poisson {
        mean: f64,
    },
    /// `first`: what is left of the interval in which time begins.
    Periodic {
        interval: f64,
        first: Option<f64>,
        jitter: BitTimes,
        /// Frames of one release.
        frames: u32,
        /// Those of the last release that are still to come.
        left: u32,
        /// The last arrival: none comes before the one before it.
        last: BitInstant,
    },
    OnOff {
        mean: f64,
        phase: Phase,
    },
}

/// The phases of an on/off source, from a stream of their own: the load does not move them.
#[derive(Clone, Debug)]
struct Phase {
    on: f64,
    off: f64,
    /// What is left of the current time on.
    left: f64,
    generator: Generator,
}

impl Process {
    /// Poisson arrivals with a mean gap of `mean` bit times.
    pub fn poisson(mean: f64, gaps: Generator) -> Process {
        Process { clock: Clock::default(), gaps, law: Law::Poisson { mean } }
    }

    /// Releases of `frames` every `interval` bit times; the first at `phase` bit times, or anywhere within the first interval.
    /// Those of one release arrive together, up to `jitter` after it.
    pub fn periodic(interval: f64, phase: Option<f64>, jitter: BitTimes, frames: u32, mut gaps: Generator) -> Process {
        let first = Some(phase.unwrap_or_else(|| draw::fraction(&mut gaps) * interval));
        let law = Law::Periodic { interval, first, jitter, frames, left: 0, last: BitInstant::ZERO };
        Process { clock: Clock::default(), gaps, law }
    }

    /// Arrivals whose mean gap, pauses included, is `mean` bit times. Time begins on or off, as likely as at any instant.
    pub fn on_off(
        mean: f64,
        on: Duration,
        off: Duration,
        rate: BitRate,
        gaps: Generator,
        mut phases: Generator,
    ) -> Process {
        let bits = |span: Duration| span.as_nanos() as f64 * rate.get() as f64 / 1e9;
        let (on, off) = (bits(on), bits(off));
        let mut clock = Clock::default();
        if draw::fraction(&mut phases) * (on + off) >= on {
            clock.advance(off * draw::exponential(&mut phases));
        }
        let left = on * draw::exponential(&mut phases);
        let phase = Phase { on, off, left, generator: phases };
        Process { clock, gaps, law: Law::OnOff { mean: mean * on / (on + off), phase } }
    }

    /// The next arrival; `None` at the end of time, after 2^64 bit times.
    pub fn next(&mut self) -> Option<BitInstant> {
        if let Law::Periodic { left: left @ 1.., last, .. } = &mut self.law {
            *left -= 1;
            return Some(*last);
        }
        let gap = match &mut self.law {
            Law::Poisson { mean } => *mean * draw::exponential(&mut self.gaps),
            Law::Periodic { interval, first, .. } => first.take().unwrap_or(*interval),
            Law::OnOff { mean, phase } => phase.stretch(*mean * draw::exponential(&mut self.gaps)),
        };
        self.clock.advance(gap);
        let release = self.clock.now()?;
        Some(match &mut self.law {
            Law::Periodic { jitter, last, frames, left, .. } => {
                *left = *frames - 1;
                let is_late = *jitter > BitTimes::ZERO;
                let late = if is_late { draw::below(&mut self.gaps, jitter.get() + 1) } else { 0 };
                *last = (*last).max(BitInstant::new(release.get().saturating_add(late)));
                *last
            }
            Law::Poisson { .. } | Law::OnOff { .. } => release,
        })
    }
}

impl Phase {
    /// `gap`, which counts time on only, with the pauses that fall into it.
    fn stretch(&mut self, gap: f64) -> f64 {
        let (mut rest, mut stretched) = (gap, gap);
        while rest > self.left {
            rest -= self.left;
            stretched += self.off * draw::exponential(&mut self.generator);
            self.left = self.on * draw::exponential(&mut self.generator);
        }
        self.left -= rest;
        stretched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps of 0.3 BT: the thousandth arrival comes at 300, though each instant is whole.
    #[test]
    fn fractions_of_a_bit_time_are_not_lost() {
        let mut clock = Clock::default();
        (0..1000).for_each(|_| clock.advance(0.3));
        assert!((clock.whole as f64 + clock.fraction - 300.0).abs() < 1e-9, "{clock:?}");
    }
}
