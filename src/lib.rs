//! The program `ethbus`. See ARCHITECTURE.md for the walk of a frame.
//!
//! | room | holds |
//! |---|---|
//! | [`cli`] | the command line: arguments, one file a command |
//! | [`containers`] | plugins that give containers stations |
//! | [`live`] | a bus in real time: lab, data plane, supervisor, control, drivers, bench |
//! | [`study`] | what is made of runs: sweeps, validation, plots, the life of one frame |
//! | [`virt`] | a lab in virtual time whose stations are kernels |
//! | [`show`] | tables, the live line, messages |
//!
//! The crate `sim` has the parts that run without a kernel. This crate has no system call and no `unsafe`: those are in
//! `link`.
#![forbid(unsafe_code)]

pub mod cli;
pub mod watch;
