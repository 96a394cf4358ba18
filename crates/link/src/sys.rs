//! Small safe functions around the system calls that nix does not have.
//!
//! The only unsafe code of the crate. Nothing here makes decisions: a function takes plain values, makes one call, and
//! returns the kernel's answer.

pub mod bpf;
pub mod command;
pub mod descriptor;
pub mod epoll;
pub mod ethtool;
pub mod memory;
pub mod message;
pub mod namespace;
pub mod option;
pub mod privilege;
pub mod ring;
pub mod schedule;
pub mod tap;

use std::io;

/// The result of a call that returns −1 and sets `errno` when it fails.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
