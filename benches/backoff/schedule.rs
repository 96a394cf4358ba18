//! The slot schedule in Rust: one expiry and one insertion in nanoseconds, with N values pending all the time. `backoff` has
//! it from C too, beside yardsticks.
//!
//! `cargo bench --bench schedule`

mod nanoseconds;

use std::hint::black_box;

use backoff::{Due, Generator, Schedule};
use criterion::{Criterion, criterion_group, criterion_main};
use nanoseconds::Nanoseconds;

fn schedule(criterion: &mut Criterion<Nanoseconds>) {
    let mut group = criterion.benchmark_group("schedule");
    for delay_bits in [10, 20] {
        for pending in [1_000_u64, 100_000, 1_000_000] {
            let mut generator = Generator::stream(1, 2);
            let mut schedule = Schedule::starting_at(0);
            let delay = |generator: &mut Generator| 1 + (generator.next_u64() >> (64 - delay_bits));
            for value in 0..pending {
                schedule.insert(delay(&mut generator), value as u32);
            }
            let mut due = Due::new();
            // Past the first turn of every bucket, so that none has to grow.
            turn(&mut schedule, &mut due, 4 * pending.max(1 << 14), |_| delay(&mut generator));
            group.bench_function(format!("delays below 2^{delay_bits}, {pending} pending"), |bencher| {
                bencher.iter_custom(|iterations| {
                    let start = std::time::Instant::now();
                    let done = turn(&mut schedule, &mut due, iterations, |_| delay(&mut generator));
                    Nanoseconds::share(start.elapsed(), iterations, done)
                });
            });
            assert_eq!(schedule.len() as u64, pending);
        }
    }
}

/// Expires slot after slot and puts each value back, until that many have expired; gives how many have.
fn turn(schedule: &mut Schedule<u32>, due: &mut Due<u32>, values: u64, mut delay: impl FnMut(u32) -> u64) -> u64 {
    let mut done = 0;
    while done < values {
        let slot = schedule.take_next(u64::MAX, due).expect("never empty");
        for value in due.values() {
            black_box(schedule.insert(slot + delay(value), value));
            done += 1;
        }
    }
    done
}

criterion_group! {
    name = schedules;
    config = Criterion::default().with_measurement(Nanoseconds);
    targets = schedule
}
criterion_main!(schedules);
