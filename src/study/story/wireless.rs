//! 802.11: acknowledged frames, a count of slots that pauses, and stations that do not hear each other.

use super::{Chapter, Job, Ran, command, formula, life, text};
use crate::study::flow;
use crate::study::page::{Chart, Part};
use crate::study::theory::bianchi::{Dcf, Phy};

const STATIONS: [u32; 5] = [2, 5, 10, 20, 50];
const PAYLOAD: u32 = 1023;

pub(super) fn bianchi(quick: bool) -> Chapter {
    let time = if quick { "20s" } else { "300s" };
    let run = |rts, stations| {
        Job::new(format!(
            "--access csma-ca --phy fhss-1 --rts {rts} --window 32:256 --retry-limits 255:255 --stations {stations} \
             --frame-size {} --topology star:1bt --duration {time}",
            PAYLOAD + 18
        ))
    };
    Chapter {
        id: "bianchi",
        title: "Bianchi, 2000: 802.11 with and without RTS",
        source: "G. Bianchi, Performance Analysis of the IEEE 802.11 Distributed Coordination Function, IEEE JSAC 18 (3), 2000",
        runs: ["off", "on"].into_iter().flat_map(|rts| STATIONS.map(|stations| run(rts, stations))).collect(),
        tell: |runs, _| {
            let (basic, asked) = runs.split_at(STATIONS.len());
            let dcf = |stations| Dcf { stations, window: 32, stages: 3 };
            let curve = |rts| {
                let times = Phy::Fhss1.times(PAYLOAD, rts);
                (2..=50).filter_map(move |n| Some((f64::from(n), dcf(n).throughput(&times).ok()?)))
            };
            let places = || STATIONS.iter().map(|&stations| f64::from(stations));
            let points = |runs: &[Ran], name: &str| -> Vec<(f64, f64, f64)> {
                places().zip(runs).map(|(x, run)| run.point(x, name)).collect()
            };
            let collisions =
                (2..=50).filter_map(|n| Some((f64::from(n), dcf(n).attempts().ok()?.collision_probability)));
            let chart = Chart { labels: ["stations", "S, part of the time with payload"], ..Chart::default() };
            let probability = Chart { labels: ["stations", "p, attempts that collide"], ..Chart::default() };
            Ok(vec![
                text(
                    "A radio cannot hear while it sends, so 802.11 avoids collisions instead of detecting them: a sender draws a \
                     number of slots and counts them down while the medium is silent; the addressee acknowledges. Bianchi made \
                     each sender a Markov chain that collides with one chance p at every attempt. With RTS and CTS before it, \
                     only a short request can collide.",
                ),
                formula(
                    "tau = 2 / (1 + W + p W (1 + 2p + ... + (2p)^(m-1)))      p = 1 - (1 - tau)^(n-1)\n\
                     S = P_s P_tr E[P] / ((1 - P_tr) slot + P_tr P_s T_s + P_tr (1 - P_s) T_c)",
                ),
                chart
                    .curve("basic, formula", curve(false))
                    .points("basic, simulation", points(basic, "goodput_mbps"))
                    .curve("RTS, formula", curve(true))
                    .points("RTS, simulation", points(asked, "goodput_mbps"))
                    .figure("Saturated stations at 1 Mb/s, W = 32, m = 3, a payload of 1023 octets.")?,
                probability
                    .curve("formula", collisions)
                    .points("simulation", points(basic, "collision_probability"))
                    .figure(
                    "p is 1 to 3 % lower than the formula says: 802.11 does not count slots in which others send.",
                )?,
                command(&runs[2]),
            ])
        },
    }
}

pub(super) fn hidden(quick: bool) -> Chapter {
    let time = if quick { "20s" } else { "300s" };
    let run = |(rts, range): (&str, u32)| {
        Job::new(format!("examples/hidden.toml --rts {rts} --range {range}m --duration {time}"))
    };
    let lives = ["off", "on"]
        .map(|rts| Job::life(&format!("examples/hidden.toml --rts {rts} --range 120m"), "end=transmitted"));
    Chapter {
        id: "hidden",
        title: "A hidden station",
        source: "F. Tobagi and L. Kleinrock, Packet Switching in Radio Channels: Part II, IEEE Trans. Comm. 23 (12), 1975; IEEE \
                 802.11, 10.3.2.7",
        runs: [("off", 250), ("on", 250), ("off", 120), ("on", 120)].into_iter().map(run).chain(lives).collect(),
        tell: |runs, _| {
            let (runs, lives) = runs.split_at(4);
            let (heard, apart) = runs.split_at(2);
            let goodput = |run: &Ran| run.figure("goodput_mbps");
            let factor = goodput(&apart[1]) / goodput(&apart[0]);
            Ok([
                text(
                    "Two senders are at the ends of a line of 200 m, and both send to the station in the middle. Where all hear \
                     each other, carrier sense keeps the two apart, and RTS and CTS only cost time.",
                ),
                with_and_without_rts("all in range (250 m)", heard),
                text(&format!(
                    "With a range of 120 m the middle still hears both, and the senders do not hear each other. Each sends into \
                     the other's frames, since what counts is what is heard in the middle. A request is short, so two of \
                     them seldom meet; the CTS from the middle reaches both senders, and the other one keeps silent. RTS \
                     and CTS raise the goodput by a factor of {factor:.0}.",
                )),
                with_and_without_rts("ends hidden (120 m)", apart),
                Part::Picture {
                    svg: flow::svg(),
                    caption: "What a station does, drawn from the engine's own table of steps.".to_owned(),
                },
                Part::Commands(vec!["ethbus plot --figure csma-ca --out csma-ca.svg".to_owned()]),
                command(&runs[2]),
                command(&runs[3]),
            ]
            .into_iter()
            .chain(life(&lives[0], "Without RTS: hidden senders meet in the middle, attempt after attempt."))
            .chain(life(&lives[1], "With RTS and CTS: the CTS from the middle keeps the other sender silent."))
            .collect())
        },
    }
}

/// A table of a run without RTS, and one with it.
fn with_and_without_rts(what: &str, runs: &[Ran]) -> Part {
    let row = |(name, run): (&str, &Ran)| {
        let (_, goodput, half) = run.point(0.0, "goodput_mbps");
        vec![
            name.to_owned(),
            format!("{goodput:.3} ± {half:.3}"),
            format!("{:.3}", run.figure("collision_probability")),
        ]
    };
    let head = [what, "goodput, Mb/s", "p"].map(str::to_owned).into();
    Part::Table { head, rows: ["basic", "RTS and CTS"].into_iter().zip(runs).map(row).collect() }
}
