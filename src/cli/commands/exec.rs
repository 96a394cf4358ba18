//! `ethbus exec`: become a program in a station. Nothing of ethbus is left in between, so input, output,
//! signals and the exit code pass through.

use super::prompt::prompt;
use super::rights::station as namespace_of;
use super::{CommandError, LAB, Outcome, running_lab};
use crate::cli::args::ExecArgs;
use live::control::{self, Begun, CommandEnded, Notification, Output};
use live::lab::inventory::{Content, Inventory};
use say::program::{program as ethbus, quoted};
use say::say;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The exit code that shells use.
const NOT_EXECUTABLE: u8 = 126;
/// The exit code that shells use.
const NOT_FOUND: u8 = 127;
/// Where programs look names up.
const HOSTS: &str = "/etc/hosts";

/// Runs a program in a station, or a shell. Comes back only if that fails.
///
/// # Errors
/// No such lab or station, or no right to enter it.
pub fn exec(args: &ExecArgs) -> Outcome {
    let (given, command) = (args.lab.name.as_deref(), args.command.as_slice());
    let Some(station) = &args.station else { return prompt(given) };
    let lab = running_lab(given)?;
    let content = Inventory::of_running(&lab)?;
    let name = content.station_meant(station);
    let name = name.as_str();
    if content.is_virtual {
        return in_kernel(&lab, &content, name, command);
    }
    let hosts = Inventory::hosts(&lab)?;
    // A lab of an earlier version has no such stream.
    let discards = control::discards(&lab, name).ok();
    let namespace = namespace_of(&lab, &content, name)?;
    namespace.enter_for_exec().map_err(|source| CommandError::Enter { station: name.to_owned(), source })?;
    // The lab may have ended meanwhile: then no supervisor would end the program.
    Inventory::check_entered(&lab, name, &namespace)?;
    // Where names cannot be looked up, addresses still do.
    let _ = link::namespace::mount_file(&hosts, Path::new(HOSTS));
    // A `--` before the program is what other programs want, and does no harm.
    let command = command.strip_prefix(&[OsString::from("--")]).unwrap_or(command);
    let mut program = match command.split_first() {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        None => shell_of(&lab, name),
    };
    program.env(LAB, &lab).env("ETHBUS_STATION", name).envs(discards.map(|path| ("ETHBUS_DISCARDS", path)));
    // It ends at a limit on files, as it would without this program.
    let error = link::signals::unblock(&mut program).exec();
    Ok(ExitCode::from(match (error.kind(), command) {
        (ErrorKind::NotFound, [line]) if is_for_a_shell(line) => {
            let (of, line) = (given.map_or_else(String::new, |lab| format!("--name {lab} ")), line.to_string_lossy());
            let right = format!("{} exec {of}{name} sh -c {}", ethbus(), quoted(&line));
            say(&format!("ethbus: `{line}` is a line for a shell and no program: write `{right}`\n"));
            NOT_FOUND
        }
        (ErrorKind::NotFound, _) => {
            let missing = program.get_program().display();
            say(&format!("ethbus: {missing}: there is no such program: install it; `ethbus doctor` names packages\n"));
            NOT_FOUND
        }
        (_, _) => {
            say(&format!("ethbus: cannot run {}: {error}\n", program.get_program().display()));
            NOT_EXECUTABLE
        }
    }))
}

/// Has a kernel in virtual time run a program, and passes on what it prints and its exit code.
fn in_kernel(lab: &str, content: &Content, station: &str, command: &[OsString]) -> Outcome {
    if !content.stations.iter().any(|port| port.name == station) {
        let stations = super::station_names(content);
        return Err(CommandError::NoStation { lab: lab.to_owned(), station: station.to_owned(), stations });
    }
    let command = command.strip_prefix(&[OsString::from("--")]).unwrap_or(command);
    let words: Vec<String> = command.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let line = if words.is_empty() { shell_in_kernel(lab, station) } else { words.join(" ") };
    let has_input = !is_nothing("/dev/stdin");
    let begun = control::exec(lab, station, &line, has_input);
    let (Begun { paused }, lines) = begun.map_err(|error| CommandError::of_lab(lab, error))?;
    if paused {
        say(&format!("ethbus: the clock of `{lab}` is stopped: the program waits for `ethbus resume {lab}`\n"));
    }
    if has_input {
        let system = |source| CommandError::System { what: "start a thread", source };
        let mut stream = lines.get_ref().try_clone().map_err(system)?;
        let send = move || {
            // The program may end before its input.
            let _ = io::copy(&mut io::stdin(), &mut stream);
            let _ = stream.shutdown(Shutdown::Write);
        };
        std::thread::Builder::new().name("input".to_owned()).spawn(send).map_err(system)?;
    }
    for line in lines.lines() {
        let line = line.map_err(|source| CommandError::Control { name: lab.to_owned(), source })?;
        if let Ok(Notification { params, .. }) = serde_json::from_str::<Notification<CommandEnded>>(&line) {
            let Some(code) = params.code else {
                say(&format!("ethbus: the kernel of {station} ended before the program\n"));
                return Ok(ExitCode::FAILURE);
            };
            return Ok(ExitCode::from(code));
        }
        let Ok(Notification { params, .. }) = serde_json::from_str::<Notification<Output>>(&line) else { continue };
        let octets = control::octets_of(&params.octets);
        let written = match params.error {
            true => io::stderr().write_all(&octets),
            false => io::stdout().write_all(&octets).and_then(|()| io::stdout().flush()),
        };
        written.map_err(CommandError::Output)?;
    }
    say(&format!("ethbus: the lab `{lab}` ended before the program\n"));
    Ok(ExitCode::FAILURE)
}

/// A shell that asks for lines. It has no terminal of its own: the user's edits the lines.
fn shell_in_kernel(lab: &str, station: &str) -> String {
    format!("PS1={} exec sh +m -i 2>&1", quoted(&format!("{lab}:{station} $ ")))
}

/// Whether a file is the system's file of nothing.
fn is_nothing(file: &str) -> bool {
    let device = |file| std::fs::metadata(file).map(|it| it.rdev()).ok();
    device(file).is_none_or(|it| Some(it) == device("/dev/null"))
}

/// Whether a program's name contains a character that a shell interprets: a blank, `;`, `|` and the like.
fn is_for_a_shell(name: &OsStr) -> bool {
    name.to_string_lossy().contains([' ', '\t', '\n', ';', '|', '&', '<', '>', '$', '*', '?', '`', '"', '\''])
}

/// The user's shell, whose prompt says where it is.
fn shell_of(lab: &str, station: &str) -> Command {
    let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_file());
    let mut command = Command::new(shell.unwrap_or_else(|| "/bin/sh".into()));
    // What the user's own settings make of the prompt comes after PS1 and before PROMPT_COMMAND.
    command.env("PS1", format!("{lab}:{station} \\w\\$ "));
    command.env("PROMPT_COMMAND", format!("PS1='{lab}:{station} \\w\\$ '"));
    command
}
