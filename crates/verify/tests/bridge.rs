//! Bridges between buses: nothing is found in runs, and each damage of what a port was given is.

#[path = "../../medium/tests/common/scenario.rs"]
mod scenario;

use medium::{BitInstant, BitTimes, Destination, Event, Input, Kind};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use scenario::runner;
use sim::files::event_log::Header;
use sim::run::bridge::run;
use sim::run::observer::Observer;
use sim::scenario::plan::Overrides;
use sim::scenario::plan::bridged::{Bridged, Planned};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex};
use verify::{Ports, bridges};

type Row = (Event, Option<Destination>);

#[derive(Clone, Default)]
struct Rows(Arc<Mutex<(Vec<Row>, Option<Destination>)>>);

impl Observer for Rows {
    type Error = Infallible;

    fn input(&mut self, _: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        if let Input::Offer { frame, .. } = input {
            self.0.lock().expect("no panic").1 = Some(frame.destination);
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        let mut rows = self.0.lock().expect("no panic");
        let to = rows.1;
        rows.0.push((*event, to));
        Ok(())
    }
}

fn planned(text: &str) -> Bridged {
    match Planned::of_text(Path::new("zonal.toml"), text.to_owned(), &Overrides::default(), 1) {
        Ok(Planned::Several(bridged)) => bridged,
        other => panic!("{other:?}"),
    }
}

/// The rows of each bus.
fn rows(bridged: &Bridged) -> Vec<Vec<Row>> {
    let rows: Vec<Rows> = bridged.buses.iter().map(|_| Rows::default()).collect();
    run(bridged, rows.clone(), 1, |_| true).expect("a run");
    rows.into_iter().map(|rows| rows.0.lock().expect("no panic").0.clone()).collect()
}

fn found(bridged: &Bridged, rows: &[Vec<Row>]) -> Vec<(usize, String)> {
    let buses = bridged.buses.iter().zip(rows).map(|(plan, rows)| {
        let names: Vec<String> = plan.stations.iter().map(|station| station.name.clone()).collect();
        let mut ports = Ports::new(&Header::new("bus", &plan.medium, &names));
        rows.iter().for_each(|(event, to)| ports.take(event, *to));
        ports
    });
    let told = bridges(&buses.collect::<Vec<_>>());
    told.into_iter().map(|(bus, violation)| (bus, format!("{} {}", violation.rule.name, violation.text))).collect()
}

/// The section of a bus.
fn bus(name: &str, stations: usize, rate: &str, load: &str, whom: &str) -> String {
    format!(
        "[bus.{name}]\nstations = {stations}\nmedium.rate = \"{rate}\"\ntraffic.arrivals = \"poisson:{load}\"\n\
         traffic.destination = \"{whom}\"\ntraffic.frame_size = \"64:2,300:1\"\n"
    )
}

/// Two or three buses of different rates in a row.
fn network(buses: usize, whom: &str, seed: u64) -> Bridged {
    let mut text = format!("seed = {seed}\n[run]\nduration = \"30ms\"\nwarmup = \"0s\"\n");
    for number in 0..buses {
        let (rate, to) = (["10M", "100M", "3M"][number], (number + 1) % buses);
        let whom = if whom == "broadcast" { whom.to_owned() } else { format!("b{to}-1") };
        text += &bus(&format!("b{number}"), 3, rate, "0.2", &whom);
    }
    for number in 1..buses {
        let (from, latency, queue) = (number - 1, 7 * number, 1 + number);
        text += &format!(
            "[[bridge]]\nname = \"sw{number}\"\njoins = [\"b{from}\", \"b{number}\"]\nlatency = \"{latency}us\"\n\
             queue = {queue}\n"
        );
    }
    planned(&text)
}

#[test]
fn bridges_of_runs_forward_what_they_receive() {
    for seed in 1..=6 {
        for (buses, whom) in [(2, "unicast"), (2, "broadcast"), (3, "unicast"), (3, "broadcast")] {
            let bridged = network(buses, whom, seed);
            let rows = rows(&bridged);
            assert!(rows.iter().flatten().count() > 500, "seed {seed}");
            assert_eq!(found(&bridged, &rows), [], "seed {seed}, {buses} buses, {whom}");
        }
    }
}

/// One that is missing, one that comes late, one that comes from nowhere.
#[test]
fn a_damage_at_a_port_is_found() {
    for whom in ["unicast", "broadcast"] {
        let bridged = network(2, whom, 1);
        let rows = rows(&bridged);
        let port = bridged.buses[1].stations.len() - 1;
        let given = |row: &Row| row.0.station.index() == port && matches!(row.0.kind, Kind::Offered { .. });
        let index = (0..rows[1].len()).filter(|&index| given(&rows[1][index])).nth(5).expect("some are forwarded");
        let [mut missing, mut late, mut more] = [rows.clone(), rows.clone(), rows.clone()];
        missing[1].remove(index);
        let one = found(&bridged, &missing);
        assert!(one.len() == 1 && one[0].0 == 0 && one[0].1.contains("goes to 0 of the other ports"), "{one:?}");
        late[1][index].0.at = late[1][index].0.at + BitTimes::new(1);
        let two = found(&bridged, &late);
        assert!(two.iter().any(|(bus, text)| *bus == 1 && text.contains("no other port has received it")), "{two:?}");
        let row = more[1][index];
        more[1].insert(index + 1, row);
        let three = found(&bridged, &more);
        assert!(three.len() == 1 && three[0].0 == 1, "{three:?}");
    }
}

/// Stations that talk with one another on their own bus, which the bridge floods until it has heard the addressee, and again
/// when it has forgotten it.
fn neighbours(ageing: &str, seed: u64) -> Bridged {
    planned(&format!(
        "seed = {seed}\n[run]\nduration = \"200ms\"\nwarmup = \"0s\"\n{}{}[[bridge]]\nname = \"sw\"\n\
         joins = [\"front\", \"rear\"]\nlatency = \"7us\"\nageing = \"{ageing}\"\n",
        bus("front", 4, "10M", "0.05", "random"),
        bus("rear", 4, "10M", "0.02", "random"),
    ))
}

#[test]
fn what_a_bridge_has_learned_is_not_flooded() {
    for seed in 1..=6 {
        for ageing in ["300s", "5ms"] {
            let bridged = neighbours(ageing, seed);
            let rows = rows(&bridged);
            assert!(rows[0].len() > 100, "seed {seed}");
            assert_eq!(found(&bridged, &rows), [], "seed {seed}, {ageing}");
        }
    }
}

/// The first frame for a station that was not heard goes nowhere; a later one, for a learned station, is flooded.
#[test]
fn a_bridge_that_has_learned_something_else_is_found() {
    let bridged = neighbours("300s", 1);
    let rows = rows(&bridged);
    let port = bridged.buses[0].stations.len() - 1;
    let is_given = |row: &Row| row.0.station.index() == port && matches!(row.0.kind, Kind::Offered { .. });
    let flooded = rows[1].iter().position(is_given).expect("nothing is learned at first");
    let mut unflooded = rows.clone();
    unflooded[1].remove(flooded);
    let one = found(&bridged, &unflooded);
    assert!(one.len() == 1 && one[0].1.contains("was not heard, and goes to 0 of the 1 other"), "{one:?}");

    // Frames for a station beside their sender. Those whose station was silent for longest could be flooded for that.
    let is_for_a_host = |row: &&Row| {
        matches!(row.0.kind, Kind::Offered { .. })
            && matches!(row.1, Some(Destination::Station(to)) if to.index() < port)
    };
    let hosts: Vec<_> = rows[0].iter().filter(is_for_a_host).map(|row| row.0.frame).collect();
    let is_received = |row: &&Row| row.0.station.index() == port && hosts.contains(&row.0.frame);
    let received: Vec<&Row> = rows[0].iter().filter(is_received).rev().take(20).collect();
    let is_found = |row: &&&Row| {
        let Kind::Delivered { size } = row.0.kind else { return false };
        let mut more = rows.clone();
        // 7 us are 70 bit times.
        let at = row.0.at + BitTimes::new(70);
        let place = more[1].iter().position(|row| row.0.at > at).unwrap_or(more[1].len());
        let (mut event, to) = (rows[1][flooded].0, Some(Destination::Nobody));
        (event.at, event.frame.serial, event.kind) = (at, 1_000_000, Kind::Offered { size });
        more[1].insert(place, (event, to));
        let told = found(&bridged, &more);
        told.len() == 1 && told[0].1.contains("is learned, and goes to 1 of the 1 other")
    };
    let told = received.iter().filter(is_found).count();
    assert!(told >= 10, "{told} of {}", received.len());
}

/// A bus of a network, and the bridge before it.
#[derive(Clone, Debug)]
struct Part {
    stations: usize,
    rate: &'static str,
    load: &'static str,
    whom: usize,
    bridge: (&'static str, usize, &'static str),
}

fn any_part() -> impl Strategy<Value = Part> {
    let of = prop::sample::select::<&'static str>;
    let bridge =
        (of(vec!["3us", "7us", "50us"]), prop::sample::select(vec![1, 3, 100]), of(vec!["300s", "1ms", "20ms"]));
    let own = (1..=5_usize, of(vec!["10M", "100M", "5M"]), of(vec!["0.01", "0.05", "0.2"]), 0..7_usize);
    (own, bridge).prop_map(|((stations, rate, load, whom), bridge)| Part { stations, rate, load, whom, bridge })
}

/// Two to four buses in a row, or all of them at one bridge.
fn any_network() -> impl Strategy<Value = String> {
    (prop::collection::vec(any_part(), 2..=4), any::<bool>(), 0..1_000_000_u32).prop_map(|(parts, in_a_row, seed)| {
        let mut text = format!("seed = {seed}\n[run]\nduration = \"50ms\"\nwarmup = \"0s\"\n");
        for (number, Part { stations, rate, load, whom, .. }) in parts.iter().enumerate() {
            let to = whom % parts.len();
            let whom = match whom {
                5 if *stations > 1 => "random".to_owned(),
                6 if *stations > 1 => "next".to_owned(),
                4.. => "broadcast".to_owned(),
                _ if to == number => "broadcast".to_owned(),
                _ => format!("b{to}-1"),
            };
            text += &bus(&format!("b{number}"), *stations, rate, load, &whom);
        }
        let bridge = |name: usize, joins: &str| {
            let (latency, queue, ageing) = parts[name].bridge;
            format!(
                "[[bridge]]\nname = \"sw{name}\"\njoins = [{joins}]\nlatency = \"{latency}\"\nqueue = {queue}\n\
                 ageing = \"{ageing}\"\n"
            )
        };
        let name = |bus: usize| format!("\"b{bus}\"");
        match in_a_row {
            true => text.extend((1..parts.len()).map(|bus| bridge(bus, &[name(bus - 1), name(bus)].join(", ")))),
            false => text += &bridge(0, &(0..parts.len()).map(name).collect::<Vec<_>>().join(", ")),
        }
        text
    })
}

#[test]
fn bridges_of_random_networks_forward_what_they_should() {
    let result = runner(60).run(&any_network(), |text| {
        let bridged = planned(&text);
        let found = found(&bridged, &rows(&bridged));
        if found.is_empty() { Ok(()) } else { Err(TestCaseError::fail(format!("{found:#?}\n{text}"))) }
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
