//! The lengths of signals and pauses of 802.11, in bit times, by code that the engine does not use.
//!
//! The reference model of CSMA/CA is made from this file too.

use medium::Phy;

/// In microseconds, and the length of one in bit times.
pub struct Times {
    pub preamble: u64,
    pub slot: u64,
    pub sifs: u64,
    pub difs: u64,
    pub eifs: u64,
    pub window: u64,
    pub timeout: u64,
    pub ack: u64,
    pub cts: u64,
    pub rts: u64,
    pub us: u64,
    pub phy: Phy,
}

impl Times {
    pub fn of(phy: Phy) -> Times {
        let us = phy.rate().get() / 1_000_000;
        // Microseconds: slot, SIFS, DIFS, EIFS, window, timeout, ACK, CTS, RTS.
        let all = match phy {
            Phy::Fhss1 => [50, 28, 128, 128, 172, 300, 240, 240, 288],
            Phy::Dsss1 | Phy::Dsss11 | Phy::Dsss11Control11 => [20, 10, 50, 364, 30, 222, 304, 304, 352],
            Phy::Ofdm(_) => {
                let (ack, rts) = match us {
                    6 | 9 => (44, 52),
                    12 | 18 => (32, 36),
                    _ => (28, 28),
                };
                [9, 16, 34, 94, 25, 45, ack, ack, rts]
            }
        };
        let [slot, sifs, difs, eifs, window, timeout, mut ack, mut cts, mut rts] = all.map(|span| span * us);
        let preamble = us
            * match phy {
                Phy::Fhss1 => 128,
                Phy::Dsss1 | Phy::Dsss11 | Phy::Dsss11Control11 => 192,
                Phy::Ofdm(_) => 20,
            };
        if phy == Phy::Dsss11Control11 {
            (ack, cts, rts) = (192 * 11 + 112, 192 * 11 + 112, 192 * 11 + 160);
        }
        Times { preamble, slot, sifs, difs, eifs, window, timeout, ack, cts, rts, us, phy }
    }

    pub fn data(&self, size: u32) -> u64 {
        let payload = 8 * u64::from(size - 18);
        match self.phy {
            Phy::Fhss1 => 128 + 272 + payload,
            Phy::Dsss1 => 192 + 224 + payload,
            Phy::Dsss11 | Phy::Dsss11Control11 => 192 * 11 + 224 + payload,
            Phy::Ofdm(_) => (20 + 4 * (16 + 224 + payload + 6).div_ceil(4 * self.us)) * self.us,
        }
    }

    pub fn whole_us(&self, span: u64) -> u64 {
        span.div_ceil(self.us) * self.us
    }
}
