//! Whose turn is used, on a bus with PLCA, as one waveform.

use super::Vcd;
use crate::files::json_lines::WriteError;
use medium::{BitInstant, Carried, Method, StationId};
use std::io::Write as _;

impl Vcd {
    fn has_turns(&self) -> bool {
        matches!(self.config.method, Method::Plca(_))
    }

    /// What the line is used for, by the turns of PLCA.
    fn tell_turn(&mut self, at: BitInstant, what: &str) -> Result<(), WriteError> {
        self.stamp(at)?;
        self.output.line(|line| write!(line, "s{what} turn").expect("a Vec takes any text"))
    }

    /// A station begins a signal, perhaps in its turn.
    pub(super) fn tell_use(&mut self, at: BitInstant, station: StationId, what: Carried) -> Result<(), WriteError> {
        let id = self.turn.filter(|(whose, _)| *whose == station).map(|(_, id)| id);
        match (what, id) {
            _ if !self.has_turns() => Ok(()),
            (Carried::Beacon, _) => self.tell_turn(at, "BEACON"),
            (Carried::Commit, Some(id)) => self.tell_turn(at, &format!("COMMIT_{id}")),
            (_, Some(id)) => self.tell_turn(at, &format!("frame_{id}")),
            (_, None) => Ok(()),
        }
    }

    /// A signal of a station ends, and no other of it follows.
    pub(super) fn tell_end(&mut self, at: BitInstant, station: StationId) -> Result<(), WriteError> {
        if !self.has_turns() {
            return Ok(());
        }
        let is_own = |one: &crate::scene::Signal| one.source == station && one.begin <= at;
        let goes_on = self.signals.iter().any(|one| is_own(one) && one.end.is_none_or(|end| end > at));
        if goes_on { Ok(()) } else { self.tell_turn(at, "none") }
    }
}
