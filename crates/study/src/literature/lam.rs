//! Four figures of Lam 1974 (S. Lam, dissertation, UCLA-ENG-7429, chapter 5) and Kleinrock and Lam 1975 (IEEE Trans. Comm.
//! 23 (4)).
//!
//! The drawings themselves are not at hand. What is compared is what the texts say of them.

use super::{Beside, Job, Literature, Ran};
use crate::plot::chart::Chart;
use crate::plot::data::{Point, Series};
use crate::theory::kleinrock_lam;
use crate::theory::lam::{Channel, Population};

/// R of the satellite channel: slots until a collision is known.
const R: u32 = 12;
/// N of the delay curves.
const FEW: u32 = 50;

/// All figures, in order.
pub const FIGURES: [Literature; 4] = [
    Literature {
        name: "lam-5-1",
        source: "Lam 1974, figure 5-1: uniform and geometric retransmission",
        runs: uniform_and_geometric,
        chart: side_by_side,
        beside: as_long,
    },
    Literature {
        name: "lam-5-9",
        source: "Lam 1974, figure 5-9; Kleinrock and Lam 1975, figure 10: the largest population",
        runs: |quick| brackets(quick, |it| (it.stays_n, it.k)),
        chart: largest_population,
        beside: grows_with_k,
    },
    Literature {
        name: "lam-5-10",
        source: "Lam 1974, figure 5-10; Kleinrock and Lam 1975, figure 11: K(N, s)",
        runs: |quick| brackets(quick, |it| (it.n, it.stays_k)),
        chart: smallest_k,
        beside: two_hundred,
    },
    Literature {
        name: "lam-5-11",
        source: "Lam 1974, figure 5-11: throughput and delay of stable channels",
        runs: of_stable_channels,
        chart: stable_channels,
        beside: ten_is_best,
    },
];

/// Evenly spaced numbers, both ends included.
fn along(from: f64, to: f64, count: u32) -> impl Iterator<Item = f64> {
    (0..count).map(move |step| from + (to - from) * f64::from(step) / f64::from(count - 1))
}

/// `stations` users of slotted ALOHA, of whom each has a new frame in a slot with the chance `load / stations`.
fn users(stations: u32, load: f64, backoff: &str, time: &str) -> Job {
    let chance = load / f64::from(stations);
    let arguments = format!(
        "--access slotted-aloha --stations {stations} --traffic bernoulli:{chance} --backoff {backoff} --duration {time}"
    );
    Job { arguments, seed: 0, exit: None }
}

fn channel(stations: u32, load: f64, k: u32) -> Option<Channel> {
    Channel::new(Population::Finite(stations), load, k, R).ok()
}

/// Delay over throughput of Lam's chain.
fn delays(stations: u32, k: u32) -> impl Iterator<Item = (f64, f64)> {
    along(0.02, 0.38, 37).filter_map(move |load| {
        let steady = channel(stations, load, k)?.steady()?;
        Some((steady.throughput, steady.mean_delay_slots))
    })
}

const THROUGHPUT_AND_DELAY: [&str; 2] = ["S, successes a slot", "delay, slots"];

fn timed(quick: bool) -> &'static str {
    if quick { "2s --warmup 500ms" } else { "60s" }
}

fn late(load: f64, backoff: &str, time: &str) -> Job {
    users(FEW, load, backoff, &format!("{time} --ack-delay {R}"))
}

fn measured(runs: &[Ran]) -> impl Iterator<Item = (f64, f64, f64)> {
    runs.iter().map(|run| run.point(run.figure("throughput"), "delay"))
}

const LAWS: [&str; 2] = ["uniform", "geometric"];
const TWO_KS: [u32; 2] = [15, 60];
const LOADS: [f64; 4] = [0.1, 0.2, 0.28, 0.34];

fn uniform_and_geometric(quick: bool) -> Vec<Job> {
    let of = |law: &'static str, k| LOADS.map(|load| late(load, &format!("{law}:{k}"), timed(quick)));
    TWO_KS.into_iter().flat_map(|k| LAWS.into_iter().flat_map(move |law| of(law, k))).collect()
}

fn side_by_side(runs: &[Ran]) -> Chart {
    let chart = Chart { labels: THROUGHPUT_AND_DELAY, ..Chart::default() };
    TWO_KS.iter().zip(runs.chunks(2 * LOADS.len())).fold(chart, |chart, (&k, runs)| {
        let chart = chart.curve(format!("K = {k}, chain"), delays(FEW, k));
        LAWS.iter()
            .zip(runs.chunks(LOADS.len()))
            .fold(chart, |chart, (law, runs)| chart.points(format!("K = {k}, {law}"), measured(runs)))
    })
}

fn as_long(runs: &[Ran]) -> Beside {
    let pairs = || runs.chunks(2 * LOADS.len()).flat_map(|both| both[..LOADS.len()].iter().zip(&both[LOADS.len()..]));
    let differs = |(one, other): (&Ran, &Ran)| (one.figure("delay") / other.figure("delay") - 1.0).abs();
    let apart = |(one, other): &(&Ran, &Ran)| {
        let ((_, one, half), (_, other, other_half)) = (one.point(0.0, "delay"), other.point(0.0, "delay"));
        (one - other).abs() > half + other_half
    };
    let (most, apart) = (pairs().map(differs).fold(0.0, f64::max), pairs().filter(apart).count());
    Beside {
        said: "the delays of both are essentially the same",
        here: format!(
            "they differ by at most {:.1} %; {apart} of {} pairs of intervals do not meet",
            100.0 * most,
            pairs().count()
        ),
        verdict: if apart == 0 || most < 0.05 { "agrees" } else { "deviates" },
    }
}

/// Channels at S = 0.34 on both sides of the boundary: with `n` users K = `k` collapses; fewer users, and a larger K, stay.
struct Bracket {
    n: u32,
    k: u32,
    stays_n: u32,
    stays_k: u32,
}

const INPUT: f64 = 0.34;
/// Lam's first exit times of these are 61,574, 53,602 and 88,005 slots, and a run has a million.
const BRACKETS: [Bracket; 3] = [
    Bracket { n: 120, k: 10, stays_n: 67, stays_k: 32 },
    Bracket { n: 200, k: 20, stays_n: 87, stays_k: 70 },
    Bracket { n: 400, k: 40, stays_n: 126, stays_k: 170 },
];
/// The same for short runs: 3,285 and 4,788 slots.
const QUICK_BRACKETS: [Bracket; 2] =
    [Bracket { n: 400, k: 10, stays_n: 67, stays_k: 170 }, Bracket { n: 800, k: 20, stays_n: 87, stays_k: 370 }];
/// Runs on each side of a bracket.
const SEEDS: usize = 3;

/// Which brackets these runs are of.
fn of_runs(runs: usize) -> &'static [Bracket] {
    if runs == 2 * SEEDS * BRACKETS.len() { &BRACKETS } else { &QUICK_BRACKETS }
}

/// For each bracket the runs that are to stay, by users and K, then those that are to collapse.
fn brackets(quick: bool, stays: fn(&Bracket) -> (u32, u32)) -> Vec<Job> {
    let (all, time): (&[Bracket], _) = if quick { (&QUICK_BRACKETS, "3s") } else { (&BRACKETS, "60s") };
    let job = |(n, k): (u32, u32), seed: usize| {
        let job = users(n, INPUT, &format!("geometric:{k}"), &format!("{time} --warmup 0s --ack-delay {R}"));
        // Where the channel collapses nearly all users are blocked.
        Job { seed: seed as u64, exit: Some(0.95 * f64::from(n)), ..job }
    };
    all.iter()
        .flat_map(|it| [stays(it), (it.n, it.k)])
        .flat_map(|it| (0..SEEDS).map(move |seed| job(it, seed)))
        .collect()
}

/// Whether all runs of a bracket did what they were to do.
fn holds(runs: &[Ran]) -> bool {
    let (stay, collapse) = runs.split_at(SEEDS);
    stay.iter().all(|run| !run.is_out) && collapse.iter().all(|run| run.is_out)
}

/// Bands between what stays and what collapses, of those brackets that hold.
fn bands(runs: &[Ran], ends: fn(&Bracket) -> (u32, u32, u32)) -> Series {
    let held = of_runs(runs.len()).iter().zip(runs.chunks(2 * SEEDS)).filter(|(_, runs)| holds(runs));
    let bar = |(it, _): (&Bracket, &[Ran])| {
        let (at, low, high) = ends(it);
        let (low, high) = (f64::from(low), f64::from(high));
        let mean = (low * high).sqrt();
        Point { x: f64::from(at), mean, half: Some(high - mean), below: Some(mean - low), seeds: SEEDS }
    };
    Series { name: format!("S = {INPUT}, simulation"), points: held.map(bar).collect(), is_curve: false }
}

const INPUTS: [f64; 3] = [0.2, 0.3, INPUT];

fn largest_population(runs: &[Ran]) -> Chart {
    let chart = Chart { labels: ["K", "N, users"], log: [true, true], ..Chart::default() };
    let ks = [2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 100, 150, 200, 300, 400];
    let curve = |load| {
        ks.into_iter().filter_map(move |k| Some((f64::from(k), channel(1, load, k)?.largest_stable_n()?.into())))
    };
    let chart = INPUTS.into_iter().fold(chart, |chart, load| chart.curve(format!("S = {load}"), curve(load)));
    chart.with(bands(runs, |it| (it.k, it.stays_n, it.n)))
}

fn grows_with_k(runs: &[Ran]) -> Beside {
    let largest = |k| channel(1, INPUT, k).and_then(|it| it.largest_stable_n());
    let between = |it: &Bracket| largest(it.k).is_some_and(|most| (it.stays_n..it.n).contains(&most));
    bracketed(
        "a larger K accommodates more users",
        format!("{} users with K = 10, {} with K = 200", largest(10).unwrap_or(0), largest(200).unwrap_or(0)),
        largest(10) < largest(200),
        (runs, between),
    )
}

fn smallest_k(runs: &[Ran]) -> Chart {
    let chart = Chart { labels: ["N, users", "K(N, s)"], log: [true, true], ..Chart::default() };
    let ns = [90, 100, 120, 150, 200, 300, 400, 600, 800, 1200];
    let curve = |load| {
        ns.into_iter().filter_map(move |n| Some((f64::from(n), channel(n, load, 1)?.smallest_stable_k()?.into())))
    };
    let chart = INPUTS.into_iter().fold(chart, |chart, load| chart.curve(format!("S = {load}"), curve(load)));
    chart.with(bands(runs, |it| (it.n, it.k, it.stays_k)))
}

fn two_hundred(runs: &[Ran]) -> Beside {
    let smallest = |n| channel(n, INPUT, 1).and_then(|it| it.smallest_stable_k());
    let between = |it: &Bracket| smallest(it.n).is_some_and(|least| (it.k + 1..=it.stays_k).contains(&least));
    bracketed(
        "K = 200 is sufficient for N of about 400",
        format!("K(400, {INPUT}/400) = {}", smallest(400).unwrap_or(0)),
        smallest(400).is_some_and(|least| least <= 200),
        (runs, between),
    )
}

/// What is here of a boundary that runs bracket.
fn bracketed(
    said: &'static str,
    here: String,
    as_said: bool,
    (runs, between): (&[Ran], impl Fn(&Bracket) -> bool),
) -> Beside {
    let all = of_runs(runs.len());
    let held = all.iter().zip(runs.chunks(2 * SEEDS)).filter(|(it, runs)| holds(runs) && between(it)).count();
    let verdict = if as_said && held == all.len() { "agrees" } else { "deviates" };
    Beside { said, here: format!("{here}; {held} of {} simulated bands contain the boundary", all.len()), verdict }
}

const THREE_KS: [u32; 3] = [10, 40, 200];

fn of_stable_channels(quick: bool) -> Vec<Job> {
    let of = |k| LOADS.map(|load| late(load, &format!("geometric:{k}"), timed(quick)));
    THREE_KS.into_iter().flat_map(of).collect()
}

fn stable_channels(runs: &[Ran]) -> Chart {
    let chart = Chart { labels: THROUGHPUT_AND_DELAY, log: [false, true], ..Chart::default() };
    THREE_KS.iter().zip(runs.chunks(LOADS.len())).fold(chart, |chart, (&k, runs)| {
        chart.curve(format!("K = {k}, chain"), delays(FEW, k)).points(format!("K = {k}, simulation"), measured(runs))
    })
}

fn ten_is_best(_: &[Ran]) -> Beside {
    let best = |carried| kleinrock_lam::best(carried, R).map_or(0, |(k, ..)| k);
    let (low, near) = (best(0.2), best(0.35));
    Beside {
        said: "K* = 10 is the optimum at steady state (Lam and Kleinrock 1975)",
        here: format!("of S(G, K) with R = 12 it is {near} at S = 0.35, and {low} at S = 0.2"),
        verdict: if near == 10 { "agrees near capacity" } else { "deviates" },
    }
}
