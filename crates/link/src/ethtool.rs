//! Offloads: what an interface leaves to hardware, which a veth pair does not have.
//!
//! With them on, frames come out of a veth pair without checksums and up to 64 KiB long, as no wire
//! would carry them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use crate::netlink::{NameError, check_interface_name};
use crate::sys;

/// The settings that are switched off, with their commands of `linux/ethtool.h`.
///
/// Checksums come first: the kernel switches off what depends on them.
const OFFLOADS: [(&str, u32); 5] = [
    ("transmit checksums", 0x17),
    ("scatter-gather", 0x19),
    ("TCP segmentation", 0x1f),
    ("generic segmentation", 0x24),
    ("generic receive offload", 0x2c),
];

/// Why offloads could not be switched off.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EthtoolError {
    /// No interface can have this name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no such interface in this namespace.
    #[error("there is no interface {interface}")]
    NoInterface {
        /// The interface asked for.
        interface: String,
    },
    /// The process lacks CAP_NET_ADMIN in this namespace.
    #[error("changing the offloads of {interface} needs CAP_NET_ADMIN")]
    NotPermitted {
        /// The interface asked for.
        interface: String,
    },
    /// The kernel refused for another reason.
    #[error("switching off {setting} of {interface} failed")]
    System {
        /// The setting that stayed on.
        setting: &'static str,
        /// The interface asked for.
        interface: String,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// Switches off every offload of an interface that changes what its peer receives.
///
/// Settings that the interface does not have count as off. The interface is looked for in the
/// calling thread's namespace: call this in [`crate::namespace::Namespace::run`], on the station's
/// side. Whoever may do so in the station can switch them on again.
pub fn disable_offloads(interface: &str) -> Result<(), EthtoolError> {
    check_interface_name(interface)?;
    let socket = any_socket(interface)?;
    for (setting, command) in OFFLOADS {
        let Err(source) = sys::ethtool::value(socket.as_fd(), interface, command, 0) else {
            continue;
        };
        let interface = interface.to_owned();
        return Err(match source.raw_os_error() {
            Some(libc::EOPNOTSUPP) => continue,
            Some(libc::ENODEV) => EthtoolError::NoInterface { interface },
            Some(libc::EPERM) => EthtoolError::NotPermitted { interface },
            _ => EthtoolError::System { setting, interface, source },
        });
    }
    Ok(())
}

/// The kernel takes these requests on any socket, for the namespace in which it was opened.
fn any_socket(interface: &str) -> Result<OwnedFd, EthtoolError> {
    socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None).map_err(|errno| {
        EthtoolError::System { setting: "offloads", interface: interface.to_owned(), source: errno.into() }
    })
}
