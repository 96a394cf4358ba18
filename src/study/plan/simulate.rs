//! A message table in virtual time: how long each message waits and takes. It must never know a bound.

use medium::{BitInstant, BitTimes, Event, Frame, Host, Input, Kind, Medium, StationId};
use sim::figures::cycle::{DELIMITER, PREAMBLE};
use sim::figures::histogram::Histogram;
use sim::scenario::file::{Scenario, ScenarioError};
use sim::scenario::messages::MessageTable;
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::traffic::{Source, TrafficError, all_sources};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
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

/// What was seen of one message, in bit times.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// From release to the last bit at the farthest node.
    pub response: Histogram<11>,
    /// The longest.
    pub response_max: u64,
    /// The longest from the head of the queue to the first bit.
    pub access_max: u64,
    /// Frames that were not sent: the queue was full, or attempts were over.
    pub lost: u64,
}

/// Runs `table` for `span` bit times in all.
///
/// # Errors
/// A table that makes no scenario; the caller's mistake, since a table that was read makes one.
pub fn simulate(table: &MessageTable, queue: u64, span: BitTimes, seed: u64) -> Result<Vec<Observed>, SimulateError> {
    let (scenario, _) = Scenario::from_text(Path::new("table"), table.scenario(queue))?;
    let plan = Plan::new(&scenario, None, &Overrides::default(), seed)?;
    let mut observed = vec![Observed::default(); table.messages.len()];
    for run in 0..RUNS {
        let end = BitInstant::ZERO + BitTimes::new(span.get().div_ceil(RUNS));
        once(table, &plan, seed.wrapping_add(run), end, &mut observed)?;
    }
    Ok(observed)
}

/// The messages whose sources these are, in the order in which a scenario has them.
fn messages_of(table: &MessageTable) -> impl Iterator<Item = usize> {
    (0..table.nodes.len()).flat_map(|node| {
        let own = table.messages.iter().enumerate().filter(move |(_, message)| message.node == node);
        own.flat_map(|(at, message)| std::iter::repeat_n(at, message.burst as usize))
    })
}

fn once(
    table: &MessageTable,
    plan: &Plan,
    seed: u64,
    end: BitInstant,
    observed: &mut [Observed],
) -> Result<(), SimulateError> {
    let config = medium::Config { seed, keep_events: false, keep_outputs: false, ..plan.medium.clone() };
    let sources = all_sources(&plan.traffic, &plan.further, &plan.replays, &config, seed)?;
    let sources = sources.into_iter().filter(|source| !source.is_silent());
    let mut sources: Vec<(usize, Source)> = messages_of(table).zip(sources).collect();
    let farthest = |node: usize| plan.medium.topology.farthest(StationId::new(node as u16)).get() + table.phy_off;
    let nodes = (0..table.nodes.len()).map(|node| Waiting { farthest: farthest(node), ..Waiting::default() });
    let mut host = Observer { nodes: nodes.collect(), observed };
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
        let Some(Reverse((at, index))) = arrivals.pop().filter(|Reverse((at, _))| *at < end) else { break };
        let Some(frame) = frames[index] else { break };
        medium.run_until(at, &mut host);
        let (message, station) = (sources[index].0, sources[index].1.station());
        host.nodes[station.index()].queue.push_back((message, at));
        medium.give(at, Input::Offer { station, frame }, &mut host);
        next.push(index);
    }
    medium.run_until(end, &mut host);
    Ok(())
}

/// The frames of one node that are not sent.
#[derive(Debug, Default)]
struct Waiting {
    queue: VecDeque<(usize, BitInstant)>,
    /// When the MAC finished with the last frame.
    free: BitInstant,
    /// How much later than it ends a frame is over at the farthest node.
    farthest: u64,
}

struct Observer<'a> {
    nodes: Vec<Waiting>,
    observed: &'a mut [Observed],
}

impl Host for Observer<'_> {
    const FEEDS: bool = false;

    fn event(&mut self, event: &Event) {
        let node = &mut self.nodes[event.station.index()];
        match event.kind {
            Kind::Transmitted { size, access_delay, .. } => {
                let Some((message, released)) = node.queue.pop_front() else { return };
                let observed = &mut self.observed[message];
                let begin = released.max(node.free) + access_delay;
                let end =
                    begin + BitTimes::new(PREAMBLE + size.bit_times().get() + DELIMITER) + BitTimes::new(node.farthest);
                let response = end.since(released).get();
                observed.response.record(response);
                observed.response_max = observed.response_max.max(response);
                observed.access_max = observed.access_max.max(access_delay.get());
                node.free = event.at;
            }
            Kind::Discarded { .. } => {
                let lost = node.queue.pop_front();
                lost.into_iter().for_each(|(message, _)| self.observed[message].lost += 1);
                node.free = event.at;
            }
            Kind::QueueDrop => {
                let lost = node.queue.pop_back();
                lost.into_iter().for_each(|(message, _)| self.observed[message].lost += 1);
            }
            _ => {}
        }
    }

    fn next_frame(&mut self, _: BitInstant, _: StationId) -> Option<Frame> {
        None
    }
}
