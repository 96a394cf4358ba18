//! What std and nix have no safe call for: a child that dies with this process, and descriptors that come in a message.

use landlock::RulesetCreated;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, UnixAddr, recvmsg, sendmsg};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The most descriptors that one message brings.
const MOST_DESCRIPTORS: usize = 8;

/// Has the system kill the child when the calling thread ends, however it ends, and place the child's memory where it is
/// always placed: the memory that a kernel finds depends on where the end of its program is.
pub fn die_with_this_thread_and_be_the_same(command: &mut Command) {
    let parent = std::process::id();
    let ask = move || {
        // SAFETY: all calls are async-signal-safe, take numbers only and allocate nothing.
        let orphan = unsafe {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            if libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) < 0 {
                return Err(io::Error::last_os_error());
            }
            libc::getppid()
        };
        // The parent may have ended before the request.
        if orphan as u32 == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: the closure runs between fork and exec, and only makes the calls above.
    unsafe { command.pre_exec(ask) };
}

/// Has the child hold to `rules` before it becomes its program, as far as this machine's kernel can hold it to them.
pub fn confine(command: &mut Command, rules: RulesetCreated) {
    let mut rules = Some(rules);
    let restrict = move || match rules.take().map(RulesetCreated::restrict_self) {
        Some(Err(_)) => Err(io::ErrorKind::PermissionDenied.into()),
        Some(Ok(_)) | None => Ok(()),
    };
    // SAFETY: the closure runs between fork and exec. It makes the calls prctl, landlock_restrict_self and close, which are
    // async-signal-safe, and allocates nothing unless one of them fails: then the child ends.
    unsafe { command.pre_exec(restrict) };
}

/// Receives exactly `octets`, and the descriptors that come with them. `Ok(false)`: the peer closed the socket.
///
/// # Errors
/// The socket failed, or the peer closed it amid the message.
pub fn receive(socket: &UnixStream, octets: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> io::Result<bool> {
    let mut done = 0;
    while done < octets.len() {
        let mut space = nix::cmsg_space!([RawFd; MOST_DESCRIPTORS]);
        let mut slices = [IoSliceMut::new(&mut octets[done..])];
        let got =
            match recvmsg::<UnixAddr>(socket.as_raw_fd(), &mut slices, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC) {
                Err(nix::Error::EINTR) => continue,
                // A kernel that died with unread messages.
                Err(nix::Error::ECONNRESET) => return Ok(false),
                other => other?,
            };
        for message in got.cmsgs()? {
            if let ControlMessageOwned::ScmRights(numbers) = message {
                // SAFETY: the system has just made these descriptors for this process, and each number is taken once.
                descriptors.extend(numbers.into_iter().map(|number| unsafe { OwnedFd::from_raw_fd(number) }));
            }
        }
        match got.bytes {
            0 if done == 0 => return Ok(false),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => done += more,
        }
    }
    Ok(true)
}

/// Sends all `octets` with these descriptors. `Ok(false)`: the peer has closed the socket.
///
/// # Errors
/// The socket failed, or took a part only.
pub fn send(socket: &UnixStream, octets: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<bool> {
    let numbers: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&numbers)];
    let rights: &[ControlMessage<'_>] = if numbers.is_empty() { &[] } else { &rights };
    loop {
        let sent =
            sendmsg::<UnixAddr>(socket.as_raw_fd(), &[IoSlice::new(octets)], rights, MsgFlags::MSG_NOSIGNAL, None);
        return match sent {
            Err(nix::Error::EINTR) => continue,
            Err(nix::Error::EPIPE | nix::Error::ECONNRESET) => Ok(false),
            Ok(count) if count == octets.len() => Ok(true),
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(error) => Err(error.into()),
        };
    }
}
