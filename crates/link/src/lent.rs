//! An interface from outside that is lent to a lab: its state, so that it can be given back unchanged.
//!
//! ```text
//!   home           Lent::look      what it is: to be written down before anything is changed
//!     │ take       ─────────►      in the lab's namespace, down, without addresses and routes: so the kernel moves it
//!     ▼ give_back  ◄─────────      name, index, MTU, bridge, settings, up, addresses, routes: in this order
//! ```
//! The kernel forgets two things when an interface is moved that are not recorded here: memberships of groups, and its
//! settings as a port of a bridge. An interface with a queueing discipline of its own, to which filters belong, is not
//! lent.

use std::time::{Duration, Instant};

use crate::clock::monotonic_nanos;
use crate::ethtool::{EthtoolError, ReceiveOffloads};
use crate::namespace::{Namespace, NamespaceError};
use crate::netlink::{LinkError, LinkInfo, Netlink};
use crate::sysctl::{restore_settings, settings_of};

/// How long an address may take before a route can use it: IPv6 first checks for duplicates.
const PATIENCE: Duration = Duration::from_secs(3);
/// The prefix, followed by its index, of an interface whose name was taken meanwhile.
const SPARE_NAME: &str = "lent";

/// An interface as it was before it was lent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lent {
    /// Its name.
    pub name: String,
    /// Its index.
    pub index: u32,
    /// Its hardware address.
    pub mac: [u8; 6],
    /// The interface has none of the kernel's virtual drivers: it is hardware.
    pub hardware: bool,
    /// The interface's kind, like `veth`; `None` for hardware.
    pub kind: Option<String>,
    /// Index of its other end or of the interface below it, if that is in the same namespace. A user without rights
    /// there cannot make an interface with that property.
    pub other_end: Option<u32>,
    /// Its MTU in octets.
    pub mtu: u32,
    /// Whether it was up.
    pub up: bool,
    /// The bridge that it was a port of.
    pub bridge: Option<String>,
    /// Generic receive offload.
    pub gro: bool,
    /// Large receive offload.
    pub lro: bool,
    /// Its settings in `/proc/sys/net`, with their files.
    pub settings: Vec<(String, String)>,
    /// Its addresses, as messages of the kernel.
    pub addresses: Vec<Vec<u8>>,
    /// Its routes, likewise.
    pub routes: Vec<Vec<u8>>,
    /// Its static neighbours, likewise.
    pub neighbours: Vec<Vec<u8>>,
    /// The number of routes over several ways that include it. They do not come back.
    pub shared_routes: usize,
    /// When this was noted, in seconds of the monotonic clock: some addresses have a lifetime.
    pub noted: u64,
}

/// Why an interface cannot be lent, or not given back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LendError {
    /// There is no such interface.
    #[error("there is no interface `{name}` here; there {}", existing(there))]
    Absent {
        /// The name asked for.
        name: String,
        /// The existing interfaces.
        there: Vec<String>,
    },
    /// The loopback belongs to its namespace.
    #[error(
        "`{name}` is the loopback of this network namespace, which the kernel does not move: choose another interface"
    )]
    Loopback {
        /// Its name.
        name: String,
    },
    /// Without it, the machine may become unreachable.
    #[error(
        "`{name}` carries a default route, and this machine may lose its network: choose another interface, or insist with --even-default-route"
    )]
    DefaultRoute {
        /// Its name.
        name: String,
    },
    /// Other interfaces would vanish with it.
    #[error("`{name}` has other interfaces on top of it ({}), which would vanish: remove them first", above.join(", "))]
    Below {
        /// Its name.
        name: String,
        /// The interfaces above it.
        above: Vec<String>,
    },
    /// It is a part of an interface that cannot be restored.
    #[error(
        "`{name}` is a part of `{controller}`, which is no bridge: take it out first, `ip link set {name} nomaster`"
    )]
    PartOf {
        /// Its name.
        name: String,
        /// The interface that it is a part of.
        controller: String,
    },
    /// The kernel would forget its traffic shaping.
    #[error(
        "`{name}` has queueing disciplines of its own ({}), which the kernel would forget, with the filters on them: remove them \
         first, `tc qdisc del dev {name} root` or `… ingress`, and set them again afterwards",
        disciplines.join(", ")
    )]
    Shaped {
        /// Its name.
        name: String,
        /// Its disciplines.
        disciplines: Vec<String>,
    },
    /// Another interface has taken its place.
    #[error(
        "what is called `{there}` there is not `{name}`: nothing is moved; see what it is, and remove it or move it by hand"
    )]
    Stranger {
        /// Its name.
        name: String,
        /// The name of the other.
        there: String,
    },
    /// It is a bridge, which the kernel does not let any user move.
    #[error(
        "`{name}` is a bridge, which the kernel does not move: write `kind = \"bridge\"` and `bridge = \"{name}\"` in the scenario"
    )]
    IsBridge {
        /// Its name.
        name: String,
    },
    /// It carries no Ethernet frames.
    #[error(
        "`{name}` has no hardware address of six octets, so it carries no Ethernet frames: choose another interface"
    )]
    NoEthernet {
        /// Its name.
        name: String,
    },
    /// The kernel refused something.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// Offloads could not be read.
    #[error(transparent)]
    Ethtool(#[from] EthtoolError),
    /// A namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

fn existing(names: &[String]) -> String {
    match names {
        [] => "is none that could be lent".to_owned(),
        [one] => format!("is {one}"),
        several => format!("are {}", several.join(", ")),
    }
}

impl Lent {
    /// Reads the state of the interface `name` of the calling thread's namespace. Changes nothing.
    ///
    /// Refuses interfaces that could not be given back, and those with a default route, unless `even_default_route`.
    pub fn look(name: &str, even_default_route: bool) -> Result<Lent, LendError> {
        let mut netlink = Netlink::open()?;
        let links = netlink.links()?;
        let named = || name.to_owned();
        let Some(link) = links.iter().find(|link| link.name == name) else {
            let there = links.iter().filter(|link| link.name != "lo").map(|link| link.name.clone()).collect();
            return Err(LendError::Absent { name: named(), there });
        };
        let bridge = refuse_what_cannot_be_lent(link, &links)?;
        let routes = netlink.saved_routes(link.index)?;
        if routes.default && !even_default_route {
            return Err(LendError::DefaultRoute { name: named() });
        }
        let disciplines = netlink.disciplines(link.index)?;
        if !disciplines.is_empty() {
            return Err(LendError::Shaped { name: named(), disciplines });
        }
        let offloads = ReceiveOffloads::of(name)?;
        Ok(Lent {
            name: named(),
            index: link.index,
            mac: link.mac.octets(),
            hardware: link.kind.is_none(),
            kind: link.kind.clone(),
            other_end: link.lower,
            mtu: link.mtu,
            up: link.up,
            bridge,
            gro: offloads.gro,
            lro: offloads.lro,
            settings: settings_of(name),
            addresses: netlink.saved_addresses(link.index)?,
            routes: routes.own,
            neighbours: netlink.saved_neighbours(link.index)?,
            shared_routes: routes.shared,
            noted: seconds_now(),
        })
    }

    /// Moves the interface from the calling thread's namespace into `lab`, where its name must be free, and calls it
    /// `name` there. It is down then, and receives frames one by one.
    pub fn take(&self, lab: &Namespace, name: &str) -> Result<(), LendError> {
        Netlink::open()?.move_to(self.index, lab, None, None)?;
        let mut there = Netlink::in_namespace(lab)?;
        let index = there.link_by_name(&self.name)?.map_or(self.index, |link| link.index);
        there.rename(index, name)?;
        lab.run(|| ReceiveOffloads::OFF.apply(name))??;
        Ok(())
    }

    /// Whether it is in `lab`: under the name that it has there, or under its own, if the lender was stopped half-way.
    ///
    /// `home` is the namespace that it came from, if that still exists. Another interface in its place is an error.
    pub fn is_in(&self, lab: &Namespace, name: &str, home: Option<&Namespace>) -> Result<bool, LendError> {
        Ok(self.find_in(&mut Netlink::in_namespace(lab)?, name, home)?.is_some())
    }

    /// Moves the interface from `lab` to `home` and restores its state. Returns in words what it could not restore.
    ///
    /// `lab` is ending: another interface with the interface's name there is deleted.
    pub fn give_back(&self, lab: &Namespace, name: &str, home: &Namespace) -> Result<Vec<String>, LendError> {
        let mut there = Netlink::in_namespace(lab)?;
        let Some(link) = self.find_in(&mut there, name, Some(home))? else {
            return Err(LendError::Absent { name: self.name.clone(), there: Vec::new() });
        };
        there.leave_bridge(link.index)?;
        there.set_down(link.index)?;
        let mut troubles = Vec::new();
        let offloads = ReceiveOffloads { gro: self.gro, lro: self.lro };
        if let Err(error) = lab.run(|| offloads.apply(&link.name))? {
            troubles.push(error.to_string());
        }
        if link.name != self.name {
            if let Some(other) = there.link_by_name(&self.name)?.filter(|other| other.name != "lo") {
                there.delete(other.index)?;
            }
            there.rename(link.index, &self.name)?;
        }
        let index = self.move_home(&mut there, &link, home)?;
        troubles.extend(self.restore(home, index)?);
        Ok(troubles)
    }

    /// Moves the interface home, and returns its index there. It keeps its index and its name unless another has them.
    fn move_home(&self, there: &mut Netlink, link: &LinkInfo, home: &Namespace) -> Result<u32, LendError> {
        let mut at_home = Netlink::in_namespace(home)?;
        let before: Vec<u32> = at_home.links()?.iter().map(|link| link.index).collect();
        let free = !before.contains(&self.index);
        let spare = format!("{SPARE_NAME}{}", self.index);
        let old_index = (free && link.index != self.index).then_some(self.index);
        match there.move_to(link.index, home, None, old_index) {
            Err(LinkError::Exists { .. }) => there.move_to(link.index, home, Some(&spare), old_index)?,
            moved => moved?,
        }
        let new = |found: &LinkInfo| !before.contains(&found.index) && found.mac == link.mac;
        let moved = at_home.links()?.into_iter().find(new);
        Ok(moved.ok_or_else(|| LendError::Absent { name: self.name.clone(), there: Vec::new() })?.index)
    }

    /// Its index in `home`, if it is there: under its name, or under the name that the kernel gives to hardware whose
    /// namespace has vanished.
    pub fn find_at(&self, home: &Namespace) -> Result<Option<u32>, LendError> {
        let fallen = format!("dev{}", self.index);
        let names = [self.name.as_str(), &fallen];
        Ok(self
            .find(&mut Netlink::in_namespace(home)?, &names[..if self.hardware { 2 } else { 1 }])?
            .map(|link| link.index))
    }

    /// A user with rights over `lab` and none at home could give an interface this name, to have it moved there. Such a
    /// user cannot make hardware, nor an interface whose other end is at home.
    fn find_in(&self, lab: &mut Netlink, name: &str, home: Option<&Namespace>) -> Result<Option<LinkInfo>, LendError> {
        let found = match lab.link_by_name(name)? {
            Some(link) => Some(link),
            None => self.find(lab, &[&self.name])?,
        };
        let Some(link) = found else { return Ok(None) };
        if self.is_it(&link, lab, home)? {
            return Ok(Some(link));
        }
        Err(LendError::Stranger { name: self.name.clone(), there: link.name })
    }

    fn is_it(&self, link: &LinkInfo, lab: &mut Netlink, home: Option<&Namespace>) -> Result<bool, LendError> {
        let is_of_kind = link.kind.is_none() == self.hardware && (self.kind.is_none() || link.kind == self.kind);
        let Some(other_end) = self.other_end.filter(|_| is_of_kind) else { return Ok(is_of_kind) };
        let Some(home) = home else { return Ok(false) };
        let number = lab.number_of(home)?;
        Ok(link.lower_elsewhere.is_some_and(|(index, namespace)| index == other_end && number == Some(namespace)))
    }

    fn find(&self, netlink: &mut Netlink, names: &[&str]) -> Result<Option<LinkInfo>, LendError> {
        for name in names {
            if let Some(link) = netlink.link_by_name(name)?.filter(|link| link.mac.octets() == self.mac) {
                return Ok(Some(link));
            }
        }
        Ok(None)
    }

    /// Restores the state of the interface with this index of `home`. Returns in words what it could not restore.
    pub fn restore(&self, home: &Namespace, index: u32) -> Result<Vec<String>, LendError> {
        home.run(|| self.restore_here(index))?
    }

    fn restore_here(&self, index: u32) -> Result<Vec<String>, LendError> {
        let mut netlink = Netlink::open()?;
        let mut troubles = Vec::new();
        let mut note = |result: Result<(), LinkError>| {
            if let Err(error) = result {
                troubles.push(in_full(&error));
            }
        };
        let name = netlink.links()?.into_iter().find(|link| link.index == index).map(|link| link.name);
        let mut name = name.unwrap_or_default();
        if name != self.name && netlink.rename(index, &self.name).is_ok() {
            name = self.name.clone();
        }
        note(netlink.set_mac(index, self.mac.into()));
        note(netlink.set_mtu(index, self.mtu));
        if let Some(bridge) = &self.bridge {
            let joined = netlink.link_by_name(bridge).and_then(|found| match found {
                Some(bridge) => netlink.set_bridge(index, bridge.index),
                None => Err(LinkError::NoInterface { interface: bridge.clone() }),
            });
            note(joined);
        }
        let unwritten = restore_settings(&name, &self.settings);
        if self.up {
            note(netlink.set_up(index));
        }
        let seconds = u32::try_from(seconds_now().saturating_sub(self.noted)).unwrap_or(u32::MAX);
        self.addresses.iter().for_each(|address| note(netlink.restore_address(index, address, seconds)));
        self.neighbours.iter().for_each(|neighbour| note(netlink.restore_neighbour(index, neighbour)));
        self.restore_routes(&mut netlink, index).into_iter().for_each(|error| note(Err(error)));
        if name != self.name {
            troubles.push(format!("its name is another interface's now, so it is called {name}"));
        }
        troubles.extend(unwritten.into_iter().map(|file| format!("{file} cannot be written")));
        Ok(troubles)
    }

    /// Tries a route again if it needs an address that is not usable yet; returns why others cannot be made.
    fn restore_routes(&self, netlink: &mut Netlink, index: u32) -> Vec<LinkError> {
        let begin = Instant::now();
        let mut left: Vec<&Vec<u8>> = self.routes.iter().collect();
        loop {
            let mut errors = Vec::new();
            left.retain(|route| netlink.restore_route(index, route).map_err(|error| errors.push(error)).is_err());
            if left.is_empty() || begin.elapsed() > PATIENCE {
                return errors;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// The error and its causes.
fn in_full(error: &LinkError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error} ({source})"),
        None => error.to_string(),
    }
}

fn seconds_now() -> u64 {
    monotonic_nanos() / 1_000_000_000
}

/// Checks that it may be lent; gives the name of its bridge, if it is a port of one.
fn refuse_what_cannot_be_lent(link: &LinkInfo, links: &[LinkInfo]) -> Result<Option<String>, LendError> {
    let name = || link.name.clone();
    if link.name == "lo" {
        return Err(LendError::Loopback { name: name() });
    }
    if link.kind.as_deref() == Some("bridge") {
        return Err(LendError::IsBridge { name: name() });
    }
    if link.mac == pnet_base::MacAddr::zero() {
        return Err(LendError::NoEthernet { name: name() });
    }
    // The peer of a veth refers to it too, and stays.
    let on_top = |other: &&LinkInfo| other.lower == Some(link.index) && other.kind.as_deref() != Some("veth");
    let above: Vec<String> = links.iter().filter(on_top).map(|other| other.name.clone()).collect();
    if !above.is_empty() {
        return Err(LendError::Below { name: name(), above });
    }
    let controller = link.controller.and_then(|index| links.iter().find(|other| other.index == index));
    match controller {
        Some(controller) if controller.kind.as_deref() != Some("bridge") => {
            Err(LendError::PartOf { name: name(), controller: controller.name.clone() })
        }
        controller => Ok(controller.map(|bridge| bridge.name.clone())),
    }
}
