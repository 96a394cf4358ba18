//! Octets of a file with their places: every problem can say where it was met.

use std::io::{self, Read};

/// What is wrong with a file, and where.
#[derive(Debug)]
pub(super) enum Problem {
    /// The system could not read on.
    Read { offset: u64, source: io::Error },
    /// The content there is impossible; `what` names what was expected.
    Damaged { offset: u64, what: String },
}

impl Problem {
    pub fn damaged(offset: u64, what: impl Into<String>) -> Problem {
        Problem::Damaged { offset, what: what.into() }
    }
}

/// One captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Captured {
    /// Nanoseconds since the epoch of the file's clock, rounded down.
    pub nanos: i128,
    /// Octets from destination address to FCS.
    pub size: u32,
    /// Destination address, source address, and type or length.
    pub header: [u8; HEADER],
}

/// Destination address, source address, and type or length (802.3, 3.1.1).
pub(super) const HEADER: usize = 14;
/// The longest frame that a capture may speak of: the longest that capture programs keep.
const LONGEST: u32 = 262_144;

impl Captured {
    /// Checks what a record at `offset` says of its frame: `original` octets on the medium, with FCS or without, of which
    /// the file has `captured`, and among them `header`.
    pub fn check(offset: u64, captured: u32, original: u32) -> Result<(), Problem> {
        let wrong = |what: String| Err(Problem::damaged(offset, what));
        if captured > original {
            return wrong(format!(
                "{captured} octets are captured of a frame of {original}: expected at most all of it"
            ));
        }
        if original > LONGEST {
            return wrong(format!("a frame of {original} octets: expected at most {LONGEST}"));
        }
        if (captured as usize) < HEADER {
            return wrong(format!(
                "{captured} octets of a frame of {original} are captured: expected at least {HEADER}, with both addresses and the type"
            ));
        }
        Ok(())
    }

    pub fn new(nanos: i128, original: u32, fcs: bool, header: &[u8]) -> Captured {
        let header = header[..HEADER].try_into().expect("as many octets");
        Captured { nanos, size: original + if fcs { 0 } else { medium::FCS.get() }, header }
    }
}

/// The order of octets in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    pub fn u16(self, octets: &[u8]) -> u16 {
        let octets = octets[..2].try_into().expect("2 octets");
        if self == Order::Little { u16::from_le_bytes(octets) } else { u16::from_be_bytes(octets) }
    }

    pub fn u32(self, octets: &[u8]) -> u32 {
        let octets = octets[..4].try_into().expect("4 octets");
        if self == Order::Little { u32::from_le_bytes(octets) } else { u32::from_be_bytes(octets) }
    }

    pub fn i64(self, octets: &[u8]) -> i64 {
        let octets = octets[..8].try_into().expect("8 octets");
        if self == Order::Little { i64::from_le_bytes(octets) } else { i64::from_be_bytes(octets) }
    }
}

/// A file, record by record. Only the wanted octets of a record are kept, so that memory does not grow with it.
#[derive(Debug)]
pub(super) struct Input<R> {
    reader: R,
    begin: u64,
    offset: u64,
    record: Vec<u8>,
}

impl<R: Read> Input<R> {
    pub fn new(reader: R) -> Input<R> {
        Input { reader, begin: 0, offset: 0, record: Vec::new() }
    }

    /// Where the current record begins.
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// What has been read of the current record.
    pub fn record(&self) -> &[u8] {
        &self.record
    }

    /// Begins a record, `name`, that has at least `count` octets, and reads these; false at the end of the file.
    pub fn begin_record(&mut self, name: &str, count: u64) -> Result<bool, Problem> {
        self.begin = self.offset;
        self.record.clear();
        match self.append(count)? {
            0 => Ok(false),
            got if got == count => Ok(true),
            got => Err(self.ends(name, count, got)),
        }
    }

    /// Reads `count` octets more of the current record, `name`.
    pub fn read(&mut self, name: &str, count: u64) -> Result<(), Problem> {
        let before = self.offset - self.begin;
        match self.append(count)? {
            got if got == count => Ok(()),
            got => Err(self.ends(name, before + count, before + got)),
        }
    }

    /// Passes over `count` octets of the current record, `name`.
    pub fn skip(&mut self, name: &str, count: u64) -> Result<(), Problem> {
        let before = self.offset - self.begin;
        let skipped = io::copy(&mut self.reader.by_ref().take(count), &mut io::sink());
        let got = skipped.map_err(|source| Problem::Read { offset: self.offset, source })?;
        self.offset += got;
        if got == count { Ok(()) } else { Err(self.ends(name, before + count, before + got)) }
    }

    fn append(&mut self, count: u64) -> Result<u64, Problem> {
        let read = self.reader.by_ref().take(count).read_to_end(&mut self.record);
        let got = read.map_err(|source| Problem::Read { offset: self.offset, source })? as u64;
        self.offset += got;
        Ok(got)
    }

    fn ends(&self, name: &str, needed: u64, got: u64) -> Problem {
        Problem::damaged(
            self.begin,
            format!("{name} begins here and needs {needed} octets, but the file ends after {got} of them"),
        )
    }
}
