//! A lab that runs a table of messages: how it is planned, and the bounds and verdicts in its results.

use crate::cli::args::UpArgs;
use crate::cli::commands::CommandError;
use live::driver::scenario::Offering;
use sim::figures::messages::Suspension;
use sim::figures::results::{Results, StationResults};
use sim::scenario::file::Scenario;
use sim::scenario::messages::{DAY, Message, MessageTable, RATE};
use sim::scenario::plan::{Overrides, Plan, PlanError};
use std::path::Path;
use study::plan::bound::{Analysis, Bound, longest_backlog};

/// More frames than this in a second are not offered ahead of other programs; a full bus has 14,880.
const MOST_AHEAD: f64 = 20_000.0;

/// The table of a lab, and its bounds.
#[derive(Debug)]
pub struct PlannedTable {
    table: MessageTable,
    bounds: Vec<Option<Bound>>,
    /// The table with the last releases, and its bounds: they change seldom.
    measured: (MessageTable, Vec<Option<Bound>>),
}

impl PlannedTable {
    /// Reads the table `path`, and makes the plan of the lab that runs it.
    ///
    /// # Errors
    /// A table that is wrong; an option that contradicts it.
    pub fn read(path: &Path, args: &UpArgs, seed: u64) -> Result<(PlannedTable, Plan), CommandError> {
        let table = MessageTable::read(path)?;
        if let Some(what) = table.no_scenario() {
            return Err(PlanError::option("--plan", what).into());
        }
        let bounds = Analysis::new(&table).bounds();
        let (scenario, _) = Scenario::from_text(path, table.scenario(longest_backlog(&bounds)))?;
        let mut plan = Plan::new(&scenario, None, &Overrides::of(args.over.given())?, seed)?;
        let own = Plan::new(&scenario, None, &Overrides::default(), plan.medium.seed)?;
        for option in args.over.given() {
            let with = Plan::new(&scenario, None, &Overrides::of([option])?, plan.medium.seed)?;
            let medium = medium::Config { seed: own.medium.seed, ..with.medium };
            if medium != own.medium || with.traffic != own.traffic || with.stations.len() != own.stations.len() {
                let what =
                    "the table of `--plan` says what the bus and its messages are: leave it out, or change the table";
                return Err(PlanError::option(&format!("--{}", option.0), what.to_owned()).into());
            }
        }
        // Kernels that speak IPv6 send frames by themselves.
        plan.stations.iter_mut().for_each(|station| station.addresses.retain(|it| it.address.is_ipv4()));
        let measured = (table.clone(), bounds.clone());
        Ok((PlannedTable { table, bounds, measured }, plan))
    }

    /// The table.
    pub fn table(&self) -> &MessageTable {
        &self.table
    }

    /// How its frames are offered: ahead of other programs, unless they are more than leave time for those.
    pub fn offering(&self) -> Offering {
        let frames = |message: &Message| message.burst as f64 / message.period as f64 * RATE.get() as f64;
        let all: f64 = self.table.messages.iter().map(frames).sum();
        Offering::Table { ahead: all < MOST_AHEAD }
    }

    /// Adds bounds, deadlines and verdicts to the results of the lab.
    pub fn judge(&mut self, results: &mut Results) {
        let suspended = suspension(results);
        let Some(plan) = &mut results.plan else { return };
        if plan.messages.len() != self.table.messages.len() {
            return;
        }
        plan.suspended = suspended;
        let mut released = self.table.clone();
        for (message, seen) in released.messages.iter_mut().zip(&plan.messages) {
            // No longer than a table may have it, whatever the data plane says.
            message.jitter = message.jitter.max(seen.release_jitter_bt.min(DAY));
        }
        if released != self.measured.0 {
            let bounds = Analysis::new(&released).bounds();
            self.measured = (released, bounds);
        }
        let bounds = self.bounds.iter().zip(&self.measured.1);
        for ((message, (planned, measured)), seen) in self.table.messages.iter().zip(bounds).zip(&mut plan.messages) {
            let valid = measured.as_ref().filter(|_| suspended.is_none());
            seen.deadline_bt = message.deadline;
            seen.planned_bound_bt = planned.as_ref().map(|bound| bound.parts.response());
            seen.response_bound_bt = valid.map(|bound| bound.parts.response());
            seen.access_bound_bt = valid.map(|bound| bound.access);
            seen.judge();
        }
    }
}

/// Why no bound holds for what was measured.
fn suspension(results: &Results) -> Option<Suspension> {
    let others = results.plan.as_ref().is_some_and(|plan| plan.other_frames > 0);
    let nodes = || results.stations.iter().filter_map(|station: &StationResults| station.plca.as_ref());
    if nodes().any(|node| node.noise_until_bt.is_some()) {
        Some(Suspension::Noise)
    } else if nodes().any(|node| !node.status || node.counters.get("status_losses") != Some(&0)) {
        Some(Suspension::PlcaStatus)
    } else {
        others.then_some(Suspension::OtherFrames)
    }
}
