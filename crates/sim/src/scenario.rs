//! From a scenario file to a plan: what the file says, and the lab or run that file and command line ask for.

mod check;
pub mod file;
pub mod flat;
pub mod messages;
pub mod plan;

pub use crate::settings::wrong;

pub use file::{MacText, Network, PortKind, Scenario, ScenarioError, SourceText, TopologyText};
