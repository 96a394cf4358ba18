//! The places of stations: those that a scenario sets, and those that it leaves to ethbus.

use medium::{StationId, Topology};
use sim::scenario::plan::{Overrides, Plan};
use std::path::PathBuf;

/// Writes a scenario into a folder of its own; the folder goes with the first of the two.
fn scenario(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("places.toml");
    std::fs::write(&path, text).expect("own folder");
    (folder, path)
}

const TWO_SEGMENTS: &str = "[medium]\ntopology = \"segments\"\n[[segment]]\nlength = \"500 m\"\n[[segment]]\n\
                            length = \"500 m\"\n[[repeater]]\nports = [\"1:500m\", \"2:0m\"]\n";

/// Rounding put the last station of 7 to 9 beyond its segment's end, and of 21 of the numbers up to 200.
#[test]
fn any_number_of_stations_is_spread_evenly_over_segments() {
    let (_folder, path) = scenario(TWO_SEGMENTS);
    for stations in 2..=200 {
        let overrides = Overrides::default().with("stations", stations);
        let plan = Plan::read(Some(&path), &overrides, 1).unwrap_or_else(|error| panic!("{stations}: {error}"));
        let Topology::Segments(_) = &plan.medium.topology else { panic!("{stations}: no segments") };
        let last = StationId::new(stations as u16 - 1);
        // From one end of the first segment to the other end of the second: 22 BT, 8 BT in the repeater, 22 BT.
        let way = plan.medium.topology.distance(StationId::new(0), last).get();
        assert_eq!(way, if stations <= 3 { 30 } else { 52 }, "{stations} stations");
    }
}

/// Half a bit time beyond the end looks like the end when both are rounded.
#[test]
fn a_place_beyond_the_end_is_told_from_the_end() {
    for (text, line) in [
        (format!("{TWO_SEGMENTS}[[station]]\nsegment = \"1\"\nposition = \"22 BT\"\n[[station]]\n"), 11),
        ("[medium]\ntopology = \"bus:500m\"\n[[station]]\nposition = \"22 BT\"\n[[station]]\n".to_owned(), 4),
    ] {
        let (_folder, path) = scenario(&text);
        let error = Plan::read(Some(&path), &Overrides::default(), 1).expect_err("beyond the end").to_string();
        let place = format!("{}:{line}", path.display());
        assert!(error.starts_with(&place) && error.contains(": position: "), "{error}");
        assert!(error.contains("22 BT is beyond") && error.contains("at 21.66 BT"), "{error}");
    }
}

/// A lab without stations once had all its seats at the begin of the cable, so that its results said "bus of 0 BT".
#[test]
fn seats_of_a_bus_without_stations_have_the_places_of_stations() {
    let bus = "[medium]\ntopology = \"bus:500m\"\n";
    for seats in [1, 2, 3, 16] {
        let (_folder, path) = scenario(&format!("stations = 0\ncapacity = {seats}\n{bus}"));
        let empty = Plan::read(Some(&path), &Overrides::default(), 1).expect("sound").with_room();
        let (_folder, path) = scenario(&format!("stations = {seats}\n{bus}"));
        let full = Plan::read(Some(&path), &Overrides::default(), 1).expect("sound");
        assert_eq!(empty.medium.topology, full.medium.topology, "{seats} seats");
        assert_eq!((empty.stations.len(), empty.medium.seats), (0, seats));
    }
}
