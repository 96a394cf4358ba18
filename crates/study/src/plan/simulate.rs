//! A message table in virtual time: how long each message waits and takes. It must never know a bound.

mod nodes;
mod shaper;

use self::nodes::Nodes;
use medium::{BitInstant, BitTimes, Frame, Input, Medium};
use sim::figures::messages::{MessageDelays, Observed};
use sim::scenario::file::{Scenario, ScenarioError};
use sim::scenario::messages::MessageTable;
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::traffic::{Source, TrafficError, all_sources};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

/// Runs, each with a part of the time and phases of its own: within one run periodic messages meet in the same way again.
pub const RUNS: u64 = 10;

/// Why a table cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The scenario made of it is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// It makes no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Its traffic cannot be had.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// Its medium cannot be made.
    #[error(transparent)]
    Medium(#[from] medium::ConfigError),
}

/// Runs `table` for `span` bit times in all.
///
/// # Errors
/// A table that makes no scenario; the caller's mistake, since a table that was read makes one.
pub fn simulate(table: &MessageTable, queue: u64, span: BitTimes, seed: u64) -> Result<Vec<Observed>, SimulateError> {
    let (scenario, _) = Scenario::from_text(Path::new("table"), table.scenario(queue))?;
    let plan = Plan::new(&scenario, None, &Overrides::default(), seed)?;
    let mut delays = MessageDelays::new(table.farthest(), table.messages.len());
    for run in 0..RUNS {
        let end = BitInstant::ZERO + BitTimes::new(span.get().div_ceil(RUNS));
        delays = once(table, &plan, seed.wrapping_add(run), end, delays.of_next_run())?;
    }
    Ok(delays.observed().to_vec())
}

fn once(
    table: &MessageTable,
    plan: &Plan,
    seed: u64,
    end: BitInstant,
    delays: MessageDelays,
) -> Result<MessageDelays, SimulateError> {
    let config = medium::Config { seed, keep_events: false, keep_outputs: false, ..plan.medium.clone() };
    let sources = all_sources(&plan.traffic, &plan.further, &plan.replays, &config, seed)?;
    let sources = sources.into_iter().filter(|source| !source.is_silent());
    let mut sources: Vec<(usize, Source)> = table.sources().zip(sources).collect();
    let mut host = Nodes::new(table, delays);
    let mut medium = Medium::new(config)?;
    let mut arrivals = BinaryHeap::new();
    let mut frames: Vec<Option<Frame>> = vec![None; sources.len()];
    let mut next: Vec<usize> = (0..sources.len()).collect();
    loop {
        // Each source's next frame; those of one instant come in the order of the scenario.
        for index in next.drain(..) {
            let arrival = sources[index].1.next_arrival();
            frames[index] = arrival.map(|(_, frame)| frame);
            arrivals.extend(arrival.map(|(at, _)| Reverse((at, index))));
        }
        let arrival = arrivals.peek().map(|Reverse(arrival)| *arrival).filter(|(at, _)| *at < end);
        let until = arrival.map_or(end, |(at, _)| at);
        // Credit may come back sooner, and a host may begin to wait for that meanwhile.
        if let Some((at, station)) = host.run(&mut medium, until) {
            let frame = host.wakes(at, station);
            frame.into_iter().for_each(|frame| medium.give(at, Input::Offer { station, frame }, &mut host));
            continue;
        }
        let Some(((at, index), frame)) = arrival.and_then(|arrival| Some((arrival, frames[arrival.1]?))) else { break };
        arrivals.pop();
        let (message, station) = (sources[index].0, sources[index].1.station());
        let handed = host.release(at, station, message, frame);
        handed.into_iter().for_each(|frame| medium.give(at, Input::Offer { station, frame }, &mut host));
        next.push(index);
    }
    Ok(host.into_delays())
}
