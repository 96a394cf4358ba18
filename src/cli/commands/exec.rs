//! `ethbus exec`: becomes a program in a station. Nothing of ethbus is left in between, so input, output, signals
//! and the exit code pass through.

use super::rights::station;
use super::{CommandError, Outcome};
use crate::cli::args::ExecArgs;
use crate::live::lab::inventory::Inventory;
use crate::show::say;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// As shells tell it.
const NOT_EXECUTABLE: u8 = 126;
/// As shells tell it.
const NOT_FOUND: u8 = 127;

/// Runs a program in a station. Comes back only if that fails.
///
/// # Errors
/// No such lab or station, or no right to enter it.
pub fn exec(args: &ExecArgs) -> Outcome {
    let content = Inventory::of_running(&args.lab.name)?;
    let namespace = station(&args.lab.name, &content, &args.station)?;
    namespace.enter_for_exec().map_err(|source| CommandError::Enter { station: args.station.clone(), source })?;
    // The lab may have ended meanwhile: then nobody would end the program.
    Inventory::check_entered(&args.lab.name, &args.station, &namespace)?;
    let error = Command::new(&args.command[0]).args(&args.command[1..]).exec();
    let code = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE };
    say(&format!("ethbus: cannot run {}: {error}\n", args.command[0].display()));
    Ok(ExitCode::from(code))
}
