//! Golden traces: the events on the medium, one by one, in scenarios small enough to review.
//!
//! They pin the engine's contract with time. `BLESS=1 cargo test -p ethbus-medium` rewrites them.

mod common;

use common::{check_golden, offer, run, station, trace};
use medium::{
    BitRate, BitTimes, Config, Deed, Destination, Fault, Frame, Input, Octets, Place, Repeater, Segments, Topology,
};

const LONG: u64 = 1 << 40;

fn star(stations: usize, distance: u64) -> Config {
    Config::new(BitRate::MBIT_10, Topology::star(stations, distance), 1)
}

fn gigabit(stations: usize, distance: u64) -> Config {
    Config::new(BitRate::MBIT_1000, Topology::star(stations, distance), 1)
}

fn fault(at: u64, number: u16, fault: Option<Fault>) -> (u64, Input) {
    (at, Input::Deed(Deed::Fault { station: station(number), fault }))
}

fn bus(positions: &[u64]) -> Config {
    let positions = positions.iter().map(|&bits| BitTimes::new(bits)).collect();
    Config::new(BitRate::MBIT_10, Topology::Bus { positions }, 1)
}

fn check(name: &str, config: Config, inputs: &[(u64, Input)]) {
    // A run without outputs takes a shorter path through the engine.
    let (_, without) = run(Config { keep_outputs: false, ..config.clone() }, inputs, LONG);
    let (_, events) = run(config, inputs, LONG);
    check_golden(name, &trace(&events));
    assert_eq!(trace(&without), trace(&events), "{name}, without outputs");
}

/// A frame of 64 octets takes 64 + 512 BT, and the next one 96 BT after it: 672 BT, 14,880.95 a second.
#[test]
fn a_lone_station_sends_back_to_back() {
    check("lone_station.txt", star(2, 0), &[offer(0, 0, 1, 64), offer(0, 0, 1, 64), offer(0, 0, 1, 1518)]);
}

/// Decisions come before signals, so stations that start in the same bit time collide (ARCHITECTURE.md, invariants).
#[test]
fn two_stations_that_start_together_collide() {
    for distance in [0, 1, 50, 231] {
        let inputs = [offer(0, 0, 1, 64), offer(0, 1, 0, 64)];
        check(&format!("start_together_{distance}bt.txt"), star(2, distance), &inputs);
    }
}

/// The second starts in the last bit time before it would hear the first; then in the first in which it does.
#[test]
fn a_station_starts_until_it_hears_the_other() {
    for start in [49, 50, 51] {
        let inputs = [offer(0, 0, 1, 64), offer(start, 1, 0, 64)];
        check(&format!("start_{start}bt_after_at_50bt.txt"), star(2, 50), &inputs);
    }
}

/// Part 2 of the gap never restarts, so all stations that deferred to one frame start together (802.3, 4.2.3.2.1).
#[test]
fn three_that_defer_to_one_collide_after_it() {
    let inputs = [offer(0, 0, 1, 200), offer(100, 1, 0, 64), offer(200, 2, 0, 64), offer(300, 3, 0, 64)];
    check("three_defer_to_one.txt", star(4, 10), &inputs);
}

/// attemptLimit counts attempts; a backoff_limit of 0 makes every draw 0, so the two always collide again.
#[test]
fn the_sixteenth_collision_discards_the_frame() {
    let mut config = star(2, 0);
    config.parameters.backoff_limit = 0;
    let inputs = [offer(0, 0, 1, 64), offer(0, 1, 0, 64), offer(0, 1, 0, 64)];
    check("sixteen_attempts.txt", config, &inputs);
}

/// Lam's Heuristic RCP in place of 802.3's backoff: 0 to 9 slots after the first collision, 0 to 99 after the second.
#[test]
fn backoff_may_follow_another_policy() {
    let policy = backoff::Policy::rcp(medium::SlottedAloha::SLOT, [10, 100]);
    let inputs = [offer(0, 0, 1, 64), offer(0, 1, 2, 64), offer(0, 2, 0, 64), offer(0, 3, 0, 64)];
    check("backoff_rcp.txt", Config { backoff: Some(policy), ..star(4, 0) }, &inputs);
}

/// Later than slot_time after the first bit of the preamble is late; exactly slot_time is not.
#[test]
fn a_collision_after_slot_time_is_late() {
    for (detected, distance, start) in [(511, 256, 255), (512, 256, 256), (513, 257, 256)] {
        let inputs = [offer(0, 0, 1, 1518), offer(start, 1, 0, 64)];
        check(&format!("collision_at_{detected}bt.txt"), star(2, distance), &inputs);
    }
}

/// The cable is too long: the first sender has finished before the other's signal reaches it.
#[test]
fn a_collision_that_its_sender_never_hears_damages_the_frame() {
    let inputs = [offer(0, 0, 1, 64), offer(399, 2, 1, 64)];
    check("undetected_collision.txt", bus(&[0, 200, 400]), &inputs);
}

/// Carrier that returns in part 1 of the gap restarts it; in part 2 it does not (802.3, 4.2.8 Deference).
///
/// Station 0 sends to station 1 beside it. Station 2, far off, has not heard it and sends too; its signal reaches
/// station 1, which waits to send, some bits after the first has ended there.
#[test]
fn carrier_restarts_part_1_of_the_gap_only() {
    for silence in [30, 63, 64, 70] {
        let inputs = [offer(0, 0, 1, 64), offer(576 + silence - 500, 2, 0, 64), offer(300, 1, 0, 64)];
        check(&format!("carrier_{silence}bt_into_the_gap.txt"), bus(&[0, 0, 500]), &inputs);
    }
}

#[test]
fn a_full_queue_drops_at_its_tail() {
    let mut config = star(2, 0);
    config.queue_limit = 2;
    check("queue_drop.txt", config, &[1, 2, 3, 4].map(|_| offer(0, 0, 1, 64)));
}

/// The present transmission of a detached station continues to its end; the rest is discarded, and it hears nothing.
#[test]
fn a_station_is_taken_off_while_it_sends() {
    let inputs = [
        offer(0, 0, 1, 64),
        offer(0, 0, 1, 64),
        offer(10, 1, 0, 64),
        (100, Input::Deed(Deed::Unplug { station: station(0) })),
        (100, Input::Deed(Deed::Unplug { station: station(1) })),
        offer(200, 0, 1, 64),
        (5000, Input::Deed(Deed::Plug { station: station(0) })),
        offer(5000, 0, 1, 64),
    ];
    check("detach.txt", star(3, 0), &inputs);
}

/// A short frame is padded before it is timed; a header that is not whole, and a frame too long, are not sent.
#[test]
fn sizes_at_the_limits() {
    let everyone = |octets, tagged| {
        let frame = Frame { size: Octets::new(octets), destination: Destination::All, tagged };
        (0, Input::Offer { station: station(0), frame })
    };
    let inputs = [
        everyone(17, false),
        everyone(18, false),
        everyone(1518, false),
        everyone(1519, false),
        everyone(1522, true),
        everyone(1523, true),
    ];
    check("sizes.txt", star(3, 0), &inputs);
}

/// 64 octets keep carrier up for 64 + 4096 BT, and so do 511; 512 and more need no extension (802.3, 4.2.3.4).
#[test]
fn a_frame_at_1000_mbit_is_extended_to_slot_time() {
    let mut config = gigabit(2, 10);
    config.parameters.burst_limit = BitTimes::ZERO;
    check("extension.txt", config, &[64, 511, 512, 600].map(|octets| offer(0, 0, 1, octets)));
}

/// The first frame is extended, the gaps are filled, and no other station gets in between (802.3, 4.2.3.2.7).
#[test]
fn a_burst_holds_the_medium() {
    let inputs = [offer(0, 0, 1, 64), offer(0, 0, 1, 64), offer(0, 0, 1, 600), offer(300, 1, 0, 64)];
    check("burst.txt", gigabit(2, 100), &inputs);
}

/// A frame that comes a bit time too late for the burst defers; a frame that comes at the very end belongs to it.
#[test]
fn a_burst_ends_with_an_empty_queue() {
    for ready in [4159, 4160, 4161] {
        check(&format!("burst_or_not_{ready}bt.txt"), gigabit(2, 0), &[offer(0, 0, 1, 64), offer(ready, 0, 1, 64)]);
    }
}

/// A burst starts its last frame before burst_limit: the second ends at 4832, so a limit of 4832 keeps the third out.
#[test]
fn a_burst_starts_no_frame_from_burst_limit_on() {
    for limit in [4832, 4833] {
        let mut config = gigabit(2, 0);
        config.parameters.burst_limit = BitTimes::new(limit);
        check(&format!("burst_limit_{limit}bt.txt"), config, &[1, 2, 3].map(|_| offer(0, 0, 1, 64)));
    }
}

/// A cable too long for 1000 Mb/s: the sender hears of the collision in the extension, at 4096 BT in time, at 4097
/// late, and then the frame is lost (802.3, 4.2.8).
#[test]
fn a_late_collision_at_1000_mbit_is_the_end_of_the_frame() {
    for (detected, distance) in [(4096, 2048), (4097, 2049)] {
        let inputs = [offer(0, 0, 1, 64), offer(2048, 1, 0, 64)];
        check(&format!("gigabit_collision_at_{detected}bt.txt"), gigabit(2, distance), &inputs);
    }
}

/// Every collision in a burst after its first frame is late (802.3, 4.2.8): in the gap, the preamble, and the frame.
///
/// Station 1 is so far off that it hears the burst only after it has begun to send.
#[test]
fn a_collision_in_a_burst_is_late() {
    for (place, begin) in [("gap", 1200), ("preamble", 1300), ("frame", 1400)] {
        let inputs = [offer(0, 0, 1, 64), offer(0, 0, 1, 64), offer(begin, 1, 0, 64)];
        check(&format!("burst_collision_in_the_{place}.txt"), gigabit(2, 3000), &inputs);
    }
}

/// Two segments and a repeater of 8 BT: 20 + 8 + 30 BT from end to end; for 58 BT neither hears the other.
#[test]
fn a_repeater_delays_what_it_repeats() {
    let place = |segment, bits| Place { segment, position: BitTimes::new(bits) };
    let repeater = Repeater { delay: BitTimes::new(8), jitter: BitTimes::ZERO, ports: vec![place(0, 20), place(1, 0)] };
    for start in [57, 58, 59] {
        let stations = vec![place(0, 0), place(1, 30), place(0, 20)];
        let segments = Segments::new(stations, std::slice::from_ref(&repeater)).expect("a tree");
        let config = Config::new(BitRate::MBIT_10, Topology::Segments(segments), 1);
        check(&format!("repeater_{start}bt.txt"), config, &[offer(0, 0, 1, 64), offer(start, 1, 2, 64)]);
    }
}

/// A deaf station sends into a signal that it does not hear, and without a gap; healed, it defers again.
#[test]
fn a_deaf_station_sends_over_others() {
    let inputs = [
        fault(0, 1, Some(Fault::Deaf)),
        offer(0, 1, 0, 64),
        offer(0, 1, 0, 64),
        offer(2000, 0, 1, 64),
        offer(2300, 1, 0, 64),
        fault(5000, 1, None),
        offer(6000, 0, 1, 64),
        offer(6300, 1, 0, 64),
    ];
    check("fault_deaf.txt", star(2, 10), &inputs);
}

/// It still hears signals that began before to their end, and waits for the gap after them.
#[test]
fn a_station_that_goes_deaf_hears_the_rest_of_what_it_heard() {
    let inputs = [offer(0, 0, 1, 64), offer(100, 1, 0, 64), fault(200, 1, Some(Fault::Deaf)), offer(300, 0, 1, 64)];
    check("fault_deaf_meanwhile.txt", star(2, 10), &inputs);
}

#[test]
fn a_bad_fcs_is_seen_by_the_addressee() {
    let inputs = [fault(0, 0, Some(Fault::BadFcs)), offer(0, 0, 1, 64), fault(700, 0, None), offer(700, 0, 1, 64)];
    check("fault_bad_fcs.txt", star(3, 10), &inputs);
}

/// Signals that began before the cut reach every place. Signals that begin during the cut stay on their side, to their
/// end, even if the cable is mended meanwhile. After that all stations are on one medium again.
///
/// ```text
///   0 ────── 100 ──/cut/── 200
/// ```
#[test]
fn a_cut_makes_two_media_of_one() {
    let cut = |at, place| (at, Input::Deed(Deed::Cut(place)));
    let place = Place { segment: 0, position: BitTimes::new(150) };
    let positions = [0, 100, 200].map(BitTimes::new).to_vec();
    let config = Config::new(BitRate::MBIT_10, Topology::Bus { positions }, 1);
    let inputs = [
        offer(0, 0, 2, 64),
        cut(300, Some(place)),
        offer(2000, 0, 2, 64),
        offer(2010, 2, 1, 64),
        offer(2020, 1, 0, 64),
        cut(2100, None),
        offer(2200, 2, 0, 64),
        offer(6000, 0, 2, 64),
    ];
    check("cut.txt", config, &inputs);
}

/// 1522 octets are too long without a tag, but not with one; and 20 ms end any frame (802.3, 8.2.1.5).
#[test]
fn a_babbler_sends_what_its_host_gives() {
    let tagged = Frame { tagged: true, ..Frame::new(Octets::new(1522), Destination::Station(station(1))) };
    let inputs = [
        fault(0, 0, Some(Fault::Babble)),
        offer(0, 0, 1, 1522),
        (0, Input::Offer { station: station(0), frame: tagged }),
        offer(0, 0, 1, 60_000),
        fault(1, 0, None),
        offer(1, 0, 1, 1522),
    ];
    check("fault_babble.txt", star(2, 10), &inputs);
}

/// 802.3, 3.2.7: the envelope of 2000 octets has room for any tag, so a tag makes it no longer.
#[test]
fn an_envelope_frame_has_2000_octets_tagged_or_not() {
    let mut config = star(2, 0);
    config.parameters.max_frame_size = Octets::new(2000);
    let tagged = |octets| Frame { tagged: true, ..Frame::new(Octets::new(octets), Destination::Station(station(1))) };
    let inputs = [offer(0, 0, 1, 2000), offer(0, 0, 1, 2001)];
    let tagged = [2000, 2001].map(|octets| (0, Input::Offer { station: station(0), frame: tagged(octets) }));
    check("envelope.txt", config, &[&inputs[..], &tagged].concat());
}
