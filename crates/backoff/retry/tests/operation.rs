//! Operations that fail, blocking and async; no test waits longer than some milliseconds.

use std::cell::RefCell;
use std::future::{pending, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use backoff::{BudgetLimits, Generator, GiveUp, Policy, QuotaLimits, ThrottleLimits, WindowLimits};
use backoff_retry::{RetryBudget, Stopped, retry, retry_async};

const AT_ONCE: Policy = Policy::constant(Duration::from_nanos(1)).with_attempt_limit(5);
const LATE: Policy = Policy::constant(Duration::from_secs(3600));

/// Polls a future that never has to wait.
fn run<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

/// How many attempts an operation makes that never succeeds, and why it stops.
fn attempts(budget: &RetryBudget) -> (u32, Option<Stopped>) {
    let (mut attempts, mut why) = (0, None);
    let failing = || {
        attempts += 1;
        Err::<(), _>("down")
    };
    let answer = retry(&AT_ONCE, failing).budget(budget).stopped(|_, stopped| why = Some(stopped)).call();
    assert_eq!(answer, Err("down"));
    (attempts, why)
}

#[test]
fn callbacks_have_each_error_and_its_delay() {
    let log = RefCell::new(Vec::new());
    let mut number = 0;
    let attempt = || {
        number += 1;
        if number < 4 { Err(number) } else { Ok("done") }
    };
    let notify = |error: &i32, delay| log.borrow_mut().push((*error, delay));
    let answer = retry(&AT_ONCE, attempt).notify(notify).stopped(|_, _| panic!("it succeeds")).call();
    assert_eq!(answer, Ok("done"));
    let delay = Duration::from_nanos(1);
    assert_eq!(log.into_inner(), [(1, delay), (2, delay), (3, delay)]);
}

#[test]
fn each_limit_stops_an_operation_and_says_so() {
    let hour = Duration::from_secs(3600);
    let stopped = |policy: &Policy, deadline: Option<Instant>| {
        let mut why = None;
        let operation = retry(policy, || Err::<(), _>("down")).when(|_| policy != &Policy::POLLING);
        let operation = operation.stopped(|_, stopped| why = Some(stopped));
        let answer = match deadline {
            Some(deadline) => operation.deadline(deadline).call(),
            None => operation.call(),
        };
        assert_eq!(answer, Err("down"));
        why
    };
    assert_eq!(stopped(&AT_ONCE, None), Some(Stopped::Policy(GiveUp::AttemptLimit)));
    assert_eq!(stopped(&LATE.with_elapsed_limit(hour / 2), None), Some(Stopped::Policy(GiveUp::ElapsedLimit)));
    assert_eq!(stopped(&LATE, Some(Instant::now() + hour / 2)), Some(Stopped::Deadline));
    assert_eq!(stopped(&Policy::POLLING, None), Some(Stopped::Refused));
}

/// The jitter of the policy comes on top of what the server asked for, as in `Retry::fail`.
#[test]
fn a_hint_moves_the_delay() {
    let delays = RefCell::new(Vec::new());
    let sleep = |delay| {
        delays.borrow_mut().push(delay);
        ready(())
    };
    let policy = Policy::full_jitter(Duration::from_millis(8), Duration::from_millis(8)).with_attempt_limit(4);
    let failing = async || Err::<(), _>(Duration::from_secs(2));
    let operation = retry_async(&policy, failing).hint(|asked| Some(*asked)).generator(Generator::stream(1, 7));
    assert!(run(operation.call_on(sleep)).is_err());
    let (least, most) = (Duration::from_secs(2), Duration::from_millis(2008));
    let delays = delays.into_inner();
    assert_eq!(delays.len(), 3);
    assert!(delays.iter().all(|delay| (least..=most).contains(delay)), "{delays:?}");
}

/// Each budget's own numbers: a bucket of 2; Finagle's floor; AWS's 500 tokens at 14; gRPC's half of 10; Envoy's 3.
#[test]
fn budgets_bound_the_retries_of_all_operations() {
    let bucket = RetryBudget::bucket(BudgetLimits::new(2).with_deposit_percent(1));
    assert_eq!(attempts(&bucket), (3, Some(Stopped::Budget)));
    assert_eq!(attempts(&bucket), (1, Some(Stopped::Budget)));
    let window = WindowLimits { window_ns: 3_600_000_000_000, percent: 100, least_per_second: 0 };
    assert_eq!(attempts(&RetryBudget::window(window)), (2, Some(Stopped::Budget)));
    let quota = RetryBudget::quota(QuotaLimits { capacity: 28, ..QuotaLimits::AWS });
    assert_eq!(attempts(&quota), (3, Some(Stopped::Budget)));
    let throttle = RetryBudget::throttle(ThrottleLimits::GRPC);
    assert_eq!(attempts(&throttle), (5, Some(Stopped::Policy(GiveUp::AttemptLimit))), "six, seven, eight, nine tokens");
    assert_eq!(attempts(&throttle), (1, Some(Stopped::Budget)), "the fifth failure took a token, too");
    let share = RetryBudget::share(0, 3);
    assert_eq!(attempts(&share), (5, Some(Stopped::Policy(GiveUp::AttemptLimit))), "one retry is under way at a time");
    assert_eq!(attempts(&RetryBudget::share(100, 0)), (5, Some(Stopped::Policy(GiveUp::AttemptLimit))));
    assert_eq!(attempts(&RetryBudget::share(99, 0)), (1, Some(Stopped::Budget)), "0.99 of a retry is none");
}

#[test]
fn a_success_gives_back_what_its_retry_has_cost() {
    let quota = RetryBudget::quota(QuotaLimits { capacity: 28, ..QuotaLimits::AWS });
    for _ in 0..10 {
        let mut left = 1_u32;
        let once = || std::mem::take(&mut left).checked_sub(1).map_or(Ok(()), Err);
        assert_eq!(retry(&AT_ONCE, once).budget(&quota).call(), Ok(()));
    }
    assert_eq!(attempts(&quota), (3, Some(Stopped::Budget)));
}

/// A future that is dropped while it waits, or is never polled, holds no retry.
#[test]
fn a_dropped_future_gives_its_share_back() {
    let share = RetryBudget::share(0, 1);
    for _ in 0..3 {
        let mut waiting =
            pin!(retry_async(&LATE, async || Err::<(), _>("down")).budget(&share).call_on(|_| pending::<()>()));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(attempts(&share), (1, Some(Stopped::Budget)), "the only retry waits");
    }
    drop(retry_async(&LATE, async || Err::<(), _>("down")).budget(&share).call_on(|_| pending::<()>()));
    assert_eq!(attempts(&share), (5, Some(Stopped::Policy(GiveUp::AttemptLimit))));
}

/// Tasks of a runtime with threads have to be `Send`.
#[test]
fn an_async_operation_runs_as_a_task() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let task = async {
        let mut attempts = 0;
        let attempt = || {
            attempts += 1;
            let is_busy = attempts < 3;
            async move {
                tokio::task::yield_now().await;
                if is_busy { Err("busy") } else { Ok("done") }
            }
        };
        let answer = retry_async(&LATE, attempt).when(|error| *error == "busy").call_on_tokio().await;
        (answer, attempts)
    };
    assert_eq!(
        runtime.expect("a runtime").block_on(async { tokio::spawn(task).await.expect("no panic") }),
        (Ok("done"), 3)
    );
}

/// Operations draw from streams of their own.
#[test]
fn operations_that_fail_together_do_not_return_together() {
    let policy = Policy::full_jitter(Duration::from_secs(1000), Duration::from_secs(1000)).with_attempt_limit(2);
    let first_delay = || {
        let mut delay = None;
        let sleep = |drawn| {
            delay = Some(drawn);
            ready(())
        };
        assert!(run(retry_async(&policy, async || Err::<(), _>(())).call_on(sleep)).is_err());
        delay
    };
    assert_ne!(first_delay(), first_delay());
}
