//! Which container has which station: one file for each interface of a container, in a folder for each network, so that a
//! later call of the plugin finds what an earlier one made.

use super::request::Attachment;
use crate::lab::owner::make_own_folders;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where the folders are; it goes with the machine's labs at a reboot.
const FOLDER: &str = "/run/ethbus-cni";
/// The file that is locked while a call works.
const LOCK: &str = ".lock";
/// The file that says that the plugin brought the lab up.
const OWNED: &str = ".owned";
/// The scenario, while the lab comes up.
const SCENARIO: &str = ".scenario.toml";

/// The attachments of a network, while a call has them for itself.
pub struct Attachments {
    folder: PathBuf,
    /// Dropped at the end of the call, or by the kernel when the process ends.
    _lock: File,
}

impl Attachments {
    /// Waits for other calls about the same network.
    pub fn of(network: &str) -> io::Result<Attachments> {
        let folder = Path::new(FOLDER).join(network);
        loop {
            make_own_folders(&folder)?;
            let lock = match File::options().create(true).append(true).open(folder.join(LOCK)) {
                // The last call before this one has removed the folder.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock?,
            };
            lock.lock()?;
            // The same with the file, while this call waited for it.
            let is_same = fs::metadata(folder.join(LOCK)).is_ok_and(|there| {
                lock.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (there.dev(), there.ino()))
            });
            if is_same {
                return Ok(Attachments { folder, _lock: lock });
            }
        }
    }

    /// Where the scenario is while the lab comes up.
    pub fn scenario(&self) -> PathBuf {
        self.folder.join(SCENARIO)
    }

    fn file(&self, attachment: &Attachment) -> PathBuf {
        // Neither name has a `+` (request.rs), so no two attachments share a file.
        self.folder.join(format!("{}+{}", attachment.container, attachment.ifname))
    }

    /// The station of an attachment, if there is one.
    pub fn station(&self, attachment: &Attachment) -> io::Result<Option<String>> {
        match fs::read_to_string(self.file(attachment)) {
            Ok(station) => Ok(Some(station)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Remembers a station.
    pub fn insert(&self, attachment: &Attachment, station: &str) -> io::Result<()> {
        fs::write(self.file(attachment), station)
    }

    /// Forgets an attachment.
    pub fn remove(&self, attachment: &Attachment) -> io::Result<()> {
        match fs::remove_file(self.file(attachment)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// All attachments.
    pub fn all(&self) -> io::Result<Vec<Attachment>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name().into_string().unwrap_or_default();
            if let Some((container, ifname)) = name.split_once('+') {
                all.push(Attachment { container: container.to_owned(), ifname: ifname.to_owned() });
            }
        }
        Ok(all)
    }

    /// Remembers that the plugin brought the lab up.
    pub fn own(&self) -> io::Result<()> {
        fs::write(self.folder.join(OWNED), "")
    }

    /// Whether the plugin brought the lab up.
    pub fn is_owned(&self) -> bool {
        self.folder.join(OWNED).exists()
    }

    /// Removes the folder, which has no attachment and no lab any more. The lock is the last file: another call that
    /// waits for it makes a new folder.
    pub fn forget(self) -> io::Result<()> {
        if self.is_owned() {
            fs::remove_file(self.folder.join(OWNED))?;
        }
        fs::remove_file(self.folder.join(LOCK))?;
        match fs::remove_dir(&self.folder) {
            // Another call is in it already.
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
            _ => Ok(()),
        }
    }
}
