//! A file that is written in whole pieces, by the thread that makes them or by a thread beside.
//!
//! ```text
//!   maker of lines ──pieces──► this thread ──► file
//!        ◄─── empty pieces, and results ───┘
//! ```
//! A few pieces go round, so memory is bounded, and the maker waits if the file is slower.

use super::json_lines::{LastWords, Whole, WriteError};
use super::system;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// Pieces that go round.
const PIECES: usize = 4;

/// Octets at the end of a file that are remembered: some lines.
const TAIL: usize = 4_096;

/// A file, a pipe or a device. Nothing is cut within a line, whatever happens.
#[derive(Debug)]
pub(super) struct Outlet {
    file: Arc<File>,
    place: String,
    what: &'static str,
    whole: Whole,
    last: Option<Box<Last>>,
    /// Where the next octet goes, if the file is one that can be cut back.
    position: Option<u64>,
    /// Lines in the file, the header included.
    kept: u64,
    /// What the first failed write said; nothing is written after it.
    failed: Option<(io::ErrorKind, Option<i32>)>,
}

/// What a file that cannot be written any further ends with.
#[derive(Debug)]
struct Last {
    words: LastWords,
    /// Whole lines at the end of the file, whose place they may take.
    tail: Vec<u8>,
}

impl Outlet {
    pub fn new(mut file: File, place: String, what: &'static str, whole: Whole) -> Outlet {
        let regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
        let position = if regular { file.stream_position().ok() } else { None };
        Outlet { position, ..Outlet::shared(Arc::new(file), place, what, whole) }
    }

    /// For a pipe, or a file that others write to as well: nothing is cut back.
    pub fn shared(file: Arc<File>, place: String, what: &'static str, whole: Whole) -> Outlet {
        let position = None;
        Outlet { file, place, what, whole, last: None, position, kept: 0, failed: None }
    }

    /// Hands `text`, which has `lines` lines, to the kernel.
    fn write(&mut self, text: &[u8], lines: u64) -> Result<(), WriteError> {
        let (done, result) = match self.failed {
            Some((kind, code)) => (0, Err(code.map_or_else(|| kind.into(), io::Error::from_raw_os_error))),
            None => self.write_all(text),
        };
        let (whole, lines) = if result.is_ok() { (done, lines) } else { (self.whole)(&text[..done]) };
        let kept = result.map(|()| {
            self.keep(whole, lines);
            self.remember(text);
        });
        kept.map_err(|source| {
            let is_first = self.failed.replace((source.kind(), source.raw_os_error())).is_none();
            match self.last.take().filter(|_| is_first && self.position.is_some()) {
                Some(last) => self.end_with(&last, text, done, &source),
                None => {
                    self.keep(whole, lines);
                    self.cut();
                }
            }
            WriteError::Write { place: self.place.clone(), kept: self.kept.saturating_sub(1), what: self.what, source }
        })
    }

    fn keep(&mut self, octets: usize, lines: u64) {
        self.kept += lines;
        self.position = self.position.map(|position| position + octets as u64);
    }

    /// Takes back the part of a line that still went in.
    fn cut(&mut self) {
        if let Some(position) = self.position {
            // If it cannot be taken back, the reader says where it is.
            let _ = self.file.set_len(position);
        }
    }

    /// Remembers the last whole lines, of which `text` are the last.
    fn remember(&mut self, text: &[u8]) {
        let Some(Last { tail, .. }) = self.last.as_deref_mut() else { return };
        let own = &text[text.len().saturating_sub(TAIL)..];
        tail.extend_from_slice(own);
        let beyond = tail.len().saturating_sub(TAIL);
        if beyond > 0 || own.len() < text.len() {
            let begun = tail[beyond..].iter().position(|octet| *octet == b'\n');
            tail.drain(..begun.map_or(tail.len(), |end| beyond + end + 1));
        }
    }

    /// Ends the file with a last line, in the place of those that make room for it: of `text`, of which `done` octets went
    /// in, and then of those before.
    fn end_with(&mut self, Last { words, tail }: &Last, text: &[u8], done: usize, error: &io::Error) {
        let before = tail.len();
        let all = [tail, text].concat();
        self.kept -= (self.whole)(tail).1;
        let mut up_to = before + done;
        loop {
            let (whole, lines) = (self.whole)(&all[..up_to]);
            let last = words(self.kept + lines, &all[whole..], error);
            if before + done - whole >= last.len() || whole == 0 || self.kept + lines <= 1 {
                self.kept += lines;
                self.position = self.position.map(|position| position + whole as u64 - before as u64);
                self.cut();
                // A data plane may not move to another place in a file.
                match self.position.map(|position| system::write_all_at(&self.file, &last, position)) {
                    Some(Ok(())) => self.keep(last.len(), 0),
                    Some(Err(_)) | None => self.cut(),
                }
                return;
            }
            up_to = whole - 1;
        }
    }

    /// How many octets went out, and whether all did.
    fn write_all(&mut self, text: &[u8]) -> (usize, io::Result<()>) {
        let mut done = 0;
        while done < text.len() {
            match (&*self.file).write(&text[done..]) {
                Ok(0) => return (done, Err(io::ErrorKind::WriteZero.into())),
                Ok(written) => done += written,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (done, Err(error)),
            }
        }
        (done, Ok(()))
    }
}

/// Who hands pieces to the kernel.
#[derive(Debug)]
pub(super) enum Way {
    /// The thread that makes them.
    Here(Outlet),
    /// A thread.
    Beside(Carrier),
    /// No thread: memory keeps them.
    Kept(Arc<Mutex<Vec<u8>>>),
    /// No thread any more.
    Closed,
}

impl Way {
    /// Hands over a piece of `lines` lines, and leaves `text` empty.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed, or it was so before. Of a thread it is known some pieces later.
    pub fn hand_over(&mut self, text: &mut Vec<u8>, lines: u64) -> Result<(), WriteError> {
        match self {
            Way::Here(outlet) => {
                let written = outlet.write(text, lines);
                text.clear();
                written
            }
            Way::Beside(carrier) => carrier.hand_over(text, lines),
            Way::Kept(kept) => {
                kept.lock().expect("a panic ends the process").append(text);
                Ok(())
            }
            Way::Closed => Ok(()),
        }
    }

    /// See [`LastWords`]; before there is a thread.
    pub fn set_last_words(&mut self, words: LastWords) {
        if let Way::Here(outlet) = self {
            outlet.last = Some(Box::new(Last { words, tail: Vec::new() }));
        }
    }

    /// The file, if it is here.
    pub fn stream(&self) -> Option<&File> {
        match self {
            Way::Here(outlet) => Some(&outlet.file),
            Way::Beside(_) | Way::Kept(_) | Way::Closed => None,
        }
    }

    /// From now on a thread hands pieces to the kernel, if the system gives one.
    pub fn go_beside(&mut self) {
        *self = match std::mem::replace(self, Way::Closed) {
            Way::Here(outlet) => Carrier::start(outlet).map_or_else(Way::Here, Way::Beside),
            way @ (Way::Beside(_) | Way::Kept(_) | Way::Closed) => way,
        };
    }

    /// Waits until every piece has been handed to the kernel.
    ///
    /// # Errors
    /// As [`Way::hand_over`].
    pub fn wait(&mut self) -> Result<(), WriteError> {
        match self {
            Way::Beside(carrier) => carrier.wait(),
            Way::Here(_) | Way::Kept(_) | Way::Closed => Ok(()),
        }
    }
}

/// The near end of a thread that has an outlet.
#[derive(Debug)]
pub(super) struct Carrier {
    spare: Vec<Vec<u8>>,
    /// Pieces that the thread has.
    out: usize,
    pieces: Option<Sender<(Vec<u8>, u64)>>,
    done: Receiver<(Vec<u8>, Result<(), WriteError>)>,
    thread: Option<JoinHandle<()>>,
}

impl Carrier {
    /// Starts the thread.
    ///
    /// # Errors
    /// The outlet, if the system gives no thread.
    pub fn start(outlet: Outlet) -> Result<Carrier, Outlet> {
        let (pieces, work) = channel::<(Vec<u8>, u64)>();
        let (back, done) = channel();
        let (give_outlet, take_outlet) = channel::<Outlet>();
        let write = move || {
            let Ok(mut outlet) = take_outlet.recv() else { return };
            for (mut text, lines) in work {
                let written = outlet.write(&text, lines);
                text.clear();
                if back.send((text, written)).is_err() {
                    return;
                }
            }
        };
        let Ok(thread) = Builder::new().name("file".to_owned()).spawn(write) else { return Err(outlet) };
        let sent = give_outlet.send(outlet);
        assert!(sent.is_ok(), "the thread waits for its outlet");
        let spare = vec![Vec::new(); PIECES - 1];
        Ok(Carrier { spare, out: 0, pieces: Some(pieces), done, thread: Some(thread) })
    }

    fn hand_over(&mut self, text: &mut Vec<u8>, lines: u64) -> Result<(), WriteError> {
        let mut written = Ok(());
        while self.spare.is_empty() {
            written = written.and(self.take_back());
        }
        let spare = self.spare.pop().expect("a piece has come back");
        let pieces = self.pieces.as_ref().expect("the thread ends with this");
        let sent = pieces.send((std::mem::replace(text, spare), lines));
        assert!(sent.is_ok(), "the thread waits for pieces: it ends when none can come");
        self.out += 1;
        written
    }

    fn take_back(&mut self) -> Result<(), WriteError> {
        let (empty, written) = self.done.recv().expect("the thread gives back what it has");
        self.out -= 1;
        self.spare.push(empty);
        written
    }

    fn wait(&mut self) -> Result<(), WriteError> {
        let mut written = Ok(());
        while self.out > 0 {
            written = written.and(self.take_back());
        }
        written
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.pieces = None;
        self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::super::json_lines::whole_lines;
    use super::*;
    use std::fs;

    fn last_words(lines: u64, _: &[u8], error: &io::Error) -> Vec<u8> {
        format!("{{\"kind\":\"broken_off\",\"lines\":{lines},\"why\":\"{error}\"}}\n").into_bytes()
    }

    /// A full disk leaves no room after the last piece: as many lines as needed give theirs, but never the header.
    #[test]
    fn a_last_line_takes_the_place_of_lines_before() {
        let line = |t: u64| format!("{{\"t\":{t},\"layer\":\"medium\"}}\n");
        for (lines, pieces) in [(0, 1), (1, 1), (9, 1), (3, 3), (50, 9)] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("trace");
            let file = File::create(&path).expect("a file");
            let mut outlet = Outlet::new(file, "trace".to_owned(), "events", whole_lines);
            outlet.last = Some(Box::new(Last { words: last_words, tail: Vec::new() }));
            let header = "{\"format\":\"ethbus trace\"}\n";
            let texts = (0..pieces).map(|piece| (0..lines).map(|it| line(1_000 + piece * lines + it)).collect());
            let texts: Vec<String> = [header.to_owned()].into_iter().chain(texts).collect();
            for text in &texts {
                outlet.write(text.as_bytes(), whole_lines(text.as_bytes()).1).expect("room");
            }
            let next = line(9_999);
            let done = outlet.write_all(&next.as_bytes()[..5]).0;
            let size = texts.concat().len() + done;
            let own = outlet.last.take().expect("set above");
            outlet.end_with(&own, next.as_bytes(), done, &io::Error::from(io::ErrorKind::StorageFull));
            let text = fs::read_to_string(&path).expect("text");
            assert!(text.starts_with(header) && text.ends_with('\n'), "{text}");
            let (last, kept) =
                text.lines().collect::<Vec<_>>().split_last().map(|(last, kept)| (*last, kept.len())).expect("lines");
            assert!(last.contains(&format!("\"kind\":\"broken_off\",\"lines\":{kept}")), "{text}");
            assert!(texts.concat().starts_with(&text[..text.len() - last.len() - 1]), "{text}");
            assert!(text.len() <= size || kept == 1, "{} of {size} octets: {text}", text.len());
            assert_eq!(outlet.kept, kept as u64);
        }
    }
}
