//! Descriptors that arrive as numbers.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Most descriptors that one message may carry (the kernel's `SCM_MAX_FD`).
pub const DESCRIPTORS_MAX: usize = 253;

/// Octets of control data that hold the most descriptors one message may carry.
const CONTROL_OCTETS: usize = 16 + DESCRIPTORS_MAX * size_of::<libc::c_int>() + 12;

/// Control data, aligned as `cmsghdr` wants it.
#[repr(C, align(8))]
struct Control([u8; CONTROL_OCTETS]);

/// One message with the descriptors that came with it.
pub struct Message {
    /// Octets written to the buffer; 0 when the peer has closed.
    pub octets: usize,
    /// The descriptors, closed on exec.
    pub descriptors: Vec<OwnedFd>,
    /// The message or its descriptors did not fit.
    pub truncated: bool,
}

/// A copy of the descriptor with this number, closed on exec; the original is closed on exec too.
pub fn copy_of(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: no pointers; an unused number is refused. The owner of the original keeps it.
    let copy = super::checked(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) })?;
    // SAFETY: as above.
    super::checked(unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: the kernel has just opened it, and no other value owns it yet.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Receives one message and its descriptors.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Message> {
    let mut control = Control([0; CONTROL_OCTETS]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all-zero octets are a valid msghdr: null pointers with zero lengths.
    let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = CONTROL_OCTETS as _;
    // SAFETY: header points at one iovec over `buffer` and at `control`; both outlive the call,
    // and the lengths are theirs.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
    if received < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Message {
        octets: received as usize,
        descriptors: take_descriptors(&header),
        truncated: header.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0,
    })
}

/// Takes possession of each descriptor in the control data.
fn take_descriptors(header: &libc::msghdr) -> Vec<OwnedFd> {
    let mut descriptors = Vec::new();
    // SAFETY: the kernel has filled in header's control data and its length.
    let mut item = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !item.is_null() {
        // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR give only headers that lie within the control data.
        let head = unsafe { item.read_unaligned() };
        if (head.cmsg_level, head.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            // SAFETY: CMSG_LEN(0) only computes.
            let octets = head.cmsg_len as usize - unsafe { libc::CMSG_LEN(0) } as usize;
            // SAFETY: the data of an item follow its header.
            let numbers = unsafe { libc::CMSG_DATA(item) }.cast::<libc::c_int>();
            for place in 0..octets / size_of::<libc::c_int>() {
                // SAFETY: `place` is within the data of this item; the kernel has just opened the descriptor for this
                // process, and no other value owns it yet.
                descriptors.push(unsafe { OwnedFd::from_raw_fd(numbers.add(place).read_unaligned()) });
            }
        }
        // SAFETY: as for CMSG_FIRSTHDR.
        item = unsafe { libc::CMSG_NXTHDR(header, item) };
    }
    descriptors
}
