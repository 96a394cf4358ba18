//! A trace of either form: its rows, its proof, the life of a frame in it, and its run again.
use sim::explain::{Wanted, find, tell};
use sim::files::event_log::{EventLog, EventLogReader};
use sim::files::json_lines::LineReader;
use sim::files::replay::replay;

pub fn run(data: &[u8]) {
    let reader = || EventLogReader::new(LineReader::new(data, "trace".to_owned()));
    let Ok(mut trace) = reader() else { return };
    while let Ok(Some(_)) = trace.next_row() {}
    if let Ok(trace) = reader() {
        let _ = trace.prove();
    }
    if let Ok(trace) = reader() {
        let log = EventLog::unwritten(trace.header());
        let _ = replay(trace, log);
    }
    for frame in ["1", "st1#1"] {
        let Ok(mut log) = reader() else { return };
        let Ok(wanted) = Wanted::parse(frame, log.header()) else { continue };
        if let Ok(story) = find(&mut log, wanted) {
            let _ = tell(&story);
        }
    }
}
