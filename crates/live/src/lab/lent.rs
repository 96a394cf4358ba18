//! What a lab has or changes outside its own namespaces: written into its inventory first, undone at its end.
//!
//! The namespace that ethbus was started in is called *home* here. An entry of the inventory is followed only if its
//! object is still as written: an interface where the lab put it, a bridge with the lab's own address.

use crate::lab::OUTSIDE;
use link::MacAddr;
use link::lent::{LendError, Lent};
use link::namespace::{Namespace, NamespaceError, NamespaceId};
use link::netlink::{LinkError, Netlink};
use say::say;
use serde::{Deserialize, Serialize};

/// One thing outside, and which station it belongs to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outside {
    /// The station.
    pub station: String,
    /// Where it is, or was.
    pub home: Home,
    /// The kind of object, and what identifies it.
    pub what: What,
}

/// A namespace that is not the lab's, by what the kernel gives to no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    device: u64,
    inode: u64,
    cookie: u64,
}

/// See [`Outside`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Somebody's interface.
    Interface {
        /// As it was.
        #[serde(with = "LentText")]
        lent: Lent,
        /// It has been moved into the station.
        taken: bool,
    },
    /// A bridge that the lab made.
    Bridge {
        /// Its name.
        name: String,
        /// Its address, which tells it from another of that name.
        mac: [u8; 6],
    },
    /// The lab's own port of a bridge.
    BridgePort {
        /// Its name.
        name: String,
        /// Its address, likewise.
        mac: [u8; 6],
    },
    /// The station's interface in a namespace that ethbus has not made. It vanishes soon after the bus's end of the link.
    StandIn {
        /// Its name.
        name: String,
        /// Its address, likewise.
        mac: [u8; 6],
    },
    /// The end of a tunnel, in the station. It vanishes with the station, but not at once, and until then no other
    /// tunnel can have its number.
    Tunnel,
}

/// A [`Lent`] as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Lent")]
struct LentText {
    name: String,
    index: u32,
    mac: [u8; 6],
    hardware: bool,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    other_end: Option<u32>,
    mtu: u32,
    up: bool,
    bridge: Option<String>,
    gro: bool,
    lro: bool,
    settings: Vec<(String, String)>,
    addresses: Vec<Vec<u8>>,
    routes: Vec<Vec<u8>>,
    #[serde(default)]
    neighbours: Vec<Vec<u8>>,
    shared_routes: usize,
    noted: u64,
}

impl Home {
    /// Of a namespace.
    ///
    /// # Errors
    /// A kernel that does not tell.
    pub fn of(namespace: &Namespace) -> Result<Home, NamespaceError> {
        let NamespaceId { device, inode } = namespace.identity();
        Ok(Home { device, inode, cookie: namespace.cookie()? })
    }

    /// The namespace, if it is still there.
    pub fn find(self) -> Option<Namespace> {
        Namespace::find(NamespaceId { device: self.device, inode: self.inode }, self.cookie)
    }
}

/// Why something outside could not be made what it was.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {name}")]
pub struct UndoError {
    action: &'static str,
    name: String,
    source: LendError,
}

impl Outside {
    /// Whether this is the interface of this station, in a namespace that ethbus has not made.
    pub fn is_stand_in(&self, station: &str) -> bool {
        self.station == station && matches!(self.what, What::StandIn { .. })
    }

    /// Makes undone what was done outside. `station` is the station's namespace, if that is still there.
    ///
    /// # Errors
    /// What was lent cannot be moved back; the station's namespace must stay, or it would be lost.
    pub fn undo(&self, station: Option<&Namespace>) -> Result<(), UndoError> {
        let (action, name, done) = match &self.what {
            What::Interface { lent, taken } => ("give back", &lent.name, self.give_back(lent, *taken, station)),
            What::Bridge { name, mac } => ("remove", name, self.remove(name, *mac, "bridge")),
            What::BridgePort { name, mac } | What::StandIn { name, mac } => {
                ("remove", name, self.remove(name, *mac, "veth"))
            }
            What::Tunnel => ("remove the tunnel of", &self.station, remove_tunnel(station)),
        };
        done.map_err(|source| UndoError { action, name: name.clone(), source })
    }

    /// Finds the interface in one of three places: in the station; at home already, if an earlier return was stopped
    /// half-way; or, if a user removed the station's namespace by hand, where the kernel puts hardware.
    fn give_back(&self, lent: &Lent, taken: bool, station: Option<&Namespace>) -> Result<(), LendError> {
        let home = self.home.find();
        let troubles = match station {
            Some(station) if lent.is_in(station, OUTSIDE, home.as_ref())? => {
                lent.give_back(station, OUTSIDE, &self.home_or_here(home, lent)?)?
            }
            _ if !taken => return Ok(()),
            _ => {
                let home = self.home_or_here(home, lent)?;
                let places = [Ok(home), Namespace::of_first_process()];
                let mut found = places.iter().flatten().map(|place| Ok((place, lent.find_at(place)?)));
                let found: Option<Result<_, LendError>> = found.find(|found| !matches!(found, Ok((_, None))));
                match found.transpose()? {
                    Some((place, Some(index))) => lent.restore(place, index)?,
                    _ => vec![
                        "it is nowhere to be found; an interface without hardware vanishes with its namespace"
                            .to_owned(),
                    ],
                }
            }
        };
        troubles
            .iter()
            .for_each(|trouble| say(&format!("ethbus: warning: {} is given back, but: {trouble}\n", lent.name)));
        Ok(())
    }

    fn home_or_here(&self, home: Option<Namespace>, lent: &Lent) -> Result<Namespace, LendError> {
        if let Some(home) = home {
            return Ok(home);
        }
        say(&format!(
            "ethbus: warning: the network namespace that {} came from is gone: it is given to the one that this command runs in\n",
            lent.name
        ));
        Ok(Namespace::current()?)
    }

    /// Removes an interface from home, if it is the lab's own.
    fn remove(&self, name: &str, mac: [u8; 6], kind: &str) -> Result<(), LendError> {
        // With its namespace it is gone too.
        let Some(home) = self.home.find() else { return Ok(()) };
        let mut netlink = Netlink::in_namespace(&home)?;
        let Some(found) = netlink.link_by_name(name)? else { return Ok(()) };
        if found.kind.as_deref() != Some(kind) || found.mac != MacAddr::from(mac) {
            say(&format!("ethbus: warning: {name} is not as ethbus made it any more, so it stays\n"));
            return Ok(());
        }
        delete(&mut netlink, found.index)
    }
}

fn remove_tunnel(station: Option<&Namespace>) -> Result<(), LendError> {
    let Some(station) = station else { return Ok(()) };
    let mut netlink = Netlink::in_namespace(station)?;
    match netlink.link_by_name(OUTSIDE)? {
        Some(tunnel) => delete(&mut netlink, tunnel.index),
        None => Ok(()),
    }
}

/// One that vanishes meanwhile is what was wanted.
fn delete(netlink: &mut Netlink, index: u32) -> Result<(), LendError> {
    match netlink.delete(index) {
        Err(LinkError::NoInterface { .. }) => Ok(()),
        deleted => Ok(deleted?),
    }
}
