//! The shared half-duplex Ethernet medium as a sans-IO engine, in bit times.
//!
//! [`Medium`] takes inputs, each with the instant at which it happens, and gives events and outputs as
//! values. It holds the stations' transmit queues, their CSMA/CD machines (IEEE 802.3 clause 4) and the
//! bus between them. What it does *not* contain: a clock, a socket, a thread, a file, an interface name,
//! entropy, or the octets of a frame. The same configuration, seed and inputs give the same events, byte
//! for byte, on every machine.
//!
//! # The contract with time
//! - Every input carries a [`BitInstant`] that is not before [`Medium::now`].
//! - At one instant, decisions come before signals. First come ends of timers, then arrivals from hosts, each in order
//!   of station number; they see the medium as it was just before that instant. Then signals end; then signals begin.
//!   So stations at distance 0 that start together collide, and a collision at exactly `slot_time` is not late.
//! - [`Medium::advance`] runs everything before an instant; inputs at that instant are still taken.
//! - An [`Output`] is reported as soon as it is settled, with the instant of its effect.
//!
//! ```
//! use medium::{BitInstant, BitRate, Config, Destination, Frame, Input, Medium, Octets, StationId, Topology};
//!
//! let config = Config::new(BitRate::MBIT_10, Topology::star(2, 0), 1);
//! let mut medium = Medium::new(config).expect("a valid configuration");
//! let frame = Frame::new(Octets::new(64), Destination::Station(StationId::new(1)));
//! medium.handle_input(BitInstant::ZERO, Input::Offer { station: StationId::new(0), frame });
//! medium.advance(BitInstant::new(1_000));
//! assert_eq!(medium.tally().station(StationId::new(1)).frames_received_ok, 1);
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm, clippy::disallowed_types, clippy::disallowed_methods)]

mod access;
mod agenda;
mod config;
mod deed;
mod draws;
mod engine;
mod event;
mod fault;
mod frame;
mod inputs;
mod line;
mod medium;
mod noise;
mod outputs;
mod receive;
mod rules;
mod star;
mod station;
mod tally;
#[cfg(feature = "serde")]
mod text;
mod time;
mod timers;
mod topology;

pub use access::csma_ca::{DcfPhase, DcfStep};
pub use access::csma_cd::{Deference, DeferenceAct, DeferenceInput, Transmit, TransmitAct, TransmitInput};
pub use access::plca::{PlcaAssignment, PlcaControl, PlcaCounters, PlcaCycles, PlcaData, PlcaStatus};
pub use config::{
    Aloha, Capture, Csma, CsmaCa, HostDelay, MacPhy, OfdmRate, Persistence, Phy, Plca, PlcaNode, PlcaSettings,
    Population,
};
pub use config::{Clock, Spans, Tdma};
pub use config::{Config, ConfigError, Control, ControlLimits, Method, Parameters, Reach, SeatError, SlottedAloha};
pub use deed::{Deed, Joiner, Subject};
pub use event::{Cause, Event, Kind, KindError, Shape, Value, Visitor};
pub use event::{HostKind, MacKind, Part, PlcaKind, ReceiverKind, WirelessKind};
pub use fault::Fault;
pub use frame::{Destination, FCS, Frame, FrameId, HEADER_AND_FCS, PREAMBLE_AND_SFD, StationId};
pub use inputs::{Host, Input};
pub use medium::Medium;
pub use noise::{BitErrors, Mishap};
pub use outputs::Output;
pub use rules::{Carried, Span};
pub use tally::{Counters, MediumTally, Tally};
pub use time::{BitInstant, BitRate, BitTimes, Octets};
pub use topology::segments::{Place, Repeater, Segments};
pub use topology::{CutError, Topology, TopologyError};
