//! What of a run a trace has.

use serde::{Deserialize, Serialize};

/// What of a run a trace has. Each level has what is done to the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// What the run was given: it can be replayed.
    Inputs,
    /// What happened.
    #[default]
    Events,
    /// Both, in one order.
    All,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 3] = [Level::Inputs, Level::Events, Level::All];

    /// As headers and options have it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Inputs => "inputs",
            Level::Events => "events",
            Level::All => "all",
        }
    }

    /// Whether a trace of this level has what the run was given.
    pub fn has_inputs(self) -> bool {
        matches!(self, Level::Inputs | Level::All)
    }

    /// Whether a trace of this level has what happened.
    pub fn has_events(self) -> bool {
        matches!(self, Level::Events | Level::All)
    }

    /// What is lost where such a trace cannot be written any further.
    pub(super) fn holds(self) -> &'static str {
        if self.has_events() { "events" } else { "inputs" }
    }
}
