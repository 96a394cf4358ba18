//! The golden vectors: the delays that seeds and policies give, held in Rust, in C and in Python, so that any port can check
//! itself. `BLESS=1` rewrites `golden/golden.json`.

mod harness;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use backoff_core::{Generator, Jitter, Policy};
use harness::{LIBRARY, ROOT, STRICT, is_there, run};

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

/// From the policies of Rust that have the names of the kinds: so the rows of the C face and the core's policies are the
/// same. What Rust has not (flags, gRPC, CoAP, a jitter of the first delay alone) is left to the others.
#[test]
fn rust_finds_the_golden_delays() {
    let golden = std::fs::read_to_string(folder().join("golden.json")).expect("it is checked in");
    let mut compared = 0;
    for line in golden.lines() {
        let numbers: Vec<u64> =
            line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
        let Some((vector, delays)) = numbers.split_at_checked(16) else { continue };
        let Some(policy) = policy_of(vector) else { continue };
        let (seed, stream) = (vector[14], vector[15]);
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
    assert!(compared > 150, "{compared} vectors");
}

fn policy_of(vector: &[u64]) -> Option<Policy> {
    let [kind, base, _, _, ceiling, cap, _, multiplier, priority, jitter, amount, flags, _, interval, ..] = *vector
    else {
        return None;
    };
    let (zero, interval) = (Duration::ZERO, interval as u32);
    let slots = [interval, interval * 2, interval * 3];
    let policy = match kind {
        0 => Policy::full_jitter(zero, zero),
        1 => Policy::equal_jitter(zero, zero),
        2 => Policy::decorrelated_jitter(zero, zero),
        3 | 18 => Policy::POLLING,
        4 => Policy::constant(zero),
        5 if base == 0 => Policy::linear(zero, Duration::from_millis(100)),
        5 => Policy::linear(zero, Duration::from_nanos(base)),
        6 => Policy::fibonacci(zero),
        7 => Policy::IEEE_802_3,
        8 => Policy::slot_exponential(zero, 2, 10),
        9 => Policy::rcp(zero, slots),
        10 => Policy::rcp_multipliers(zero, slots),
        11 => Policy::aloha_uniform(zero, interval),
        12 => Policy::aloha_geometric(zero, interval),
        13 if base == 0 => Policy::SIP_TIMER_E,
        14 if base == 0 => Policy::SIP_TIMER_A,
        15 => Policy::GOOGLE_HTTP,
        16 => Policy::GOOGLE_DRIVE,
        17 => Policy::AMAZON_SIMPLEDB,
        20 => Policy::AWS_STANDARD,
        21 => Policy::AWS_THROTTLING,
        22 => Policy::AWS_DYNAMODB,
        23 => Policy::AWS_STANDARD_BEFORE,
        24 => Policy::KUBERNETES_QUEUE,
        25 => Policy::KUBERNETES_CRASH_LOOP,
        26 => Policy::TCP_RTO,
        27 => Policy::TRICKLE,
        28 => Policy::IEEE_802_15_4,
        31 => Policy::DHCPV6_SOLICIT,
        32 => Policy::DHCPV6_REQUEST.with_attempt_limit(0).with_ceiling(zero),
        33 => Policy::polly(zero),
        30 => Policy::systemd_restart(zero, interval, Duration::from_nanos(ceiling)),
        _ => return None,
    };
    let policy = with_jitter(policy, kind, jitter, amount as u32)?;
    // The kinds 4 to 6 do not look at a multiplier.
    let policy = match multiplier {
        0 => policy,
        _ if (4..=6).contains(&kind) => policy,
        _ => policy.with_multiplier_percent((multiplier / 10_000) as u32),
    };
    let policy = if base == 0 { policy } else { policy.with_base(Duration::from_nanos(base)) };
    let policy = if ceiling == 0 { policy } else { policy.with_ceiling(Duration::from_nanos(ceiling)) };
    let policy = policy.with_cap(Duration::from_nanos(cap)).with_priority_percent(priority as u32);
    if flags == 0 { Some(policy) } else { None }
}

/// The policy with the jitter of that number; `percent` is its amount where it is not 0.
fn with_jitter(policy: Policy, kind: u64, number: u64, percent: u32) -> Option<Policy> {
    let policy = match number {
        0 => policy,
        1 => policy.with_jitter(Jitter::None),
        2 => policy.with_jitter(Jitter::Full),
        3 => policy.with_jitter(Jitter::Below),
        4 => policy.with_jitter(Jitter::Equal),
        5 => policy.with_jitter(Jitter::Proportional { percent: 50 }),
        6 => policy.with_jitter(Jitter::AddedMillis { most: 1000 }),
        7 => policy.with_jitter(Jitter::Decorrelated),
        8 => policy.with_jitter(Jitter::UpperHalf),
        10 => policy.with_jitter(Jitter::DecorrelatedClamped),
        11 => policy.with_jitter(Jitter::Dhcpv6 { percent: 10, first_above: false }),
        12 => policy.with_jitter(Jitter::Dhcpv6 { percent: 10, first_above: true }),
        13 => policy.with_jitter(Jitter::Polly),
        _ => return None,
    };
    let dhcpv6 = |first_above| Jitter::Dhcpv6 { percent, first_above };
    match (percent, kind, number) {
        (0, ..) | (_, _, 10 | 13) | (_, 33, _) => Some(policy),
        (_, 32, _) | (_, _, 11) => Some(policy.with_jitter(dhcpv6(false))),
        (_, 31, _) | (_, _, 12) => Some(policy.with_jitter(dhcpv6(true))),
        _ => None,
    }
}
