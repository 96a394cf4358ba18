//! What a virtual lab gave at its end.

use sim::figures::results::Results;
use std::fmt::{self, Display, Formatter};
use std::process::ExitStatus;

/// The end of a station's kernel before the run's.
#[derive(Debug)]
pub struct KernelEnd {
    pub(super) station: String,
    pub(super) at_ns: u64,
    pub(super) status: Option<ExitStatus>,
}

impl KernelEnd {
    /// Whether the kernel did not end as one does that a program in it switches off.
    pub fn is_failure(&self) -> bool {
        self.status.is_none_or(|status| !status.success())
    }
}

impl Display for KernelEnd {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let how = self.status.map_or_else(String::new, |status| format!(" ({status})"));
        write!(f, "the kernel of {} ended at {:.6} s{how}", self.station, self.at_ns as f64 / 1e9)
    }
}

/// What a run gave.
#[derive(Debug)]
pub struct Outcome {
    /// Kernels that ended before the run.
    pub ended: Vec<KernelEnd>,
    /// The last instant, in nanoseconds.
    pub end: u64,
    /// How often kernels ran.
    pub runs: u64,
    /// The user wanted the end.
    pub interrupted: bool,
    /// Counters and metrics, and how its programs ended.
    pub results: Results,
}
