//! What a command may do: as root, or in a user namespace, where every user may have labs of his own.
//!
//! To be asked before there are threads: a process with threads can enter no user namespace.

use super::{CommandError, missing_capabilities};
use link::namespace::{Namespace, enter_user_namespace};
use live::control;
use live::lab::MakeError;
use live::lab::inventory::{Claim, Content, Inventory, InventoryError};
use live::lab::owner::Owner;
use std::process::{Command, Stdio};

/// Goes on as it is if it may make namespaces, and in a user namespace of its own otherwise.
pub fn gain(command: &'static str) -> Result<(), CommandError> {
    let missing = missing_capabilities()?;
    if missing.is_empty() {
        return Ok(());
    }
    enter_user_namespace().map_err(|source| CommandError::NoUserNamespace { command, missing, source })
}

/// Gets the rights to make a lab called `name`; gives whether its namespaces can have names.
///
/// What a killed lab of this name left running is ended first, since from within another user namespace nothing can be done
/// about it: so by another process.
pub fn gain_for_lab(name: &str) -> Result<bool, CommandError> {
    let (owner, missing) = (Owner::own()?, missing_capabilities()?);
    if missing.is_empty() {
        return Ok(owner == Owner::Root);
    }
    owner.make()?;
    end_left_behind(name)?;
    gain("ethbus up")?;
    Ok(false)
}

/// Ends what a killed lab called `name` left running, if it did: by another process, which enters that lab's user namespace.
pub fn end_left_behind(name: &str) -> Result<(), CommandError> {
    if Inventory::exists(name)? && !missing_capabilities()?.is_empty() && Inventory::take(name)?.claims() > 0 {
        remove_left_behind(name)?;
    }
    Ok(())
}

fn remove_left_behind(name: &str) -> Result<(), CommandError> {
    let system = |source| CommandError::System { what: "start `ethbus down`", source };
    let mut down = Command::new("/proc/self/exe");
    down.args(["down", "--name", name]).stdin(Stdio::null()).status().map_err(system)?;
    // What has failed is the lab that was killed. If something of it is still there, `down` has said why.
    match Inventory::exists(name)? {
        false => Ok(()),
        true => Err(InventoryError::InUse { name: name.to_owned() }.into()),
    }
}

/// A station's namespace in a lab that is up, and every right over it.
pub fn station(lab: &str, content: &Content, name: &str) -> Result<Namespace, CommandError> {
    let is_station = content.stations.iter().any(|port| port.name == name);
    if is_station && content.is_virtual {
        return Err(CommandError::Kernel { station: name.to_owned() });
    }
    let Some(claim) = content.namespaces.iter().find(|claim| is_station && claim.whose == name) else {
        if is_station {
            // A container's, or another that was there before the lab.
            return content.home_of(name).ok_or_else(|| CommandError::NoNamespace { station: name.to_owned() });
        }
        let stations = super::station_names(content);
        return Err(CommandError::NoStation { lab: lab.to_owned(), station: name.to_owned(), stations });
    };
    match Inventory::station(lab, claim)? {
        Some(namespace) => {
            let missing = missing_capabilities()?;
            match missing.is_empty() {
                true => Ok(namespace),
                false => Err(CommandError::NotPermitted { station: name.to_owned(), missing }),
            }
        }
        None => join(lab, claim),
    }
}

/// Asks a lab without root for a station, and becomes able to do there what root can.
fn join(lab: &str, claim: &Claim) -> Result<Namespace, CommandError> {
    let (owner, namespace) = control::enter(lab, &claim.whose).map_err(|error| CommandError::of_lab(lab, error))?;
    let failed = |source| CommandError::Join { station: claim.whose.clone(), source };
    owner.enter().map_err(failed)?;
    link::confine::pass_on_capabilities().map_err(MakeError::from)?;
    // What came is what the inventory says: neither an older lab's nor another station's.
    if !claim.is(&namespace) {
        return Err(InventoryError::NotUp { name: lab.to_owned() }.into());
    }
    Ok(namespace)
}
