//! `ethbus exec` alone: a prompt of a lab. The first word of a line is a station, with a program after it, or a command of
//! ethbus. There are no other words, and nothing in a line is replaced.

use super::names::at_prompt;
use super::{CommandError, LAB, Outcome, running_lab};
use crate::cli::args::Cli;
use clap::CommandFactory;
use link::signals::{Signal, Signals, unblock};
use live::lab::inventory::Inventory;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use say::say;
use std::io;
use std::process::{Command, ExitCode};

/// Does line after line, until the lines end or the lab does.
///
/// # Errors
/// No such lab; a terminal that cannot be read.
pub fn prompt(given: Option<&str>) -> Outcome {
    let lab = running_lab(given)?;
    Inventory::of_running(&lab)?;
    let system = |source| CommandError::System { what: "read lines", source };
    // An interrupt is for the program that runs.
    let _interrupts = Signals::block_and_open(&[Signal::SIGINT, Signal::SIGQUIT]).map_err(system)?;
    let config = Config::builder().completion_type(CompletionType::List).build();
    let failed = |error: ReadlineError| system(io::Error::other(error));
    let mut editor = Editor::with_history(config, MemHistory::new()).map_err(failed)?;
    editor.set_helper(Some(Words { lab: lab.clone() }));
    while Inventory::of_running(&lab).is_ok() {
        match editor.readline(&format!("{lab}> ")) {
            Ok(line) => {
                editor.add_history_entry(&line).map_err(failed)?;
                run(&lab, &line)?;
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(ExitCode::SUCCESS),
            Err(error) => return Err(failed(error)),
        }
    }
    say(&format!("ethbus: the lab `{lab}` has ended\n"));
    Ok(ExitCode::SUCCESS)
}

/// Does what a line says, and waits for its end.
fn run(lab: &str, line: &str) -> Result<(), CommandError> {
    let Some(words) = shlex::split(line) else {
        say("ethbus: a quotation mark has no second one: write both\n");
        return Ok(());
    };
    let Some(first) = words.first() else { return Ok(()) };
    let Some(arguments) = arguments(lab, &words) else {
        let right = "write a station and a program, like `st1 ping st2`, or a command, like `stats`; Ctrl-D ends";
        say(&format!("ethbus: `{first}` is neither a station of `{lab}` nor a command: {right}\n"));
        return Ok(());
    };
    let system = |source| CommandError::System { what: "start ethbus", source };
    let mut command = Command::new(std::env::current_exe().map_err(system)?);
    // What it ends with is its own affair, and it says so.
    unblock(command.args(arguments).env(LAB, lab)).status().map_err(system)?;
    Ok(())
}

/// The same line for `ethbus`; nothing if its first word is neither a station nor a command.
fn arguments(lab: &str, words: &[String]) -> Option<Vec<String>> {
    let (first, rest) = words.split_first()?;
    let content = Inventory::of_running(lab).unwrap_or_default();
    let station = content.station_meant(first);
    if content.stations.iter().any(|port| port.name == station) {
        let exec = ["exec", "--name", lab, &station].map(str::to_owned);
        return Some(exec.into_iter().chain(rest.iter().cloned()).collect());
    }
    Cli::command().find_subcommand(first).map(|_| words.to_vec())
}

/// What Tab knows.
struct Words {
    lab: String,
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, end: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = &line[..end];
        let begin = typed.rfind(' ').map_or(0, |blank| blank + 1);
        Ok((begin, at_prompt(&self.lab, typed)))
    }
}

impl Helper for Words {}
impl Highlighter for Words {}
impl Hinter for Words {
    type Hint = String;
}
impl Validator for Words {}
