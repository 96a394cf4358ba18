//! `ethbus __names`: the words that are possible at a place of a command line: names of labs, stations and programs,
//! keys of scenarios and their values. Shells ask it while the user types; see the ends of the completions that
//! `build.rs` makes.

mod values;

use super::{Outcome, lab_meant, print, station_names};
use crate::cli::args::{self, Cli, NamesArgs};
use clap::{Arg, ArgAction, Command, CommandFactory};
use live::lab::inventory::Inventory;
use sim::files::event_log::EventLogReader;
use sim::words::interface::BROADCAST;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

/// Prints the names, one in a line; nothing where only the shell knows the possible words.
///
/// # Errors
/// The text cannot be written.
pub fn names(args: &NamesArgs) -> Outcome {
    let words: Vec<&str> = args.words.iter().map(|word| word.to_str().unwrap_or("")).collect();
    let mut text = String::new();
    for name in wanted(&words).map_or_else(Vec::new, |wanted| candidates(&wanted)) {
        text += &name;
        text.push('\n');
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The words that may be the last one of a line that is typed at the prompt of a lab.
pub fn at_prompt(lab: &str, typed: &str) -> Vec<String> {
    let (before, begun) = typed.rsplit_once(' ').unwrap_or(("", typed));
    let words: Vec<&str> = before.split_whitespace().chain([begun]).collect();
    let stations = Inventory::of_running(lab).map(|content| station_names(&content)).unwrap_or_default();
    let is_station = words.len() > 1 && stations.iter().any(|station| station == words[0]);
    let ethbus: &[&str] = if is_station { &["ethbus", "exec"] } else { &["ethbus"] };
    let possible = wanted(&[ethbus, &words].concat());
    let mut names =
        possible.map_or_else(Vec::new, |wanted| candidates(&Wanted { lab: Some(wanted.lab.unwrap_or(lab)), ..wanted }));
    if words.len() == 1 {
        names.extend(stations.into_iter().filter(|station| station.starts_with(begun)));
    }
    names
}

/// The words that are possible at a place.
#[derive(Debug, PartialEq)]
struct Wanted<'a> {
    kind: Kind,
    /// The lab that `--name` has named.
    lab: Option<&'a str>,
    /// What has been typed of it.
    begun: &'a str,
}

#[derive(Debug, PartialEq)]
enum Kind {
    /// A lab that is up.
    Lab,
    /// A lab of which anything is left.
    AnyLab,
    Station,
    /// A station, an address or all.
    Destination,
    Program,
    /// One of these words.
    Word(Vec<String>),
    /// What `--pick` takes, of this trace.
    Pick(String),
    /// What `--filter` takes, of this trace, or else of a lab.
    Filter(Option<String>),
    /// A key and values, as `--set` takes them.
    Set,
    /// What `ethbus set` takes.
    Setting,
}

/// What the last word may be, after those before it.
fn wanted<'a>(words: &[&'a str]) -> Option<Wanted<'a>> {
    // `sudo -E ethbus exec` and the like.
    let begin = words.iter().position(|word| Path::new(word).file_name().is_some_and(|name| name == "ethbus"))?;
    let (&begun, before) = words[begin + 1..].split_last()?;
    let whole = args::command();
    let (mut above, mut command) = ("", &whole);
    let (mut lab, mut places, mut option) = (None, Vec::new(), None);
    for word in before {
        if let Some(taker) = option.take() {
            lab = if is_lab(taker) { Some(*word) } else { lab };
        } else if let Some(value) = word.strip_prefix("--name=") {
            lab = Some(value);
        } else if word.starts_with('-') {
            option = option_of(command, word).filter(|option| takes_a_value(option));
        } else if let Some(inner) = command.find_subcommand(word) {
            (above, command) = (command.get_name(), inner);
        } else {
            places.push(*word);
        }
    }
    // `--topology=b` is `--topology b`.
    let (argument, begun) = match (option, begun.split_once('=').filter(|_| begun.starts_with("--"))) {
        (Some(option), _) => (option, begun),
        (None, Some((option, value))) => (option_of(command, option)?, value),
        (None, None) if begun.starts_with('-') => return None,
        (None, None) if command.has_subcommands() && command.get_positionals().next().is_none() => {
            return Some(Wanted { kind: Kind::Word(commands_of(command)), lab, begun });
        }
        (None, None) => {
            let repeated = command.get_positionals().last().filter(|last| last.get_id() == SETTINGS);
            (command.get_positionals().nth(places.len()).or(repeated)?, begun)
        }
    };
    if argument.get_id() == SETTINGS && command.get_name() == "set" && above == "plca" {
        return Some(Wanted {
            kind: Kind::Word(values::of_plca(before.last().copied().unwrap_or_default())),
            lab,
            begun,
        });
    }
    let kind = kind_of(command, argument, places.first().copied().unwrap_or_default())?;
    Some(Wanted { kind, lab, begun })
}

/// The argument that comes again and again: of `set` and of `plca set`.
const SETTINGS: &str = "settings";

/// The commands below one that are for people.
fn commands_of(command: &Command) -> Vec<String> {
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    shown.map(|below| below.get_name().to_owned()).collect()
}

/// The option that a word like `--name` or `-n` gives; `--name=coax` has its value with it.
fn option_of<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let short = word.strip_prefix('-').filter(|rest| rest.chars().count() == 1).and_then(|rest| rest.chars().next());
    command.get_arguments().find(|option| {
        let is_long = word.strip_prefix("--").is_some_and(|long| option.get_long() == Some(long));
        is_long || (short.is_some() && option.get_short() == short)
    })
}

fn takes_a_value(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Set | ArgAction::Append)
}

fn is_lab(option: &Arg) -> bool {
    option.get_long() == Some("name")
}

/// What an argument is, from the name that the help gives its value; `first` is the command's first argument that is no option.
fn kind_of(command: &Command, argument: &Arg, first: &str) -> Option<Kind> {
    let known: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|v| v.get_name().to_owned())
        .collect();
    if !known.is_empty() {
        return Some(Kind::Word(known));
    }
    let own = argument.get_id().as_str().to_uppercase();
    let name = argument.get_value_names().and_then(|names| names.first()).map_or(own.as_str(), |name| name.as_str());
    match name {
        // A new lab needs a name that no other has.
        "LAB" if command.get_name() == "up" => None,
        "KEY=VALUE" => Some(Kind::Pick(first.to_owned())),
        "FILTER" if command.get_name() == "convert" => Some(Kind::Filter(Some(first.to_owned()))),
        "FILTER" if command.get_name() == "capture" => Some(Kind::Filter(None)),
        "COMMAND" => Some(Kind::Word(commands_of(&Cli::command()))),
        "KEY=VALUES" => Some(Kind::Set),
        "SETTING" => Some(Kind::Setting),
        "LAB" if command.get_name() == "down" => Some(Kind::AnyLab),
        "LAB" | "LAB|TRACE" => Some(Kind::Lab),
        "STATION" | "OTHER" => Some(Kind::Station),
        "DESTINATION" => Some(Kind::Destination),
        "PROGRAM" => Some(Kind::Program),
        name => values::of_option(command.get_name(), name).map(Kind::Word),
    }
}

fn candidates(wanted: &Wanted) -> Vec<String> {
    let stations = || {
        let lab = lab_meant(wanted.lab).and_then(|lab| Ok(Inventory::of_running(&lab)?));
        lab.map(|content| station_names(&content)).unwrap_or_default()
    };
    let mut names = match &wanted.kind {
        Kind::Lab => Inventory::names_up(),
        Kind::AnyLab => Inventory::all().unwrap_or_default().into_iter().map(|lab| lab.name).collect(),
        Kind::Station => stations(),
        Kind::Destination => stations().into_iter().chain([BROADCAST.to_owned()]).collect(),
        Kind::Program => programs(),
        Kind::Word(words) => words.clone(),
        Kind::Pick(log) => values::of_pick(wanted.begun, &stations_of(log)),
        Kind::Filter(Some(log)) => values::of_filter(wanted.begun, &stations_of(log)),
        Kind::Filter(None) => values::of_filter(wanted.begun, &stations()),
        Kind::Set => values::of_set(wanted.begun),
        Kind::Setting => [values::of_setting(wanted.begun), stations()].concat(),
    };
    names.retain(|name| name.starts_with(wanted.begun));
    names
}

/// The stations of a trace; none if it cannot be read.
fn stations_of(log: &str) -> Vec<String> {
    let opened = EventLogReader::open(Path::new(log));
    opened.map(|log| log.header().stations.clone()).unwrap_or_default()
}

/// All programs in `PATH`.
fn programs() -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let files = std::env::split_paths(&path).filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let is_program = |file: &std::fs::DirEntry| {
        std::fs::metadata(file.path()).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let mut names: Vec<String> =
        files.filter(is_program).filter_map(|file| file.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> Option<Kind> {
        wanted(&line.split(' ').collect::<Vec<_>>()).map(|wanted| wanted.kind)
    }

    #[test]
    fn the_command_line_says_what_may_come() {
        for line in
            ["ethbus exec ", "ethbus exec s", "sudo -E ./ethbus unplug ", "ethbus plug --name coax ", "ethbus fault "]
        {
            assert_eq!(kind(line), Some(Kind::Station), "{line}");
        }
        for line in
            ["ethbus cut st1 ", "ethbus send --from ", "ethbus receive --at ", "ethbus plca get ", "ethbus attach "]
        {
            assert_eq!(kind(line), Some(Kind::Station), "{line}");
        }
        for line in ["ethbus stats ", "ethbus watch ", "ethbus exec --name ", "ethbus mend ", "ethbus capture "] {
            assert_eq!(kind(line), Some(Kind::Lab), "{line}");
        }
        assert_eq!(kind("ethbus down "), Some(Kind::AnyLab));
        assert_eq!(kind("ethbus send --from st1 --to "), Some(Kind::Destination));
        assert_eq!(kind("ethbus exec st1 pi"), Some(Kind::Program));
        let faults: Vec<String> = medium::Fault::examples().chain(["none".to_owned()]).collect();
        assert_eq!(faults, crate::cli::args::FAULTS);
        assert_eq!(kind("ethbus fault st1 "), Some(Kind::Word(faults)));
        assert_eq!(kind("ethbus explain run.events --pick=co"), Some(Kind::Pick("run.events".to_owned())));
        assert_eq!(kind("ethbus convert run.events --filter "), Some(Kind::Filter(Some("run.events".to_owned()))));
        assert_eq!(kind("ethbus capture --filter "), Some(Kind::Filter(None)));
        assert_eq!(kind("ethbus sweep --set "), Some(Kind::Set));
        assert_eq!(kind("ethbus set "), Some(Kind::Setting));
        for line in ["ethbus sim ", "ethbus up --name ", "ethbus exec --", "ethbus exec st1 -", "ls ", "ethbus up "] {
            assert_eq!(kind(line), None, "{line}");
        }
    }

    /// Options come only after a hyphen: 75 words at once are no help.
    #[test]
    fn commands_come_first() {
        for line in ["ethbus ", "ethbus help man "] {
            let Some(Kind::Word(words)) = kind(line) else { panic!("{line}") };
            assert!(
                words.contains(&"up".to_owned()) && words.iter().all(|word| !word.starts_with(['-', '_'])),
                "{words:?}"
            );
        }
        assert_eq!(
            kind("ethbus plca "),
            Some(Kind::Word(["get", "status", "registers", "set"].map(str::to_owned).into()))
        );
        let Some(Kind::Word(names)) = kind("ethbus plca set st2 ") else { panic!("settings") };
        assert!(names.contains(&"node-id".to_owned()), "{names:?}");
        for line in ["ethbus plca set st2 enable ", "ethbus plca set st2 node-id 3 enable "] {
            assert_eq!(kind(line), Some(Kind::Word(["on", "off"].map(str::to_owned).into())), "{line}");
        }
    }

    #[test]
    fn the_lab_is_the_one_that_was_named() {
        for line in ["ethbus exec --name coax s", "ethbus exec --name=coax s"] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(wanted(&words), Some(Wanted { kind: Kind::Station, lab: Some("coax"), begun: "s" }));
        }
    }
}
