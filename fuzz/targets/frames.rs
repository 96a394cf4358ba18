//! What a station sends: octets of any kind, with anything that the kernel may say about them.
use live::plane::ports::Ports;
use live::plane::protocol::Port;
use link::packet::PartialChecksum;
use medium::{BitTimes, StationId, Topology};

pub fn run(data: &[u8]) {
    let ports = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
    let port = |mac: [u8; 6]| Port { name: "st".to_owned(), index: 7, mac, outside: mac[5] == 2, watched: None };
    let mut ports = Ports::new(ports.map(port).to_vec(), &Topology::Bus { positions: vec![BitTimes::ZERO; 2] });
    let mut octets = data.to_vec();
    let length = octets.len();
    for station in [0, 1].map(StationId::new) {
        ports.learn(station, &octets);
        let _ = ports.destination(station, &octets);
    }
    if let Some(&[start, offset, ..]) = data.first_chunk::<2>() {
        PartialChecksum { start: start.into(), offset: offset.into() }.finish(&mut octets);
    }
    assert_eq!(octets.len(), length);
    link::fuzzing::take_from_ring(data);
    link::fuzzing::take_from_socket(data);
}
