//! The Rust rows of the table that `table.sh` makes, and the peers: name, fastest sample, 10th percentile, by tabs. A sample
//! is 4,096 operations, as in `table.c`, and the rows do what the rows of the same names do there.

mod timers;

use std::hint::black_box;
use std::time::{Duration, Instant};

use backoff::{Backoff, Generator, Limits, Policy, Rate, RateLimits, Retry};

const OPERATIONS: u64 = 4096;
const SLOT: Duration = Duration::ZERO;

fn measure(name: &str, samples: usize, mut run: impl FnMut() -> u64) {
    black_box(run());
    let mut times: Vec<f64> = (0..samples)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_nanos() as f64 / OPERATIONS as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name}\t{:.2}\t{:.2}", times[0], times[samples / 10]);
}

/// 4,096 times the same, summed up so that nothing can be left out.
fn repeat(mut decide: impl FnMut(u64) -> u64) -> u64 {
    (0..OPERATIONS).fold(0_u64, |sum, index| sum.wrapping_add(decide(index)))
}

fn main() {
    let samples: usize = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(4000);
    let mut generator = Generator::stream(1, 1);
    measure("yardstick: generator", samples, || repeat(|_| generator.next_u64()));
    let mut backoff = Backoff::new(black_box(Limits::IEEE_802_3));
    measure("collide", samples, || {
        repeat(|_| {
            backoff.collide_with(&mut generator).unwrap_or_else(|| {
                backoff.reset();
                0
            })
        })
    });
    let mut apart = Backoff::new(black_box(Limits::IEEE_802_3));
    measure("collide, in a function that is not inlined", samples, || {
        repeat(|_| {
            let mut slots = 0;
            collide_apart(black_box(&mut apart), &mut generator, &mut slots);
            slots
        })
    });
    policies(samples);
    let (limits, mut rate, mut now) = (black_box(RateLimits::new(Duration::ZERO)), Rate::new(), 0);
    measure("rate", samples, || {
        repeat(|_| {
            now += 500_000;
            rate.act_ns(&limits, now)
        })
    });
    peers(samples);
    timers::rows(samples / 2);
}

/// What a program pays that decides in another crate without inlining: as C does, whose every decision is a call.
#[inline(never)]
fn collide_apart(backoff: &mut Backoff, generator: &mut Generator, slots: &mut u64) -> bool {
    if let Some(drawn) = backoff.collide_with(generator) {
        *slots = drawn;
        return true;
    }
    backoff.reset();
    false
}

fn policies(samples: usize) {
    let mut generator = Generator::stream(1, 1);
    let zero = Duration::ZERO;
    let policies = [
        ("full jitter", Policy::full_jitter(zero, zero).with_cap(Duration::from_secs(20))),
        ("equal jitter", Policy::equal_jitter(zero, zero)),
        ("decorrelated jitter", Policy::decorrelated_jitter(zero, zero)),
        ("exponential", Policy::exponential(zero)),
        ("constant", Policy::constant(zero)),
        ("linear", Policy::linear(zero, Duration::from_millis(100))),
        ("Fibonacci", Policy::fibonacci(zero)),
        ("802.3", Policy::IEEE_802_3.with_attempt_limit(0)),
        ("slot exponential", Policy::slot_exponential(SLOT, 2, 10)),
        ("RCP", Policy::rcp(SLOT, [10, 100, 200])),
        ("RCP multipliers", Policy::rcp_multipliers(SLOT, [10, 100, 200])),
        ("ALOHA uniform", Policy::aloha_uniform(SLOT, 10)),
        ("ALOHA geometric", Policy::aloha_geometric(SLOT, 16)),
        ("SIP timer E", Policy::SIP_TIMER_E),
        ("Google HTTP", Policy::GOOGLE_HTTP),
        ("Google Drive", Policy::GOOGLE_DRIVE.with_attempt_limit(0)),
        ("SimpleDB", Policy::AMAZON_SIMPLEDB),
    ];
    for (name, policy) in policies {
        let policy = black_box(policy);
        measure(&format!("retry, {name}"), samples, || {
            (0..OPERATIONS / 8).fold(0_u64, |sum, _| {
                let mut retry = Retry::starting_at(Duration::ZERO);
                (0..8).fold(sum, |sum, _| {
                    sum.wrapping_add(retry.fail_ns(&policy, 0, 0, &mut generator).unwrap_or_default())
                })
            })
        });
        if name == "full jitter" {
            measure("policy draw, full jitter", samples, || {
                repeat(|index| {
                    let word = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    policy.law((index & 7) + 1).map_or(0, |law| law.at_ns(word))
                })
            });
        }
    }
}

fn nanos(delay: Option<Duration>) -> u64 {
    u64::from(delay.unwrap_or(Duration::ZERO).subsec_nanos())
}

/// Exponential from 100 ms to 20 s with its jitter, as each one's documentation shows it.
fn peers(samples: usize) {
    use backon::BackoffBuilder;
    let (base, ceiling) = (Duration::from_millis(100), Duration::from_secs(20));
    let builder = backon::ExponentialBuilder::default().with_min_delay(base).with_max_delay(ceiling).with_jitter();
    let mut delays = builder.without_max_times().build();
    measure("peer: backon", samples, || repeat(|_| nanos(delays.next())));
    let backoff = exponential_backoff::Backoff::new(u32::MAX, base, ceiling);
    let mut delays = backoff.iter();
    measure("peer: exponential-backoff", samples, || repeat(|_| nanos(delays.next().flatten())));
    let strategy = tokio_retry::strategy::ExponentialBackoff::from_millis(2).factor(50).max_delay(ceiling);
    let mut delays = strategy.map(tokio_retry::strategy::jitter);
    measure("peer: tokio-retry", samples, || repeat(|_| nanos(delays.next())));
}
