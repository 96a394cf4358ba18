//! A station that joins a lab while it is up, or leaves it: one namespace and one link, made and removed as those of the
//! others are.

use super::existing;
use super::inventory::{Inventory, InventoryError};
use super::outside::{self, Surroundings};
use super::{
    AnyError, BUS, MakeError, Protocols, carrier, connect, has_own_namespace, link_error, namespace_name, open_to_all,
    port, wait_for_carrier,
};
use crate::plane::protocol::Port;
use link::namespace::{Names, Namespace, NamespaceError, apart};
use link::netlink::Netlink;
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Plan, StationPlan};

/// Makes a station for a lab that is up. If anything fails, nothing of it stays.
///
/// # Errors
/// Any refusal of the kernel; a station that cannot lead outside as it is to.
pub fn make(station: &StationPlan, plan: &Plan, record: &mut Inventory) -> Result<Port, MakeError> {
    let made = make_parts(station, plan, record);
    if made.is_err() {
        // The first error is the one to report; what cannot be removed is in the inventory.
        let _ = remove(&station.name, record);
    }
    made
}

/// Removes a station's link, the namespace that the lab made for it, and what it has outside.
///
/// # Errors
/// What could not be removed; it stays in the inventory.
pub fn remove(station: &str, record: &mut Inventory) -> Result<(), InventoryError> {
    // Without it the link goes with the station's namespace, which programs keep alive for a while.
    let bus = record.claim_of(BUS).and_then(|claim| record.namespace(claim));
    if let Some(mut netlink) = bus.and_then(|bus| Netlink::in_namespace(&bus).ok()) {
        let _ = netlink.delete(station);
    }
    record.remove_station(station)
}

fn make_parts(station: &StationPlan, plan: &Plan, record: &mut Inventory) -> Result<Port, MakeError> {
    let failed = |source: NamespaceError| MakeError::Namespace { whose: station.name.clone(), source };
    let home = Namespace::current().map_err(failed)?;
    let bus = record.claim_of(BUS).and_then(|claim| record.namespace(claim));
    let bus = bus.ok_or_else(|| failed(NamespaceError::Absent { name: namespace_name(&plan.name, BUS) }))?;
    let mut netlink = Netlink::in_namespace(&bus).map_err(|source| link_error(BUS, source))?;
    let namespace = match &station.host {
        Host::Bridge(_) => Namespace::current().map_err(failed)?,
        Host::Existing(existing) => existing::open(station, existing)?,
        Host::Veth | Host::Tap | Host::Interface(_) | Host::Vxlan(_) => Namespace::anonymous().map_err(failed)?,
    };
    if has_own_namespace(station) {
        let name = record.has_names().then(|| namespace_name(&plan.name, &station.name));
        record.claim(&[(&station.name, &namespace)], |_| name.clone())?;
        if let Some(name) = name {
            Names::prepare().and_then(|names| names.give(&namespace, &name)).map_err(failed)?;
        }
    }
    let of_link = |source: AnyError| MakeError::Link { station: station.name.clone(), source };
    let pair = if station.host == Host::Veth {
        apart(|| connect(&mut netlink, station, &namespace, Protocols::Ip))
    } else {
        let payload = plan.medium.parameters.max_frame_size.get().saturating_sub(medium::HEADER_AND_FCS.get());
        let mut surroundings =
            Surroundings { home, payload, even_default_route: plan.even_default_route, record: Some(record) };
        outside::connect(&mut netlink, station, &namespace, Protocols::Ip, &mut surroundings)
    };
    let pair = open_to_all(plan, station, &bus, &mut netlink, pair).map_err(of_link)?;
    wait_for_carrier(&mut netlink, std::slice::from_ref(station))?;
    carrier::follow_one(station, &namespace)?;
    Ok(port(station, pair))
}
