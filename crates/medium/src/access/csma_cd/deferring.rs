//! The state of the process Deference at a place (802.3, 4.2.8), derived from the carrier that was there.

use super::tables::Deference;
use crate::config::Parameters;
use crate::line::Carrier;
use crate::time::BitInstant;

/// Deference at a place, as decisions see it: just before the instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deferring {
    pub state: Deference,
    /// The end of the gap, in both of its parts.
    pub gap_end: Option<BitInstant>,
    /// `wasTransmitting` of 4.2.8: the station itself sent in the present stretch of carrier.
    pub was_transmitting: bool,
}

impl Deferring {
    pub const FREE: Deferring = Deferring { state: Deference::Free, gap_end: None, was_transmitting: false };
    pub const BUSY: Deferring = Deferring { state: Deference::Busy, gap_end: None, was_transmitting: false };

    /// Derives the state that Deference would have if it had watched from the start.
    ///
    /// No signal is shorter than a gap (`Config` checks this), so only the last silence and the last stretch of carrier
    /// can matter. Signals that touch leave no bit of silence: they are one stretch.
    pub fn from_history(history: &[Carrier], now: BitInstant, parameters: &Parameters) -> Deferring {
        let (mut before, mut last): (Option<Carrier>, Option<Carrier>) = (None, None);
        for &carrier in history {
            last = Some(match last {
                Some(so_far) => match so_far.end {
                    Some(end) if carrier.begin > end => {
                        before = Some(so_far);
                        carrier
                    }
                    end => Carrier {
                        begin: so_far.begin,
                        end: end.zip(carrier.end).map(|(a, b)| a.max(b)),
                        own: so_far.own || carrier.own,
                    },
                },
                None => carrier,
            });
        }
        Deferring::after(before, last, now, parameters)
    }

    /// The state of Deference after the `last` stretch of carrier and the one `before` it.
    #[inline]
    pub fn after(
        before: Option<Carrier>,
        last: Option<Carrier>,
        now: BitInstant,
        parameters: &Parameters,
    ) -> Deferring {
        let Some(Carrier { begin, end, own }) = last else { return Deferring::FREE };
        if let Some(end) = end.filter(|&end| end < now) {
            return Deferring::in_gap(end, own, now, parameters);
        }
        // A gap that carrier did not stop, because it was in part 2 or followed the station's own transmission.
        let unstoppable = before.and_then(|before| {
            let gap = parameters.gap_end(before.end?);
            let restarts = !before.own && begin < before.end? + parameters.inter_packet_gap_part_1;
            (!restarts && begin < gap && gap > now).then_some(gap)
        });
        match unstoppable {
            Some(gap_end) => Deferring { state: Deference::GapPart2, gap_end: Some(gap_end), ..Deferring::BUSY },
            None => Deferring { was_transmitting: own, ..Deferring::BUSY },
        }
    }

    /// Silence since `end`, after a stretch of carrier; `was_transmitting` says whether the station sent in it.
    pub fn in_gap(end: BitInstant, was_transmitting: bool, now: BitInstant, parameters: &Parameters) -> Deferring {
        let gap_end = parameters.gap_end(end);
        let in_part_2 = was_transmitting || now >= end + parameters.inter_packet_gap_part_1;
        let state = if in_part_2 { Deference::GapPart2 } else { Deference::GapPart1 };
        if now >= gap_end { Deferring::FREE } else { Deferring { state, gap_end: Some(gap_end), was_transmitting } }
    }
}
