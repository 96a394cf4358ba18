//! A file of settings without sections, and each of its settings read as the service of `ethbus retry service` reads it.
use sim::scenario::flat::from_text;
use std::path::Path;

/// Keys as files of `ethbus retry service` have them.
const KNOWN: [&str; 4] = ["load", "capacity", "dip", "class"];

pub fn run(octets: &[u8]) {
    let text = super::text(octets);
    let Ok(settings) = from_text(Path::new("service.toml"), text, &KNOWN) else { return };
    for setting in settings {
        assert!(KNOWN.contains(&setting.name.as_str()), "{setting:?}");
        assert!(setting.place.line >= 1 && setting.place.line <= text.lines().count().max(1), "{setting:?}");
    }
}
