//! A run in virtual time: the loop that jumps from one due instant to the next, and a measurement made of it.

pub mod measure;
pub mod simulator;
pub mod transfer;
