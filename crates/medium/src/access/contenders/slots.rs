//! Slots, of slotted ALOHA and TDMA: actions at the begin of a slot, and the fate of a transmission that lasts for a slot
//! at most.

use super::due::Key;
use super::{Contends, Fate, Known, State, addressee, after};
use crate::engine::Engine;
use crate::event::Kind;
use crate::frame::TransmissionId;
use crate::inputs::Host;
use crate::rules::packet;

impl<A: Contends> Engine<A> {
    /// A slot begins: its senders begin, and others learn the fates of earlier frames.
    #[inline(always)]
    pub(in crate::access) fn act_in_slot<H: Host>(&mut self, host: &mut H) {
        self.act_before(after(self.core.instant), host);
    }

    /// The same of those whose turn comes before `limit`.
    pub(in crate::access) fn act_before<H: Host>(&mut self, limit: Key, host: &mut H) {
        while let Some(index) = self.method.contenders().take_before(limit) {
            match self.contender(index).state {
                State::Waiting => A::ready(self, index, host),
                State::Unknown(fate) => self.learn(index, fate, host),
                State::Sensing | State::Counting | State::Sending(_) | State::Passing(_) | State::Gone => {
                    panic!("a contender sends twice, or listens")
                }
            }
        }
    }

    /// The slot in which the contender has sent ends.
    pub(in crate::access) fn slot_ends(&mut self, index: usize, met: bool, episode: Option<u64>, known: Known) {
        let (now, id) = (self.core.instant, self.contender(index).transmission());
        let sent = self.core.line.get(id);
        let (begin, end) = (sent.begin, sent.begin + packet(sent.size));
        let arrived = self.arrived(id, met);
        if arrived {
            self.core.carried(id, end);
        }
        let fate = Fate { arrived, begin, end, episode };
        self.method.contenders().expect(now, index, known.after(now, arrived), State::Unknown(fate));
    }

    /// The addressee heard it whole; without one, it met no signal.
    pub(in crate::access) fn arrived(&self, id: TransmissionId, met: bool) -> bool {
        let sent = self.core.line.get(id);
        match addressee(sent.destination, sent.source()) {
            Some(place) => {
                let heard = self.station(place).attached && sent.reaches(place);
                let way = self.core.line.topology().distance(sent.source(), place);
                let noisy = self.core.noise.spoils(place, sent.begin + packet(sent.size) + way, sent.size);
                heard && !noisy && matches!(A::verdict(&self.core, place, id), Some(Kind::Delivered { .. }))
            }
            None => sent.worth.is_handed_up(met),
        }
    }
}
