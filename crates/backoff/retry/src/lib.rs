#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod budget;
#[cfg(feature = "tower")]
mod layer;
mod operation;

pub use budget::RetryBudget;
#[cfg(feature = "tower")]
pub use layer::{Decision, Retries, every_error};
pub use operation::{Operation, Stopped, retry, retry_async};
