//! Namespaces with a name, where `ip netns` looks for them.
//!
//! A name is a file in `/run/netns` onto which the namespace is mounted. The folder is a shared mount, so that every
//! mount namespace sees the names and can remove them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::statfs::{NSFS_MAGIC, fstatfs};
use nix::unistd::geteuid;

use super::{Namespace, NamespaceError, NamespaceId};

/// Where `ip netns` keeps the names.
const FOLDER: &str = "/run/netns";

/// What [`Namespace::remove_named`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The name is gone; the namespace goes when nothing else refers to it.
    Removed,
    /// There was nothing of this name.
    Absent,
    /// The name belongs to something else, and was left alone.
    NotOurs,
}

/// The folder of names, ready for new names.
#[derive(Debug)]
pub struct Names(());

impl Names {
    /// Makes the folder, and makes its names visible in every mount namespace.
    pub fn prepare() -> Result<Names, NamespaceError> {
        share_folder()?;
        Ok(Names(()))
    }

    /// Gives a namespace a name. A caller that must be able to remove it after a crash notes its identity first. If
    /// anything fails, no name is left.
    pub fn give(&self, namespace: &Namespace, name: &str) -> Result<(), NamespaceError> {
        let path = path_of(name)?;
        claim(name, &path)?;
        let own = format!("/proc/self/fd/{}", namespace.file.as_raw_fd());
        let bound = mount(Some(own.as_str()), &path, NOTHING, MsFlags::MS_BIND, NOTHING);
        if bound.is_err() {
            // The file is empty and was made above. If it cannot be removed, the error below says more than a second
            // one would.
            let _ = fs::remove_file(&path);
        }
        bound.map_err(NamespaceError::of("mounting a network namespace"))
    }
}

impl Namespace {
    /// A new namespace with a name, as `ip netns add` makes one.
    ///
    /// It stays when the process ends; [`Namespace::remove_named`] removes it. If anything fails,
    /// neither namespace nor name is left.
    pub fn named(name: &str) -> Result<Namespace, NamespaceError> {
        let namespace = Namespace::anonymous()?;
        namespace.give_name(name)?;
        Ok(namespace)
    }

    /// Gives this namespace a name: see [`Names::give`].
    pub fn give_name(&self, name: &str) -> Result<(), NamespaceError> {
        Names::prepare()?.give(self, name)
    }

    /// Opens the namespace called `name`, also if another program made it.
    pub fn open_named(name: &str) -> Result<Namespace, NamespaceError> {
        look_up(name)?.namespace(name)
    }

    /// Opens the namespace called `name`, or the target if the name is a link, as those of containers are. Its owner
    /// removes it, so it is only entered.
    pub fn open_listed(name: &str) -> Result<Namespace, NamespaceError> {
        look_at(name, OFlag::empty())?.namespace(name)
    }

    /// Opens the namespace at an absolute path, as Docker and CNI name one. Its owner removes it, so it is only entered.
    pub fn open_path(path: &Path) -> Result<Namespace, NamespaceError> {
        let name = path.display().to_string();
        look_at_path(path, OFlag::empty())?.namespace(&name)
    }

    /// The identity of the namespace called `name`; `None` if there is no such name.
    pub fn identity_of_named(name: &str) -> Result<Option<NamespaceId>, NamespaceError> {
        match Namespace::open_named(name) {
            Ok(namespace) => Ok(Some(namespace.identity())),
            Err(NamespaceError::Absent { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes the name away from the namespace, if it is the `expected` one.
    ///
    /// Processes and sockets in it keep the namespace itself alive.
    pub fn remove_named(name: &str, expected: NamespaceId) -> Result<Removal, NamespaceError> {
        let path = path_of(name)?;
        let namespace = match look_up(name)? {
            Found::Nothing => return Ok(Removal::Absent),
            Found::SomethingElse => return Ok(Removal::NotOurs),
            Found::Namespace(namespace) => namespace,
        };
        if namespace.identity() != expected {
            return Ok(Removal::NotOurs);
        }
        // Through the descriptor, so that the unmounted file is the compared one.
        let mounted = format!("/proc/self/fd/{}", namespace.file.as_raw_fd());
        umount2(mounted.as_str(), MntFlags::MNT_DETACH)
            .map_err(NamespaceError::of("unmounting a network namespace"))?;
        remove_file(&path)
    }

    /// Removes the file of a namespace whose maker died before it was complete.
    ///
    /// Making a namespace is two steps, a file and a mount. Three things identify the rest of a crash between them: a
    /// regular file, empty, on the folder's own file system, with nothing mounted on it. A running `ip netns add` looks
    /// the same for a moment, so only a caller that owns the name may ask for this. Anything else is
    /// [`Removal::NotOurs`].
    pub fn remove_leftover(name: &str) -> Result<Removal, NamespaceError> {
        let path = path_of(name)?;
        let status = |path: &Path| match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(NamespaceError::of("looking up a namespace's name")(error)),
        };
        let (Some(folder), Some(file)) = (status(Path::new(FOLDER))?, status(&path)?) else {
            return Ok(Removal::Absent);
        };
        if !file.is_file() || file.len() != 0 || file.dev() != folder.dev() {
            return Ok(Removal::NotOurs);
        }
        remove_file(&path)
    }
}

/// Every name in the folder of `ip netns`, namespace or not.
pub(super) fn names() -> Vec<String> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Whether only this mount namespace sees the names given here, so that they end with it: it is a slave of another,
/// like those of `ip netns exec`.
pub fn names_are_private() -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let folder = fields.rev().find(|fields| fields.get(4) == Some(&FOLDER));
    // The fields about propagation are between the first six and a dash.
    folder.is_some_and(|fields| {
        fields.iter().skip(6).take_while(|field| **field != "-").any(|field| field.starts_with("master:"))
    })
}

/// A missing source, type or data of a mount.
const NOTHING: Option<&str> = None;

/// What a name refers to.
enum Found {
    Nothing,
    Namespace(Namespace),
    SomethingElse,
}

impl Found {
    fn namespace(self, name: &str) -> Result<Namespace, NamespaceError> {
        match self {
            Found::Namespace(namespace) => Ok(namespace),
            Found::Nothing => Err(NamespaceError::Absent { name: name.to_owned() }),
            Found::SomethingElse => Err(NamespaceError::NotANamespace { name: name.to_owned() }),
        }
    }
}

/// The file of the namespace called `name`.
fn path_of(name: &str) -> Result<PathBuf, NamespaceError> {
    let valid = !matches!(name, "" | "." | "..") && name.len() <= 255 && !name.contains(['/', '\0']);
    match valid {
        true => Ok(Path::new(FOLDER).join(name)),
        false => Err(NamespaceError::InvalidName { name: name.to_owned() }),
    }
}

/// Opens the file of this name, not the target of a link, and checks its kind.
fn look_up(name: &str) -> Result<Found, NamespaceError> {
    look_at(name, OFlag::O_NOFOLLOW)
}

fn look_at(name: &str, flags: OFlag) -> Result<Found, NamespaceError> {
    look_at_path(&path_of(name)?, flags)
}

fn look_at_path(path: &Path, flags: OFlag) -> Result<Found, NamespaceError> {
    // Not blocking: it could be a pipe.
    let flags = OFlag::O_NONBLOCK | flags;
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(NamespaceError::of("opening a network namespace")(error)),
    };
    let system = fstatfs(&file).map_err(NamespaceError::of("looking at a network namespace"))?.filesystem_type();
    Ok(if system == NSFS_MAGIC { Found::Namespace(Namespace::of(file)) } else { Found::SomethingElse })
}

/// Makes the empty file onto which the namespace will be mounted.
fn claim(name: &str, path: &Path) -> Result<(), NamespaceError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o000).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(NamespaceError::Exists { name: name.to_owned() })
        }
        Err(error) => Err(NamespaceError::of("making a namespace's file")(error)),
    }
}

/// Makes the folder and turns it into a shared mount, unless it is one already.
fn share_folder() -> Result<(), NamespaceError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(FOLDER)
        .map_err(NamespaceError::of("making /run/netns"))?;
    let folder = File::open(FOLDER).map_err(NamespaceError::of("opening /run/netns"))?;
    let metadata = folder.metadata().map_err(NamespaceError::of("opening /run/netns"))?;
    if metadata.uid() != geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
        return Err(NamespaceError::Untrusted { path: FOLDER });
    }
    // Two processes that start at once must not mount the folder twice; `ip netns add` takes the same lock.
    let _lock = Flock::lock(folder, FlockArg::LockExclusive)
        .map_err(|(_, errno)| NamespaceError::of("locking /run/netns")(errno))?;
    let share = || mount(NOTHING, FOLDER, NOTHING, MsFlags::MS_SHARED | MsFlags::MS_REC, NOTHING);
    match share() {
        // The folder is no mount yet: it is mounted onto itself.
        Err(Errno::EINVAL) => {
            mount(Some(FOLDER), FOLDER, NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING).and_then(|()| share())
        }
        shared => shared,
    }
    .map_err(NamespaceError::of("sharing /run/netns"))
}

/// Removes the name, on which nothing is mounted any more.
fn remove_file(path: &Path) -> Result<Removal, NamespaceError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(Removal::Removed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Removal::Absent),
        Err(error) => Err(NamespaceError::of("removing a namespace's name")(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_name_of_a_namespace() {
        for name in ["", ".", "..", "a/b", "/run", "a\0b", &"x".repeat(256)] {
            let refused = path_of(name);
            assert!(matches!(refused, Err(NamespaceError::InvalidName { .. })), "{name:?}");
        }
        assert_eq!(path_of("bus-a").unwrap(), Path::new("/run/netns/bus-a"));
    }
}
