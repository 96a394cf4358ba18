//! Laws of protocols that draw first and look at their limit afterwards: what passes the limit is drawn again around it, or
//! becomes it.
//!
//! A law of this kind knows no policy and no clock.

use rand_core::Rng;

use crate::Generator;
use crate::law::Uniform;

/// first + r, r uniform in 0 ≤ r ≤ top. What passes `limit` is replaced: by a uniform choice from `limit` less and more
/// `percent` of itself. With 0 percent that is `limit` itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Redrawn {
    first: u64,
    top: u64,
    limit: u64,
    percent: u32,
}

impl Redrawn {
    /// The law of a uniform choice from `first` to `last` with that limit.
    #[inline(always)]
    pub(crate) const fn of(first: u64, last: u64, limit: u64, percent: u32) -> Redrawn {
        Redrawn { first, top: last - first, limit, percent }
    }

    /// The law with a limit low enough that no value passes `cap`.
    #[inline(always)]
    pub(crate) const fn capped(self, cap: u64) -> Redrawn {
        let lowered = if self.longest_ns() <= cap { self.limit } else { self.lowered(cap) };
        Redrawn { limit: lowered, ..self }
    }

    /// The limit whose values end at `cap`.
    #[inline(never)]
    const fn lowered(&self, cap: u64) -> u64 {
        let percent = if self.percent < 100 { self.percent } else { 100 };
        match (cap as u128 * 100).checked_div(100 + percent as u128) {
            Some(lowered) => lowered as u64,
            None => cap,
        }
    }

    /// The smallest value.
    #[inline(never)]
    pub(crate) const fn shortest_ns(&self) -> u64 {
        let again = self.again().first;
        let may_pass = self.first + self.top > self.limit;
        if may_pass && (self.first > self.limit || again < self.first) { again } else { self.first }
    }

    /// The largest value.
    #[inline(never)]
    pub(crate) const fn longest_ns(&self) -> u64 {
        let last = self.first + self.top;
        if last <= self.limit { last } else { self.again().longest_ns() }
    }

    /// Draws a value: with `word`, with another one where that passes the limit, and with others for each that has to be
    /// rejected.
    #[inline(never)]
    pub(crate) fn draw_ns<R: Rng + ?Sized>(&self, word: u64, generator: &mut R) -> u64 {
        let drawn = self.choice().draw_ns(word, generator);
        if drawn <= self.limit {
            drawn
        } else if self.percent == 0 {
            self.limit
        } else {
            self.again().draw_ns(generator.next_u64(), generator)
        }
    }

    /// The value that belongs to one word; a second word, where one is needed, is mixed from it.
    #[inline(never)]
    pub(crate) const fn at_ns(&self, word: u64) -> u64 {
        let drawn = self.choice().at_ns(word);
        if drawn <= self.limit { drawn } else { self.again().at_ns(Generator::new(word).next_u64()) }
    }

    /// Mean and variance: those of two uniform laws, each with its share.
    #[inline(never)]
    pub(crate) fn moments(&self) -> (f64, f64) {
        let last = self.first + self.top;
        let kept = if last < self.limit { last } else { self.limit };
        // Where everything passes the limit, nothing is kept.
        let share = if self.first > kept { 0.0 } else { ((kept - self.first) as f64 + 1.0) / (self.top as f64 + 1.0) };
        let (low, low_variance) = Uniform::between(self.first, kept).moments();
        let (high, high_variance) = self.again().moments();
        let mean = share * low + (1.0 - share) * high;
        let spread = |part: f64, variance: f64| variance + (part - mean) * (part - mean);
        (mean, share * spread(low, low_variance) + (1.0 - share) * spread(high, high_variance))
    }

    /// What is drawn first.
    #[inline(always)]
    const fn choice(&self) -> Uniform {
        Uniform { first: self.first, step: 1, top: self.top }
    }

    /// What is drawn in place of a value that passes the limit.
    #[inline(always)]
    const fn again(&self) -> Uniform {
        let width = share_of(self.limit, self.percent);
        Uniform::between(self.limit - width, self.limit.saturating_add(width))
    }
}

/// A percentage of a value; at most the value.
#[inline(never)]
pub(crate) const fn share_of(value: u64, percent: u32) -> u64 {
    let percent = if percent < 100 { percent } else { 100 };
    (value as u128 * percent as u128 / 100) as u64
}
