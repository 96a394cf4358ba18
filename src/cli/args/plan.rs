//! Arguments of `ethbus plan`.

use super::{Seeded, SimFormat};
use clap::Args;
use sim::words::units::duration;
use std::path::PathBuf;
use std::time::Duration;

/// Options of `plan`.
#[derive(Args, Clone, Debug)]
pub struct PlanArgs {
    /// Table of messages, TOML or CSV; see docs/plan.md
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// Simulate the table for this time, beside the bounds
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub simulate: Option<Duration>,
    /// Search for ids, bursts and phases with more slack
    ///
    /// Compares up to N assignments; all, if there are no more. Bounds and simulation are those of the best one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub search: Option<u64>,
    /// Seed of every draw.
    #[command(flatten)]
    pub seeded: Seeded,
    /// `table`, `json` or `csv`
    #[arg(short = 'f', long, value_enum, default_value_t, hide_possible_values = true)]
    pub format: SimFormat,
    /// Print the table as a scenario for `ethbus sim`, and no bounds
    #[arg(long)]
    pub scenario: bool,
}
