//! Ethernet: efficiency, what truncation costs, and capture.

use super::stability::users;
use super::{Chapter, Job, command, formula, life, text};
use crate::study::page::{Chart, Part};
use crate::study::theory::ceiling::{best, ceilings};
use crate::study::theory::contention::efficiency;

const STATIONS: [u32; 6] = [2, 5, 10, 30, 80, 150];
const SIZES: [u32; 3] = [64, 512, 1518];

pub(super) fn metcalfe_boggs(quick: bool) -> Chapter {
    let time = if quick { "300ms --warmup 50ms" } else { "20s" };
    let run = |size, stations| Job::new(format!("--stations {stations} --frame-size {size} --duration {time}"));
    Chapter {
        id: "metcalfe-boggs",
        title: "Metcalfe and Boggs, 1976: listen, and stop on a collision",
        source: "R. Metcalfe and D. Boggs, Ethernet: Distributed Packet Switching for Local Computer Networks, CACM 19 (7), 1976",
        runs: SIZES
            .into_iter()
            .flat_map(|size| STATIONS.map(|stations| run(size, stations)))
            .chain([meeting()])
            .collect(),
        tell: |runs, _| {
            let (meeting, runs) = runs.split_last().expect("nineteen runs");
            let places = || STATIONS.iter().map(|&stations| f64::from(stations));
            let chart =
                Chart { labels: ["stations", "part of the time with frames"], log: [true, false], ..Chart::default() };
            let chart = SIZES.iter().zip(runs.chunks(STATIONS.len())).fold(chart, |chart, (size, runs)| {
                let bits = f64::from(8 * size);
                let formula = (2..=150).filter_map(|n| Some((f64::from(n), efficiency(n, bits, 512.0).ok()?)));
                chart.curve(format!("{size} octets, formula"), formula).points(
                    format!("{size} octets"),
                    places().zip(runs).map(|(x, run)| run.point(x, "utilization_frame")),
                )
            });
            Ok([
                text(
                    "A station on a cable hears the others. It sends only into silence, and stops as soon as it hears that it is \
                     not alone, so a collision costs a slot and not a frame. Metcalfe and Boggs asked what is left if each of Q \
                     stations sends in a slot with the chance 1/Q. Real stations do not know Q. With few of them binary \
                     exponential backoff does better than the formula, by capture; with many it does worse.",
                ),
                formula("A = (1 - 1/Q)^(Q - 1)      E = (P/C) / (P/C + T (1 - A)/A)"),
                chart.figure(
                    "10 Mb/s, slots of 512 bit, all stations saturated. The formula knows neither preamble nor gap.",
                )?,
                command(&runs[2]),
            ]
            .into_iter()
            .chain(life(meeting, "Two stations send before they hear each other. Each notices, jams and draws a wait."))
            .collect())
        },
    }
}

/// A collision on a cable of 2 km.
fn meeting() -> Job {
    Job::life("--stations 3 --topology bus:2000m --frame-size 64 --traffic poisson:0.3", "collisions=1")
}

const CEILINGS: [u32; 7] = [4, 16, 64, 256, 1024, 4096, 16384];
const CROWDS: [u32; 3] = [10, 50, 200];

pub(super) fn truncation(quick: bool) -> Chapter {
    let time = if quick { "300ms --warmup 50ms" } else { "15s" };
    let run = |stations, ceiling| {
        Job::new(format!("--stations {stations} --frame-size 64 --backoff beb:{ceiling} --duration {time}"))
    };
    let [constant, doubling] = ["geometric", "beb"].map(|law| {
        let slots = if quick { "2s --warmup 500ms" } else { "40s" };
        WINDOWS.map(|ceiling| users(CONTENDERS, LOAD, &format!("{law}:{ceiling}"), slots))
    });
    Chapter {
        id: "truncation",
        title: "Where the doubling stops: delay against loss",
        source: "IEEE 802.3, 4.2.3.2.5: the range stops at 2^10 slots, and the 16th collision discards the frame",
        runs: CROWDS
            .into_iter()
            .flat_map(|stations| CEILINGS.map(|ceiling| run(stations, ceiling)))
            .chain(constant)
            .chain(doubling)
            .collect(),
        tell: |runs, _| {
            let (runs, slotted) = runs.split_at(CROWDS.len() * CEILINGS.len());
            let draw = |label: &'static str, name: &str, log| {
                let chart = Chart { labels: ["greatest range, slots", label], log: [true, log], ..Chart::default() };
                CROWDS.iter().zip(runs.chunks(CEILINGS.len())).fold(chart, |chart, (stations, runs)| {
                    let places = CEILINGS.iter().map(|&ceiling| f64::from(ceiling));
                    let points = places.zip(runs).map(|(x, run)| run.point(x, name));
                    chart.points(format!("{stations} stations"), points.filter(|point| point.1.is_finite()))
                })
            };
            Ok(vec![
                text(
                    "A range that may double for ever makes an unlucky sender wait for ever; one that stops early leaves the \
                     medium to collisions when many contend. 802.3 stops at 1024 slots, for 1024 stations at most, and gives a \
                     frame up after 16 collisions. A lower ceiling loses frames, a higher one only adds delay.",
                ),
                draw("frames discarded, part of all", "discard_fraction", false)
                    .figure("Loss falls as the ceiling rises, until it covers the crowd.")?,
                draw("mean access delay, bit times", "access_delay_mean_bt", true)
                    .figure("Access delay of frames that got through. Where nearly all are lost, those that get through are the quick ones.")?,
                command(&runs[CEILINGS.len() + 4]),
                text(
                    "The same choice without carrier sense, where Lam's chain has a formula for it: 50 users offer 0.32 packets \
                     a slot, and each wait is one of 2^k slots. Too low a ceiling is unstable. Each further doubling saves \
                     collisions and costs delay, so the lowest stable ceiling is the best one. It grows with the number of \
                     users (`ethbus theory ceiling`):",
                ),
                best_ceilings(),
                choice(slotted).figure("Mean delay by ceiling, N = 50. A sender that doubles up to it waits less at first.")?,
                command(&slotted[0]),
            ])
        },
    }
}

/// N and S of [`choice`], and its ceilings: the chain is stable with all of them.
const CONTENDERS: u32 = 50;
const LOAD: f64 = 0.32;
const WINDOWS: [u32; 5] = [32, 64, 128, 256, 512];

/// Mean delay by ceiling on slotted ALOHA: Lam's chain, runs of its users, and runs that double up to the ceiling.
fn choice(runs: &[super::Ran]) -> Chart {
    let chart = Chart { labels: ["ceiling, slots", "delay, slots"], log: [true, false], ..Chart::default() };
    let ceilings = ceilings(CONTENDERS, LOAD).unwrap_or_default();
    let stable = ceilings.iter().filter(|it| it.slots <= 512);
    let curve = stable.filter_map(|it| Some((f64::from(it.slots), it.mean_delay_slots?)));
    let points = |runs: &[super::Ran]| -> Vec<(f64, f64, f64)> {
        WINDOWS.iter().zip(runs).map(|(&ceiling, run)| run.point(f64::from(ceiling), "delay")).collect()
    };
    let (constant, doubling) = runs.split_at(WINDOWS.len());
    chart
        .curve("chain", curve)
        .points("the ceiling at once", points(constant))
        .points("doubling up to it", points(doubling))
}

/// The best ceiling for some numbers of users.
fn best_ceilings() -> Part {
    let row = |stations: u32| {
        let ceilings = ceilings(stations, LOAD).ok()?;
        let it = best(&ceilings)?;
        let figures = [it.collision_probability?, it.mean_delay_slots?].map(|number| format!("{number:.3}"));
        Some([stations.to_string(), it.slots.to_string()].into_iter().chain(figures).collect())
    };
    let head = ["N", "best ceiling", "P(collision)", "delay, slots"].map(str::to_owned).into();
    Part::Table { head, rows: [10, 20, 50, 100, 200].into_iter().filter_map(row).collect() }
}

/// Backoffs of [`why_random`]: the option, and what it means.
const WAITS: [(&str, &str); 4] = [
    ("constant:4", "always 4 slots"),
    ("fixed:2,10", "2^n slots, not random"),
    ("uniform:20", "0 to 19 slots"),
    ("beb", "0 to 2^n - 1 slots, as 802.3"),
];

pub(super) fn why_random(quick: bool) -> Chapter {
    let time = if quick { "300ms --warmup 50ms" } else { "10s" };
    let run = |(backoff, _): (&str, &str)| {
        Job::new(format!("--stations 5 --frame-size 64 --backoff {backoff} --duration {time}"))
    };
    Chapter {
        id: "random",
        title: "Why random: stations that wait alike collide alike",
        source: "Peterson and Davie, Computer Networks: A Systems Approach, 2.6; IEEE 802.3, 4.2.3.2.5",
        runs: WAITS.map(run).into(),
        tell: |runs, _| {
            let percent = |number: f64| format!("{:.1} %", 100.0 * number);
            let row = |((backoff, meaning), run): (&(&str, &str), &super::Ran)| {
                let words = [*meaning, *backoff].map(str::to_owned).into_iter();
                // A period without a single end of a frame has no part that was lost.
                let lost = run.figure("discard_fraction");
                let lost = if lost.is_finite() { percent(lost) } else { "none ended".to_owned() };
                words.chain([percent(run.figure("utilization_frame")), lost]).collect()
            };
            let head = ["after the n-th collision", "--backoff", "frames, of the time", "discarded"].map(str::to_owned);
            Ok(vec![
                text(
                    "Two stations that collide and wait equally long collide again. Longer waits do not help, as long as all \
                     wait alike: of five saturated stations none gets a frame through, and after its 16th collision each \
                     frame is lost. A draw makes the waits differ; growth only makes room for the draw.",
                ),
                Part::Table { head: head.into(), rows: WAITS.iter().zip(runs).map(row).collect() },
                command(&runs[1]),
            ])
        },
    }
}

const FEW: [u32; 6] = [2, 3, 5, 10, 20, 50];
const BACKOFFS: [(&str, &str); 3] =
    [("BEB of 802.3", "beb:1024"), ("RCP 1, 10, 100, 200", "rcp:1,10,100,200"), ("uniform, 20 slots", "uniform:20")];

pub(super) fn capture(quick: bool) -> Chapter {
    let time = if quick { "300ms --warmup 50ms" } else { "20s" };
    let run = |stations, backoff: &str| {
        Job::new(format!("--stations {stations} --frame-size 64 --backoff {backoff} --duration {time}"))
    };
    Chapter {
        id: "capture",
        title: "Capture on Ethernet: the winner keeps winning",
        source: "IEEE 802.3, 4.2.3.2.5; K. Ramakrishnan and H. Yang, The Ethernet Capture Effect, LCN 1994",
        runs: BACKOFFS.into_iter().flat_map(|(_, backoff)| FEW.map(|stations| run(stations, backoff))).collect(),
        tell: |runs, _| {
            let draw = |label: &'static str, name: &str| {
                let chart = Chart { labels: ["stations", label], log: [true, false], ..Chart::default() };
                BACKOFFS.iter().zip(runs.chunks(FEW.len())).fold(chart, |chart, ((policy, _), runs)| {
                    let places = FEW.iter().map(|&stations| f64::from(stations));
                    chart.points(*policy, places.zip(runs).map(|(x, run)| run.point(x, name)))
                })
            };
            Ok(vec![
                text(
                    "A new frame has the range 0 to 1, however far the others have backed off. So the winner of a contention \
                     meets the loser with better chances, wins again, and its lead grows: of two saturated stations one sends \
                     burst after burst, until the other's frame has met its 16th collision. Lam's table on the same Ethernet \
                     and one that never grows share more evenly, and pay for it in other places.",
                ),
                draw("sent by who sent before, part of frames", "same_winner")
                    .figure("How often the sender of a frame sent the one before.")?,
                draw("part of the time with frames", "utilization_frame")
                    .figure("Capture is unfair and efficient: while one station sends, nobody collides.")?,
                command(&runs[0]),
            ])
        },
    }
}
