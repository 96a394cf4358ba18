//! The calls of the TUN driver.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Makes the TAP device called `name`, or attaches to it; frames pass unchanged, without a header before them.
///
/// # Panics
///
/// If `name` is longer than an interface's name can be.
pub fn attach(descriptor: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    assert!(name.len() < libc::IFNAMSIZ, "callers check the name");
    let mut ifr_name = [0; libc::IFNAMSIZ];
    for (place, octet) in ifr_name.iter_mut().zip(name.bytes()) {
        *place = octet as libc::c_char;
    }
    let flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    let mut request = libc::ifreq { ifr_name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags } };
    // SAFETY: request names an interface in a zero-terminated array, and outlives the call, which reads and writes no
    // more than it.
    super::checked(unsafe { libc::ioctl(descriptor.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })?;
    Ok(())
}

/// Keeps the device when its last descriptor is closed.
pub fn keep(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call takes a number, no pointer.
    super::checked(unsafe { libc::ioctl(descriptor.as_raw_fd(), libc::TUNSETPERSIST as _, 1 as libc::c_ulong) })?;
    Ok(())
}
