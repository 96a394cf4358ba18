//! When infinitely many users of ALOHA will run away, told before a run: Lam's first exit time.
//!
//! Pure ALOHA has no chain of its own. A frame meets every other that begins within two frame times, so it is taken for
//! slotted ALOHA in slots of two frame times; that gives the order of magnitude.

use crate::theory::lam::{Channel, Population};
use medium::BitTimes;
use sim::scenario::plan::Plan;
use sim::scenario::plan::endless::Endless;
use sim::words::units::group;

/// A run that lasts this part of the first exit time runs away in one of 20 cases.
const UNLIKELY: f64 = 0.05;

/// All that a plan warns of before a run in virtual time.
pub fn warnings(plan: &Plan) -> impl Iterator<Item = String> {
    plan.warnings.iter().chain(&plan.run_warnings).cloned().chain(warning(plan))
}

/// The warning about users who are likely to run away during the run.
fn warning(plan: &Plan) -> Option<String> {
    let endless = Endless::of(&plan.medium, &plan.traffic, &plan.further)?;
    let run = BitTimes::within(plan.run.warmup + plan.run.duration, plan.medium.rate).get();
    let run = run as f64 / endless.slot.get() as f64;
    let exit = first_exit_slots(&endless).filter(|exit| run >= UNLIKELY * exit)?;
    let unit = if endless.slotted { "slots" } else { "frame times" };
    let count = |number: f64| group(number.round() as u64);
    let seconds = exit * endless.slot.get() as f64 / plan.medium.rate.get() as f64;
    let k = endless.backoff.law(1).map_or(1.0, |law| 10.0 * (2.0 * law.mean_ns() + 1.0));
    let this = match plan.run.until_collapse() {
        true => "this run ends then".to_owned(),
        false => format!("this run of up to {} {unit} stops when they have", count(run)),
    };
    Some(format!(
        "infinitely many users run away sooner or later, here after about {} {unit} ({seconds:.3} s) on average: {this}; offer less, wait longer (`--backoff uniform:{}`), or have stations send (`--population stations`)",
        count(exit),
        count(k),
    ))
}

/// The mean time until the backlog passes the second equilibrium, in slots or frame times; none if it is not known: the
/// backoff is not the same after every failure, or there is no such equilibrium.
fn first_exit_slots(endless: &Endless) -> Option<f64> {
    let wait = |failures| endless.backoff.with_attempt_limit(0).law(failures).map(|law| law.mean_ns());
    let mean = wait(1).filter(|mean| Some(*mean) == wait(2) && Some(*mean) == wait(64))?;
    // (K + 1)/2 is the mean from one attempt to the next, the slot of the attempt included.
    let k = 2.0 * mean + 1.0;
    let times = if endless.slotted { 1.0 } else { 2.0 };
    let retransmit = ((k + 1.0) / times - 1.0).round().max(1.0) as u32;
    let ack_delay = (f64::from(endless.ack_delay) / times).round() as u32;
    let channel = Channel::new(Population::Infinite, endless.load * times, retransmit, ack_delay).ok()?;
    channel.first_exit_time_slots().map(|slots| slots * times)
}
