//! A capture that another process makes: its blocks are passed on whole.

use super::pcapng::{block_length, missing, stamp, whole_blocks};
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::output::OutputError;
use std::fs::File;
use std::io::{PipeReader, Read};
use std::path::Path;

/// Octets read at once.
const PIECE: usize = 1 << 16;

/// The longest block that is read: that of a frame of 65,535 octets, and more.
const LONGEST: usize = 1 << 20;

/// Why a capture is not passed on any further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// What comes is something else.
    #[error("what comes is no capture")]
    NoCapture,
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A file that takes blocks, each whole or not at all.
pub fn output(file: File, place: String) -> LineWriter {
    LineWriter::of(file, place, "blocks", whole_blocks)
}

/// A capture so far.
#[derive(Debug, Default)]
pub struct Passing {
    /// The beginning of a block.
    text: Vec<u8>,
    packets: u64,
    missing: Option<u64>,
}

impl Passing {
    /// Takes the octets that come next, and passes each block that is whole.
    ///
    /// # Errors
    /// What comes is no capture; whatever `pass` says.
    pub fn take(
        &mut self,
        octets: &[u8],
        mut pass: impl FnMut(&[u8]) -> Result<(), WriteError>,
    ) -> Result<(), PassError> {
        self.text.extend_from_slice(octets);
        let mut done = 0;
        while let Some(length) = block_length(&self.text[done..]).filter(|length| self.text.len() - done >= *length) {
            let block = &self.text[done..done + length];
            self.packets += u64::from(stamp(block).is_some());
            self.missing = missing(block).or(self.missing);
            pass(block)?;
            done += length;
        }
        self.text.drain(..done);
        if self.text.len() > LONGEST { Err(PassError::NoCapture) } else { Ok(()) }
    }

    /// The number of packets.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// What a capture of a running lab misses, of inputs and events; nothing before its end.
    pub fn missing(&self) -> Option<u64> {
        self.missing
    }
}

/// Where the blocks of a capture go that comes through a pipe.
pub(super) trait Sink {
    /// Takes the next block.
    fn take(&mut self, block: &[u8]) -> Result<(), WriteError>;
    /// A reader sees all blocks so far.
    fn flush(&mut self) -> Result<(), WriteError>;
}

/// Passes a whole capture from a pipe to `sink`, for the file at `path`.
pub(super) fn pass_all(mut pipe: PipeReader, path: &Path, sink: &mut impl Sink) -> Result<(), WriteError> {
    let (mut passing, mut piece) = (Passing::default(), vec![0; PIECE]);
    loop {
        let read = pipe.read(&mut piece);
        let count = read.map_err(|source| OutputError::System { call: "read", path: path.to_owned(), source })?;
        if count == 0 {
            return Ok(());
        }
        passing.take(&piece[..count], |block| sink.take(block)).map_err(|error| match error {
            PassError::Write(error) => error,
            PassError::NoCapture => panic!("a capture has no block as long as this"),
        })?;
        sink.flush()?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::pcapng::{Packet, section, statistics};
    use super::*;

    /// Blocks come whole however they are cut, and the last one says what is missing.
    #[test]
    fn blocks_are_passed_whole() {
        let mut text = Vec::new();
        section(&mut text, "a program", "a comment");
        for nanos in 0..3 {
            let packet = Packet::begin(&mut text, 0, nanos);
            text.extend_from_slice(&[7; 13]);
            packet.end(&mut text);
        }
        statistics(&mut text, 2, 3, 77);
        for piece in [1, 7, 64, text.len()] {
            let (mut passing, mut passed, mut blocks) = (Passing::default(), Vec::new(), 0);
            for octets in text.chunks(piece) {
                assert_eq!(passing.missing(), None, "before the end");
                let pass = |block: &[u8]| {
                    passed.extend_from_slice(block);
                    blocks += 1;
                    Ok(())
                };
                passing.take(octets, pass).expect("a capture");
            }
            assert_eq!((&passed, blocks, passing.packets(), passing.missing()), (&text, 5, 3, Some(77)));
        }
        let mut passing = Passing::default();
        let endless = (0..=LONGEST / 1024).try_for_each(|_| passing.take(&[0; 1024], |_| Ok(())));
        assert!(matches!(endless, Err(PassError::NoCapture)));
    }
}
