//! One operation that fails eight times, beside backon: the loop alone, since no delay is slept.

use std::future::ready;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use backoff::Policy;
use backoff_retry::retry_async;
use backon::{ExponentialBuilder, Retryable};
use criterion::{Criterion, criterion_group, criterion_main};

const BASE: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(20);
const FAILURES: u64 = 8;

fn run<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing sleeps"),
    }
}

/// Fails eight times, then succeeds.
fn attempt(left: &mut u64) -> std::future::Ready<Result<u64, u64>> {
    let answer = match *left {
        0 => Ok(black_box(7)),
        failures => Err(failures),
    };
    *left = left.saturating_sub(1);
    ready(answer)
}

fn operations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("operation with eight failures");
    let policy = Policy::full_jitter(BASE, LONGEST).with_attempt_limit(FAILURES + 1);
    group.bench_function("ethbus-backoff-retry", |bencher| {
        bencher.iter(|| {
            let mut left = FAILURES;
            let sleep = |delay| ready(_ = black_box(delay));
            run(retry_async(&policy, || attempt(&mut left)).call_on(sleep))
        });
    });
    let builder = ExponentialBuilder::default().with_min_delay(BASE).with_max_delay(LONGEST).with_jitter();
    let builder = builder.with_max_times(FAILURES as usize);
    group.bench_function("backon", |bencher| {
        bencher.iter(|| {
            let mut left = FAILURES;
            let sleep = |delay| ready(_ = black_box(delay));
            run((|| attempt(&mut left)).retry(builder).sleep(sleep).into_future())
        });
    });
    group.finish();
}

criterion_group!(benches, operations);
criterion_main!(benches);
