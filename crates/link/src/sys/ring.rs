//! The receive ring of a packet socket, version 2, shared with the kernel.
//!
//! ```text
//!  block 0                            block 1
//!  ├─ slot 0 ─┬─ slot 1 ─┬─ … ─┬ pad ─┼─ slot n ─┬─ …
//!  │
//!  ├ tpacket2_hdr ┬ sockaddr_ll ┬ … ┬ spare ┬ frame ──────────┤
//!  0              32            52          tp_mac            slot_octets
//! ```
//!
//! `tp_status` gives the owner of a slot: with TP_STATUS_USER set it is ours, else the kernel's.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

/// Octets of the slot header, `tpacket2_hdr`; `sockaddr_ll` follows.
const HEADER_OCTETS: usize = size_of::<libc::tpacket2_hdr>();

/// Octets of a slot before the earliest begin of a frame.
pub const PREFIX_OCTETS: usize = HEADER_OCTETS + size_of::<libc::sockaddr_ll>();

/// The dimensions of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Dimensions {
    /// Octets of a block, a multiple of the page size.
    pub block_octets: usize,
    /// Blocks in the ring.
    pub blocks: usize,
    /// Octets of a slot, a multiple of 16.
    pub slot_octets: usize,
}

impl Dimensions {
    /// Slots that fit a block.
    pub fn slots_per_block(self) -> usize {
        self.block_octets / self.slot_octets
    }

    /// Slots of the ring.
    pub fn slots(self) -> usize {
        self.blocks * self.slots_per_block()
    }
}

/// A frame in its slot, ours until the closure that got it returns.
pub struct Slot<'a> {
    /// The slot's header.
    pub header: libc::tpacket2_hdr,
    /// The interface that received the frame.
    pub ifindex: i32,
    /// Everything in the slot after the header and the address, exclusively ours for now.
    pub area: &'a mut [u8],
    /// Where in `area` the frame begins, and where it ends.
    pub frame: std::ops::Range<usize>,
}

/// A ring, mapped.
#[derive(Debug)]
pub struct Ring {
    base: NonNull<u8>,
    dimensions: Dimensions,
    next: usize,
}

// SAFETY: the mapping belongs to this value alone and is tied to no thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps the ring of `socket`, which must have been given these dimensions.
    pub fn map(socket: impl AsFd, dimensions: Dimensions) -> io::Result<Ring> {
        let octets = dimensions.block_octets * dimensions.blocks;
        let length = NonZeroUsize::new(octets).ok_or(io::ErrorKind::InvalidInput)?;
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: the kernel chooses the address, so nothing else is mapped over; it refuses a
        // length that is not the ring's.
        let base = unsafe { mmap(None, length, protection, MapFlags::MAP_SHARED, socket, 0) }?;
        Ok(Ring { base: base.cast(), dimensions, next: 0 })
    }

    /// Shows the next frame to `look` and gives its slot back to the kernel; false if none waits.
    pub fn take(&mut self, look: impl FnOnce(Slot<'_>)) -> bool {
        let start = self.slot_start();
        // SAFETY: a slot begins with its status, aligned to 16, inside the mapping; the kernel and
        // we use it only atomically.
        let status = unsafe { AtomicU32::from_ptr(start.cast().as_ptr()) };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the status says the slot is ours, so the kernel has written header and address
        // and writes no more; both lie within the slot.
        let header = unsafe { start.cast::<libc::tpacket2_hdr>().read() };
        // SAFETY: as for the header.
        let address = unsafe { start.add(HEADER_OCTETS).cast::<libc::sockaddr_ll>().read() };
        // SAFETY: the rest of the slot is within the mapping, initialised (the kernel hands out
        // zeroed pages), and ours alone until the status is given back below.
        let area = unsafe {
            std::slice::from_raw_parts_mut(
                start.add(PREFIX_OCTETS).as_ptr(),
                self.dimensions.slot_octets - PREFIX_OCTETS,
            )
        };
        let begin = usize::from(header.tp_mac).saturating_sub(PREFIX_OCTETS).min(area.len());
        let end = (begin + header.tp_snaplen as usize).min(area.len());
        look(Slot { header, ifindex: address.sll_ifindex, area, frame: begin..end });
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.dimensions.slots();
        true
    }

    /// Whether a frame waits.
    pub fn waits(&self) -> bool {
        // SAFETY: as in `take`.
        let status = unsafe { AtomicU32::from_ptr(self.slot_start().cast().as_ptr()) };
        status.load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Where the next slot begins.
    fn slot_start(&self) -> NonNull<u8> {
        let per_block = self.dimensions.slots_per_block();
        let (block, slot) = (self.next / per_block, self.next % per_block);
        let offset = block * self.dimensions.block_octets + slot * self.dimensions.slot_octets;
        // SAFETY: next < slots, so the whole slot lies within the mapping.
        unsafe { self.base.add(offset) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let octets = self.dimensions.block_octets * self.dimensions.blocks;
        // SAFETY: base and length are those of our mapping; slots are lent for a call of take only. A failure would
        // leave the mapping until the process ends, which is harmless.
        let _ = unsafe { munmap(self.base.cast(), octets) };
    }
}
