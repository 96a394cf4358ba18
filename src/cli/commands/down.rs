//! `ethbus down`: takes a lab down, or removes what a killed one left behind.

use super::{CommandError, NOT_TRUSTED, Outcome, print_result};
use crate::cli::args::DownArgs;
use live::control::{self, Farewell};
use live::lab::inventory::{Inventory, InventoryError};
use say::{say, table};
use serde::Serialize;
use sim::figures::results::Results;
use sim::scenario::plan::DEFAULT_NAME;
use sim::scenario::plan::bridged::bus_lab_name;
use sim::words::units::many;
use std::cmp::Reverse;
use std::process::ExitCode;

/// What a lab ended with.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// Nothing of a lab whose supervisor was killed.
    results: Option<Results>,
    failed: bool,
    distrusted: bool,
}

/// One of several labs.
#[derive(Debug, Serialize)]
struct One {
    lab: String,
    results: Option<Results>,
}

/// Takes a lab down, or all.
///
/// # Errors
/// No such lab, one that does not answer, or something that cannot be removed.
pub fn down(args: &DownArgs) -> Outcome {
    if args.all {
        let names: Vec<String> = Inventory::all()?.into_iter().map(|listed| listed.name).collect();
        if names.is_empty() {
            say("ethbus: no lab is up, and none has left anything behind\n");
        }
        return several(args, names);
    }
    let name = args.lab.given().map(str::to_owned).map_or_else(lab_to_remove, Ok)?;
    let Ended { results, failed, distrusted } = match take_down(&name) {
        Err(CommandError::Inventory(error @ InventoryError::NothingToTakeDown { .. })) => {
            let buses = labs_of_buses(&name)?;
            return if buses.is_empty() { Err(error.into()) } else { several(args, buses) };
        }
        ended => ended?,
    };
    let failed = failed || results.as_ref().is_some_and(Results::misses_plan);
    print_result(args.written.format, &results, |results| results.as_ref().map_or_else(String::new, table))?;
    Ok(code(failed, distrusted, results.as_ref()))
}

/// The labs of the buses of one scenario, the last one first: it may have found a bridge that an earlier one made.
fn labs_of_buses(name: &str) -> Result<Vec<String>, InventoryError> {
    let all = bus_lab_name(name, "");
    let mut labs: Vec<_> = Inventory::all()?.into_iter().filter(|listed| listed.name.starts_with(&all)).collect();
    labs.sort_by_key(|listed| Reverse(listed.since));
    Ok(labs.into_iter().map(|listed| listed.name).collect())
}

/// Takes labs down. What fails with one is said, and the others follow.
fn several(args: &DownArgs, names: Vec<String>) -> Outcome {
    let (mut ended, mut has_failed, mut is_distrusted) = (Vec::<One>::new(), false, false);
    for lab in names {
        let Ended { results, failed, distrusted } = take_down(&lab).unwrap_or_else(|error| {
            say(&error.told());
            Ended { failed: true, ..Ended::default() }
        });
        let failed = failed || results.as_ref().is_some_and(Results::misses_plan);
        (has_failed, is_distrusted) = (has_failed || failed, is_distrusted || distrusted);
        ended.push(One { lab, results });
    }
    let told = |One { lab, results }: &One| {
        let table = results.as_ref().map_or_else(String::new, |results| format!("\n{}\n", table(results)));
        format!("lab {lab} is down\n{table}")
    };
    print_result(args.written.format, &ended, |ended| ended.iter().map(told).collect())?;
    Ok(code(has_failed, is_distrusted, ended.iter().filter_map(|one| one.results.as_ref())))
}

/// A program that still runs is ended with its lab and has not failed.
fn code<'a>(failed: bool, distrusted: bool, results: impl IntoIterator<Item = &'a Results>) -> ExitCode {
    match (failed, distrusted) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => ExitCode::from(NOT_TRUSTED),
        (false, false) => {
            let codes = results.into_iter().map(|results| results.code_of_programs(0));
            ExitCode::from(codes.into_iter().find(|code| *code != 0).unwrap_or(0))
        }
    }
}

pub(super) fn take_down(name: &str) -> Result<Ended, CommandError> {
    if !Inventory::exists(name)? {
        return Err(InventoryError::NothingToTakeDown { name: name.to_owned() }.into());
    }
    match Inventory::take(name) {
        Ok(record) => remove_left(name, record),
        Err(InventoryError::InUse { .. }) => ask(name),
        Err(error) => Err(error.into()),
    }
}

/// Removes what a lab whose supervisor has ended left behind. Such a lab has failed, since it was killed or ended with an error,
/// unless an earlier `down` could not remove everything.
fn remove_left(name: &str, record: Inventory) -> Result<Ended, CommandError> {
    let (claims, words) = (record.claims(), record.last_words());
    let failed = !words.is_empty() || !record.was_ending();
    record.reach_leftovers()?;
    record.remove_everything()?;
    if !words.is_empty() {
        say(&format!("ethbus: the lab `{name}` had ended; it had said:\n{words}"));
    }
    if claims > 0 || words.is_empty() {
        say(&format!(
            "ethbus: removed what a killed lab `{name}` had left behind ({})\n",
            many(claims as u64, "namespace")
        ));
    }
    Ok(Ended { failed, ..Ended::default() })
}

/// Asks a lab that is up to end, and waits until it has.
fn ask(name: &str) -> Result<Ended, CommandError> {
    let answer = control::down(name).map_err(|error| CommandError::of_lab(name, error))?;
    if let Some(Farewell { says, results, failed, distrusted }) = answer {
        say(&says);
        return Ok(Ended { results, failed, distrusted });
    }
    // The supervisor was killed before it had removed everything. A lab of the same name that is up by now is another one.
    if Inventory::exists(name)?
        && let Ok(record) = Inventory::take(name)
    {
        if record.claims() > 0 || !record.last_words().is_empty() {
            return remove_left(name, record);
        }
        record.remove_everything()?;
    }
    Ok(Ended::default())
}

/// The lab where none was named: the one called `ethbus`, even if only its leftovers are there.
/// Another one may be another user's work, even if it is the only one.
fn lab_to_remove() -> Result<String, CommandError> {
    if Inventory::exists(DEFAULT_NAME)? {
        return Ok(DEFAULT_NAME.to_owned());
    }
    let labs: Vec<String> = Inventory::all()?.into_iter().map(|listed| listed.name).collect();
    match labs.is_empty() {
        true => Ok(DEFAULT_NAME.to_owned()),
        false => Err(CommandError::NotNamed { labs }),
    }
}
