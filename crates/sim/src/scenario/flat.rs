//! A file of settings without sections: each key and the text of its values, with their places.

use super::check;
use super::file::{ScenarioError, SourceText, file_text};
use super::wrong::{FilePlace, Wrong, Wrongs, meant};
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// A key, and one of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub name: String,
    /// The value as text, without quotes.
    pub value: String,
    /// Where the value is.
    pub place: FilePlace,
}

/// Reads the file `path`, whose keys are among `known`; a list gives a setting for each of its values.
///
/// # Errors
/// A file that cannot be read; what is no TOML, unknown keys, sections.
pub fn read(path: &Path, known: &[&str]) -> Result<Vec<Setting>, ScenarioError> {
    from_text(path, &file_text(path)?, known)
}

/// Reads `text` as [`read`] reads the file `path`.
///
/// # Errors
/// What is no TOML, unknown keys, sections.
pub fn from_text(path: &Path, text: &str, known: &[&str]) -> Result<Vec<Setting>, ScenarioError> {
    let source = SourceText::new(path, text.to_owned());
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut wrongs: Vec<Wrong> = errors.iter().map(|error| check::syntax(&source, error)).collect();
    // What follows an error may be part of it.
    if !wrongs.is_empty() {
        return Err(ScenarioError::Content(Wrongs::new(wrongs)));
    }
    let mut settings = Vec::new();
    for (name, value) in table.into_inner() {
        let mut wrong = |place, what: String| {
            wrongs.push(Wrong { place: Some(place), name: name.get_ref().to_string(), what });
        };
        if !known.contains(&name.get_ref().as_ref()) {
            let near = meant(name.get_ref(), known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            let list = known.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ");
            wrong(source.place(name.span()), format!("no such key: {near}Known here: {list}"));
            continue;
        }
        let span = value.span();
        let values = match value.into_inner() {
            DeValue::Array(values) => values.into_iter().collect(),
            other => vec![toml::Spanned::new(span, other)],
        };
        for value in values {
            let (span, place) = (value.span(), source.place(value.span()));
            match value.into_inner() {
                DeValue::String(text) => {
                    settings.push(Setting { name: name.get_ref().to_string(), value: text.to_string(), place });
                }
                DeValue::Table(_) | DeValue::Array(_) => {
                    wrong(place, "it has one value, or a list of values: write it like `\"10s\"`".to_owned());
                }
                _ => {
                    let value = source.text(&span).to_owned();
                    settings.push(Setting { name: name.get_ref().to_string(), value, place });
                }
            }
        }
    }
    if wrongs.is_empty() { Ok(settings) } else { Err(ScenarioError::Content(Wrongs::new(wrongs))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Result<Vec<(String, String, usize)>, String> {
        let settings = from_text(Path::new("a.toml"), text, &["load", "dip"]).map_err(|wrong| wrong.to_string())?;
        Ok(settings.into_iter().map(|it| (it.name, it.value, it.place.line)).collect())
    }

    #[test]
    fn numbers_texts_and_lists_are_settings() {
        let setting = |name: &str, value: &str, line| (name.to_owned(), value.to_owned(), line);
        assert_eq!(
            told("load = 8_00 # a comment\ndip = ['1s,2s,0',\n'4s,1s,0']\n"),
            Ok(vec![setting("dip", "1s,2s,0", 2), setting("dip", "4s,1s,0", 3), setting("load", "8_00", 1)])
        );
    }

    #[test]
    fn what_is_no_setting_is_named_with_its_place() {
        for (text, wrong) in [
            ("laod = 1", "a.toml:1:1: laod: no such key: did you mean `load`? Known here: `load`, `dip`"),
            ("\n[load]\n", "a.toml:2:1: load: it has one value, or a list of values: write it like `\"10s\"`"),
            (
                "load = 10s",
                "a.toml:1:8: load: `10s` is no TOML: a number with a unit needs quotes: write `load = \"10s\"`",
            ),
        ] {
            assert_eq!(told(text), Err(wrong.to_owned()), "{text}");
        }
    }
}
