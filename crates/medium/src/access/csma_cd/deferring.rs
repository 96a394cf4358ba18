//! The state of the process Deference at a place (802.3, 4.2.8), derived from the carrier that was there.

use super::tables::Deference;
use crate::config::{Clock, Parameters};
use crate::line::Carrier;
use crate::time::BitInstant;

/// The inter-packet gap of a station, by its clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap<'a> {
    pub parameters: &'a Parameters,
    pub clock: Clock,
}

impl Gap<'_> {
    /// The ends of part 1 and of the gap after a silence that began at `since`.
    #[inline(always)]
    pub fn ends(self, since: BitInstant) -> (BitInstant, BitInstant) {
        let Parameters { inter_packet_gap, inter_packet_gap_part_1, .. } = *self.parameters;
        if self.clock.is_right() {
            return (since + inter_packet_gap_part_1, since + inter_packet_gap);
        }
        (self.clock.after(since, inter_packet_gap_part_1), self.clock.after(since, inter_packet_gap))
    }
}

/// Deference at a place, as decisions see it: just before the instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deferring {
    pub state: Deference,
    /// The begin of the silence that the gap follows, in both parts of the gap.
    pub gap_since: Option<BitInstant>,
    /// `wasTransmitting` of 4.2.8: the station itself sent in the present stretch of carrier.
    pub was_transmitting: bool,
}

impl Deferring {
    pub const FREE: Deferring = Deferring { state: Deference::Free, gap_since: None, was_transmitting: false };
    pub const BUSY: Deferring = Deferring { state: Deference::Busy, ..Deferring::FREE };

    /// Derives the state that Deference would have if it had watched from the start.
    ///
    /// No signal is shorter than a gap (`Config` checks this) of a clock that is right, so only the last silence and the
    /// last stretch of carrier can matter. Signals that touch leave no bit of silence: they are one stretch.
    pub fn from_history(history: &[Carrier], now: BitInstant, gap: Gap<'_>) -> Deferring {
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
        Deferring::after(before, last, now, gap)
    }

    /// The state of Deference after the `last` stretch of carrier and the one `before` it.
    #[inline]
    pub fn after(before: Option<Carrier>, last: Option<Carrier>, now: BitInstant, gap: Gap<'_>) -> Deferring {
        let Some(Carrier { begin, end, own }) = last else { return Deferring::FREE };
        // A gap that carrier did not stop, because it was in part 2 or followed the station's own transmission. A station that
        // has sent since then was free to: its gap was over.
        let unstoppable = || {
            let since = before?.end.filter(|_| !own)?;
            let (part_1_end, gap_end) = gap.ends(since);
            let restarts = !before?.own && begin < part_1_end;
            (!restarts && begin < gap_end).then_some((since, gap_end))
        };
        if let Some(end) = end.filter(|&end| end < now) {
            // The gap of a slow clock may outlast a whole fragment.
            if !gap.clock.is_right()
                && let Some((since, gap_end)) = unstoppable().filter(|&(_, gap_end)| gap_end > end)
            {
                return if gap_end > now { Deferring::in_part_2(since) } else { Deferring::FREE };
            }
            return Deferring::in_gap(end, own, now, gap);
        }
        match unstoppable().filter(|&(_, gap_end)| gap_end > now) {
            Some((since, _)) => Deferring::in_part_2(since),
            None => Deferring { was_transmitting: own, ..Deferring::BUSY },
        }
    }

    /// Silence since `end`, after a stretch of carrier; `was_transmitting` says whether the station sent in it.
    #[inline]
    pub fn in_gap(end: BitInstant, was_transmitting: bool, now: BitInstant, gap: Gap<'_>) -> Deferring {
        let (part_1_end, gap_end) = gap.ends(end);
        let in_part_2 = was_transmitting || now >= part_1_end;
        let state = if in_part_2 { Deference::GapPart2 } else { Deference::GapPart1 };
        let in_gap = Deferring { state, gap_since: Some(end), was_transmitting };
        if now >= gap_end { Deferring::FREE } else { in_gap }
    }

    fn in_part_2(gap_since: BitInstant) -> Deferring {
        Deferring { state: Deference::GapPart2, gap_since: Some(gap_since), ..Deferring::BUSY }
    }
}
