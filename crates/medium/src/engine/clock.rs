//! The order of events: the only loop over instants, for the general engine and for every fast path.
//!
//! ```text
//!   one instant:  decisions │ arrivals from hosts │ signals end, signals begin │ the instant is over
//! ```
//! Decisions are the ends of timers. Which events there are, a path knows: the agenda, or the state of a fast path.

use super::Engine;
use crate::access::{Access, FastPath};
use crate::inputs::Host;
use crate::time::BitInstant;

/// A way to keep the events of a medium: the agenda of the general engine, or the shared state of a fast path.
pub(crate) trait Path<A: Access> {
    /// What a path remembers about its next decision.
    type Decision: Copy;

    /// Whether the path still has the medium's events; a run on it ends when it has not. Most paths end only by an input.
    #[inline(always)]
    fn is_valid(engine: &Engine<A>) -> bool {
        let _ = engine;
        true
    }

    /// Runs what the last decision has put off, since nothing can come before it; false if there is none.
    #[inline(always)]
    fn runs_put_off<H: Host>(engine: &mut Engine<A>, host: &mut H) -> bool {
        let _ = (engine, host);
        false
    }

    /// The next events.
    fn next(engine: &mut Engine<A>) -> Next<Self::Decision>;

    /// The present instant is over if it is before `next`: runs what has waited for that; false if nothing has.
    #[inline(always)]
    fn instant_ends<H: Host>(engine: &mut Engine<A>, next: BitInstant, host: &mut H) -> bool {
        let _ = (engine, next, host);
        false
    }

    /// Runs the next decision, which is due at this instant.
    fn decide<H: Host>(engine: &mut Engine<A>, decision: Self::Decision, host: &mut H);

    /// Signals end or begin at this instant.
    fn signals_change<H: Host>(engine: &mut Engine<A>, host: &mut H);
}

/// The next events of a path; `NEVER` for none.
pub(crate) struct Next<D> {
    /// The instant of the next decision.
    pub decides: BitInstant,
    /// The instant at which signals end or begin next, or outputs settle.
    pub signals: BitInstant,
    /// The decision.
    pub decision: D,
}

impl<A: FastPath> Engine<A> {
    /// Runs the events of the path `P` before `limit`, and with `timers_too` the decisions at it.
    #[inline]
    pub fn run_path<P: Path<A>, H: Host>(&mut self, limit: BitInstant, timers_too: bool, host: &mut H) {
        while P::is_valid(self) && !host.stops() {
            if P::runs_put_off(self, host) {
                continue;
            }
            let Next { decides, signals, decision } = P::next(self);
            let now = self.core.instant;
            if !self.core.done.is_empty() && decides > now && now < limit {
                self.feed(host);
            } else if P::instant_ends(self, decides.min(signals).min(limit), host) {
                // The next events may be others now.
            } else if decides <= signals && (decides < limit || (timers_too && decides == limit)) {
                self.core.instant = decides;
                P::decide(self, decision, host);
            } else if signals < limit && signals < decides {
                self.core.instant = signals;
                P::signals_change(self, host);
            } else {
                break;
            }
        }
    }
}
