//! `ethbus theory check`: known figures beside measured ones.

use super::{CommandError, INTERRUPTED, Outcome, interrupts, print, result_text};
use crate::cli::args::{Cli, Command, Format, SimArgs, ValidateArgs};
use clap::Parser;
use say::terminal::output_columns;
use say::{progress, say};
use sim::scenario::file::Scenario;
use sim::scenario::plan::PlanError;
use sim::scenario::plan::{Overrides, Plan};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use study::validate::{Options, Report, ValidateError, run, table, titles};

/// Scenarios that checks name, by their path in the source tree.
const SCENARIOS: &[(&str, &str)] = &[
    ("examples/first-ethernet.toml", include_str!("../../../examples/first-ethernet.toml")),
    ("examples/hidden.toml", include_str!("../../../examples/hidden.toml")),
    ("examples/one-sender.toml", include_str!("../../../examples/one-sender.toml")),
    ("examples/capture.toml", include_str!("../../../examples/capture.toml")),
    ("examples/slotted.toml", include_str!("../../../examples/slotted.toml")),
];

/// Runs every check and tells what agrees; fails if something deviates and nothing explains it.
///
/// # Errors
/// Topics that there are not; a report that cannot be written.
pub fn validate(args: &ValidateArgs, format: Format) -> Outcome {
    let only = args.only.as_deref().unwrap_or_default();
    let title = check_topic(only)?;
    let begun = begin(format, title)?;
    let go_on = watched("validating")?;
    let options =
        Options { seed: args.seeded.seed, quick: args.quick.quick, only, plan: &plan, alter: &|_| (), go_on: &go_on };
    match run(&options) {
        Ok(report) => {
            let text = result_text(format, &report, |report| table(report, output_columns()));
            print(text.strip_prefix(&begun).unwrap_or(&text))?;
            Ok(verdict(&report))
        }
        Err(ValidateError::Interrupted) => {
            say("ethbus: interrupted; nothing was judged\n");
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(ValidateError::Config(error)) => Err(error.into()),
    }
}

/// Shows the part of some runs that is done; what it gives says whether to go on, which an interrupt ends.
///
/// # Errors
/// Signals that cannot be handled.
pub(super) fn watched(what: &'static str) -> Result<impl Fn(f64) -> bool + Sync, CommandError> {
    let interrupts = interrupts()?;
    let bar = Mutex::new(progress(what, 1.0));
    Ok(move |part: f64| {
        (bar.lock().expect("no thread panics: a panic ends the process"))(part);
        interrupts.is_empty()
    })
}

/// The plan of a command, as `ethbus sim` itself would make it.
///
/// # Panics
/// If `command` is no command that `ethbus sim` takes: the check's mistake.
pub fn plan(command: &str) -> Plan {
    let arguments = sim_arguments(command);
    let overrides = Overrides::of(arguments.run.given()).unwrap_or_else(|error| panic!("{command}: {error}"));
    let (scenario, source) = match &arguments.file.scenario {
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

/// Writes how the report begins, before a minute of runs: output that cannot be written is said at once. A terminal shows the
/// progress instead.
fn begin(format: Format, title: &str) -> Result<String, CommandError> {
    let begin = match format {
        _ if io::stdout().is_terminal() => String::new(),
        Format::Json => "{".to_owned(),
        Format::Table => title.split_inclusive(' ').next().unwrap_or_default().to_owned(),
    };
    print(&begin).map(|()| begin)
}

/// The first title with this in it.
fn check_topic(only: &str) -> Result<&'static str, PlanError> {
    let titles = titles();
    if let Some(title) = titles.iter().find(|title| title.to_lowercase().contains(&only.to_lowercase())) {
        return Ok(title);
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
