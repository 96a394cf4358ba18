//! What a live bus is asked to do, as plain words: choices that scenarios, results and traces carry.
//!
//! They stand here and not in the data plane, so that whatever reads and writes files does not depend on it.

use medium::{BitRate, Topology};
use serde::{Deserialize, Serialize};

/// An enum whose variants each have a word: how scenarios, results and traces spell it.
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident {$($(#[$of_variant:meta])* $variant:ident = $word:literal),* $(,)?}) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $name {$(
            $(#[$of_variant])*
            #[serde(rename = $word)]
            $variant,
        )*}

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant),*];
            /// The word of each.
            pub const WORDS: &[&str] = &[$($word),*];

            /// Its word.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }
        }
    };
}
pub(crate) use choice;

/// How the medium's time follows real time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// The medium's time as a part of real time: at 0.1 a bus of 10 Mb/s carries a million bits a second.
    pub time_scale: f64,
    /// When the machine does not keep up.
    pub on_overload: OnOverload,
    /// What may be spent on being punctual.
    #[serde(default)]
    pub latency: Latency,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { time_scale: 1.0, on_overload: OnOverload::default(), latency: Latency::default() }
    }
}

impl Pace {
    /// Bits of a medium of this rate that go by in a real second; at least one.
    pub fn rate(self, rate: BitRate) -> BitRate {
        let bits = (rate.get() as f64 * self.time_scale).round() as u64;
        BitRate::per_second(bits.max(1)).expect("at least one bit per second")
    }
}

/// What a live bus spends on being punctual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// How much.
    pub choice: LatencyChoice,
    /// With [`LatencyChoice::Low`]: how long the ring is read after each frame, in nanoseconds, before the thread sleeps.
    pub read_on_ns: u64,
    /// The processor that the data plane runs on, if one was named.
    pub processor: Option<usize>,
}

impl Latency {
    /// Unless said otherwise.
    pub const READ_ON_NS: u64 = 500_000;
}

impl Default for Latency {
    fn default() -> Latency {
        Latency { choice: LatencyChoice::Normal, read_on_ns: Latency::READ_ON_NS, processor: None }
    }
}

choice! {
    /// How much is spent on being punctual.
    #[derive(Default)]
    pub enum LatencyChoice {
        /// The data plane sleeps whenever nothing is due.
        #[default]
        Normal = "normal",
        /// Processors do not sleep deeply, and the ring is read for a while after each frame.
        Low = "low",
    }
}

choice! {
    /// What to do when the machine does not keep up.
    #[derive(Default)]
    pub enum OnOverload {
        /// The medium's time stops until deliveries are punctual again.
        #[default]
        Slip = "slip",
        /// What would be delivered too late is not delivered.
        Drop = "drop",
    }
}

choice! {
    /// Who copies a frame to the stations.
    #[derive(Default)]
    pub enum FanOutChoice {
        /// The kernel, above 16 stations, where BPF programs may be loaded.
        #[default]
        Auto = "auto",
        /// The kernel, with any number of stations.
        Kernel = "kernel",
        /// One by one.
        Batch = "batch",
    }
}

choice! {
    /// Whom frames are copied to.
    #[derive(Default)]
    pub enum FilterChoice {
        /// Every other station, as on a cable.
        #[default]
        None = "none",
        /// Those that it can mean anything to.
        Address = "address",
    }
}

choice! {
    /// Whether a station's interface shows that the station is off the medium.
    pub enum LinkChoice {
        /// It loses its carrier, as by the link test of twisted pair (802.3, 14.2.1.7).
        Follows = "follows",
        /// It keeps its carrier, as on a coaxial cable, which has no link test.
        Always = "always",
    }
}

impl LinkChoice {
    /// What cables of this topology do.
    pub fn of(topology: &Topology) -> LinkChoice {
        match topology {
            Topology::Star { .. } => LinkChoice::Follows,
            Topology::Bus { .. } | Topology::Segments(_) => LinkChoice::Always,
        }
    }
}

/// What became of a station's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortState {
    /// Both ends are up.
    Up,
    /// The station's end is down.
    Down,
    /// The interface or its namespace is no more.
    Gone,
    /// Somebody attached it.
    Attached,
    /// Somebody detached it.
    Detached,
}
