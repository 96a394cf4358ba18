//! Links that lead out of a lab: ordinary bridges, the ends of tunnels, and interfaces that change their namespace.

use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoBridge, InfoBridgePort, InfoData, InfoKind, InfoPortData, InfoPortKind, InfoVxlan, LinkAttribute,
    LinkInfo as LinkDetail, LinkMessage,
};
use pnet_base::MacAddr;

use super::{Interface, LinkError, Netlink, check_interface_name, named};
use crate::namespace::Namespace;

/// What one end of a VXLAN tunnel must know (RFC 7348).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vxlan {
    /// The VXLAN Network Identifier: 24 bits, the same at both ends.
    pub vni: u32,
    /// Address of the other end.
    pub remote: IpAddr,
    /// This end's own address; by default the kernel takes the one of the route.
    pub local: Option<IpAddr>,
    /// UDP port, the same at both ends.
    pub port: u16,
}

impl Vxlan {
    /// The settings as attributes of the kernel.
    fn settings(&self) -> Vec<InfoVxlan> {
        let mut settings = vec![
            InfoVxlan::Id(self.vni),
            InfoVxlan::Port(self.port),
            // Incoming packets do not change the destination: everything goes to the one other end.
            InfoVxlan::Learning(false),
        ];
        settings.push(match self.remote {
            IpAddr::V4(address) => InfoVxlan::Group(address),
            IpAddr::V6(address) => InfoVxlan::Group6(address),
        });
        settings.extend(self.local.map(|local| match local {
            IpAddr::V4(address) => InfoVxlan::Local(address),
            IpAddr::V6(address) => InfoVxlan::Local6(address),
        }));
        settings
    }
}

impl Netlink {
    /// Makes an ordinary bridge, which learns where addresses are and takes no part in any protocol. Not set up.
    pub fn create_bridge(&mut self, name: &str, mac: MacAddr) -> Result<u32, LinkError> {
        let details = vec![
            LinkDetail::Kind(InfoKind::Bridge),
            LinkDetail::Data(InfoData::Bridge(vec![InfoBridge::ForwardDelay(0)])),
        ];
        let attributes = vec![LinkAttribute::Address(mac.octets().to_vec()), LinkAttribute::LinkInfo(details)];
        self.create(name, attributes)?;
        Ok(self.look_up(Interface::Name(name))?.header.index)
    }

    /// Makes the end of a tunnel, called `name`, in `target`. Not set up.
    ///
    /// The tunnel's packets come and go in the namespace of this socket. The tunnel ends with that namespace.
    pub fn create_vxlan(&mut self, name: &str, target: &Namespace, tunnel: &Vxlan) -> Result<(), LinkError> {
        let details = vec![LinkDetail::Kind(InfoKind::Vxlan), LinkDetail::Data(InfoData::Vxlan(tunnel.settings()))];
        let target = LinkAttribute::NetNsFd(target.as_fd().as_raw_fd());
        self.create(name, vec![target, LinkAttribute::LinkInfo(details)])
    }

    fn create(&mut self, name: &str, attributes: Vec<LinkAttribute>) -> Result<(), LinkError> {
        check_interface_name(name)?;
        let mut message = LinkMessage::default();
        message.attributes = attributes;
        message.attributes.push(LinkAttribute::IfName(name.to_owned()));
        let request = RouteNetlinkMessage::NewLink(message);
        self.change(request, NLM_F_CREATE | NLM_F_EXCL, "making", Interface::Name(name))
    }

    /// Gives an interface another name. The interface must be down, unless the kernel is recent.
    pub fn rename(&mut self, index: u32, name: &str) -> Result<(), LinkError> {
        check_interface_name(name)?;
        self.set(Interface::Index(index), "renaming", |link| {
            link.attributes.push(LinkAttribute::IfName(name.to_owned()));
        })
    }

    /// Gives an interface this hardware address, unless it has it.
    pub fn set_mac(&mut self, index: u32, mac: MacAddr) -> Result<(), LinkError> {
        let message = self.look_up(Interface::Index(index))?;
        if super::LinkInfo::from_message(message).mac == mac {
            return Ok(());
        }
        self.confirm_mac(index, mac)
    }

    /// Gives an interface this hardware address, even if it has it: a bridge then keeps it when its ports change.
    pub fn confirm_mac(&mut self, index: u32, mac: MacAddr) -> Result<(), LinkError> {
        self.set(Interface::Index(index), "giving a hardware address to", |link| {
            link.attributes.push(LinkAttribute::Address(mac.octets().to_vec()));
        })
    }

    /// Moves an interface into `target`, set down, without its addresses and routes.
    ///
    /// It keeps its name; if the name is taken there, nothing is changed. With `spare`, a pattern like `dev%d`, it gets
    /// a name of that pattern instead. `index` is the index it should have there.
    pub fn move_to<'a>(
        &mut self,
        interface: impl Into<Interface<'a>>,
        target: &Namespace,
        spare: Option<&str>,
        index: Option<u32>,
    ) -> Result<(), LinkError> {
        self.set(interface.into(), "moving to another namespace", |link| {
            link.attributes.push(LinkAttribute::NetNsFd(target.as_fd().as_raw_fd()));
            link.attributes.extend(spare.map(|name| LinkAttribute::IfName(name.to_owned())));
            link.attributes.extend(index.map(|index| LinkAttribute::NewIfIndex(index as i32)));
        })
    }

    /// Makes an interface a port of a hub that [`Netlink::create_hub`] made.
    ///
    /// A hub passes on all of 802.1Q's reserved group addresses except 01-80-C2-00-00-01, that of PAUSE, which the
    /// kernel lets no bridge pass on.
    pub fn join_hub<'a>(&mut self, interface: impl Into<Interface<'a>>, hub: u32) -> Result<(), LinkError> {
        const ALL_BUT_PAUSE: u16 = !0b10;
        let interface = interface.into();
        self.set_bridge(interface, hub)?;
        let settings = InfoPortData::BridgePort(vec![InfoBridgePort::GroupFwdMask(ALL_BUT_PAUSE)]);
        let details = vec![LinkDetail::PortKind(InfoPortKind::Bridge), LinkDetail::PortData(settings)];
        let mut message = named(interface)?;
        message.attributes.push(LinkAttribute::LinkInfo(details));
        self.change(RouteNetlinkMessage::NewLink(message), 0, "setting up a bridge's port", interface)
    }

    /// Takes an interface out of its bridge.
    pub fn leave_bridge<'a>(&mut self, interface: impl Into<Interface<'a>>) -> Result<(), LinkError> {
        self.set(interface.into(), "leaving a bridge with", |link| {
            link.attributes.push(LinkAttribute::Controller(0));
        })
    }
}
