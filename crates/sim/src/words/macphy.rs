//! A MAC-PHY behind SPI, as tables of messages and scenarios write it. It must never know where a key was found.

use medium::MacPhy;

/// The keys that only a MAC-PHY has.
pub const FURTHER: [&str; 5] = ["spi-chunk", "spi-transfer", "tx-credits", "tx-threshold", "cut-through"];

/// What is wrong with a key of that set without `spi-clock`.
pub const NO_CLOCK: &str = "only a MAC-PHY behind SPI has it: write its `spi-clock` too, or leave it out";

/// The values of a file; those that are left out have their defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    /// `spi-clock`, in hertz.
    pub clock: Option<u64>,
    /// `spi-chunk`.
    pub chunk: Option<u64>,
    /// `spi-transfer`.
    pub transfer: Option<u64>,
    /// `tx-credits`.
    pub credits: Option<u64>,
    /// `tx-threshold`.
    pub threshold: Option<u64>,
    /// `cut-through`.
    pub cut_through: Option<u64>,
}

impl Written {
    /// These values, and where there are none, those of `common`.
    pub fn or(self, common: Written) -> Written {
        Written {
            clock: self.clock.or(common.clock),
            chunk: self.chunk.or(common.chunk),
            transfer: self.transfer.or(common.transfer),
            credits: self.credits.or(common.credits),
            threshold: self.threshold.or(common.threshold),
            cut_through: self.cut_through.or(common.cut_through),
        }
    }

    /// The MAC-PHY; none without a clock.
    pub fn macphy(self) -> Option<MacPhy> {
        let usual = MacPhy::new(self.clock?);
        Some(MacPhy {
            chunk: self.chunk.unwrap_or(usual.chunk),
            transfer: self.transfer.unwrap_or(usual.transfer),
            credits: self.credits.unwrap_or(usual.credits),
            threshold: self.threshold.unwrap_or(usual.threshold),
            cut_through: self.cut_through,
            ..usual
        })
    }
}

/// What a MAC-PHY whose frames have up to `octets` cannot do: the key, and what is wrong with it.
pub fn problem(macphy: &MacPhy, octets: u32) -> Option<(&'static str, String)> {
    let (needed, chunk) = (macphy.chunks(octets), macphy.time(1).get());
    if ![8, 16, 32, 64].contains(&macphy.chunk) {
        Some(("spi-chunk", format!("{}: write 8, 16, 32 or 64 octets", macphy.chunk)))
    } else if needed > macphy.credits {
        let what =
            format!("{}: a frame of {octets} octets has {needed} chunks: write {needed} or more", macphy.credits);
        Some(("tx-credits", what))
    } else if macphy.threshold > macphy.credits {
        let what = format!("{}: there are {} credits at most: write fewer", macphy.threshold, macphy.credits);
        Some(("tx-threshold", what))
    } else if macphy.cut_through.is_some() && macphy.is_slower_than_the_line() {
        let what = format!(
            "a chunk takes {chunk} BT on SPI and {} BT on the line, so a frame runs dry (TXBUE): write a faster `spi-clock`, or leave it out",
            8 * macphy.chunk
        );
        Some(("cut-through", what))
    } else {
        None
    }
}

/// The clock of an SPI bus in hertz, from 0.1 to 100 MHz: `25 MHz`.
///
/// # Errors
/// Another unit, or out of that range.
pub fn clock(text: &str) -> Result<u64, String> {
    let megahertz = text.trim().strip_suffix("MHz").and_then(|number| number.trim().parse::<f64>().ok());
    let clock = megahertz.filter(|megahertz| (0.1..=100.0).contains(megahertz));
    clock
        .map(|megahertz| (megahertz * 1e6).round() as u64)
        .ok_or_else(|| format!("`{text}` is no clock from 0.1 to 100 MHz"))
}
