//! A capture compressed with zstd, as the names of files that end in `.zst` ask for.
//!
//! ```text
//!   capture ──octets──► pipe ──► this thread ──► run.pcapng.zst
//! ```
//! Each piece is a frame of zstd (RFC 8878) of its own: what was written before a run was killed can be read.

use super::Trailing;
use crate::files::json_lines::WriteError;
use crate::files::output::OutputError;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread::Builder;

/// How the names of compressed captures end.
const ENDING: &str = "zst";
/// Octets of a capture that are compressed together.
const PIECE: u64 = 1 << 18;

/// Whether a capture of this name is compressed.
pub fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == ENDING)
}

/// Starts to compress into `file`, which was opened at `path`: the capture is to be written to the file that comes back.
///
/// # Errors
/// The system gives no pipe or thread.
pub fn pack(path: &Path, file: File) -> Result<(File, Trailing), WriteError> {
    let path = path.to_owned();
    let system = |call| {
        let path = path.clone();
        move |source| OutputError::System { call, path, source }
    };
    let (reader, writer) = io::pipe().map_err(system("make a pipe for"))?;
    let write = system("write");
    let work = move || Ok(pack_all(reader, file).map_err(write)?);
    let thread = Builder::new().name("packing".to_owned()).spawn(work).map_err(system("start a thread for"))?;
    Ok((File::from(OwnedFd::from(writer)), Trailing::new(thread)))
}

fn pack_all(mut capture: PipeReader, mut file: File) -> io::Result<()> {
    let mut piece = Vec::new();
    while capture.by_ref().take(PIECE).read_to_end(&mut piece)? > 0 {
        file.write_all(&compress_to_vec(piece.as_slice(), CompressionLevel::Fastest))?;
        piece.clear();
    }
    Ok(())
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
        for length in [0, 1, PIECE, PIECE + 1, 3 * PIECE + 77] {
            let (mut pipe, packing) = pack(&path, File::create(&path).expect("own folder")).expect("a pipe");
            let octets: Vec<u8> = (0..length).map(|number| (number * number >> 8) as u8 & 0x3f).collect();
            pipe.write_all(&octets).expect("it is read");
            drop(pipe);
            packing.finish().expect("room");
            let packed = std::fs::read(&path).expect("a file");
            assert!((packed.len() as u64) <= length);
            let mut unpacked = Vec::with_capacity(octets.len() + 1024);
            FrameDecoder::new().decode_all_to_vec(&packed, &mut unpacked).expect("zstd");
            assert!(unpacked == octets, "{length}");
        }
    }
}
