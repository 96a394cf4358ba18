//! What removes everything that a lab's inventory names, and then the inventory.

use super::{
    Claim, Content, HOSTS, Inventory, InventoryError, LOG, file_error, folder_of, read, remove_discards, remove_file,
    write,
};
use crate::lab::processes;
use link::namespace::Namespace;
use std::io;
use std::path::Path;

impl Inventory {
    /// Removes everything in the inventory, and then the inventory.
    ///
    /// Processes in the lab's namespaces are ended. What is not the lab's own is left alone.
    ///
    /// # Errors
    /// The first thing that could not be removed; the rest is removed all the same, and the inventory stays.
    pub fn remove_everything(self) -> Result<(), InventoryError> {
        remove_lab(&self.folder, &self.content, &self.held)
    }

    /// The same, but keeps the log, if there is one: the lab ended with an error, and the user has not read it yet.
    ///
    /// # Errors
    /// As [`Inventory::remove_everything`].
    pub fn remove_failed(self) -> Result<(), InventoryError> {
        remove_failed(&self.folder, &self.content, &self.held)
    }

    /// The same, for a process that has the inventory somewhere and is about to end because it panicked.
    ///
    /// # Errors
    /// As [`Inventory::remove_everything`].
    pub fn remove_own(name: &str) -> Result<(), InventoryError> {
        let folder = folder_of(name)?;
        let content = read(&folder)?.unwrap_or_default();
        remove_failed(&folder, &content, &[])
    }

    /// Removes everything in the inventory and keeps the inventory, empty, for a new lab.
    ///
    /// # Errors
    /// As [`Inventory::remove_everything`].
    pub fn clear(&mut self) -> Result<(), InventoryError> {
        remove_made(&self.folder, &self.content, &self.held)?;
        self.held.clear();
        self.content = Content { user_namespace: self.content.user_namespace, ..Content::default() };
        remove_file(&self.folder.join("control.sock"))?;
        remove_discards(&self.folder)?;
        self.write()
    }

    /// Removes one station: ends the processes in a namespace that the lab made for it, and gives back what was lent.
    ///
    /// # Errors
    /// What could not be removed; it stays in the inventory, for the end of the lab.
    pub fn remove_station(&mut self, station: &str) -> Result<(), InventoryError> {
        let is_its = |claim: &Claim| claim.whose == station;
        let part = Content {
            namespaces: self.content.namespaces.iter().filter(|claim| is_its(claim)).cloned().collect(),
            outside: self.content.outside.iter().filter(|outside| outside.station == station).cloned().collect(),
            ..Content::default()
        };
        self.content.stations.retain(|port| port.name != station);
        self.content.addresses.retain(|(name, _)| name != station);
        self.content.labels.containers.remove(station);
        self.be_reached_at(self.content.addresses.clone())?;
        self.write()?;
        remove_parts(&part, &self.held)?;
        self.held.retain(|held| !part.namespaces.iter().any(|claim| claim.is(held)));
        self.content.namespaces.retain(|claim| !is_its(claim));
        self.content.outside.retain(|outside| outside.station != station);
        self.write()
    }
}

fn remove_lab(folder: &Path, content: &Content, held: &[Namespace]) -> Result<(), InventoryError> {
    remove_made(folder, content, held)?;
    remove_file(&folder.join(LOG))?;
    remove_rest(folder)?;
    match std::fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // The next lab of this name has taken it.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && folder.join("lock").exists() => Ok(()),
        removed => removed.map_err(file_error("remove", folder)),
    }
}

fn remove_failed(folder: &Path, content: &Content, held: &[Namespace]) -> Result<(), InventoryError> {
    if !folder.join(LOG).exists() {
        return remove_lab(folder, content, held);
    }
    remove_made(folder, content, held)?;
    remove_rest(folder)
}

fn remove_rest(folder: &Path) -> Result<(), InventoryError> {
    remove_discards(folder)?;
    ["control.sock", "lab.json", "lab.json.new", HOSTS, "lock"]
        .iter()
        .try_for_each(|file| remove_file(&folder.join(file)))
}

fn remove_made(folder: &Path, content: &Content, held: &[Namespace]) -> Result<(), InventoryError> {
    // This mark comes before the search for programs: see `check_entered`. An inventory whose folder is gone needs no mark,
    // because no command can enter the lab without it. A full disk is no reason to leave the lab as it is.
    if folder.exists() {
        let _ = write(folder, &Content { ending: true, ..content.clone() });
    }
    remove_parts(content, held)
}

/// Removes what an inventory names, or a part of that.
fn remove_parts(content: &Content, held: &[Namespace]) -> Result<(), InventoryError> {
    let mut result = match processes::end(&content.namespaces) {
        0 => Ok(()),
        left => Err(InventoryError::Programs { left }),
    };
    let mut needed = Vec::new();
    // Last first: what was made on top of something goes before it.
    for outside in content.outside.iter().rev() {
        let claim = content.namespaces.iter().find(|claim| claim.whose == outside.station);
        let named = claim.and_then(Claim::open_named);
        let station = named.as_ref().or_else(|| held.iter().find(|held| claim.is_some_and(|claim| claim.is(held))));
        if let Err(error) = outside.undo(station) {
            // An interface without hardware would vanish with the namespace that it is in.
            needed.push(&outside.station);
            result = result.and(Err(error.into()));
        }
    }
    for claim in content.namespaces.iter().filter(|claim| !needed.contains(&&claim.whose)) {
        let Some(name) = &claim.name else { continue };
        let removed = match claim.open_named() {
            Some(_) => Namespace::remove_named(name, claim.identity()),
            None => Namespace::remove_leftover(name),
        };
        if let Err(source) = removed {
            result = result.and(Err(InventoryError::Namespace { name: name.clone(), source }));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Commands look at a lab that goes and comes again: they leave no file behind, and no removal fails of them.
    #[test]
    fn a_record_that_is_looked_at_goes_whole() {
        let name = format!("t{}-0", std::process::id());
        if let Err(error) = Inventory::take(&name) {
            return eprintln!("SKIPPED: {error}");
        }
        let (folder, done) = (folder_of(&name).expect("own"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let _ = Inventory::of_running(&name);
                    }
                });
            }
            let mut left = 0;
            for _ in 0..1000 {
                let removed = Inventory::take(&name).expect("only looked at").remove_everything();
                left += u32::from(removed.is_err() || folder.exists());
            }
            done.store(true, Ordering::Relaxed);
            assert_eq!(left, 0, "records left behind");
        });
    }
}
