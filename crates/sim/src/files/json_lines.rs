//! Files of one JSON object a line: whole lines or none when writing, file and line in every error when reading.
//!
//! Knows nothing of the content of a line.

use super::damage;
use super::outlet::{Outlet, Way};
use super::output::{self, Kind, OutputError, is_stdout, place_name};
use super::system;
use serde::de::DeserializeOwned;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Lines are handed to the kernel in pieces of about this many octets.
pub(super) const PIECE: usize = 1 << 16;
/// The same of a thread that is woken for each.
const PIECE_BESIDE: usize = 1 << 18;
/// The longest line that is read: more than a header with 1,024 stations or a frame of 65,535 octets takes.
const LONGEST: u64 = 1 << 20;

/// Why lines could not be written. What was written before stays, and is whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// There is no file to write to.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Two outputs, or an input and an output, are one file.
    #[error("{place} cannot be two things at once: give each file a name of its own")]
    Same {
        /// The file.
        place: String,
    },
    /// The disk is full, the pipe is closed, or the like.
    #[error("cannot write {place}{}", what_is_there(*kept, what))]
    Write {
        /// The file.
        place: String,
        /// How many lines are kept, the header not counted.
        kept: u64,
        /// What a line is.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A table that is not made of lines cannot be written, for the like.
    #[error("cannot write {place}")]
    Table {
        /// The file.
        place: String,
        /// What was said of it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What a file has that cannot be written any further.
fn what_is_there(kept: u64, what: &str) -> String {
    match kept {
        0 => format!(": no {what} are in it"),
        kept => format!(" any further; the first {kept} {what} are in it, whole"),
    }
}

/// Makes a file to write to, or empties one that is ours, unless it is one of `others`.
///
/// # Errors
/// It is one of them, or belongs to another program, or cannot be made.
pub fn create(path: &Path, others: &[&Path]) -> Result<File, WriteError> {
    create_as(output::LINES, path, others)
}

/// The same for another kind of file.
///
/// # Errors
/// As [`create`].
pub fn create_as(kind: Kind, path: &Path, others: &[&Path]) -> Result<File, WriteError> {
    is_other(path, others)?;
    Ok(output::create(path, kind)?)
}

/// Checks that a file is none of `others`.
///
/// # Errors
/// It is one of them.
pub fn is_other(path: &Path, others: &[&Path]) -> Result<(), WriteError> {
    let place = place_name(path);
    let identity = |path: &Path| std::fs::metadata(path).ok().filter(Metadata::is_file).map(|it| system::identity(&it));
    let own = identity(path).filter(|_| !is_stdout(path));
    if own.is_some() && others.iter().any(|other| identity(other) == own) {
        return Err(WriteError::Same { place });
    }
    Ok(())
}

/// Finds out of a text of whole lines, the last of which may be cut, how many octets are whole and how many lines.
///
/// What is written may be made of something else than lines: then of that.
pub type Whole = fn(&[u8]) -> (usize, u64);

/// Makes the last line of a file that cannot be written any further: from the number of its lines, the line that would
/// be the next, and the reason.
pub(super) type LastWords = fn(u64, &[u8], &io::Error) -> Vec<u8>;

/// Writes lines to a file, a pipe or a device. Nothing is cut within a line, whatever happens.
#[derive(Debug)]
pub struct LineWriter {
    way: Way,
    buffer: Vec<u8>,
    /// Lines in the buffer.
    waiting: u64,
    /// How many octets are handed over at once.
    piece: usize,
}

impl LineWriter {
    /// Makes the file, or empties it. `what` says in the plural what its lines are.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: &Path, what: &'static str) -> Result<LineWriter, WriteError> {
        Ok(LineWriter::new(create(path, &[])?, place_name(path), what))
    }

    /// Writes to a file that the caller opened at `place`.
    pub fn new(file: File, place: String, what: &'static str) -> LineWriter {
        LineWriter::of(file, place, what, whole_lines)
    }

    /// The same for a file that is not made of lines: `whole` says what of it is whole.
    pub fn of(file: File, place: String, what: &'static str, whole: Whole) -> LineWriter {
        LineWriter::over(Outlet::new(file, place, what, whole))
    }

    /// The same of what is no regular file. A process may call it that may not ask what a file is.
    pub fn on_stream(stream: File, place: String, what: &'static str, whole: Whole) -> LineWriter {
        LineWriter::over(Outlet::shared(Arc::new(stream), place, what, whole))
    }

    /// Keeps what is written in memory, after what is in `kept` already.
    pub fn in_memory(kept: &Arc<Mutex<Vec<u8>>>) -> LineWriter {
        LineWriter::by(Way::Kept(kept.clone()))
    }

    fn over(outlet: Outlet) -> LineWriter {
        LineWriter::by(Way::Here(outlet))
    }

    fn by(way: Way) -> LineWriter {
        LineWriter { way, buffer: Vec::new(), waiting: 0, piece: PIECE }
    }

    /// The descriptor that lines go to, unless another thread writes them.
    pub fn stream(&self) -> Option<&File> {
        self.way.stream()
    }

    /// Writes to a file that others write to as well, at other times.
    pub(super) fn shared(file: Arc<File>, place: String, what: &'static str) -> LineWriter {
        LineWriter::over(Outlet::shared(file, place, what, whole_lines))
    }

    /// Ends a file that cannot be written any further with the line that `words` makes, if there is room for it in place
    /// of the last ones.
    pub(super) fn with_last_words(mut self, words: LastWords) -> LineWriter {
        self.way.set_last_words(words);
        self
    }

    /// From now on a thread of its own hands lines to the kernel, if the system gives one. Errors come later, at the
    /// latest from [`LineWriter::flush`].
    pub fn write_beside(&mut self) {
        self.way.go_beside();
        self.piece = PIECE_BESIDE;
    }

    /// Writes one line; `write` gives its text, without the line's end.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub fn line(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), WriteError> {
        self.unit(|buffer| {
            write(buffer);
            buffer.push(b'\n');
        })
    }

    /// Writes what `write` gives as one whole.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    #[inline]
    pub fn unit(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), WriteError> {
        self.units(1, write)
    }

    /// Writes what `write` gives as one whole, which has `count` lines.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    #[inline]
    pub fn units(&mut self, count: u64, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), WriteError> {
        write(&mut self.buffer);
        self.waiting += count;
        if self.buffer.len() >= self.piece { self.hand_over() } else { Ok(()) }
    }

    /// Hands over `count` whole lines, after those before them, and leaves `text` empty.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before.
    pub(super) fn lines(&mut self, text: &mut Vec<u8>, count: u64) -> Result<(), WriteError> {
        let before = if self.buffer.is_empty() { Ok(()) } else { self.hand_over() };
        before.and(self.way.hand_over(text, count))
    }

    #[cold]
    fn hand_over(&mut self) -> Result<(), WriteError> {
        self.way.hand_over(&mut self.buffer, std::mem::take(&mut self.waiting))
    }

    /// Hands everything so far to the kernel.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or an earlier write failed.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        let handed_over = self.hand_over();
        handed_over.and(self.way.wait())
    }
}

/// How many octets of `text` are whole lines, and how many lines.
pub(super) fn whole_lines(text: &[u8]) -> (usize, u64) {
    let whole = text.iter().rposition(|&octet| octet == b'\n').map_or(0, |end| end + 1);
    (whole, text[..whole].iter().filter(|&&octet| octet == b'\n').count() as u64)
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        // A caller that needs the error has flushed before.
        let _ = self.flush();
    }
}

/// Text that another module parses, as long as its lines end: a file without lines, like a device or a picture, is
/// refused.
#[derive(Debug)]
pub struct WithLines<R> {
    input: R,
    /// Octets since the last line's end.
    since: u64,
}

impl<R> WithLines<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> WithLines<R> {
        WithLines { input, since: 0 }
    }
}

impl<R: Read> Read for WithLines<R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(octets)?;
        let rest = octets[..count].iter().rev().position(|&octet| octet == b'\n');
        self.since = rest.map_or(self.since + count as u64, |rest| rest as u64);
        match self.since {
            ..=LONGEST => Ok(count),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, format!("a line of more than {LONGEST} octets"))),
        }
    }
}

/// Why lines could not be read: place, and what would be right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read {place}")]
    File {
        /// The file.
        place: String,
        /// What the system said.
        source: io::Error,
    },
    /// A line is not what it should be.
    #[error("{place}, {unit} {number}: {what}")]
    Line {
        /// The file.
        place: String,
        /// `line`, or `block`.
        unit: &'static str,
        /// Which, from 1.
        number: u64,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// The file is a part of what a run makes.
    #[error("{why}")]
    NotWhole {
        /// Which, and why.
        why: String,
    },
    /// The file ends within a line, or too early.
    #[error("{place}, {unit} {number}: the file was cut short here; {what}")]
    CutShort {
        /// The file.
        place: String,
        /// `line`, or `block`.
        unit: &'static str,
        /// Which, from 1.
        number: u64,
        /// What there is before it.
        what: String,
    },
}

/// What is counted in a file of blocks.
const BLOCK: &str = "block";

/// Reads lines one after the other, with memory for one.
#[derive(Debug)]
pub struct LineReader<R = BufReader<File>> {
    input: R,
    place: String,
    /// What is counted.
    unit: &'static str,
    number: u64,
    line: Vec<u8>,
}

impl LineReader {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> Result<LineReader, ReadError> {
        let place = path.display().to_string();
        match File::open(path) {
            Ok(file) => Ok(LineReader::new(BufReader::with_capacity(PIECE, file), place)),
            Err(source) => Err(ReadError::File { place, source }),
        }
    }
}

impl<R: BufRead> LineReader<R> {
    /// Reads from `input`, which errors call `place`.
    pub fn new(input: R, place: String) -> LineReader<R> {
        LineReader { input, place, unit: "line", number: 0, line: Vec::new() }
    }

    /// What errors call the file.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Goes to the next line, and says whether there is one.
    ///
    /// # Errors
    /// The file cannot be read; the line has no end, or is longer than any should be.
    pub fn advance(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        self.number += 1;
        let read = (&mut self.input).take(LONGEST).read_until(b'\n', &mut self.line);
        let octets = read.map_err(|source| ReadError::File { place: self.place.clone(), source })?;
        match self.line.last() {
            None => Ok(false),
            Some(b'\n') => Ok(true),
            Some(_) if octets as u64 == LONGEST => Err(self.wrong(format!("a line of more than {LONGEST} octets"))),
            Some(_) => Err(self.cut_short(format!("{} whole lines are before it", self.number - 1))),
        }
    }

    /// Goes to the next block, which is no line: a head of `HEAD` octets, from which `length` finds how many follow.
    /// Returns its head, or `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or ends within the block; `length` knows no such block.
    pub(super) fn advance_block<const HEAD: usize>(
        &mut self,
        length: impl FnOnce(&[u8; HEAD]) -> Result<usize, String>,
    ) -> Result<Option<[u8; HEAD]>, ReadError> {
        self.number = if self.unit == BLOCK { self.number + 1 } else { 1 };
        self.unit = BLOCK;
        if !self.exactly(HEAD)? {
            return Ok(None);
        }
        let head = <[u8; HEAD]>::try_from(&*self.line).expect("as many as were asked for");
        let length = length(&head).map_err(|what| self.wrong(what))?;
        if !self.exactly(length)? {
            return Err(self.cut_short(format!("{} whole blocks are before it", self.number - 1)));
        }
        Ok(Some(head))
    }

    /// Reads `count` octets; says whether there was one.
    fn exactly(&mut self, count: usize) -> Result<bool, ReadError> {
        self.line.clear();
        let read = (&mut self.input).take(count as u64).read_to_end(&mut self.line);
        match read.map_err(|source| ReadError::File { place: self.place.clone(), source })? {
            0 => Ok(false),
            octets if octets == count => Ok(true),
            _ => Err(self.cut_short(format!("{} whole blocks are before it", self.number - 1))),
        }
    }

    /// The present block, without its head.
    pub(super) fn block(&self) -> &[u8] {
        &self.line
    }

    /// The present line, without its end.
    pub fn line(&self) -> &[u8] {
        self.line.strip_suffix(b"\n").unwrap_or(&self.line)
    }

    /// The present line's number, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The present line as JSON.
    ///
    /// # Errors
    /// It is no JSON, or not of this shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        serde_json::from_slice(self.line()).map_err(|error| self.wrong_json(&error))
    }

    /// An error about the present line.
    pub fn wrong(&self, what: String) -> ReadError {
        ReadError::Line { place: self.place.clone(), unit: self.unit, number: self.number, what }
    }

    /// An error of serde about the present line.
    pub fn wrong_json(&self, error: &serde_json::Error) -> ReadError {
        self.wrong(format!("{}: the file was changed after it was written", damage::told(self.line(), error)))
    }

    /// An error about a file that ends at the present line.
    pub fn cut_short(&self, what: String) -> ReadError {
        ReadError::CutShort { place: self.place.clone(), unit: self.unit, number: self.number, what }
    }
}

#[cfg(test)]
mod tests;
