//! A capture in several files, of pcapng or classic pcap: a new one after a number of octets, or after a span of the
//! bus's time.
//!
//! ```text
//!   capture ──blocks──► pipe ──► this thread ──► run-00001.pcapng, run-00002.pcapng …
//! ```
//! The writer of the capture needs no right to make files: it gets only a pipe. Each file begins with the capture's
//! head, so each can be opened alone.

use super::passing::{self, Sink, pass_all};
use super::pcapng::stamp;
use super::{Trailing, between, classic};
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::output::{self, PCAP, PCAPNG, numbered};
use crate::words::units;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// When a new file begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Before a file has more octets than this.
    pub octets: Option<u64>,
    /// After this number of nanoseconds of the bus's time.
    pub nanos: Option<u64>,
}

/// `100MB`, `10s`, or both with a comma between.
impl FromStr for Rotation {
    type Err = String;

    fn from_str(text: &str) -> Result<Rotation, String> {
        let mut rotation = Rotation { octets: None, nanos: None };
        for part in text.split(',') {
            if part.parse::<f64>().is_ok() {
                return Err(format!("`{part}` has no unit: write a size like `{part}MB`, or a time like `{part}s`"));
            }
            let (octets, time) = (size(part), units::duration(part));
            match (octets, time) {
                (Some(octets), _) if rotation.octets.is_none() => rotation.octets = Some(octets),
                (None, Ok(time)) if rotation.nanos.is_none() => {
                    rotation.nanos = Some(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
                }
                (None, Ok(_)) | (Some(_), _) => {
                    return Err(format!("`{text}`: one size and one time, as in `100MB,60s`"));
                }
                (None, Err(_)) => {
                    return Err(format!(
                        "`{part}`: write a size like `100MB`, a time like `60s`, or both: `100MB,60s`"
                    ));
                }
            }
        }
        Ok(rotation)
    }
}

/// Octets: `64kB`, `100MB`, `1GB`.
fn size(text: &str) -> Option<u64> {
    let units = [("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];
    let (number, unit) = units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))?;
    number.parse::<u64>().ok().filter(|number| *number > 0)?.checked_mul(unit)
}

/// Starts to rotate: the capture is to be written to the file that comes back.
///
/// # Errors
/// The first file cannot be made; the system gives no pipe or thread.
pub fn rotate(path: &Path, rotation: Rotation) -> Result<(File, Trailing), WriteError> {
    let is_classic = classic::is_named(path);
    let head = if is_classic { classic::file_header().to_vec() } else { Vec::new() };
    let mut files = Files { path: path.to_owned(), rotation, is_classic, head, text: Vec::new(), made: 0, now: None };
    files.begin()?;
    between(path, "rotation", move |capture| pass_all(capture, &files.path.clone(), &mut files))
}

/// The files so far.
#[derive(Debug)]
struct Files {
    path: PathBuf,
    rotation: Rotation,
    /// They are pcap, not pcapng.
    is_classic: bool,
    /// The octets with which each file begins.
    head: Vec<u8>,
    /// The block or record that comes next.
    text: Vec<u8>,
    made: u64,
    now: Option<Present>,
}

/// The file that is written.
#[derive(Debug)]
struct Present {
    output: LineWriter,
    octets: u64,
    packets: u64,
    /// The stamp at which the next one begins, if there was a packet.
    until: Option<u64>,
}

impl Sink for Files {
    fn take(&mut self, block: &[u8]) -> Result<(), WriteError> {
        let stamp = stamp(block);
        self.text.clear();
        match (self.is_classic, stamp) {
            (false, _) => self.text.extend_from_slice(block),
            (true, Some(_)) => classic::record(block, &mut self.text),
            (true, None) => {}
        }
        if self.text.is_empty() {
            return Ok(());
        }
        let length = self.text.len() as u64;
        match stamp {
            None => self.head.extend_from_slice(&self.text),
            Some(stamp) => {
                let full = |now: &Present| {
                    now.packets > 0
                        && (self.rotation.octets.is_some_and(|most| now.octets + length > most)
                            || now.until.is_some_and(|until| stamp >= until))
                };
                if self.now.as_ref().is_none_or(full) {
                    self.begin()?;
                }
            }
        }
        let Some(now) = &mut self.now else { return Ok(()) };
        if let (None, Some(stamp), Some(nanos)) = (now.until, stamp, self.rotation.nanos) {
            now.until = Some((stamp / nanos + 1).saturating_mul(nanos));
        }
        now.octets += length;
        now.packets += u64::from(stamp.is_some());
        now.output.unit(|into| into.extend_from_slice(&self.text))
    }

    /// A reader of the newest file sees all packets so far.
    fn flush(&mut self) -> Result<(), WriteError> {
        self.now.as_mut().map_or(Ok(()), |now| now.output.flush())
    }
}

impl Files {
    /// Ends the present file and begins the next.
    fn begin(&mut self) -> Result<(), WriteError> {
        if let Some(mut before) = self.now.take() {
            before.output.flush()?;
        }
        self.made += 1;
        let path = numbered(&self.path, self.made);
        let (kind, form) = match self.is_classic {
            true => (PCAP, classic::output as fn(File, String) -> LineWriter),
            false => (PCAPNG, passing::output as _),
        };
        let mut output = form(output::create(&path, kind)?, path.display().to_string());
        output.unit(|into| into.extend_from_slice(&self.head))?;
        self.now = Some(Present { output, octets: self.head.len() as u64, packets: 0, until: None });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_a_time_or_both() {
        let rotation = |octets, nanos| Ok(Rotation { octets, nanos });
        assert_eq!("100MB".parse(), rotation(Some(100_000_000), None));
        assert_eq!("1500ms".parse(), rotation(None, Some(1_500_000_000)));
        assert_eq!("10s,64kB".parse(), rotation(Some(64_000), Some(10_000_000_000)));
        // A number alone may be either.
        for wrong in ["", "10", "0MB", "1MB,2MB", "1s,2s", "1s,2s,3MB", "MB"] {
            assert!(wrong.parse::<Rotation>().is_err(), "{wrong}");
        }
        assert_eq!(numbered(Path::new("a/run.pcapng"), 7), Path::new("a/run-00007.pcapng"));
        assert_eq!(numbered(Path::new("run"), 7), Path::new("run-00007"));
    }
}
