//! The ethtool call for settings that are one number.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `struct ethtool_value`: a command and its number.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Calls `command` with `data` for the interface called `name`; gives the kernel's value.
///
/// # Panics
///
/// If `name` is longer than an interface's name can be.
pub fn value(socket: BorrowedFd<'_>, name: &str, command: u32, data: u32) -> io::Result<u32> {
    assert!(name.len() < libc::IFNAMSIZ, "callers check the name");
    let mut value = EthtoolValue { command, data };
    let mut ifr_name = [0; libc::IFNAMSIZ];
    for (place, octet) in ifr_name.iter_mut().zip(name.bytes()) {
        *place = octet as libc::c_char;
    }
    let mut request =
        libc::ifreq { ifr_name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: (&raw mut value).cast() } };
    // SAFETY: request names an interface in a zero-terminated array and points at an ethtool_value
    // that outlives the call; commands of this kind read and write no more than that.
    super::checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) })?;
    Ok(value.data)
}
