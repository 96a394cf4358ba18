//! What happened, as figures: sums and delays, the results schema, and results as one flat row.

pub mod metrics;
pub mod results;
pub mod row;
