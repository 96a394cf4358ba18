//! A text that is longer than the terminal goes through a pager, as git has it: `$PAGER`, else `less -FRX`.

use link::signals::{Signal, Signals};
use say::terminal::output_size;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

/// The pager of a user who has named none.
const USUAL: &str = "less";
/// The options of less for a user who has set none: it ends where one screen holds all, keeps colours, and leaves the
/// text on the terminal.
const HABIT: &str = "FRX";
/// Values of `$PAGER` that ask for no pager.
const NONE: [&str; 2] = ["", "cat"];

/// Shows `text` in a pager, if standard output is a terminal with fewer lines, and says whether it did.
///
/// # Errors
/// The pager was started and cannot be waited for.
pub fn shown(text: &str) -> io::Result<bool> {
    let Some((_, lines)) = output_size() else { return Ok(false) };
    if text.lines().count() < lines {
        return Ok(false);
    }
    let Some(pager) = pager(std::env::var_os("PAGER")) else { return Ok(false) };
    // An interrupt is the pager's: without this process it would share the terminal with a shell.
    let _held = Signals::block_and_open(&[Signal::SIGINT, Signal::SIGQUIT])?;
    // Where there is no shell or no pager, the text is printed as it is.
    let Ok(mut pager) = start(&pager) else { return Ok(false) };
    // A reader who leaves the pager early has read enough.
    let _ = pager.stdin.take().map(|mut input| input.write_all(text.as_bytes()));
    pager.wait().map(|status| status.code() != Some(NOT_FOUND))
}

/// How a shell ends that does not find a program.
const NOT_FOUND: i32 = 127;

/// The pager that is wanted, if one is.
fn pager(named: Option<OsString>) -> Option<OsString> {
    match named {
        None => Some(USUAL.into()),
        Some(named) => (!NONE.iter().any(|none| named == *none)).then_some(named),
    }
}

/// Starts a pager; the name may have options, so a shell reads it.
fn start(pager: &OsString) -> io::Result<Child> {
    let mut command = Command::new("sh");
    link::signals::unblock(&mut command).arg("-c").arg(pager).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", HABIT);
    }
    command.spawn()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_chooses_the_pager_or_none() {
        assert_eq!(pager(None), Some(USUAL.into()));
        assert_eq!(pager(Some("most -s".into())), Some("most -s".into()));
        assert_eq!([pager(Some("".into())), pager(Some("cat".into()))], [None, None]);
    }
}
