//! Real connections across the port, with and without offloads in the stations.

mod common;

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Lab, Offloads, STATION_INTERFACE, lab, skipped};
use link::wait::Waiter;

const ADDRESSES_V4: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2))];
const ADDRESSES_V6: [IpAddr; 2] = [
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2)),
];

/// The traffic that went through a [`forwarding`] bus.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    frames: usize,
    partial: usize,
    repaired: usize,
    longest: usize,
}

/// Two stations with addresses.
fn addressed(offloads: Offloads) -> Lab {
    let mut lab = lab(2, offloads);
    for (place, station) in lab.stations.iter_mut().enumerate() {
        // The lab silences IPv6 altogether.
        let path = format!("/proc/sys/net/ipv6/conf/{STATION_INTERFACE}/disable_ipv6");
        station.namespace.run(|| std::fs::write(path, "0")).unwrap().unwrap();
        for addresses in [ADDRESSES_V4, ADDRESSES_V6] {
            let index = station.pair.station_index;
            let prefix = if addresses[place].is_ipv4() { 24 } else { 64 };
            station.netlink.add_address(index, addresses[place], prefix).unwrap();
        }
    }
    lab
}

/// Carries each frame to the other station while `task` runs.
fn forwarding<T>(lab: &Lab, repair: bool, task: impl FnOnce() -> T) -> (T, Traffic) {
    let (mut receiver, mut sender) = (lab.receiver(), lab.sender());
    let indices = [lab.stations[0].pair.bus_index, lab.stations[1].pair.bus_index];
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let bus = scope.spawn(|| {
            let mut traffic = Traffic::default();
            let (mut results, mut waiter) = (Vec::new(), Waiter::new().unwrap());
            waiter.add(&receiver, 0).unwrap();
            while !done.load(Ordering::Relaxed) {
                let _ = waiter.wait(Some(Duration::from_millis(5))).unwrap();
                receiver.receive(usize::MAX, |received| {
                    let mut octets = received.octets.to_vec();
                    traffic.frames += 1;
                    traffic.longest = traffic.longest.max(received.original_len);
                    if let Some(checksum) = received.partial_checksum {
                        traffic.partial += 1;
                        traffic.repaired += usize::from(repair && checksum.finish(&mut octets));
                    }
                    let other = if received.ifindex == indices[0] { indices[1] } else { indices[0] };
                    sender.send(&[(other, &octets)], &mut results);
                });
            }
            traffic
        });
        let value = task();
        done.store(true, Ordering::Relaxed);
        (value, bus.join().unwrap())
    })
}

/// Sends `octets` octets over a TCP connection and has them sent back.
fn echo(lab: &Lab, address: IpAddr, octets: usize) -> std::io::Result<bool> {
    let listener = lab.stations[1].namespace.run(|| TcpListener::bind((address, 0))).unwrap()?;
    let server_address = listener.local_addr()?;
    let sent: Vec<u8> = (0..octets).map(|place| (place * 7) as u8).collect();
    std::thread::scope(|scope| {
        let connect = || TcpStream::connect_timeout(&server_address, Duration::from_secs(5));
        let mut client = lab.stations[0].namespace.run(connect).unwrap()?;
        client.set_read_timeout(Some(common::PATIENCE))?;
        scope.spawn(move || {
            let (mut server, _) = listener.accept().unwrap();
            std::io::copy(&mut server.try_clone().unwrap(), &mut server).unwrap();
        });
        let mut writer = client.try_clone()?;
        let outgoing = sent.clone();
        scope.spawn(move || {
            writer.write_all(&outgoing).unwrap();
            writer.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        client.read_to_end(&mut back)?;
        Ok(back == sent)
    })
}

#[test]
fn with_offloads_off_tcp_works_and_no_checksum_is_partial() {
    if skipped() {
        return;
    }
    let lab = addressed(Offloads::Off);
    for address in [ADDRESSES_V4[1], ADDRESSES_V6[1]] {
        let (echoed, traffic) = forwarding(&lab, false, || echo(&lab, address, 300_000));
        assert!(echoed.unwrap(), "what came back is what was sent");
        assert_eq!(traffic.partial, 0, "{traffic:?}");
        assert!(traffic.frames > 400, "{traffic:?}");
        assert_eq!(traffic.longest, 1514, "full frames, and none longer: {traffic:?}");
    }
}

#[test]
fn with_offloads_on_a_partial_checksum_is_noticed_and_a_repaired_one_is_accepted() {
    if skipped() {
        return;
    }
    let lab = addressed(Offloads::On);
    for address in [ADDRESSES_V4[1], ADDRESSES_V6[1]] {
        let (echoed, traffic) = forwarding(&lab, true, || echo(&lab, address, 500));
        assert!(echoed.unwrap(), "what came back is what was sent");
        assert!(traffic.partial >= 6, "{traffic:?}");
        assert_eq!(traffic.repaired, traffic.partial);
    }
    let (_, traffic) = forwarding(&lab, true, || datagram(&lab, ADDRESSES_V4, 100, true));
    assert!(traffic.repaired > 0, "{traffic:?}");
    let (_, traffic) = forwarding(&lab, false, || datagram(&lab, ADDRESSES_V6, 100, false));
    assert!(traffic.partial > 0, "{traffic:?}");
}

/// Sends a datagram; it arrives or not, as `arrives` says.
fn datagram(lab: &Lab, addresses: [IpAddr; 2], octets: usize, arrives: bool) {
    let bind = |place: usize| {
        let namespace = &lab.stations[place].namespace;
        namespace.run(|| UdpSocket::bind((addresses[place], 0))).unwrap().unwrap()
    };
    let (client, server) = (bind(0), bind(1));
    let patience = if arrives { common::PATIENCE } else { Duration::from_millis(300) };
    server.set_read_timeout(Some(patience)).unwrap();
    let to: SocketAddr = server.local_addr().unwrap();
    client.send_to(&vec![5; octets], to).unwrap();
    let received = server.recv(&mut [0; 2048]);
    assert_eq!(received.is_ok(), arrives, "{received:?}");
}

/// A program may ask for segmentation itself (UDP_SEGMENT); QUIC stacks do.
#[test]
fn with_offloads_off_a_datagram_in_segments_is_cut_before_it_reaches_the_bus() {
    if skipped() {
        return;
    }
    use nix::sys::socket::{setsockopt, sockopt::UdpGsoSegment};
    let lab = addressed(Offloads::Off);
    for addresses in [ADDRESSES_V4, ADDRESSES_V6] {
        let bind = |place: usize| {
            let namespace = &lab.stations[place].namespace;
            namespace.run(|| UdpSocket::bind((addresses[place], 0))).unwrap().unwrap()
        };
        let (client, server) = (bind(0), bind(1));
        server.set_read_timeout(Some(common::PATIENCE)).unwrap();
        setsockopt(&client, UdpGsoSegment, &1000).unwrap();
        let (_, traffic) = forwarding(&lab, false, || {
            client.send_to(&[5; 10_000], server.local_addr().unwrap()).unwrap();
            for _ in 0..10 {
                assert_eq!(server.recv(&mut [0; 2048]).unwrap(), 1000);
            }
        });
        assert_eq!(traffic.partial, 0, "{traffic:?}");
        assert!(traffic.longest <= 1514, "{traffic:?}");
    }
}
