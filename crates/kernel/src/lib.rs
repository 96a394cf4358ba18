//! Linux kernels as ordinary processes whose clock is the caller's: User-Mode Linux with an external calendar.
//!
//! Each station is one kernel with a calendar of its own. The caller decides which kernels run, from when and until when,
//! and knows that nothing reaches a kernel there: so kernels run at once, and nothing races. A kernel's network card is a
//! vhost-user device of this crate: what the kernel sends is given to a [`Wire`], and what the wire delivers goes into the
//! card's receive ring while the kernel waits.
//!
//! ```text
//!   caller                     calendar                        kernel
//!     │ next() ─► (t, station)    │                              │
//!     │ run([(station, t, limit)])►│ page: now = t, free until ──►│ runs; reads and moves the page's clock
//!     │◄── Wire::send(station, now, frames) ◄─── kick ───────────│
//!     │                           │◄──────────── WAIT ───────────│ its next instant is on the page
//! ```
//! What it does *not* know: a medium, bit times, a scenario, the command line. `unsafe` is in `sys` alone.
#![deny(unsafe_code)]

mod calendar;
mod card;
mod confine;
pub mod files;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod kernels;
mod message;
mod process;
mod rings;
#[allow(unsafe_code, reason = "the only place for it")]
mod sys;

pub use confine::can_confine;
pub use kernels::{EPOCH, Kernels, RunError, StartError, Stretch, Wire};
pub use process::{KernelError, NAME, Station, find_kernel, folder_of_builds};
pub use rings::Sent;
