//! `ethbus validate`: known figures beside measured ones.

use super::{INTERRUPTED, Outcome, interrupts, print_result};
use crate::cli::args::{Cli, Command, SimArgs, ValidateArgs};
use crate::show::terminal::output_columns;
use crate::show::{progress, say};
use crate::study::validate::{Options, Report, ValidateError, run, table, titles};
use clap::Parser;
use sim::scenario::file::Scenario;
use sim::scenario::plan::PlanError;
use sim::scenario::plan::{Overrides, Plan};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

/// Scenarios that checks name, by their path in the source tree.
const SCENARIOS: &[(&str, &str)] = &[
    ("examples/first-ethernet.toml", include_str!("../../../examples/first-ethernet.toml")),
    ("examples/hidden.toml", include_str!("../../../examples/hidden.toml")),
    ("examples/capture.toml", include_str!("../../../examples/capture.toml")),
    ("examples/slotted.toml", include_str!("../../../examples/slotted.toml")),
];

/// Runs every check and tells what agrees; fails if something deviates and nothing explains it.
///
/// # Errors
/// Topics that there are not; a report that cannot be written.
pub fn validate(args: &ValidateArgs) -> Outcome {
    let only = args.only.as_deref().unwrap_or_default();
    check_topic(only)?;
    let interrupts = interrupts()?;
    let bar = Mutex::new(progress("validating", 1.0));
    let go_on = |part: f64| {
        (bar.lock().expect("no thread panics: a panic ends the process"))(part);
        interrupts.is_empty()
    };
    let options = Options { seed: args.seed, quick: args.quick, only, plan: &plan, alter: &|_| (), go_on: &go_on };
    match run(&options) {
        Ok(report) => {
            print_result(args.format, &report, |report| table(report, output_columns()))?;
            Ok(verdict(&report))
        }
        Err(ValidateError::Interrupted) => {
            say("ethbus: interrupted; nothing was judged\n");
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(ValidateError::Config(error)) => Err(error.into()),
    }
}

/// The plan of a command, as `ethbus sim` itself would make it.
///
/// # Panics
/// If `command` is no command that `ethbus sim` takes: the check's mistake.
pub fn plan(command: &str) -> Plan {
    let arguments = sim_arguments(command);
    let overrides = Overrides::of(arguments.run.given()).unwrap_or_else(|error| panic!("{command}: {error}"));
    let (scenario, source) = match &arguments.scenario {
        None => (Scenario::default(), None),
        Some(path) => {
            let named = SCENARIOS.iter().find(|(name, _)| Path::new(name) == path);
            let (_, text) = named.unwrap_or_else(|| panic!("{command}: no such scenario"));
            let read = Scenario::from_text(path, (*text).to_owned());
            let (scenario, source) = read.unwrap_or_else(|error| panic!("{command}: {error}"));
            (scenario, Some(source))
        }
    };
    Plan::new(&scenario, source.as_ref(), &overrides, 1).unwrap_or_else(|error| panic!("{command}: {error}"))
}

fn sim_arguments(command: &str) -> SimArgs {
    match Cli::try_parse_from(command.split_whitespace()).map(|cli| cli.command) {
        Ok(Some(Command::Sim(arguments))) => arguments,
        Ok(_) => panic!("{command}: not a simulation"),
        Err(error) => panic!("{command}: {error}"),
    }
}

fn check_topic(only: &str) -> Result<(), PlanError> {
    let titles = titles();
    if titles.iter().any(|title| title.to_lowercase().contains(&only.to_lowercase())) {
        return Ok(());
    }
    let what = format!("no topic has `{only}` in its title; there are: {}", titles.join("; "));
    Err(PlanError::option("--only", what))
}

fn verdict(report: &Report) -> ExitCode {
    if report.unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unexplained_deviation_fails() {
        let report = |explained, unexplained| Report {
            version: 1,
            seed: 1,
            quick: true,
            sections: Vec::new(),
            agree: 3,
            explained,
            unexplained,
        };
        assert_eq!(verdict(&report(2, 0)), ExitCode::SUCCESS);
        assert_eq!(verdict(&report(2, 1)), ExitCode::FAILURE);
    }
}
