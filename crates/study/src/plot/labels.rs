//! What columns of a table are called in a figure, and their units.

use sim::figures::table;
use sim::words::units;

/// A column's name in words and its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The column's name in words.
    pub words: String,
    /// In which unit; metrics of one unit can share an axis.
    pub unit: &'static str,
}

/// The unit of loads.
const RATE: &str = "part of the rate";

/// The label of the column `name`.
pub fn label(name: &str) -> Label {
    if let Some((words, unit)) = table::label(name) {
        return Label { words, unit };
    }
    let (stem, unit) = name.strip_suffix("_bt").map_or((name, ""), |stem| (stem, "BT"));
    Label { words: words(stem), unit }
}

/// A unit of the medium's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// Bit times
    #[default]
    BitTimes,
    /// Nanoseconds
    Nanoseconds,
    /// Microseconds
    Microseconds,
    /// Milliseconds
    Milliseconds,
    /// Seconds
    Seconds,
}

impl TimeUnit {
    /// How many of it are a second; of bit times as many as the rate says.
    pub fn per_second(self) -> f64 {
        match self {
            TimeUnit::BitTimes => f64::NAN,
            TimeUnit::Nanoseconds => 1e9,
            TimeUnit::Microseconds => 1e6,
            TimeUnit::Milliseconds => 1e3,
            TimeUnit::Seconds => 1.0,
        }
    }

    /// As axes have it.
    pub fn text(self) -> &'static str {
        match self {
            TimeUnit::BitTimes => "BT",
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Microseconds => "\u{b5}s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Seconds => "s",
        }
    }
}

impl Label {
    /// The same with bit times shown in `unit`.
    pub fn with(self, unit: TimeUnit) -> Label {
        if self.unit == "BT" { Label { unit: unit.text(), ..self } } else { self }
    }

    /// Words, and the unit in brackets.
    pub fn text(&self) -> String {
        if self.unit.is_empty() { self.words.clone() } else { format!("{} ({})", self.words, self.unit) }
    }
}

/// What several metrics of one unit have in common: the words that all begin with.
pub fn common(labels: &[Label]) -> Label {
    let Some(first) = labels.first() else { return Label { words: String::new(), unit: "" } };
    let shared = |end: usize| labels.iter().all(|label| label.words.get(..end) == first.words.get(..end));
    let mut ends = first.words.match_indices([',', ' ']).map(|(end, _)| end).chain([first.words.len()]);
    let end = ends.rfind(|&end| shared(end)).unwrap_or(0);
    let words = first.words[..end].trim_end_matches([',', ' ']);
    Label { words: if words.is_empty() { "Value".to_owned() } else { words.to_owned() }, unit: first.unit }
}

/// A key's last part, with spaces and a capital.
fn words(name: &str) -> String {
    let text = name.rsplit('.').next().unwrap_or(name).replace('_', " ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A key's values as numbers, and what the axis is called; nothing if they are of different kinds.
pub fn numbers(key: &str, values: &[&str]) -> Option<(Vec<f64>, String)> {
    let plain: Option<Vec<f64>> = values.iter().map(|value| value.parse().ok()).collect();
    if let Some(plain) = plain {
        let unit = if key.ends_with("frame_size") { " (octets)" } else { "" };
        return Some((plain, label(key).text() + unit));
    }
    if key == "medium.rate" {
        let rates = values.iter().map(|value| units::rate(value).ok().map(|rate| rate as f64 / 1e6));
        return Some((rates.collect::<Option<_>>()?, "Rate (Mbit/s)".to_owned()));
    }
    let (before, _, after) = parts(values.first()?)?;
    let same = |value: &&str| parts(value).filter(|it| it.0 == before && it.2 == after).map(|it| it.1);
    let numbers = values.iter().map(same).collect::<Option<_>>()?;
    let kind = before.trim().trim_end_matches(':').replace('_', "/");
    let unit = match after.trim() {
        unit if unit.eq_ignore_ascii_case("bt") => "BT",
        unit => unit,
    };
    let in_brackets = |unit: &str| if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let words = match (key, kind.as_str()) {
        ("traffic.arrivals", kind) => {
            let kind = if kind == "poisson" { "Poisson" } else { kind };
            let unit = if unit == "/slot" { "frames a slot" } else { RATE };
            format!("Offered load, {kind} ({unit})")
        }
        ("medium.topology", "star") => format!("Distance between every pair{}", in_brackets(unit)),
        ("medium.topology", "bus") => format!("Length of the bus{}", in_brackets(unit)),
        (_, "") => label(key).words + &in_brackets(unit),
        (_, kind) => format!("{}, {kind}{}", label(key).words, in_brackets(unit)),
    };
    Some((numbers, words))
}

/// The part before a text's number, the number, and the part after it.
fn parts(text: &str) -> Option<(&str, f64, &str)> {
    let begin = text.find(|c: char| c.is_ascii_digit())?;
    let rest = &text[begin..];
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    Some((&text[..begin], rest[..end].parse().ok()?, &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_one_number_each_are_numbers_with_their_unit() {
        let (numbers, words) = numbers("traffic.arrivals", &["poisson:0.1", "poisson:0.25"]).expect("numbers");
        assert_eq!(
            (numbers.as_slice(), words.as_str()),
            (&[0.1, 0.25][..], "Offered load, Poisson (part of the rate)")
        );
        let cases = [
            ("medium.topology", ["star:0bt", "star:50bt"], "Distance between every pair (BT)"),
            ("medium.rate", ["10M", "1Gbit/s"], "Rate (Mbit/s)"),
            ("run.duration", ["1s", "2s"], "Duration (s)"),
            ("traffic.frame_size", ["64", "1518"], "Frame size (octets)"),
            ("stations", ["2", "4"], "Stations"),
            ("traffic.arrivals", ["poisson:0.1/slot", "poisson:0.2/slot"], "Offered load, Poisson (frames a slot)"),
        ];
        for (key, values, expected) in cases {
            assert_eq!(super::numbers(key, &values).expect(key).1, expected);
        }
        assert_eq!(super::numbers("traffic.arrivals", &["saturated", "poisson:0.4"]), None);
        assert_eq!(super::numbers("medium.topology", &["star:0bt", "bus:500m"]), None);
    }

    #[test]
    fn metrics_on_one_axis_share_what_their_names_begin_with() {
        let text = |names: &[&str]| common(&names.iter().map(|name| label(name)).collect::<Vec<_>>()).text();
        assert_eq!(text(&["access_delay_p50_bt", "access_delay_p99_bt"]), "Access delay (BT)");
        assert_eq!(text(&["utilization_frame", "utilization_wire"]), "Utilization (part of the rate)");
        assert_eq!(text(&["fairness"]), "Fairness, Jain's index");
        assert_eq!(text(&["access_delay_p50_bt", "mac_delay_p50_bt"]), "Value (BT)");
    }
}
