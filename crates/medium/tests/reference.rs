//! The engine against a reference model that steps through the processes of 802.3, 4.2.8 bit time by bit time.
//!
//! The same configuration, seed and inputs must give the same events, in the same order. `ETHBUS_CASES=100000` runs
//! more cases, `ETHBUS_SEED=2` others. A scenario in which the two once differed stays here as a test.

#[path = "common/agreement.rs"]
mod agreement;
mod common;
#[path = "common/model.rs"]
mod model;
#[path = "common/scenario.rs"]
mod scenario;

use common::{offer, station, trace};
use medium::{BitRate, BitTimes, Cause, Config, Deed, Destination, Event, Fault, Frame, Input, Kind, Octets, Topology};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use scenario::{
    Scenario, any_cable, any_config, any_scenario, any_topology, cases, crowded_scenario, cut_scenario,
    extending_config, faulty_scenario, fitting_topology, gigabit_config, joined_segments, runner, runner_for,
    standard_config, with_jitter,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// Long enough for most scenarios to end, short enough for a model that steps through every bit time.
fn end_of(config: &Config) -> u64 {
    match config.parameters.slot_time.get() {
        _ if config.topology.stations() > 6 => 20_000,
        ..4096 => 60_000,
        _ => 200_000,
    }
}

/// The events of the engine, or the first difference from those of the model.
fn agreed_events(scenario: &Scenario) -> Result<Vec<Event>, String> {
    agreement::agreed_events(scenario, end_of(&scenario.config), model::run)
}

/// How often each kind of event, and each of its rarer variants, has occurred.
fn count(seen: &mut BTreeMap<&'static str, u64>, events: &[Event]) {
    for event in events {
        *seen.entry(event.kind.name()).or_default() += 1;
        let rare = match event.kind {
            Kind::Collision { late: true, .. } => "late",
            Kind::Attempt { excessive_deferral: true, .. } => "excessive_deferral",
            Kind::Attempt { burst: true, .. } => "burst",
            Kind::Transmitted { no_carrier: true, .. } => "no_carrier",
            Kind::Transmitted { extension, .. } if extension > BitTimes::ZERO => "extension",
            Kind::TooLong { .. } => "received_too_long",
            Kind::Discarded { cause, .. } => cause.name(),
            _ => continue,
        };
        *seen.entry(rare).or_default() += 1;
    }
}

/// Draws scenarios, and checks that the two agree on each, and that each of `kinds` occurred in some.
fn check(usual: u32, scenarios: impl Strategy<Value = Scenario>, kinds: &[&str]) {
    check_with(runner(usual), scenarios, kinds);
}

fn check_with(mut runner: TestRunner, scenarios: impl Strategy<Value = Scenario>, kinds: &[&str]) {
    let seen = RefCell::new(BTreeMap::new());
    let result = runner.run(&scenarios, |scenario| {
        let events = agreed_events(&scenario).map_err(TestCaseError::fail)?;
        count(&mut seen.borrow_mut(), &events);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let seen = seen.into_inner();
    println!("{seen:?}");
    for kind in kinds {
        assert!(seen.contains_key(kind), "no {kind} in all these scenarios: {seen:?}");
    }
}

/// ARCHITECTURE.md, invariants; 802.3, 4.2.3.2 and 4.2.8.
#[test]
fn engine_and_model_agree_whatever_the_parameters() {
    let causes = ["excessive_collisions", "detached", "too_long", "too_short"];
    let ends = ["transmitted", "discarded", "queue_drop", "delivered", "fragment", "damaged"];
    let delays = ["defer", "excessive_deferral", "collision", "late", "backoff"];
    check(2_500, any_scenario(any_config(any_topology())), &[&causes[..], &ends, &delays].concat());
}

/// Fault: the effect of a deaf station, one with a bad FCS and one that babbles on the others.
#[test]
fn engine_and_model_agree_on_stations_with_faults() {
    let kinds = ["no_carrier", "received_too_long", "damaged", "delivered", "late"];
    check(1_200, faulty_scenario(any_config(any_topology())), &kinds);
}

/// Deed::Cut: stations on either side of a cut are on separate media, and on one again when it is mended.
#[test]
fn engine_and_model_agree_on_cables_that_are_cut_and_mended() {
    let kinds = ["transmitted", "delivered", "fragment", "damaged", "collision", "late", "backoff"];
    check(1_500, cut_scenario(any_config(any_cable())), &kinds);
    check(500, cut_scenario(extending_config(any_cable())), &kinds);
}

/// A crowd on a star: more than 64 stations that listen at once.
#[test]
fn engine_and_model_agree_on_a_crowd() {
    let kinds = ["transmitted", "delivered", "fragment", "collision", "backoff", "excessive_collisions"];
    // Each takes the model a thousand times as long as the others.
    check_with(runner_for(cases(400).div_ceil(100)), crowded_scenario(), &kinds);
}

/// Table 4-2 of 802.3, on cables that slotTime covers.
#[test]
fn engine_and_model_agree_on_a_medium_as_the_standard_wants_it() {
    check(
        1_200,
        any_scenario(standard_config(fitting_topology())),
        &["collision", "backoff", "transmitted", "fragment"],
    );
}

/// 4.2.3.2.7 and 4.2.3.4: extension and bursts, of all lengths.
#[test]
fn engine_and_model_agree_on_extension_and_bursts() {
    let kinds = ["transmitted", "delivered", "fragment", "damaged", "extension", "burst", "late", "late_collision"];
    check(1_000, any_scenario(extending_config(any_topology())), &kinds);
    check(1_000, faulty_scenario(extending_config(any_topology())), &kinds);
}

/// Table 4-2 at 1000 Mb/s.
#[test]
fn engine_and_model_agree_at_1000_mbit() {
    let kinds = ["transmitted", "delivered", "fragment", "extension", "burst", "collision", "backoff"];
    check(80, faulty_scenario(gigabit_config(prop_oneof![any_topology(), joined_segments()])), &kinds);
}

/// Clauses 9, 27 and 41: through repeaters.
#[test]
fn engine_and_model_agree_through_repeaters() {
    let kinds = ["transmitted", "delivered", "fragment", "damaged", "collision", "late", "backoff"];
    check(600, any_scenario(any_config(joined_segments())), &kinds);
    check(600, faulty_scenario(extending_config(joined_segments())), &kinds);
}

/// 9.5.5.2: repeaters that delay one signal more than another, so that gaps behind them shrink and grow.
#[test]
fn engine_and_model_agree_through_repeaters_with_jitter() {
    let kinds = ["transmitted", "delivered", "fragment", "damaged", "collision", "late", "backoff"];
    check(600, cut_scenario(with_jitter(any_config(joined_segments()))), &kinds);
    check(300, faulty_scenario(with_jitter(extending_config(joined_segments()))), &kinds);
}

fn bus(positions: &[u64]) -> Config {
    let positions = positions.iter().map(|&bits| BitTimes::new(bits)).collect();
    Config::new(BitRate::MBIT_10, Topology::Bus { positions }, 0)
}

fn attempts_of(number: u16, events: &[Event]) -> Vec<u64> {
    let of = |event: &&Event| event.station == station(number) && matches!(event.kind, Kind::Attempt { .. });
    events.iter().filter(of).map(|event| event.at.get()).collect()
}

fn agreed(config: Config, inputs: &[(u64, Input)]) -> Vec<Event> {
    agreed_events(&Scenario { config, inputs: inputs.to_vec() }).unwrap_or_else(|parted| panic!("{parted}"))
}

/// 802.3, 4.2.8, Deference: `while carrierSense or transmitting` sees no silence where one signal ends and the
/// next begins in the same bit time.
///
/// ```text
///   at station 0:  |own 0..96|signal of station 2 96..224|    gap     |attempt 320
/// ```
#[test]
fn two_signals_that_touch_leave_no_silence_between_them() {
    let mut config = bus(&[0, 0, 96]);
    config.parameters.attempt_limit = NonZeroU32::MIN;
    let events = agreed(config, &[offer(0, 0, 1, 64), offer(0, 0, 1, 64), offer(0, 1, 0, 64), offer(0, 2, 0, 64)]);
    assert_eq!(attempts_of(0, &events), [0, 320], "{}", trace(&events));
}

/// 802.3, 4.2.8, Deference: `wasTransmitting` is true for the whole of a busy period, however many other signals follow
/// the station's own in it.
///
/// Station 3 sends at 3468 for the last time and hears carrier without a pause until 5664; 24 BT into that silence it
/// hears carrier again, but its gap does not restart.
#[test]
fn having_sent_counts_to_the_end_of_a_long_busy_period() {
    let mut config = bus(&[70, 10, 252, 150]);
    config.parameters.attempt_limit = NonZeroU32::new(9).expect("9 is not 0");
    config.parameters.backoff_limit = 0;
    let inputs = [
        offer(915, 1, 0, 64),
        offer(915, 2, 0, 1517),
        offer(2065, 1, 0, 64),
        offer(2065, 1, 0, 64),
        offer(2065, 2, 0, 64),
        offer(2076, 3, 0, 64),
        offer(2128, 0, 1, 64),
        offer(2128, 0, 1, 64),
    ];
    let events = agreed(config, &inputs);
    assert!(attempts_of(3, &events).contains(&5760), "{}", trace(&events));
}

/// Kind::Collision: all parties of an overlap name the same one.
///
/// Station 1 detects the overlap with station 2 first, and numbers it; station 2 then hears an older fragment of
/// station 1, of another episode, before the one it overlaps with.
#[test]
fn parties_of_an_overlap_name_the_same_episode() {
    let mut config = bus(&[15, 268, 0]);
    config.parameters.attempt_limit = NonZeroU32::new(3).expect("3 is not 0");
    config.parameters.backoff_limit = 1;
    config.seed = 7_065_622_933_092_375_205;
    let events = agreed(config, &[offer(0, 0, 1, 64), offer(0, 2, 1, 64), offer(0, 2, 1, 64), offer(477, 1, 0, 64)]);
    let episode_at = |at, number| {
        events.iter().find_map(|event| match event.kind {
            Kind::Collision { episode, .. } if (event.at.get(), event.station) == (at, station(number)) => {
                Some(episode)
            }
            _ => None,
        })
    };
    assert!(episode_at(1369, 1).is_some(), "{}", trace(&events));
    assert_eq!(episode_at(1369, 1), episode_at(1415, 2), "{}", trace(&events));
}

fn discards(events: &[Event]) -> Vec<(u64, Cause, u32)> {
    let discard = |event: &Event| match event.kind {
        Kind::Discarded { cause, attempts } if event.station == station(0) => Some((event.at.get(), cause, attempts)),
        _ => None,
    };
    events.iter().filter_map(discard).collect()
}

/// Kind::Discarded: `attempts` is the number of attempts made, including the one whose jam has just ended.
#[test]
fn a_detached_station_counts_the_attempt_that_collided() {
    let config = Config::new(BitRate::MBIT_10, Topology::star(2, 0), 0);
    let events = agreed(
        config,
        &[offer(0, 0, 1, 64), offer(0, 1, 0, 64), (1, Input::Deed(Deed::Unplug { station: station(0) }))],
    );
    assert_eq!(discards(&events), [(96, Cause::Detached, 1)], "{}", trace(&events));
}

/// Deed::Unplug: a present transmission continues to its end; attemptLimit attempts that collided end in a discard.
#[test]
fn the_last_attempt_of_a_detached_station_ends_as_it_would() {
    let mut config = Config::new(BitRate::MBIT_10, Topology::star(2, 0), 0);
    config.parameters.attempt_limit = NonZeroU32::MIN;
    let events = agreed(
        config,
        &[offer(0, 0, 1, 64), offer(0, 1, 0, 64), (1, Input::Deed(Deed::Unplug { station: station(0) }))],
    );
    assert_eq!(discards(&events), [(96, Cause::ExcessiveCollisions, 1)], "{}", trace(&events));
}

/// ARCHITECTURE.md, invariants: ends of timers, then arrivals, see the medium as it was just before the instant.
///
/// Station 1's own transmission ends at 576, so its gap ends at 672 regardless of carrier. Station 0's signal is on
/// from 600 at station 1's place, so a frame that arrives at 672 finds the medium busy.
#[test]
fn a_frame_that_comes_as_an_unrestartable_gap_ends_under_carrier_defers() {
    let config = bus(&[0, 500]);
    let everyone = Frame::new(Octets::new(64), Destination::All);
    let inputs =
        [offer(0, 1, 0, 64), (100, Input::Offer { station: station(0), frame: everyone }), offer(672, 1, 0, 64)];
    let events = agreed(config, &inputs);
    let defers = events.iter().any(|e| e.at.get() == 672 && e.station == station(1) && e.kind.name() == "defer");
    assert!(defers, "{}", trace(&events));
}

/// 802.3, 4.2.9, PhysicalSignalDecap: a receiver skips extension bits. A signal that overlaps only with those does no
/// harm to the frame after them.
///
/// ```text
///   at station 1:  |s0#1 100..4260|filling ..4356|s0#2, cut ..4492|
///                                 |own  ..4356   |
/// ```
#[test]
fn what_meets_only_the_filling_does_the_frame_no_harm() {
    let config = Config::new(BitRate::MBIT_1000, Topology::star(2, 100), 1);
    let deaf = Input::Deed(Deed::Fault { station: station(1), fault: Some(Fault::Deaf) });
    let events = agreed(config, &[(0, deaf), offer(0, 0, 1, 64), offer(0, 0, 1, 64), offer(4260, 1, 0, 64)]);
    let fragment = events.iter().find(|e| e.station == station(1) && e.kind.name() == "fragment");
    let fragment = fragment.map(|e| (e.at.get(), e.frame.serial, e.kind));
    assert_eq!(fragment, Some((4492, 2, Kind::Fragment { bits: BitTimes::new(72) })), "{}", trace(&events));
}

/// Fault::Deaf: a gap in progress continues, whatever happens to carrier sense in it (802.3, 4.2.8, Deference).
///
/// Station 0 falls silent at station 1's place at 586.
#[test]
fn a_gap_outlasts_a_spell_of_deafness() {
    let fault = |at, fault| (at, Input::Deed(Deed::Fault { station: station(1), fault }));
    let config = Config::new(BitRate::MBIT_10, Topology::star(2, 10), 1);
    let inputs = [offer(0, 0, 1, 64), fault(590, Some(Fault::Deaf)), fault(600, None), offer(610, 1, 0, 64)];
    let events = agreed(config, &inputs);
    assert_eq!(attempts_of(1, &events), [586 + 96], "{}", trace(&events));
}

/// 802.3, 4.2.8: a station that has a frame ready as the one before it ends continues the burst; a bit time later is
/// too late for a station that knows its queue.
#[test]
fn a_frame_that_comes_as_another_ends_goes_on_with_the_burst() {
    let config = Config::new(BitRate::MBIT_1000, Topology::star(2, 10), 1);
    for (at, second) in [(4159, 4160), (4160, 4160), (4161, 4256)] {
        let events = agreed(config.clone(), &[offer(0, 0, 1, 64), offer(at, 0, 1, 64)]);
        assert_eq!(attempts_of(0, &events), [0, second], "{}", trace(&events));
    }
}

/// 802.3, 4.2.8, StartJam: `extendError` from the first bit after the frame on. A frame cut there has a bad FCS, and no
/// odd bits (4.2.9, `extensionOK`); a frame cut before has both.
///
/// Station 1 is deaf and starts 10 BT before station 0 hears it; frame and SFD are out at 576.
#[test]
fn the_first_bit_behind_a_frame_is_extension() {
    let mut config = Config::new(BitRate::MBIT_1000, Topology::star(3, 10), 1);
    let p = &mut config.parameters;
    (p.extend_size, p.slot_time, p.jam_size) = (Octets::new(1), BitTimes::new(520), BitTimes::new(33));
    let deaf = (0, Input::Deed(Deed::Fault { station: station(1), fault: Some(Fault::Deaf) }));
    for (detected, bits) in [(574, 510 + 33), (576, 544), (577, 544)] {
        let events = agreed(config.clone(), &[deaf, offer(0, 0, 2, 64), offer(detected - 10, 1, 0, 64)]);
        let damaged = events.iter().find(|e| e.station == station(2)).map(|e| (e.at.get(), e.kind));
        let bits = BitTimes::new(bits);
        assert_eq!(damaged, Some((detected + 33 + 10, Kind::Damaged { bits })), "{}", trace(&events));
    }
}

/// A duplex mismatch. Station 1 begins in the middle of station 0's frame: station 0 has a late collision, and its jam ends
/// what station 1 receives. Station 1 sends on to the end, and its frame is lost; its next frame keeps the gap.
#[test]
fn a_station_in_full_duplex_sends_over_others_and_receives_beside() {
    let config = Config::new(BitRate::MBIT_10, Topology::star(2, 0), 1);
    let duplex = (0, Input::Deed(Deed::Fault { station: station(1), fault: Some(Fault::FullDuplex) }));
    let events = agreed(config, &[duplex, offer(0, 0, 1, 500), offer(1_000, 1, 0, 500), offer(1_000, 1, 0, 64)]);
    let at = |number: u16, wanted: fn(&Kind) -> bool| -> Vec<u64> {
        let own = events.iter().filter(|event| event.station == station(number) && wanted(&event.kind));
        own.map(|event| event.at.get()).collect()
    };
    assert_eq!(at(0, |kind| matches!(kind, Kind::Collision { late: true, .. })), [1_000], "{}", trace(&events));
    assert!(at(1, |kind| matches!(kind, Kind::Collision { .. })).is_empty());
    // 500 octets and 64 bits of preamble and SFD from 1,000 on, and then the gap of 96.
    assert_eq!(at(1, |kind| matches!(kind, Kind::Attempt { .. })), [1_000, 5_064 + 96]);
    assert_eq!(at(1, |kind| matches!(kind, Kind::Damaged { .. }))[..1], [1_032]);
    assert_eq!(at(0, |kind| matches!(kind, Kind::Damaged { .. }))[..1], [5_064]);
}

/// On a star so wide that a station's own fragment has ended at its place before it reaches the others, that fragment
/// is no carrier to the station when it arrives there.
#[test]
fn its_own_fragment_elsewhere_is_no_carrier_to_a_station_that_waits() {
    let mut config = Config::new(BitRate::MBIT_10, Topology::star(2, 608), 5_076_735_709_273_504_059);
    config.parameters.attempt_limit = NonZeroU32::new(2).expect("2 is not 0");
    config.parameters.backoff_limit = 1;
    config.queue_limit = 4;
    let mut inputs = vec![offer(0, 0, 1, 64); 4];
    inputs.extend([offer(0, 1, 0, 64); 4]);
    inputs.push(offer(576, 1, 0, 64));
    agreed(config, &inputs);
}
