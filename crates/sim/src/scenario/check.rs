//! Checks each key and each value of a scenario file by itself, and finds all that is wrong at once.
//!
//! What is wrong is taken out, so that the rest of the file can be looked at too. `plan` decides whether values fit
//! together. It must not judge by values that were taken out, so it gets the list of their sections.

use super::file::SourceText;
use super::wrong::{Wrong, Wrongs, meant};
use crate::settings::keys::{HABITS, Key, SCENARIO, Takes};
use crate::words::units::is_plain_name;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub wrongs: Vec<Wrong>,
    /// Sections in which something was taken out; empty text for the top of the file.
    pub broken: Vec<&'static str>,
}

/// Checks `table`, which was read from `source`, and leaves in it only what is right.
pub(super) fn check(source: &SourceText, table: &mut DeTable<'_>) -> Found {
    let of = if table.contains_key("bus") { Of::Buses } else { Of::OneBus };
    let mut checker = Checker { source, found: Found::default(), section: "", of };
    checker.section(table, SCENARIO, "");
    checker.found
}

/// A line that is no TOML, in words.
pub(super) fn syntax(source: &SourceText, error: &toml::de::Error) -> Wrong {
    let span = error.span().unwrap_or(0..0);
    let line = source.line_at(span.start);
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    let place = Some(source.place(span));
    let wrong = |name: &str, what: String| Wrong { place: place.clone(), name: name.to_owned(), what };
    let value = line.split_once('=').map(|(key, value)| (key.trim(), value.split('#').next().unwrap_or("").trim()));
    match value {
        Some((key, _)) if message.contains("duplicate key") => {
            wrong(key, "it is there twice: leave one of them out".to_owned())
        }
        None if message.contains("duplicate key") => wrong(
            "",
            format!("`{}` is there twice: leave one of them out, and put its keys into the other", line.trim()),
        ),
        Some((key, "")) => wrong(key, "it has no value: write one, or leave the line out".to_owned()),
        Some((key, value)) if value.starts_with(|c: char| c.is_alphabetic() || c == ':') => {
            wrong(key, format!("`{value}` is no TOML: text needs quotes: write `{key} = \"{value}\"`"))
        }
        Some((key, value)) if whole_fraction(value).is_some() => {
            let right = whole_fraction(value).unwrap_or_default();
            wrong(key, format!("`{value}` is no TOML: a point has digits on both sides: write `{key} = {right}`"))
        }
        Some((key, value)) if !key.is_empty() && looks_like_a_quantity(value) => {
            wrong(key, format!("`{value}` is no TOML: a number with a unit needs quotes: write `{key} = \"{value}\"`"))
        }
        None if line.split_once(": ").is_some_and(|(key, _)| key.chars().all(|c| c.is_alphanumeric() || c == '_')) => {
            wrong("", format!("`{}` is no TOML: write `{}`", line.trim(), line.trim().replacen(": ", " = ", 1)))
        }
        Some((key, _)) => wrong(key, format!("`{}` is no TOML: {message}", shortened(line.trim()))),
        None => wrong("", format!("`{}` is no TOML: {message}", shortened(line.trim()))),
    }
}

/// `10M`, `500 m`, `10.0.0.0/8`, `02:eb:…`: begins with a digit and has no quotes.
fn looks_like_a_quantity(value: &str) -> bool {
    let has_unit = value.contains(|c: char| c.is_alphabetic() || matches!(c, ':' | '/'));
    has_unit && value.starts_with(|c: char| c.is_ascii_digit()) && !value.contains(['"', '\'', ',', '='])
}

/// `1.` and `.5` as TOML has them.
fn whole_fraction(value: &str) -> Option<String> {
    let (whole, fraction) = value.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
    let lacks_one = whole.is_empty() != fraction.is_empty() && digits(whole) && digits(fraction);
    let or_zero = |text: &'_ str| if text.is_empty() { "0".to_owned() } else { text.to_owned() };
    lacks_one.then(|| format!("{}.{}", or_zero(whole), or_zero(fraction)))
}

/// Not more of a value than fits a line.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= MOST && line.len() == text.len() {
        return line.to_owned();
    }
    line.chars().take(MOST).collect::<String>() + "…"
}

/// What a file is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    OneBus,
    Buses,
}

impl Of {
    /// The keys that concern several buses together, and no single one.
    const WHOLE: [&str; 5] = ["name", "seed", "run", "bus", "bridge"];

    /// What is said of a key that is not under its heading; nothing where it is right.
    fn misplaces(self, key: &Key, heading: &str) -> Option<String> {
        let is_whole = Of::WHOLE.contains(&key.name);
        let written = if is_section(key) { format!("[{}]", key.name) } else { key.name.to_owned() };
        match heading {
            "" if self == Of::Buses && !is_whole => {
                let within = if is_section(key) { format!("[bus.NAME.{}]", key.name) } else { "[bus.NAME]".to_owned() };
                Some(format!(
                    "a file with `[bus.NAME]` has its buses' settings there: move `{written}` into `{within}`"
                ))
            }
            _ if heading.starts_with(BUS) && is_whole => {
                Some(format!("it concerns all buses together: write `{written}` outside of {heading}"))
            }
            _ => None,
        }
    }
}

/// How the heading of a bus begins.
const BUS: &str = "[bus.";

struct Checker<'a> {
    source: &'a SourceText,
    found: Found,
    /// The outermost section that is looked at.
    section: &'static str,
    of: Of,
}

impl Checker<'_> {
    /// Notes what is wrong, and says that it is to be taken out.
    fn wrong(&mut self, span: Range<usize>, name: &str, what: String) -> bool {
        let place = Some(self.source.place(span));
        self.found.wrongs.push(Wrong { place, name: name.to_owned(), what });
        if !self.found.broken.contains(&self.section) {
            self.found.broken.push(self.section);
        }
        false
    }

    fn section(&mut self, table: &mut DeTable<'_>, keys: &'static [Key], heading: &str) {
        for (name, mut value) in std::mem::take(table) {
            if self.found.wrongs.len() >= Wrongs::MOST {
                return;
            }
            let key = keys.iter().find(|key| key.name == name.get_ref().as_ref());
            if heading.is_empty() {
                self.section = key.filter(|key| is_section(key)).map_or("", |key| key.name);
            }
            let elsewhere = key.and_then(|key| self.of.misplaces(key, heading));
            let right = match key {
                Some(_) if elsewhere.is_some() => {
                    self.wrong(name.span(), name.get_ref(), elsewhere.unwrap_or_default())
                }
                Some(key) => self.value(key, &name, &mut value),
                None => {
                    let is_section = match value.get_ref() {
                        DeValue::Table(_) => true,
                        DeValue::Array(items) => items.iter().any(|item| item.get_ref().is_table()),
                        _ => false,
                    };
                    self.wrong(name.span(), name.get_ref(), unknown(name.get_ref(), is_section, keys, heading))
                }
            };
            if right {
                table.insert(name, value);
            }
        }
    }

    /// Whether the value is one that the key takes.
    fn value(&mut self, key: &Key, name: &Spanned<DeString<'_>>, value: &mut Spanned<DeValue<'_>>) -> bool {
        let span = value.span();
        match (key.takes, value.get_mut()) {
            (Takes::Section(keys), DeValue::Table(table)) => {
                self.section(table, keys, &format!("[{}]", key.name));
                true
            }
            (Takes::Buses, DeValue::Table(buses)) => self.buses(key, buses),
            (Takes::Sections(keys), DeValue::Array(items)) => {
                // All of them are checked, so that every mistake is reported.
                let mut right = true;
                for item in items.iter_mut() {
                    right &= self.item(key, keys, item);
                }
                right
            }
            (Takes::Text(read) | Takes::TextOrWhole(read), DeValue::String(text)) => self.text(key, span, text, read),
            (Takes::TextOrWhole(read), DeValue::Integer(number)) => match whole(number) {
                Some(number) => self.text(key, span, &number.to_string(), read),
                None => self.other_kind(key, span, "is a number"),
            },
            (Takes::Texts(read), DeValue::Array(items)) => {
                let mut right = true;
                for item in items.iter_mut() {
                    right &= self.listed(key, item, read);
                }
                right
            }
            (Takes::Choice(words), DeValue::String(text)) if words.contains(&text.as_ref()) => true,
            (Takes::Choice(words), DeValue::String(text)) => {
                let right = match meant(text, words.iter().copied()) {
                    Some(word) => format!("did you mean `{word}`? Write {}", key.right),
                    None => format!("write {}", key.right),
                };
                self.wrong(span, key.name, format!("`{text}` is not known: {right}"))
            }
            (Takes::Whole(least, most), DeValue::Integer(number)) => match whole(number) {
                Some(number) if (i128::from(least)..=i128::from(most)).contains(&number) => true,
                Some(_) | None => self.other_kind(key, span, "is out of range"),
            },
            (Takes::Number(least, most), DeValue::Integer(_) | DeValue::Float(_)) => {
                let written = self.source.text(&span).replace('_', "");
                match written.parse::<f64>() {
                    Ok(number) if (least..=most).contains(&number) => true,
                    Ok(_) | Err(_) => self.other_kind(key, span, "is out of range"),
                }
            }
            (Takes::Switch, DeValue::Boolean(_)) => true,
            (Takes::Whole(..), DeValue::Float(_)) => self.other_kind(key, span, "is no whole number"),
            (Takes::Section(_) | Takes::Buses, DeValue::Array(_)) => self.heading(key, name, "[[", "]]"),
            (Takes::Sections(_), DeValue::Table(_)) => self.heading(key, name, "[", "]"),
            (_, DeValue::Table(_)) => self.no_section(key, name, "[", "]"),
            (_, DeValue::Array(items)) if items.iter().any(|item| item.get_ref().is_table()) => {
                self.no_section(key, name, "[[", "]]")
            }
            (_, DeValue::String(_)) => self.other_kind(key, span, "is text"),
            (_, DeValue::Integer(_) | DeValue::Float(_)) => self.other_kind(key, span, "is a number"),
            (_, DeValue::Boolean(_)) => self.other_kind(key, span, "is a switch"),
            (_, DeValue::Datetime(_)) => self.other_kind(key, span, "is a date or a time of day"),
            (_, DeValue::Array(_)) => self.other_kind(key, span, "is a list"),
        }
    }

    /// Each bus has the keys of a scenario.
    fn buses(&mut self, key: &Key, buses: &mut DeTable<'_>) -> bool {
        let mut right = true;
        for (name, bus) in buses.iter_mut() {
            right &= bus_name(name.get_ref()).map_or_else(|what| self.wrong(name.span(), key.name, what), |()| true);
            right &= match bus.get_mut() {
                DeValue::Table(table) => {
                    self.section(table, SCENARIO, &format!("{BUS}{}]", name.get_ref()));
                    true
                }
                _ => self.wrong(name.span(), name.get_ref(), format!("a bus is a section: write {}", key.right)),
            };
        }
        right
    }

    fn text(&mut self, key: &Key, span: Range<usize>, text: &str, read: fn(&str) -> Result<(), String>) -> bool {
        match read(text) {
            Ok(()) => true,
            Err(what) => self.wrong(span, key.name, what),
        }
    }

    /// One text of a list.
    fn listed(&mut self, key: &Key, item: &Spanned<DeValue<'_>>, read: fn(&str) -> Result<(), String>) -> bool {
        match item.get_ref() {
            DeValue::String(text) => self.text(key, item.span(), text, read),
            _ => self.other_kind(key, item.span(), "is no text"),
        }
    }

    /// One of several sections.
    fn item(&mut self, key: &Key, keys: &'static [Key], item: &mut Spanned<DeValue<'_>>) -> bool {
        let span = item.span();
        if let DeValue::Table(table) = item.get_mut() {
            self.section(table, keys, &format!("[[{}]]", key.name));
            return true;
        }
        self.other_kind(key, span, "is no section")
    }

    fn other_kind(&mut self, key: &Key, span: Range<usize>, is: &str) -> bool {
        let value = shortened(self.source.text(&span));
        self.wrong(span, key.name, format!("`{value}` {is}: write {}", key.right))
    }

    /// A section that is written as another kind of section.
    fn heading(&mut self, key: &Key, name: &Spanned<DeString<'_>>, open: &str, close: &str) -> bool {
        self.wrong(name.span(), key.name, format!("`{open}{}{close}` is no section: write {}", key.name, key.right))
    }

    /// A key that is written as a section.
    fn no_section(&mut self, key: &Key, name: &Spanned<DeString<'_>>, open: &str, close: &str) -> bool {
        let sections = SCENARIO.iter().filter(|key| is_section(key));
        let hint = meant(key.name, sections.clone().map(|key| key.name));
        let hint = hint.and_then(|hint| sections.clone().find(|key| key.name == hint));
        let hint = hint.map_or_else(String::new, |hint| format!(", or, for the section, {}", hint.right));
        self.wrong(
            name.span(),
            key.name,
            format!("`{open}{}{close}` is no section: write {}{hint}", key.name, key.right),
        )
    }
}

fn is_section(key: &Key) -> bool {
    keys_of(key).is_some() || matches!(key.takes, Takes::Buses)
}

/// A bus's name begins the names of its stations, which are those of interfaces.
fn bus_name(name: &str) -> Result<(), String> {
    match (1..=10).contains(&name.len()) && is_plain_name(name) {
        true => Ok(()),
        false => Err(format!(
            "`{name}` cannot name a bus: take 1 to 10 letters, digits, `-`, `_` or `.`, not starting with `-` or `.`"
        )),
    }
}

/// The keys of a section.
fn keys_of(key: &Key) -> Option<&'static [Key]> {
    if let Takes::Section(keys) | Takes::Sections(keys) = key.takes { Some(keys) } else { None }
}

/// A whole number; nothing if it is beyond all that a key takes.
fn whole(number: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
}

/// What to write in place of an unknown key.
fn unknown(name: &str, as_section: bool, keys: &[Key], heading: &str) -> String {
    let fits = |key: &&Key| !as_section || is_section(key);
    let names = || keys.iter().filter(fits).map(|key| key.name);
    let (kind, here) = match (as_section, heading) {
        (true, "") => ("section", "in a scenario".to_owned()),
        (true, _) => ("section", format!("in {heading}")),
        (false, "") => ("key", "before the first section".to_owned()),
        (false, _) => ("key", format!("in {heading}")),
    };
    let habit = HABITS.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours);
    let key_of = |line: &'static str| line.split_once(" = ").map_or(line, |(key, _)| key);
    let habit = habit.filter(|ours| names().any(|known| known == key_of(ours)));
    let list = || names().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ");
    let elsewhere = elsewhere(name, heading).filter(|_| habit.is_none());
    match (elsewhere, habit.or_else(|| meant(name, names()))) {
        (Some(place), _) => format!("no such key {here}: it belongs {place}"),
        (None, Some(known)) => format!("no such {kind} {here}: did you mean `{known}`? Known here: {}", list()),
        (None, None) => format!("no such {kind} {here}: known here: {}", list()),
    }
}

/// Where a key of this name belongs, if that is elsewhere.
fn elsewhere(name: &str, heading: &str) -> Option<String> {
    let has = |keys: &[Key]| keys.iter().any(|key| key.name == name);
    let heading_of = |key: &Key| {
        let name = key.name;
        if matches!(key.takes, Takes::Sections(_)) { format!("[[{name}]]") } else { format!("[{name}]") }
    };
    let sections = SCENARIO.iter().filter(|key| keys_of(key).is_some_and(has)).map(heading_of);
    let sections: Vec<String> =
        sections.filter(|section| section != heading).map(|section| format!("`{section}`")).collect();
    if !heading.is_empty() && SCENARIO.iter().any(|key| key.name == name && !is_section(key)) {
        return Some("before the first section".to_owned());
    }
    (!sections.is_empty()).then(|| format!("in {}", sections.join(" or ")))
}
