//! `ethbus plan`: bounds of a table of messages, and what a simulation of it gives.

use super::{CommandError, Outcome, print};
use crate::cli::args::{PlanArgs, SimFormat};
use medium::BitTimes;
use say::say;
use say::terminal::in_locale;
use sim::scenario::messages::{MessageTable, RATE};
use sim::scenario::plan::PlanError;
use std::process::ExitCode;
use study::plan::bound::{Analysis, longest_backlog};
use study::plan::search::search;
use study::plan::simulate::{SimulateError, simulate};
use study::plan::view::{Planned, simulation};

/// Prints the bounds; fails if a deadline is not kept by its bound.
///
/// # Errors
/// A table that is wrong; output that cannot be written.
pub fn plan(args: &PlanArgs) -> Outcome {
    let table = MessageTable::read(&args.table)?;
    table.warnings().iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    let searched = args.search.map(|most| search(&table, most, args.seeded.seed));
    let (table, searched) = searched.map_or((table, None), |(best, searched)| (best, Some(searched)));
    let analysis = Analysis::new(&table);
    analysis.warnings().iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    let bounds = analysis.bounds();
    let queue = longest_backlog(&bounds);
    if args.scenario {
        if let Some(what) = table.no_scenario() {
            return Err(PlanError::option("--scenario", what).into());
        }
        print(&table.scenario(queue))?;
        return Ok(ExitCode::SUCCESS);
    }
    let observed = match args.timed.duration {
        None => None,
        Some(span) => {
            let observed = simulate(&table, queue, BitTimes::within(span, RATE), args.seeded.seed);
            Some((observed.map_err(refused)?, simulation(span.as_secs_f64(), args.seeded.seed)))
        }
    };
    let observed = observed.as_ref().map(|(observed, how)| (&observed[..], how.clone()));
    let planned = Planned::new(&table, &bounds, observed);
    let planned = searched
        .map(|searched| (&table, searched))
        .into_iter()
        .fold(planned, |planned, (table, searched)| planned.found(table, searched));
    let text = match args.tabled.format {
        SimFormat::Table => in_locale(planned.text()),
        SimFormat::Json => serde_json::to_string_pretty(&planned).expect("numbers and names") + "\n",
        SimFormat::Csv => planned.csv().map_err(|error| CommandError::Output(error.into()))?,
    };
    print(&text)?;
    Ok(if planned.is_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn refused(error: SimulateError) -> CommandError {
    match error {
        SimulateError::Scenario(error) => error.into(),
        SimulateError::Plan(error) => error.into(),
        SimulateError::Traffic(error) => error.into(),
        SimulateError::Medium(error) => error.into(),
    }
}
