//! Where labs keep their inventories: root's in `/run/ethbus`, a user's in `/run/user/UID/ethbus`.
//!
//! An inventory names the objects to remove and the process to ask, so it is in a folder where no other user can write,
//! independent of environment variables. Both folders are emptied at boot, as namespaces are.

use super::inventory::{InventoryError, file_error};
use link::namespace::outer_user;
use link::process::effective_user;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What belongs to root.
const RUN: &str = "/run";
/// What a login makes for its user.
const USERS: &str = "/run/user";
const FOLDER: &str = "ethbus";

/// Whose labs a process has to do with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Root's. Others may list the labs, and look into none.
    Root,
    /// Those of an ordinary user. No other user can even list them.
    User {
        /// His number.
        user: u32,
    },
}

impl Owner {
    /// This process's own.
    ///
    /// Compares with the owner of `/run`, not with uid 0: every user is uid 0 in a user namespace of his own, which a
    /// lab without root has.
    ///
    /// # Errors
    /// A system without `/run` or `/proc`.
    pub fn own() -> Result<Owner, InventoryError> {
        let run = std::fs::metadata(RUN).map_err(file_error("look at", Path::new(RUN)))?;
        if run.uid() == effective_user() {
            return Ok(Owner::Root);
        }
        let user = outer_user().map_err(file_error("read", Path::new("/proc/self/uid_map")))?;
        Ok(Owner::User { user })
    }

    /// Who runs this process: a user, or the user of `sudo`. Nothing for root alone, like systemd's and Docker's labs.
    pub fn person(&self) -> Option<u32> {
        match *self {
            Owner::Root => std::env::var("SUDO_UID").ok()?.parse().ok().filter(|&user| user != 0),
            Owner::User { user } => Some(user),
        }
    }

    /// The folder of all its labs.
    pub fn folder(&self) -> PathBuf {
        match self {
            Owner::Root => Path::new(RUN).join(FOLDER),
            Owner::User { .. } => self.login().join(FOLDER),
        }
    }

    /// Makes the folder if it is missing.
    ///
    /// # Errors
    /// A folder that another user could write to, or a user without a folder.
    pub fn make(&self) -> Result<PathBuf, InventoryError> {
        self.check_login()?;
        let folder = self.folder();
        make_folder(&folder, self.mode())?;
        Ok(folder)
    }

    /// Checks that no other user could have written there.
    ///
    /// # Errors
    /// As [`Owner::make`].
    pub fn check(&self) -> Result<(), InventoryError> {
        self.check_login()?;
        check_folder(&self.folder(), self.mode())
    }

    /// What a user's login has made.
    fn login(&self) -> PathBuf {
        match self {
            Owner::Root => PathBuf::from(RUN),
            Owner::User { user } => Path::new(USERS).join(user.to_string()),
        }
    }

    fn check_login(&self) -> Result<(), InventoryError> {
        let Owner::User { user } = *self else { return Ok(()) };
        let login = self.login();
        if std::fs::symlink_metadata(&login).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Err(InventoryError::NoLogin { folder: login, user });
        }
        // A user with write permission there could replace the folder that is checked here.
        let owner = |path: &str| std::fs::symlink_metadata(path).map_err(file_error("look at", Path::new(path)));
        let (run, users) = (owner(RUN)?, owner(USERS)?);
        if !users.is_dir() || users.uid() != run.uid() || users.mode() & 0o022 != 0 {
            return Err(InventoryError::Untrusted {
                path: PathBuf::from(USERS),
                why: "is not root's alone to write to",
            });
        }
        check_folder(&login, 0o700)
    }

    /// Others may list root's labs.
    fn mode(&self) -> u32 {
        match self {
            Owner::Root => 0o755,
            Owner::User { .. } => 0o700,
        }
    }
}

/// Makes a folder, or checks the one that is there.
///
/// # Errors
/// As [`check_folder`].
pub fn make_folder(path: &Path, mode: u32) -> Result<(), InventoryError> {
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_folder(path, mode),
        made => made.map_err(file_error("make", path)),
    }
}

/// Makes a folder, and those around it that are missing, for the own user alone, whatever the process's umask.
///
/// # Errors
/// A folder that cannot be made.
pub fn make_own_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The content of the folder names the objects to remove and the process to ask. So the folder must belong to the own
/// user, and no other user may have more rights to it than `mode` gives.
///
/// # Errors
/// A folder that fails this check.
pub fn check_folder(path: &Path, mode: u32) -> Result<(), InventoryError> {
    let metadata = match std::fs::symlink_metadata(path) {
        // Its owner has just removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata.map_err(file_error("look at", path))?,
    };
    let untrusted = |why| Err(InventoryError::Untrusted { path: path.to_owned(), why });
    match () {
        () if !metadata.is_dir() => untrusted("is no folder"),
        () if metadata.uid() != effective_user() => untrusted("belongs to another user"),
        () if metadata.mode() & 0o077 & !mode != 0 => untrusted("is open to other users"),
        () => Ok(()),
    }
}
