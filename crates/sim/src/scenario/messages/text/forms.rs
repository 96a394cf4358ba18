//! The forms of a table, TOML and CSV: both become sections with entries. It must never know what a key means.

use super::{Entry, MOST_MESSAGES, Section};
use crate::scenario::check;
use crate::scenario::file::SourceText;
use crate::scenario::messages::wrong;
use crate::scenario::wrong::{FilePlace, Wrong, Wrongs};
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// The sections of a table in TOML.
pub(super) fn toml(path: &Path, text: &str, wrongs: &mut Vec<Wrong>) -> Vec<Section> {
    let source = SourceText::new(path, text.to_owned());
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let all = Wrongs::new(errors.iter().map(|error| check::syntax(&source, error)).collect());
        wrongs.extend(all.into_vec());
        return Vec::new();
    }
    let mut sections = Vec::new();
    for (name, value) in table.into_inner() {
        let place = source.place(name.span());
        let kind = ["segment", "node", "message"].into_iter().find(|kind| *kind == name.get_ref().as_ref());
        let items = match (kind, value.into_inner()) {
            (Some("segment"), DeValue::Table(table)) => vec![(place.clone(), table)],
            (Some("node" | "message"), DeValue::Array(items)) => {
                let tables = items.into_iter().filter_map(|item| match (item.span(), item.into_inner()) {
                    (span, DeValue::Table(table)) => Some((source.place(span), table)),
                    _ => None,
                });
                tables.collect()
            }
            _ => Vec::new(),
        };
        let Some(kind) = kind.filter(|_| !items.is_empty()) else {
            let what = "a table has `[segment]`, and `[[node]]` and `[[message]]` for each of them: write one of these";
            wrongs.push(wrong(&place, name.get_ref(), what.to_owned()));
            continue;
        };
        for (place, table) in items {
            let mut entries = Vec::new();
            for (name, value) in table {
                let (span, name) = (value.span(), name.get_ref().to_string());
                let place = source.place(span.clone());
                match value.into_inner() {
                    DeValue::String(text) => entries.push(Entry { name, value: text.to_string(), place }),
                    DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
                        entries.push(Entry { name, value: source.text(&span).to_owned(), place });
                    }
                    DeValue::Array(_) | DeValue::Table(_) => {
                        wrongs.push(wrong(
                            &place,
                            &name,
                            "it has one value: write a number, or a text in quotes".to_owned(),
                        ));
                    }
                }
            }
            sections.push(Section { kind, entries, place });
        }
    }
    sections
}

/// The messages of a table in CSV: a line with the keys, and one for each message. `;` separates where the first line has no
/// comma; lines that begin with `#` are comments.
pub(super) fn csv(path: &Path, text: &str, wrongs: &mut Vec<Wrong>) -> Vec<Section> {
    let place = |line: usize, column: usize| FilePlace { file: path.display().to_string(), line, column };
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((_, header)) = lines.next() else {
        let what = "it is empty: write a line of keys, like `node,name,octets,period,deadline`";
        wrongs.push(wrong(&place(1, 1), "", what.to_owned()));
        return Vec::new();
    };
    let separator = if header.contains(',') { ',' } else { ';' };
    let names = fields(header, separator);
    let mut sections = Vec::new();
    for (number, line) in lines.take(MOST_MESSAGES + 1) {
        let values = fields(line, separator);
        if values.len() > names.len() {
            let what =
                format!("{} values under {} keys: a text with `{separator}` needs quotes", values.len(), names.len());
            wrongs.push(wrong(&place(number, 1), "", what));
            continue;
        }
        let filled = names.iter().zip(values).filter(|(_, (_, value))| !value.trim().is_empty());
        let entry = |((_, name), (column, value)): (&(usize, String), (usize, String))| Entry {
            name: name.trim().to_owned(),
            value,
            place: place(number, column),
        };
        sections.push(Section { kind: "message", entries: filled.map(entry).collect(), place: place(number, 1) });
    }
    sections
}

/// The fields of a line, each with its column; `"` encloses one, and `""` is a quote in it.
fn fields(line: &str, separator: char) -> Vec<(usize, String)> {
    let (mut all, mut field, mut quoted, mut begin) = (Vec::new(), String::new(), false, 1);
    let mut characters = (1..).zip(line.chars()).peekable();
    while let Some((column, character)) = characters.next() {
        match character {
            '"' if quoted && characters.next_if(|(_, next)| *next == '"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            _ if character == separator && !quoted => {
                all.push((begin, std::mem::take(&mut field)));
                begin = column + 1;
            }
            _ => field.push(character),
        }
    }
    all.push((begin, field));
    all
}
