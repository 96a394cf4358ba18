//! The rings of a device in a kernel's memory: frames, or text, out of one and into the other.
//!
//! Chains of descriptors, their bounds and their loops are checked by `virtio-queue` and `vm-memory`. Before each frame of a
//! network card there are twelve octets of virtio-net, which say nothing here: the card offers no offloads.

use crate::message::{QUEUES, Region, Wrong};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use virtio_queue::{Queue, QueueT};
use vm_memory::{Bytes, FileOffset, GuestAddress, GuestMemoryMmap, GuestRegionMmap, MmapRegion};

/// Octets before each frame: virtio_net_hdr of VIRTIO_F_VERSION_1.
pub const BEFORE_FRAMES: usize = 12;
/// Where that says how many buffers the frame has.
const BUFFERS: usize = 10;
/// The most entries of a ring.
const MOST_ENTRIES: u16 = 1024;
/// The longest frame that a card takes; the medium refuses those that are too long for it.
const LONGEST: usize = 65_535;
/// The receiving ring, and the sending one.
pub const RECEIVES: usize = 0;
pub const SENDS: usize = 1;

/// Memory and rings of one device.
#[derive(Debug)]
pub struct Rings {
    memory: GuestMemoryMmap,
    queues: [Queue; QUEUES],
    /// Octets before each frame.
    before: usize,
}

/// A frame that a kernel sends.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    /// The number of its descriptor, which the kernel gets back when the wire is done with the frame.
    pub head: u16,
    /// From its destination address on, without FCS.
    pub octets: Vec<u8>,
}

impl Rings {
    /// Those of a device that has `before` octets of its own before each frame.
    pub fn new(before: usize) -> Rings {
        let queue = || Queue::new(MOST_ENTRIES).expect("a power of two");
        Rings { memory: GuestMemoryMmap::new(), queues: [queue(), queue()], before }
    }

    /// Takes the memory that the kernel names; one file for each region.
    ///
    /// # Errors
    /// Regions that overlap, are empty, lie beyond their file, or have none.
    pub fn remember(&mut self, regions: &[Region], files: Vec<OwnedFd>) -> Result<(), Wrong> {
        if files.len() != regions.len() {
            return Err(Wrong("regions of memory without a file"));
        }
        let region = |(region, file): (&Region, OwnedFd)| {
            let file = File::from(file);
            let within = file.metadata().is_ok_and(|file| {
                region.offset.checked_add(region.size).is_some_and(|end| region.size > 0 && end <= file.len())
            });
            let size = usize::try_from(region.size).ok().filter(|_| within)?;
            let map = MmapRegion::from_file(FileOffset::new(file, region.offset), size).ok()?;
            GuestRegionMmap::new(map, GuestAddress(region.guest))
        };
        let mapped: Option<Vec<_>> = regions.iter().zip(files).map(region).collect();
        let mapped = mapped.ok_or(Wrong("a region of memory that its file does not have"))?;
        self.memory = GuestMemoryMmap::from_regions(mapped).map_err(|_| Wrong("regions of memory that overlap"))?;
        Ok(())
    }

    /// # Errors
    /// A number of entries that is no power of two, or too large.
    pub fn size(&mut self, queue: usize, entries: u16) -> Result<(), Wrong> {
        if !entries.is_power_of_two() || entries > MOST_ENTRIES {
            return Err(Wrong("a ring of a size that no ring has"));
        }
        self.queues[queue].set_size(entries);
        Ok(())
    }

    pub fn place(&mut self, queue: usize, descriptors: u64, used: u64, available: u64) {
        let halves = |address: u64| (Some(address as u32), Some((address >> 32) as u32));
        let queue = &mut self.queues[queue];
        let (low, high) = halves(descriptors);
        queue.set_desc_table_address(low, high);
        let (low, high) = halves(used);
        queue.set_used_ring_address(low, high);
        let (low, high) = halves(available);
        queue.set_avail_ring_address(low, high);
    }

    pub fn begin_at(&mut self, queue: usize, index: u16) {
        self.queues[queue].set_next_avail(index);
        self.queues[queue].set_next_used(index);
    }

    /// # Errors
    /// A ring that is not in the kernel's memory.
    pub fn enable(&mut self, queue: usize, on: bool) -> Result<(), Wrong> {
        self.queues[queue].set_ready(on);
        if on && !self.queues[queue].is_valid(&self.memory) {
            self.queues[queue].set_ready(false);
            return Err(Wrong("a ring outside of the kernel's memory"));
        }
        Ok(())
    }

    /// The next frame that the kernel sends. A chain that holds no frame is skipped.
    pub fn next(&mut self) -> Option<Sent> {
        loop {
            let chain = self.queues[SENDS].pop_descriptor_chain(&self.memory)?;
            let (head, mut octets, mut sound) = (chain.head_index(), Vec::new(), true);
            for part in chain {
                let (begin, length) = (octets.len(), part.len() as usize);
                if part.is_write_only() || begin + length > self.before + LONGEST {
                    sound = false;
                    break;
                }
                octets.resize(begin + length, 0);
                sound &= self.memory.read_slice(&mut octets[begin..], part.addr()).is_ok();
            }
            if sound && octets.len() > self.before {
                octets.drain(..self.before);
                return Some(Sent { head, octets });
            }
            self.done(head);
        }
    }

    /// Gives a sent frame's descriptor back. Whether the kernel wants an interrupt.
    pub fn done(&mut self, head: u16) -> bool {
        self.queues[SENDS].add_used(&self.memory, head, 0).is_ok() && self.wants_interrupt(SENDS)
    }

    /// Puts a frame into the receiving ring: whether the kernel wants an interrupt, or `None` if no buffer is free.
    pub fn receive(&mut self, frame: &[u8]) -> Option<bool> {
        let chain = self.queues[RECEIVES].pop_descriptor_chain(&self.memory)?;
        let head = chain.head_index();
        let mut rest = vec![0; self.before];
        rest.get_mut(BUFFERS).into_iter().for_each(|buffers| *buffers = 1);
        rest.extend_from_slice(frame);
        let mut done = 0;
        for part in chain {
            let length = (part.len() as usize).min(rest.len() - done);
            if !part.is_write_only() || self.memory.write_slice(&rest[done..done + length], part.addr()).is_err() {
                break;
            }
            done += length;
        }
        let whole = done == rest.len();
        // A buffer that is too short is given back empty.
        let length = if whole { done as u32 } else { 0 };
        self.queues[RECEIVES].add_used(&self.memory, head, length).ok().filter(|()| whole)?;
        Some(self.wants_interrupt(RECEIVES))
    }

    fn wants_interrupt(&self, queue: usize) -> bool {
        let flags = self.memory.load::<u16>(GuestAddress(self.queues[queue].avail_ring()), Ordering::SeqCst);
        flags.is_ok_and(|flags| flags & 1 == 0)
    }
}
