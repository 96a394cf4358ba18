//! How a program continues without the terminal at which it was started.

use std::io;
use std::os::fd::AsFd;

use nix::unistd::{dup2_stderr, dup2_stdout, setsid};

/// Begins a session of its own: no terminal's interrupt or end reaches this process any more.
///
/// The kernel refuses this to the leader of a process group, and every program that a shell starts is one.
pub fn leave_session() -> io::Result<()> {
    setsid()?;
    Ok(())
}

/// Redirects standard output to `file`.
pub fn redirect_stdout(file: impl AsFd) -> io::Result<()> {
    Ok(dup2_stdout(file)?)
}

/// Redirects standard error to `file`; programs started later inherit that.
pub fn redirect_stderr(file: impl AsFd) -> io::Result<()> {
    Ok(dup2_stderr(file)?)
}
