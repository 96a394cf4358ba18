//! A scenario file, and the plan that is made of it.
#![no_main]

use sim::scenario::plan::{Overrides, Plan};
use sim::scenario::file::Scenario;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    let Ok((scenario, source)) = Scenario::from_text(Path::new("scenario.toml"), text.to_owned()) else { return };
    // A replay's file would be opened, whatever it is; those have a target of their own.
    if !text.contains("replay") {
        let _ = Plan::new(&scenario, Some(&source), &Overrides::default(), 1);
    }
});
