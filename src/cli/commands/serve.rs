//! `ethbus serve`: figures of all labs that are up to Prometheus, networks to Docker.

use super::{CommandError, INTERRUPTED, Outcome, interrupts};
use crate::cli::args::{DockerArgs, PrometheusArgs};
use live::containers::docker;
use live::lab::inventory::Inventory;
use live::scrape::{self, address, listen};
use say::say;
use sim::scenario::plan::PlanError;
use std::net::TcpListener;
use std::process::ExitCode;

/// Serves until interrupted.
///
/// # Errors
/// A port that another program has, or a text that is no port.
pub fn prometheus(args: &PrometheusArgs) -> Outcome {
    let interrupts = interrupts()?;
    let listener = port("--listen", &args.listen)?;
    say(&served(&listener));
    let system = |source| CommandError::System { what: "start a thread", source };
    scrape::serve(listener, Inventory::names_up).map_err(system)?;
    // An error means that the sender of interrupts is gone; the service ends then too.
    let _ = interrupts.recv();
    Ok(ExitCode::from(INTERRUPTED))
}

/// Answers Docker's daemon until interrupted. Labs stay up, as containers do.
///
/// # Errors
/// A socket or a folder that cannot be made, as without root.
pub fn docker(args: &DockerArgs) -> Outcome {
    let interrupts = interrupts()?;
    let system = |source| CommandError::System { what: "answer Docker's daemon", source };
    let serving = docker::serve::serve(&args.socket, &args.state).map_err(system)?;
    say(&format!("ethbus: Docker's daemon finds the driver at {}\n", args.socket.display()));
    // An error means that the sender of interrupts is gone; the service ends then too.
    let _ = interrupts.recv();
    drop(serving);
    Ok(ExitCode::from(INTERRUPTED))
}

/// Takes the port that an option names.
///
/// # Errors
/// As [`prometheus`].
pub fn port(option: &'static str, text: &str) -> Result<TcpListener, CommandError> {
    let address = address(text).map_err(|what| PlanError::option(option, what))?;
    Ok(listen(address)?)
}

/// Where it is served.
pub fn served(listener: &TcpListener) -> String {
    let address = listener.local_addr().map_or_else(|_| "the port".to_owned(), |address| address.to_string());
    format!("ethbus: metrics at http://{address}/metrics\n")
}
