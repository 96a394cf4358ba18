//! The medium as events tell of it: the one reconstruction of signals, stations and queues, which every window reads.
//!
//! ```text
//!   events, cuts ──► signals   what is on the medium: from when to when, in which parts, whom it reaches
//!                └─► stations  what each station does, and which frames it holds
//! ```
//! How long a signal lasts, whom it reaches and what a slot takes is asked of the engine's own rules
//! ([`medium::Config::on_air`] and its neighbours). Knows no window, no octets, no names.

mod plca;
pub mod signals;
pub mod stations;
mod told;

pub use signals::{Collided, Part, Signal, Signals};
pub use stations::{Doing, Station, Stations};
