//! `ethbus docker`: a network driver for Docker's daemon.

use super::{CommandError, INTERRUPTED, Outcome, interrupts};
use crate::cli::args::DockerArgs;
use crate::containers::docker::serve::serve;
use crate::show::say;
use std::process::ExitCode;

/// Answers the daemon until interrupted. Labs stay up, as containers do.
///
/// # Errors
/// A socket or a folder that cannot be made, as without root.
pub fn docker(args: &DockerArgs) -> Outcome {
    let interrupts = interrupts()?;
    let system = |source| CommandError::System { what: "answer Docker's daemon", source };
    let serving = serve(&args.socket, &args.state).map_err(system)?;
    say(&format!("ethbus: Docker's daemon finds the driver at {}\n", args.socket.display()));
    // An error means that the sender of interrupts is gone; the service ends then too.
    let _ = interrupts.recv();
    drop(serving);
    Ok(ExitCode::from(INTERRUPTED))
}
