//! A service behind tower's retry layer, on a clock that stops until all requests wait.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use backoff::Policy;
use backoff_retry::{Decision, Retries, every_error};
use tokio::time::Instant;
use tower::{ServiceBuilder, ServiceExt, service_fn};

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().expect("a runtime").block_on(future)
}

/// 100 + 200 + 400 ms, and then it has got through.
#[test]
fn a_request_is_tried_again_after_the_delays_of_the_policy() {
    run(async {
        let calls = AtomicU32::new(0);
        let service = service_fn(|request: u32| {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            async move { if call < 3 { Err("busy") } else { Ok(request + call) } }
        });
        let policy = Policy::POLLING.with_attempt_limit(8);
        let start = Instant::now();
        let retried = ServiceBuilder::new().retry(Retries::new(policy, 1, every_error)).service(service);
        assert_eq!(retried.oneshot(10).await, Ok(13));
        assert_eq!(start.elapsed().as_millis() / 10, 70);
    });
}

/// The attempt limit gives the last error; the elapsed limit does, and a hint that passes it.
#[test]
fn the_limits_give_the_last_error() {
    for (policy, hint, expected) in [
        (Policy::POLLING.with_attempt_limit(3), 0, 3),
        (Policy::POLLING.with_elapsed_limit(Duration::from_secs(1)), 0, 4),
        (Policy::POLLING.with_elapsed_limit(Duration::from_secs(5)), 3, 2),
    ] {
        run(async {
            let calls = AtomicU32::new(0);
            let service = service_fn(|(): ()| {
                let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
                async move { Err::<(), _>(call) }
            });
            let decide = move |_: &Result<(), u32>| match hint {
                0 => Decision::Retry,
                seconds => Decision::RetryAfter(Duration::from_secs(seconds)),
            };
            let retried = ServiceBuilder::new().retry(Retries::new(policy, 1, decide)).service(service);
            assert_eq!(retried.oneshot(()).await, Err(expected), "{policy:?}");
        });
    }
}

/// Requests of one client draw from streams of their own.
#[test]
fn requests_that_fail_together_do_not_return_together() {
    run(async {
        let policy = Policy::full_jitter(Duration::from_secs(10), Duration::from_secs(10)).with_attempt_limit(2);
        let mut finished = Vec::new();
        for _ in 0..3 {
            let service = service_fn(|(): ()| async { Err::<(), _>("down") });
            let retries = Retries::new(policy, 7, every_error);
            let start = Instant::now();
            for retry in [retries.clone(), retries.clone()] {
                let _ = ServiceBuilder::new().retry(retry).service(service).oneshot(()).await;
                finished.push(start.elapsed().as_millis());
            }
        }
        assert_ne!(finished[0] * 2, finished[1], "both waited equally long");
        assert_eq!(finished[..2], finished[2..4], "the seed says how long");
    });
}
