//! What the command line says over a scenario.
//!
//! An option has its key's value, so both are read alike. The values of options are put into the scenario in place of the
//! file's, at places beyond any file: so an error that names such a place names the option.

use super::keys::{Key, LARGEST, TABLES, Takes};
use super::of_bus::OfBus;
use super::options::{OPTIONS, Opt, Overruling};
use super::sections::{RunSection, Scenario};
use super::wrong::{PlanError, meant};
use std::ops::Range;
use std::sync::Arc;

/// What the command line says over a scenario.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The values of options, each at its option's place.
    values: Scenario,
    /// The same as TOML.
    table: toml::Table,
    /// One of them is a number that TOML cannot write down.
    is_beyond: bool,
    /// `--lend`
    pub attach: Vec<String>,
    /// `--even-default-route`
    pub even_default_route: bool,
    /// What a bus is among several.
    pub(crate) of_bus: OfBus,
}

/// The first place of options: no file is so long.
const OPTIONS_BEGIN: usize = usize::MAX / 2;

/// The place of the value of option number `number`.
fn place(number: usize) -> Range<usize> {
    OPTIONS_BEGIN + number..OPTIONS_BEGIN + number + 1
}

/// The option whose value is at this place, if it is not in a file.
pub fn option_at(place: &Range<usize>) -> Option<&'static Opt> {
    place.start.checked_sub(OPTIONS_BEGIN).and_then(|number| OPTIONS.get(number)).map(|overruling| &overruling.option)
}

impl Overrides {
    /// What these options say, each by its long name and with its value as it was written.
    ///
    /// # Errors
    /// A value that makes no sense by itself.
    ///
    /// # Panics
    /// If there is no such option: the caller's mistake.
    pub fn of<'a>(options: impl IntoIterator<Item = (&'static str, &'a str)>) -> Result<Overrides, PlanError> {
        options.into_iter().try_fold(Overrides::default(), |overrides, (long, text)| overrides.and(long, text))
    }

    /// The same with one option more.
    ///
    /// # Errors
    /// A value that makes no sense by itself.
    ///
    /// # Panics
    /// If there is no such option: the caller's mistake.
    pub fn and(mut self, long: &str, text: &str) -> Result<Overrides, PlanError> {
        let number = number_of(long);
        let (heading, key) = key_of(&OPTIONS[number]);
        let value = in_toml(key, text).map_err(|what| PlanError::option(&format!("--{long}"), what))?;
        let written = format!("{heading}\n{} = {value}\n", key.name);
        let read = toml::from_str(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
        self.values.take_over(&read, Some(&place(number)));
        match written.parse() {
            Ok(table) => put_over(&mut self.table, table),
            Err(_) => self.is_beyond = true,
        }
        Ok(self)
    }

    /// `text` of a scenario under these options; nothing if one of them cannot be written.
    pub fn under(&self, text: &str) -> Option<Written> {
        (!self.is_beyond).then(|| Written { text: text.into(), table: self.table.clone() })
    }

    /// The same with one option more, whose value the program has made.
    ///
    /// # Panics
    /// If there is no such option, or the value makes no sense: the caller's mistake.
    #[must_use]
    pub fn with(self, long: &str, value: impl ToString) -> Overrides {
        self.and(long, &value.to_string()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same with these interfaces lent to the lab.
    #[must_use]
    pub fn lending(self, attach: Vec<String>) -> Overrides {
        Overrides { attach, ..self }
    }

    /// The same for one of several buses: what concerns them together is not its own.
    pub(crate) fn of_bus(&self, of_bus: OfBus) -> Overrides {
        let values = Scenario { name: None, seed: None, run: RunSection::default(), ..self.values.clone() };
        Overrides { values, of_bus, ..self.clone() }
    }

    /// The scenario with the values of options in place of its own.
    pub fn over(&self, scenario: &Scenario) -> Scenario {
        let mut scenario = scenario.clone();
        scenario.take_over(&self.values, None);
        scenario
    }
}

/// A scenario as it was written: the text of a file, and options over it.
#[derive(Clone, Debug, Default)]
pub struct Written {
    text: Arc<str>,
    table: toml::Table,
}

impl Written {
    /// The text of a scenario that says by itself what both say together; the file's own, comments and all, if there are no
    /// options.
    pub fn text(&self) -> String {
        if self.table.is_empty() {
            return self.text.to_string();
        }
        let mut table: toml::Table = self.text.parse().unwrap_or_default();
        put_over(&mut table, self.table.clone());
        toml::to_string(&table).expect("what was TOML before")
    }
}

/// Puts keys in place of those that are there.
fn put_over(table: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(toml::Value::Table(own)), toml::Value::Table(over)) => put_over(own, over),
            (_, value) => drop(table.insert(key, value)),
        }
    }
}

/// The number of the option `long`.
fn number_of(long: &str) -> usize {
    let number = OPTIONS.iter().position(|overruling| overruling.option.long == long);
    number.unwrap_or_else(|| panic!("no option is called {long}"))
}

/// The heading under which an option's key is, and the key.
fn key_of(overruling: &Overruling) -> (&'static str, &'static Key) {
    let Overruling { table, field, .. } = overruling;
    let (_, title, keys) = TABLES.iter().find(|(name, ..)| name == table).expect("the same table of settings");
    let key = keys.iter().find(|key| key.field == *field).expect("the same table of settings");
    let heading = title.split('`').nth(1).filter(|title| title.starts_with('[')).unwrap_or_default();
    (heading, key)
}

/// The key of the option `long` with points between its parts, as `ethbus sweep --set` has it: `medium.rate`.
///
/// # Panics
/// If there is no such option: the caller's mistake.
pub fn dotted_key(long: &str) -> String {
    let (heading, key) = key_of(&OPTIONS[number_of(long)]);
    match heading.trim_matches(['[', ']']) {
        "" => key.name.to_owned(),
        section => format!("{section}.{}", key.name),
    }
}

/// The text of an option as TOML has it, or what would be right.
fn in_toml(key: &Key, text: &str) -> Result<String, String> {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let wrong = || format!("`{text}`: write {}", right(key));
    match key.takes {
        Takes::Text(read) | Takes::TextOrWhole(read) => read(text).map(|()| quoted(text)),
        Takes::Whole(least, most) => {
            // What TOML cannot write down, an option can.
            let most = if most == LARGEST { u64::MAX } else { most as u64 };
            let number = text.trim().parse::<u64>().ok().filter(|number| (least as u64..=most).contains(number));
            number.map(|number| number.to_string()).ok_or_else(wrong)
        }
        Takes::Number(least, most) => {
            let number = text.trim().parse::<f64>().ok().filter(|number| (least..=most).contains(number));
            number.map(|number| format!("{number:?}")).ok_or_else(wrong)
        }
        Takes::Switch => match text {
            "on" => Ok("true".to_owned()),
            "off" => Ok("false".to_owned()),
            _ => Err(format!("`{text}` is not known: write `on` or `off`")),
        },
        Takes::Choice(words) if words.contains(&text.trim()) => Ok(quoted(text.trim())),
        Takes::Choice(words) => {
            let hint = meant(text, words.iter().copied()).map(|word| format!("did you mean `{word}`? "));
            let (last, rest) = words.split_last().expect("a choice has words");
            let verb = if hint.is_some() { "Write" } else { "write" };
            let hint = hint.unwrap_or_default();
            Err(format!("`{text}` is not known: {hint}{verb} `{}` or `{last}`", rest.join("`, `")))
        }
        Takes::Texts(_) | Takes::Section(_) | Takes::Sections(_) | Takes::Buses => {
            panic!("no option overrules `{}`", key.name)
        }
    }
}

/// The remedy for a wrong number of an option: that of the key, without the key's name.
fn right(key: &Key) -> String {
    key.right.replace(&format!("`{} = ", key.name), "`").replace(&LARGEST.to_string(), &u64::MAX.to_string())
}
