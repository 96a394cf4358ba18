//! Who joins in a file, found without reading what else it has.

use memchr::memmem::Finder;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What comes before the name of a station that joins: in a record, in an event log, and in the binary form of one.
const BEFORE: &[u8] = br#""kind":"join","station":""#;
/// Octets that are read at once.
const PIECE: usize = 1 << 20;
/// A name, its quote, and what comes before it fit.
const OVERLAP: usize = 64;

/// The names in the order in which they come first, without those of `known`.
///
/// # Errors
/// The file cannot be read.
pub fn names(path: &Path, known: &[String]) -> io::Result<Vec<String>> {
    let (mut file, finder) = (File::open(path)?, Finder::new(BEFORE));
    let (mut piece, mut names) = (Vec::with_capacity(PIECE + OVERLAP), Vec::new());
    while file.by_ref().take(PIECE as u64).read_to_end(&mut piece)? > 0 {
        for at in finder.find_iter(&piece) {
            let rest = &piece[at + BEFORE.len()..];
            let Some(end) = rest.iter().take(OVERLAP - BEFORE.len()).position(|octet| *octet == b'"') else { continue };
            let name = String::from_utf8_lossy(&rest[..end]).into_owned();
            if !known.contains(&name) && !names.contains(&name) {
                names.push(name);
            }
        }
        piece.drain(..piece.len().saturating_sub(OVERLAP));
    }
    Ok(names)
}
