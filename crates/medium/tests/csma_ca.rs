//! CSMA/CA: golden traces, and the engine against a model that steps through every bit time.
//!
//! `ETHBUS_CASES=100000` runs more cases against the model, `ETHBUS_SEED=2` others.

#[path = "common/agreement.rs"]
mod agreement;
mod common;
#[path = "common/dcf.rs"]
mod dcf;
#[path = "common/scenario.rs"]
mod scenario;

use common::{check_golden, offer, run, station, trace};
use medium::{
    BitErrors, BitInstant, BitTimes, Config, ConfigError, CsmaCa, Deed, Destination, Event, Fault, Frame, Host, Input,
    Medium, Method, Octets, OfdmRate, Phy, Reach, Topology,
};
use proptest::prelude::*;
use scenario::{Scenario, cut_scenario, faulty_scenario, noisy_scenario, some_capture, with_clocks_off};
use std::num::NonZeroU32;

const LONG: u64 = 1 << 30;

fn with(topology: Topology, phy: Phy, change: impl FnOnce(&mut CsmaCa)) -> Config {
    let mut own = CsmaCa::new(phy, Octets::new(64));
    change(&mut own);
    Config { method: Method::CsmaCa(own), ..Config::new(phy.rate(), topology, 1) }
}

fn bus(positions: &[u64]) -> Topology {
    Topology::Bus { positions: positions.iter().map(|&position| BitTimes::new(position)).collect() }
}

fn apart(range: u64, positions: &[u64]) -> Option<Reach> {
    Some(Reach { range, positions: positions.to_vec() })
}

fn check(name: &str, config: Config, inputs: &[(u64, Input)]) {
    let (_, events) = run(config, inputs, LONG);
    check_golden(name, &trace(&events));
}

/// IEEE 802.11, 10.3.4.2: the first frame finds a DIFS of silence and goes out; frames that come meanwhile draw slots.
#[test]
fn a_frame_that_finds_silence_goes_out_and_others_draw_slots() {
    let inputs = [offer(1000, 0, 1, 64), offer(1100, 1, 0, 64), offer(1200, 2, 0, 64), offer(1300, 0, 1, 64)];
    check("csma_ca_slots.txt", with(Topology::star(3, 0), Phy::Dsss1, |_| {}), &inputs);
}

/// Clause 10.3.2.7: the NAV of the RTS keeps the others silent until the ACK has ended.
#[test]
fn rts_and_cts_reserve_the_medium() {
    let inputs = [offer(1000, 0, 1, 200), offer(1400, 2, 1, 64)];
    check("csma_ca_rts.txt", with(Topology::star(3, 1), Phy::Dsss1, |own| own.rts = true), &inputs);
}

/// Keeps events, and stops the run after a number of them.
struct Stopping {
    events: Vec<Event>,
    after: usize,
}

impl Host for Stopping {
    fn event(&mut self, event: &Event) {
        self.events.push(*event);
    }

    fn stops(&self) -> bool {
        self.events.len() >= self.after
    }
}

/// A run that its host stops, in order to unplug a station in the next bit time, continues as if the engine had known
/// the input from the start: also in the middle of an exchange that no event would have disturbed.
#[test]
fn a_run_that_stops_goes_on_as_if_the_next_input_had_been_known() {
    let config = Config { keep_outputs: false, ..with(Topology::star(3, 0), Phy::Dsss1, |_| {}) };
    let offers = [offer(1000, 0, 1, 64), offer(1000, 1, 0, 64), offer(1000, 2, 1, 64), offer(1000, 0, 1, 64)];
    let (_, whole) = run(config.clone(), &offers, LONG);
    let first = whole.iter().position(|event| event.at.get() > 1000).expect("something is sent");
    for (after, number) in (first + 1..whole.len()).flat_map(|after| (0..3).map(move |number| (after, number))) {
        let at = whole[after - 1].at + BitTimes::new(1);
        let detach = Input::Deed(Deed::Unplug { station: station(number) });
        let mut host = Stopping { events: Vec::new(), after };
        let mut medium = Medium::new(config.clone()).expect("a valid configuration");
        for (at, input) in offers {
            medium.give(BitInstant::new(at), input, &mut host);
        }
        medium.run_until(BitInstant::new(LONG), &mut host);
        assert_eq!(host.events.last().map(|event| event.at), Some(whole[after - 1].at), "it stops at once");
        host.after = usize::MAX;
        medium.give(at, detach, &mut host);
        medium.run_until(BitInstant::new(LONG), &mut host);
        let known = [&offers[..], &[(at.get(), detach)]].concat();
        let (_, expected) = run(config.clone(), &known, LONG);
        assert_eq!(trace(&host.events), trace(&expected), "station {number} unplugged after event {after}");
    }
}

/// Two that begin in one slot: neither gets an answer, and both draw from twice as many slots; the third waits an EIFS.
#[test]
fn a_collision_is_learnt_from_silence() {
    let inputs = [offer(1000, 0, 2, 64), offer(1000, 1, 2, 64), offer(1100, 2, 0, 64)];
    let own = |own: &mut CsmaCa| (own.window, own.most_window) = (2, 4);
    check("csma_ca_collision.txt", with(Topology::star(3, 0), Phy::Dsss1, own), &inputs);
}

/// 0 and 2 do not hear each other: without RTS they collide at 1 repeatedly, until one is past its limit.
#[test]
fn hidden_stations_meet_in_the_middle() {
    let inputs = [offer(1000, 0, 1, 400), offer(1300, 2, 1, 400)];
    let own = |own: &mut CsmaCa| {
        (own.window, own.most_window, own.reach) = (4, 16, apart(6, &[0, 5, 10]));
    };
    check("csma_ca_hidden.txt", with(bus(&[0, 5, 10]), Phy::Dsss1, own), &inputs);
    let rts = |own: &mut CsmaCa| (own.rts, own.reach) = (true, apart(6, &[0, 5, 10]));
    check("csma_ca_hidden_rts.txt", with(bus(&[0, 5, 10]), Phy::Dsss1, rts), &inputs);
}

/// A deaf station's signal meets the ACK at the sender's place: the frame comes again, is recognised, and is
/// acknowledged.
#[test]
fn a_frame_whose_acknowledgement_is_lost_comes_twice() {
    let deaf = (0, Input::Deed(Deed::Fault { station: station(2), fault: Some(Fault::Deaf) }));
    let inputs = [deaf, offer(1000, 1, 0, 64), offer(1850, 2, 1, 64)];
    let own = |own: &mut CsmaCa| (own.window, own.reach) = (8, apart(5, &[9, 5, 0]));
    check("csma_ca_duplicate.txt", with(bus(&[9, 5, 0]), Phy::Dsss1, own), &inputs);
}

/// Clause 10.3.2.3.7: a decoded frame ends an EIFS, also if the station may then send earlier than after the EIFS.
#[test]
fn a_whole_frame_ends_an_eifs() {
    let offer_to = |at, from, size, destination| {
        (at, Input::Offer { station: station(from), frame: Frame::new(Octets::new(size), destination) })
    };
    let nobody = Destination::Nobody;
    let inputs = vec![
        offer_to(794, 0, 1518, nobody),
        offer_to(794, 1, 64, nobody),
        offer(795, 1, 2, 64),
        offer_to(3551, 1, 64, Destination::All),
        offer_to(3753, 1, 64, Destination::All),
        offer_to(3803, 2, 64, nobody),
    ];
    for topology in [bus(&[0; 5]), Topology::star(5, 0)] {
        let own = |own: &mut CsmaCa| {
            (own.window, own.most_window) = (1, 4);
            own.short_retry_limit = NonZeroU32::new(3).expect("above zero");
        };
        let config = Config { queue_limit: 2, seed: 1860970174834998479, ..with(topology, Phy::Dsss11, own) };
        let events =
            agreed_events(&Scenario { config, inputs: inputs.clone() }).unwrap_or_else(|parted| panic!("{parted}"));
        let sent = events.iter().find(|event| event.frame.station == station(2) && event.kind.name() == "attempt");
        assert_eq!(sent.map(|event| event.at.get()), Some(59_970));
    }
}

#[test]
fn faults_groups_and_stations_that_leave() {
    let inputs = [
        (0, Input::Deed(Deed::Fault { station: station(2), fault: Some(Fault::Deaf) })),
        offer(1000, 0, 1, 64),
        offer(1200, 2, 0, 64),
        offer(1300, 1, 0, 64),
        (6000, Input::Deed(Deed::Fault { station: station(2), fault: Some(Fault::BadFcs) })),
        offer(6100, 2, 0, 64),
        offer(6100, 1, 2, 64),
        (7000, Input::Deed(Deed::Unplug { station: station(2) })),
        (9000, Input::Offer { station: station(0), frame: Frame::new(Octets::new(100), Destination::All) }),
    ];
    check("csma_ca_faults.txt", with(Topology::star(3, 1), Phy::Dsss1, |_| {}), &inputs);
}

#[test]
fn what_makes_no_medium_is_named() {
    let parameter = |config: Config| match config.check() {
        Err(ConfigError::Parameter { parameter, .. }) => parameter,
        other => panic!("{other:?}"),
    };
    let star = || Topology::star(2, 0);
    assert_eq!(parameter(with(star(), Phy::Dsss1, |own| own.window = 0)), "window");
    assert_eq!(parameter(with(star(), Phy::Dsss1, |own| own.most_window = 16)), "window");
    assert_eq!(parameter(with(Topology::star(2, 10), Phy::Dsss1, |_| {})), "distance");
    assert_eq!(with(Topology::star(2, 9), Phy::Dsss1, |_| {}).check(), Ok(()));
    let mut config = with(star(), Phy::Dsss11, |_| {});
    config.rate = Phy::Dsss1.rate();
    assert_eq!(parameter(config), "rate");
}

fn any_phy() -> impl Strategy<Value = Phy> {
    prop_oneof![
        3 => Just(Phy::Dsss1),
        1 => Just(Phy::Fhss1),
        1 => Just(Phy::Dsss11),
        1 => Just(Phy::Dsss11Control11),
        1 => Just(Phy::Ofdm(OfdmRate::Mbps6)),
        1 => Just(Phy::Ofdm(OfdmRate::Mbps12)),
        1 => Just(Phy::Ofdm(OfdmRate::Mbps54)),
    ]
}

/// Stations along a line, sometimes with some of them out of range of others; a round trip in range is always shorter
/// than a slot.
fn any_air() -> impl Strategy<Value = (Phy, Topology, Option<Reach>)> {
    let places = proptest::collection::vec(0.0..1.0_f64, 1..=6);
    (any_phy(), places, 0..3_u32, 0.0..1.0_f64, any::<bool>()).prop_map(|(phy, places, spread, near, star)| {
        let most = (phy.slot().get() - 1) / 2;
        if star {
            return (phy, Topology::star(places.len(), most * u64::from(spread) / 2), None);
        }
        let hidden = spread == 2;
        let length = if hidden { 3 * most } else { most };
        let positions: Vec<u64> = places.iter().map(|place| (place * (length + 1) as f64) as u64).collect();
        let range = 1 + (near * (most - 1) as f64) as u64;
        let reach = Reach { range, positions: positions.clone() };
        (phy, bus(&positions), (hidden || spread == 1).then_some(reach))
    })
}

fn configured(air: impl Strategy<Value = (Phy, Topology, Option<Reach>)>) -> impl Strategy<Value = Config> {
    let window = (prop_oneof![1..=4_u32, 1..=32_u32], 0..=4_u32);
    let limit = || (1..=7_u32).prop_map(|limit| NonZeroU32::new(limit).expect("above zero"));
    let own = (window, limit(), limit(), any::<bool>());
    (air, own, 1..=4_usize, any::<u64>()).prop_map(|((phy, topology, reach), own, queue_limit, seed)| {
        let ((window, stages), short, long, rts) = own;
        let capture = some_capture(&topology, seed);
        let own = move |it: &mut CsmaCa| {
            it.capture = capture;
            (it.window, it.most_window, it.rts, it.reach) = (window, window << stages, rts, reach.clone());
            (it.short_retry_limit, it.long_retry_limit) = (short, long);
        };
        Config { queue_limit, seed, ..with(topology, phy, own) }
    })
}

/// The events of the engine, or the first difference from those of the model. A faster layer has more bit times in the
/// same time.
fn agreed_events(Scenario { config, inputs }: &Scenario) -> Result<Vec<Event>, String> {
    let stretch = (config.rate.get() / 1_000_000).min(12);
    let inputs = inputs.iter().map(|&(at, input)| (at * stretch, input)).collect();
    agreement::agreed_events(&Scenario { config: config.clone(), inputs }, 24_000 * stretch, dcf::run)
}

fn agree(name: &str, cases: u32, scenarios: impl Strategy<Value = Scenario>) {
    let ends = ["defer", "collision", "transmitted", "discarded", "damaged"];
    let signals = ["rts", "cts", "data", "ack", "duplicate"];
    agreement::agree(name, cases, scenarios, agreed_events, &[ends, signals].concat());
}

/// The same events, in the same order, as those of a model that counts every bit time at every place.
#[test]
fn engine_and_model_agree() {
    agree("any air", 250, faulty_scenario(configured(any_air())));
}

/// Also on a star without distance, with one countdown for all stations.
#[test]
fn engine_and_model_agree_in_one_place() {
    let star = (any_phy(), 1..=6_usize).prop_map(|(phy, stations)| (phy, Topology::star(stations, 0), None));
    agree("one place", 250, faulty_scenario(configured(star)));
}

/// Also where each station times its gaps and slots by a clock of its own.
#[test]
fn engine_and_model_agree_with_clocks_that_are_off() {
    agree("clocks", 250, with_clocks_off(faulty_scenario(configured(any_air()))));
}

/// Also where noise spoils RTS, CTS, ACK, and what a station overhears, in one place and in many.
#[test]
fn engine_and_model_agree_in_noise() {
    let star = (any_phy(), 1..=6_usize).prop_map(|(phy, stations)| (phy, Topology::star(stations, 0), None));
    agree("noise", 400, noisy_scenario(configured(prop_oneof![any_air(), star])));
}

/// Issue 27: wrong bits hit frames alone. An ACK of 304 bit times has 112 bits: 1 - 0.99^112 of them are lost, and an RTS,
/// with 160, more often.
#[test]
fn wrong_bits_hit_control_frames() {
    let errors = |number| {
        let errors = BitErrors { rate: 10_000_000_000, burst: 1, on_line: false };
        (0, Input::Deed(Deed::Fault { station: station(number), fault: Some(Fault::BitErrors(errors)) }))
    };
    let offers = || (0..2_000_u64).map(|number| offer(number * 20_000, 0, 1, 64));
    let share = |rts: bool, at: u16, sent: &str, answered: &str| {
        let config = with(Topology::star(2, 0), Phy::Dsss1, |own| own.rts = rts);
        let inputs: Vec<_> = std::iter::once(errors(at)).chain(offers()).collect();
        let (_, events) = run(config, &inputs, LONG);
        let count = |name: &str| events.iter().filter(|event| event.kind.name() == name).count() as f64;
        count(answered) / count(sent)
    };
    let right = |bits: i32| 0.99_f64.powi(bits);
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.03, "{found}, not {expected}");
    near(share(false, 0, "ack", "transmitted"), right(112));
    near(share(true, 0, "cts", "data"), right(112));
    near(share(true, 1, "rts", "cts"), right(160));
}

/// Also where a wall comes and goes.
#[test]
fn engine_and_model_agree_behind_walls() {
    let line = any_air().prop_filter("a line", |(_, topology, _)| !matches!(topology, Topology::Star { .. }));
    agree("walls", 300, cut_scenario(configured(line)));
}
