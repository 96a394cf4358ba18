//! The table of settings for people and for editors: rows of docs/scenario.md, and a JSON Schema of the scenario.

use super::keys::{Key, SCENARIO, TABLES, Takes};
use serde_json::{Map, Value, json};

/// The rows of a section in docs/scenario.md, with their head; nothing for a table of no such name, like `MEDIUM`.
pub fn rows(table: &str) -> Option<String> {
    let (.., keys) = TABLES.iter().find(|(name, ..)| *name == table)?;
    let head = "| key | default | what it is |\n|---|---|---|\n".to_owned();
    let keys = keys.iter().filter(|key| !key.default.is_empty());
    Some(keys.fold(head, |rows, key| rows + &format!("| `{}` | {} | {} |\n", key.name, key.default, key.about.trim())))
}

/// The JSON Schema of a scenario, draft 2020-12: editors complete and check with it.
///
/// What it cannot say, `ethbus check` does: the form of texts, and whether values fit together.
pub fn schema() -> Value {
    let mut schema = section(SCENARIO);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("ethbus scenario");
    schema["description"] = json!("A lab or a run of ethbus, in TOML. What it leaves out has a default.");
    schema
}

fn section(keys: &[Key]) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn property(key: &Key) -> Value {
    let mut property = match key.takes {
        Takes::Text(_) => json!({ "type": "string" }),
        Takes::TextOrWhole(_) => json!({ "type": ["string", "integer"] }),
        Takes::Texts(_) => json!({ "type": "array", "items": { "type": "string" } }),
        Takes::Choice(words) => json!({ "enum": words }),
        Takes::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Takes::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
        Takes::Switch => json!({ "type": "boolean" }),
        Takes::Section(keys) => section(keys),
        Takes::Sections(keys) => json!({ "type": "array", "items": section(keys) }),
        Takes::Buses => json!({ "type": "object", "additionalProperties": { "$ref": "#" } }),
    };
    let default = default(key);
    property["description"] = json!(match &default {
        None if !key.default.is_empty() => format!("{}; default: {}", plain(key.about), plain(key.default)),
        Some(_) | None => plain(key.about),
    });
    if let Some(default) = default {
        property["default"] = default;
    }
    let examples: Vec<Value> = examples(key);
    if !examples.is_empty() {
        property["examples"] = json!(examples);
    }
    property
}

/// Markdown without its marks.
fn plain(markdown: &str) -> String {
    let text = markdown.trim().replace(['`', '*'], "");
    // A link is its text.
    let (mut plain, mut rest) = (String::new(), text.as_str());
    while let Some((before, link)) = rest.split_once('[') {
        let Some((words, after)) = link.split_once("](") else { break };
        let Some((_, after)) = after.split_once(')') else { break };
        plain += before;
        plain += words;
        rest = after;
    }
    plain + rest
}

/// The default as a value, where it is one.
fn default(key: &Key) -> Option<Value> {
    value(key.default.trim_matches('`')).filter(|value| fits(key, value))
}

/// The value of an example behind "like", where the key takes it.
fn examples(key: &Key) -> Vec<Value> {
    let codes = key.right.split('`').skip(1).step_by(2);
    let written = codes.filter_map(|code| value(code.rsplit_once(" = ").map_or(code, |(_, value)| value)));
    let is_name = |value: &Value| matches!(key.takes, Takes::Choice(_) | Takes::Switch) && !value.is_null();
    written.filter(|value| fits(key, value) && !is_name(value)).collect()
}

/// A value in TOML as JSON has it.
fn value(written: &str) -> Option<Value> {
    let table = format!("v = {written}").parse::<toml::Table>().ok()?;
    serde_json::to_value(table.get("v")?).ok()
}

fn fits(key: &Key, value: &Value) -> bool {
    match key.takes {
        Takes::Text(read) => value.as_str().is_some_and(|text| read(text).is_ok()),
        Takes::TextOrWhole(read) => value.is_u64() || value.as_str().is_some_and(|text| read(text).is_ok()),
        Takes::Texts(_) => value.is_array(),
        Takes::Choice(words) => value.as_str().is_some_and(|text| words.contains(&text)),
        Takes::Whole(least, most) => value.as_i64().is_some_and(|number| (least..=most).contains(&number)),
        Takes::Number(least, most) => value.as_f64().is_some_and(|number| (least..=most).contains(&number)),
        Takes::Switch => value.is_boolean(),
        Takes::Section(_) | Takes::Sections(_) | Takes::Buses => false,
    }
}
