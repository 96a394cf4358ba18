//! Deference of a station whose carrier may change at any bit: the process of 802.3, 4.2.8, told the level of carrier once
//! an instant.
//!
//! What PLCA tells a MAC, and a BEACON that a node without PLCA hears, may be shorter than a gap; so the process is
//! followed, and not worked out from the last stretches of carrier.

use crate::access::csma_cd::{Deference, DeferenceAct, DeferenceInput, Parameters};
use crate::time::{BitInstant, BitTimes};

/// Where the process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watch {
    pub state: Deference,
    gap_since: BitInstant,
    /// The station sent in the stretch of carrier that goes on, or was the last.
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

    /// The carrier that it was told last.
    pub fn carrier(&self) -> bool {
        self.carrier
    }

    /// It knows of this carrier, and of whether the station sends: telling it again would change nothing.
    #[inline]
    pub fn is_told(&self, carrier: bool, transmitting: bool) -> bool {
        (self.carrier, self.transmitting) == (carrier, transmitting)
    }

    /// When the gap ends, while the station is in it.
    pub fn gap_end(&self, parameters: &Parameters) -> Option<BitInstant> {
        let in_gap = matches!(self.state, Deference::GapPart1 | Deference::GapPart2);
        in_gap.then(|| self.gap_since + parameters.inter_packet_gap)
    }

    /// What time has done up to `now`, while the station had no frame that waits.
    pub fn catch_up(&mut self, now: BitInstant, parameters: &Parameters) {
        if self.state == Deference::GapPart1 && now >= self.gap_since + parameters.inter_packet_gap_part_1 {
            self.timeout(DeferenceAct::StartPart2);
        }
        if let Some(end) = self.gap_end(parameters).filter(|&end| end <= now) {
            self.release();
            if self.carrier {
                // Whoever sent on since then has sent in the carrier that is on.
                (self.state, self.was_transmitting) = (Deference::Busy, self.transmitting && end < now);
            }
        }
    }

    /// The gap is over: a frame that waits goes out, whatever carrier says.
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

    /// Where the process is, as it is relative to `now`.
    pub fn relative(&self, now: BitInstant, parameters: &Parameters) -> Watch {
        let since = self.gap_end(parameters).map_or(0, |_| now.since(self.gap_since).get());
        Watch { gap_since: BitInstant::new(since), ..*self }
    }

    /// The same later by `span`, in which all came back as it was.
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
