//! Capabilities, and the user namespace that gives them to an unprivileged user.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};

use super::NamespaceId;

/// A capability that a live bus needs, or that a user of one keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capability {
    /// CAP_NET_ADMIN: make links, set them up, change their settings.
    NetAdmin,
    /// CAP_NET_RAW: open packet sockets.
    NetRaw,
    /// CAP_SYS_ADMIN: make and enter namespaces, mount.
    SysAdmin,
    /// CAP_SYS_NICE: raise priority above other processes.
    SysNice,
    /// CAP_IPC_LOCK: keep memory from being swapped out.
    IpcLock,
    /// CAP_SYS_PTRACE: inspect the namespace of a process that has more rights or another user.
    SysPtrace,
    /// CAP_KILL: end processes of other users.
    Kill,
    /// CAP_NET_BROADCAST: receive changes of interfaces in other namespaces.
    NetBroadcast,
    /// CAP_SETPCAP: take capabilities out of the bounding set.
    SetPcap,
    /// CAP_DAC_OVERRIDE: write to files and folders of other users.
    DacOverride,
}

impl Capability {
    /// The capabilities that a live bus requires.
    pub const ALL: [Capability; 3] = [Capability::NetAdmin, Capability::NetRaw, Capability::SysAdmin];

    /// Its number in the kernel's sets.
    pub(crate) fn bit(self) -> u32 {
        match self {
            Capability::DacOverride => 1,
            Capability::Kill => 5,
            Capability::SetPcap => 8,
            Capability::NetBroadcast => 11,
            Capability::NetAdmin => 12,
            Capability::NetRaw => 13,
            Capability::SysPtrace => 19,
            Capability::SysAdmin => 21,
            Capability::SysNice => 23,
            Capability::IpcLock => 14,
        }
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Capability::NetAdmin => "CAP_NET_ADMIN",
            Capability::NetBroadcast => "CAP_NET_BROADCAST",
            Capability::NetRaw => "CAP_NET_RAW",
            Capability::SysAdmin => "CAP_SYS_ADMIN",
            Capability::SysNice => "CAP_SYS_NICE",
            Capability::IpcLock => "CAP_IPC_LOCK",
            Capability::SysPtrace => "CAP_SYS_PTRACE",
            Capability::Kill => "CAP_KILL",
            Capability::SetPcap => "CAP_SETPCAP",
            Capability::DacOverride => "CAP_DAC_OVERRIDE",
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
    /// The process has more than one thread: call this first in a process.
    #[error("a user namespace cannot be entered by a process with {threads} threads")]
    HasThreads {
        /// The number of threads.
        threads: usize,
    },
    /// The system forbids it to this user.
    #[error("users may not make user namespaces here: {remedy}")]
    Forbidden {
        /// What would allow it.
        remedy: String,
    },
    /// The system's limit on user namespaces is reached, or zero.
    #[error("no more user namespaces are allowed here: raise it with `sudo sysctl -w user.max_user_namespaces=10000`")]
    TooMany,
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

/// A user namespace, kept alive by a descriptor.
#[derive(Debug)]
pub struct UserNamespace {
    file: File,
}

impl UserNamespace {
    /// The user namespace of this process.
    pub fn current() -> io::Result<UserNamespace> {
        Ok(UserNamespace { file: File::open("/proc/self/ns/user")? })
    }

    /// Takes a descriptor of a user namespace. A descriptor of something else is detected only when it is entered.
    pub fn from_fd(descriptor: OwnedFd) -> UserNamespace {
        UserNamespace { file: File::from(descriptor) }
    }

    /// The number that distinguishes this user namespace from others that exist now.
    ///
    /// # Errors
    /// A descriptor of an object without status.
    pub fn identity(&self) -> io::Result<NamespaceId> {
        Ok(NamespaceId::of(&self.file.metadata()?))
    }

    /// Moves this process permanently into this user namespace, with every capability in it. Nothing changes for a
    /// process that is in it already.
    ///
    /// The kernel admits the user who made it, and processes with CAP_SYS_ADMIN in it; the process must have one
    /// thread.
    pub fn enter(&self) -> Result<(), UserNamespaceError> {
        let ids = || Ok((self.identity()?, UserNamespace::current()?.identity()?));
        let (own, current) = ids().map_err(system("looking at a user namespace"))?;
        if own == current {
            return Ok(());
        }
        require_one_thread()?;
        let entered = setns(&self.file, CloneFlags::CLONE_NEWUSER);
        entered.map_err(|errno| system("entering a user namespace")(errno.into()))
    }
}

impl AsFd for UserNamespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The owner of the files that this process makes, as the enclosing user namespace numbers it; outside of all user
/// namespaces, its own number.
///
/// In a namespace made by [`enter_user_namespace`] it is the user who entered it.
pub fn outer_user() -> io::Result<u32> {
    let map = fs::read_to_string("/proc/self/uid_map")?;
    outer(&map, geteuid().as_raw()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The fields of a line are: first number inside, first number outside, count.
fn outer(map: &str, inside: u32) -> Option<u32> {
    map.lines().find_map(|line| {
        let numbers: Vec<u64> = line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [first, outside, count] = numbers[..] else { return None };
        let place = u64::from(inside).checked_sub(first).filter(|place| *place < count)?;
        u32::try_from(outside + place).ok()
    })
}

fn require_one_thread() -> Result<(), UserNamespaceError> {
    let status = fs::read_to_string("/proc/self/status").map_err(system("reading /proc"))?;
    let threads = status_field(&status, "Threads").and_then(|text| text.parse().ok()).unwrap_or(1);
    if threads == 1 { Ok(()) } else { Err(UserNamespaceError::HasThreads { threads }) }
}

/// Enters a new user namespace in which the caller has every capability over namespaces made from now on, and over
/// nothing outside.
///
/// The process must have one thread. The user keeps the same uid, which is not 0: a program that runs as root changes
/// to another user and other groups, as tcpdump does, and such a namespace has none. Programs that are executed
/// therefore have only the rights that are passed on to them ([`crate::confine::pass_on_capabilities`]).
pub fn enter_user_namespace() -> Result<(), UserNamespaceError> {
    require_one_thread()?;
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|errno| {
        let source = io::Error::from(errno);
        match errno {
            nix::errno::Errno::EPERM | nix::errno::Errno::EACCES => forbidden(),
            nix::errno::Errno::ENOSPC | nix::errno::Errno::EUSERS => UserNamespaceError::TooMany,
            nix::errno::Errno::EINVAL | nix::errno::Errno::ENOSYS => UserNamespaceError::NotSupported,
            _ => UserNamespaceError::System { call: "entering a user namespace", source },
        }
    })?;
    // The kernel demands this order: gid_map may be written only once setgroups is denied.
    write_own("/proc/self/setgroups", "deny")?;
    write_own("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    write_own("/proc/self/gid_map", &format!("{group} {group} 1"))
}

/// Writes a file that describes the new user namespace, in a single call, as the kernel demands.
fn write_own(path: &'static str, text: &str) -> Result<(), UserNamespaceError> {
    fs::write(path, text).map_err(|source| match source.kind() {
        // AppArmor lets unshare pass, and removes the new capabilities.
        io::ErrorKind::PermissionDenied => forbidden(),
        _ => UserNamespaceError::System { call: path, source },
    })
}

/// The error that names the switch of this system and how to turn it.
fn forbidden() -> UserNamespaceError {
    let switches = [
        (
            "/proc/sys/kernel/unprivileged_userns_clone",
            "0",
            "allow it with `sudo sysctl -w kernel.unprivileged_userns_clone=1`",
        ),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "allow it with `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, or to ethbus alone by an \
             AppArmor profile with the rule `userns,`",
        ),
    ];
    let found =
        switches.iter().find(|(path, forbids, _)| fs::read_to_string(path).is_ok_and(|text| text.trim() == *forbids));
    let profile = fs::read_to_string("/proc/self/attr/apparmor/current").ok();
    let remedy = match (found, profile.as_deref().and_then(confining_profile)) {
        (Some((.., remedy)), _) => (*remedy).to_owned(),
        (None, Some(profile)) => format!(
            "the AppArmor profile `{profile}` forbids it: allow `capability,` and, where AppArmor knows it, `userns,` there"
        ),
        (None, None) => "a container's or a security module's policy forbids it".to_owned(),
    };
    UserNamespaceError::Forbidden { remedy }
}

/// The AppArmor profile of this process, out of the kernel's text: `name (mode)`, or `unconfined`.
fn confining_profile(current: &str) -> Option<&str> {
    let (name, mode) = current.trim_end_matches(['\n', '\0']).rsplit_once(" (")?;
    matches!(mode, "enforce)" | "kill)").then_some(name)
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
    fn a_profile_is_named_if_it_is_enforced() {
        assert_eq!(confining_profile("unconfined\n"), None);
        assert_eq!(confining_profile("/usr/bin/man (complain)\n"), None);
        assert_eq!(confining_profile("lab (of ours) (enforce)\n"), Some("lab (of ours)"));
        assert_eq!(confining_profile(""), None);
    }

    #[test]
    fn a_map_of_users_leads_outside() {
        assert_eq!(outer("         0       1000          1\n", 0), Some(1000));
        assert_eq!(outer("         0       1000          1\n", 1), None);
        assert_eq!(outer("         0          0 4294967295\n", 1000), Some(1000));
        assert_eq!(outer("0 1000 1\n1 100000 65536\n", 65_534), Some(165_533));
        assert_eq!(outer("0 4294967295 4294967295\n", 1), None, "no user has such a number");
        assert_eq!(outer("", 0), None);
        assert_eq!(outer("0 x 1\n", 0), None);
    }

    #[test]
    fn to_enter_the_own_user_namespace_changes_nothing() {
        // The threads of the harness do not matter here.
        UserNamespace::current().unwrap().enter().unwrap();
    }

    #[test]
    fn a_process_with_threads_may_not_enter_a_user_namespace() {
        // The test harness runs this on a thread of its own.
        let refused = enter_user_namespace();
        assert!(matches!(refused, Err(UserNamespaceError::HasThreads { threads: 2.. })));
    }
}
