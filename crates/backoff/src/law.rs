//! The law of one delay: which values it may take, how likely each is, and a draw from it.
//!
//! A law is what a policy says about one failure. It must never know which policy made it, nor what time it is.
//!
//! One file above 500 lines because all kinds of law answer the same questions side by side.

use rand_core::Rng;

use crate::Generator;
use crate::redrawn::Redrawn;
use crate::smooth::Smooth;

/// Below this many steps the moments of a cut geometric law are sums over its values.
const SUMMED: u64 = 64;

/// How a delay is distributed: its bounds, mean and variance, and draws of it. In nanoseconds.
///
/// A uniform law gives each of its values exactly the same chance: ranges that are no power of two reject the few
/// words that would favour some values (Lemire, 2019).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Law(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Uniform(Uniform),
    /// step · r, 0 ≤ r ≤ top, P(r) in proportion to q^r with q = (K − 1)/(K + 1). The largest value fits `u64`.
    Geometric {
        step: u64,
        slots: u32,
        top: u64,
    },
    Redrawn(Redrawn),
    Smooth(Smooth),
}

/// first + step · r, r uniform in 0 ≤ r ≤ top. The largest value fits `u64`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uniform {
    /// The smallest value.
    pub first: u64,
    /// The distance between two neighbours; not 0.
    pub step: u64,
    /// How many values there are, less one.
    pub top: u64,
}

impl Uniform {
    /// Always `value`.
    #[inline(always)]
    pub const fn always(value: u64) -> Uniform {
        Uniform { first: value, step: 1, top: 0 }
    }

    /// Every value from `first` to `last`; `last` alone where it is below `first`.
    #[inline(always)]
    pub const fn between(first: u64, last: u64) -> Uniform {
        let first = if first < last { first } else { last };
        Uniform { first, step: 1, top: last - first }
    }

    /// `first` and up to `top` steps more, as many of them as fit `u64`.
    #[inline(always)]
    pub const fn steps(first: u64, step: u64, top: u64) -> Uniform {
        Uniform { first, step, top: fitting(u64::MAX - first, step, top) }
    }

    /// The largest value.
    #[inline(always)]
    pub const fn longest_ns(&self) -> u64 {
        self.first + self.step * self.top
    }

    /// The law moved down until it ends at `cap`; see [`Law::capped`].
    #[inline(always)]
    pub const fn capped(self, cap: u64) -> Uniform {
        let longest = self.longest_ns();
        if longest <= cap { self } else { self.moved_down(longest, cap) }
    }

    /// The law, which ends at `longest`, moved down until it ends at `cap`.
    const fn moved_down(self, longest: u64, cap: u64) -> Uniform {
        let Uniform { first, step, top } = self;
        if first >= longest - cap {
            Uniform { first: first - (longest - cap), step, top }
        } else if step > cap {
            Uniform { first: 0, step: 1, top: cap }
        } else {
            Uniform { first: 0, step, top: fitting(cap, step, top) }
        }
    }

    /// Draws a value with `word`, and with others for each that has to be rejected.
    #[inline(always)]
    pub fn draw_ns<R: Rng + ?Sized>(self, word: u64, generator: &mut R) -> u64 {
        self.first + self.step * uniform(self.top, word, || generator.next_u64())
    }

    /// Mean and variance.
    pub(crate) fn moments(&self) -> (f64, f64) {
        let Uniform { first, step, top } = *self;
        let variance = (step as f64) * (step as f64) * (top as f64) * (top as f64 + 2.0) / 12.0;
        (first as f64 + step as f64 * top as f64 / 2.0, variance)
    }

    /// The value that belongs to one word; see [`Law::at_ns`].
    #[inline(always)]
    pub const fn at_ns(&self, word: u64) -> u64 {
        let scaled = word as u128 * (self.top as u128 + 1);
        self.first + self.step * (scaled >> 64) as u64
    }
}

impl Law {
    /// Always `value`.
    #[inline]
    #[doc(hidden)]
    pub const fn always(value: u64) -> Law {
        Law::uniform(Uniform::always(value))
    }

    /// A uniform law.
    #[inline(always)]
    #[doc(hidden)]
    pub const fn uniform(uniform: Uniform) -> Law {
        Law(Kind::Uniform(uniform))
    }

    /// The law, if it is uniform.
    #[inline]
    pub(crate) const fn as_uniform(&self) -> Option<Uniform> {
        match self.0 {
            Kind::Uniform(uniform) => Some(uniform),
            Kind::Geometric { .. } | Kind::Redrawn(_) | Kind::Smooth(_) => None,
        }
    }

    /// A choice that is drawn again around a limit.
    #[inline(always)]
    pub(crate) const fn redrawn(redrawn: Redrawn) -> Law {
        Law(Kind::Redrawn(redrawn))
    }

    /// The next point of Polly's curve.
    #[inline]
    pub(crate) const fn smooth(smooth: Smooth) -> Law {
        Law(Kind::Smooth(smooth))
    }

    /// A geometric number of steps with the mean of a uniform choice from `slots` of them; `step` is not 0. One slot
    /// is no choice: p = 1, and nothing but 0 can come.
    #[inline]
    pub(crate) const fn geometric(step: u64, slots: u32) -> Law {
        if slots <= 1 {
            return Law::always(0);
        }
        Law(Kind::Geometric { step, slots, top: fitting(u64::MAX, step, u64::MAX) })
    }

    /// A geometric law without the delays beyond this number of steps; any other law unchanged.
    #[inline]
    pub(crate) const fn cut(self, most: u64) -> Law {
        match self.0 {
            Kind::Geometric { step, slots, top } if most < top => Law(Kind::Geometric { step, slots, top: most }),
            Kind::Geometric { .. } | Kind::Uniform(_) | Kind::Redrawn(_) | Kind::Smooth(_) => self,
        }
    }

    /// The law moved down until it ends at `cap`, its width kept where that leaves its start at 0 or above.
    ///
    /// What is counted in steps stays on them as long as one step fits below the cap. A geometric law is cut: what
    /// remains keeps its proportions. Where a protocol draws again around a limit, that is lowered; and a delay on Polly's
    /// curve that would pass the cap becomes the cap.
    #[inline]
    #[doc(hidden)]
    pub const fn capped(self, cap: u64) -> Law {
        match self.0 {
            Kind::Uniform(uniform) => Law::uniform(uniform.capped(cap)),
            Kind::Redrawn(redrawn) => Law::redrawn(redrawn.capped(cap)),
            Kind::Smooth(smooth) if smooth.cap <= cap => self,
            Kind::Smooth(smooth) => Law::smooth(Smooth { cap, ..smooth }),
            Kind::Geometric { step, top, .. } if step * top <= cap => self,
            Kind::Geometric { step, .. } if step > cap => Law::uniform(Uniform { first: 0, step: 1, top: cap }),
            Kind::Geometric { step, slots, top } => Law(Kind::Geometric { step, slots, top: fitting(cap, step, top) }),
        }
    }

    /// The law moved up until it starts at `hint`; itself where it starts later.
    ///
    /// What would pass `u64::MAX` nanoseconds, 584 years, is that long.
    #[inline]
    pub const fn not_before_ns(self, hint: u64) -> Raised {
        Raised { law: self, by: hint.saturating_sub(self.shortest_ns()) }
    }

    /// The smallest value.
    #[inline]
    pub const fn shortest_ns(&self) -> u64 {
        match &self.0 {
            Kind::Uniform(Uniform { first, .. }) => *first,
            Kind::Geometric { .. } => 0,
            Kind::Redrawn(redrawn) => redrawn.shortest_ns(),
            Kind::Smooth(smooth) => smooth.at_ns(0),
        }
    }

    /// The largest value.
    #[inline]
    pub const fn longest_ns(&self) -> u64 {
        match &self.0 {
            Kind::Uniform(uniform) => uniform.longest_ns(),
            Kind::Geometric { step, top, .. } => *step * *top,
            Kind::Redrawn(redrawn) => redrawn.longest_ns(),
            Kind::Smooth(smooth) => smooth.at_ns(u64::MAX),
        }
    }

    /// The mean: from its closed form, on Polly's curve from an integral by 1,024 parts.
    pub fn mean_ns(&self) -> f64 {
        self.moments().0
    }

    /// The variance, in nanoseconds squared, as the mean.
    pub fn variance_ns2(&self) -> f64 {
        self.moments().1
    }

    /// Both.
    #[doc(hidden)]
    #[inline(never)]
    pub fn moments(&self) -> (f64, f64) {
        match &self.0 {
            Kind::Uniform(uniform) => uniform.moments(),
            Kind::Geometric { step, slots, top } => {
                let (step, slots, top) = (*step, *slots, *top);
                let (mean, variance) = geometric_moments(slots, top);
                (step as f64 * mean, step as f64 * step as f64 * variance)
            }
            Kind::Redrawn(redrawn) => redrawn.moments(),
            Kind::Smooth(smooth) => smooth.moments(),
        }
    }

    /// Draws a value with words of `generator`: one, and another for each that has to be rejected.
    #[inline]
    pub fn draw_ns<R: Rng + ?Sized>(&self, generator: &mut R) -> u64 {
        self.draw_with(generator.next_u64(), generator)
    }

    /// The same, with `word` as the first one.
    #[inline]
    pub(crate) fn draw_with<R: Rng + ?Sized>(&self, word: u64, generator: &mut R) -> u64 {
        match self.0 {
            Kind::Uniform(uniform) => uniform.draw_ns(word, generator),
            Kind::Geometric { step, slots, top } => step * geometric(slots, top, word),
            Kind::Redrawn(redrawn) => redrawn.draw_ns(word, generator),
            Kind::Smooth(smooth) => smooth.at_ns(word),
        }
    }

    /// The same where the law is lent, and not to be copied.
    #[inline]
    fn lent_draw<R: Rng + ?Sized>(&self, word: u64, generator: &mut R) -> u64 {
        match &self.0 {
            Kind::Uniform(uniform) => uniform.draw_ns(word, generator),
            Kind::Geometric { step, slots, top } => *step * geometric(*slots, *top, word),
            Kind::Redrawn(redrawn) => redrawn.draw_ns(word, generator),
            Kind::Smooth(smooth) => smooth.at_ns(word),
        }
    }

    /// [`capped`](Self::capped), of a uniform or geometric law; any other law unchanged. Such laws stay in registers,
    /// as long as no code takes the address of a law that is neither.
    #[inline(always)]
    pub(crate) const fn plainly_capped(self, cap: u64) -> Law {
        match self.0 {
            Kind::Uniform(_) | Kind::Geometric { .. } => self.capped(cap),
            Kind::Redrawn(_) | Kind::Smooth(_) => self,
        }
    }

    /// Draws a value of a uniform or geometric law; of another one 0.
    #[inline(always)]
    pub(crate) fn draw_plainly<R: Rng + ?Sized>(self, generator: &mut R) -> u64 {
        let word = generator.next_u64();
        match self.0 {
            Kind::Uniform(uniform) => uniform.draw_ns(word, generator),
            Kind::Geometric { step, slots, top } => step * geometric(slots, top, word),
            Kind::Redrawn(_) | Kind::Smooth(_) => 0,
        }
    }

    /// The smallest value of a uniform or geometric law; of another one 0.
    #[inline(always)]
    pub(crate) const fn plainly_shortest_ns(self) -> u64 {
        match self.0 {
            Kind::Uniform(Uniform { first, .. }) => first,
            Kind::Geometric { .. } | Kind::Redrawn(_) | Kind::Smooth(_) => 0,
        }
    }

    /// Draws a value, and returns with it the value that the law of the next failure takes as the previous delay: the
    /// value itself, except on Polly's curve, where it is how long the delays up to now last together.
    #[inline]
    pub fn draw_and_remember_ns<R: Rng + ?Sized>(&self, generator: &mut R) -> (u64, u64) {
        self.draw_with_and_remember(generator.next_u64(), generator)
    }

    /// The same, with `word` as the first one.
    #[inline]
    pub(crate) fn draw_with_and_remember<R: Rng + ?Sized>(&self, word: u64, generator: &mut R) -> (u64, u64) {
        let drawn = self.lent_draw(word, generator);
        match &self.0 {
            Kind::Smooth(smooth) => (drawn, smooth.end(word)),
            Kind::Uniform(_) | Kind::Geometric { .. } | Kind::Redrawn(_) => (drawn, drawn),
        }
    }

    /// The value that belongs to one word: the shortest for 0, the longest for `u64::MAX`, never a smaller one for a
    /// larger word. Not so in the geometric law: there each octet of the word makes a binary digit; nor where a
    /// protocol draws again around a limit.
    ///
    /// One word cannot be shared out evenly among values whose number does not divide 2^64: some have one word more
    /// than others. [`draw_ns`](Self::draw_ns) takes another word then, and is exact.
    #[inline]
    pub const fn at_ns(&self, word: u64) -> u64 {
        match self.0 {
            Kind::Uniform(uniform) => uniform.at_ns(word),
            Kind::Geometric { step, slots, top } => step * geometric(slots, top, word),
            Kind::Redrawn(redrawn) => redrawn.at_ns(word),
            Kind::Smooth(smooth) => smooth.at_ns(word),
        }
    }
    /// The same where the law is lent, and not to be copied.
    #[doc(hidden)]
    #[inline]
    pub const fn lent_at_ns(&self, word: u64) -> u64 {
        match &self.0 {
            Kind::Uniform(uniform) => uniform.at_ns(word),
            Kind::Geometric { step, slots, top } => *step * geometric(*slots, *top, word),
            Kind::Redrawn(redrawn) => redrawn.at_ns(word),
            Kind::Smooth(smooth) => smooth.at_ns(word),
        }
    }
}

/// A law that starts no earlier than a server asked for: its shape, moved up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Raised {
    law: Law,
    by: u64,
}

impl Raised {
    /// The value that `drawn`, a draw of the law, becomes.
    #[inline]
    pub const fn raise_ns(&self, drawn: u64) -> u64 {
        drawn.saturating_add(self.by)
    }

    /// The smallest value.
    pub const fn shortest_ns(&self) -> u64 {
        self.raise_ns(self.law.shortest_ns())
    }

    /// The largest value.
    pub const fn longest_ns(&self) -> u64 {
        self.raise_ns(self.law.longest_ns())
    }
}

/// How many of `top` steps fit into `room`: all of them as a rule, which a product tells sooner than a quotient.
#[inline]
pub(crate) const fn fitting(room: u64, step: u64, top: u64) -> u64 {
    match step.checked_mul(top) {
        Some(span) if span <= room => top,
        // The step is not 0 here, since 0 · top would have fitted.
        _ => match room.checked_div(step) {
            Some(fit) => fit,
            None => top,
        },
    }
}

/// r uniform in 0 ≤ r ≤ top: the high half of word · (top + 1), which for a power of two is the high bits of the word.
#[inline]
fn uniform(top: u64, word: u64, next: impl FnMut() -> u64) -> u64 {
    let Some(range) = top.checked_add(1) else {
        return word;
    };
    let product = u128::from(word) * u128::from(range);
    if (product as u64) < range {
        return accepted(product, range, next);
    }
    (product >> 64) as u64
}

/// The rare part of the draw: 2^64 mod range of the words are one too many for some value, and are drawn again.
#[cold]
#[inline(never)]
fn accepted(mut product: u128, range: u64, mut next: impl FnMut() -> u64) -> u64 {
    let excess = range.wrapping_neg().checked_rem(range).unwrap_or(0);
    while (product as u64) < excess {
        product = u128::from(next()) * u128::from(range);
    }
    (product >> 64) as u64
}

/// A draw of the geometric law without cap and ceiling, from `word`, in steps of `step` nanoseconds; `None` where it passes
/// `limit`. Where that is above the cap, a law that was cut there draws the same below it.
#[doc(hidden)]
#[inline]
pub const fn geometric_within(slots: u32, step: u64, limit: u64, word: u64) -> Option<u64> {
    match geometric(slots, u64::MAX, word).checked_mul(step) {
        Some(drawn) if drawn <= limit => Some(drawn),
        _ => None,
    }
}

/// r with P(r) in proportion to q^r, 0 ≤ r ≤ top, q = (slots − 1)/(slots + 1).
///
/// The binary digits of a geometric number are independent: digit i is 1 with the chance q^(2^i) / (1 + q^(2^i)). The number
/// passes its lowest seven digits with the chance q^128; then the rest less 1 is geometric too. And its remainder modulo m is
/// distributed as the number itself, given that it is below m.
///
/// A chance is compared with a word. Eight of them share a word, an octet each: the first octets of their words. Where that
/// octet does not decide, another word gives the rest. So the draw is exact.
#[inline(never)]
const fn geometric(slots: u32, top: u64, word: u64) -> u64 {
    let (mut words, mut octets) = (Generator::new(word), word);
    // q^(2^i) in units of 2^−64; q^(2^38) is below that.
    let (mut power, mut drawn, mut digit) = (ratio(slots), 0_u64, 0_u32);
    loop {
        // As a number, not as a branch: a digit is as random as the word.
        let is_one = holds(power, power, octets as u8, &mut words);
        drawn += (is_one as u64).wrapping_shl(digit);
        power = square(power);
        digit += 1;
        octets >>= 8;
        if digit.is_multiple_of(DIGITS) {
            if !holds(power, 0, octets as u8, &mut words) {
                break;
            }
            drawn += 1_u64.wrapping_shl(digit);
            octets = words.next_u64();
        }
    }
    // Nothing to take a remainder of, as a rule; and none for all of `u64`.
    if drawn <= top {
        return drawn;
    }
    match drawn.checked_rem(top.wrapping_add(1)) {
        Some(rest) => rest,
        None => drawn,
    }
}

/// How many binary digits of a geometric number share a word, with what says whether the number passes them.
#[doc(hidden)]
pub const DIGITS: u32 = 7;

/// Whether a word that begins with that octet is below the chance `power` / (2^64 + `share`).
#[inline(always)]
const fn holds(power: u64, share: u64, octet: u8, words: &mut Generator) -> bool {
    let first = (octet as u64) << 56;
    let (least, most) = (is_below(power, share, first), is_below(power, share, first | u64::MAX >> 8));
    if least == most { least } else { is_below(power, share, first | words.next_u64() >> 8) }
}

/// Whether `word` / 2^64 is below `power` / (2^64 + `share`).
#[inline(always)]
const fn is_below(power: u64, share: u64, word: u64) -> bool {
    // Without the division: word · 2^64 + word · share < power · 2^64.
    let (sum, carried) = word.overflowing_add(((word as u128 * share as u128) >> 64) as u64);
    !carried & (sum < power)
}

#[inline(always)]
const fn square(power: u64) -> u64 {
    ((power as u128 * power as u128) >> 64) as u64
}

/// The chances that a draw of the geometric law of `slots` compares, each as the number of words that are below it: those of
/// seven digits and of more than these, then those of the rest. The last one is 0. There are at most 48.
#[doc(hidden)]
pub fn geometric_chances(slots: u32, mut each: impl FnMut(u64)) {
    let mut power = ratio(slots);
    loop {
        for _ in 0..DIGITS {
            let bits = (0..u64::BITS).rev().map(|bit| 1 << bit);
            // The largest word that is below, and one more.
            let largest = |largest, bit| if is_below(power, power, largest | bit) { largest | bit } else { largest };
            each(if power == 0 { 0 } else { bits.fold(0, largest) + 1 });
            power = square(power);
        }
        each(power);
        if power == 0 {
            return;
        }
    }
}

/// floor(2^64 · (slots − 1)/(slots + 1)), slots = 0 counting as 1: 2^64 less the ceiling of 2^65/(slots + 1), by one
/// division of 64 bits.
const fn ratio(slots: u32) -> u64 {
    let below = if slots == 0 { 2 } else { slots as u64 + 1 };
    let Some(quotient) = u64::MAX.checked_div(below) else { return 0 };
    // 2^64 = quotient · below + rest + 1. By a product, since another division takes longer.
    let rest = u64::MAX - quotient.wrapping_mul(below);
    let ceiling = quotient.wrapping_mul(2).wrapping_add(if (rest + 1).wrapping_mul(2) <= below { 1 } else { 2 });
    ceiling.wrapping_neg()
}

/// Mean and variance of that r. With q = e^−a and m = top + 1 values:
///
/// ```text
/// mean = 1/(e^a − 1) − m/(e^(am) − 1)        variance = (1/sinh²(a/2) − m²/sinh²(am/2)) / 4
/// ```
///
/// Where a · m is small both differences cancel; there the terms of their power series are subtracted one by one.
fn geometric_moments(slots: u32, top: u64) -> (f64, f64) {
    let k = f64::from(slots.max(1));
    if top < SUMMED {
        return summed_moments((k - 1.0) / (k + 1.0), top);
    }
    let (a, m) = (negative_logarithm(k), top as f64 + 1.0);
    let x = a * m;
    if x < 1.0 {
        return series_moments(a, m);
    }
    // Of the whole law (K − 1)/2 and (K² − 1)/4; the rest is what the cut takes away.
    let rest = exponential(-x);
    let cut = m * rest / (1.0 - rest);
    ((k - 1.0) / 2.0 - cut, (k - 1.0) * (k + 1.0) / 4.0 - cut * m / (1.0 - rest))
}

/// −ln((K − 1)/(K + 1)) = 2 · artanh(1/K), K at least 2.
fn negative_logarithm(k: f64) -> f64 {
    let square = 1.0 / (k * k);
    let (mut term, mut sum, mut odd) = (1.0 / k, 0.0, 1.0);
    while term > 1e-18 / k {
        sum += term / odd;
        term *= square;
        odd += 2.0;
    }
    2.0 * sum
}

/// The moments where a · m is below 1, from the coefficients of x/(e^x − 1) and of its derivative.
fn series_moments(a: f64, m: f64) -> (f64, f64) {
    const MEAN: [f64; 6] = [
        -1.0 / 12.0,
        1.0 / 720.0,
        -1.0 / 30_240.0,
        1.0 / 1_209_600.0,
        -1.0 / 47_900_160.0,
        691.0 / 1_307_674_368_000.0,
    ];
    let (mut mean, mut variance) = ((m - 1.0) / 2.0, 0.0);
    // a^(2i + 1) and a^(2i), and m^(2i + 2).
    let (mut odd, mut even, mut power, mut order) = (a, 1.0, m * m, 1.0);
    for coefficient in MEAN {
        mean += coefficient * (power - 1.0) * odd;
        variance -= coefficient * order * (power - 1.0) * even;
        (odd, even, power, order) = (odd * a * a, even * a * a, power * m * m, order + 2.0);
    }
    (mean, variance)
}

fn summed_moments(q: f64, top: u64) -> (f64, f64) {
    let (mut weight, mut weights, mut sum) = (1.0, 0.0, 0.0);
    for r in 0..=top {
        weights += weight;
        sum += weight * r as f64;
        weight *= q;
    }
    let mean = sum / weights;
    let (mut weight, mut squares) = (1.0, 0.0);
    for r in 0..=top {
        squares += weight * (r as f64 - mean) * (r as f64 - mean);
        weight *= q;
    }
    (mean, squares / weights)
}

/// e^x for x ≤ 0, to 12 digits: `core` has no `exp`. A small part of x by its series, the rest by squaring.
fn exponential(x: f64) -> f64 {
    if x < -746.0 {
        return 0.0;
    }
    let (mut part, mut halvings) = (x, 0);
    while part < -0.0625 {
        part /= 2.0;
        halvings += 1;
    }
    let (mut term, mut result) = (1.0, 1.0);
    for order in 1..=9 {
        term *= part / f64::from(order);
        result += term;
    }
    for _ in 0..halvings {
        result *= result;
    }
    result
}
