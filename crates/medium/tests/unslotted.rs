//! Pure ALOHA and CSMA: golden traces, the engine against a model that steps through every bit time, and figures of the
//! literature.
//!
//! `ETHBUS_CASES=100000` runs more cases against the model, `ETHBUS_SEED=2` others.

#[path = "common/agreement.rs"]
mod agreement;
mod common;
#[path = "common/scenario.rs"]
mod scenario;
#[path = "common/unslotted.rs"]
mod unslotted;

use backoff::{Generator, Policy};
use common::{check_golden, offer, run, station, trace};
use medium::{
    Aloha, BitInstant, BitRate, BitTimes, Config, Csma, Deed, Destination, Event, Fault, Frame, Host, Input, Kind,
    Medium, Method, Octets, Persistence, Population, SlottedAloha, Topology,
};
use proptest::prelude::*;
use scenario::{Scenario, any_cable, any_policy, any_topology, cut_scenario, faulty_scenario, runner, some_capture};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

const LONG: u64 = 1 << 30;
/// 64 octets and their preamble.
const FRAME: u64 = 576;

fn uniform(slots: u32) -> Policy {
    Policy::aloha_uniform(SlottedAloha::SLOT, slots)
}

fn with(topology: Topology, method: Method) -> Config {
    Config { method, ..Config::new(BitRate::MBIT_10, topology, 1) }
}

fn aloha(topology: Topology, change: impl FnOnce(&mut Aloha)) -> Config {
    let mut own = Aloha::new(Octets::new(64));
    change(&mut own);
    with(topology, Method::Aloha(own))
}

fn csma(topology: Topology, persistence: Persistence, change: impl FnOnce(&mut Csma)) -> Config {
    let mut own = Csma { persistence, ..Csma::new(Octets::new(64)) };
    change(&mut own);
    with(topology, Method::Csma(own))
}

fn bus(positions: &[u64]) -> Topology {
    Topology::Bus { positions: positions.iter().map(|&position| BitTimes::new(position)).collect() }
}

fn check(name: &str, config: Config, inputs: &[(u64, Input)]) {
    let (_, events) = run(config, inputs, LONG);
    check_golden(name, &trace(&events));
}

/// Abramson 1970: an overlap of one bit spoils both; a sender knows after a round trip.
#[test]
fn what_overlaps_at_the_addressee_is_damaged() {
    let inputs = [offer(0, 0, 1, 64), offer(575, 1, 0, 64), offer(5000, 0, 1, 64), offer(5576, 2, 1, 64)];
    let own = |own: &mut Aloha| own.backoff = uniform(4);
    check("pure_aloha_overlap.txt", aloha(Topology::star(3, 0), own), &inputs);
    // Along a cable, the signals at the addressee's place count.
    let inputs = [offer(0, 0, 1, 64), offer(566, 2, 1, 64), offer(566, 2, 0, 64)];
    check("pure_aloha_places.txt", aloha(bus(&[0, 40, 20]), own), &inputs);
}

#[test]
fn frames_of_an_infinite_population_contend_each_for_itself() {
    let own = |own: &mut Aloha| (own.population, own.ack_delay, own.backoff) = (Population::Infinite, 2, uniform(6));
    let inputs = [offer(1, 0, 1, 64), offer(2, 0, 1, 64), offer(600, 0, 1, 64)];
    check("pure_aloha_infinite.txt", aloha(Topology::star(2, 0), own), &inputs);
}

/// A station that finds the line busy waits for its end, gives way, or takes a slot of the line.
#[test]
fn a_busy_line_is_waited_for_given_way_to_or_shared_by_chance() {
    let inputs = [offer(0, 0, 1, 64), offer(3, 1, 0, 64), offer(100, 2, 0, 64), offer(200, 3, 0, 64)];
    let own = |own: &mut Csma| own.backoff = uniform(5);
    for (name, persistence) in
        [("1", Persistence::One), ("non", Persistence::Non), ("p", Persistence::Millionths(300_000))]
    {
        check(&format!("csma_{name}.txt"), csma(Topology::star(4, 7), persistence, own), &inputs);
    }
}

/// A sender does not hear the signal that it collides with: both frames go out whole, and each sender learns this a
/// round trip later.
#[test]
fn nobody_detects_a_collision() {
    let inputs = [offer(0, 0, 1, 64), offer(40, 1, 0, 64), offer(41, 2, 0, 64)];
    let own = |own: &mut Csma| (own.backoff, own.attempt_limit) = (uniform(1), NonZeroU32::new(3));
    check("csma_collision.txt", csma(bus(&[0, 40, 60]), Persistence::One, own), &inputs);
}

fn any_persistence() -> impl Strategy<Value = Option<Persistence>> {
    prop_oneof![
        Just(None),
        Just(Some(Persistence::One)),
        Just(Some(Persistence::Non)),
        prop_oneof![Just(1_000_000), 20_000..=1_000_000_u32].prop_map(|chance| Some(Persistence::Millionths(chance))),
    ]
}

fn configured(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    let limit = prop_oneof![2 => Just(None), 1 => (1..=20_u32).prop_map(NonZeroU32::new)];
    let own = (any_persistence(), 0..=3_u32, any_policy(), limit, any::<bool>(), 100..=900_u64);
    (topology, own, 1..=4_usize, any::<u64>()).prop_map(|(topology, own, queue_limit, seed)| {
        let (persistence, ack_delay, backoff, attempt_limit, infinite, slot) = own;
        let (slot, holds_sender) = (BitTimes::new(slot), seed.is_multiple_of(2));
        let population = if infinite { Population::Infinite } else { Population::Stations };
        let capture = some_capture(&topology, seed);
        let method = match persistence {
            Some(persistence) => Method::Csma(Csma {
                persistence,
                slot,
                ack_delay,
                holds_sender,
                backoff,
                capture,
                attempt_limit,
                population,
            }),
            None => Method::Aloha(Aloha { slot, ack_delay, holds_sender, backoff, capture, attempt_limit, population }),
        };
        Config { queue_limit, seed, ..with(topology, method) }
    })
}

/// The events of the engine, or the first difference from those of the model.
fn agreed_events(scenario: &Scenario) -> Result<Vec<Event>, String> {
    agreement::agreed_events(scenario, 15_000, unslotted::run)
}

fn agree(name: &str, cases: u32, scenarios: impl Strategy<Value = Scenario>) {
    let kinds = ["defer", "attempt", "collision", "backoff", "transmitted", "discarded", "delivered", "damaged"];
    agreement::agree(name, cases, scenarios, agreed_events, &kinds);
}

/// The same events, in the same order, as those of a model that examines every place in every bit time.
#[test]
fn engine_and_model_agree() {
    agree("any line", 400, faulty_scenario(configured(any_topology())));
}

/// Also on a star without distance, where one state serves all stations until one of them is deaf.
#[test]
fn engine_and_model_agree_in_one_place() {
    let star = (1..=6_usize).prop_map(|stations| Topology::star(stations, 0));
    agree("one place", 400, faulty_scenario(configured(star)));
}

#[test]
fn engine_and_model_agree_where_cables_are_cut() {
    agree("cut", 150, cut_scenario(configured(any_cable())));
}

/// Users at one place count slots of the line; one of them begins to send as their station becomes deaf. Deafness is
/// settled as a signal begins, so the others still hear it and give way.
#[test]
fn users_at_a_place_that_becomes_deaf_hear_what_began_before() {
    let deaf = Input::Deed(Deed::Fault { station: station(0), fault: Some(Fault::Deaf) });
    let mut gave_way = 0;
    for seed in 0..100 {
        let persistence = Persistence::Millionths(387_778);
        let own = |own: &mut Csma| (own.backoff, own.population) = (uniform(1), Population::Infinite);
        let config =
            Config { seed, ..csma(Topology::Star { stations: 1, distance: BitTimes::ZERO }, persistence, own) };
        let first = (0..5).map(|_| offer(0, 0, 0, 64));
        let inputs: Vec<(u64, Input)> = first.chain([(577, deaf), offer(578, 0, 0, 64)]).collect();
        let events = agreed_events(&Scenario { config, inputs }).unwrap_or_else(|parted| panic!("{seed}: {parted}"));
        let of_then = |event: &&Event| event.at.get() == 577 && matches!(event.kind, Kind::Backoff { .. });
        gave_way += events.iter().filter(of_then).count();
    }
    assert!(gave_way > 0, "nobody counted at that instant");
}

/// The sums of a long run.
#[derive(Default)]
struct Sums {
    attempts: u64,
    gave_way: u64,
    arrived: u64,
    deferred: Option<Event>,
}

impl Host for Sums {
    fn event(&mut self, event: &Event) {
        match event.kind {
            Kind::Attempt { .. } => self.attempts += 1,
            Kind::Transmitted { .. } => self.arrived += 1,
            Kind::Defer { .. } => self.deferred = Some(*event),
            Kind::Backoff { .. } => {
                let gives_way = |before: Event| before.at == event.at && before.frame == event.frame;
                self.gave_way += u64::from(self.deferred.take().is_some_and(gives_way));
            }
            _ => {}
        }
    }
}

/// S and G of `frames` frame times in which `load` new frames arrive each, by Poisson, from users all over 200 stations.
fn infinite(config: Config, load: f64, frames: u64) -> (f64, f64) {
    let stations = config.topology.stations() as u64;
    let mut medium = Medium::new(Config { keep_outputs: false, ..config }).expect("valid");
    let mut generator = Generator::stream(1, 1 << 40);
    let (mut sums, mut at) = (Sums::default(), 0.0);
    loop {
        let word = (generator.next_u64() >> 11) as f64 / 2_f64.powi(53);
        at -= (1.0 - word).ln() / load;
        let now = (at * FRAME as f64) as u64;
        if now >= frames * FRAME {
            break;
        }
        let from = generator.next_u64() % stations;
        let frame = Frame::new(Octets::new(64), Destination::Station(station(((from + 1) % stations) as u16)));
        medium.give(BitInstant::new(now), Input::Offer { station: station(from as u16), frame }, &mut sums);
    }
    medium.run_until(BitInstant::new(frames * FRAME), &mut sums);
    let per_frame_time = |count: u64| count as f64 / frames as f64;
    (per_frame_time(sums.arrived), per_frame_time(sums.attempts + sums.gave_way))
}

/// Abramson 1970: S = G e^(−2G), so no more than 1/(2e).
#[test]
fn an_infinite_population_of_aloha_carries_g_e_to_the_minus_2g() {
    for load in [0.05, 0.1, 0.15] {
        let own = |own: &mut Aloha| (own.population, own.backoff) = (Population::Infinite, uniform(1000));
        let (s, g) = infinite(aloha(Topology::star(2, 0), own), load, 60_000);
        assert!((s - g * (-2.0 * g).exp()).abs() < 0.005, "S {s}, G {g}");
        assert!((s - load).abs() < 0.01, "S {s}, G {g}");
    }
}

/// Kleinrock and Tobagi 1975: S over G of nonpersistent and 1-persistent CSMA with a = 0.1 and 0.01, and of the latter with
/// a = 0.
#[test]
fn an_infinite_population_of_csma_carries_what_kleinrock_and_tobagi_say() {
    let non = |g: f64, a: f64| g * (-a * g).exp() / (g * (1.0 + 2.0 * a) + (-a * g).exp());
    let one = |g: f64, a: f64| {
        let top = g * (1.0 + g + a * g * (1.0 + g + a * g / 2.0)) * (-g * (1.0 + 2.0 * a)).exp();
        top / (g * (1.0 + 2.0 * a) - (1.0 - (-a * g).exp()) + (1.0 + a * g) * (-g * (1.0 + a)).exp())
    };
    type Formula<'a> = &'a dyn Fn(f64, f64) -> f64;
    let cases: [(Persistence, u64, f64, Formula); 7] = [
        (Persistence::Non, 58, 0.2, &non),
        (Persistence::Non, 58, 0.4, &non),
        (Persistence::One, 58, 0.2, &one),
        (Persistence::One, 58, 0.35, &one),
        (Persistence::One, 0, 0.4, &one),
        // a = 0.01: near the maxima of 0.815 and 0.529 of table I.
        (Persistence::Non, 6, 0.7, &non),
        (Persistence::One, 6, 0.45, &one),
    ];
    for (persistence, distance, load, formula) in cases {
        let own = |own: &mut Csma| (own.population, own.backoff) = (Population::Infinite, uniform(500));
        let config = csma(Topology::star(200, distance), persistence, own);
        let (s, g) = infinite(config, load, 40_000);
        let expected = formula(g, distance as f64 / FRAME as f64);
        assert!((s - expected).abs() < 0.01, "{persistence:?}, {distance} BT: S {s}, G {g}, expected {expected}");
        assert!((s - load).abs() < 0.02, "{persistence:?}, {distance} BT: S {s}, G {g}");
    }
}

/// All outputs of a frame come before it is released, and once each; a carried frame is one that its addressee heard.
#[test]
fn what_is_carried_is_what_arrives() {
    let result = runner(200).run(&faulty_scenario(configured(any_topology())), |Scenario { config, inputs }| {
        let (mut medium, events) = run(config, &inputs, 200_000);
        let mut released = BTreeMap::new();
        while let Some(output) = medium.poll_output() {
            match output {
                medium::Output::Carried { frame, .. } => prop_assert!(!released.contains_key(&frame), "{frame}"),
                medium::Output::Released { frame } => {
                    prop_assert!(released.insert(frame, ()).is_none(), "{frame} released twice");
                }
            }
        }
        let done =
            |event: &&Event| matches!(event.kind, Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop);
        prop_assert_eq!(released.len(), events.iter().filter(done).count());
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

#[test]
fn a_deaf_station_sends_into_what_others_wait_for() {
    let inputs = [
        (0, Input::Deed(Deed::Fault { station: station(2), fault: Some(Fault::Deaf) })),
        offer(0, 0, 1, 64),
        offer(100, 1, 0, 64),
        offer(200, 2, 0, 64),
        (2000, Input::Deed(Deed::Fault { station: station(2), fault: None })),
        (2500, Input::Deed(Deed::Unplug { station: station(1) })),
    ];
    check("csma_faults.txt", csma(bus(&[0, 5, 9]), Persistence::One, |own| own.backoff = uniform(3)), &inputs);
}
