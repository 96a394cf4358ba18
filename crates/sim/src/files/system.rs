//! What files ask of Unix beyond the standard library. Other targets have no files: there nothing is opened, so that
//! nothing is asked.

use std::fs::{File, FileType, Metadata};
use std::io::{self, PipeReader};

#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(not(unix))]
pub(crate) use without::*;

#[cfg(not(unix))]
mod without {
    use super::*;
    use std::fs::Permissions;

    pub(crate) fn stdout() -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn pipe() -> io::Result<(PipeReader, File)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn identity(_: &Metadata) -> (u64, u64) {
        (0, 0)
    }

    pub(crate) fn permissions_for(_: &Metadata, _: &Metadata) -> Option<Permissions> {
        None
    }

    pub(crate) fn write_all_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn special(_: FileType) -> &'static str {
        "no file"
    }
}
