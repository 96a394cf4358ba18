//! A thread's capabilities, and the descriptors that a process was started with.

use std::io;

/// `_LINUX_CAPABILITY_VERSION_3`: sets of 64 bits, in two words each.
const VERSION_3: u32 = 0x2008_0522;

/// An unused argument; some calls require all its bits to be zero.
const NONE: libc::c_ulong = 0;

/// `struct __user_cap_header_struct`.
#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

/// `struct __user_cap_data_struct`: the low or the high word of the three sets.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Words {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// The sets that a thread has for itself, one bit a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sets {
    /// The capabilities in force.
    pub effective: u64,
    /// The capabilities that it may put in force.
    pub permitted: u64,
    /// The capabilities that a program executed by it may get.
    pub inheritable: u64,
}

/// The calling thread's sets.
pub fn capabilities() -> io::Result<Sets> {
    let (mut header, mut words) = (Header { version: VERSION_3, pid: 0 }, [Words::default(); 2]);
    // SAFETY: with version 3 the kernel writes two of Words; header and words outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, words.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let join = |word: fn(&Words) -> u32| u64::from(word(&words[0])) | u64::from(word(&words[1])) << 32;
    Ok(Sets {
        effective: join(|words| words.effective),
        permitted: join(|words| words.permitted),
        inheritable: join(|words| words.inheritable),
    })
}

/// Gives the calling thread these sets; no set may exceed its permitted set.
pub fn set_capabilities(sets: Sets) -> io::Result<()> {
    let word = |shift: u32| Words {
        effective: (sets.effective >> shift) as u32,
        permitted: (sets.permitted >> shift) as u32,
        inheritable: (sets.inheritable >> shift) as u32,
    };
    let (mut header, words) = (Header { version: VERSION_3, pid: 0 }, [word(0), word(32)]);
    // SAFETY: with version 3 the kernel reads two of Words; header and words outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, words.as_ptr()) };
    if result != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Whether a capability is in the calling thread's bounding set; `None` if this kernel does not know it.
pub fn is_in_bounding_set(capability: u32) -> Option<bool> {
    // SAFETY: no pointers.
    let answer = unsafe { libc::prctl(libc::PR_CAPBSET_READ, libc::c_ulong::from(capability), NONE, NONE, NONE) };
    (answer >= 0).then_some(answer == 1)
}

/// Takes a capability out of the calling thread's bounding set.
pub fn drop_from_bounding_set(capability: u32) -> io::Result<()> {
    // SAFETY: no pointers.
    super::checked(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), NONE, NONE, NONE) })?;
    Ok(())
}

/// Empties the calling thread's ambient set.
pub fn clear_ambient_set() -> io::Result<()> {
    let clear = libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong;
    // SAFETY: no pointers.
    super::checked(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, clear, NONE, NONE, NONE) })?;
    Ok(())
}

/// Passes those of the `wanted` capabilities that the calling thread has to the programs that it executes. Allocates
/// nothing.
pub fn pass_on(wanted: u64) -> io::Result<()> {
    let own = capabilities()?;
    let passed = wanted & own.permitted;
    // The kernel takes a capability into the ambient set only if it is inheritable.
    set_capabilities(Sets { inheritable: own.inheritable | passed, ..own })?;
    let raise = libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong;
    for capability in (0..64).filter(|number| passed >> number & 1 == 1) {
        // SAFETY: no pointers.
        super::checked(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, capability as libc::c_ulong, NONE, NONE) })?;
    }
    Ok(())
}

/// Closes every descriptor from `first` on.
///
/// For a process that has just begun: later it would close descriptors that a value owns.
pub fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: no pointers. The caller guarantees that no value owns the closed descriptors, as the doc comment demands.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0_u32) };
    if result != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
