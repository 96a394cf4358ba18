//! Making what a bus needs: namespaces, links, addresses, sockets. Knows nothing of time or of the medium's rules.
//!
//! ```text
//!   namespace of st1          namespace of the bus
//!   ┌───────────┐             ┌──────────────────────────┐
//!   │ eth0 ─────┼─── veth ────┼─ st1 ─┐                  │
//!   └───────────┘             │       ├─ one socket in,  │──► data plane
//!   ┌───────────┐             │       │  one socket out  │
//!   │ eth0 ─────┼─── veth ────┼─ st2 ─┘                  │
//!   └───────────┘             └──────────────────────────┘
//! ```
//! With many stations there is a hub too, behind which the kernel copies frames to all ports (`lab/fan_out.rs`).
//! Stations of other kinds have something else where `eth0` is the host's own (`lab/outside.rs`).

pub mod carrier;
pub mod existing;
mod fan_out;
pub mod inventory;
pub mod join;
mod lent;
pub mod links;
mod outside;
pub mod owner;
pub(super) mod processes;
mod watched;
pub mod xdp;

use crate::plane::filter::Watched;
use crate::plane::protocol::Port;
use existing::ExistingError;
pub use fan_out::FanOutMade;
use inventory::{Inventory, InventoryError};
use link::MacAddr;
use link::confine::{ConfineError, keep_capabilities};
use link::ethtool::disable_offloads;
use link::fanout::FanOutError;
use link::namespace::{Capability, Names, Namespace, NamespaceError, apart};
use link::netlink::{LinkError, LinkMonitor, MonitorError, Netlink, VethPair};
use link::packet::{PacketError, StampError, open_receiver, open_sender, wait_for_stamps};
use link::process::raise_descriptor_limit;
use link::sysctl::{SysctlError, ask_for_routers_three_times, silence_ipv6_everywhere};
use outside::Surroundings;
use sim::scenario::file::Network;
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Plan, StationPlan};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The interface of a station, in its own namespace.
pub const INTERFACE: &str = "eth0";
/// A TAP device, in the namespace of a station that has one.
pub const TAP: &str = "tap0";
/// An interface or the end of a tunnel, in the namespace of a station that has one.
const OUTSIDE: &str = "outside0";
/// What the bus's own namespace is called after the lab's name.
const BUS: &str = "bus";
/// The largest MTU that a veth takes.
const LARGEST_MTU: u32 = 65_535;
/// How long links may take to come up, and the kernel to stamp frames.
const PATIENCE: Duration = Duration::from_secs(5);

/// Everything made for a bus. Held by descriptors; its [`Inventory`] has the names, if there are any.
#[derive(Debug)]
pub struct Segment {
    /// The bus's own namespace.
    pub bus: Namespace,
    /// Each station's namespace, in order of station number.
    pub stations: Vec<Namespace>,
    /// Each station's port.
    pub ports: Vec<Port>,
    /// The socket that receives from all ports.
    pub receiver: OwnedFd,
    /// The socket that sends to all ports.
    pub sender: OwnedFd,
    /// The monitor of links.
    pub monitor: OwnedFd,
    /// How frames get to several stations.
    pub fan_out: FanOutMade,
    /// The monitor of the stations' interfaces, if there is a filter.
    pub watch: Option<OwnedFd>,
}

/// Why a segment could not be made. The parts that had been made are removed, or are in the inventory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// A namespace could not be made or named.
    #[error("cannot make a network namespace for {whose}")]
    Namespace {
        /// The station, or the bus.
        whose: String,
        /// What went wrong.
        source: NamespaceError,
    },
    /// The namespace that a station is to be in is not there, or not to be entered.
    #[error("station {station} is to be in the network namespace `{netns}`, which cannot be opened")]
    Existing {
        /// The station.
        station: String,
        /// Which one, as the scenario says it.
        netns: String,
        /// What went wrong.
        source: ExistingError,
    },
    /// A link, an address or an offload setting was refused.
    #[error("cannot connect {station} to the bus")]
    Link {
        /// The station.
        station: String,
        /// What went wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The kernel makes no copies, and the scenario wants no other way.
    #[error("no fan-out in the kernel, which `fan_out = \"kernel\"` asks for: write \"auto\" or \"batch\"")]
    FanOut(#[from] FanOutError),
    /// A socket of the bus was refused.
    #[error("cannot open the bus's sockets")]
    Socket(#[from] PacketError),
    /// Changes of links cannot be watched.
    #[error("cannot watch the bus's links")]
    Monitor(#[from] MonitorError),
    /// Frames are not stamped.
    #[error("the kernel does not stamp frames")]
    Stamps(#[from] StampError),
    /// The inventory could not be written.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// The limit of open files cannot be raised.
    #[error("cannot raise the limit of open files")]
    Descriptors(#[source] std::io::Error),
    /// Rights that are not needed cannot be given up.
    #[error("cannot give up what is not needed")]
    Confine(#[from] ConfineError),
    /// The user did not want to wait.
    #[error("interrupted while stations were being made; what had been made is gone again")]
    Interrupted,
    /// A link did not come up.
    #[error("{station}'s link did not come up within {} seconds", PATIENCE.as_secs())]
    NoCarrier {
        /// The station.
        station: String,
    },
}

/// Whether stations speak IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocols {
    /// IPv4 and IPv6 addresses as planned.
    Ip,
    /// IPv4 addresses as planned, and nothing that a kernel sends because it came up.
    Ipv4,
    /// None, so that nothing is on the medium but what its users send.
    Silent,
}

/// What the supervisor of a bus keeps: the last three are for the data plane, which gives them up itself.
const KEPT: [Capability; 8] = [
    Capability::NetAdmin,
    Capability::NetRaw,
    Capability::SysAdmin,
    Capability::SysPtrace,
    Capability::Kill,
    Capability::IpcLock,
    Capability::SysNice,
    Capability::SetPcap,
];

/// Gives up what making a bus, serving it and removing it does not take: among others every right over other users'
/// files. So files that the user named are opened before.
///
/// # Errors
/// A kernel that refuses.
pub fn keep_least(stations: usize, watches: bool) -> Result<(), MakeError> {
    // A namespace, and for the demonstration two sockets, for each station; the rest fits into the usual limit.
    raise_descriptor_limit(3 * stations as u64 + 256).map_err(MakeError::Descriptors)?;
    let watching: &[Capability] = if watches { &[Capability::NetBroadcast] } else { &[] };
    Ok(keep_capabilities(&[&KEPT, watching].concat())?)
}

impl Segment {
    /// Makes everything of `plan`. With an inventory, each namespace gets a name that is written there first.
    ///
    /// Each step calls `progress` with the number of connected stations; its answer says whether to continue.
    ///
    /// # Errors
    /// Any refusal of the kernel.
    pub fn make(
        plan: &Plan,
        protocols: Protocols,
        mut record: Option<&mut Inventory>,
        mut progress: impl FnMut(usize) -> bool + Send,
    ) -> Result<Segment, MakeError> {
        let home = || {
            Namespace::current().map_err(|source| MakeError::Namespace { whose: "ethbus itself".to_owned(), source })
        };
        let (bus, stations) = namespaces(plan, record.as_deref_mut(), &mut progress, home)?;
        // Its kernel must neither put frames on a station's link past the medium, nor answer any.
        let silent = || bus.run(silence)?.map_err(AnyError::from);
        silent().map_err(|source| MakeError::Link { station: BUS.to_owned(), source })?;
        let mut surroundings = Surroundings {
            home: home()?,
            payload: plan.medium.parameters.max_frame_size.get().saturating_sub(medium::HEADER_AND_FCS.get()),
            even_default_route: plan.even_default_route,
            record,
        };
        // First: switching stamps on takes the kernel a while.
        let (receiver, sender) = (open_receiver(&bus)?, open_sender(&bus)?);
        let mut netlink = Netlink::in_namespace(&bus).map_err(|source| link_error(BUS, source))?;
        let mut ports = connect_all(&bus, &mut netlink, plan, &stations, protocols, &mut surroundings, &mut progress)?;
        let fan_out = FanOutMade::make(plan, &bus, &ports)?;
        wait_for_carrier(&mut netlink, &plan.stations)?;
        let monitor = LinkMonitor::open(&bus)?.into_fd();
        let watch = watched::watch(plan, &bus, &stations, &mut ports)?;
        wait_for_stamps(PATIENCE)?;
        Ok(Segment { bus, stations, ports, receiver, sender, monitor, fan_out, watch })
    }
}

fn link_error(whose: &str, source: LinkError) -> MakeError {
    MakeError::Link { station: whose.to_owned(), source: Box::new(source) }
}

/// A namespace for the bus and for each station; that of a bridge is where ethbus was started, and one that is there
/// already stays its owner's.
///
/// Names, if they get any, are in the inventory before they exist, in one writing for all. Those of a lab without root get none:
/// `/run/netns` is root's.
fn namespaces(
    plan: &Plan,
    record: Option<&mut Inventory>,
    progress: &mut (impl FnMut(usize) -> bool + Send),
    home: impl Fn() -> Result<Namespace, MakeError>,
) -> Result<(Namespace, Vec<Namespace>), MakeError> {
    let failed = |whose: &str| {
        let whose = whose.to_owned();
        |source| MakeError::Namespace { whose, source }
    };
    let is_own = |station: &&StationPlan| has_own_namespace(station);
    let mut make = |whose: &str| match progress(0) {
        true => Namespace::enter_new().map_err(failed(whose)),
        false => Err(MakeError::Interrupted),
    };
    let own = plan.stations.iter().filter(is_own).map(|station| station.name.as_str());
    // One thread goes from each that it has made to the next.
    let made = apart(|| std::iter::once(BUS).chain(own).map(&mut make).collect::<Result<Vec<_>, _>>());
    let mut made = made?.into_iter();
    let bus = made.next().expect("the first one");
    let mut next = || made.next().expect("one for each");
    let station = |station: &StationPlan| match &station.host {
        Host::Bridge(_) => home(),
        Host::Existing(existing) => existing::open(station, existing),
        Host::Veth | Host::Tap | Host::Interface(_) | Host::Vxlan(_) => Ok(next()),
    };
    let stations = plan.stations.iter().map(station).collect::<Result<Vec<_>, _>>()?;
    if let Some(record) = record {
        let own = plan.stations.iter().zip(&stations).filter(|(station, _)| is_own(station));
        let own = own.map(|(station, namespace)| (station.name.as_str(), namespace));
        let made: Vec<(&str, &Namespace)> = std::iter::once((BUS, &bus)).chain(own).collect();
        let has_names = record.has_names();
        let name = |whose: &str| has_names.then(|| namespace_name(&plan.name, whose));
        record.claim(&made, name)?;
        if has_names {
            let names = Names::prepare().map_err(failed(BUS))?;
            for (whose, namespace) in made {
                names.give(namespace, &namespace_name(&plan.name, whose)).map_err(failed(whose))?;
            }
        }
    }
    Ok((bus, stations))
}

/// Whether the lab makes a namespace for the station.
fn has_own_namespace(station: &StationPlan) -> bool {
    !matches!(station.host, Host::Bridge(_) | Host::Existing(_))
}

/// What `ip netns` calls the namespace of a station, or of the bus, of a lab.
pub fn namespace_name(lab: &str, whose: &str) -> String {
    format!("{lab}-{whose}")
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// The links of all stations. Those that lead outside come first: most that can go wrong is there.
///
/// The others are made by one thread that goes from station to station.
fn connect_all(
    bus: &Namespace,
    netlink: &mut Netlink,
    plan: &Plan,
    namespaces: &[Namespace],
    protocols: Protocols,
    surroundings: &mut Surroundings<'_>,
    progress: &mut (impl FnMut(usize) -> bool + Send),
) -> Result<Vec<Port>, MakeError> {
    let mut made = 0;
    let mut noted = |station: &StationPlan, pair: Result<VethPair, AnyError>| {
        let pair = pair.map_err(|source| MakeError::Link { station: station.name.clone(), source })?;
        made += 1;
        if progress(made) { Ok(pair) } else { Err(MakeError::Interrupted) }
    };
    let stations = || plan.stations.iter().zip(namespaces).enumerate();
    let mut pairs = vec![None; plan.stations.len()];
    for (place, (station, namespace)) in stations().filter(|(_, (station, _))| station.host != Host::Veth) {
        let pair = outside::connect(netlink, station, namespace, protocols, surroundings);
        pairs[place] = Some(noted(station, open_to_all(plan, station, bus, netlink, pair))?);
    }
    apart(|| {
        for (place, (station, namespace)) in stations().filter(|(_, (station, _))| station.host == Host::Veth) {
            let pair = connect(netlink, station, namespace, protocols);
            pairs[place] = Some(noted(station, open_to_all(plan, station, bus, netlink, pair))?);
        }
        Ok::<(), MakeError>(())
    })?;
    Ok(plan.stations.iter().zip(pairs.into_iter().flatten()).map(|(station, pair)| port(station, pair)).collect())
}

/// One veth pair, its station's end set up as a station's interface. Leaves the calling thread in the station.
fn connect(
    netlink: &mut Netlink,
    station: &StationPlan,
    namespace: &Namespace,
    protocols: Protocols,
) -> Result<VethPair, AnyError> {
    namespace.enter()?;
    if protocols != Protocols::Ip {
        silence()?;
    }
    let pair = netlink.create_veth(&station.name, namespace, INTERFACE, station.mac)?;
    Netlink::open()?.set_up("lo")?;
    // A lab has no router as a rule. With 1,024 stations that ask for one again and again, their copies take 3 % of a processor.
    ask_for_routers_three_times(INTERFACE)?;
    configure_station(INTERFACE, pair.station_index, &station.addresses, protocols)?;
    Ok(pair)
}

/// Whatever the station's own MTU lets through must get to the bus, which counts what is too long.
fn open_to_all(
    plan: &Plan,
    station: &StationPlan,
    bus: &Namespace,
    netlink: &mut Netlink,
    pair: Result<VethPair, AnyError>,
) -> Result<VethPair, AnyError> {
    let pair = pair?;
    // A host that is no namespace attaches no program.
    if plan.takes_xdp() && matches!(station.host, Host::Veth | Host::Existing(_)) {
        xdp::allow(bus, netlink, pair.bus_index, &station.name)?;
    } else {
        netlink.set_mtu(pair.bus_index, LARGEST_MTU)?;
    }
    netlink.set_up(pair.bus_index)?;
    Ok(pair)
}

fn port(station: &StationPlan, pair: VethPair) -> Port {
    let (name, mac) = (station.name.clone(), station.mac.octets());
    // Other hosts want everything, for hosts behind them or for a program, so there is nothing to watch.
    let number = pair.namespace.filter(|_| matches!(station.host, Host::Veth));
    let watched = number.map(|namespace| Watched { namespace, index: pair.station_index });
    Port { name, index: pair.bus_index, mac, outside: station.host.is_outside(), watched }
}

fn silence() -> Result<(), SysctlError> {
    silence_ipv6_everywhere()
}

/// Inside the station's namespace: no offloads, since no wire carries partial checksums or super-frames.
fn configure_station(interface: &str, index: u32, addresses: &[Network], protocols: Protocols) -> Result<(), AnyError> {
    disable_offloads(interface)?;
    let mut netlink = Netlink::open()?;
    // Who switches them on again still hands over frames that a wire carries.
    netlink.set_one_segment(index)?;
    let wanted = |network: &&Network| match protocols {
        Protocols::Ip => true,
        Protocols::Ipv4 => network.address.is_ipv4(),
        Protocols::Silent => false,
    };
    for network in addresses.iter().filter(wanted) {
        netlink.add_address(index, network.address, network.prefix)?;
    }
    netlink.set_up(index)?;
    Ok(())
}

/// Another address: a bridge keeps what is for its own ports' addresses, and the station's is the program's.
fn beside(mac: MacAddr) -> MacAddr {
    MacAddr(mac.0 ^ 0x04, mac.1, mac.2, mac.3, mac.4, mac.5)
}

fn wait_for_carrier(netlink: &mut Netlink, stations: &[StationPlan]) -> Result<(), MakeError> {
    let begin = Instant::now();
    loop {
        let links = netlink.links().map_err(|source| link_error(BUS, source))?;
        let has_carrier = |name: &str| links.iter().any(|link| link.name == name && link.up && link.carrier);
        match stations.iter().find(|station| !has_carrier(&station.name)) {
            None => return Ok(()),
            Some(station) if begin.elapsed() > PATIENCE => {
                return Err(MakeError::NoCarrier { station: station.name.clone() });
            }
            Some(_) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}
