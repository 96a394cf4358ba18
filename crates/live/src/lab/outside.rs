//! Stations whose host is not a namespace of the lab's own: a program, an interface, a bridge, another machine, or a
//! namespace that is there already, which gets one end of a veth.
//!
//! ```text
//!   home                       namespace of vm                 namespace of the bus
//!                              ┌──────────────────────────┐    ┌──────┐
//!   eth1 ──── lent as ─────────┼─ outside0 ── br0 ── eth0 ┼────┼─ vm  │   interface
//!   UDP ◄──── tunnel to ───────┼─ outside0 ── br0 ── eth0 ┼────┼─ far │   vxlan
//!                              │  tap0     ── br0 ── eth0 ┼────┼─ tap │   tap
//!                              └──────────────────────────┘    └──────┘
//!   br-lan ── ethbus0 ──────────────────────────────────────────── lan     bridge
//! ```
//! `br0` learns nothing and holds nothing back. It and the veth are between because frames from outside are not
//! always as on a wire: another kernel's checksums may be unfinished, and a virtual machine hands over
//! 64 KiB at a time. On the way into a veth without offloads the kernel splits these into frames.

use super::inventory::Inventory;
use super::lent::{Home, Outside, What};
use super::{AnyError, INTERFACE, LARGEST_MTU, OUTSIDE, Protocols, TAP, beside, configure_station, silence};
use link::MacAddr;
use link::ethtool::disable_offloads;
use link::lent::{LendError, Lent};
use link::namespace::{Namespace, names_are_private};
use link::netlink::{LinkError, LinkInfo, Netlink, VethPair, Vxlan};
use link::sysctl::{carry_unfiltered, silence_ipv6};
use link::tap::create_tap;
use say::say;
use sim::scenario::plan::StationPlan;
use sim::scenario::plan::host::{Existing, Host, Tunnel};

/// What joins a station's interface with what its host is.
const BRIDGE: &str = "br0";
/// What a lab's port of a bridge at home is called, before a number.
const BRIDGE_PORT: &str = "ethbus";

/// The surroundings of a lab.
pub struct Surroundings<'a> {
    /// The namespace that ethbus was started in.
    pub home: Namespace,
    /// Octets of the longest payload that the medium carries.
    pub payload: u32,
    /// An interface with a default route may be lent.
    pub even_default_route: bool,
    /// Where what is done outside is written down first.
    pub record: Option<&'a mut Inventory>,
}

/// Why a station cannot lead outside as its scenario says.
#[derive(Debug, thiserror::Error)]
enum OutsideError {
    #[error("what leads outside a lab takes rights over what is there: run it as root, `sudo ethbus up`")]
    NotRoot,
    #[error(
        "what is mounted in this mount namespace vanishes with it, and an interface might with its namespace: begin with `nsenter --net=/run/netns/NAME` and not with `ip netns exec NAME`"
    )]
    Private,
    #[error("`{interface}` is lent to the lab `{lab}` already: `ethbus down --name {lab}` gives it back")]
    Lent { interface: String, lab: String },
    #[error(
        "there is no bridge `{name}` here{}: make it (`ip link add {name} type bridge`), or leave `bridge` out and ethbus makes one called as the station",
        but(there)
    )]
    NoBridge { name: String, there: Vec<String> },
    #[error("`{name}` is no bridge: write `kind = \"interface\"` and `interface = \"{name}\"`, or name a bridge")]
    NotABridge { name: String },
    #[error(
        "an interface called {name} exists already, so no bridge of that name can be made: choose another `name`, or write `bridge = \"{name}\"` if it is a bridge"
    )]
    NameTaken { name: String },
    #[error(
        "`{interface}` is in the namespace `{netns}` already: choose another name for the station's interface there, like `interface = \"bus0\"`"
    )]
    InterfaceTaken { interface: String, netns: String },
    #[error(
        "another tunnel of this network namespace has vni {vni} at UDP port {port}: choose another `vni` or `port`, at both ends"
    )]
    TunnelTaken { vni: u32, port: u16 },
}

fn but(bridges: &[String]) -> String {
    if bridges.is_empty() { String::new() } else { format!(", but {}", bridges.join(", ")) }
}

impl Surroundings<'_> {
    fn note(&mut self, station: &StationPlan, what: What) -> Result<(), AnyError> {
        let home = Home::of(&self.home)?;
        self.note_in(home, station, what)
    }

    fn note_in(&mut self, home: Home, station: &StationPlan, what: What) -> Result<(), AnyError> {
        let outside = Outside { station: station.name.clone(), home, what };
        let record = self.record.as_deref_mut().expect("only a lab with a record leads outside");
        Ok(record.note_outside(outside)?)
    }
}

/// Makes the link of a station, and what its host is at the other end of it.
pub fn connect(
    netlink: &mut Netlink,
    station: &StationPlan,
    namespace: &Namespace,
    protocols: Protocols,
    surroundings: &mut Surroundings<'_>,
) -> Result<VethPair, AnyError> {
    let named = surroundings.record.as_ref().is_none_or(|record| record.has_names());
    if !named && station.host != Host::Tap {
        return Err(OutsideError::NotRoot.into());
    }
    let prepare = || -> Result<(), AnyError> { Ok(silence().and_then(|()| carry_unfiltered())?) };
    let outer = match &station.host {
        Host::Veth => unreachable!("a namespace with a kernel's stack needs nothing of this"),
        Host::Existing(existing) => return stand_in(netlink, station, existing, namespace, protocols, surroundings),
        Host::Bridge(bridge) => return lead_to_bridge(netlink, station, bridge.as_deref(), surroundings),
        Host::Tap => {
            namespace.run(|| prepare().and_then(|()| Ok(create_tap(TAP)?)))??;
            TAP
        }
        Host::Interface(interface) => {
            namespace.run(prepare)??;
            borrow(station, interface, namespace, surroundings)?;
            OUTSIDE
        }
        Host::Vxlan(tunnel) => {
            namespace.run(prepare)??;
            dig(station, tunnel, namespace, surroundings)?;
            OUTSIDE
        }
    };
    // Another address: a bridge keeps what is for its own ports' addresses, and the station's is its host's.
    let pair = netlink.create_veth(&station.name, namespace, INTERFACE, beside(station.mac))?;
    let payload = surroundings.payload;
    namespace.run(|| join(outer, pair.station_index, payload, &station.name))??;
    Ok(pair)
}

/// Makes a veth from the bus into a namespace that is there already.
fn stand_in(
    netlink: &mut Netlink,
    station: &StationPlan,
    Existing { netns, interface }: &Existing,
    namespace: &Namespace,
    protocols: Protocols,
    surroundings: &mut Surroundings<'_>,
) -> Result<VethPair, AnyError> {
    // What is there under that name is not the lab's, and its inventory must not say so.
    if Netlink::in_namespace(namespace)?.link_by_name(interface.as_str())?.is_some() {
        let (interface, netns) = (interface.clone(), netns.to_string());
        return Err(OutsideError::InterfaceTaken { interface, netns }.into());
    }
    let mac = station.mac.octets();
    surroundings.note_in(Home::of(namespace)?, station, What::StandIn { name: interface.clone(), mac })?;
    let pair = netlink.create_veth(&station.name, namespace, interface, station.mac)?;
    namespace.run(|| configure_station(interface, pair.station_index, &station.addresses, protocols))??;
    Ok(pair)
}

/// Inside the station's namespace: nothing but a way from `outer` to the bus.
fn join(outer: &str, index: u32, payload: u32, station: &str) -> Result<(), AnyError> {
    disable_offloads(INTERFACE)?;
    let mut netlink = Netlink::open()?;
    netlink.set_up("lo")?;
    let bridge = netlink.create_hub(BRIDGE)?;
    // What is too long for the medium is for the medium to count, not for this bridge to drop unseen.
    netlink.set_mtu(index, LARGEST_MTU)?;
    if netlink.link_by_name(outer)?.is_some_and(|link| link.mtu < payload)
        && let Err(error) = netlink.set_mtu(outer, payload)
    {
        let lost = format!("{error}: frames with more than its MTU do not reach the hosts behind {station}");
        say(&format!("ethbus: warning: {lost}\n"));
    }
    netlink.join_hub(index, bridge)?;
    netlink.join_hub(outer, bridge)?;
    netlink.set_up(BRIDGE)?;
    netlink.set_up(outer)?;
    netlink.set_up(index)?;
    Ok(())
}

/// Moves a lent interface into the station, after its identity has been written to the inventory.
fn borrow(
    station: &StationPlan,
    interface: &str,
    namespace: &Namespace,
    surroundings: &mut Surroundings<'_>,
) -> Result<(), AnyError> {
    if names_are_private() {
        return Err(OutsideError::Private.into());
    }
    let lent = Lent::look(interface, surroundings.even_default_route).map_err(|error| -> AnyError {
        let lab = Home::of(&surroundings.home).ok().and_then(|home| Inventory::borrower_of(interface, home));
        match (&error, lab) {
            (LendError::Absent { .. }, Some(lab)) => OutsideError::Lent { interface: interface.to_owned(), lab }.into(),
            _ => error.into(),
        }
    })?;
    surroundings.note(station, What::Interface { lent: lent.clone(), taken: false })?;
    lent.take(namespace, OUTSIDE)?;
    let record = surroundings.record.as_deref_mut().expect("it was written to above");
    record.taken(&station.name, namespace.try_clone()?)?;
    say(&format!("ethbus: {}\n", what_comes_back(&lent)));
    Ok(())
}

/// What the user who lends an interface should know before it is gone.
fn what_comes_back(lent: &Lent) -> String {
    let count = |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "es" });
    let (addresses, routes) = (count(lent.addresses.len(), "address"), lent.routes.len());
    let routes = format!("{routes} route{}", if routes == 1 { "" } else { "s" });
    let mut text = format!(
        "{} belongs to the lab now. At the end it comes back as it was, with {addresses} and {routes}",
        lent.name
    );
    let mut lost = Vec::new();
    if lent.shared_routes > 0 {
        lost.push(format!("{} of several ways, one of which was this", lent.shared_routes));
    }
    if let Some(bridge) = &lent.bridge {
        lost.push(format!("its settings as a port of {bridge}"));
    }
    if !lost.is_empty() {
        text += &format!("; but without {}", lost.join(", and "));
    }
    text
}

/// Makes the end of a tunnel in the station. Its packets go by the namespace that ethbus was started in.
fn dig(
    station: &StationPlan,
    tunnel: &Tunnel,
    namespace: &Namespace,
    surroundings: &mut Surroundings<'_>,
) -> Result<(), AnyError> {
    surroundings.note(station, What::Tunnel)?;
    let mut home = Netlink::in_namespace(&surroundings.home)?;
    let Tunnel { vni, remote, local, port } = *tunnel;
    match home.create_vxlan(OUTSIDE, namespace, &Vxlan { vni, remote, local, port }) {
        Err(LinkError::Exists { .. }) => Err(OutsideError::TunnelTaken { vni: tunnel.vni, port: tunnel.port }.into()),
        made => Ok(made?),
    }
}

/// Makes a veth from the bus to a bridge at home.
fn lead_to_bridge(
    netlink: &mut Netlink,
    station: &StationPlan,
    bridge: Option<&str>,
    surroundings: &mut Surroundings<'_>,
) -> Result<VethPair, AnyError> {
    let mut home = Netlink::in_namespace(&surroundings.home)?;
    let bridge = match bridge {
        Some(name) => {
            let bridge = existing_bridge(&mut home, name)?;
            keep_address(&mut home, &bridge)?;
            bridge
        }
        None => make_bridge(&mut home, station, surroundings)?,
    };
    if bridge.mtu < surroundings.payload {
        say(&format!(
            "ethbus: warning: {} has an MTU of {}: frames with more than that do not reach the hosts behind {}\n",
            bridge.name, bridge.mtu, station.name
        ));
    }
    let links = home.links()?;
    let is_free = |name: &String| links.iter().all(|link| link.name != *name);
    let name = (0..).map(|number| format!("{BRIDGE_PORT}{number}")).find(is_free).expect("there are fewer interfaces");
    // A bridge takes the lowest of its ports' addresses, and must not take this one.
    let [_, rest @ ..] = station.mac.octets();
    let mac = MacAddr::new(0xfe, rest[0], rest[1], rest[2], rest[3], rest[4]);
    surroundings.note(station, What::BridgePort { name: name.clone(), mac: mac.octets() })?;
    let pair = netlink.create_veth(&station.name, &surroundings.home, &name, mac)?;
    // A port has nothing to say for itself.
    silence_ipv6(&name)?;
    disable_offloads(&name)?;
    // As long as the others' frames: a bridge takes the least of its ports' MTUs.
    home.set_mtu(pair.station_index, bridge.mtu)?;
    home.set_bridge(pair.station_index, bridge.index)?;
    home.set_up(pair.station_index)?;
    Ok(pair)
}

/// A bridge without ports takes the address of its first one, and none at all when that is gone; unless its own was set.
fn keep_address(home: &mut Netlink, bridge: &LinkInfo) -> Result<(), AnyError> {
    let is_empty = home.links()?.iter().all(|link| link.controller != Some(bridge.index));
    if is_empty && bridge.mac != MacAddr::zero() {
        home.confirm_mac(bridge.index, bridge.mac)?;
    }
    Ok(())
}

fn existing_bridge(home: &mut Netlink, name: &str) -> Result<LinkInfo, AnyError> {
    let is_bridge = |link: &LinkInfo| link.kind.as_deref() == Some("bridge");
    match home.link_by_name(name)? {
        Some(link) if is_bridge(&link) => Ok(link),
        Some(_) => Err(OutsideError::NotABridge { name: name.to_owned() }.into()),
        None => {
            let there = home.links()?.into_iter().filter(is_bridge).map(|link| link.name).collect();
            Err(OutsideError::NoBridge { name: name.to_owned(), there }.into())
        }
    }
}

fn make_bridge(
    home: &mut Netlink,
    station: &StationPlan,
    surroundings: &mut Surroundings<'_>,
) -> Result<LinkInfo, AnyError> {
    let name = station.name.clone();
    if home.link_by_name(&name)?.is_some() {
        return Err(OutsideError::NameTaken { name }.into());
    }
    surroundings.note(station, What::Bridge { name: name.clone(), mac: station.mac.octets() })?;
    home.create_bridge(&name, station.mac)?;
    home.set_up(name.as_str())?;
    home.link_by_name(&name)?.ok_or_else(|| LinkError::NoInterface { interface: name }.into())
}
