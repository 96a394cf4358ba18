//! Every counter, hit exactly: the smallest scenario for each, and all counts at all stations.

mod common;

use common::{offer, run, station};
use medium::{BitRate, BitTimes, Config, Counters, Deed, Destination, Fault, Frame, Input, Octets, Tally, Topology};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

const LONG: u64 = 1 << 40;

fn star(stations: usize, distance: u64) -> Config {
    Config::new(BitRate::MBIT_10, Topology::star(stations, distance), 1)
}

/// Two stations that always draw 0 slots, so that they collide until attempt_limit attempts are made.
fn stubborn(attempt_limit: u32) -> Config {
    let mut config = star(3, 0);
    config.parameters.backoff_limit = 0;
    config.parameters.attempt_limit = NonZeroU32::new(attempt_limit).expect("not 0");
    config
}

fn fault(number: u16, fault: Fault) -> (u64, Input) {
    (0, Input::Deed(Deed::Fault { station: station(number), fault: Some(fault) }))
}

/// The counters that are not 0, by station.
fn counted(config: Config, inputs: &[(u64, Input)]) -> Vec<String> {
    let (medium, _) = run(config, inputs, LONG);
    let text = |(number, counters): (usize, &Counters)| {
        all(counters).iter().filter(|(_, value)| *value > 0).fold(format!("s{number}"), |text, (name, value)| {
            if *value == 1 { format!("{text} {name}") } else { format!("{text} {name}={value}") }
        })
    };
    medium.tally().stations().iter().enumerate().map(text).collect()
}

/// Every counter with its name, `collision_frames` by its index.
fn all(counters: &Counters) -> Vec<(String, u64)> {
    let frames = counters.collision_frames.iter().enumerate();
    let frames = frames.map(|(index, &value)| (format!("collision_frames[{}]", index + 1), value));
    counters.named().map(|(name, value)| (name.to_owned(), value)).chain(frames).collect()
}

/// The counter that a case is about, the case, and all its counts.
type Case = (&'static str, Config, Vec<(u64, Input)>, [&'static str; 3]);

fn cases() -> Vec<Case> {
    let to_nobody = |at, from| {
        let frame = Frame::new(Octets::new(64), Destination::Nobody);
        (at, Input::Offer { station: station(from), frame })
    };
    let with = |change: fn(&mut Config), mut config: Config| {
        change(&mut config);
        config
    };
    let long_cable = |positions: [u64; 3], rate| {
        let positions = positions.map(BitTimes::new).to_vec();
        Config::new(rate, Topology::Bus { positions }, 1)
    };
    vec![
        (
            "offered",
            star(3, 0),
            vec![offer(0, 0, 1, 64)],
            [
                "s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts delivered",
                "s1 frames_received_ok octets_received_ok=46",
                "s2",
            ],
        ),
        (
            "queue_drops",
            with(|config| config.queue_limit = 1, star(3, 0)),
            vec![to_nobody(0, 0), to_nobody(0, 0)],
            ["s0 offered=2 queue_drops frames_transmitted_ok octets_transmitted_ok=46 attempts", "s1", "s2"],
        ),
        (
            "frames_transmitted_ok",
            star(3, 0),
            vec![to_nobody(0, 0)],
            ["s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts", "s1", "s2"],
        ),
        (
            "attempts",
            star(3, 0),
            vec![to_nobody(0, 0)],
            ["s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts", "s1", "s2"],
        ),
        (
            "octets_transmitted_ok",
            star(3, 0),
            vec![(0, Input::Offer { station: station(0), frame: Frame::new(Octets::new(19), Destination::Nobody) })],
            ["s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts", "s1", "s2"],
        ),
        (
            "frames_received_ok",
            star(3, 0),
            vec![offer(0, 0, 1, 64)],
            [
                "s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts delivered",
                "s1 frames_received_ok octets_received_ok=46",
                "s2",
            ],
        ),
        (
            "delivered",
            star(3, 0),
            vec![offer(0, 0, 1, 64)],
            [
                "s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts delivered",
                "s1 frames_received_ok octets_received_ok=46",
                "s2",
            ],
        ),
        (
            "octets_received_ok",
            star(3, 0),
            vec![offer(0, 0, 1, 19)],
            [
                "s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts delivered",
                "s1 frames_received_ok octets_received_ok=46",
                "s2",
            ],
        ),
        (
            "single_collision_frames",
            stubborn(16),
            vec![to_nobody(0, 0), to_nobody(0, 1), (10, Input::Deed(Deed::Unplug { station: station(1) }))],
            [
                "s0 offered frames_transmitted_ok single_collision_frames octets_transmitted_ok=46 attempts=2 collisions collision_frames[1]",
                "s1 offered internal_mac_transmit_errors detached attempts collisions",
                "s2",
            ],
        ),
        (
            "collision_frames[1]",
            stubborn(16),
            vec![to_nobody(0, 0), to_nobody(0, 1), (10, Input::Deed(Deed::Unplug { station: station(1) }))],
            [
                "s0 offered frames_transmitted_ok single_collision_frames octets_transmitted_ok=46 attempts=2 collisions collision_frames[1]",
                "s1 offered internal_mac_transmit_errors detached attempts collisions",
                "s2",
            ],
        ),
        (
            "collisions",
            stubborn(1),
            vec![to_nobody(0, 0), to_nobody(0, 1)],
            [
                "s0 offered excessive_collisions attempts collisions",
                "s1 offered excessive_collisions attempts collisions",
                "s2",
            ],
        ),
        (
            "excessive_collisions",
            stubborn(1),
            vec![to_nobody(0, 0), to_nobody(0, 1)],
            [
                "s0 offered excessive_collisions attempts collisions",
                "s1 offered excessive_collisions attempts collisions",
                "s2",
            ],
        ),
        (
            "multiple_collision_frames",
            stubborn(16),
            vec![to_nobody(0, 0), to_nobody(0, 1), (202, Input::Deed(Deed::Unplug { station: station(1) }))],
            [
                "s0 offered frames_transmitted_ok multiple_collision_frames octets_transmitted_ok=46 attempts=3 collisions=2 collision_frames[2]",
                "s1 offered internal_mac_transmit_errors detached attempts=2 collisions=2",
                "s2",
            ],
        ),
        (
            "deferred_transmissions",
            star(3, 0),
            vec![to_nobody(0, 0), to_nobody(100, 1)],
            [
                "s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts",
                "s1 offered frames_transmitted_ok deferred_transmissions octets_transmitted_ok=46 attempts",
                "s2",
            ],
        ),
        (
            "excessive_deferrals",
            with(|config| config.parameters.max_defer_time = BitTimes::new(571), star(3, 0)),
            vec![to_nobody(0, 0), to_nobody(100, 1)],
            [
                "s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts",
                "s1 offered frames_transmitted_ok deferred_transmissions excessive_deferrals octets_transmitted_ok=46 attempts",
                "s2",
            ],
        ),
        (
            "late_collisions",
            with(|config| config.parameters.attempt_limit = NonZeroU32::MIN, long_cable([0, 257, 0], BitRate::MBIT_10)),
            vec![
                (0, Input::Offer { station: station(0), frame: Frame::new(Octets::new(1518), Destination::Nobody) }),
                to_nobody(256, 1),
            ],
            [
                "s0 offered late_collisions excessive_collisions attempts collisions",
                "s1 offered excessive_collisions attempts collisions",
                "s2",
            ],
        ),
        (
            "late_collision_discards",
            long_cable([0, 2049, 0], BitRate::MBIT_1000),
            vec![to_nobody(0, 0), to_nobody(2048, 1), (2100, Input::Deed(Deed::Unplug { station: station(1) }))],
            [
                "s0 offered late_collisions late_collision_discards attempts collisions",
                "s1 offered internal_mac_transmit_errors detached attempts collisions",
                "s2",
            ],
        ),
        (
            "fragments_received",
            stubborn(1),
            vec![offer(0, 0, 2, 64), to_nobody(0, 1)],
            [
                "s0 offered excessive_collisions attempts collisions",
                "s1 offered excessive_collisions attempts collisions",
                "s2 fragments_received",
            ],
        ),
        (
            "fcs_errors",
            star(3, 0),
            vec![fault(0, Fault::BadFcs), offer(0, 0, 1, 64)],
            ["s0 offered frames_transmitted_ok octets_transmitted_ok=46 attempts", "s1 fcs_errors", "s2"],
        ),
        (
            "alignment_errors",
            with(|config| config.parameters.attempt_limit = NonZeroU32::MIN, long_cable([0, 600, 0], BitRate::MBIT_10)),
            vec![offer(0, 0, 2, 1518), to_nobody(1, 1)],
            [
                "s0 offered late_collisions excessive_collisions attempts collisions",
                "s1 offered frames_transmitted_ok octets_transmitted_ok=46 attempts",
                "s2 alignment_errors",
            ],
        ),
        (
            "frame_too_long_errors",
            star(3, 0),
            vec![fault(0, Fault::Babble), offer(0, 0, 1, 1519)],
            ["s0 offered frames_transmitted_ok octets_transmitted_ok=1501 attempts", "s1 frame_too_long_errors", "s2"],
        ),
        (
            "carrier_sense_errors",
            star(3, 0),
            vec![fault(0, Fault::Deaf), to_nobody(0, 0)],
            ["s0 offered frames_transmitted_ok carrier_sense_errors octets_transmitted_ok=46 attempts", "s1", "s2"],
        ),
        (
            "too_short",
            star(3, 0),
            vec![offer(0, 0, 1, 17)],
            ["s0 offered internal_mac_transmit_errors too_short", "s1", "s2"],
        ),
        (
            "too_long",
            star(3, 0),
            vec![offer(0, 0, 1, 1519)],
            ["s0 offered internal_mac_transmit_errors too_long", "s1", "s2"],
        ),
        (
            "detached",
            star(3, 0),
            vec![(0, Input::Deed(Deed::Unplug { station: station(0) })), to_nobody(0, 0)],
            ["s0 offered internal_mac_transmit_errors detached", "s1", "s2"],
        ),
        (
            "internal_mac_transmit_errors",
            star(3, 0),
            vec![offer(0, 0, 1, 1519)],
            ["s0 offered internal_mac_transmit_errors too_long", "s1", "s2"],
        ),
    ]
}

#[test]
fn each_case_counts_what_it_should_and_nothing_else() {
    for (name, config, inputs, expected) in cases() {
        let counted = counted(config, &inputs);
        assert_eq!(counted, expected, "{name}");
        // A frame has 46 octets of data or padding, so octets come in multiples of that.
        let wanted = if name.starts_with("octets") { format!("{name}=46") } else { name.to_owned() };
        let stations = counted.iter().filter(|line| line.split(' ').any(|word| word == wanted)).count();
        assert!(stations > 0, "{wanted} at no station: {counted:?}");
    }
}

/// A counter without an increment has no case, or stays 0 in it.
#[test]
fn no_counter_is_left_out() {
    let nothing = Tally::new(1, NonZeroU32::new(16));
    let named: BTreeSet<String> = all(nothing.station(station(0))).into_iter().map(|(name, _)| name).collect();
    let about: BTreeSet<String> = cases().iter().map(|(name, ..)| (*name).to_owned()).collect();
    let later: BTreeSet<String> = (2..=15).map(|collisions| format!("collision_frames[{collisions}]")).collect();
    assert_eq!(&about | &later, named);
    let mut seen = BTreeSet::new();
    for (_, config, inputs, _) in cases() {
        let (medium, _) = run(config, &inputs, LONG);
        let stations = medium.tally().stations().iter().flat_map(all);
        seen.extend(stations.filter(|(_, value)| *value > 0).map(|(name, _)| name));
    }
    for collisions in 1..=15 {
        seen.insert(after_collisions(collisions, 16));
    }
    assert_eq!(seen, named);
}

/// aCollisionFrames: a frame that was transmitted after `collisions` collisions, and no other.
fn after_collisions(collisions: u64, attempt_limit: u32) -> String {
    // Station 1 gives up with its last attempt but one, as it is taken off; then station 0 has the medium.
    let off = 96 * 2 * (collisions - 1) + 10;
    let inputs = [offer(0, 0, 2, 64), offer(0, 1, 2, 64), (off, Input::Deed(Deed::Unplug { station: station(1) }))];
    let (medium, _) = run(stubborn(attempt_limit), &inputs, LONG);
    let frames = medium.tally().station(station(0)).collision_frames.clone();
    assert_eq!(frames.len(), attempt_limit as usize - 1);
    let hit: Vec<usize> = (1..=frames.len()).filter(|&index| frames[index - 1] > 0).collect();
    assert_eq!((frames.iter().sum::<u64>(), &hit[..]), (1, &[collisions as usize][..]));
    format!("collision_frames[{}]", hit[0])
}

/// aCollisionFrames has attemptLimit − 1 places (802.3, 30.3.1.1.30), for any attemptLimit.
#[test]
fn a_frame_after_many_collisions_is_counted_in_its_own_place() {
    for (collisions, attempt_limit) in [(1, 2), (16, 17), (17, 18), (17, 40), (39, 40)] {
        assert_eq!(after_collisions(collisions, attempt_limit), format!("collision_frames[{collisions}]"));
    }
}
