//! A message table in virtual time: how long each message waits and takes. It must never know a bound.
//!
//! A node with priorities gives its MAC one frame at a time: the first of its highest queue, when the MAC is done with the
//! last one (802.1Q, 8.6.8.1). The other nodes give theirs as they are released.

use medium::{BitInstant, BitTimes, Event, Frame, FrameId, Host, Input, Medium, StationId};
use sim::figures::messages::{MessageDelays, Observed};
use sim::scenario::file::{Scenario, ScenarioError};
use sim::scenario::messages::MessageTable;
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::traffic::{Source, TrafficError, all_sources};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
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
        let Some(Reverse((at, index))) = arrivals.pop().filter(|Reverse((at, _))| *at < end) else { break };
        let Some(frame) = frames[index] else { break };
        medium.run_until(at, &mut host);
        let (message, station) = (sources[index].0, sources[index].1.station());
        let handed = host.release(at, station, message, frame);
        handed.into_iter().for_each(|frame| medium.give(at, Input::Offer { station, frame }, &mut host));
        next.push(index);
    }
    medium.run_until(end, &mut host);
    Ok(host.delays)
}

/// The hosts of the nodes, and what is seen of their frames.
struct Nodes<'a> {
    table: &'a MessageTable,
    delays: MessageDelays,
    queues: Vec<Queue>,
}

/// The frames of a node that its MAC does not have.
#[derive(Clone, Default)]
struct Queue {
    /// Frames go by priority.
    by_priority: bool,
    /// The MAC has a frame.
    is_busy: bool,
    /// Frames that the MAC had so far.
    handed: u64,
    /// Frames that were released so far.
    released: u64,
    /// By priority, then in the order of release: the number of the release, its message, its instant.
    waiting: BTreeMap<(Reverse<u8>, u64), (usize, BitInstant, Frame)>,
}

impl Nodes<'_> {
    fn new(table: &MessageTable, delays: MessageDelays) -> Nodes<'_> {
        let queue = |node| Queue { by_priority: table.has_priorities(node), ..Queue::default() };
        Nodes { table, delays, queues: (0..table.nodes.len()).map(queue).collect() }
    }

    /// A frame is released. Returns it if the MAC gets it now.
    fn release(&mut self, at: BitInstant, station: StationId, message: usize, frame: Frame) -> Option<Frame> {
        let queue = &mut self.queues[station.index()];
        if queue.by_priority && queue.is_busy {
            queue.released += 1;
            let place = (Reverse(self.table.messages[message].priority), queue.released);
            queue.waiting.insert(place, (message, at, frame));
            return None;
        }
        Some(self.hand_over(station, message, at, frame))
    }

    fn hand_over(&mut self, station: StationId, message: usize, released: BitInstant, frame: Frame) -> Frame {
        let queue = &mut self.queues[station.index()];
        queue.is_busy = true;
        queue.handed += 1;
        self.delays.released(FrameId { station, serial: queue.handed }, message, released);
        frame
    }
}

impl Host for Nodes<'_> {
    const FEEDS: bool = true;

    fn event(&mut self, event: &Event) {
        self.delays.event(event);
    }

    fn next_frame(&mut self, _: BitInstant, station: StationId) -> Option<Frame> {
        let queue = &mut self.queues[station.index()];
        let Some((_, (message, released, frame))) = queue.waiting.pop_first() else {
            queue.is_busy = false;
            return None;
        };
        Some(self.hand_over(station, message, released, frame))
    }
}
