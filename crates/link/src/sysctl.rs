//! Settings in `/proc/sys/net`.
//!
//! The settings belong to the calling thread's namespace: call these in [`crate::namespace::Namespace::run`].

use std::fs;
use std::io;
use std::path::Path;

use crate::namespace::with_own_proc;
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
    /// The process lacks CAP_NET_ADMIN in this namespace; or `/proc/sys` is mounted read-only, and no other `/proc` can
    /// be mounted.
    #[error("{setting} may not be written: in a container, start it with --privileged")]
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

/// Switches IPv6 off on every interface of the calling thread's namespace, and on later ones.
pub fn silence_ipv6_everywhere() -> Result<(), SysctlError> {
    disable_ipv6("default")?;
    disable_ipv6("all")
}

/// Whether later interfaces of the calling thread's namespace have IPv6.
///
/// Container engines switch it off in a namespace that has no network of theirs.
pub fn has_ipv6() -> bool {
    fs::read_to_string(format!("{IPV6_SETTINGS}/default/disable_ipv6")).is_ok_and(|setting| setting.trim() == "0")
}

/// Limits an interface of the calling thread's namespace to three router solicitations when it comes up (RFC 4861,
/// clause 10: MAX_RTR_SOLICITATIONS).
///
/// Linux repeats them until a router answers (RFC 7559), at most once an hour. A router that announces itself later is
/// heard all the same. A kernel without IPv6 sends none.
pub fn ask_for_routers_three_times(interface: &str) -> Result<(), SysctlError> {
    check_interface_name(interface)?;
    if !Path::new(IPV6_SETTINGS).exists() {
        return Ok(());
    }
    let setting = format!("{IPV6_SETTINGS}/{interface}/router_solicitations");
    write(&setting, "3").map_err(|source| sorted(source, setting, interface))
}

/// Makes bridges of the calling thread's namespace carry frames unchanged.
///
/// A kernel with netfilter for bridges would inspect IP packets on them, and drop invalid ones.
pub fn carry_unfiltered() -> Result<(), SysctlError> {
    /// The folder exists only if that part of the kernel is loaded. If it is loaded later, it inspects packets after
    /// all.
    const FOLDER: &str = "/proc/sys/net/bridge";
    if !Path::new(FOLDER).exists() {
        return Ok(());
    }
    ["arptables", "iptables", "ip6tables"].iter().try_for_each(|tables| {
        let setting = format!("{FOLDER}/bridge-nf-call-{tables}");
        write(&setting, "0").map_err(|source| sorted(source, setting, "bridges"))
    })
}

/// An interface's own settings in the kernel: they are reset when it moves to another namespace.
const OWN_SETTINGS: [&str; 4] =
    ["/proc/sys/net/ipv4/conf", "/proc/sys/net/ipv4/neigh", "/proc/sys/net/ipv6/conf", "/proc/sys/net/ipv6/neigh"];

/// Every setting of an interface that can be read, with its file.
pub(crate) fn settings_of(interface: &str) -> Vec<(String, String)> {
    let folders = OWN_SETTINGS.iter().filter_map(|folder| fs::read_dir(Path::new(folder).join(interface)).ok());
    let files = folders.flatten().flatten().filter_map(|file| file.path().to_str().map(str::to_owned));
    let mut settings: Vec<_> = files
        .filter_map(|file| {
            let value = fs::read_to_string(&file).ok()?.trim_end().to_owned();
            Some((file, value))
        })
        .collect();
    settings.sort();
    settings
}

/// Restores settings of an interface; gives the files that could not be written.
///
/// Only files of `interface` are written: a list may come from a disk.
pub(crate) fn restore_settings(interface: &str, settings: &[(String, String)]) -> Vec<String> {
    let now = settings_of(interface);
    let is_own = |file: &str| {
        OWN_SETTINGS.iter().any(|folder| Path::new(file).parent() == Some(&Path::new(folder).join(interface)))
    };
    let changed = settings.iter().filter(|(file, _)| is_own(file)).filter(|setting| !now.contains(setting));
    changed.filter(|(file, value)| write(file, value).is_err()).map(|(file, _)| file.clone()).collect()
}

fn disable_ipv6(folder: &str) -> Result<(), SysctlError> {
    if !Path::new(IPV6_SETTINGS).exists() {
        return Ok(());
    }
    let setting = format!("{IPV6_SETTINGS}/{folder}/disable_ipv6");
    write(&setting, "1").map_err(|source| sorted(source, setting, folder))
}

fn write(setting: &str, value: &str) -> io::Result<()> {
    let write = || {
        // Opened, not created: /proc makes no files.
        let mut file = fs::OpenOptions::new().write(true).open(setting)?;
        io::Write::write_all(&mut file, value.as_bytes())
    };
    match write() {
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => with_own_proc(write).unwrap_or(Err(error)),
        written => written,
    }
}

fn sorted(source: io::Error, setting: String, interface: &str) -> SysctlError {
    match source.kind() {
        io::ErrorKind::NotFound => SysctlError::NoInterface { interface: interface.to_owned() },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => SysctlError::NotPermitted { setting },
        _ => SysctlError::System { setting, source },
    }
}
