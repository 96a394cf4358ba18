//! Labs in virtual time whose stations are Linux kernels: the medium of `ethbus sim`, the programs of `ethbus up`.
//!
//! ```text
//!   kernels (crates/kernel)  ── frames, instants ──►  bus.rs  ── inputs ──►  medium ── events ──► log, windows
//!                            ◄── deliveries, room ──          ◄── next instant ──
//! ```
//! Nothing here sleeps, unless a pace is asked for: the loop of `lab.rs` jumps to the next instant at which a kernel or
//! the medium has something to do. Only one kernel runs at a time. So a run is the same each time.

pub mod again;
pub mod build;
mod bus;
mod commands;
mod init;
pub mod lab;
pub mod machine;
pub mod plane;
mod setup;
