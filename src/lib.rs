//! The program `ethbus`: arguments, scenario, lab, coordinator, observers. See ARCHITECTURE.md for the walk of a frame.
//!
//! | module | holds |
//! |---|---|
//! | [`args`], [`units`] | the command line, and quantities as people write them |
//! | [`scenario`], [`plan`] | the scenario file, and the lab that it and the command line ask for |
//! | [`commands`] | one file a command |
//! | [`configuration`] | a medium's configuration as it is written down |
//! | [`event_log`], [`lines`] | events as JSON Lines, and such files in general |
//! | [`explain`] | the life of one frame, in words |
//! | [`lab`], [`control`] | what is made for a bus, the record of it, and requests to it |
//! | [`supervisor`] | starts, asks and ends the data plane |
//! | [`mod@bus`] | the data plane: the medium in real time |
//! | [`driver`] | offering frames at a pace, and what became of them |
//! | [`recording`] | the record of a run, and running it again |
//! | [`traffic`], [`simulator`] | what stations offer in virtual time, and the loop that jumps from one due instant to the next |
//! | [`experiment`] | a measurement in virtual time: warm-up, batches, independent runs |
//! | [`sweep`], [`columns`], [`plot`] | many runs over a grid into one table, its columns, and figures of it |
//! | [`validate`] | known figures beside measured ones |
//! | [`results`], [`metrics`], [`view`] | what happened, how figures are worked out, and how people see them |
//!
//! No system call and no `unsafe` stands here: those are `link`'s.
#![forbid(unsafe_code)]

pub mod args;
pub mod bench;
pub mod bus;
pub mod cable;
pub mod choices;
pub mod columns;
pub mod commands;
pub mod configuration;
pub mod control;
pub mod driver;
pub mod event_log;
pub mod experiment;
pub mod explain;
pub mod fault;
pub mod lab;
pub mod lines;
pub mod metrics;
pub mod plan;
pub mod plot;
pub mod recording;
pub mod results;
pub mod scenario;
pub mod simulator;
pub mod supervisor;
pub mod sweep;
pub mod traffic;
pub mod units;
pub mod validate;
pub mod view;
