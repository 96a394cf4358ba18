//! The supervisor's side of the last seconds: copies each trace that the data plane wrote to a file of its own.
//!
//! ```text
//!   data plane ──trace──► outbox ──► this thread ──► trouble-00001.events, trouble-00002.events …
//! ```
//! A thread does it, because the supervisor waits for no disk. A file gets its name when it is whole, and never the name
//! of another file.

use crate::control::Kept as Answered;
use crate::control::answer::{Answer, RpcError};
use crate::plane::protocol::Kept;
use crossbeam_channel::{Receiver, Sender, unbounded};
use medium::{BitRate, BitTimes};
use say::{say, with_causes};
use sim::figures::results::{FileResults, Results};
use sim::files::output::{LINES, OutputError, THREADS, Unfinished, numbered};
use sim::words::units::many;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// See the module.
#[derive(Debug)]
pub struct Keeper {
    told: Mutex<Option<Sender<Kept>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    known: Arc<Known>,
}

/// What the thread and the supervisor share.
#[derive(Debug, Default)]
struct Known {
    /// Clients that wait for the name of a file.
    asked: Mutex<VecDeque<Answer>>,
    files: Mutex<Vec<String>>,
    failed: Mutex<Vec<FileResults>>,
}

/// Makes the outbox, which has no name, in the folder of the files at `path`.
///
/// # Errors
/// No file can be made there.
pub fn outbox(path: &Path) -> Result<File, OutputError> {
    let (unfinished, file) = Unfinished::begin(&next(path), LINES)?;
    drop(unfinished);
    Ok(file)
}

impl Keeper {
    /// Starts the thread for a bus whose bits in a second of real time are `rate`.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(path: PathBuf, outbox: File, rate: BitRate) -> io::Result<Keeper> {
        let (sender, told) = unbounded();
        let known = Arc::new(Known::default());
        let own = known.clone();
        let work = move || {
            THREADS.begin();
            take_all(&told, &path, &outbox, rate, &own);
        };
        let thread = Builder::new().name("keeper".to_owned()).spawn(work)?;
        Ok(Keeper { told: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)), known })
    }

    /// A client waits for the name of the next file that no trigger wants.
    pub fn ask(&self, answer: Answer) {
        lock(&self.known.asked).push_back(answer);
    }

    /// The data plane has written a trace, or has not.
    pub fn told(&self, kept: Kept) {
        // The thread ends when this is dropped.
        lock(&self.told).iter().for_each(|thread| _ = thread.send(kept.clone()));
    }

    /// Adds the files to results.
    pub fn add_to(&self, results: &mut Results) {
        let Some(emulator) = &mut results.emulator else { return };
        let observers = &mut emulator.observers;
        observers.kept_files = lock(&self.known.files).clone();
        observers.files_kept = observers.kept_files.len() as u64;
        observers.incomplete_files.extend(lock(&self.known.failed).iter().cloned());
        observers.files_incomplete = observers.incomplete_files.len() as u64;
    }

    /// Waits until all files are whole. The data plane has ended before.
    pub fn finish(&self) {
        lock(&self.told).take();
        // A thread that panicked has said so.
        let _ = lock(&self.thread).take().map(JoinHandle::join);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics with it")
}

fn take_all(told: &Receiver<Kept>, path: &Path, mut outbox: &File, rate: BitRate, known: &Known) {
    for kept in told {
        let (file, by_hand) = (next(path), kept.why.is_none());
        let name = file.display().to_string();
        let copied = match &kept.failed {
            Some(why) => Err(why.clone()),
            None => copy(outbox, &file).map_err(|error| with_causes(&error)),
        };
        // The data plane writes again when the file is empty, and from its beginning.
        let emptied = outbox.seek(SeekFrom::Start(0)).and_then(|_| outbox.set_len(0));
        let copied = copied.and_then(|()| emptied.map_err(|error| error.to_string()));
        let client = if by_hand { lock(&known.asked).pop_front() } else { None };
        match copied {
            Ok(()) => {
                lock(&known.files).push(name.clone());
                say(&format!("ethbus: {}\n", sentence(&kept, &name, rate)));
                client.into_iter().for_each(|answer| answer.give(&Answered { file: name.clone() }));
            }
            Err(why) => {
                let what = format!("the last seconds are not in {name}: {why}");
                say(&format!("ethbus: {what}\n"));
                if !by_hand {
                    let (holds, missing) = ("last seconds".to_owned(), kept.facts);
                    lock(&known.failed).push(FileResults { file: name, holds, missing });
                }
                client.into_iter().for_each(|answer| answer.refuse(&RpcError::refused(&what)));
            }
        }
    }
}

fn copy(mut outbox: &File, path: &Path) -> Result<(), OutputError> {
    let (unfinished, mut file) = Unfinished::begin(path, LINES)?;
    let copied = outbox.seek(SeekFrom::Start(0)).and_then(|_| io::copy(&mut outbox, &mut file));
    copied.map_err(|source| OutputError::System { call: "write", path: path.to_owned(), source })?;
    unfinished.finish()
}

fn sentence(kept: &Kept, name: &str, rate: BitRate) -> String {
    let (span, events) = (BitTimes::new(kept.span_bt).at(rate), many(kept.facts, "event"));
    let why = kept.why.as_ref().map_or(String::new(), |why| format!("{why}: "));
    format!("{why}the last {:.1} s are in {name}, {events}", span.as_secs_f64())
}

/// The first name with a number that no file has.
fn next(path: &Path) -> PathBuf {
    let names = (1..).map(|number| numbered(path, number));
    names.into_iter().find(|path| path.symlink_metadata().is_err()).expect("numbers do not end")
}
