//! Whose turn is used, on a bus with PLCA, as one waveform.

use super::{Due, Vcd};
use crate::files::json_lines::WriteError;
use medium::{BitInstant, Method, StationId, Transmit};
use std::io::Write as _;

impl Vcd {
    /// What the line is used for, by the turns of PLCA.
    pub(super) fn tell_turn(&mut self, at: BitInstant, what: &str) -> Result<(), WriteError> {
        self.stamp(at)?;
        self.output.line(|line| write!(line, "s{what} turn").expect("a Vec takes any text"))
    }

    /// A station takes the turn of `id`.
    pub(super) fn takes_turn(&mut self, at: BitInstant, station: StationId, id: u32) -> Result<(), WriteError> {
        self.turn = Some((station, id));
        let sends = self.stations[station.index()].transmit == Transmit::Transmitting;
        self.tell_turn(at, &format!("{}_{id}", if sends { "frame" } else { "COMMIT" }))
    }

    /// A station begins to send, perhaps in its turn.
    pub(super) fn uses_turn(&mut self, at: BitInstant, station: StationId) -> Result<(), WriteError> {
        match self.turn {
            Some((whose, id)) if whose == station => self.tell_turn(at, &format!("frame_{id}")),
            Some(_) | None => Ok(()),
        }
    }

    /// A station is done with a frame, perhaps in its turn.
    pub(super) fn leaves_turn(&mut self, at: BitInstant, station: StationId) -> Result<(), WriteError> {
        if self.turn.take_if(|(whose, _)| *whose == station).is_none() {
            return Ok(());
        }
        self.tell_turn(at, "none")
    }

    pub(super) fn beacon(&mut self, at: BitInstant, station: StationId) -> Result<(), WriteError> {
        if let Method::Plca(plca) = &self.config.method {
            self.expect(at + plca.beacon, station.index() as u16, Due::BeaconEnds);
        }
        self.tell_turn(at, "BEACON")
    }
}
