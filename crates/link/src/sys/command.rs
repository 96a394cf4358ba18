//! What a new process does before it executes its program.

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{getpid, getppid};

use super::privilege;

/// Has the process unblock every signal before it executes its program.
pub fn unblock_signals(command: &mut Command) {
    let unblock = || Ok(SigSet::empty().thread_set_mask()?);
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; this makes one call,
    // pthread_sigmask, which is, and neither allocates nor locks.
    unsafe { command.pre_exec(unblock) };
}

/// Has the kernel kill the process when the thread that starts it ends.
pub fn end_with_thread(command: &mut Command) {
    let parent = getpid();
    let end = move || {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // A parent that ended before the wish was made is not noticed by it.
        if getppid() == parent { Ok(()) } else { Err(std::io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; this makes two system
    // calls, prctl and getppid, and neither allocates nor locks.
    unsafe { command.pre_exec(end) };
}

/// Has the process lead a session of its own before it executes its program.
pub fn lead_session(command: &mut Command) {
    let lead = || Ok(nix::unistd::setsid().map(|_| ())?);
    // SAFETY: as above; this makes one system call, setsid, and neither allocates nor locks.
    unsafe { command.pre_exec(lead) };
}

/// Has the program get those capabilities of this set that the process which starts it has.
pub fn pass_on_capabilities(command: &mut Command, set: u64) {
    // SAFETY: as above; this makes only system calls, capget, capset and prctl, and neither allocates nor locks.
    unsafe { command.pre_exec(move || privilege::pass_on(set)) };
}
