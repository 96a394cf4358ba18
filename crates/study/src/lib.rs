//! What is made of runs: sweeps, validation against theory, plots.
#![forbid(unsafe_code)]

pub mod flow;
pub mod literature;
pub mod origin;
pub mod plan;
pub mod plot;
pub mod report;
pub mod runaway;
pub mod sweep;
pub mod theory;
pub mod validate;
