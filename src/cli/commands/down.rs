//! `ethbus down`: takes a lab down, or removes what a killed one left behind.

use super::{CommandError, NOT_TRUSTED, Outcome, running_lab};
use crate::cli::args::NamedLabArgs;
use crate::live::control::{self, Control, Farewell};
use crate::live::lab::inventory::{Inventory, InventoryError};
use crate::show::say;
use sim::scenario::plan::DEFAULT_NAME;
use sim::words::units::many;
use std::process::ExitCode;

/// Takes a lab down.
///
/// # Errors
/// No such lab, one that does not answer, or something that cannot be removed.
pub fn down(args: &NamedLabArgs) -> Outcome {
    let name = &match args.given() {
        Some(given) => given.to_owned(),
        None => lab_to_remove()?,
    };
    if !Inventory::exists(name)? {
        return Err(InventoryError::NothingToTakeDown { name: name.clone() }.into());
    }
    match Inventory::take(name) {
        Ok(record) => remove_left(name, record)?,
        Err(InventoryError::InUse { .. }) => return ask(name),
        Err(error) => return Err(error.into()),
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes what a lab whose supervisor has ended left behind.
fn remove_left(name: &str, record: Inventory) -> Result<(), CommandError> {
    let (claims, words) = (record.claims(), record.last_words());
    record.reach_leftovers()?;
    record.remove_everything()?;
    if !words.is_empty() {
        say(&format!("ethbus: the lab `{name}` had ended by itself; it had said:\n{words}"));
    }
    if claims > 0 || words.is_empty() {
        say(&format!(
            "ethbus: removed what a killed lab `{name}` had left behind ({})\n",
            many(claims as u64, "namespace")
        ));
    }
    Ok(())
}

/// Asks a lab that is up to end, and waits until it has.
fn ask(name: &str) -> Outcome {
    let silent = |source| CommandError::Control { name: name.to_owned(), source };
    let farewell = Farewell::read(&control::ask(name, &Control::Down).map_err(silent)?);
    // A lab in the background has nobody else to tell what it ended with.
    say(&farewell.text);
    // An answer that is empty may be the end of a supervisor that was killed before it had removed anything. A lab of
    // the same name that is up by now is another one.
    if farewell.text.is_empty()
        && Inventory::exists(name)?
        && let Ok(record) = Inventory::take(name)
    {
        match record.claims() {
            0 => record.remove_everything()?,
            _ => remove_left(name, record)?,
        }
    }
    Ok(match farewell {
        Farewell { failed: true, .. } => ExitCode::FAILURE,
        Farewell { distrusted: true, .. } => ExitCode::from(NOT_TRUSTED),
        Farewell { .. } => ExitCode::SUCCESS,
    })
}

/// The lab that is meant where none was named: what one called `ethbus` left behind can be removed too.
fn lab_to_remove() -> Result<String, CommandError> {
    if Inventory::exists(DEFAULT_NAME)? { Ok(DEFAULT_NAME.to_owned()) } else { running_lab(None) }
}
