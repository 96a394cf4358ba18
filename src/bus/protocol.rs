//! What supervisor and data plane say to each other. One JSON object a message.

use crate::results::{ConfigResults, Results};
use medium::{BitRate, BitTimes, Config, Topology};
use serde::{Deserialize, Serialize};

/// The first message, with the descriptors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The supervisor's process number.
    pub supervisor: i32,
    /// The lab's name; empty in the demonstration.
    pub name: String,
    /// Bits per second.
    pub rate: u64,
    /// Where the stations are.
    pub places: Places,
    /// Frames that a transmit queue holds.
    pub queue_limit: usize,
    /// Seed of every random draw.
    pub seed: u64,
    /// The stations' ports, in order of station number.
    pub ports: Vec<Port>,
}

/// Where the stations are, in bit times.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Places {
    /// The same distance between every pair.
    Star(u64),
    /// Each station's place along a cable.
    Bus(Vec<u64>),
}

/// A station's port: the bus's end of its link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Port {
    /// The station's name.
    pub name: String,
    /// The interface's index in the bus's namespace.
    pub index: u32,
    /// The station's MAC address.
    pub mac: [u8; 6],
}

impl Setup {
    /// What is said of a plan whose ports have been made.
    pub fn new(name: &str, config: &Config, ports: Vec<Port>) -> Setup {
        let places = match &config.topology {
            Topology::Star { distance, .. } => Places::Star(distance.get()),
            Topology::Bus { positions } => Places::Bus(positions.iter().map(|place| place.get()).collect()),
        };
        Setup {
            supervisor: std::process::id() as i32,
            name: name.to_owned(),
            rate: config.rate.get(),
            places,
            queue_limit: config.queue_limit,
            seed: config.seed,
            ports,
        }
    }

    /// The medium's configuration; a rate of zero becomes the standard's, since the supervisor checked it.
    pub fn medium(&self) -> Config {
        let topology = match &self.places {
            Places::Star(distance) => Topology::star(self.ports.len(), *distance),
            Places::Bus(places) => {
                Topology::Bus { positions: places.iter().map(|&place| BitTimes::new(place)).collect() }
            }
        };
        let rate = BitRate::per_second(self.rate).unwrap_or(BitRate::MBIT_10);
        let config = Config::new(rate, topology, self.seed);
        Config { queue_limit: self.queue_limit, keep_events: false, ..config }
    }

    /// The configuration as results tell it.
    pub fn config_results(&self) -> ConfigResults {
        let (topology, longest) = match &self.places {
            Places::Star(distance) => ("star", *distance),
            Places::Bus(places) => ("bus", places.iter().max().unwrap_or(&0) - places.iter().min().unwrap_or(&0)),
        };
        ConfigResults {
            name: self.name.clone(),
            rate_bits_per_second: self.rate,
            topology: topology.to_owned(),
            longest_distance_bt: longest,
            queue_limit: self.queue_limit,
        }
    }
}

/// What the supervisor asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Count from zero from now on.
    Restart,
    /// Tell how many frames of each station the medium is done with.
    Progress,
    /// Tell the results so far.
    Report,
    /// Tell the results, and end.
    Stop,
}

/// What the data plane tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// The medium runs.
    Ready,
    /// It counts from zero.
    Restarted,
    /// Frames of each station, since the medium began, that were transmitted, dropped or discarded.
    Progress(Vec<u64>),
    /// The results so far.
    Results(Box<Results>),
    /// A station's interface went down, came up, or vanished.
    Port {
        /// The station's name.
        station: String,
        /// What it is now.
        state: PortState,
    },
}

/// The state of a station's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortState {
    /// Both ends are up.
    Up,
    /// The station's end is down.
    Down,
    /// The interface or its namespace is no more.
    Gone,
}
