//! A port of a bridge receives every frame, as if all were for it, and changes nothing else.

mod common;
#[path = "common/scenario.rs"]
mod scenario;

use common::{run, station};
use medium::{BitRate, Config, Deed, Destination, Event, Input, Method, Plca, StationId, Topology};
use proptest::prelude::*;
use scenario::{Scenario, any_medium, any_scenario, noisy_scenario, runner};

/// Events without receptions at stations from `first` on that are not addressees.
fn without_ports(events: &[Event], inputs: &[(u64, Input)], first: usize) -> Vec<Event> {
    let is_port = |event: &Event| event.kind.is_reception() && event.station.index() >= first;
    let is_addressee = |event: &Event| match destination(inputs, event) {
        Destination::Station(to) => to == event.station,
        Destination::All => true,
        Destination::Nobody | Destination::Beyond(_) => false,
    };
    events.iter().filter(|event| !is_port(event) || is_addressee(event)).copied().collect()
}

/// Whom the frame of an event is for.
fn destination(inputs: &[(u64, Input)], event: &Event) -> Destination {
    let offers = inputs.iter().filter_map(|(_, input)| match input {
        Input::Offer { station, frame } if *station == event.frame.station => Some(frame.destination),
        _ => None,
    });
    offers.into_iter().nth(event.frame.serial as usize - 1).expect("a frame that was offered")
}

/// What stations from `first` on receive.
fn received(events: &[Event], first: usize) -> Vec<Event> {
    events.iter().filter(|event| event.kind.is_reception() && event.station.index() >= first).copied().collect()
}

fn with_destination(inputs: &[(u64, Input)], to: impl Fn(Destination) -> Destination) -> Vec<(u64, Input)> {
    let changed = |input: Input| match input {
        Input::Offer { station, mut frame } => {
            frame.destination = to(frame.destination);
            Input::Offer { station, frame }
        }
        other => other,
    };
    inputs.iter().map(|(at, input)| (*at, changed(*input))).collect()
}

const UNTIL: u64 = 4_000_000;

fn check(Scenario { config, inputs }: Scenario, ports: usize, keep_outputs: bool) -> Result<(), TestCaseError> {
    let config = Config { keep_outputs, ..config };
    // The queue of a port keeps its length.
    let inputs: Vec<_> =
        inputs.into_iter().filter(|(_, input)| !matches!(input, Input::Deed(Deed::Queue { .. }))).collect();
    let stations = config.topology.stations();
    let first = stations - ports.min(stations);
    let bridged = Config { ports: vec![config.queue_limit; stations - first], ..config.clone() };
    let (_, events) = run(bridged.clone(), &inputs, UNTIL);
    let (_, unbridged) = run(config.clone(), &inputs, UNTIL);
    prop_assert_eq!(without_ports(&events, &inputs, first), unbridged);
    let (_, for_all) = run(config, &with_destination(&inputs, |_| Destination::All), UNTIL);
    prop_assert_eq!(received(&events, first), received(&for_all, first));
    // To a medium, one address that it does not have is like another.
    let is_here = |to| matches!(to, Destination::Station(_) | Destination::All);
    let beyond = with_destination(&inputs, |to| if is_here(to) { to } else { Destination::Beyond(7) });
    prop_assert_eq!(run(bridged, &beyond, UNTIL).1, events);
    Ok(())
}

#[test]
fn ports_receive_all_frames_and_change_nothing_else() {
    let drawn = (any_scenario(any_medium()), 1..=3_usize, any::<bool>());
    runner(300).run(&drawn, |(scenario, ports, outputs)| check(scenario, ports, outputs)).expect("the same");
}

#[test]
fn ports_have_the_noise_of_their_place() {
    let drawn = (noisy_scenario(any_medium()), 1..=3_usize, any::<bool>());
    runner(200).run(&drawn, |(scenario, ports, outputs)| check(scenario, ports, outputs)).expect("the same");
}

/// On a star, where one follower replaces all nodes, and along a cable.
#[test]
fn ports_on_a_bus_with_plca() {
    let topology = prop_oneof![
        (2..=6_usize).prop_map(|stations| Topology::star(stations, 0)),
        (2..=6_usize).prop_map(|stations| Topology::star(stations, 20)),
        (2..=6_u64)
            .prop_map(|stations| Topology::Bus { positions: (0..stations).map(medium::BitTimes::new).collect() }),
    ];
    let config = topology.prop_map(|topology| {
        let plca = Method::Plca(Plca::right(topology.stations()));
        Config { method: plca, ..Config::new(BitRate::MBIT_10, topology, 3) }
    });
    let drawn = (any_scenario(config), 1..=3_usize, any::<bool>());
    runner(150).run(&drawn, |(scenario, ports, outputs)| check(scenario, ports, outputs)).expect("the same");
}

/// The queue of a port has a length of its own.
#[test]
fn a_port_has_its_own_queue() {
    let config = Config { ports: vec![2], queue_limit: 5, ..Config::new(BitRate::MBIT_10, Topology::star(3, 0), 1) };
    let offers = |from| (0..9).map(move |_| common::offer(0, from, 1, 64));
    let inputs: Vec<_> = offers(0).chain(offers(2)).collect();
    let (medium, _) = run(config, &inputs, UNTIL);
    let dropped = |number: u16| medium.tally().station(station(number)).queue_drops;
    assert_eq!((dropped(0), dropped(2)), (4, 7));
}

/// Only CSMA/CD, with PLCA or without, has ports; a seat behind them would be one.
#[test]
fn a_medium_without_ports_says_so() {
    let wrong = |change: fn(&mut Config)| {
        let mut config = Config { ports: vec![5], ..Config::new(BitRate::MBIT_10, Topology::star(2, 0), 1) };
        change(&mut config);
        config.check().expect_err("ports cannot be there").to_string()
    };
    let methods: [fn(&mut Config); 3] = [
        |config| config.seats = 1,
        |config| config.ports = vec![1; 3],
        |config| config.method = Method::Csma(medium::Csma::new(medium::Octets::new(1518))),
    ];
    methods.into_iter().for_each(|change| assert!(wrong(change).contains("ports is out of range")));
    let config = Config { ports: vec![1; 2], ..Config::new(BitRate::MBIT_10, Topology::star(3, 0), 1) };
    assert_eq!(config.port_stations().collect::<Vec<_>>(), [1, 2].map(StationId::new));
}
