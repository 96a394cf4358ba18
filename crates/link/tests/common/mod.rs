//! A bus's namespace with stations on it, for tests.
//!
//! Every namespace is anonymous, so nothing remains of a test, however it ends.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::time::{Duration, Instant};

use link::MacAddr;
use link::ethtool::disable_offloads;
use link::namespace::{Namespace, capabilities_missing};
use link::netlink::{Netlink, VethPair};
use link::packet::{Receiver, RingSize, Sender, open_receiver, open_sender};
use link::station::{EXPERIMENTAL_ETHERTYPE, StationSocket};
use link::sysctl::silence_ipv6_everywhere;

/// The name of every station's interface.
pub const STATION_INTERFACE: &str = "eth0";

/// Longer than every step takes, so that a test fails only if a step never happens.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Says why a test cannot run. A macro will not do: the test runner would keep the output of a passing test.
pub fn say_skipped(why: &str) {
    let line = format!("SKIPPED: {why}\n");
    std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).expect("standard error is open");
}

/// Whether a test cannot run here; prints the reason.
pub fn skipped() -> bool {
    let missing = capabilities_missing().expect("/proc is mounted");
    if missing.is_empty() {
        return false;
    }
    let names: Vec<_> = missing.iter().map(ToString::to_string).collect();
    say_skipped(&format!("needs {}", names.join(", ")));
    true
}

/// Whether stations leave checksums and segmentation to hardware.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Offloads {
    /// The default of a new veth pair.
    On,
    /// The setting that the bus needs.
    Off,
}

/// A namespace and its interface.
pub struct Station {
    pub namespace: Namespace,
    pub netlink: Netlink,
    pub pair: VethPair,
    pub mac: MacAddr,
}

impl Station {
    /// A socket for experimental frames.
    pub fn socket(&self) -> StationSocket {
        StationSocket::open(&self.namespace, STATION_INTERFACE, EXPERIMENTAL_ETHERTYPE).unwrap()
    }
}

/// A bus's namespace and its stations.
pub struct Lab {
    pub bus: Namespace,
    pub netlink: Netlink,
    pub stations: Vec<Station>,
}

/// A lab whose interfaces are up and silent.
pub fn lab(stations: usize, offloads: Offloads) -> Lab {
    let bus = Namespace::anonymous().unwrap();
    bus.run(silence_ipv6_everywhere).unwrap().unwrap();
    let mut netlink = Netlink::in_namespace(&bus).unwrap();
    let mut stations: Vec<Station> = (0..stations).map(|number| station(&mut netlink, number, offloads)).collect();
    for Station { netlink: own, pair, .. } in &mut stations {
        until(|| has_carrier(&mut netlink, pair.bus_index) && has_carrier(own, pair.station_index));
    }
    Lab { bus, netlink, stations }
}

fn has_carrier(netlink: &mut Netlink, index: u32) -> bool {
    netlink.links().unwrap().iter().any(|link| link.index == index && link.carrier)
}

fn station(bus: &mut Netlink, number: usize, offloads: Offloads) -> Station {
    let namespace = Namespace::anonymous().unwrap();
    namespace.run(silence_ipv6_everywhere).unwrap().unwrap();
    let mac = MacAddr::new(2, 0, 0, 0, 0, number as u8 + 1);
    let bus_name = format!("port{number}");
    let pair = bus.create_veth(&bus_name, &namespace, STATION_INTERFACE, mac).unwrap();
    if offloads == Offloads::Off {
        namespace.run(|| disable_offloads(STATION_INTERFACE)).unwrap().unwrap();
    }
    let mut netlink = Netlink::in_namespace(&namespace).unwrap();
    netlink.set_up(STATION_INTERFACE).unwrap();
    bus.set_up(pair.bus_index).unwrap();
    Station { namespace, netlink, pair, mac }
}

impl Lab {
    pub fn receiver(&self) -> Receiver {
        Receiver::new(open_receiver(&self.bus).unwrap(), RingSize::at_least(256)).unwrap()
    }

    pub fn sender(&self) -> Sender {
        Sender::new(open_sender(&self.bus).unwrap())
    }
}

/// A broadcast frame from `source`, with `octets` octets in all, each payload octet `mark`.
pub fn frame(source: MacAddr, octets: usize, mark: u8) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend(source.octets());
    frame.extend(EXPERIMENTAL_ETHERTYPE.to_be_bytes());
    frame.resize(octets.max(frame.len()), mark);
    frame
}

/// A copy of a received frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    pub ifindex: u32,
    pub stamp: link::clock::RealtimeNanos,
    pub stamp_source: link::packet::StampSource,
    pub octets: Vec<u8>,
    pub partial_checksum: Option<link::packet::PartialChecksum>,
    pub vlan_restored: bool,
    pub truncated: bool,
    pub original_len: usize,
}

/// Waits until `count` frames have come, and gives them.
pub fn collect(receiver: &mut Receiver, count: usize) -> Vec<Copy> {
    let mut copies = Vec::new();
    until(|| {
        copies.extend(waiting(receiver));
        copies.len() >= count
    });
    copies
}

/// The frames that wait now.
pub fn waiting(receiver: &mut Receiver) -> Vec<Copy> {
    let mut copies = Vec::new();
    receiver.receive(usize::MAX, |received| {
        copies.push(Copy {
            ifindex: received.ifindex,
            stamp: received.stamp,
            stamp_source: received.stamp_source,
            octets: received.octets.to_vec(),
            partial_checksum: received.partial_checksum,
            vlan_restored: received.vlan_restored,
            truncated: received.truncated,
            original_len: received.original_len,
        });
    });
    copies
}

/// Tries until `done`, with a pause between tries.
pub fn until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "it did not happen within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs the tests of a file without harness, by the arguments of the harness that are needed: a filter and a list.
pub fn run_tests(tests: &[(&str, fn())], arguments: &[String]) -> std::process::ExitCode {
    if arguments.iter().any(|argument| argument == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return std::process::ExitCode::SUCCESS;
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    for (name, test) in tests.iter().filter(|(name, _)| filter.is_none_or(|part| name.contains(part.as_str()))) {
        test();
        println!("test {name} ... ok");
    }
    std::process::ExitCode::SUCCESS
}
