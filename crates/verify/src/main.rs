//! `ethbus-verify TRACE`: holds the trace of a run against the standard.
#![forbid(unsafe_code)]

use sim::files::event_log::EventLogReader;
use sim::files::json_lines::ReadError;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use verify::{RULES, Verdict, verify};

const WRONG_USE: u8 = 2;

const USAGE: &str = "\
Holds the trace of a run, live or simulated, against IEEE 802.3 and the other access methods

Usage: ethbus-verify TRACE

It shares the trace's reader with ethbus, and nothing of the engine. The trace needs the level `events`
or `all`: `ethbus sim --events FILE`, `ethbus up --events FILE`, or `ethbus replay TRACE --events FILE`.
Each violation has a line: instant in bit times, station, rule, clause, and what was found.
`ethbus-verify --rules` lists the rules.

Exit codes: 0 no violation, 1 violations, 2 wrong use, or a trace that cannot be read.
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
        [_] => return of_trace(Path::new(&arguments[0])),
        _ => return wrong("name one trace: `ethbus-verify TRACE`"),
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

fn of_trace(path: &Path) -> ExitCode {
    match read(path) {
        Ok((text, is_right)) => match tell(&text) {
            Ok(()) if is_right => ExitCode::SUCCESS,
            Ok(()) | Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            let causes = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
            wrong(&format!("{error}{causes}"))
        }
    }
}

fn read(path: &Path) -> Result<(String, bool), ReadError> {
    let mut trace = EventLogReader::open(path)?;
    if trace.header().kept_from_bt.is_some() {
        let what = "this trace begins in the middle of a run, and ethbus-verify needs one from its beginning";
        return Err(trace.wrong(what.to_owned()));
    }
    let Verdict { violations, events, not_whole } = verify(&mut trace)?;
    let mut text = String::new();
    for found in &violations {
        text += &found.told(trace.names());
        text.push('\n');
    }
    if let Some(why) = not_whole {
        text += &format!("not whole: {why}\n");
    }
    let place = trace.place();
    text += &match violations.len() {
        0 => format!("{place}: {events} events, no violation\n"),
        1 => format!("{place}: {events} events, 1 violation\n"),
        count => format!("{place}: {events} events, {count} violations\n"),
    };
    Ok((text, violations.is_empty()))
}
