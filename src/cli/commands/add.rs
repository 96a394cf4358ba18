//! `ethbus add`, `remove`: stations that join and leave a lab while it is up.

use super::{CommandError, Outcome, print, running_lab, station_names};
use crate::cli::args::{AddArgs, Format, PortArgs};
use live::control;
use live::control::request::Control;
use live::lab::inventory::Inventory;
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// Adds a station.
///
/// # Errors
/// No such lab, a value that no station can have, or a refusal of the kernel.
pub fn add(args: &AddArgs) -> Outcome {
    let lab = running_lab(args.lab.name.as_deref())?;
    Inventory::of_running(&lab)?;
    let added = control::add(&lab, section(args)).map_err(|error| CommandError::of_lab(&lab, error))?;
    let text = match args.written.format {
        Format::Table => added.name,
        Format::Json => serde_json::to_string_pretty(&added).expect("names and addresses"),
    };
    print(&format!("{text}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Removes a station.
///
/// # Errors
/// No such lab or station; what cannot be removed.
pub fn remove(args: &PortArgs) -> Outcome {
    let lab = running_lab(args.lab.name.as_deref())?;
    let content = Inventory::of_running(&lab)?;
    let station = content.station_meant(&args.station);
    if !content.stations.iter().any(|port| port.name == station) {
        return Err(CommandError::NoStation { lab, station, stations: station_names(&content) });
    }
    let request = Control::Remove { station };
    control::removed(&lab, &request).map_err(|error| CommandError::of_lab(&lab, error))?;
    Ok(ExitCode::SUCCESS)
}

/// What a scenario would say of the station.
fn section(args: &AddArgs) -> Map<String, Value> {
    let bridge = args.bridge.as_ref().map(|bridge| bridge.clone().map(Value::from).unwrap_or_default());
    let kinds = [("tap", args.tap), ("interface", args.lend.is_some()), ("bridge", bridge.is_some())];
    let kind = kinds.into_iter().chain([("vxlan", args.vxlan.is_some())]).find(|(_, given)| *given);
    let text = |value: &Option<String>| value.clone().map(Value::from);
    let place =
        args.at.as_deref().map(|at| at.rsplit_once(':').map_or((None, at), |(segment, at)| (Some(segment), at)));
    let keys = [
        ("name", text(&args.station)),
        ("kind", kind.map(|(kind, _)| json!(kind))),
        ("netns", text(&args.netns)),
        ("interface", text(&args.lend).or_else(|| text(&args.interface))),
        ("bridge", bridge.filter(|bridge| !bridge.is_null())),
        ("remote", text(&args.vxlan)),
        ("vni", args.vni.map(Value::from)),
        ("segment", place.and_then(|(segment, _)| segment).map(Value::from)),
        ("position", place.map(|(_, position)| Value::from(position))),
        ("mac", text(&args.mac)),
        ("ipv4", text(&args.ipv4)),
        ("ipv6", text(&args.ipv6)),
    ];
    keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}
