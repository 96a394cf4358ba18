//! Reads the command line, and says in one line what is wrong with it: `--option: value: what would be right`.

use super::args::{self, Cli};
use super::commands::CommandError;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use say::{say, with_causes};
use sim::scenario::wrong::meant;
use sim::settings::keys;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// As shells and clap end for wrong use.
pub const WRONG_USE: u8 = 2;

/// Options of other programs, and ours of the same meaning, with a value where one is meant; words for keys of a scenario are in
/// `sim::settings::keys`. A command without that option gives no hint, however alike another option looks. An empty text: the
/// word has several meanings.
const HABITS: [(&[&str], &str); 13] = [
    (&["load"], "traffic"),
    // Of a frame, or of the cable; of a port, or of the medium.
    (&["length", "mode"], ""),
    (&["json"], "format json"),
    (&["csv"], "format csv"),
    (&["output"], "out"),
    (&["log", "trace"], "events"),
    (&["runs", "repeat"], "replications"),
    (&["packets", "count"], "count"),
    (&["daemon", "detach"], "background"),
    (&["protocol", "mac"], "access"),
    (&["until", "simulate"], "duration"),
    (&["log-x", "log-y"], "log"),
    (&["x-range", "y-range"], "range"),
];

/// Options of earlier versions of commands with traces, and what to write.
const BY_A_TRACE: [(&[&str], &str); 3] = [
    (&["--record"], "`--events FILE --events-level inputs`"),
    (&["--perfetto", "--vcd"], "`--events FILE`, and `ethbus convert FILE --to` what you want"),
    (
        &["--pcapng-plain", "--pcapng-filter"],
        "`--events FILE`, and `ethbus convert FILE --to pcapng` with --plain or --filter",
    ),
];

/// Commands of Mininet, docker, containerlab and others, and those of earlier versions: what to type here. The first word of
/// what is to be typed is a command of ours; a test looks.
const OTHERS_COMMANDS: [(&[&str], &str, &str); 27] = [
    (&["deploy", "create", "start"], "up", "write `ethbus up`"),
    (&["delete", "kill", "clean", "cleanup"], "down", "write `ethbus down`"),
    (&["inspect", "nodes", "net", "dump", "status", "show"], "list", "write `ethbus list`"),
    (&["top"], "stats", "write `ethbus stats --watch`, or `ethbus watch` for the bus itself"),
    (&["connect", "link"], "plug", "write `ethbus plug st1`, or `ethbus add` for a new station"),
    (&["disconnect", "unlink"], "unplug", "write `ethbus unplug st1`"),
    (&["record"], "up", "write `ethbus up --events FILE --events-level inputs`, or the same of `ethbus sim`"),
    (&["trace"], "explain", "write `ethbus explain FILE`; `ethbus sim --events FILE` makes the file"),
    (&["examples", "example", "new"], "init", "write `ethbus init`"),
    (&["test", "verify"], "check", "write `ethbus check FILE` for a scenario, `ethbus doctor` for this machine"),
    (&["graph", "monitor"], "watch", "write `ethbus watch`"),
    (&["logs", "log", "events"], "stats", "write `ethbus stats`; `ethbus up --events FILE` logs every event of a lab"),
    (&["merge"], "sweep", "write `ethbus sweep merge`"),
    (&["reproduce"], "sweep", "write `ethbus sweep row`"),
    (&["metrics", "prometheus"], "serve", "write `ethbus serve prometheus`"),
    (&["docker"], "serve", "write `ethbus serve docker`"),
    (&["completions"], "help", "write `ethbus help completions`"),
    (&["man"], "help", "write `ethbus help man`"),
    (&["validate"], "theory", "write `ethbus theory check`"),
    (&["bench", "measure"], "doctor", "write `ethbus doctor --measure`"),
    (&["story"], "theory", "write `ethbus theory check`, or open the lessons of the page"),
    (&["keep"], "capture", "write `ethbus capture --last`"),
    (&["ping"], "exec", "a station runs it: write `ethbus exec st1 ping st2`"),
    (&["pingall"], "exec", "one station at a time runs `ping`: write `ethbus exec st1 ping st2`"),
    (&["iperf", "iperf3", "tcpdump", "ip"], "exec", "a station runs it: write `ethbus exec st1 PROGRAM`"),
    (&["ssh", "sh", "bash", "xterm", "console", "enter", "shell"], "exec", "write `ethbus exec st1`"),
    (
        &["pcap", "wireshark", "tshark", "dumpcap"],
        "capture",
        "write `ethbus capture -o FILE` for a lab's bus, or `ethbus exec st1 tcpdump` for one station",
    ),
];

/// Options of docker's and kubectl's `exec`, alone or together.
const OTHERS_TERMINAL: [&str; 4] = ["-i", "-t", "--interactive", "--tty"];

/// Options of `ethbus sim` whose files are of one run.
const OF_ONE_RUN: [&str; 3] = ["--series", "--series-out", "--frames"];

/// The command line of this process.
///
/// # Errors
/// It asks for help or for the version, which has been printed, or it is wrong, which has been said: the exit code.
pub fn parse() -> Result<Cli, ExitCode> {
    let arguments = joined(asked_by_name(asked_by_wireshark(std::env::args_os().collect())));
    // The lists of commands are in the help alone: nothing else makes them.
    let mut whole = Cli::command();
    let matches = whole.try_get_matches_from_mut(&arguments).or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            args::command().try_get_matches_from(&arguments)
        }
        _ => Err(error),
    });
    let read = matches.and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut whole)));
    read.map_err(|error| {
        if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            say(&format!("ethbus: {}\n", what(&error)));
            return ExitCode::from(WRONG_USE);
        }
        match error.print().and_then(|()| io::stdout().flush()) {
            Ok(()) => ExitCode::from(error.exit_code() as u8),
            // As in `ethbus --help | head -1`: the reader has what it wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(source) => {
                say(&format!("ethbus: {}\n", with_causes(&CommandError::Output(source)).trim_end()));
                ExitCode::FAILURE
            }
        }
    })
}

/// Wireshark calls a program of its extcap folder with options alone: they are those of `ethbus extcap`.
fn asked_by_wireshark(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let has = |argument: &OsString, beginning: &str| argument.to_str().is_some_and(|it| it.starts_with(beginning));
    if arguments.get(1).is_some_and(|first| has(first, "--")) && arguments.iter().any(|it| has(it, "--extcap-")) {
        arguments.insert(1, "extcap".into());
    }
    arguments
}

/// `help` and `version` are options, and commands of many programs: `ethbus help up` is `ethbus up --help`. Man pages and
/// completions are a help of their own.
fn asked_by_name(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let word = |number: usize| arguments.get(number).and_then(|word| word.to_str());
    match word(1) {
        Some("help") if !matches!(word(2), Some("man" | "completions")) => {
            arguments.remove(1);
            arguments.push("--help".into());
        }
        Some("version") if arguments.len() == 2 => arguments[1] = "--version".into(),
        Some(_) | None => {}
    }
    arguments
}

/// The arguments with `--option -1` as `--option=-1` and `-n -1` as `-n=-1`, so that a value may begin with a minus.
///
/// Not after `exec`, where arguments are another program's.
fn joined(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_others = |argument: &OsString| matches!(argument.to_str(), Some("exec" | "--"));
    let end = arguments.iter().position(is_others).unwrap_or(arguments.len());
    let mut joined: Vec<OsString> = Vec::with_capacity(arguments.len());
    for (number, argument) in arguments.into_iter().enumerate() {
        let text = argument.to_str().unwrap_or_default();
        let is_negative = text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let option = joined.last_mut().filter(|last| {
            let last = last.to_str().unwrap_or_default();
            let is_short =
                last.len() == 2 && last.starts_with('-') && last.ends_with(|c: char| c.is_ascii_alphabetic());
            is_short || last.starts_with("--") && last.len() > 2 && !last.contains('=')
        });
        match option {
            Some(option) if is_negative && number < end => {
                option.push("=");
                option.push(argument);
            }
            Some(_) | None => joined.push(argument),
        }
    }
    joined
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join("`, `")),
        _ => None,
    }
}

fn list(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}

/// The option or the place of the argument, without its value: `--rate`, `STATION`.
fn name(error: &clap::Error) -> String {
    let name = context(error, ContextKind::InvalidArg).unwrap_or_default();
    name.split_whitespace().next().unwrap_or_default().trim_matches(['<', '>', '[', ']', '.']).to_owned()
}

/// `ethbus sim` and its arguments.
fn usage(error: &clap::Error) -> String {
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    usage.trim().trim_start_matches("Usage: ").lines().next().unwrap_or_default().to_owned()
}

/// `ethbus sim`
fn command(error: &clap::Error) -> String {
    let usage = usage(error);
    let words = usage.split_whitespace().take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
    words.collect::<Vec<_>>().join(" ")
}

fn what(error: &clap::Error) -> String {
    let (name, value) = (name(error), context(error, ContextKind::InvalidValue).unwrap_or_default());
    match error.kind() {
        ErrorKind::ValueValidation => {
            let source = error.source().map_or_else(String::new, ToString::to_string);
            format!("{name}: {}", with_value(&source, &value))
        }
        ErrorKind::InvalidValue => {
            let known = list(error, ContextKind::ValidValue);
            let right = match known.split_last() {
                Some((last, [])) => format!("`{last}`"),
                Some((last, rest)) => format!("`{}` or `{last}`", rest.join("`, `")),
                None => context(error, ContextKind::InvalidArg).map_or_else(String::new, |arg| format!("`{arg}`")),
            };
            if value.is_empty() {
                return format!("{name}: it has no value: write {right}");
            }
            match context(error, ContextKind::SuggestedValue) {
                Some(hint) => format!("{name}: `{value}` is not known: did you mean `{hint}`?"),
                None => format!("{name}: `{value}` is not known: write {right}"),
            }
        }
        ErrorKind::UnknownArgument => unknown(error, &name),
        ErrorKind::InvalidSubcommand => no_command(error),
        ErrorKind::MissingRequiredArgument => {
            let missing = context(error, ContextKind::InvalidArg).unwrap_or_default();
            let verb = if missing.contains("`, `") { "are" } else { "is" };
            format!("`{missing}` {verb} missing: write `{}`", usage(error))
        }
        ErrorKind::ArgumentConflict => {
            let other = context(error, ContextKind::PriorArg).unwrap_or_else(|| "the other arguments".to_owned());
            if other.split_whitespace().next() == Some(name.as_str()) {
                return format!("{name}: it is there twice: leave one out");
            }
            if name.is_empty() && usage(error).starts_with("ethbus sweep") {
                return format!("`{other}`: no command or second scenario comes after these: write `{}`", usage(error));
            }
            if name.is_empty() {
                return format!(
                    "`{other}` is the demonstration's option here: write options after the command, like `ethbus up --stations 4`"
                );
            }
            format!("{name}: not together with `{other}`: leave one out")
        }
        _ => {
            let text = error.to_string();
            text.trim_start_matches("error: ").lines().next().unwrap_or_default().to_owned()
        }
    }
}

/// What is wrong with a value; parsers of ours name it themselves.
fn with_value(what: &str, value: &str) -> String {
    if what.contains('`') { what.to_owned() } else { format!("`{value}`: {what}") }
}

fn unknown(error: &clap::Error, name: &str) -> String {
    let command = command(error);
    if !name.starts_with('-') {
        let frame = command == "ethbus explain" && name.contains('#');
        let hint = if frame { format!("ethbus explain FILE --frame {name}") } else { usage(error) };
        return format!("`{name}` is too much here: write `{hint}`");
    }
    if command.ends_with(" exec") && OTHERS_TERMINAL.contains(&name) {
        return format!(
            "{name}: `ethbus exec` needs no such option, since a program has your terminal: leave it out, as in `ethbus exec st1 sh`"
        );
    }
    let by_trace = BY_A_TRACE.iter().find(|(names, _)| names.contains(&name));
    if let Some((_, what)) = by_trace.filter(|_| has_option(&command, "events-level")) {
        return format!("{name}: no such option of `{command}`: write {what}");
    }
    if OF_ONE_RUN.contains(&name) && !has_option(&command, name.trim_start_matches('-')) {
        return format!(
            "{name}: it is of one run, so only `ethbus sim` has it: run that with the same scenario and seed"
        );
    }
    match option_hint(&command, name.trim_start_matches('-')) {
        Some(hint) => format!("{name}: no such option of `{command}`: did you mean `--{hint}`?"),
        None => format!("{name}: no such option of `{command}`: `{command} --help` lists them"),
    }
}

/// The option of a command that has the meaning of what was written, or differs from it by a slip.
fn option_hint(command: &str, written: &str) -> Option<String> {
    let found = find(command)?;
    let has = |hint: &str| {
        let (long, value) = hint.split_once(' ').unwrap_or((hint, ""));
        found.get_arguments().filter(|argument| argument.get_long() == Some(long)).any(|argument| {
            value.is_empty() || argument.get_possible_values().iter().any(|known| known.get_name() == value)
        })
    };
    let own = HABITS.iter().find(|(theirs, _)| theirs.contains(&written)).map(|(_, ours)| (*ours).to_owned());
    let of_key = || keys::HABITS.iter().find(|(theirs, _)| *theirs == written.replace('-', "_"));
    if let Some(hint) = own.or_else(|| of_key().map(|(_, ours)| ours.replace('_', "-"))) {
        return Some(hint).filter(|hint| has(hint));
    }
    let shown = found.get_arguments().filter(|argument| !argument.is_hide_set());
    meant(written, shown.filter_map(clap::Arg::get_long)).map(str::to_owned)
}

/// Whether `ethbus sim` has such an option.
fn has_option(command: &str, long: &str) -> bool {
    find(command).is_some_and(|found| found.get_arguments().any(|argument| argument.get_long() == Some(long)))
}

/// The command that `ethbus sim` or the like names.
fn find(command: &str) -> Option<clap::Command> {
    let below = |found: clap::Command, name: &str| found.find_subcommand(name).cloned();
    command.split_whitespace().skip(1).try_fold(args::command(), below)
}

fn no_command(error: &clap::Error) -> String {
    let written = context(error, ContextKind::InvalidSubcommand).unwrap_or_default();
    if written.ends_with(".toml") {
        return format!(
            "`{written}`: a scenario comes after a command: write `ethbus sim {written}` or `ethbus up {written}`"
        );
    }
    let above = command(error);
    let others = OTHERS_COMMANDS.iter().find(|(names, ..)| !above.contains(' ') && names.contains(&written.as_str()));
    if let Some((_, _, what)) = others {
        return format!("`{written}` is no command: {what}");
    }
    let hints = list(error, ContextKind::SuggestedSubcommand);
    // What only sounds alike, as `validate` does for `lsit`, is not what was meant.
    let longer = hints.iter().find(|hint| hint.starts_with(&written) || written.starts_with(hint.as_str())).cloned();
    match nearest_command(&above, &written).or(longer) {
        Some(hint) => format!("`{written}` is no command: did you mean `{above} {hint}`?"),
        None => format!("`{written}` is no command: `{above} --help` lists them"),
    }
}

/// The command below `above` that differs from what was written by a slip.
fn nearest_command(above: &str, written: &str) -> Option<String> {
    let found = find(above)?;
    let names: Vec<&str> = found.get_subcommands().map(clap::Command::get_name).collect();
    meant(written, names).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn joined_text(line: &str) -> String {
        let arguments = joined(line.split(' ').map(OsString::from).collect());
        arguments.iter().map(|argument| argument.to_str().expect("plain")).collect::<Vec<_>>().join(" ")
    }

    /// Letters that changed places, came twice or were left out; what only sounds alike is no hint.
    #[test]
    fn the_command_that_was_meant_is_named() {
        let hint = |arguments: &[&str]| {
            let error = Cli::try_parse_from([&["ethbus"], arguments].concat()).expect_err("no such command");
            what(&error)
        };
        for (written, meant) in [("smi", "sim"), ("lsit", "list"), ("expalin", "explain"), ("sweeep", "sweep")] {
            assert_eq!(hint(&[written]), format!("`{written}` is no command: did you mean `ethbus {meant}`?"));
        }
        assert_eq!(hint(&["plca", "gte"]), "`gte` is no command: did you mean `ethbus plca get`?");
        assert_eq!(hint(&["frobnicate"]), "`frobnicate` is no command: `ethbus --help` lists them");
    }

    /// The commands of other tools that newcomers type; none of these words may be a command of ours.
    #[test]
    fn commands_of_other_tools_lead_to_ours() {
        let commands = Cli::command();
        for (names, ours, told) in OTHERS_COMMANDS {
            assert!(told.contains(&format!("`ethbus {ours}")), "{ours}: {told}");
            assert!(commands.find_subcommand(ours).is_some(), "{ours}");
            for name in names {
                assert!(commands.find_subcommand(name).is_none(), "{name} is a command of ours");
                let error = Cli::try_parse_from(["ethbus", name]).expect_err("no such command");
                assert_eq!(what(&error), format!("`{name}` is no command: {told}"));
            }
        }
        for name in ["deploy", "top", "ping", "pingall", "inspect", "logs"] {
            assert!(OTHERS_COMMANDS.iter().any(|(names, ..)| names.contains(&name)), "{name}");
        }
    }

    /// Each word of other programs leads to an option of the same meaning; what has several meanings, or none here, leads nowhere.
    #[test]
    fn options_of_other_programs_lead_to_ours_by_their_meaning() {
        let hint = |command: &str, option: &str| option_hint(command, option);
        for (command, option, meant) in [
            ("sim", "speed", Some("rate")),
            ("theory check", "speed", None),
            ("sim", "length", None),
            ("up", "protocol", Some("access")),
            ("up", "mac", Some("access")),
            ("send", "packets", Some("count")),
            ("sim", "packets", None),
            ("sim", "count", None),
            ("sim", "csv", Some("format csv")),
            ("stats", "csv", None),
            ("stats", "json", Some("format json")),
            ("sim", "output", None),
            ("report", "output", Some("out")),
            ("sim", "topolgy", Some("topology")),
            ("sim", "frobnicate", None),
        ] {
            assert_eq!(hint(&format!("ethbus {command}"), option).as_deref(), meant, "{command} --{option}");
        }
        for ours in HABITS.iter().map(|(_, ours)| *ours).filter(|ours| !ours.is_empty()) {
            let long = ours.split(' ').next().expect("a word");
            let of =
                |command: &clap::Command| command.get_arguments().any(|argument| argument.get_long() == Some(long));
            assert!(args::command().get_subcommands().any(of), "no command has --{long}");
        }
    }

    #[test]
    fn exec_needs_no_options_for_the_terminal() {
        for options in ["-it", "-ti", "-i", "-t", "--interactive", "--tty"] {
            let error = Cli::try_parse_from(["ethbus", "exec", options, "st1", "sh"]).expect_err("no such option");
            assert!(what(&error).contains("leave it out, as in `ethbus exec st1 sh`"), "{options}: {}", what(&error));
        }
    }

    #[test]
    fn help_and_version_are_commands_too() {
        let asked = |line: &str| {
            let asked = asked_by_name(line.split(' ').map(OsString::from).collect());
            asked.iter().map(|word| word.to_str().unwrap_or_default()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(asked("ethbus help"), "ethbus --help");
        assert_eq!(asked("ethbus help retry herd"), "ethbus retry herd --help");
        assert_eq!(asked("ethbus version"), "ethbus --version");
        assert_eq!(asked("ethbus exec st1 help"), "ethbus exec st1 help");
    }

    #[test]
    fn a_value_may_begin_with_a_minus() {
        assert_eq!(joined_text("ethbus --seed -1 --stations 2"), "ethbus --seed=-1 --stations 2");
        assert_eq!(joined_text("ethbus sim --duration -1s"), "ethbus sim --duration=-1s");
        assert_eq!(joined_text("ethbus sim -n -1 -t -1s"), "ethbus sim -n=-1 -t=-1s");
        for others in ["ethbus exec st1 -- ping --count -1", "ethbus exec st1 ls --width -1", "ethbus --seed=3 -1"] {
            assert_eq!(joined_text(others), others);
        }
    }
}
