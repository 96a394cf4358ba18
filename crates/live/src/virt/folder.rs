//! The private folders of a run.

use link::process::effective_user;
use link::random::random;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How private folders are called; something random follows, so that no other user can make it first.
const PREFIX: &str = "ethbus-run-";

/// Where kernels have their memory, if it is there: its files are never written to a disk.
const SHARED_MEMORY: &str = "/dev/shm";

/// A private folder, removed with everything in it.
#[derive(Debug)]
pub(super) struct Folder {
    pub path: PathBuf,
    /// The folder itself, locked while its run lives: so other runs know that it is in use, and those in other PID namespaces
    /// know it too. None: the folder is in another one.
    _lock: Option<File>,
}

impl Folder {
    /// Makes the folder of a run, or of a build.
    pub fn new() -> io::Result<Folder> {
        Folder::within(&std::env::temp_dir())
    }

    /// Makes the folder for the memory of the kernels of a run, whose own folder is `own`.
    pub fn of_memory(own: &Path) -> io::Result<Folder> {
        Folder::within(Path::new(SHARED_MEMORY)).or_else(|_| {
            let path = own.join("memory");
            fs::create_dir(&path).map(|()| Folder { path, _lock: None })
        })
    }

    fn within(parent: &Path) -> io::Result<Folder> {
        remove_those_of_killed_runs(parent);
        loop {
            let path = make(parent)?;
            // Up to here another run may have taken the folder for that of a killed one.
            let lock = match File::open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                folder => folder?,
            };
            // Where the file system knows no locks, no run removes the folder of another one.
            if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) && is_at(&lock, &path) {
                return Ok(Folder { path, _lock: Some(lock) });
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed has been removed by somebody else.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Makes a folder for the own user alone, with a name that no other user can foretell.
fn make(parent: &Path) -> io::Result<PathBuf> {
    let path = parent.join(format!("{PREFIX}{:016x}", random()?));
    DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}

/// A run that was killed could not remove its folder: it is there, and not locked.
fn remove_those_of_killed_runs(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        // The metadata is that of a link itself.
        let is_own = || entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == effective_user());
        if is_named
            && is_own()
            && let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
            && is_at(&folder, &entry.path())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a path leads to this folder, and not to a later one.
fn is_at(folder: &File, path: &Path) -> bool {
    let (Ok(folder), Ok(there)) = (folder.metadata(), path.symlink_metadata()) else { return false };
    (folder.dev(), folder.ino()) == (there.dev(), there.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that the system gives to another process in another PID namespace, or again, is no sign of life.
    #[test]
    fn the_folder_of_a_killed_run_is_removed_and_that_of_a_live_one_is_not() {
        let parent = tempfile::tempdir().expect("a folder");
        let make = || Folder::within(parent.path()).expect("a folder");
        let (live, mut killed) = (make(), make());
        fs::write(killed.path.join("begun"), "").expect("a file");
        // The system lets go of the lock when a process ends.
        killed._lock = None;
        let other = tempfile::tempdir().expect("a folder");
        fs::write(other.path().join("file"), "").expect("a file");
        std::os::unix::fs::symlink(other.path(), parent.path().join(format!("{PREFIX}link"))).expect("a link");
        let next = make();
        assert_eq!([&live, &killed, &next].map(|folder| folder.path.exists()), [true, false, true]);
        assert!(other.path().join("file").exists(), "no link is followed");
        let mode = next.path.metadata().expect("a folder").mode();
        assert_eq!(mode & 0o777, 0o700);
        drop((live, killed, next));
        assert_eq!(fs::read_dir(parent.path()).expect("a folder").count(), 1, "the link alone is left");
    }

    /// Somebody else can make folders with the names of the next process numbers.
    #[test]
    fn nobody_can_be_there_first() {
        let parent = tempfile::tempdir().expect("a folder");
        let name = |folder: Folder| folder.path.file_name().expect("a name").to_owned();
        let [one, other] = [(); 2].map(|()| name(Folder::within(parent.path()).expect("a folder")));
        assert_ne!(one, other);
        assert_eq!(one.len(), PREFIX.len() + 16);
    }
}
