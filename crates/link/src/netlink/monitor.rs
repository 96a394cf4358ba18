//! Changes of interfaces, as the kernel announces them.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use netlink_packet_core::NetlinkBuffer;
use netlink_packet_route::AddressFamily;
use netlink_packet_route::link::{LinkFlags, LinkHeader};
use nix::errno::Errno;
use nix::sys::socket::sockopt::RcvBufForce;
use nix::sys::socket::{
    AddressFamily as SocketFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send,
    setsockopt, socket,
};

use crate::namespace::{Namespace, NamespaceError};

/// Octets of the largest datagram that the kernel sends: it cuts none at 32 KiB.
pub(super) const DATAGRAM_OCTETS: usize = 32 * 1024;

/// Octets of changes that the kernel keeps for us: each takes some 2 KiB.
const QUEUE_OCTETS: usize = 4 << 20;

/// A change of one interface.
///
/// The kernel announces more than changes of carrier, so the same state may come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// It is up and has carrier.
    Up {
        /// Its index.
        index: u32,
    },
    /// It is not up, or has no carrier.
    Down {
        /// Its index.
        index: u32,
    },
    /// It is no longer in this namespace.
    Gone {
        /// Its index.
        index: u32,
    },
}

impl LinkChange {
    /// The changes in one datagram of announcements, in their order. Malformed announcements are skipped.
    pub fn read(datagram: &[u8]) -> Vec<LinkChange> {
        let mut changes = Vec::new();
        read(datagram, &mut changes);
        changes
    }
}

/// Why changes could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// Changes came faster than they were read, and some are lost. The next calls give the present state of every
    /// interface.
    #[error("changes of interfaces were lost")]
    Overrun,
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The kernel refused `call`.
    #[error("{call} failed")]
    System {
        /// What was refused.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// Listens to changes of the interfaces of one namespace.
#[derive(Debug)]
pub struct LinkMonitor {
    socket: OwnedFd,
    buffer: Vec<u8>,
    /// Changes were lost, and the kernel has not been asked yet for the present state.
    lost: bool,
}

impl LinkMonitor {
    /// Begins to listen in `namespace`. To miss nothing, list the interfaces after this call.
    pub fn open(namespace: &Namespace) -> Result<LinkMonitor, MonitorError> {
        Ok(LinkMonitor::from_fd(listen(namespace)?))
    }

    /// Takes the descriptor of a monitor, for instance one from another process.
    pub fn from_fd(descriptor: OwnedFd) -> LinkMonitor {
        LinkMonitor { socket: descriptor, buffer: vec![0; DATAGRAM_OCTETS], lost: false }
    }

    /// Gives up the descriptor; the kernel keeps queueing changes for its next owner.
    pub fn into_fd(self) -> OwnedFd {
        self.socket
    }

    /// The changes since the last call, in their order; never waits.
    ///
    /// After [`MonitorError::Overrun`] it asks the kernel for the state of each interface, so that a lost change is
    /// soon made up for; the answers look like changes. An interface that is gone is not among them.
    pub fn poll(&mut self) -> Result<Vec<LinkChange>, MonitorError> {
        let mut changes = Vec::new();
        if self.lost {
            // The kernel refuses while the last answer is under way, or for lack of memory: the next call tries again.
            self.lost = send(self.socket.as_raw_fd(), &every_link(), MsgFlags::MSG_DONTWAIT).is_err();
        }
        loop {
            let flags = MsgFlags::MSG_DONTWAIT;
            match recv(self.socket.as_raw_fd(), &mut self.buffer, flags) {
                Ok(octets) => read(&self.buffer[..octets], &mut changes),
                Err(Errno::EAGAIN) => return Ok(changes),
                Err(Errno::EINTR) => {}
                // The state of every interface will be reported again, so changes read earlier no longer matter.
                Err(Errno::ENOBUFS) => {
                    self.lost = true;
                    return Err(MonitorError::Overrun);
                }
                Err(errno) => {
                    let call = "reading changes of interfaces";
                    return Err(MonitorError::System { call, source: errno.into() });
                }
            }
        }
    }
}

/// A socket that receives announcements of changes of interfaces.
pub(super) fn listen(namespace: &Namespace) -> Result<OwnedFd, MonitorError> {
    let failed = |call| move |errno: Errno| MonitorError::System { call, source: errno.into() };
    let opened = namespace.run(|| {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let protocol = SockProtocol::NetlinkRoute;
        socket(SocketFamily::Netlink, SockType::Raw, flags, protocol)
    })?;
    let socket = opened.map_err(failed("opening a netlink socket"))?;
    let groups = NetlinkAddr::new(0, libc::RTMGRP_LINK as u32);
    // Room for some thousand changes, where that is allowed; without it, Overrun comes earlier.
    let _ = setsockopt(&socket, RcvBufForce, &QUEUE_OCTETS);
    bind(socket.as_raw_fd(), &groups).map_err(failed("listening to changes of interfaces"))?;
    Ok(socket)
}

impl AsFd for LinkMonitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Asks for an announcement of each interface: an `nlmsghdr`, and an `ifinfomsg` with no restriction.
fn every_link() -> Vec<u8> {
    let mut request = 32_u32.to_ne_bytes().to_vec();
    request.extend(libc::RTM_GETLINK.to_ne_bytes());
    request.extend(((libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16).to_ne_bytes());
    // Sequence number, sender; then the ifinfomsg.
    request.extend([0; 8 + 16]);
    request
}

/// Reads one datagram of announcements.
///
/// Only the fixed header of each is read, so attributes of newer kernels do no harm.
fn read(datagram: &[u8], changes: &mut Vec<LinkChange>) {
    let mut rest = datagram;
    while let Ok(message) = NetlinkBuffer::new_checked(rest) {
        changes.extend(change(message.message_type(), message.payload()));
        let length = message.length() as usize;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    }
}

/// The change in one announcement.
fn change(message_type: u16, payload: &[u8]) -> Option<LinkChange> {
    let header = LinkHeader::parse(payload).ok()?;
    // A bridge announces its ports with the same messages: a port that leaves its bridge is not an interface that is
    // gone.
    if header.interface_family != AddressFamily::Unspec {
        return None;
    }
    let index = header.index;
    match message_type {
        libc::RTM_DELLINK => Some(LinkChange::Gone { index }),
        libc::RTM_NEWLINK if header.flags.contains(LinkFlags::Up | LinkFlags::LowerUp) => {
            Some(LinkChange::Up { index })
        }
        libc::RTM_NEWLINK => Some(LinkChange::Down { index }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `ifinfomsg` announcement.
    fn announcement(message_type: u16, family: u8, index: u32, flags: u32) -> Vec<u8> {
        let mut octets = 32_u32.to_ne_bytes().to_vec();
        octets.extend(message_type.to_ne_bytes());
        octets.extend([0; 10]);
        octets.extend([family, 0, 0, 0]);
        octets.extend(index.to_ne_bytes());
        octets.extend(flags.to_ne_bytes());
        octets.extend([0; 4]);
        octets
    }

    #[test]
    fn up_means_set_up_and_carrier() {
        let (up, carrier) = (1, 1 << 16);
        let mut datagram = announcement(16, 0, 7, up | carrier);
        datagram.extend(announcement(16, 0, 8, up));
        datagram.extend(announcement(16, 0, 9, carrier));
        datagram.extend(announcement(17, 0, 7, up | carrier));
        datagram.extend(announcement(17, 7, 10, up));
        let mut changes = Vec::new();
        read(&datagram, &mut changes);
        let expected = [
            LinkChange::Up { index: 7 },
            LinkChange::Down { index: 8 },
            LinkChange::Down { index: 9 },
            LinkChange::Gone { index: 7 },
        ];
        assert_eq!(changes, expected);
    }

    #[test]
    fn a_cut_announcement_says_nothing() {
        let whole = announcement(16, 0, 7, 1);
        for length in 0..whole.len() {
            let mut changes = Vec::new();
            read(&whole[..length], &mut changes);
            assert_eq!(changes, [], "{length} octets");
        }
    }
}
