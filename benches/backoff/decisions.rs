//! One decision, in nanoseconds, with the yardsticks of the same run: the generator alone, and the empty loop.
//!
//! Every benchmark makes 1,024 decisions; criterion's throughput is decisions in a second.

use std::hint::black_box;
use std::time::Duration;

use backoff::{Backoff, Generator, Jitter, Limits, Policy, Retry};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const DECISIONS: u64 = 1024;
/// The delays of an operation that fails as often.
const FEW: u64 = 8;
const BASE: Duration = Duration::from_millis(100);
const CEILING: Duration = Duration::from_secs(20);

/// 1,024 times the same, summed up so that nothing can be left out.
fn repeat(mut decide: impl FnMut() -> u64) -> u64 {
    (0..DECISIONS).fold(0_u64, |sum, _| sum.wrapping_add(decide()))
}

/// What has to be worked out of a delay before it can be slept: its parts.
fn nanos(delay: Option<Duration>) -> u64 {
    u64::from(delay.unwrap_or(Duration::ZERO).subsec_nanos())
}

fn yardsticks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("yardstick");
    group.throughput(Throughput::Elements(DECISIONS));
    group.bench_function("empty", |bencher| bencher.iter(|| repeat(|| black_box(1))));
    let mut generator = Generator::stream(1, 1);
    group.bench_function("generator", |bencher| bencher.iter(|| repeat(|| generator.next_u64())));
}

fn slots(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("802.3");
    group.throughput(Throughput::Elements(DECISIONS));
    let mut generator = Generator::stream(1, 1);
    let mut backoff = Backoff::new(black_box(Limits::IEEE_802_3));
    group.bench_function("decision", |bencher| {
        bencher.iter(|| {
            repeat(|| match backoff.collide_with(&mut generator) {
                Some(slots) => slots,
                None => {
                    backoff.reset();
                    0
                }
            })
        });
    });
    let fixed = Backoff::after(Limits::IEEE_802_3, 9);
    group.bench_function("draws of one attempt", |bencher| {
        bencher.iter(|| repeat(|| { fixed }.collide_with(&mut generator).unwrap_or(0)));
    });
}

fn policies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("policy");
    group.throughput(Throughput::Elements(DECISIONS));
    let mut generator = Generator::stream(1, 1);
    const FULL: Policy = Policy::full_jitter(BASE, CEILING);
    group.bench_function("full jitter, u64 ns, constant policy", |bencher| {
        let mut failures = 0;
        bencher.iter(|| {
            repeat(|| {
                failures = if failures == 16 { 1 } else { failures + 1 };
                FULL.law(failures).map_or(0, |law| law.draw_ns(&mut generator))
            })
        });
    });
    let laws: Vec<_> = (1..=16).filter_map(|failures| FULL.law(failures)).collect();
    group.bench_function("full jitter, u64 ns, law at hand", |bencher| {
        let mut failures = 0_u64;
        bencher.iter(|| {
            repeat(|| {
                failures = (failures + 1) % 16;
                laws[failures as usize].draw_ns(&mut generator)
            })
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
            bencher.iter(|| {
                if delays.failures() > 100_000 {
                    delays.reset();
                }
                repeat(|| nanos(delays.next()))
            });
        });
        // As most operations are: few delays, and all of them while the policy still grows.
        let mut delays = policy.delays(Generator::stream(1, 1));
        group.bench_function(format!("Iterator, {name}, operations of {FEW} delays"), |bencher| {
            bencher.iter(|| {
                (0..DECISIONS / FEW).fold(0_u64, |sum, _| {
                    delays.reset();
                    (0..FEW).fold(sum, |sum, _| sum + nanos(delays.next()))
                })
            });
        });
    }
    // As a program has it, and as the peers are below: made in place, for the compiler to see.
    let mut delays = FULL.delays(Generator::stream(1, 1));
    group.bench_function("Iterator, full jitter, constant policy", |bencher| {
        bencher.iter(|| repeat(|| nanos(delays.next())));
    });
    group.bench_function("Iterator, full jitter, made for each operation", |bencher| {
        bencher.iter(|| {
            (0..DECISIONS / FEW).fold(0_u64, |sum, _| {
                let delays = FULL.with_attempt_limit(FEW + 1).delays(&mut generator);
                delays.fold(sum, |sum, delay| sum + u64::from(delay.subsec_nanos()))
            })
        });
    });
    let (policy, mut retry) = (black_box(FULL), Retry::starting_at(Duration::ZERO));
    group.bench_function("Retry::fail_ns, full jitter", |bencher| {
        bencher.iter(|| repeat(|| retry.fail_ns(&policy, 1, 0, &mut generator).unwrap_or(0)));
    });
    let equal = black_box(FULL.with_jitter(Jitter::Equal));
    group.bench_function("Retry::fail_ns, equal jitter", |bencher| {
        bencher.iter(|| repeat(|| retry.fail_ns(&equal, 1, 0, &mut generator).unwrap_or(0)));
    });
}

/// Peers, each as its documentation shows it: exponential from 100 ms to 20 s with its jitter.
fn peers(criterion: &mut Criterion) {
    use backon::BackoffBuilder;
    let mut group = criterion.benchmark_group("peer");
    group.throughput(Throughput::Elements(DECISIONS));
    let builder = backon::ExponentialBuilder::default().with_min_delay(BASE).with_max_delay(CEILING).with_jitter();
    let mut delays = builder.without_max_times().build();
    group.bench_function("backon", |bencher| {
        bencher.iter(|| repeat(|| nanos(delays.next())));
    });
    let backoff = exponential_backoff::Backoff::new(u32::MAX, BASE, CEILING);
    let mut delays = backoff.iter();
    group.bench_function("exponential-backoff", |bencher| {
        bencher.iter(|| repeat(|| nanos(delays.next().flatten())));
    });
    let strategy = tokio_retry::strategy::ExponentialBackoff::from_millis(2).factor(50).max_delay(CEILING);
    let mut delays = strategy.map(tokio_retry::strategy::jitter);
    group.bench_function("tokio-retry", |bencher| {
        bencher.iter(|| repeat(|| nanos(delays.next())));
    });
}

criterion_group!(decisions, yardsticks, slots, policies, peers);
criterion_main!(decisions);
