//! Capabilities, and the user namespace that gives them to an unprivileged user.

use std::fs;
use std::io;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

/// A capability that a live bus needs, or that somebody who runs one keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capability {
    /// CAP_NET_ADMIN: make links, set them up, change their settings.
    NetAdmin,
    /// CAP_NET_RAW: open packet sockets.
    NetRaw,
    /// CAP_SYS_ADMIN: make and enter namespaces, mount.
    SysAdmin,
    /// CAP_SYS_NICE: be ahead of other processes.
    SysNice,
    /// CAP_SYS_PTRACE: see in which namespace a process is that has more rights or another user.
    SysPtrace,
    /// CAP_KILL: end processes of other users.
    Kill,
    /// CAP_SETPCAP: take capabilities out of the bounding set.
    SetPcap,
}

impl Capability {
    /// The capabilities without which there is no live bus.
    pub const ALL: [Capability; 3] = [Capability::NetAdmin, Capability::NetRaw, Capability::SysAdmin];

    /// Its number in the kernel's sets.
    pub(crate) fn bit(self) -> u32 {
        match self {
            Capability::Kill => 5,
            Capability::SetPcap => 8,
            Capability::NetAdmin => 12,
            Capability::NetRaw => 13,
            Capability::SysPtrace => 19,
            Capability::SysAdmin => 21,
            Capability::SysNice => 23,
        }
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Capability::NetAdmin => "CAP_NET_ADMIN",
            Capability::NetRaw => "CAP_NET_RAW",
            Capability::SysAdmin => "CAP_SYS_ADMIN",
            Capability::SysNice => "CAP_SYS_NICE",
            Capability::SysPtrace => "CAP_SYS_PTRACE",
            Capability::Kill => "CAP_KILL",
            Capability::SetPcap => "CAP_SETPCAP",
        })
    }
}

/// Whether `capability` is effective in the calling thread.
pub fn has_capability(capability: Capability) -> io::Result<bool> {
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let set = status_field(&status, "CapEff")
        .and_then(|text| u64::from_str_radix(text, 16).ok())
        .ok_or(io::ErrorKind::InvalidData)?;
    Ok(set >> capability.bit() & 1 == 1)
}

/// The capabilities of [`Capability::ALL`] that the calling thread lacks.
pub fn capabilities_missing() -> io::Result<Vec<Capability>> {
    let mut missing = Vec::new();
    for capability in Capability::ALL {
        if !has_capability(capability)? {
            missing.push(capability);
        }
    }
    Ok(missing)
}

/// Why a user namespace could not be entered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserNamespaceError {
    /// The process has more than one thread: this must be the first thing that it does.
    #[error("a user namespace cannot be entered by a process with {threads} threads")]
    HasThreads {
        /// How many it has.
        threads: usize,
    },
    /// The system forbids it to this user: run as root, or allow it by `setting`.
    #[error("unprivileged user namespaces are forbidden here; see {setting}")]
    Forbidden {
        /// The file in `/proc/sys` that most likely says so.
        setting: &'static str,
    },
    /// The system's limit on user namespaces is reached, or zero: raise `setting`.
    #[error("no more user namespaces are allowed; see {setting}")]
    TooMany {
        /// The file in `/proc/sys` that holds the limit.
        setting: &'static str,
    },
    /// The kernel was built without user namespaces.
    #[error("this kernel has no user namespaces")]
    NotSupported,
    /// The kernel refused `call` for another reason.
    #[error("{call} failed")]
    System {
        /// What was refused.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// Enters a new user namespace in which the caller is root, with every capability over namespaces
/// made from now on and over nothing outside.
///
/// The process must have one thread. Files made by it still belong to the user who started it.
pub fn enter_user_namespace() -> Result<(), UserNamespaceError> {
    let status = fs::read_to_string("/proc/self/status").map_err(system("reading /proc"))?;
    let threads = status_field(&status, "Threads").and_then(|text| text.parse().ok()).unwrap_or(1);
    if threads != 1 {
        return Err(UserNamespaceError::HasThreads { threads });
    }
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|errno| {
        let source = io::Error::from(errno);
        match errno {
            nix::errno::Errno::EPERM | nix::errno::Errno::EACCES => forbidden(),
            nix::errno::Errno::ENOSPC | nix::errno::Errno::EUSERS => {
                UserNamespaceError::TooMany { setting: "/proc/sys/user/max_user_namespaces" }
            }
            nix::errno::Errno::EINVAL | nix::errno::Errno::ENOSYS => UserNamespaceError::NotSupported,
            _ => UserNamespaceError::System { call: "entering a user namespace", source },
        }
    })?;
    // The order is the kernel's: gid_map may be written only once setgroups is denied.
    write_own("/proc/self/setgroups", "deny")?;
    write_own("/proc/self/uid_map", &format!("0 {user} 1"))?;
    write_own("/proc/self/gid_map", &format!("0 {group} 1"))
}

/// Writes a file that describes the new user namespace, in one call as the kernel demands.
fn write_own(path: &'static str, text: &str) -> Result<(), UserNamespaceError> {
    fs::write(path, text).map_err(|source| match source.kind() {
        // AppArmor lets unshare pass, and takes the new capabilities away.
        io::ErrorKind::PermissionDenied => forbidden(),
        _ => UserNamespaceError::System { call: path, source },
    })
}

/// The error that names the switch which this system has.
fn forbidden() -> UserNamespaceError {
    let switches = [
        ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ];
    let setting = switches
        .iter()
        .find(|(path, forbids)| fs::read_to_string(path).is_ok_and(|text| text.trim() == *forbids))
        .map_or("the container's or security module's policy", |(path, _)| path);
    UserNamespaceError::Forbidden { setting }
}

/// For use with `map_err`.
fn system(call: &'static str) -> impl FnOnce(io::Error) -> UserNamespaceError {
    move |source| UserNamespaceError::System { call, source }
}

/// The value of a line `key: value` of a status file.
fn status_field<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    status.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_field_is_found_by_its_whole_key() {
        let status = "CapEffective:\t1\nCapEff:\t0000000000003000\nThreads:\t12\n";
        assert_eq!(status_field(status, "CapEff"), Some("0000000000003000"));
        assert_eq!(status_field(status, "Threads"), Some("12"));
        assert_eq!(status_field(status, "Cap"), None);
    }

    #[test]
    fn a_process_with_threads_may_not_enter_a_user_namespace() {
        // The test harness runs this on a thread of its own.
        let refused = enter_user_namespace();
        assert!(matches!(refused, Err(UserNamespaceError::HasThreads { threads: 2.. })));
    }
}
