//! Frames as a capture file has them: pcap, and pcapng with any number of interfaces.
//!
//! Both formats are read here, not by a parser from elsewhere: lengths, stamps and the first 14 octets are all that is
//! needed, and the error for a damaged file names the octet of the damage and what was expected there.

mod input;
mod pcap;
mod pcapng;

use super::octets::is_tagged;
use crate::words::MacAddr;
use input::{Captured, Input, Problem};
use medium::Octets;
use pcap::Pcap;
use pcapng::{LeftOut, PcapNg};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// LINKTYPE_ETHERNET.
const ETHERNET: u32 = 1;

fn wrong_link_type(offset: u64, number: u32) -> Problem {
    Problem::damaged(
        offset,
        format!("packets of link type {number}: expected whole frames of {ETHERNET} (LINKTYPE_ETHERNET)"),
    )
}

/// Why a capture file cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file could not be opened.
    #[error("cannot open the capture {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file could not be read to its end.
    #[error("cannot read the capture {} from octet {offset} on", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Where reading stopped.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file is damaged, cut off, or of a kind that is not read.
    #[error("{}, octet {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The place, from 0.
        offset: u64,
        /// What is there, and what was expected.
        what: String,
    },
    /// The file is whole and has no frame.
    #[error("{}: the capture has no frame: expected one at least", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Frames of more source addresses than stations that replay them.
    #[error(
        "{}: frames of {sources} source addresses, but {stations} stations replay the file: let {sources} replay it, or one alone, which then sends all of them",
        path.display()
    )]
    TooManySources {
        /// The file.
        path: PathBuf,
        /// Source addresses in the file.
        sources: usize,
        /// Stations that replay it.
        stations: usize,
    },
}

impl CaptureError {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            CaptureError::Open { path, .. }
            | CaptureError::Read { path, .. }
            | CaptureError::Damaged { path, .. }
            | CaptureError::Empty { path }
            | CaptureError::TooManySources { path, .. } => path,
        }
    }
}

/// A capture file's frames, in order of their stamps.
///
/// The whole file is read once, before a run, so that no run ends at a damaged record; 40 octets are held for each
/// frame. Instants count from the earliest stamp. Frames out of order are put in order, as captures of several queues
/// or interfaces are often a little out of order; [`unordered`](Self::unordered) tells how many.
#[derive(Clone, Debug)]
pub struct Capture {
    path: PathBuf,
    frames: Vec<Recorded>,
    /// Source addresses, in order of first appearance.
    sources: Vec<MacAddr>,
    unordered: usize,
    left_out: LeftOut,
}

/// One frame of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Since the file's earliest frame.
    pub at: Duration,
    /// From destination address to FCS, whether the file has the FCS or not.
    pub size: Octets,
    /// Carries a VLAN tag, of a customer or of a service (802.1Q).
    pub tagged: bool,
    /// To whom.
    pub destination: MacAddr,
    /// From whom.
    pub source: MacAddr,
}

impl Capture {
    /// Reads a capture file.
    ///
    /// # Errors
    /// A file that cannot be read, that is damaged or cut off, that has no frame, or frames that are not Ethernet's.
    pub fn open(path: &Path) -> Result<Capture, CaptureError> {
        let file = File::open(path).map_err(|source| CaptureError::Open { path: path.to_owned(), source })?;
        Capture::read(path, BufReader::with_capacity(1 << 16, file))
    }

    /// Reads a capture from elsewhere; `path` names it in errors.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn read(path: &Path, reader: impl Read) -> Result<Capture, CaptureError> {
        let named = |problem| match problem {
            Problem::Read { offset, source } => CaptureError::Read { path: path.to_owned(), offset, source },
            Problem::Damaged { offset, what } => CaptureError::Damaged { path: path.to_owned(), offset, what },
        };
        let (captured, left_out) = captured(Input::new(reader)).map_err(named)?;
        Capture::new(path, captured, left_out).ok_or_else(|| CaptureError::Empty { path: path.to_owned() })
    }

    fn new(path: &Path, mut captured: Vec<Captured>, left_out: LeftOut) -> Option<Capture> {
        let late = |latest: &mut i128, frame: &Captured| {
            *latest = frame.nanos.max(*latest);
            Some(usize::from(frame.nanos < *latest))
        };
        let unordered = captured.iter().scan(i128::MIN, late).sum();
        // Stable: of equal stamps the file's order remains.
        captured.sort_by_key(|frame| frame.nanos);
        let first = captured.first()?.nanos;
        let frames: Vec<Recorded> = captured.iter().map(|frame| Recorded::new(frame, first)).collect();
        let mut seen = HashMap::new();
        let mut sources = Vec::new();
        for frame in &frames {
            seen.entry(frame.source).or_insert_with(|| sources.push(frame.source));
        }
        Some(Capture { path: path.to_owned(), frames, sources, unordered, left_out })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its frames, in order of time; one at least.
    pub fn frames(&self) -> &[Recorded] {
        &self.frames
    }

    /// The source addresses of its frames, in order of first appearance.
    pub fn sources(&self) -> &[MacAddr] {
        &self.sources
    }

    /// How many frames came behind one with a later stamp.
    pub fn unordered(&self) -> usize {
        self.unordered
    }

    /// How many packets are no whole frames of Ethernet, by link type.
    pub fn left_out(&self) -> impl Iterator<Item = (u32, usize)> {
        self.left_out.iter().map(|(link_type, (count, _))| (*link_type, *count))
    }
}

impl Recorded {
    fn new(captured: &Captured, first: i128) -> Recorded {
        let nanos = u64::try_from(captured.nanos - first).unwrap_or(u64::MAX);
        let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, ..] = captured.header;
        Recorded {
            at: Duration::from_nanos(nanos),
            size: Octets::new(captured.size),
            tagged: is_tagged(&captured.header),
            destination: MacAddr::new(d0, d1, d2, d3, d4, d5),
            source: MacAddr::new(s0, s1, s2, s3, s4, s5),
        }
    }
}

/// All frames of a file, and what it has besides.
fn captured(mut input: Input<impl Read>) -> Result<(Vec<Captured>, LeftOut), Problem> {
    if !input.begin_record("the file's magic number", 4)? {
        return Err(Problem::damaged(0, "the file is empty: expected pcap or pcapng"));
    }
    let magic: [u8; 4] = input.record().try_into().expect("as many octets");
    let (mut frames, mut left_out) = (Vec::new(), LeftOut::new());
    if let Some(pcap) = Pcap::recognise(magic) {
        let mut pcap = pcap.begin(&mut input)?;
        while let Some(frame) = pcap.next(&mut input)? {
            frames.push(frame);
        }
    } else if let Some(pcapng) = PcapNg::recognise(magic) {
        let mut pcapng = pcapng.begin(&mut input)?;
        while let Some(frame) = pcapng.next(&mut input)? {
            frames.push(frame);
        }
        left_out = pcapng.left_out(!frames.is_empty())?;
    } else {
        return Err(Problem::damaged(0, unknown(magic)));
    }
    Ok((frames, left_out))
}

/// What a file is that begins with neither format's number, as far as one can tell.
fn unknown(magic: [u8; 4]) -> String {
    let hint = match magic {
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd] | [0xfd, b'7', b'z', b'X'] => {
            "a compressed file: unpack it first; "
        }
        [0x34, 0xcd, 0xb2, 0xa1] | [0xa1, 0xb2, 0xcd, 0x34] => {
            "Kuznetzov's variant of pcap: convert it, like `editcap -F pcapng`; "
        }
        _ => "",
    };
    let [a, b, c, d] = magic;
    format!("{hint}the file begins with {a:02x} {b:02x} {c:02x} {d:02x}: expected pcap or pcapng")
}

#[cfg(test)]
mod tests;
