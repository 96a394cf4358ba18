//! `ethbus-verify TRACE`: holds the trace of a run against the standard.
#![forbid(unsafe_code)]

use serde_json::Value;
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::ReadError;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use verify::{Compared, Figures, RULES, Verdict, verify_with};

const WRONG_USE: u8 = 2;

const USAGE: &str = "\
Holds the trace of a run, live or simulated, against IEEE 802.3 and the other access methods

Usage: ethbus-verify TRACE [--results FILE]

It shares the trace's reader with ethbus, and nothing of the engine. The trace needs the level `events`
or `all`: `ethbus sim --events FILE`, `ethbus up --events FILE`, or `ethbus replay TRACE --events FILE`.
Each violation has a line: instant in bit times, station, rule, clause, and what was found.
With --results, what `ethbus sim --format json` printed of the same run: each figure of it is computed
again from the trace, and those that differ have a line, too.
`ethbus-verify --rules` lists the rules.

Exit codes: 0 nothing found, 1 violations or other figures, 2 wrong use, or a file that cannot be read.
";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let told = match words[..] {
        ["-h" | "--help"] => tell(USAGE),
        ["-V" | "--version"] => tell(concat!("ethbus-verify ", env!("CARGO_PKG_VERSION"), "\n")),
        ["--rules"] => tell(&rules()),
        [option] if option.starts_with('-') => {
            return wrong(&format!("there is no option {option}: see `ethbus-verify --help`"));
        }
        [_] => return of_trace(Path::new(&arguments[0]), None),
        [_, "--results", _] => return of_trace(Path::new(&arguments[0]), Some(Path::new(&arguments[2]))),
        ["--results", _, _] => return of_trace(Path::new(&arguments[2]), Some(Path::new(&arguments[1]))),
        _ => return wrong("name one trace: `ethbus-verify TRACE`, or `ethbus-verify TRACE --results FILE`"),
    };
    told.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn rules() -> String {
    RULES.iter().map(|rule| format!("{:<24} {}\n", rule.name, rule.clause)).collect()
}

fn tell(text: &str) -> io::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())
}

fn wrong(text: &str) -> ExitCode {
    eprintln!("ethbus-verify: {text}");
    ExitCode::from(WRONG_USE)
}

fn of_trace(path: &Path, results: Option<&Path>) -> ExitCode {
    match read(path, results) {
        Ok((text, is_right)) => match tell(&text) {
            Ok(()) if is_right => ExitCode::SUCCESS,
            Ok(()) | Err(_) => ExitCode::FAILURE,
        },
        Err(error) => wrong(&error),
    }
}

fn said(error: &ReadError) -> String {
    let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

/// The results of a run.
fn read_results(path: &Path) -> Result<Value, String> {
    let place = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {place}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{place} is no results file: {error}"))
}

fn read(path: &Path, results: Option<&Path>) -> Result<(String, bool), String> {
    let mut trace = EventLogReader::open(path).map_err(|error| said(&error))?;
    if trace.header().kept_from_bt.is_some() {
        let what = "this trace begins in the middle of a run, and ethbus-verify needs one from its beginning";
        return Err(said(&trace.wrong(what.to_owned())));
    }
    let results = results.map(|path| Ok::<_, String>((path, read_results(path)?))).transpose()?;
    let config = trace.header().configuration.config().clone();
    let figures = results
        .as_ref()
        .map(|(path, results)| Figures::of(results, &config).map_err(|what| format!("{}: {what}", path.display())));
    let mut figures = figures.transpose()?;
    let taken = verify_with(&mut trace, |event| figures.iter_mut().for_each(|figures| figures.take(event)));
    let Verdict { violations, events, not_whole } = taken.map_err(|error| said(&error))?;
    let mut text = String::new();
    for found in &violations {
        text += &found.told(trace.names());
        text.push('\n');
    }
    if let Some(why) = not_whole {
        text += &format!("not whole: {why}\n");
    }
    let mut differ = 0;
    if let Some((figures, (path, results))) = figures.zip(results) {
        let compared = figures.compare(&results);
        differ = compared.differ.len();
        text += &told(path, &compared);
    }
    let count = match violations.len() {
        0 => "no violation".to_owned(),
        1 => "1 violation".to_owned(),
        count => format!("{count} violations"),
    };
    text += &format!("{}: {events} events, {count}\n", trace.place());
    Ok((text, violations.is_empty() && differ == 0))
}

/// Which figures differ, and the number of those that do not.
fn told(path: &Path, compared: &Compared) -> String {
    let place = path.display();
    let mut text: String = compared.differ.iter().map(|figure| format!("{place}: {figure}\n")).collect();
    if !compared.skipped.is_empty() {
        text += &format!("{place}: not computed: {}\n", compared.skipped.join(", "));
    }
    text + &format!("{place}: {} figures as in the trace, {} others\n", compared.same, compared.differ.len())
}
