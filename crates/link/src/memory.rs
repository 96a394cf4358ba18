//! Memory that is never swapped out, and a file without a folder: it ends when its last descriptor is closed, however
//! the process ends.

use std::fs::File;
use std::io;

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MlockAllFlags, mlockall};

/// Makes an empty file in memory, which is written, read and truncated like any other. `name` shows in `/proc` only.
pub fn memory_file(name: &str) -> io::Result<File> {
    Ok(memfd_create(name, MFdFlags::MFD_CLOEXEC)?.into())
}

/// Locks this process's present memory, each page from its first use on: program, libraries, and heap so far.
///
/// Later memory and the first thread's stack are not locked: they count against a limit (RLIMIT_MEMLOCK) that binds a
/// process without capabilities, and beyond it the process would get no memory. Needs CAP_IPC_LOCK.
pub fn lock_present() -> io::Result<()> {
    // Not before its first use: the stacks of threads alone are megabytes.
    let once_used = MlockAllFlags::from_bits_retain(libc::MCL_ONFAULT);
    mlockall(MlockAllFlags::MCL_CURRENT | once_used)?;
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let (begin, end) = stack_of(&maps).ok_or(io::ErrorKind::InvalidData)?;
    crate::sys::memory::unlock(begin, end - begin)
}

/// The address range of the first thread's stack: `7ffc0a1b2000-7ffc0a1d3000 rw-p 00000000 00:00 0    [stack]`.
fn stack_of(maps: &str) -> Option<(usize, usize)> {
    let line = maps.lines().find(|line| line.ends_with("[stack]"))?;
    let (begin, end) = line.split_once(' ')?.0.split_once('-')?;
    let address = |text: &str| usize::from_str_radix(text, 16).ok();
    address(begin).zip(address(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn the_stack_is_found_among_what_is_mapped() {
        let maps =
            "55d0-55e0 r--p 00000000 08:01 7    /bin/x\n7ffc0a1b2000-7ffc0a1d3000 rw-p 00000000 00:00 0    [stack]\n";
        assert_eq!(stack_of(maps), Some((0x7ffc_0a1b_2000, 0x7ffc_0a1d_3000)));
        assert_eq!(stack_of("55d0-55e0 r--p 00000000 08:01 7    /bin/x\n"), None);
    }

    #[test]
    fn what_was_written_is_read() {
        let mut file = memory_file("test").expect("every Linux has them");
        assert!(file.metadata().expect("open").is_file());
        file.write_all(b"octets").expect("memory");
        file.rewind().expect("a file");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("open");
        assert_eq!(text, "octets");
    }
}
