//! Linux kernels as ordinary processes whose clock is the caller's: User-Mode Linux with an external calendar.
//!
//! Each station is one kernel. The calendar decides which one runs, from when and until when; one runs at a time, so
//! nothing races. A kernel's network card is a vhost-user device of this crate: what the kernel sends is given to a
//! [`Wire`], and what the wire delivers goes into the card's receive ring while every kernel waits.
//!
//! ```text
//!   caller                     calendar                        kernel
//!     │ next() ─► (t, station)    │                              │
//!     │ run(station, t, limit) ──►│ page: now = t, free until ──►│ runs; reads and moves the page's clock
//!     │◄── Wire::frame(station, now, octets) ◄── kick ───────────│
//!     │                           │◄──────────── WAIT ───────────│ its next instant is on the page
//! ```
//! What it does *not* know: a medium, bit times, a scenario, the command line. `unsafe` is in `sys` alone.
#![deny(unsafe_code)]

mod calendar;
mod card;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod kernels;
mod message;
mod process;
mod rings;
#[allow(unsafe_code, reason = "the only place for it")]
mod sys;

pub use kernels::{EPOCH, Kernels, RunError, StartError, Wire};
pub use process::{KernelError, NAME, Station, find_kernel, folder_of_builds};
