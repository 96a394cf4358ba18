//! Stations that join a lab while it is up: the seats that the medium has for them, and the plan of each.
//!
//! A seat is a station of the medium that is off it from the first instant on. It has no name, and no window shows it,
//! until a station joins there.

use super::medium::evenly;
use super::stations::Taken;
use super::{Overrides, Plan, PlanError, Planner, StationPlan};
use crate::scenario::file::{Scenario, ScenarioError, StationSection};
use crate::settings::wrong::{Wrong, Wrongs};
use crate::words::units::many;
use medium::{BitTimes, Config, Method, Place, Segments, Topology};
use serde_json::{Map, Value};
use std::path::Path;
use toml::Spanned;

/// Seats of a lab whose scenario does not say how many stations there can be.
const DEFAULT_SEATS: usize = 64;
/// The keys of a station that joins.
const KEYS: [&str; 13] =
    ["name", "mac", "kind", "interface", "netns", "bridge", "remote", "local", "vni", "port", "fault", "ipv4", "ipv6"];

impl Plan {
    /// The plan of a lab that stations can join: 64 more, unless the scenario says otherwise.
    ///
    /// With PLCA and TDMA each seat has a turn, which costs the other stations time: none, unless the scenario says so.
    pub fn with_room(mut self) -> Plan {
        let has_turns = matches!(self.medium.method, Method::Plca(_) | Method::Tdma(_));
        if !self.has_capacity && !has_turns {
            let seats = DEFAULT_SEATS.min(Config::MAX_STATIONS - self.stations.len());
            // A lab without stations has a capacity, so the cable's length does not matter here.
            self.medium.topology = with_seats(self.medium.topology, seats, 0.0);
            self.medium.seats = seats;
        }
        self
    }

    /// The plan of a station that joins at `seat`, where `present` have joined before: `section` has what `[[station]]`
    /// of a scenario would have.
    ///
    /// # Errors
    /// Unknown keys, bad values, or values that another station has.
    pub fn joining(
        &self,
        section: &Map<String, Value>,
        seat: usize,
        present: &[StationPlan],
    ) -> Result<StationPlan, PlanError> {
        if let Some(other) = section.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let what = format!("a station that joins has no such key: write one of {}", KEYS.join(", "));
            return Err(Wrong { place: None, name: other.clone(), what }.into());
        }
        let text = text(section).map_err(|what| Wrong { place: None, name: "station".to_owned(), what })?;
        let read = Scenario::from_text(Path::new("station"), text).map_err(|error| match error {
            ScenarioError::Content(wrongs) => without_place(wrongs),
            ScenarioError::Read { .. } => unreachable!("a text is read already"),
        });
        let (mut scenario, source) = read?;
        let own = scenario.station.pop().map(Spanned::into_inner).unwrap_or_default();
        let network = |network| Some(Spanned::new(0..0, network));
        scenario.ipv4 = self.networks[0].and_then(network);
        scenario.ipv6 = self.networks[1].and_then(network);
        let overrides = Overrides::default();
        let planner = Planner::new(&scenario, Some(&source), &overrides, &[]);
        let others = present.iter().filter(|other| Some(&other.name) != own.name.as_ref().map(Spanned::get_ref));
        let others: Vec<StationPlan> = others.cloned().collect();
        let station = planner.station(&self.name, seat, &own, &mut Taken::by(&others));
        station.map_err(|PlanError(wrongs)| without_place(wrongs))
    }
}

impl Planner<'_> {
    /// How many stations more than these `stations` there can be.
    pub(super) fn seats(&self, stations: usize) -> Result<usize, PlanError> {
        let Some(capacity) = &self.scenario.capacity else { return Ok(0) };
        capacity.get_ref().checked_sub(stations).ok_or_else(|| {
            let own = many(stations as u64, "station");
            self.at("capacity", capacity, format!("{} is fewer than the {own} of the scenario", capacity.get_ref()))
        })
    }
}

/// The sections of all stations, and those of seats.
pub(super) fn and_seats(sections: &[StationSection], seats: usize) -> Vec<StationSection> {
    sections.iter().cloned().chain((0..seats).map(|_| StationSection::default())).collect()
}

/// The topology with seats, all where the last station is. On a bus without stations they have the places of as many
/// stations on its `cable`, whose length is in bit times.
pub(super) fn with_seats(topology: Topology, seats: usize, cable: f64) -> Topology {
    match topology {
        Topology::Star { stations, distance } => Topology::Star { stations: stations + seats, distance },
        Topology::Bus { positions } if positions.is_empty() => {
            let place = |seat| evenly(cable, seat, seats);
            Topology::Bus { positions: (0..seats).map(|seat| BitTimes::new(place(seat).round() as u64)).collect() }
        }
        Topology::Bus { mut positions } => {
            let last = positions.last().copied().unwrap_or(BitTimes::ZERO);
            positions.extend((0..seats).map(|_| last));
            Topology::Bus { positions }
        }
        Topology::Segments(segments) if seats > 0 => {
            let mut places: Vec<Place> = segments.stations().to_vec();
            let last = places.last().copied().unwrap_or(Place { segment: 0, position: BitTimes::ZERO });
            places.extend((0..seats).map(|_| last));
            let segments = Segments::new(places, segments.repeaters());
            Topology::Segments(segments.expect("the same segments, and places that are on them"))
        }
        Topology::Segments(segments) => Topology::Segments(segments),
    }
}

/// The section as a scenario has it.
fn text(section: &Map<String, Value>) -> Result<String, String> {
    let given: Map<String, Value> =
        section.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())).collect();
    let mut scenario = Map::new();
    scenario.insert("station".to_owned(), Value::Array(vec![Value::Object(given)]));
    toml::to_string(&scenario).map_err(|error| format!("{error}: write the keys of a `[[station]]` section"))
}

/// What is wrong, where no file says it.
fn without_place(wrongs: Wrongs) -> PlanError {
    PlanError(Wrongs::new(wrongs.into_vec().into_iter().map(|wrong| Wrong { place: None, ..wrong }).collect()))
}
