//! A root file system that grows by layers.
//!
//! Nothing is written outside the folder: links on the way of a name are followed within it, as the station follows them.
//! Files belong to the user who runs; device nodes and pipes are left out, since a station mounts its own `/dev`. Modes and
//! times are those of the archive, for every user and `umask`.

use super::ImageError;
use super::watch::Watch;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};
use tar::{Archive, Entry, EntryType};

/// How the name begins of a file that removes one of a lower layer: that whose name follows.
const WHITEOUT: &str = ".wh.";
/// The file that removes all that lower layers have in its folder.
const OPAQUE: &str = ".wh..wh..opq";
/// Others that begin like this are notes of a file system of Docker's.
const NOTE: &str = ".wh..wh.";

/// Folders that a station's set-up mounts something at.
pub const MOUNTED: [&str; 5] = ["proc", "sys", "run", "tmp", "dev"];
/// A file that it mounts something at.
const HOSTS: &str = "etc/hosts";

/// Links on the way to a file, at most, as Linux has it.
const MOST_LINKS: usize = 40;

/// The permissions of a folder that no archive names.
const MODE: u32 = 0o755;
/// The bits that are kept: without those that make a program another user's.
const KEPT: u32 = 0o1777;

/// A file system that grows by layers.
pub struct Unpacked<'a> {
    root: &'a Path,
    /// Permissions and time of each folder. They are set last, as files in it change the time.
    folders: BTreeMap<PathBuf, (u32, u64)>,
    interrupted: &'a AtomicBool,
}

impl<'a> Unpacked<'a> {
    /// Nothing yet, in the new folder `root`.
    pub fn new(root: &'a Path, interrupted: &'a AtomicBool) -> Result<Unpacked<'a>, ImageError> {
        let mut unpacked = Unpacked { root, folders: BTreeMap::new(), interrupted };
        unpacked.make_folder(root).map_err(failed(Path::new("/")))?;
        Ok(unpacked)
    }

    /// Adds a layer, an archive that is not packed.
    pub fn add(&mut self, layer: impl Read) -> Result<(), ImageError> {
        let watch = Watch::new(self.interrupted);
        let mut archive = Archive::new(watch.over(layer));
        let (mut own, mut name) = (BTreeSet::new(), PathBuf::new());
        let mut entries = archive.entries().map_err(broken)?;
        while let Some(mut entry) = watch.next(&mut entries, &name, broken)? {
            name = self.add_entry(&mut entry, &watch, &mut own)?;
            // The rest of it, if some is left, does not count as said about the next one.
            io::copy(&mut watch.over(entry), &mut io::sink()).map_err(broken)?;
        }
        // What packed it has a sum at the end.
        io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(broken)?;
        Ok(())
    }

    /// Makes what a station needs, and sets the times of folders.
    pub fn finish(mut self) -> Result<(), ImageError> {
        for folder in MOUNTED {
            let path = within(self.root, Path::new(folder)).map_err(failed(Path::new(folder)))?;
            self.make_folder(&path).map_err(failed(Path::new(folder)))?;
        }
        let hosts = within(self.root, Path::new(HOSTS)).and_then(|path| {
            self.make_folder(path.parent().unwrap_or(self.root))?;
            if path.exists() { Ok(()) } else { write(&path, &mut io::empty(), 0o644, 0).map(|_| ()) }
        });
        hosts.map_err(failed(Path::new(HOSTS)))?;
        for (path, (mode, time)) in &self.folders {
            let name = path.strip_prefix(self.root).unwrap_or(path);
            let set = || {
                // A later entry may have put a file there, or a link on the way, which could lead anywhere.
                if !path.is_dir() || within(self.root, name)? != *path {
                    return Ok(());
                }
                fs::set_permissions(path, Permissions::from_mode(mode & KEPT | 0o700))?;
                File::open(path)?.set_modified(instant(*time))
            };
            set().map_err(failed(name))?;
        }
        Ok(())
    }

    /// Adds an entry of a layer, whose entries up to now are `own`; its name.
    fn add_entry(
        &mut self,
        entry: &mut Entry<impl Read>,
        watch: &Watch,
        own: &mut BTreeSet<PathBuf>,
    ) -> Result<PathBuf, ImageError> {
        let name = entry.path().map_err(broken)?.into_owned();
        match file_name(&name)? {
            Some(last) => self.add_named(entry, (&name, last), watch, own)?,
            None => self.note_root(entry)?,
        }
        Ok(name)
    }

    /// Adds an entry of this name, whose last part is `last`.
    fn add_named(
        &mut self,
        entry: &mut Entry<impl Read>,
        (name, last): (&Path, OsString),
        watch: &Watch,
        own: &mut BTreeSet<PathBuf>,
    ) -> Result<(), ImageError> {
        let fail = failed(name);
        let folder = within(self.root, name.parent().unwrap_or(Path::new(""))).map_err(&fail)?;
        let path = folder.join(&last);
        if last == OPAQUE {
            return children(&folder)
                .and_then(|all| all.iter().try_for_each(|it| remove(it, own).map(drop)))
                .map_err(fail);
        }
        let after = |start: &str| last.as_bytes().strip_prefix(start.as_bytes()).map(OsStr::from_bytes);
        if after(NOTE).is_some() {
            return Ok(());
        }
        if let Some(removed) = after(WHITEOUT) {
            if removed.is_empty() || removed == "." || removed == ".." {
                return Err(ImageError::LeadsOut(name.display().to_string()));
            }
            return remove(&folder.join(removed), own).map(drop).map_err(fail);
        }
        self.make_folder(&folder).map_err(&fail)?;
        let (mode, time) = mode_and_time(entry)?;
        let kind = entry.header().entry_type();
        match kind {
            EntryType::Directory => {
                if is_other(&path, fs::FileType::is_dir) {
                    fs::remove_file(&path).map_err(&fail)?;
                }
                self.make_folder(&path).map_err(&fail)?;
                self.folders.insert(path.clone(), (mode, time));
            }
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                make_way(&path).map_err(&fail)?;
                let size = entry.size();
                if write(&path, &mut watch.over(entry), mode, time).map_err(&fail)? != size {
                    return Err(ImageError::CutShort);
                }
            }
            EntryType::Symlink => {
                make_way(&path).map_err(&fail)?;
                symlink(target(entry)?, &path).map_err(&fail)?;
            }
            EntryType::Link => self.link(&target(entry)?, name, &path)?,
            // Devices and pipes; notes about the whole archive.
            _ => return Ok(()),
        }
        own.insert(path);
        Ok(())
    }

    /// Makes a second name of a file of this file system.
    fn link(&self, target: &Path, name: &Path, path: &Path) -> Result<(), ImageError> {
        let fail = failed(name);
        let Some(last) = file_name(target)? else { return Err(ImageError::LeadsOut(name.display().to_string())) };
        let from = within(self.root, target.parent().unwrap_or(Path::new(""))).map_err(&fail)?.join(last);
        if from == path {
            return Ok(());
        }
        if from.symlink_metadata().is_err() {
            let (entry, target) = (name.display().to_string(), target.display().to_string());
            return Err(ImageError::NoTarget { entry, target });
        }
        make_way(path).map_err(&fail)?;
        fs::hard_link(from, path).map_err(fail)
    }

    fn note_root(&mut self, entry: &Entry<impl Read>) -> Result<(), ImageError> {
        let noted = mode_and_time(entry)?;
        if entry.header().entry_type() == EntryType::Directory {
            self.folders.insert(self.root.to_owned(), noted);
        }
        Ok(())
    }

    /// Makes a folder, and those around it, where they are missing. There are no links on the way.
    fn make_folder(&mut self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if path != self.root {
            self.make_folder(path.parent().unwrap_or(self.root))?;
        }
        fs::create_dir(path)?;
        // Up to the end, the user can write there.
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
        self.folders.insert(path.to_owned(), (MODE, 0));
        Ok(())
    }
}

/// The file that a station with this root calls `path`: links are followed within `root`. Its last part may be missing.
///
/// # Errors
/// Links that lead to each other.
pub fn within(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut found = PathBuf::new();
    let mut rest = parts(path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            found.pop();
            continue;
        }
        found.push(part);
        let Ok(target) = fs::read_link(root.join(&found)) else { continue };
        links += 1;
        if links > MOST_LINKS {
            return Err(io::Error::other("links lead to each other"));
        }
        found.pop();
        if target.is_absolute() {
            found.clear();
        }
        rest.extend(parts(&target));
    }
    Ok(root.join(found))
}

/// The parts of a path, the last one first: names, and `..`.
fn parts(path: &Path) -> Vec<OsString> {
    let is_part = |part: &Component| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().filter(is_part).map(|part| part.as_os_str().to_owned()).rev().collect()
}

/// The last part of an entry's name; none if it is the root itself. The other parts are names too.
fn file_name(name: &Path) -> Result<Option<OsString>, ImageError> {
    if name.components().any(|part| part == Component::ParentDir) {
        return Err(ImageError::LeadsOut(name.display().to_string()));
    }
    Ok(name.file_name().map(OsStr::to_owned))
}

fn mode_and_time(entry: &Entry<impl Read>) -> Result<(u32, u64), ImageError> {
    let header = entry.header();
    Ok((header.mode().map_err(broken)?, header.mtime().map_err(broken)?))
}

/// What a link leads to.
fn target(entry: &Entry<impl Read>) -> Result<PathBuf, ImageError> {
    let target = entry.link_name().map_err(broken)?;
    target.map(|it| it.into_owned()).ok_or_else(|| broken(io::Error::other("a link leads to nothing")))
}

/// An instant in seconds after the epoch. What no system can tell is the epoch itself.
fn instant(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Writes a new file; how many octets it has.
fn write(path: &Path, octets: &mut impl Read, mode: u32, time: u64) -> io::Result<u64> {
    let mut file = File::create_new(path)?;
    let size = io::copy(octets, &mut file)?;
    file.set_permissions(Permissions::from_mode(mode & KEPT | 0o400))?;
    file.set_modified(instant(time))?;
    Ok(size)
}

/// Whether something is there that is not of this kind.
fn is_other(path: &Path, is_kind: impl Fn(&fs::FileType) -> bool) -> bool {
    path.symlink_metadata().is_ok_and(|it| !is_kind(&it.file_type()))
}

/// Removes what has a new file's name.
fn make_way(path: &Path) -> io::Result<()> {
    remove(path, &BTreeSet::new()).map(drop)
}

/// Removes a file or a folder, without `kept` and the folders around those; whether something was kept.
fn remove(path: &Path, kept: &BTreeSet<PathBuf>) -> io::Result<bool> {
    let Ok(found) = path.symlink_metadata() else { return Ok(false) };
    let mut keeps = kept.contains(path);
    if found.is_dir() {
        for child in children(path)? {
            keeps |= remove(&child, kept)?;
        }
    }
    match keeps {
        true => {}
        false if found.is_dir() => fs::remove_dir(path)?,
        false => fs::remove_file(path)?,
    }
    Ok(keeps)
}

/// What a folder has in it; nothing if there is no such folder.
fn children(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

fn failed(name: &Path) -> impl Fn(io::Error) -> ImageError {
    let entry = name.display().to_string();
    move |source| match source.kind() {
        io::ErrorKind::UnexpectedEof => ImageError::CutShort,
        _ => ImageError::Write { entry: entry.clone(), source },
    }
}

fn broken(error: io::Error) -> ImageError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ImageError::CutShort,
        _ => ImageError::Damaged(error),
    }
}
