//! Actions of a new process before it executes its program.

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::unistd::{getpid, getppid};

use super::privilege;

/// Keeps a file that may not grow any more (`ulimit -f`) from ending the process: the write fails instead.
pub fn ignore_file_limit() {
    // SAFETY: no handler of this process is replaced, since none was ever set for this signal.
    let ignored = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    ignored.expect("the signal can be ignored");
}

/// Makes the process unblock every signal before it executes its program, and end by those that this process ignores.
pub fn unblock_signals(command: &mut Command) {
    let unblock = || {
        // SAFETY: as in `ignore_file_limit`; sigaction is async-signal-safe.
        unsafe { signal(Signal::SIGXFSZ, SigHandler::SigDfl) }?;
        Ok(SigSet::empty().thread_set_mask()?)
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; this makes two calls,
    // sigaction and pthread_sigmask, which are, and neither allocates nor locks.
    unsafe { command.pre_exec(unblock) };
}

/// Makes the kernel kill the process when the thread that starts it ends.
pub fn end_with_thread(command: &mut Command) {
    let parent = getpid();
    let end = move || {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // The setting does not notice a parent that ended before it was made.
        if getppid() == parent { Ok(()) } else { Err(std::io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; this makes two system
    // calls, prctl and getppid, and neither allocates nor locks.
    unsafe { command.pre_exec(end) };
}

/// Makes the process lead a session of its own before it executes its program.
pub fn lead_session(command: &mut Command) {
    let lead = || Ok(nix::unistd::setsid().map(|_| ())?);
    // SAFETY: as above; this makes one system call, setsid, and neither allocates nor locks.
    unsafe { command.pre_exec(lead) };
}

/// Passes on the capabilities of `set` that the starting process has.
pub fn pass_on_capabilities(command: &mut Command, set: u64) {
    // SAFETY: as above; this makes only system calls, capget, capset and prctl, and neither allocates nor locks.
    unsafe { command.pre_exec(move || privilege::pass_on(set)) };
}
