//! The record of a run, run again.
use sim::files::event_log::EventLog;
use sim::files::json_lines::LineReader;
use sim::files::record::{RecordReader, replay};

pub fn run(data: &[u8]) {
    let Ok(record) = RecordReader::new(LineReader::new(data, "record".to_owned())) else { return };
    let log = EventLog::unwritten(record.header());
    let _ = replay(record, log);
}
