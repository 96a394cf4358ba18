//! `ethbus-verify TRACE…`: holds the traces of a run against the standard.
#![forbid(unsafe_code)]

use serde_json::{Value, json};
use sim::files::event_log::{EventLogReader, Names};
use sim::files::json_lines::ReadError;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use verify::{Compared, Figures, Ports, RULES, Verdict, Violation, bridges, verify};

const WRONG_USE: u8 = 2;

const USAGE: &str = include_str!("usage.txt");

/// What the command line asks for.
#[derive(Default)]
struct Asked {
    traces: Vec<PathBuf>,
    results: Option<PathBuf>,
    json: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let answer = match arguments.first().and_then(|first| first.to_str()) {
        Some("-h" | "--help") => Ok((USAGE.to_owned(), true)),
        Some("-V" | "--version") => Ok((concat!("ethbus-verify ", env!("CARGO_PKG_VERSION"), "\n").to_owned(), true)),
        Some("--rules") => {
            Ok((RULES.iter().map(|rule| format!("{:<24} {}\n", rule.name, rule.clause)).collect(), true))
        }
        _ => asked(arguments).and_then(|asked| held(&asked)),
    };
    match answer.map(|(text, is_right)| (io::stdout().lock().write_all(text.as_bytes()), is_right)) {
        Ok((Ok(()), true)) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("ethbus-verify: {error}");
            ExitCode::from(WRONG_USE)
        }
    }
}

fn asked(arguments: Vec<OsString>) -> Result<Asked, String> {
    let (mut asked, mut arguments) = (Asked::default(), arguments.into_iter());
    while let Some(argument) = arguments.next() {
        let mut value = |what: &str| arguments.next().ok_or(format!("{what} is missing: see `ethbus-verify --help`"));
        match argument.to_str() {
            Some("--results") => asked.results = Some(value("the file of --results")?.into()),
            Some("--format") => {
                asked.json = match value("the format of --format")?.to_str() {
                    Some("json") => true,
                    Some("text") => false,
                    _ => return Err("--format is `text` or `json`".to_owned()),
                }
            }
            Some(option) if option.starts_with('-') => {
                return Err(format!("there is no option {option}: see `ethbus-verify --help`"));
            }
            _ => asked.traces.push(argument.into()),
        }
    }
    match asked.traces.len() {
        0 => Err("name a trace: `ethbus-verify TRACE`".to_owned()),
        2.. if asked.results.is_some() => Err("--results is of one trace: name one".to_owned()),
        _ => Ok(asked),
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

/// What a trace was found to be.
struct Held {
    place: String,
    names: Names,
    verdict: Verdict,
    compared: Option<Compared>,
}

/// What is printed of all traces, and whether nothing was found.
fn held(asked: &Asked) -> Result<(String, bool), String> {
    let results = asked.results.as_deref();
    let read = asked.traces.iter().map(|path| read(path, results)).collect::<Result<Vec<_>, _>>()?;
    let (mut all, ports): (Vec<Held>, Vec<Ports>) = read.into_iter().unzip();
    for (bus, violation) in if ports.len() > 1 { bridges(&ports) } else { Vec::new() } {
        all[bus].verdict.violations.push(violation);
    }
    let is_same = |held: &Held| held.compared.as_ref().is_none_or(|compared| compared.differ.is_empty());
    let is_right = all.iter().all(|held| held.verdict.violations.is_empty() && is_same(held));
    let text = match asked.json {
        true => format!("{:#}\n", json!({ "holds": is_right, "traces": all.iter().map(object).collect::<Vec<_>>() })),
        false => all.iter().map(|held| lines(held, results)).collect(),
    };
    Ok((text, is_right))
}

fn read(path: &Path, results: Option<&Path>) -> Result<(Held, Ports), String> {
    let mut trace = EventLogReader::open(path).map_err(|error| said(&error))?;
    if trace.header().kept_from_bt.is_some() {
        let what = "this trace begins in the middle of a run, and ethbus-verify needs one from its beginning";
        return Err(said(&trace.wrong(what.to_owned())));
    }
    let results = results.map(|path| Ok::<_, String>((path, read_results(path)?))).transpose()?;
    let (config, mut ports) = (trace.header().configuration.config().clone(), Ports::new(trace.header()));
    let figures = results
        .as_ref()
        .map(|(path, results)| Figures::of(results, &config).map_err(|what| format!("{}: {what}", path.display())));
    let mut figures = figures.transpose()?;
    let taken = verify(&mut trace, |event, to| {
        ports.take(event, to);
        figures.iter_mut().for_each(|figures| figures.take(event));
    });
    let verdict = taken.map_err(|error| said(&error))?;
    let compared = figures.zip(results).map(|(figures, (_, results))| figures.compare(&results));
    Ok((Held { place: trace.place().to_owned(), names: trace.names().clone(), verdict, compared }, ports))
}

fn lines(held: &Held, results: Option<&Path>) -> String {
    let Verdict { violations, events, not_whole } = &held.verdict;
    let mut text: String = violations.iter().map(|found| found.told(&held.names) + "\n").collect();
    if let Some(why) = not_whole {
        text += &format!("not whole: {why}\n");
    }
    if let Some((path, compared)) = results.zip(held.compared.as_ref()) {
        text += &told(path, compared);
    }
    let count = match violations.len() {
        0 => "no violation".to_owned(),
        1 => "1 violation".to_owned(),
        count => format!("{count} violations"),
    };
    text + &format!("{}: {events} events, {count}\n", held.place)
}

fn object(held: &Held) -> Value {
    let violation = |found: &Violation| {
        json!({
            "t": found.at, "station": held.names.name(found.station), "rule": found.rule.name,
            "clause": found.rule.clause, "text": found.text_with(&held.names),
        })
    };
    let Verdict { violations, events, not_whole } = &held.verdict;
    let violations: Vec<Value> = violations.iter().map(violation).collect();
    let results = held
        .compared
        .as_ref()
        .map(|Compared { differ, same, skipped }| json!({ "same": same, "differ": differ, "not_computed": skipped }));
    json!({
        "trace": held.place, "events": events, "not_whole": not_whole, "violations": violations, "results": results,
    })
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
