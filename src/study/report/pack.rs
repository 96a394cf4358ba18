//! Events in few octets: what the page's script unpacks.
//!
//! ```text
//!   event: time since the one before · kind, +32 if it happened elsewhere than at the frame's station ·
//!          the frame's station · (where) · its number, less that of the station's last · fields in the kind's order
//! ```
//! Numbers are in base 128, the lowest seven bits first; those that may be negative are folded. A million events take some
//! seven megabytes.

use medium::{BitInstant, Cause, Event, Kind, Value};

/// What is added to a kind's number where the event is not at the frame's own station.
const ELSEWHERE: u64 = 32;

/// Packs events; times are counted from `begin`.
pub fn pack(events: &[Event], begin: BitInstant, stations: usize) -> Vec<u8> {
    let mut octets = Vec::with_capacity(events.len() * 8);
    let mut last = begin.get();
    let mut serials = vec![0_u64; stations];
    for event in events {
        number(&mut octets, event.at.get().saturating_sub(last));
        last = event.at.get();
        let kind = Kind::ALL.iter().position(|(name, _)| *name == event.kind.name()).expect("every kind is there");
        let elsewhere = event.station != event.frame.station;
        number(&mut octets, kind as u64 + if elsewhere { ELSEWHERE } else { 0 });
        number(&mut octets, event.frame.station.index() as u64);
        if elsewhere {
            number(&mut octets, event.station.index() as u64);
        }
        let serial = &mut serials[event.frame.station.index()];
        folded(&mut octets, event.frame.serial.wrapping_sub(*serial) as i64);
        *serial = event.frame.serial;
        event.kind.fields(|_: &'static str, value: Value<'static>| match value {
            Value::Number(field) => number(&mut octets, field),
            Value::Truth(field) => number(&mut octets, field.into()),
            Value::Word(word) => {
                let cause = Cause::ALL.iter().position(|cause| cause.name() == word);
                number(&mut octets, cause.expect("only causes are words") as u64);
            }
        });
    }
    octets
}

pub(super) fn number(octets: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        octets.push((number & 127) as u8 | 128);
        number >>= 7;
    }
    octets.push(number as u8);
}

pub(super) fn folded(octets: &mut Vec<u8>, signed: i64) {
    number(octets, ((signed << 1) ^ (signed >> 63)) as u64);
}

/// Octets as letters that a page may hold (RFC 4648, 4).
pub fn base64(octets: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(octets.len().div_ceil(3) * 4);
    for three in octets.chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, 10.
    #[test]
    fn letters_are_those_of_the_rfc() {
        for (octets, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(octets.as_bytes()), text);
        }
    }

    #[test]
    fn numbers_take_as_few_octets_as_they_need() {
        let mut octets = Vec::new();
        [0, 127, 128, 300].into_iter().for_each(|it| number(&mut octets, it));
        [0, -1, 1, -64].into_iter().for_each(|it| folded(&mut octets, it));
        assert_eq!(octets, [0, 127, 128, 1, 172, 2, 0, 1, 2, 127]);
    }
}
