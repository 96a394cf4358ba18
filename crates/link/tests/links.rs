//! Links, their settings, and the reports about them.

mod common;

use std::ffi::OsStr;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::time::Duration;

use common::{Offloads, STATION_INTERFACE, collect, frame, lab, skipped, until, waiting};
use link::MacAddr;
use link::ethtool::{EthtoolError, disable_offloads};
use link::namespace::Namespace;
use link::netlink::{LinkChange, LinkError, LinkMonitor, MonitorError, Netlink};
use link::packet::SendError;
use link::station::StationSocket;
use link::sysctl::{SysctlError, silence_ipv6};
use link::wait::Waiter;

#[test]
fn both_ends_of_a_pair_are_where_they_were_asked_for() {
    if skipped() {
        return;
    }
    let mut lab = lab(2, Offloads::Off);
    for (number, station) in lab.stations.iter_mut().enumerate() {
        let bus_end = lab.netlink.link_by_name(&format!("port{number}")).unwrap().unwrap();
        assert_eq!(bus_end.index, station.pair.bus_index);
        assert!(bus_end.up && bus_end.carrier);
        let station_end = station.netlink.link_by_name(STATION_INTERFACE).unwrap().unwrap();
        assert_eq!(station_end.index, station.pair.station_index);
        assert_eq!((station_end.mac, station_end.mtu), (station.mac, 1500));
    }
    let names: Vec<_> = lab.netlink.links().unwrap().into_iter().map(|link| link.name).collect();
    assert_eq!(names, ["lo", "port0", "port1"]);
}

#[test]
fn a_pair_that_cannot_be_made_leaves_nothing() {
    if skipped() {
        return;
    }
    let mut lab = lab(1, Offloads::Off);
    let station = &lab.stations[0].namespace;
    let mac = MacAddr::new(2, 0, 0, 0, 0, 9);
    let taken = lab.netlink.create_veth("new", station, STATION_INTERFACE, mac);
    assert!(matches!(taken, Err(LinkError::Exists { .. })), "{taken:?}");
    let taken = lab.netlink.create_veth("port0", station, "eth1", mac);
    assert!(matches!(taken, Err(LinkError::Exists { interface }) if interface == "port0"));
    let group = lab.netlink.create_veth("new", station, "eth1", MacAddr::broadcast());
    assert!(matches!(group, Err(LinkError::Refused { .. })), "{group:?}");
    let name = lab.netlink.create_veth("a/b", station, "eth1", mac);
    assert!(matches!(name, Err(LinkError::Name(_))));
    assert_eq!(lab.netlink.links().unwrap().len(), 2);
    assert_eq!(lab.stations[0].netlink.links().unwrap().len(), 2);
}

#[test]
fn an_error_tells_the_interface_and_the_kernels_own_words() {
    if skipped() {
        return;
    }
    let mut lab = lab(1, Offloads::Off);
    let absent = lab.netlink.set_up("nothing");
    assert!(matches!(absent, Err(LinkError::NoInterface { interface }) if interface == "nothing"));
    assert!(matches!(lab.netlink.delete(9999), Err(LinkError::NoInterface { .. })));
    assert_eq!(lab.netlink.link_by_name("nothing").unwrap(), None);
    let Err(LinkError::Refused { interface, message, .. }) = lab.netlink.set_mtu("port0", 10) else {
        panic!("an MTU below 68 is refused");
    };
    assert_eq!(interface, "port0");
    assert_eq!(message.as_deref(), Some("mtu less than device minimum"));
}

#[test]
fn an_address_can_be_used_at_once() {
    if skipped() {
        return;
    }
    let bus = Namespace::anonymous().unwrap();
    let station = Namespace::anonymous().unwrap();
    let mac = MacAddr::new(2, 0, 0, 0, 0, 1);
    let mut bus_links = Netlink::in_namespace(&bus).unwrap();
    let pair = bus_links.create_veth("port0", &station, STATION_INTERFACE, mac).unwrap();
    let mut netlink = Netlink::in_namespace(&station).unwrap();
    netlink.set_up(pair.station_index).unwrap();
    bus_links.set_up(pair.bus_index).unwrap();
    for (address, prefix) in [("192.0.2.1", 24), ("192.0.2.65", 31), ("2001:db8::1", 64)] {
        let address: IpAddr = address.parse().unwrap();
        netlink.add_address(pair.station_index, address, prefix).unwrap();
        station.run(|| UdpSocket::bind((address, 0))).unwrap().unwrap();
        let again = netlink.add_address(pair.station_index, address, prefix);
        assert!(matches!(again, Err(LinkError::Exists { .. })), "{again:?}");
    }
}

#[test]
fn what_an_interface_counts_and_who_listens_is_told() {
    if skipped() {
        return;
    }
    let mut lab = lab(1, Offloads::Off);
    let station = &mut lab.stations[0];
    let before = station.netlink.link_by_name(STATION_INTERFACE).unwrap().unwrap();
    assert_eq!(before.promiscuity, 0);
    let mut socket = StationSocket::open_promiscuous(&station.namespace, STATION_INTERFACE).unwrap();
    socket.send(&frame(station.mac, 60, 0)).unwrap();
    let after = station.netlink.link_by_name(STATION_INTERFACE).unwrap().unwrap();
    assert_eq!(after.promiscuity, 1, "as a capture in the station would show");
    assert_eq!(after.tx_packets, before.tx_packets + 1);
}

#[test]
fn the_monitor_tells_when_a_station_goes_down_and_up() {
    if skipped() {
        return;
    }
    let mut lab = lab(2, Offloads::Off);
    let opened = LinkMonitor::open(&lab.bus).unwrap();
    let mut monitor = LinkMonitor::from_fd(opened.into_fd());
    assert_eq!(monitor.poll().unwrap(), []);
    let index = lab.stations[0].pair.bus_index;

    lab.stations[0].netlink.set_down(STATION_INTERFACE).unwrap();
    expect(&mut monitor, LinkChange::Down { index });
    lab.stations[0].netlink.set_up(STATION_INTERFACE).unwrap();
    expect(&mut monitor, LinkChange::Up { index });
    lab.netlink.set_down(index).unwrap();
    expect(&mut monitor, LinkChange::Down { index });
    lab.netlink.delete(index).unwrap();
    expect(&mut monitor, LinkChange::Gone { index });
}

#[test]
fn a_station_that_vanishes_is_gone_for_monitor_and_sender() {
    if skipped() {
        return;
    }
    let mut lab = lab(2, Offloads::Off);
    let (mut receiver, mut sender) = (lab.receiver(), lab.sender());
    let mut monitor = LinkMonitor::open(&lab.bus).unwrap();
    let vanished = lab.stations.remove(0);
    let (index, octets) = (vanished.pair.bus_index, frame(vanished.mac, 60, 0));
    drop(vanished);
    expect(&mut monitor, LinkChange::Gone { index });
    let mut results = Vec::new();
    sender.send(&[(index, &octets)], &mut results);
    assert_eq!(results, [Err(SendError::NoInterface)]);

    // The port keeps working for the others, and the change does not keep it awake.
    let mut waiter = Waiter::new().unwrap();
    waiter.add(&receiver, 0).unwrap();
    assert_eq!(waiter.wait(Some(Duration::ZERO)).unwrap().count(), 0);
    lab.stations[0].socket().send(&octets).unwrap();
    assert_eq!(collect(&mut receiver, 1)[0].octets, octets);
}

#[test]
fn a_monitor_that_is_not_read_says_that_it_lost_changes_and_then_how_things_are() {
    if skipped() {
        return;
    }
    let mut lab = lab(2, Offloads::Off);
    let mut monitor = LinkMonitor::open(&lab.bus).unwrap();
    let descriptor = monitor.as_fd().try_clone_to_owned().unwrap();
    nix::sys::socket::setsockopt(&descriptor, nix::sys::socket::sockopt::RcvBuf, &0).unwrap();
    let index = lab.stations[0].pair.bus_index;
    for mtu in 1000..1100 {
        lab.netlink.set_mtu(index, mtu).unwrap();
    }
    // These many changes of one interface push out that of another.
    let other = lab.stations[1].pair.bus_index;
    lab.netlink.set_down(other).unwrap();
    assert!(matches!(monitor.poll(), Err(MonitorError::Overrun)));
    let mut told = Vec::new();
    until(|| {
        told.extend(monitor.poll().unwrap_or_default());
        told.contains(&LinkChange::Down { index: other })
    });
    assert!(told.contains(&LinkChange::Up { index }), "{told:?}");
    until(|| monitor.poll().is_ok_and(|changes| changes.is_empty()));
    lab.netlink.set_down(index).unwrap();
    expect(&mut monitor, LinkChange::Down { index });
}

#[test]
fn a_silenced_interface_sends_nothing_when_it_comes_up() {
    if skipped() {
        return;
    }
    let mut lab = lab(0, Offloads::Off);
    let mut receiver = lab.receiver();
    let station = Namespace::anonymous().unwrap();
    let mut netlink = Netlink::in_namespace(&station).unwrap();
    for (interface, silent) in [("loud", false), ("silent", true)] {
        let mac = MacAddr::new(2, 0, 0, 0, 1, silent.into());
        let pair = lab.netlink.create_veth(interface, &station, interface, mac).unwrap();
        if silent {
            station.run(|| silence_ipv6(interface)).unwrap().unwrap();
        }
        netlink.set_up(interface).unwrap();
        lab.netlink.set_up(pair.bus_index).unwrap();
        let count = |receiver: &mut _| {
            let frames = waiting(receiver);
            frames.iter().filter(|copy| copy.ifindex == pair.bus_index).count()
        };
        if silent {
            std::thread::sleep(Duration::from_millis(1500));
            assert_eq!(count(&mut receiver), 0);
        } else if std::path::Path::new("/proc/sys/net/ipv6").exists() {
            until(|| count(&mut receiver) > 0);
        }
    }
    let absent = station.run(|| silence_ipv6("nothing")).unwrap();
    assert!(matches!(absent, Err(SysctlError::NoInterface { .. })));
    let absent = station.run(|| disable_offloads("nothing")).unwrap();
    assert!(matches!(absent, Err(EthtoolError::NoInterface { .. })));
}

/// Waits for a change; messages before it may repeat earlier states.
fn expect(monitor: &mut LinkMonitor, change: LinkChange) {
    let mut last = None;
    until(|| {
        last = monitor.poll().unwrap().last().copied().or(last);
        last == Some(change)
    });
}

/// An interface's names and alias are octets, and not always text: a user who makes such names must not be able to hide
/// an interface from a list.
#[test]
fn names_that_are_no_text_hide_nothing() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let station = &lab.stations[0];
    let ip = |arguments: &[&[u8]]| {
        let arguments = arguments.iter().map(|octets| OsStr::from_bytes(octets));
        station
            .namespace
            .run(|| Command::new("ip").args(arguments).output())
            .unwrap()
            .is_ok_and(|ip| ip.status.success())
    };
    if !ip(&[b"link", b"set", b"eth0", b"alias", b"\xff\xfe"]) {
        return common::say_skipped("needs ip");
    }
    assert!(ip(&[b"link", b"property", b"add", b"dev", b"eth0", b"altname", &[0xff; 100]]));
    assert!(ip(&[b"link", b"add", b"name", b"no\xfftext", b"type", b"bridge"]));
    let mut netlink = Netlink::in_namespace(&station.namespace).unwrap();
    let links = netlink.links().unwrap();
    assert_eq!(links.len(), 3, "{links:?}");
    assert_eq!(netlink.link_by_name(STATION_INTERFACE).unwrap().unwrap().index, station.pair.station_index);
    netlink.set_down(STATION_INTERFACE).unwrap();
}
