//! Arguments of `ethbus plan`.

use super::{Seeded, Tabled, TimedArgs};
use clap::Args;
use std::path::PathBuf;

/// Options of `plan`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("duration", |duration| duration.help("Simulate the table for this time, beside the bounds")))]
pub struct PlanArgs {
    /// Table of messages, TOML or CSV; see docs/plan.md
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// A simulation beside the bounds.
    #[command(flatten)]
    pub timed: TimedArgs,
    /// Search for ids, bursts and phases with more slack
    ///
    /// Compares up to N assignments; all, if there are no more. Bounds and simulation are those of the best one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub search: Option<u64>,
    /// Seed of every draw.
    #[command(flatten)]
    pub seeded: Seeded,
    /// How it is written.
    #[command(flatten)]
    pub tabled: Tabled,
    /// Print the table as a scenario for `ethbus sim`, and no bounds
    #[arg(long)]
    pub scenario: bool,
}
