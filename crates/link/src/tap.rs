//! TAP devices: interfaces whose far end is a program, such as a stack in user space.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;

use crate::netlink::{NameError, check_interface_name};
use crate::sys;

const DRIVER: &str = "/dev/net/tun";

/// Why there is no TAP device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TapError {
    /// No interface can have this name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// This user may not open the driver's file; rights in a user namespace do not help.
    #[error(
        "permission to open {DRIVER} is missing: root gives it to everybody with `chmod 666 {DRIVER}`, as most systems do"
    )]
    NotPermitted,
    /// The kernel has no TUN driver.
    #[error("{DRIVER} cannot be opened")]
    Driver(#[source] io::Error),
    /// Another program has the device.
    #[error("another program has {interface} open")]
    InUse {
        /// The device asked for.
        interface: String,
    },
    /// The kernel refused for another reason.
    #[error("making the TAP device {interface} failed")]
    System {
        /// The device asked for.
        interface: String,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// Opens the TAP device called `name` of the calling thread's namespace; makes it if there is none.
///
/// Each read and each write is one frame, without FCS; neither waits. A device made here vanishes with the last
/// descriptor.
pub fn open_tap(name: &str) -> Result<File, TapError> {
    check_interface_name(name)?;
    let open = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DRIVER);
    let file = open.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => TapError::NotPermitted,
        _ => TapError::Driver(error),
    })?;
    let interface = name.to_owned();
    sys::tap::attach(file.as_fd(), name).map_err(|source| match source.raw_os_error() {
        Some(libc::EBUSY) => TapError::InUse { interface },
        _ => TapError::System { interface, source },
    })?;
    Ok(file)
}

/// Makes a TAP device that stays, for a program to open later.
pub fn create_tap(name: &str) -> Result<(), TapError> {
    let file = open_tap(name)?;
    sys::tap::keep(file.as_fd()).map_err(|source| TapError::System { interface: name.to_owned(), source })
}
