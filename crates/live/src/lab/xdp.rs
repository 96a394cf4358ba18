//! Stations with a program at their interface (XDP). What it answers itself (XDP_TX) goes past the kernel's stack, and a
//! veth takes that only at an end that has such a program too.
//!
//! ```text
//!   station's end          the port
//!   eth0: any program ════ st1: passes everything, merges nothing
//! ```
//! The port has its program as long as the station has one. The kernel attaches none that takes a frame in one piece while
//! the port's MTU is above a page, as it is for `open_to_all`: this takes `xdp = true`.

use super::{AnyError, BUS, LARGEST_MTU, MakeError, Segment, link_error};
use link::ethtool::ReceiveOffloads;
use link::namespace::Namespace;
use link::netlink::{LinkInfo, LinkMonitor, MonitorError, Netlink};
use link::wait::Waiter;
use say::{say, with_causes};
use sim::scenario::plan::Plan;
use std::collections::HashSet;

/// Has a port that is not up yet receive by a program, and keeps its MTU and its station's within what every program takes.
///
/// # Errors
/// A kernel that refuses; without root it does.
pub(super) fn allow(bus: &Namespace, netlink: &mut Netlink, index: u32, name: &str) -> Result<(), AnyError> {
    receive(bus, netlink, index, name, Some(false))?;
    let here = netlink.link_by_name(name)?;
    let there = here.map(|here| netlink.other_end(&here)).transpose()?.flatten();
    // The kernel limits the station's MTU now, and has the same limit for the port's.
    there.map_or(Ok(()), |there| Ok(netlink.set_mtu(index, there.max_mtu)?))
}

/// Gives a port a program, or takes it. Stamps would be late, and lengths wrong, if the port merged frames.
fn receive(
    bus: &Namespace,
    netlink: &mut Netlink,
    index: u32,
    name: &str,
    fragments: Option<bool>,
) -> Result<(), AnyError> {
    netlink.receive_by_program(index, fragments)?;
    if fragments.is_some() {
        bus.run(|| ReceiveOffloads::OFF.apply(name))??;
    }
    Ok(())
}

/// Has ports follow what stations attach from now on, on a thread of its own, until the process ends.
///
/// # Errors
/// Any refusal of the kernel.
pub fn follow(plan: &Plan, segment: &Segment) -> Result<(), MakeError> {
    if plan.takes_xdp() {
        return Ok(());
    }
    let monitor = LinkMonitor::open(&segment.bus)?;
    let netlink = Netlink::in_namespace(&segment.bus).map_err(|source| link_error(BUS, source))?;
    let start = || -> std::io::Result<()> {
        let followed = Followed { bus: segment.bus.try_clone()?, netlink, ports: HashSet::new() };
        let mut waiter = Waiter::new()?;
        waiter.add(&monitor, 0)?;
        std::thread::Builder::new().name("xdp".to_owned()).spawn(move || followed.run(monitor, waiter)).map(drop)
    };
    start().map_err(|source| MakeError::Link { station: BUS.to_owned(), source: source.into() })
}

/// The bus's namespace, and which of its ports have a program.
struct Followed {
    bus: Namespace,
    netlink: Netlink,
    ports: HashSet<u32>,
}

impl Followed {
    fn run(mut self, mut monitor: LinkMonitor, mut waiter: Waiter) {
        loop {
            match monitor.poll() {
                // What is missed is looked up all the same.
                Ok(_) | Err(MonitorError::Overrun) => self.settle(),
                Err(_) => return,
            }
            if waiter.wait(None).is_err() {
                return;
            }
        }
    }

    /// Gives every port a program whose station has one, and takes it from the others.
    fn settle(&mut self) {
        let links = self.netlink.links().unwrap_or_default();
        for link in links.iter().filter(|link| link.lower_elsewhere.is_some()) {
            // Another largest MTU than usual; none is said by kernels before 4.19.
            let wants = ![0, LARGEST_MTU].contains(&link.max_mtu);
            if wants != self.ports.contains(&link.index) {
                self.change(link, wants);
            }
        }
    }

    fn change(&mut self, link: &LinkInfo, wants: bool) {
        // First: what the kernel refuses is said once.
        match wants {
            true => self.ports.insert(link.index),
            false => self.ports.remove(&link.index),
        };
        let name = &link.name;
        // Frames of every length, as without a program.
        match receive(&self.bus, &mut self.netlink, link.index, name, wants.then_some(true)) {
            Ok(()) if wants => say(&format!("ethbus: {name} has an XDP program: its port takes what that answers\n")),
            Ok(()) => say(&format!("ethbus: {name} has no XDP program any more\n")),
            Err(error) => {
                say(&format!(
                    "ethbus: what the XDP program of {name} answers gets lost: {}\n",
                    with_causes(error.as_ref())
                ));
            }
        }
    }
}
