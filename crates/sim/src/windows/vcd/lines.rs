//! Lines of the file, made once.

use super::agenda::Row;
use medium::{Deference, Transmit};

/// A station's signals in the file.
#[derive(Clone, Copy)]
pub(super) enum Wave {
    Transmit,
    Deference,
    Carrier,
    Collision,
}

/// New values of a station's signals at one instant. In the file a value comes before its identifier; a string has a blank
/// between them.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Transmit(Transmit),
    Collision(bool),
    /// Carrier, and then the deference machine; what does not change is not there.
    Place(Option<bool>, Option<Deference>),
}

const TRANSMIT: [Transmit; 5] =
    [Transmit::Idle, Transmit::WaitingToSend, Transmit::Transmitting, Transmit::Jamming, Transmit::BackingOff];
const DEFERENCE: [Deference; 4] = [Deference::Free, Deference::Busy, Deference::GapPart1, Deference::GapPart2];

impl Change {
    /// Each once, in order of [`Change::number`].
    pub fn all() -> impl Iterator<Item = Change> {
        let transmit = TRANSMIT.into_iter().map(Change::Transmit);
        let collision = [false, true].into_iter().map(Change::Collision);
        let deference = || [None].into_iter().chain(DEFERENCE.map(Some));
        let carrier = [None, Some(false), Some(true)].into_iter();
        let place =
            carrier.flat_map(move |carrier| deference().map(move |deference| Change::Place(carrier, deference)));
        transmit.chain(collision).chain(place)
    }

    pub fn number(self) -> usize {
        match self {
            Change::Transmit(state) => state as usize,
            Change::Collision(high) => TRANSMIT.len() + usize::from(high),
            Change::Place(carrier, deference) => {
                let carrier = carrier.map_or(0, |high| 1 + usize::from(high));
                let deference = deference.map_or(0, |state| 1 + state as usize);
                TRANSMIT.len() + 2 + (1 + DEFERENCE.len()) * carrier + deference
            }
        }
    }

    /// How many lines it has.
    pub fn count(self) -> u64 {
        match self {
            Change::Transmit(_) | Change::Collision(_) => 1,
            Change::Place(carrier, deference) => u64::from(carrier.is_some()) + u64::from(deference.is_some()),
        }
    }

    pub fn text(self, station: u16) -> String {
        let bit = |high: bool, wave| format!("{}{}\n", u8::from(high), label(station, wave));
        match self {
            Change::Transmit(state) => format!("s{state:?} {}\n", label(station, Wave::Transmit)),
            Change::Collision(high) => bit(high, Wave::Collision),
            Change::Place(carrier, deference) => {
                let carrier = carrier.map(|high| bit(high, Wave::Carrier));
                let deference = deference.map(|state| format!("s{state:?} {}\n", label(station, Wave::Deference)));
                carrier.into_iter().chain(deference).collect()
            }
        }
    }
}

/// The lines of one change of every station, so that those of stations beside each other are copied at once.
#[derive(Debug)]
pub(super) struct Lines {
    text: Vec<u8>,
    /// Where each station's begin, and the end.
    begins: Vec<u32>,
}

impl Lines {
    /// Those of every change, by [`Change::number`]; of stations from number `declared` on, which joined later, there are
    /// none.
    pub fn all(stations: u16, declared: u16) -> Vec<Lines> {
        Change::all().map(|change| Lines::of(change, stations, declared)).collect()
    }

    fn of(change: Change, stations: u16, declared: u16) -> Lines {
        let mut lines = Lines { text: Vec::new(), begins: vec![0] };
        for station in 0..stations {
            if station < declared {
                lines.text.extend_from_slice(change.text(station).as_bytes());
            }
            lines.begins.push(lines.text.len() as u32);
        }
        lines
    }

    pub fn text(&self, row: Row) -> &[u8] {
        let at = |station: u16| self.begins[usize::from(station)] as usize;
        &self.text[at(row.first)..at(row.end)]
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
