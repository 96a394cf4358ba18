//! Two saturated stations at distance 0: `ethbus sim` beside the Markov chain of the theory.

use super::row::Row;
use super::{Check, Topic};
use crate::theory::two_stations::Chain;

pub(super) fn topic() -> Topic {
    let check = |size: u32, whole, quick| -> Check {
        Box::new(move |bench| {
            let duration = bench.choose(whole, quick);
            let run = bench.sim(&format!(
                "--stations 2 --frame-size {size} --topology star:0bt --duration {duration} --warmup 1s"
            ))?;
            let (means, medium) = (Chain::stationary().means(size), &run.results.medium);
            let rows = [
                ("utilization_total", means.utilization_total, Some(medium.utilization_total)),
                ("attempts_per_frame", means.attempts_per_frame, medium.attempts_per_frame),
                ("discard_fraction", means.discard_fraction, medium.discard_fraction),
                ("same_winner", means.same_winner, medium.same_winner),
            ];
            let row = |(metric, expected, measured)| {
                let what = format!("two stations, {size} octets: {metric}");
                Row::about(what, expected, run.estimate(metric, measured)).from(&run.command)
            };
            Ok(rows.map(row).into())
        })
    };
    Topic {
        title: "Two saturated stations, worked out exactly",
        source: "a Markov chain over 802.3, 4.2.3.2 (crates/study/src/theory/two_stations.rs), which shares no code with the engine",
        about: "At distance 0 the draws alone decide: equal ones collide again, the smaller sends until the gap at whose end the other is \
                ready too.",
        checks: vec![check(64, "500s", "60s"), check(1518, "2000s", "300s")],
    }
}
