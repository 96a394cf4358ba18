//! What a page knows of a run before it asks.

use crate::episode::episode;
use crate::plots::{Course, of_results, of_run};
use crate::run::Run;
use crate::tiles::tiles;
use crate::words;
use medium::StationId;
use serde_json::{Value, json};
use sim::figures::results::Results;
use sim::run::told::Told;
use sim::scene::{Layout, Shape};
use sim::words::configuration::kind;

/// Of this number of stations and more a picture has lanes for some, and who sends is shown beside.
const MANY: usize = 21;
/// Lanes that such a picture opens with.
const LANES: usize = 12;

/// Of results alone: it is not known what happened when.
pub fn of_figures(results: &Results) -> Value {
    json!({
        "sentence": words::sentence(results, None), "tiles": tiles(results), "plots": of_results(results),
        "stations": [], "events": 0,
    })
}

/// Stations, figures, and where the picture opens.
pub fn about(run: &Run) -> Value {
    let (told, results) = (&run.told, run.results());
    let config = told.header.config();
    let layout = Layout::new(&config);
    let shape = match layout.shape {
        Shape::Cable => "cable",
        Shape::Places => "places",
        Shape::Senders => "senders",
    };
    let is_there = |station: &StationId| station.index() < told.header.stations.len();
    let order: Vec<usize> = layout.order.iter().filter(|one| is_there(one)).map(|station| station.index()).collect();
    let place = |station: StationId| config.topology.place(station).map(|place| place.position.get());
    let places: Vec<Option<u64>> = run.stations().map(place).collect();
    let course = Course::of(told);
    let (episode, opens_on) = episode(told).unzip();
    let is_many = order.len() >= MANY;
    json!({
        "sentence": words::sentence(results, Some(told)), "tiles": tiles(results),
        "plots": of_run(told, &course, results), "topology": kind(&config.topology), "shape": shape,
        "stations": told.header.stations, "order": order, "places": places, "rate": config.rate.get(),
        "begin": told.begin.get(), "end": told.end.get(), "cut": run.is_cut, "events": told.events.len(),
        "episode": episode, "opens_on": opens_on, "scenario": told.header.scenario,
        "first_collision": run.next(0, Some("collision")),
        "lanes": if is_many { Some(lanes(told, &order, episode)) } else { None },
        "shares": if is_many { Some(course.of_stations()) } else { None },
    })
}

/// The stations that send in the episode, and others up to as many as a picture has room for.
fn lanes(told: &Told, order: &[usize], episode: Option<(u64, u64)>) -> Vec<usize> {
    let (from, to) = episode.unwrap_or_default();
    let place = |at: u64| told.events.partition_point(|event| event.at.get() < at);
    let senders = told.events[place(from)..place(to + 1)].iter().map(|event| event.frame.station.index());
    let mut lanes: Vec<usize> = Vec::new();
    for station in senders.chain(order.iter().copied()) {
        if lanes.len() < LANES && !lanes.contains(&station) && order.contains(&station) {
            lanes.push(station);
        }
    }
    lanes
}
