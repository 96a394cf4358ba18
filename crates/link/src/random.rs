//! What no other process can foretell.

use std::fs::File;
use std::io::{self, Read};

/// 64 bits of /dev/urandom.
///
/// # Errors
/// The system has no such device.
pub fn random() -> io::Result<u64> {
    let mut octets = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut octets)?;
    Ok(u64::from_le_bytes(octets))
}
