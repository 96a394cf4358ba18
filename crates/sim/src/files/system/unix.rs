//! The same on Unix.

use super::*;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};

/// Standard output as a file.
pub(crate) fn stdout() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

/// A pipe: its reader, and its writer as a file.
pub(crate) fn pipe() -> io::Result<(PipeReader, File)> {
    io::pipe().map(|(reader, writer)| (reader, File::from(OwnedFd::from(writer))))
}

/// What is equal for two paths if they lead to one file.
pub(crate) fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Writes in the middle of a file.
pub(crate) fn write_all_at(file: &File, octets: &[u8], position: u64) -> io::Result<()> {
    file.write_all_at(octets, position)
}

/// What a file is called that is neither regular nor a folder.
pub(crate) fn special(it: FileType) -> &'static str {
    match () {
        () if it.is_fifo() => super::super::output::PIPE,
        () if it.is_char_device() || it.is_block_device() => "a device",
        () => "a socket",
    }
}
