//! A table of messages as TOML and as CSV, and the scenario that is made of it.
use sim::scenario::file::Scenario;
use sim::scenario::messages::MessageTable;
use sim::scenario::plan::{Overrides, Plan};
use std::path::Path;

pub fn run(octets: &[u8]) {
    let text = super::text(octets);
    for name in ["table.toml", "table.csv"] {
        let other = |_: &Path| Ok(text.to_owned());
        let Ok(table) = MessageTable::from_text(Path::new(name), text, &other) else { continue };
        table.warnings();
        let (scenario, source) = Scenario::from_text(Path::new("made.toml"), table.scenario(100)).expect("it is right");
        Plan::new(&scenario, Some(&source), &Overrides::default(), 1).expect("it makes a plan");
    }
}
