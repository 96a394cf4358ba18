//! 1000 Mb/s half duplex and repeaters, worked out by hand: the engine matches a formula to the bit time.

mod common;

use common::{offer, run, station, trace};
use medium::{BitRate, BitTimes, Cause, Config, Event, Kind, Parameters, Place, Repeater, Segments, Topology};

const LONG: u64 = 1 << 40;
/// Preamble and SFD; the inter-packet gap; the shortest rest after preamble and SFD in the first packet of a burst.
const HEADER: u64 = 64;
const GAP: u64 = 96;
const EXTENDED: u64 = 4096;

fn gigabit(topology: Topology, burst_limit: u64) -> Config {
    let mut config = Config::new(BitRate::MBIT_1000, topology, 1);
    config.parameters.burst_limit = BitTimes::new(burst_limit);
    config.queue_limit = 2_000;
    config
}

/// The begin of the preamble, and the end, of each of `frames` packets of a lone station that always has the next frame
/// ready.
///
/// ```text
///   |header|frame|extension|filling|header|frame|filling| ...  |header|frame|   gap   |header|frame|extension|
///   burst begins           |<----->| GAP                                    |<------->| GAP
///                          ends before burst_limit is over: goes on         ends later
/// ```
fn lone_station(frames: usize, octets: u64, burst_limit: u64) -> Vec<(u64, u64)> {
    let (mut begin, mut burst_begin) = (0, 0);
    let mut packets = Vec::new();
    for _ in 0..frames {
        let shortest = if begin == burst_begin { EXTENDED } else { 0 };
        let end = begin + HEADER + (8 * octets).max(shortest);
        packets.push((begin, end));
        begin = end + GAP;
        if end - burst_begin >= burst_limit {
            burst_begin = begin;
        }
    }
    packets
}

/// The attempt of a packet that continues a burst begins with the filling.
fn packets(events: &[Event]) -> Vec<(u64, u64)> {
    let preamble = |event: &Event| match event.kind {
        Kind::Attempt { burst, .. } => Some(event.at.get() + if burst { GAP } else { 0 }),
        _ => None,
    };
    let end = |event: &Event| matches!(event.kind, Kind::Transmitted { .. }).then_some(event.at.get());
    events.iter().filter_map(preamble).zip(events.iter().filter_map(end)).collect()
}

/// 802.3, 4.2.3.2.7 and 4.2.3.4, for every 50th size and limits around the instants at which packets end.
#[test]
fn a_lone_station_sends_at_the_instants_that_a_formula_gives() {
    for octets in (64..=1518).step_by(50) {
        let first = HEADER + (8 * octets).max(EXTENDED);
        let second = first + GAP + HEADER + 8 * octets;
        for burst_limit in [0, 1, first, first + 1, second, second + 1, 65_536] {
            let frames = 300;
            let inputs = vec![offer(0, 0, 1, octets as u32); frames];
            let (_, events) = run(gigabit(Topology::star(2, 3), burst_limit), &inputs, LONG);
            assert_eq!(
                packets(&events),
                lone_station(frames, octets, burst_limit),
                "{octets} octets, burst_limit {burst_limit}"
            );
        }
    }
}

/// 64 octets without bursts: a packet of 64 + 4096 BT and a gap of 96 BT each. With them, the first is as long, and
/// 92 more of 96 + 64 + 512 BT end at 65,984, the first such end behind 65,536: 93 frames in 66,080 BT.
#[test]
fn what_bursts_are_worth_at_64_octets() {
    let last_of = |frames: usize, burst_limit| {
        let (_, events) = run(gigabit(Topology::star(2, 0), burst_limit), &vec![offer(0, 0, 1, 64); frames], LONG);
        packets(&events).last().expect("all were sent").1
    };
    assert_eq!(last_of(1000, 0), 1000 * (64 + 4096 + 96) - 96);
    assert_eq!(last_of(10 * 93, 65_536), 10 * 66_080 - 96);
}

/// Table 4-2 of 802.3; maxDeferTime is twice the longest burst at 1000 Mb/s, and twice the longest frame below (5.2.4.1).
#[test]
fn the_values_for_each_rate() {
    let p = Parameters::IEEE_802_3_1000;
    assert_eq!(
        (p.slot_time.get(), p.extend_size.get(), p.burst_limit.get(), p.max_defer_time.get()),
        (4096, 448, 65_536, 2 * (65_536 + 8 * 1518 + 64))
    );
    assert_eq!(u64::from(p.extend_size.get() + p.min_frame_size.get()) * 8, p.slot_time.get());
    assert_eq!(Parameters::at(BitRate::MBIT_1000), p);
    assert_eq!(Parameters::at(BitRate::MBIT_100), Parameters::IEEE_802_3);
    assert_eq!(Parameters::at(BitRate::MBIT_10), Parameters::IEEE_802_3);
}

/// A packet with its extension lasts 4160 BT, so the sender may detect a collision up to there; later than slotTime it
/// is late, and at 1000 Mb/s the frame is not attempted again (802.3, 4.2.8, TransmitLinkMgmt).
///
/// Station 1 begins one bit time before it hears station 0, so station 0 hears station 1 at 2d - 1.
#[test]
fn a_late_collision_at_1000_mbit_ends_the_frame() {
    for (distance, late) in [(2048, false), (2049, true), (2080, true)] {
        let inputs = [offer(0, 0, 1, 64), offer(distance - 1, 1, 0, 64)];
        let (_, events) = run(gigabit(Topology::star(2, distance), 65_536), &inputs, LONG);
        let mut of_first = events.iter().filter(|e| e.station == station(0) && e.frame.station == station(0));
        let collision = of_first.find(|e| e.kind.name() == "collision").expect("a collision");
        assert_eq!(collision.at.get(), 2 * distance - 1, "{}", trace(&events));
        let discarded = events.iter().any(|e| {
            let kind = Kind::Discarded { cause: Cause::LateCollision, attempts: 1 };
            (e.at.get(), e.station, e.kind) == (2 * distance - 1 + 32, station(0), kind)
        });
        assert_eq!(discarded, late, "{distance} BT: {}", trace(&events));
    }
}

/// Filling keeps carrier on, so a waiting station waits to the end of the burst, and one gap more.
#[test]
fn nobody_gets_into_a_burst() {
    let mut inputs = vec![offer(0, 0, 2, 64); 5];
    inputs.push(offer(100, 1, 2, 64));
    let (_, events) = run(gigabit(Topology::star(3, 10), 65_536), &inputs, LONG);
    let end = 64 + 4096 + 4 * (96 + 64 + 512);
    let attempt = events.iter().find(|e| e.station == station(1) && e.kind.name() == "attempt");
    assert_eq!(attempt.expect("it sends").at.get(), end + 10 + 96, "{}", trace(&events));
}

fn two_segments() -> Topology {
    let place = |segment, position| Place { segment, position: BitTimes::new(position) };
    let repeater = Repeater { delay: BitTimes::new(8), jitter: BitTimes::ZERO, ports: vec![place(0, 20), place(1, 0)] };
    let stations = vec![place(0, 0), place(0, 10), place(1, 30)];
    Topology::Segments(Segments::new(stations, &[repeater]).expect("two segments and a repeater"))
}

/// Cable, repeater and cable: 20 + 8 + 30 BT from station 0 to station 2.
#[test]
fn a_repeater_adds_its_delay() {
    let (_, events) = run(Config::new(BitRate::MBIT_10, two_segments(), 1), &[offer(0, 0, 2, 64)], LONG);
    let delivered = events.iter().find(|e| e.kind.name() == "delivered").expect("it arrives");
    assert_eq!((delivered.at.get(), delivered.station), (64 + 512 + 58, station(2)));
}
