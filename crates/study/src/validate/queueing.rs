//! One station with Poisson arrivals of equal frames: a queue with one server and constant service, M/D/1.

use super::row::Row;
use super::{Check, Topic};
use medium::Kind;
use sim::figures::intervals::half_width;

/// Stretches of the run, taken as independent.
const BATCHES: usize = 32;

pub(super) fn topic() -> Topic {
    let check = |size: u32, load: f64| -> Check {
        Box::new(move |bench| {
            let seconds: u64 = if bench.quick() { 40 } else { 320 };
            let packet = f64::from(64 + 8 * size);
            let service = packet + 96.0;
            // The load is given in frame bits; the queue's counts preamble and gap too.
            let rho = load * service / f64::from(8 * size);
            let mut deferred = vec![(0_u64, 0_u64); BATCHES];
            let batch = seconds * 10_000_000 / BATCHES as u64;
            let arguments =
                format!("--stations 1 --frame-size {size} --traffic poisson:{load} --duration {seconds}s --warmup 0s");
            let run = bench.watch(&arguments, |event| {
                if let (Kind::Transmitted { deferred: waited, .. }, Some((waits, frames))) =
                    (event.kind, deferred.get_mut((event.at.get() / batch) as usize))
                {
                    *waits += u64::from(waited);
                    *frames += 1;
                }
            })?;
            let medium = &run.results.medium;
            let wait = rho * service / (2.0 * (1.0 - rho));
            let (waits, frames) = deferred.iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
            let parts = deferred.iter().map(|(waits, frames)| *waits as f64 / *frames as f64);
            let waited = (waits as f64 / frames as f64, half_width(parts).expect("there are batches"));
            let what = |figure: &str| format!("{size} octets, load {load} (rho {rho:.4}): {figure}");
            let delay = run.estimate("mac_delay.mean_bt", medium.mac_delay.mean_bt);
            let used = run.estimate("utilization_frame", Some(medium.utilization_frame));
            let rows = [
                Row::about(what("mean mac_delay, BT"), wait + packet, delay),
                Row::about(what("frames that have to wait"), rho, waited),
                Row::about(what("utilization_frame"), load, used),
            ];
            Ok(rows.map(|row| row.from(&run.command)).into())
        })
    };
    Topic {
        title: "One station with Poisson arrivals: M/D/1",
        source: "Pollaczek and Khinchine: mean wait rho S / (2 (1 - rho)); arrivals see time averages: a part rho of them waits",
        about: "S is preamble, frame and gap. mac_delay is from the arrival to the last bit: the wait, preamble and frame. A frame that waits \
                is deferred.",
        checks: vec![check(64, 0.15), check(64, 0.4), check(64, 0.6), check(1518, 0.8)],
    }
}
