//! Sentences in lines, as wide as a terminal has them.

use std::sync::OnceLock;

/// Columns that a line has at most, and those that it may have on the narrowest terminal.
const WIDTH: usize = 110;
const LEAST_WIDTH: usize = 48;

/// `a`, `a and b`, `a, b and c`.
pub fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// How wide lines are, once it is known.
static COLUMNS_OF_LINES: OnceLock<usize> = OnceLock::new();

/// Sets the width of lines, once in a process: as many columns as the terminal has, where these can hold a sentence.
pub fn fit(columns: usize) {
    let _ = COLUMNS_OF_LINES.set(columns.clamp(LEAST_WIDTH, WIDTH));
}

fn width() -> usize {
    COLUMNS_OF_LINES.get().copied().unwrap_or(WIDTH)
}

/// Text broken into lines beside `head`, from column `edge` on.
pub fn wrap(head: &str, edge: usize, text: &str) -> String {
    let (mut lines, mut line) = (String::new(), format!("{head:<edge$}"));
    let width = width();
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            lines += line.trim_end();
            lines.push('\n');
            (line, empty) = (" ".repeat(edge), true);
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    lines + line.trim_end() + "\n"
}
