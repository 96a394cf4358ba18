//! What the process Deference would be at a place (802.3, 4.2.8), worked out from the carrier that was there.

use super::parameters::Parameters;
use super::tables::Deference;
use crate::line::Carrier;
use crate::time::BitInstant;

/// Deference at a place, as decisions see it: just before the instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deferring {
    pub state: Deference,
    /// When the gap ends, in both of its parts.
    pub gap_end: Option<BitInstant>,
    /// `wasTransmitting` of 4.2.8: the station itself sent in the stretch of carrier that is on.
    pub was_transmitting: bool,
}

impl Deferring {
    pub const FREE: Deferring = Deferring { state: Deference::Free, gap_end: None, was_transmitting: false };
    pub const BUSY: Deferring = Deferring { state: Deference::Busy, gap_end: None, was_transmitting: false };

    /// Works out what Deference would be if it had watched all along.
    ///
    /// A signal lasts no shorter than a gap (`Config` holds that), so only the last silence and the last
    /// stretch of carrier can matter. Signals that touch leave no bit of silence: one stretch.
    pub fn from_history(history: &[Carrier], now: BitInstant, parameters: &Parameters) -> Deferring {
        let mut stretch: Option<Carrier> = None;
        // A gap that carrier did not stop, because it was in part 2 or followed one's own transmission.
        let mut unstoppable = None;
        for &carrier in history {
            stretch = Some(match stretch {
                Some(so_far) => match so_far.end {
                    Some(end) if carrier.begin > end => {
                        let gap_end = end + parameters.inter_packet_gap;
                        let restarts = !so_far.own && carrier.begin < end + parameters.inter_packet_gap_part_1;
                        unstoppable = (!restarts && carrier.begin < gap_end).then_some(gap_end);
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
        match stretch {
            None => Deferring::FREE,
            Some(Carrier { end: Some(end), own, .. }) if end < now => Deferring::in_gap(end, own, now, parameters),
            Some(Carrier { own, .. }) => match unstoppable.filter(|&gap_end| gap_end > now) {
                Some(gap_end) => Deferring { state: Deference::GapPart2, gap_end: Some(gap_end), ..Deferring::BUSY },
                None => Deferring { was_transmitting: own, ..Deferring::BUSY },
            },
        }
    }

    /// Silence since `end`, after a stretch of carrier in which the station sent, or did not.
    pub fn in_gap(end: BitInstant, was_transmitting: bool, now: BitInstant, parameters: &Parameters) -> Deferring {
        let gap_end = end + parameters.inter_packet_gap;
        let in_part_2 = was_transmitting || now >= end + parameters.inter_packet_gap_part_1;
        let state = if in_part_2 { Deference::GapPart2 } else { Deference::GapPart1 };
        if now >= gap_end { Deferring::FREE } else { Deferring { state, gap_end: Some(gap_end), was_transmitting } }
    }
}
