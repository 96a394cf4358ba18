//! Text in a place of fixed size: most pieces of a line are as long as a few registers, and are copied without asking
//! for room or calling anything.

use crate::files::columns::Sink;
use crate::words::prose::{EIGHT_DIGITS, digits, eight_digits};

/// A line in the making. What an event has, with names that are short enough for [`Piece`], takes less than 600 octets.
pub(super) type Line = Text<1024>;

/// A piece of a line that is made once and used often.
pub(super) type Piece = Text<64>;

/// At most `ROOM` octets; a caller that appends more makes a mistake.
#[derive(Clone, Debug)]
pub(super) struct Text<const ROOM: usize> {
    octets: [u8; ROOM],
    length: usize,
}

impl Piece {
    /// The most octets that it can have.
    pub const ROOM: usize = 64;
}

impl<const ROOM: usize> Text<ROOM> {
    pub const EMPTY: Text<ROOM> = Text { octets: [0; ROOM], length: 0 };

    pub fn clear(&mut self) {
        self.length = 0;
    }

    pub fn text(&self) -> &[u8] {
        &self.octets[..self.length]
    }

    /// Copies as many octets as a piece can have, of which those that it has count.
    #[inline(always)]
    pub fn put_piece(&mut self, piece: &Piece) {
        self.octets[self.length..self.length + Piece::ROOM].copy_from_slice(&piece.octets);
        self.length += piece.length;
    }

    /// The same as [`put`](Sink::put); of 8 to 16 octets the first 8 and the last 8, which may overlap.
    #[inline(always)]
    pub fn put_short(&mut self, text: &[u8]) {
        let length = text.len();
        if (8..=16).contains(&length) {
            let into = &mut self.octets[self.length..self.length + length];
            into[..8].copy_from_slice(&text[..8]);
            into[length - 8..].copy_from_slice(&text[length - 8..]);
            self.length += length;
        } else {
            self.put(text);
        }
    }

    fn put_digits(&mut self, value: u64) {
        if value >= EIGHT_DIGITS {
            self.put_number(value / EIGHT_DIGITS);
            return self.put(&eight_digits(value % EIGHT_DIGITS));
        }
        let (digits, count) = digits(value);
        self.octets[self.length..self.length + 8].copy_from_slice(&digits);
        self.length += count;
    }
}

impl<const ROOM: usize> Sink for Text<ROOM> {
    #[inline(always)]
    fn put(&mut self, text: &[u8]) {
        self.octets[self.length..self.length + text.len()].copy_from_slice(text);
        self.length += text.len();
    }

    #[inline(always)]
    fn put_number(&mut self, value: u64) {
        if value < 10 {
            self.octets[self.length] = b'0' + value as u8;
            self.length += 1;
        } else {
            self.put_digits(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_texts_and_numbers_follow_one_another() {
        let (mut line, mut plain) = (Line::EMPTY, String::new());
        for text in [
            "",
            "a",
            "four",
            "defer",
            "attempt",
            "jam_end8",
            "queue_drop",
            "transmitted",
            "sixteen octets!!",
            "seventeen octets!",
        ] {
            let mut piece = Piece::EMPTY;
            piece.put(text.as_bytes());
            line.put_piece(&piece);
            line.put_short(text.as_bytes());
            line.put(b",");
            plain += &format!("{text}{text},");
        }
        for value in [0, 9, 10, 99, 100, 12_345, 999_999, 1_000_000, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            line.put_number(value);
            plain += &value.to_string();
        }
        assert_eq!(str::from_utf8(line.text()), Ok(plain.as_str()));
        line.clear();
        assert!(line.text().is_empty());
    }
}
