//! Methods that need no line where signals meet only if they begin together: the loop that runs them, and who receives what.

use super::together::Together;
use super::{Contends, addressee};
use crate::engine::Engine;
use crate::engine::clock::{Next, Path};
use crate::inputs::Host;
use crate::time::BitInstant;

/// A method that needs no line where signals meet only if they begin together.
pub(crate) trait InOnePlace: Contends {
    /// Whether that is so.
    fn is_one_place(&self) -> bool;

    /// What was sent last.
    fn air(&mut self) -> &mut Together;

    /// When contenders have something to decide next.
    fn next_decision(&self) -> BitInstant;

    /// When signals begin or end next, where somebody is to be told of that.
    fn next_signal(&self) -> BitInstant;

    /// Contenders decide what is due at this instant.
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
    /// Runs everything before `limit`, and with `decisions_too` the decisions at it, if all places are one; whether they are.
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

    /// What ends at this instant is received by those that it is for.
    pub(in crate::access) fn receive_what_ends<H: Host>(&mut self, host: &mut H) {
        let (now, stations) = (self.core.instant, self.stations.len());
        if let Some((place, sent)) = self.method.air().take_the_only(now) {
            if self.station(place).attached {
                let kind = self.method.air().verdict(&sent);
                self.core.emit(place, sent.frame, kind, host);
            }
            return;
        }
        let mut heard = std::mem::take(&mut self.core.heard);
        self.method.air().take_ended(now, stations, &mut heard);
        for (place, index) in heard.drain(..) {
            if self.station(place).attached {
                let air = self.method.air();
                let sent = &air.signals[index];
                let (frame, kind) = (sent.frame, air.verdict(sent));
                self.core.emit(place, frame, kind, host);
            }
        }
        self.core.heard = heard;
    }

    /// Whether signal `number` of the last ones has arrived at whom it is for.
    pub(in crate::access) fn arrives(&mut self, number: usize) -> bool {
        let sent = self.method.air().signals[number];
        let addressee = addressee(sent.destination, sent.frame.station);
        let there = addressee.is_none_or(|place| self.station(place).attached);
        self.method.air().arrives(&sent, there)
    }
}
