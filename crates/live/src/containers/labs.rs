//! Labs that this room brings up, in the background, as a user does at the command line.

use crate::control::request::Control;
use crate::control::{self, Added};
use crate::lab::inventory::Inventory;
use serde_json::{Map, Value, json};
use std::ffi::OsStr;
use std::io;
use std::process::{Command, Stdio};

/// How many containers a lab has places for if nothing says otherwise.
pub const PLACES: u32 = 16;

/// What a full lab says has more places: its user's way, not that of a runtime's user.
const MORE_PLACES: &str = "`ethbus up --capacity N`";

/// What a lab said, with `more` for what has more places than a full lab.
pub fn with_places(said: &str, more: &str) -> String {
    said.replace(MORE_PLACES, more)
}

/// Whether a lab of this name is up.
pub fn is_up(lab: &str) -> bool {
    Inventory::of_running(lab).is_ok()
}

/// Brings a lab up with these further arguments of `ethbus up`, and gives its warnings; what the command says if it fails is the
/// inner error.
///
/// # Errors
/// The program cannot be run.
pub fn bring_up(lab: &str, arguments: &[impl AsRef<OsStr>]) -> io::Result<Result<String, String>> {
    let mut up = Command::new(std::env::current_exe()?);
    up.args(["up", "--background", "--name", lab]).args(arguments).env_remove(super::cni::COMMAND);
    let ended = up.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    let warnings = said.lines().filter(|line| line.contains("warning: ")).collect::<Vec<_>>().join("; ");
    Ok(if ended.status.success() { Ok(warnings) } else { Err(said.trim().to_owned()) })
}

/// Has a container's station join. A lab keeps a place for each name that it ever had; without a place for a new name, the
/// station gets the name and the place of one that has left.
///
/// # Errors
/// As [`control::add`].
pub fn add(lab: &str, mut station: Map<String, Value>) -> io::Result<Added> {
    control::add(lab, station.clone()).or_else(|error| {
        let Some(name) = one_that_left(lab) else { return Err(error) };
        station.insert("name".to_owned(), json!(name));
        // The first error is the one to tell.
        control::add(lab, station).map_err(|_| error)
    })
}

/// Takes a station out of a lab, if both are there.
///
/// # Errors
/// As [`control::removed`].
pub fn remove(lab: &str, station: &str) -> io::Result<()> {
    let content = Inventory::of_running(lab).ok();
    if content.is_some_and(|content| content.stations.iter().any(|port| port.name == station)) {
        control::removed(lab, &Control::Remove { station: station.to_owned() })?;
    }
    Ok(())
}

/// The name of a station that was there, and is no more.
fn one_that_left(lab: &str) -> Option<String> {
    let there = Inventory::of_running(lab).ok()?.stations;
    let all = control::results(lab, &Control::Stats).ok()?.stations;
    let mut names = all.into_iter().map(|station| station.name);
    names.find(|name| there.iter().all(|port| port.name != *name))
}
