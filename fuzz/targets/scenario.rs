//! A scenario file, and the plan that is made of it.
use sim::scenario::plan::{Overrides, Plan};
use sim::scenario::file::Scenario;
use std::path::Path;

pub fn run(octets: &[u8]) {
    let text = super::text(octets);
    let Ok((scenario, source)) = Scenario::from_text(Path::new("scenario.toml"), text.to_owned()) else { return };
    // A replay's file would be opened, whatever it is; those have a target of their own.
    if !text.contains("replay") {
        let _ = Plan::new(&scenario, Some(&source), &Overrides::default(), 1);
    }
}
