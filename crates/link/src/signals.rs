//! Signals as a readable descriptor.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;

use nix::errno::Errno;
use nix::sys::signal::SigSet;
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::sys;

pub use nix::sys::signal::Signal;

/// Signals that are read from a descriptor instead of interrupting the program.
///
/// Signals of one kind that come together are read once. Programs that this process starts inherit the block, and would
/// ignore a request to end: start them through [`unblock`].
#[derive(Debug)]
pub struct Signals {
    descriptor: SignalFd,
}

impl Signals {
    /// Keeps `signals` from interrupting, and opens a descriptor that becomes readable when one arrives.
    ///
    /// Call it before other threads are started: they inherit the block, and a thread without it would be interrupted.
    /// The block stays after the value is dropped.
    pub fn block_and_open(signals: &[Signal]) -> io::Result<Signals> {
        let set: SigSet = signals.iter().copied().collect();
        set.thread_block()?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        Ok(Signals { descriptor: SignalFd::with_flags(&set, flags)? })
    }

    /// The next signal that came; never waits.
    pub fn read(&mut self) -> io::Result<Option<Signal>> {
        loop {
            match self.descriptor.read_signal() {
                Ok(None) => return Ok(None),
                Ok(Some(info)) => return Ok(Some(Signal::try_from(info.ssi_signo as i32)?)),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// Lets a write beyond a limit on the size of files (`ulimit -f`) fail as on a full disk. Without this call, the signal
/// SIGXFSZ ends the process. Programs that this process starts inherit that: start them through [`unblock`].
pub fn ignore_file_limit() {
    sys::command::ignore_file_limit();
}

/// Makes a program receive every signal once it is started, even if this process blocks or ignores some.
pub fn unblock(command: &mut Command) -> &mut Command {
    sys::command::unblock_signals(command);
    command
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_signal_is_read_once() {
        // SIGURG is ignored by default, so nothing happens to the harness's other threads.
        let mut signals = Signals::block_and_open(&[Signal::SIGURG]).unwrap();
        assert_eq!(signals.read().unwrap(), None);
        nix::sys::signal::raise(Signal::SIGURG).unwrap();
        assert_eq!(signals.read().unwrap(), Some(Signal::SIGURG));
        assert_eq!(signals.read().unwrap(), None);
    }
}
