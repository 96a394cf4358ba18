use super::*;

/// Addresses of an Ethernet frame; their octets do not matter here.
const ADDRESSES: [u8; 12] = [2; 12];

/// Splitmix64: the test's own generator, so that a printed seed replays it.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// The sum of RFC 1071 over pseudo-header and segment, written independently of the code under test: 0xffff if the
/// checksum in the segment is right.
fn sum(source: &[u8], destination: &[u8], protocol: u8, segment: &[u8]) -> u16 {
    let length = (segment.len() as u32).to_be_bytes();
    let all = [source, destination, &length, &[0, 0, 0, protocol], segment].concat();
    let words = all.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0)));
    let mut total: u64 = words.sum();
    while total >> 16 != 0 {
        total = (total >> 16) + (total & 0xffff);
    }
    total as u16
}

fn ipv4(protocol: u8, segment: &[u8]) -> Vec<u8> {
    let total = (20 + segment.len() as u16).to_be_bytes();
    let mut packet = vec![0x45, 0, total[0], total[1], 0, 1, 0x40, 0, 64, protocol, 0, 0];
    packet.extend([192, 168, 0, 1, 192, 168, 0, 199]);
    packet.extend(segment);
    packet
}

fn ipv6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    let mut packet = vec![0x60, 0, 0, 0, length[0], length[1], next_header, 64];
    packet.extend([0xfd; 16]);
    packet.extend([0xfe; 16]);
    packet.extend(payload);
    packet
}

fn frame(tags: &[[u8; 4]], ethertype: [u8; 2], packet: &[u8]) -> Vec<u8> {
    [&ADDRESSES[..], tags.as_flattened(), &ethertype, packet].concat()
}

fn tcp(payload: &[u8]) -> Vec<u8> {
    let header = [0, 80, 0x30, 0x39, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 1, 0, 0xab, 0xcd, 0, 0];
    [&header[..], payload].concat()
}

fn udp(checksum: [u8; 2], payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    let header = [0x30, 0x39, 0xd4, 0x31, length[0], length[1], checksum[0], checksum[1]];
    [&header[..], payload].concat()
}

const IPV4: [u8; 2] = [8, 0];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// The value is that of a UDP datagram that is a common example.
#[test]
fn a_known_datagram_gets_its_known_checksum() {
    let mut octets = frame(&[], IPV4, &ipv4(17, &udp([0xff, 0], b"test")));
    assert_eq!(repair_checksum(&mut octets), Repair::Repaired);
    assert_eq!(octets[40..42], [0x91, 0x78]);
    assert_eq!(repair_checksum(&mut octets), Repair::NotNeeded);
}

#[test]
fn tcp_is_repaired_behind_no_one_and_two_tags() {
    for payload in [&b""[..], b"even", b"odd"] {
        for tags in [&[][..], &[[0x81, 0, 0, 5]], &[[0x88, 0xa8, 0, 7], [0x81, 0, 0, 5]]] {
            let packet = ipv4(6, &tcp(payload));
            let mut octets = frame(tags, IPV4, &packet);
            let start = octets.len() - packet.len();
            // Padding is not part of the packet.
            octets.extend([0xee; 7]);
            assert_eq!(repair_checksum(&mut octets), Repair::Repaired);
            let packet = &octets[start..start + packet.len()];
            assert_eq!(sum(&packet[12..16], &packet[16..20], 6, &packet[20..]), 0xffff);
        }
    }
}

#[test]
fn ipv6_is_repaired_behind_its_extension_headers() {
    let hop_by_hop = [43, 0, 1, 4, 0, 0, 0, 0];
    let routing_done = [60, 0, 0, 0, 0, 0, 0, 0];
    let destination = [17, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let datagram = udp([0, 0], b"payload");
    let payload = [&hop_by_hop[..], &routing_done, &destination, &datagram].concat();
    let mut octets = frame(&[], IPV6, &ipv6(0, &payload));
    assert_eq!(repair_checksum(&mut octets), Repair::Repaired, "zero is no checksum in IPv6");
    let datagram = &octets[octets.len() - datagram.len()..];
    assert_eq!(sum(&[0xfd; 16], &[0xfe; 16], 17, datagram), 0xffff);

    let routing_left = [17, 2, 4, 1].into_iter().chain([0; 20]).collect::<Vec<_>>();
    let payload = [&routing_left[..], datagram].concat();
    let mut octets = frame(&[], IPV6, &ipv6(43, &payload));
    assert_eq!(repair_checksum(&mut octets), Repair::Unknown, "it goes elsewhere");
}

/// RFC 768: a sum of zero is sent as all ones.
#[test]
fn a_udp_checksum_of_zero_is_sent_as_ones() {
    let mut octets = frame(&[], IPV4, &ipv4(17, &udp([1, 1], &[0, 0])));
    assert_eq!(repair_checksum(&mut octets), Repair::Repaired);
    // With the checksum itself as payload, the rest sums up to zero.
    let payload = [octets[40], octets[41]];
    let mut octets = frame(&[], IPV4, &ipv4(17, &udp([1, 1], &payload)));
    assert_eq!(repair_checksum(&mut octets), Repair::Repaired);
    assert_eq!(octets[40..42], [0xff, 0xff]);
}

#[test]
fn what_has_no_checksum_to_fill_in_is_left_alone() {
    let mut fragment = ipv4(6, &tcp(b"first"));
    fragment[6] = 0x20;
    let mut later_fragment = ipv4(6, &tcp(b"second"));
    later_fragment[7] = 1;
    let three_tags = [[0x81, 0, 0, 1]; 3];
    let cut = &ipv4(6, &tcp(b"cut"))[..30];
    let unknown = [
        frame(&[], IPV4, &fragment),
        frame(&[], IPV4, &later_fragment),
        frame(&[], IPV4, &ipv4(1, &[8; 40])),
        frame(&[], IPV6, &ipv6(44, &[17; 40])),
        frame(&[], [8, 6], &[0; 28]),
        frame(&three_tags, IPV4, &ipv4(6, &tcp(b""))),
        frame(&[], IPV4, cut),
        Vec::new(),
    ];
    for before in unknown {
        let mut octets = before.clone();
        assert_eq!(repair_checksum(&mut octets), Repair::Unknown, "{before:02x?}");
        assert_eq!(octets, before);
    }
    let before = frame(&[], IPV4, &ipv4(17, &udp([0, 0], b"none")));
    let mut octets = before.clone();
    assert_eq!(repair_checksum(&mut octets), Repair::NotNeeded, "RFC 768: zero means none");
    assert_eq!(octets, before);
}

#[test]
fn no_input_makes_it_panic_and_no_repair_is_needed_twice() {
    let seed = std::env::var("ETHBUS_SEED").ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(crate::clock::monotonic_nanos);
    println!("ETHBUS_SEED={seed}");
    let mut chance = Chance(seed);
    let seeds = [
        frame(&[], IPV4, &ipv4(6, &tcp(b"payload"))),
        frame(&[[0x81, 0, 0, 5]], IPV4, &ipv4(17, &udp([0, 1], b"payload"))),
        frame(&[], IPV6, &ipv6(0, &[&[6, 0, 1, 4, 0, 0, 0, 0][..], &tcp(b"x")].concat())),
    ];
    let mut repaired = 0;
    for _ in 0..100_000 {
        let mut octets = match chance.below(4) {
            3 => (0..chance.below(120)).map(|_| chance.next() as u8).collect(),
            kind => seeds[kind].clone(),
        };
        for _ in 0..chance.below(4) {
            if !octets.is_empty() {
                let place = chance.below(octets.len());
                octets[place] = chance.next() as u8;
            }
        }
        octets.truncate(octets.len() - chance.below(octets.len() / 4 + 1));
        let before = octets.clone();
        match repair_checksum(&mut octets) {
            Repair::Repaired => {
                repaired += 1;
                assert_eq!(repair_checksum(&mut octets), Repair::NotNeeded, "{before:02x?}");
                let changed = before.iter().zip(&octets).filter(|(old, new)| old != new).count();
                assert!(changed <= 2, "{before:02x?}");
            }
            Repair::NotNeeded | Repair::Unknown => assert_eq!(octets, before),
        }
    }
    assert!(repaired > 1_000, "the inputs must reach the repair: {repaired}");
}
