//! `ethbus check`: reads scenarios and says what is wrong with them, without running anything.

use super::sim::DEFAULT_SEED;
use super::{CommandError, Outcome, print};
use crate::cli::args::{CheckArgs, Format};
use crate::cli::wrong_use::WRONG_USE;
use say::{say, with_causes};
use serde_json::{Value, json};
use sim::scenario::file::ScenarioError;
use sim::scenario::plan::bridged::Planned;
use sim::scenario::plan::{Overrides, PlanError, ReadError};
use sim::scenario::wrong::{Wrong, Wrongs};
use sim::settings::schema::schema;
use sim::words::units::many;
use std::path::Path;
use std::process::ExitCode;
use study::runaway::warnings;

/// Checks scenario files, each wholly.
///
/// # Errors
/// The answer cannot be written. Files that are wrong are reported, and give the exit code for wrong use.
pub fn check(args: &CheckArgs) -> Outcome {
    if args.schema {
        print(&in_lines(&schema()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let read = |path| Planned::read(Some(path), &Overrides::default(), DEFAULT_SEED);
    let read: Vec<_> = args.scenarios.iter().map(|path| (path.as_path(), read(path))).collect();
    let code = if read.iter().all(|(_, plan)| plan.is_ok()) { ExitCode::SUCCESS } else { ExitCode::from(WRONG_USE) };
    match args.written.format {
        Format::Table => read.into_iter().try_for_each(|(path, plan)| tell(path, plan))?,
        Format::Json => print(&in_lines(&read.iter().map(|(path, plan)| in_json(path, plan)).collect()))?,
    }
    Ok(code)
}

fn in_lines(value: &Value) -> String {
    format!("{value:#}\n")
}

fn tell(path: &Path, planned: Result<Planned, ReadError>) -> Result<(), CommandError> {
    match planned {
        Ok(planned) => {
            all_warnings(&planned).iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
            print(&format!("{}: {}", path.display(), told(&planned)))
        }
        Err(error) => {
            say(&CommandError::from(error).told());
            Ok(())
        }
    }
}

fn all_warnings(planned: &Planned) -> Vec<String> {
    match planned {
        Planned::One(plan) => warnings(plan).collect(),
        Planned::Several(bridged) => bridged.warnings(|plan| warnings(plan).collect()),
    }
}

/// The commands that run it, and why it does not come up where that is not among them.
fn commands(planned: &Planned) -> (Vec<&'static str>, Option<PlanError>) {
    let (up, buses) = match planned {
        Planned::One(plan) => ("up", std::slice::from_ref(&**plan)),
        Planned::Several(bridged) => ("up --background", &bridged.buses[..]),
    };
    match buses.iter().find_map(|plan| plan.require_real_time().err()) {
        None => (vec!["sim", up], None),
        Some(error) => (vec!["sim"], Some(error)),
    }
}

/// What the scenario is, and what it can be used for.
fn told(planned: &Planned) -> String {
    let what = match planned {
        Planned::One(plan) => format!("{} at {}", many(plan.stations.len() as u64, "station"), plan.medium.rate),
        Planned::Several(bridged) => {
            let (buses, bridges) = (bridged.buses.len() as u64, bridged.bridges.len() as u64);
            let buses = if buses == 1 { "1 bus".to_owned() } else { format!("{buses} buses") };
            format!("{buses} and {}", many(bridges, "bridge"))
        }
    };
    let (commands, why_not) = commands(planned);
    let commands = commands.iter().map(|command| format!("`ethbus {command}`")).collect::<Vec<_>>().join(" and ");
    let alone = why_not.map_or_else(String::new, |error| format!(" alone, since {error}"));
    format!("right: {what}; for {commands}{alone}\n")
}

/// The same for programs.
fn in_json(path: &Path, planned: &Result<Planned, ReadError>) -> Value {
    let file = path.display().to_string();
    let planned = match planned {
        Ok(planned) => planned,
        Err(error) => return json!({ "file": file, "right": false, "warnings": [], "errors": errors(error) }),
    };
    let mut told = json!({
        "file": file,
        "right": true,
        "commands": commands(planned).0,
        "warnings": all_warnings(planned),
        "errors": [],
    });
    match planned {
        Planned::One(plan) => {
            told["stations"] = plan.stations.len().into();
            told["rate_bits_per_second"] = plan.medium.rate.get().into();
        }
        Planned::Several(bridged) => told["buses"] = json!(bridged.names),
    }
    told
}

/// All that is wrong; without a place where a file cannot be read at all.
fn errors(error: &ReadError) -> Vec<Value> {
    let all = |wrongs: &Wrongs| wrongs.iter().map(wrong).collect();
    match error {
        ReadError::Scenario(ScenarioError::Content(wrongs)) => all(wrongs),
        ReadError::Plan(error) => all(error.wrongs()),
        ReadError::Scenario(error) => vec![json!({ "key": null, "what": with_causes(error) })],
    }
}

fn wrong(wrong: &Wrong) -> Value {
    let Wrong { place, name, what } = wrong;
    let key = Some(name).filter(|name| !name.is_empty());
    match place {
        Some(place) => json!({ "line": place.line, "column": place.column, "key": key, "what": what }),
        None => json!({ "key": key, "what": what }),
    }
}
