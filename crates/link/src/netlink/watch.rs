//! Changes of interfaces in other namespaces, as the kernel announces them: promiscuity, changed addresses, and which
//! interface is a part of which.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use netlink_packet_core::{NetlinkBuffer, NlasIterator};
use netlink_packet_route::AddressFamily;
use netlink_packet_route::link::LinkHeader;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, NetlinkAddr, recvmsg};
use pnet_base::MacAddr;

use super::monitor::{DATAGRAM_OCTETS, MonitorError, listen};
use crate::namespace::Namespace;
use crate::sys::option;

/// Octets of control data: a header and a number, with room to spare.
const CONTROL_OCTETS: usize = 64;
/// Octets of `ifinfomsg`, before the attributes.
const HEADER_OCTETS: usize = 16;

// Attributes of an interface, as in linux/if_link.h.
const IFLA_ADDRESS: u16 = 1;
const IFLA_LINK: u16 = 5;
const IFLA_MASTER: u16 = 10;
const IFLA_PROMISCUITY: u16 = 30;
const IFLA_LINK_NETNSID: u16 = 37;

/// News of an interface in another namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkNews {
    /// The number by which this namespace knows the other.
    pub namespace: i32,
    /// The interface's index there.
    pub index: u32,
    /// The interface's present state; `None` if it no longer exists.
    pub state: Option<LinkState>,
}

/// What decides which frames an interface may receive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkState {
    /// The number of requests to receive everything, such as running captures and second addresses.
    pub promiscuity: u32,
    /// Its address, if it is one of Ethernet.
    pub mac: Option<MacAddr>,
    /// It is a port of a bridge, or a part of another interface.
    pub controlled: bool,
    /// The interface of the same namespace below it, as for a VLAN or a macvlan.
    pub lower: Option<u32>,
}

/// Listens to changes of interfaces in every namespace for which another has a number: those at the other ends of its
/// veth pairs, among others.
#[derive(Debug)]
pub struct LinkWatch {
    socket: OwnedFd,
    buffer: Vec<u8>,
    control: Vec<u8>,
}

impl LinkWatch {
    /// Begins to listen in `namespace`. To miss nothing, list the interfaces after this call.
    ///
    /// It takes CAP_NET_BROADCAST in the user namespaces that own these namespaces.
    ///
    /// # Errors
    /// A namespace that cannot be entered, or a kernel that refuses.
    pub fn open(namespace: &Namespace) -> Result<LinkWatch, MonitorError> {
        let socket = listen(namespace)?;
        let call = "listening to changes in other namespaces";
        option::listen_to_all_namespaces(&socket).map_err(|source| MonitorError::System { call, source })?;
        Ok(LinkWatch::from_fd(socket))
    }

    /// Takes the descriptor of a watch, for instance one from another process.
    pub fn from_fd(descriptor: OwnedFd) -> LinkWatch {
        LinkWatch { socket: descriptor, buffer: vec![0; DATAGRAM_OCTETS], control: vec![0; CONTROL_OCTETS] }
    }

    /// Gives up the descriptor; the kernel keeps queueing news for its next owner.
    pub fn into_fd(self) -> OwnedFd {
        self.socket
    }

    /// The news since the last call, in order, without that of the socket's own namespace; never waits.
    ///
    /// # Errors
    /// [`MonitorError::Overrun`] if some news is lost: the state of every interface is uncertain then.
    pub fn poll(&mut self) -> Result<Vec<LinkNews>, MonitorError> {
        let mut news = Vec::new();
        loop {
            let mut parts = [IoSliceMut::new(&mut self.buffer)];
            let flags = MsgFlags::MSG_DONTWAIT;
            let received = recvmsg::<NetlinkAddr>(self.socket.as_raw_fd(), &mut parts, Some(&mut self.control), flags);
            let (octets, namespace) = match received {
                Ok(message) => (message.bytes, message.cmsgs().ok().and_then(|mut data| data.find_map(number))),
                Err(Errno::EAGAIN) => return Ok(news),
                Err(Errno::EINTR) => continue,
                Err(Errno::ENOBUFS) => return Err(MonitorError::Overrun),
                Err(errno) => {
                    let call = "reading changes in other namespaces";
                    return Err(MonitorError::System { call, source: errno.into() });
                }
            };
            if let Some(namespace) = namespace {
                news.extend(LinkNews::read(namespace, &self.buffer[..octets]));
            }
        }
    }
}

impl AsFd for LinkWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The namespace that a message is from, if it is not the socket's own.
fn number(control: ControlMessageOwned) -> Option<i32> {
    let ControlMessageOwned::Unknown(control) = control else { return None };
    let kind = (control.cmsg_header.cmsg_level, control.cmsg_header.cmsg_type);
    let octets = control.data_bytes.first_chunk()?;
    (kind == (libc::SOL_NETLINK, libc::NETLINK_LISTEN_ALL_NSID)).then_some(i32::from_ne_bytes(*octets))
}

impl LinkNews {
    /// The news in one datagram of announcements from a namespace, in order. Malformed announcements are skipped.
    pub fn read(namespace: i32, datagram: &[u8]) -> Vec<LinkNews> {
        let (mut news, mut rest) = (Vec::new(), datagram);
        while let Ok(message) = NetlinkBuffer::new_checked(rest) {
            let told = told(message.message_type(), message.payload());
            news.extend(told.map(|(index, state)| LinkNews { namespace, index, state }));
            let length = message.length() as usize;
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        }
        news
    }
}

/// The interface that one announcement is about, and its state.
fn told(message_type: u16, payload: &[u8]) -> Option<(u32, Option<LinkState>)> {
    let header = LinkHeader::parse(payload).ok()?;
    // A bridge announces its ports with the same messages: a port that leaves its bridge is not an interface that is
    // gone.
    if header.interface_family != AddressFamily::Unspec {
        return None;
    }
    match message_type {
        libc::RTM_DELLINK => Some((header.index, None)),
        libc::RTM_NEWLINK => Some((header.index, Some(state(payload.get(HEADER_OCTETS..)?)))),
        _ => None,
    }
}

/// The state in the attributes; attributes after a malformed one are skipped.
fn state(attributes: &[u8]) -> LinkState {
    let (mut state, mut elsewhere) = (LinkState::default(), false);
    for attribute in NlasIterator::new(attributes).map_while(Result::ok) {
        let number = || attribute.value().first_chunk().map(|octets| u32::from_ne_bytes(*octets));
        match attribute.kind() {
            IFLA_ADDRESS => state.mac = <[u8; 6]>::try_from(attribute.value()).ok().map(MacAddr::from),
            IFLA_PROMISCUITY => state.promiscuity = number().unwrap_or(0),
            IFLA_MASTER => state.controlled = number() != Some(0),
            IFLA_LINK => state.lower = number().filter(|&index| index != 0),
            IFLA_LINK_NETNSID => elsewhere = true,
            _ => {}
        }
    }
    state.lower = state.lower.filter(|_| !elsewhere);
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announcement(message_type: u16, index: u32, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut payload = vec![0, 0, 0, 0];
        payload.extend(index.to_ne_bytes());
        payload.extend([0; 8]);
        for (kind, value) in attributes {
            payload.extend((value.len() as u16 + 4).to_ne_bytes());
            payload.extend(kind.to_ne_bytes());
            payload.extend(*value);
            payload.resize(payload.len().next_multiple_of(4), 0);
        }
        let mut octets = (payload.len() as u32 + 16).to_ne_bytes().to_vec();
        octets.extend(message_type.to_ne_bytes());
        octets.extend([0; 10]);
        octets.extend(payload);
        octets
    }

    fn announcements() -> Vec<u8> {
        let (one, seven) = (1_u32.to_ne_bytes(), 7_u32.to_ne_bytes());
        let mac = [2, 0, 0, 0, 0, 9];
        let mut datagram = announcement(16, 7, &[(1, &mac), (30, &one), (5, &seven), (37, &one)]);
        datagram.extend(announcement(16, 8, &[(3, b"mv0\0"), (5, &seven), (10, &one)]));
        datagram.extend(announcement(17, 8, &[]));
        datagram
    }

    #[test]
    fn news_says_who_listens_and_what_stands_on_what() {
        let mac = Some(MacAddr(2, 0, 0, 0, 0, 9));
        let port = LinkState { promiscuity: 1, mac, ..LinkState::default() };
        let upper = LinkState { controlled: true, lower: Some(7), ..LinkState::default() };
        let news = |index, state| LinkNews { namespace: 3, index, state };
        assert_eq!(LinkNews::read(3, &announcements()), [news(7, Some(port)), news(8, Some(upper)), news(8, None)]);
    }

    #[test]
    fn a_cut_announcement_says_nothing() {
        let whole = announcement(16, 7, &[(30, &[1, 0, 0, 0])]);
        assert!((0..whole.len()).all(|length| LinkNews::read(3, &whole[..length]).is_empty()));
    }
}
