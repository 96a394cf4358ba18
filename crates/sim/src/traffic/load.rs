//! How much a source offers on average: a part of the medium's rate, the same for every access method, or frames in a slot.

use crate::words::units;
use medium::BitTimes;
use std::fmt;
use std::time::Duration;

/// The highest load, also for the peak of an on/off source: ten times what the medium carries.
const HIGHEST: f64 = 10.0;

/// What a source offers on average, above 0 and up to 10.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// `0.4`, `40%`: of the medium's rate, 8 bits for each octet of a frame from destination address to FCS, padding included:
    /// the `utilization_frame` that is offered.
    Rate(f64),
    /// `0.4/slot`: frames in a slot, or in a frame time where stations send at any instant, whatever their sizes. This is G or S
    /// of the literature on ALOHA.
    Slots(f64),
}

impl Load {
    /// Bit times from one arrival to the next, if each is `frames` frames of `bits` bit times in all. `slot` is the medium's;
    /// where there is none, a load by slots was refused.
    pub(super) fn interval(self, bits: f64, frames: f64, slot: Option<BitTimes>) -> f64 {
        match self {
            Load::Rate(load) => bits / load,
            Load::Slots(load) => slot.map_or(bits, |slot| slot.get() as f64 * frames) / load,
        }
    }

    /// The part of the rate, if a mean frame takes `frame` bit times.
    pub fn of_rate(self, frame: f64, slot: Option<BitTimes>) -> f64 {
        frame / self.interval(frame, 1.0, slot)
    }

    /// Frames in a slot, if a mean frame takes `frame` bit times.
    pub fn in_slots(self, frame: f64, slot: BitTimes) -> f64 {
        slot.get() as f64 / self.interval(frame, 1.0, Some(slot))
    }

    /// An even part of it for each of `stations` stations.
    pub(super) fn parted(self, stations: usize) -> Load {
        match self {
            Load::Rate(load) => Load::Rate(load / stations as f64),
            Load::Slots(load) => Load::Slots(load / stations as f64),
        }
    }

    pub(super) fn check(self) -> Result<(), String> {
        let (Load::Rate(load) | Load::Slots(load)) = self;
        if load > 0.0 && load <= HIGHEST {
            return Ok(());
        }
        Err(format!("{self} is no load: write the offered part of the medium's rate, above 0 and up to {HIGHEST}"))
    }

    /// Whether a source that has pauses is too busy without them.
    pub(super) fn check_while_on(self, on: Duration, off: Duration) -> Result<(), String> {
        let (Load::Rate(load) | Load::Slots(load)) = self;
        let peak = load * (on.as_nanos() + off.as_nanos()) as f64 / on.as_nanos() as f64;
        if peak <= HIGHEST {
            return Ok(());
        }
        Err(format!(
            "a load of {peak:.1} while on is more than ten times what the medium carries: lower the load, or write a longer `on` or a shorter `off`"
        ))
    }

    /// `0.4`, `40%`, `0.4/slot`
    pub(super) fn read(text: &str) -> Result<Load, String> {
        let (number, unit): (_, fn(f64) -> Load) =
            text.trim().strip_suffix("/slot").map_or((text, Load::Rate), |number| (number, Load::Slots));
        units::fraction(number)?.map(unit).ok_or_else(|| {
            format!(
                "`{text}` is no load here: write the offered part of the medium's rate, above 0 and up to 10, like `0.4` or `40%`, or frames in a slot, like `0.4/slot`"
            )
        })
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Load::Rate(load) => write!(f, "{load}"),
            Load::Slots(load) => write!(f, "{load}/slot"),
        }
    }
}
