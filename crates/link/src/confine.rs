//! Giving rights up for good: capabilities, system calls, limits.
//!
//! A process that moves frames of untrusted hosts gives up every right that it no longer needs, in this order:
//!
//! ```text
//!   close_inherited ─► what needs rights ─► drop_capabilities ─► threads ─► allow_no_more
//! ```
//! Neither the process nor a program that it executes can take a right back.

mod filter;

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::process::Command;

use nix::sys::resource::{Resource, setrlimit};

use crate::namespace::Capability;
use crate::sys::privilege::{self, Sets};

/// The number of bits of the kernel's capability sets.
const CAPABILITIES: u32 = 64;

/// Why a right could not be given up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// The kernel refused `call`.
    #[error("{call} failed")]
    System {
        /// What was refused.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The filter of system calls could not be made or put in place.
    #[error("system calls cannot be filtered: this needs a kernel with seccomp")]
    Filter(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ConfineError {
    fn of<E: Into<io::Error>>(call: &'static str) -> impl FnOnce(E) -> ConfineError {
        move |error| ConfineError::System { call, source: error.into() }
    }
}

/// Closes every descriptor but the three standard ones.
///
/// This must be the first action of a process: later it would close descriptors that a value owns.
pub fn close_inherited() -> Result<(), ConfineError> {
    privilege::close_from(3).map_err(ConfineError::of("closing inherited descriptors"))
}

/// The descriptors that this process was started with, except the three standard ones.
///
/// For a process that needs some of them for a while and must not keep them: its parent may wait until all copies of
/// one are closed.
#[derive(Debug)]
pub struct Inherited(Vec<RawFd>);

impl Inherited {
    /// Notes them. This must be the first action of a process: later it would include descriptors that a value owns.
    pub fn look() -> io::Result<Inherited> {
        let own = std::fs::read_dir("/proc/self/fd")?;
        let numbers = own.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let numbers: Vec<RawFd> = numbers.filter(|&number| number > 2).collect();
        // The list contains the folder's own descriptor, which is closed by now.
        let is_open = |&number: &RawFd| std::fs::symlink_metadata(format!("/proc/self/fd/{number}")).is_ok();
        Ok(Inherited(numbers.into_iter().filter(is_open).collect()))
    }

    /// Closes them.
    pub fn close(self) {
        for number in self.0 {
            // A descriptor that cannot be closed is not open.
            let _ = nix::unistd::close(number);
        }
    }
}

/// Replaces standard input by `/dev/null`.
pub fn close_stdin() -> Result<(), ConfineError> {
    let null = std::fs::File::open("/dev/null").map_err(ConfineError::of("opening /dev/null"))?;
    nix::unistd::dup2_stdin(&null).map_err(ConfineError::of("closing standard input"))
}

/// Removes every capability except `kept` from all five sets of the calling thread, and every way to regain them:
/// programs that it executes get none by set-user-ID or by a file's capabilities.
///
/// Capabilities belong to a thread, not to a process: call it before there are threads, or in each. It adds no
/// capability that the thread lacks. Without CAP_SETPCAP the bounding set stays unchanged, and limits nothing any more.
pub fn keep_capabilities(kept: &[Capability]) -> Result<(), ConfineError> {
    let kept = set_of(kept);
    nix::sys::prctl::set_no_new_privs().map_err(ConfineError::of("forbidding new privileges"))?;
    let sets = privilege::capabilities().map_err(ConfineError::of("reading own capabilities"))?;
    if sets.effective >> Capability::SetPcap.bit() & 1 == 1 {
        // By number, so that capabilities of later kernels go too.
        for number in (0..CAPABILITIES).filter(|number| kept >> number & 1 == 0) {
            if privilege::is_in_bounding_set(number) == Some(true) {
                privilege::drop_from_bounding_set(number)
                    .map_err(ConfineError::of("taking a capability out of the bounding set"))?;
            }
        }
    }
    privilege::clear_ambient_set().map_err(ConfineError::of("emptying the ambient set"))?;
    let rest = Sets { effective: sets.effective & kept, permitted: sets.permitted & kept, inheritable: 0 };
    privilege::set_capabilities(rest).map_err(ConfineError::of("giving capabilities up"))
}

/// Passes all capabilities of the calling thread to the programs that it executes.
///
/// Root's programs get them anyway; in a user namespace a user whose uid is not 0 has to pass them on.
pub fn pass_on_capabilities() -> Result<(), ConfineError> {
    privilege::pass_on(u64::MAX).map_err(ConfineError::of("passing capabilities on"))
}

/// Passes `capabilities` to a program that is to be started, as far as this process has them.
pub fn lend<'a>(command: &'a mut Command, capabilities: &[Capability]) -> &'a mut Command {
    crate::sys::command::pass_on_capabilities(command, set_of(capabilities));
    command
}

fn set_of(capabilities: &[Capability]) -> u64 {
    capabilities.iter().fold(0, |set, capability| set | 1 << capability.bit())
}

/// Removes every capability from the calling thread, and hides its process from debuggers.
///
/// Like [`keep_capabilities`] with none. Other processes of the same user can then neither read its memory nor attach
/// to it, and it leaves no core.
pub fn drop_capabilities() -> Result<(), ConfineError> {
    keep_capabilities(&[])?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(ConfineError::of("forbidding cores"))?;
    nix::sys::prctl::set_dumpable(false).map_err(ConfineError::of("hiding from debuggers"))
}

/// Restricts all threads of this process to the system calls of a running bus.
///
/// No file can be opened, no socket made, no thread or program started from now on, and nothing mapped that could be
/// executed. A forbidden call ends the whole process by SIGSYS. Opening a file is only refused, because the C library's
/// allocator looks into `/proc` and can do without.
///
/// All threads must be running: starting a thread is not allowed any more. No allowed call makes a descriptor; another
/// process can send up to `received` at a time.
pub fn allow_no_more(received: usize) -> Result<(), ConfineError> {
    let lower = |limit, most| setrlimit(limit, most, most).map_err(ConfineError::of("lowering limits"));
    // RLIMIT_NPROC does not bind root's processes; the filter does.
    lower(Resource::RLIMIT_NPROC, 0)?;
    lower(Resource::RLIMIT_NOFILE, room_for(received)?)?;
    filter::install().map_err(ConfineError::Filter)
}

/// The limit of open files that leaves room for `received` more; 0, if there are to be none.
fn room_for(received: usize) -> Result<u64, ConfineError> {
    let open = |_| File::open("/dev/null").map_err(ConfineError::of("opening /dev/null"));
    // They have the numbers that the next descriptors will have.
    let next: Vec<File> = (0..received).map(open).collect::<Result<_, _>>()?;
    Ok(next.iter().map(|file| file.as_raw_fd() as u64 + 1).max().unwrap_or(0))
}
