//! Golden traces: what happens on the medium, event by event, in scenarios small enough to review.
//!
//! They freeze the engine's contract with time. `BLESS=1 cargo test -p ethbus-medium` rewrites them.

mod common;

use common::{check_golden, offer, run, station, trace};
use medium::{BitRate, BitTimes, Config, Destination, Frame, Input, Octets, Topology};

const LONG: u64 = 1 << 40;

fn star(stations: usize, distance: u64) -> Config {
    Config::new(BitRate::MBIT_10, Topology::star(stations, distance), 1)
}

fn bus(positions: &[u64]) -> Config {
    let positions = positions.iter().map(|&bits| BitTimes::new(bits)).collect();
    Config::new(BitRate::MBIT_10, Topology::Bus { positions }, 1)
}

fn check(name: &str, config: Config, inputs: &[(u64, Input)]) {
    let (_, events) = run(config, inputs, LONG);
    check_golden(name, &trace(&events));
}

/// A frame of 64 octets takes 64 + 512 BT, and the next one 96 BT after it: 672 BT, 14,880.95 a second.
#[test]
fn a_lone_station_sends_back_to_back() {
    check("lone_station.txt", star(2, 0), &[offer(0, 0, 1, 64), offer(0, 0, 1, 64), offer(0, 0, 1, 1518)]);
}

/// Decisions come before signals, so stations that start in the same bit time collide (DESIGN.md, ties).
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

/// Part 2 of the gap never restarts, so all who deferred to one frame start together (802.3, 4.2.3.2.1).
#[test]
fn three_that_defer_to_one_collide_after_it() {
    let inputs = [offer(0, 0, 1, 200), offer(100, 1, 0, 64), offer(200, 2, 0, 64), offer(300, 3, 0, 64)];
    check("three_defer_to_one.txt", star(4, 10), &inputs);
}

/// attemptLimit counts attempts; a backoff_limit of 0 makes every draw 0, so the two always meet again.
#[test]
fn the_sixteenth_collision_discards_the_frame() {
    let mut config = star(2, 0);
    config.parameters.backoff_limit = 0;
    let inputs = [offer(0, 0, 1, 64), offer(0, 1, 0, 64), offer(0, 1, 0, 64)];
    check("sixteen_attempts.txt", config, &inputs);
}

/// Later than slot_time after the first bit of the preamble is late; exactly slot_time is not.
#[test]
fn a_collision_after_slot_time_is_late() {
    for (detected, distance, start) in [(511, 256, 255), (512, 256, 256), (513, 257, 256)] {
        let inputs = [offer(0, 0, 1, 1518), offer(start, 1, 0, 64)];
        check(&format!("collision_at_{detected}bt.txt"), star(2, distance), &inputs);
    }
}

/// The cable is too long: the first sender is done before the other's signal gets to it.
#[test]
fn a_collision_that_its_sender_never_hears_damages_the_frame() {
    let inputs = [offer(0, 0, 1, 64), offer(399, 2, 1, 64)];
    check("undetected_collision.txt", bus(&[0, 200, 400]), &inputs);
}

/// Carrier that returns in part 1 of the gap starts it anew, in part 2 it does not (802.3, 4.2.8 Deference).
///
/// Station 0 sends to station 1 beside it; station 2, far off, has not heard it and sends too; its signal
/// gets to station 1, which waits to send, some bits after the first has ended there.
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

/// What a detached station is sending ends as it would; the rest is discarded, and it hears nothing.
#[test]
fn a_station_is_taken_off_while_it_sends() {
    let inputs = [
        offer(0, 0, 1, 64),
        offer(0, 0, 1, 64),
        offer(10, 1, 0, 64),
        (100, Input::Detach { station: station(0) }),
        (100, Input::Detach { station: station(1) }),
        offer(200, 0, 1, 64),
        (5000, Input::Attach { station: station(0) }),
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
