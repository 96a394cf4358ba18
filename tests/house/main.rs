//! What holds for all of the program: help, completions, bad input, habits, and the rules of the source tree.
//!
//! One program for all of them: each links the whole of ethbus.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod commit;
mod completions;
mod first_steps;
mod habits;
mod help;
mod launcher;
mod pages;
mod python;
mod tidy;
