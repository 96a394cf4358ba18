//! `ethbus metrics`: serves the figures of all labs that are up to Prometheus.

use super::{CommandError, INTERRUPTED, Outcome, interrupts};
use crate::cli::args::MetricsArgs;
use crate::live::lab::inventory::Inventory;
use crate::live::scrape::{address, listen, serve};
use crate::show::say;
use sim::scenario::plan::PlanError;
use std::net::TcpListener;
use std::process::ExitCode;

/// Serves until interrupted.
///
/// # Errors
/// A port that another program has, or a text that is no port.
pub fn metrics(args: &MetricsArgs) -> Outcome {
    let interrupts = interrupts()?;
    let listener = port("--listen", &args.listen)?;
    say(&served(&listener));
    let system = |source| CommandError::System { what: "start a thread", source };
    serve(listener, Inventory::names_up).map_err(system)?;
    // An error means that the sender of interrupts is gone; the service ends then too.
    let _ = interrupts.recv();
    Ok(ExitCode::from(INTERRUPTED))
}

/// Takes the port that an option names.
///
/// # Errors
/// As [`metrics`].
pub fn port(option: &'static str, text: &str) -> Result<TcpListener, CommandError> {
    let address = address(text).map_err(|what| PlanError::option(option, what))?;
    Ok(listen(address)?)
}

/// Where it is served.
pub fn served(listener: &TcpListener) -> String {
    let address = listener.local_addr().map_or_else(|_| "the port".to_owned(), |address| address.to_string());
    format!("ethbus: metrics at http://{address}/metrics\n")
}
