//! Queries on a namespace's file, and signals to exactly one process.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// `NS_GET_USERNS` of `linux/nsfs.h`, which libc does not have: `_IO(0xb7, 1)`.
const NS_GET_USERNS: libc::c_ulong = 0xb701;

/// The user namespace that owns the namespace behind this descriptor.
pub fn owner(namespace: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no argument.
    let owner = super::checked(unsafe { libc::ioctl(namespace.as_raw_fd(), NS_GET_USERNS as _) })?;
    // SAFETY: the kernel has just opened it, and no other value owns it yet.
    Ok(unsafe { OwnedFd::from_raw_fd(owner) })
}

/// A descriptor of the process that has this number now.
pub fn process(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0_u32) };
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened it, and no other value owns it yet.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as libc::c_int) })
}

/// Sends a signal to the process behind this descriptor, which is an error if it has ended.
pub fn signal(process: BorrowedFd<'_>, signal: libc::c_int) -> io::Result<()> {
    let no_info = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: without a siginfo the kernel makes one, and reads no memory of ours.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), signal, no_info, 0_u32) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
