//! A capture compressed with zstd, as the names of files that end in `.zst` ask for.
//!
//! ```text
//!   capture ──octets──► pipe ──► this thread ──► run.pcapng.zst
//! ```
//! The file is one frame of zstd (RFC 8878): Wireshark 4.0 loses its place in a file of several frames.

use super::{Trailing, between};
use crate::files::json_lines::WriteError;
use crate::files::output::OutputError;
use ruzstd::encoding::{CompressionLevel, compress};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How the names of compressed captures end.
const ENDING: &str = "zst";

/// Whether a capture of this name is compressed.
pub fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == ENDING)
}

/// The name of a capture without that ending.
pub fn unpacked(path: &Path) -> PathBuf {
    if is_named(path) { path.with_extension("") } else { path.to_owned() }
}

/// Starts to compress into `file`, which was opened at `path`: the capture is to be written to the file that comes back.
///
/// # Errors
/// The system gives no pipe or thread.
pub fn pack(path: &Path, file: File) -> Result<(File, Trailing), WriteError> {
    let own = path.to_owned();
    let write = |source| OutputError::System { call: "write", path: own, source };
    between(path, "packing", move |capture| Ok(pack_all(capture, file).map_err(write)?))
}

fn pack_all(capture: PipeReader, file: File) -> io::Result<()> {
    let failed = Failed::default();
    let source = Guarded { inner: capture, failed: failed.clone() };
    compress(source, Guarded { inner: file, failed: failed.clone() }, CompressionLevel::Fastest);
    failed.take().map_or(Ok(()), Err)
}

/// The first error of either end.
type Failed = Rc<RefCell<Option<io::Error>>>;

/// An end of the compressor, which takes no errors: after the first one there is nothing to read, and writing does nothing.
struct Guarded<T> {
    inner: T,
    failed: Failed,
}

impl<T> Guarded<T> {
    fn guard(&mut self, done: impl FnOnce(&mut T) -> io::Result<usize>, otherwise: usize) -> io::Result<usize> {
        let mut failed = self.failed.borrow_mut();
        if failed.is_some() {
            return Ok(otherwise);
        }
        Ok(done(&mut self.inner).unwrap_or_else(|error| {
            *failed = Some(error);
            otherwise
        }))
    }
}

impl<T: Read> Read for Guarded<T> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        self.guard(
            |inner| loop {
                match inner.read(octets) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => return read,
                }
            },
            0,
        )
    }
}

impl<T: Write> Write for Guarded<T> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.guard(|inner| inner.write_all(octets).map(|()| octets.len()), octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::decoding::FrameDecoder;

    /// What is compressed is what it was, however long it is.
    #[test]
    fn what_is_packed_can_be_unpacked() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.pcapng.zst");
        assert!(is_named(&path) && !is_named(Path::new("run.zst.pcapng")));
        for length in [0, 1, 1 << 17, 1_000_077_u64] {
            let (mut pipe, packing) = pack(&path, File::create(&path).expect("own folder")).expect("a pipe");
            let octets: Vec<u8> = (0..length).map(|number| ((number * number) >> 8) as u8 & 0x3f).collect();
            pipe.write_all(&octets).expect("it is read");
            drop(pipe);
            packing.finish().expect("room");
            let packed = std::fs::read(&path).expect("a file");
            assert!(packed.len() as u64 <= length / 2 + 20, "{length}");
            let mut unpacked = Vec::with_capacity(octets.len() + 1024);
            FrameDecoder::new().decode_all_to_vec(&packed, &mut unpacked).expect("zstd");
            assert!(unpacked == octets, "{length}");
        }
        let (mut pipe, packing) =
            pack(&path, File::options().write(true).open("/dev/full").expect("a device")).expect("a pipe");
        while pipe.write_all(&[7; 4096]).is_ok() {}
        assert!(packing.finish().expect_err("no room").to_string().contains("run.pcapng.zst"));
    }
}
