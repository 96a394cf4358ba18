//! Settings in `/proc/sys/net`.
//!
//! They are those of the calling thread's namespace: call these in [`crate::namespace::Namespace::run`].

use std::fs;
use std::io;
use std::path::Path;

use crate::netlink::{NameError, check_interface_name};

/// Where the kernel keeps each interface's settings of IPv6.
const IPV6_SETTINGS: &str = "/proc/sys/net/ipv6/conf";

/// Why a setting could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SysctlError {
    /// No interface can have this name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no such interface in this namespace.
    #[error("there is no interface {interface}")]
    NoInterface {
        /// The interface asked for.
        interface: String,
    },
    /// The process lacks CAP_NET_ADMIN in this namespace, or `/proc/sys` is mounted read-only.
    #[error("{setting} may not be written")]
    NotPermitted {
        /// The setting's file.
        setting: String,
    },
    /// The kernel refused for another reason.
    #[error("writing {setting} failed")]
    System {
        /// The setting's file.
        setting: String,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// Switches IPv6 off on one interface of the calling thread's namespace.
///
/// An interface with IPv6 sends some seven frames of its own when it comes up. A kernel without
/// IPv6 is silent already.
pub fn silence_ipv6(interface: &str) -> Result<(), SysctlError> {
    check_interface_name(interface)?;
    disable_ipv6(interface)
}

/// Switches IPv6 off on every interface of the calling thread's namespace, and on those to come.
pub fn silence_ipv6_everywhere() -> Result<(), SysctlError> {
    disable_ipv6("default")?;
    disable_ipv6("all")
}

fn disable_ipv6(folder: &str) -> Result<(), SysctlError> {
    if !Path::new(IPV6_SETTINGS).exists() {
        return Ok(());
    }
    let setting = format!("{IPV6_SETTINGS}/{folder}/disable_ipv6");
    // Opened, not created: /proc makes no files.
    let written =
        fs::OpenOptions::new().write(true).open(&setting).and_then(|mut file| io::Write::write_all(&mut file, b"1"));
    written.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => SysctlError::NoInterface { interface: folder.to_owned() },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => SysctlError::NotPermitted { setting },
        _ => SysctlError::System { setting, source },
    })
}
