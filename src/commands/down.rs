//! `ethbus down`: takes a lab down, or removes what a killed one left behind.

use super::{CommandError, Outcome, require_root};
use crate::args::LabArgs;
use crate::control::{self, Control};
use crate::lab::record::{Record, RecordError};
use crate::view::say;
use std::process::ExitCode;

/// Takes a lab down.
///
/// # Errors
/// No such lab, one that does not answer, or something that cannot be removed.
pub fn down(args: &LabArgs) -> Outcome {
    require_root("down")?;
    let name = &args.name;
    let not_up = || RecordError::NotUp { name: name.clone() };
    if !Record::exists(name) {
        return Err(not_up().into());
    }
    match Record::take(name) {
        Ok(record) => {
            let claims = record.claims();
            record.remove_everything()?;
            say(&format!("ethbus: removed what a killed lab `{name}` had left behind ({claims} namespaces)\n"));
        }
        Err(RecordError::InUse { .. }) => {
            let silent = |source| CommandError::Control { name: name.clone(), source };
            control::ask(name, Control::Down).map_err(silent)?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(ExitCode::SUCCESS)
}
