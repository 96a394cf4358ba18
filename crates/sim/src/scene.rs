//! The medium, reconstructed from events: the one reconstruction of signals, stations and queues, which every window
//! reads.
//!
//! ```text
//!   events, cuts ──► signals   what is on the medium: begin and end, parts, stations that it reaches
//!                └─► stations  each station's state, and the frames in its queue
//! ```
//! The engine's own rules give how long a signal lasts, which stations it reaches and how long a slot is
//! ([`medium::Config::on_air`] and its neighbours). Knows no window, no octets, no names.

pub mod layout;
mod plca;
pub mod signal;
pub mod signals;
pub mod stations;
mod told;

pub use layout::{Layout, Shape};
pub use signal::{Collided, Part, Signal};
pub use signals::Signals;
pub use stations::{Doing, Station, Stations};
