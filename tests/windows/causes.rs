//! What spoilt a reception.

use crate::common::process::{ethbus, run, unwrapped};
use std::fs;

/// At st3 st1#1 covers the first bits of st2#2, which goes on 800 BT longer.
const FORGOTTEN: &str = r#"
stations = 3
[medium]
topology = "star:700bt"
[run]
duration = "1ms"
warmup = "0s"
[[frame]]
station = "st2"
at = "0 BT"
destination = "st3"
[[frame]]
station = "st2"
at = "1 BT"
destination = "st3"
[[frame]]
station = "st1"
at = "636 BT"
destination = "st3"
[[frame]]
station = "st2"
at = "1750 BT"
destination = "st3"
"#;

/// A signal that is over everywhere for longer than the gap has lain over a frame that still arrives.
#[test]
fn a_frame_that_arrives_late_names_what_it_met() {
    let folder = tempfile::tempdir().expect("a folder");
    let [scenario, events] =
        ["forgotten.toml", "events"].map(|name| folder.path().join(name).to_str().expect("UTF-8").to_owned());
    fs::write(&scenario, FORGOTTEN).expect("own folder");
    run(ethbus(["sim", &scenario, "--events", &events])).succeeded();
    let told = unwrapped(&run(ethbus(["explain", &events, "--frame", "st2#2"])).succeeded().stdout);
    println!("{told}");
    assert!(told.contains("the signal of st1#1"), "{told}");
    assert!(!told.contains("its sender was faulty"), "{told}");
}
