//! Viewers of a lab that is up: a thread writes to each, and no other thread waits for them.

use crate::live::plane::seen::Seen;
use crossbeam_channel::{Sender, TrySendError, bounded};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Lines that wait for their reader: those of a second.
const WAITING: usize = 20;
/// The most viewers at a time.
const MOST: usize = 8;

/// See the module.
#[derive(Debug, Default)]
pub struct Watchers(Vec<Watcher>);

#[derive(Debug)]
struct Watcher {
    lines: Sender<Arc<[u8]>>,
    /// What stays of the stretches that found no room since the last line that did.
    owed: Seen,
}

impl Watchers {
    /// There is no viewer.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the viewer at the stream's other end; without room, its stream ends at once.
    pub fn add(&mut self, stream: UnixStream) {
        if self.0.len() < MOST {
            self.0.extend(writer(stream, WAITING).map(|lines| Watcher { lines, owed: Seen::default() }));
        }
    }

    /// Tells all who watch.
    pub fn tell(&mut self, seen: &Seen) {
        let line = line(seen);
        self.0.retain_mut(|watcher| {
            let owed = std::mem::take(&mut watcher.owed);
            let own = if owed.is_empty() { line.clone() } else { self::line(&owed.clone().and(seen)) };
            match watcher.lines.try_send(own) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => watcher.owed = owed.and(seen).shortened(),
                Err(TrySendError::Disconnected(_)) => return false,
            }
            true
        });
    }
}

/// Starts a thread that writes lines to `stream`, of which `waiting` may wait. Without a thread the reader sees the end of
/// its stream.
pub fn writer(mut stream: UnixStream, waiting: usize) -> Option<Sender<Arc<[u8]>>> {
    stream.set_write_timeout(None).ok()?;
    let (lines, waiting) = bounded::<Arc<[u8]>>(waiting);
    let write = move || {
        for line in waiting {
            if stream.write_all(&line).is_err() {
                return;
            }
        }
    };
    let started = std::thread::Builder::new().name("watcher".to_owned()).spawn(write);
    started.is_ok().then_some(lines)
}

fn line(seen: &Seen) -> Arc<[u8]> {
    let mut line = serde_json::to_vec(seen).expect("numbers and names");
    line.push(b'\n');
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    /// No thread waits for a viewer that does not read; it learns how many notes it missed.
    #[test]
    fn a_slow_watcher_misses_and_is_told_so() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let mut watchers = Watchers::default();
        watchers.add(ours);
        let seen = |now| Seen { missed: 1000, now, notes: Vec::new() };
        // More than the socket and the channel hold.
        (0..100_000).for_each(|now| watchers.tell(&seen(now)));
        let mut lines = BufReader::new(theirs).lines();
        let mut told = 0;
        let mut now = 100_000;
        while told < 101 * 1000 * 1000 {
            watchers.tell(&seen(now));
            now += 1;
            let line = lines.next().expect("a line").expect("a stream");
            let read: Seen = serde_json::from_str(&line).expect(&line);
            assert_eq!(read.missed % 1000, 0);
            told += read.missed;
            if now == 100_000 + 5_000 {
                break;
            }
        }
        drop(lines);
        for now in 0..10_000 {
            watchers.tell(&seen(now));
        }
        assert!(watchers.is_empty(), "who has gone is forgotten");
    }
}
