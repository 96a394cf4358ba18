//! A report for people.

use super::row::{Asked, Figure, Row, Run, State, Verdict};
use super::{Machine, Report};
use say::plain_table;
use sim::words::units::group;
use std::fmt::Write as _;

/// The whole report: for each row its figures, and under which conditions they were measured.
pub fn table(report: &Report) -> String {
    let Machine { kernel, processor, processors } = &report.machine;
    let mut text = format!(
        "Linux {kernel}, {processors} x {processor}; seed {}, {} s a measurement, {:.0} s in all\n\n",
        report.seed, report.duration_s, report.took_s
    );
    for row in &report.rows {
        text += &row_text(row);
    }
    text + &summary(&report.rows)
}

fn row_text(row: &Row) -> String {
    let mut text = format!("{}: {}\n", row.name, row.about);
    match &row.state {
        State::Measured => {}
        State::Skipped(why) => writeln!(text, "  SKIPPED: {why}").expect("a string takes any text"),
        State::Failed(why) => writeln!(text, "  FAILED: {why}").expect("a string takes any text"),
    }
    let figures = row
        .figures
        .iter()
        .map(|figure| [format!("  {}", figure.name), value(figure.value, figure.unit), asked(figure), verdict(figure)]);
    if !row.figures.is_empty() {
        text += &plain_table(["", "measured", "asked", "verdict"], figures);
    }
    let explained = row.figures.iter().filter_map(|figure| match figure.verdict? {
        Verdict::Explained(why) => Some(format!("{}: {why}", figure.name)),
        Verdict::Met | Verdict::MissedBy(_) | Verdict::ImpossibleBy(_) => None,
    });
    let runs = row.runs.iter().map(run_text);
    for line in explained.chain(row.notes.iter().cloned()).chain(runs) {
        writeln!(text, "    {line}").expect("a string takes any text");
    }
    text + "\n"
}

fn run_text(run: &Run) -> String {
    let conditions = &run.conditions;
    let mut text = format!(
        "{}: machine {:.0} % busy, steal {:.1} %, load {:.2}, wakes up {:.0} to {:.0} us late, stalls {:.1} % of pages",
        run.name,
        conditions.busy_percent,
        conditions.steal_percent,
        conditions.load_average,
        conditions.wake_p50_us,
        conditions.wake_late_us,
        conditions.page_stall_percent
    );
    if let Some(emulator) = &run.emulator {
        write!(
            text,
            "; lateness {:.1}/{:.1} us, {} late arrivals",
            emulator.timing.lateness_p50_ns as f64 / 1e3,
            emulator.timing.lateness_p99_ns as f64 / 1e3,
            group(emulator.timing.late_arrivals)
        )
        .expect("a string takes any text");
    }
    match run.troubles() {
        troubles if troubles.is_empty() => text,
        troubles => text + "; " + &troubles,
    }
}

fn asked(figure: &Figure) -> String {
    let unit = figure.unit;
    match figure.asked {
        None => String::new(),
        Some(Asked::AtMost(most)) => format!("at most {}", value(most, unit)),
        Some(Asked::AtLeast(least)) => format!("at least {}", value(least, unit)),
        Some(Asked::Between(least, most)) => format!("{least} to {}", value(most, unit)),
        Some(Asked::Within(far)) => format!("within {}", value(far, unit)),
    }
}

fn verdict(figure: &Figure) -> String {
    match figure.verdict {
        None => String::new(),
        Some(Verdict::Met) => "met".to_owned(),
        Some(Verdict::MissedBy(distance)) => format!("MISSED by {}", value(distance, figure.unit)),
        Some(Verdict::Explained(_)) => "explained".to_owned(),
        Some(Verdict::ImpossibleBy(distance)) => format!("A BUG: {} above what can be", value(distance, figure.unit)),
    }
}

/// A number as people read it, with its unit.
fn value(value: f64, unit: &str) -> String {
    let number = match value.abs() {
        _ if value.is_nan() => "none".to_owned(),
        size if size >= 1_000.0 => format!("{}{}", if value < 0.0 { "-" } else { "" }, group(size.round() as u64)),
        size if size == size.trunc() => format!("{value}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    format!("{number} {unit}").trim_end().to_owned()
}

fn summary(rows: &[Row]) -> String {
    let asked = || rows.iter().flat_map(|row| &row.figures).filter_map(|figure| figure.verdict);
    let met = asked().filter(|verdict| *verdict == Verdict::Met).count();
    let bugs = asked().filter(|verdict| matches!(verdict, Verdict::ImpossibleBy(_))).count();
    let state = |wanted: fn(&State) -> bool| rows.iter().filter(|row| wanted(&row.state)).count();
    let (skipped, failed) = (state(|s| matches!(s, State::Skipped(_))), state(|s| matches!(s, State::Failed(_))));
    let explained = asked().filter(|verdict| matches!(verdict, Verdict::Explained(_))).count();
    let mut text = format!("{met} of {} figures are as asked", asked().count());
    for (count, what) in [(explained, "explained"), (bugs, "BUGS"), (skipped, "rows skipped"), (failed, "rows FAILED")]
    {
        if count > 0 {
            write!(text, "; {count} {what}").expect("a string takes any text");
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_matter() {
        assert_eq!(value(14_705.3, "frames/s"), "14,705 frames/s");
        assert_eq!(value(-1_234.0, ""), "-1,234");
        assert_eq!(value(0.0, ""), "0");
        assert_eq!((value(9.149, "Mb/s"), value(33.25, "us")), ("9.15 Mb/s".to_owned(), "33.2 us".to_owned()));
    }

    #[test]
    fn the_table_says_what_was_met_missed_and_skipped() {
        let mut row = Row::new("ping", "round trips");
        row.figures.push(Figure::new("p50", 50.0, "us").asked(Asked::AtMost(40.0)));
        row.figures.push(Figure::new("goodput", 9.5, "Mb/s").asked(Asked::Between(8.4, 9.15)));
        let mut skipped = Row::new("tcp", "a stream");
        skipped.state = State::Skipped("needs iperf3".to_owned());
        let machine = Machine { kernel: "6.18".to_owned(), processor: "CPU".to_owned(), processors: 2 };
        let report = Report { version: 1, seed: 7, duration_s: 5.0, took_s: 12.0, machine, rows: vec![row, skipped] };
        let text = table(&report);
        for words in ["seed 7", "at most 40 us", "MISSED by 10 us", "A BUG: 0.35 Mb/s", "SKIPPED: needs iperf3"] {
            assert!(text.contains(words), "no `{words}` in {text}");
        }
        assert!(text.contains("0 of 2 figures are as asked; 1 BUGS; 1 rows skipped"), "{text}");
    }
}
