//! Reads the lines that nearly all lines of a record are, written as ethbus writes them: offered frames.
//!
//! What is written in any other way, or wrongly, is left to the general reader, which names what is wrong.

use crate::files::event_log::Names;
use medium::{Destination, Frame, Octets, StationId};

/// An offered frame as its line has it, its numbers not looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Offer<'a> {
    pub t: u64,
    pub station: StationId,
    pub frame: Frame,
    pub octets: Option<&'a str>,
}

/// What a line says of an offered frame; `None` if it says something else, or in another way.
pub(super) fn offer<'a>(line: &'a [u8], names: &Names) -> Option<Offer<'a>> {
    let mut rest = Rest(line);
    rest.text(b"{\"t\":")?;
    let t = rest.number()?;
    rest.text(b",\"kind\":\"offer\",\"station\":\"")?;
    let station = names.station(rest.plain()?)?;
    rest.text(b",\"size\":")?;
    let size = Octets::new(rest.number()?.try_into().ok()?);
    rest.text(b",\"destination\":")?;
    let destination = if rest.text(b"{\"station\":\"").is_some() {
        let station = names.station(rest.plain()?)?;
        rest.text(b"}")?;
        Destination::Station(station)
    } else if rest.text(b"\"all\"").is_some() {
        Destination::All
    } else {
        rest.text(b"\"nobody\"")?;
        Destination::Nobody
    };
    rest.text(b",\"tagged\":")?;
    let tagged = rest.text(b"true").is_some();
    if !tagged {
        rest.text(b"false")?;
    }
    let octets = if rest.text(b",\"octets\":\"").is_some() { Some(rest.plain()?) } else { None };
    let frame = Frame { size, destination, tagged };
    (rest.0 == b"}").then_some(Offer { t, station, frame, octets })
}

/// What has not been read of a line.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn text(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    /// A number of at most 19 digits, so that it does not overflow, and without a zero in front, which is no JSON.
    fn number(&mut self) -> Option<u64> {
        let digits = self.0.iter().take_while(|octet| octet.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(digits);
        let canonical = matches!(digits, 1..=19) && (digits == 1 || number[0] != b'0');
        self.0 = rest;
        canonical.then(|| number.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
    }

    /// Printable ASCII without an escape, up to the quote after it.
    fn plain(&mut self) -> Option<&'a str> {
        let length =
            self.0.iter().position(|&octet| octet == b'"' || octet == b'\\' || !(b' '..=b'~').contains(&octet))?;
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        self.text(b"\"")?;
        str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way of writing a line that is not ours is left to the general reader, whatever it says.
    #[test]
    fn only_lines_as_ethbus_writes_them_are_quick() {
        let names = Names::new(&["st1", "s\"3"].map(str::to_owned));
        let line =
            r#"{"t":576,"kind":"offer","station":"st1","size":98,"destination":"all","tagged":true,"octets":"00ff"}"#;
        let frame = Frame { size: Octets::new(98), destination: Destination::All, tagged: true };
        let read = Offer { t: 576, station: StationId::new(0), frame, octets: Some("00ff") };
        assert_eq!(offer(line.as_bytes(), &names), Some(read));
        for (from, to) in [
            ("\"t\":576", "\"t\": 576"),
            ("\"t\":576", "\"t\":0576"),
            ("\"t\":576", "\"t\":99999999999999999999"),
            ("\"t\":576", "\"t\":-1"),
            ("\"size\":98", "\"size\":4294967296"),
            ("st1", "st9"),
            ("st1", "s\\\"3"),
            ("\"all\"", "\"everyone\""),
            ("\"all\"", "{\"station\":\"st1\",\"x\":1}"),
            ("true", "1"),
            ("00ff\"}", "00ff\",\"x\":1}"),
            ("00ff\"}", "00ff"),
            ("offer", "detach"),
        ] {
            assert!(line.contains(from), "{from}");
            assert_eq!(offer(line.replacen(from, to, 1).as_bytes(), &names), None, "{to}");
        }
    }
}
