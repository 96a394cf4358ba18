//! What a lab has made, on disk, so that whoever comes after a crash can remove it and nothing else.
//!
//! ```text
//!   /run/ethbus/LAB/   lock          held by the lab's supervisor for as long as it lives
//!                      lab.json      names and identities, each written before the name exists
//!                      control.sock  requests, for the user who brought the lab up
//!                      log           what a lab in the background says; stays if it ends with an error
//! ```
//! A record whose lock is free is what a killed lab left behind.

use crate::bus::protocol::Port;
use link::namespace::{Namespace, NamespaceError, NamespaceId};
use link::process::effective_user;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where labs keep their records. Emptied at boot, as namespaces are.
const FOLDER: &str = "/run/ethbus";
/// Who may do what there: list it, and nothing in a lab's own.
const FOLDER_MODE: u32 = 0o755;
const LAB_MODE: u32 = 0o700;
/// What a lab in the background says.
const LOG: &str = "log";
/// How long somebody who only looks whether a lab is up may have its lock.
const GLANCE: Duration = Duration::from_millis(100);
/// How long processes in a station get to end by themselves.
const GRACE: Duration = Duration::from_secs(2);

/// What stands in `lab.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Content {
    /// The namespaces that the lab has made or is about to make.
    pub namespaces: Vec<Claim>,
    /// The stations, once the lab is up.
    pub stations: Vec<Port>,
    /// The medium's rate in bits per second.
    pub rate: u64,
}

/// One namespace of a lab.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// The station, or `bus`.
    pub whose: String,
    /// Its name in `/run/netns`.
    pub name: String,
    device: u64,
    inode: u64,
    /// What the kernel gives to no other namespace until the next boot, as it does with inodes.
    cookie: u64,
}

impl Claim {
    /// What tells it from a namespace that somebody else gave the same name.
    pub fn identity(&self) -> NamespaceId {
        NamespaceId { device: self.device, inode: self.inode }
    }
}

/// Why a lab's record could not be made, read or followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The lab is up.
    #[error("a lab called `{name}` is up: take it down with `ethbus down --name {name}`, or choose another --name")]
    InUse {
        /// Its name.
        name: String,
    },
    /// The lab is not up.
    #[error("no lab called `{name}` is up: bring one up with `ethbus up --name {name}`{}", last_words(name))]
    NotUp {
        /// Its name.
        name: String,
    },
    /// A file of the record could not be used.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else may have written what stands there, so none of it is believed.
    #[error("{} {why}: nothing of it is used; see what it is, then remove it", path.display())]
    Untrusted {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What stands in the record makes no sense.
    #[error("{} is not a lab's record; if no lab of this name is up, remove the folder", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Where.
        source: serde_json::Error,
    },
    /// A namespace of the lab could not be opened or removed.
    #[error("cannot use the namespace {name}")]
    Namespace {
        /// Its name.
        name: String,
        /// What went wrong.
        source: NamespaceError,
    },
}

fn file_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RecordError {
    let path = path.to_owned();
    move |source| RecordError::File { action, path, source }
}

/// A lab's record, locked: whoever has it is the only one to make or remove the lab.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
    content: Content,
    _lock: File,
}

impl Record {
    /// Takes the record of the lab `name`, and gives what a killed lab of this name had left in it.
    ///
    /// # Errors
    /// [`RecordError::InUse`] while the lab is up; files that cannot be made or read.
    pub fn take(name: &str) -> Result<Record, RecordError> {
        let folder = Path::new(FOLDER).join(name);
        make_folder(Path::new(FOLDER), FOLDER_MODE)?;
        let begin = Instant::now();
        let lock = loop {
            make_folder(&folder, LAB_MODE)?;
            match lock(&folder)? {
                Some(lock) => break lock,
                None if begin.elapsed() > GLANCE => return Err(RecordError::InUse { name: name.to_owned() }),
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let content = read(&folder)?.unwrap_or_default();
        Ok(Record { folder, content, _lock: lock })
    }

    /// Whether a lab of this name is up, or has left something behind.
    pub fn exists(name: &str) -> bool {
        Path::new(FOLDER).join(name).is_dir()
    }

    /// What a lab that is up has made.
    ///
    /// # Errors
    /// [`RecordError::NotUp`] if it is not; a record that cannot be read.
    pub fn of_running(name: &str) -> Result<Content, RecordError> {
        let folder = Path::new(FOLDER).join(name);
        let not_up = || RecordError::NotUp { name: name.to_owned() };
        if !folder.join("lock").exists() {
            return Err(not_up());
        }
        check_folder(Path::new(FOLDER), FOLDER_MODE)?;
        check_folder(&folder, LAB_MODE)?;
        if lock(&folder)?.is_some() {
            return Err(not_up());
        }
        read(&folder)?.filter(|content| !content.stations.is_empty()).ok_or_else(not_up)
    }

    /// A station of a lab that is up: its namespace, as the lab made it.
    ///
    /// # Errors
    /// The namespace is gone, or the name belongs to another one now.
    pub fn station(name: &str, claim: &Claim) -> Result<Namespace, RecordError> {
        let error = |source| RecordError::Namespace { name: claim.name.clone(), source };
        let namespace = Namespace::open_named(&claim.name).map_err(error)?;
        if is_ours(claim) { Ok(namespace) } else { Err(RecordError::NotUp { name: name.to_owned() }) }
    }

    /// Where the lab takes requests.
    pub fn control_socket(name: &str) -> PathBuf {
        Path::new(FOLDER).join(name).join("control.sock")
    }

    /// Where a lab in the background writes its messages.
    pub fn log(name: &str) -> PathBuf {
        Path::new(FOLDER).join(name).join(LOG)
    }

    /// An empty log, for a lab whose record has been taken.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub fn create_log(name: &str) -> io::Result<File> {
        let path = Record::log(name);
        // A new one, so that nobody writes to the old one any more; appended to by two processes.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)
    }

    /// Removes the log, whose reader has seen it.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub fn remove_log(&self) -> Result<(), RecordError> {
        remove_file(&self.folder.join(LOG))
    }

    /// What stands in the log; nothing if there is none.
    pub fn last_words(&self) -> String {
        std::fs::read_to_string(self.folder.join(LOG)).unwrap_or_default()
    }

    /// Notes a namespace that is about to get a name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn claim(&mut self, whose: &str, name: &str, namespace: &Namespace) -> Result<(), RecordError> {
        let NamespaceId { device, inode } = namespace.identity();
        let cookie = namespace.cookie().map_err(|source| RecordError::Namespace { name: name.to_owned(), source })?;
        let (whose, name) = (whose.to_owned(), name.to_owned());
        self.content.namespaces.push(Claim { whose, name, device, inode, cookie });
        self.write()
    }

    /// Notes that the lab is up.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn up(&mut self, stations: &[Port], rate: u64) -> Result<(), RecordError> {
        self.content.stations = stations.to_vec();
        self.content.rate = rate;
        self.write()
    }

    /// The namespaces that stand in it.
    pub fn namespaces(&self) -> &[Claim] {
        &self.content.namespaces
    }

    /// How many namespaces stand in it.
    pub fn claims(&self) -> usize {
        self.content.namespaces.len()
    }

    /// Removes everything in the record, and then the record.
    ///
    /// Processes in the lab's namespaces are ended. What is not the lab's own is left alone.
    ///
    /// # Errors
    /// The first thing that could not be removed; the rest is removed all the same, and the record stays.
    pub fn remove_everything(self) -> Result<(), RecordError> {
        remove_lab(&self.folder, &self.content)
    }

    /// The same, but for the log, if there is one: the lab ended with an error, and nobody has read it yet.
    ///
    /// # Errors
    /// As [`Record::remove_everything`].
    pub fn remove_failed(self) -> Result<(), RecordError> {
        remove_failed(&self.folder, &self.content)
    }

    /// The same, for a process that has the record somewhere and is about to end because it panicked.
    ///
    /// # Errors
    /// As [`Record::remove_everything`].
    pub fn remove_own(name: &str) -> Result<(), RecordError> {
        let folder = Path::new(FOLDER).join(name);
        let content = read(&folder)?.unwrap_or_default();
        remove_failed(&folder, &content)
    }

    /// Removes everything in the record and keeps the record, empty, for a new lab.
    ///
    /// # Errors
    /// As [`Record::remove_everything`].
    pub fn clear(&mut self) -> Result<(), RecordError> {
        remove_made(&self.content)?;
        self.content = Content::default();
        remove_file(&self.folder.join("control.sock"))?;
        self.write()
    }

    /// Writes the whole record aside, then puts it in place: a crash leaves the old one or the new one.
    fn write(&self) -> Result<(), RecordError> {
        let (path, new) = (self.folder.join("lab.json"), self.folder.join("lab.json.new"));
        let write = || {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            serde_json::to_writer(&mut file, &self.content)?;
            file.flush()?;
            std::fs::rename(&new, &path)
        };
        write().map_err(file_error("write", &path))
    }
}

fn remove_lab(folder: &Path, content: &Content) -> Result<(), RecordError> {
    remove_made(content)?;
    remove_file(&folder.join(LOG))?;
    remove_rest(folder)?;
    std::fs::remove_dir(folder).map_err(file_error("remove", folder))
}

fn remove_failed(folder: &Path, content: &Content) -> Result<(), RecordError> {
    if !folder.join(LOG).exists() {
        return remove_lab(folder, content);
    }
    remove_made(content)?;
    remove_rest(folder)
}

fn remove_rest(folder: &Path) -> Result<(), RecordError> {
    ["control.sock", "lab.json", "lab.json.new", "lock"].iter().try_for_each(|file| remove_file(&folder.join(file)))
}

/// Where to read why the last lab of this name ended, if that is known.
fn last_words(name: &str) -> String {
    let log = Record::log(name);
    if log.exists() { format!("; {} says why the last one ended", log.display()) } else { String::new() }
}

fn remove_made(content: &Content) -> Result<(), RecordError> {
    let ours: Vec<&Claim> = content.namespaces.iter().filter(|claim| is_ours(claim)).collect();
    end_processes(&ours);
    let mut result = Ok(());
    for claim in &content.namespaces {
        let removed = if is_ours(claim) {
            Namespace::remove_named(&claim.name, claim.identity())
        } else {
            Namespace::remove_leftover(&claim.name)
        };
        if let Err(source) = removed {
            result = result.and(Err(RecordError::Namespace { name: claim.name.clone(), source }));
        }
    }
    result
}

fn is_ours(claim: &Claim) -> bool {
    let named = Namespace::open_named(&claim.name);
    named.is_ok_and(|found| {
        found.identity() == claim.identity() && found.cookie().is_ok_and(|cookie| cookie == claim.cookie)
    })
}

/// Ends the processes in the lab's namespaces: asked first, made to after a while.
fn end_processes(claims: &[&Claim]) {
    let running = || {
        let namespaces = claims.iter().filter_map(|claim| Namespace::open_named(&claim.name).ok());
        let processes = namespaces.flat_map(|namespace| namespace.processes().unwrap_or_default());
        processes.filter(|pid| pid.as_raw() as u32 != std::process::id()).collect::<Vec<_>>()
    };
    let end = |signal| {
        for pid in running() {
            // One that has ended meanwhile is what was wanted.
            let _ = link::process::signal(pid, signal);
        }
    };
    end(link::signals::Signal::SIGTERM);
    let begin = Instant::now();
    while !running().is_empty() {
        if begin.elapsed() > GRACE {
            end(link::signals::Signal::SIGKILL);
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn make_folder(path: &Path, mode: u32) -> Result<(), RecordError> {
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_folder(path, mode),
        made => made.map_err(file_error("make", path)),
    }
}

/// What stands in a folder says what is removed and who is asked: it must be a folder of the own user, and nobody else
/// may have more rights to it than `mode` gives.
fn check_folder(path: &Path, mode: u32) -> Result<(), RecordError> {
    let metadata = match std::fs::symlink_metadata(path) {
        // Whoever had it has just removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata.map_err(file_error("look at", path))?,
    };
    let untrusted = |why| Err(RecordError::Untrusted { path: path.to_owned(), why });
    match () {
        () if !metadata.is_dir() => untrusted("is no folder"),
        () if metadata.uid() != effective_user() => untrusted("belongs to another user"),
        () if metadata.mode() & 0o077 & !mode != 0 => untrusted("is open to other users"),
        () => Ok(()),
    }
}

/// The record's lock; `None` while somebody else has it, or if it was removed just now.
fn lock(folder: &Path) -> Result<Option<File>, RecordError> {
    let path = folder.join("lock");
    let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = open.map_err(file_error("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(is_at(&file, &path).then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(RecordError::File { action: "lock", path, source }),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(there)) = (file.metadata(), std::fs::metadata(path)) else { return false };
    (file.dev(), file.ino()) == (there.dev(), there.ino())
}

fn read(folder: &Path) -> Result<Option<Content>, RecordError> {
    let path = folder.join("lab.json");
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(file_error("read", &path))?,
    };
    serde_json::from_str(&text).map(Some).map_err(|source| RecordError::Content { path, source })
}

fn remove_file(path: &Path) -> Result<(), RecordError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(file_error("remove", path)),
    }
}
