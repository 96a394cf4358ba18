//! The fate of files that miss something.

use super::*;
use medium::{BitRate, Config, FrameId, Kind, StationId, Topology};
use sim::files::event_log::Header;

/// A log that misses an event has none of those after it: it is whole up to its end.
#[test]
fn a_log_ends_before_the_first_event_that_it_misses() {
    let (folder, station) = (tempfile::tempdir().expect("a folder"), StationId::new(0));
    let path = folder.path().join("events");
    let names = ["st1", "st2"].map(str::to_owned);
    let header = Header::new("lab", &Config::new(BitRate::MBIT_10, Topology::star(2, 0), 1), &names);
    let (trouble, troubles) = bounded(TROUBLES);
    let mut thread = Thread {
        keep: None,
        traces: vec![Trace::of(EventLog::create(&path, &[], &header).expect("own folder"))],
        windows: Vec::new(),
        files: Arc::new(Files {
            traces: vec![(Level::Events, Wanted::new("run.events", wanted::TRACE))],
            windows: Vec::new(),
            keeps: false,
            keeps_missed: Arc::default(),
        }),
        trouble,
    };
    let frame = FrameId { station, serial: 1 };
    let event = Event { at: BitInstant::ZERO, station, frame, kind: Kind::QueueDrop };
    let missing = Note::Missing(Counts { inputs: 0, events: 1 });
    let event = || Note::Event(event);
    let end = thread.take(&[event(), missing, event(), event(), event(), Note::End(End { run_to: 0, t: 0 })]);
    thread.finish(end.expect("the last note"));
    drop(thread);
    let lines = std::fs::read_to_string(&path).expect("own folder").lines().count();
    assert_eq!(lines, 3, "a header, the event before the hole, and the check of both");
    let told = troubles.try_recv().expect("it is told");
    assert_eq!(told, "run.events ends here, since the files are written more slowly than the bus goes");
}
