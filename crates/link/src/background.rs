//! What a program does to go on without the terminal it was started at.

use std::io;
use std::os::fd::AsFd;

use nix::unistd::{dup2_stderr, dup2_stdout, setsid};

/// Begins a session of its own: no terminal's interrupt or end reaches this process any more.
///
/// Refused to the leader of a process group, which a program is that a shell has started.
pub fn leave_session() -> io::Result<()> {
    setsid()?;
    Ok(())
}

/// Has standard output go to `file` from now on.
pub fn redirect_stdout(file: impl AsFd) -> io::Result<()> {
    Ok(dup2_stdout(file)?)
}

/// Has standard error go to `file` from now on; programs started later inherit that.
pub fn redirect_stderr(file: impl AsFd) -> io::Result<()> {
    Ok(dup2_stderr(file)?)
}
