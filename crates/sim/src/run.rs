//! A run in virtual time: the loop that jumps from one due instant to the next, who observes it, and a measurement made
//! of it.

pub mod bridge;
pub mod frames;
pub mod hosts;
pub mod measure;
pub mod observer;
pub mod pool;
pub mod series;
pub mod simulator;
pub mod told;
pub mod transfer;
pub mod view;
