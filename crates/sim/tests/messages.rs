//! Echo requests and datagrams as traffic: stacks of smoltcp over the medium, in virtual time.

mod stacks;

use sim::figures::results::Results;
use sim::figures::stacks::{PingResults, UdpResults};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{EthernetFrame, EthernetProtocol, Icmpv4Packet, Icmpv4Repr, IpProtocol, Ipv4Packet};
use stacks::{one_way, plan, run};

fn ping(results: &Results) -> &PingResults {
    results.medium.ping.as_ref().expect("echo requests")
}

fn udp(results: &Results) -> &UdpResults {
    results.medium.udp.as_ref().expect("datagrams")
}

/// 56 octets of data are a frame of 102, 880 BT with its preamble. The reply follows the gap of 96 BT after the request, so a
/// round trip over 10 BT takes 2 · (880 + 10) + 96 BT.
#[test]
fn a_round_trip_takes_two_frames_their_distance_and_a_gap() {
    let distant = "[medium]\ntopology = \"star:10bt\"";
    let (results, _) = run(&one_way(distant, "ping:every=10ms", ""), 5);
    let PingResults { sent, received, lost, rtt_mean_bt, rtt_p99_bt, rtt_max_bt, .. } = *ping(&results);
    assert_eq!((lost, sent.abs_diff(received) <= 1), (0, true), "{sent} sent, {received} received");
    assert!((499..=501).contains(&sent), "{sent}");
    assert_eq!((rtt_mean_bt, rtt_p99_bt, rtt_max_bt), (Some(1876.0), Some(1876), Some(1876)));
}

/// A flood has one request under way. Each takes its round trip, a bit time in which the program learns of the reply, and the
/// gap after the reply, which ends 10 BT before the request can begin.
#[test]
fn a_flood_sends_when_the_reply_is_there() {
    let (results, _) = run(&one_way("", "ping:flood", ""), 1);
    let PingResults { received, lost, rtt_mean_bt, .. } = *ping(&results);
    assert!(lost == 0 && rtt_mean_bt.is_some_and(|mean| mean > 1856.0), "{rtt_mean_bt:?}");
    let rounds = 10_000_000.0 / (880.0 + 96.0) / 2.0;
    assert!((received as f64 / rounds - 1.0).abs() < 0.01, "{received} of {rounds}");
}

/// Frames of echo requests are what a capture has: ARP first, then requests and their replies.
#[test]
fn requests_and_replies_have_their_octets() {
    let (_, notes) = run(&one_way("", "ping:every=100ms,size=100", ""), 1);
    let (mut arp, mut requests, mut replies) = (0, 0, 0);
    for (_, octets) in &notes.frames {
        let frame = EthernetFrame::new_checked(&octets[..]).expect("Ethernet");
        if frame.ethertype() == EthernetProtocol::Arp {
            arp += 1;
            continue;
        }
        let packet = Ipv4Packet::new_checked(frame.payload()).expect("IP");
        assert_eq!((packet.next_header(), packet.verify_checksum()), (IpProtocol::Icmp, true));
        let message = Icmpv4Packet::new_checked(packet.payload()).expect("ICMP");
        match Icmpv4Repr::parse(&message, &ChecksumCapabilities::default()).expect("a right checksum") {
            Icmpv4Repr::EchoRequest { data, .. } if data.len() == 100 => requests += 1,
            Icmpv4Repr::EchoReply { data, .. } if data.len() == 100 => replies += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((arp, requests, replies), (2, 20, 20));
}

/// A request is lost if its reply is not there in time, and each is answered or lost in the end.
#[test]
fn requests_that_a_bad_cable_damages_are_lost() {
    let text = one_way("", "ping:every=5ms,size=1000,timeout=100ms", "fault = \"ber:1e-5\"");
    let (results, _) = run(&text, 20);
    let PingResults { sent, received, lost, .. } = *ping(&results);
    // Of 8,336 bits that must be right in each direction, where the receiver's fault damages what it hears and what it sends.
    assert!(lost > 100 && received > 1000, "{:?}", ping(&results));
    assert!((received + lost).abs_diff(sent) <= 21, "{:?}", ping(&results));
}

/// A datagram of 8,000 octets is six fragments, which the other stack puts together.
#[test]
fn long_datagrams_travel_in_fragments() {
    let (results, notes) = run(&one_way("[access]\nmethod = \"plca\"", "udp:every=20ms,size=8000", ""), 4);
    let UdpResults { sent, received, lost, goodput_mbps, delay_mean_bt, .. } = *udp(&results);
    assert_eq!((lost, sent.abs_diff(received) <= 1), (0, true), "{:?}", udp(&results));
    assert!((goodput_mbps - 3.2).abs() < 0.02, "{goodput_mbps}");
    let bits = f64::from(8 * (8008 + 6 * (20 + 18 + 8)) + 5 * 96);
    assert!(delay_mean_bt.is_some_and(|mean| mean > bits && mean < bits + 2000.0), "{delay_mean_bt:?}, {bits}");
    let fragments = notes.frames.iter().filter(|(_, octets)| octets.len() > 500).count();
    assert!((6 * 249..=6 * 251).contains(&fragments), "{fragments}");
    let (pings, _) = run(&one_way("", "ping:every=50ms,size=8000", ""), 4);
    assert_eq!((ping(&pings).lost, ping(&pings).received > 78), (0, true), "{:?}", ping(&pings));
}

/// A load is what frames take of the rate, those of fragments too: so is the medium's utilization.
#[test]
fn a_load_of_datagrams_is_that_of_their_frames() {
    for udp in ["udp:0.3", "udp:0.3,size=16", "udp:0.3,size=3000"] {
        let (results, _) = run(&one_way("[access]\nmethod = \"plca\"", udp, ""), 4);
        let carried = results.medium.utilization_frame;
        assert!((carried - 0.3).abs() < 0.003, "{udp}: {carried}");
    }
}

/// Above what the medium carries, datagrams are lost in the sender's stack, and what arrives is what the medium carries.
#[test]
fn datagrams_above_the_rate_are_lost() {
    let (results, _) = run(&one_way("[medium]\nqueue = 5\n[access]\nmethod = \"plca\"", "udp:1.5", ""), 4);
    let UdpResults { sent, received, lost, goodput_mbps, .. } = *udp(&results);
    assert!((9.4..9.57).contains(&goodput_mbps), "{goodput_mbps}");
    assert!((lost as f64 / sent as f64 - 1.0 / 3.0).abs() < 0.03, "{:?}", udp(&results));
    assert!((received + lost).abs_diff(sent) < 40, "{:?}", udp(&results));
    let drops: u64 = results.stations.iter().map(|station| station.counter("queue_drops")).sum();
    assert_eq!(drops, 0);
}

/// A station talks to several others in all protocols, and others to it: each end gets what is its own.
#[test]
fn talks_of_a_station_do_not_mix() {
    let source =
        |arrivals: &str, to: &str| format!("[[station.source]]\narrivals = \"{arrivals}\"\ndestination = \"{to}\"\n");
    let all = |to: &str| {
        [
            ("tcp:20000,think=500ms", to),
            ("ping:every=50ms", to),
            ("ping:every=100ms,size=3000", to),
            ("udp:0.02,size=3000", to),
            ("udp:0.02", to),
        ]
        .map(|(arrivals, to)| source(arrivals, to))
        .concat()
    };
    let text = format!(
        "[access]\nmethod = \"plca\"\n[[station]]\n{}[[station]]\n{}[[station]]\n{}",
        all("st2") + &all("st3"),
        all("st1"),
        all("st1")
    );
    let (results, notes) = run(&text, 5);
    assert_eq!((ping(&results).lost, udp(&results).lost), (0, 0), "{:?} {:?}", ping(&results), udp(&results));
    assert!(results.medium.tcp.as_ref().is_some_and(|tcp| tcp.broken == 0 && tcp.transfers > 20));
    for station in &results.stations {
        let (pings, datagrams) = (station.ping.as_ref().expect("pings"), station.udp.as_ref().expect("datagrams"));
        assert!(pings.received > 140 && datagrams.received > 100, "{pings:?} {datagrams:?}");
    }
    let (_, again) = run(&text, 5);
    assert!(notes == again);
}

/// Every access method carries pings and datagrams between ten stations.
#[test]
fn every_method_carries_pings_and_datagrams() {
    for method in ["csma-cd", "plca", "tdma", "csma", "csma-ca", "aloha", "slotted-aloha"] {
        let text = format!("stations = 10\n[access]\nmethod = \"{method}\"\n");
        let (pings, _) = run(&format!("{text}[traffic]\narrivals = \"ping\"\n"), 6);
        assert!(ping(&pings).received > 40, "{method}: {:?}", ping(&pings));
        let (datagrams, _) = run(&format!("{text}[traffic]\narrivals = \"udp:0.02\"\n"), 6);
        assert!(udp(&datagrams).received > 50, "{method}: {:?}", udp(&datagrams));
    }
}

#[test]
fn pings_and_datagrams_that_cannot_be_are_refused() {
    let refused = |text: &str, words: &[&str]| {
        let error = plan(text).expect_err(text);
        words.iter().for_each(|word| assert!(error.contains(word), "{text}\n{error}"));
    };
    let traffic = |arrivals: &str, keys: &str| format!("stations = 3\n[traffic]\narrivals = \"{arrivals}\"\n{keys}\n");
    refused(&traffic("ping", "destination = \"broadcast\""), &["s.toml:3:", "a ping has one other end"]);
    refused(&traffic("udp:0.1", "destination = \"random\""), &["s.toml:3:", "UDP traffic has one other end"]);
    refused(&traffic("ping", "frame_size = 64"), &["s.toml:3:", "`ping:size=56`"]);
    refused(&traffic("udp:0.1", "frame_size = 64"), &["s.toml:3:", "`udp:0.1,size=1470`"]);
    let lone = "[[station]]\narrivals = \"ping\"\n[[station]]\narrivals = \"silent\"\nipv4 = \"none\"\n";
    refused(lone, &["s.toml:5:", "st2 has a ping, which needs an IPv4 address", "leave `ipv4` out"]);
    let later = "[[at]]\ntime = \"1s\"\narrivals = \"ping\"\n";
    refused(&format!("stations = 2\n[traffic]\narrivals = \"silent\"\n{later}"), &["a ping begins with the run"]);
}
