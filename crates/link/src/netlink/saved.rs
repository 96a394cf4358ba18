//! Addresses, routes and static neighbours of an interface, kept as the kernel reported them, so that every attribute
//! comes back; and the properties of an interface that cannot be kept in this way.

use netlink_packet_core::{Emitable, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, Parseable};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage, AddressProtocol,
};
use netlink_packet_route::neighbour::{NeighbourAttribute, NeighbourMessage, NeighbourState};
use netlink_packet_route::route::{RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteType};
use netlink_packet_route::tc::{TcAttribute, TcMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{Interface, LinkError, Netlink, sorted};

/// The table that the kernel fills by itself, from addresses.
const TABLE_LOCAL: u32 = 255;
/// An address that lives for ever.
const FOR_EVER: u32 = u32::MAX;

/// State of an address that the kernel reports and that no request sets.
const STATES: AddressFlags = AddressFlags::Secondary
    .union(AddressFlags::Tentative)
    .union(AddressFlags::Dadfailed)
    .union(AddressFlags::Deprecated)
    .union(AddressFlags::Permanent);

/// The routes that lead through one interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// Routes that can be made again, in an order that works: messages of the kernel.
    pub own: Vec<Vec<u8>>,
    /// Whether one of them, or one of the shared routes, is a default route.
    pub default: bool,
    /// The number of other routes that have this interface as one of several ways.
    pub shared: usize,
}

fn octets(message: &impl Emitable) -> Vec<u8> {
    let mut octets = vec![0; message.buffer_len()];
    message.emit(&mut octets);
    octets
}

impl Netlink {
    /// The addresses that a user gave to an interface, without those that the kernel makes when it comes up.
    pub(crate) fn saved_addresses(&mut self, index: u32) -> Result<Vec<Vec<u8>>, LinkError> {
        let request = RouteNetlinkMessage::GetAddress(AddressMessage::default());
        let answers = self
            .transport
            .request(request, NLM_F_DUMP)
            .map_err(|refusal| sorted(refusal, "listing the addresses of", format!("number {index}")))?;
        let addresses = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewAddress(message) if message.header.index == index => Some(message),
            _ => None,
        });
        Ok(addresses.filter(|message| !is_made_by_the_kernel(message)).map(|message| octets(&message)).collect())
    }

    /// Gives an interface an address of [`Netlink::saved_addresses`] that was noted `seconds` ago. An address that is
    /// already there, or whose lifetime is over meanwhile, is no error.
    pub(crate) fn restore_address(&mut self, index: u32, saved: &[u8], seconds: u32) -> Result<(), LinkError> {
        let Ok(mut message) = AddressMessage::parse(saved) else { return Err(garbled("address", index)) };
        message.header.index = index;
        message.header.flags &= !AddressHeaderFlags::from_bits_retain(STATES.bits() as u8);
        let mut lives = true;
        for attribute in &mut message.attributes {
            match attribute {
                AddressAttribute::Flags(flags) => *flags &= !STATES,
                AddressAttribute::CacheInfo(info) => {
                    let left = |span: u32| if span == FOR_EVER { span } else { span.saturating_sub(seconds) };
                    (info.ifa_valid, info.ifa_preferred) = (left(info.ifa_valid), left(info.ifa_preferred));
                    lives = info.ifa_valid > 0;
                }
                _ => {}
            }
        }
        if !lives {
            return Ok(());
        }
        let request = RouteNetlinkMessage::NewAddress(message);
        let call = "giving back an address to";
        none_if_there(self.change(request, NLM_F_CREATE | NLM_F_EXCL, call, Interface::Index(index)))
    }

    /// The static neighbours of an interface: those that a user made permanent.
    pub(crate) fn saved_neighbours(&mut self, index: u32) -> Result<Vec<Vec<u8>>, LinkError> {
        let request = RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default());
        let answers = self
            .transport
            .request(request, NLM_F_DUMP)
            .map_err(|refusal| sorted(refusal, "listing the neighbours of", format!("number {index}")))?;
        let is_static = |message: &NeighbourMessage| {
            message.header.ifindex == index
                && message.header.state == NeighbourState::Permanent
                && matches!(message.header.family, AddressFamily::Inet | AddressFamily::Inet6)
        };
        let neighbours = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewNeighbour(message) if is_static(&message) => Some(octets(&message)),
            _ => None,
        });
        Ok(neighbours.collect())
    }

    /// Gives an interface a neighbour of [`Netlink::saved_neighbours`]. A neighbour that is already there is no error.
    pub(crate) fn restore_neighbour(&mut self, index: u32, saved: &[u8]) -> Result<(), LinkError> {
        let Ok(mut message) = NeighbourMessage::parse(saved) else { return Err(garbled("neighbour", index)) };
        message.header.ifindex = index;
        let wanted = |attribute: &NeighbourAttribute| {
            matches!(attribute, NeighbourAttribute::Destination(_) | NeighbourAttribute::LinkLayerAddress(_))
        };
        message.attributes.retain(wanted);
        let request = RouteNetlinkMessage::NewNeighbour(message);
        let call = "giving back a neighbour to";
        none_if_there(self.change(request, NLM_F_CREATE | NLM_F_EXCL, call, Interface::Index(index)))
    }

    /// The queueing disciplines that a user gave an interface, as `tc` calls them. Those that the kernel gives every
    /// interface have no handle.
    pub(crate) fn disciplines(&mut self, index: u32) -> Result<Vec<String>, LinkError> {
        let request = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        let answers = self
            .transport
            .request(request, NLM_F_DUMP)
            .map_err(|refusal| sorted(refusal, "listing the queueing disciplines of", format!("number {index}")))?;
        let disciplines = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewQueueDiscipline(message) => Some(message),
            _ => None,
        });
        let given =
            disciplines.filter(|message| message.header.index == index as i32 && message.header.handle.major != 0);
        let kind = |message: &TcMessage| {
            let kind = message.attributes.iter().find_map(|attribute| match attribute {
                TcAttribute::Kind(kind) => Some(kind.as_str()),
                _ => None,
            });
            format!("{} {:x}:", kind.unwrap_or("unknown"), message.header.handle.major)
        };
        Ok(given.map(|message| kind(&message)).collect())
    }

    /// The routes through an interface, without those that the kernel makes from addresses and announcements.
    pub(crate) fn saved_routes(&mut self, index: u32) -> Result<Routes, LinkError> {
        let mut routes = Routes::default();
        let mut own = Vec::new();
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            for route in self.routes(family, index)? {
                let way = Way::of(&route, index);
                routes.default |= way != Way::Other && is_default(&route);
                match way {
                    Way::Only if !is_automatic(&route) => own.push(route),
                    Way::OneOfSeveral => routes.shared += 1,
                    Way::Only | Way::Other => {}
                }
            }
        }
        // A route with a gateway needs the route to that gateway.
        own.sort_by_key(|route| route.attributes.iter().any(is_gateway));
        routes.own = own.iter().map(octets).collect();
        Ok(routes)
    }

    /// Makes a route of [`Routes::own`] again. A route that is already there is no error.
    pub(crate) fn restore_route(&mut self, index: u32, saved: &[u8]) -> Result<(), LinkError> {
        let Ok(mut message) = RouteMessage::parse(saved) else { return Err(garbled("route", index)) };
        message.header.flags &= RouteFlags::Onlink;
        message.attributes.retain(|attribute| !matches!(attribute, RouteAttribute::CacheInfo(_)));
        for attribute in &mut message.attributes {
            if let RouteAttribute::Oif(through) = attribute {
                *through = index;
            }
        }
        let request = RouteNetlinkMessage::NewRoute(message);
        let call = "giving back a route through";
        none_if_there(self.change(request, NLM_F_CREATE | NLM_F_EXCL, call, Interface::Index(index)))
    }

    fn routes(&mut self, family: AddressFamily, index: u32) -> Result<Vec<RouteMessage>, LinkError> {
        let mut message = RouteMessage::default();
        message.header.address_family = family;
        let answers = self
            .transport
            .request(RouteNetlinkMessage::GetRoute(message), NLM_F_DUMP)
            .map_err(|refusal| sorted(refusal, "listing the routes through", format!("number {index}")))?;
        let routes = answers.into_iter().filter_map(|answer| match answer {
            RouteNetlinkMessage::NewRoute(message) => Some(message),
            _ => None,
        });
        Ok(routes.collect())
    }
}

fn none_if_there(result: Result<(), LinkError>) -> Result<(), LinkError> {
    match result {
        Err(LinkError::Exists { .. }) => Ok(()),
        result => result,
    }
}

fn garbled(what: &'static str, index: u32) -> LinkError {
    let call = match what {
        "route" => "reading a route of",
        "neighbour" => "reading a neighbour of",
        _ => "reading an address of",
    };
    LinkError::Netlink { call, interface: format!("number {index}"), source: std::io::ErrorKind::InvalidData.into() }
}

/// Link-local and announced addresses, and those that hide the interface's own: the kernel makes them when a link comes
/// up.
fn is_made_by_the_kernel(message: &AddressMessage) -> bool {
    message.attributes.iter().any(|attribute| match attribute {
        AddressAttribute::Protocol(protocol) => {
            matches!(protocol, AddressProtocol::LinkLocal | AddressProtocol::RouterAnnouncement)
        }
        AddressAttribute::Flags(flags) => {
            message.header.family == AddressFamily::Inet6 && flags.contains(AddressFlags::Secondary)
        }
        _ => false,
    })
}

/// How a route uses an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Only,
    OneOfSeveral,
    Other,
}

impl Way {
    fn of(route: &RouteMessage, index: u32) -> Way {
        let ways = route.attributes.iter().map(|attribute| match attribute {
            RouteAttribute::Oif(through) if *through == index => Way::Only,
            RouteAttribute::MultiPath(hops) if hops.iter().any(|hop| hop.interface_index == index) => Way::OneOfSeveral,
            _ => Way::Other,
        });
        ways.into_iter().find(|way| *way != Way::Other).unwrap_or(Way::Other)
    }
}

fn is_default(route: &RouteMessage) -> bool {
    route.header.destination_prefix_length == 0 && route.header.kind == RouteType::Unicast
}

fn is_gateway(attribute: &RouteAttribute) -> bool {
    matches!(attribute, RouteAttribute::Gateway(_) | RouteAttribute::Via(_))
}

fn is_automatic(route: &RouteMessage) -> bool {
    let RouteHeader { table, protocol, flags, .. } = route.header;
    let large = route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Table(table) => Some(*table),
        _ => None,
    });
    large.unwrap_or(u32::from(table)) == TABLE_LOCAL
        || matches!(protocol, RouteProtocol::Kernel | RouteProtocol::Ra | RouteProtocol::IcmpRedirect)
        || flags.contains(RouteFlags::Cloned)
}
