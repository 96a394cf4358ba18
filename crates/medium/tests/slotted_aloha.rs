//! Slotted ALOHA: golden traces, the engine against a model that steps through every slot, and figures of the
//! literature.
//!
//! `ETHBUS_CASES=100000` runs more cases against the model, `ETHBUS_SEED=2` others.

#[path = "common/aloha.rs"]
mod aloha;
mod common;
#[path = "common/scenario.rs"]
mod scenario;

use backoff::{Generator, Policy};
use common::{check_golden, offer, run, station, trace};
use medium::{
    BitInstant, BitRate, BitTimes, Capture, Config, Control, Deed, Destination, Event, Fault, Frame, Host, Input, Kind,
    Medium, Method, Octets, Place, Population, SlottedAloha, StationId, Topology,
};
use proptest::prelude::*;
use scenario::{any_policy, runner};
use std::num::NonZeroU32;

const LONG: u64 = 1 << 30;
/// 64 octets and their preamble.
const SLOT: u64 = 576;

fn uniform(slots: u32) -> Policy {
    Policy::aloha_uniform(SlottedAloha::SLOT, slots)
}

fn config(topology: Topology, change: impl FnOnce(&mut SlottedAloha)) -> Config {
    let mut own = SlottedAloha::new(Octets::new(64), BitTimes::new(topology.round_trip().get() / 2));
    change(&mut own);
    Config { method: Method::SlottedAloha(own), ..Config::new(BitRate::MBIT_10, topology, 1) }
}

fn check(name: &str, config: Config, inputs: &[(u64, Input)]) {
    let (_, events) = run(config, inputs, LONG);
    check_golden(&format!("aloha_{name}.txt"), &trace(&events));
}

#[test]
fn a_frame_goes_out_with_the_next_slot() {
    let inputs = [offer(0, 0, 1, 64), offer(1, 1, 2, 64), offer(SLOT * 2, 2, 0, 18), offer(SLOT * 4, 2, 0, 65)];
    check("next_slot.txt", config(Topology::star(3, 0), |_| {}), &inputs);
}

#[test]
fn whatever_is_in_one_slot_collides_and_waits_some_slots() {
    let inputs = [offer(1, 0, 1, 64), offer(2, 1, 0, 64), offer(3, 2, 0, 64)];
    check("three_collide.txt", config(Topology::star(3, 0), |own| own.backoff = uniform(4)), &inputs);
}

/// Lam: a sender knows the fate of a frame after R slots, and then takes one of the next K.
#[test]
fn a_sender_knows_after_ack_delay() {
    let inputs = [offer(1, 0, 1, 64), offer(2, 1, 0, 64), offer(SLOT * 2, 2, 1, 64), offer(SLOT * 2, 2, 1, 64)];
    let late = config(Topology::star(3, 20), |own| (own.ack_delay, own.backoff) = (3, uniform(2)));
    check("ack_delay.txt", late, &inputs);
}

#[test]
fn attempts_may_have_a_limit() {
    let limited = config(Topology::star(2, 0), |own| {
        (own.attempt_limit, own.backoff) = (NonZeroU32::new(3), uniform(1));
    });
    check("attempt_limit.txt", limited, &[offer(0, 0, 1, 64), offer(0, 1, 0, 64), offer(0, 1, 0, 64)]);
}

/// Each frame of an infinite population has a user of its own: those of one station collide too.
#[test]
fn frames_of_an_infinite_population_contend_each_for_itself() {
    let infinite = config(Topology::star(2, 0), |own| {
        (own.population, own.backoff) = (Population::Infinite, uniform(6));
    });
    check("infinite.txt", infinite, &[offer(1, 0, 1, 64), offer(2, 0, 1, 64), offer(3, 0, 1, 64)]);
}

#[test]
fn faults_detached_stations_and_cuts() {
    let positions = [0, 10, 20, 30].map(BitTimes::new).to_vec();
    let cut = Some(Place { segment: 0, position: BitTimes::new(15) });
    let fault = |at, fault| (at, Input::Deed(Deed::Fault { station: station(0), fault }));
    let inputs = [
        fault(0, Some(Fault::BadFcs)),
        offer(1, 0, 1, 64),
        fault(1000, None),
        (1300, Input::Deed(Deed::Unplug { station: station(3) })),
        offer(1400, 2, 3, 64),
        (3000, Input::Deed(Deed::Plug { station: station(3) })),
        (30_000, Input::Deed(Deed::Cut(cut))),
        offer(30_001, 0, 1, 64),
        offer(30_001, 3, 2, 64),
        offer(40_000, 0, 3, 64),
        (50_000, Input::Deed(Deed::Cut(None))),
        offer(90_000, 1, 0, 64),
        offer(90_000, 2, 0, 64),
        (90_700, Input::Deed(Deed::Unplug { station: station(1) })),
    ];
    check("faults.txt", config(Topology::Bus { positions }, |own| own.backoff = uniform(3)), &inputs);
}

fn any_aloha() -> impl Strategy<Value = (Config, Vec<(u64, Input)>)> {
    let input = (0..20_000_u64, 0..70_u16, 0..72_u16, 10..80_u32, 0..20_u8);
    let limit = prop_oneof![2 => Just(None), 1 => (1..=40_u32).prop_map(NonZeroU32::new)];
    let medium = (1..=70_usize, 0..=40_u64, 0..=5_u32, any_policy(), limit, any::<bool>(), 1..=4_usize, any::<u64>());
    (medium, proptest::collection::vec(input, 1..=60)).prop_map(
        |((stations, distance, ack_delay, backoff, attempt_limit, infinite, queue_limit, seed), inputs)| {
            let population = if infinite { Population::Infinite } else { Population::Stations };
            let mut config = config(Topology::star(stations, distance), |own| {
                own.slot = BitTimes::new(own.slot.get() + distance % 7);
                (own.ack_delay, own.backoff, own.attempt_limit) = (ack_delay, backoff, attempt_limit);
                own.holds_sender = seed.is_multiple_of(2);
                own.population = population;
                own.control = match seed % 6 {
                    0 => Some(Control::Known),
                    1 => Some(Control::ESTIMATED),
                    2 => Some(Control::Estimated { arrivals_millionths: 1 + (seed >> 8) as u32 % 999_999 }),
                    _ => None,
                };
                own.ack_delay *= u32::from(own.control.is_none());
            });
            (config.queue_limit, config.seed) = (queue_limit, seed);
            let there = |number: u16| station(number % stations as u16);
            let mut inputs: Vec<_> = (inputs.into_iter())
                .map(|(at, from, to, octets, what)| {
                    // Sometimes exactly at a slot's first instant.
                    let at = if at.is_multiple_of(3) { at / SLOT * (SLOT + distance + distance % 7) } else { at };
                    let destination = match to {
                        70 => Destination::All,
                        71 => Destination::Nobody,
                        to => Destination::Station(there(to)),
                    };
                    let fault = if octets.is_multiple_of(2) { Some(Fault::BadFcs) } else { None };
                    let input = match what {
                        0 => Input::Deed(Deed::Unplug { station: there(from) }),
                        1 | 2 => Input::Deed(Deed::Plug { station: there(from) }),
                        3 => Input::Deed(Deed::Fault { station: there(from), fault }),
                        _ => Input::Offer { station: there(from), frame: Frame::new(Octets::new(octets), destination) },
                    };
                    (at, input)
                })
                .collect();
            inputs.sort_by_key(|&(at, _)| at);
            (config, inputs)
        },
    )
}

/// The same events, in the same order, as those of a model that examines every station in every slot.
#[test]
fn engine_and_model_agree() {
    let result = runner(600).run(&any_aloha(), |(config, inputs)| {
        let until = 120_000;
        let (_, engine) = run(config.clone(), &inputs, until);
        let model = aloha::run(&config, &inputs, until);
        let same = engine.iter().zip(&model).take_while(|(a, b)| a == b).count();
        let next = |events: &[Event]| trace(&events[same.saturating_sub(3)..events.len().min(same + 4)]);
        prop_assert!(same == engine.len() && same == model.len(), "engine:\n{}model:\n{}", next(&engine), next(&model));
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// The sums of a run of many slots.
#[derive(Default)]
struct Sums {
    offered: u64,
    attempts: u64,
    arrived: u64,
    delay: u64,
}

impl Host for Sums {
    fn event(&mut self, event: &Event) {
        match event.kind {
            Kind::Offered { .. } => self.offered += 1,
            Kind::Attempt { .. } => self.attempts += 1,
            Kind::Transmitted { mac_delay, .. } => {
                self.arrived += 1;
                self.delay += mac_delay.get();
            }
            _ => {}
        }
    }
}

/// `stations` users with one frame each. A user without a frame gets a new one in a slot with probability `load` /
/// `stations`.
fn lam(stations: u16, load: f64, backoff: Policy, slots: u64, seed: u64) -> Sums {
    let mut config = config(Topology::star(stations.into(), 0), |own| own.backoff = backoff);
    config.seed = seed;
    let mut medium = Medium::new(Config { keep_outputs: false, ..config }).expect("valid");
    let chance = (load / f64::from(stations) * 2_f64.powi(64)) as u64;
    let mut generator = Generator::stream(seed, 1 << 40);
    let mut sums = Sums::default();
    for slot in 0..slots {
        let now = BitInstant::new(slot * SLOT);
        // A frame that arrives just as its slot begins goes out with it.
        medium.run_until(now, &mut sums);
        for user in 0..stations {
            if generator.next_u64() < chance && medium.queued(station(user)) == 0 {
                let frame = Frame::new(Octets::new(64), Destination::Station(station((user + 1) % stations)));
                medium.give(now, Input::Offer { station: station(user), frame }, &mut sums);
            }
        }
    }
    sums
}

/// Lam and Kleinrock 1975; Lam's 400 users at S = 0.32: RCP 1, 10, 100, 200 carries 0.313 with a delay near 29 slots, a
/// fixed K of 200 has one near 67.
#[test]
fn four_hundred_users_find_what_lam_found() {
    let slots = 150_000;
    for (backoff, throughput, delay) in
        [(Policy::rcp(SlottedAloha::SLOT, [10, 100, 200]), 0.313, 29.0), (uniform(200), 0.305, 67.0)]
    {
        let sums = lam(400, 0.32, backoff, slots, 1);
        let (carried, waited) = (sums.arrived as f64 / slots as f64, (sums.delay / SLOT) as f64 / sums.arrived as f64);
        assert!((carried - throughput).abs() < 0.01, "throughput {carried}, delay {waited} slots");
        assert!((waited - delay).abs() < 0.1 * delay, "throughput {carried}, delay {waited} slots");
    }
}

/// An infinite population with attempts at random: S = G e^(−G) (Roberts 1972), as long as it lasts.
#[test]
fn an_infinite_population_carries_g_e_to_the_minus_g() {
    let slots = 200_000;
    let config = config(Topology::star(2, 0), |own| {
        (own.population, own.backoff) = (Population::Infinite, uniform(500));
    });
    let mut medium = Medium::new(Config { keep_outputs: false, ..config }).expect("valid");
    let mut generator = Generator::stream(1, 1 << 40);
    let (mut sums, mut at) = (Sums::default(), 0.0);
    loop {
        let word = (generator.next_u64() >> 11) as f64 / 2_f64.powi(53);
        at -= (1.0 - word).ln() / 0.3;
        let now = (at * SLOT as f64) as u64;
        if now >= slots * SLOT {
            break;
        }
        let frame = Frame::new(Octets::new(64), Destination::Station(StationId::new(1)));
        medium.give(BitInstant::new(now), Input::Offer { station: station(0), frame }, &mut sums);
    }
    medium.run_until(BitInstant::new(slots * SLOT), &mut sums);
    let (s, g) = (sums.arrived as f64 / slots as f64, sums.attempts as f64 / slots as f64);
    assert!((s - g * (-g).exp()).abs() < 0.01, "S {s}, G {g}");
    assert!((s - 0.3).abs() < 0.01, "S {s}, G {g}");
}

/// Frames that get through in a slot to the station at 0, if each other station sends a frame of its own in a slot with
/// its chance, and gives it up if it does not get through. `others` has the stations: where they are, and their chances.
fn captured(others: &[(u64, f64)], threshold: u32, exponent: u32, slots: u64) -> f64 {
    let positions: Vec<u64> = std::iter::once(0).chain(others.iter().map(|(place, _)| *place)).collect();
    let topology = Topology::Bus { positions: vec![BitTimes::ZERO; positions.len()] };
    let config = config(topology, |own| {
        own.attempt_limit = NonZeroU32::new(1);
        own.capture = Some(Capture { threshold, exponent, positions });
    });
    let mut medium = Medium::new(Config { keep_outputs: false, ..config }).expect("valid");
    let (mut generator, mut sums) = (Generator::stream(1, 1 << 40), Sums::default());
    for now in (0..slots).map(|slot| BitInstant::new(slot * SLOT)) {
        medium.run_until(now, &mut sums);
        for (index, (_, chance)) in (1..).zip(others) {
            if generator.next_u64() < (chance * 2_f64.powi(64)) as u64 {
                let frame = Frame::new(Octets::new(64), Destination::Station(station(0)));
                medium.give(now, Input::Offer { station: station(index), frame }, &mut sums);
            }
        }
    }
    sums.arrived as f64 / slots as f64
}

/// Metzner 1976: two groups, and a frame of the strong one survives those of the weak one. Infinitely many users carry
/// G1 e^-G1 + G2 e^-(G1 + G2), at most 0.532; these are groups of 40.
#[test]
fn two_groups_of_power_carry_more_than_1_e() {
    let (strong, weak) = ((1.0 - (-1_f64).exp()) / 40.0, 1.0 / 40.0);
    let others = [vec![(10_000, strong); 40], vec![(1_000_000, weak); 40]].concat();
    let carried = captured(&others, 1000, 400, 60_000);
    let formula =
        40.0 * strong * (1.0 - strong).powi(39) + 40.0 * weak * (1.0 - weak).powi(39) * (1.0 - strong).powi(40);
    assert!((formula - 0.532).abs() < 0.01, "formula {formula}");
    assert!((carried - formula).abs() < 0.008, "S {carried}, formula {formula}");
}

/// Each set of senders, weighed by its chance: with 8 stations there are 256. A set carries a frame if its strongest one
/// is stronger than the others together by the threshold.
#[test]
fn a_frame_is_received_if_it_is_stronger_than_the_sum() {
    let places = [1.0, 1.3, 1.7, 2.2, 2.9, 3.7, 4.8, 6.3_f64];
    for (threshold, exponent) in [(1, 200), (300, 400), (600, 250), (1000, 400), (2000, 350)] {
        let mut formula = 0.0;
        for set in 1_u32..256 {
            let of_set = places.iter().enumerate().filter(|(index, _)| set >> index & 1 == 1);
            let mut decibels: Vec<f64> =
                of_set.map(|(_, place)| -10.0 * f64::from(exponent) / 100.0 * place.log10()).collect();
            decibels.sort_by(f64::total_cmp);
            let strongest = decibels.pop().expect("a set with one at least");
            let rest: f64 = decibels.iter().map(|level| 10_f64.powf(level / 10.0)).sum();
            let carries = strongest - 10.0 * rest.log10() >= f64::from(threshold) / 100.0;
            let senders = set.count_ones() as i32;
            let chance = 0.25_f64.powi(senders) * 0.75_f64.powi(8 - senders);
            formula += if carries { chance } else { 0.0 };
        }
        let others = places.map(|place| ((place * 1000.0) as u64, 0.25));
        let carried = captured(&others, threshold, exponent, 60_000);
        assert!((carried - formula).abs() < 0.008, "{threshold}, {exponent}: S {carried}, formula {formula}");
    }
}

#[test]
fn capture_needs_places_and_a_threshold() {
    let with = |topology: Topology, threshold, exponent, stations| {
        let capture = Capture { threshold, exponent, positions: vec![5; stations] };
        let error = config(topology, |own| own.capture = Some(capture)).check().err();
        error.map(|error| error.to_string())
    };
    let bus = || Topology::Bus { positions: vec![BitTimes::ZERO; 3] };
    assert_eq!(with(bus(), 1000, 400, 3), None);
    for (topology, threshold, exponent, stations, words) in [
        (Topology::star(3, 0), 1000, 400, 3, "on a bus"),
        (bus(), 1000, 400, 2, "a position for each station"),
        (bus(), 0, 400, 3, "above 0 dB"),
        (bus(), 10_001, 400, 3, "at most 100 dB"),
        (bus(), 1000, 99, 3, "from 1 to 10"),
    ] {
        let error = with(topology, threshold, exponent, stations).expect(words);
        assert!(error.contains(words), "{error}");
    }
}
