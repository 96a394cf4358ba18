//! How protobuf writes fields, and what TrackEvents have in common.

use super::super::append;
use medium::{Kind, Value, Visitor};

/// The fields of an event, as arguments.
pub fn arguments(own: &mut Vec<u8>, kind: &Kind) {
    kind.fields(Arguments(own));
}

/// Appends an event's fields.
struct Arguments<'a>(&'a mut Vec<u8>);

impl Visitor for Arguments<'_> {
    /// Where the name is known when this is compiled, it is a few stores and no copy of unknown length.
    #[inline(always)]
    fn field(&mut self, name: &'static str, value: Value<'static>) {
        match value {
            Value::Number(value) => annotate_number(self.0, name, 3, value),
            Value::Truth(truth) => annotate_number(self.0, name, 2, u64::from(truth)),
            Value::Word(word) => annotate(self.0, name, word),
        }
    }
}

/// A DebugAnnotation of a TrackEvent: a text.
#[inline(always)]
pub fn annotate(own: &mut Vec<u8>, name: &str, value: &str) {
    message(own, 4, |annotation| {
        text(annotation, 10, name);
        text(annotation, 6, value);
    });
}

/// One that is a number, or a truth. Names have some twenty octets at most.
#[inline(always)]
pub fn annotate_number(own: &mut Vec<u8>, name: &str, field: u8, value: u64) {
    let (mut octets, length) = ([0; DIGITS + 1], name.len() as u8);
    octets[0] = field << 3;
    let end = digits(&mut octets, 1, value);
    own.extend_from_slice(&[4 << 3 | 2, 2 + length + end as u8, 10 << 3 | 2, length]);
    own.extend_from_slice(name.as_bytes());
    append(own, &octets, end);
}

/// Octets that a number takes at most.
pub const DIGITS: usize = 10;

/// A number in groups of seven bits, the lowest first, from a place on; gives the place after it.
#[inline(always)]
pub fn digits(octets: &mut [u8], mut place: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        octets[place] = value as u8 | 0x80;
        value >>= 7;
        place += 1;
    }
    octets[place] = value as u8;
    place + 1
}

#[inline(always)]
pub fn varint(into: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        return into.push(value as u8);
    }
    let mut octets = [0; DIGITS];
    let end = digits(&mut octets, 0, value);
    append(into, &octets, end);
}

/// A field of protobuf that is a number.
#[inline(always)]
pub fn number(into: &mut Vec<u8>, field: u32, value: u64) {
    number_of(into, u64::from(field) << 3, value);
}

/// The same of a field and how it is written.
#[inline(always)]
pub fn number_of(into: &mut Vec<u8>, key: u64, value: u64) {
    let mut octets = [0; 2 * DIGITS];
    let middle = digits(&mut octets, 0, key);
    let end = digits(&mut octets, middle, value);
    append(into, &octets, end);
}

/// One that is a number of eight octets.
pub fn fixed(into: &mut Vec<u8>, field: u32, value: u64) {
    varint(into, u64::from(field) << 3 | 1);
    into.extend_from_slice(&value.to_le_bytes());
}

pub fn real(into: &mut Vec<u8>, field: u32, value: f64) {
    fixed(into, field, value.to_bits());
}

#[inline(always)]
pub fn text(into: &mut Vec<u8>, field: u32, value: &str) {
    octets(into, field, value.as_bytes());
}

/// The same of a text that is not checked.
#[inline(always)]
pub fn octets(into: &mut Vec<u8>, field: u32, value: &[u8]) {
    varint(into, u64::from(field) << 3 | 2);
    varint(into, value.len() as u64);
    into.extend_from_slice(value);
}

#[inline(always)]
pub fn message(into: &mut Vec<u8>, field: u32, write: impl FnOnce(&mut Vec<u8>)) {
    varint(into, u64::from(field) << 3 | 2);
    // Nearly all lengths take one octet, and room for that is there before the length is known.
    let begin = into.len();
    into.push(0);
    write(into);
    let length = into.len() - begin - 1;
    if length < 0x80 {
        into[begin] = length as u8;
        return;
    }
    let mut head = Vec::with_capacity(4);
    varint(&mut head, length as u64);
    into.splice(begin..=begin, head);
}

/// Appends what a TrackEvent begins with: its type and its track.
#[inline]
pub fn begin_event(own: &mut Vec<u8>, kind: u8, track: u64) {
    let mut octets = [9 << 3, kind, 11 << 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let end = digits(&mut octets, 3, track);
    append(own, &octets, end);
}

/// How packets of one instant begin, after their length: time, sequence, and what a TrackEvent is.
#[derive(Debug)]
pub struct Head {
    octets: [u8; Head::ROOM],
    length: usize,
}

impl Head {
    /// A key and two numbers of at most ten octets, and two more keys.
    const ROOM: usize = 24;

    pub fn new(at: u64, sequence: u64) -> Head {
        let mut octets = [0; Head::ROOM];
        octets[0] = 8 << 3;
        let place = digits(&mut octets, 1, at);
        octets[place] = 10 << 3;
        let end = digits(&mut octets, place + 1, sequence);
        octets[end] = 11 << 3 | 2;
        Head { octets, length: end + 1 }
    }

    /// Appends the beginning of a packet, up to the content of its TrackEvent, which has this length.
    #[inline]
    pub fn begin_packet(&self, into: &mut Vec<u8>, length: usize) {
        let mut octets = [0; Head::ROOM + 2 * DIGITS + 1];
        octets[0] = 1 << 3 | 2;
        let place = digits(&mut octets, 1, (self.length + count(length) + length) as u64);
        octets[place..place + Head::ROOM].copy_from_slice(&self.octets);
        let end = digits(&mut octets, place + self.length, length as u64);
        append(into, &octets, end);
    }
}

/// How many octets a number takes.
fn count(number: usize) -> usize {
    (number | 1).ilog2() as usize / 7 + 1
}

/// How many octets of `trace` are whole packets, and how many packets those are.
pub fn whole_packets(trace: &[u8]) -> (usize, u64) {
    let (mut whole, mut count) = (0, 0);
    while let Some(end) = packet_end(&trace[whole..]).filter(|end| whole + end <= trace.len()) {
        whole += end;
        count += 1;
    }
    (whole, count)
}

/// Where the packet ends that `trace` begins with, if its length is there.
fn packet_end(trace: &[u8]) -> Option<usize> {
    let digits = trace.get(1..)?.iter().position(|octet| octet & 0x80 == 0)? + 1;
    let length = trace[1..=digits].iter().rev().fold(0_usize, |value, octet| value << 7 | usize::from(octet & 0x7f));
    Some(1 + digits + length)
}
