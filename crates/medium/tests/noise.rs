//! Noise at places (issue 27, part 4): its draws do not depend on how the engine runs, and it does what it says.

use medium::{
    BitErrors, BitInstant, BitRate, Config, Deed, Destination, Event, Fault, Frame, Host, Input, Kind, Medium, Method,
    Mishap, Octets, Output, Plca, StationId, Topology,
};
use std::collections::BTreeSet;

const STATIONS: u16 = 5;
/// The end of each run.
const END: BitInstant = BitInstant::new(3_000_000);

fn station(number: u16) -> StationId {
    StationId::new(number)
}

fn config(with_plca: bool) -> Config {
    let mut config = Config::new(BitRate::MBIT_10, Topology::star(usize::from(STATIONS), 0), 7);
    if with_plca {
        config.method = Method::Plca(Plca { cold_start: false, ..Plca::right(usize::from(STATIONS)) });
    }
    config
}

fn fault(at: u64, number: u16, fault: Option<Fault>) -> (u64, Input) {
    (at, Input::Deed(Deed::Fault { station: station(number), fault }))
}

/// Frames of all stations in turn, to the next station or to all, among `others`.
fn inputs(others: &[(u64, Input)]) -> Vec<(u64, Input)> {
    let frame = |number: u64| {
        let from = (number % u64::from(STATIONS)) as u16;
        let to = if number.is_multiple_of(3) {
            Destination::All
        } else {
            Destination::Station(station((from + 1) % STATIONS))
        };
        (number * 1_500, Input::Offer { station: station(from), frame: Frame::new(Octets::new(100), to) })
    };
    let mut all: Vec<_> = (0..1_900).map(frame).chain(others.iter().copied()).collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

#[derive(Default)]
struct Seen(Vec<Event>);

impl Host for Seen {
    fn event(&mut self, event: &Event) {
        self.0.push(*event);
    }
}

/// All events, and the outputs if they are wanted.
fn run(mut config: Config, keep_outputs: bool, inputs: &[(u64, Input)]) -> (Vec<Event>, Vec<Output>, Medium) {
    config.keep_outputs = keep_outputs;
    let (mut medium, mut seen) = (Medium::new(config).expect("a valid configuration"), Seen::default());
    let mut outputs = Vec::new();
    for &(at, input) in inputs {
        medium.run_until(BitInstant::new(at), &mut seen);
        medium.give(BitInstant::new(at), input, &mut seen);
        outputs.extend(std::iter::from_fn(|| medium.poll_output()));
    }
    medium.run_until(END, &mut seen);
    outputs.extend(std::iter::from_fn(|| medium.poll_output()));
    (seen.0, outputs, medium)
}

fn errors(rate: u64, on_line: bool) -> Fault {
    Fault::BitErrors(BitErrors { rate, burst: 1, on_line })
}

/// Faults that come and go while frames are on the line.
fn changing() -> Vec<(u64, Input)> {
    vec![
        fault(100_000, 1, Some(errors(300_000_000, false))),
        fault(400_300, 2, Some(Fault::OneWay)),
        fault(900_700, 2, None),
        fault(1_000_000, 3, Some(Fault::BitErrors(BitErrors { rate: 900_000_000, burst: 50, on_line: true }))),
        fault(1_000_000, 4, Some(Fault::BitErrors(BitErrors { rate: 900_000_000, burst: 50, on_line: true }))),
        fault(2_000_100, 1, None),
        fault(2_400_000, 3, None),
    ]
}

/// With outputs, which are settled early, and without, on a fast path: the same events; and an output names exactly the
/// stations that do not deliver.
#[test]
fn fast_paths_and_early_outputs_find_the_same_errors() {
    for with_plca in [false, true] {
        let inputs = inputs(&changing());
        let (fast, ..) = run(config(with_plca), false, &inputs);
        let (general, outputs, _) = run(config(with_plca), true, &inputs);
        assert!(fast == general, "PLCA {with_plca}: events differ");
        let damaged = fast.iter().filter(|event| matches!(event.kind, Kind::Damaged { .. })).count();
        assert!(damaged > 20, "PLCA {with_plca}: {damaged} damaged");
        let delivered: BTreeSet<_> = fast
            .iter()
            .filter(|event| matches!(event.kind, Kind::Delivered { .. }))
            .map(|event| (event.frame, event.station))
            .collect();
        for output in outputs {
            let Output::Carried { frame, damaged, .. } = output else { continue };
            let Some(&(_, to)) = delivered.iter().find(|(known, _)| *known == frame) else { continue };
            assert!(!damaged.contains(&to), "PLCA {with_plca}: {frame} is delivered to {to}");
            for place in (0..STATIONS).map(station).filter(|place| damaged.contains(place)) {
                assert!(!delivered.contains(&(frame, place)), "PLCA {with_plca}: {frame} at {place}");
            }
        }
    }
}

/// Errors of the line spoil a frame for all at once, on a star without distance.
#[test]
fn errors_of_the_line_are_those_of_all_stations() {
    let all: Vec<_> = (0..STATIONS).map(|number| fault(0, number, Some(errors(300_000_000, true)))).collect();
    let (events, ..) = run(config(true), false, &inputs(&all));
    let of = |is_it: fn(&Kind) -> bool| -> BTreeSet<_> {
        events.iter().filter(|event| is_it(&event.kind)).map(|event| event.frame).collect()
    };
    let damaged = of(|kind| matches!(kind, Kind::Damaged { .. }));
    let delivered = of(|kind| matches!(kind, Kind::Delivered { .. }));
    assert!(damaged.len() > 50 && damaged.is_disjoint(&delivered));
}

/// A station that hears nothing receives nothing; with PLCA its node counts no BEACON and no collision.
#[test]
fn a_station_that_hears_nothing_receives_nothing() {
    for with_plca in [false, true] {
        let (events, _, medium) = run(config(with_plca), false, &inputs(&[fault(0, 2, Some(Fault::OneWay))]));
        let own = |event: &&Event| event.station == station(2) && event.kind.is_reception();
        assert_eq!(events.iter().filter(own).count(), 0, "PLCA {with_plca}");
        let sent =
            events.iter().filter(|event| matches!(event.kind, Kind::Transmitted { .. }) && event.station == station(2));
        let sent = sent.count();
        assert!(sent > 300, "PLCA {with_plca}: {sent}");
        if with_plca {
            assert_eq!(medium.plca_counters(station(2)).map(|counters| counters.beacons), Some(0));
            assert_eq!(medium.plca_status(station(2)), Some(false));
        }
    }
}

/// Of BEACONs a share is lost, or heard as carrier alone, at one node; the others count them all.
#[test]
fn a_node_counts_the_beacons_that_it_recognises() {
    for mishap in [Mishap::LostBeacon, Mishap::BadBeacon] {
        let fault = fault(0, 2, Some(Fault::Signals { mishap, millionths: 250_000 }));
        let (_, _, medium) = run(config(true), false, &inputs(&[fault]));
        let beacons = |number| medium.plca_counters(station(number)).expect("PLCA").beacons as f64;
        let share = beacons(2) / beacons(0);
        assert!((0.7..0.8).contains(&share), "{mishap:?}: {share}");
        assert!((beacons(1) - beacons(0)).abs() < 2.0);
        assert_eq!(medium.plca_status(station(2)), Some(true));
    }
}

/// A fault that is over, or that strikes nothing, leaves no trace.
#[test]
fn noise_that_strikes_nothing_changes_nothing() {
    for with_plca in [false, true] {
        let (plain, ..) = run(config(with_plca), false, &inputs(&[]));
        let weak = [
            fault(0, 1, Some(Fault::Signals { mishap: Mishap::LostCommit, millionths: 0 })),
            fault(1_000_000, 1, None),
        ];
        let (noisy, ..) = run(config(with_plca), false, &inputs(&weak));
        let told = |events: &[Event]| -> Vec<Event> {
            events.iter().filter(|event| !matches!(event.kind, Kind::Beacon { .. })).copied().collect()
        };
        assert!(told(&plain) == told(&noisy), "PLCA {with_plca}");
    }
}
