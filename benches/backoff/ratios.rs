//! Rows beside their yardsticks, interleaved: a sample of the one, a sample of the other, and so on. What the machine does
//! besides meets both, so the median of the ratios is steady where the times are not.

use std::hint::black_box;
use std::time::{Duration, Instant};

use backoff::{Backoff, Due, Generator, Limits, Policy, Retry, Schedule};

use crate::c::Table;

/// How many operations a sample in Rust has, as one in C.
const OPERATIONS: u64 = 4096;

/// What is timed.
enum Row {
    /// A row of the C program.
    C(String),
    /// A row of the program with the event loops.
    Loop(String),
    /// A function in Rust that makes 4,096 operations or some more, and gives how many.
    Rust(Box<dyn FnMut() -> u64>),
}

/// A row, what it is, and its yardstick with what that is.
type Pair = (String, Row, &'static str, Row);

/// Prints the table; `quick` takes fewer samples, and leaves out a million pending values.
pub fn print(quick: bool) {
    let (mut table, mut loops) = (Table::start(), Table::of_loops());
    if loops.is_none() {
        eprintln!("without libuv and libevent: apt-get install libuv1-dev libevent-dev");
    }
    let rounds = if quick { 30 } else { 300 };
    println!("| one operation | ns | yardstick | ns | ratio |\n|---|---|---|---|---|");
    for (name, mut row, yardstick, mut beside) in pairs(quick) {
        let mut sample = |row: &mut Row| time(&mut table, loops.as_mut(), row);
        let pair = |_| Some((sample(&mut row)?, sample(&mut beside)?));
        let Some(mut times) = (0..rounds + 2).map(pair).collect::<Option<Vec<(f64, f64)>>>() else { continue };
        // The first two make a schedule, and fill caches.
        times.drain(..2);
        let mut ratios: Vec<f64> = times.iter().map(|(own, other)| own / other).collect();
        ratios.sort_by(f64::total_cmp);
        let fastest = |of: fn(&(f64, f64)) -> f64| times.iter().map(of).fold(f64::INFINITY, f64::min);
        println!(
            "| {name} | {:.2} | {yardstick} | {:.2} | {:.2} |",
            fastest(|times| times.0),
            fastest(|times| times.1),
            ratios[ratios.len() / 2]
        );
    }
}

/// Nanoseconds for one operation of a sample; `None` where its program is not there.
fn time(table: &mut Table, loops: Option<&mut Table>, row: &mut Row) -> Option<f64> {
    let (took, operations) = match row {
        Row::C(name) => table.time(name, 1),
        Row::Loop(name) => loops?.time(name, 1),
        Row::Rust(run) => {
            let start = Instant::now();
            let operations = run();
            (start.elapsed(), operations)
        }
    };
    Some(took.as_nanos() as f64 / operations as f64)
}

fn pairs(quick: bool) -> Vec<Pair> {
    let c = |name: &str| Row::C(name.to_owned());
    let mut pairs = vec![
        ("C, collide".to_owned(), c("collide"), "C, ideal", c("ideal_collide")),
        ("C, collide inline".to_owned(), c("collide_inline"), "C, ideal", c("ideal_collide")),
        ("C, collide each of 256".to_owned(), c("collide_each"), "C, ideal", c("ideal_each")),
        ("C, draws of 1,024".to_owned(), c("draws"), "C, generator", c("generator")),
        ("C, retry_fail".to_owned(), c("retry_fail"), "C, ideal", c("ideal_retry")),
        ("C, prepared_fail".to_owned(), c("prepared_fail"), "C, ideal", c("ideal_retry")),
        ("C, prepared_fail inline".to_owned(), c("prepared_fail_inline"), "C, ideal", c("ideal_retry")),
        ("C, prepared_draw".to_owned(), c("prepared_draw"), "C, ideal", c("ideal_retry")),
        ("C, policy_draw".to_owned(), c("policy_draw"), "C, ideal", c("ideal_retry")),
        ("C, geometric, prepared".to_owned(), c("geometric"), "C, a logarithm", c("ideal_geometric")),
        ("C, geometric".to_owned(), c("geometric_any"), "C, a logarithm", c("ideal_geometric")),
        ("C, rate_act".to_owned(), c("rate_act"), "C, empty call", c("empty_call")),
        ("Rust, collide".to_owned(), Row::Rust(collide()), "C, ideal", c("ideal_collide")),
        ("Rust, Retry::fail_ns".to_owned(), Row::Rust(retry()), "C, ideal", c("ideal_retry")),
    ];
    for bits in [10, 20] {
        for pending in if quick { &[1000, 100_000][..] } else { &[1000, 100_000, 1_000_000] } {
            let job = format!("2^{bits}, {pending} pending");
            let of = |name: &str| Row::C(format!("{name}_{bits}_{pending}"));
            let rust = Row::Rust(schedule(bits, *pending));
            pairs.push((format!("C, pair, {job}"), of("pair"), "Rust", rust));
            pairs.push((format!("C, pair, {job}"), of("pair"), "heap of four", of("heap")));
            pairs.push((format!("C, pair, {job}"), of("pair"), "calendar queue", of("calendar")));
            for library in ["libuv", "libevent"] {
                let pairs_of = Row::Loop(format!("{library}_{bits}_{pending}"));
                pairs.push((format!("C, pair, {job}"), of("pair"), library, pairs_of));
            }
            pairs.push((format!("C, set and cancel, {job}"), of("cancel"), "C, pair", of("pair")));
        }
    }
    pairs
}

fn collide() -> Box<dyn FnMut() -> u64> {
    let (mut backoff, mut generator) = (Backoff::new(black_box(Limits::IEEE_802_3)), Generator::stream(1, 1));
    Box::new(move || {
        let sum = (0..OPERATIONS).fold(0_u64, |sum, _| {
            sum.wrapping_add(backoff.collide_with(&mut generator).unwrap_or_else(|| {
                backoff.reset();
                0
            }))
        });
        black_box(sum);
        OPERATIONS
    })
}

/// Operations of eight failures, as in C.
fn retry() -> Box<dyn FnMut() -> u64> {
    let policy = black_box(Policy::full_jitter(Duration::ZERO, Duration::ZERO).with_cap(Duration::from_secs(20)));
    let mut generator = Generator::stream(1, 1);
    Box::new(move || {
        let sum = (0..OPERATIONS / 8).fold(0_u64, |sum, _| {
            let mut retry = Retry::starting_at(Duration::ZERO);
            (0..8).fold(sum, |sum, _| sum.wrapping_add(retry.fail_ns(&policy, 0, 0, &mut generator).unwrap_or(0)))
        });
        black_box(sum);
        OPERATIONS
    })
}

/// The pairs of `table_schedule.h`.
fn schedule(bits: u32, pending: u64) -> Box<dyn FnMut() -> u64> {
    let (mut schedule, mut due, mut generator) = (Schedule::starting_at(0), Due::new(), Generator::new(1));
    let mut delay = move || 1 + (generator.next_u64() >> (64 - bits));
    for value in 0..pending {
        schedule.insert(delay(), value);
    }
    let mut turn = move |least| {
        let mut turned = 0;
        while turned < least {
            let slot = schedule.take_next(u64::MAX, &mut due).expect("never empty");
            for value in due.values() {
                schedule.insert(slot + delay(), value);
                turned += 1;
            }
        }
        turned
    };
    turn(2 * pending + 20 * OPERATIONS);
    Box::new(move || turn(OPERATIONS))
}
