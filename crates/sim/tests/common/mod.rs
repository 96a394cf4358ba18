//! What tests of whole runs share: a scenario as text, planned and run.
#![allow(dead_code, reason = "each test file uses its own part")]

use sim::figures::results::Results;
use sim::run::measure;
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use std::path::Path;

pub fn plan(text: &str) -> Result<Plan, String> {
    let (scenario, source) =
        Scenario::from_text(Path::new("s.toml"), text.to_owned()).map_err(|error| error.to_string())?;
    Plan::new(&scenario, Some(&source), &Overrides::default(), 1).map_err(|error| error.to_string())
}

pub fn run(text: &str) -> Results {
    let plan = plan(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let measured = measure::run(&plan, plan.medium.seed, &mut (), |_| true).expect("a plan that was checked");
    measure::results(&plan, &[measured])
}
