//! D-PLCA (P802.3da D3.0, 148.4.7): its table, how ids and the coordinator are found, and the engine against a model that
//! steps through every bit time.
//!
//! `ETHBUS_CASES=10000` runs more cases against the model, `ETHBUS_SEED=2` others.

#[path = "common/agreement.rs"]
mod agreement;
mod common;
#[path = "common/plca.rs"]
#[allow(dead_code, reason = "the signals of the model are for other tests")]
mod model;
#[path = "common/scenario.rs"]
mod scenario;

use agreement::agreed_events;
use backoff::Generator;
use common::{check_golden, offer, run, station, trace};
use medium::{
    BitRate, BitTimes, Config, Deed, Destination, Event, Frame, Input, Kind, Method, Octets, Plca, PlcaAssignment,
    PlcaNode, PlcaSettings, StationId, Topology,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use scenario::{Scenario, runner};
use std::collections::{BTreeMap, BTreeSet};

fn bus_of(nodes: Vec<PlcaNode>, seed: u64) -> Config {
    let topology = Topology::star(nodes.len(), 0);
    Config { method: Method::Plca(Plca::new(nodes)), ..Config::new(BitRate::MBIT_10, topology, seed) }
}

/// All nodes find their ids.
fn dynamic(stations: usize, own: PlcaSettings) -> Vec<PlcaNode> {
    vec![PlcaNode::new(own); stations]
}

/// Each station sends a frame every `period` BT, one station after the other, from `begin` to `end`.
fn traffic(stations: &[u16], period: u64, begin: u64, end: u64) -> Vec<(u64, Input)> {
    let count = stations.len() as u64;
    let frame = |round: u64, (place, &from): (u64, &u16)| {
        let to = if from == 0 { 1 } else { 0 };
        offer(begin + round * period + place * period / count, from, to, 64)
    };
    (0..(end - begin) / period).flat_map(|round| (0..).zip(stations).map(move |one| frame(round, one))).collect()
}

/// The last id and number of turns of each node in `events`.
fn ids(events: &[Event]) -> BTreeMap<StationId, (u32, u32)> {
    let assigned = |event: &Event| match event.kind {
        Kind::PlcaId { id, turns: count } => Some((event.station, (id, count))),
        _ => None,
    };
    events.iter().filter_map(assigned).collect()
}

/// Figure 148-8 as a reviewed snapshot.
#[test]
fn the_table_is_that_of_the_draft() {
    let rows = PlcaAssignment::TABLE.iter();
    let text: String = rows.map(|(from, when, to)| format!("{from:<17} -> {to:<19} if {when}\n")).collect();
    check_golden("plca_assignment_table.txt", &text);
}

/// Nodes without ids elect one coordinator, and each node that sends gets a turn of its own: no frame meets another.
#[test]
fn nodes_find_a_coordinator_and_turns_of_their_own() {
    for seed in 0..20 {
        let stations: Vec<u16> = (0..6).collect();
        let inputs = traffic(&stations, 6_000, 15_000, 600_000);
        let (medium, events) = run(bus_of(dynamic(6, PlcaSettings::dynamic()), seed), &inputs, 600_000);
        let mut found: Vec<u8> = (0..6).map(|number| medium.plca_settings(station(number)).unwrap().node_id).collect();
        found.sort_unstable();
        let coordinators = found.iter().filter(|&&id| id == 0).count();
        found.dedup();
        assert_eq!((coordinators, found.len()), (1, 6), "seed {seed}: {found:?}");
        let late = events.iter().filter(|event| event.at.get() > 300_000);
        let met = late.filter(|event| matches!(event.kind, Kind::Collision { episode, .. } if episode > 0));
        assert_eq!(met.count(), 0, "seed {seed}");
        let done = |number| {
            let counters = medium.tally().station(station(number));
            counters.frames_transmitted_ok + counters.discarded()
        };
        let left: usize = (0..6).map(|number| medium.queued(station(number))).sum();
        assert_eq!((0..6).map(done).sum::<u64>() + left as u64, inputs.len() as u64, "seed {seed}");
    }
}

/// With more nodes than eight turns, the coordinator adds a turn in each age as long as the last one is used, and takes
/// them back when nodes fall silent.
#[test]
fn the_number_of_turns_follows_the_nodes() {
    let all: Vec<u16> = (0..14).collect();
    let mut inputs = traffic(&all, 14_000, 15_000, 1_500_000);
    let config = bus_of(dynamic(14, PlcaSettings { aging_cycles: 128, ..PlcaSettings::dynamic() }), 3);
    let (_, busy) = run(config.clone(), &inputs, 1_500_000);
    inputs.extend(traffic(&[0, 1, 2], 6_000, 1_510_000, 3_000_000));
    let (_, calm) = run(config, &inputs, 3_000_000);
    let counts = |events: &[Event]| -> Vec<u32> {
        let count = |event: &Event| match event.kind {
            Kind::PlcaId { id: 0, turns: count } => Some(count),
            _ => None,
        };
        events.iter().filter_map(count).collect()
    };
    assert_eq!(counts(&busy)[..8], [8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(counts(&calm).last(), Some(&8), "{:?}", counts(&calm));
    let distinct: BTreeSet<u32> = ids(&busy).into_values().map(|(id, _)| id).collect();
    assert!(distinct.len() >= 13, "{:?}", ids(&busy));
}

/// The coordinator is taken off: plca_status falls after its timer, and another node sends BEACONs after its
/// wait_beacon_timer, 1,180 BT at most.
#[test]
fn another_node_takes_over() {
    let mut longest = 0;
    for seed in 0..20 {
        let config = bus_of(dynamic(5, PlcaSettings::dynamic()), seed);
        let (medium, _) = run(config.clone(), &[], 40_000);
        let first = (0..5).find(|&number| medium.plca_settings(station(number)).unwrap().node_id == 0).expect("one");
        let cut = (40_000, Input::Deed(Deed::Unplug { station: station(first) }));
        let (medium, events) = run(config, &[cut], 500_000);
        let leads = |event: &&Event| matches!(event.kind, Kind::PlcaId { id: 0, .. }) && event.at.get() > 40_000;
        let next = events.iter().find(leads).unwrap_or_else(|| panic!("seed {seed}: {}", trace(&events)));
        assert_ne!(next.station, station(first));
        let gap = next.at.get() - 40_000;
        // A follower counts its turns up to curID 255 before it misses the BEACON.
        let status = Plca::right(1).status.get() + 255 * 32;
        assert!((status - 276..=status + 1_180).contains(&gap), "seed {seed}: {gap}");
        longest = longest.max(gap);
        let on = (0..5).filter(|&number| number != first);
        let left: Vec<u8> = on.map(|number| medium.plca_settings(station(number)).unwrap().node_id).collect();
        assert_eq!(left.iter().filter(|&&id| id == 0).count(), 1, "seed {seed}: {left:?}");
    }
    println!("a bus without traffic was without BEACONs for {longest} BT at most");
}

/// Nodes with fixed ids, the coordinator among them, keep them; the others find turns beside them.
#[test]
fn fixed_nodes_keep_their_ids() {
    let mut nodes = dynamic(6, PlcaSettings::dynamic());
    for (number, id) in [(0, 0), (1, 3)] {
        nodes[number] = PlcaNode::new(PlcaSettings::new(id, 8));
    }
    let inputs = traffic(&[0, 1, 2, 3, 4, 5], 6_000, 15_000, 600_000);
    let (medium, events) = run(bus_of(nodes, 1), &inputs, 600_000);
    let settings = |number: u16| medium.plca_settings(station(number)).unwrap();
    assert_eq!((settings(0).node_id, settings(1).node_id), (0, 3));
    let mut found: Vec<u8> = (2..6).map(|number| settings(number).node_id).collect();
    found.sort_unstable();
    found.dedup();
    assert!(found.len() == 4 && found.iter().all(|id| !matches!(id, 0 | 3 | 254)), "{found:?}");
    let late = events.iter().filter(|event| event.at.get() > 300_000);
    assert_eq!(late.filter(|event| matches!(event.kind, Kind::Collision { episode, .. } if episode > 0)).count(), 0);
}

/// Two nodes have the id 7, and their COMMITs come to the coordinator between them in one bit time: it recognises none.
/// A node beside one of them hears that one first, and so a claim, and keeps turn 8.
#[test]
fn a_turn_in_which_nodes_meet_is_not_taken_away() {
    let own = PlcaSettings { aging_cycles: 1, ..PlcaSettings::dynamic() };
    let mut nodes = dynamic(10, own);
    let fixed = |id, burst_count| PlcaNode::new(PlcaSettings { burst_count, ..PlcaSettings::new(id, 8) });
    (1..=6_u8).for_each(|id| nodes[usize::from(id)] = fixed(id, 3));
    (nodes[7], nodes[8]) = (fixed(7, 0), fixed(7, 0));
    nodes[9].settings.coordinator_role = false;
    let positions: Vec<BitTimes> = [1, 1, 1, 1, 1, 1, 1, 0, 2, 0].map(BitTimes::new).into();
    // Cycles of some 290,000 BT are longer than most backoffs, so nodes that met meet again.
    let busy = |from| (0..100).map(move |number| offer(30_000 + number, from, 0, 1_518));
    let mut inputs: Vec<_> = (1..=6).flat_map(busy).collect();
    inputs.extend((0..7).map(|round| offer(30_100 + 290_000 * round, 7, 0, 64)));
    inputs.extend([7, 8].map(|from| offer(2_000_000, from, 0, 64)));
    inputs.sort_by_key(|(at, _)| *at);
    let assigned = |event: &Event| match event.kind {
        Kind::PlcaId { id, turns } => Some((event.at.get(), id, turns)),
        _ => None,
    };
    for seed in [9, 25, 39] {
        let config = Config { topology: Topology::Bus { positions: positions.clone() }, ..bus_of(nodes.clone(), seed) };
        let (_, events) = run(config, &inputs, 5_000_000);
        let all: Vec<_> = events.iter().filter_map(assigned).collect();
        let (mut turns, mut found) = (0, 0);
        for &(at, id, count) in &all {
            if id == 0 {
                turns = count
            } else {
                found = id
            }
            let has_its_turn = found < turns || found == PlcaSettings::SEEKING.into();
            assert!(has_its_turn, "seed {seed}, at {at}: id {found} of {turns} turns: {all:?}");
        }
        assert!(all.iter().any(|(_, id, _)| *id == 8), "seed {seed}: {all:?}");
    }
}

/// A node that may not become the coordinator waits for one; alone it stays without a turn.
#[test]
fn a_node_without_the_role_waits() {
    let own = PlcaSettings { coordinator_role: false, ..PlcaSettings::dynamic() };
    let (medium, events) = run(bus_of(dynamic(3, own), 1), &[], 100_000);
    assert_eq!(events, [], "{}", trace(&events));
    assert_eq!(medium.plca_settings(station(1)).unwrap().node_id, PlcaSettings::SEEKING);
}

/// Nodes with fixed ids change to D-PLCA one after the other, the coordinator too, and one of them back.
#[test]
fn nodes_change_to_d_plca_and_back() {
    let nodes = (0..4).map(|id| PlcaNode::new(PlcaSettings::new(id, 8))).collect();
    let tell = |at: u64, number: u16, settings: PlcaSettings| {
        (at, Input::Deed(Deed::Plca { station: station(number), settings }))
    };
    let mut inputs = traffic(&[0, 1, 2, 3], 6_000, 15_000, 1_200_000);
    inputs.extend([2, 3].map(|number| tell(100_000, number, PlcaSettings::dynamic())));
    inputs.push(tell(300_000, 0, PlcaSettings::dynamic()));
    inputs.push(tell(700_000, 1, PlcaSettings::new(20, 8)));
    inputs.sort_by_key(|(at, _)| *at);
    let config = bus_of(nodes, 4);
    let until = |end: u64| {
        let early: Vec<_> = inputs.iter().copied().take_while(|(at, _)| *at < end).collect();
        run(config.clone(), &early, end)
    };
    let (before, _) = until(250_000);
    let id = |medium: &medium::Medium, number: u16| medium.plca_settings(station(number)).unwrap().node_id;
    let found: BTreeSet<u8> = (0..4).map(|number| id(&before, number)).collect();
    assert!(found.len() == 4 && !found.contains(&PlcaSettings::SEEKING), "{found:?}");
    let (then, events) = until(650_000);
    let leads = |medium: &medium::Medium| (0..4).filter(|&number| id(medium, number) == 0).count();
    assert_eq!(leads(&then), 1, "{:?}", ids(&events));
    // Turn 20 is none of the coordinator's eight: a fixed id is what it was told, be it wrong.
    let (after, events) = until(1_200_000);
    assert_eq!((leads(&after), id(&after, 1)), (1, 20), "{:?}", ids(&events));
    assert!(!after.plca_settings(station(1)).unwrap().dplca);
}

/// Idle cycles that go by are those that are stepped through, with claims that expire meanwhile.
#[test]
fn cycles_that_go_by_are_those_that_are_stepped_through() {
    let own = PlcaSettings { aging_cycles: 5, ..PlcaSettings::dynamic() };
    let frames = [offer(30_001, 2, 1, 64), offer(61_234, 3, 1, 64), offer(90_000, 0, 1, 64)];
    let nudge = |at: u64| (at, Input::Deed(Deed::Fault { station: station(1), fault: None }));
    let mut stepped: Vec<_> = (0..1_500).map(|number| nudge(number * 100)).chain(frames).collect();
    stepped.sort_by_key(|(at, _)| *at);
    let (passed, events) = run(bus_of(dynamic(5, own), 2), &frames, 150_000);
    let (other, others) = run(bus_of(dynamic(5, own), 2), &stepped, 150_000);
    assert_eq!(trace(&events), trace(&others));
    for number in 0..5 {
        assert_eq!(passed.plca_counters(station(number)), other.plca_counters(station(number)));
        assert_eq!(passed.plca_settings(station(number)), other.plca_settings(station(number)));
    }
    assert_eq!(passed.plca_cycles(), other.plca_cycles());
}

/// A bus of nodes that find their ids, with any load, on which nothing is wrong; on every other one stations are taken
/// off and put back.
fn any_sound_bus() -> impl Strategy<Value = Scenario> {
    let places = prop_oneof![2 => Just(None), 1 => proptest::collection::vec(0..=2_u64, 16).prop_map(Some)];
    let bus = (2..=16_u16, places, any::<u64>(), prop_oneof![1 => 1..=15_u16, 2 => 16..=40_u16]);
    let periods = proptest::collection::vec(prop_oneof![3 => 2_000..=30_000_u64, 1 => 30_000..=200_000_u64], 16);
    let plugs = proptest::collection::vec((SETTLED..LENGTH, 0..16_u16, any::<bool>()), 0..=4);
    (bus, periods, plugs, any::<bool>()).prop_map(|((count, places, seed, aging_cycles), periods, plugs, plugged)| {
        let mut config = bus_of(dynamic(count.into(), PlcaSettings { aging_cycles, ..PlcaSettings::dynamic() }), seed);
        if let Some(places) = places {
            let positions = places[..usize::from(count)].iter().map(|&at| BitTimes::new(at)).collect();
            config.topology = Topology::Bus { positions };
        }
        let mut frames = Generator::stream(seed, 0);
        let mut inputs: Vec<(u64, Input)> = Vec::new();
        for from in 0..count {
            let mut gap = || frames.next_u64() % (2 * periods[usize::from(from)]);
            let mut at = gap();
            while at < LENGTH {
                inputs.push(offer(at, from, (from + 1) % count, 64 + (at % 200) as u32));
                at += gap();
            }
        }
        for (at, number, is_off) in plugs.into_iter().filter(|_| plugged) {
            let station = station(number % count);
            inputs.push((at, Input::Deed(if is_off { Deed::Unplug { station } } else { Deed::Plug { station } })));
        }
        inputs.sort_by_key(|(at, _)| *at);
        Scenario { config, inputs }
    })
}

/// How long such a bus runs, and when it has found its coordinator.
const LENGTH: u64 = 500_000;
const SETTLED: u64 = 20_000;

/// Once settled, one node is the coordinator until it is taken off, and each follower has a turn of the cycle or waits
/// for one. The bus falls silent only if the coordinator is taken off.
fn is_sound(scenario: &Scenario) -> Result<(), String> {
    let (medium, events) = run(scenario.config.clone(), &scenario.inputs, LENGTH);
    let mut inputs = scenario.inputs.iter().filter(|(_, input)| !matches!(input, Input::Offer { .. })).peekable();
    let (mut present, mut losses, mut settled) = (BTreeMap::<StationId, (u32, u32)>::new(), 0, SETTLED);
    let mut events = events.iter().filter(|event| matches!(event.kind, Kind::PlcaId { .. })).peekable();
    while let Some(event) = events.next() {
        let Kind::PlcaId { id, turns } = event.kind else { continue };
        let at = event.at.get();
        while let Some((then, input)) = inputs.next_if(|(then, _)| *then <= at) {
            let mut led = |station| present.remove(station).is_some_and(|(id, _)| id == 0);
            match input {
                Input::Deed(Deed::Unplug { station }) if led(station) => {
                    losses += 1;
                    settled = settled.max(then + Plca::right(1).status.get() + 2 * SETTLED);
                }
                // A node that is put back may not hear a BEACON in time, and then sends one itself.
                Input::Deed(Deed::Plug { .. }) => settled = settled.max(then + SETTLED),
                _ => {}
            }
        }
        present.insert(event.station, (id, turns));
        if events.peek().is_some_and(|next| next.at == event.at) || at < settled {
            continue;
        }
        let leaders: Vec<u32> = present.values().filter(|(id, _)| *id == 0).map(|(_, turns)| *turns).collect();
        let [turns] = leaders[..] else { return Err(format!("at {at} {present:?}")) };
        if let Some(beyond) = present.iter().find(|(_, (id, _))| *id >= turns && *id != 254) {
            return Err(format!("at {at} {beyond:?} of a cycle of {turns} turns"));
        }
    }
    let silences = medium.plca_cycles().expect("PLCA").silences;
    if silences > losses { Err(format!("{silences} silences, {losses} losses")) } else { Ok(()) }
}

/// `ETHBUS_CASES=1000` runs a thousand of them.
#[test]
fn a_bus_on_which_nothing_is_wrong_is_never_silent() {
    let mut runner = runner(60);
    for case in 0..scenario::cases(60) {
        let scenario = any_sound_bus().new_tree(&mut runner).expect("a scenario").current();
        let other = |input: &&(u64, Input)| !matches!(input.1, Input::Offer { .. });
        is_sound(&scenario).unwrap_or_else(|error| {
            let inputs: Vec<_> = scenario.inputs.iter().filter(other).collect();
            panic!("case {case}: {error}: {:?} {inputs:?}", scenario.config)
        });
    }
}

fn any_node(count: u8) -> impl Strategy<Value = PlcaNode> {
    let own = (prop_oneof![4 => Just(true), 1 => Just(false)], prop_oneof![4 => 1..=3_u16, 1 => 1..=40_u16]);
    let id = prop_oneof![1 => Just(0_u8), 4 => 0..=count, 1 => Just(255)];
    let clock = prop_oneof![5 => Just(0_i32), 1 => -200..=200_i32, 1 => -100_000..=100_000_i32];
    let chips = (prop_oneof![6 => Just(0_u8), 1 => 1..=3_u8], clock, prop_oneof![6 => Just(0_u8), 1 => 1..=2_u8]);
    let on = prop_oneof![8 => Just(true), 1 => Just(false)];
    let kind = prop_oneof![5 => Just(true), 1 => Just(false)];
    (own, id, chips, on, kind).prop_map(move |((coordinator_role, aging_cycles), id, chips, enabled, is_dynamic)| {
        let (burst_count, clock_ppm, skipped_turns) = chips;
        let own = if is_dynamic { PlcaSettings::dynamic() } else { PlcaSettings::new(id, count) };
        let settings = PlcaSettings { enabled, burst_count, coordinator_role, aging_cycles, ..own };
        PlcaNode { clock_ppm, skipped_turns, ..PlcaNode::new(settings) }
    })
}

/// Small buses whose nodes find their ids, with frames in clusters; stations that are taken off or put back, or set anew.
fn any_dynamic_scenario() -> impl Strategy<Value = Scenario> {
    let place = prop_oneof![3 => Just(0_u64), 2 => 0..=3_u64];
    let places = prop_oneof![2 => Just(None), 1 => proptest::collection::vec(place, 6).prop_map(Some)];
    let phy = prop_oneof![3 => Just((0_u64, 0_u64)), 1 => (0..=4_u64, 0..=4_u64)];
    let input = (0..24_u8, 0..=30_000_u64, 0..6_u16, 0..7_u16, prop_oneof![3 => Just(64_u32), 1 => 64..=200_u32]);
    let inputs = proptest::collection::vec((input, any_node(4)), 0..=40);
    let bus = (1..=6_usize).prop_flat_map(move |stations| {
        let nodes = proptest::collection::vec(any_node(stations as u8), stations);
        (nodes, places.clone(), phy.clone(), any::<u64>(), 200..=3_000_u64, any::<bool>())
    });
    (bus, inputs).prop_map(|((nodes, places, (on, off), seed, status, cold_start), drawn)| {
        let stations = nodes.len() as u16;
        let topology = match places {
            None => Topology::star(nodes.len(), 0),
            Some(places) => {
                Topology::Bus { positions: places[..nodes.len()].iter().map(|&at| BitTimes::new(at)).collect() }
            }
        };
        let (phy_on, phy_off) = (BitTimes::new(on), BitTimes::new(on + off));
        let plca = Plca { status: BitTimes::new(status), phy_on, phy_off, cold_start, ..Plca::new(nodes) };
        let config =
            Config { method: Method::Plca(plca), queue_limit: 4, ..Config::new(BitRate::MBIT_10, topology, seed) };
        let input = |(what, at, from, to, octets): (u8, u64, u16, u16, u32), settings: PlcaSettings| {
            let (from, to) = (from % stations, to % (stations + 1));
            let destination = if to == stations { Destination::All } else { Destination::Station(station(to)) };
            let input = match what {
                // A BEACON whose PHY is late is not taken off (docs/plca.md).
                0 if on + off == 0 => Input::Deed(Deed::Unplug { station: station(from) }),
                1 => Input::Deed(Deed::Plug { station: station(from) }),
                2 => Input::Deed(Deed::Plca { station: station(from), settings }),
                _ => Input::Offer { station: station(from), frame: Frame::new(Octets::new(octets), destination) },
            };
            (at, from, input)
        };
        let mut inputs: Vec<_> = drawn.into_iter().map(|(drawn, node)| input(drawn, node.settings)).collect();
        inputs.sort_by_key(|&(at, station, _)| (at, station));
        Scenario { config, inputs: inputs.into_iter().map(|(at, _, input)| (at, input)).collect() }
    })
}

/// Against a model without lazy counts of turns, and with another table of claims. Failures are not shrunk.
#[test]
fn engine_and_model_agree_whatever_the_nodes_are_told() {
    let mut runner = runner(60);
    let mut seen = BTreeMap::<&str, u64>::new();
    let (mut moved, mut most) = (0, 0);
    for case in 0..scenario::cases(60) {
        let scenario = any_dynamic_scenario().new_tree(&mut runner).expect("a scenario").current();
        match std::panic::catch_unwind(|| agreed_events(&scenario, 40_000, model::run)) {
            Ok(Ok(events)) => {
                events.iter().for_each(|event| *seen.entry(event.kind.name()).or_default() += 1);
                let assigned = |event: &&Event| matches!(event.kind, Kind::PlcaId { id, .. } if (1..254).contains(&id));
                moved += events.iter().filter(assigned).count();
                let coordinators = ids(&events).into_values().filter(|(id, _)| *id == 0).count();
                most = most.max(coordinators);
            }
            Ok(Err(failure)) => panic!("case {case}: {scenario:?}{failure}"),
            Err(_) => panic!("case {case}: {scenario:?}{:?}", scenario.config.method),
        }
    }
    println!("{seen:?}; {moved} ids found, up to {most} coordinators at the end");
    for kind in ["beacon", "commit", "plca_id", "plca_status", "collision", "delivered"] {
        assert!(seen.contains_key(kind), "no {kind} in all these scenarios: {seen:?}");
    }
}
