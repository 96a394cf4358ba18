//! The policies of `ethbus-backoff` as the policy of `tower::retry`, on tokio's clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use backoff::{Generator, Policy, Retry};
use tokio::time::{Instant, Sleep};

/// What to do with a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Give it to the caller.
    Keep,
    /// Try again.
    Retry,
    /// Try again, no sooner than the server asked for (`Retry-After`).
    RetryAfter(Duration),
}

/// Tries again after every error.
pub fn every_error<Res, E>(result: &Result<Res, E>) -> Decision {
    if result.is_err() { Decision::Retry } else { Decision::Keep }
}

/// Retries with the delays, the attempt limit and the elapsed limit of a policy.
///
/// tower clones it for every request. Each clone counts its own failures from its own start, and draws from its own
/// stream of the seed: so requests that fail together do not return together. The limits give the last result to the
/// caller as it is.
///
/// ```
/// use std::time::Duration;
/// use backoff::Policy;
/// use backoff_retry::{Retries, every_error};
/// use tower::ServiceBuilder;
///
/// let policy = Policy::full_jitter(Duration::from_millis(100), Duration::from_secs(20)).with_attempt_limit(8);
/// let service = ServiceBuilder::new()
///     .retry(Retries::new(policy, 42, every_error::<u32, &'static str>))
///     .service(tower::service_fn(|request: u32| async move { Ok::<_, &'static str>(request + 1) }));
/// # let _ = service;
/// ```
#[derive(Debug)]
pub struct Retries<F> {
    policy: Policy,
    seed: u64,
    decide: F,
    /// How many clones there have been: the number of the next stream.
    streams: Arc<AtomicU64>,
    generator: Generator,
    start: Instant,
    retry: Retry,
}

impl<F> Retries<F> {
    /// A policy for all requests of one client. Give each client its own seed; `decide` says what a failure is.
    pub fn new(policy: Policy, seed: u64, decide: F) -> Retries<F> {
        Retries::of(policy, seed, decide, Arc::new(AtomicU64::new(0)))
    }

    fn of(policy: Policy, seed: u64, decide: F, streams: Arc<AtomicU64>) -> Retries<F> {
        let generator = Generator::stream(seed, streams.fetch_add(1, Ordering::Relaxed));
        let (start, retry) = (Instant::now(), Retry::starting_at(Duration::ZERO));
        Retries { policy, seed, decide, streams, generator, start, retry }
    }
}

/// A new request: no failures yet, and a stream of its own.
impl<F: Clone> Clone for Retries<F> {
    fn clone(&self) -> Retries<F> {
        Retries::of(self.policy, self.seed, self.decide.clone(), Arc::clone(&self.streams))
    }
}

impl<Req: Clone, Res, E, F> tower::retry::Policy<Req, Res, E> for Retries<F>
where
    F: Fn(&Result<Res, E>) -> Decision,
{
    type Future = Sleep;

    fn retry(&mut self, _: &mut Req, result: &mut Result<Res, E>) -> Option<Sleep> {
        let hint = match (self.decide)(result) {
            Decision::Keep => return None,
            Decision::Retry => None,
            Decision::RetryAfter(hint) => Some(hint),
        };
        let now = self.start.elapsed();
        let delay = self.retry.fail(&self.policy, now, hint, &mut self.generator).ok()?;
        Some(tokio::time::sleep(delay))
    }

    fn clone_request(&mut self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }
}
