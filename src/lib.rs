//! The program `ethbus`. See ARCHITECTURE.md for the walk of a frame.
//!
//! | room | holds |
//! |---|---|
//! | [`cli`] | the command line: arguments, one file a command |
//! | [`watch`] | the live view |
//!
//! What the commands do is in the crates `sim`, `study`, `retry_lab` and `live`; `say` has tables and messages. This crate has no
//! system call and no `unsafe`: those are in `link`.
#![forbid(unsafe_code)]

pub mod cli;
pub mod watch;
