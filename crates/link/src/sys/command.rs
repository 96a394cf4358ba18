//! What a new process does before it executes its program.

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::SigSet;

/// Has the process unblock every signal before it executes its program.
pub fn unblock_signals(command: &mut Command) {
    let unblock = || Ok(SigSet::empty().thread_set_mask()?);
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; this makes one call,
    // pthread_sigmask, which is, and neither allocates nor locks.
    unsafe { command.pre_exec(unblock) };
}
