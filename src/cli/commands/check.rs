//! `ethbus check`: reads scenarios and says what is wrong with them, without running anything.

use super::sim::DEFAULT_SEED;
use super::{CommandError, Outcome, print};
use crate::cli::args::{CheckArgs, Format};
use crate::cli::wrong_use::WRONG_USE;
use crate::show::{say, with_causes};
use crate::study::runaway::warnings;
use serde_json::{Value, json};
use sim::scenario::file::ScenarioError;
use sim::scenario::plan::bridged::{Bridged, Planned};
use sim::scenario::plan::{Overrides, Plan, ReadError};
use sim::scenario::wrong::{Wrong, Wrongs};
use sim::settings::schema::schema;
use sim::words::units::many;
use std::path::Path;
use std::process::ExitCode;

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
    match args.format {
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
            let told = match &planned {
                Planned::One(plan) => told(plan),
                Planned::Several(bridged) => told_of_several(bridged),
            };
            print(&format!("{}: {told}", path.display()))
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

fn told_of_several(bridged: &Bridged) -> String {
    let (buses, bridges) = (bridged.buses.len() as u64, bridged.bridges.len() as u64);
    let buses = if buses == 1 { "1 bus".to_owned() } else { format!("{buses} buses") };
    format!("right: {buses} and {}; for `ethbus sim` and `ethbus up --background`\n", many(bridges, "bridge"))
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

/// The same for programs.
fn in_json(path: &Path, planned: &Result<Planned, ReadError>) -> Value {
    let file = path.display().to_string();
    match planned {
        Ok(Planned::Several(bridged)) => json!({
            "file": file,
            "right": true,
            "buses": bridged.names,
            "commands": ["sim"],
            "warnings": bridged.warnings(|plan| warnings(plan).collect()),
            "errors": [],
        }),
        Ok(Planned::One(plan)) => {
            let commands = if plan.require_real_time().is_ok() { vec!["sim", "up"] } else { vec!["sim"] };
            json!({
                "file": file,
                "right": true,
                "stations": plan.stations.len(),
                "rate_bits_per_second": plan.medium.rate.get(),
                "commands": commands,
                "warnings": warnings(plan).collect::<Vec<_>>(),
                "errors": [],
            })
        }
        Err(error) => json!({ "file": file, "right": false, "warnings": [], "errors": errors(error) }),
    }
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
