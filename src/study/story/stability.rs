//! Slotted ALOHA of N users: stability, its cure, and who waits how long.

use super::aloha::Told;
use super::{Chapter, Job, Ran, Watch, along, command, formula, text};
use crate::study::page::{Chart, Part};
use crate::study::theory::lam::control::Procedure;
use crate::study::theory::lam::{Channel, Population};

const STATIONS: u32 = 400;
const LOAD: f64 = 0.32;

/// Lam's users: one packet each, and the chance of a new one in each slot.
pub(super) fn users(stations: u32, load: f64, backoff: &str, time: &str) -> Job {
    let chance = load / f64::from(stations);
    Job::new(format!(
        "--access slotted-aloha --stations {stations} --traffic bernoulli:{chance} --backoff {backoff} --duration {time}"
    ))
}

pub(super) fn lam(quick: bool) -> Chapter {
    let watched = |backoff: &str, seed| {
        let job = users(STATIONS, LOAD, backoff, "600ms --warmup 0s");
        Job { seed, watch: Watch::Backlog(20), ..job }
    };
    let runs =
        (0..4).map(|seed| watched("geometric:10", seed)).chain((0..2).map(|seed| watched("geometric:200", seed)));
    let _ = quick;
    Chapter {
        id: "lam",
        title: "Lam, 1974: the second equilibrium",
        source: "S. Lam, Packet Switching in a Multi-Access Broadcast Channel, dissertation, UCLA-ENG-7429, 1974; L. Kleinrock \
                 and S. Lam, IEEE Trans. Comm. 23 (4), 1975",
        runs: runs.collect(),
        tell: second_equilibrium,
    }
}

fn second_equilibrium(runs: &[Ran], _: bool) -> Told {
    let channel = |k| Channel::new(Population::Finite(STATIONS), LOAD, k, 0).expect("a channel");
    let equilibria = channel(10).equilibria().backlogs;
    let exit = channel(10).first_exit_time_slots().unwrap_or(f64::NAN);
    let chart = Chart { labels: ["slots", "users that are to send again"], ..Chart::default() };
    let chart = runs[..4].iter().enumerate().fold(chart, |chart, (number, run)| {
        chart.curve(format!("K = 10, seed {}", number + 1), run.backlog.iter().copied())
    });
    let chart = runs[4..].iter().enumerate().fold(chart, |chart, (number, run)| {
        chart.curve(format!("K = 200, seed {}", number + 1), run.backlog.iter().copied())
    });
    let stable = |stations: u32| Channel::new(Population::Finite(stations), LOAD, 1, 0).ok()?.smallest_stable_k();
    let rows = [50, 100, 200, 400, 800]
        .into_iter()
        .filter_map(|n: u32| Some(vec![n.to_string(), format!("{:.5}", LOAD / f64::from(n)), stable(n)?.to_string()]));
    let head = ["N", "s = 0.32/N", "smallest stable K"].map(str::to_owned).into();
    let told: Vec<String> = equilibria.iter().map(|n| format!("{n:.1}")).collect();
    Ok(vec![
        text(&format!(
            "400 users with one packet each offer 0.32 packets a slot. With K = 10 the drift of the backlog is 0 at {}. The \
             channel rests near the first for a while. When chance carries the backlog past the second, it runs to the third: \
             everybody is blocked, and hardly anything gets through. The mean time until then is {exit:.0} slots.",
            told.join(", ")
        )),
        formula(
            "input (N - n) s  =  output (1 - p)^n (N - n) s (1 - s)^(N - n - 1) + n p (1 - p)^(n - 1) (1 - s)^(N - n)",
        ),
        chart.figure("Four channels with K = 10 fall, one after the other. With K = 200 none does.")?,
        text("The cure is to wait longer: with K at least K(N, s) there is one equilibrium only."),
        Part::Table { head, rows: rows.collect() },
        command(&runs[0]),
    ])
}

/// K of each group of runs of [`infinite`], in order.
const EXITS: [u32; 4] = [10, 20, 30, 40];

pub(super) fn infinite(quick: bool) -> Chapter {
    let seeds = if quick { 10 } else { 60 };
    let runs = EXITS.into_iter().flat_map(|k| {
        let channel = Channel::new(Population::Infinite, LOAD, k, 0).expect("a channel");
        let above = channel.equilibria().backlogs[1];
        let time = channel.first_exit_time_slots().unwrap_or(1e4) * 8.0 * 576.0 / 1e7;
        let arguments = format!(
            "--access slotted-aloha --population infinite --stations 200 --traffic poisson:{LOAD}/slot --backoff geometric:{k} --warmup 0s --duration {time:.3}s"
        );
        (0..seeds).map(move |seed| Job { arguments: arguments.clone(), seed, watch: Watch::Exit(above) })
    });
    Chapter {
        id: "infinite",
        title: "Infinitely many users: no rest at all",
        source: "Kleinrock and Lam 1975; Lam 1974, chapter 5",
        runs: runs.collect(),
        tell: first_exits,
    }
}

fn first_exits(runs: &[Ran], _: bool) -> Told {
    let seeds = runs.len() / EXITS.len();
    let theory = |k: f64| {
        let channel = Channel::new(Population::Infinite, LOAD, k as u32, 0).ok()?;
        Some((k.floor(), channel.first_exit_time_slots()?))
    };
    let point = |(k, runs): (&u32, &[Ran])| {
        let times: Vec<f64> = runs.iter().filter_map(|run| run.exit_slots).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let half = sim::figures::intervals::half_width(times.iter().copied()).unwrap_or(0.0);
        (f64::from(*k), mean, half)
    };
    let points: Vec<(f64, f64, f64)> = EXITS.iter().zip(runs.chunks(seeds)).map(point).collect();
    let stayed = runs.iter().filter(|run| run.exit_slots.is_none()).count();
    let chart = Chart { labels: ["K", "slots until the backlog has run away"], log: [false, true], ..Chart::default() };
    Ok(vec![
        text(
            "If new packets come whatever the backlog is, the third equilibrium is at infinity. Whatever K is, the backlog \
             leaves the region of the first equilibrium some day and never comes back. So there is no mean delay and no mean \
             throughput: any average is one of the time for which somebody happened to look. What there is, is the time until \
             it runs away.",
        ),
        chart.curve("Lam's chain", along(8.0, 42.0, 35).filter_map(theory)).points("simulation", points).figure(
            format!(
                "First exit times at S = 0.32, from {seeds} seeds for each K. {stayed} of all {} runs ended before it \
                 had run away, and have no point.",
                runs.len()
            ),
        )?,
        command(&runs[0]),
    ])
}

/// Each K that the optimum beside [`rcp`] chooses from; the least first.
const LEAST: u32 = 2;
const CONTROL: [u32; 8] = [4, 10, 20, 40, 60, 100, 200, 400];

/// Delays by load: each policy's, and the least that stations who know the backlog can have.
fn beside_the_optimum(runs: &[Ran]) -> Part {
    let optimum = |load, procedure| -> String {
        let channel = Channel::new(Population::Finite(STATIONS), load, LEAST, 0).expect("a channel");
        channel.controlled(procedure, &CONTROL).map_or("-".to_owned(), |it| format!("{:.1}", it.mean_delay_slots))
    };
    let row = |(place, load): (usize, &f64)| {
        let measured = runs.chunks(LOADS.len()).map(|runs| format!("{:.1}", runs[place].figure("delay")));
        let best = [Procedure::Retransmission, Procedure::Both].map(|procedure| optimum(*load, procedure));
        [load.to_string()].into_iter().chain(measured).chain(best).collect()
    };
    let head = ["S"].into_iter().chain(POLICIES.map(|(name, _)| name)).chain(["optimum of K", "of K and input"]);
    Part::Table { head: head.map(str::to_owned).collect(), rows: LOADS.iter().enumerate().map(row).collect() }
}

const POLICIES: [(&str, &str); 3] =
    [("RCP 1, 10, 100, 200", "rcp:1,10,100,200"), ("K = 200", "uniform:200"), ("BEB", "beb:1024")];
const LOADS: [f64; 6] = [0.05, 0.12, 0.2, 0.26, 0.3, 0.32];

pub(super) fn rcp(quick: bool) -> Chapter {
    let time = if quick { "2s --warmup 500ms" } else { "40s" };
    let runs = POLICIES.into_iter().flat_map(|(_, backoff)| LOADS.map(|load| users(STATIONS, load, backoff, time)));
    Chapter {
        id: "rcp",
        title: "Heuristic RCP, 1974: wait longer the more often you failed",
        source: "S. Lam and L. Kleinrock, Packet Switching in a Multiaccess Broadcast Channel: Dynamic Control Procedures, IEEE \
                 Trans. Comm. 23 (9), 1975",
        runs: runs.collect(),
        tell: |runs, _| {
            let chart = Chart { labels: ["S, successes a slot", "delay, slots"], ..Chart::default() };
            let chart = POLICIES.iter().zip(runs.chunks(LOADS.len())).fold(chart, |chart, ((name, _), runs)| {
                chart.points(*name, runs.iter().map(|run| run.point(run.figure("throughput"), "delay")))
            });
            let at = |policy: usize| &runs[policy * LOADS.len() + LOADS.len() - 1];
            Ok(vec![
                text(&format!(
                    "A large K keeps 400 users stable, and makes everybody wait, also when nobody else is there. Lam let a sender \
                     judge the load by its own bad luck: after the m-th collision it waits one of K(m) slots. At S = 0.32 that \
                     gives throughput {:.3} and a delay of {:.0} slots, against {:.0} slots with K = 200. Binary exponential \
                     backoff is the same idea with K(m) = 2^m.",
                    at(0).figure("throughput"),
                    at(0).figure("delay"),
                    at(1).figure("delay")
                )),
                formula("K(0) = 1, K(1) = 10, K(2) = 100, K(m) = 200 for m > 2"),
                chart.figure("Delay over throughput, N = 400.")?,
                text(
                    "How much better could it be? Stations that know the backlog can choose K by it, and reject new packets. \
                     Markov decision theory gives the best choice (`ethbus theory lam-control`). Mean delays in slots, by \
                     the load S:",
                ),
                beside_the_optimum(runs),
                command(at(0)),
            ])
        },
    }
}

const CROWDS: [u32; 5] = [5, 20, 80, 200, 400];
const GROWTHS: [(&str, &str); 3] =
    [("K(m) = 2^m (BEB)", "beb:1024"), ("RCP 1, 10, 100, 200", "rcp:1,10,100,200"), ("K = 200", "uniform:200")];

pub(super) fn beb(quick: bool) -> Chapter {
    let time = if quick { "1s --warmup 500ms" } else { "20s" };
    let runs = GROWTHS.into_iter().flat_map(|(_, backoff)| CROWDS.map(|stations| users(stations, LOAD, backoff, time)));
    Chapter {
        id: "beb",
        title: "Doubling: too slow for many, needless for few",
        source: "Lam and Kleinrock 1975; Metcalfe and Boggs 1976; IEEE 802.3, 4.2.3.2.5",
        runs: runs.collect(),
        tell: |runs, _| {
            let chart = Chart { labels: ["N, users", "delay, slots"], log: [true, true], ..Chart::default() };
            let chart = GROWTHS.iter().zip(runs.chunks(CROWDS.len())).fold(chart, |chart, ((name, _), runs)| {
                let stations = CROWDS.iter().map(|&stations| f64::from(stations));
                chart.points(*name, stations.zip(runs).map(|(x, run)| run.point(x, "delay")))
            });
            Ok(vec![
                text(
                    "Binary exponential backoff is RCP with K(m) = 2^m. Where 400 users contend, the right K is near 200: a \
                     doubling sender gets there after eight collisions, each of which cost the others a slot. Where 5 contend, \
                     no sender needs to double at all. Lam's table goes there in two steps, and stays.",
                ),
                chart.figure("The same load of 0.32 from few and from many users.")?,
                command(&runs[CROWDS.len() - 1]),
            ])
        },
    }
}
