//! One decision of libbackoff in nanoseconds, in Rust and through the shared library from C, beside yardsticks.
//!
//! `cargo bench --bench backoff` interleaves each row with its yardstick and prints their ratio, which a busy machine changes
//! little: see `ratios.rs`. With `-- --quick` it takes less than a minute. With `-- --save-baseline NAME` or `-- --baseline NAME`
//! criterion times one row after another, peers too, to compare two versions.

mod c;
mod nanoseconds;
mod ratios;

use std::hint::black_box;
use std::time::{Duration, Instant};

use backoff::{Backoff, Generator, Jitter, Limits, Policy, Retry};
use c::Table;
use criterion::{Bencher, Criterion, criterion_group};
use nanoseconds::Nanoseconds;

/// The delays of an operation that fails as often.
const FEW: u64 = 8;
const BASE: Duration = Duration::from_millis(100);
const CEILING: Duration = Duration::from_secs(20);

/// Times one operation. The results are summed up, so that nothing can be left out.
fn each(bencher: &mut Bencher<'_, Nanoseconds>, mut decide: impl FnMut() -> u64) {
    bencher.iter_custom(|times| {
        let start = Instant::now();
        black_box((0..times).fold(0_u64, |sum, _| sum.wrapping_add(decide())));
        Nanoseconds::share(start.elapsed(), times, times)
    });
}

/// The same for a function that makes this number of operations in one call.
fn each_of(bencher: &mut Bencher<'_, Nanoseconds>, operations: u64, mut decide: impl FnMut() -> u64) {
    bencher.iter_custom(|times| {
        let rounds = times.div_ceil(operations);
        let start = Instant::now();
        black_box((0..rounds).fold(0_u64, |sum, _| sum.wrapping_add(decide())));
        Nanoseconds::share(start.elapsed(), times, rounds * operations)
    });
}

/// What has to be worked out of a delay before it can be slept: its parts.
fn nanos(delay: Option<Duration>) -> u64 {
    u64::from(delay.unwrap_or(Duration::ZERO).subsec_nanos())
}

fn yardsticks(criterion: &mut Criterion<Nanoseconds>) {
    let mut group = criterion.benchmark_group("yardstick");
    let mut table = Table::start();
    group.bench_function("C, empty call", |bencher| table.row(bencher, "empty_call"));
    group.bench_function("empty", |bencher| each(bencher, || black_box(1)));
    let mut generator = Generator::stream(1, 1);
    group.bench_function("generator", |bencher| each(bencher, || generator.next_u64()));
}

fn slots(criterion: &mut Criterion<Nanoseconds>) {
    let mut group = criterion.benchmark_group("collide");
    let mut table = Table::start();
    for (name, row) in [
        ("C, collide", "collide"),
        ("C, inline", "collide_inline"),
        ("C, draws of 1,024", "draws"),
        ("C, each of 256", "collide_each"),
        ("C, ideal", "ideal_collide"),
        ("C, ideal, each of 256", "ideal_each"),
    ] {
        group.bench_function(name, |bencher| table.row(bencher, row));
    }
    let mut generator = Generator::stream(1, 1);
    let mut backoff = Backoff::new(black_box(Limits::IEEE_802_3));
    group.bench_function("decision", |bencher| {
        each(bencher, || match backoff.collide_with(&mut generator) {
            Some(slots) => slots,
            None => {
                backoff.reset();
                0
            }
        });
    });
    let fixed = Backoff::after(Limits::IEEE_802_3, 9);
    group.bench_function("draws of one attempt", |bencher| {
        each(bencher, || { fixed }.collide_with(&mut generator).unwrap_or(0));
    });
}

fn policies(criterion: &mut Criterion<Nanoseconds>) {
    let mut group = criterion.benchmark_group("policy");
    let mut table = Table::start();
    for (name, row) in [
        ("C, retry_fail", "retry_fail"),
        ("C, prepared_fail", "prepared_fail"),
        ("C, policy_draw", "policy_draw"),
        ("C, prepared_draw", "prepared_draw"),
        ("C, rate_act", "rate_act"),
        ("C, ideal of full jitter", "ideal_retry"),
    ] {
        group.bench_function(name, |bencher| table.row(bencher, row));
    }
    let mut generator = Generator::stream(1, 1);
    const FULL: Policy = Policy::full_jitter(BASE, CEILING);
    group.bench_function("full jitter, u64 ns, constant policy", |bencher| {
        let mut failures = 0;
        each(bencher, || {
            failures = if failures == 16 { 1 } else { failures + 1 };
            FULL.law(failures).map_or(0, |law| law.draw_ns(&mut generator))
        });
    });
    let laws: Vec<_> = (1..=16).filter_map(|failures| FULL.law(failures)).collect();
    group.bench_function("full jitter, u64 ns, law at hand", |bencher| {
        let mut failures = 0_u64;
        each(bencher, || {
            failures = (failures + 1) % 16;
            laws[failures as usize].draw_ns(&mut generator)
        });
    });
    for (name, policy) in [
        ("full jitter", FULL),
        ("decorrelated jitter", Policy::decorrelated_jitter(BASE, CEILING)),
        ("Google HTTP", Policy::GOOGLE_HTTP),
        ("802.3", Policy::IEEE_802_3.with_attempt_limit(0)),
    ] {
        let policy = black_box(policy);
        let mut delays = policy.delays(Generator::stream(1, 1));
        group.bench_function(format!("Iterator, {name}"), |bencher| {
            each_of(bencher, 1024, || {
                if delays.failures() > 100_000 {
                    delays.reset();
                }
                (0..1024).fold(0, |sum, _| sum + nanos(delays.next()))
            });
        });
        // As most operations are: few delays, and all of them while the policy still grows.
        let mut delays = policy.delays(Generator::stream(1, 1));
        group.bench_function(format!("Iterator, {name}, operations of {FEW} delays"), |bencher| {
            each_of(bencher, FEW, || {
                delays.reset();
                (0..FEW).fold(0, |sum, _| sum + nanos(delays.next()))
            });
        });
    }
    // As a program has it, and as the peers are below: made in place, for the compiler to see.
    let mut delays = FULL.delays(Generator::stream(1, 1));
    group.bench_function("Iterator, full jitter, constant policy", |bencher| {
        each(bencher, || nanos(delays.next()));
    });
    group.bench_function("Iterator, full jitter, made for each operation", |bencher| {
        each_of(bencher, FEW, || {
            let delays = FULL.with_attempt_limit(FEW + 1).delays(&mut generator);
            delays.fold(0, |sum, delay| sum + u64::from(delay.subsec_nanos()))
        });
    });
    let (policy, mut retry) = (black_box(FULL), Retry::starting_at(Duration::ZERO));
    group.bench_function("Retry::fail_ns, full jitter", |bencher| {
        each(bencher, || retry.fail_ns(&policy, 1, 0, &mut generator).unwrap_or(0));
    });
    let equal = black_box(FULL.with_jitter(Jitter::Equal));
    group.bench_function("Retry::fail_ns, equal jitter", |bencher| {
        each(bencher, || retry.fail_ns(&equal, 1, 0, &mut generator).unwrap_or(0));
    });
}

/// Peers, each as its documentation shows it: exponential from 100 ms to 20 s with its jitter.
fn peers(criterion: &mut Criterion<Nanoseconds>) {
    use backon::BackoffBuilder;
    let mut group = criterion.benchmark_group("peer");
    let builder = backon::ExponentialBuilder::default().with_min_delay(BASE).with_max_delay(CEILING).with_jitter();
    let mut delays = builder.without_max_times().build();
    group.bench_function("backon", |bencher| {
        each(bencher, || nanos(delays.next()));
    });
    let backoff = exponential_backoff::Backoff::new(u32::MAX, BASE, CEILING);
    let mut delays = backoff.iter();
    group.bench_function("exponential-backoff", |bencher| {
        each(bencher, || nanos(delays.next().flatten()));
    });
    let strategy = tokio_retry::strategy::ExponentialBackoff::from_millis(2).factor(50).max_delay(CEILING);
    let mut delays = strategy.map(tokio_retry::strategy::jitter);
    group.bench_function("tokio-retry", |bencher| {
        each(bencher, || nanos(delays.next()));
    });
}

criterion_group! {
    name = decisions;
    config = Criterion::default().with_measurement(Nanoseconds);
    targets = yardsticks, slots, policies, peers
}

fn main() {
    if std::env::args().any(|argument| argument.contains("baseline")) {
        decisions();
        Criterion::default().configure_from_args().final_summary();
    } else {
        ratios::print(std::env::args().any(|argument| argument == "--quick"));
    }
}
