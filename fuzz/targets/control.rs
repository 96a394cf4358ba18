//! What somebody writes to a lab's control socket, and what a lab would do to its stations.
#![no_main]

use ethbus::live::control::request::{Asked, Control};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use std::sync::LazyLock;

/// The lab that is asked.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    Plan::new(&Scenario::default(), None, &Overrides::default(), 1).expect("the default lab").with_room()
});

fuzz_target!(|data: &[u8]| {
    let mut lines = data;
    // An end of the stream, or a read error, is the last.
    while let Ok(Some(asked)) = Asked::read_from(&mut lines) {
        let Ok(request) = asked.request else { continue };
        let again = Asked::read_from(&mut request.line().as_bytes()).expect("a slice").expect("a line");
        assert_eq!(again.request.expect("a request"), request);
        let section = match request {
            Control::Set(section) => section,
            Control::Add(section) => Map::from_iter([("add".to_owned(), Value::Object(section))]),
            _ => continue,
        };
        if let Ok(deeds) = PLAN.doing(&section, &PLAN.course()) {
            let mut course = PLAN.course();
            deeds.iter().for_each(|deed| course.take(deed));
        }
    }
});
