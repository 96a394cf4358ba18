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
use crate::live::plane::protocol::Port;
use link::echo::round_trip;
use link::ethtool::offloads_on;
use link::netlink::{LinkInfo, Netlink};
use sim::figures::results::LinkResults;
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Plan, StationPlan};
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
    stations: Vec<Station>,
}

#[derive(Clone, Debug)]
struct Station {
    port: Port,
    /// Its namespace has one interface from the lab, and that is the other end of its link.
    plain: bool,
    claim: Option<Claim>,
    /// What was lost outside before the lab was up: an interface that is lent has counted since it was made.
    lost_before: u64,
    /// To the other machine of a tunnel, as it was made.
    round_trip: Option<Duration>,
}

impl Links {
    /// The links of the lab with this record.
    pub fn new(plan: &Plan, record: &Inventory, ports: &[Port]) -> Links {
        let stations = ports.iter().zip(&plan.stations).map(|(port, plan)| Station::new(plan, record, port)).collect();
        Links { bus: record.claim_of(BUS).cloned(), stations }
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
        let mut other_end = |here: &LinkInfo| netlink.as_mut()?.other_end(here).ok().flatten();
        let of_station = |Station { port, plain, claim, lost_before, round_trip }: &Station| {
            let here = *bus.get(&port.index)?;
            let there = match other_end(here).filter(|_| *plain) {
                Some(there) => vec![there],
                None => claim.as_ref().map_or_else(Vec::new, |claim| known_in(record, claim)),
            };
            let find = |name: &str| there.iter().find(|link| link.name == name);
            let interface = if *plain { there.first() } else { find(INTERFACE) };
            let tap = find(TAP);
            let count = |link: Option<&LinkInfo>, of: fn(&LinkInfo) -> u64| link.map_or(0, of);
            Some(LinkResults {
                station: port.name.clone(),
                offloads: if suspicious && !port.outside { offloads(record, claim.as_ref()) } else { Vec::new() },
                from_station: here.rx_packets,
                to_station: here.tx_packets,
                lost_from_station: count(interface, |link| link.tx_dropped),
                lost_to_station: here.tx_dropped,
                lost_at_tap: count(tap, |link| link.tx_dropped + link.rx_dropped),
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
        Station { port: port.clone(), plain, claim, lost_before: lost_outside(&there), round_trip }
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
