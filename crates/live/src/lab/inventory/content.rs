//! The content of a lab's inventory.

use super::Labels;
use crate::lab::BUS;
use crate::lab::lent::Outside;
use crate::plane::protocol::Port;
use link::namespace::{Namespace, NamespaceId};
use link::netlink::Netlink;
use serde::{Deserialize, Serialize};

/// The content of `lab.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Content {
    /// The namespaces that the lab has made or is about to make.
    pub namespaces: Vec<Claim>,
    /// Objects outside these namespaces that the lab has, changes, or is about to.
    #[serde(default)]
    pub outside: Vec<Outside>,
    /// The stations, once the lab is up.
    pub stations: Vec<Port>,
    /// The addresses of each station, once the lab is up.
    #[serde(default)]
    pub addresses: Vec<(String, Vec<String>)>,
    /// What a container engine calls it and its stations.
    #[serde(default)]
    pub labels: Labels,
    /// Who brought it up, as [`Owner::person`](super::super::owner::Owner::person) has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<u32>,
    /// The medium's rate in bits per second.
    pub rate: u64,
    /// The lab is being taken down: programs in its stations are ended, and no command may start another.
    #[serde(default)]
    pub(super) ending: bool,
    /// Its stations are kernels in virtual time.
    #[serde(default)]
    pub is_virtual: bool,
    /// The user namespace of a lab without root, whose namespaces have no names: device and inode.
    #[serde(default)]
    pub(super) user_namespace: Option<(u64, u64)>,
}

impl Content {
    /// The namespace, not made by ethbus, that a station's interface is in now: an engine may have moved the interface there
    /// after the station joined.
    pub fn home_of(&self, station: &str) -> Option<Namespace> {
        self.interface_of(station).map(|(home, _)| home)
    }

    /// The addresses of a station: those that it has from the lab, or else from the engine that its interface was handed to.
    pub fn addresses_of(&self, station: &str) -> Vec<String> {
        let known = self.addresses.iter().find(|(known, _)| known == station).map(|(_, addresses)| addresses.clone());
        known.filter(|addresses| !addresses.is_empty()).unwrap_or_else(|| {
            let by_engine = self.interface_of(station).and_then(|(home, index)| {
                let addresses = Netlink::in_namespace(&home).ok()?.addresses(index).ok()?;
                Some(addresses.iter().map(ToString::to_string).collect())
            });
            by_engine.unwrap_or_default()
        })
    }

    /// The same namespace, and the number of the interface there.
    fn interface_of(&self, station: &str) -> Option<(Namespace, u32)> {
        self.outside.iter().find(|outside| outside.is_stand_in(station))?;
        let bus = self.namespaces.iter().find(|claim| claim.whose == BUS)?.open_named()?;
        let mut netlink = Netlink::in_namespace(&bus).ok()?;
        let (index, number) = netlink.link_by_name(station).ok()??.lower_elsewhere?;
        Some((netlink.namespace_of(number)?, index))
    }
}

/// One namespace of a lab.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// The station, or `bus`.
    pub whose: String,
    /// Its name in `/run/netns`; a lab without root has none there.
    pub name: Option<String>,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// What the kernel gives to no other namespace until the next boot, as it does with inodes.
    pub(super) cookie: u64,
}

impl Claim {
    /// What distinguishes it from a namespace to which another program gave the same name.
    pub fn identity(&self) -> NamespaceId {
        NamespaceId { device: self.device, inode: self.inode }
    }

    /// Whether this is the namespace that the lab made.
    pub fn is(&self, found: &Namespace) -> bool {
        found.identity() == self.identity() && found.cookie().is_ok_and(|cookie| cookie == self.cookie)
    }

    /// The namespace that the lab made, by its name; `None` if it has none, or the name is another's now.
    pub fn open_named(&self) -> Option<Namespace> {
        let found = Namespace::open_named(self.name.as_deref()?).ok()?;
        self.is(&found).then_some(found)
    }
}
