//! One operation that is tried until it succeeds: the count of its failures, the limits, and the delays as an iterator.
//!
//! It must never read a clock: the caller says what time it is.

use core::iter::FusedIterator;
use core::time::Duration;

use rand_core::Rng;

use crate::course::Course;
use crate::policy::nanos;
use crate::{Generator, Policy};

/// Why an operation is not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GiveUp {
    /// This was the last failure that the policy allows.
    AttemptLimit,
    /// The delay would end later than the policy allows, a server's hint included.
    ElapsedLimit,
}

impl core::fmt::Display for GiveUp {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(match self {
            GiveUp::AttemptLimit => "the attempt limit is reached",
            GiveUp::ElapsedLimit => "the next attempt would come after the elapsed limit",
        })
    }
}

impl core::error::Error for GiveUp {}

/// The failures of one operation. Plain data: 24 octets beside its policy and its generator.
///
/// ```
/// use core::time::Duration;
/// use backoff::{Generator, Policy, Retry};
///
/// let mut generator = Generator::stream(1, 7);
/// let mut now = Duration::ZERO; // of any clock that does not go back
/// let mut retry = Retry::starting_at(now);
/// while let Ok(delay) = retry.fail(&Policy::SIP_TIMER_E, now, None, &mut generator) {
///     now += delay; // sleep, and send again
/// }
/// assert_eq!(retry.failures(), 11); // ten retransmissions, the last one 31.5 s after the start
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Retry {
    failures: u64,
    previous: u64,
    start: u64,
}

impl Retry {
    /// An operation whose first attempt is made at `now`.
    #[inline]
    pub const fn starting_at(now: Duration) -> Retry {
        Retry { failures: 0, previous: 0, start: nanos(now) }
    }

    /// One that has failed before: what [`failures`](Self::failures), [`previous_ns`](Self::previous_ns) and
    /// [`start_ns`](Self::start_ns) gave.
    #[inline]
    pub const fn resume(failures: u64, previous_ns: u64, start_ns: u64) -> Retry {
        Retry { failures, previous: previous_ns, start: start_ns }
    }

    /// Counts a failure, and gives the delay before the next attempt.
    ///
    /// `hint` is what the server asked for (`Retry-After`): the delay is moved up until it begins there, its jitter on
    /// top, so that clients with the same hint do not return together. It may pass the cap. [`Policy::with_hint_limit`]
    /// bounds it.
    ///
    /// `now` earlier than the start counts as the start. The count saturates. A failure that gives up counts.
    ///
    /// # Errors
    /// [`GiveUp`] says which limit was met. The attempt limit stays met; after the elapsed limit a shorter hint might do.
    #[inline]
    pub fn fail<R: Rng + ?Sized>(
        &mut self,
        policy: &Policy,
        now: Duration,
        hint: Option<Duration>,
        generator: &mut R,
    ) -> Result<Duration, GiveUp> {
        let hint = match hint {
            Some(hint) => nanos(hint),
            None => 0,
        };
        self.fail_ns(policy, nanos(now), hint, generator).map(Duration::from_nanos)
    }

    /// [`fail`](Self::fail) in nanoseconds; a hint of 0 is none.
    #[inline]
    pub fn fail_ns<R: Rng + ?Sized>(
        &mut self,
        policy: &Policy,
        now_ns: u64,
        hint_ns: u64,
        generator: &mut R,
    ) -> Result<u64, GiveUp> {
        let previous = if self.failures == 0 { policy.first_previous_ns() } else { self.previous };
        self.failures = self.failures.saturating_add(1);
        if policy.is_chained() {
            return self.fail_chained(policy, previous, now_ns, hint_ns, generator);
        }
        let (law, _) = policy.unchained_law(self.failures, previous).ok_or(GiveUp::AttemptLimit)?;
        let drawn = law.draw_plainly(generator);
        self.previous = drawn;
        let delay = policy.hinted(drawn, law.plainly_shortest_ns(), hint_ns);
        self.within(policy, now_ns, delay)
    }

    /// The rest of that for a policy that is chained.
    #[cold]
    #[inline(never)]
    fn fail_chained<R: Rng + ?Sized>(
        &mut self,
        policy: &Policy,
        previous: u64,
        now_ns: u64,
        hint_ns: u64,
        generator: &mut R,
    ) -> Result<u64, GiveUp> {
        let law = policy.chained_law(self.failures, previous).ok_or(GiveUp::AttemptLimit)?;
        let (drawn, remembered) = law.draw_and_remember_ns(generator);
        self.previous = remembered;
        self.within(policy, now_ns, policy.hinted(drawn, law.shortest_ns(), hint_ns))
    }

    /// The delay, if it ends before the elapsed limit.
    #[inline(always)]
    fn within(&self, policy: &Policy, now_ns: u64, delay: u64) -> Result<u64, GiveUp> {
        match policy.elapsed_limit_ns() {
            Some(limit) if self.elapsed_ns(now_ns).saturating_add(delay) > limit => Err(GiveUp::ElapsedLimit),
            _ => Ok(delay),
        }
    }

    /// How many attempts have failed.
    #[inline]
    pub const fn failures(&self) -> u64 {
        self.failures
    }

    /// The last delay that the policy drew, in nanoseconds, without what a hint added; with Polly's jitter the sum of all.
    #[inline]
    pub const fn previous_ns(&self) -> u64 {
        self.previous
    }

    /// When the first attempt was made, in nanoseconds.
    #[inline]
    pub const fn start_ns(&self) -> u64 {
        self.start
    }

    /// The time since the start; 0 where the clock went back.
    #[inline]
    pub const fn elapsed_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.start)
    }
}

/// The delays of a policy, one after each failure, until the attempt limit: an iterator that `backon`, `tokio-retry` and
/// a `for` loop take as it is.
///
/// An iterator has no clock. So it does not apply the elapsed limit: the sum of the delays is not the time that has
/// passed, since the attempts last too. Where that limit matters, ask [`Retry`].
#[derive(Clone, Debug)]
pub struct Delays<R = Generator> {
    failures: u64,
    previous: u64,
    course: Course,
    generator: R,
    policy: Policy,
}

impl Policy {
    /// Its delays, drawn with the words of `generator`: the built-in one or any of `rand_core`.
    #[inline]
    pub const fn delays<R: Rng>(self, generator: R) -> Delays<R> {
        Delays { failures: 0, previous: self.first_previous_ns(), course: self.course(), generator, policy: self }
    }
}

impl<R> Delays<R> {
    /// The policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// How many delays have been drawn.
    pub const fn failures(&self) -> u64 {
        self.failures
    }

    /// Starts again from the first delay, with the words that come next.
    pub const fn reset(&mut self) {
        self.failures = 0;
        self.previous = self.policy.first_previous_ns();
        self.course = self.policy.course();
    }
}

impl<R: Rng> Delays<R> {
    /// The next delay, of the law that the policy gives; `word` is the first one drawn.
    // Apart, so that the rest is short enough to be inlined.
    #[inline(never)]
    fn ask_policy(&mut self, word: u64) -> (u64, u64) {
        let Some((law, stays)) = self.policy.law_and_whether_it_stays(self.failures, self.previous) else {
            return (0, 0); // not reached: the attempt limit has just been looked at
        };
        if stays && let Some(uniform) = law.as_uniform() {
            self.course = Course::Settled(uniform);
        }
        law.draw_with_and_remember(word, &mut self.generator)
    }
}

impl<R: Rng> Iterator for Delays<R> {
    type Item = Duration;

    #[inline(always)]
    fn next(&mut self) -> Option<Duration> {
        let failures = self.failures.checked_add(1)?;
        if self.policy.gives_up_after(failures) {
            return None;
        }
        self.failures = failures;
        let word = self.generator.next_u64();
        let drawn = match &mut self.course {
            Course::Doubling(doubling) => doubling.next().draw_ns(word, &mut self.generator),
            Course::Decorrelated(decorrelated) => decorrelated.next(self.previous).draw_ns(word, &mut self.generator),
            Course::Settled(uniform) => uniform.draw_ns(word, &mut self.generator),
            Course::Growing => {
                let (drawn, remembered) = self.ask_policy(word);
                self.previous = remembered;
                return Some(Duration::from_nanos(drawn));
            }
        };
        self.previous = drawn;
        Some(Duration::from_nanos(drawn))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let Some(limit) = self.policy.attempt_limit() else {
            return (usize::MAX, None);
        };
        let left = usize::try_from((limit - 1).saturating_sub(self.failures)).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}

impl<R: Rng> FusedIterator for Delays<R> {}
