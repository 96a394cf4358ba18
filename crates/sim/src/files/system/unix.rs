//! The same on Unix.

use super::*;
use std::fs::Permissions;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt};

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

/// The permissions that a new file takes over from the one that it replaces: none of another user's, since root's file would
/// be open to that user, and nothing that makes a program another user's.
pub(crate) fn permissions_for(new: &Metadata, before: &Metadata) -> Option<Permissions> {
    (new.uid() == before.uid()).then(|| Permissions::from_mode(before.mode() & 0o777))
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
