//! What came between ALOHA and Ethernet: sense before you send, and slots of one's own.

use super::{Chapter, Job, Ran, along, command, formula, life, text};
use crate::study::page::Chart;
use crate::study::theory::aloha::{self, Time};
use crate::study::theory::csma::{Csma, Persistence};
use crate::study::theory::lam::{Channel, Population};
use crate::study::theory::tdma;

/// Bit times of the frames here, with their preamble: a slot of both slotted methods.
const FRAME: f64 = 576.0;
/// The way between stations in bit times; a slot of p-persistent senders has one more.
const WAY: f64 = 5.0;
const KINDS: [(&str, &str); 3] = [("nonpersistent", "non"), ("1-persistent", "1"), ("0.1-persistent", "0.1")];
const OFFERED: [f64; 4] = [0.1, 0.25, 0.4, 0.5];

fn protocol(kind: usize) -> Csma {
    let (persistence, way) = match kind {
        0 => (Persistence::Non, WAY),
        1 => (Persistence::One, WAY),
        _ => (Persistence::Probability(0.1), WAY + 1.0),
    };
    Csma::new(persistence, false, way / FRAME).expect("a protocol")
}

pub(super) fn kleinrock_tobagi(quick: bool) -> Chapter {
    let time = if quick { "1s --warmup 200ms" } else { "20s" };
    let run = |persistence, load| {
        Job::new(format!(
            "--access csma --population infinite --stations 200 --traffic poisson:{load}/slot --persistence {persistence} --backoff uniform:500 \
             --topology star:{WAY}bt --duration {time}"
        ))
    };
    Chapter {
        id: "csma",
        title: "Kleinrock and Tobagi, 1975: listen before you send",
        source: "L. Kleinrock and F. Tobagi, Packet Switching in Radio Channels: Part I, IEEE Trans. Comm. 23 (12), 1975",
        runs: KINDS.into_iter().flat_map(|(_, persistence)| OFFERED.map(|load| run(persistence, load))).collect(),
        tell: |runs, _| {
            let labels = ["G, attempts in a frame time", "S, successes in a frame time"];
            let loads = || along(-2.0, 2.0, 90).map(|power| 10_f64.powf(power));
            let chart = Chart { labels, log: [true, false], ..Chart::default() };
            let aloha = loads().filter_map(|g| Some((g, aloha::throughput(Time::Slotted, g, None).ok()?)));
            let chart = chart.curve("slotted ALOHA", aloha);
            let chart = KINDS.iter().zip(runs.chunks(OFFERED.len())).enumerate().fold(chart, |chart, (kind, it)| {
                let ((name, _), runs) = it;
                let formula = loads().filter_map(move |g| Some((g, protocol(kind).throughput(g).ok()?)));
                let points = runs.iter().map(|run| run.point(run.figure("offered_traffic"), "throughput"));
                chart.curve(format!("{name}, formula"), formula).points(*name, points)
            });
            Ok(vec![
                text(
                    "Terminals on the ground hear each other long before a packet ends. One that senses carrier does not send \
                     into it, so a packet can only collide in its first moments: a, the way between terminals in packet \
                     times. A 1-persistent terminal sends as soon as the channel is free, and meets all that waited with it. \
                     A nonpersistent one senses again after a random time; a p-persistent one sends with the chance p.",
                ),
                formula("nonpersistent   S = G e^(-aG) / (G (1 + 2a) + e^(-aG))"),
                chart.figure("a = 0.0087: 5 bit times of 576. G counts attempts and those that gave way.")?,
                command(&runs[2]),
            ])
        },
    }
}

const STATIONS: u32 = 50;
const RETRANSMIT: u32 = 60;
const ALOHA: [f64; 4] = [0.02, 0.1, 0.2, 0.3];
const TDMA: [f64; 5] = [0.05, 0.2, 0.4, 0.6, 0.8];

pub(super) fn own_slots(quick: bool) -> Chapter {
    let time = if quick { "40000slots" } else { "400000slots" };
    let aloha = ALOHA.map(|load| {
        let chance = load / f64::from(STATIONS);
        Job::new(format!(
            "--access slotted-aloha --stations {STATIONS} --traffic bernoulli:{chance} --backoff geometric:{RETRANSMIT} \
             --duration {time}"
        ))
    });
    let tdma = TDMA.map(|load| {
        Job::new(format!("--access tdma --stations {STATIONS} --traffic poisson:{load}/slot --duration {time}"))
    });
    let slot = Job::life(
        "--access tdma --stations 4 --slots st1,st2,st1,st3,st4 --topology bus:5km --slot 1000bt --guard 300bt \
         --frame-size 64 --traffic poisson:0.3/slot",
        "station=st2,end=transmitted",
    );
    Chapter {
        id: "tdma",
        title: "Slots of one's own: TDMA beside slotted ALOHA",
        source: "S. Lam, Delay Analysis of a TDMA Channel, IEEE Trans. Comm. 25 (12), 1977; Bertsekas and Gallager 1992, 3.5.1",
        runs: aloha.into_iter().chain(tdma).chain([slot]).collect(),
        tell: |runs, _| {
            let (slot, runs) = runs.split_last().expect("ten runs");
            let (aloha, tdma_runs) = runs.split_at(ALOHA.len());
            let chain = |load| {
                let channel = Channel::new(Population::Finite(STATIONS), load, RETRANSMIT, 0).ok()?;
                Some((load, channel.steady()?.mean_delay_slots))
            };
            let own = |load| Some((load, tdma::wait(STATIONS, load).ok()? + 1.0));
            let in_slots = |(load, run): (&f64, &Ran)| {
                let (x, mean, half) = run.point(*load, "mac_delay_mean_bt");
                (x, mean / FRAME, half / FRAME)
            };
            let labels = ["S, packets offered a slot", "mean delay, slots"];
            let chart = Chart { labels, log: [false, true], ..Chart::default() }
                .curve("slotted ALOHA, Lam's chain", along(0.01, 0.33, 33).filter_map(chain))
                .points("slotted ALOHA", ALOHA.iter().zip(aloha).map(|(&load, run)| run.point(load, "delay")))
                .curve("TDMA, formula", along(0.01, 0.9, 60).filter_map(own))
                .points("TDMA", TDMA.iter().zip(tdma_runs).map(in_slots));
            Ok([
                text(&format!(
                    "A satellite channel of the ARPANET had {STATIONS} stations to serve, say. With TDMA each sends in its own \
                     slot of a frame and never collides, but waits half a frame on average, also when nobody else sends. \
                     With slotted ALOHA a station sends at once and pays only if it collides. Where stations are many and \
                     each has little to send, ALOHA is faster; beyond its capacity only slots of one's own carry the load."
                )),
                formula("D = N / (2 (1 - S)) + 1"),
                chart.figure("50 stations. Users of ALOHA have one packet at most, stations of TDMA a queue.")?,
                command(&runs[2]),
                command(&tdma_runs[2]),
            ]
            .into_iter()
            .chain(life(slot, "A frame in its slot on a cable of 5 km. Guard time keeps the next slot's frame off."))
            .collect())
        },
    }
}
