//! A record of a binary trace in the making: octets, and numbers of as few octets as they need (LEB128).

use medium::{Value, Visitor};

/// More octets than the longest record of an event takes, and as many as a number of one octet can tell.
pub(super) const RECORD: usize = 256;

/// A record in the making.
pub(super) struct Record<'a> {
    octets: &'a mut [u8; RECORD],
    pub length: u8,
}

impl Record<'_> {
    /// An empty one, at the beginning of `place`.
    #[inline(always)]
    pub fn at(place: &mut [u8]) -> Record<'_> {
        Record { octets: place.first_chunk_mut().expect("there is room for a record"), length: 0 }
    }

    #[inline(always)]
    pub fn octet(&mut self, octet: u8) {
        self.octets[usize::from(self.length)] = octet;
        self.length += 1;
    }

    #[inline(always)]
    pub fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.octet(value as u8 | 0x80);
            value >>= 7;
        }
        self.octet(value as u8);
    }
}

impl Visitor for &mut Record<'_> {
    #[inline(always)]
    fn field(&mut self, _: &'static str, value: Value<'static>) {
        match value {
            Value::Number(number) => self.number(number),
            Value::Truth(truth) => self.octet(truth.into()),
            Value::Word(word) => {
                self.number(word.len() as u64);
                word.bytes().for_each(|octet| self.octet(octet));
            }
        }
    }
}

/// Small numbers for small differences of either sign.
pub(super) fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ ((difference as i64 >> 63) as u64)
}

pub(super) fn unzigzag(code: u64) -> u64 {
    (code >> 1) ^ (code & 1).wrapping_neg()
}
