//! How a configuration of another version is read: with a struct that has grown, which no struct of the library has yet.
//!
//! The library's own crate, which brings a panic handler, cannot be a test. So its source is taken in here as it is, with
//! the tests at its end.

// Nothing here has a default to ask for.
#[allow(dead_code)]
#[path = "../crates/backoff-c/src/config.rs"]
mod config;

/// Of the statuses those that the source names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ok,
    NullPointer,
    ConfigSize,
}
