//! A scenario file, and the plan that is made of it, or the plans of its buses.
use sim::scenario::plan::Overrides;
use sim::scenario::plan::bridged::Planned;
use std::path::Path;

pub fn run(octets: &[u8]) {
    let text = super::text(octets);
    // A replay's file would be opened, whatever it is; those have a target of their own.
    if text.contains("replay") {
        return;
    }
    let planned = Planned::of_text(Path::new("scenario.toml"), text.to_owned(), &Overrides::default(), 1);
    if let Ok(Planned::Several(bridged)) = planned {
        for bus in bridged.coming_up() {
            let _ = bridged.clone().lab(bus);
        }
    }
}
