//! What a container engine calls a lab and its stations. The engine tells it after the lab and the station are there, so labels
//! are a file of their own beside the lab's record, which the supervisor alone writes.

use super::{Content, Inventory, InventoryError, folder_of, put};
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
        put(&folder_of(lab)?, LABELS, labels)
    }

    /// The only lab whose network is called `label`, unless a lab has this name.
    pub fn labelled(label: &str) -> Option<String> {
        let up = Inventory::names_up();
        let mut labs = up.iter().filter(|lab| Inventory::labels(lab).network.as_deref() == Some(label));
        let lab = labs.next().filter(|_| labs.next().is_none() && !up.iter().any(|lab| lab == label));
        lab.cloned()
    }

    /// The station of a lab with this content that `given` means: one of this name, or else the one of the container of
    /// this name.
    pub fn station_meant(lab: &str, content: &Content, given: &str) -> String {
        let is_given = |container: &Container| container.name == given;
        let labelled = || Inventory::labels(lab).containers.into_iter().find(|(_, container)| is_given(container));
        match content.stations.iter().any(|port| port.name == given) {
            true => given.to_owned(),
            false => labelled().map_or_else(|| given.to_owned(), |(station, _)| station),
        }
    }
}
