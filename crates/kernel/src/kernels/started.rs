//! Kernels that have been started and have not asked for the calendar yet.

use super::StartError;
use crate::card::Card;
use crate::message::{CALENDAR, Calendar};
use crate::process::Station;
use crate::sys;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Child;
use std::time::{Duration, Instant};

/// How long a kernel may take from its start to its first message.
const FIRST_MESSAGE: Duration = Duration::from_secs(20);

/// Kernels that have been started; they end with it.
pub(super) struct Started(pub Vec<(Child, Card, Card)>);

impl Started {
    /// The next kernel that asks for the calendar.
    pub fn next(
        &mut self,
        listener: &UnixListener,
        stations: &[Station],
        starts: &[Option<(UnixStream, Calendar)>],
    ) -> Result<(UnixStream, Calendar), StartError> {
        let system = |source| StartError::System { call: "wait for a kernel", source };
        let begin = Instant::now();
        loop {
            let mut sources = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
            if poll(&mut sources, PollTimeout::from(super::LOOK)).map_err(|error| system(error.into()))? > 0 {
                let (socket, _) = listener.accept().map_err(system)?;
                let mut octets = [0; CALENDAR];
                if sys::receive(&socket, &mut octets, &mut Vec::new()).map_err(system)? {
                    return Ok((socket, Calendar::read(octets)));
                }
            }
            for (number, station) in stations.iter().enumerate().filter(|(number, _)| starts[*number].is_none()) {
                let ended = self.0[number].0.try_wait().map_err(system)?;
                let how = match ended {
                    Some(status) => status.to_string(),
                    None if begin.elapsed() > FIRST_MESSAGE => format!("silent for {} s", FIRST_MESSAGE.as_secs()),
                    None => continue,
                };
                return Err(StartError::Silent { station: station.name.clone(), how, said: last_line(&station.log) });
            }
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|(process, ..)| end(process));
    }
}

pub(super) fn end(process: &mut Child) {
    // The whole group: while a kernel begins, it tries ptrace on children of its own. Both fail only if it has ended already.
    let _ = killpg(Pid::from_raw(process.id() as i32), Signal::SIGKILL);
    let _ = process.wait();
}

/// The last line of what was written to a file.
fn last_line(log: &File) -> String {
    use std::os::unix::fs::FileExt;
    let mut octets = vec![0; 4096];
    let length = log.metadata().map_or(0, |it| it.len());
    let read = log.read_at(&mut octets, length.saturating_sub(4096)).unwrap_or(0);
    let text = String::from_utf8_lossy(&octets[..read]).into_owned();
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}
