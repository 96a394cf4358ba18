//! The files of a run: the event log and the record, both JSON Lines (docs/trace.md).

pub(crate) mod beside;
pub(crate) mod columns;
mod damage;
pub mod event_log;
pub(crate) mod inputs;
pub mod json_lines;
pub mod keep;
pub mod observer;
mod outlet;
pub mod output;
pub mod programs;
pub mod record;
pub(crate) mod repeated;
pub(crate) mod system;
pub mod table;
