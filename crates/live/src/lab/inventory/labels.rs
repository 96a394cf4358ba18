//! What a container engine calls a lab and its stations: the driver says so once the engine has told it, which may be after
//! the lab and the station are there.

use super::{Content, Inventory, InventoryError, State};
use serde::{Deserialize, Serialize};
use sim::files::event_log::Container;
use std::collections::BTreeMap;

/// The least digits by which a container's identifier is known: as many as engines print.
pub const LEAST_DIGITS: usize = 12;

/// The labels of a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// The name of its network.
    pub network: Option<String>,
    /// The container of each station.
    pub containers: BTreeMap<String, Container>,
}

impl Inventory {
    /// Notes the name of the network that the lab is.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn label_network(&mut self, name: &str) -> Result<(), InventoryError> {
        self.content.labels.network = Some(name.to_owned());
        self.write()
    }

    /// Notes the container that a station is.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn label(&mut self, station: &str, container: Container) -> Result<(), InventoryError> {
        self.content.labels.containers.insert(station.to_owned(), container);
        self.write()
    }

    /// The only lab whose network is called `label`, unless a lab has this name.
    pub fn labelled(label: &str) -> Option<String> {
        let labs = Inventory::all().unwrap_or_default();
        let up = || labs.iter().filter(|lab| lab.state == State::Up);
        let mut labelled = up().filter(|lab| lab.content.labels.network.as_deref() == Some(label));
        let lab = labelled.next().filter(|_| labelled.next().is_none() && !up().any(|lab| lab.name == label));
        lab.map(|lab| lab.name.clone())
    }
}

impl Content {
    /// The name of the station that `given` means: one of this name; else that of the container of this name, or of the only
    /// one whose identifier begins so. Without any it is `given`.
    pub fn station_meant(&self, given: &str) -> String {
        if self.stations.iter().any(|port| port.name == given) {
            return given.to_owned();
        }
        let containers = || self.labels.containers.iter();
        let named = containers().find(|(_, container)| container.name == given);
        let begins =
            |(_, container): &(&String, &Container)| given.len() >= LEAST_DIGITS && container.id.starts_with(given);
        let only = || {
            let mut begun = containers().filter(begins);
            begun.next().filter(|_| begun.next().is_none())
        };
        named.or_else(only).map_or(given, |(station, _)| station).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::protocol::Port;

    #[test]
    fn a_station_is_meant_by_its_name_its_containers_and_the_begin_of_an_id() {
        let container = |name: &str, id: &str| Container { name: name.to_owned(), id: id.to_owned() };
        let [one, other, third] = ["0123456789abcd01", "0123456789abcd02", "0123456789abff03"];
        let containers = [("c1", "web", one), ("c2", "shop_db_1", other), ("web", "c1", third)];
        let stations = containers.iter().map(|(station, ..)| Port::of_kernel(station, [2, 0, 0, 0, 0, 1])).collect();
        let containers = containers.map(|(station, name, id)| (station.to_owned(), container(name, id)));
        let labels = Labels { network: None, containers: containers.into_iter().collect() };
        let content = Content { stations, labels, ..Content::default() };
        for (given, meant) in [
            ("c1", "c1"),
            ("web", "web"),
            ("shop_db_1", "c2"),
            (other, "c2"),
            ("0123456789abf", "web"),
            ("0123456789ab", "0123456789ab"),
            ("0123456789abcd", "0123456789abcd"),
            ("01234", "01234"),
            ("nobody", "nobody"),
        ] {
            assert_eq!(content.station_meant(given), meant);
        }
    }
}
