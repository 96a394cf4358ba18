//! What proves that a trace is whole: lines of the layer `check`, each with a CRC-32 over all lines before it.
//!
//! ```text
//!   {"t":40128,"layer":"check","kind":"so_far","lines":4096,"crc32":305419896}      after each 4096th line
//!   {"t":99999,"layer":"check","kind":"end","lines":5021,"crc32":4207849484}        the last line
//!   {"t":88888,"layer":"check","kind":"broken_off","lines":4711,"why":"…"}          the last line of a trace that misses something
//! ```
//! A trace that is written on can be read up to its latest line; each `so_far` proves what is before it. Checks are no part
//! of the digest.

use crate::words::units::{group, many};
use std::io::{self, Write};

/// What `layer` says in these lines.
pub(super) const LAYER: &str = "check";
/// Lines from one check to the next.
const EVERY: u64 = 4096;

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// The trace continues.
    SoFar,
    /// The trace is whole.
    End,
    /// The trace misses what came after this, and why.
    BrokenOff(&'a str),
}

impl Kind<'_> {
    fn name(self) -> &'static str {
        match self {
            Kind::SoFar => "so_far",
            Kind::End => "end",
            Kind::BrokenOff(_) => "broken_off",
        }
    }
}

/// How many lines there are so far, and their CRC-32.
#[derive(Clone, Debug)]
pub(super) struct Check {
    lines: u64,
    crc32: crc32fast::Hasher,
}

impl Check {
    /// Of a trace that has its header, the line's end included.
    pub fn after(header: &[u8]) -> Check {
        let mut check = Check { lines: 1, crc32: crc32fast::Hasher::new() };
        check.update(header);
        check
    }

    /// Sums up.
    pub fn update(&mut self, text: &[u8]) {
        self.crc32.update(text);
    }

    /// Whether a check comes after this line.
    #[inline]
    pub fn counts_a_line(&mut self) -> bool {
        self.lines += 1;
        self.lines.is_multiple_of(EVERY)
    }

    /// Appends a check of what has been summed up.
    pub fn write(&self, text: &mut Vec<u8>, t: u64, kind: Kind<'_>) {
        let crc32 = self.crc32.clone().finalize();
        write(text, t, kind, self.lines, Some(crc32));
    }
}

/// Appends a check.
pub(super) fn write(text: &mut Vec<u8>, t: u64, kind: Kind<'_>, lines: u64, crc32: Option<u32>) {
    let name = kind.name();
    write!(text, "{{\"t\":{t},\"layer\":\"{LAYER}\",\"kind\":\"{name}\",\"lines\":{lines}").expect("memory");
    if let Some(crc32) = crc32 {
        write!(text, ",\"crc32\":{crc32}").expect("memory");
    }
    if let Kind::BrokenOff(why) = kind {
        let why = serde_json::to_string(why).expect("a string");
        write!(text, ",\"why\":{why}").expect("memory");
    }
    text.extend_from_slice(b"}\n");
}

/// The last line of a trace that cannot be written any further: it has `lines` lines, and `next` would be the next one.
pub(super) fn last_words(lines: u64, next: &[u8], error: &io::Error) -> Vec<u8> {
    let digits = next.strip_prefix(b"{\"t\":").unwrap_or_default();
    let digits = digits.iter().take_while(|octet| octet.is_ascii_digit());
    let t = digits.fold(0, |t: u64, digit| t.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
    let mut text = Vec::new();
    write(&mut text, t, Kind::BrokenOff(&error.to_string()), lines, None);
    text
}

/// What a reader knows of a trace's checks.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    crc32: crc32fast::Hasher,
    /// Up to which line checks have confirmed the trace.
    confirmed: u64,
    /// The last line was there, and why it was none of a whole trace.
    end: Option<Option<String>>,
}

impl Checked {
    /// Of a trace that has its header, the line's end included.
    pub fn after(header: &[u8]) -> Checked {
        let mut crc32 = crc32fast::Hasher::new();
        crc32.update(header);
        Checked { crc32, confirmed: 1, end: None }
    }

    /// One line more, which is no check, or one that was confirmed.
    pub fn line(&mut self, line: &[u8]) {
        self.crc32.update(line);
        self.crc32.update(b"\n");
    }

    /// Confirms a check, which is the line with this number.
    ///
    /// # Errors
    /// The lines before it are not those that were written.
    pub fn confirm(&mut self, said: &Said, number: u64) -> Result<(), String> {
        let (there, since) = (number - 1, self.confirmed);
        let wrong = |what: String| Err(format!("{what} since line {since}: take the trace as it was written"));
        match said.lines {
            lines if lines > there => return wrong(format!("{} missing", many(lines - there, "line"))),
            lines if lines < there => return wrong(format!("{} too many", many(there - lines, "line"))),
            _ => {}
        }
        if said.crc32.is_some_and(|crc32| crc32 != self.crc32.clone().finalize()) {
            return wrong("lines were changed, or are in another order,".to_owned());
        }
        self.confirmed = number;
        if said.is_last {
            self.end = Some(said.why.clone());
        }
        Ok(())
    }

    /// Whether nothing comes any more.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Why a trace that has been read to its end is not whole: the trace at `place`, which has `count` lines or blocks.
    pub fn not_whole(&self, place: &str, unit: &str, count: u64) -> Option<String> {
        match &self.end {
            Some(None) => None,
            Some(Some(why)) => Some(format!("{place} misses what came after its {} {unit}s: {why}", group(count))),
            None => Some(format!(
                "{place} has no end: the run that writes it goes on or was killed; it has {} {unit}s",
                group(count)
            )),
        }
    }
}

/// What a check said.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub lines: u64,
    pub crc32: Option<u32>,
    pub is_last: bool,
    pub why: Option<String>,
}

impl Said {
    /// # Errors
    /// No check is called so.
    pub fn new(kind: &str, lines: u64, crc32: Option<u32>, why: Option<String>) -> Result<Said, String> {
        let (is_last, why) = match kind {
            "so_far" => (false, None),
            "end" => (true, None),
            "broken_off" => (true, Some(why.unwrap_or_default())),
            kind => return Err(format!("`{kind}` is no kind of check")),
        };
        Ok(Said { lines, crc32, is_last, why })
    }
}
