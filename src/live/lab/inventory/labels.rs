//! What a container engine calls a lab and its stations. The engine tells it after the lab and the station are there, so labels
//! are a file of their own beside the lab's record, which the supervisor alone writes.

use super::{Inventory, InventoryError, file_error, folder_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;

/// The file in the lab's folder.
pub(super) const LABELS: &str = "labels.json";
/// The next one, until it is whole.
pub(super) const NEW_LABELS: &str = "labels.json.new";

/// The labels of a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// The name of its network.
    pub network: Option<String>,
    /// The container of each station.
    pub containers: BTreeMap<String, Container>,
}

/// A container, as its engine knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Its full name.
    pub name: String,
    /// Its identifier.
    pub id: String,
}

impl Inventory {
    /// The labels of a lab; none of a lab that has none.
    pub fn labels(lab: &str) -> Labels {
        let text = folder_of(lab).ok().and_then(|folder| fs::read(folder.join(LABELS)).ok());
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Gives a lab its labels.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn label(lab: &str, labels: &Labels) -> Result<(), InventoryError> {
        let folder = folder_of(lab)?;
        let (path, new) = (folder.join(LABELS), folder.join(NEW_LABELS));
        let text = serde_json::to_vec(labels).expect("names");
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(file_error("write", &path))
    }

    /// The only lab whose network is called `label`, unless a lab has this name.
    pub fn labelled(label: &str) -> Option<String> {
        let up = Inventory::names_up();
        let mut labs = up.iter().filter(|lab| Inventory::labels(lab).network.as_deref() == Some(label));
        let lab = labs.next().filter(|_| labs.next().is_none() && !up.iter().any(|lab| lab == label));
        lab.cloned()
    }

    /// The station of a lab that `given` means: one of this name, or else the one of the container of this name.
    pub fn station_meant(lab: &str, given: &str) -> String {
        let is_station = |content: super::Content| content.stations.iter().any(|port| port.name == given);
        let labelled = || Inventory::labels(lab).containers.into_iter().find(|(_, container)| container.name == given);
        match Inventory::of_running(lab).is_ok_and(is_station) {
            true => given.to_owned(),
            false => labelled().map_or_else(|| given.to_owned(), |(station, _)| station),
        }
    }
}
