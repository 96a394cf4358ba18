//! The golden vectors: the delays that seeds and policies give, held in Rust, in C and in Python, so that any port can check
//! itself. `BLESS=1` rewrites `golden/golden.json`.

mod harness;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use backoff_core::{DEFAULT_BASE, Generator, Jitter, Policy};
use harness::{LIBRARY, ROOT, STRICT, is_there, run};

/// BACKOFF_FLAG_HINT_ABOVE_DRAW of the header.
const BACKOFF_FLAG_HINT_ABOVE_DRAW: u32 = 4;

fn folder() -> PathBuf {
    Path::new(ROOT).join("ffi-tests/golden")
}

/// Through ctypes, from Python.
#[test]
fn python_finds_the_golden_delays() {
    if is_there("python3") {
        println!("{}", run(Command::new("python3").arg(folder().join("golden.py")).arg(LIBRARY.join("libbackoff.so"))));
    }
}

/// Through the header, from C.
#[test]
fn c_finds_the_golden_delays() {
    let made = tempfile::tempdir().expect("there is room for a program");
    let program = made.path().join("golden");
    let mut compiler = Command::new("gcc");
    compiler.arg("-std=c99").args(STRICT).arg("-I").arg(Path::new(ROOT).join("include"));
    run(compiler.arg(folder().join("golden.c")).arg(LIBRARY.join("libbackoff.so")).arg("-o").arg(&program));
    run(Command::new(&program).arg(folder().join("golden.json")).env("LD_LIBRARY_PATH", &*LIBRARY));
}

/// From the policies of Rust: so the laws of the C face and the core's are the same. What Rust has not (flags, a jitter of the
/// first delay alone) is left to the others.
#[test]
fn rust_finds_the_golden_delays() {
    let golden = std::fs::read_to_string(folder().join("golden.json")).expect("it is checked in");
    let mut compared = 0;
    for line in golden.lines() {
        let numbers: Vec<u64> =
            line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
        let Some((vector, delays)) = numbers.split_at_checked(20) else { continue };
        let Some(policy) = policy_of(vector) else { continue };
        let (seed, stream) = (vector[18], vector[19]);
        let drawn: Vec<u64> = policy
            .delays(Generator::operation(seed, stream))
            .take(12)
            .map(|delay| u64::try_from(delay.as_nanos()).expect("it was made of 64 bits"))
            .collect();
        // The iterator has no clock; at time 0 an operation ends where one delay passes the elapsed limit.
        let within = |&&delay: &&u64| policy.elapsed_limit_ns().is_none_or(|limit| delay <= limit);
        assert_eq!(drawn.iter().take_while(within).copied().collect::<Vec<_>>(), delays, "{line}");
        compared += 1;
    }
    assert!(compared > 200, "{compared} vectors");
}

fn policy_of(vector: &[u64]) -> Option<Policy> {
    let [kind, base, _, slot, ceiling, cap, elapsed, attempts, multiplier, priority, jitter, amount, flags, ..] =
        *vector
    else {
        return None;
    };
    let [base, slot, ceiling, cap, elapsed] = [base, slot, ceiling, cap, elapsed].map(Duration::from_nanos);
    let intervals: Vec<u32> = vector[14..14 + vector[13] as usize].iter().map(|&k| k as u32).collect();
    let policy = match kind {
        0 => Policy::full_jitter(base, ceiling),
        1 => Policy::equal_jitter(base, ceiling),
        2 => Policy::decorrelated_jitter(base, cap),
        3 => Policy::exponential(base),
        4 => Policy::constant(base),
        5 if base.is_zero() => Policy::linear(base, DEFAULT_BASE),
        5 => Policy::linear(base, base),
        6 => Policy::fibonacci(base),
        7 => Policy::systemd_restart(base, intervals[0], ceiling),
        8 => Policy::slot_exponential(slot, 2, 10),
        9 => Policy::rcp_of(slot, &intervals)?,
        10 => Policy::rcp_multipliers_of(slot, &intervals)?,
        11 => Policy::aloha_uniform(slot, intervals[0]),
        12 => Policy::aloha_geometric(slot, intervals[0]),
        _ => return None,
    };
    // The kinds 4 to 6 do not look at a multiplier.
    let policy = match multiplier {
        0 => policy,
        _ if (4..=6).contains(&kind) => policy,
        _ => policy.with_multiplier_percent((multiplier / 10_000) as u32),
    };
    let policy = with_jitter(policy, jitter, amount as u32)?;
    // Steps end at the ceiling by themselves.
    let policy = if kind == 7 { policy } else { policy.with_ceiling(ceiling) };
    let policy = policy.with_cap(cap).with_elapsed_limit(elapsed);
    let policy = policy.with_attempt_limit(attempts).with_priority_percent(priority as u32);
    // No line has a hint.
    if flags & !u64::from(BACKOFF_FLAG_HINT_ABOVE_DRAW) == 0 { Some(policy) } else { None }
}

/// The policy with the jitter of that number; an amount of 0 is the default.
fn with_jitter(policy: Policy, number: u64, amount: u32) -> Option<Policy> {
    let or = |default| if amount == 0 { default } else { amount };
    Some(policy.with_jitter(match number {
        0 => return Some(policy),
        1 => Jitter::None,
        2 => Jitter::Full,
        3 => Jitter::Below,
        4 => Jitter::Equal,
        5 => Jitter::Proportional { percent: or(50) },
        6 => Jitter::AddedMillis { most: or(1000) },
        7 => Jitter::Decorrelated,
        8 => Jitter::UpperHalf,
        10 => Jitter::DecorrelatedClamped,
        11 => Jitter::Dhcpv6 { percent: or(10), first_above: false },
        12 => Jitter::Dhcpv6 { percent: or(10), first_above: true },
        13 => Jitter::Polly,
        14 => Jitter::ProportionalClamped { percent: or(50) },
        15 => Jitter::AroundMillis { most: or(1000) },
        _ => return None,
    }))
}
