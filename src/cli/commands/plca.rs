//! `ethbus plca`: a station's PLCA while the bus runs, printed and set as ethtool does it.

use super::change::{ask, change};
use super::{CommandError, Outcome, print_result, running_lab, station_meant};
use crate::cli::args::{PlcaArgs, PlcaCommand, PlcaSetArgs, PlcaStationArgs};
use live::control::request::Control;
use medium::{BitTimes, PlcaSettings};
use say::say;
use serde::Serialize;
use sim::figures::plca::PlcaStation;
use sim::figures::registers::{registers, table};
use sim::figures::results::StationResults;
use sim::words::plca::{Segment, as_ethtool_prints, set, status_as_ethtool_prints, unwise};
use std::process::ExitCode;

/// A station's PLCA under the kernel's netlink names.
#[derive(Serialize)]
struct Shown {
    #[serde(skip)]
    name: String,
    #[serde(flatten)]
    settings: PlcaSettings,
    status: bool,
}

/// Does what is asked.
///
/// # Errors
/// No such lab or station, a bus without PLCA, a setting that makes no sense.
pub fn plca(args: &PlcaArgs) -> Outcome {
    match &args.what {
        PlcaCommand::Get(args) => show(args, |shown| as_ethtool_prints(&shown.name, &shown.settings)),
        PlcaCommand::Status(args) => show(args, |shown| status_as_ethtool_prints(&shown.name, shown.status)),
        PlcaCommand::Registers(args) => show_registers(args),
        PlcaCommand::Set(args) => set_settings(args),
    }
}

fn show(args: &PlcaStationArgs, table: fn(&Shown) -> String) -> Outcome {
    let (name, PlcaStation { status, settings, .. }) = asked(args)?;
    let shown = Shown { name, settings, status };
    print_result(args.written.format, &shown, table)?;
    Ok(ExitCode::SUCCESS)
}

fn show_registers(args: &PlcaStationArgs) -> Outcome {
    let (name, plca) = asked(args)?;
    print_result(args.written.format, &registers(&plca), |registers| table(&name, registers))?;
    Ok(ExitCode::SUCCESS)
}

/// The station, and its PLCA now.
fn asked(args: &PlcaStationArgs) -> Result<(String, PlcaStation), CommandError> {
    let lab = running_lab(args.lab.name.as_deref())?;
    let name = station_meant(&lab, &args.station)?;
    let plca = node(&lab, &ask(&lab, &Control::Stats)?.stations, &name)?.clone();
    Ok((name, plca))
}

/// Changes a station's settings, and says what has become unwise by it.
fn set_settings(args: &PlcaSetArgs) -> Outcome {
    let lab = running_lab(args.lab.name.as_deref())?;
    let name = &station_meant(&lab, &args.station)?;
    let stations = ask(&lab, &Control::Stats)?.stations;
    let settings =
        set(node(&lab, &stations, name)?.settings, &args.settings).map_err(|what| CommandError::Plca { what })?;
    change(&lab, name, |station| Control::Plca { station, settings })?;
    let names: Vec<&str> = stations.iter().map(|station| station.name.as_str()).collect();
    let of = |station: &StationResults| station.plca.as_ref().map_or(PlcaSettings::off(), |plca| plca.settings);
    let before: Vec<PlcaSettings> = stations.iter().map(of).collect();
    let changed = |(one, before): (&&str, &PlcaSettings)| if one == name { settings } else { *before };
    let now: Vec<PlcaSettings> = names.iter().zip(&before).map(changed).collect();
    let told = |settings: &[PlcaSettings]| {
        let nodes: Vec<(PlcaSettings, &[u8])> = settings.iter().map(|settings| (*settings, &[][..])).collect();
        unwise(Segment { nodes: &nodes, names: &names, round_trip: BitTimes::ZERO })
    };
    let before = told(&before);
    if now.iter().any(|settings| settings.dplca) {
        return Ok(ExitCode::SUCCESS);
    }
    let new = told(&now).into_iter().filter(|warning| !before.contains(warning));
    new.for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    Ok(ExitCode::SUCCESS)
}

/// What a station of a lab has of PLCA.
fn node<'a>(lab: &str, stations: &'a [StationResults], station: &str) -> Result<&'a PlcaStation, CommandError> {
    let found = stations.iter().find(|results| results.name == station);
    let found = found.ok_or_else(|| CommandError::Plca { what: format!("lab {lab} has no station {station}") })?;
    let none = "its bus has no PLCA: bring it up with `ethbus up --access plca`";
    found.plca.as_ref().ok_or_else(|| CommandError::Plca { what: format!("{station}: {none}") })
}
