//! `ethbus stats`: asks a lab that is up what has happened so far.

use super::{CommandError, Outcome, print_result};
use crate::cli::args::StatsArgs;
use crate::live::control::{self, Control};
use crate::live::lab::inventory::Inventory;
use crate::show::table;
use sim::figures::results::Results;
use std::io;
use std::process::ExitCode;

/// Shows a lab's results so far.
///
/// # Errors
/// No such lab, one that does not answer, or a result that cannot be written.
pub fn stats(args: &StatsArgs) -> Outcome {
    let name = &args.lab.name;
    Inventory::of_running(name)?;
    let silent = |source| CommandError::Control { name: name.clone(), source };
    let answer = control::ask(name, &Control::Stats).map_err(silent)?;
    let results: Results = serde_json::from_str(&answer).map_err(|error| silent(io::Error::from(error)))?;
    print_result(args.format, &results, table)?;
    Ok(ExitCode::SUCCESS)
}
