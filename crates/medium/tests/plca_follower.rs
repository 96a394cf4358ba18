//! PLCA with consistent nodes: one follower for all nodes, against each node by itself, at any distances. A run without
//! outputs uses the follower, a run with outputs the separate nodes.
//!
//! `ETHBUS_CASES=100000` runs more cases, `ETHBUS_SEED=2` others.

mod common;
#[path = "common/scenario.rs"]
mod scenario;

use common::{offer, station, trace};
use medium::{
    BitInstant, BitRate, BitTimes, Config, Deed, Destination, Event, Fault, Frame, Host, HostDelay, Input, Medium,
    Method, Octets, Place, Plca, PlcaNode, PlcaSettings, Repeater, Segments, StationId, Topology,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use scenario::{Scenario, runner};

fn bus_of(plca: Plca) -> Config {
    let topology = Topology::star(plca.nodes.len(), 0);
    Config { method: Method::Plca(plca), ..Config::new(BitRate::MBIT_10, topology, 1) }
}

/// Up to twelve stations at one place, at equal distances, along a cable, or on two segments with a repeater; nearly
/// always so near that a turn is longer than the way there and back.
fn any_near_topology() -> impl Strategy<Value = Topology> {
    let way = || prop_oneof![4 => 0..=3_u64, 4 => 0..=15_u64, 1 => 0..=30_u64];
    let ways = || proptest::collection::vec(way(), 1..=12);
    let places = |ways: Vec<u64>| ways.into_iter().map(BitTimes::new);
    let bus = ways().prop_map(move |ways| Topology::Bus { positions: places(ways).collect() });
    let star = (1..=12_usize, way()).prop_map(|(stations, way)| Topology::star(stations, way));
    let segments = (ways(), 0..=6_u64, way()).prop_map(|(ways, delay, way)| {
        let place = |segment, way| Place { segment, position: BitTimes::new(way) };
        let stations = ways.iter().enumerate().map(|(index, &way)| place(index % 2, way / 2)).collect();
        let ports = vec![place(0, way / 2), place(1, way / 2)];
        let repeater = Repeater { delay: BitTimes::new(delay), jitter: BitTimes::ZERO, ports };
        Topology::Segments(Segments::new(stations, &[repeater]).expect("a tree"))
    });
    let one_place = (1..=12_usize).prop_map(|stations| Topology::star(stations, 0));
    prop_oneof![3 => one_place, 1 => star, 3 => bus, 1 => segments]
}

/// PHY delays, which are mostly none.
fn any_phy() -> impl Strategy<Value = (BitTimes, BitTimes)> {
    let delays = (0..=9_u64, 0..=12_u64).prop_map(|(on, more)| (BitTimes::new(on), BitTimes::new(on + more)));
    prop_oneof![2 => Just((BitTimes::ZERO, BitTimes::ZERO)), 1 => delays]
}

/// Settings of burst mode: mostly none, or a timer that is longer than the gap, or any.
fn any_burst() -> impl Strategy<Value = (u8, u8)> {
    prop_oneof![4 => Just((0, 128)), 2 => (1..=4_u8, Just(128)), 1 => (1..=4_u8, any::<u8>())]
}

/// Hosts that mostly hand frames over at once, always as late, or as late as is drawn.
fn any_host() -> impl Strategy<Value = HostDelay> {
    let drawn = (0..=900_u64, prop_oneof![Just(0_u64), 1..=900_u64]);
    let late =
        drawn.prop_map(|(least, more)| HostDelay { least: BitTimes::new(least), most: BitTimes::new(least + more) });
    prop_oneof![4 => Just(HostDelay::NONE), 1 => late]
}

/// A correctly configured bus of up to twelve nodes, some with unused ids or with several ids, bursts, PHY delays, short
/// delay lines, slow hosts and other timers; frames at any load, while nodes are taken off and put back and get new
/// settings.
fn any_right_bus() -> impl Strategy<Value = Scenario> {
    let node = (any_host(), any_burst());
    let timers = (prop_oneof![3 => Just(32_u8), 1 => 1..=80_u8], prop_oneof![3 => Just(396_u64), 1 => 1..=396_u64]);
    let begin = (any::<bool>(), any::<u64>());
    let bursts = prop_oneof![1 => Just(false), 1 => Just(true)];
    let rest = (prop_oneof![3 => Just(8_u64), 1 => 0..=12_u64], 0..=3_u8, begin, 1..=40_u32, 1..=4_usize);
    let from = (0..12_u16, 0..13_u16, any_burst());
    let input = (0..300_u32, 0..=60_000_u64, from, prop_oneof![3 => Just(64_u32), 1 => 64..=400_u32]);
    let inputs = proptest::collection::vec(input, 0..=120);
    let drawn = (proptest::collection::vec(node, 12), bursts, any_phy());
    (any_near_topology(), drawn, timers, rest, inputs).prop_map(|(topology, drawn, (to, line), rest, inputs)| {
        let (esd, empty, (cold_start, seed), attempt_limit, queue_limit) = rest;
        let (drawn, with_bursts, (phy_on, phy_off)) = drawn;
        let stations = topology.stations() as u8;
        // One id more than stations: it belongs to the last node too, or to none.
        let count = stations + empty;
        let bursts = |(burst_count, burst_timer): (u8, u8), settings| match with_bursts {
            true => PlcaSettings { burst_count, burst_timer, ..settings },
            false => settings,
        };
        let mut nodes: Vec<PlcaNode> = (0..stations)
            .zip(&drawn)
            .map(|(id, &(host, burst))| {
                let settings = PlcaSettings { to_timer: to, ..PlcaSettings::new((id + 1) % stations, count) };
                PlcaNode { host_delay: host, ..PlcaNode::new(bursts(burst, settings)) }
            })
            .collect();
        if empty > 0 && drawn[0].1.0 == 0 {
            nodes[0].more_ids[0] = count - 1;
        }
        let (delay_line, end_delimiter) = (BitTimes::new(line), BitTimes::new(esd));
        let plca = Plca { delay_line, end_delimiter, phy_on, phy_off, cold_start, ..Plca::new(nodes.clone()) };
        let mut config = Config { queue_limit, topology, ..bus_of(plca) };
        config.parameters.attempt_limit = attempt_limit.try_into().expect("at least 1");
        config.seed = seed;
        let mut inputs: Vec<(u64, u16, Input)> = inputs
            .into_iter()
            .map(|(what, at, (from, to, burst), octets)| {
                let (from, to) = (from % u16::from(stations), to % u16::from(stations + 1));
                let all = to == u16::from(stations);
                let destination = if all { Destination::All } else { Destination::Station(station(to)) };
                let this = station(from);
                let settings = nodes[usize::from(from)].settings;
                let input = match what {
                    0 => Input::Deed(Deed::Unplug { station: this }),
                    1..=3 => Input::Deed(Deed::Plug { station: this }),
                    4 => Input::Deed(Deed::Plca { station: this, settings: bursts(burst, settings) }),
                    5 => Input::Deed(Deed::Fault { station: this, fault: Some(Fault::BadFcs) }),
                    6 => Input::Deed(Deed::Fault { station: this, fault: None }),
                    _ => Input::Offer { station: this, frame: Frame::new(Octets::new(octets), destination) },
                };
                (at, from, input)
            })
            .collect();
        inputs.sort_by_key(|&(at, station, _)| (at, station));
        Scenario { config, inputs: inputs.into_iter().map(|(at, _, input)| (at, input)).collect() }
    })
}

/// Everything that a medium reports, except its events.
fn all_told(medium: &Medium, stations: usize) -> String {
    let one = |number: usize| {
        let one = station(number as u16);
        let (counters, status) = (medium.plca_counters(one), medium.plca_status(one));
        format!("{counters:?} {status:?} {} {:?}\n", medium.queued(one), medium.tally().station(one))
    };
    let cycles = medium.plca_cycles();
    (0..stations).map(one).chain([format!("{cycles:?} {:?}\n", medium.tally().medium())]).collect()
}

/// Without outputs, one follower serves all nodes of a correctly configured bus; the events, and all counts at any time,
/// are those of a bus on which each node counts for itself.
#[test]
fn one_follower_counts_as_every_node_by_itself() {
    let mut runner = runner(300);
    for case in 0..scenario::cases(300) {
        let Scenario { config, inputs } = any_right_bus().new_tree(&mut runner).expect("a scenario").current();
        let stations = config.topology.stations();
        let mut each = Medium::new(config.clone()).expect("a valid configuration");
        let mut one = Medium::new(Config { keep_outputs: false, ..config.clone() }).expect("a valid configuration");
        for (number, &(at, input)) in inputs.iter().chain([&(70_000, inputs_end())]).enumerate() {
            for medium in [&mut each, &mut one] {
                medium.advance(BitInstant::new(at));
            }
            let told = [&each, &one].map(|medium| all_told(medium, stations));
            for (each, one) in told[0].lines().zip(told[1].lines()) {
                assert_eq!(each, one, "case {case}, input {number} at {at}: {config:?} {inputs:?}");
            }
            for medium in [&mut each, &mut one] {
                if number % 40 == 17 {
                    medium.restart_tally();
                }
                medium.handle_input(BitInstant::new(at), input);
            }
            let events =
                [&mut each, &mut one].map(|medium| std::iter::from_fn(|| medium.poll_event()).collect::<Vec<_>>());
            assert_eq!(trace(&events[0]), trace(&events[1]), "case {case}, before {at}: {config:?} {inputs:?}");
        }
    }
}

/// A caller that goes from one scheduled instant to the next sees all reports, on either path: in an earlier version,
/// the last BEACON after a frame was missing.
#[test]
fn nothing_is_to_be_told_when_nothing_is_due() {
    for (stations, octets) in [(1, 64), (4, 64), (8, 300)] {
        let runs = [true, false].map(|keep_outputs| {
            let mut medium = Medium::new(Config { keep_outputs, ..bus_of(Plca::right(stations)) }).expect("valid");
            for (at, input) in [offer(5_000, 0, 1 % stations as u16, octets), offer(5_100, 0, 0, octets)] {
                medium.handle_input(BitInstant::new(at), input);
            }
            while let Some(at) = medium.next_timeout().filter(|at| at.get() < 100_000) {
                medium.advance(BitInstant::new(at.get() + 1));
            }
            trace(&std::iter::from_fn(|| medium.poll_event()).collect::<Vec<_>>())
        });
        assert_eq!(runs[0], runs[1], "{stations} stations");
    }
}

/// An input without effect.
fn inputs_end() -> Input {
    Input::Deed(Deed::Fault { station: station(0), fault: None })
}

/// The same with hosts that always have another frame, and are asked for it when the one before is finished.
#[test]
fn one_follower_sends_as_every_node_by_itself() {
    struct Always {
        stations: u16,
        events: Vec<Event>,
    }
    impl Host for Always {
        fn feeds(&self) -> bool {
            true
        }

        fn event(&mut self, event: &Event) {
            self.events.push(*event);
        }

        fn next_frame(&mut self, at: BitInstant, from: StationId) -> Option<Frame> {
            // Some pause for a while from time to time.
            let sends = !(at.get() / 5_000 + from.index() as u64).is_multiple_of(5);
            let to = station((from.index() as u16 + 1) % self.stations);
            sends.then(|| Frame::new(Octets::new(64 + at.get() as u32 % 90), Destination::Station(to)))
        }
    }
    for stations in 1..=14_u16 {
        let runs = [true, false].map(|keep_outputs| {
            let config = Config { keep_outputs, ..bus_of(Plca::right(stations.into())) };
            let mut medium = Medium::new(config).expect("a valid configuration");
            let mut host = Always { stations, events: Vec::new() };
            for round in 0..40_u64 {
                for number in 0..stations {
                    let (at, input) =
                        offer(round * 7_301 + u64::from(number) / 3 * 40, number, (number + 1) % stations, 70);
                    medium.give(BitInstant::new(at), input, &mut host);
                }
            }
            medium.run_until(BitInstant::new(400_000), &mut host);
            (trace(&host.events), all_told(&medium, stations.into()))
        });
        for (each, one) in runs[0].0.lines().zip(runs[1].0.lines()) {
            assert_eq!(each, one, "{stations} stations");
        }
        assert_eq!(runs[0].1, runs[1].1, "{stations} stations");
    }
}

/// Hosts that have another frame nearly always, of any length; they stop the run after a number of events.
struct Busy {
    stations: u16,
    seed: u64,
    events: Vec<Event>,
    /// The number of events after which the run stops, if it does.
    every: Option<usize>,
    /// The number of events at which it stops next.
    stop: usize,
    /// A bit for each station that is off the medium: its host waits.
    off: u64,
}

impl Busy {
    /// The same number for the same station and instant, on either path.
    fn draw(&self, at: BitInstant, station: StationId) -> u64 {
        let mixed = self.seed ^ at.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (station.index() as u64) << 17;
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
    }

    /// Runs to `limit`, however often the run stops.
    fn run(&mut self, medium: &mut Medium, limit: u64) {
        loop {
            self.stop = self.every.map_or(usize::MAX, |every| self.events.len() + every);
            medium.run_until(BitInstant::new(limit), self);
            if medium.now().get() >= limit {
                break;
            }
            assert_eq!(self.events.last().map(|event| event.at), Some(medium.now()), "it stays at its last event");
        }
        self.stop = usize::MAX;
    }
}

impl Host for Busy {
    fn feeds(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event) {
        self.events.push(*event);
    }

    fn next_frame(&mut self, at: BitInstant, from: StationId) -> Option<Frame> {
        let drawn = self.draw(at, from);
        let to = match drawn % 9 {
            0 => Destination::All,
            other => Destination::Station(station((from.index() as u64 + other) as u16 % self.stations)),
        };
        // With 66 octets, backoff may end in the bit time in which a frame's end is heard.
        let octets = 64 + (drawn >> 8) as u32 % [1, 4, 300][self.seed as usize % 3];
        let sends = drawn >> 24 & 31 > 0 && self.off >> from.index() & 1 == 0;
        sends.then(|| Frame::new(Octets::new(octets), to))
    }

    fn stops(&self) -> bool {
        self.events.len() >= self.stop
    }
}

/// The two media of a case, without outputs in `one`, and their hosts; `every`: the number of events after which runs stop.
fn busy(config: &Config, keep_outputs: bool, every: Option<usize>) -> (Medium, Busy) {
    let stations = config.topology.stations() as u16;
    let host = Busy { stations, seed: config.seed, events: Vec::new(), every, stop: usize::MAX, off: 0 };
    (Medium::new(Config { keep_outputs, ..config.clone() }).expect("a valid configuration"), host)
}

/// Gives an input; the host of a station that it takes off the medium waits.
fn give((medium, host): &mut (Medium, Busy), at: u64, input: Input) {
    match input {
        Input::Deed(Deed::Unplug { station }) => host.off |= 1 << station.index(),
        Input::Deed(Deed::Plug { station }) => host.off &= !(1 << station.index()),
        _ => {}
    }
    medium.give(BitInstant::new(at), input, host);
}

/// Adds an input at the very instant of some event, at the station of that event: it is taken off the medium and put back,
/// is reset, or becomes deaf.
fn disturb(config: &Config, inputs: &mut Vec<(u64, Input)>, draw: u64) {
    let mut one = busy(config, false, None);
    for &(at, input) in inputs.iter() {
        one.1.run(&mut one.0, at);
        give(&mut one, at, input);
    }
    let Method::Plca(plca) = &config.method else { panic!("a bus with PLCA") };
    let events = &one.1.events;
    let Some(Event { at, station, .. }) = events.get(draw as usize % events.len().max(1)).copied() else { return };
    let settings = plca.nodes[station.index()].settings;
    match draw % 5 {
        0 => inputs.extend([
            (at.get(), Input::Deed(Deed::Unplug { station })),
            (at.get() + 900, Input::Deed(Deed::Plug { station })),
        ]),
        1 => {
            let fault = if (draw / 5).is_multiple_of(2) { Fault::Deaf } else { Fault::OneWay };
            inputs.push((at.get(), Input::Deed(Deed::Fault { station, fault: Some(fault) })));
        }
        _ => inputs.push((at.get(), Input::Deed(Deed::Plca { station, settings }))),
    }
    inputs.sort_by_key(|(at, _)| *at);
}

/// Hosts that are nearly always busy let turns follow each other in a row, at any setting. Inputs, faults, new settings,
/// looks at the counts and stops of the run come at any instant, in the middle of turns too: everything is as on a bus on
/// which each node counts for itself.
#[test]
fn turns_in_a_row_are_those_of_every_node_by_itself() {
    let mut runner = runner(300);
    for case in 0..scenario::cases(300) {
        let Scenario { mut config, inputs } = any_right_bus().new_tree(&mut runner).expect("a scenario").current();
        let stations = config.topology.stations();
        config.seed = config.seed.rotate_left(case);
        // Most of these scenarios have one place, where turns are run in a row.
        if !case.is_multiple_of(4) {
            config.topology = Topology::star(stations, 0);
        }
        let every = [None, None, Some(1), Some(7), Some(50)][case as usize % 5];
        let begins = (0..stations as u16).map(|number| offer(config.seed % 3 * 500 * u64::from(number), number, 0, 64));
        let mut all: Vec<(u64, Input)> = begins.chain(inputs).collect();
        all.sort_by_key(|(at, _)| *at);
        (0..3).for_each(|round| disturb(&config, &mut all, config.seed.rotate_left(20 * round) >> 3));
        all.push((70_000, inputs_end()));
        let mut both = [busy(&config, true, every), busy(&config, false, every)];
        for (number, &(at, input)) in all.iter().enumerate() {
            both.iter_mut().for_each(|(medium, host)| host.run(medium, at));
            let told = both.each_ref().map(|(medium, _)| all_told(medium, stations));
            for (each, one) in told[0].lines().zip(told[1].lines()) {
                assert_eq!(each, one, "case {case}, input {number} at {at}: {config:?} {all:?}");
            }
            for one in &mut both {
                if number % 40 == 17 {
                    one.0.restart_tally();
                }
                give(one, at, input);
            }
            let [each, one] = both.each_ref().map(|(_, host)| trace(&host.events));
            assert_eq!(each, one, "case {case}, before {at}: {config:?} {all:?}");
            both.iter_mut().for_each(|(_, host)| host.events.clear());
        }
    }
}
