//! The bus's port, from station to ring and back.

mod common;

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use common::{Offloads, collect, frame, lab, skipped, until, waiting};
use link::clock::{RealtimeNanos, monotonic_nanos};
use link::packet::{SendError, StampSource, stamps_ready, wait_for_stamps};
use link::wait::Waiter;
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg, setsockopt, sockopt::TxTime};

#[test]
fn a_frame_is_stamped_within_its_senders_call() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let mut receiver = lab.receiver();
    wait_for_stamps(common::PATIENCE).unwrap();
    assert!(stamps_ready().unwrap(), "once switched on, they stay on");
    let mut socket = lab.stations[0].socket();
    let sent = frame(lab.stations[0].mac, 64, 7);
    for _ in 0..20 {
        let before = RealtimeNanos::now();
        socket.send(&sent).unwrap();
        let after = RealtimeNanos::now();
        let copy = collect(&mut receiver, 1).remove(0);
        assert_eq!(copy.octets, sent);
        assert_eq!((copy.original_len, copy.truncated), (64, false));
        assert_eq!(copy.stamp_source, StampSource::Handover);
        assert!(before <= copy.stamp && copy.stamp <= after, "{before:?} {copy:?} {after:?}");
    }
}

#[test]
fn stations_are_told_apart_by_their_interface() {
    if skipped() {
        return;
    }
    let lab = lab(3, Offloads::Off);
    let mut receiver = lab.receiver();
    for (place, station) in lab.stations.iter().enumerate() {
        station.socket().send(&frame(station.mac, 60, place as u8)).unwrap();
    }
    let copies = collect(&mut receiver, 3);
    assert_eq!(copies.len(), 3);
    for (place, station) in lab.stations.iter().enumerate() {
        let copy = copies.iter().find(|copy| copy.ifindex == station.pair.bus_index).unwrap();
        assert_eq!(copy.octets, frame(station.mac, 60, place as u8));
    }
}

#[test]
fn the_bus_sends_to_each_interface_and_does_not_see_its_own_frames() {
    if skipped() {
        return;
    }
    let lab = lab(2, Offloads::Off);
    let (mut receiver, mut sender) = (lab.receiver(), lab.sender());
    let mut sockets: Vec<_> = lab.stations.iter().map(|station| station.socket()).collect();
    let source = lab.stations[0].mac;
    let frames: Vec<_> = (0..150).map(|mark| frame(source, 60, mark)).collect();
    let batch: Vec<_> = frames
        .iter()
        .enumerate()
        .map(|(place, octets)| (lab.stations[place % 2].pair.bus_index, octets.as_slice()))
        .collect();
    let mut results = Vec::new();
    sender.send(&batch, &mut results);
    assert_eq!(results, vec![Ok(()); 150]);
    let mut buffer = [0; 2048];
    for (place, octets) in frames.iter().enumerate() {
        let socket = &mut sockets[place % 2];
        let received = socket.receive(Some(common::PATIENCE), &mut buffer).unwrap().unwrap();
        assert_eq!(&buffer[..received.octets], octets, "frame {place}");
    }
    assert_eq!(sockets[0].receive(Some(Duration::ZERO), &mut buffer).unwrap(), None);
    assert_eq!(sockets[0].statistics().unwrap().received, 75);
    assert_eq!(waiting(&mut receiver), []);
}

#[test]
fn a_frame_that_fails_does_not_hinder_the_others() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let mut socket = lab.stations[0].socket();
    let good = frame(lab.stations[0].mac, 60, 1);
    let index = lab.stations[0].pair.bus_index;
    let (short, long) = ([0xff; 13], vec![0xff; 1519]);
    let mut results = Vec::new();
    let batch = [(index, &good[..]), (9999, &good), (index, &short), (index, &long), (index, &good)];
    lab.sender().send(&batch, &mut results);
    let expected = [
        Ok(()),
        Err(SendError::NoInterface),
        Err(SendError::Length { octets: 13 }),
        Err(SendError::Length { octets: 1519 }),
        Ok(()),
    ];
    assert_eq!(results, expected);
    let mut buffer = [0; 2048];
    for _ in 0..2 {
        assert!(socket.receive(Some(common::PATIENCE), &mut buffer).unwrap().is_some());
    }
}

/// A link header is the shortest frame that the kernel sends; it pads nothing.
#[test]
fn a_frame_of_14_octets_passes_and_one_of_13_does_not() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let mut receiver = lab.receiver();
    let mut socket = lab.stations[0].socket();
    let header = frame(lab.stations[0].mac, 14, 0);
    assert_eq!(socket.send(&header[..13]), Err(SendError::Length { octets: 13 }));
    assert_eq!(socket.send(&header), Ok(()));
    let copies = collect(&mut receiver, 1);
    assert_eq!((copies.len(), &copies[0].octets), (1, &header));
}

/// The kernel takes a tag out on receive; on the wire, and for its length, it is part of the frame.
#[test]
fn a_vlan_tag_is_put_back_on_both_sides() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let station = &lab.stations[0];
    let (mut receiver, mut sender) = (lab.receiver(), lab.sender());
    let every = link::station::StationSocket::open_promiscuous;
    let mut socket = every(&station.namespace, common::STATION_INTERFACE).unwrap();
    for protocol in [[0x81, 0x00], [0x88, 0xa8]] {
        let mut tagged = frame(station.mac, 60, 3);
        tagged.splice(12..12, [protocol[0], protocol[1], 0x20, 0x05]);

        socket.send(&tagged).unwrap();
        let copy = collect(&mut receiver, 1).remove(0);
        assert!(copy.vlan_restored, "the kernel had taken it out");
        assert_eq!((copy.original_len, &copy.octets), (64, &tagged));

        let mut results = Vec::new();
        sender.send(&[(station.pair.bus_index, &tagged)], &mut results);
        assert_eq!(results, [Ok(())]);
        let mut buffer = [0; 2048];
        let received = socket.receive(Some(common::PATIENCE), &mut buffer).unwrap().unwrap();
        assert_eq!((received.octets, received.original_len), (64, 64));
        assert_eq!(buffer[..64], tagged);
    }
}

#[test]
fn a_frame_longer_than_a_slot_is_cut_and_tells_its_length() {
    if skipped() {
        return;
    }
    let mut lab = lab(1, Offloads::Off);
    lab.netlink.set_mtu(lab.stations[0].pair.bus_index, 9000).unwrap();
    lab.stations[0].netlink.set_mtu(common::STATION_INTERFACE, 9000).unwrap();
    let mut receiver = lab.receiver();
    let mut socket = lab.stations[0].socket();
    let mac = lab.stations[0].mac;
    let (whole, cut) = (frame(mac, link::packet::SLOT_FRAME_OCTETS, 1), frame(mac, 9014, 2));
    socket.send(&whole).unwrap();
    socket.send(&cut).unwrap();
    socket.send(&whole).unwrap();
    let copies = collect(&mut receiver, 3);
    assert_eq!(copies[0].octets, whole);
    assert!(!copies[0].truncated);
    assert!(copies[1].truncated);
    assert_eq!(copies[1].original_len, 9014);
    assert!(copies[1].octets.len() >= link::packet::SLOT_FRAME_OCTETS);
    assert_eq!(copies[1].octets, cut[..copies[1].octets.len()]);
    assert_eq!(copies[2].octets, whole);
}

#[test]
fn what_a_full_ring_drops_is_counted_and_it_goes_round() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let mut receiver = lab.receiver();
    let mut socket = lab.stations[0].socket();
    let sent = frame(lab.stations[0].mac, 60, 0);
    let slots = 270;
    let frames = vec![sent.as_slice(); 1000];
    let mut results = Vec::new();
    for round in 1..=3 {
        socket.send_batch(&frames, &mut results);
        assert!(results.iter().all(Result::is_ok));
        assert_eq!(collect(&mut receiver, slots as usize).len() as u64, slots);
        let statistics = receiver.statistics().unwrap();
        assert_eq!(statistics.received, slots * round);
        assert_eq!(statistics.dropped, (1000 - slots) * round);
    }
}

#[test]
fn a_waiter_names_the_ring_until_it_is_empty() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let mut receiver = lab.receiver();
    let mut waiter = Waiter::new().unwrap();
    waiter.add(&receiver, 5).unwrap();
    assert_eq!(waiter.wait(Some(Duration::ZERO)).unwrap().count(), 0);
    let sent = frame(lab.stations[0].mac, 60, 0);
    let mut socket = lab.stations[0].socket();
    socket.send(&sent).unwrap();
    socket.send(&sent).unwrap();
    assert_eq!(waiter.wait(Some(common::PATIENCE)).unwrap().collect::<Vec<_>>(), [5]);
    assert_eq!(receiver.receive(1, |_| {}), 1, "no more than asked for");
    assert_eq!(waiter.wait(Some(Duration::ZERO)).unwrap().collect::<Vec<_>>(), [5]);
    assert_eq!(receiver.receive(9, |_| {}), 1);
    assert_eq!(waiter.wait(Some(Duration::ZERO)).unwrap().count(), 0);
}

/// The supervisor opens the socket; the data plane makes the ring when it is ready.
#[test]
fn a_receiver_takes_nothing_before_its_ring_is_there() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let (supervisor, data_plane) = link::channel::Channel::pair().unwrap();
    let opened = link::packet::open_receiver(&lab.bus).unwrap();
    supervisor.send_with_fds(b"receiver", &[std::os::fd::AsFd::as_fd(&opened)]).unwrap();
    drop(opened);
    let mut socket = lab.stations[0].socket();
    socket.send(&frame(lab.stations[0].mac, 60, 1)).unwrap();

    let (_, descriptors) = data_plane.receive_with_fds(&mut Vec::new()).unwrap().unwrap();
    let descriptor = descriptors.into_iter().next().unwrap();
    let size = link::packet::RingSize::default();
    let mut receiver = link::packet::Receiver::new(descriptor, size).unwrap();
    let second = frame(lab.stations[0].mac, 60, 2);
    socket.send(&second).unwrap();
    let copies = collect(&mut receiver, 1);
    assert_eq!((copies.len(), &copies[0].octets), (1, &second));
}

/// The kernel reports a station that is down for a moment at most; then it drops frames silently.
#[test]
fn a_port_that_is_down_or_gone_is_told_by_the_next_frame() {
    if skipped() {
        return;
    }
    let mut lab = lab(2, Offloads::Off);
    let mut sender = lab.sender();
    let octets = frame(lab.stations[1].mac, 60, 0);
    let index = lab.stations[0].pair.bus_index;
    let mut send = || {
        let mut results = Vec::new();
        sender.send(&[(index, &octets)], &mut results);
        results.remove(0)
    };
    lab.stations[0].netlink.set_down(common::STATION_INTERFACE).unwrap();
    until(|| send() == Ok(()));
    lab.netlink.set_down(index).unwrap();
    assert_eq!(send(), Err(SendError::Down));
    lab.netlink.delete(index).unwrap();
    assert_eq!(send(), Err(SendError::NoInterface));
}

/// A sender may say when a frame is to leave, and the kernel notes that where stamps are noted. The bus must not
/// believe it, or a station could choose its place in the order of arrivals.
#[test]
fn a_station_cannot_choose_its_stamps() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let mut receiver = lab.receiver();
    wait_for_stamps(common::PATIENCE).unwrap();
    let (now, hour) = (RealtimeNanos::now().0, 3_600_000_000_000_u64);
    let monotonic = monotonic_nanos();
    let clocks = [(libc::CLOCK_REALTIME, now), (libc::CLOCK_MONOTONIC, monotonic), (libc::CLOCK_TAI, now)];
    let wishes =
        clocks.into_iter().flat_map(|(clock, now)| [(clock, 1), (clock, now - monotonic / 2), (clock, now + hour)]);
    let octets = frame(lab.stations[0].mac, 60, 1);
    for (clockid, at) in wishes {
        let socket = lab.stations[0].socket();
        setsockopt(&socket, TxTime, &libc::sock_txtime { clockid, flags: 0 }).unwrap();
        let before = RealtimeNanos::now();
        let (descriptor, parts) = (socket.as_fd().as_raw_fd(), [IoSlice::new(&octets)]);
        sendmsg::<()>(descriptor, &parts, &[ControlMessage::TxTime(&at)], MsgFlags::empty(), None).unwrap();
        let copy = collect(&mut receiver, 1).remove(0);
        let after = RealtimeNanos::now();
        // A clock that is slewed meanwhile moves by much less.
        assert!(
            (before.0 - 1_000_000..=after.0 + 1_000_000).contains(&copy.stamp.0),
            "clock {clockid}, {at}: {copy:?}"
        );
    }
}
