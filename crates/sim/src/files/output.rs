//! Where a command's output goes: the one place that makes, empties and replaces files that a user named.
//!
//! A file that is replaced is a regular file, and new, empty, or what such a command wrote before. Links are followed. What
//! is written line by line may also go to a pipe or a device, which is opened as it is and never emptied or replaced.
//!
//! A pipe waits for its reader, and an interrupt ends this wait: [`Waiting`]. `-` is standard output, for one output of a
//! process; what else the process prints then goes to standard error.

use super::system;
use std::ffi::OsStr;
use std::fs::{File, FileType, Metadata};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

mod kinds;
mod process;

pub use kinds::*;
use process::open_pipe;
pub use process::{OpenPipe, THREADS, Threads, WAITING, Waiting};

/// Why a file is not written. It is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// It is `-`, and another output is standard output already.
    #[error("standard output has another output already: write the name of a file, or ./- for a file of the name `-`")]
    Taken,
    /// It is a device, a pipe, a folder or the like.
    #[error("{} is {is}: an output is a regular file, so choose another name", path.display())]
    Irregular {
        /// The file.
        path: PathBuf,
        /// What the path names instead of a file.
        is: &'static str,
    },
    /// It is a link, and nothing has the name that it leads to.
    #[error(
        "{} is a symbolic link to {}, and there is no such file: remove the link, or choose another name",
        path.display(), to.display()
    )]
    Dangling {
        /// The link.
        path: PathBuf,
        /// What the link says.
        to: PathBuf,
    },
    /// It is there, and something else.
    #[error("{} is there already and is not {what}: choose another name, or remove it", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it should be.
        what: &'static str,
    },
    /// An interrupt came while the pipe had no reader.
    #[error("{} is a pipe that no program reads: start its reader, as in `cat {}`", path.display(), path.display())]
    Unread {
        /// The pipe.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {call} {}", path.display())]
    System {
        /// What was tried.
        call: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The path that means standard output.
pub const STDOUT: &str = "-";
/// Whether an output of this process is standard output, and whether one will be.
static STDOUT_TAKEN: AtomicBool = AtomicBool::new(false);
static STDOUT_PROMISED: AtomicBool = AtomicBool::new(false);

/// Whether a path means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == STDOUT
}

/// Whether an output of this process is standard output: what else there is to print goes to standard error.
pub fn is_stdout_taken() -> bool {
    STDOUT_TAKEN.load(Ordering::Relaxed) || STDOUT_PROMISED.load(Ordering::Relaxed)
}

/// How messages call standard output.
pub const STDOUT_PLACE: &str = "standard output";

/// How messages call an output at `path`.
pub fn place_name(path: &Path) -> String {
    if is_stdout(path) { STDOUT_PLACE.to_owned() } else { path.display().to_string() }
}

/// Standard output, for one output.
fn take_stdout() -> Result<File, OutputError> {
    if STDOUT_TAKEN.swap(true, Ordering::Relaxed) {
        return Err(OutputError::Taken);
    }
    system::stdout().map_err(refused(Path::new(STDOUT_PLACE)))
}

/// Where an output of `kind` at `path` goes, links followed, if it may be made or replaced.
///
/// # Errors
/// There is something that is no regular file, or not of this kind.
pub fn place(path: &Path, kind: Kind) -> Result<PathBuf, OutputError> {
    let system = |call| move |source| OutputError::System { call, path: path.to_owned(), source };
    let there = match metadata(path) {
        Ok(Some(there)) => there,
        Ok(None) => return Ok(path.to_owned()),
        Err(source) => {
            return Err(match std::fs::read_link(path) {
                Ok(to) if source.kind() == io::ErrorKind::NotFound => {
                    OutputError::Dangling { path: path.to_owned(), to }
                }
                Ok(_) | Err(_) => system("look at")(source),
            });
        }
    };
    if let Some(is) = irregular(there.file_type()) {
        return Err(OutputError::Irregular { path: path.to_owned(), is });
    }
    let place = path.canonicalize().map_err(system("follow"))?;
    if there.len() > 0 && !kind.beginnings.is_empty() {
        let file = File::open(&place).map_err(system("read"))?;
        begins_right(&file, path, kind)?;
    }
    Ok(place)
}

/// Whether an open file is empty, or of `kind`.
fn begins_right(file: &File, path: &Path, kind: Kind) -> Result<(), OutputError> {
    if kind.beginnings.is_empty() {
        return Ok(());
    }
    let system = |source| OutputError::System { call: "read", path: path.to_owned(), source };
    let mut beginning = Vec::new();
    file.take(64).read_to_end(&mut beginning).map_err(system)?;
    match beginning.is_empty() || kind.beginnings.iter().any(|own| beginning.starts_with(own)) {
        true => Ok(()),
        false => Err(OutputError::Foreign { path: path.to_owned(), what: kind.what }),
    }
}

/// The file at `place`, empty: what another user may have put there meanwhile is looked at once it is open.
fn emptied(path: &Path, place: &Path, kind: Kind) -> Result<File, OutputError> {
    let system = |source| OutputError::System { call: "create", path: path.to_owned(), source };
    let mut open = File::options();
    open.read(!kind.beginnings.is_empty()).write(true);
    let mut file = match open.open(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return open.create_new(true).open(place).map_err(system);
        }
        file => file.map_err(system)?,
    };
    if let Some(is) = irregular(file.metadata().map_err(system)?.file_type()) {
        return Err(OutputError::Irregular { path: path.to_owned(), is });
    }
    begins_right(&file, path, kind)?;
    file.set_len(0).and_then(|()| file.rewind()).map_err(system)?;
    Ok(file)
}

/// Whether [`replace`] could write a file of `kind` at `path`, before the work whose result it is.
///
/// # Errors
/// As [`place`]; there is no such folder, or it may not be written to.
pub fn ready(path: &Path, kind: Kind) -> Result<(), OutputError> {
    if is_stdout(path) {
        STDOUT_PROMISED.store(true, Ordering::Relaxed);
        return Ok(());
    }
    Unfinished::begin(path, kind).map(drop)
}

/// A file of `kind` to be written from its beginning: as [`place`] says, or standard output, a pipe or a device as it is.
///
/// # Errors
/// As [`place`], but for pipes and devices; the file cannot be made or opened.
pub fn create(path: &Path, kind: Kind) -> Result<File, OutputError> {
    let system = |source| OutputError::System { call: "create", path: path.to_owned(), source };
    if is_stdout(path) {
        return take_stdout();
    }
    match place(path, kind) {
        Ok(place) => emptied(path, &place, kind),
        Err(OutputError::Irregular { is: PIPE, .. }) => open_pipe(path),
        Err(OutputError::Irregular { is, .. }) if is != FOLDER => {
            File::options().write(true).open(path).map_err(system)
        }
        Err(error) => Err(error),
    }
}

/// What the name of a file that is not whole has before the number of its process.
pub const NEW: &str = ".new-";
/// Files of killed processes with the number of this one, at most.
const MOST_NAMES: u32 = 9;
/// How long nothing was written to the file of a killed process.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// Removes files that killed processes left in `folder`: their names begin with `prefix` and the number of a process that
/// this machine does not have, and nothing was written to them for a day. So the file of a process on another machine, which
/// writes to the same folder, stays. A file that cannot be removed stays too.
pub fn remove_stale(folder: &Path, prefix: &OsStr) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes()) else { continue };
        let digits: Vec<u8> = rest.iter().copied().take_while(u8::is_ascii_digit).collect();
        let number = String::from_utf8(digits).expect("digits");
        let written = entry.metadata().ok().filter(Metadata::is_file).and_then(|file| file.modified().ok());
        let is_old = written.and_then(|at| at.elapsed().ok()).is_some_and(|since| since > STALE);
        if is_old && !number.is_empty() && !Path::new("/proc").join(&number).exists() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// A file that is not whole yet: beside its place, which it takes when it is. Dropped before, it is removed. Standard output
/// is written as it is.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
    place: PathBuf,
    /// The file as it is called until it is whole; none: standard output.
    new: Option<PathBuf>,
}

impl Unfinished {
    /// Makes an empty file for one of `kind` at `path`.
    ///
    /// # Errors
    /// As [`place`]; the file cannot be made.
    pub fn begin(path: &Path, kind: Kind) -> Result<(Unfinished, File), OutputError> {
        if is_stdout(path) {
            let unfinished = Unfinished { path: path.to_owned(), place: PathBuf::new(), new: None };
            return Ok((unfinished, take_stdout()?));
        }
        let place = place(path, kind)?;
        let mut prefix = place.file_name().unwrap_or_default().to_owned();
        prefix.push(NEW);
        remove_stale(place.parent().unwrap_or(Path::new("")), &prefix);
        // In containers a process often has the number of a killed one: its file is there, and another name is free.
        let name = |number: u32| {
            let mut name = prefix.clone();
            name.push(std::process::id().to_string());
            name.push(if number > 0 { format!("-{number}") } else { String::new() });
            place.with_file_name(name)
        };
        let create = |number: u32| {
            let new = name(number);
            let file = File::options().read(true).write(true).create_new(true).open(&new);
            match file {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MOST_NAMES => None,
                file => Some(file.map(|file| (file, new))),
            }
        };
        let path = path.to_owned();
        let made = (0..=MOST_NAMES).find_map(create).expect("the last name is tried in any case");
        let (file, new) = made.map_err(refused(&path))?;
        // From here on it is this value's to remove.
        let unfinished = Unfinished { path, place, new: Some(new) };
        let own = file.metadata().map_err(refused(&unfinished.path))?;
        let there = metadata(&unfinished.place).map_err(refused(&unfinished.path))?;
        let permissions = there.and_then(|there| system::permissions_for(&own, &there));
        permissions.map_or(Ok(()), |same| file.set_permissions(same)).map_err(refused(&unfinished.path))?;
        Ok((unfinished, file))
    }

    /// The file as it is called until it is whole; none: standard output.
    pub fn file(&self) -> Option<&Path> {
        self.new.as_deref()
    }

    /// The file is whole: it takes its place.
    ///
    /// # Errors
    /// The disk is full, or the like; nothing of the file is left.
    pub fn finish(self) -> Result<(), OutputError> {
        let Some(new) = &self.new else { return Ok(()) };
        let whole = File::open(new).and_then(|file| file.sync_all());
        whole.and_then(|()| std::fs::rename(new, &self.place)).map_err(refused(&self.path))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It has another name if it is whole. If it cannot be removed, it stays under a name that no other program takes.
        let _ = self.new.as_ref().map(std::fs::remove_file);
    }
}

/// `run.pcapng` with a number: `run-00001.pcapng`.
pub fn numbered(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number:05}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Why `path` is not written.
fn refused(path: &Path) -> impl Fn(io::Error) -> OutputError + use<> {
    let path = path.to_owned();
    move |source| OutputError::System { call: "write", path: path.clone(), source }
}

/// Writes a file beside the one at `path`, and puts it in its place when it is whole.
///
/// # Errors
/// As [`place`]; the disk is full, or the like.
pub fn replace(path: &Path, kind: Kind, content: &[u8]) -> Result<(), OutputError> {
    let (unfinished, mut file) = Unfinished::begin(path, kind)?;
    file.write_all(content).map_err(refused(path))?;
    unfinished.finish()
}

/// What a path leads to; nothing if nothing has that name.
fn metadata(path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::metadata(path) {
        Ok(there) => Ok(Some(there)),
        // A link that leads nowhere has a name all the same.
        Err(error) if error.kind() == io::ErrorKind::NotFound && std::fs::symlink_metadata(path).is_err() => Ok(None),
        Err(error) => Err(error),
    }
}

const FOLDER: &str = "a folder";
pub(super) const PIPE: &str = "a pipe";

/// What a file is that is not regular.
fn irregular(it: FileType) -> Option<&'static str> {
    match () {
        () if it.is_file() => None,
        () if it.is_dir() => Some(FOLDER),
        () => Some(system::special(it)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is there, which of the two may write to it, and what it is afterwards.
    #[test]
    fn only_a_regular_file_that_is_new_or_ours_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("ours"), "<svg old").expect("own folder");
        std::fs::write(path("empty"), "").expect("own folder");
        std::fs::write(path("notes"), "milk, eggs").expect("own folder");
        std::os::unix::fs::symlink("empty", path("link")).expect("own folder");
        std::os::unix::fs::symlink("nowhere", path("dangling")).expect("own folder");
        for name in ["new", "ours", "empty", "link"] {
            replace(&path(name), SVG, b"<svg new").unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(std::fs::read(path(name)).expect("written"), b"<svg new");
        }
        assert!(std::fs::symlink_metadata(path("link")).expect("a link").is_symlink(), "the link itself stays");
        let error = replace(&path("notes"), SVG, b"<svg").expect_err("not ours");
        assert!(error.to_string().ends_with("not a figure in SVG: choose another name, or remove it"), "{error}");
        assert_eq!(std::fs::read(path("notes")).expect("there"), b"milk, eggs");
        assert!(create(&path("notes"), LINES).is_err() && create(folder.path(), LINES).is_err());
        let error = replace(&path("dangling"), SVG, b"<svg").expect_err("it leads nowhere");
        assert!(error.to_string().contains("is a symbolic link to nowhere, and there is no such file"), "{error}");
        assert!(!path("nowhere").exists());
        for device in ["/dev/null", "/dev/full"] {
            let error = place(Path::new(device), TABLE).expect_err("a device");
            assert!(matches!(error, OutputError::Irregular { is: "a device", .. }), "{error}");
            create(Path::new(device), LINES).unwrap_or_else(|error| panic!("{device}: {error}"));
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("own folder").count(), 6, "nothing else is left");
    }

    /// The permissions stay, but for what would make a program of it that has its owner's rights. None are taken from another
    /// user's file: root's new one would be open to that user.
    #[cfg(unix)]
    #[test]
    fn a_new_file_is_no_more_open_than_the_own_one_was() {
        use std::os::unix::fs::{PermissionsExt, chown};
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("picture.svg");
        let mode = || std::fs::metadata(&path).expect("a file").permissions().mode() & 0o7777;
        let replaced = |before: u32, owner: Option<u32>| {
            std::fs::write(&path, "").expect("own folder");
            let is_owned = owner.is_none_or(|owner| chown(&path, Some(owner), None).is_ok());
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(before)).expect("own folder");
            replace(&path, SVG, b"<svg").expect("empty");
            let after = mode();
            std::fs::remove_file(&path).expect("own folder");
            is_owned.then_some(after)
        };
        assert_eq!(replaced(0o640, None), Some(0o640));
        assert_eq!(replaced(0o6755, None), Some(0o755));
        // Only root gives a file to somebody.
        assert!(replaced(0o6777, Some(65534)).is_none_or(|mode| mode & 0o7022 == 0));
    }

    /// What another user puts in the place of a file, once it was looked at, is looked at when it is open.
    #[test]
    fn a_file_that_changed_meanwhile_is_not_emptied() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("run.trace");
        let place = place(&path, LINES).expect("new");
        std::fs::write(&path, "milk, eggs").expect("own folder");
        assert!(matches!(emptied(&path, &place, LINES), Err(OutputError::Foreign { .. })));
        assert_eq!(std::fs::read(&path).expect("there"), b"milk, eggs");
    }

    /// What is begun and dropped leaves the former file, and nothing else.
    #[test]
    fn a_file_that_does_not_become_whole_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("picture.svg");
        std::fs::write(&path, "<svg old").expect("own folder");
        let (unfinished, mut file) = Unfinished::begin(&path, SVG).expect("ours");
        file.write_all(b"<svg n").expect("room");
        assert!(unfinished.file().expect("a file").exists());
        drop(unfinished);
        assert_eq!(std::fs::read(&path).expect("there"), b"<svg old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("own folder").count(), 1);
        let (unfinished, mut file) = Unfinished::begin(&path, SVG).expect("ours");
        file.write_all(b"<svg new").expect("room");
        unfinished.finish().expect("room");
        assert_eq!(std::fs::read(&path).expect("there"), b"<svg new");
        assert_eq!(std::fs::read_dir(folder.path()).expect("own folder").count(), 1);
    }

    /// Files of killed processes go a day later, and do not keep a process of the same number from its own.
    #[test]
    fn what_killed_processes_left_is_removed_a_day_later() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = |name: &str| folder.path().join(name);
        // No process has this number: the kernel's highest is 2^22.
        let (gone, own) = (u32::MAX, std::process::id());
        let leave = |name: &str, hours: u64| {
            let file = File::create(path(name)).expect("own folder");
            let at = std::time::SystemTime::now() - Duration::from_secs(hours * 3600);
            file.set_modified(at).expect("a time");
        };
        let kept = [format!("a.new-{own}"), format!("a.new-{gone}-1"), "a.new-x".to_owned(), format!("b.new-{gone}")];
        kept.iter().zip([25, 23, 25, 25]).for_each(|(name, hours)| leave(name, hours));
        leave(&format!("a.new-{gone}"), 25);
        replace(&path("a"), SVG, b"<svg").expect("another name is free");
        let entries = std::fs::read_dir(folder.path()).expect("own folder");
        let mut names: Vec<String> =
            entries.map(|it| it.expect("it").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        let mut expected = [&["a".to_owned()][..], &kept].concat();
        expected.sort();
        assert_eq!(names, expected);
    }
}
