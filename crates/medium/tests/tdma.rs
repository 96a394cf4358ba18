//! TDMA: golden traces, the engine against a model that steps through every bit time, and the mean delay of the
//! literature.
//!
//! `ETHBUS_CASES=100000` runs more cases against the model, `ETHBUS_SEED=2` others.

#[path = "common/agreement.rs"]
mod agreement;
mod common;
#[path = "common/scenario.rs"]
mod scenario;
#[path = "common/tdma.rs"]
mod tdma;

use agreement::{agree, agreed_events};
use common::{check_golden, offer, run, station, trace};
use medium::{
    BitRate, BitTimes, Config, Deed, Destination, Fault, Frame, Input, Kind, Method, Octets, Place, StationId, Tdma,
    Topology,
};
use proptest::prelude::*;
use scenario::{Scenario, any_cable, any_topology, cut_scenario, faulty_scenario, standard_config};
use std::num::NonZeroU32;

const LONG: u64 = 1 << 30;
/// 64 octets and their preamble.
const SLOT: u64 = 576;

fn config(topology: Topology, change: impl FnOnce(&mut Tdma)) -> Config {
    let farthest = BitTimes::new(topology.round_trip().get() / 2);
    let mut own = Tdma::new(Octets::new(64), farthest, topology.stations());
    change(&mut own);
    Config { method: Method::Tdma(own), ..Config::new(BitRate::MBIT_10, topology, 1) }
}

fn owners(numbers: &[u16]) -> Vec<StationId> {
    numbers.iter().copied().map(station).collect()
}

fn check(name: &str, config: Config, inputs: &[(u64, Input)]) {
    let (_, events) = run(config, inputs, LONG);
    check_golden(&format!("tdma_{name}.txt"), &trace(&events));
}

/// Each waits for its own slot; one whose slot begins at that instant does not wait. 65 octets have no room.
#[test]
fn a_frame_goes_out_in_the_next_slot_of_its_station() {
    let inputs =
        [offer(0, 0, 1, 64), offer(0, 0, 1, 64), offer(1, 1, 2, 64), offer(SLOT * 2, 2, 0, 18), offer(3000, 2, 0, 65)];
    check("own_slot", config(Topology::star(3, 0), |_| {}), &inputs);
}

/// Station 0 has two slots of four, one after the other, and so sends two frames in a row.
#[test]
fn a_station_may_have_several_slots_and_guard_time_is_longer_than_the_way() {
    let mixed = config(Topology::star(3, 20), |own| {
        own.owners = owners(&[0, 0, 1, 2]);
        (own.guard, own.slot) = (BitTimes::new(124), BitTimes::new(SLOT + 124));
    });
    check("slots", mixed, &[offer(5, 0, 1, 64), offer(6, 0, 2, 64), offer(7, 0, 1, 64), offer(8, 1, 0, 64)]);
}

/// A frame that its addressee does not hear is sent again in the next own slot after `ack_delay` slots.
#[test]
fn faults_detached_stations_cuts_and_a_satellite() {
    let positions = [0, 10, 20, 30].map(BitTimes::new).to_vec();
    let cut = Some(Place { segment: 0, position: BitTimes::new(15) });
    let fault = |at, fault| (at, Input::Deed(Deed::Fault { station: station(0), fault }));
    let inputs = [
        fault(0, Some(Fault::BadFcs)),
        offer(1, 0, 1, 64),
        fault(4000, None),
        (9000, Input::Deed(Deed::Unplug { station: station(3) })),
        offer(9001, 2, 3, 64),
        (15_000, Input::Deed(Deed::Plug { station: station(3) })),
        (30_000, Input::Deed(Deed::Cut(cut))),
        offer(30_001, 0, 1, 64),
        offer(30_001, 3, 1, 64),
        (35_000, Input::Deed(Deed::Cut(None))),
        offer(60_000, 1, 0, 64),
        offer(60_000, 1, 2, 64),
        (60_100, Input::Deed(Deed::Unplug { station: station(1) })),
    ];
    let far = config(Topology::Bus { positions }, |own| {
        (own.ack_delay, own.attempt_limit) = (6, NonZeroU32::new(3));
    });
    check("faults", far, &inputs);
}

fn any_tdma(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    let limit = prop_oneof![2 => Just(None), 1 => (1..=5_u32).prop_map(NonZeroU32::new)];
    let more = proptest::collection::vec((any::<u16>(), any::<usize>()), 0..=5);
    (standard_config(topology), 64..=200_u32, 0..=40_u64, more, 0..=5_u32, limit).prop_map(
        |(mut config, size, guard, more, ack_delay, limit)| {
            let stations = config.topology.stations();
            let farthest = BitTimes::new(config.topology.round_trip().get() / 2 + guard);
            let mut own = Tdma::new(Octets::new(size), farthest, stations);
            (own.ack_delay, own.attempt_limit) = (ack_delay, limit);
            for (owner, place) in more {
                own.owners.insert(place % (own.owners.len() + 1), station(owner % stations as u16));
            }
            config.method = Method::Tdma(own);
            config
        },
    )
}

/// Some inputs come exactly as a slot begins.
fn on_boundaries(scenario: Scenario) -> Scenario {
    let Scenario { config, mut inputs } = scenario;
    let Method::Tdma(own) = &config.method else { panic!("TDMA") };
    let slot = own.slot.get();
    for (at, _) in &mut inputs {
        *at = if at.is_multiple_of(3) { at.next_multiple_of(slot) } else { *at };
    }
    inputs.sort_by_key(|(at, _)| *at);
    Scenario { config, inputs }
}

/// The same events, in the same order, as those of the model.
#[test]
fn engine_and_model_agree() {
    let agreed = |scenario: &Scenario| agreed_events(scenario, 60_000, tdma::run);
    let kinds = ["attempt", "transmitted", "delivered", "backoff", "discarded", "queue_drop", "damaged"];
    let faulty = faulty_scenario(any_tdma(any_topology())).prop_map(on_boundaries);
    agree("TDMA", 300, faulty, agreed, &kinds);
    let cut = cut_scenario(any_tdma(any_cable())).prop_map(on_boundaries);
    agree("TDMA with cuts", 300, cut, agreed, &kinds);
}

/// No frame collides, and with every queue full every slot is used.
#[test]
fn full_queues_use_every_slot_and_no_frame_collides() {
    let mixed = config(Topology::star(3, 20), |own| own.owners = owners(&[0, 1, 0, 2]));
    let frame = |to| Frame::new(Octets::new(64), Destination::Station(station(to)));
    let offer = |from: u16| (0, Input::Offer { station: station(from), frame: frame((from + 1) % 3) });
    let inputs: Vec<_> = (0..3).flat_map(|from| std::iter::repeat_n(offer(from), 50)).collect();
    let (_, events) = run(mixed.clone(), &inputs, 80 * mixed.backoff_slot().get());
    let count = |is: fn(&Kind) -> bool| events.iter().filter(|event| is(&event.kind)).count();
    assert_eq!(count(|kind| matches!(kind, Kind::Attempt { .. })), 80);
    assert_eq!(count(|kind| matches!(kind, Kind::Collision { .. } | Kind::Backoff { .. })), 0);
    let of_first = events.iter().filter(|it| matches!(it.kind, Kind::Attempt { .. }) && it.station == station(0));
    assert_eq!(of_first.count(), 40);
}
