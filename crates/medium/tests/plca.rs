//! PLCA (802.3, clause 148): its tables, golden traces, closed forms, and the engine against CSMA/CD and against a
//! model that steps through every bit time.
//!
//! `ETHBUS_CASES=100000` runs more cases against the model, `ETHBUS_SEED=2` others.
//!
//! One file above 500 lines because all of it is about one method.

#[path = "common/agreement.rs"]
mod agreement;
mod common;
#[path = "common/plca.rs"]
mod model;
#[path = "common/scenario.rs"]
mod scenario;

use agreement::agreed_events;
use common::{check_golden, offer, run, station, trace};
use medium::{
    BitInstant, BitRate, BitTimes, Config, Deed, Destination, Event, Fault, Frame, Host, HostDelay, Input, Kind,
    Medium, Method, Octets, Plca, PlcaControl, PlcaData, PlcaNode, PlcaSettings, PlcaStatus, StationId, Topology,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use scenario::{Scenario, any_cable, any_config, any_scenario, any_topology, cut_scenario, runner};

fn bus_of(plca: Plca) -> Config {
    let topology = Topology::star(plca.nodes.len(), 0);
    Config { method: Method::Plca(plca), ..Config::new(BitRate::MBIT_10, topology, 1) }
}

fn off(stations: usize) -> Plca {
    let nodes = vec![PlcaNode::new(PlcaSettings::off()); stations];
    Plca { delay_line: BitTimes::new(1), ..Plca::new(nodes) }
}

/// 30.16.1.1.1: with PLCA off, a node works with plain CSMA/CD.
fn same_as_csma_cd(cases: u32, scenarios: impl Strategy<Value = Scenario>) {
    let result = runner(cases).run(&scenarios, |Scenario { mut config, mut inputs }| {
        // PLCA ignores deafness, and a mismatch.
        let is_ignored = |fault: &Option<Fault>| matches!(fault, Some(Fault::Deaf | Fault::FullDuplex));
        inputs.retain(|(_, input)| !matches!(input, Input::Deed(Deed::Fault { fault, .. }) if is_ignored(fault)));
        config.rate = BitRate::MBIT_10;
        let stations = config.topology.stations();
        let with = Config { method: Method::Plca(off(stations)), ..config.clone() };
        if config.check().is_err() || with.check().is_err() {
            return Ok(());
        }
        let (_, plain) = run(config.clone(), &inputs, 15_000);
        let (_, off) = run(with.clone(), &inputs, 15_000);
        let same = plain.iter().zip(&off).take_while(|(a, b)| a == b).count();
        if same != plain.len() || same != off.len() {
            let from = same.saturating_sub(6);
            let part = |events: &[Event]| trace(&events[from.min(events.len())..events.len().min(same + 6)]);
            return Err(TestCaseError::fail(format!("CSMA/CD:\n{}PLCA off:\n{}", part(&plain), part(&off))));
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

#[test]
fn a_bus_with_plca_off_is_one_of_csma_cd() {
    same_as_csma_cd(1_500, any_scenario(any_config(any_topology())));
    same_as_csma_cd(500, cut_scenario(any_config(any_cable())));
}

/// PLCA.md: an idle cycle takes 20 + 32 n BT.
#[test]
fn an_idle_cycle_takes_20_and_32_for_each_node() {
    for (nodes, length) in [(8, 276), (40, 1300), (1, 52), (255, 8180)] {
        let (medium, _) = run(bus_of(Plca::right(nodes)), &[], 1_000_000);
        let cycles = medium.plca_cycles().expect("PLCA");
        assert_eq!(cycles.shortest.get(), length, "{cycles:?}");
        assert_eq!(cycles.longest.get(), length, "{cycles:?}");
    }
}

/// The tables of clause 148, as reviewed snapshots.
#[test]
fn the_tables_are_those_of_clause_148() {
    let text = |table: &[(&str, &str, &str)]| {
        table.iter().map(|(from, when, to)| format!("{from:<17} -> {to:<17} if {when}\n")).collect::<String>()
    };
    check_golden("plca_control_table.txt", &text(PlcaControl::TABLE));
    check_golden("plca_data_table.txt", &text(PlcaData::TABLE));
    check_golden("plca_status_table.txt", &text(PlcaStatus::TABLE));
}

/// One frame waits in the delay line, one comes while the line is in use, and one gets a logical collision.
#[test]
fn frames_wait_for_their_turn() {
    let inputs = [
        offer(5_000, 2, 0, 64),
        offer(5_040, 1, 0, 64),
        offer(5_100, 3, 0, 100),
        offer(9_000, 0, 1, 64),
        offer(9_000, 3, 1, 64),
    ];
    let (_, events) = run(bus_of(Plca::right(4)), &inputs, 20_000);
    check_golden("plca_turns.txt", &trace(&events));
}

/// A settled bus is in a cycle as it begins: BEACONs come at 276 n, and frames of instant 0 wait for their turns. After a
/// cold start the same frames meet on the line.
#[test]
fn a_settled_bus_is_in_a_cycle_as_it_begins() {
    let settled = |nodes| Plca { cold_start: false, ..Plca::right(nodes) };
    let (medium, events) = run(bus_of(settled(8)), &[], 276 * 1_000 + 1);
    let cycles = medium.plca_cycles().expect("PLCA");
    assert_eq!((cycles.cycles, cycles.shortest.get(), cycles.longest.get()), (1_000, 276, 276));
    assert!(events.iter().all(|event| event.at == BitInstant::ZERO), "{}", trace(&events));
    for node in 0..8 {
        assert_eq!(medium.plca_status(station(node)), Some(true));
        let counters = medium.plca_counters(station(node)).expect("PLCA");
        assert_eq!((counters.empty_cycles, counters.status_losses, counters.beacons_before_turn), (1_000, 0, 0));
    }
    for nodes in [1, 2, 8, 12, 40, 254, 255_u16] {
        let inputs: Vec<_> = (0..nodes).map(|from| offer(0, from, (from + 1) % nodes, 64)).collect();
        let meets = |plca| {
            let (medium, events) = run(bus_of(plca), &inputs, 400_000);
            let sent: u64 = (0..nodes).map(|node| medium.tally().station(station(node)).frames_transmitted_ok).sum();
            let met = events.iter().any(|event| matches!(event.kind, Kind::Collision { episode: 1.., .. }));
            (sent, met)
        };
        assert_eq!(meets(settled(nodes.into())), (u64::from(nodes), false), "{nodes} nodes");
        assert_eq!(meets(Plca::right(nodes.into())).1, nodes > 1, "{nodes} nodes");
    }
}

/// Clause 148 does not order the events of a bit time. Here the node has yielded its turn by then (docs/plca.md).
#[test]
fn a_frame_of_the_bit_time_in_which_its_turn_begins() {
    let wait = |at: u64| {
        let plca = Plca { cold_start: false, ..Plca::right(4) };
        let (_, events) = run(bus_of(plca), &[offer(at, 2, 0, 64)], at + 2_000);
        let commit = events.iter().find(|event| matches!(event.kind, Kind::Commit { .. })).expect("a turn");
        commit.at.get() - at
    };
    // The turn of node 2 begins at 148 n + 84.
    assert_eq!([1_563, 1_564, 1_565].map(wait), [1, 148, 147]);
}

/// Without a coordinator no cycle is in progress.
#[test]
fn a_bus_without_a_coordinator_is_not_settled() {
    let mut plca = Plca { cold_start: false, ..Plca::right(3) };
    plca.nodes[0].settings.enabled = false;
    let (medium, _) = run(bus_of(plca), &[], 1_000);
    assert_eq!(medium.plca_status(station(1)), Some(false));
}

/// 148.4.4: a turn may be kept for max_bc more frames.
#[test]
fn a_burst_keeps_the_turn() {
    let mut plca = Plca::right(4);
    plca.nodes[2].settings.burst_count = 2;
    let inputs = [offer(5_000, 2, 0, 64), offer(5_000, 2, 0, 64), offer(5_000, 2, 0, 64), offer(5_000, 2, 0, 64)];
    let (_, events) = run(bus_of(plca), &inputs, 20_000);
    check_golden("plca_burst.txt", &trace(&events));
}

/// The coordinator goes: turns are counted to 255, then plca_status falls, and the bus works with CSMA/CD; it comes
/// back, and plca_status with it.
#[test]
fn a_coordinator_that_dies_leaves_csma_cd() {
    let coordinator = station(0);
    let inputs = [
        offer(1_000, 2, 1, 64),
        (1_200, Input::Deed(Deed::Unplug { station: coordinator })),
        offer(1_300, 1, 2, 64),
        offer(20_000, 2, 1, 64),
        offer(20_000, 3, 1, 64),
        offer(150_000, 1, 2, 64),
        offer(150_000, 3, 2, 64),
        (200_000, Input::Deed(Deed::Plug { station: coordinator })),
        offer(210_000, 1, 2, 64),
    ];
    let (medium, events) = run(bus_of(Plca::right(4)), &inputs, 400_000);
    check_golden("plca_coordinator_dies.txt", &trace(&events));
    let fell =
        events.iter().filter(|event| event.kind == Kind::PlcaStatus { ok: false } && event.station != coordinator);
    for event in fell {
        // The BEACON before it was at 1,132 at most; 255 turns of 32 BT, and two frames.
        let after = event.at.get() - 1_132;
        assert!((130_090..=130_090 + 255 * 32 + 2 * 700).contains(&after), "{event}");
    }
    let counters = |number| medium.tally().station(station(number)).clone();
    assert_eq!((0..4).map(|number| counters(number).frames_transmitted_ok).sum::<u64>(), 7);
    assert_eq!(medium.plca_status(station(3)), Some(true));
}

/// All frames that a station will send, and how long each waited for its first bit.
struct Saturated {
    stations: u16,
    octets: u32,
    longest: u64,
    collisions: u64,
    frames: u64,
}

impl Host for Saturated {
    fn feeds(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event) {
        match event.kind {
            Kind::Transmitted { access_delay, .. } => {
                self.longest = self.longest.max(access_delay.get());
                self.frames += 1;
            }
            Kind::Collision { episode, .. } => self.collisions += u64::from(episode > 0),
            _ => {}
        }
    }

    fn next_frame(&mut self, _: BitInstant, from: StationId) -> Option<Frame> {
        let to = station((from.index() as u16 + 1) % self.stations);
        Some(Frame::new(Octets::new(self.octets), Destination::Station(to)))
    }
}

fn saturate(plca: Plca, talkers: &[u16], octets: u32, until: u64) -> (Medium, Saturated) {
    let stations = plca.nodes.len() as u16;
    let mut host = Saturated { stations, octets, longest: 0, collisions: 0, frames: 0 };
    let config = Config { keep_outputs: false, ..bus_of(plca) };
    let mut medium = Medium::new(config).expect("a valid configuration");
    for &talker in talkers {
        let (_, input) = offer(0, talker, (talker + 1) % stations, octets);
        medium.give(BitInstant::ZERO, input, &mut host);
    }
    // Frames that were offered before plca_status was OK were sent with CSMA/CD.
    medium.run_until(BitInstant::new(2_000_000), &mut host);
    (host.longest, host.collisions, host.frames) = (0, 0, 0);
    medium.run_until(BitInstant::new(2_000_000 + until), &mut host);
    (medium, host)
}

/// With PLCA configured correctly at every node no signals collide on the line, and no frame waits longer than the
/// bound by the longest cycle.
#[test]
fn a_right_bus_has_no_collision_and_keeps_the_bound() {
    for (nodes, octets) in [(2, 64), (8, 64), (8, 1518), (40, 100)] {
        let all: Vec<u16> = (0..nodes).collect();
        let (medium, host) = saturate(Plca::right(nodes.into()), &all, octets, 20_000_000);
        let turn = 96 + 64 + 8 * u64::from(octets) + 8;
        let cycle = 20 + u64::from(nodes) * turn;
        assert_eq!(host.collisions, 0, "{nodes} nodes, {octets} octets");
        // The node's own turn may just have begun, and COMMIT comes before the first bit.
        assert!(host.longest <= cycle - turn + 32 + 96, "{} of {cycle}, turns of {turn}", host.longest);
        let cycles = medium.plca_cycles().expect("PLCA");
        assert!(cycles.longest.get() <= cycle, "{cycles:?} of {cycle}");
        assert!(host.frames >= 20_000_000 / cycle * u64::from(nodes) - u64::from(nodes), "{}", host.frames);
    }
}

/// A node that skips k turns after each one with a frame sends in every (k + 1)th of its turns; the others in each of
/// theirs. It meets no other signal on the line.
#[test]
fn a_node_that_skips_turns_sends_in_the_others() {
    for skipped in [1_u8, 2, 7] {
        let mut plca = Plca::right(4);
        plca.nodes[1].skipped_turns = skipped;
        let (medium, host) = saturate(plca, &[0, 1, 2, 3], 200, 10_000_000);
        let turns = |node| medium.plca_counters(station(node)).map(|of| (of.opportunities, of.used)).expect("PLCA");
        let ((all, used), (others, others_used)) = (turns(1), turns(2));
        assert!(
            used > 100 && all.abs_diff(used * (1 + u64::from(skipped))) <= 1 + u64::from(skipped),
            "{used} of {all}"
        );
        // The others miss some turns of the first cycles.
        assert!(others - others_used < 10, "{others_used} of {others}");
        assert_eq!(host.collisions, 0);
    }
}

/// One saturated node among n idle ones has a frame in each cycle of 20 + 32 n BT and its own turn.
#[test]
fn a_saturated_node_among_idle_ones_has_what_the_closed_form_leaves() {
    for idle in [4_u64, 7, 11] {
        let (_, host) = saturate(Plca::right(idle as usize + 1), &[1], 64, 10_000_000);
        let cycle = 20 + 32 * idle + 64 + 512 + 8;
        let frames = 10_000_000 / cycle;
        assert!(host.frames.abs_diff(frames) <= 1, "{} frames, and {frames} were to be", host.frames);
    }
}

/// A node with turns of 24 BT among others with turns of 32 BT begins together with node j where 24 k = 32 j, and there
/// they collide; anywhere else one of them is first, and the other hears it.
#[test]
fn another_to_timer_collides_where_turns_begin_together() {
    for k in 1..12_u8 {
        for j in 1..12_u8 {
            if j == k {
                continue;
            }
            let mut plca = Plca::right(12);
            plca.nodes[usize::from(k)].settings.to_timer = 24;
            // Both frames wait for their turns in one cycle: the coordinator's BEACON begins at 404 n.
            let at = 404 * 20 + 5;
            let inputs = [offer(at, k.into(), 0, 64), offer(at, j.into(), 0, 64)];
            let (medium, events) = run(bus_of(plca), &inputs, 9_500);
            let collides = events.iter().any(|event| matches!(event.kind, Kind::Collision { episode: 1.., .. }));
            assert_eq!(collides, 24 * u32::from(k) == 32 * u32::from(j), "{k} and {j}:\n{}", trace(&events));
            let corrupted = medium.plca_counters(station(k.into())).expect("PLCA").corrupted;
            assert_eq!(corrupted > 0, collides);
        }
    }
}

/// Clocks that are 100 ppm apart make a difference of at most a bit time within 255 turns; at 10 % a node's turns begin
/// together with those of another, and collide there.
#[test]
fn turns_drift_with_a_clock_and_what_is_left_over_is_carried() {
    let begins = |ppm: i32, id: u8| {
        let mut plca = Plca::right(40);
        plca.nodes[usize::from(id)].clock_ppm = ppm;
        // The first turn begins at 1,300 n.
        let at = 1_300 * 10 + 5;
        let (_, events) = run(bus_of(plca), &[offer(at, id.into(), 0, 64)], at + 1_400);
        let commit = events.iter().find(|event| matches!(event.kind, Kind::Commit { .. })).expect("a turn");
        commit.at.get() - 1_300 * 10
    };
    for id in [1, 7, 11, 12] {
        let right = 32 * u64::from(id);
        assert_eq!(begins(0, id), right);
        assert_eq!(begins(100, id), right);
        assert_eq!(begins(-100, id), right);
        for ppm in [50_000, -50_000, 3_000, -3_000] {
            let exact = right as f64 * 1e6 / (1e6 + f64::from(ppm));
            assert_eq!(begins(ppm, id), exact.round() as u64, "{ppm} ppm, id {id}");
        }
    }
    // Ten turns of 32 BT are eleven of 29.09 BT.
    let mut plca = Plca::right(12);
    plca.nodes[11].clock_ppm = 100_000;
    let at = 404 * 20 + 5;
    let (medium, events) = run(bus_of(plca), &[offer(at, 10, 0, 64), offer(at, 11, 0, 64)], 9_500);
    assert!(
        events.iter().any(|event| matches!(event.kind, Kind::Collision { episode: 1.., .. })),
        "{}",
        trace(&events)
    );
    assert!(medium.plca_counters(station(11)).expect("PLCA").corrupted > 0);
}

/// Two coordinators with clocks 50 ppm apart drift against each other by a bit time in 135 cycles: after that one hears the
/// other's BEACON before its own. In an earlier version, each cycle began with a whole bit time, and they stayed together
/// for ever. With one clock they do.
#[test]
fn two_coordinators_drift_apart() {
    let unexpected = |ppm: i32| {
        let mut plca = Plca { cold_start: false, ..Plca::right(4) };
        plca.nodes[2].settings.node_id = 0;
        plca.nodes[2].clock_ppm = ppm;
        let (medium, _) = run(bus_of(plca), &[], 148 * 1_000);
        [0, 2].map(|node| medium.plca_counters(station(node)).expect("PLCA").unexpected_beacons)
    };
    assert_eq!(unexpected(0), [0, 0]);
    for ppm in [50, -50] {
        let [first, third] = unexpected(ppm);
        assert!(first + third > 0, "{ppm} ppm: {first} and {third}");
    }
}

/// BEACONs without room for a gap between them keep a node without PLCA from ever sending. In an earlier version,
/// skipped cycles let its gap end all the same.
#[test]
fn a_node_without_plca_finds_no_gap_between_beacons_that_are_close() {
    let mut plca = Plca { phy_on: BitTimes::new(11), phy_off: BitTimes::new(20), ..Plca::right(2) };
    plca.nodes[0].settings.node_count = 1;
    plca.nodes[0].settings.to_timer = 24;
    plca.nodes[1].settings = PlcaSettings::off();
    let (medium, events) = run(bus_of(plca), &[offer(543, 1, 0, 64)], 50_000);
    assert!(events.iter().all(|event| !matches!(event.kind, Kind::Attempt { .. })), "{}", trace(&events));
    assert_eq!(medium.queued(station(1)), 1);
}

/// 40 idle nodes for an hour of virtual time: 27.7 million cycles that are skipped, not stepped through.
#[test]
fn an_idle_bus_is_arithmetic() {
    let (medium, events) = run(bus_of(Plca::right(40)), &[], 36_000_000_000);
    let cycles = medium.plca_cycles().expect("PLCA");
    assert_eq!(cycles.cycles, (36_000_000_000 - 40 * 32) / 1_300, "{cycles:?}");
    let counters = medium.plca_counters(station(7)).expect("PLCA");
    assert_eq!(counters.beacons, cycles.cycles + 1);
    assert_eq!(counters.opportunities, counters.yielded);
    // In an earlier version, the coordinator counted no empty cycles.
    for node in [0, 7] {
        assert_eq!(medium.plca_counters(station(node)).expect("PLCA").empty_cycles, cycles.empty, "node {node}");
    }
    assert!(events.len() < 100, "{}", trace(&events));
}

/// The same with every cycle stepped through, since each has an input.
#[test]
fn cycles_that_go_by_are_those_that_are_stepped_through() {
    let nudge = |at: u64| (at, Input::Deed(Deed::Fault { station: station(1), fault: None }));
    let frames = [offer(30_001, 2, 1, 64), offer(61_234, 3, 1, 64), offer(90_000, 0, 1, 64)];
    let stepped: Vec<(u64, Input)> = {
        let mut inputs: Vec<_> = (0..1_000).map(|number| nudge(number * 100)).chain(frames).collect();
        inputs.sort_by_key(|(at, _)| *at);
        inputs
    };
    let (passed, events) = run(bus_of(Plca::right(5)), &frames, 100_000);
    let (other, others) = run(bus_of(Plca::right(5)), &stepped, 100_000);
    assert_eq!(trace(&events), trace(&others));
    for number in 0..5 {
        assert_eq!(passed.plca_counters(station(number)), other.plca_counters(station(number)));
    }
    assert_eq!(passed.plca_cycles(), other.plca_cycles());
}

/// A node of a small bus, correct or not.
fn any_node(count: u8) -> impl Strategy<Value = PlcaNode> {
    let id = prop_oneof![1 => 0..=2_u8, 8 => 0..=count, 1 => Just(255)];
    let to = prop_oneof![6 => Just(32_u8), 1 => Just(24), 1 => 1..=60_u8];
    let settings = (prop_oneof![8 => Just(true), 1 => Just(false)], id, to, any_burst(), any_settings_of_burst());
    let more = prop_oneof![6 => Just(255_u8), 1 => 1..=count];
    let delay = prop_oneof![4 => Just((0_u64, 0_u64)), 1 => (0..=400_u64, prop_oneof![Just(0_u64), 1..=400_u64])];
    let host = (delay, any_clock(), prop_oneof![4 => Just(0_u8), 1 => 1..=3_u8]);
    let chips = (prop_oneof![8 => Just(true), 1 => Just(false)], prop_oneof![8 => Just(true), 1 => Just(false)]);
    (settings, more, host, chips).prop_map(move |((enabled, id, to, burst_count, burst_timer), more, host, chips)| {
        let settings = PlcaSettings { enabled, to_timer: to, burst_count, burst_timer, ..PlcaSettings::new(id, count) };
        let mut node = PlcaNode::new(settings);
        node.more_ids[0] = more;
        (node.collision_detection, node.heeds_logical_collisions) = chips;
        let ((least, more), clock, skipped) = host;
        node.skipped_turns = skipped;
        node.host_delay = HostDelay { least: BitTimes::new(least), most: BitTimes::new(least + more) };
        node.clock_ppm = clock;
        node
    })
}

fn any_clock() -> impl Strategy<Value = i32> {
    prop_oneof![5 => Just(0_i32), 1 => -200..=200_i32, 1 => -100_000..=100_000_i32]
}

fn any_burst() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0_u8), 1 => 1..=3_u8]
}

fn any_settings_of_burst() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(128_u8), 1 => 1..=255_u8]
}

/// With `ids`: in order of stations with PLCA correct; or any.
fn any_bus() -> impl Strategy<Value = Config> {
    let place = prop_oneof![3 => Just(0_u64), 2 => 0..=3_u64, 1 => 0..=90_u64];
    let places = prop_oneof![2 => Just(None), 1 => proptest::collection::vec(place, 6).prop_map(Some)];
    let timers = (20..=60_u64, 200..=6_000_u64, prop_oneof![Just(396_u64), 1..=396_u64], 0..=12_u64);
    let phy = prop_oneof![3 => Just((0_u64, 0_u64)), 1 => (0..=12_u64, 0..=12_u64)];
    (1..=6_usize, any::<bool>()).prop_flat_map(move |(stations, right)| {
        let count = stations as u8;
        let count = if right { Just(count).boxed() } else { (1..=count + 2).boxed() };
        let nodes = count.prop_flat_map(move |count| proptest::collection::vec(any_node(count), stations));
        let rest = (any::<bool>(), any::<u64>(), 1..=5_usize);
        (nodes, Just(right), places.clone(), timers.clone(), phy.clone(), rest).prop_map(
            |(mut nodes, right, places, timers, (on, off), (settled, seed, queue_limit))| {
                if right {
                    for (id, node) in nodes.iter_mut().enumerate() {
                        let bursts = (node.settings.burst_count, node.settings.burst_timer);
                        let clock_ppm = node.clock_ppm;
                        *node = PlcaNode { clock_ppm, ..PlcaNode::new(PlcaSettings::new(id as u8, 0)) };
                        (node.settings.burst_count, node.settings.burst_timer) = bursts;
                    }
                    let count = nodes.len() as u8;
                    nodes.iter_mut().for_each(|node| node.settings.node_count = count);
                }
                let (invalid, status, line, esd) = timers;
                let topology = match places {
                    None => Topology::star(nodes.len(), 0),
                    Some(places) => {
                        Topology::Bus { positions: places[..nodes.len()].iter().map(|&at| BitTimes::new(at)).collect() }
                    }
                };
                let plca = Plca {
                    invalid_beacon: BitTimes::new(invalid),
                    status: BitTimes::new(status),
                    delay_line: BitTimes::new(line),
                    end_delimiter: BitTimes::new(esd),
                    phy_on: BitTimes::new(on),
                    phy_off: BitTimes::new(on + off),
                    cold_start: !settled,
                    ..Plca::new(nodes)
                };
                let config = Config::new(BitRate::MBIT_10, topology, seed);
                Config { method: Method::Plca(plca), queue_limit, ..config }
            },
        )
    })
}

/// Frames in clusters, and sometimes a station that is taken off or put back, or other settings.
fn any_plca_scenario() -> impl Strategy<Value = Scenario> {
    let input = (0..30_u8, 0..=6_000_u64, 0..6_u16, 0..7_u16, prop_oneof![3 => Just(64_u32), 1 => 64..=300_u32]);
    let inputs = proptest::collection::vec((input, any_node(4)), 0..=16);
    (any_bus(), inputs).prop_map(|(config, drawn)| {
        let stations = config.topology.stations() as u16;
        let mut inputs: Vec<(u64, u16, Input)> = drawn
            .into_iter()
            .map(|((what, at, from, to, octets), node)| {
                let (from, to) = (from % stations, to % (stations + 1));
                let destination = if to == stations { Destination::All } else { Destination::Station(station(to)) };
                let input = match what {
                    0 => Input::Deed(Deed::Unplug { station: station(from) }),
                    1 => Input::Deed(Deed::Plug { station: station(from) }),
                    2 => Input::Deed(Deed::Plca { station: station(from), settings: node.settings }),
                    3 => Input::Deed(Deed::Fault { station: station(from), fault: Some(Fault::BadFcs) }),
                    _ => Input::Offer { station: station(from), frame: Frame::new(Octets::new(octets), destination) },
                };
                (at, from, input)
            })
            .collect();
        inputs.sort_by_key(|&(at, station, _)| (at, station));
        Scenario { config, inputs: inputs.into_iter().map(|(at, _, input)| (at, input)).collect() }
    })
}

/// Clause 148, against a model without a fast path. The scenarios are small, and failures are not shrunk.
#[test]
fn engine_and_model_agree_whatever_the_nodes_are_told() {
    let mut runner = runner(250);
    let mut seen = std::collections::BTreeMap::<&str, u64>::new();
    for case in 0..scenario::cases(250) {
        let scenario = any_plca_scenario().new_tree(&mut runner).expect("a scenario").current();
        let agreed = std::panic::catch_unwind(|| agreed_events(&scenario, 12_000, model::run));
        match agreed {
            Ok(Ok(events)) => events.iter().for_each(|event| *seen.entry(event.kind.name()).or_default() += 1),
            Ok(Err(failure)) => panic!("case {case}: {scenario:?}{failure}"),
            Err(_) => panic!("case {case}: {scenario:?}{:?}", scenario.config.method),
        }
    }
    println!("{seen:?}");
    for kind in ["beacon", "commit", "plca_status", "collision", "delivered", "damaged", "fragment", "discarded"] {
        assert!(seen.contains_key(kind), "no {kind} in all these scenarios: {seen:?}");
    }
}

/// In an earlier version, a MAC that sent in WAIT_IDLE, while others were still heard, lost its frame and got a
/// collision after the frame had ended.
#[test]
fn a_mac_that_sends_before_the_line_is_silent_loses_no_frame() {
    let mut plca = Plca::right(8);
    plca.nodes[4].settings.to_timer = 24;
    let mut generator = backoff::Generator::stream(1, 148);
    let mut inputs: Vec<_> = (0..1_500)
        .map(|_| {
            let (at, from) = (generator.next_u64() % 1_900_000, (generator.next_u64() % 8) as u16);
            offer(at, from, (from + 1) % 8, 64)
        })
        .collect();
    inputs.sort_by_key(|(at, _)| *at);
    let (medium, _) = run(bus_of(plca), &inputs, 6_000_000);
    for number in 0..8 {
        let counters = medium.tally().station(station(number));
        let done = counters.frames_transmitted_ok + counters.discarded();
        assert_eq!(done + medium.queued(station(number)) as u64, counters.offered, "station {number}, seed 1");
        assert_eq!(counters.delivered, counters.frames_transmitted_ok, "station {number}, seed 1");
    }
}
