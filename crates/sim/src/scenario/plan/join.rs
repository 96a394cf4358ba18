//! Stations that join a lab while it is up: the seats that the medium has for them, and the plan of each.
//!
//! A seat is a station of the medium that is off it from the first instant on. It has no name, and no window shows it,
//! until a station joins there.

use super::medium::evenly;
use super::planner::Planner;
use super::{Course, LabDeed, Overrides, Plan};
use crate::scenario::file::{Scenario, ScenarioError, StationSection};
use crate::settings::wrong::{PlanError, Wrong, Wrongs};
use crate::words::units::many;
use medium::{BitInstant, BitRate, BitTimes, Config, Method, Place, Segments, StationId, Topology};
use serde_json::{Map, Value, json};
use std::path::Path;
use toml::Spanned;

/// Seats of a lab whose scenario does not say how many stations there can be.
const DEFAULT_SEATS: usize = 64;
/// The keys of a station that joins a lab that is up.
#[rustfmt::skip]
const ADDED: [&str; 18] = [
    "name", "mac", "kind", "interface", "netns", "bridge", "remote", "local", "vni", "port", "fault",
    "ipv4", "ipv6", "position", "segment", "arrivals", "frame_size", "destination",
];
/// The keys of `[[at]]` that can be set while a lab is up. Of its other keys there are commands of their own.
pub const SET: [&str; 8] = ["station", "arrivals", "frame_size", "destination", "queue", "filter", "link", "until"];

impl Plan {
    /// The plan of a lab that stations can join: 64 more, unless the scenario says otherwise.
    ///
    /// With PLCA and TDMA each seat has a turn, which costs the other stations time: none, unless the scenario says so.
    pub fn with_room(mut self) -> Plan {
        let has_turns = matches!(self.medium.method, Method::Plca(_) | Method::Tdma(_));
        if !self.has_capacity && !has_turns {
            let seats = DEFAULT_SEATS.min(Config::MAX_STATIONS - self.stations.len() - self.medium.seats);
            // A lab without stations has a capacity, so the cable's length does not matter here.
            self.medium.topology = with_seats(self.medium.topology, seats, 0.0);
            self.medium.seats += seats;
        }
        self
    }

    /// What a command that sets something does to a lab that is up with the stations of `course`: `section` has what an
    /// `[[at]]` section of a scenario would have, without the time.
    ///
    /// # Errors
    /// Keys that are not [`SET`], bad values, or a station that is not there.
    pub fn setting(&self, section: &Map<String, Value>, course: &Course) -> Result<Vec<LabDeed>, PlanError> {
        check_keys(section, &SET, "no such key can be set")?;
        self.doing(section, course)
    }

    /// The same of a station that joins: `section` has what `[[station]]` of a scenario would have.
    ///
    /// # Errors
    /// Unknown keys, bad values, or values that another station has.
    pub fn adding(&self, section: &Map<String, Value>, course: &Course) -> Result<Vec<LabDeed>, PlanError> {
        check_keys(section, &ADDED, "a station that joins has no such key")?;
        let mut deeds = self.doing(&Map::from_iter([("add".to_owned(), json!(section))]), course)?;
        // Programs are what a station is added for, unless the command says otherwise.
        let own = section.contains_key("arrivals");
        deeds.iter_mut().for_each(|deed| {
            if let LabDeed::Join(joining) = deed {
                joining.has_traffic &= own;
            }
        });
        Ok(deeds)
    }

    fn doing(&self, section: &Map<String, Value>, course: &Course) -> Result<Vec<LabDeed>, PlanError> {
        let text = text(section).map_err(|what| Wrong { place: None, name: "at".to_owned(), what })?;
        let read = Scenario::from_text(Path::new("command"), text).map_err(|error| match error {
            ScenarioError::Content(wrongs) => without_place(wrongs),
            ScenarioError::Read { .. } => unreachable!("a text is read already"),
        });
        let (read, source) = read?;
        let scenario = Scenario { at: read.at, ..Scenario::clone(&self.scenario) };
        let overrides = Overrides::default();
        let planner = Planner::new(&scenario, Some(&source), &overrides, &[]);
        let deeds = scenario.at.iter().map(|section| planner.deeds(BitInstant::ZERO, section, course, &self.medium));
        Ok(Planner::all(deeds).map_err(|PlanError(wrongs)| without_place(wrongs))?.concat())
    }
}

impl Planner<'_> {
    /// How many stations more than those of `sections` there can be: at least those that join by the timetable.
    pub(super) fn seats(&self, sections: &[StationSection], joiners: &[Joiner<'_>]) -> Result<usize, PlanError> {
        let all = sections.len() + joiners.len();
        let Some(capacity) = &self.scenario.capacity else {
            return match joiners.get(Config::MAX_STATIONS.saturating_sub(sections.len())) {
                None => Ok(joiners.len()),
                Some((_, section)) => {
                    let what = format!("{all} stations: 802.3 allows 1 to {} on one medium", Config::MAX_STATIONS);
                    Err(self.at("add", section, what))
                }
            };
        };
        if *capacity.get_ref() >= all {
            return Ok(capacity.get_ref() - sections.len());
        }
        let own = many(all as u64, "station");
        let joining = if joiners.is_empty() { "" } else { ", those that join among them" };
        let what = format!("{} is fewer than the {own} of the scenario{joining}", capacity.get_ref());
        Err(self.at("capacity", capacity, what))
    }

    /// The topology in which those that join by the timetable are where their sections say.
    pub(super) fn with_places(
        &self,
        topology: Topology,
        sections: &[StationSection],
        joiners: &[Joiner<'_>],
        rate: BitRate,
    ) -> Result<Topology, PlanError> {
        let mut placed = topology;
        for ((_, section), seat) in joiners.iter().zip(sections.len()..) {
            let Some(place) = self.place_in(sections, section.get_ref(), rate)? else { continue };
            let moved = placed.with_place(StationId::new(seat as u16), place);
            placed = moved.map_err(|error| self.at("add", section, error.to_string()))?.unwrap_or(placed);
        }
        Ok(placed)
    }

    /// The place that the section of a joining station gives it, as if it were one more station of the scenario.
    pub(super) fn place_in(
        &self,
        sections: &[StationSection],
        own: &StationSection,
        rate: BitRate,
    ) -> Result<Option<Place>, PlanError> {
        if own.position.is_none() && own.segment.is_none() {
            return Ok(None);
        }
        let with: Vec<StationSection> = sections.iter().chain([own]).cloned().collect();
        Ok(self.topology(&with, rate)?.place(StationId::new(sections.len() as u16)))
    }
}

/// The name of a station that joins by the timetable, and its section.
pub(super) type Joiner<'a> = (String, &'a Spanned<StationSection>);

/// The sections of all stations, and those of seats.
pub(super) fn and_seats(sections: &[StationSection], joiners: &[Joiner<'_>], seats: usize) -> Vec<StationSection> {
    let joiners = joiners.iter().map(|(_, section)| section.get_ref());
    let others = std::iter::repeat_with(StationSection::default);
    let all = sections.iter().chain(joiners).cloned().chain(others);
    all.take(sections.len() + seats).collect()
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

fn check_keys(given: &Map<String, Value>, known: &[&str], wrong: &str) -> Result<(), PlanError> {
    let Some(other) = given.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let what = format!("{wrong} while a lab is up: write one of {}", known.join(", "));
    Err(Wrong { place: None, name: other.clone(), what }.into())
}

/// The section as a scenario has it.
fn text(section: &Map<String, Value>) -> Result<String, String> {
    let mut section = section.clone();
    // A client's `null` leaves the key out.
    section.retain(|_, value| !value.is_null());
    let added = section.get_mut("add").and_then(Value::as_object_mut);
    added.into_iter().for_each(|added| added.retain(|_, value| !value.is_null()));
    let scenario = json!({ "at": [section] });
    toml::to_string(&scenario).map_err(|error| format!("{error}: write the keys of an `[[at]]` section"))
}

/// What is wrong, where no file says it.
fn without_place(wrongs: Wrongs) -> PlanError {
    PlanError(Wrongs::new(wrongs.into_vec().into_iter().map(|wrong| Wrong { place: None, ..wrong }).collect()))
}
