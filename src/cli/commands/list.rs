//! `ethbus list`: the labs of the user who asks.

use super::{CommandError, Outcome, print_result};
use crate::cli::args::{Format, ListArgs};
use link::{MacAddr, Pid};
use live::control;
use live::lab::inventory::{Inventory, Listed, State};
use live::lab::owner::Owner;
use say::plain_table;
use serde::Serialize;
use sim::files::event_log::Container;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A lab, as `ethbus list` prints it.
#[derive(Debug, Serialize)]
struct Lab {
    name: String,
    /// The network that it is for a container engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<String>,
    /// Another lab has the network's name.
    #[serde(skip)]
    is_ambiguous: bool,
    owner: String,
    /// `up`, `stopped`, as by Ctrl-Z, `changing`, which is coming up or going down, `left_behind`, or `ended` with a log that says
    /// why.
    state: &'static str,
    /// Its process, if that is stopped.
    #[serde(skip)]
    stopped: Option<Pid>,
    since_unix_s: Option<u64>,
    /// Its stations are kernels in virtual time.
    #[serde(rename = "virtual")]
    is_virtual: bool,
    rate_bits_per_second: u64,
    /// The control socket, of docs/api.md; none unless the lab is up.
    control: Option<PathBuf>,
    stations: Vec<Station>,
}

#[derive(Debug, Serialize)]
struct Station {
    name: String,
    /// What it is in, as the container engine tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<Container>,
    mac: String,
    addresses: Vec<String>,
}

/// Lists labs.
///
/// # Errors
/// Records that cannot be read.
pub fn list(args: &ListArgs) -> Outcome {
    let owner = owner()?;
    let labs: Vec<Lab> = Inventory::all()?.into_iter().map(|listed| lab(listed, &owner)).collect();
    print_result(args.written.format, &labs, |labs| told(labs))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints one lab as JSON.
///
/// # Errors
/// Records that cannot be read; a text that cannot be written.
pub fn print_lab(name: &str) -> Result<(), CommandError> {
    let found = Inventory::all()?.into_iter().find(|listed| listed.name == name);
    let owner = owner()?;
    let found = found.map(|listed| lab(listed, &owner));
    print_result(Format::Json, &found, |_| String::new())
}

/// Whose labs these are.
fn owner() -> Result<String, CommandError> {
    Ok(match Owner::own()? {
        Owner::Root => "root".to_owned(),
        Owner::User { user } => format!("user {user}"),
    })
}

fn lab(listed: Listed, owner: &str) -> Lab {
    let Listed { name, state, since, content } = listed;
    let stations = content.stations.iter().map(|port| Station {
        container: content.labels.containers.get(&port.name).cloned(),
        name: port.name.clone(),
        mac: MacAddr::from(port.mac).to_string(),
        addresses: content.addresses_of(&port.name),
    });
    let stopped = if state == State::Up { control::stopped(&name) } else { None };
    Lab {
        owner: owner.to_owned(),
        stopped,
        state: match state {
            State::Up if stopped.is_some() => "stopped",
            State::Up => "up",
            State::Changing => "changing",
            State::LeftBehind => "left_behind",
            State::Ended => "ended",
        },
        since_unix_s: since.and_then(|since| since.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs()),
        is_virtual: content.is_virtual,
        rate_bits_per_second: content.rate,
        control: Inventory::control_socket(&name).ok().filter(|_| state == State::Up),
        stations: stations.collect(),
        is_ambiguous: content.labels.network.as_deref().is_some_and(|network| Inventory::labelled(network).is_none()),
        network: content.labels.network,
        name,
    }
}

fn told(labs: &[Lab]) -> String {
    if labs.is_empty() {
        return "no lab is up: `ethbus up` brings one up\n".to_owned();
    }
    let mut text = String::new();
    for lab in labs {
        text += &match (lab.state, lab.stopped) {
            (_, Some(process)) => {
                format!("{}: stopped, as by Ctrl-Z: `kill -CONT {process}` lets it go on\n", lab.name)
            }
            ("up", None) => {
                let time = if lab.is_virtual { ", virtual time" } else { "" };
                format!("{}: up{}, {}{time}\n", shown(lab), since(lab.since_unix_s), lab.owner)
            }
            ("changing", None) => format!("{}: coming up or going down\n", lab.name),
            ("ended", None) => format!("{}: ended by itself; `ethbus down {}` says why\n", lab.name, lab.name),
            _ => format!("{}: killed; `ethbus down {}` removes what is left\n", lab.name, lab.name),
        };
        if lab.state == "up" {
            let row =
                |station: &Station| [format!("  {}", station.name), station.mac.clone(), station.addresses.join(" ")];
            let container = |station: &Station| station.container.as_ref().map_or("", |it| &it.name).to_owned();
            text += &match lab.network {
                None => plain_table(["  station", "MAC", "addresses"], lab.stations.iter().map(row)),
                Some(_) => {
                    let rows = lab.stations.iter().map(|station| {
                        let [name, mac, addresses] = row(station);
                        [name, container(station), mac, addresses]
                    });
                    plain_table(["  station", "container", "MAC", "addresses"], rows)
                }
            };
        }
    }
    text
}

/// `bus1 (d4d74c56c642)`: its network's name, by which commands know it too.
fn shown(lab: &Lab) -> String {
    match &lab.network {
        Some(network) if *network == lab.name => network.clone(),
        Some(network) if lab.is_ambiguous => format!("{}, as another lab is `{network}`", lab.name),
        Some(network) => format!("{network} ({})", lab.name),
        None => lab.name.clone(),
    }
}

/// ` for 3 min`
fn since(since: Option<u64>) -> String {
    let Some(since) = since else { return String::new() };
    let age = SystemTime::now().duration_since(UNIX_EPOCH + Duration::from_secs(since)).unwrap_or_default().as_secs();
    match age {
        0..120 => format!(" for {age} s"),
        120..7_200 => format!(" for {} min", age / 60),
        7_200..172_800 => format!(" for {} h", age / 3_600),
        _ => format!(" for {} days", age / 86_400),
    }
}
