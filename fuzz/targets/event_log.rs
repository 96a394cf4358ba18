//! An event log of either form, and the life of a frame in it.
use sim::files::event_log::EventLogReader;
use sim::explain::{Wanted, find, tell};
use sim::files::json_lines::LineReader;

pub fn run(data: &[u8]) {
    let reader = || EventLogReader::new(LineReader::new(data, "log".to_owned()));
    let Ok(mut log) = reader() else { return };
    while let Ok(Some(_)) = log.next_entry() {}
    if let Ok(log) = reader() {
        let _ = log.prove();
    }
    for frame in ["1", "st1#1"] {
        let Ok(mut log) = reader() else { return };
        let Ok(wanted) = Wanted::parse(frame, None, log.header()) else { continue };
        if let Ok(story) = find(&mut log, wanted) {
            let _ = tell(&story);
        }
    }
}
