//! A plugin of the Container Network Interface, version 1.1: a runtime calls the program with a command in the environment
//! and a network on standard input, and reads a result or an error on standard output.
//!
//! | file | what it holds |
//! |---|---|
//! | `request.rs` | what the runtime says, checked |
//! | `answer.rs` | results and errors as the specification has them |
//! | `ipam.rs` | addresses, from another plugin |
//! | `attachments.rs` | which container has which station, on disk |
//! | `plugin.rs` | what each command does |

pub mod answer;
mod attachments;
mod ipam;
pub mod plugin;
pub mod request;

/// The variable that makes a program a plugin.
pub const COMMAND: &str = "CNI_COMMAND";
/// The versions of the specification that the plugin speaks; the last one is its own.
pub const VERSIONS: [&str; 3] = ["0.4.0", "1.0.0", "1.1.0"];
