//! How wide what is shown may be.

use std::borrow::Cow;
use std::io::IsTerminal;

/// Columns of a terminal that does not say.
pub const USUAL: usize = 80;

/// Columns of the terminal behind standard error; [`USUAL`] if it is none, or does not say.
pub fn columns() -> usize {
    let error = std::io::stderr();
    let told = terminal_size::terminal_size_of(&error).map(|(width, _)| usize::from(width.0));
    told.filter(|width| error.is_terminal() && *width > 0).unwrap_or(USUAL)
}

/// Columns of the terminal behind standard output, if it is one and says; else what `COLUMNS` says.
pub fn output_columns() -> Option<usize> {
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    output_size().map(|(columns, _)| columns).or_else(asked)
}

/// Columns and lines of the terminal behind standard output, if it is one and says.
pub fn output_size() -> Option<(usize, usize)> {
    let output = std::io::stdout();
    let told = terminal_size::terminal_size_of(&output).map(|(width, height)| (width.0.into(), height.0.into()));
    told.filter(|(width, height)| output.is_terminal() && *width > 0 && *height > 0)
}

/// The locale that the user has set, in capitals; empty without one.
pub fn locale() -> String {
    let set = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_uppercase()
}

/// A text for people in the letters that the user's locale has.
pub fn in_locale(text: String) -> String {
    let locale = locale();
    let is_ascii = !locale.is_empty() && !locale.contains("UTF-8") && !locale.contains("UTF8");
    if is_ascii { in_ascii(&text) } else { text }
}

/// The signs of tables and pictures in ASCII, as wide as they are. Letters of names stay.
fn in_ascii(text: &str) -> String {
    let sign = |letter: char| match letter {
        '–' | '—' | '−' | '─' => '-',
        '│' => '|',
        '█' | '▇' | '▆' | '▅' | '▄' | '▃' | '▂' | '▁' => '#',
        '·' | '…' => '.',
        '±' => '~',
        '×' => 'x',
        'µ' => 'u',
        '→' => '>',
        other => other,
    };
    text.replace("± ", "+-").chars().map(sign).collect()
}

/// A message as standard error takes it: folded if that is a terminal, as it is otherwise, for files and for `grep`.
pub fn message(text: &str) -> Cow<'_, str> {
    match std::io::stderr().is_terminal() {
        true => Cow::Owned(fold_message(text, columns())),
        false => Cow::Borrowed(text),
    }
}

/// Folds the lines of a sentence. A line that begins with spaces is a command to be pasted, and so is text between
/// backquotes: neither is broken.
fn fold_message(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        if line.starts_with(' ') {
            folded += line;
            continue;
        }
        let parts = line.split('`').enumerate();
        let tied: Vec<_> =
            parts.map(|(i, part)| if i % 2 == 1 { part.replace(' ', TIED) } else { part.into() }).collect();
        folded += &fold(&tied.join("`"), width).replace(TIED, " ");
    }
    folded
}

/// A space that no line is broken at, until the text is done.
const TIED: &str = "\u{a0}";

/// Breaks lines that are longer than `width` columns between words. A continued line begins under the value of its
/// line, which is the text after two spaces or more.
pub fn fold(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        fold_line(&mut folded, line, width);
        folded += end;
    }
    folded
}

/// Folds prose and leaves drawings: a line is prose if it begins without a space.
pub fn fold_prose(text: &str, width: usize) -> String {
    let folded = |line: &str| match !line.starts_with(' ') {
        true => fold(line, width),
        false => line.to_owned(),
    };
    text.split_inclusive('\n').map(folded).collect()
}

fn fold_line(folded: &mut String, line: &str, width: usize) {
    if line.chars().count() <= width {
        *folded += line;
        return;
    }
    let indent = hanging(line).min(width / 3);
    let (mut column, begin) = (0, line.len() - line.trim_start().len());
    *folded += &line[..begin];
    column += begin;
    for word in line[begin..].split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if column + length > width && column > indent {
            *folded = folded.trim_end_matches(' ').to_owned();
            *folded += &format!("\n{:indent$}", "");
            column = indent;
        }
        *folded += word;
        column += word.chars().count();
    }
    let end = folded.trim_end_matches(' ').len();
    folded.truncate(end);
}

/// Where the value of a line begins: after its label and two spaces or more.
fn hanging(line: &str) -> usize {
    let begin = line.len() - line.trim_start().len();
    let gap = line[begin..].find("  ").map(|at| begin + at);
    let value = gap.and_then(|gap| line[gap..].find(|c: char| c != ' ').map(|spaces| gap + spaces));
    let plain = if begin == 0 { 0 } else { begin + 2 };
    value.map_or(plain, |value| line[..value].chars().count())
}

/// The first `width` columns of a text.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_under_their_value() {
        let line = "  drops         ring 0, overload 0, absent stations 0\n  b  2\n";
        assert_eq!(fold(line, 40), "  drops         ring 0, overload 0,\n             absent stations 0\n  b  2\n");
        assert_eq!(fold("short\n", 40), "short\n");
        assert!(fold(&"word ".repeat(40), 80).lines().all(|line| line.chars().count() <= 80));
    }

    #[test]
    fn messages_are_folded_and_what_is_to_be_pasted_is_not() {
        let hint = "  ethbus sim --stations 4 --duration 3s --seed 1\n";
        assert_eq!(fold_message(hint, 20), hint);
        let warning = "ethbus: warning: it is late; see `ethbus doctor --format json` for why\n";
        assert_eq!(
            fold_message(warning, 40),
            "ethbus: warning: it is late; see\n`ethbus doctor --format json` for why\n"
        );
    }

    #[test]
    fn signs_have_ascii_letters_of_the_same_width() {
        let (signs, ascii) = ("0.951 ± 0.003  –  █·· 86µs", "0.951 +-0.003  -  #.. 86us");
        assert_eq!(in_ascii(signs), ascii);
        assert_eq!(signs.chars().count(), ascii.len());
        assert_eq!(in_ascii("é 50–60"), "é 50-60");
    }

    #[test]
    fn drawings_stay_as_wide_as_they_are() {
        let text = "Each attempt, every row at its own place\n  st1#1  ===== ===== ===== =====\n";
        assert_eq!(
            fold_prose(text, 24),
            "Each attempt, every row\nat its own place\n  st1#1  ===== ===== ===== =====\n"
        );
    }

    #[test]
    fn a_text_that_is_too_long_ends_in_dots() {
        assert_eq!([cut("abc", 3), cut("abcd", 3)], ["abc", "ab…"]);
    }
}
