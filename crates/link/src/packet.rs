//! The bus's port: one socket that receives from every interface of a namespace, and one that
//! sends to them.
//!
//! The process that opens a socket may differ from the one that uses it: [`open_receiver`] needs rights over the
//! namespace, [`Receiver::new`] needs only the descriptor. A receiver's socket takes no frame until its ring exists, so
//! no frame waits elsewhere or is lost uncounted.
//!
//! Nothing here knows how long a frame takes, or which stations get it.

mod checksum;
mod receiver;
mod sender;
mod stamps;

use std::io;

use crate::namespace::NamespaceError;

#[cfg(fuzzing)]
pub(crate) use receiver::received;

pub use checksum::{PartialChecksum, internet_checksum};
pub use receiver::{
    Received, Receiver, RingSize, RingStatistics, SLOT_FRAME_OCTETS, Segments, StampSource, open_receiver,
};
pub use sender::{SendError, Sender, open_sender};
pub use stamps::{StampError, stamps_ready, wait_for_stamps};

/// Octets of the shortest frame that the kernel sends: an Ethernet header.
pub const HEADER_OCTETS: usize = 14;

/// Why a packet socket could not be opened, or not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// The process lacks CAP_NET_RAW in this namespace.
    #[error("a packet socket needs CAP_NET_RAW")]
    NotPermitted,
    /// This namespace has no interface of this name.
    #[error("there is no interface {interface}")]
    NoInterface {
        /// The interface asked for.
        interface: String,
    },
    /// The kernel has no memory for the ring: ask for a smaller one.
    #[error("there is no memory for a ring of {octets} octets")]
    NoMemory {
        /// The requested setting.
        octets: usize,
    },
    /// The namespace could not be entered.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The kernel refused `call` for another reason.
    #[error("{call} failed")]
    System {
        /// What was refused.
        call: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl PacketError {
    /// For use with `map_err`.
    pub(crate) fn of<E: Into<io::Error>>(call: &'static str) -> impl FnOnce(E) -> PacketError {
        move |error| PacketError::System { call, source: error.into() }
    }
}

/// A packet socket that receives nothing until it is bound, in the calling thread's namespace.
pub(crate) fn unbound_socket() -> Result<std::os::fd::OwnedFd, PacketError> {
    use nix::errno::Errno;
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    socket(AddressFamily::Packet, SockType::Raw, flags, None).map_err(|errno| match errno {
        Errno::EPERM | Errno::EACCES => PacketError::NotPermitted,
        _ => PacketError::of("opening a packet socket")(errno),
    })
}

/// Puts an 802.1Q or 802.1ad tag between addresses and EtherType, where it was on the wire.
///
/// `spare` are four octets before the frame's first; the addresses move into them.
pub(crate) fn restore_tag(spare_and_frame: &mut [u8], tag: Tag) {
    const ADDRESSES: usize = 12;
    spare_and_frame.copy_within(Tag::OCTETS..Tag::OCTETS + ADDRESSES, 0);
    let place = &mut spare_and_frame[ADDRESSES..ADDRESSES + Tag::OCTETS];
    place[..2].copy_from_slice(&tag.protocol.to_be_bytes());
    place[2..].copy_from_slice(&tag.control.to_be_bytes());
}

/// A VLAN tag that the kernel took out of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// EtherType of the tag: 0x8100 for 802.1Q, 0x88a8 for 802.1ad.
    pub protocol: u16,
    /// Priority and VLAN number.
    pub control: u16,
}

impl Tag {
    /// Octets of a tag in a frame.
    pub const OCTETS: usize = 4;

    /// The tag that the kernel removed, if `status` reports one.
    pub fn of(status: u32, protocol: u16, control: u16) -> Option<Tag> {
        if status & libc::TP_STATUS_VLAN_VALID == 0 {
            return None;
        }
        let known = status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
        Some(Tag { protocol: if known { protocol } else { 0x8100 }, control })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_goes_between_addresses_and_ethertype() {
        let mut area = *b"....ddddddssssss\x08\x00payload";
        restore_tag(&mut area, Tag { protocol: 0x88a8, control: 0x2005 });
        assert_eq!(&area, b"ddddddssssss\x88\xa8\x20\x05\x08\x00payload");
    }

    #[test]
    fn a_tag_without_its_protocol_is_802_1q() {
        let (valid, protocol_valid) = (1 << 4, 1 << 6);
        assert_eq!(Tag::of(0, 0x88a8, 5), None);
        assert_eq!(Tag::of(valid, 0, 5), Some(Tag { protocol: 0x8100, control: 5 }));
        let tag = Tag { protocol: 0x88a8, control: 5 };
        assert_eq!(Tag::of(valid | protocol_valid, 0x88a8, 5), Some(tag));
    }
}
