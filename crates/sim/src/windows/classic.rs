//! A capture as classic pcap with nanoseconds, as names that end in `.pcap` ask for: what every program reads that knows
//! one link type a file and no FCS.
//!
//! ```text
//!   plain capture ──blocks of pcapng──► pipe ──► this thread ──► run.pcap
//! ```
//! A record of pcap has no flags, and Scapy reads no file whose header announces an FCS. So each frame is written without
//! its FCS, and a frame with a wrong FCS is left out.

use super::passing::{Sink, pass_all};
use super::{Trailing, between, packing, pcapng};
use crate::files::json_lines::{LineWriter, WriteError};
use std::fs::File;
use std::path::Path;

/// What a file begins with; native order, which every reader knows by it (draft-ietf-opsawg-pcap, 4).
const MAGIC: u32 = 0xa1b2_3c4d;
/// The longest frame of a file: readers refuse longer ones.
const SNAP_LENGTH: u32 = 262_144;
/// Octets before a file's records, and before a record's frame.
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// Whether a capture of this name is classic pcap, compressed or not.
pub fn is_named(path: &Path) -> bool {
    packing::unpacked(path).extension().is_some_and(|ending| ending == "pcap")
}

/// Starts to make classic pcap in `file`, which was opened at `path`: the capture is to be written to the file that comes
/// back.
///
/// # Errors
/// The system gives no pipe or thread.
pub fn begin(path: &Path, file: File) -> Result<(File, Trailing), WriteError> {
    let (mut records, own) = (Records(output(file, path.display().to_string())), path.to_owned());
    between(path, "pcap", move |capture| {
        records.0.unit(|into| into.extend_from_slice(&file_header()))?;
        records.flush()?;
        pass_all(capture, &own, &mut records)
    })
}

/// A file that takes a file header and records, each whole or not at all.
pub(super) fn output(file: File, place: String) -> LineWriter {
    LineWriter::of(file, place, "packets", whole_records)
}

/// What a file begins with.
pub(super) fn file_header() -> [u8; FILE_HEADER] {
    let mut header = [0; FILE_HEADER];
    header[..4].copy_from_slice(&MAGIC.to_ne_bytes());
    header[4..6].copy_from_slice(&2_u16.to_ne_bytes());
    header[6..8].copy_from_slice(&4_u16.to_ne_bytes());
    header[16..20].copy_from_slice(&SNAP_LENGTH.to_ne_bytes());
    header[20..].copy_from_slice(&u32::from(pcapng::ETHERNET).to_ne_bytes());
    header
}

/// Appends the record of a frame, if the block has one whose FCS is right.
pub(super) fn record(block: &[u8], into: &mut Vec<u8>) {
    let Some((nanos, frame)) = pcapng::right_frame(block) else { return };
    let length = frame.len() as u32;
    for word in [(nanos / 1_000_000_000) as u32, (nanos % 1_000_000_000) as u32, length, length] {
        into.extend_from_slice(&word.to_ne_bytes());
    }
    into.extend_from_slice(frame);
}

/// How many octets of `text` are whole records, and how many records; a file header counts as one.
fn whole_records(text: &[u8]) -> (usize, u64) {
    let length = |text: &[u8]| {
        if text.starts_with(&MAGIC.to_ne_bytes()) {
            return Some(FILE_HEADER);
        }
        let length = text.get(8..12)?.try_into().ok()?;
        Some(RECORD_HEADER + u32::from_ne_bytes(length) as usize)
    };
    let (mut whole, mut count) = (0, 0);
    while let Some(length) = length(&text[whole..]).filter(|length| text.len() - whole >= *length) {
        whole += length;
        count += 1;
    }
    (whole, count)
}

/// The file.
struct Records(LineWriter);

impl Sink for Records {
    fn take(&mut self, block: &[u8]) -> Result<(), WriteError> {
        self.0.unit(|into| record(block, into))
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::pcapng::{CRC_ERROR, Packet};
    use super::*;

    #[test]
    fn a_file_has_right_frames_without_their_fcs() {
        let packet = |flags| {
            let mut block = Vec::new();
            let packet = Packet::begin(&mut block, 3, 7_123_456_789);
            block.extend_from_slice(&[9; 65]);
            packet.end_with_comment(&mut block, flags, |into| into.extend_from_slice(b"st1#1"));
            block
        };
        let mut file = file_header().to_vec();
        record(&packet(pcapng::OUTBOUND), &mut file);
        record(&packet(CRC_ERROR), &mut file);
        assert_eq!(file.len(), FILE_HEADER + RECORD_HEADER + 61);
        let words: Vec<u32> =
            file[FILE_HEADER..][..16].chunks(4).map(|word| u32::from_ne_bytes(word.try_into().expect("4"))).collect();
        assert_eq!(words, [7, 123_456_789, 61, 61]);
        // A write that fails within a record leaves the records before it.
        assert_eq!(whole_records(&file), (file.len(), 2));
        assert_eq!(whole_records(&file[..file.len() - 1]), (FILE_HEADER, 1));
    }

    #[test]
    fn the_name_decides() {
        for (name, is_classic) in [("a.pcap", true), ("a.pcap.zst", true), ("a.pcapng", false), ("pcap", false)] {
            assert_eq!(is_named(Path::new(name)), is_classic, "{name}");
        }
    }
}
