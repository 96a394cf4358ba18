//! `ethbus plug`, `unplug`, `set`, `fault`, `cut`, `mend`: change a station or the cable while the bus runs.

use super::{CommandError, Outcome, print, running_lab, station_meant, station_names};
use crate::cli::args::{CutArgs, FaultArgs, NamedLabArgs, PortArgs, SetArgs};
use live::control;
use live::control::request::Control;
use live::lab::inventory::Inventory;
use medium::Fault;
use say::say;
use serde_json::{Map, Value, json};
use sim::figures::results::{Results, StationResults};
use sim::scenario::plan::PlanError;
use sim::words::cable;
use sim::words::units::group;
use std::io;
use std::process::ExitCode;

/// The word for all stations of a lab.
const ALL: &str = "all";

/// Puts a station back on the medium.
///
/// # Errors
/// No such lab or station, or a lab that does not answer.
pub fn plug(args: &PortArgs) -> Outcome {
    let lab = running_lab(args.lab.name.as_deref())?;
    let name = station_meant(&lab, &args.station)?;
    let was_attached = is_attached(&lab, &name)?;
    let station = change(&lab, &name, |station| Control::Attach { station })?;
    if was_attached {
        say(&format!("ethbus: {name} was on the medium already\n"));
    }
    if station.attached {
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("ethbus: {name} is attached again, but still off the medium: its interface is down\n"));
    Ok(ExitCode::FAILURE)
}

/// Takes a station off the medium.
///
/// # Errors
/// As [`plug`].
pub fn unplug(args: &PortArgs) -> Outcome {
    let lab = running_lab(args.lab.name.as_deref())?;
    let name = station_meant(&lab, &args.station)?;
    let was_attached = is_attached(&lab, &name)?;
    change(&lab, &name, |station| Control::Detach { station })?;
    if !was_attached {
        say(&format!("ethbus: {name} was off the medium already\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a station is on the medium now.
fn is_attached(lab: &str, station: &str) -> Result<bool, CommandError> {
    let content = Inventory::of_running(lab)?;
    let found = ask(lab, &Control::Stats)?.stations.into_iter().find(|results| results.name == station);
    found.map(|results| results.attached).ok_or_else(|| CommandError::NoStation {
        lab: lab.to_owned(),
        station: station.to_owned(),
        stations: station_names(&content),
    })
}

/// Makes a station faulty, or right again.
///
/// # Errors
/// As [`plug`].
pub fn fault(args: &FaultArgs) -> Outcome {
    let wrong = |what| PlanError::option("FAULT", what);
    let (fault, lab) = (Fault::read(&args.fault).map_err(wrong)?, running_lab(args.lab.name.as_deref())?);
    let content = Inventory::of_running(&lab)?;
    let is_one = args.station != ALL || content.stations.iter().any(|port| port.name == ALL);
    if is_one {
        change(&lab, &content.station_meant(&args.station), |station| Control::Fault { station, fault })?;
        return Ok(ExitCode::SUCCESS);
    }
    let of_all = fault.map(Fault::of_all).transpose();
    let fault = of_all.map_err(|what| wrong(format!("{what}: write the station's name instead of `{ALL}`")))?;
    for port in &content.stations {
        change(&lab, &port.name, |station| Control::Fault { station, fault })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Sets what a station, or the whole lab, is to have.
///
/// # Errors
/// As [`plug`]; keys or values that make no sense.
pub fn set(args: &SetArgs) -> Outcome {
    let mut section = section(&args.settings).map_err(|what| PlanError::option("KEY=VALUE", what))?;
    let lab = running_lab(args.lab.name.as_deref())?;
    let content = Inventory::of_running(&lab)?;
    for key in ["station", "destination"] {
        if let Some(Value::String(station)) = section.get_mut(key) {
            *station = content.station_meant(station);
        }
    }
    ask(&lab, &Control::Set(section))?;
    Ok(ExitCode::SUCCESS)
}

/// What an `[[at]]` section of a scenario would say, from the words of a command line.
fn section(words: &[String]) -> Result<Map<String, Value>, String> {
    let mut section = Map::new();
    for (place, word) in words.iter().enumerate() {
        let (key, value) = match word.split_once('=') {
            Some((key, value)) => (key.to_owned(), value.parse::<u64>().map_or_else(|_| json!(value), Value::from)),
            None if place == 0 => ("station".to_owned(), json!(word)),
            None => return Err(format!("`{word}` sets nothing: write it like `queue=50`, and a station first")),
        };
        if section.insert(key.clone(), value).is_some() {
            return Err(format!("`{word}`: `{key}` is there twice: leave one of them out"));
        }
    }
    if words.len() == 1 && section.contains_key("station") {
        return Err(format!(
            "`{}` alone sets nothing: write what it is to have, like `arrivals=poisson:0.4`",
            words[0]
        ));
    }
    Ok(section)
}

/// Cuts the cable between two stations.
///
/// # Errors
/// As [`plug`]; stations between which there is no cable.
pub fn cut(args: &CutArgs) -> Outcome {
    let lab = &running_lab(args.lab.name.as_deref())?;
    let content = Inventory::of_running(lab)?;
    let names = [&args.station, &args.other].map(|given| content.station_meant(given));
    let names = names.each_ref().map(String::as_str);
    let mut stations = [0; 2];
    for (number, name) in stations.iter_mut().zip(names) {
        let found = content.stations.iter().position(|port| port.name == name);
        *number = found.ok_or_else(|| CommandError::NoStation {
            lab: lab.clone(),
            station: name.to_owned(),
            stations: station_names(&content),
        })?;
    }
    let results = ask(lab, &Control::Stats)?;
    let silent = |_| CommandError::Control { name: lab.clone(), source: io::ErrorKind::InvalidData.into() };
    let config = medium::Config::try_from(results.config.medium).map_err(silent)?;
    let cut = cable::between(&config.topology, names, stations).map_err(|what| CommandError::NoCut { what })?;
    ask(lab, &Control::Cut(cut))?;
    Ok(ExitCode::SUCCESS)
}

/// Mends the cable.
///
/// # Errors
/// No such lab, or one that does not answer.
pub fn mend(args: &NamedLabArgs) -> Outcome {
    let lab = running_lab(args.given())?;
    Inventory::of_running(&lab)?;
    ask(&lab, &Control::Mend)?;
    Ok(ExitCode::SUCCESS)
}

/// Stops the clock of a lab's medium, lets it go on a little, or starts it again; prints the bit time that it has got to.
///
/// # Errors
/// No such lab, one that does not answer, or a step of a clock that runs.
pub fn clock(args: &NamedLabArgs, request: &Control) -> Outcome {
    let lab = running_lab(args.given())?;
    Inventory::of_running(&lab)?;
    let results = ask(&lab, request)?;
    print(&format!("{} BT\n", group(results.measured_bit_times)))?;
    Ok(ExitCode::SUCCESS)
}

/// Asks a lab that is up, which answers with its results.
pub(super) fn ask(lab: &str, request: &Control) -> Result<Results, CommandError> {
    control::results(lab, request).map_err(|error| CommandError::of_lab(lab, error))
}

/// Asks for the change, and gives the station as it is after it.
pub(super) fn change(
    lab: &str,
    station: &str,
    request: impl Fn(String) -> Control,
) -> Result<StationResults, CommandError> {
    let content = Inventory::of_running(lab)?;
    if !content.stations.iter().any(|port| port.name == station) {
        let (lab, station, stations) = (lab.to_owned(), station.to_owned(), station_names(&content));
        return Err(CommandError::NoStation { lab, station, stations });
    }
    let results = ask(lab, &request(station.to_owned()))?;
    let changed = results.stations.into_iter().find(|results| results.name == station);
    changed.ok_or_else(|| CommandError::Control { name: lab.to_owned(), source: io::ErrorKind::InvalidData.into() })
}
