//! What is wrong with a line of JSON that a program wrote and something changed since, in words of files and not of types.

use serde_json::error::Category;

/// What is wrong with `line`, where serde says `error`.
pub(super) fn told(line: &[u8], error: &serde_json::Error) -> String {
    let (text, column) = (error.to_string(), error.column());
    // What serde calls line 1 is the only one it was given.
    let what = text.strip_suffix(&format!(" at line {} column {column}", error.line())).unwrap_or(&text);
    let what = match error.classify() {
        Category::Eof | Category::Syntax | Category::Io if line.is_empty() => return "the line is empty".to_owned(),
        Category::Eof => "the line ends too early for JSON".to_owned(),
        Category::Syntax | Category::Io => "this is no JSON".to_owned(),
        Category::Data => of_data(what),
    };
    if column == 0 { what } else { format!("{what} (at column {column})") }
}

/// What is wrong with JSON that has another shape.
fn of_data(what: &str) -> String {
    let name = || what.split('`').nth(1).unwrap_or_default();
    if what.starts_with("unknown field") {
        return format!("`{}` is no key of such a line", name());
    }
    if what.starts_with("missing field") {
        return format!("the key `{}` is missing", name());
    }
    if what.starts_with("duplicate field") {
        return format!("the key `{}` is there twice", name());
    }
    if what.starts_with("unknown variant") {
        return format!("`{}` is none of the words that can be here", name());
    }
    let wrong = what.strip_prefix("invalid type: ").or_else(|| what.strip_prefix("invalid value: "));
    match wrong.and_then(|wrong| wrong.rsplit_once(", expected ")) {
        Some((found, expected)) => format!("{} where {} belongs", value(found), kind(expected)),
        None => what.to_owned(),
    }
}

/// A value as serde calls it: `string "x"`, ``integer `-1` ``, `map`.
fn value(found: &str) -> String {
    let written = found.split_once('`').and_then(|(_, rest)| rest.strip_suffix('`'));
    let text = found.strip_prefix("string ");
    match (written, text, found) {
        (Some(written), ..) => format!("`{written}` stands"),
        (None, Some(text), _) => format!("the text {text} stands"),
        (None, None, "map") => "an object stands".to_owned(),
        (None, None, "sequence") => "a list stands".to_owned(),
        (None, None, other) => format!("{other} stands"),
    }
}

/// What serde expected.
fn kind(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 up",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a string" | "string" | "a borrowed string" | "str" => "a text",
        "a sequence" => "a list",
        "a map" => "an object",
        object if object.starts_with("struct ") => "an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is wrong with it is asked for")]
    struct Line {
        t: u64,
        kind: Kind,
        late: bool,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Offered,
    }

    #[test]
    fn no_word_is_of_the_program_that_reads() {
        for (line, right) in [
            ("", "the line is empty"),
            ("hello", "this is no JSON (at column 1)"),
            ("{\"t\":1,\"kind\":\"offered\",\"late\":true}x", "this is no JSON (at column 38)"),
            ("{\"t\":1", "the line ends too early for JSON (at column 6)"),
            ("{\"tt\":1}", "`tt` is no key of such a line (at column 5)"),
            ("{\"t\":1,\"t\":2}", "the key `t` is there twice (at column 10)"),
            ("{\"t\":1,\"kind\":\"offered\"}", "the key `late` is missing (at column 24)"),
            ("{\"kind\":\"lost\"}", "`lost` is none of the words that can be here (at column 14)"),
            ("{\"t\":\"x\"}", "the text \"x\" stands where a whole number from 0 up belongs (at column 8)"),
            ("{\"t\":-1}", "`-1` stands where a whole number from 0 up belongs (at column 7)"),
            ("{\"t\":[]}", "a list stands where a whole number from 0 up belongs (at column 5)"),
            ("{\"late\":1}", "`1` stands where `true` or `false` belongs (at column 9)"),
            ("7", "`7` stands where an object belongs (at column 1)"),
        ] {
            let error = serde_json::from_str::<Line>(line).expect_err(line);
            let what = told(line.as_bytes(), &error);
            let plain = |text: &str| text.split(" (at").next().unwrap_or_default().to_owned();
            assert_eq!(plain(&what), plain(right), "{line}: {error}");
            assert!(!what.contains("u64") && !what.contains("expected"), "{what}");
        }
        assert!(matches!(serde_json::from_str("\"offered\""), Ok(Kind::Offered)));
    }
}
