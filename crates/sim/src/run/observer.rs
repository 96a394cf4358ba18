//! Who observes a run, virtual or live.

pub use crate::files::observer::{Both, Observer};
