//! Options of packet sockets.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd};

/// Chooses the version of the ring's slot headers: a `tpacket_versions` value.
pub fn set_version(socket: impl AsFd, version: libc::c_int) -> io::Result<()> {
    set(socket, libc::PACKET_VERSION, &version)
}

/// Keeps so many octets free in front of each frame in the ring.
pub fn set_reserve(socket: impl AsFd, octets: libc::c_uint) -> io::Result<()> {
    set(socket, libc::PACKET_RESERVE, &octets)
}

/// Makes a receive ring of these dimensions.
pub fn set_ring(socket: impl AsFd, request: &libc::tpacket_req) -> io::Result<()> {
    set(socket, libc::PACKET_RX_RING, request)
}

/// Leaves out frames that this host sends.
pub fn ignore_outgoing(socket: impl AsFd) -> io::Result<()> {
    set::<libc::c_int>(socket, libc::PACKET_IGNORE_OUTGOING, &1)
}

/// Has each received message bring its `tpacket_auxdata`.
pub fn want_auxdata(socket: impl AsFd) -> io::Result<()> {
    set::<libc::c_int>(socket, libc::PACKET_AUXDATA, &1)
}

/// Has an interface receive frames to every address, until the socket is closed.
pub fn be_promiscuous(socket: impl AsFd, ifindex: u32) -> io::Result<()> {
    let membership = libc::packet_mreq {
        mr_ifindex: ifindex as i32,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(socket, libc::PACKET_ADD_MEMBERSHIP, &membership)
}

/// Frames since the last call, those dropped among those received.
pub fn take_statistics(socket: impl AsFd) -> io::Result<libc::tpacket_stats> {
    let mut statistics = MaybeUninit::<libc::tpacket_stats>::zeroed();
    let mut octets = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `octets` octets, which are those of `statistics`.
    super::checked(unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            statistics.as_mut_ptr().cast(),
            &raw mut octets,
        )
    })?;
    // SAFETY: two numbers, zero before the kernel wrote them.
    Ok(unsafe { statistics.assume_init() })
}

/// The number of the network namespace that a socket is in; the kernel gives none twice until it is booted again.
pub fn netns_cookie(socket: impl AsFd) -> io::Result<u64> {
    let mut cookie = 0_u64;
    let mut octets = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `octets` octets, which are those of `cookie`.
    super::checked(unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut octets,
        )
    })?;
    Ok(cookie)
}

/// Has a netlink socket told of changes in every namespace that its own has a number for, and of which it is.
pub fn listen_to_all_namespaces(socket: impl AsFd) -> io::Result<()> {
    set_at::<libc::c_int>(socket, libc::SOL_NETLINK, libc::NETLINK_LISTEN_ALL_NSID, &1)
}

/// Sets one option of the packet level.
fn set<T>(socket: impl AsFd, name: libc::c_int, value: &T) -> io::Result<()> {
    set_at(socket, libc::SOL_PACKET, name, value)
}

/// Sets one option.
fn set_at<T>(socket: impl AsFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: the kernel reads size_of::<T>() octets of `value`, which outlives the call.
    super::checked(unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    })?;
    Ok(())
}
