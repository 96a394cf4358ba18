//! Who joins in a file, found without reading what else it has.

use medium::Place;
use memchr::memmem::Finder;
use std::io::{self, Read};

/// What comes before the name of a station that joins: in a trace, and in the binary form of one.
const BEFORE: &[u8] = br#""add":{"name":""#;
/// What comes before its place.
const PLACE: &str = "\"place\":";
/// Octets that are read at once.
const PIECE: usize = 1 << 20;
/// The line of a station that joins fits.
const OVERLAP: usize = 256;

/// The names in the order in which they come first, without those of `known`, each with the place that it has for itself.
///
/// # Errors
/// The file cannot be read.
pub fn stations(mut file: impl Read, known: &[String]) -> io::Result<Vec<(String, Option<Place>)>> {
    let finder = Finder::new(BEFORE);
    let (mut piece, mut joined) = (Vec::with_capacity(PIECE + OVERLAP), Vec::<(String, Option<Place>)>::new());
    while file.by_ref().take(PIECE as u64).read_to_end(&mut piece)? > 0 {
        for at in finder.find_iter(&piece) {
            let rest = &piece[at + BEFORE.len()..];
            let rest = &rest[..rest.len().min(OVERLAP - BEFORE.len())];
            let Some(end) = rest.iter().position(|octet| *octet == b'"') else { continue };
            let name = String::from_utf8_lossy(&rest[..end]).into_owned();
            let found = joined.iter_mut().find(|(joined, _)| *joined == name);
            match found {
                // The name may be at the end of a piece, and its place in the next.
                Some((_, place)) => *place = place.or(place_in(&rest[end..])),
                None if known.contains(&name) => {}
                None => joined.push((name, place_in(&rest[end..]))),
            }
        }
        piece.drain(..piece.len().saturating_sub(OVERLAP));
    }
    Ok(joined)
}

/// The place in the rest of a line, if it has one.
fn place_in(rest: &[u8]) -> Option<Place> {
    let line = String::from_utf8_lossy(rest.split(|octet| *octet == b'\n').next()?);
    let (_, place) = line.split_once(PLACE)?;
    let (place, _) = place.split_once('}')?;
    serde_json::from_str(&format!("{place}}}")).ok()
}
