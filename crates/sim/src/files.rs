//! The files of a run: the event log and the record, both JSON Lines (docs/trace.md).

mod columns;
pub mod event_log;
mod inputs;
pub mod json_lines;
pub mod output;
pub mod record;
pub mod table;
