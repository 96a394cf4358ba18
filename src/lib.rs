//! The program `ethbus`. See ARCHITECTURE.md for the walk of a frame.
//!
//! | room | holds |
//! |---|---|
//! | [`cli`] | the command line: arguments, one file a command |
//! | [`live`] | a bus in real time: lab, data plane, supervisor, control, drivers, bench |
//! | [`study`] | what is made of runs: sweeps, validation, plots, the life of one frame |
//! | [`show`] | tables, the live line, messages |
//!
//! What runs without a kernel stands in the crate `sim`. No system call and no `unsafe` stands here: those are `link`'s.
#![forbid(unsafe_code)]

pub mod cli;
pub mod live;
pub mod show;
pub mod study;
