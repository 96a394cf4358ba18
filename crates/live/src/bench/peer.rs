//! Real programs as peers: `iperf3`, in a station.
//!
//! A program is looked for in the system's own folders, whatever the environment says, since the bench may run as root. It
//! ends with the thread that started it, and so with this process, however that ends.

use crossbeam_channel::{Receiver, TryRecvError, bounded};
use link::Pid;
use link::confine::lend;
use link::namespace::{Capability, Namespace, NamespaceError};
use link::process::end_with_thread;
use link::signals::Signal;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Where programs are looked for.
const FOLDERS: [&str; 6] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// A program that a row needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    name: &'static str,
    package: &'static str,
}

/// Measures TCP.
pub const IPERF3: Tool = Tool { name: "iperf3", package: "iperf3" };

/// Why a program gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// It is not there.
    #[error("needs {name}, which is in none of {}: install the Debian package {package}", FOLDERS.join(", "))]
    Missing {
        /// The program.
        name: &'static str,
        /// What brings it.
        package: &'static str,
    },
    /// It could not be started.
    #[error("cannot run {name}")]
    Start {
        /// The program.
        name: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The station could not be entered.
    #[error("cannot enter the station of {name}")]
    Enter {
        /// The program.
        name: &'static str,
        /// What went wrong.
        source: NamespaceError,
    },
    /// It ran, and said something that makes no sense.
    #[error("{name}: {what}")]
    Said {
        /// The program.
        name: &'static str,
        /// What.
        what: String,
    },
}

impl Tool {
    /// Where it is.
    ///
    /// # Errors
    /// It is nowhere.
    pub fn path(self) -> Result<PathBuf, PeerError> {
        let places = FOLDERS.iter().map(|folder| Path::new(folder).join(self.name));
        let Tool { name, package } = self;
        places.into_iter().find(|place| place.is_file()).ok_or(PeerError::Missing { name, package })
    }

    /// What it did wrong.
    pub fn said(self, what: impl Into<String>) -> PeerError {
        PeerError::Said { name: self.name, what: what.into() }
    }
}

/// A program at work in a station; killed when dropped.
#[derive(Debug)]
pub struct Peer {
    tool: Tool,
    pid: Pid,
    output: Receiver<io::Result<Output>>,
    /// Closed when the program has ended.
    ended: Receiver<Never>,
}

/// What is never sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Never {}

impl Peer {
    /// Starts a program in a station.
    ///
    /// # Errors
    /// There is no such program, or it cannot be started there.
    pub fn start(tool: Tool, station: &Namespace, arguments: &[&str]) -> Result<Peer, PeerError> {
        let failed = move |source| PeerError::Start { name: tool.name, source };
        let mut command = Command::new(tool.path()?);
        command.args(arguments).env_clear().env("LC_ALL", "C").current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let station = Namespace::from_fd(station.as_fd().try_clone_to_owned().map_err(failed)?);
        let ((tell_pid, pid), (tell_output, output)) = (bounded(1), bounded(1));
        let (running, ended) = bounded(0);
        // `ping` needs a right that only root's programs get by themselves.
        let mut start = move || lend(end_with_thread(&mut command), &[Capability::NetRaw]).spawn();
        // The thread lives as long as the program, which ends with it.
        let run = move || {
            let entered = station.enter().map_err(|source| PeerError::Enter { name: tool.name, source });
            drop(station);
            match entered.and_then(|()| start().map_err(failed)) {
                Err(error) => _ = tell_pid.send(Err(error)),
                Ok(child) => {
                    // The caller that starts a program waits for its number, but may drop its output.
                    let _ = tell_pid.send(Ok(Pid::from_raw(child.id() as i32)));
                    let _ = tell_output.send(child.wait_with_output());
                }
            }
            drop(running);
        };
        std::thread::Builder::new().name(tool.name.to_owned()).spawn(run).map_err(failed)?;
        let pid = pid.recv().expect("the thread tells before it ends")?;
        Ok(Peer { tool, pid, output, ended })
    }

    /// Its process number.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Is closed when the program has ended.
    pub fn ended(&self) -> &Receiver<Never> {
        &self.ended
    }

    /// Waits for its end, and gives what it said if it succeeded.
    ///
    /// # Errors
    /// It did not succeed.
    pub fn output(self) -> Result<String, PeerError> {
        let output = self.output.recv().expect("the thread tells before it ends");
        let output = output.map_err(|source| PeerError::Start { name: self.tool.name, source })?;
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        if output.status.success() {
            return Ok(text(&output.stdout));
        }
        let said = [text(&output.stderr), text(&output.stdout)].into_iter().find(|said| !said.trim().is_empty());
        Err(self.tool.said(format!("{}: {}", output.status, said.unwrap_or_default().trim())))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if self.ended.try_recv() == Err(TryRecvError::Empty) {
            link::process::signal(self.pid, Signal::SIGKILL);
            // It is in its station until it has been waited for.
            let _ = self.ended.recv();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_is_told_with_its_package() {
        let tool = Tool { name: "no-such-program", package: "none-such" };
        let text = tool.path().expect_err("no such program").to_string();
        assert!(text.contains("no-such-program") && text.contains("Debian package none-such"), "{text}");
    }
}
