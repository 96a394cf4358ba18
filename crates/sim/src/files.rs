//! The files of a run: the event log and the record, both JSON Lines (docs/trace.md).

pub mod event_log;
pub mod json_lines;
pub mod record;
