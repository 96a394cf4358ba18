//! Network namespaces: making, finding, entering and removing them; and the user namespace of an unprivileged lab.
//!
//! A namespace lives as long as something refers to it: a process, a mount, a socket opened in it, or a [`Namespace`].
//! A namespace that only descriptors hold ends when they are closed, however the process ends.
//!
//! Nothing here knows the purpose of a namespace.

mod named;
mod processes;
mod user;

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::thread;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::Pid;

pub use named::{Names, Removal, names_are_private};
pub use processes::{Member, members, newest_members};
pub use user::{
    Capability, UserNamespace, UserNamespaceError, capabilities_missing, enter_user_namespace, has_capability,
    outer_user,
};

/// The calling thread's network namespace.
const OWN_NAMESPACE: &str = "/proc/thread-self/ns/net";

/// Why something could not be done with a namespace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceError {
    /// The process lacks CAP_SYS_ADMIN: become root, or enter a user namespace first.
    #[error("{call} needs CAP_SYS_ADMIN")]
    NotPermitted {
        /// What was refused.
        call: &'static str,
    },
    /// A namespace of this name exists already: choose another name, or remove it.
    #[error("a network namespace called {name} exists already")]
    Exists {
        /// The name asked for.
        name: String,
    },
    /// There is no namespace of this name.
    #[error("there is no network namespace called {name}")]
    Absent {
        /// The name asked for.
        name: String,
    },
    /// There is no process of this number, or it has ended.
    #[error("there is no process {pid} whose network namespace could be opened")]
    NoProcess {
        /// The number asked for.
        pid: u32,
    },
    /// A namespace cannot have this name: it is empty, longer than 255 octets, or a path.
    #[error("{name:?} cannot name a network namespace")]
    InvalidName {
        /// The name asked for.
        name: String,
    },
    /// The file of this name is no namespace: something else made it, or making one was interrupted.
    #[error("{name} is a file, but no network namespace")]
    NotANamespace {
        /// The name asked for.
        name: String,
    },
    /// Other users could replace what is made there.
    #[error("{path} belongs to another user, or other users may write to it: no namespace is named there")]
    Untrusted {
        /// The folder.
        path: &'static str,
    },
    /// The kernel refused `call` for another reason.
    #[error("{call} failed")]
    System {
        /// What was refused.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl NamespaceError {
    /// For use with `map_err`: turns the kernel's answer to `call` into a variant.
    fn of<E: Into<io::Error>>(call: &'static str) -> impl FnOnce(E) -> NamespaceError {
        move |error| {
            let source = error.into();
            match source.kind() {
                io::ErrorKind::PermissionDenied => NamespaceError::NotPermitted { call },
                _ => NamespaceError::System { call, source },
            }
        }
    }
}

/// What tells one namespace from another: its file's device and inode numbers.
///
/// Unique among namespaces that live at the same time. The kernel may use an inode number again
/// once its namespace is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamespaceId {
    /// Device of the namespace file system.
    pub device: u64,
    /// Inode of the namespace in it.
    pub inode: u64,
}

impl NamespaceId {
    fn of(metadata: &fs::Metadata) -> NamespaceId {
        NamespaceId { device: metadata.dev(), inode: metadata.ino() }
    }

    /// The identity of the namespace that process `pid` is in.
    pub fn of_process(pid: Pid) -> io::Result<NamespaceId> {
        Ok(NamespaceId::of(&fs::metadata(format!("/proc/{pid}/ns/net"))?))
    }
}

/// A network namespace, kept alive by a descriptor.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    /// The value of [`Namespace::cookie`], once it has been read.
    cookie: OnceLock<u64>,
}

/// Runs `task` on a thread of its own. The task may change namespaces several times ([`Namespace::enter`],
/// [`Namespace::enter_new`]), which is cheaper than a thread for each, above all where processors are busy.
pub fn apart<T: Send>(task: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| joined(scope.spawn(task)))
}

impl Namespace {
    /// A new namespace that only this value holds: it vanishes with the last copy of its descriptor.
    pub fn anonymous() -> Result<Namespace, NamespaceError> {
        // The caller's thread stays in its namespace.
        apart(Namespace::enter_new)
    }

    /// Makes a new namespace and moves the calling thread into it, for good. The namespace's cookie is already known.
    pub fn enter_new() -> Result<Namespace, NamespaceError> {
        unshare(CloneFlags::CLONE_NEWNET).map_err(NamespaceError::of("making a network namespace"))?;
        let namespace = Namespace::current()?;
        // If the kernel gives no cookie here, [`Namespace::cookie`] asks again and returns the refusal.
        let _ = own_cookie().map(|cookie| namespace.cookie.set(cookie));
        Ok(namespace)
    }

    /// The namespace that the calling thread is in.
    pub fn current() -> Result<Namespace, NamespaceError> {
        let file = File::open(OWN_NAMESPACE).map_err(NamespaceError::of("opening the own namespace"))?;
        Ok(Namespace::of(file))
    }

    fn of(file: File) -> Namespace {
        Namespace { file, cookie: OnceLock::new() }
    }

    /// Takes a descriptor of a network namespace, for instance one from another process.
    ///
    /// A descriptor of something else is detected only when it is entered.
    pub fn from_fd(descriptor: OwnedFd) -> Namespace {
        Namespace::of(File::from(descriptor))
    }

    /// Gives up the descriptor, which keeps the namespace alive.
    pub fn into_fd(self) -> OwnedFd {
        self.file.into()
    }

    /// Another descriptor of the same namespace.
    pub fn try_clone(&self) -> io::Result<Namespace> {
        Ok(Namespace { file: self.file.try_clone()?, cookie: self.cookie.clone() })
    }

    /// The user namespace whose root has every right over this namespace.
    pub fn owner(&self) -> Result<UserNamespace, NamespaceError> {
        let owner = crate::sys::namespace::owner(self.file.as_fd());
        owner.map(UserNamespace::from_fd).map_err(NamespaceError::of("asking who owns a network namespace"))
    }

    /// The number that distinguishes this namespace from others that exist now.
    ///
    /// # Panics
    ///
    /// If the kernel refuses the status of an open descriptor, which it never does.
    pub fn identity(&self) -> NamespaceId {
        NamespaceId::of(&self.file.metadata().expect("an open descriptor has a status"))
    }

    /// A number that no other namespace gets until the machine is booted again, unlike an inode, which is reused.
    ///
    /// Needs Linux 5.14.
    pub fn cookie(&self) -> Result<u64, NamespaceError> {
        if let Some(&known) = self.cookie.get() {
            return Ok(known);
        }
        let cookie = self.run(own_cookie)?.map_err(NamespaceError::of("reading a network namespace's cookie"))?;
        Ok(*self.cookie.get_or_init(|| cookie))
    }

    /// Moves the calling thread into this namespace permanently.
    pub fn enter(&self) -> Result<(), NamespaceError> {
        setns(&self.file, CloneFlags::CLONE_NEWNET).map_err(NamespaceError::of("entering a network namespace"))
    }

    /// Runs `task` in this namespace, on a thread of its own, and gives its value.
    pub fn run<T: Send>(&self, task: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        apart(|| {
            self.enter()?;
            Ok(task())
        })
    }

    /// The processes that are in this namespace, as far as the caller may look.
    ///
    /// Like [`members`], for this one namespace.
    pub fn processes(&self) -> io::Result<Vec<Pid>> {
        Ok(members(&[self.identity()])?.map(|member| member.pid()).collect())
    }

    /// The namespace with this identity and cookie, if it can be found: it is the caller's own, has a name, or has a
    /// process in it that the caller may inspect.
    pub fn find(identity: NamespaceId, cookie: u64) -> Option<Namespace> {
        let is_it = |namespace: &Namespace| {
            namespace.identity() == identity && namespace.cookie().is_ok_and(|found| found == cookie)
        };
        Namespace::all_to_find().find(is_it)
    }

    /// The caller's own namespace, those with names, and those of processes that the caller may inspect. One may come more
    /// than once.
    pub(crate) fn all_to_find() -> impl Iterator<Item = Namespace> {
        let named = || named::names().into_iter().filter_map(|name| Namespace::open_named(&name).ok());
        let named = std::iter::once_with(named).flatten();
        Namespace::current().into_iter().chain(named).chain(std::iter::once_with(Namespace::of_processes).flatten())
    }

    /// The namespaces of processes that the caller may inspect; the first process's comes first.
    fn of_processes() -> impl Iterator<Item = Namespace> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut pids: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        pids.sort_unstable();
        pids.into_iter().filter_map(|pid| File::open(format!("/proc/{pid}/ns/net")).ok()).map(Namespace::of)
    }

    /// The namespace of the machine's first process. The kernel moves hardware there when the hardware's own namespace
    /// ends.
    pub fn of_first_process() -> Result<Namespace, NamespaceError> {
        let file = File::open("/proc/1/ns/net").map_err(NamespaceError::of("opening the first process's namespace"))?;
        Ok(Namespace::of(file))
    }

    /// The namespace that process `pid` is in, kept alive by the returned value.
    pub fn open_of_process(pid: u32) -> Result<Namespace, NamespaceError> {
        let file = File::open(format!("/proc/{pid}/ns/net")).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NamespaceError::NoProcess { pid },
            _ => NamespaceError::of("opening a process's namespace")(error),
        })?;
        Ok(Namespace::of(file))
    }

    /// Prepares the process to execute a program in this namespace. The process cannot go back.
    ///
    /// Beside the network namespace it gets a mount namespace of its own, whose `/sys` shows this namespace's
    /// interfaces. If `/sys` cannot be mounted, as in some containers, the old mount stays: programs that look there
    /// then see the wrong interfaces, and most do not look.
    ///
    /// Call this in a process that is about to replace itself: other threads are not moved.
    pub fn enter_for_exec(&self) -> Result<(), NamespaceError> {
        self.enter()?;
        enter_own_mounts()?;
        let nothing: Option<&str> = None;
        let read_only = statvfs("/sys").is_ok_and(|sys| sys.flags().contains(FsFlags::ST_RDONLY));
        let flags = if read_only { MsFlags::MS_RDONLY } else { MsFlags::empty() };
        // The new mount covers the old one, so a failure loses nothing.
        let _ = mount(Some("sysfs"), "/sys", Some("sysfs"), flags, nothing);
        Ok(())
    }
}

/// Moves the calling thread into a mount namespace of its own. Mounts made here do not appear outside; mounts made outside
/// still appear here.
fn enter_own_mounts() -> Result<(), NamespaceError> {
    unshare(CloneFlags::CLONE_NEWNS).map_err(NamespaceError::of("making a mount namespace"))?;
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_SLAVE | MsFlags::MS_REC, nothing).map_err(|error| {
        let call = match error {
            Errno::EINVAL => "making mounts private in a chroot (`mount --bind DIR DIR` before `chroot DIR` allows it)",
            _ => "making mounts private",
        };
        NamespaceError::of(call)(error)
    })
}

/// Runs `task` with a `/proc` of its own, on a thread of its own in the calling thread's network namespace: container
/// engines mount `/proc/sys` read-only over a `/proc` that is not.
pub(crate) fn with_own_proc<T: Send>(task: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
    apart(|| {
        enter_own_mounts()?;
        let nothing: Option<&str> = None;
        mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing)
            .map_err(NamespaceError::of("mounting /proc"))?;
        Ok(task())
    })
}

/// Mounts the file `file` over the file `over`, for this process and its children.
///
/// Call it after [`Namespace::enter_for_exec`], which has made the mounts private.
///
/// # Errors
/// One of the files is not there, or the kernel refuses.
pub fn mount_file(file: &std::path::Path, over: &std::path::Path) -> Result<(), NamespaceError> {
    let nothing: Option<&str> = None;
    mount(Some(file), over, nothing, MsFlags::MS_BIND, nothing).map_err(NamespaceError::of("mounting a file"))
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The cookie of the namespace that the calling thread is in.
fn own_cookie() -> io::Result<u64> {
    let (family, kind) = (AddressFamily::Unix, SockType::Datagram);
    crate::sys::option::netns_cookie(socket(family, kind, SockFlag::SOCK_CLOEXEC, None)?)
}

/// The thread's value; a panic of the thread continues in the caller.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_namespace_is_that_of_the_own_process() {
        let current = Namespace::current().expect("/proc is mounted");
        assert_eq!(current.identity(), NamespaceId::of_process(Pid::this()).unwrap());
        assert!(current.processes().unwrap().contains(&Pid::this()));
    }
}
