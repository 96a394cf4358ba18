//! The paths of the batch, called one beside the other on this machine.
//!
//! The library has no switch for its path, and none is wanted; and its own crate, which brings a panic handler, cannot be
//! a test. So its source is taken in here as it is, with the tests at its end.

#[path = "../crates/backoff-c/src/words.rs"]
mod words;
