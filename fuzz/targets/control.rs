//! What somebody writes to a lab's control socket, and what a lab would do to its stations.
use live::control::request::{Control, Line};
use sim::scenario::file::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use std::sync::LazyLock;

/// The lab that is asked.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    Plan::new(&Scenario::default(), None, &Overrides::default(), 1).expect("the default lab").with_room()
});

pub fn run(data: &[u8]) {
    let mut lines = data;
    // An end of the stream, or a read error, is the last.
    while let Ok(Some(line)) = Line::read_from(&mut lines) {
        line.asked.into_iter().filter_map(|asked| asked.request.ok()).for_each(ask);
    }
}

fn ask(request: Control) {
    let mut again = Line::read_from(&mut request.line().as_bytes()).expect("a slice").expect("a line");
    assert_eq!(again.asked.pop().expect("one").request.expect("a request"), request);
    let mut course = PLAN.course();
    let deeds = match request {
        Control::Set(section) => PLAN.setting(&section, &course),
        Control::Add(section) => PLAN.adding(&section, &course),
        _ => return,
    };
    if let Ok(deeds) = deeds {
        deeds.iter().for_each(|deed| course.take(deed));
    }
}
