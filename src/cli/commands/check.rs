//! `ethbus check`: reads scenarios and says what is wrong with them, without running anything.

use super::sim::DEFAULT_SEED;
use super::{CommandError, Outcome, print};
use crate::cli::args::CheckArgs;
use crate::cli::wrong_use::WRONG_USE;
use crate::show::say;
use crate::study::runaway::warnings;
use sim::scenario::plan::{Overrides, Plan};
use sim::words::units::many;
use std::process::ExitCode;

/// Checks scenario files, each wholly.
///
/// # Errors
/// The answer cannot be written. Files that are wrong are told of, and give the exit code for wrong use.
pub fn check(args: &CheckArgs) -> Outcome {
    let mut code = ExitCode::SUCCESS;
    for path in &args.scenarios {
        match Plan::read(Some(path), &Overrides::default(), DEFAULT_SEED) {
            Ok(plan) => {
                warnings(&plan).for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
                print(&format!("{}: {}", path.display(), told(&plan)))?;
            }
            Err(error) => {
                say(&CommandError::from(error).told());
                code = ExitCode::from(WRONG_USE);
            }
        }
    }
    Ok(code)
}

/// What the scenario is, and what it can be used for.
fn told(plan: &Plan) -> String {
    let (stations, rate) = (plan.stations.len(), plan.medium.rate);
    let stations = many(stations as u64, "station");
    match plan.require_real_time() {
        Ok(()) => format!("right: {stations} at {rate}; for `ethbus sim` and `ethbus up`\n"),
        Err(error) => format!("right: {stations} at {rate}; for `ethbus sim` alone, since {error}\n"),
    }
}
