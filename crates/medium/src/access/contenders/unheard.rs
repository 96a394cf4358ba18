//! Contenders of a method in which no station listens before it sends.

use super::{Contends, State, after};
use crate::engine::Engine;
use crate::frame::TransmissionId;
use crate::inputs::Host;

impl<A: Contends> Engine<A> {
    /// Contenders act whose time has come; `passed`: a frame has passed all that matter.
    pub(in crate::access) fn act_unheard<H: Host>(
        &mut self,
        passed: impl Fn(&mut Engine<A>, usize, TransmissionId, &mut H),
        host: &mut H,
    ) {
        let now = self.core.instant;
        while let Some(index) = self.method.contenders().take_before(after(now)) {
            match self.contender(index).state {
                State::Waiting => A::ready(self, index, host),
                State::Passing(id) => passed(self, index, id, host),
                State::Unknown(fate) => self.learn(index, fate, host),
                State::Sensing | State::Counting | State::Sending(_) | State::Gone => {
                    panic!("no station listens, and the fate of a frame is not known before it has passed")
                }
            }
        }
        self.await_due();
    }
}
