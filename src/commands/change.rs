//! `ethbus attach`, `detach`, `fault`: change a station while the bus runs.

use super::{CommandError, Outcome, station_names};
use crate::args::{FaultArgs, PortArgs, StationFault};
use crate::bus::protocol::Change;
use crate::control::{self, Control};
use crate::fault::FaultName;
use crate::lab::record::Record;
use crate::results::{Results, StationResults};
use crate::view::say;
use medium::Fault;
use std::io;
use std::process::ExitCode;

/// Puts a station back on the medium.
///
/// # Errors
/// No such lab or station, or a lab that does not answer.
pub fn attach(args: &PortArgs) -> Outcome {
    let station = change(&args.lab.name, &args.station, Change::Attach)?;
    if station.attached {
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("ethbus: {} is attached again, but still off the medium: its interface is down\n", args.station));
    Ok(ExitCode::FAILURE)
}

/// Takes a station off the medium.
///
/// # Errors
/// As [`attach`].
pub fn detach(args: &PortArgs) -> Outcome {
    change(&args.lab.name, &args.station, Change::Detach)?;
    Ok(ExitCode::SUCCESS)
}

/// Makes a station faulty, or right again.
///
/// # Errors
/// As [`attach`].
pub fn fault(args: &FaultArgs) -> Outcome {
    let fault = match args.fault {
        StationFault::Deaf => Some(Fault::Deaf),
        StationFault::BadFcs => Some(Fault::BadFcs),
        StationFault::Babble => Some(Fault::Babble),
        StationFault::None => None,
    };
    change(&args.lab.name, &args.station, Change::Fault(fault.map(FaultName)))?;
    Ok(ExitCode::SUCCESS)
}

/// Asks for the change, and gives the station as it is after it.
fn change(lab: &str, station: &str, change: Change) -> Result<StationResults, CommandError> {
    let content = Record::of_running(lab)?;
    if !content.stations.iter().any(|port| port.name == station) {
        let (lab, station, stations) = (lab.to_owned(), station.to_owned(), station_names(&content));
        return Err(CommandError::NoStation { lab, station, stations });
    }
    let silent = |source| CommandError::Control { name: lab.to_owned(), source };
    let request = Control::Change { station: station.to_owned(), change };
    let answer = control::ask(lab, &request).map_err(silent)?;
    let results: Results = serde_json::from_str(&answer).map_err(|error| silent(io::Error::from(error)))?;
    let changed = results.stations.into_iter().find(|results| results.name == station);
    changed.ok_or_else(|| silent(io::ErrorKind::InvalidData.into()))
}
