//! Lines of the file, made once.

use super::super::append;
use medium::{Deference, Transmit};

/// A station's signals in the file.
#[derive(Clone, Copy)]
pub(super) enum Wave {
    Transmit,
    Deference,
    Carrier,
    Collision,
}

/// A signal's new value. In the file a value comes before its identifier; a string has a blank between them.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Transmit(Transmit),
    Deference(Deference),
    Carrier(bool),
    Collision(bool),
}

impl Change {
    /// Each once, by [`Change::place`].
    pub const ALL: [Change; 13] = [
        Change::Transmit(Transmit::Idle),
        Change::Transmit(Transmit::WaitingToSend),
        Change::Transmit(Transmit::Transmitting),
        Change::Transmit(Transmit::Jamming),
        Change::Transmit(Transmit::BackingOff),
        Change::Deference(Deference::Free),
        Change::Deference(Deference::Busy),
        Change::Deference(Deference::GapPart1),
        Change::Deference(Deference::GapPart2),
        Change::Carrier(false),
        Change::Carrier(true),
        Change::Collision(false),
        Change::Collision(true),
    ];

    pub fn place(self) -> usize {
        match self {
            Change::Transmit(Transmit::Idle) => 0,
            Change::Transmit(Transmit::WaitingToSend) => 1,
            Change::Transmit(Transmit::Transmitting) => 2,
            Change::Transmit(Transmit::Jamming) => 3,
            Change::Transmit(Transmit::BackingOff) => 4,
            Change::Deference(Deference::Free) => 5,
            Change::Deference(Deference::Busy) => 6,
            Change::Deference(Deference::GapPart1) => 7,
            Change::Deference(Deference::GapPart2) => 8,
            Change::Carrier(high) => 9 + usize::from(high),
            Change::Collision(high) => 11 + usize::from(high),
        }
    }

    pub fn text(self, station: u16) -> String {
        let bit = u8::from;
        match self {
            Change::Transmit(state) => format!("s{state:?} {}\n", label(station, Wave::Transmit)),
            Change::Deference(state) => format!("s{state:?} {}\n", label(station, Wave::Deference)),
            Change::Carrier(high) => format!("{}{}\n", bit(high), label(station, Wave::Carrier)),
            Change::Collision(high) => format!("{}{}\n", bit(high), label(station, Wave::Collision)),
        }
    }
}

/// A line of the file that is made once and used often: copied in a few instructions, without a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    octets: [u8; Line::ROOM],
    length: usize,
}

impl Line {
    /// `sWaitingToSend t65535` and the line's end take 22.
    const ROOM: usize = 24;

    pub fn all_of(station: u16) -> [Line; Change::ALL.len()] {
        Change::ALL.map(|change| {
            let text = change.text(station);
            let (mut octets, length) = ([0; Line::ROOM], text.len());
            octets[..length].copy_from_slice(text.as_bytes());
            Line { octets, length }
        })
    }

    pub fn append(&self, into: &mut Vec<u8>) {
        append(into, &self.octets, self.length);
    }
}

/// A signal's identifier: printable, and short.
pub(super) fn label(station: u16, wave: Wave) -> String {
    let letter = match wave {
        Wave::Transmit => 't',
        Wave::Deference => 'd',
        Wave::Carrier => 'c',
        Wave::Collision => 'x',
    };
    format!("{letter}{station}")
}
