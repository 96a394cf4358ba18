//! How clients retry: the delays of policies side by side, the tables that the literature prints, a service under load, and
//! one to which many clients come back at once.
//!
//! Policies are those of `libbackoff`. Nothing here may know the medium, a clock or a socket.
#![forbid(unsafe_code)]

pub mod delays;
pub mod herd;
pub mod named;
pub mod published;
pub mod service;

pub use named::{Named, NamedError};

/// Why clients and a service cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option}: {what}")]
pub struct RunError {
    option: String,
    what: String,
}

impl RunError {
    /// What is wrong with an option.
    pub fn new(option: impl Into<String>, what: impl Into<String>) -> RunError {
        RunError { option: option.into(), what: what.into() }
    }

    fn too_many(named: &Named, most: u64) -> RunError {
        RunError::new("POLICY", format!("{} makes more than {most} requests: it hardly waits", named.name))
    }
}

/// Characters in a line of a table.
const WIDTH: usize = 80;

/// A span for people: nanoseconds in the unit that suits them, with four digits at most.
pub fn span(ns: f64) -> String {
    let (value, unit) = match ns {
        _ if ns == 0.0 => return "0 s".to_owned(),
        _ if ns < 1e3 => (ns, "ns"),
        _ if ns < 1e6 => (ns / 1e3, "us"),
        _ if ns < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let places = (3 - value.log10().floor() as i32).clamp(0, 3) as usize;
    let text = format!("{value:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// `head` and `text`, in lines of at most [`WIDTH`]; later lines are as far in as the text.
fn wrapped(head: &str, text: &str) -> String {
    let (mut lines, mut line, mut is_first) = (String::new(), head.to_owned(), true);
    for word in text.split_whitespace() {
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            line = " ".repeat(head.chars().count());
        } else if !is_first {
            line.push(' ');
        }
        line += word;
        is_first = false;
    }
    lines + &line + "\n"
}

/// Columns under `heads` beside the `labels`, as many as fit a line; the others below.
fn side_by_side(corner: &str, labels: &[String], heads: &[String], columns: &[Vec<String>]) -> String {
    let length = |text: &String| text.chars().count();
    let first = labels.iter().map(length).max().unwrap_or(0).max(corner.len());
    let widths: Vec<usize> = (heads.iter().zip(columns))
        .map(|(head, column)| column.iter().map(length).max().unwrap_or(0).max(length(head)))
        .collect();
    let (mut text, mut begin) = (String::new(), 0);
    while begin < columns.len() {
        let (mut end, mut width) = (begin + 1, first + 2 + widths[begin]);
        while end < columns.len() && width + 2 + widths[end] <= WIDTH {
            width += 2 + widths[end];
            end += 1;
        }
        let line = |label: &str, cells: Vec<&str>| {
            let cells = cells.iter().zip(&widths[begin..end]).map(|(cell, &width)| format!("  {cell:>width$}"));
            format!("{label:first$}{}\n", cells.collect::<String>())
        };
        text += if begin > 0 { "\n" } else { "" };
        text += &line(corner, heads[begin..end].iter().map(String::as_str).collect());
        for (row, label) in labels.iter().enumerate() {
            let cell = |column: &Vec<String>| column.get(row).map_or("", String::as_str).to_owned();
            let cells: Vec<String> = columns[begin..end].iter().map(cell).collect();
            text += &line(label, cells.iter().map(String::as_str).collect());
        }
        begin = end;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_unit_that_suits_them() {
        let shown = [0.0, 51_200.0, 375e6, 1.125e9, 19.221_679e9, 1e12, 7.0].map(span);
        assert_eq!(shown, ["0 s", "51.2 us", "375 ms", "1.125 s", "19.22 s", "1000 s", "7 ns"]);
    }

    #[test]
    fn columns_that_do_not_fit_go_below() {
        let heads: Vec<String> = (0..9).map(|n| format!("policy {n}")).collect();
        let columns = vec![vec!["x".repeat(20)]; 9];
        let text = side_by_side("n", &["1".to_owned()], &heads, &columns);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(heads.iter().all(|head| text.contains(head)));
    }
}
