//! TCP connections as traffic: stacks of smoltcp over the medium, in virtual time.

mod stacks;

use medium::{BitInstant, Kind};
use sim::figures::results::Results;
use sim::figures::tcp::TcpResults;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{EthernetFrame, EthernetProtocol, Ipv4Packet, Ipv4Repr, TcpPacket, TcpRepr};
use stacks::{Notes, one_way, plan, run};
use std::sync::Arc;

fn tcp(results: &Results) -> &TcpResults {
    results.medium.tcp.as_ref().expect("a connection")
}

/// With MSS 1460 each 1538 octets on the line carry 1460, and each second segment has an acknowledgement of 84:
/// 2 · 1460 / (2 · 1538 + 84) = 92.4 % of the rate. PLCA's turns, which nothing disturbs, take some 0.3 % of it.
#[test]
fn a_lone_connection_fills_a_bus_without_collisions() {
    let (results, _) = run(&one_way("[access]\nmethod = \"plca\"", "tcp", ""), 10);
    let TcpResults { goodput_mbps, retransmissions, segments, .. } = *tcp(&results);
    assert!((9.15..9.241).contains(&goodput_mbps), "{goodput_mbps} Mb/s");
    assert_eq!((retransmissions, segments > 7_000), (0, true));
}

/// Data and acknowledgements collide, and a long window lets one station capture the medium (docs/live.md): less than
/// without collisions, and not too little. With a short window the two take turns.
#[test]
fn acknowledgements_collide_with_data() {
    let goodput = |arrivals: &str| tcp(&run(&one_way("", arrivals, ""), 10).0).goodput_mbps;
    let (short, long) = (goodput("tcp:buffer=8192"), goodput("tcp"));
    assert!(long > 5.5 && long < short && short < 9.24, "{long}, {short}");
}

#[test]
fn the_same_seed_gives_the_same_octets_and_events() {
    let text = "stations = 5\n[traffic]\narrivals = \"tcp:40000,think=20ms\"";
    let ((results, notes), (_, again)) = (run(text, 2), run(text, 2));
    assert!(tcp(&results).transfers > 10, "{:?}", tcp(&results));
    assert!(notes == again);
    let (_, other) = run(&format!("seed = 2\n{text}"), 2);
    assert!(notes.frames != other.frames);
}

/// Each transfer is read whole, to the octet, whatever the line does to its frames.
#[test]
fn lost_segments_are_sent_again_until_all_octets_are_read() {
    let (medium, octets) = ("[medium]\nqueue = 20", 300_000);
    let text = one_way(medium, &format!("tcp:{octets},think=10000s"), "fault = \"ber:1e-5\"");
    let (results, notes) = run(&text.replace("[run]\n", ""), 60);
    let TcpResults { retransmissions, transfers, broken, segments, goodput_mbps, .. } = *tcp(&results);
    let before = tcp_before(&notes);
    assert_eq!((transfers, broken), (1, 0), "{:?}", tcp(&results));
    assert!(retransmissions > 10 && segments > 206 - before, "{segments} segments, {before} before");
    let read = (goodput_mbps * 60.0 * 1e6 / 8.0).round() as u64;
    assert!(read <= octets && read + before * 1460 >= octets, "{read}");
}

/// Segments with data in the second before the measurement.
fn tcp_before(notes: &Notes) -> u64 {
    let begin = BitInstant::new(10_000_000);
    let has_data = |(at, octets): &&(BitInstant, Arc<[u8]>)| *at < begin && octets.len() > 100;
    notes.frames.iter().filter(has_data).count() as u64
}

/// A stack waits for room in its station's transmit queue, as a kernel does.
#[test]
fn a_short_queue_holds_a_stack_back_and_drops_nothing() {
    let (results, _) = run(&one_way("[medium]\nqueue = 2", "tcp", ""), 5);
    let drops: u64 = results.stations.iter().map(|station| station.counter("queue_drops")).sum();
    assert_eq!(drops, 0);
    assert!(tcp(&results).goodput_mbps > 5.0, "{:?}", tcp(&results));
}

/// Other sources of a sender and of a receiver go on beside connections; a saturated neighbour leaves these little.
#[test]
fn stations_with_connections_may_have_other_sources() {
    let text = "[[station]]\n[[station.source]]\narrivals = \"tcp\"\n[[station.source]]\narrivals = \"poisson:0.02\"\n\
                [[station.source]]\narrivals = \"tcp\"\n[[station]]\narrivals = \"saturated\"\nframe_size = 594\n[[station]]\narrivals = \"window:2\"\n";
    let (results, _) = run(text, 5);
    let sent = |index: usize| results.stations[index].counter("frames_transmitted_ok");
    assert!(tcp(&results).goodput_mbps > 0.01 && sent(1) > 500 && sent(2) > 50, "{:?}", tcp(&results));
    assert!(results.stations[0].tcp.is_some() && results.stations[1].tcp.is_none());
}

/// A connection outlives a cable that is pulled for a second.
#[test]
fn a_connection_goes_on_when_the_cable_is_back() {
    let at = "[[at]]\ntime = \"2s\"\nunplug = \"st2\"\n[[at]]\ntime = \"3s\"\nplug = \"st2\"\n";
    let (results, notes) = run(&format!("{}{at}", one_way("", "tcp", "")), 9);
    let last = notes.frames.iter().filter(|(_, octets)| octets.len() > 1_000).map(|(at, _)| at.get()).max();
    assert!(last > Some(95_000_000), "{last:?}");
    assert_eq!(tcp(&results).broken, 0);
    assert!(tcp(&results).retransmissions > 0, "{:?}", tcp(&results));
}

/// Every access method carries TCP, and stations far apart do.
#[test]
fn every_method_carries_tcp() {
    for method in ["csma-cd", "plca", "tdma", "csma", "csma-ca", "aloha", "slotted-aloha"] {
        let text = one_way(&format!("[access]\nmethod = \"{method}\""), "tcp:100000", "");
        let (results, _) = run(&text, 8);
        assert!(tcp(&results).transfers > 5, "{method}: {:?}", tcp(&results));
    }
    let (results, _) = run(&one_way("[medium]\ntopology = \"star:200bt\"", "tcp:100000", ""), 5);
    assert!(tcp(&results).transfers > 5, "{:?}", tcp(&results));
}

/// What stacks hand over are frames that anyone can read: ARP first, then TCP, checksums right, the MTU kept.
#[test]
fn frames_have_the_octets_of_arp_and_tcp() {
    let (results, notes) = run(&one_way("", "tcp:mss=536", ""), 1);
    let (mut arp, mut sent) = (0, 0);
    for (_, octets) in &notes.frames {
        let frame = EthernetFrame::new_checked(&octets[..]).expect("Ethernet");
        if frame.ethertype() == EthernetProtocol::Arp {
            arp += 1;
            continue;
        }
        assert!(octets.len() <= 14 + 40 + 536, "{}", octets.len());
        let checksums = ChecksumCapabilities::default();
        let packet = Ipv4Packet::new_checked(frame.payload()).expect("IP");
        let ip = Ipv4Repr::parse(&packet, &checksums).expect("a right checksum");
        let segment = TcpPacket::new_checked(packet.payload()).expect("TCP");
        TcpRepr::parse(&segment, &ip.src_addr.into(), &ip.dst_addr.into(), &checksums).expect("a right checksum");
        sent += u64::from(!segment.payload().is_empty());
    }
    assert_eq!(
        EthernetFrame::new_checked(&notes.frames[0].1[..]).map(|frame| frame.ethertype()),
        Ok(EthernetProtocol::Arp)
    );
    assert!((2..=4).contains(&arp) && sent > tcp(&results).segments, "{arp} of ARP, {sent} segments");
    let delivered = notes.events.iter().filter(|event| matches!(event.kind, Kind::Delivered { .. })).count();
    assert!(delivered > 1_000, "{delivered}");
}

#[test]
fn connections_that_cannot_be_are_refused() {
    let refused = |text: &str, words: &[&str]| {
        let error = plan(text).expect_err(text);
        words.iter().for_each(|word| assert!(error.contains(word), "{text}\n{error}"));
    };
    let traffic = |keys: &str| format!("stations = 3\n[traffic]\narrivals = \"tcp\"\n{keys}\n");
    refused(&traffic("destination = \"random\""), &["s.toml:3:", "one other end", "`destination = \"next\"`"]);
    refused(&traffic("destination = \"broadcast\""), &["s.toml:3:", "one other end"]);
    refused(&traffic("frame_size = 594"), &["s.toml:3:", "leave `frame_size`", "`tcp:mss=536`"]);
    refused("stations = 1\n[traffic]\narrivals = \"tcp\"\n", &["s.toml:3:", "2 stations or more"]);
    let lone = "[[station]]\narrivals = \"tcp\"\n[[station]]\narrivals = \"silent\"\nipv4 = \"none\"\n";
    refused(lone, &["s.toml:5:", "st2 has a TCP connection, which needs an IPv4 address", "leave `ipv4` out"]);
}
