//! The kernel's counters between a station and the bus, with the frames that it drops there silently. The supervisor
//! reads them for each report of results.
//!
//! ```text
//!   tap0     ── br0 ── eth0 ════ st1        a station's namespace ════ the bus's
//!   outside0 ── br0 ── eth0 ════ st2
//! ```
//! The two ends of a veth pair count each frame once, so what one end sent is what the other received.

use super::inventory::{Claim, Inventory};
use super::{BUS, INTERFACE, OUTSIDE, TAP};
use crate::plane::protocol::Port;
use link::echo::round_trip;
use link::ethtool::offloads_on;
use link::netlink::{Interface, LinkInfo, Netlink};
use sim::figures::results::LinkResults;
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Plan, StationPlan};
use sim::words::choices::LinkChoice;
use std::collections::HashMap;
use std::time::Duration;

/// Echoes that measure the delay of a tunnel.
const ECHOES: u16 = 3;
/// How long each may take: a lab whose other machine does not answer is up half a second later.
const PATIENCE: Duration = Duration::from_millis(500);

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct Links {
    bus: Option<Claim>,
    /// None where stations have no interfaces in this kernel.
    link: Option<LinkChoice>,
    stations: Vec<Station>,
}

#[derive(Clone, Debug)]
struct Station {
    port: Port,
    /// Its namespace has one interface from the lab, and that is the other end of its link.
    plain: bool,
    /// Its interface is the lab's own, and may lose its carrier.
    can_lose_carrier: bool,
    claim: Option<Claim>,
    /// What was lost outside before the lab was up: an interface that is lent has counted since it was made.
    lost_before: u64,
    /// To the other machine of a tunnel, as it was made.
    round_trip: Option<Duration>,
    carrier: Carrier,
}

/// What a station's host has dropped for want of carrier. Its kernel counts that among all that it drops.
#[derive(Clone, Copy, Debug, Default)]
struct Carrier {
    /// A user has taken the station off the medium.
    is_unplugged: bool,
    /// Since the carrier was lost, if it is: what the kernel had counted then.
    lost_at: Option<u64>,
    /// In earlier times without carrier.
    dropped_before: u64,
}

impl Carrier {
    /// Of all `dropped` frames, those for want of carrier.
    fn dropped(self, dropped: u64) -> u64 {
        self.dropped_before + self.lost_at.map_or(0, |before| dropped.saturating_sub(before))
    }
}

impl Links {
    /// The links of the lab with this inventory.
    pub fn new(plan: &Plan, record: &Inventory, ports: &[Port]) -> Links {
        let stations = ports.iter().zip(&plan.stations).map(|(port, plan)| Station::new(plan, record, port)).collect();
        Links { bus: record.claim_of(BUS).cloned(), link: Some(plan.link), stations }
    }

    /// A user has put a station onto the medium, or taken it off.
    pub fn plug(&mut self, name: &str, plugged: bool, record: &Inventory) {
        for station in self.stations.iter_mut().filter(|station| station.port.name == name) {
            station.carrier.is_unplugged = !plugged;
        }
        self.settle(record);
    }

    /// From now on unplugged stations have no carrier, or have it.
    pub fn choose(&mut self, link: LinkChoice, record: &Inventory) {
        self.link = Some(link);
        self.settle(record);
    }

    /// Sets the bus's end of each link that is to have another carrier. The station's own end stays as it is: its kernel
    /// would forget its IPv6 addresses.
    fn settle(&mut self, record: &Inventory) {
        let follows = self.link == Some(LinkChoice::Follows);
        let wants = |station: &Station| follows && station.carrier.is_unplugged && station.can_lose_carrier;
        let namespace = self.bus.as_ref().and_then(|bus| record.namespace(bus));
        let is_settled = |station: &Station| wants(station) == station.carrier.lost_at.is_some();
        if self.stations.iter().all(is_settled) {
            return;
        }
        let Some(mut netlink) = namespace.and_then(|bus| Netlink::in_namespace(&bus).ok()) else { return };
        for station in self.stations.iter_mut().filter(|station| !is_settled(station)) {
            let (index, wants) = (Interface::Index(station.port.index), wants(station));
            // What is dropped while the carrier changes is a loss like others.
            let before = station.dropped(&mut netlink, record);
            let changed = if wants { netlink.set_down(index) } else { netlink.set_up(index) };
            let after = station.dropped(&mut netlink, record);
            // An interface that is gone is reported by the data plane.
            if changed.is_ok() {
                station.set_carrier_of_tap(record, !wants);
                let carrier = &mut station.carrier;
                carrier.dropped_before = carrier.dropped(after.unwrap_or_default());
                carrier.lost_at = before.filter(|_| wants);
            }
        }
    }

    /// A station joins at its place, or joins again.
    pub fn join(&mut self, place: usize, plan: &StationPlan, record: &Inventory, port: &Port) {
        let station = Station::new(plan, record, port);
        match self.stations.get_mut(place) {
            Some(known) => *known = station,
            None => self.stations.push(station),
        }
    }

    /// What the kernel has counted since the links were made, or for what is lent, since the lab came up. A station whose interface or namespace is gone is left out.
    ///
    /// `suspicious`: frames came that only a station with offloads sends, so each station is asked for its own.
    pub fn look(&self, record: &Inventory, suspicious: bool) -> Vec<LinkResults> {
        // From the bus's namespace the others' ends of its links can be asked for, without a look into each namespace: that
        // takes a thread and a socket each time.
        let mut netlink = self.bus.as_ref().and_then(|bus| Netlink::in_namespace(&record.namespace(bus)?).ok());
        let bus = netlink.as_mut().and_then(|netlink| netlink.links().ok()).unwrap_or_default();
        let bus: HashMap<u32, &LinkInfo> = bus.iter().map(|link| (link.index, link)).collect();
        let of_station = |station: &Station| {
            let Station { port, claim, lost_before, round_trip, .. } = station;
            let here = *bus.get(&port.index)?;
            let there = station.there(netlink.as_mut(), here, record);
            let tap = there.iter().find(|link| link.name == TAP);
            let dropped = station.interface(&there).map_or(0, |link| link.tx_dropped);
            let without_carrier = station.carrier.dropped(dropped);
            Some(LinkResults {
                station: port.name.clone(),
                offloads: if suspicious && !port.outside { offloads(record, claim.as_ref()) } else { Vec::new() },
                from_station: here.rx_packets,
                to_station: here.tx_packets,
                lost_from_station: dropped.saturating_sub(without_carrier),
                without_carrier,
                lost_to_station: here.tx_dropped,
                lost_at_tap: tap.map_or(0, |link| link.tx_dropped + link.rx_dropped),
                lost_outside: lost_outside(&there).saturating_sub(*lost_before),
                tunnel_round_trip_ns: round_trip.map(|span| span.as_nanos() as u64),
            })
        };
        self.stations.iter().filter_map(of_station).collect()
    }
}

impl Station {
    fn new(plan: &StationPlan, record: &Inventory, port: &Port) -> Station {
        let claim = record.claim_of(&port.name).cloned();
        let there = claim.as_ref().filter(|_| port.outside).map_or_else(Vec::new, |claim| known_in(record, claim));
        let plain = matches!(plan.host, Host::Veth | Host::Existing(_));
        let round_trip = match &plan.host {
            // The tunnel's packets go by this namespace.
            Host::Vxlan(tunnel) => round_trip(tunnel.remote, tunnel.local, ECHOES, PATIENCE),
            Host::Veth | Host::Tap | Host::Interface(_) | Host::Bridge(_) | Host::Existing(_) => None,
        };
        Station {
            port: port.clone(),
            plain,
            can_lose_carrier: plain || plan.host == Host::Tap,
            claim,
            lost_before: lost_outside(&there),
            round_trip,
            carrier: Carrier::default(),
        }
    }

    /// The interfaces at the station's end of the link whose end on the bus's side is `here`.
    fn there(&self, netlink: Option<&mut Netlink>, here: &LinkInfo, record: &Inventory) -> Vec<LinkInfo> {
        match netlink.and_then(|netlink| netlink.other_end(here).ok().flatten()).filter(|_| self.plain) {
            Some(there) => vec![there],
            None => self.claim.as_ref().map_or_else(Vec::new, |claim| known_in(record, claim)),
        }
    }

    /// The other end itself.
    fn interface<'a>(&self, there: &'a [LinkInfo]) -> Option<&'a LinkInfo> {
        there.iter().find(|link| self.plain || link.name == INTERFACE)
    }

    /// How many frames its kernel has dropped there; nothing if the interface is gone.
    fn dropped(&self, netlink: &mut Netlink, record: &Inventory) -> Option<u64> {
        let here = netlink.link_by_name(&self.port.name).ok()??;
        let there = self.there(Some(netlink), &here, record);
        self.interface(&there).map(|link| link.tx_dropped)
    }

    /// The program behind a TAP device sees the device, not the link.
    fn set_carrier_of_tap(&self, record: &Inventory, carrier: bool) {
        let claim = self.claim.as_ref().filter(|_| !self.plain);
        let netlink = claim.and_then(|claim| Netlink::in_namespace(&record.namespace(claim)?).ok());
        // A device that is gone has no carrier.
        netlink.map(|mut netlink| netlink.set_carrier(TAP, carrier).ok());
    }
}

/// The offloads that were switched on again in a station.
fn offloads(record: &Inventory, claim: Option<&Claim>) -> Vec<String> {
    let Some(namespace) = claim.and_then(|claim| record.namespace(claim)) else { return Vec::new() };
    let on = namespace.run(|| offloads_on(INTERFACE).unwrap_or_default()).unwrap_or_default();
    on.into_iter().map(str::to_owned).collect()
}

/// What was dropped where a station leads outside, since that interface was made.
fn lost_outside(links: &[LinkInfo]) -> u64 {
    let outside = links.iter().find(|link| link.name == OUTSIDE);
    outside.map_or(0, |link| link.tx_dropped + link.rx_dropped + link.tx_errors)
}

/// The interfaces that a station's namespace has from the lab. The others are not listed: there may be any number of them.
fn known_in(record: &Inventory, claim: &Claim) -> Vec<LinkInfo> {
    let Some(namespace) = record.namespace(claim) else { return Vec::new() };
    let Ok(mut netlink) = Netlink::in_namespace(&namespace) else { return Vec::new() };
    [INTERFACE, TAP, OUTSIDE].into_iter().filter_map(|name| netlink.link_by_name(name).ok()?).collect()
}
