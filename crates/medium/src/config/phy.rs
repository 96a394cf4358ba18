//! Physical layers of IEEE 802.11: the lengths of signals, and the spans of DCF, in bit times at the layer's rate.
//!
//! Every span of the standard is a whole number of microseconds and every rate a whole number of Mb/s, so all of them
//! are whole bit times of a medium at that rate.

use crate::frame::HEADER_AND_FCS;
use crate::time::{BitRate, BitTimes, Octets};

/// A physical layer and its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phy {
    /// Frequency hopping at 1 Mb/s with the values of Bianchi 2000, table II: no EIFS, and 300 us of timeout.
    Fhss1,
    /// Direct sequence at 1 Mb/s with the long preamble (IEEE 802.11, clause 15).
    Dsss1,
    /// The same at 11 Mb/s (clause 16); ACK, RTS and CTS at 1 Mb/s.
    Dsss11,
    /// The same with ACK, RTS and CTS at 11 Mb/s.
    Dsss11Control11,
    /// OFDM in 20 MHz at 5 GHz (clause 17); ACK, RTS and CTS at 6, 12 or 24 Mb/s.
    Ofdm(OfdmRate),
}

/// The rates of OFDM in 20 MHz (IEEE 802.11, 17.3.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the name is the rate in Mb/s")]
pub enum OfdmRate {
    Mbps6 = 6,
    Mbps9 = 9,
    Mbps12 = 12,
    Mbps18 = 18,
    Mbps24 = 24,
    Mbps36 = 36,
    Mbps48 = 48,
    Mbps54 = 54,
}

/// The lengths of signals and pauses, in bit times at the layer's rate.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    /// A slot of backoff (aSlotTime).
    pub slot: BitTimes,
    /// Before an answer (aSIFSTime).
    pub sifs: BitTimes,
    /// The silence before slots count (10.3.2.3.5).
    pub difs: BitTimes,
    /// Replaces DIFS after a signal that could not be decoded.
    pub eifs: BitTimes,
    /// From the end of a signal to the latest begin of its answer (aRxPHYStartDelay not counted).
    pub window: BitTimes,
    /// From the end of a signal until its sender gives up: ACKTimeout, CTSTimeout.
    pub timeout: BitTimes,
    /// The length of an ACK, preamble included.
    pub ack: BitTimes,
    /// The length of a CTS.
    pub cts: BitTimes,
    /// The length of an RTS.
    pub rts: BitTimes,
    /// One microsecond, in bit times.
    pub microsecond: u64,
}

/// In microseconds.
struct Layer {
    slot: u64,
    sifs: u64,
    difs: u64,
    eifs: u64,
    timeout: u64,
    /// aRxPHYStartDelay: from the first bit until a receiver detects the signal.
    start_delay: u64,
}

/// Bits of control frames, FCS included (IEEE 802.11, 9.3.1).
const ACK: u64 = 112;
const CTS: u64 = 112;
const RTS: u64 = 160;

impl Phy {
    /// Every physical layer.
    pub const ALL: [Phy; 12] = [
        Phy::Fhss1,
        Phy::Dsss1,
        Phy::Dsss11,
        Phy::Dsss11Control11,
        Phy::Ofdm(OfdmRate::Mbps6),
        Phy::Ofdm(OfdmRate::Mbps9),
        Phy::Ofdm(OfdmRate::Mbps12),
        Phy::Ofdm(OfdmRate::Mbps18),
        Phy::Ofdm(OfdmRate::Mbps24),
        Phy::Ofdm(OfdmRate::Mbps36),
        Phy::Ofdm(OfdmRate::Mbps48),
        Phy::Ofdm(OfdmRate::Mbps54),
    ];

    /// The name in user input.
    pub const fn name(self) -> &'static str {
        match self {
            Phy::Fhss1 => "fhss-1",
            Phy::Dsss1 => "dsss-1",
            Phy::Dsss11 => "dsss-11",
            Phy::Dsss11Control11 => "dsss-11-control-11",
            Phy::Ofdm(OfdmRate::Mbps6) => "ofdm-6",
            Phy::Ofdm(OfdmRate::Mbps9) => "ofdm-9",
            Phy::Ofdm(OfdmRate::Mbps12) => "ofdm-12",
            Phy::Ofdm(OfdmRate::Mbps18) => "ofdm-18",
            Phy::Ofdm(OfdmRate::Mbps24) => "ofdm-24",
            Phy::Ofdm(OfdmRate::Mbps36) => "ofdm-36",
            Phy::Ofdm(OfdmRate::Mbps48) => "ofdm-48",
            Phy::Ofdm(OfdmRate::Mbps54) => "ofdm-54",
        }
    }

    const fn mbps(self) -> u64 {
        match self {
            Phy::Fhss1 | Phy::Dsss1 => 1,
            Phy::Dsss11 | Phy::Dsss11Control11 => 11,
            Phy::Ofdm(rate) => rate as u64,
        }
    }

    /// The rate of data, which is the medium's rate.
    pub fn rate(self) -> BitRate {
        BitRate::per_second(self.mbps() * 1_000_000).expect("above zero")
    }

    /// CWmin + 1 and CWmax + 1: the number of values that the first draw chooses from, and the largest number.
    pub const fn window(self) -> (u32, u32) {
        match self {
            Phy::Fhss1 | Phy::Ofdm(_) => (16, 1024),
            Phy::Dsss1 | Phy::Dsss11 | Phy::Dsss11Control11 => (32, 1024),
        }
    }

    const fn layer(self) -> Layer {
        match self {
            Phy::Fhss1 => Layer { slot: 50, sifs: 28, difs: 128, eifs: 128, timeout: 300, start_delay: 128 },
            // IEEE 802.11, 15.3.4 and 16.3.4. EIFS: SIFS, DIFS and an ACK at 1 Mb/s of 304 us (10.3.2.3.7).
            Phy::Dsss1 | Phy::Dsss11 | Phy::Dsss11Control11 => {
                Layer { slot: 20, sifs: 10, difs: 50, eifs: 364, timeout: 222, start_delay: 192 }
            }
            // IEEE 802.11, 17.4.4. EIFS: SIFS, DIFS and an ACK at 6 Mb/s of 44 us.
            Phy::Ofdm(_) => Layer { slot: 9, sifs: 16, difs: 34, eifs: 94, timeout: 45, start_delay: 20 },
        }
    }

    /// Preamble and header of the PHY, before the bits of any signal.
    pub(crate) const fn preamble(self) -> BitTimes {
        BitTimes::new(self.layer().start_delay * self.mbps())
    }

    /// The length of a signal of `bits`, preamble included; `is_control` selects the rate of control frames.
    const fn airtime(self, bits: u64, is_control: bool) -> BitTimes {
        let mbps = self.mbps();
        BitTimes::new(match self {
            // A preamble and PHY header of 128 bits.
            Phy::Fhss1 => 128 + bits,
            // A long preamble and PLCP header: 192 us.
            Phy::Dsss1 => 192 + bits,
            Phy::Dsss11 if is_control => (192 + bits) * mbps,
            Phy::Dsss11 | Phy::Dsss11Control11 => 192 * mbps + bits,
            Phy::Ofdm(_) => {
                let signalled = match mbps {
                    _ if !is_control => mbps,
                    0..12 => 6,
                    12..24 => 12,
                    24.. => 24,
                };
                // Preamble and SIGNAL 20 us; 16 service and 6 tail bits; symbols of 4 us.
                (20 + 4 * (bits + 22).div_ceil(4 * signalled)) * mbps
            }
        })
    }

    /// The length of a frame's signal for `size` octets: 802.11 has its own header and FCS in place of Ethernet's 18
    /// octets.
    pub fn frame_time(self, size: Octets) -> BitTimes {
        let own = match self {
            // Bianchi 2000, table II: 272 bit.
            Phy::Fhss1 => 272,
            // Three addresses and FCS: 28 octets.
            Phy::Dsss1 | Phy::Dsss11 | Phy::Dsss11Control11 | Phy::Ofdm(_) => 224,
        };
        let data = u64::from(size.get().saturating_sub(HEADER_AND_FCS.get()));
        self.airtime(own + 8 * data, false)
    }

    /// The lengths of the layer's signals and pauses.
    pub const fn spans(self) -> Spans {
        let Layer { slot, sifs, difs, eifs, timeout, start_delay } = self.layer();
        let microsecond = self.mbps();
        Spans {
            slot: BitTimes::new(slot * microsecond),
            sifs: BitTimes::new(sifs * microsecond),
            difs: BitTimes::new(difs * microsecond),
            eifs: BitTimes::new(eifs * microsecond),
            window: BitTimes::new((timeout - start_delay) * microsecond),
            timeout: BitTimes::new(timeout * microsecond),
            ack: self.airtime(ACK, true),
            cts: self.airtime(CTS, true),
            rts: self.airtime(RTS, true),
            microsecond,
        }
    }

    /// A slot of backoff (aSlotTime).
    pub const fn slot(self) -> BitTimes {
        self.spans().slot
    }
}

impl Spans {
    /// A duration as frames carry it: in whole microseconds, rounded up (IEEE 802.11, 9.2.4.2).
    pub fn carried(&self, span: BitTimes) -> BitTimes {
        BitTimes::new(span.get().next_multiple_of(self.microsecond))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bianchi 2000, table II: a frame of 8184 bits of payload is 8584 us with its headers, an ACK 240, RTS 288,
    /// CTS 240.
    #[test]
    fn spans_are_those_of_the_literature_and_the_standard() {
        let spans = Phy::Fhss1.spans();
        assert_eq!(Phy::Fhss1.frame_time(Octets::new(1041)), BitTimes::new(8584));
        assert_eq!([spans.ack, spans.rts, spans.cts].map(BitTimes::get), [240, 288, 240]);
        let spans = Phy::Dsss1.spans();
        assert_eq!([spans.ack, spans.rts, spans.eifs].map(BitTimes::get), [304, 352, 364]);
        assert_eq!(spans.eifs, BitTimes::new(spans.sifs.get() + spans.difs.get() + spans.ack.get()));
        // 1500 octets at 54 Mb/s: 20 us and 57 symbols.
        let ofdm = Phy::Ofdm(OfdmRate::Mbps54);
        assert_eq!(ofdm.frame_time(Octets::new(1518)), BitTimes::new(248 * 54));
        assert_eq!(ofdm.spans().ack, BitTimes::new(28 * 54));
        let six = Phy::Ofdm(OfdmRate::Mbps6).spans();
        assert_eq!(six.eifs.get(), six.sifs.get() + six.difs.get() + six.ack.get());
        assert_eq!(Phy::Dsss11.spans().ack, BitTimes::new(304 * 11));
        // A preamble of 192 us, and the bits at 11 Mb/s; pauses are as long as ever.
        let fast = Phy::Dsss11Control11.spans();
        assert_eq!([fast.ack, fast.cts, fast.rts].map(BitTimes::get), [112, 112, 160].map(|bits| 192 * 11 + bits));
        assert_eq!((fast.eifs, fast.timeout), (Phy::Dsss11.spans().eifs, Phy::Dsss11.spans().timeout));
    }

    #[test]
    fn no_two_layers_have_one_name() {
        let names: std::collections::BTreeSet<&str> = Phy::ALL.iter().map(|phy| phy.name()).collect();
        assert_eq!(names.len(), Phy::ALL.len());
    }
}
