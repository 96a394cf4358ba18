//! Which memory may be swapped out.

use std::io;

/// Lets the pages from address `begin` on be swapped out again, `length` octets of them.
pub fn unlock(begin: usize, length: usize) -> io::Result<()> {
    // SAFETY: the call neither reads nor writes what the pages hold; addresses that are not mapped are refused.
    super::checked(unsafe { libc::munlock(begin as *const libc::c_void, length) })?;
    Ok(())
}
