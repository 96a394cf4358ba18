//! A report for people.

use super::row::{Expected, HALF_WIDTHS, Row, Verdict};
use super::{Report, Section};
use crate::show::plain_table;
use sim::words::units::group;
use std::fmt::Write as _;

/// The whole report: a table for each section, and the reasons below it.
pub fn table(report: &Report) -> String {
    let mut text = String::new();
    for section in &report.sections {
        text += &section_text(section);
    }
    let quick = if report.quick { ", quick" } else { "" };
    writeln!(
        text,
        "seed {}{quick}: {} agree, {} deviate as explained, {} DEVIATE (an estimate agrees within {HALF_WIDTHS} half-widths)",
        report.seed, report.agree, report.explained, report.unexplained
    )
    .expect("a string takes any text");
    text
}

fn section_text(section: &Section) -> String {
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
    let header = ["", "expected", "measured", "95 %", "deviation", "verdict", "command"];
    let mut text =
        format!("{}\n  from: {}\n  {}\n\n{}", section.title, section.source, section.about, plain_table(header, rows));
    for (index, why) in reasons.iter().enumerate() {
        writeln!(text, "  ({}) {why}", letter(index)).expect("a string takes any text");
    }
    for (index, command) in commands.iter().enumerate() {
        writeln!(text, "  {:>3}  {command}", index + 1).expect("a string takes any text");
    }
    text + "\n"
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
