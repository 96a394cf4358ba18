//! What `ethbus up` says when a lab is up: whose addresses are whose, and what to type next.

use live::lab::{FanOutMade, TAP};
use say::plain_table;
use say::program::{as_root as as_root_typed, program};
use say::terminal::{USUAL, fold};
use sim::scenario::plan::host::Host;
use sim::scenario::plan::host::Tunnel;
use sim::scenario::plan::{DEFAULT_NAME, Plan, StationPlan};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// What the end of a tunnel is called in what is to be typed at the other machine.
const INTERFACE_THERE: &str = "ethbus0";

/// What a lab without root cannot do, printed at its start.
const WITHOUT_ROOT: &str = "ethbus: without root the bus has the priority of any program, so deliveries are later on a busy \
    machine\n";

/// In place of an address that is not ours to give.
const ANY: &str = "any";

/// The whole text; without root, other commands follow it. `pings`: a program may send at once, and no bound is lost.
pub fn greeting(plan: &Plan, fan_out: &FanOutMade, as_root: bool, in_background: bool, pings: bool) -> String {
    let (ethbus, limits) = if as_root { (as_root_typed(), "") } else { (program(), WITHOUT_ROOT) };
    let ethbus = ethbus.as_str();
    let rows = plan.stations.iter().map(|station| {
        // What was there before the lab keeps its addresses.
        if let Host::Interface(_) | Host::Bridge(Some(_)) = station.host {
            return [station.name.clone(), ANY.to_owned(), ANY.to_owned(), ANY.to_owned()];
        }
        row(station)
    });
    let name = if plan.name == DEFAULT_NAME { String::new() } else { format!("--name {} ", plan.name) };
    let first = plan.stations.iter().find(|station| station.host == Host::Veth);
    let answers = |station: &&StationPlan| matches!(station.host, Host::Veth | Host::Existing(_));
    let ping = first.filter(|_| pings).and_then(|first| {
        let other = plan.stations.iter().rev().filter(answers).find(|other| other.name != first.name)?;
        Some(format!("  {ethbus} exec {name}{} ping {}\n", first.name, other.name))
    });
    let others: String = plan.stations.iter().filter_map(|station| how_to_be(ethbus, &name, station)).collect();
    let own = if name.is_empty() { String::new() } else { format!(" {}", name.trim_end()) };
    let (lab, rate, seed) = (&plan.name, plan.medium.rate, plan.medium.seed);
    let (ends, elsewhere) = ends(in_background);
    let is_up = format!("ethbus: lab `{lab}` is up at {rate}, {fan_out}, seed {seed};\n");
    format!(
        "{}\n{}`{ethbus} down{own}` {ends}. {elsewhere}:\n{}{others}  {ethbus} stats{own}\n{}",
        plain_table(["station", "MAC", "IPv4", "IPv6"], rows),
        fold(&is_up, USUAL),
        ping.unwrap_or_default(),
        fold(limits, USUAL)
    )
}

/// That of a lab in virtual time.
pub fn greeting_of_kernels(plan: &Plan, in_background: bool) -> String {
    let rows = plan.stations.iter().map(row);
    let own = if plan.name == DEFAULT_NAME { String::new() } else { format!(" --name {}", plan.name) };
    let others = plan.stations.first().zip(plan.stations.get(1));
    let ping = others.map_or_else(String::new, |(one, other)| {
        format!("  {} exec{own} {} ping -c 3 {}\n", program(), one.name, other.name)
    });
    let (lab, rate, seed, ethbus) = (&plan.name, plan.medium.rate, plan.medium.seed, program());
    let is_up = format!("ethbus: lab `{lab}` is up at {rate} in virtual time, seed {seed};\n");
    let (ends, elsewhere) = ends(in_background);
    format!(
        "{}\n{}`{ethbus} down{own}` {ends}. {elsewhere}:\n{ping}  {ethbus} stats{own}\n",
        plain_table(["station", "MAC", "IPv4", "IPv6"], rows),
        fold(&is_up, USUAL)
    )
}

/// A station with its addresses.
fn row(station: &StationPlan) -> [String; 4] {
    let address =
        |index: usize| station.addresses.get(index).map_or(String::new(), |network| network.address.to_string());
    [station.name.clone(), station.mac.to_string(), address(0), address(1)]
}

/// The words after the command that ends a lab, and before the commands to type next.
fn ends(in_background: bool) -> (&'static str, &'static str) {
    match in_background {
        true => ("ends it", "Next"),
        false => ("or an interrupt (Ctrl-C) ends it", "In another terminal"),
    }
}

/// How a program or a machine becomes the host of a station that is no namespace with a kernel's stack.
fn how_to_be(ethbus: &str, lab: &str, station: &StationPlan) -> Option<String> {
    let name = &station.name;
    Some(match &station.host {
        Host::Veth => return None,
        Host::Existing(existing) => {
            format!("  {name}: {} in the namespace {}, with the addresses above\n", existing.interface, existing.netns)
        }
        Host::Tap => format!("  {ethbus} exec {lab}{name} PROGRAM    that opens {TAP}, with the addresses above\n"),
        Host::Interface(interface) => format!("  {name}: what is behind {interface}, with any addresses\n"),
        Host::Bridge(Some(bridge)) => format!("  {name}: what is behind the bridge {bridge}, with any addresses\n"),
        Host::Bridge(None) => format!(
            "  {name}: what is behind the new bridge {name}; for this machine itself: sudo ip address add {} dev {name}\n",
            addresses(station).next().unwrap_or_default()
        ),
        Host::Vxlan(tunnel) => format!("  {name}, on the machine {}:\n{}", tunnel.remote, far_end(station, tunnel)),
    })
}

/// What makes the other end of a tunnel, to be typed there.
fn far_end(station: &StationPlan, tunnel: &Tunnel) -> String {
    let Tunnel { vni, remote, port, .. } = tunnel;
    let near = tunnel.local.or_else(|| own_address(*remote)).map_or("THIS-MACHINE".to_owned(), |near| near.to_string());
    let make = format!("link add {INTERFACE_THERE} address {} type vxlan id {vni}", station.mac);
    let mut text = format!("    sudo ip {make} local {remote} remote {near} dstport {port}\n");
    for address in addresses(station) {
        text += &format!("    sudo ip address add {address} dev {INTERFACE_THERE}\n");
    }
    text + &format!("    sudo ip link set {INTERFACE_THERE} up\n")
}

fn addresses(station: &StationPlan) -> impl Iterator<Item = String> {
    station.addresses.iter().map(|network| format!("{}/{}", network.address, network.prefix))
}

/// The address that this machine talks to another one from, if it has a route. Nothing is sent.
fn own_address(remote: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((remote, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}
