//! What of a run a trace has.

use crate::words::choices::choice;

choice! {
    /// What of a run a trace has. Each level has what is done to the bus.
    #[derive(Default)]
    pub enum Level {
        /// What the run was given: it can be replayed.
        Inputs = "inputs",
        /// What happened.
        #[default]
        Events = "events",
        /// Both, in one order.
        All = "all",
    }
}

impl Level {
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
