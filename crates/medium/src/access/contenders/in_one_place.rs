//! Methods that need no line where signals meet only if they begin together: their path, and whether a frame arrives.

use super::{Contends, addressee};
use crate::access::FastPath;
use crate::engine::Engine;
use crate::engine::clock::{Next, Path};
use crate::inputs::Host;
use crate::star::{OnStar, Together};
use crate::time::BitInstant;

/// A method that needs no line where signals meet only if they begin together.
pub(crate) trait InOnePlace: Contends + OnStar + FastPath {
    /// Whether the medium has no line at present.
    fn is_one_place(&self) -> bool;

    /// When contenders have something to decide next.
    fn next_decision(&self) -> BitInstant;

    /// When signals begin or end next, if a station gets a notice of that.
    fn next_signal(&self) -> BitInstant;

    /// Contenders act at this instant.
    fn decide<H: Host>(engine: &mut Engine<Self>, host: &mut H);

    /// Signals end, or begin, at this instant.
    fn hear<H: Host>(engine: &mut Engine<Self>, host: &mut H);
}

impl<A: InOnePlace> Path<A> for Together {
    type Decision = ();

    #[inline(always)]
    fn next(engine: &mut Engine<A>) -> Next<()> {
        Next { decides: engine.method.next_decision(), signals: engine.method.next_signal(), decision: () }
    }

    #[inline(always)]
    fn decide<H: Host>(engine: &mut Engine<A>, (): (), host: &mut H) {
        A::decide(engine, host);
    }

    #[inline(always)]
    fn signals_change<H: Host>(engine: &mut Engine<A>, host: &mut H) {
        A::hear(engine, host);
    }
}

impl<A: InOnePlace> Engine<A> {
    /// Runs everything before `limit`, and with `decisions_too` the decisions at it; false if the medium has a line.
    pub(in crate::access) fn run_in_one_place<H: Host>(
        &mut self,
        limit: BitInstant,
        decisions_too: bool,
        host: &mut H,
    ) -> bool {
        if !self.method.is_one_place() {
            return false;
        }
        self.run_path::<Together, H>(limit, decisions_too, host);
        true
    }

    /// Whether signal `number` of the last ones has arrived at its addressee.
    pub(in crate::access) fn arrives(&self, number: usize) -> bool {
        let sent = &self.method.air().signals[number];
        let addressee = addressee(sent.destination, sent.frame.station);
        let there = addressee.is_none_or(|place| self.station(place).attached);
        let noisy = addressee.is_some_and(|place| self.core.noise.spoils(place, sent.end, sent.size));
        self.method.air().arrives(sent, there) && !noisy
    }
}
