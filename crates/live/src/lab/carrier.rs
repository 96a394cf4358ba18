//! A station's link is up as long as what is outside has a link: a cable is pulled out of a network card, a virtual machine
//! ends, and the station is off the medium, which the bus tells and counts as for every other.

use super::{AnyError, INTERFACE, MakeError, OUTSIDE, Segment};
use link::namespace::Namespace;
use link::netlink::{LinkMonitor, MonitorError, Netlink};
use link::wait::Waiter;
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Plan, StationPlan};

/// A station's namespace, and what its link was last made.
struct FollowedLink {
    monitor: LinkMonitor,
    netlink: Netlink,
    up: bool,
}

/// Has the links of stations follow what is outside from now on, on a thread of its own, until the process ends.
///
/// As long as it runs, it keeps their namespaces alive: a lent interface survives the removal of their names.
///
/// # Errors
/// Any refusal of the kernel.
pub fn follow(plan: &Plan, segment: &Segment) -> Result<(), MakeError> {
    follow_each(plan.stations.iter().zip(&segment.stations))
}

/// The same of one station that joins.
///
/// # Errors
/// As [`follow`].
pub fn follow_one(station: &StationPlan, namespace: &Namespace) -> Result<(), MakeError> {
    follow_each(std::iter::once((station, namespace)))
}

fn follow_each<'a>(stations: impl Iterator<Item = (&'a StationPlan, &'a Namespace)>) -> Result<(), MakeError> {
    let is_followed = |host: &Host| matches!(host, Host::Interface(_) | Host::Vxlan(_));
    let stations = stations.filter(|(station, _)| is_followed(&station.host));
    let failed = |station: &str| {
        let station = station.to_owned();
        move |source| MakeError::Link { station, source }
    };
    let mut watched = Vec::new();
    for (station, namespace) in stations {
        watched.push(watch(namespace).map_err(failed(&station.name))?);
    }
    if watched.is_empty() {
        return Ok(());
    }
    let waiter = waiter(&watched).map_err(failed("every station outside"))?;
    let run = move || run(watched, waiter);
    let thread = std::thread::Builder::new().name("carrier".to_owned()).spawn(run);
    thread.map(drop).map_err(|source| failed("every station outside")(source.into()))
}

fn watch(namespace: &Namespace) -> Result<FollowedLink, AnyError> {
    Ok(FollowedLink { monitor: LinkMonitor::open(namespace)?, netlink: Netlink::in_namespace(namespace)?, up: true })
}

fn waiter(watched: &[FollowedLink]) -> Result<Waiter, AnyError> {
    let mut waiter = Waiter::new()?;
    for (token, watched) in (0..).zip(watched) {
        waiter.add(&watched.monitor, token)?;
    }
    Ok(waiter)
}

fn run(mut watched: Vec<FollowedLink>, mut waiter: Waiter) {
    watched.iter_mut().for_each(settle);
    loop {
        let Ok(tokens) = waiter.wait(None) else { return };
        for token in tokens.collect::<Vec<_>>() {
            let watched = &mut watched[token as usize];
            match watched.monitor.poll() {
                // What is missed is looked up all the same.
                Ok(_) | Err(MonitorError::Overrun) => settle(watched),
                // Any such error would be reported again and again.
                Err(_) => drop(waiter.remove(&watched.monitor)),
            }
        }
    }
}

/// Makes the station's link what the one outside is, if that has changed.
fn settle(watched: &mut FollowedLink) {
    let Ok(link) = watched.netlink.link_by_name(OUTSIDE) else { return };
    let up = link.is_some_and(|link| link.up && link.carrier);
    let change = if up { Netlink::set_up } else { Netlink::set_down };
    if up != watched.up && change(&mut watched.netlink, INTERFACE).is_ok() {
        watched.up = up;
    }
}
