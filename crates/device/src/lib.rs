//! Stations with a network stack and no kernel: a [`smoltcp::phy::Device`] on a shared medium, in virtual time.
//!
//! ```text
//!   smoltcp interface ──frames──► Port ──► Bus: medium, virtual time ──► Port ──frames──► smoltcp interface
//! ```
//! A [`Bus`] is a medium of `ethbus-medium` with a [`Port`] for each station, and a [`Host`] is a stack with a port.
//! [`Bus::run`] polls hosts and runs the medium until a frame arrives or a stack's timer ends, again and again. Nothing waits
//! in real time, and the same configuration gives the same run.
//!
//! [`Clock`], [`InFlight`] and [`octets`] are what every caller needs that gives the medium frames with octets: `ethbus sim`
//! and `ethbus run` have them from here. What this crate does *not* contain: a clock, a socket, a thread, entropy.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bus;
mod clock;
mod host;
mod in_flight;
pub mod octets;
mod port;

pub use bus::Bus;
pub use clock::Clock;
pub use host::Host;
pub use in_flight::InFlight;
pub use medium;
pub use port::Port;
pub use smoltcp;
