//! What the iterator keeps between two delays, so that each takes a few operations from the one before.
//!
//! Its laws are those of [`Policy::law_after`](crate::Policy::law_after), which remains the definition; `tests/retry.rs` compares them. It must
//! never know a clock, nor how many attempts there may be.

use core::hint::select_unpredictable;

use crate::law::Uniform;

/// How the next law follows.
#[derive(Clone, Debug)]
pub(crate) enum Course {
    /// It doubles.
    Doubling(Doubling),
    /// It follows from the delay before.
    Decorrelated(Decorrelated),
    /// It stays.
    Settled(Uniform),
    /// The policy has to be asked.
    Growing,
}

/// d, 2 · d, 4 · d … up to the ceiling, and where the draw begins: at 0, or in the middle.
#[derive(Clone, Debug)]
pub(crate) struct Doubling {
    /// d, for the next delay; at least 1, at most the ceiling.
    pub(crate) delay: u64,
    pub(crate) ceiling: u64,
    pub(crate) step: u64,
    pub(crate) spread: Spread,
}

/// How many of d are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    /// All ones where the first half is not, else 0.
    halved: u64,
    /// 1 where d itself is not, else 0.
    below: u64,
}

impl Spread {
    /// From 0 to d.
    pub(crate) const FULL: Spread = Spread { halved: 0, below: 0 };
    /// From 0 to d − 1.
    pub(crate) const BELOW: Spread = Spread { halved: 0, below: 1 };
    /// From the half of d to d.
    pub(crate) const EQUAL: Spread = Spread { halved: u64::MAX, below: 0 };
}

impl Doubling {
    /// The law of the next delay, and on to the one after it.
    #[inline(always)]
    pub(crate) const fn next(&mut self) -> Uniform {
        let delay = self.delay;
        self.delay = if delay > self.ceiling / 2 { self.ceiling } else { delay * 2 };
        let first = (delay / 2) & self.spread.halved;
        Uniform { first, step: self.step, top: delay - first - self.spread.below }
    }
}

/// Uniform in [first, 3 · the delay before], the range moved down where it would pass the cap.
#[derive(Clone, Debug)]
pub(crate) struct Decorrelated {
    first: u64,
    /// The largest width: that of a range which ends at the ceiling, and no more than the cap.
    widest: u64,
    /// The largest delay before whose range is not wider.
    most: u64,
    cap: u64,
}

impl Decorrelated {
    /// `first` is at most `ceiling`.
    #[inline]
    pub(crate) const fn new(first: u64, ceiling: u64, cap: u64) -> Decorrelated {
        let widest = ceiling.saturating_sub(first);
        let widest = if widest < cap { widest } else { cap };
        Decorrelated { first, widest, most: widest.saturating_add(first) / 3, cap }
    }

    /// The law after that delay.
    // Without a branch: which end of the range is cut is as random as the delays. And the width first, since the draw
    // waits for it: a range that is moved down keeps its width, and where it begins follows from that.
    #[inline(always)]
    pub(crate) fn next(&self, previous: u64) -> Uniform {
        let tripled = previous.wrapping_mul(3).saturating_sub(self.first);
        let top = select_unpredictable(previous > self.most, self.widest, tripled);
        Uniform { first: self.first.min(self.cap - top), step: 1, top }
    }
}
