//! `ethbus up --background`: the lab's supervisor continues in the background.
//!
//! ```text
//!   up --background ──starts──► up --in-background       in the same session until the lab is up, so that an
//!        ▲                          │                  interrupt reaches both; errors are reported as without --background
//!        └──one octet: it is up─────┘                  then in a session of its own; messages go to the lab's log
//! ```

use super::super::{CommandError, Outcome, interrupts};
use crate::cli::args::{KernelArgs, UpArgs};
use crossbeam_channel::{bounded, select};
use link::Pid;
use link::background::{leave_session, redirect_stderr, redirect_stdout};
use link::signals::Signal;
use live::lab::inventory::Inventory;
use say::say;
use sim::files::output::is_stdout;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, ExitCode, Stdio};

/// What the supervisor writes to its standard output when the lab is up.
const UP: u8 = b'\n';

/// The arguments with every path absolute: a lab in the background leaves the folder of its caller, and opens some files later.
pub fn with_absolute_paths(args: &UpArgs) -> UpArgs {
    let mut args = args.clone();
    let KernelArgs { console, kernel, .. } = &mut args.kernels.0;
    let lab = [&mut args.file.scenario, &mut args.plan, &mut args.keep];
    let traces = args.traces.0.iter_mut().map(|(path, _)| path);
    for path in lab.into_iter().chain([&mut args.windows.pcapng, &mut console.consoles, kernel]).flatten().chain(traces)
    {
        // An empty path cannot be made absolute, and is refused where it is opened.
        if !is_stdout(path)
            && let Ok(absolute) = std::path::absolute(&*path)
        {
            *path = absolute;
        }
    }
    args
}

/// What a lab needs of its caller's environment: to find programs, folders and container engines, and to write for a terminal.
const ENVIRONMENT: [&str; 20] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "SUDO_UID",
    "SUDO_USER",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "COLUMNS",
    "NO_COLOR",
    "TERM",
    "RUST_BACKTRACE",
];

/// Starts a supervisor with the same arguments and `more`, and ends when its lab is up, or with its exit code. The lab `told` is
/// printed as JSON.
///
/// # Errors
/// The supervisor cannot be started.
pub fn start(more: &[&str], told: Option<&str>) -> Outcome {
    let system = |source| CommandError::System { what: "start a supervisor in the background", source };
    let interrupts = interrupts()?;
    let mut command = Command::new("/proc/self/exe");
    let mut supervisor = link::signals::unblock(&mut command)
        .args(["up", "--in-background"])
        .args(more)
        .args(std::env::args_os().skip(2))
        .env_clear()
        .envs(ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(system)?;
    let output = supervisor.stdout.take().expect("a pipe");
    let (sender, up) = bounded(1);
    let read = move || sender.send(is_up(output));
    std::thread::Builder::new().name("up".to_owned()).spawn(read).map_err(system)?;
    loop {
        select! {
            recv(up) -> up => match up {
                Ok(true) => {
                    told.map_or(Ok(()), super::super::list::print_lab)?;
                    return Ok(ExitCode::SUCCESS);
                }
                Ok(false) | Err(_) => break,
            },
            // It ends, cleans up, and says so; another program's signal may have reached this process only.
            recv(interrupts) -> _ => pass_on(supervisor.id()),
        }
    }
    let status = supervisor.wait().map_err(system)?;
    let Some(code) = status.code() else {
        say(&format!("ethbus: the supervisor ended unexpectedly ({status})\n"));
        return Ok(ExitCode::FAILURE);
    };
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

fn pass_on(supervisor: u32) {
    // One that has ended meanwhile is what was wanted.
    let _ = link::process::signal(Pid::from_raw(supervisor as i32), Signal::SIGTERM);
}

/// Waits for the octet, or for the end of the supervisor that does not write it.
fn is_up(mut output: ChildStdout) -> bool {
    let mut octet = [0];
    output.read_exact(&mut octet).is_ok() && octet == [UP]
}

/// The supervisor's side, while the lab is being made. Standard error is the log already, for the data plane has it too.
#[derive(Debug)]
pub struct Background {
    stderr: OwnedFd,
    log: PathBuf,
}

impl Background {
    /// From now on messages go to the log of the lab `name`.
    ///
    /// # Errors
    /// The log cannot be made.
    pub fn begin(name: &str) -> Result<Background, CommandError> {
        let log = Inventory::log(name)?;
        let file = Inventory::create_log(name)?;
        let begin = || {
            let stderr = io::stderr().as_fd().try_clone_to_owned()?;
            redirect_stderr(file)?;
            Ok(stderr)
        };
        Ok(Background { stderr: begin().map_err(failed)?, log })
    }

    /// The lab is up: tells so, and leaves the terminal.
    ///
    /// # Errors
    /// The parent process cannot be reached, or there is no other session.
    pub fn leave(&self, greeting: &str) -> Result<(), CommandError> {
        let leave = || {
            File::from(self.stderr.try_clone()?).write_all(greeting.as_bytes())?;
            leave_session()?;
            std::env::set_current_dir("/")?;
            let mut stdout = io::stdout();
            stdout.write_all(&[UP])?;
            stdout.flush()?;
            redirect_stdout(OpenOptions::new().write(true).open("/dev/null")?)
        };
        leave().map_err(failed)
    }

    /// The lab did not come up: messages go where they went before, and first what was said meanwhile.
    pub fn give_up(self) {
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        // If there is no way back, the log is all there is.
        let _ = redirect_stderr(&self.stderr);
        say(&said);
    }
}

fn failed(source: io::Error) -> CommandError {
    CommandError::System { what: "go on in the background", source }
}
