//! The bpf(2) calls that a fan-out and a receiving end need: a map as memory, and a program.

use std::io;
use std::mem::size_of;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

const BPF_MAP_CREATE: libc::c_int = 0;
const BPF_PROG_LOAD: libc::c_int = 5;
const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_F_MMAPABLE: u32 = 1 << 10;
const BPF_PROG_TYPE_SCHED_CLS: u32 = 3;
const BPF_PROG_TYPE_XDP: u32 = 6;
const BPF_F_XDP_HAS_FRAGS: u32 = 1 << 5;

/// `struct bpf_insn`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub code: u8,
    /// Destination and source register, four bits each.
    pub registers: u8,
    /// The offset of a jump or of a memory access.
    pub offset: i16,
    /// A number.
    pub immediate: i32,
}

/// The part of `union bpf_attr` that makes a map. Later kernels have more fields, and treat missing ones as zero.
#[repr(C)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
}

/// The part of `union bpf_attr` that loads a program.
#[repr(C)]
struct ProgramLoad {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
}

/// Makes an array with one value of `octets`, shared by programs and by the processes that map it.
pub fn create_memory(octets: u32) -> io::Result<OwnedFd> {
    let attributes = MapCreate {
        map_type: BPF_MAP_TYPE_ARRAY,
        key_size: 4,
        value_size: octets,
        max_entries: 1,
        map_flags: BPF_F_MMAPABLE,
    };
    // SAFETY: a MapCreate is what this command reads; it has no pointers.
    unsafe { bpf(BPF_MAP_CREATE, &attributes) }
}

/// Loads a classifier of frames.
pub fn load_classifier(program: &[Instruction]) -> io::Result<OwnedFd> {
    load(BPF_PROG_TYPE_SCHED_CLS, 0, program)
}

/// Loads a program that looks at frames before the kernel does; with `fragments` also at those longer than a page.
pub fn load_xdp(program: &[Instruction], fragments: bool) -> io::Result<OwnedFd> {
    load(BPF_PROG_TYPE_XDP, if fragments { BPF_F_XDP_HAS_FRAGS } else { 0 }, program)
}

/// Loads a program.
///
/// The licence that it declares decides which helpers it may call; these programs call no helper that requires one.
fn load(prog_type: u32, prog_flags: u32, program: &[Instruction]) -> io::Result<OwnedFd> {
    let attributes = ProgramLoad {
        prog_type,
        insn_cnt: program.len() as u32,
        insns: program.as_ptr() as u64,
        license: c"MIT OR Apache-2.0".as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log_buf: 0,
        kern_version: 0,
        prog_flags,
    };
    // SAFETY: a ProgramLoad is what this command reads; `insns` and `license` point at a slice of as many instructions
    // as it says and at a terminated text, which outlive the call, and the kernel only reads them.
    unsafe { bpf(BPF_PROG_LOAD, &attributes) }
}

/// Makes one call that gives a descriptor.
///
/// # Safety
/// `T` is the part of `union bpf_attr` that belongs to `command`, and its pointers are valid.
unsafe fn bpf<T>(command: libc::c_int, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the kernel reads size_of::<T>() octets of `attributes`, and what they point at is the caller's part.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened it, closed on exec, and no other value owns it yet.
    Ok(unsafe { OwnedFd::from_raw_fd(result as libc::c_int) })
}

/// The number by which a program or a request names a map or a program.
pub fn number(descriptor: BorrowedFd<'_>) -> i32 {
    descriptor.as_raw_fd()
}

/// Memory of [`create_memory`], mapped, as numbers.
#[derive(Debug)]
pub struct Words {
    base: NonNull<AtomicU32>,
    count: usize,
}

// SAFETY: the mapping belongs to this value alone and is tied to no thread; its words are only used atomically.
unsafe impl Send for Words {}

impl Words {
    /// Maps the first `count` numbers.
    ///
    /// # Errors
    /// A descriptor of another object, or of a smaller one: the kernel refuses it.
    pub fn map(memory: impl AsFd, count: usize) -> io::Result<Words> {
        let octets = count * size_of::<AtomicU32>();
        let length = NonZeroUsize::new(octets).ok_or(io::ErrorKind::InvalidInput)?;
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: the kernel chooses the address, so nothing else is mapped over; of a map it maps no more than there
        // is, up to the end of its last page.
        let base = unsafe { mmap(None, length, protection, MapFlags::MAP_SHARED, memory, 0) }?;
        Ok(Words { base: base.cast(), count })
    }

    /// The numbers.
    pub fn words(&self) -> &[AtomicU32] {
        // SAFETY: the mapping begins on a page, holds `count` numbers, and lives as long as `self`. Others change them
        // only as whole words.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.count) }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: base and length are those of our mapping, and what `words` lends does not outlive `self`. A failure
        // would leave the mapping until the process ends, which is harmless.
        let _ = unsafe { munmap(self.base.cast(), self.count * size_of::<AtomicU32>()) };
    }
}
