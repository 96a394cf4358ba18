//! Which stations' interfaces can be watched, so that a filter knows when it must let everything through.

use super::{INTERFACE, MakeError, link_error};
use crate::plane::filter::Watched;
use crate::plane::protocol::Port;
use link::namespace::Namespace;
use link::netlink::{LinkInfo, LinkWatch, Netlink};
use sim::scenario::plan::Plan;
use std::os::fd::OwnedFd;

/// Begins to watch, if the plan has a filter, and leaves watched only those stations that nothing is done to yet: those
/// can be filtered.
pub(super) fn watch(
    plan: &Plan,
    bus: &Namespace,
    stations: &[Namespace],
    ports: &mut [Port],
) -> Result<Option<OwnedFd>, MakeError> {
    if !plan.watches() {
        ports.iter_mut().for_each(|port| port.watched = None);
        return Ok(None);
    }
    let watch = LinkWatch::open(bus)?;
    // Read after the watch was opened: it announces later changes.
    for (port, namespace) in ports.iter_mut().zip(stations) {
        let listed = Netlink::in_namespace(namespace).and_then(|mut netlink| netlink.links());
        let links = listed.map_err(|source| link_error(&port.name, source))?;
        port.watched = port.watched.filter(|watched| is_plain(port, *watched, &links));
    }
    Ok(Some(watch.into_fd()))
}

/// Whether an interface has its planned address, and no program wants other frames from it.
fn is_plain(port: &Port, watched: Watched, links: &[LinkInfo]) -> bool {
    let own = links.iter().find(|link| link.index == watched.index && link.name == INTERFACE);
    let plain = |own: &LinkInfo| own.promiscuity == 0 && own.controller.is_none() && own.mac.octets() == port.mac;
    own.is_some_and(plain) && links.iter().all(|link| link.lower != Some(watched.index))
}
