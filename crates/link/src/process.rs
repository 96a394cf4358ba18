//! What a supervisor and its child must know of each other.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;
use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::{Pid, getppid};

use crate::sys;

/// Why a process cannot end with its parent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParentError {
    /// The parent has ended already: end too.
    #[error("the parent process has ended already")]
    Gone,
    /// The kernel refused.
    #[error("asking to end with the parent failed")]
    System(#[source] io::Error),
}

/// Makes the kernel kill this process when its parent ends, however it ends.
///
/// `parent` is the parent's process number as the parent passed it on. Without it, a parent that ended before the call
/// would go unnoticed. The kernel counts the *thread* that started this process as the parent: it must live as long as
/// its process.
pub fn die_with_parent(parent: Pid) -> Result<(), ParentError> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(|errno| ParentError::System(errno.into()))?;
    if getppid() == parent { Ok(()) } else { Err(ParentError::Gone) }
}

/// Makes a program receive every signal, and end when the thread that starts it ends.
pub fn end_with_thread(command: &mut Command) -> &mut Command {
    sys::command::unblock_signals(command);
    sys::command::end_with_thread(command);
    command
}

/// Makes a program lead a session of its own: no terminal's keys reach it, and [`crate::clock::raise_nice`] may put it
/// ahead of other sessions.
///
/// Do not combine this with a process group of its own: the leader of a group can begin no session.
pub fn lead_session(command: &mut Command) -> &mut Command {
    sys::command::lead_session(command);
    command
}

/// Processor time of process `pid`, all its threads together, including those that have ended.
pub fn cpu_time(pid: Pid) -> io::Result<Duration> {
    Ok(clock_getcpuclockid(pid)?.now()?.into())
}

/// The same for the calling thread.
pub fn thread_cpu_time() -> io::Result<Duration> {
    Ok(ClockId::CLOCK_THREAD_CPUTIME_ID.now()?.into())
}

/// The threads of a process with this name; empty if there is no such process.
pub fn threads_called(pid: Pid, name: &str) -> Vec<Pid> {
    let folder = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = folder.into_iter().flatten().flatten();
    let is_called = |path: &Path| fs::read_to_string(path.join("comm")).is_ok_and(|found| found.trim_end() == name);
    let threads = threads.filter(|thread| is_called(&thread.path()));
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok()).map(Pid::from_raw).collect()
}

/// The process at the other end of `socket`, if it is stopped, as by Ctrl-Z: it answers nothing until it is let go on.
pub fn stopped_peer(socket: impl AsFd) -> Option<Pid> {
    let peer = getsockopt(&socket, PeerCredentials).ok()?.pid();
    let stat = fs::read_to_string(format!("/proc/{peer}/stat")).ok()?;
    // The state comes after the name, which may contain any character.
    stat.rsplit_once(") ")?.1.starts_with('T').then_some(Pid::from_raw(peer))
}

/// When process `pid` was started, in clock ticks since boot; `None` if there is no such process.
///
/// The kernel reuses process numbers, but never a pair of number and start within one boot.
pub fn process_start_time(pid: Pid) -> io::Result<Option<u64>> {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => Ok(Some(start_time(&stat).ok_or(io::ErrorKind::InvalidData)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // The process ended between opening its file and reading it.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the process with number `pid` that was started at `start_time` still runs.
pub fn pid_alive(pid: Pid, start_time: u64) -> io::Result<bool> {
    Ok(process_start_time(pid)? == Some(start_time))
}

/// Lets this process open at least `wanted` descriptors, as far as it may; gives the new limit.
///
/// The usual limit of 1,024 is too low for that number of namespaces. Processes started later have the new limit.
pub fn raise_descriptor_limit(wanted: u64) -> io::Result<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft >= wanted {
        return Ok(soft);
    }
    if hard < wanted && setrlimit(Resource::RLIMIT_NOFILE, wanted, wanted).is_ok() {
        return Ok(wanted);
    }
    let most = hard.min(wanted);
    setrlimit(Resource::RLIMIT_NOFILE, most, hard)?;
    Ok(most)
}

/// Sends `signal` to process `pid`; false if there is no process that the caller may signal.
///
/// # Panics
/// If `pid` is 0 or negative, which would name a whole group of processes.
pub fn signal(pid: Pid, signal: Signal) -> bool {
    assert!(pid.as_raw() > 0, "{pid} names no single process");
    nix::sys::signal::kill(pid, signal).is_ok()
}

/// Binds the calling thread, and the threads that it starts, to the processor with this number.
pub fn bind_to_processor(number: usize) -> io::Result<()> {
    let mut processors = CpuSet::new();
    processors.set(number)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &processors)?)
}

/// The user whose rights this process has.
pub fn effective_user() -> u32 {
    nix::unistd::geteuid().as_raw()
}

/// Lets a descriptor pass to the programs that this process executes.
pub fn clear_cloexec(descriptor: impl AsFd) -> io::Result<()> {
    fcntl(descriptor, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(())
}

/// The descriptor that the parent passed to this process under this number.
///
/// The result is a copy, closed on exec; the original stays open as long as the process, and is closed on exec from now
/// on. An error if there is no descriptor of this number.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    sys::descriptor::copy_of(number)
}

/// Field 22 of a process's stat line. Field 2 is the program's name, with anything in it.
fn start_time(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_found_behind_any_name() {
        let stat = "12 (a) b) (c) S 1 12 12 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 5 6\n";
        assert_eq!(start_time(stat), Some(777));
        assert_eq!(start_time("12 (a) S 1"), None);
        assert_eq!(start_time(""), None);
    }

    #[test]
    fn this_process_is_alive_and_no_other_has_its_start_time() {
        let start = process_start_time(Pid::this()).unwrap().expect("we run");
        assert!(pid_alive(Pid::this(), start).unwrap());
        assert!(!pid_alive(Pid::this(), start + 1).unwrap());
        // The highest number that a kernel gives is 2^22.
        assert_eq!(process_start_time(Pid::from_raw(i32::MAX)).unwrap(), None);
    }

    #[test]
    fn work_takes_processor_time() {
        let times = || (cpu_time(Pid::this()).unwrap(), thread_cpu_time().unwrap());
        let before = times();
        while thread_cpu_time().unwrap() < before.1 + Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        assert!(times().0 >= before.0 + Duration::from_millis(2));
    }

    #[test]
    fn a_program_ends_with_the_thread_that_started_it() {
        let start = || end_with_thread(Command::new("sleep").arg("60")).spawn().unwrap();
        let mut child = std::thread::spawn(start).join().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(Signal::SIGKILL as i32));
    }

    #[test]
    fn a_process_that_is_not_the_parent_is_no_parent() {
        // On a thread of its own: the setting belongs to the thread.
        let refused = std::thread::spawn(|| die_with_parent(Pid::this())).join().unwrap();
        assert!(matches!(refused, Err(ParentError::Gone)));
    }
}
