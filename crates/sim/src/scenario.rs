//! From a scenario file to a plan: what the file says, and the lab or run that file and command line ask for.

mod check;
pub mod file;
pub mod keys;
pub mod plan;
pub mod wrong;

pub use file::{MacText, Network, PortKind, Scenario, ScenarioError, SourceText, TopologyText};
