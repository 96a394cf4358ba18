//! A report for people.

use super::row::{Expected, HALF_WIDTHS, Row, Verdict};
use super::{Report, Section};
use say::plain_table;
use say::terminal::fold;
use sim::words::units::group;
use std::fmt::Write as _;

/// Columns that a row's words get however narrow the terminal is.
const FEWEST: usize = 16;

/// The whole report: a table for each section, and the reasons below it. On a terminal of `width` columns it is fitted to them;
/// for a file each line is as long as it is.
pub fn table(report: &Report, width: Option<usize>) -> String {
    let mut text = String::new();
    for section in &report.sections {
        text += &section_text(section, width);
    }
    let quick = if report.quick { ", quick" } else { "" };
    let summary = format!(
        "seed {}{quick}: {} agree, {} deviate as explained, {} DEVIATE (an estimate agrees within {HALF_WIDTHS} half-widths)\n",
        report.seed, report.agree, report.explained, report.unexplained
    );
    text + &folded(&summary, width)
}

/// Prose, folded where there is a terminal to fold it for.
fn folded(text: &str, width: Option<usize>) -> String {
    width.map_or_else(|| text.to_owned(), |width| fold(text, width))
}

fn section_text(section: &Section, width: Option<usize>) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    let mut commands: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for row in &section.rows {
        let verdict = match row.verdict() {
            Verdict::Agrees => "agrees".to_owned(),
            Verdict::Explained(why) => format!("deviates: ({})", letter(number(&mut reasons, why))),
            Verdict::Deviates => "DEVIATES".to_owned(),
        };
        let command =
            row.command.as_deref().map_or_else(String::new, |command| (number(&mut commands, command) + 1).to_string());
        rows.push([
            format!("  {}", row.what),
            expected(row),
            figure(row.measured),
            row.half_width.map_or_else(String::new, |half| format!("± {}", figure(half))),
            signed(row.deviation()),
            verdict,
            command,
        ]);
    }
    let prose = format!("{}\n  from: {}\n  {}\n", section.title, section.source, section.about);
    let mut text = format!("{}\n{}", folded(&prose, width), rows_table(&rows, width));
    for (index, why) in reasons.iter().enumerate() {
        text += &folded(&format!("  ({}) {why}\n", letter(index)), width);
    }
    for (index, command) in commands.iter().enumerate() {
        text += &command_lines(&format!("  {:>3}  {command}", index + 1), width);
    }
    text + "\n"
}

/// The rows as a table. Where the terminal is too narrow, the deviations go, which follow from the two columns before
/// them, and then the words of a row are folded.
fn rows_table(rows: &[[String; 7]], width: Option<usize>) -> String {
    let whole =
        plain_table(["", "expected", "measured", "95 %", "deviation", "verdict", "command"], rows.iter().cloned());
    let Some(width) = width.filter(|width| widest(&whole) > *width) else { return whole };
    let narrow = |room: usize| {
        let rows = rows.iter().map(|[what, expected, measured, half, _, verdict, command]| {
            [fold(what, room), expected.clone(), measured.clone(), half.clone(), verdict.clone(), command.clone()]
        });
        plain_table(["", "expected", "measured", "95 %", "verdict", "command"], rows)
    };
    let unfolded = narrow(usize::MAX);
    let words = rows.iter().map(|[what, ..]| what.chars().count()).max().unwrap_or(0);
    match widest(&unfolded).saturating_sub(width) {
        0 => unfolded,
        too_wide => narrow(words.saturating_sub(too_wide).max(FEWEST)),
    }
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// A command that can be pasted: on a narrow terminal it goes on in the next line after a backslash.
fn command_lines(line: &str, width: Option<usize>) -> String {
    const INDENT: &str = "         ";
    const MORE: &str = " \\";
    let mut text = String::new();
    let mut last = String::new();
    for (index, part) in line.split(" --").enumerate() {
        let part = if index == 0 { part.to_owned() } else { format!(" --{part}") };
        if width.is_some_and(|width| last.chars().count() + part.chars().count() + MORE.len() > width) && index > 0 {
            writeln!(text, "{last}{MORE}").expect("a string takes any text");
            last = format!("{INDENT}{}", part.trim_start());
        } else {
            last += &part;
        }
    }
    text + &last + "\n"
}

/// The place of `text` among those seen.
fn number<'a>(seen: &mut Vec<&'a str>, text: &'a str) -> usize {
    seen.iter().position(|known| *known == text).unwrap_or_else(|| {
        seen.push(text);
        seen.len() - 1
    })
}

fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

fn expected(row: &Row) -> String {
    match row.expected {
        Expected::Exactly(expected) | Expected::About(expected) => figure(expected),
        Expected::Between(low, high) if low == high => figure(low),
        Expected::Between(low, f64::INFINITY) => format!("{} or more", figure(low)),
        Expected::Between(low, high) => format!("{} to {}", figure(low), figure(high)),
    }
}

/// A number as people read it: whole ones whole, others to what matters.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size.is_nan() => "none".to_owned(),
        size if size == size.trunc() && size < 1e15 => {
            format!("{}{}", if value < 0.0 { "-" } else { "" }, group(size as u64))
        }
        size if size < 1e-4 => format!("{value:.1e}"),
        size if size < 10.0 => format!("{value:.5}"),
        size if size < 1000.0 => format!("{value:.3}"),
        _ => format!("{value:.2}"),
    }
}

fn signed(value: f64) -> String {
    match figure(value) {
        number if value > 0.0 => format!("+{number}"),
        number => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(what: &str) -> [String; 7] {
        [what, "1.0e-5 to 1", "1407384.99", "± 0.00106", "+0.00035", "deviates: (a)", "17"].map(str::to_owned)
    }

    /// As wide as it is in a file; on a terminal no wider than that.
    #[test]
    fn tables_and_commands_fit_the_terminal() {
        let rows =
            [row("  evenness of the delays after collision 15"), row("  1518 octets at 1G, bursting on: frames/s")];
        let whole = rows_table(&rows, None);
        assert_eq!(whole.lines().count(), 3);
        assert_eq!(rows_table(&rows, Some(widest(&whole))), whole);
        for width in [110, 100, 80] {
            let fitted = rows_table(&rows, Some(width));
            assert!(widest(&fitted) <= width && !fitted.contains("deviation"), "{width}:\n{fitted}");
            assert!(fitted.contains("collision") && fitted.contains("deviates: (a)"), "{fitted}");
        }
        let command =
            "   17  ethbus sim --stations 1 --frame-size 1518 --rate 1G --bursting on --duration 660.8ms --seed 1";
        assert_eq!(command_lines(command, None), format!("{command}\n"));
        let broken = command_lines(command, Some(60));
        assert!(widest(&broken) <= 60, "{broken}");
        assert_eq!(broken.replace(" \\\n         ", " "), format!("{command}\n"));
    }
}
