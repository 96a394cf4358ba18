//! Properties of every scenario, independent of the engine's inner paths: conservation, order, repeatability, and that
//! no output is taken back.
//!
//! `ETHBUS_CASES` sets the number of scenarios for each property, `ETHBUS_SEED` draws others.

mod common;
#[path = "common/scenario.rs"]
mod scenario;

use backoff::Generator;
use common::{offer, run, station};
use medium::{
    BitInstant, BitRate, BitTimes, Config, Deed, Destination, Event, Fault, FrameId, Input, Kind, Medium, Octets,
    Output, Place, Repeater, Segments, StationId, Tally, Topology,
};
use proptest::prelude::*;
use scenario::{
    Scenario, any_config, any_medium, any_scenario, cases, cut_scenario, extending_config, faulty_scenario,
    fitting_topology, runner, standard_config,
};
use std::collections::BTreeMap;

const USUAL_CASES: u32 = 500;
/// Later than every event of these scenarios.
const END: u64 = 1 << 40;

/// How a caller calls the medium between two inputs.
#[derive(Clone, Copy, Debug)]
enum Rhythm {
    /// At every scheduled instant.
    AsDue,
    /// Not at all: the next input moves time on.
    Rarely,
    /// At instants drawn from this seed.
    Odd(u64),
}

/// The reports of a medium while it ran.
struct Told {
    medium: Medium,
    events: Vec<Event>,
    /// Each with [`Medium::now`] at the time of its report.
    outputs: Vec<(BitInstant, Output)>,
}

impl Told {
    fn new(config: &Config) -> Told {
        let medium = Medium::new(config.clone()).expect("a valid configuration");
        Told { medium, events: Vec::new(), outputs: Vec::new() }
    }

    fn give(&mut self, at: BitInstant, input: Input) {
        self.medium.handle_input(at, input);
        self.take();
    }

    fn advance(&mut self, limit: BitInstant) {
        self.medium.advance(limit);
        self.take();
    }

    fn take(&mut self) {
        self.events.extend(std::iter::from_fn(|| self.medium.poll_event()));
        let now = self.medium.now();
        self.outputs.extend(std::iter::from_fn(|| self.medium.poll_output()).map(|output| (now, output)));
    }

    /// Lets time pass up to `until`, or until there is no further event; inputs at `until` are still possible.
    fn pass(&mut self, until: u64, rhythm: Rhythm) {
        let odd = if let Rhythm::Odd(seed) = rhythm { seed } else { 0 };
        let mut generator = Generator::stream(odd, until);
        while let Some(due) = self.medium.next_timeout().filter(|due| due.get() < until) {
            let at = match rhythm {
                Rhythm::AsDue => due.get() + 1,
                Rhythm::Rarely => return,
                Rhythm::Odd(_) => self.medium.now().get() + (generator.next_u64() >> (56 + generator.next_u64() % 8)),
            };
            if at > until {
                return;
            }
            self.advance(BitInstant::new(at));
        }
    }
}

/// Runs `scenario` up to `until`, its later inputs left out.
fn tell(scenario: &Scenario, until: u64, rhythm: Rhythm) -> Told {
    let mut told = Told::new(&scenario.config);
    for &(at, input) in scenario.inputs.iter().filter(|(at, _)| *at < until) {
        told.pass(at, rhythm);
        told.give(BitInstant::new(at), input);
    }
    told.pass(until, rhythm);
    if let Rhythm::Rarely = rhythm {
        told.advance(BitInstant::new(until));
    }
    told
}

/// Checks `property` for scenarios with all kinds of parameters and topologies, and stations and cables with faults.
fn always(property: impl Fn(&Scenario) -> Result<(), TestCaseError>) {
    always_in(cut_scenario(any_medium()), |scenario| property(&scenario));
}

fn always_in<S: Strategy>(strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    if let Err(failure) = runner(cases(USUAL_CASES)).run(&strategy, property) {
        panic!("{failure}");
    }
}

fn number_of(events: &[Event], place: StationId, is: impl Fn(&Kind) -> bool) -> u64 {
    events.iter().filter(|event| event.station == place && is(&event.kind)).count() as u64
}

fn all_stations(config: &Config) -> impl Iterator<Item = StationId> + use<> {
    (0..config.topology.stations() as u16).map(StationId::new)
}

/// STANDARD.md: offered = transmitted + discarded by cause + queued at the end, always.
#[test]
fn no_frame_is_lost_or_made() {
    let scenarios = cut_scenario(any_medium());
    always_in((scenarios, prop_oneof![1..20_000_u64, Just(END)]), |(scenario, until)| {
        let told = tell(&scenario, until, Rhythm::AsDue);
        for place in all_stations(&scenario.config) {
            let (counters, queued) = (told.medium.tally().station(place), told.medium.queued(place) as u64);
            let number = |is: fn(&Kind) -> bool| number_of(&told.events, place, is);
            let offered = number(|kind| matches!(kind, Kind::Offered { .. }));
            let sent = number(|kind| matches!(kind, Kind::Transmitted { .. }));
            let lost = number(|kind| matches!(kind, Kind::Discarded { .. } | Kind::QueueDrop));
            prop_assert_eq!(offered, sent + lost + queued, "events of {} at {}", place, until);
            prop_assert_eq!(
                counters.offered,
                counters.frames_transmitted_ok + counters.discarded() + queued,
                "counters of {} at {}",
                place,
                until
            );
            prop_assert!(until < END || queued == 0, "{} is left with {} frames", place, queued);
        }
        Ok(())
    });
}

/// ARCHITECTURE.md, invariants: counters are a fold of the events.
#[test]
fn the_tally_is_a_fold_of_the_events() {
    always(|scenario| {
        let told = tell(scenario, END, Rhythm::AsDue);
        let mut tally = Tally::new(scenario.config.topology.stations(), scenario.config.attempt_limit());
        told.events.iter().for_each(|event| tally.record(event));
        prop_assert_eq!(&tally, told.medium.tally());
        Ok(())
    });
}

#[test]
fn events_never_go_back_in_time() {
    always(|scenario| {
        let told = tell(scenario, END, Rhythm::AsDue);
        let back = told.events.windows(2).find(|pair| pair[0].at > pair[1].at);
        prop_assert_eq!(back, None);
        Ok(())
    });
}

/// ARCHITECTURE.md, invariants: the same configuration, seed and inputs give the same events, however often the medium is
/// called, and whether or not events and outputs are kept.
#[test]
fn the_rhythm_of_calls_changes_no_event() {
    always_in((cut_scenario(any_medium()), any::<u64>()), |(scenario, seed)| {
        let as_due = tell(&scenario, END, Rhythm::AsDue);
        for rhythm in [Rhythm::AsDue, Rhythm::Rarely, Rhythm::Odd(seed)] {
            let other = tell(&scenario, END, rhythm);
            prop_assert_eq!(&other.events, &as_due.events, "{:?}", rhythm);
            let (a, b) = (other.outputs.iter(), as_due.outputs.iter());
            prop_assert!(a.map(|(_, output)| output).eq(b.map(|(_, output)| output)), "outputs, {:?}", rhythm);
        }
        let mut quiet = scenario.clone();
        quiet.config.keep_outputs = false;
        prop_assert_eq!(&tell(&quiet, END, Rhythm::AsDue).events, &as_due.events, "without outputs");
        quiet.config.keep_events = false;
        let tally = tell(&quiet, END, Rhythm::AsDue).medium.tally().clone();
        prop_assert_eq!(&tally, as_due.medium.tally(), "without events");
        Ok(())
    });
}

/// ARCHITECTURE.md, invariants: one generator stream a station, so that adding one does not reshuffle the others.
#[test]
fn one_more_silent_station_changes_nothing_for_the_others() {
    let star = (1..=6_usize, 0..=600_u64).prop_map(|(stations, distance)| Topology::star(stations, distance));
    always_in(any_scenario(any_config(star)), |scenario| {
        let Topology::Star { stations, distance } = scenario.config.topology else { unreachable!("a star was drawn") };
        let mut more = scenario.clone();
        more.config.topology = Topology::star(stations + 1, distance.get());
        let before = tell(&scenario, END, Rhythm::AsDue).events;
        let mut after = tell(&more, END, Rhythm::AsDue).events;
        after.retain(|event| event.station.index() < stations);
        prop_assert_eq!(before, after);
        Ok(())
    });
}

/// The engine handles all stations of a star at once, and those on segments separately; a hub in the middle of as many
/// pieces of cable is a star.
#[test]
fn a_star_is_a_hub_and_its_segments() {
    let star = || {
        let distance = prop_oneof![2 => Just(0), 2 => 0..=60_u64, 1 => 0..=700_u64];
        (2..=6_usize, distance).prop_map(|(stations, distance)| Topology::star(stations, distance))
    };
    let config = prop_oneof![any_config(star()), extending_config(star())];
    always_in(faulty_scenario(config), |scenario| {
        let Topology::Star { stations, distance } = scenario.config.topology else { unreachable!("a star was drawn") };
        let ports: Vec<Place> = (0..stations).map(|segment| Place { segment, position: BitTimes::ZERO }).collect();
        let hub = Repeater { delay: distance, jitter: BitTimes::ZERO, ports: ports.clone() };
        let mut segments = scenario.clone();
        segments.config.topology = Topology::Segments(Segments::new(ports, &[hub]).expect("a tree"));
        let (star, segments) = (tell(&scenario, END, Rhythm::AsDue), tell(&segments, END, Rhythm::AsDue));
        prop_assert_eq!(&star.events, &segments.events);
        let outputs = |told: Told| told.outputs.into_iter().map(|(_, output)| output).collect::<Vec<_>>();
        prop_assert_eq!(outputs(star), outputs(segments));
        Ok(())
    });
}

/// ARCHITECTURE.md, invariants: an input that comes late is applied at the engine's now, and breaks nothing.
#[test]
fn late_arrivals_are_taken_at_the_engines_now() {
    always_in((cut_scenario(any_medium()), any::<u64>(), 0..3_000_u64), |(scenario, seed, late)| {
        let mut told = Told::new(&scenario.config);
        for &(at, input) in &scenario.inputs {
            told.pass(at + late, Rhythm::Odd(seed));
            let at = told.medium.now().max(BitInstant::new(at));
            told.give(at, input);
        }
        told.pass(END, Rhythm::Odd(seed));
        for place in all_stations(&scenario.config) {
            let counters = told.medium.tally().station(place);
            prop_assert_eq!(counters.offered, counters.frames_transmitted_ok + counters.discarded());
        }
        Ok(())
    });
}

/// One attempt, from its sender's events.
#[derive(Clone, Copy, Debug)]
struct Sent {
    frame: FrameId,
    begin: u64,
    /// After the extension bits that precede a later frame of a burst.
    preamble: u64,
    end: u64,
    detected: Option<u64>,
}

impl Sent {
    /// At `place`, some of `other` is heard while this packet is.
    fn is_met_by(&self, other: &Sent, place: StationId, config: &Config) -> bool {
        let distance = |of: &Sent| config.way(of.frame.station, BitInstant::new(of.begin), place).get();
        let (here, there) = (distance(self), distance(other));
        self.preamble + here < other.end + there && other.begin + there < self.end + here
    }
}

/// All attempts, in order of their ends.
fn all_sent(config: &Config, events: &[Event]) -> Vec<Sent> {
    let mut under_way = BTreeMap::new();
    let mut all = Vec::new();
    for &Event { at, station, frame, kind } in events {
        let at = at.get();
        match kind {
            Kind::Attempt { burst, .. } => {
                let preamble = at + if burst { config.parameters.inter_packet_gap.get() } else { 0 };
                let sent = Sent { frame, begin: at, preamble, end: at, detected: None };
                assert!(under_way.insert(station, sent).is_none(), "{station} sends twice at {at}");
            }
            Kind::Collision { .. } => under_way.get_mut(&station).expect("it sends").detected = Some(at),
            Kind::JamEnd { .. } | Kind::Transmitted { .. } => {
                all.push(Sent { end: at, ..under_way.remove(&station).expect("it sends") });
            }
            _ => {}
        }
    }
    all
}

/// Output: every frame that was offered is released once, after it was carried if it was.
#[test]
fn every_frame_is_released_once_and_not_before_it_was_carried() {
    always(|scenario| {
        let told = tell(scenario, END, Rhythm::AsDue);
        let position = |wanted: &Output| told.outputs.iter().position(|(_, output)| output == wanted);
        let offered = told.events.iter().filter(|event| matches!(event.kind, Kind::Offered { .. }));
        let mut number = 0;
        for frame in offered.map(|event| event.frame) {
            number += 1;
            let released = told.outputs.iter().filter(|(_, output)| *output == Output::Released { frame }).count();
            prop_assert_eq!(released, 1, "{}", frame);
            let mut outputs = told.outputs.iter();
            let carried =
                outputs.position(|(_, output)| matches!(output, Output::Carried { frame: this, .. } if *this == frame));
            prop_assert!(carried < position(&Output::Released { frame }), "{}", frame);
        }
        let all = told.outputs.iter().filter(|(_, output)| matches!(output, Output::Released { .. })).count();
        prop_assert_eq!(all, number, "frames released that were never offered");
        Ok(())
    });
}

/// Output::Carried: given out once for each transmitted frame and for no other, with the actual end and the places at
/// which another signal overlapped; so no early report was ever contradicted.
#[test]
fn what_is_given_out_as_carried_is_what_comes_about() {
    let early = std::cell::Cell::new(0);
    let spoilt = std::cell::Cell::new(0);
    always_in(any_scenario(any_medium()), |scenario| {
        let told = tell(&scenario, END, Rhythm::AsDue);
        let all = all_sent(&scenario.config, &told.events);
        let mut carried = BTreeMap::new();
        for (now, output) in &told.outputs {
            if let Output::Carried { frame, begin, end, damaged } = output {
                prop_assert!(carried.insert(*frame, (*begin, *end, damaged)).is_none(), "{} carried twice", frame);
                early.set(early.get() + u64::from(now < end));
                spoilt.set(spoilt.get() + damaged.len());
            }
        }
        for sent in all.iter().filter(|sent| sent.detected.is_none()) {
            let others = || all.iter().filter(|other| (other.frame, other.begin) != (sent.frame, sent.begin));
            let damaged: Vec<StationId> = all_stations(&scenario.config)
                .filter(|&place| place != sent.frame.station)
                .filter(|&place| others().any(|other| sent.is_met_by(other, place, &scenario.config)))
                .collect();
            let expected = Some((BitInstant::new(sent.begin), BitInstant::new(sent.end), &damaged));
            prop_assert_eq!(carried.remove(&sent.frame), expected, "{}", sent.frame);
        }
        prop_assert!(carried.is_empty(), "carried, but not transmitted: {:?}", carried);
        Ok(())
    });
    assert!(early.get() > 0 && spoilt.get() > 0, "{early:?} outputs were early, {spoilt:?} places spoilt");
}

/// Output::Carried: every station that is not among the damaged hands the frame up, and no other does; cuts and faults
/// included.
#[test]
fn whoever_hands_a_frame_up_is_whoever_receives_it() {
    let (kept_from, handed_up) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    always_in(cut_scenario(any_medium()), |scenario| {
        let told = tell(&scenario, END, Rhythm::AsDue);
        let changes = scenario.inputs.iter();
        let detached = changes.filter(|(_, input)| matches!(input, Input::Deed(Deed::Unplug { .. }))).count();
        let mut serials = BTreeMap::<StationId, u64>::new();
        let mut destinations = BTreeMap::new();
        for (_, input) in &scenario.inputs {
            if let Input::Offer { station, frame } = input {
                let serial = serials.entry(*station).or_default();
                *serial += 1;
                destinations.insert(FrameId { station: *station, serial: *serial }, frame.destination);
            }
        }
        for (_, output) in &told.outputs {
            let Output::Carried { frame, damaged, .. } = output else { continue };
            for place in all_stations(&scenario.config).filter(|&place| place != frame.station) {
                let addressed = match destinations[frame] {
                    Destination::All => true,
                    Destination::Station(to) => to == place,
                    Destination::Nobody | Destination::Beyond(_) => false,
                };
                let delivered = told.events.iter().any(|event| {
                    matches!(event.kind, Kind::Delivered { .. }) && event.frame == *frame && event.station == place
                });
                let expected = addressed && !damaged.contains(&place);
                kept_from.set(kept_from.get() + u64::from(addressed && !expected));
                handed_up.set(handed_up.get() + u64::from(delivered));
                // A station that was off the medium meanwhile received nothing.
                prop_assert!(delivered == expected || detached > 0 && !delivered, "{} at {}", frame, place);
            }
        }
        Ok(())
    });
    assert!(kept_from.get() > 0 && handed_up.get() > 0, "{kept_from:?} kept from somebody, {handed_up:?} handed up");
}

/// A station that was deaf as a frame began sends just after that frame has ended at its own place. Behind a repeater with
/// jitter, the later signal may reach the earlier one, so it is no certain delivery as it begins.
#[test]
fn a_signal_that_jitter_brings_up_to_another_is_not_given_out_as_carried() {
    let place = |segment| Place { segment, position: BitTimes::ZERO };
    let repeater = Repeater { delay: BitTimes::new(8), jitter: BitTimes::new(95), ports: vec![place(0), place(1)] };
    let topology = Segments::new([0, 0, 1].map(place).to_vec(), &[repeater]).expect("a tree");
    let deaf = |at, fault| (at, Input::Deed(Deed::Fault { station: station(1), fault }));
    let inputs = vec![deaf(0, Some(Fault::Deaf)), offer(100, 0, 2, 64), deaf(600, None), offer(677, 1, 2, 64)];
    let caught_up = (1..=40).filter(|&seed| {
        let config = Config::new(BitRate::MBIT_10, Topology::Segments(topology.clone()), seed);
        let told = tell(&Scenario { config, inputs: inputs.clone() }, END, Rhythm::AsDue);
        let delivered = told.events.iter().filter(|event| matches!(event.kind, Kind::Delivered { .. })).count();
        let carried = told
            .outputs
            .iter()
            .filter(|(_, output)| matches!(output, Output::Carried { damaged, .. } if !damaged.contains(&station(2))));
        assert_eq!(carried.count(), delivered, "seed {seed}: {:?}", told.outputs);
        delivered == 0
    });
    assert!((10..30).contains(&caught_up.count()), "about half of all draws");
}

/// Output::Carried: on a medium that the slot time covers, it is known well before the end, and a whole frame of a lone
/// sender at most one way and one gap after its begin.
#[test]
fn a_frame_that_nothing_meets_is_given_out_before_its_end() {
    always_in(any_scenario(standard_config(fitting_topology())), |scenario| {
        let told = tell(&scenario, END, Rhythm::AsDue);
        for (now, output) in &told.outputs {
            if let Output::Carried { end, .. } = output {
                prop_assert!(now < end, "given out at {}, due at {}", now, end);
            }
        }
        Ok(())
    });
}

/// 802.3, 4.2.3.2.4: preamble and SFD, if begun, are finished, then comes the jam, and nothing after it.
#[test]
fn no_signal_goes_on_after_its_jam() {
    always(|scenario| {
        let told = tell(scenario, END, Rhythm::AsDue);
        for sent in all_sent(&scenario.config, &told.events) {
            if let Some(detected) = sent.detected {
                let jam_size = scenario.config.parameters.jam_size.get();
                let jam = if detected < sent.preamble { detected } else { detected.max(sent.preamble + 64) };
                prop_assert_eq!(sent.end, jam + jam_size, "{:?}", sent);
            }
        }
        Ok(())
    });
}

/// 802.3, 4.2.3.2.3: in one collision window the sender has acquired the medium; so on a medium that the slot
/// time covers every collision is detected by all its parties.
#[test]
fn whole_transmissions_never_overlap_where_the_slot_time_covers_the_way() {
    always_in(any_scenario(standard_config(fitting_topology())), |scenario| {
        let told = tell(&scenario, END, Rhythm::AsDue);
        let all = all_sent(&scenario.config, &told.events);
        let whole: Vec<&Sent> = all.iter().filter(|sent| sent.detected.is_none()).collect();
        for (index, sent) in whole.iter().enumerate() {
            for place in all_stations(&scenario.config) {
                let other = whole[..index].iter().find(|other| sent.is_met_by(other, place, &scenario.config));
                prop_assert!(other.is_none(), "{:?} and {:?} at {}", sent, other, place);
            }
        }
        let damaged = told.events.iter().find(|event| matches!(event.kind, Kind::Damaged { .. }));
        prop_assert_eq!(damaged, None);
        Ok(())
    });
}

/// STANDARD.md, late collisions: 2d, and the part of the gap in which a station ignores carrier, are within slotTime.
#[test]
fn no_collision_is_late_where_the_way_and_the_gap_are_within_the_slot_time() {
    let star = (1..=6_usize, 0..=208_u64).prop_map(|(stations, distance)| Topology::star(stations, distance));
    always_in(any_scenario(standard_config(star)), |scenario| {
        let told = tell(&scenario, END, Rhythm::AsDue);
        let late = told.events.iter().find(|event| matches!(event.kind, Kind::Collision { late: true, .. }));
        prop_assert_eq!(late, None);
        Ok(())
    });
}

/// STANDARD.md, numbers that anyone can check: 672 BT a frame of 64 octets, 14,880.95 a second at 10 Mb/s.
#[test]
fn a_lone_saturated_station_never_collides_and_sends_every_672_bit_times() {
    let mut config = Config::new(BitRate::MBIT_10, Topology::star(4, 100), 1);
    config.queue_limit = 1_000;
    let (medium, events) = run(config, &[offer(0, 2, 1, 64); 1_000], END);
    let begins: Vec<u64> = all_sent(medium.config(), &events).iter().map(|sent| sent.begin).collect();
    assert_eq!(begins.len(), 1_000);
    assert!(begins.iter().zip(0..).all(|(&begin, number)| begin == number * 672), "{begins:?}");
    assert_eq!(medium.tally().station(station(2)).collisions, 0);
    assert_eq!(medium.tally().station(station(1)).octets_received_ok, 1_000 * (u64::from(Octets::new(64).get()) - 18));
}
