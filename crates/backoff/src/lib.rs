//! How long to wait before the next attempt: backoff policies, exact and total, the one of IEEE 802.3 first.
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
//! - [`Policy`] is any other way to wait: Lam's RCP, ALOHA, SIP timers, exponential with every jitter, and more, with cap,
//!   limits, a server's hint and priority. [`Law`] is what it says about one delay: bounds, mean, variance, a draw.
//! - [`Retry`] applies a policy to one operation at the caller's time; [`Delays`] is its plain `Iterator<Item = Duration>`.
//! - [`Rate`] and [`Budget`] bound how often a client acts and retries at all; [`Tokens`], [`Window`] and [`share_allows`] do
//!   it as AWS, gRPC, Finagle and Envoy do.
//! - With the feature `alloc`, `Schedule` holds who attempts in which slot. That of libbackoff is in the caller's memory.
//! - [`Generator`] gives the random words: the same seed gives the same words on every machine, in every version. With the
//!   feature `system`, `Generator::from_system` takes the seed from the operating system.
//!
//! Every function is total: any input has an answer, nothing overflows, nothing panics. The delays of [`Backoff`] are
//! in slots, those of a [`Policy`] in nanoseconds; the clock that measures them belongs to the caller.
//!
//! There is no allocation here (but for the feature `alloc`), no `std`, no `unsafe`; nothing here knows media, frames, sockets, threads or a clock.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod course;
#[cfg(feature = "system")]
mod entropy;
mod generator;
mod growth;
mod ieee_802_3;
mod law;
mod policy;
mod presets;
mod rate;
mod redrawn;
mod retry;
mod schedule;
mod smooth;
#[cfg(target_has_atomic = "32")]
mod tokens;
mod window;

pub use generator::Generator;
pub use ieee_802_3::{Backoff, Limits};
pub use law::{Law, Raised};
pub use policy::{DEFAULT_BASE, DEFAULT_SLOT, Jitter, Policy, RCP_ENTRIES};
/// The traits that [`Generator`] implements and [`Backoff::collide_with`] asks for.
pub use rand_core;
pub use rate::{Budget, BudgetLimits, Rate, RateLimits, RateParts};
pub use retry::{Delays, GiveUp, Retry};
#[cfg(feature = "alloc")]
pub use schedule::{Due, Schedule, Ticket};
#[cfg(target_has_atomic = "32")]
pub use tokens::{Pushback, QuotaLimits, ThrottleLimits, Tokens};
pub use window::{Window, WindowLimits, share_allows};

/// What libbackoff is built from beside the items above. Any version may change it.
#[doc(hidden)]
pub mod internals {
    pub use crate::generator::high_bits;
    pub use crate::growth::parts;
    pub use crate::law::{DIGITS, Uniform, geometric_chances, geometric_within};
    pub use crate::policy::{Around, Hint, exponential_slots};
    pub use crate::schedule::{Memory, Node, Queue, Shape, Ticket};
}
