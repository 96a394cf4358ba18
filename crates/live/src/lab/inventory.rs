//! The list of what a lab has made, on disk, so that a later command can remove these objects after a crash, and
//! nothing else.
//!
//! ```text
//!   /run/ethbus/LAB/   lock          held by the lab's supervisor for as long as it lives
//!                      lab.json      names and identities, each written before the name exists
//!                      control.sock  requests, for the user who brought the lab up
//!                      discards/     a socket for each station in which `exec` ran a program
//!                      log           what a lab in the background says; stays if it ends with an error
//! ```
//! Without root it is `/run/user/UID/ethbus/LAB` ([`Owner`]), and namespaces have no names: the supervisor alone holds them, so
//! they end with it and with the last program in them. An inventory whose lock is free is what a killed lab left behind.
//!
//! One file above 500 lines because what is written into an inventory, and when, is one order.
//!
//! This module writes and reads the inventory; `content` has its fields, and `removal` removes the objects that it names.

mod content;
mod error;
mod labels;
mod meant;
mod removal;

pub use self::content::{Claim, Content};
pub use self::error::InventoryError;
pub(super) use self::error::file_error;
pub use self::labels::{LEAST_DIGITS, Labels};

use super::lent::{Home, Outside, What};
use super::owner::{Owner, check_folder, make_folder};
use super::{BUS, processes};
use crate::plane::protocol::Port;
use link::namespace::{Namespace, NamespaceId, UserNamespace};
use say::say;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The mode of a lab's own folder: its user may do everything, other users nothing.
const LAB_MODE: u32 = 0o700;
/// What a lab in the background says.
const LOG: &str = "log";
/// The stations' names and addresses.
const HOSTS: &str = "hosts";
/// The sockets at which programs hear of their station's discards.
const DISCARDS: &str = "discards";
/// Octets that a log may have, and how many are kept of a longer one.
const LONGEST_LOG: u64 = 1 << 20;
const KEPT_OF_LOG: usize = 1 << 16;
/// How long a process that only checks whether a lab is up may have its lock.
const GLANCE: Duration = Duration::from_millis(100);

/// A lab in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What has become of it.
    pub state: State,
    /// When it was brought up.
    pub since: Option<SystemTime>,
    /// What the lab has made.
    pub content: Content,
}

/// What has become of a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is up.
    Up,
    /// It is coming up or going down.
    Changing,
    /// It was killed.
    LeftBehind,
    /// It ended by itself, and its log says why.
    Ended,
}

/// A lab's inventory, locked: only its holder may make or remove the lab.
#[derive(Debug)]
pub struct Inventory {
    folder: PathBuf,
    content: Content,
    /// Namespaces without a name, which nothing else would keep alive; and the bus's, and those that lent interfaces are in,
    /// which must outlive a name that a user removes by hand.
    held: Vec<Namespace>,
    lock: File,
}

impl Inventory {
    /// Takes the inventory of the lab `name`, and gives what a killed lab of this name had left in it.
    ///
    /// # Errors
    /// [`InventoryError::InUse`] while the lab is up; files that cannot be made or read.
    pub fn take(name: &str) -> Result<Inventory, InventoryError> {
        let folder = Owner::own()?.make()?.join(name);
        let begin = Instant::now();
        let lock = loop {
            make_folder(&folder, LAB_MODE)?;
            match lock(&folder)? {
                Some(lock) => break lock,
                None if begin.elapsed() > GLANCE => return Err(InventoryError::InUse { name: name.to_owned() }),
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let content = read(&folder)?.unwrap_or_default();
        Ok(Inventory { folder, content, held: Vec::new(), lock })
    }

    /// Whether a lab of this name is up, or has left something behind.
    ///
    /// # Errors
    /// As [`Owner::own`].
    pub fn exists(name: &str) -> Result<bool, InventoryError> {
        Ok(folder_of(name)?.is_dir())
    }

    /// What a lab that is up has made.
    ///
    /// # Errors
    /// [`InventoryError::NotUp`] if it is not; an inventory that cannot be read.
    pub fn of_running(name: &str) -> Result<Content, InventoryError> {
        let (owner, folder) = (Owner::own()?, folder_of(name)?);
        let not_up = || InventoryError::NotUp { name: name.to_owned() };
        if !folder.join("lock").exists() {
            return Err(not_up());
        }
        owner.check()?;
        check_folder(&folder, LAB_MODE)?;
        if !is_held(&folder)? {
            return Err(not_up());
        }
        read(&folder)?.filter(|content| content.rate > 0 && !content.ending).ok_or_else(not_up)
    }

    /// Checks that the lab of a station that this process has entered is still up, and not about to end.
    ///
    /// The process that takes a lab down marks its inventory first and looks for programs then. So if there is no mark
    /// after this process has entered, this process is found and ended with the others.
    ///
    /// # Errors
    /// [`InventoryError::NotUp`] if it is not; an inventory that cannot be read.
    pub fn check_entered(name: &str, station: &str, entered: &Namespace) -> Result<(), InventoryError> {
        let content = Inventory::of_running(name)?;
        let is_it = |claim: &Claim| claim.whose == station && claim.identity() == entered.identity();
        let is_home = || content.home_of(station).is_some_and(|home| home.identity() == entered.identity());
        match content.namespaces.iter().any(is_it) || is_home() {
            true => Ok(()),
            false => Err(InventoryError::NotUp { name: name.to_owned() }),
        }
    }

    /// A station of a lab that is up: its namespace, as the lab made it; `None` if only the lab can give it.
    ///
    /// # Errors
    /// The namespace is gone, or the name belongs to another one now.
    pub fn station(name: &str, claim: &Claim) -> Result<Option<Namespace>, InventoryError> {
        let Some(named) = &claim.name else { return Ok(None) };
        let error = |source| InventoryError::Namespace { name: named.clone(), source };
        let namespace = Namespace::open_named(named).map_err(error)?;
        if claim.is(&namespace) { Ok(Some(namespace)) } else { Err(InventoryError::NotUp { name: name.to_owned() }) }
    }

    /// The namespace of a claim of this inventory, if it is still there and the lab's.
    pub fn namespace(&self, claim: &Claim) -> Option<Namespace> {
        claim.open_named().or_else(|| self.held(&claim.whose)?.try_clone().ok())
    }

    /// The namespace of a station, or of the bus, if this process holds it.
    pub fn held(&self, whose: &str) -> Option<&Namespace> {
        // What is held is there, so no other namespace has its inode.
        let claim = self.claim_of(whose)?;
        self.held.iter().find(|held| held.identity() == claim.identity())
    }

    /// The file with the stations' names.
    ///
    /// # Errors
    /// As [`Owner::own`].
    pub fn hosts(name: &str) -> Result<PathBuf, InventoryError> {
        Ok(folder_of(name)?.join(HOSTS))
    }

    /// All labs of this user, by name: those that are up, and what others left behind.
    ///
    /// # Errors
    /// As [`Owner::own`].
    pub fn all() -> Result<Vec<Listed>, InventoryError> {
        let folder = Owner::own()?.folder();
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(file_error("list", &folder))?,
        };
        let names = entries
            .flatten()
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok());
        let mut labs: Vec<Listed> = names.map(|name| listed(&folder, name)).collect();
        labs.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(labs)
    }

    /// The names of the labs that are up.
    pub fn names_up() -> Vec<String> {
        let labs = Inventory::all().unwrap_or_default().into_iter();
        labs.filter(|lab| lab.state == State::Up).map(|lab| lab.name).collect()
    }

    /// The labs that are up and that a command without a name may mean: those that the same person brought up; for the user of
    /// `sudo` without any, root's own.
    pub fn names_meant() -> Vec<String> {
        let Ok(owner) = Owner::own() else { return Vec::new() };
        let up = Inventory::all().unwrap_or_default().into_iter().filter(|lab| lab.state == State::Up);
        meant::meant(up.map(|lab| (lab.name, lab.content.person)).collect(), owner.person())
    }

    /// Where the lab takes requests.
    ///
    /// # Errors
    /// As [`Owner::own`].
    pub fn control_socket(name: &str) -> Result<PathBuf, InventoryError> {
        Ok(folder_of(name)?.join("control.sock"))
    }

    /// Where programs of `station` hear of its discards.
    ///
    /// # Errors
    /// As [`Owner::own`]; a folder that cannot be made.
    pub fn discards_socket(&self, station: &str) -> Result<PathBuf, InventoryError> {
        let folder = self.folder.join(DISCARDS);
        make_folder(&folder, LAB_MODE)?;
        Ok(folder.join(station))
    }

    /// Where a lab in the background writes its messages.
    ///
    /// # Errors
    /// As [`Owner::own`].
    pub fn log(name: &str) -> Result<PathBuf, InventoryError> {
        Ok(folder_of(name)?.join(LOG))
    }

    /// An empty log, for a lab whose name has been claimed.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub fn create_log(name: &str) -> Result<File, InventoryError> {
        let path = Inventory::log(name)?;
        // A new file, so that no process writes to the old one any more; two processes append to it.
        remove_file(&path)?;
        let create = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path);
        create.map_err(file_error("make", &path))
    }

    /// Removes the log, whose reader has seen it.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub fn remove_log(&self) -> Result<(), InventoryError> {
        remove_file(&self.folder.join(LOG))
    }

    /// Cuts a log that has become long down to its end: it is in memory, and a station that takes its interface up and
    /// down adds a line each time.
    pub fn shorten_log(&self) {
        let path = self.folder.join(LOG);
        if !std::fs::metadata(&path).is_ok_and(|log| log.len() > LONGEST_LOG) {
            return;
        }
        let words = std::fs::read(&path).unwrap_or_default();
        let end = String::from_utf8_lossy(&words[words.len().saturating_sub(KEPT_OF_LOG)..]).into_owned();
        // Emptied and not replaced: it is standard error. If it cannot be, it stays as it is.
        if OpenOptions::new().write(true).truncate(true).open(&path).is_ok() {
            say(&format!("ethbus: messages before these were removed\n{end}"));
        }
    }

    /// The text of the log; empty if there is none.
    pub fn last_words(&self) -> String {
        std::fs::read_to_string(self.folder.join(LOG)).unwrap_or_default()
    }

    /// Notes that namespaces will have no names, and belong to the user namespace that this process is in.
    ///
    /// # Errors
    /// A user namespace that cannot be looked at.
    pub fn be_without_names(&mut self) -> Result<(), InventoryError> {
        let identity = UserNamespace::current().and_then(|own| own.identity());
        let identity = identity.map_err(file_error("look at", Path::new("/proc/self/ns/user")))?;
        self.content.user_namespace = Some((identity.device, identity.inode));
        Ok(())
    }

    /// Notes that the stations are kernels in virtual time, which have no namespaces.
    pub fn be_virtual(&mut self) {
        self.content.is_virtual = true;
    }

    /// Whether the lab's namespaces get names in `/run/netns`.
    pub fn has_names(&self) -> bool {
        self.content.user_namespace.is_none()
    }

    /// Notes namespaces that are about to get names, `name` telling which; those that get none, and the bus's, are held.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn claim(
        &mut self,
        namespaces: &[(&str, &Namespace)],
        name: impl Fn(&str) -> Option<String>,
    ) -> Result<(), InventoryError> {
        for (whose, namespace) in namespaces {
            self.note_claim(whose, name(whose), namespace)?;
        }
        self.write()
    }

    fn note_claim(&mut self, whose: &str, name: Option<String>, namespace: &Namespace) -> Result<(), InventoryError> {
        let NamespaceId { device, inode } = namespace.identity();
        let error = |source| InventoryError::Namespace { name: name.clone().unwrap_or(whose.to_owned()), source };
        let cookie = namespace.cookie().map_err(error)?;
        if name.is_none() || whose == BUS {
            self.held.push(namespace.try_clone().map_err(file_error("hold", Path::new("a namespace")))?);
        }
        self.content.namespaces.push(Claim { whose: whose.to_owned(), name, device, inode, cookie });
        Ok(())
    }

    /// Notes what is about to be done outside the lab's own namespaces.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn note_outside(&mut self, outside: Outside) -> Result<(), InventoryError> {
        self.content.outside.push(outside);
        self.write()
    }

    /// Notes that the interface for `station` has been moved into its namespace, and holds that.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn taken(&mut self, station: &str, namespace: Namespace) -> Result<(), InventoryError> {
        self.held.push(namespace);
        for outside in self.content.outside.iter_mut().filter(|outside| outside.station == station) {
            if let What::Interface { taken, .. } = &mut outside.what {
                *taken = true;
            }
        }
        self.write()
    }

    /// The lab, up or killed, that an interface of the namespace `home` is lent to.
    pub fn borrower_of(interface: &str, home: Home) -> Option<String> {
        let has_it = |outside: &Outside| {
            outside.home == home && matches!(&outside.what, What::Interface { lent, .. } if lent.name == interface)
        };
        let folder = Owner::own().ok()?.folder();
        let labs = std::fs::read_dir(&folder).ok()?.flatten();
        let mut labs = labs.filter_map(|lab| lab.file_name().into_string().ok());
        labs.find(|lab| {
            let content = read(&folder.join(lab)).ok().flatten();
            content.is_some_and(|content| content.outside.iter().any(has_it))
        })
    }

    /// Notes the addresses of each station, and writes the file that programs in stations look names up in.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn be_reached_at(&mut self, addresses: Vec<(String, Vec<String>)>) -> Result<(), InventoryError> {
        // Names of this machine stay known: programs look themselves up.
        let mut hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
        hosts += "\n# stations\n";
        for (station, addresses) in &addresses {
            hosts.extend(addresses.iter().map(|address| format!("{address} {station}\n")));
        }
        let path = self.folder.join(HOSTS);
        remove_file(&path)?;
        // Read by programs of any user in a station; the folder is closed to all others.
        let create = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path);
        create.and_then(|mut file| file.write_all(hosts.as_bytes())).map_err(file_error("write", &path))?;
        self.content.addresses = addresses;
        Ok(())
    }

    /// Notes that the lab is up. It has a rate from then on.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn up(&mut self, stations: &[Port], rate: u64) -> Result<(), InventoryError> {
        self.content.stations = stations.to_vec();
        self.content.rate = rate;
        self.content.person = Owner::own()?.person();
        self.write()
    }

    /// The namespaces in the inventory.
    pub fn namespaces(&self) -> &[Claim] {
        &self.content.namespaces
    }

    /// Whether the inventory is still at the path where commands look for it.
    pub fn is_there(&self) -> bool {
        is_at(&self.lock, &self.folder.join("lock"))
    }

    /// The namespace of a station, or of the bus, as the inventory has it.
    pub fn claim_of(&self, whose: &str) -> Option<&Claim> {
        self.content.namespaces.iter().find(|claim| claim.whose == whose)
    }

    /// Notes that a station has joined, and its addresses.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn join(&mut self, port: &Port, addresses: Vec<String>) -> Result<(), InventoryError> {
        self.content.stations.push(port.clone());
        let mut all = std::mem::take(&mut self.content.addresses);
        all.push((port.name.clone(), addresses));
        self.be_reached_at(all)?;
        self.write()
    }

    /// How many namespaces the inventory has.
    pub fn claims(&self) -> usize {
        self.content.namespaces.len()
    }

    /// Whether the lab was being taken down when its supervisor ended.
    pub fn was_ending(&self) -> bool {
        self.content.ending
    }

    /// Gets the right to end the programs that a killed lab without root left running: enters its user namespace, for good,
    /// if there still is one. The process must have one thread.
    ///
    /// # Errors
    /// A user namespace that cannot be entered.
    pub fn reach_leftovers(&self) -> Result<(), InventoryError> {
        let nameless = self.content.namespaces.iter().filter(|claim| claim.name.is_none());
        let owner = self.content.user_namespace.map(|(device, inode)| NamespaceId { device, inode });
        match processes::owner_of(nameless, owner) {
            Some(owner) => Ok(owner.enter()?),
            None => Ok(()),
        }
    }

    fn write(&self) -> Result<(), InventoryError> {
        write(&self.folder, &self.content)
    }
}

/// Writes the whole inventory aside, then puts it in place: a crash leaves the old one or the new one.
fn write(folder: &Path, content: &Content) -> Result<(), InventoryError> {
    let (path, new) = (folder.join("lab.json"), folder.join("lab.json.new"));
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        // In one piece: a lab of a thousand stations has as many numbers and names.
        file.write_all(&serde_json::to_vec(content)?)?;
        std::fs::rename(&new, &path)
    };
    write().map_err(file_error("write", &path))
}

fn listed(folder: &Path, name: String) -> Listed {
    let since = std::fs::metadata(folder.join(&name).join("lock")).and_then(|lock| lock.modified()).ok();
    if let Ok(content) = Inventory::of_running(&name) {
        return Listed { name, state: State::Up, since, content };
    }
    let left = read(&folder.join(&name)).ok().flatten();
    let state = if is_held(&folder.join(&name)).is_ok_and(|held| held) {
        State::Changing
    // A lab that ends by itself removes its inventory, and keeps its log.
    } else if left.is_none() && folder.join(&name).join(LOG).exists() {
        State::Ended
    } else {
        State::LeftBehind
    };
    Listed { name, state, since, content: left.unwrap_or_default() }
}

/// Where the lab `name` of this user has its inventory.
fn folder_of(name: &str) -> Result<PathBuf, InventoryError> {
    Ok(Owner::own()?.folder().join(name))
}

/// The inventory's lock; `None` while another process has it, or if it was removed just now.
fn lock(folder: &Path) -> Result<Option<File>, InventoryError> {
    let path = folder.join("lock");
    let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = open.map_err(file_error("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(is_at(&file, &path).then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(InventoryError::File { action: "lock", path, source }),
    }
}

/// Whether a process has the inventory's lock. Makes no file, since the inventory may be going at this moment.
fn is_held(folder: &Path) -> Result<bool, InventoryError> {
    let path = folder.join("lock");
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        file => file.map_err(file_error("open", &path))?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(InventoryError::File { action: "lock", path, source }),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(there)) = (file.metadata(), std::fs::metadata(path)) else { return false };
    (file.dev(), file.ino()) == (there.dev(), there.ino())
}

fn read(folder: &Path) -> Result<Option<Content>, InventoryError> {
    let path = folder.join("lab.json");
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(file_error("read", &path))?,
    };
    serde_json::from_str(&text).map(Some).map_err(|source| InventoryError::Content { path, source })
}

fn remove_file(path: &Path) -> Result<(), InventoryError> {
    gone(path, std::fs::remove_file(path))
}

/// Removes the sockets of the stations, which are in a folder of the lab's own.
fn remove_discards(folder: &Path) -> Result<(), InventoryError> {
    let folder = folder.join(DISCARDS);
    gone(&folder, std::fs::remove_dir_all(&folder))
}

fn gone(path: &Path, removed: io::Result<()>) -> Result<(), InventoryError> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(file_error("remove", path)),
    }
}
