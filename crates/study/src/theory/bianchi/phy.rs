//! How long frames of IEEE 802.11 keep the medium busy, by physical layer.

use crate::theory::Refusal;
use std::fmt;
use std::str::FromStr;

/// A physical layer and its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phy {
    /// Frequency hopping at 1 Mb/s, with the values of Bianchi's table II.
    Fhss1,
    /// Direct sequence at 1 Mb/s, long preamble.
    Dsss1,
    /// The same at 11 Mb/s (802.11b); ACK, RTS and CTS at 1 Mb/s.
    Dsss11,
    /// OFDM in 20 MHz at 5 GHz (802.11a), at this number of Mb/s; ACK, RTS and CTS at 6, 12 or 24 Mb/s.
    Ofdm(u32),
}

/// Rates of [`Phy::Ofdm`] in Mb/s (IEEE 802.11, 17.3.2.2).
const OFDM_RATES: [u32; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

/// What a frame takes, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// An empty slot.
    pub slot_us: f64,
    /// The payload alone, at the rate.
    pub payload_us: f64,
    /// T_s: from the first bit of a frame that succeeds to the end of the DIFS after its ACK.
    pub success_us: f64,
    /// T_c: from the first bits of frames that collide to the end of the DIFS after them.
    pub collision_us: f64,
}

/// What a physical layer asks for, in microseconds and bits.
struct Layer {
    slot: f64,
    sifs: f64,
    difs: f64,
    /// One way, which Bianchi counts after each frame.
    propagation: f64,
    /// MAC header and FCS.
    mac_bits: u32,
}

/// Bits of an ACK, of a CTS and of an RTS, FCS included (IEEE 802.11, 9.3.1).
const ACK: u32 = 112;
const CTS: u32 = 112;
const RTS: u32 = 160;

impl Phy {
    /// The rate of data in Mb/s.
    pub fn rate_mbps(self) -> f64 {
        match self {
            Phy::Fhss1 | Phy::Dsss1 => 1.0,
            Phy::Dsss11 => 11.0,
            Phy::Ofdm(rate) => f64::from(rate),
        }
    }

    /// W and m: CWmin + 1, and how often it doubles up to CWmax + 1 = 1024.
    pub fn window_and_stages(self) -> (u32, u32) {
        match self {
            // Bianchi's figures for the same layer have W = 32 as well; the standard says 16.
            Phy::Fhss1 | Phy::Ofdm(_) => (16, 6),
            Phy::Dsss1 | Phy::Dsss11 => (32, 5),
        }
    }

    fn layer(self) -> Layer {
        match self {
            // Bianchi, table II: a MAC header of 272 bit, four addresses and FCS.
            Phy::Fhss1 => Layer { slot: 50.0, sifs: 28.0, difs: 128.0, propagation: 1.0, mac_bits: 272 },
            // IEEE 802.11, 15.3.4 and 16.3.4: DIFS = SIFS + 2 slots. Three addresses and FCS: 28 octets.
            Phy::Dsss1 | Phy::Dsss11 => Layer { slot: 20.0, sifs: 10.0, difs: 50.0, propagation: 1.0, mac_bits: 224 },
            // IEEE 802.11, 17.4.4. The slot has air propagation in it.
            Phy::Ofdm(_) => Layer { slot: 9.0, sifs: 16.0, difs: 34.0, propagation: 0.0, mac_bits: 224 },
        }
    }

    /// How long a frame of `bits` takes, preamble included; a control frame at the rate for these.
    fn airtime(self, bits: u32, is_control: bool) -> f64 {
        let bits = f64::from(bits);
        match self {
            // A PHY header of 128 bit.
            Phy::Fhss1 => 128.0 + bits,
            // A long preamble and PLCP header: 192 us.
            Phy::Dsss1 => 192.0 + bits,
            Phy::Dsss11 => 192.0 + bits / if is_control { 1.0 } else { 11.0 },
            Phy::Ofdm(rate) => {
                let rate = match rate {
                    _ if !is_control => rate,
                    0..12 => 6,
                    12..24 => 12,
                    24.. => 24,
                };
                // Preamble and SIGNAL 20 us; 16 service and 6 tail bits; symbols of 4 us.
                20.0 + 4.0 * ((bits + 22.0) / f64::from(4 * rate)).ceil()
            }
        }
    }

    /// The times of a frame with `payload` octets of payload, with RTS and CTS before it or without.
    pub fn times(self, payload: u32, rts: bool) -> Times {
        let Layer { slot, sifs, difs, propagation, mac_bits } = self.layer();
        let data = self.airtime(mac_bits + 8 * payload, false);
        let (ask, grant) = (self.airtime(RTS, true), self.airtime(CTS, true));
        let answered = data + propagation + sifs + self.airtime(ACK, true) + propagation + difs;
        let reserved = if rts { ask + propagation + sifs + grant + propagation + sifs } else { 0.0 };
        Times {
            slot_us: slot,
            payload_us: f64::from(8 * payload) / self.rate_mbps(),
            success_us: reserved + answered,
            collision_us: if rts { ask } else { data } + propagation + difs,
        }
    }
}

impl fmt::Display for Phy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Phy::Fhss1 => formatter.write_str("fhss-1"),
            Phy::Dsss1 => formatter.write_str("dsss-1"),
            Phy::Dsss11 => formatter.write_str("dsss-11"),
            Phy::Ofdm(rate) => write!(formatter, "ofdm-{rate}"),
        }
    }
}

impl FromStr for Phy {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Phy, Refusal> {
        match text {
            "fhss-1" => return Ok(Phy::Fhss1),
            "dsss-1" => return Ok(Phy::Dsss1),
            "dsss-11" => return Ok(Phy::Dsss11),
            _ => {}
        }
        let rate = text.strip_prefix("ofdm-").and_then(|rate| rate.parse().ok());
        match rate.filter(|rate| OFDM_RATES.contains(rate)) {
            Some(rate) => Ok(Phy::Ofdm(rate)),
            None => {
                let rates = OFDM_RATES.map(|rate| format!("ofdm-{rate}")).join(", ");
                let nearest = format!("there are fhss-1, dsss-1, dsss-11, {rates}");
                Err(Refusal::new(format!("--phy {text}"), "there is no such physical layer", nearest))
            }
        }
    }
}
