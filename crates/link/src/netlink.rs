//! Links by netlink: veth pairs, settings and counters of interfaces, and changes of carrier.
//!
//! Each request waits for the kernel's answer. A [`Netlink`] acts in the namespace in which it was opened, whichever
//! thread calls it.
//!
//! One file above 500 lines because each request is one method beside the attributes that it sends.

mod monitor;
mod name;
mod outside;
mod program;
mod request;
pub(crate) mod saved;
mod watch;

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{
    InfoBridge, InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo as LinkDetail, LinkMessage,
};
use netlink_packet_route::nsid::{NsidAttribute, NsidMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use pnet_base::MacAddr;

use crate::namespace::{Namespace, NamespaceError};
use request::{Refusal, Transport};

pub use monitor::{LinkChange, LinkMonitor, MonitorError};
pub use name::{NAME_OCTETS_MAX, NameError, check_interface_name};
pub use outside::Vxlan;
pub use watch::{LinkNews, LinkState, LinkWatch};

/// Why something could not be done with a link.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// No interface can have this name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// An interface of this name exists already: choose another name, or delete it.
    #[error("an interface called {interface} exists already")]
    Exists {
        /// The interface asked for.
        interface: String,
    },
    /// There is no such interface in this namespace.
    #[error("there is no interface {interface}")]
    NoInterface {
        /// The interface asked for.
        interface: String,
    },
    /// The process lacks CAP_NET_ADMIN in this namespace.
    #[error("{call} {interface} needs CAP_NET_ADMIN")]
    NotPermitted {
        /// What was refused.
        call: &'static str,
        /// The interface of the request.
        interface: String,
    },
    /// The kernel refused for another reason.
    #[error("{call} {interface} failed{}", explanation(.message))]
    Refused {
        /// What was refused.
        call: &'static str,
        /// The interface of the request.
        interface: String,
        /// The kernel's own words, if it gave any.
        message: Option<String>,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The request could not be sent, or the answer could not be read.
    #[error("{call} {interface}: netlink failed")]
    Netlink {
        /// The request.
        call: &'static str,
        /// The interface of the request.
        interface: String,
        /// The cause.
        source: io::Error,
    },
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

fn explanation(message: &Option<String>) -> String {
    message.as_ref().map(|text| format!(": {text}")).unwrap_or_default()
}

/// An interface, by its number or by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface<'a> {
    /// The interface's index in its namespace.
    Index(u32),
    /// The interface's name in its namespace.
    Name(&'a str),
}

impl From<u32> for Interface<'_> {
    fn from(index: u32) -> Self {
        Interface::Index(index)
    }
}

impl<'a> From<&'a str> for Interface<'a> {
    fn from(name: &'a str) -> Self {
        Interface::Name(name)
    }
}

impl std::fmt::Display for Interface<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Interface::Index(index) => write!(formatter, "number {index}"),
            Interface::Name(name) => formatter.write_str(name),
        }
    }
}

/// The two ends of a veth pair. Indices count per namespace, so they may be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VethPair {
    /// Index of the bus's end, in the namespace of the [`Netlink`] that made it.
    pub bus_index: u32,
    /// Index of the station's end, in the station's namespace.
    pub station_index: u32,
    /// The number by which the bus's namespace knows the station's; `None` if both ends are in one namespace.
    pub namespace: Option<i32>,
}

/// What the kernel reports about an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkInfo {
    /// Index in its namespace.
    pub index: u32,
    /// Name in its namespace.
    pub name: String,
    /// The interface's kind, like `veth` or `bridge`; `None` for hardware and for the loopback.
    pub kind: Option<String>,
    /// Index of the bridge or other interface whose port it is.
    pub controller: Option<u32>,
    /// Index of the interface below it, or of a veth's peer, if that is in the same namespace.
    pub lower: Option<u32>,
    /// The same if it is in another namespace: its index there, and the number by which this namespace knows that one.
    pub lower_elsewhere: Option<(u32, i32)>,
    /// Hardware address; zero where there is none.
    pub mac: MacAddr,
    /// Largest payload, in octets, without the Ethernet header.
    pub mtu: u32,
    /// The largest that it may be given. A veth's is below the largest of all as long as the other end has an XDP program.
    pub max_mtu: u32,
    /// The interface is set up (IFF_UP).
    pub up: bool,
    /// The interface has carrier (IFF_LOWER_UP; for a veth: both ends are up), and the kernel has acted on that
    /// (IFF_RUNNING). Before that the kernel drops what is sent.
    pub carrier: bool,
    /// The number of requests to receive everything, such as running captures.
    pub promiscuity: u32,
    /// Frames received since it was made.
    pub rx_packets: u64,
    /// Frames sent since it was made.
    pub tx_packets: u64,
    /// Frames received and then dropped, since it was made.
    pub rx_dropped: u64,
    /// Frames dropped on the way out, since it was made.
    pub tx_dropped: u64,
    /// Frames that could not be sent for another reason, such as those of a tunnel without a route, since it was made.
    pub tx_errors: u64,
}

/// A blocking netlink socket for links and addresses of one namespace.
#[derive(Debug)]
pub struct Netlink {
    transport: Transport,
}

impl Netlink {
    /// Opens a socket in the calling thread's namespace.
    pub fn open() -> Result<Netlink, LinkError> {
        let transport = Transport::open().map_err(|source| LinkError::Netlink {
            call: "opening",
            interface: "socket".to_owned(),
            source,
        })?;
        Ok(Netlink { transport })
    }

    /// Opens a socket in `namespace`; the calling thread stays where it is.
    pub fn in_namespace(namespace: &Namespace) -> Result<Netlink, LinkError> {
        namespace.run(Netlink::open)?
    }

    /// Makes a veth pair: `bus_name` here, and its peer in `station`, with its name and address.
    ///
    /// Neither end is set up. If anything fails, neither end remains.
    pub fn create_veth(
        &mut self,
        bus_name: &str,
        station: &Namespace,
        station_name: &str,
        station_mac: MacAddr,
    ) -> Result<VethPair, LinkError> {
        check_interface_name(bus_name)?;
        check_interface_name(station_name)?;
        let mut peer = LinkMessage::default();
        peer.attributes = vec![
            LinkAttribute::IfName(station_name.to_owned()),
            LinkAttribute::Address(station_mac.octets().to_vec()),
            LinkAttribute::NetNsFd(station.as_fd().as_raw_fd()),
        ];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(bus_name.to_owned()),
            LinkAttribute::LinkInfo(vec![
                LinkDetail::Kind(InfoKind::Veth),
                LinkDetail::Data(InfoData::Veth(InfoVeth::Peer(peer))),
            ]),
        ];
        let request = RouteNetlinkMessage::NewLink(message);
        let (call, interface) = ("making", Interface::Name(bus_name));
        self.change(request, NLM_F_CREATE | NLM_F_EXCL, call, interface)?;
        match self.veth_ends(bus_name) {
            Ok(pair) => Ok(pair),
            Err(error) => {
                // Deleting one end deletes both. The first error is the one to report.
                let _ = self.delete(bus_name);
                Err(error)
            }
        }
    }

    /// Makes a bridge that behaves like a cable: every frame goes to every other port; it learns nothing and holds
    /// nothing back.
    ///
    /// Exceptions are two group addresses, 01-80-C2-00-00-01 and -02; ports that [`Netlink::join_hub`] makes pass the
    /// second on. The bridge is not set up.
    pub fn create_hub(&mut self, name: &str) -> Result<u32, LinkError> {
        /// Every address of 802.1Q's reserved group that this setting accepts; the kernel passes the first on without
        /// it.
        const FORWARDED_GROUP: u16 = 0xfff8;
        check_interface_name(name)?;
        let settings = vec![
            InfoBridge::ForwardDelay(0),
            InfoBridge::AgeingTime(0),
            InfoBridge::MulticastSnooping(false),
            InfoBridge::GroupFwdMask(FORWARDED_GROUP),
        ];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(vec![
                LinkDetail::Kind(InfoKind::Bridge),
                LinkDetail::Data(InfoData::Bridge(settings)),
            ]),
        ];
        let request = RouteNetlinkMessage::NewLink(message);
        self.change(request, NLM_F_CREATE | NLM_F_EXCL, "making", Interface::Name(name))?;
        Ok(self.look_up(Interface::Name(name))?.header.index)
    }

    /// Makes an interface a port of the bridge with index `bridge`.
    pub fn set_bridge<'a>(&mut self, interface: impl Into<Interface<'a>>, bridge: u32) -> Result<(), LinkError> {
        self.set(interface.into(), "joining a bridge with", |link| {
            link.attributes.push(LinkAttribute::Controller(bridge));
        })
    }

    /// Sets an interface up (IFF_UP).
    pub fn set_up<'a>(&mut self, interface: impl Into<Interface<'a>>) -> Result<(), LinkError> {
        self.set(interface.into(), "setting up", |link| {
            link.header.flags = LinkFlags::Up;
            link.header.change_mask = LinkFlags::Up;
        })
    }

    /// Sets an interface down.
    pub fn set_down<'a>(&mut self, interface: impl Into<Interface<'a>>) -> Result<(), LinkError> {
        self.set(interface.into(), "setting down", |link| {
            link.header.change_mask = LinkFlags::Up;
        })
    }

    /// Gives an interface its carrier, or takes it, where its driver lets a user do so: that of TAP devices does.
    pub fn set_carrier<'a>(&mut self, interface: impl Into<Interface<'a>>, carrier: bool) -> Result<(), LinkError> {
        self.set(interface.into(), "setting the carrier of", |link| {
            link.attributes.push(LinkAttribute::Carrier(carrier.into()));
        })
    }

    /// Sets an interface's largest payload, in octets without the Ethernet header.
    pub fn set_mtu<'a>(&mut self, interface: impl Into<Interface<'a>>, mtu: u32) -> Result<(), LinkError> {
        self.set(interface.into(), "setting the MTU of", |link| {
            link.attributes.push(LinkAttribute::Mtu(mtu));
        })
    }

    /// Makes a host's kernel build each frame separately, even with segmentation offloads on (`gso_max_segs 1`).
    ///
    /// Its frames then never exceed its MTU, even if a user switches offloads on.
    pub fn set_one_segment(&mut self, index: u32) -> Result<(), LinkError> {
        self.set(Interface::Index(index), "limiting the segments of", |link| {
            link.attributes.push(LinkAttribute::GsoMaxSegs(1));
        })
    }

    /// Gives an interface an address in the network that the prefix defines.
    ///
    /// An IPv6 address is usable at once: duplicate detection is off for it.
    pub fn add_address(&mut self, index: u32, address: IpAddr, prefix_len: u8) -> Result<(), LinkError> {
        let mut message = AddressMessage::default();
        message.header.index = index;
        message.header.prefix_len = prefix_len;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        match address {
            IpAddr::V4(address) => {
                message.header.family = AddressFamily::Inet;
                let hosts = u32::MAX.checked_shr(prefix_len.into()).unwrap_or(0);
                // A network of one or two has no broadcast address (RFC 3021).
                if hosts > 1 {
                    let broadcast = (address.to_bits() | hosts).into();
                    message.attributes.push(AddressAttribute::Broadcast(broadcast));
                }
            }
            IpAddr::V6(_) => {
                message.header.family = AddressFamily::Inet6;
                message.header.flags = AddressHeaderFlags::Nodad;
            }
        }
        let request = RouteNetlinkMessage::NewAddress(message);
        let call = "giving an address to";
        self.change(request, NLM_F_CREATE | NLM_F_EXCL, call, Interface::Index(index))
    }

    /// The addresses of an interface that lead beyond its link.
    pub fn addresses(&mut self, index: u32) -> Result<Vec<IpAddr>, LinkError> {
        let request = RouteNetlinkMessage::GetAddress(AddressMessage::default());
        let answers = self
            .transport
            .request(request, NLM_F_DUMP)
            .map_err(|refusal| sorted(refusal, "listing", "addresses".to_owned()))?;
        let address = |answer| match answer {
            RouteNetlinkMessage::NewAddress(message)
                if message.header.index == index && message.header.scope == AddressScope::Universe =>
            {
                message.attributes.into_iter().find_map(|attribute| match attribute {
                    AddressAttribute::Address(address) => Some(address),
                    _ => None,
                })
            }
            _ => None,
        };
        Ok(answers.into_iter().filter_map(address).collect())
    }

    /// Deletes an interface; of a veth pair, both ends.
    pub fn delete<'a>(&mut self, interface: impl Into<Interface<'a>>) -> Result<(), LinkError> {
        let interface = interface.into();
        let request = RouteNetlinkMessage::DelLink(named(interface)?);
        self.change(request, 0, "deleting", interface)
    }

    /// The interface called `name`, or `None` if there is none.
    pub fn link_by_name(&mut self, name: &str) -> Result<Option<LinkInfo>, LinkError> {
        match self.look_up(Interface::Name(name)) {
            Ok(message) => Ok(Some(LinkInfo::from_message(message))),
            Err(LinkError::NoInterface { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The other end of a link that leads to another namespace, as an interface of that namespace; `None` if that end
    /// is gone, or the link leads to no other namespace. Needs CAP_NET_ADMIN there.
    pub fn other_end(&mut self, link: &LinkInfo) -> Result<Option<LinkInfo>, LinkError> {
        let Some((index, number)) = link.lower_elsewhere else { return Ok(None) };
        let interface = Interface::Index(index);
        let mut message = named(interface)?;
        message.attributes.push(LinkAttribute::IfNetnsId(number));
        let answers = self
            .transport
            .request(RouteNetlinkMessage::GetLink(message), 0)
            .map_err(|refusal| sorted(refusal, "looking up", interface.to_string()));
        match answers {
            Ok(answers) => Ok(links_of(answers).next().map(LinkInfo::from_message)),
            Err(LinkError::NoInterface { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Every interface of the namespace.
    pub fn links(&mut self) -> Result<Vec<LinkInfo>, LinkError> {
        let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
        let answers = self
            .transport
            .request(request, NLM_F_DUMP)
            .map_err(|refusal| sorted(refusal, "listing", "interfaces".to_owned()))?;
        Ok(links_of(answers).map(LinkInfo::from_message).collect())
    }

    /// The number by which this socket's namespace knows `other`; `None` if it has no number for it.
    pub fn number_of(&mut self, other: &Namespace) -> Result<Option<i32>, LinkError> {
        let mut message = NsidMessage::default();
        message.attributes = vec![NsidAttribute::Fd(other.as_fd().as_raw_fd() as u32)];
        let answers = self
            .transport
            .request(RouteNetlinkMessage::GetNsId(message), 0)
            .map_err(|refusal| sorted(refusal, "finding the number of", "a network namespace".to_owned()))?;
        let numbers = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewNsId(message) => {
                message.attributes.into_iter().find_map(|attribute| match attribute {
                    NsidAttribute::Id(number) => Some(number),
                    _ => None,
                })
            }
            _ => None,
        });
        Ok(numbers.into_iter().find(|number| *number >= 0))
    }

    /// The namespace that this socket's namespace knows by `number`, if it can be found: it is the caller's own, has a
    /// name, or has a process in it that the caller may inspect.
    pub fn namespace_of(&mut self, number: i32) -> Option<Namespace> {
        Namespace::all_to_find().find(|namespace| self.number_of(namespace).is_ok_and(|found| found == Some(number)))
    }

    /// The indices of a new pair, read from the local end.
    fn veth_ends(&mut self, bus_name: &str) -> Result<VethPair, LinkError> {
        let message = self.look_up(Interface::Name(bus_name))?;
        let peer = message.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Link(index) => Some(*index),
            _ => None,
        });
        let station_index = peer.ok_or_else(|| LinkError::Netlink {
            call: "finding the peer of",
            interface: bus_name.to_owned(),
            source: io::ErrorKind::InvalidData.into(),
        })?;
        let namespace = message.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::LinkNetNsId(number) => Some(*number),
            _ => None,
        });
        Ok(VethPair { bus_index: message.header.index, station_index, namespace })
    }

    /// Asks for one interface.
    fn look_up(&mut self, interface: Interface<'_>) -> Result<LinkMessage, LinkError> {
        let call = "looking up";
        let request = RouteNetlinkMessage::GetLink(named(interface)?);
        let answers =
            self.transport.request(request, 0).map_err(|refusal| sorted(refusal, call, interface.to_string()))?;
        let none = || LinkError::NoInterface { interface: interface.to_string() };
        links_of(answers).next().ok_or_else(none)
    }

    /// Changes settings of one interface.
    fn set(
        &mut self,
        interface: Interface<'_>,
        call: &'static str,
        change: impl FnOnce(&mut LinkMessage),
    ) -> Result<(), LinkError> {
        let mut message = named(interface)?;
        change(&mut message);
        self.change(RouteNetlinkMessage::SetLink(message), 0, call, interface)
    }

    /// Sends a request that the kernel only accepts or refuses.
    fn change(
        &mut self,
        request: RouteNetlinkMessage,
        flags: u16,
        call: &'static str,
        interface: Interface<'_>,
    ) -> Result<(), LinkError> {
        match self.transport.request(request, flags) {
            Ok(_) => Ok(()),
            Err(refusal) => Err(sorted(refusal, call, interface.to_string())),
        }
    }
}

/// A message that names one interface.
fn named(interface: Interface<'_>) -> Result<LinkMessage, LinkError> {
    let mut message = LinkMessage::default();
    match interface {
        Interface::Index(index) => message.header.index = index,
        Interface::Name(name) => {
            check_interface_name(name)?;
            message.attributes.push(LinkAttribute::IfName(name.to_owned()));
        }
    }
    Ok(message)
}

/// The interfaces among the kernel's answers.
fn links_of(answers: Vec<RouteNetlinkMessage>) -> impl Iterator<Item = LinkMessage> {
    answers.into_iter().filter_map(|answer| match answer {
        RouteNetlinkMessage::NewLink(message) => Some(message),
        _ => None,
    })
}

/// Turns a refusal into the variant whose remedy fits.
fn sorted(refusal: Refusal, call: &'static str, interface: String) -> LinkError {
    let (source, message) = match refusal {
        Refusal::Kernel { source, message } => (source, message),
        Refusal::Transport(source) => return LinkError::Netlink { call, interface, source },
    };
    match source.raw_os_error() {
        Some(libc::EEXIST) => LinkError::Exists { interface },
        Some(libc::ENODEV | libc::ENXIO) => LinkError::NoInterface { interface },
        Some(libc::EPERM) => LinkError::NotPermitted { call, interface },
        _ => LinkError::Refused { call, interface, message, source },
    }
}

impl LinkInfo {
    /// Picks the needed fields out of the kernel's answer.
    fn from_message(message: LinkMessage) -> LinkInfo {
        let flags = message.header.flags;
        let mut info = LinkInfo {
            index: message.header.index,
            name: String::new(),
            kind: None,
            controller: None,
            lower: None,
            lower_elsewhere: None,
            mac: MacAddr::zero(),
            mtu: 0,
            max_mtu: 0,
            up: flags.contains(LinkFlags::Up),
            carrier: flags.contains(LinkFlags::LowerUp | LinkFlags::Running),
            promiscuity: 0,
            rx_packets: 0,
            tx_packets: 0,
            rx_dropped: 0,
            tx_dropped: 0,
            tx_errors: 0,
        };
        let mut elsewhere = None;
        for attribute in message.attributes {
            match attribute {
                LinkAttribute::IfName(name) => info.name = name,
                LinkAttribute::Controller(index) => info.controller = Some(index),
                LinkAttribute::Link(index) => info.lower = Some(index),
                LinkAttribute::LinkNetNsId(number) => elsewhere = Some(number),
                LinkAttribute::LinkInfo(details) => {
                    info.kind = details.iter().find_map(|detail| match detail {
                        LinkDetail::Kind(kind) => Some(kind.to_string()),
                        _ => None,
                    });
                }
                LinkAttribute::Mtu(mtu) => info.mtu = mtu,
                LinkAttribute::MaxMtu(mtu) => info.max_mtu = mtu,
                LinkAttribute::Promiscuity(count) => info.promiscuity = count,
                LinkAttribute::Address(octets) => {
                    if let Ok(octets) = <[u8; 6]>::try_from(octets) {
                        info.mac = MacAddr::from(octets);
                    }
                }
                LinkAttribute::Stats64(stats) => {
                    info.rx_packets = stats.rx_packets;
                    info.tx_packets = stats.tx_packets;
                    info.rx_dropped = stats.rx_dropped;
                    info.tx_dropped = stats.tx_dropped;
                    info.tx_errors = stats.tx_errors;
                }
                _ => {}
            }
        }
        info.lower_elsewhere = info.lower.zip(elsewhere);
        info.lower = info.lower.filter(|index| elsewhere.is_none() && *index != info.index);
        info
    }
}
