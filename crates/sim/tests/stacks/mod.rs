//! Runs of scenarios whose stations have stacks: what was handed over, what happened, and results.

use medium::{BitInstant, Event, Input};
use sim::figures::results::Results;
use sim::run::measure;
use sim::run::observer::Observer;
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

pub fn plan(text: &str) -> Result<Plan, String> {
    let (scenario, source) =
        Scenario::from_text(Path::new("s.toml"), text.to_owned()).map_err(|error| error.to_string())?;
    Plan::new(&scenario, Some(&source), &Overrides::default(), 1).map_err(|error| error.to_string())
}

/// Results of `seconds` after a second of warm-up, and what the medium was given.
pub fn run(text: &str, seconds: u64) -> (Results, Notes) {
    let text = format!("{text}\n[run]\nduration = \"{seconds}s\"\nwarmup = \"1s\"\n");
    let plan = plan(&text).unwrap_or_else(|error| panic!("{error}"));
    let mut notes = Notes::default();
    let measured = measure::run(&plan, plan.medium.seed, &mut notes, |_| true).expect("a plan that was checked");
    let results = measure::results(&plan, &[measured]);
    assert!(results.stations.iter().all(|station| station.adds_up()), "a frame is missing: {results:?}");
    (results, notes)
}

/// All that was handed over, and all events.
#[derive(Default, PartialEq)]
pub struct Notes {
    pub frames: Vec<(BitInstant, Arc<[u8]>)>,
    pub events: Vec<Event>,
}

impl Observer for Notes {
    type Error = Infallible;

    fn input(&mut self, at: BitInstant, _: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        self.frames.extend(octets.map(|octets| (at, octets.clone())));
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        self.events.push(*event);
        Ok(())
    }
}

/// One station sends to another, with these keys; others are silent.
pub fn one_way(medium: &str, arrivals: &str, receiver: &str) -> String {
    format!("{medium}\n[[station]]\narrivals = \"{arrivals}\"\n[[station]]\narrivals = \"silent\"\n{receiver}\n")
}
