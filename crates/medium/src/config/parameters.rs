//! The parameters of CSMA/CD, and their ranges.

use super::error::{ConfigError, in_range, rule};
use crate::time::{BitInstant, BitRate, BitTimes, Octets};
use crate::topology::Topology;
use std::num::NonZeroU32;

/// maxEnvelopeFrameSize: includes everything that higher layers add around a frame.
const MAX_ENVELOPE_FRAME_SIZE: u32 = 2000;
const Q_TAG_PREFIX_SIZE: u32 = 4;

/// The parameters of the CSMA/CD method (802.3, 4.4.2), under the standard's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// slotTime: the unit of backoff, and the collision window.
    pub slot_time: BitTimes,
    /// interPacketGap: silence between two packets.
    pub inter_packet_gap: BitTimes,
    /// interPacketGapPart1: while it runs, carrier restarts it; at most 2/3 of the gap.
    pub inter_packet_gap_part_1: BitTimes,
    /// attemptLimit: attempts per frame, the first included.
    pub attempt_limit: NonZeroU32,
    /// backoffLimit: after this many collisions the range of the delay no longer grows.
    pub backoff_limit: u32,
    /// jamSize.
    pub jam_size: BitTimes,
    /// maxBasicFrameSize, from destination address to FCS; a VLAN tag may add 4. Or maxEnvelopeFrameSize, 2000.
    pub max_frame_size: Octets,
    /// minFrameSize, from destination address to FCS; shorter frames are padded.
    pub min_frame_size: Octets,
    /// How much longer than minFrameSize a lone frame, or the first of a burst, keeps carrier up: the rest is
    /// extension bits (802.3, 4.2.3.4). 0 up to 100 Mb/s; above, the two together are slotTime.
    ///
    /// A value other than 0 also means `extend` of 4.2.8: a frame with a late collision is never attempted again.
    pub extend_size: Octets,
    /// burstLimit: from a burst's first bit, how long the station may begin further frames. 0: no bursts.
    ///
    /// It continues if it has a frame ready at the very end of one (extension included) and less than this has passed.
    pub burst_limit: BitTimes,
    /// maxDeferTime: a longer wait is an excessive deferral.
    pub max_defer_time: BitTimes,
    /// How long a transmission the MAU allows (802.3, 8.2.1.5); only a station that babbles reaches it.
    pub jabber_limit: BitTimes,
}

impl Parameters {
    /// The values for 10 and 100 Mb/s (802.3, table 4-2).
    pub const IEEE_802_3: Parameters = Parameters {
        slot_time: BitTimes::new(512),
        inter_packet_gap: BitTimes::new(96),
        inter_packet_gap_part_1: BitTimes::new(64),
        attempt_limit: NonZeroU32::new(16).unwrap(),
        backoff_limit: 10,
        jam_size: BitTimes::new(32),
        max_frame_size: Octets::new(1518),
        min_frame_size: Octets::new(64),
        extend_size: Octets::new(0),
        burst_limit: BitTimes::ZERO,
        max_defer_time: BitTimes::new(24_288),
        jabber_limit: BitTimes::new(200_000),
    };

    /// The values for 1000 Mb/s half duplex (802.3, table 4-2), bursts on.
    ///
    /// maxDeferTime is 2 × (burstLimit + 8 × maxBasicFrameSize + 64) there (802.3, 5.2.4.1).
    pub const IEEE_802_3_1000: Parameters = Parameters {
        slot_time: BitTimes::new(4096),
        extend_size: Octets::new(448),
        burst_limit: BitTimes::new(65_536),
        max_defer_time: BitTimes::new(155_488),
        ..Parameters::IEEE_802_3
    };

    /// The standard's values at `rate`: above 100 Mb/s those for 1000 Mb/s.
    pub const fn at(rate: BitRate) -> Parameters {
        if rate.get() > BitRate::MBIT_100.get() { Parameters::IEEE_802_3_1000 } else { Parameters::IEEE_802_3 }
    }

    /// The longest frame that a MAC sends, and that a receiver does not count as too long: a VLAN tag may add 4 octets,
    /// up to the envelope of 2000, which has room for the tag (802.3, 3.2.7).
    pub fn frame_size_limit(&self, tagged: bool) -> Octets {
        let max = self.max_frame_size.get();
        Octets::new(if tagged { max.max(MAX_ENVELOPE_FRAME_SIZE.min(max + Q_TAG_PREFIX_SIZE)) } else { max })
    }

    /// The end of the gap after a silence that began at `end`.
    #[inline]
    pub(crate) fn gap_end(&self, end: BitInstant) -> BitInstant {
        end + self.inter_packet_gap
    }

    /// Checks every value against its range, on a line of this `topology`.
    pub(crate) fn check(&self, topology: &Topology) -> Result<(), ConfigError> {
        let p = self;
        let rules = [
            rule(in_range(p.slot_time.get()), "slot_time", "1 to 2^31 BT"),
            rule(in_range(p.inter_packet_gap.get()), "inter_packet_gap", "1 to 2^31 BT"),
            rule(
                p.inter_packet_gap_part_1.get().saturating_mul(3) <= p.inter_packet_gap.get().saturating_mul(2),
                "inter_packet_gap_part_1",
                "at most two thirds of inter_packet_gap",
            ),
            rule(p.backoff_limit <= 31, "backoff_limit", "at most 31"),
            rule(in_range(p.jam_size.get()), "jam_size", "1 to 2^31 BT"),
            // A signal is never shorter than a gap, so carrier cannot come and go within part 2.
            rule(
                p.jam_size.get().saturating_add(64) >= p.inter_packet_gap.get(),
                "inter_packet_gap",
                "no longer than the shortest fragment (64 BT and jam_size)",
            ),
            // A repeater extends shorter ones, which would let signals overtake (802.3, 27.3.1.4.4).
            rule(
                !matches!(topology, Topology::Segments(_)) || p.jam_size.get() >= 32,
                "jam_size",
                "at least 32 BT where there are repeaters: a fragment is 96 BT or more",
            ),
            // A later signal of a sender that keeps the gap never reaches the one before it.
            rule(
                topology.jitter() < p.inter_packet_gap,
                "jitter",
                "less than inter_packet_gap, of all repeaters together",
            ),
            rule(
                topology.jitter() == BitTimes::ZERO || p.burst_limit == BitTimes::ZERO,
                "jitter",
                "0 BT where stations send bursts: there, `bursting = false` allows more",
            ),
            rule(
                (18..=p.max_frame_size.get()).contains(&p.min_frame_size.get()),
                "min_frame_size",
                "18 octets to max_frame_size",
            ),
            rule(p.max_frame_size.get() <= 65_535, "max_frame_size", "at most 65,535 octets"),
            // A receiver accepts frames that keep carrier up for slotTime (802.3, 4.2.9), so a sender must keep it up
            // that long.
            rule(
                p.extend_size.get() == 0 || p.min_frame_size.bit_times() + p.extend_size.bit_times() == p.slot_time,
                "extend_size",
                "0, or what is missing from min_frame_size to slot_time",
            ),
            // Only a first frame that holds the medium for slotTime acquires it for the following frames.
            rule(
                p.burst_limit.get() == 0 || p.extend_size.get() > 0,
                "burst_limit",
                "0 (no bursts) unless frames are extended to slot_time",
            ),
            rule(p.burst_limit.get() <= 1 << 31, "burst_limit", "at most 2^31 BT"),
            // A signal that the MAU cuts off is still a frame above max_frame_size.
            rule(
                (p.max_frame_size.bit_times().get() + 64 + 40..=1 << 31).contains(&p.jabber_limit.get()),
                "jabber_limit",
                "longer than the longest packet with a VLAN tag, and at most 2^31 BT",
            ),
        ];
        rules.into_iter().collect()
    }

    /// How long a frame that is alone or first in a burst keeps carrier up after its SFD, with its extension.
    pub(crate) const fn least_carrier(&self) -> BitTimes {
        BitTimes::new(self.min_frame_size.bit_times().get() + self.extend_size.bit_times().get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check itself overflowed on a crafted trace, which a fuzzer found.
    #[test]
    fn values_beyond_all_bounds_are_out_of_range() {
        let (most, standard) = (BitTimes::new(u64::MAX), Parameters::IEEE_802_3);
        for parameters in [
            Parameters { inter_packet_gap: most, ..standard },
            Parameters { inter_packet_gap_part_1: most, ..standard },
            Parameters { jam_size: most, ..standard },
        ] {
            assert!(parameters.check(&Topology::star(2, 0)).is_err(), "{parameters:?}");
        }
    }
}
