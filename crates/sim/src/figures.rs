//! What happened, as figures: the table of metrics, sums, delays and contention, how far they can be off, the results
//! schema, and results as one flat row.

pub mod bridge;
pub mod contention;
pub mod counters;
pub mod cycle;
pub mod delays;
pub mod emulator;
pub mod histogram;
pub mod intervals;
pub mod messages;
pub mod metrics;
pub mod plca;
#[cfg(test)]
mod python;
pub mod registers;
pub mod results;
pub mod row;
pub mod slotted;
pub mod snapshot;
pub mod stacks;
pub mod table;
pub mod tcp;
pub mod until;
