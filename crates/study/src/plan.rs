//! From a table of messages to bounds on a segment with PLCA, what a simulation of the same table gives, and a search for the
//! assignment with the largest slack.

pub mod bound;
pub mod search;
pub mod simulate;
pub mod view;
