//! Hosts on a bus by the crate's public door.

use device::medium::{BitErrors, BitRate, Config, Deed, Fault, Input, Method, Plca, StationId, Topology};
use device::smoltcp::socket::{tcp, udp};
use device::smoltcp::time::Instant;
use device::smoltcp::wire::{IpAddress, IpCidr, IpListenEndpoint};
use device::{Bus, Host};

const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];

fn ip(number: usize) -> IpAddress {
    IpAddress::v4(10, 0, 0, number as u8 + 1)
}

fn hosts(bus: &Bus) -> [Host; 2] {
    [0, 1].map(|number| Host::new(bus.port(number), MACS[number], IpCidr::new(ip(number), 24), number as u64))
}

/// Sends `octets` from the first host to the second; when the last one is read, and the first host's collisions.
fn transfer(config: Config, octets: usize, change: Option<Input>) -> Option<(Instant, u64)> {
    let mut bus = Bus::new(config, &MACS).expect("a valid configuration");
    change.into_iter().for_each(|input| bus.change(input));
    let mut hosts = hosts(&bus);
    let buffer = || tcp::SocketBuffer::new(vec![0; 20_000]);
    let sockets = hosts.each_mut().map(|host| host.sockets.add(tcp::Socket::new(buffer(), buffer())));
    let [sender, receiver] = &mut hosts;
    let socket = sender.sockets.get_mut::<tcp::Socket>(sockets[0]);
    socket.connect(sender.interface.context(), (ip(1), 80), 50_000).expect("a closed socket");
    receiver.sockets.get_mut::<tcp::Socket>(sockets[1]).listen(80).expect("a closed socket");
    let (mut sent, mut read) = (0, Vec::new());
    let all: Vec<u8> = (0..octets).map(|place| ((place * place) >> 5) as u8).collect();
    let done = bus.run(&mut hosts, |hosts, now| {
        sent += hosts[0].sockets.get_mut::<tcp::Socket>(sockets[0]).send_slice(&all[sent..]).unwrap_or(0);
        let socket = hosts[1].sockets.get_mut::<tcp::Socket>(sockets[1]);
        let mut take = |data: &mut [u8]| {
            read.extend_from_slice(data);
            (data.len(), data.len())
        };
        while let Ok(1..) = socket.recv(&mut take) {}
        read.len() == octets || now > Instant::from_secs(600)
    });
    assert!(done, "nothing happens any more after {} octets at {}", read.len(), bus.now());
    let counters = bus.tally().station(StationId::new(0));
    (read == all).then(|| (bus.now(), counters.attempts - counters.frames_transmitted_ok))
}

fn csma_cd(seed: u64) -> Config {
    Config::new(BitRate::MBIT_10, Topology::star(2, 10), seed)
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let runs = [1, 1, 2].map(|seed| transfer(csma_cd(seed), 500_000, None).expect("all octets"));
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
    assert!(runs[0].1 > 10, "data meets acknowledgements: {runs:?}");
}

/// A card with room for one frame holds its stack back, and the transfer is not longer than 10 Mb/s and collisions make it.
#[test]
fn a_full_card_holds_its_stack_back() {
    let (end, _) = transfer(Config { queue_limit: 1, ..csma_cd(1) }, 500_000, None).expect("all octets");
    assert!((400..1_000).contains(&end.total_millis()), "{end}");
}

#[test]
fn plca_carries_tcp_too() {
    let config = Config { method: Method::Plca(Plca::right(2)), ..csma_cd(1) };
    let (end, _) = transfer(config, 500_000, None).expect("all octets");
    assert!((400..520).contains(&end.total_millis()), "{end}");
}

/// TCP sends again what wrong bits destroy: the receiver reads the very octets.
#[test]
fn wrong_bits_lose_no_octet() {
    // One in 100,000.
    let fault = Some(Fault::BitErrors(BitErrors { rate: 10_000_000, burst: 1, on_line: false }));
    let change = Input::Deed(Deed::Fault { station: StationId::new(1), fault });
    let (end, _) = transfer(csma_cd(1), 200_000, Some(change)).expect("all octets");
    assert!(end > Instant::from_secs(1), "some timer has ended: {end}");
}

/// A datagram to a station that is off the medium never arrives; and then nothing is left to wait for.
#[test]
fn a_bus_says_when_nothing_will_happen() {
    let mut bus = Bus::new(csma_cd(1), &MACS).expect("a valid configuration");
    let mut hosts = hosts(&bus);
    let buffer = || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; 4], vec![0; 4_000]);
    let sockets = hosts.each_mut().map(|host| host.sockets.add(udp::Socket::new(buffer(), buffer())));
    for (host, socket) in hosts.iter_mut().zip(sockets) {
        host.sockets.get_mut::<udp::Socket>(socket).bind(IpListenEndpoint::from(7)).expect("a free port");
    }
    let send = |hosts: &mut [Host; 2]| {
        hosts[0].sockets.get_mut::<udp::Socket>(sockets[0]).send_slice(b"once", (ip(1), 7)).expect("room");
    };
    send(&mut hosts);
    let arrives = |hosts: &mut [Host], _: Instant| hosts[1].sockets.get_mut::<udp::Socket>(sockets[1]).recv().is_ok();
    assert!(bus.run(&mut hosts, arrives), "it arrives");
    // ARP's request and answer, and the datagram: 72 octets each with preamble, 9.6 us between them.
    assert!(bus.now() < Instant::from_micros(250), "{}", bus.now());
    assert!(!bus.run(&mut hosts, arrives), "nothing else is sent");
    bus.change(Input::Deed(Deed::Unplug { station: StationId::new(1) }));
    send(&mut hosts);
    assert!(!bus.run(&mut hosts, arrives), "it is lost");
}
