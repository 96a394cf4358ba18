//! A file that is in no folder: it is gone when its last descriptor is closed, however the process ends.

use std::fs::File;
use std::io;

use nix::sys::memfd::{MFdFlags, memfd_create};

/// Makes an empty file in memory, to write, read and cut as any other. `name` shows in `/proc` only.
pub fn memory_file(name: &str) -> io::Result<File> {
    Ok(memfd_create(name, MFdFlags::MFD_CLOEXEC)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

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
