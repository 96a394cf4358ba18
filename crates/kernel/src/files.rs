//! Files in folders where others write too: a station in its own, and anybody in a folder that is open to all.
//!
//! Any name there may be a link to a file of somebody else's, or a pipe that never ends. So no link is followed, nothing is
//! waited for, only regular files are taken, and each read has a limit.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// At most `most` octets of a file, from the place `from` on.
///
/// # Errors
/// There is no regular file of this name, or it cannot be read.
pub fn read(path: &Path, from: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut file = regular(File::options().read(true), path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut octets = Vec::new();
    file.take(most).read_to_end(&mut octets)?;
    Ok(octets)
}

/// Writes a new file. One that has the name already is removed first, and stays as it is under its other names.
///
/// # Errors
/// A folder has the name, or the file cannot be written.
pub fn write(path: &Path, octets: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path)?.write_all(octets),
    }
}

/// A file to write from its beginning. One that is there already is emptied, if it has no other name.
///
/// # Errors
/// The name is that of something else; the file cannot be made.
pub fn create(path: &Path) -> io::Result<File> {
    let file = regular(File::options().read(true).write(true).create(true).truncate(false), path)?;
    if file.metadata()?.nlink() > 1 {
        return Err(io::Error::other("it has a second name (a hard link): remove it, or choose another folder"));
    }
    file.set_len(0)?;
    Ok(file)
}

/// Opens a regular file.
fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let opened = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => io::Error::other("it is a symbolic link: remove it, or choose another folder"),
        _ => error,
    })?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file: remove it, or choose another folder")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use std::os::unix::fs::symlink;

    /// A station can put anything in place of a file that is read or written here.
    #[test]
    fn only_regular_files_are_read_and_written_and_no_link_is_followed() {
        let folder = std::env::temp_dir().join(format!("ethbus-files-test.{}", std::process::id()));
        fs::create_dir(&folder).expect("a folder");
        let path = |name: &str| folder.join(name);
        fs::write(path("other"), "other").expect("a file");
        symlink("other", path("link")).expect("a link");
        symlink("/dev/zero", path("zero")).expect("a link");
        nix::unistd::mkfifo(&path("pipe"), Mode::S_IRWXU).expect("a pipe");
        fs::hard_link(path("other"), path("second")).expect("a link");
        fs::write(path("file"), "0123456789").expect("a file");
        assert_eq!(read(&path("file"), 2, 4).expect("a file"), b"2345");
        for name in ["link", "zero", "pipe", "none"] {
            assert!(read(&path(name), 0, 64).is_err(), "{name}");
        }
        for name in ["link", "zero", "pipe", "second"] {
            assert!(create(&path(name)).is_err(), "{name}");
        }
        assert_eq!(create(&path("file")).and_then(|file| file.metadata()).expect("a file").len(), 0);
        for name in ["link", "zero", "pipe", "second", "file", "new"] {
            write(&path(name), b"new").expect(name);
            assert_eq!(read(&path(name), 0, 64).expect(name), b"new");
        }
        assert_eq!(fs::read(path("other")).expect("a file"), b"other");
        fs::remove_dir_all(folder).expect("own folder");
    }
}
