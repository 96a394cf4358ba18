//! The retry budgets of `ethbus-backoff` for threads that share them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use backoff::{
    Budget, BudgetLimits, Pushback, QuotaLimits, ThrottleLimits, Tokens, Window, WindowLimits, share_allows,
};

/// Bounds the retries of all operations of a client, whatever their number and their threads.
///
/// Keep one for each service that the client calls, and give it to each operation:
///
/// ```
/// use backoff::{BudgetLimits, Policy};
/// use backoff_retry::{RetryBudget, retry};
///
/// let budget = RetryBudget::bucket(BudgetLimits::new(10));
/// let answer: Result<(), &str> = retry(&Policy::IEEE_802_3, || Err("down")).budget(&budget).call();
/// assert_eq!(answer, Err("down"));
/// ```
#[derive(Debug)]
pub struct RetryBudget(Kind);

#[derive(Debug)]
enum Kind {
    Bucket(BudgetLimits, Mutex<Budget>),
    Window(WindowLimits, Instant, Mutex<Window>),
    Quota(QuotaLimits, Tokens),
    Throttle(ThrottleLimits, Tokens),
    Share { percent: u32, least: u32, requests: AtomicU64, retries: AtomicU64 },
}

impl RetryBudget {
    /// A bucket, full at first, to which each first attempt adds a share of a retry.
    pub fn bucket(limits: BudgetLimits) -> RetryBudget {
        RetryBudget(Kind::Bucket(limits, Mutex::new(Budget::full(&limits))))
    }

    /// A share of the requests of the last seconds may be retries, as in Finagle and tower.
    pub fn window(limits: WindowLimits) -> RetryBudget {
        RetryBudget(Kind::Window(limits, Instant::now(), Mutex::new(Window::new())))
    }

    /// The quota of the AWS SDKs. No retry counts as one after a throttling error.
    pub fn quota(limits: QuotaLimits) -> RetryBudget {
        RetryBudget(Kind::Quota(limits, limits.full()))
    }

    /// The retry throttling of gRPC.
    pub fn throttle(limits: ThrottleLimits) -> RetryBudget {
        RetryBudget(Kind::Throttle(limits, limits.full()))
    }

    /// At most `percent` retries for 100 operations that are under way, and `least` in any case, as in Envoy.
    pub fn share(percent: u32, least: u32) -> RetryBudget {
        RetryBudget(Kind::Share { percent, least, requests: AtomicU64::new(0), retries: AtomicU64::new(0) })
    }

    /// An operation makes its first attempt.
    fn begin(&self) {
        match &self.0 {
            Kind::Bucket(limits, budget) => unpoisoned(budget).deposit(limits),
            Kind::Window(limits, start, window) => unpoisoned(window).deposit(limits, nanos_since(start)),
            Kind::Share { requests, .. } => _ = requests.fetch_add(1, Ordering::Relaxed),
            Kind::Quota(..) | Kind::Throttle(..) => {}
        }
    }

    /// An attempt has failed: what another costs, or `None` if there is none.
    fn fail(&self) -> Option<u32> {
        let allows = match &self.0 {
            Kind::Bucket(limits, budget) => unpoisoned(budget).withdraw(limits),
            Kind::Window(limits, start, window) => unpoisoned(window).withdraw(limits, nanos_since(start)),
            Kind::Quota(limits, tokens) => return limits.take(tokens, false),
            Kind::Throttle(limits, tokens) => limits.fail(tokens, Pushback::Absent),
            Kind::Share { percent, least, requests, retries } => retries
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |active| {
                    share_allows(requests.load(Ordering::Relaxed), active, *percent, *least).then_some(active + 1)
                })
                .is_ok(),
        };
        allows.then_some(0)
    }

    /// An attempt has failed, and a limit other than the budget forbids another.
    fn give_up(&self) {
        if let Kind::Throttle(limits, tokens) = &self.0 {
            limits.fail(tokens, Pushback::Absent);
        }
    }

    /// An operation has succeeded whose last retry has cost this.
    fn succeed(&self, cost: u32) {
        match &self.0 {
            Kind::Quota(limits, tokens) => limits.succeed(tokens, cost),
            Kind::Throttle(limits, tokens) => limits.succeed(tokens),
            Kind::Bucket(..) | Kind::Window(..) | Kind::Share { .. } => {}
        }
    }

    /// A retry has ended, in any way.
    fn retry_ends(&self) {
        if let Kind::Share { retries, .. } = &self.0 {
            retries.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// An operation has ended, in any way.
    fn end(&self) {
        if let Kind::Share { requests, .. } = &self.0 {
            requests.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// What one operation has of a budget. Dropping it ends the operation, also where a future is dropped before its end.
#[derive(Debug)]
pub(crate) struct Account<'a> {
    budget: Option<&'a RetryBudget>,
    /// What the retry that is under way has cost; `None`: this is the first attempt.
    cost: Option<u32>,
}

impl<'a> Account<'a> {
    pub(crate) fn open(budget: Option<&'a RetryBudget>) -> Account<'a> {
        if let Some(budget) = budget {
            budget.begin();
        }
        Account { budget, cost: None }
    }

    /// An attempt has failed; whether there may be another.
    pub(crate) fn fail(&mut self) -> bool {
        self.retry_ends();
        let Some(budget) = self.budget else { return true };
        self.cost = budget.fail();
        self.cost.is_some()
    }

    /// An attempt has failed, and there is no other, whatever the budget holds.
    pub(crate) fn give_up(&mut self) {
        if let Some(budget) = self.budget {
            budget.give_up();
        }
    }

    pub(crate) fn succeed(&mut self) {
        if let Some(budget) = self.budget {
            budget.succeed(self.cost.unwrap_or(0));
        }
    }

    fn retry_ends(&mut self) {
        if let (Some(budget), Some(_)) = (self.budget, self.cost.take()) {
            budget.retry_ends();
        }
    }
}

impl Drop for Account<'_> {
    fn drop(&mut self) {
        self.retry_ends();
        if let Some(budget) = self.budget {
            budget.end();
        }
    }
}

/// A panic elsewhere leaves plain numbers behind, which are as good as before.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanos_since(start: &Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
