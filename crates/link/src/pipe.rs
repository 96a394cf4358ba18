//! Pipes, with names and without.

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
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

/// Whether the reader of a pipe or a stream has closed it.
pub fn is_unread(writer: BorrowedFd<'_>) -> bool {
    let mut looked = [PollFd::new(writer, PollFlags::empty())];
    // A kernel that does not say leaves it to the next write.
    poll(&mut looked, PollTimeout::ZERO).is_ok()
        && looked[0].revents().is_some_and(|events| events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_pipe_without_reader_is_unread() {
        let (reader, writer) = io::pipe().unwrap();
        assert!(!is_unread(writer.as_fd()));
        drop(reader);
        assert!(is_unread(writer.as_fd()));
        assert!(!is_unread(File::open("/dev/null").unwrap().as_fd()), "a device");
    }
}
