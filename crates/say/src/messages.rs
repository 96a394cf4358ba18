//! Messages of a program to its user, written without waiting for a reader who does not read.
//!
//! A lab's supervisor has other things to do than to wait for a terminal that was stopped or a pipe whose reader
//! sleeps: from [`never_wait`] on a thread of its own writes. Messages without room are counted, and the count is
//! written when there is room.

use super::terminal::message;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Texts that may wait to be written.
const WAITING: usize = 256;

static SAYER: OnceLock<Sayer> = OnceLock::new();

/// Goes back to the begin of a terminal's line, and clears it.
const OVER: &str = "\r\x1b[K";

/// Whether the terminal's current line is one to write over.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Writes over the terminal's current line. Where nothing waits for a reader, one who reads nothing misses it.
pub fn write_over(line: &str) {
    IS_SHOWN.store(!line.is_empty(), Ordering::Relaxed);
    let text = format!("{OVER}{line}");
    match SAYER.get() {
        Some(sayer) if line.is_empty() || sayer.texts.is_empty() => _ = sayer.texts.try_send(Said::Text(text)),
        Some(_) => {}
        // A terminal that is gone is not worth an error.
        None => _ = std::io::stderr().write_all(text.as_bytes()),
    }
}

/// Tells the user something that is no result, on standard error. On a terminal, long messages are folded to its width.
pub fn say(text: &str) {
    let plain = without_numbers(text);
    let text = message(&plain);
    let over = if IS_SHOWN.swap(false, Ordering::Relaxed) { OVER } else { "" };
    let text = &format!("{over}{text}");
    match SAYER.get() {
        Some(sayer) => sayer.say(text),
        // An error here must not undo the work: no panic, as `eprint!` would.
        None => _ = std::io::stderr().write_all(text.as_bytes()),
    }
}

/// The text without the numbers that the system has for its errors: `No such file or directory (os error 2)`.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|octet| octet.is_ascii_digit()) => plain += rest,
            Some(_) | None => plain = format!("{plain} (os error {part}"),
        }
    }
    plain
}

/// From now on [`say`] never waits for a reader.
///
/// # Errors
/// The kernel gives no thread.
pub fn never_wait() -> io::Result<()> {
    let (texts, waiting) = bounded(WAITING);
    std::thread::Builder::new().name("says".to_owned()).spawn(move || write(&waiting, &mut std::io::stderr()))?;
    // Only the first has anything to do: the other threads end.
    let _ = SAYER.set(Sayer { texts, missed: AtomicU64::new(0) });
    Ok(())
}

/// Waits until everything said is written, though not for longer than `patience`.
pub fn finish(patience: Duration) {
    if let Some(sayer) = SAYER.get() {
        sayer.finish(patience);
    }
}

enum Said {
    Text(String),
    /// Everything before it is written: tell so.
    End(Sender<()>),
}

struct Sayer {
    texts: Sender<Said>,
    /// Texts that found no room since the last that did.
    missed: AtomicU64,
}

impl Sayer {
    fn say(&self, text: &str) {
        let missed = self.missed.load(Ordering::Relaxed);
        if missed > 0 {
            let (were, them) = if missed == 1 { ("message is", "it") } else { ("messages are", "them") };
            let told = format!("ethbus: {missed} {were} missing here, since nobody read {them}\n");
            if self.texts.try_send(Said::Text(told)).is_ok() {
                self.missed.fetch_sub(missed, Ordering::Relaxed);
            }
        }
        if self.texts.try_send(Said::Text(text.to_owned())).is_err() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn finish(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let (end, ended) = bounded(1);
        if self.texts.send_deadline(Said::End(end), deadline).is_ok() {
            // A reader that does not read misses the end.
            let _ = ended.recv_deadline(deadline);
        }
    }
}

fn write(waiting: &Receiver<Said>, to: &mut impl Write) {
    for said in waiting {
        match said {
            // An error here must not undo the work.
            Said::Text(text) => _ = to.write_all(text.as_bytes()),
            Said::End(end) => _ = end.send(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// While no thread writes, texts without room are missed; their count comes before the next text that has room.
    #[test]
    fn what_finds_no_room_is_counted_and_told() {
        let (texts, waiting) = bounded(2);
        let sayer = Sayer { texts, missed: AtomicU64::new(0) };
        ["one\n", "two\n", "three\n", "four\n"].iter().for_each(|text| sayer.say(text));
        sayer.finish(Duration::from_millis(10));
        let next = || match waiting.try_recv() {
            Ok(Said::Text(text)) => text,
            Ok(Said::End(_)) | Err(_) => String::new(),
        };
        assert_eq!([next(), next(), next()], ["one\n", "two\n", ""]);
        sayer.say("five\n");
        assert_eq!(next(), "ethbus: 2 messages are missing here, since nobody read them\n");
        assert_eq!(next(), "five\n");
        sayer.say("six\n");
        assert_eq!([next(), next()], ["six\n", ""]);
    }

    #[test]
    fn the_systems_numbers_are_not_said() {
        let error = io::Error::from_raw_os_error(2).to_string();
        assert_eq!(
            without_numbers(&format!("{error}, {error}")),
            "No such file or directory, No such file or directory"
        );
        for other in ["no number", "a text (os error", " (os error x)"] {
            assert_eq!(without_numbers(other), other);
        }
    }

    #[test]
    fn everything_said_is_written_before_the_end() {
        let (texts, waiting) = bounded(8);
        let sayer = Sayer { texts, missed: AtomicU64::new(0) };
        let writer = std::thread::spawn(move || {
            let mut written = Vec::new();
            write(&waiting, &mut written);
            written
        });
        ["one\n", "two\n"].iter().for_each(|text| sayer.say(text));
        sayer.finish(Duration::from_secs(5));
        drop(sayer);
        assert_eq!(writer.join().expect("no panic"), b"one\ntwo\n");
    }
}
