//! Reading an archive of somebody else's: an interrupt ends it, and what the archive says about one entry has a limit.

use super::ImageError;
use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Octets of what an archive says about one entry, at most: its header, long names, notes (pax), and the list of holes. The
/// reader of archives has all of it in memory.
pub const MOST_ABOUT: u64 = 1 << 20;

/// Letters of a name in a message, at most.
const MOST_SHOWN: usize = 200;

/// Watches all that is read of an archive.
pub struct Watch<'a> {
    interrupted: &'a AtomicBool,
    /// Octets that may be read up to the next entry; none while an entry itself is read.
    left: Cell<Option<u64>>,
}

impl<'a> Watch<'a> {
    pub fn new(interrupted: &'a AtomicBool) -> Watch<'a> {
        Watch { interrupted, left: Cell::new(None) }
    }

    /// Reads `inner` under this watch.
    pub fn over<R>(&self, inner: R) -> Watched<'_, R> {
        Watched { watch: self, inner }
    }

    /// The next entry of an archive that is read under this watch, all of whose entries have been read. `before` is the name
    /// of the last one.
    pub fn next<T>(
        &self,
        entries: &mut impl Iterator<Item = io::Result<T>>,
        before: &Path,
        failed: impl FnOnce(io::Error) -> ImageError,
    ) -> Result<Option<T>, ImageError> {
        self.left.set(Some(MOST_ABOUT));
        let next = entries.next().transpose();
        let is_spent = self.left.replace(None) == Some(0);
        next.map_err(|error| match is_spent {
            true => ImageError::LongNotes(after(before)),
            false => failed(error),
        })
    }
}

/// How messages call the entry after the one with this name.
fn after(name: &Path) -> String {
    let name: String = name.display().to_string().chars().take(MOST_SHOWN).collect();
    if name.is_empty() { "its first entry".to_owned() } else { format!("the entry after `{name}`") }
}

/// What is read under a watch.
pub struct Watched<'a, R> {
    watch: &'a Watch<'a>,
    inner: R,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.watch.interrupted.load(Ordering::Relaxed) {
            // A copy goes on after an error of the kind `Interrupted`.
            return Err(io::Error::other("interrupted"));
        }
        let Some(left) = self.watch.left.get() else { return self.inner.read(into) };
        if left == 0 {
            return Err(io::Error::other("too much is said about an entry"));
        }
        let most = into.len().min(left as usize);
        let count = self.inner.read(&mut into[..most])?;
        self.watch.left.set(Some(left - count as u64));
        Ok(count)
    }
}

impl<R: Seek> Seek for Watched<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
