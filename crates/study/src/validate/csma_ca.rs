//! CSMA/CA in saturation against Bianchi's model.

use super::row::Row;
use super::{Bench, Check, Topic, ValidateError};
use crate::theory::bianchi::{Dcf, Phy};
use sim::figures::results::SlottedResults;

/// His payload of 8184 bit, and a frame of Ethernet with it.
const PAYLOAD: u32 = 1023;
const FRAME: u32 = PAYLOAD + 18;
/// W and m of his figures, and the largest window that they make.
const WINDOW: u32 = 32;
const STAGES: u32 = 3;

/// The largest parts of what is expected by which tau and p, and S, are off for the reason below.
const OF_ATTEMPTS: f64 = 0.035;
const OF_THROUGHPUT: f64 = 0.02;
const WHY: &str = "the formula counts down in slots in which others send, 802.11 does not (10.3.4.3); and who collided goes on \
    after its timeout, the others after DIFS";

/// n stations that always have a frame, all in range of each other.
fn saturated(stations: u32, rts: bool) -> Check {
    Box::new(move |bench: &Bench| -> Result<Vec<Row>, ValidateError> {
        let switch = if rts { "on" } else { "off" };
        let most = WINDOW << STAGES;
        let run = bench.sim(&format!(
            "--access csma-ca --phy fhss-1 --rts {switch} --window {WINDOW}:{most} --retry-limits 255:255 --stations {stations} \
             --frame-size {FRAME} --topology star:1bt --duration {}",
            bench.choose("600s", "60s")
        ))?;
        let dcf = Dcf { stations, window: WINDOW, stages: STAGES };
        let attempts = dcf.attempts().expect("stations");
        let throughput = dcf.throughput(&Phy::Fhss1.times(PAYLOAD, rts)).expect("stations");
        let SlottedResults { goodput_mbps, collision_probability, tau, .. } =
            run.results.medium.slotted.clone().expect("it counts frame times");
        let about = |figure: &str, expected: f64, name: &str, value, part: f64| {
            let what = format!("n = {stations}, {}: {figure}", if rts { "RTS" } else { "basic" });
            let row = Row::about(what, expected, run.estimate(name, value));
            row.explained(0.0, part * expected, WHY).from(&run.command)
        };
        let p = attempts.collision_probability;
        Ok(vec![
            about("tau", attempts.tau, "tau", tau, OF_ATTEMPTS),
            about("p", p, "collision_probability", collision_probability, OF_ATTEMPTS),
            // At 1 Mb/s S is the goodput.
            about("S", throughput, "goodput_mbps", goodput_mbps, OF_THROUGHPUT),
        ])
    })
}

pub(super) fn topic() -> Topic {
    let stations = [2, 5, 10, 20, 50];
    Topic {
        title: "CSMA/CA in saturation",
        source: "Bianchi 2000: tau and p (equations 7 and 9), S (13); frequency hopping at 1 Mb/s, W = 32, m = 3, no retry limit",
        about: "tau: attempts in a slot of the sender's own counter. p: attempts that collide. S: the part of the time with payload that arrives.",
        checks: stations
            .into_iter()
            .flat_map(|stations| [saturated(stations, false), saturated(stations, true)])
            .collect(),
    }
}
