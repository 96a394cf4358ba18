//! The loop: an attempt, a decision, a wait.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use backoff::{Generator, GiveUp, Policy, Retry};

use crate::RetryBudget;
use crate::budget::Account;

/// Why the last error of an operation is not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stopped {
    /// [`when`](Operation::when) refused the error.
    Refused,
    /// A limit of the policy was met.
    Policy(GiveUp),
    /// The next attempt would begin after the [`deadline`](Operation::deadline).
    Deadline,
    /// The [`budget`](Operation::budget) holds no retry.
    Budget,
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stopped::Refused => formatter.write_str("errors of this kind are not retried"),
            Stopped::Policy(limit) => limit.fmt(formatter),
            Stopped::Deadline => formatter.write_str("the next attempt would come after the deadline"),
            Stopped::Budget => formatter.write_str("the retry budget is used up"),
        }
    }
}

/// An operation and how it is retried. [`retry`] and [`retry_async`] make one.
#[must_use = "nothing is attempted before `call`"]
pub struct Operation<
    'a,
    F,
    E,
    W = fn(&E) -> bool,
    H = fn(&E) -> Option<Duration>,
    N = fn(&E, Duration),
    S = fn(&E, Stopped),
> {
    attempt: F,
    policy: Policy,
    when: W,
    hint: H,
    notify: N,
    stopped: S,
    deadline: Option<Instant>,
    budget: Option<&'a RetryBudget>,
    generator: Option<Generator>,
    error: PhantomData<fn(&E)>,
}

/// Retries a closure; [`call`](Operation::call) runs it on this thread.
pub fn retry<'a, T, E, F: FnMut() -> Result<T, E>>(policy: &Policy, attempt: F) -> Operation<'a, F, E> {
    Operation::of(policy, attempt)
}

/// Retries a closure that makes a future for each attempt; [`call_on`](Operation::call_on) and `call_on_tokio` run it.
///
/// ```
/// # fn main() {
/// use std::time::Duration;
/// use backoff::Policy;
/// use backoff_retry::retry_async;
///
/// # let run = |future| tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future);
/// # run(async {
/// let policy = Policy::decorrelated_jitter(Duration::from_millis(1), Duration::from_millis(5)).with_attempt_limit(3);
/// let mut attempts = 0;
/// let fetch = || {
///     attempts += 1;
///     let is_busy = attempts < 3;
///     async move { if is_busy { Err("busy") } else { Ok("done") } }
/// };
/// let answer = retry_async(&policy, fetch).call_on_tokio().await;
/// assert_eq!(answer, Ok("done"));
/// # });
/// # }
/// ```
pub fn retry_async<'a, T, E, Fut, F>(policy: &Policy, attempt: F) -> Operation<'a, F, E>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    Operation::of(policy, attempt)
}

impl<'a, F, E> Operation<'a, F, E> {
    fn of(policy: &Policy, attempt: F) -> Operation<'a, F, E> {
        Operation {
            attempt,
            policy: *policy,
            when: |_| true,
            hint: |_| None,
            notify: |_, _| {},
            stopped: |_, _| {},
            deadline: None,
            budget: None,
            generator: None,
            error: PhantomData,
        }
    }
}

impl<'a, F, E, W, H, N, S> Operation<'a, F, E, W, H, N, S>
where
    W: FnMut(&E) -> bool,
    H: FnMut(&E) -> Option<Duration>,
    N: FnMut(&E, Duration),
    S: FnMut(&E, Stopped),
{
    /// Retries only errors for which this is true. By default every error is retried.
    pub fn when<V: FnMut(&E) -> bool>(self, when: V) -> Operation<'a, F, E, V, H, N, S> {
        let Operation { attempt, policy, hint, notify, stopped, deadline, budget, generator, error, .. } = self;
        Operation { attempt, policy, when, hint, notify, stopped, deadline, budget, generator, error }
    }

    /// Reads what a server asked for (`Retry-After`) from an error. [`Retry::fail`] says what the policy makes of it.
    pub fn hint<V: FnMut(&E) -> Option<Duration>>(self, hint: V) -> Operation<'a, F, E, W, V, N, S> {
        let Operation { attempt, policy, when, notify, stopped, deadline, budget, generator, error, .. } = self;
        Operation { attempt, policy, when, hint, notify, stopped, deadline, budget, generator, error }
    }

    /// Is called before each wait, with the error and the delay.
    pub fn notify<V: FnMut(&E, Duration)>(self, notify: V) -> Operation<'a, F, E, W, H, V, S> {
        let Operation { attempt, policy, when, hint, stopped, deadline, budget, generator, error, .. } = self;
        Operation { attempt, policy, when, hint, notify, stopped, deadline, budget, generator, error }
    }

    /// Is called when the operation has failed, with the error that the caller gets and why it is the last.
    pub fn stopped<V: FnMut(&E, Stopped)>(self, stopped: V) -> Operation<'a, F, E, W, H, N, V> {
        let Operation { attempt, policy, when, hint, notify, deadline, budget, generator, error, .. } = self;
        Operation { attempt, policy, when, hint, notify, stopped, deadline, budget, generator, error }
    }

    /// Begins no attempt after this instant. [`Policy::with_elapsed_limit`] counts from the first attempt instead.
    pub fn deadline(self, deadline: Instant) -> Self {
        Operation { deadline: Some(deadline), ..self }
    }

    /// Takes each retry out of this budget, which the operations of a client share.
    pub fn budget(self, budget: &'a RetryBudget) -> Self {
        Operation { budget: Some(budget), ..self }
    }

    /// Draws the delays with this generator. By default each operation has a stream of its own, of a seed that the
    /// system gave the process.
    pub fn generator(self, generator: Generator) -> Self {
        Operation { generator: Some(generator), ..self }
    }

    /// Attempts until there is a success or a last error; the thread sleeps in between.
    ///
    /// # Errors
    /// That of the last attempt.
    pub fn call<T>(self) -> Result<T, E>
    where
        F: FnMut() -> Result<T, E>,
    {
        let (mut attempt, mut course) = self.begin();
        loop {
            match attempt() {
                Ok(value) => return course.succeed(value),
                Err(error) => match course.fail(&error) {
                    Some(delay) => std::thread::sleep(delay),
                    None => return Err(error),
                },
            }
        }
    }

    /// Attempts until there is a success or a last error; `sleep` gives the future that waits in between.
    ///
    /// # Errors
    /// That of the last attempt.
    pub async fn call_on<T, Fut, Z: Future>(self, mut sleep: impl FnMut(Duration) -> Z) -> Result<T, E>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let (mut attempt, mut course) = self.begin();
        loop {
            match attempt().await {
                Ok(value) => return course.succeed(value),
                Err(error) => match course.fail(&error) {
                    Some(delay) => _ = sleep(delay).await,
                    None => return Err(error),
                },
            }
        }
    }

    /// [`call_on`](Self::call_on) on tokio's clock.
    ///
    /// # Errors
    /// That of the last attempt.
    #[cfg(feature = "tokio")]
    pub async fn call_on_tokio<T, Fut>(self) -> Result<T, E>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        self.call_on(tokio::time::sleep).await
    }

    fn begin(self) -> (F, Course<'a, E, W, H, N, S>) {
        let Operation { attempt, policy, when, hint, notify, stopped, deadline, budget, generator, error } = self;
        let account = Account::open(budget);
        // Reading the clock takes longer than the rest of a decision.
        let start = (policy.elapsed_limit_ns().is_some() || deadline.is_some()).then(Instant::now);
        let retry = Retry::starting_at(Duration::ZERO);
        let course = Course { policy, when, hint, notify, stopped, deadline, account, generator, start, retry, error };
        (attempt, course)
    }
}

/// An operation that has begun.
struct Course<'a, E, W, H, N, S> {
    policy: Policy,
    when: W,
    hint: H,
    notify: N,
    stopped: S,
    deadline: Option<Instant>,
    account: Account<'a>,
    /// Made at the first failure: most operations have none.
    generator: Option<Generator>,
    /// When the first attempt began, if any limit depends on the time.
    start: Option<Instant>,
    retry: Retry,
    error: PhantomData<fn(&E)>,
}

impl<E, W, H, N, S> Course<'_, E, W, H, N, S>
where
    W: FnMut(&E) -> bool,
    H: FnMut(&E) -> Option<Duration>,
    N: FnMut(&E, Duration),
    S: FnMut(&E, Stopped),
{
    fn succeed<T>(&mut self, value: T) -> Result<T, E> {
        self.account.succeed();
        Ok(value)
    }

    /// The delay before the next attempt, if there is one. The callbacks have run.
    fn fail(&mut self, error: &E) -> Option<Duration> {
        match self.delay(error) {
            Ok(delay) => {
                (self.notify)(error, delay);
                Some(delay)
            }
            Err(why) => {
                (self.stopped)(error, why);
                None
            }
        }
    }

    /// The budget comes last: a retry that another limit forbids takes nothing out of it.
    fn delay(&mut self, error: &E) -> Result<Duration, Stopped> {
        if !(self.when)(error) {
            return Err(Stopped::Refused);
        }
        let delay = self.delay_within_limits(error).inspect_err(|_| self.account.give_up())?;
        if self.account.fail() { Ok(delay) } else { Err(Stopped::Budget) }
    }

    fn delay_within_limits(&mut self, error: &E) -> Result<Duration, Stopped> {
        let hint = (self.hint)(error);
        let now = self.start.map(|start| (start, Instant::now()));
        let elapsed = now.map_or(Duration::ZERO, |(start, now)| now.saturating_duration_since(start));
        let generator = self.generator.get_or_insert_with(stream_of_its_own);
        let delay = self.retry.fail(&self.policy, elapsed, hint, generator).map_err(Stopped::Policy)?;
        match (self.deadline, now) {
            (Some(deadline), Some((_, now))) if now.checked_add(delay).is_none_or(|next| next > deadline) => {
                Err(Stopped::Deadline)
            }
            _ => Ok(delay),
        }
    }
}

/// The next stream of the process's seed.
fn stream_of_its_own() -> Generator {
    static SEED: OnceLock<u64> = OnceLock::new();
    static STREAMS: AtomicU64 = AtomicU64::new(0);
    // The keys of a RandomState come from the system. The core's feature `system` would bring std into libbackoff.
    let seed = *SEED.get_or_init(|| RandomState::new().hash_one(0));
    Generator::stream(seed, STREAMS.fetch_add(1, Ordering::Relaxed))
}
