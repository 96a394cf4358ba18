//! The command line: the arguments, and one file a command.

pub mod args;
pub mod commands;
pub mod wrong_use;
