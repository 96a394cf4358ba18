//! Offloads: work that an interface leaves to hardware, which a veth pair does not have.
//!
//! With offloads on, frames come out of a veth pair without checksums and up to 64 KiB long, which no wire would carry.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use crate::netlink::{NameError, check_interface_name};
use crate::sys;

/// The settings that are switched off, with their commands of `linux/ethtool.h`.
///
/// Checksums come first: the kernel switches off the settings that depend on them.
const OFFLOADS: [(&str, u32); 5] = [
    ("transmit checksums", 0x17),
    ("scatter-gather", 0x19),
    ("TCP segmentation", 0x1f),
    ("generic segmentation", 0x24),
    ("generic receive offload", 0x2c),
];

/// Why offloads could not be read or changed.
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
    #[error("reading or changing {setting} of {interface} failed")]
    System {
        /// The setting that stayed as it was.
        setting: &'static str,
        /// The interface asked for.
        interface: String,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// Switches off every offload of an interface that changes what its peer receives.
///
/// Settings that the interface does not have count as off. The interface is looked up in the calling thread's
/// namespace: call this in [`crate::namespace::Namespace::run`], on the station's side. A user with rights in the
/// station can switch them on again.
pub fn disable_offloads(interface: &str) -> Result<(), EthtoolError> {
    check_interface_name(interface)?;
    let socket = any_socket(interface)?;
    OFFLOADS.iter().try_for_each(|(setting, command)| asked(&socket, interface, setting, *command, 0).map(drop))
}

/// The names of the offloads of [`disable_offloads`] that are on, without those that only concern received frames. The
/// interface is looked up in the calling thread's namespace.
pub fn offloads_on(interface: &str) -> Result<Vec<&'static str>, EthtoolError> {
    /// The commands that read the values which the commands of [`OFFLOADS`] set.
    const GET: [u32; 4] = [0x16, 0x18, 0x1e, 0x23];
    check_interface_name(interface)?;
    let socket = any_socket(interface)?;
    let mut on = Vec::new();
    for ((setting, _), command) in OFFLOADS.iter().zip(GET) {
        if asked(&socket, interface, setting, command, 0)?.is_some_and(|value| value != 0) {
            on.push(*setting);
        }
    }
    Ok(on)
}

/// The commands of `linux/ethtool.h` for offloads that join several received frames into one.
const GET_GRO: u32 = 0x2b;
const SET_GRO: u32 = 0x2c;
const GET_FLAGS: u32 = 0x25;
const SET_FLAGS: u32 = 0x26;
/// Large receive offload, among the flags.
const FLAG_LRO: u32 = 1 << 15;

/// The offloads of an interface that join several received frames into one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveOffloads {
    /// Generic receive offload.
    pub gro: bool,
    /// Large receive offload.
    pub lro: bool,
}

impl ReceiveOffloads {
    /// None, so that frames are received one by one.
    pub const OFF: ReceiveOffloads = ReceiveOffloads { gro: false, lro: false };

    /// The present setting of the interface, looked up in the calling thread's namespace; a missing offload counts as
    /// off.
    pub fn of(interface: &str) -> Result<ReceiveOffloads, EthtoolError> {
        check_interface_name(interface)?;
        let socket = any_socket(interface)?;
        let value = |setting, command| asked(&socket, interface, setting, command, 0);
        let gro = value("generic receive offload", GET_GRO)?.is_some_and(|value| value != 0);
        let lro = value("large receive offload", GET_FLAGS)?.is_some_and(|flags| flags & FLAG_LRO != 0);
        Ok(ReceiveOffloads { gro, lro })
    }

    /// Gives the interface this setting.
    pub fn apply(self, interface: &str) -> Result<(), EthtoolError> {
        check_interface_name(interface)?;
        let socket = any_socket(interface)?;
        let (gro, lro) = ("generic receive offload", "large receive offload");
        let now = ReceiveOffloads::of(interface)?;
        if now.gro != self.gro {
            asked(&socket, interface, gro, SET_GRO, u32::from(self.gro))?;
        }
        if now.lro != self.lro
            && let Some(flags) = asked(&socket, interface, lro, GET_FLAGS, 0)?
        {
            asked(&socket, interface, lro, SET_FLAGS, flags ^ FLAG_LRO)?;
        }
        Ok(())
    }
}

/// The kernel's answer to one command; `None` if the interface does not know it.
fn asked(
    socket: &OwnedFd,
    interface: &str,
    setting: &'static str,
    command: u32,
    data: u32,
) -> Result<Option<u32>, EthtoolError> {
    sys::ethtool::value(socket.as_fd(), interface, command, data).map(Some).or_else(|source| {
        let interface = interface.to_owned();
        match source.raw_os_error() {
            Some(libc::EOPNOTSUPP) => Ok(None),
            Some(libc::ENODEV) => Err(EthtoolError::NoInterface { interface }),
            Some(libc::EPERM) => Err(EthtoolError::NotPermitted { interface }),
            _ => Err(EthtoolError::System { setting, interface, source }),
        }
    })
}

/// The kernel takes these requests on any socket, for the namespace in which it was opened.
fn any_socket(interface: &str) -> Result<OwnedFd, EthtoolError> {
    socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None).map_err(|errno| {
        EthtoolError::System { setting: "offloads", interface: interface.to_owned(), source: errno.into() }
    })
}
