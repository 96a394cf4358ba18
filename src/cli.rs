//! The command line: the arguments, and one file a command.

pub mod args;
pub mod commands;
mod pager;
mod traces;
pub mod windows;
pub mod wrong_use;
