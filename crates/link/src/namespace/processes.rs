//! The processes in a namespace, and signals to exactly those.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::{Namespace, NamespaceId};
use crate::sys;

/// A process with a thread in one of the namespaces of a search.
///
/// A descriptor holds it: when the process has ended and its number is reused, this value still means the process that
/// was found.
#[derive(Debug)]
pub struct Member {
    pid: Pid,
    process: OwnedFd,
    namespace: Namespace,
}

impl Member {
    /// Its number.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The namespace in which it was found.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Sends it a signal; false if it has ended, or the caller may not.
    pub fn signal(&self, signal: Signal) -> bool {
        sys::namespace::signal(self.process.as_fd(), signal as libc::c_int).is_ok()
    }
}

/// The processes with a thread in one of these namespaces that the caller may inspect. Each is returned as soon as it
/// is found, since it may not live long.
///
/// A process that begins, ends or moves meanwhile may be missed. Every thread is inspected: the first thread of a
/// process may have ended, or be elsewhere.
pub fn members(namespaces: &[NamespaceId]) -> io::Result<impl Iterator<Item = Member>> {
    let numbers = fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // A process that has ended, or that we may not inspect, is skipped.
    Ok(numbers.filter_map(|pid| member(Pid::from_raw(pid), namespaces)))
}

/// The same of the machine's newest processes alone, which takes a tenth of a millisecond: a process that ends as soon as it
/// has started the next one is found before that.
pub fn newest_members(namespaces: &[NamespaceId]) -> impl Iterator<Item = Member> {
    let loads = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let last: Option<i32> = loads.split_whitespace().last().and_then(|pid| pid.parse().ok());
    let numbers = last.into_iter().flat_map(|last| ((last - NEWEST).max(1)..=last + 1).rev());
    numbers.filter_map(|pid| member(Pid::from_raw(pid), namespaces))
}

/// How many processes may begin while the newest one is looked for.
const NEWEST: i32 = 4;

fn member(pid: Pid, namespaces: &[NamespaceId]) -> Option<Member> {
    thread_in(pid, namespaces)?;
    let process = sys::namespace::process(pid.as_raw()).ok()?;
    // Check again: from now on the number cannot become another's without the descriptor's process having ended.
    let namespace = thread_in(pid, namespaces)?;
    Some(Member { pid, process, namespace })
}

/// The namespace of a thread of this process, if it is one of `namespaces`.
fn thread_in(pid: Pid, namespaces: &[NamespaceId]) -> Option<Namespace> {
    fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten().find_map(|thread| {
        let path = thread.path().join("ns/net");
        let identity = NamespaceId::of(&fs::metadata(&path).ok()?);
        if !namespaces.contains(&identity) {
            return None;
        }
        let namespace = Namespace::of(File::open(path).ok()?);
        (namespace.identity() == identity).then_some(namespace)
    })
}
