//! Fan-out in the kernel: the stations that get a frame, those that do not, and the results of failed copies.

mod common;

use std::time::Duration;

use common::{Lab, Offloads, frame, lab, say_skipped, skipped, until};
use link::confine::keep_capabilities;
use link::fanout::{Copiers, FanOut, FanOutError, make_hub, make_hubs};
use link::namespace::Namespace;
use link::packet::{SendError, Sender};
use link::station::StationSocket;

/// The name of the hub in these tests.
const HUB: &str = "hub";
/// Long enough for all earlier frames to have arrived.
const SHORTLY: Duration = Duration::from_millis(50);

/// A hub for a lab's stations; `None` if this machine does not allow one.
fn hub(lab: &Lab) -> Option<(FanOut, u32)> {
    let ports: Vec<u32> = lab.stations.iter().map(|station| station.pair.bus_index).collect();
    match make_hub(&lab.bus, HUB, &ports) {
        Ok(hub) => {
            let index = hub.index;
            Some((FanOut::new(hub, ports.len()).unwrap(), index))
        }
        Err(error @ (FanOutError::NotPermitted | FanOutError::NoBpf { .. })) => {
            say_skipped(&error.to_string());
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Every station's ear.
fn ears(lab: &Lab) -> Vec<StationSocket> {
    let ear = |namespace| StationSocket::open_promiscuous(namespace, common::STATION_INTERFACE).unwrap();
    lab.stations.iter().map(|station| ear(&station.namespace)).collect()
}

/// The frames that reached a station.
fn heard(ear: &mut StationSocket) -> Vec<Vec<u8>> {
    let mut buffer = [0; 2048];
    let mut frames = Vec::new();
    while let Some(frame) = ear.receive(Some(Duration::ZERO), &mut buffer).unwrap() {
        assert_eq!(frame.octets, frame.original_len, "the buffer is long enough");
        frames.push(buffer[..frame.octets].to_vec());
    }
    frames
}

/// Sends through the hub; gives each port's result.
#[track_caller]
fn send(fan_out: &mut FanOut, sender: &mut Sender, octets: &[u8], ports: &[usize]) -> Vec<Result<(), SendError>> {
    let mut results = Vec::new();
    assert!(fan_out.send(sender, octets, ports, &mut results), "the hub is there");
    assert_eq!(results.len(), ports.len());
    results
}

/// More ports than a word of the set has bits, and sets with every kind of begin, end and gap.
#[test]
fn those_of_the_set_get_every_frame_once_and_whole_and_others_get_none() {
    if skipped() {
        return;
    }
    let lab = lab(40, Offloads::Off);
    let Some((mut fan_out, _)) = hub(&lab) else { return };
    let (mut sender, mut ears) = (lab.sender(), ears(&lab));
    let mac = lab.stations[0].mac;
    let tagged = |protocol: u16| {
        let mut octets = frame(mac, 60, 3);
        octets.splice(12..12, [protocol.to_be_bytes(), [0x20, 0x05]].concat());
        octets
    };
    let frames = [frame(mac, 60, 1), frame(mac, 1514, 2), tagged(0x8100), tagged(0x88a8), frame(mac, 14, 4)];
    let all = |wanted: fn(usize) -> bool| (0..40).filter(|&port| wanted(port)).collect::<Vec<_>>();
    let sets = [
        all(|_| true),
        all(|port| port != 0),
        all(|port| port != 31),
        all(|port| port != 32),
        all(|port| port % 2 == 0),
        vec![39],
        vec![0],
        vec![],
    ];
    let mut expected = vec![Vec::new(); 40];
    for set in &sets {
        for octets in &frames {
            let results = send(&mut fan_out, &mut sender, octets, set);
            assert!(results.iter().all(Result::is_ok), "{results:?}");
            set.iter().for_each(|&port| expected[port].push(octets.clone()));
        }
    }
    std::thread::sleep(SHORTLY);
    for (port, (ear, expected)) in ears.iter_mut().zip(expected).enumerate() {
        assert!(heard(ear) == expected, "port {port}");
        assert_eq!(ear.statistics().unwrap().dropped, 0);
    }
}

/// The hub reports what a socket hides: a link without carrier drops frames.
#[test]
fn a_port_that_is_down_or_gone_is_told_and_the_others_get_the_frame() {
    if skipped() {
        return;
    }
    let mut lab = lab(4, Offloads::Off);
    let Some((mut fan_out, _)) = hub(&lab) else { return };
    let mut sender = lab.sender();
    let octets = frame(lab.stations[0].mac, 60, 1);
    let mut ear = StationSocket::open_promiscuous(&lab.stations[3].namespace, common::STATION_INTERFACE).unwrap();
    let mut sent = 0;
    let mut send = || {
        sent += 1;
        send(&mut fan_out, &mut sender, &octets, &[0, 1, 2, 3])
    };
    lab.stations[0].netlink.set_down(common::STATION_INTERFACE).unwrap();
    let results = send();
    assert!(matches!(results[0], Err(SendError::Dropped | SendError::Down)), "{results:?}");
    assert_eq!(results[1..], [Ok(()); 3]);
    until(|| send()[0] == Err(SendError::Down));
    lab.netlink.set_down(lab.stations[1].pair.bus_index).unwrap();
    lab.netlink.delete(lab.stations[2].pair.bus_index).unwrap();
    assert_eq!(send(), [Err(SendError::Down), Err(SendError::Down), Err(SendError::NoInterface), Ok(())]);
    lab.stations[0].netlink.set_up(common::STATION_INTERFACE).unwrap();
    until(|| send()[0] == Ok(()));
    std::thread::sleep(SHORTLY);
    // The ear's queue may hold fewer, but all of them arrived.
    let statistics = ear.statistics().unwrap();
    assert_eq!(statistics.received + statistics.dropped, sent);
}

/// A set is for one frame of ours; other frames that leave the hub go nowhere.
#[test]
fn what_others_send_to_the_hub_goes_nowhere() {
    if skipped() {
        return;
    }
    let lab = lab(3, Offloads::Off);
    let Some((mut fan_out, index)) = hub(&lab) else { return };
    let (mut sender, mut ears) = (lab.sender(), ears(&lab));
    let (ours, foreign) = (frame(lab.stations[0].mac, 60, 1), frame(lab.stations[0].mac, 60, 2));
    send(&mut fan_out, &mut sender, &ours, &[1, 2]);
    let mut results = Vec::new();
    sender.send(&[(index, &foreign), (index, &foreign)], &mut results);
    std::thread::sleep(SHORTLY);
    let heard: Vec<_> = ears.iter_mut().map(heard).collect();
    assert_eq!(heard, [vec![], vec![ours.clone()], vec![ours]]);
}

#[test]
fn without_its_hub_a_fan_out_sends_nothing_and_says_so() {
    if skipped() {
        return;
    }
    let mut lab = lab(3, Offloads::Off);
    let Some((mut fan_out, index)) = hub(&lab) else { return };
    let (mut sender, mut ears) = (lab.sender(), ears(&lab));
    let octets = frame(lab.stations[0].mac, 60, 1);
    let mut results = Vec::new();
    lab.netlink.set_down(index).unwrap();
    assert!(!fan_out.send(&mut sender, &octets, &[0, 1, 2], &mut results));
    lab.netlink.set_up(index).unwrap();
    // The set of the frame before does not remain.
    send(&mut fan_out, &mut sender, &octets, &[1]);
    lab.netlink.delete(index).unwrap();
    assert!(!fan_out.send(&mut sender, &octets, &[0, 1, 2], &mut results));
    assert_eq!(results, []);
    std::thread::sleep(SHORTLY);
    assert_eq!(ears.iter_mut().map(|ear| heard(ear).len()).collect::<Vec<_>>(), [0, 1, 0]);
}

/// The kernel's limit is a queue of 1,000 frames; copies are sent in parts, so that none is lost there.
#[test]
fn a_thousand_ports_can_be_served() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let port = lab.stations[0].pair.bus_index;
    let Ok(hub) = make_hub(&lab.bus, HUB, &vec![port; 1024]) else {
        return say_skipped("no fan-out in the kernel");
    };
    let mut fan_out = FanOut::new(hub, 1024).unwrap();
    let (mut sender, before) = (lab.sender(), received(&lab));
    let ports: Vec<usize> = (0..1024).collect();
    for round in 1..=20 {
        let results = send(&mut fan_out, &mut sender, &frame(lab.stations[0].mac, 60, 1), &ports);
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        until(|| received(&lab) == before + round * 1024);
    }
}

/// Copiers for hubs of `ports`, with this number of helpers.
fn copiers(lab: &Lab, ports: &[u32], helpers: usize) -> Option<(Copiers, Vec<u32>)> {
    let Ok(hubs) = make_hubs(&lab.bus, HUB, ports) else {
        say_skipped("no fan-out in the kernel");
        return None;
    };
    let indices = hubs.iter().map(|hub| hub.index).collect();
    let mut copiers = Copiers::new(hubs, ports.len()).unwrap();
    for _ in 0..helpers {
        let helper = copiers.helper(lab.sender());
        copiers.helped_by(std::thread::spawn(move || helper.run()).thread().clone());
    }
    Some((copiers, indices))
}

/// Frames for sets that begin and end in different hubs, one after the other without a pause: every port of a set gets
/// each frame once and in order, whichever thread sends it, and no other port gets it.
#[test]
fn several_hubs_and_helpers_give_every_frame_once_and_in_order() {
    const PORTS: usize = 150;
    if skipped() {
        return;
    }
    let mut lab = lab(PORTS, Offloads::Off);
    let indices: Vec<u32> = lab.stations.iter().map(|station| station.pair.bus_index).collect();
    for helpers in [0, 1, 3] {
        let Some((mut copiers, hubs)) = copiers(&lab, &indices, helpers) else { return };
        let (mut sender, mut ears) = (lab.sender(), ears(&lab));
        let mut expected = vec![Vec::new(); PORTS];
        let mut helped = 0;
        for number in 0..200_u8 {
            let set: Vec<usize> = match number % 4 {
                0 => (0..PORTS).collect(),
                1 => (0..PORTS).filter(|port| *port != usize::from(number % 150)).collect(),
                2 => (49..101).collect(),
                _ => vec![0, 49, 50, 99, 100, 149],
            };
            let octets = frame(lab.stations[0].mac, 60 + usize::from(number), number);
            let mut results = Vec::new();
            let sent = copiers.send(&mut sender, &octets, &set, &mut results);
            assert_eq!((sent.missing, results.len()), (&[][..], set.len()));
            helped += sent.helped;
            assert!(results.iter().all(Result::is_ok), "{results:?}");
            set.iter().for_each(|&port| expected[port].push(octets.clone()));
        }
        assert!(helpers > 0 || helped == 0, "{helped} copies by nobody");
        std::thread::sleep(SHORTLY);
        for (port, (ear, expected)) in ears.iter_mut().zip(expected).enumerate() {
            assert!(heard(ear) == expected, "port {port}, {helpers} helpers");
            assert_eq!(ear.statistics().unwrap().dropped, 0);
        }
        hubs.into_iter().for_each(|hub| lab.netlink.delete(hub).unwrap());
    }
}

/// One hub of three is gone: its ports are named, the others get the frame, and no result is another port's.
#[test]
fn ports_whose_hub_is_gone_are_named_and_the_others_served() {
    const PORTS: usize = 130;
    if skipped() {
        return;
    }
    let mut lab = lab(PORTS, Offloads::Off);
    let indices: Vec<u32> = lab.stations.iter().map(|station| station.pair.bus_index).collect();
    let Some((mut copiers, hubs)) = copiers(&lab, &indices, 1) else { return };
    let (mut sender, mut ears) = (lab.sender(), ears(&lab));
    lab.netlink.delete(hubs[1]).unwrap();
    lab.netlink.delete(indices[129]).unwrap();
    let (octets, all, mut results) = (frame(lab.stations[0].mac, 60, 1), (0..PORTS).collect::<Vec<_>>(), Vec::new());
    let sent = copiers.send(&mut sender, &octets, &all, &mut results);
    assert_eq!(sent.missing, (44..88).collect::<Vec<_>>());
    let failed: Vec<_> = results.iter().enumerate().filter(|(_, result)| result.is_err()).collect();
    assert_eq!(failed, [(129, &Err(SendError::NoInterface))]);
    std::thread::sleep(SHORTLY);
    for (port, ear) in ears.iter_mut().enumerate().take(129) {
        assert_eq!(heard(ear).len(), usize::from(!(44..88).contains(&port)), "port {port}");
    }
}

/// Frames that the first station's interface has received.
fn received(lab: &Lab) -> u64 {
    let mut netlink = link::netlink::Netlink::in_namespace(&lab.stations[0].namespace).unwrap();
    netlink.link_by_name(common::STATION_INTERFACE).unwrap().unwrap().rx_packets
}

/// Capabilities belong to a thread, so a thread is enough to have none.
#[test]
fn who_may_not_load_programs_is_told_so() {
    let refused = std::thread::spawn(|| {
        keep_capabilities(&[]).unwrap();
        make_hub(&Namespace::current().unwrap(), HUB, &[1]).map(|hub| hub.index)
    });
    let refused = refused.join().unwrap();
    assert!(matches!(refused, Err(FanOutError::NotPermitted | FanOutError::NoBpf { .. })), "{refused:?}");
}
