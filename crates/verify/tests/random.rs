//! No violation in the traces of random runs of all methods, with faults, cuts, bursts, clocks and odd parameters.
//!
//! A false alarm is worse than a violation that is missed. `ETHBUS_CASES=100000` runs more cases, `ETHBUS_SEED=2` others.

mod common;
#[path = "../../medium/tests/common/scenario.rs"]
mod scenario;

use common::{found, trace_of};
use medium::{
    Aloha, BitTimes, Config, Csma, CsmaCa, HostDelay, Method, Octets, OfdmRate, Persistence, Phy, Plca, PlcaNode,
    PlcaSettings, Population, Reach, SlottedAloha, StationId, Tdma, Topology,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use scenario::{
    Scenario, any_cable, any_config, any_medium, any_policy, any_scenario, any_topology, crowded_scenario,
    cut_scenario, extending_config, faulty_scenario, gigabit_config, joined_segments, noisy_scenario, runner,
    some_capture, standard_config, with_clocks_off, with_jitter,
};
use std::num::NonZeroU32;

fn check(usual: u32, scenarios: impl Strategy<Value = Scenario>) {
    let result = runner(usual).run(&scenarios, |scenario| {
        let text = trace_of(&scenario.config, &scenario.inputs, 400_000);
        let found = found(&text);
        let rows = || text.lines().take(400).collect::<Vec<_>>().join("\n");
        if found.is_empty() { Ok(()) } else { Err(TestCaseError::fail(format!("{found:#?}\n{}", rows()))) }
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

#[test]
fn csma_cd() {
    check(300, any_scenario(standard_config(any_topology())));
    check(300, any_scenario(any_medium()));
    check(200, any_scenario(extending_config(any_topology())));
    check(100, any_scenario(gigabit_config(any_topology())));
    check(100, any_scenario(with_jitter(any_config(joined_segments()))));
    check(20, crowded_scenario());
}

#[test]
fn csma_cd_with_faults_cuts_and_noise() {
    check(300, faulty_scenario(any_medium()));
    check(300, cut_scenario(any_config(any_cable())));
    check(300, noisy_scenario(any_medium()));
}

#[test]
fn csma_cd_with_clocks_that_are_off() {
    check(300, with_clocks_off(faulty_scenario(any_medium())));
}

fn any_contender(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    let limit = prop_oneof![2 => Just(None), 1 => (1..=20_u32).prop_map(NonZeroU32::new)];
    let own = (0..6_u32, 0..=3_u32, any_policy(), limit, any::<bool>(), 100..=900_u64);
    (standard_config(topology), own).prop_map(|(mut config, own)| {
        let (which, ack_delay, backoff, attempt_limit, infinite, slot) = own;
        let population = if infinite { Population::Infinite } else { Population::Stations };
        let holds_sender = config.seed.is_multiple_of(2);
        let capture = some_capture(&config.topology, config.seed);
        let farthest = config.topology.longest_distance();
        let stations = config.topology.stations();
        let size = Octets::new(200);
        config.method = match which {
            0 => Method::Aloha(Aloha {
                slot: BitTimes::new(slot),
                ack_delay,
                holds_sender,
                backoff,
                capture,
                attempt_limit,
                population,
            }),
            1 => {
                let long = BitTimes::new(64 + 1600) + farthest;
                Method::SlottedAloha(SlottedAloha {
                    slot: long,
                    ack_delay,
                    holds_sender,
                    backoff,
                    control: None,
                    capture,
                    attempt_limit,
                    population,
                })
            }
            2 => {
                let owners = (0..stations as u64 * 2)
                    .map(|slot| StationId::new((slot * (1 + config.seed % 5) / 2 % stations as u64) as u16));
                let mut owners: Vec<StationId> = owners.collect();
                owners.extend((0..stations as u16).map(StationId::new));
                Method::Tdma(Tdma { ack_delay, attempt_limit, owners, ..Tdma::new(size, farthest, stations) })
            }
            _ => {
                let persistence = match which {
                    3 => Persistence::One,
                    4 => Persistence::Non,
                    _ => Persistence::Millionths(300_000),
                };
                Method::Csma(Csma {
                    persistence,
                    slot: BitTimes::new(slot),
                    ack_delay,
                    holds_sender,
                    backoff,
                    capture,
                    attempt_limit,
                    population,
                })
            }
        };
        config
    })
}

#[test]
fn aloha_csma_and_tdma() {
    check(400, faulty_scenario(any_contender(any_topology())));
    check(400, cut_scenario(any_contender(any_cable())));
    check(200, noisy_scenario(any_contender(any_topology())));
    check(400, with_clocks_off(faulty_scenario(any_contender(any_topology()))));
}

fn any_dcf() -> impl Strategy<Value = Config> {
    let phy = prop_oneof![
        Just(Phy::Fhss1),
        Just(Phy::Dsss1),
        Just(Phy::Dsss11),
        Just(Phy::Dsss11Control11),
        Just(Phy::Ofdm(OfdmRate::Mbps6)),
        Just(Phy::Ofdm(OfdmRate::Mbps54)),
    ];
    let positions = proptest::collection::vec(0..=4_u64, 2..=6);
    (phy, any::<bool>(), positions, any::<bool>(), any::<u64>()).prop_map(|(phy, rts, positions, hides, seed)| {
        let topology = Topology::Bus { positions: positions.iter().map(|place| BitTimes::new(*place)).collect() };
        let reach = hides.then_some(Reach { range: 2, positions });
        let method = Method::CsmaCa(CsmaCa { rts, reach, ..CsmaCa::new(phy, Octets::new(200)) });
        Config { method, ..Config::new(phy.rate(), topology, seed) }
    })
}

#[test]
fn csma_ca() {
    check(400, faulty_scenario(any_dcf()));
    check(200, cut_scenario(any_dcf()));
    check(200, noisy_scenario(any_dcf()));
    check(300, with_clocks_off(faulty_scenario(any_dcf())));
}

fn any_plca(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    let own = (0..=3_u8, prop_oneof![3 => Just(32), 1 => 1..=255_u8], prop_oneof![2 => Just(0), 1 => 1..=3_u8]);
    (standard_config(topology), own).prop_map(|(mut config, (more, to_timer, burst_count))| {
        let stations = config.topology.stations() as u8;
        let settings = |id| PlcaSettings { to_timer, burst_count, ..PlcaSettings::new(id, stations + more) };
        let host_delay = HostDelay { least: BitTimes::ZERO, most: BitTimes::new(config.seed % 3 * 300) };
        let nodes = (0..stations).map(|id| PlcaNode { host_delay, ..PlcaNode::new(settings(id)) }).collect();
        config.method = Method::Plca(Plca { cold_start: config.seed.is_multiple_of(2), ..Plca::new(nodes) });
        config
    })
}

#[test]
fn plca() {
    let short = || (2..=6_usize, 0..=10_u64).prop_map(|(stations, distance)| Topology::star(stations, distance));
    check(300, any_scenario(any_plca(short())));
    check(200, faulty_scenario(any_plca(any_topology())));
    check(100, noisy_scenario(any_plca(short())));
    check(200, with_clocks_off(any_scenario(any_plca(short()))));
}
