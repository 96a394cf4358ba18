//! The files of a run: its trace (docs/trace.md), and what is made of it.

pub(crate) mod beside;
pub(crate) mod columns;
mod damage;
pub mod emulated;
pub mod event_log;
pub(crate) mod inputs;
pub mod json_lines;
pub mod keep;
pub mod observer;
mod outlet;
pub mod output;
pub mod programs;
pub(crate) mod repeated;
pub mod replay;
pub(crate) mod system;
pub mod table;
