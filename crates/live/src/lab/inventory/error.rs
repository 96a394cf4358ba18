//! Why a lab's inventory could not be made, read or followed, and what to do about it.

use super::Inventory;
use crate::lab::lent::UndoError;
use crate::lab::owner::Owner;
use link::namespace::{NamespaceError, UserNamespaceError};
use sim::scenario::plan::DEFAULT_NAME;
use std::io;
use std::path::{Path, PathBuf};

/// Why a lab's inventory could not be made, read or followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InventoryError {
    /// The lab is up.
    #[error("a lab called `{name}` is up: take it down with `ethbus down --name {name}`, or choose another --name")]
    InUse {
        /// Its name.
        name: String,
    },
    /// The lab is not up.
    #[error("no lab called `{name}` is up: bring one up with `{}`{}", up(name), last_words(name))]
    NotUp {
        /// Its name.
        name: String,
    },
    /// The lab is not up, and left nothing behind.
    #[error("no lab called `{name}` is up: there is nothing to take down{}", last_words(name))]
    NothingToTakeDown {
        /// Its name.
        name: String,
    },
    /// The user has no folder that is his alone.
    #[error(
        "{} is missing, where labs without root keep their records: a login makes it, or root with `install -d -m 700 -o \
         {user} {}`",
        folder.display(),
        folder.display()
    )]
    NoLogin {
        /// The folder.
        folder: PathBuf,
        /// The user.
        user: u32,
    },
    /// Programs in stations do not end.
    #[error("{left} programs in the lab's stations cannot be ended: they start again and again")]
    Programs {
        /// How many were left.
        left: usize,
    },
    /// The user namespace of a lab that was killed cannot be entered.
    #[error("cannot get at what a killed lab left running")]
    Enter(#[from] UserNamespaceError),
    /// A file of the inventory could not be used.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another user may have written the content, so none of it is used.
    #[error("{} {why}: nothing of it is used; see what it is, then remove it", path.display())]
    Untrusted {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The content of the inventory makes no sense.
    #[error("{} is not a lab's inventory; if no lab of this name is up, remove the folder", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Where.
        source: serde_json::Error,
    },
    /// Something outside could not be made what it was.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// A namespace of the lab could not be opened or removed.
    #[error("cannot use the namespace {name}")]
    Namespace {
        /// Its name.
        name: String,
        /// What went wrong.
        source: NamespaceError,
    },
}

/// For use with `map_err`.
pub(in crate::lab) fn file_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InventoryError {
    let path = path.to_owned();
    move |source| InventoryError::File { action, path, source }
}

/// The command that brings up a lab of this name.
fn up(name: &str) -> String {
    if name == DEFAULT_NAME { "ethbus up".to_owned() } else { format!("ethbus up --name {name}") }
}

/// The log of the last lab of this name, if there is one; and that root has a lab of this name, if the user may mean that.
fn last_words(name: &str) -> String {
    match Inventory::log(name) {
        Ok(log) if log.exists() => format!("; {} says why the last one ended", log.display()),
        _ if Owner::own().is_ok_and(|owner| owner != Owner::Root) && Owner::Root.folder().join(name).exists() => {
            "; the one that is there is root's, for `sudo ethbus`".to_owned()
        }
        _ => match Inventory::names_up() {
            others if others.is_empty() => String::new(),
            others => format!("; labs that are up: {}", others.join(", ")),
        },
    }
}
