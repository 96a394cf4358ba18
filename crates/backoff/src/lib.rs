//! How long to wait before the next attempt: the truncated binary exponential backoff of IEEE 802.3, exact.
//!
//! ```
//! use backoff::{Backoff, Generator, Limits};
//!
//! let mut generator = Generator::stream(1, 7); // one seed for the bus, one stream for each station
//! let mut backoff = Backoff::new(Limits::IEEE_802_3); // one for each frame
//! match backoff.collide_with(&mut generator) {
//!     Some(slots) => assert!(slots <= 1), // after the first collision: 0 or 1 slot
//!     None => unreachable!("only the 16th collision discards the frame"),
//! }
//! ```
//!
//! - [`Backoff`] is the state of one frame; [`Limits`] are its attemptLimit and backoffLimit, and the bounds and
//!   means that follow from them.
//! - [`Generator`] gives the random words: the same seed gives the same words on every machine, in every version.
//!
//! Every function is total: any input has an answer, nothing overflows, nothing panics. Delays are in slots; what a
//! slot lasts, and the clock that measures it, belong to the caller.
//!
//! There is no allocation here, no `std`, no `unsafe`; nothing here knows media, frames, sockets, threads or a clock.

#![no_std]
#![forbid(unsafe_code)]

mod generator;
mod ieee_802_3;

pub use generator::Generator;
pub use ieee_802_3::{Backoff, Limits};
/// The traits that [`Generator`] implements and [`Backoff::collide_with`] asks for.
pub use rand_core;
