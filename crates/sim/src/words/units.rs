//! Quantities as people write them: `10Mbit/s`, `500 m`, `50 BT`, `1.5 s`. Plain numbers out, no meaning beyond that.
//!
//! Each parser takes the text alone and says what would have been right; who asked adds the place.

use std::fmt;
use std::time::Duration;

/// A number and the unit after it; the unit may be missing.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_'))).unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

/// A decimal number as millionths, exact: no rounding of what the user wrote.
fn millionths(number: &str) -> Option<u128> {
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() || fraction.len() > 6 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let whole: u128 = whole.parse::<u64>().ok()?.into();
    let fraction: u128 = format!("{fraction:0<6}").parse().ok()?;
    Some(whole * 1_000_000 + fraction)
}

/// `number` times `scale`, whole; `None` if it is not a whole number or too large.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let product = millionths(number)? * u128::from(scale);
    (product % 1_000_000 == 0).then_some(product / 1_000_000).and_then(|whole| whole.try_into().ok())
}

/// The fastest half-duplex Ethernet, in bits per second.
const FASTEST: u64 = 1_000_000_000;

/// Bits per second: `10M`, `10Mbit/s`, `2.94 Mb/s`, `9600bit/s`, and as tc writes them, `10mbit`. A number without a unit is
/// refused: ten bits per second are hardly meant by who writes 10. So is tc's `mbps`, which counts octets there.
///
/// # Errors
/// No number, no unit or an unknown one, zero, or above 1 Gbit/s.
pub fn rate(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    if unit.is_empty() && millionths(number).is_some_and(|millionths| millionths > 0) {
        let right = if number.len() > 3 { format!("{number}bit/s") } else { format!("{number}M") };
        return Err(format!("`{text}` has no unit: write it like `{right}`"));
    }
    let suffix = ["bit/s", "bit", "b/s", "bps", "b"].into_iter().find(|suffix| unit.ends_with(suffix)).unwrap_or("");
    let scale = match (&unit[..unit.len() - suffix.len()], suffix) {
        ("", _) => 1,
        ("k" | "K", _) => 1_000,
        ("M", _) | ("m", "bit" | "bit/s") => 1_000_000,
        ("G", _) | ("g", "bit" | "bit/s") => 1_000_000_000,
        (prefix @ ("m" | "g"), "bps") => {
            let right = format!("{number}{prefix}bit");
            return Err(format!("`{text}` is octets per second in tc, and bits elsewhere: write bits like `{right}`"));
        }
        _ => return Err(format!("`{text}` is no rate: write bits per second like `10Mbit/s`, `100M` or `2.94Mbit/s`")),
    };
    match scaled(number, scale) {
        Some(rate @ 1..=FASTEST) => Ok(rate),
        _ => Err(format!("`{text}` is no rate here: write `1bit/s` to `1Gbit/s`, like `10Mbit/s`")),
    }
}

/// A whole number from `least` to `most`; `like` is one of them.
///
/// # Errors
/// No digits only, or a number out of range.
pub fn whole(text: &str, least: u64, most: u64, like: &str) -> Result<u64, String> {
    let range = if most == u64::MAX { format!(", {least} or more") } else { format!(" from {least} to {most}") };
    let number = text.trim().parse::<u64>().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("`{text}`: write a whole number{range}, like `{like}`"))
}

/// A number as formulas take it, like `0.4` or `1e-3`.
///
/// # Errors
/// No number.
pub fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is no number: write one like `0.4`"))
}

/// A seed.
///
/// # Errors
/// As [`whole`].
pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0, u64::MAX, "7")
}

/// How many of something, at least one.
///
/// # Errors
/// As [`whole`].
pub fn count(text: &str) -> Result<u64, String> {
    whole(text, 1, u64::MAX, "100")
}

/// How many runs at a time.
///
/// # Errors
/// As [`whole`].
pub fn jobs(text: &str) -> Result<u16, String> {
    whole(text, 1, 1024, "4").map(|number| number as u16)
}

/// A frame's size in octets, from destination address to FCS (802.3, 3.2.7: without envelope).
///
/// # Errors
/// As [`whole`].
pub fn frame_size(text: &str) -> Result<u32, String> {
    whole(text, 64, 1518, "512").map(|number| number as u32)
}

/// How much of a run's time may be lost: `1%` or `0.01`.
///
/// # Errors
/// No number, or one out of range.
pub fn tolerance(text: &str) -> Result<f64, String> {
    share(text).map_err(|_| format!("`{text}`: write a part of the time from 0 to 100%, like `1%` or `0.01`"))
}

/// A span of real time: `10s`, `500 ms`, `1.5m`, `2h`; a bare number is seconds.
///
/// # Errors
/// No number, an unknown unit, zero, or more than 1,000 days.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let nanos = match unit {
        "" | "s" | "sec" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" | "µs" => 1_000,
        "ns" => 1,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return Err(format!("`{text}` is no duration: write it like `10s`, `500ms`, `2m` or `1h`")),
    };
    match scaled(number, nanos) {
        Some(nanos @ 1..=86_400_000_000_000_000) => Ok(Duration::from_nanos(nanos)),
        _ => Err(format!("`{text}` is no duration: write one above zero and up to 1,000 days, like `10s` or `500ms`")),
    }
}

/// A span of real time that may be none: as [`duration`], or `0`.
///
/// # Errors
/// No number, an unknown unit, or more than 1,000 days.
pub fn duration_or_zero(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let known = matches!(unit, "" | "s" | "sec" | "ms" | "us" | "µs" | "ns" | "m" | "min" | "h");
    if known && millionths(number) == Some(0) { Ok(Duration::ZERO) } else { duration(text) }
}

/// How often in a second: `1000/s`; a bare number is per second.
///
/// # Errors
/// No number, or one that is not above 0 and up to 1e9.
pub fn per_second(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).trim().parse::<f64>();
    match number {
        Ok(rate) if rate > 0.0 && rate <= 1e9 => Ok(rate),
        _ => Err("it is a number above 0 and up to 1e9, like `1000/s`".to_owned()),
    }
}

/// A part of something: `10%` or `0.1`.
///
/// # Errors
/// No number, or one out of range.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text);
    let percent = if unit == "%" { 100.0 } else { 1.0 };
    match millionths(number).map(|n| n as f64 / 1e6 / percent) {
        Some(part) if matches!(unit, "" | "%") && part <= 1.0 => Ok(part),
        _ => Err(format!("`{text}`: write a part from 0 to 100%, like `10%` or `0.1`")),
    }
}

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunTime {
    /// In real time.
    Time(Duration),
    /// In the slots of its access method.
    Slots(u64),
}

/// As [`run_time`] reads it.
impl fmt::Display for RunTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunTime::Time(time) => write!(f, "{time:?}"),
            RunTime::Slots(slots) => write!(f, "{slots}slots"),
        }
    }
}

/// How long a run is: as [`duration_or_zero`], or in slots as in `1000000slots`.
///
/// # Errors
/// As [`duration_or_zero`]; slots that are no whole number.
pub fn run_time(text: &str) -> Result<RunTime, String> {
    let (number, unit) = split(text);
    if !matches!(unit, "slot" | "slots") {
        return duration_or_zero(text).map(RunTime::Time);
    }
    let slots = scaled(number, 1).map(RunTime::Slots);
    slots.ok_or_else(|| format!("`{text}` is no number of slots: write a whole one, like `1000000slots`"))
}

/// A span on the medium: `512 BT`, or a bare number of bit times.
///
/// # Errors
/// No whole number, another unit, or more than 2^31.
pub fn bit_times(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let bits = scaled(number, 1).filter(|bits| *bits <= 1 << 31 && matches!(unit, "" | "BT" | "bt"));
    bits.ok_or_else(|| format!("`{text}` is no span in bit times: write a whole number up to 2^31 like `512 BT`"))
}

/// An instant of the medium in bit times, as pictures and tables have it: `30,216,041 BT`, `30216041`.
///
/// # Errors
/// No whole number, or another unit.
pub fn instant(text: &str) -> Result<u64, String> {
    let plain = text.replace([',', '_'], "");
    let (number, unit) = split(&plain);
    let bits = number.parse().ok().filter(|_| matches!(unit, "" | "BT" | "bt"));
    bits.ok_or_else(|| format!("`{text}` is no instant in bit times: write it as tables have it, like `30,216,041`"))
}

/// A place on a cable or a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Along the cable.
    Metres(f64),
    /// As the time a signal takes.
    BitTimes(u64),
}

/// As it is written.
impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::Metres(metres) => write!(f, "{metres} m"),
            Length::BitTimes(bits) => write!(f, "{bits} BT"),
        }
    }
}

/// A length: `500 m`, `0.2 km`, `50 BT`.
///
/// # Errors
/// No number, or no unit: metres and bit times are too different to guess.
pub fn length(text: &str) -> Result<Length, String> {
    let (number, unit) = split(text);
    let metres = |scale: f64| millionths(number).map(|n| Length::Metres(n as f64 / 1e6 * scale));
    let length = match unit {
        "m" => metres(1.0),
        "km" => metres(1_000.0),
        "BT" | "bt" => scaled(number, 1).filter(|bits| *bits <= 1 << 31).map(Length::BitTimes),
        _ => None,
    };
    length.ok_or_else(|| format!("`{text}` is no length: write it like `500 m`, `0.2 km` or, in bit times, `50 BT`"))
}

/// The speed of light in vacuum, in metres per second.
const LIGHT: f64 = 299_792_458.0;

/// Metres per second: `0.77c` (of the speed of light), `231000 km/s`, `2.3 m/s`.
///
/// # Errors
/// No number, an unknown unit, zero, or faster than light.
pub fn speed(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text);
    let scale = match unit {
        "c" => LIGHT,
        "km/s" => 1e3,
        "m/s" => 1.0,
        _ => f64::NAN,
    };
    let speed = millionths(number).map_or(f64::NAN, |n| n as f64 / 1e6 * scale);
    if speed > 0.0 && speed <= LIGHT {
        Ok(speed)
    } else {
        Err(format!("`{text}` is no speed of propagation: write it like `0.77c` or `231000 km/s`, up to `1c`"))
    }
}

/// A lab's name: it becomes part of the names of files and namespaces.
///
/// # Errors
/// A name that is too long, or that could be something else there.
pub fn lab_name(name: &str) -> Result<String, String> {
    if (1..=15).contains(&name.len()) && is_plain_name(name) {
        return Ok(name.to_owned());
    }
    Err(format!(
        "`{name}` cannot name a lab: take 1 to 15 letters, digits, `-`, `_` or `.`, not starting with `-` or `.`"
    ))
}

/// Whether a name of a lab or a station is itself wherever it is typed: in a shell, a path, an option's value, a file of
/// hosts.
pub fn is_plain_name(name: &str) -> bool {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    plain && !name.starts_with(['-', '.'])
}

/// Frames per second, or as many as the medium takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrameRate {
    /// What saturates the medium.
    Max,
    /// This many a second.
    PerSecond(f64),
}

/// `max`, `100/s` or `100`.
///
/// # Errors
/// Anything else, zero, or above 10 million a second.
pub fn frame_rate(text: &str) -> Result<FrameRate, String> {
    if text.trim() == "max" {
        return Ok(FrameRate::Max);
    }
    let (number, unit) = split(text);
    match millionths(number).map(|n| n as f64 / 1e6) {
        Some(rate) if matches!(unit, "" | "/s") && rate > 0.0 && rate <= 1e7 => Ok(FrameRate::PerSecond(rate)),
        _ => Err(format!("`{text}` is no frame rate: write `max`, or frames per second like `100/s`")),
    }
}

/// A part of the medium's rate, above 0 and up to 10, as a fraction or a percentage; nothing for any other text.
///
/// # Errors
/// More than ten times the rate.
pub fn fraction(text: &str) -> Result<Option<f64>, String> {
    let trimmed = text.trim();
    let (number, percent) = trimmed.strip_suffix('%').map_or((trimmed, 1.0), |number| (number.trim_end(), 100.0));
    match decimal(number).map(|number| number / percent) {
        Some(part) if part > 10.0 => Err(format!(
            "`{text}` is above ten times the medium's rate, the most that can be offered: write up to `10` or `1000%`, or \
             `saturated` for stations that always have a frame; with a higher `rate` the medium carries more"
        )),
        part => Ok(part.filter(|part| *part > 0.0)),
    }
}

/// Any decimal number that is not negative, like `0.4`, `0.123456789` or `2.5e-3`, as the nearest number there is.
fn decimal(number: &str) -> Option<f64> {
    let plain: String = number.chars().filter(|c| *c != '_').collect();
    let of_numbers = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+');
    let is_number = plain.starts_with(|c: char| c.is_ascii_digit()) && plain.chars().all(of_numbers);
    plain.parse().ok().filter(|_| is_number)
}

/// A number of things: `1 frame`, `1,234 frames`.
pub fn many(number: u64, of: &str) -> String {
    format!("{} {of}{}", group(number), if number == 1 { "" } else { "s" })
}

/// A number with its thousands apart.
pub fn group(number: u64) -> String {
    let digits = number.to_string();
    // 20 digits and 6 commas at most.
    let mut text = String::with_capacity(26);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        assert_eq!(["10mbit", "10Mb", "10000kbit", "0.01gbit"].map(rate), [const { Ok(10_000_000) }; 4]);
        assert!(["10MB", "10MB/s", "10mb", "10mbps", "10mbit/h"].iter().all(|text| rate(text).is_err()));
        for text in ["10M", "10Mbit/s", "10 Mbit/s", "10Mb/s", "10000k", "10_000_000bit/s", "10Mbps", "0.01G"] {
            assert_eq!(rate(text), Ok(10_000_000), "{text}");
        }
        assert_eq!(rate("2.94M"), Ok(2_940_000));
        for text in [
            "",
            "0",
            "10",
            "9600",
            "2G",
            "fast",
            "10 bananas",
            "10m",
            "-1M",
            "11G",
            "1.2.3M",
            "0.0000001M",
            "1,5M",
            "10M/s/s",
            "10Mbbb",
        ] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_instant_is_read_as_tables_have_it() {
        for text in ["30,216,041", "30,216,041 BT", "30216041", " 30_216_041bt"] {
            assert_eq!(instant(text), Ok(30_216_041), "{text}");
        }
        for text in ["", "BT", "3 ms", "1.5", "-1"] {
            assert!(instant(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_length_needs_a_unit() {
        assert_eq!(["500 m", "0.5km"].map(length), [const { Ok(Length::Metres(500.0)) }; 2]);
        assert_eq!(length("50bt"), Ok(Length::BitTimes(50)));
        for text in ["500", "1.5 BT", "m", "50 ft", "-1 m"] {
            assert!(length(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_speeds_loads_and_frame_rates() {
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("500 ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("10"), Ok(Duration::from_secs(10)));
        // The notes of a sweep write no warm-up as `0ns`, and `sweep row` reads them.
        assert_eq!((duration("7ns"), duration_or_zero("0ns")), (Ok(Duration::from_nanos(7)), Ok(Duration::ZERO)));
        assert!(duration("0s").is_err() && duration("10 parsecs").is_err() && duration("").is_err());
        assert_eq!(speed("231000 km/s"), Ok(231_000_000.0));
        assert!(speed("1.1c").is_err() && speed("0c").is_err() && speed("3e8").is_err());
        let is_none = |text: &&str| fraction(text) == Ok(None);
        assert!(
            ["0", "half", "inf", "-0.1", ""].iter().all(is_none)
                && fraction("11").is_err()
                && fraction("1e400").is_err()
        );
        for (text, part) in
            [("40%", 0.4), ("0.123456789", 0.123456789), ("2.5e-3", 0.0025), ("33.3333333 %", 0.333333333)]
        {
            assert_eq!(fraction(text), Ok(Some(part)), "{text}");
        }
        assert_eq!(frame_rate("100/s"), Ok(FrameRate::PerSecond(100.0)));
        assert!(frame_rate("0").is_err() && frame_rate("many").is_err());
    }
}
