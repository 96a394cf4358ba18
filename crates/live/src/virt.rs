//! Labs in virtual time whose stations are Linux kernels: the medium of `ethbus sim`, the programs of `ethbus up`.
//!
//! ```text
//!   kernels (crates/kernel)  ── frames, instants ──►  bus.rs  ── inputs ──►  medium ── events ──► trace, windows
//!                            ◄── deliveries, room ──          ◄── next instant ──
//! ```
//! Nothing here sleeps, unless a pace is asked for: the loop of `lab.rs` jumps to the next instant at which a kernel or
//! the medium has something to do. A kernel runs ahead of the others, up to the first instant at which something can reach
//! it (`reach.rs`), and the medium gets frames in order of their instants and stations. So a run is the same each time, and
//! for every number of kernels that run at once.

pub mod again;
pub mod build;
mod bus;
mod commands;
mod error;
mod folder;
pub mod image;
mod init;
pub mod lab;
pub mod machine;
mod outcome;
pub mod plane;
mod progress;
mod reach;
mod setup;
