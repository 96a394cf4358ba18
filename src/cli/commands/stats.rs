//! `ethbus stats`: asks a lab that is up what has happened so far.

use super::change::ask;
use super::{CommandError, INTERRUPTED, Outcome, interrupts, print, print_result, running_lab};
use crate::cli::args::StatsArgs;
use crate::watch::refresh::{Ending, refresh};
use crate::watch::screened::is_there;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use link::MacAddr;
use link::signals::Signal;
use live::control::request::Control;
use live::lab::inventory::{Content, Inventory};
use say::terminal::in_locale;
use say::{fitted, plain_table, table};
use serde::Serialize;
use sim::figures::results::{Results, StationResults};
use sim::files::event_log::Container;
use std::process::ExitCode;
use std::time::Duration;

/// How often `--watch` asks.
const EVERY: Duration = Duration::from_secs(1);

/// Results, with each station's addresses.
#[derive(Debug, Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    results: &'a Results,
    addresses: Vec<Addresses<'a>>,
}

#[derive(Debug, Serialize)]
struct Addresses<'a> {
    station: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'a Container>,
    mac: String,
    ip: Vec<String>,
}

/// Shows a lab's results so far, once or again and again.
///
/// # Errors
/// No such lab, one that does not answer, or a result that cannot be written.
pub fn stats(args: &StatsArgs) -> Outcome {
    let name = running_lab(args.lab.given())?;
    let content = Inventory::of_running(&name)?;
    if args.watch {
        return watch(&name);
    }
    let results = ask(&name, &Control::Stats)?;
    if let Some(station) = &args.station {
        let station = station_of(&results, &name, &content.station_meant(station))?;
        print_result(args.written.format, station, counters)?;
        return Ok(ExitCode::SUCCESS);
    }
    let told = Told { results: &results, addresses: addresses(&content) };
    print_result(args.written.format, &told, |told| {
        format!("{}\n{}", table(told.results), address_table(&told.addresses))
    })?;
    Ok(if results.misses_plan() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The results of one station.
fn station_of<'a>(results: &'a Results, lab: &str, name: &str) -> Result<&'a StationResults, CommandError> {
    let found = results.stations.iter().find(|station| station.name == name);
    found.ok_or_else(|| {
        let stations = results.stations.iter().map(|station| station.name.clone()).collect();
        CommandError::NoStation { lab: lab.to_owned(), station: name.to_owned(), stations }
    })
}

/// Every counter of a station, a line each.
fn counters(station: &StationResults) -> String {
    let line = |(name, value): (&String, &u64)| format!("     {name}: {value}\n");
    format!("Counters of {}:\n{}", station.name, station.counters.iter().map(line).collect::<String>())
}

/// On a terminal the figures stay in their place and fit; elsewhere they come one after the other.
fn watch(name: &str) -> Outcome {
    let interrupts = interrupts()?;
    if is_there() {
        return watch_on_terminal(name, &interrupts);
    }
    loop {
        let figures = table(&ask(name, &Control::Stats)?);
        print(&in_locale(format!("lab {name}, every second; Ctrl-C ends\n{figures}\n")))?;
        match interrupts.recv_timeout(EVERY) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(ExitCode::from(INTERRUPTED)),
        }
    }
}

fn watch_on_terminal(name: &str, interrupts: &Receiver<Signal>) -> Outcome {
    let title = format!("lab {name}, every second; q ends");
    let page =
        |columns, lines| Ok::<_, CommandError>(in_locale(fitted(&title, &ask(name, &Control::Stats)?, columns, lines)));
    let broken = |source| CommandError::System { what: "draw on the terminal", source };
    let (last, ending) = refresh(EVERY, page, || !interrupts.is_empty(), broken)?;
    // The terminal shows again what it did before; the last figures stay below that.
    print(&format!("{last}\n"))?;
    Ok(match ending {
        Some(Ending::Quit) => ExitCode::SUCCESS,
        Some(Ending::Interrupted) | None => ExitCode::from(INTERRUPTED),
    })
}

fn addresses(content: &Content) -> Vec<Addresses<'_>> {
    let found = content.stations.iter().map(|port| {
        let (mac, container) = (MacAddr::from(port.mac).to_string(), content.labels.containers.get(&port.name));
        Addresses { station: &port.name, container, mac, ip: content.addresses_of(&port.name) }
    });
    found.collect()
}

fn address_table(addresses: &[Addresses<'_>]) -> String {
    let named = |(station, container): (&str, Option<&Container>)| match container {
        Some(container) if container.name != station => format!("{station}: {}", container.name),
        Some(_) | None => station.to_owned(),
    };
    let rows = addresses
        .iter()
        .map(|Addresses { station, container, mac, ip }| [named((*station, *container)), mac.clone(), ip.join(" ")]);
    plain_table(["station", "MAC", "addresses"], rows)
}
