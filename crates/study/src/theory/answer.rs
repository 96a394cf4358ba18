//! What a theory says, as a table for people or as JSON. It must never know a formula.

use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt::Write as _;

/// Version of an answer's JSON form.
pub const VERSION: u32 = 1;

/// Characters in a line of a table.
const WIDTH: usize = 80;

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A real number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// Yes or no.
    Flag(bool),
    /// A word.
    Text(String),
    /// Real numbers, in order.
    List(Vec<f64>),
    /// Rows of numbers under these column names; a number that does not exist is `None`.
    Curve {
        /// Names of the columns: JSON keys.
        columns: Vec<&'static str>,
        /// One row a point.
        rows: Vec<Vec<Option<f64>>>,
    },
    /// There is no such value, for this reason.
    None(String),
}

/// A value under its JSON key, and what it is.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    key: &'static str,
    meaning: &'static str,
    value: Value,
}

/// What a theory says about one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    theory: &'static str,
    source: &'static str,
    holds: &'static str,
    entries: Vec<Entry>,
}

impl Answer {
    /// An answer of `theory`, from `source`, under the conditions of `holds`.
    pub fn new(theory: &'static str, source: &'static str, holds: &'static str) -> Answer {
        Answer { theory, source, holds, entries: Vec::new() }
    }

    /// The same with one more value.
    pub fn with(mut self, key: &'static str, meaning: &'static str, value: Value) -> Answer {
        self.entries.push(Entry { key, meaning, value });
        self
    }

    /// The same with a value that may not exist, for the reason given.
    pub fn with_some(
        self,
        key: &'static str,
        meaning: &'static str,
        value: Option<Value>,
        reason: impl FnOnce() -> String,
    ) -> Answer {
        let value = value.unwrap_or_else(|| Value::None(reason()));
        self.with(key, meaning, value)
    }

    /// The value under `key`.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The answer for people, at most 80 characters wide.
    pub fn table(&self) -> String {
        let mut text = wrapped("", self.theory, 0);
        text += &wrapped("from: ", self.source, 6);
        text += &wrapped("holds: ", self.holds, 7);
        text.push('\n');
        let short = |entry: &&Entry| !matches!(entry.value, Value::Curve { .. });
        let key = self.entries.iter().map(|entry| entry.key.len()).max().unwrap_or(0);
        let shown = |entry: &Entry| match &entry.value {
            Value::None(_) => "-".to_owned(),
            value => value.to_string(),
        };
        let widest = self.entries.iter().filter(short).map(|entry| shown(entry).len()).max().unwrap_or(0).min(32);
        for entry in self.entries.iter().filter(short) {
            let head = format!("  {:key$}  {:>widest$}  ", entry.key, shown(entry));
            let meaning = match &entry.value {
                Value::None(reason) => reason.as_str(),
                _ => entry.meaning,
            };
            text += &wrapped(&head, meaning, 6 + key + widest);
        }
        for entry in &self.entries {
            if let Value::Curve { columns, rows } = &entry.value {
                text += &curve(entry, columns, rows);
            }
        }
        text
    }
}

/// `head` and then `text`, in lines of at most [`WIDTH`]; later lines begin at column `indent`.
fn wrapped(head: &str, text: &str, indent: usize) -> String {
    let (mut lines, mut line) = (String::new(), head.to_owned());
    if line.chars().count() > indent.max(WIDTH / 2) {
        lines += line.trim_end();
        lines.push('\n');
        line = " ".repeat(indent);
    }
    let mut is_first = true;
    for word in text.split_whitespace() {
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            line = " ".repeat(indent);
        } else if !is_first {
            line.push(' ');
        }
        line += word;
        is_first = false;
    }
    lines + line.trim_end() + "\n"
}

fn curve(entry: &Entry, columns: &[&'static str], rows: &[Vec<Option<f64>>]) -> String {
    let mut text = format!("\n  {}: {}\n", entry.key, entry.meaning);
    let cell = |value: &Option<f64>| value.map_or("-".to_owned(), digits);
    let width =
        |column: usize, name: &str| rows.iter().map(|row| cell(&row[column]).len()).max().unwrap_or(0).max(name.len());
    let widths: Vec<usize> = columns.iter().enumerate().map(|(column, name)| width(column, name)).collect();
    let line = |cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
        format!("    {}\n", cells.join("  "))
    };
    text += &line(columns.iter().map(|&name| name.to_owned()).collect());
    for row in rows {
        text += &line(row.iter().map(cell).collect());
    }
    text
}

/// A number with six significant digits; large and tiny ones with an exponent.
fn digits(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (value.fract() == 0.0 && size < 1e9) {
        return format!("{value}");
    }
    if !(1e-4..1e9).contains(&size) {
        return format!("{value:.5e}");
    }
    let places = (5 - size.log10().floor() as i32).max(0) as usize;
    format!("{value:.places$}")
}

impl std::fmt::Display for Value {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Number(number) => formatter.write_str(&digits(*number)),
            Value::Count(count) => write!(formatter, "{count}"),
            Value::Flag(flag) => formatter.write_str(if *flag { "yes" } else { "no" }),
            Value::Text(text) => formatter.write_str(text),
            Value::List(numbers) if numbers.is_empty() => formatter.write_str("none"),
            Value::List(numbers) => {
                let mut text = String::new();
                for (place, number) in numbers.iter().enumerate() {
                    write!(text, "{}{}", if place == 0 { "" } else { ", " }, digits(*number))?;
                }
                formatter.write_str(&text)
            }
            Value::Curve { rows, .. } => write!(formatter, "{} rows", rows.len()),
            Value::None(reason) => formatter.write_str(reason),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Number(number) => serializer.serialize_f64(*number),
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(numbers) => numbers.serialize(serializer),
            Value::Curve { columns, rows } => {
                let points = rows.iter().map(|row| Point { columns, row });
                serializer.collect_seq(points)
            }
            Value::None(_) => serializer.serialize_none(),
        }
    }
}

/// A point of a curve: an object.
struct Point<'a> {
    columns: &'a [&'static str],
    row: &'a [Option<f64>],
}

impl Serialize for Point<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(self.row))
    }
}

/// One object: `version`, `theory`, `source`, `holds`, then the values under their keys. A value that does not exist is
/// `null`, and `no_value` says why.
impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &VERSION)?;
        map.serialize_entry("theory", self.theory)?;
        map.serialize_entry("source", self.source)?;
        map.serialize_entry("holds", self.holds)?;
        for entry in &self.entries {
            map.serialize_entry(entry.key, &entry.value)?;
        }
        let reasons: Vec<(&str, &str)> = (self.entries.iter())
            .filter_map(|entry| match &entry.value {
                Value::None(reason) => Some((entry.key, reason.as_str())),
                _ => None,
            })
            .collect();
        if !reasons.is_empty() {
            map.serialize_entry("no_value", &reasons.into_iter().collect::<std::collections::BTreeMap<_, _>>())?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        Answer::new("example", &"a source that is long ".repeat(6).leak()[..120], "always")
            .with("throughput", "S, successes a slot", Value::Number(0.367_879_441))
            .with("mean_delay_slots", "", Value::None("an unstable system has no mean delay ".repeat(3)))
            .with("curve", "S over G", Value::Curve { columns: vec!["g", "s"], rows: vec![vec![Some(1.0), None]] })
    }

    #[test]
    fn a_table_is_at_most_80_characters_wide() {
        let table = answer().table();
        assert!(table.lines().all(|line| line.chars().count() <= WIDTH), "{table}");
        assert!(table.contains("0.367879"), "{table}");
    }

    #[test]
    fn a_value_that_does_not_exist_is_null_and_has_a_reason() {
        let json = serde_json::to_value(answer()).expect("numbers and text");
        assert!(json["mean_delay_slots"].is_null());
        assert!(json["no_value"]["mean_delay_slots"].as_str().is_some_and(|why| why.contains("unstable")));
        assert!(json["curve"][0]["s"].is_null());
        assert_eq!(json["curve"][0]["g"], 1.0);
    }

    #[test]
    fn numbers_have_six_digits() {
        let shown = [0.0, 2.0, 0.367_879_441, 67.390_1, 1.0e-7, 7.105_940e22, 123_456.789].map(digits);
        assert_eq!(shown, ["0", "2", "0.367879", "67.3901", "1.00000e-7", "7.10594e22", "123457"]);
    }
}
