//! The truncated binary exponential backoff of IEEE 802.3, 4.2.3.2.5.
//!
//! After the n-th collision of a frame the station waits r slots, r uniform in 0 ≤ r < 2^k with
//! k = min(n, backoffLimit); the collision of attempt number attemptLimit discards the frame instead. When the wait
//! begins (at the end of the jam) and what a slot lasts (slotTime) must never be known here.

use core::num::NonZeroU32;

use rand_core::Rng;

use crate::generator::high_bits;

/// attemptLimit and backoffLimit, and what follows from them for every delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    attempt_limit: NonZeroU32,
    backoff_limit: u32,
}

impl Limits {
    /// The values of the standard: attemptLimit 16, backoffLimit 10 (802.3, 4.4).
    pub const IEEE_802_3: Limits = Limits { attempt_limit: NonZeroU32::new(16).unwrap(), backoff_limit: 10 };

    /// The same with another attemptLimit: the attempt, the first included, whose collision discards the frame.
    ///
    /// With 1 the first collision discards.
    #[inline]
    pub const fn with_attempt_limit(self, attempt_limit: NonZeroU32) -> Limits {
        Limits { attempt_limit, ..self }
    }

    /// The same with another backoffLimit: from this collision on the range of r no longer doubles.
    ///
    /// With 0 there is no delay at all. A word has 64 bits, so from the 64th collision on r is uniform over all of
    /// `u64`, whatever larger limit is given.
    #[inline]
    pub const fn with_backoff_limit(self, backoff_limit: u32) -> Limits {
        Limits { backoff_limit, ..self }
    }

    /// The attempt whose collision discards the frame; at least 1.
    #[inline]
    pub const fn attempt_limit(self) -> u32 {
        self.attempt_limit.get()
    }

    /// The collision from which on the range of r no longer doubles, as it was given.
    #[inline]
    pub const fn backoff_limit(self) -> u32 {
        self.backoff_limit
    }

    /// The longest delay after the `collisions`-th collision of a frame, in slots: 2^k − 1.
    ///
    /// `None` if that collision discards the frame. 0 for `collisions` = 0: what did not collide does not wait.
    #[inline]
    pub const fn max_slots(self, collisions: u32) -> Option<u64> {
        if collisions < self.attempt_limit() { Some(self.slots(collisions, u64::MAX)) } else { None }
    }

    /// Twice the mean delay after the `collisions`-th collision of a frame, in slots: the mean is (2^k − 1)/2.
    ///
    /// Twice, so that it is exact. `None` and 0 as in [`max_slots`](Self::max_slots), which it equals, since r is
    /// uniform from 0 on.
    #[inline]
    pub const fn twice_mean_slots(self, collisions: u32) -> Option<u64> {
        self.max_slots(collisions)
    }

    /// r: the k high bits of `word`.
    #[inline]
    const fn slots(self, collisions: u32, word: u64) -> u64 {
        high_bits(word, self.exponent(collisions))
    }

    /// k, though more than 64 count as 64.
    #[inline(always)]
    const fn exponent(self, collisions: u32) -> u32 {
        at_most(collisions, self.backoff_limit)
    }
}

/// The values of the standard.
impl Default for Limits {
    #[inline]
    fn default() -> Limits {
        Limits::IEEE_802_3
    }
}

/// `Ord::min`, which is not `const` yet.
const fn at_most(value: u32, limit: u32) -> u32 {
    if value < limit { value } else { limit }
}

/// The backoff of one frame: how many of its attempts have collided.
///
/// Make one for each frame, or [`reset`](Self::reset) it when a frame has been transmitted or discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Backoff {
    limits: Limits,
    /// At most attemptLimit, where it stays.
    attempts: u32,
}

impl Backoff {
    /// The backoff of a frame that has not been attempted yet.
    #[inline]
    pub const fn new(limits: Limits) -> Backoff {
        Backoff { limits, attempts: 0 }
    }

    /// The backoff of a frame of which `attempts` attempts have collided; more than attemptLimit count as that many.
    #[inline]
    pub const fn after(limits: Limits, attempts: u32) -> Backoff {
        let attempts = at_most(attempts, limits.attempt_limit());
        Backoff { limits, attempts }
    }

    /// Counts an attempt that collided, and gives the delay before the next one, in slots.
    ///
    /// The delay is the k high bits of `word`, k = min(collisions, backoffLimit, 64); so it is exactly uniform if the
    /// word is, 0 gives no delay and `u64::MAX` the longest, 2^k − 1.
    ///
    /// `None` discards the frame: this was attempt number attemptLimit. It stays `None` until [`reset`](Self::reset).
    #[inline]
    pub const fn collide(&mut self, word: u64) -> Option<u64> {
        match self.count() {
            Some(exponent) => Some(high_bits(word, exponent)),
            None => None,
        }
    }

    /// [`collide`](Self::collide) without the draw: gives k, of how many random bits the delay is; more than 64 are 64.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn count(&mut self) -> Option<u32> {
        // attemptLimit is at least 1, and the count stays below it until the discard: neither line can overflow.
        if self.attempts < self.limits.attempt_limit() - 1 {
            self.attempts += 1;
            Some(self.limits.exponent(self.attempts))
        } else {
            self.attempts = self.limits.attempt_limit();
            None
        }
    }

    /// [`collide`](Self::collide) with the next word of `generator`.
    ///
    /// Each call takes exactly one word, the call that discards included: the number of calls determines the
    /// generator's state.
    #[inline]
    pub fn collide_with<R: Rng + ?Sized>(&mut self, generator: &mut R) -> Option<u64> {
        self.collide(generator.next_u64())
    }

    /// How many attempts of this frame have collided; never more than attemptLimit.
    #[inline]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The limits it was made with.
    #[inline]
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// Makes ready for another frame: no attempt has collided.
    #[inline]
    pub const fn reset(&mut self) {
        self.attempts = 0;
    }
}
