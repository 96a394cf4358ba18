//! Stations whose clocks are off: the engine against models that count each station's own ticks.
//!
//! `ETHBUS_CASES=100000` runs more cases against the models, `ETHBUS_SEED=2` others.

#![allow(clippy::duplicate_mod, reason = "each model has signals of its own")]

#[path = "common/agreement.rs"]
mod agreement;
mod common;
#[path = "common/model.rs"]
mod model;
#[path = "common/scenario.rs"]
mod scenario;
#[path = "common/unslotted.rs"]
mod unslotted;

use agreement::{Model, agree, agreed_events};
use common::{offer, run, station};
use medium::{
    Aloha, BitRate, BitTimes, Config, Csma, Event, Kind, Method, Octets, Persistence, Population, SlottedAloha, Tdma,
    Topology,
};
use proptest::prelude::*;
use scenario::{
    Scenario, any_cable, any_config, any_policy, any_topology, cut_scenario, extending_config, faulty_scenario,
    joined_segments, standard_config, with_clocks_off, with_jitter,
};

fn check(name: &str, cases: u32, scenarios: impl Strategy<Value = Scenario>, until: u64, model: Model, kinds: &[&str]) {
    let agreed = |scenario: &Scenario| {
        agreed_events(scenario, until, model).map_err(|parted| format!("{:?}\n{parted}", scenario.config.clocks_ppm))
    };
    agree(name, cases, with_clocks_off(scenarios), agreed, kinds);
}

/// Gaps, also those that outlast a fragment, and backoff, with every parameter, fault and cut.
#[test]
fn engine_and_model_agree_on_csma_cd() {
    let kinds = ["defer", "collision", "backoff", "transmitted", "discarded", "delivered", "fragment", "damaged"];
    let until = 60_000;
    check("any", 800, faulty_scenario(any_config(any_topology())), until, model::run, &kinds);
    let star = (2..=6_usize).prop_map(|stations| Topology::star(stations, 0));
    check("one place", 400, faulty_scenario(standard_config(star)), until, model::run, &kinds);
    check("bursts", 300, faulty_scenario(extending_config(any_topology())), until, model::run, &kinds);
    check("cut", 300, cut_scenario(any_config(any_cable())), until, model::run, &kinds);
    check("jitter", 200, cut_scenario(with_jitter(any_config(joined_segments()))), until, model::run, &kinds);
}

fn contending(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    let own = (0..6_u8, 20_000..=1_000_000_u32, 0..=3_u32, any_policy(), any::<bool>(), 0..=80_u64);
    (standard_config(topology), own).prop_map(|(mut config, own)| {
        let (which, chance, ack_delay, backoff, infinite, more) = own;
        let population = if infinite { Population::Infinite } else { Population::Stations };
        let (size, stations) = (Octets::new(64), config.topology.stations());
        let farthest = BitTimes::new(config.topology.round_trip().get() / 2 + more);
        let csma = |persistence| Method::Csma(Csma { persistence, ack_delay, backoff, population, ..Csma::new(size) });
        config.method = match which {
            0 => Method::Aloha(Aloha { ack_delay, backoff, population, ..Aloha::new(size) }),
            1 => csma(Persistence::One),
            2 => csma(Persistence::Non),
            3 => csma(Persistence::Millionths(chance)),
            4 => {
                let holds_sender = more % 2 == 0;
                let own = SlottedAloha::new(size, farthest);
                Method::SlottedAloha(SlottedAloha { ack_delay, backoff, population, holds_sender, ..own })
            }
            _ => {
                let mut own = Tdma { ack_delay, ..Tdma::new(size, farthest, stations) };
                own.owners.push(station(more as u16 % stations as u16));
                Method::Tdma(own)
            }
        };
        config
    })
}

/// Slots of slotted ALOHA, TDMA and p-persistent CSMA walk against each other.
#[test]
fn engine_and_model_agree_on_methods_without_collision_detection() {
    let kinds = ["attempt", "collision", "backoff", "transmitted", "discarded", "delivered", "damaged"];
    check("any", 500, faulty_scenario(contending(any_topology())), 15_000, unslotted::run, &kinds);
    check("cut", 200, cut_scenario(contending(any_cable())), 15_000, unslotted::run, &kinds);
}

fn attempts(events: &[Event], number: u16) -> Vec<u64> {
    let of = |event: &&Event| event.station == station(number) && matches!(event.kind, Kind::Attempt { .. });
    events.iter().filter(of).map(|event| event.at.get()).collect()
}

/// 802.3, 4.4.2: the mean gap of a clock that is 100 ppm fast is 95.99 BT, so 10,000 gaps save 96 BT.
#[test]
fn many_gaps_show_a_clock_that_is_off_by_100_ppm() {
    let last = |ppm: i32| {
        let config = Config::new(BitRate::MBIT_10, Topology::star(2, 0), 1);
        let config = Config { clocks_ppm: vec![ppm, 0], queue_limit: 20_000, ..config };
        let inputs: Vec<_> = (0..10_001).map(|_| offer(0, 0, 1, 64)).collect();
        *attempts(&run(config, &inputs, 1 << 30).1, 0).last().expect("an attempt")
    };
    assert_eq!(last(0), 10_000 * (576 + 96));
    assert_eq!(last(100), 10_000 * (576 + 96) - 96);
    assert_eq!(last(-100), 10_000 * (576 + 96) + 96);
}

/// Two stations of TDMA with guard time of 100 BT: a clock that is 50 ppm fast brings the frame of its station into the
/// slot before after 2,000,000 BT of drifting apart, and the frames meet.
#[test]
fn a_slot_that_walks_meets_the_one_before_it() {
    let topology = Topology::star(2, 0);
    let first = |ppm: i32| {
        let own = Tdma::new(Octets::new(64), BitTimes::new(100), 2);
        let config = Config { method: Method::Tdma(own), ..Config::new(BitRate::MBIT_10, topology.clone(), 1) };
        let config = Config { clocks_ppm: vec![0, ppm], queue_limit: 10_000, ..config };
        let inputs: Vec<_> = (0..8_000).map(|n| offer(0, n % 2, 1 - n % 2, 64)).collect();
        let (_, events) = run(config, &inputs, 4_000_000);
        events.iter().find(|event| matches!(event.kind, Kind::Collision { .. })).map(|event| event.at.get())
    };
    assert_eq!(first(0), None);
    let met = first(50).expect("they meet");
    assert!((1_990_000..2_040_000).contains(&met), "{met}");
}
