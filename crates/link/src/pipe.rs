//! Named pipes.

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a pipe for writing, without waiting; `None` while it has no reader. Writes to it wait, as those to a file do.
///
/// # Errors
/// The kernel refuses it for another reason.
pub fn open(path: &Path) -> io::Result<Option<File>> {
    match File::options().write(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path) {
        Err(error) if error.raw_os_error() == Some(Errno::ENXIO as i32) => Ok(None),
        opened => {
            let file = opened?;
            fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
            Ok(Some(file))
        }
    }
}
