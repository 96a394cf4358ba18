//! `ethbus help`: what the build made of the arguments' definitions.

use super::{CommandError, Outcome, print};
use crate::cli::args::{CompletionsArgs, ManArgs, Shell};
use sim::files::json_lines::WriteError;
use sim::files::output::{MAN_PAGE, replace};
use sim::scenario::plan::PlanError;
use std::io::{IsTerminal, Write};
use std::process::{Command, ExitCode, Stdio};

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Prints completions.
///
/// # Errors
/// The text cannot be written.
pub fn completions(args: &CompletionsArgs) -> Outcome {
    print(match args.shell {
        Shell::Bash => include_str!(concat!(env!("OUT_DIR"), "/completions/ethbus.bash")),
        Shell::Elvish => include_str!(concat!(env!("OUT_DIR"), "/completions/ethbus.elv")),
        Shell::Fish => include_str!(concat!(env!("OUT_DIR"), "/completions/ethbus.fish")),
        Shell::PowerShell => include_str!(concat!(env!("OUT_DIR"), "/completions/_ethbus.ps1")),
        Shell::Zsh => include_str!(concat!(env!("OUT_DIR"), "/completions/_ethbus")),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Shows a man page on a terminal, prints its source elsewhere, or writes all pages into a folder.
///
/// # Errors
/// No such command; a folder that cannot be written to.
pub fn man(args: &ManArgs) -> Outcome {
    if let Some(folder) = &args.made.out {
        for (name, text) in PAGES {
            let path = folder.join(name);
            std::fs::create_dir_all(folder).map_err(|source| CommandError::Init { path: path.clone(), source })?;
            replace(&path, MAN_PAGE, text.as_bytes()).map_err(WriteError::from)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let name = args.command.as_ref().map_or("ethbus.1".to_owned(), |command| format!("ethbus-{command}.1"));
    let Some((_, text)) = PAGES.iter().find(|(known, _)| *known == name) else {
        let what =
            format!("`{}` is no command: `ethbus --help` lists them", args.command.as_deref().unwrap_or_default());
        return Err(PlanError::option("COMMAND", what).into());
    };
    if !std::io::stdout().is_terminal() || !shown(text) {
        print(text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether `man` could show the page.
fn shown(text: &str) -> bool {
    let Ok(mut man) = Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn() else { return false };
    // Who leaves the pager early has read enough.
    let _ = man.stdin.take().map(|mut stdin| stdin.write_all(text.as_bytes()));
    man.wait().is_ok_and(|status| status.success())
}
