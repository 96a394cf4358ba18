//! A sweep: many runs over a grid of scenario keys and seeds, in one table that a later command can continue. See
//! docs/sweep.md.

pub mod again;
pub mod choice;
pub mod enough;
pub mod environment;
pub mod error;
pub mod expression;
#[cfg(feature = "parquet")]
pub mod folder;
pub mod further;
pub mod grid;
pub mod journal;
pub mod kept;
pub mod lines;
pub mod manifest;
pub mod merge;
pub mod output;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod part;
pub mod seeds;
pub mod values;
