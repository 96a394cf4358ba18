//! Deference of a station whose carrier may change at any bit: the process of 802.3, 4.2.8, with the level of carrier
//! as its input once an instant.
//!
//! The carrier that PLCA reports to a MAC, and a BEACON that a node without PLCA hears, may be shorter than a gap. So
//! the process is followed step by step, and not derived from the last stretches of carrier.

use crate::access::csma_cd::{Deference, DeferenceAct, DeferenceInput};
use crate::config::Parameters;
use crate::time::{BitInstant, BitTimes};

/// The state of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watch {
    pub state: Deference,
    gap_since: BitInstant,
    /// The station sent in the present stretch of carrier, or in the last.
    was_transmitting: bool,
    carrier: bool,
    transmitting: bool,
}

impl Watch {
    pub const SILENT: Watch = Watch {
        state: Deference::Free,
        gap_since: BitInstant::ZERO,
        was_transmitting: false,
        carrier: false,
        transmitting: false,
    };

    /// A frame of another station is heard.
    pub const BUSY: Watch = Watch { state: Deference::Busy, carrier: true, ..Watch::SILENT };

    /// It has already got this carrier, and whether the station sends: the same input again would change nothing.
    #[inline]
    pub fn is_told(&self, carrier: bool, transmitting: bool) -> bool {
        (self.carrier, self.transmitting) == (carrier, transmitting)
    }

    /// When the gap ends, while the station is in it.
    pub fn gap_end(&self, parameters: &Parameters) -> Option<BitInstant> {
        let in_gap = matches!(self.state, Deference::GapPart1 | Deference::GapPart2);
        in_gap.then(|| parameters.gap_end(self.gap_since))
    }

    /// Applies the passing of time up to `now`, during which the station had no waiting frame.
    pub fn catch_up(&mut self, now: BitInstant, parameters: &Parameters) {
        if self.state == Deference::GapPart1 && now >= self.gap_since + parameters.inter_packet_gap_part_1 {
            self.timeout(DeferenceAct::StartPart2);
        }
        if let Some(end) = self.gap_end(parameters).filter(|&end| end <= now) {
            self.release();
            if self.carrier {
                // A station that still sends after that has sent in the present carrier.
                (self.state, self.was_transmitting) = (Deference::Busy, self.transmitting && end < now);
            }
        }
    }

    /// The gap is over: a waiting frame goes out, regardless of carrier.
    pub fn release(&mut self) {
        if self.state == Deference::GapPart1 {
            self.timeout(DeferenceAct::StartPart2);
        }
        self.timeout(DeferenceAct::Release);
    }

    fn timeout(&mut self, act: DeferenceAct) {
        debug_assert_eq!(self.state.act(DeferenceInput::Timeout), Some(act), "{self:?}");
        self.state = if act == DeferenceAct::Release { Deference::Free } else { Deference::GapPart2 };
    }

    /// The state of the process, relative to `now`.
    pub fn relative(&self, now: BitInstant, parameters: &Parameters) -> Watch {
        let since = self.gap_end(parameters).map_or(0, |_| now.since(self.gap_since).get());
        Watch { gap_since: BitInstant::new(since), ..*self }
    }

    /// Moves the state forward by `span`, after which everything is the same again.
    pub fn pass(&mut self, span: BitTimes) {
        self.gap_since = self.gap_since + span;
    }

    /// Carrier from `now` on, and whether the station itself sends.
    pub fn tell(&mut self, now: BitInstant, carrier: bool, transmitting: bool, parameters: &Parameters) {
        self.catch_up(now, parameters);
        (self.carrier, self.transmitting) = (carrier, transmitting);
        let input = if carrier { DeferenceInput::CarrierOn } else { DeferenceInput::CarrierOff };
        match self.state.act(input) {
            Some(DeferenceAct::Yield) => {
                let first = self.state == Deference::Free;
                (self.state, self.was_transmitting) = (Deference::Busy, first && transmitting);
            }
            Some(DeferenceAct::StartGap) => {
                self.gap_since = now;
                self.state = if self.was_transmitting { Deference::GapPart2 } else { Deference::GapPart1 };
            }
            Some(DeferenceAct::Stay) if self.state == Deference::Busy => self.was_transmitting |= transmitting,
            Some(DeferenceAct::Stay) => {}
            Some(DeferenceAct::StartPart2 | DeferenceAct::Release) | None => panic!("{input:?} of {self:?}"),
        }
    }
}
