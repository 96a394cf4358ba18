//! From a scenario file to a plan: what the file says, and the lab or run that file and command line ask for.

pub mod file;
pub mod plan;

pub use file::{MacText, Network, PortKind, Scenario, ScenarioError, SourceText, TopologyText};
