//! Runs in virtual time and what is made of them: results, sweeps, plots, theory, validation.
//!
//! One program for all of them: each links the whole of ethbus.

#[path = "../common/mod.rs"]
mod common;

mod access;
mod bridge;
#[cfg(feature = "parquet")]
mod folder;
mod intervals;
mod kept;
mod literature;
mod plan;
mod plot;
mod races;
mod rows;
mod shards;
mod sim;
mod sweep;
mod theory;
mod traffic_sources;
mod validate;
