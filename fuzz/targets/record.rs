//! The record of a run, run again.
#![no_main]

use sim::files::event_log::EventLog;
use sim::files::json_lines::LineReader;
use sim::files::record::{RecordReader, replay};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(record) = RecordReader::new(LineReader::new(data, "record".to_owned())) else { return };
    let log = EventLog::unwritten(record.header());
    let _ = replay(record, log);
});
