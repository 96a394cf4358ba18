//! ALOHA and slotted ALOHA of infinitely many users.

use super::{Chapter, Job, Ran, Watch, along, command, formula, life, text};
use crate::study::page::{Chart, Part};
use crate::study::plot::PlotError;
use crate::study::theory::aloha::{Time, throughput};
use crate::study::theory::kleinrock_lam;

const AXES: [&str; 2] = ["G, attempts in a frame time", "S, successes in a frame time"];

/// Infinitely many users, as Poisson arrivals all over 200 stations.
fn users(access: &str, load: f64, backoff: &str, time: &str) -> Job {
    Job::new(format!(
        "--access {access} --population infinite --stations 200 --traffic poisson:{load}/slot --backoff {backoff} --duration {time}"
    ))
}

fn long(quick: bool) -> &'static str {
    if quick { "2s --warmup 300ms" } else { "60s" }
}

/// A backlog from which a channel with a small K does not come back.
const RUNAWAY: f64 = 60.0;

fn measured(runs: &[Ran]) -> Vec<(f64, f64, f64)> {
    runs.iter().map(|run| run.point(run.figure("offered_traffic"), "throughput")).collect()
}

pub(super) fn abramson(quick: bool) -> Chapter {
    let loads = [0.02, 0.05, 0.08, 0.11, 0.14, 0.16];
    Chapter {
        id: "abramson",
        title: "Abramson, 1970: send, and see",
        source: "N. Abramson, The ALOHA System, AFIPS Fall Joint Computer Conference 37, 1970",
        runs: loads
            .map(|load| users("aloha", load, "uniform:1000", long(quick)))
            .into_iter()
            .chain([meeting()])
            .collect(),
        tell: |runs, _| {
            let (meeting, runs) = runs.split_last().expect("seven runs");
            let curve = along(0.0, 3.0, 90).filter_map(|g| Some((g, throughput(Time::Pure, g, None).ok()?)));
            let chart = Chart { labels: AXES, ..Chart::default() };
            Ok([
                text(
                    "Terminals on the islands of Hawaii share one radio channel. A terminal sends a packet when it has one. If \
                     another packet overlaps it, both are lost; no acknowledgement comes, and each is sent again after a \
                     random time. A packet succeeds if no other begins within a packet's time before it or during it.",
                ),
                formula("S = G e^(-2G),   at most 1/(2e) = 0.1839 at G = 1/2"),
                chart.curve("formula", curve).points("simulation", measured(runs)).figure(
                    "At its best the channel carries 18 % of what it could. Beyond G = 1/2 more attempts carry less.",
                )?,
                command(&runs[4]),
            ]
            .into_iter()
            .chain(life(meeting, "A packet that met another, and its second attempt. Hatched is what both lost."))
            .collect())
        },
    }
}

/// Two packets that meet, on islands 2 km apart.
fn meeting() -> Job {
    Job::life(
        "--access aloha --population infinite --stations 4 --topology bus:6km --frame-size 64 --traffic poisson:0.1/slot",
        "collisions=1",
    )
}

pub(super) fn roberts(quick: bool) -> Chapter {
    let loads = [0.05, 0.12, 0.18, 0.24, 0.3, 0.34];
    Chapter {
        id: "roberts",
        title: "Roberts, 1972: the same in slots",
        source: "L. Roberts, ALOHA Packet System with and without Slots and Capture, 1972 (ACM SIGCOMM CCR 5 (2), 1975)",
        runs: loads.map(|load| users("slotted-aloha", load, "uniform:1000", long(quick))).into(),
        tell: |runs, _| {
            let curve = |time| along(0.0, 3.0, 90).filter_map(move |g| Some((g, throughput(time, g, None).ok()?)));
            let chart = Chart { labels: AXES, ..Chart::default() };
            Ok(vec![
                text(
                    "If packets begin only at the beats of a common clock, two that overlap overlap altogether, and the time in \
                     which a packet is vulnerable is halved.",
                ),
                formula("S = G e^(-G),   at most 1/e = 0.3679 at G = 1"),
                chart
                    .curve("slotted, formula", curve(Time::Slotted))
                    .points("slotted, simulation", measured(runs))
                    .curve("without slots", curve(Time::Pure))
                    .figure("Slots double what the channel carries.")?,
                command(&runs[4]),
            ])
        },
    }
}

pub(super) fn kleinrock_lam(quick: bool) -> Chapter {
    // Infinitely many users run away some day: then the run ends.
    let watched = |load, k| {
        let time = if quick { "1s" } else { "20s" };
        let job = users("slotted-aloha", load, &format!("uniform:{k} --warmup 0s"), time);
        Job { watch: Watch::Exit(RUNAWAY), ..job }
    };
    let runs = [(5, [0.05, 0.1, 0.15]), (15, [0.1, 0.18, 0.24])];
    Chapter {
        id: "kleinrock-lam",
        title: "Kleinrock and Lam, 1972: how long to wait",
        source: "L. Kleinrock and S. Lam, Packet-Switching in a Slotted Satellite Channel, NCC 1973; and ARPANET Satellite \
                 System Note 12, 1972",
        runs: runs.into_iter().flat_map(|(k, loads)| loads.map(|load| watched(load, k))).collect(),
        tell: |runs, _| {
            let curve = |k| along(0.01, 3.0, 60).filter_map(move |g| Some((g, kleinrock_lam::throughput(g, k).ok()?)));
            let chart = Chart { labels: AXES, ..Chart::default() };
            let chart = [1, 2, 5, 15].into_iter().fold(chart, |chart, k| chart.curve(format!("K = {k}"), curve(k)));
            let chart = chart.points("K = 5, simulation", measured(&runs[..3]));
            let rows = [1, 2, 5, 15, 40, 100].into_iter().filter_map(|k| {
                let (most, at) = kleinrock_lam::maximum(k).ok()?;
                Some(vec![k.to_string(), format!("{most:.4}"), format!("{at:.3}")])
            });
            let head = ["K", "largest S", "at G"].map(str::to_owned).into();
            Ok(vec![
                text(
                    "A packet that has collided is sent again in one of the next K slots, each as likely as the others. With a \
                     small K those that have met soon meet again. As K grows, S(G, K) climbs to 1/e; the price is delay.",
                ),
                chart
                    .points("K = 15, simulation", measured(&runs[3..]))
                    .figure("S over G for four values of K, and runs that had not yet run away when they ended.")?,
                Part::Table { head, rows: rows.collect() },
                command(&runs[1]),
            ])
        },
    }
}

/// Told by every chapter of this kind.
pub(super) type Told = Result<Vec<Part>, PlotError>;
