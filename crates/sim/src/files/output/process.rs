//! What is one for the whole process: how it waits for the readers of pipes, and what its threads give up.

use super::OutputError;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How a pipe is opened for writing: at once, or not at all while it has no reader.
pub type OpenPipe = fn(&Path) -> io::Result<Option<File>>;

/// How a program waits for the reader of a pipe.
#[derive(Debug)]
struct Patience {
    open: OpenPipe,
    tell: fn(&Path),
}

/// What a program does about pipes that have no reader yet. One for the whole process, as its signals are.
#[derive(Debug)]
pub struct Waiting {
    ended: AtomicBool,
    program: OnceLock<Patience>,
}

/// The process's own.
pub static WAITING: Waiting = Waiting { ended: AtomicBool::new(false), program: OnceLock::new() };

impl Waiting {
    /// Opens pipes with `open` from now on, and calls `tell` once for each pipe without a reader.
    pub fn begin(&self, open: OpenPipe, tell: fn(&Path)) {
        // The first one stays.
        let _ = self.program.set(Patience { open, tell });
    }

    /// From now on a pipe without a reader is an error. For programs whose signals do not end them.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// What each thread that makes files first calls: a program with many rights gives up what files do not take.
#[derive(Debug)]
pub struct Threads(OnceLock<fn()>);

/// The process's own.
pub static THREADS: Threads = Threads(OnceLock::new());

impl Threads {
    /// Threads call `first` from now on.
    pub fn call(&self, first: fn()) {
        // The first one stays.
        let _ = self.0.set(first);
    }

    /// A thread begins.
    pub fn begin(&self) {
        self.0.get().iter().for_each(|first| first());
    }
}

/// How often a pipe is asked for its reader.
const LOOK: Duration = Duration::from_millis(20);
/// After this time a message says what the program waits for.
const SILENCE: Duration = Duration::from_secs(1);

/// Opens a pipe when it has a reader. Without a program that waits, the kernel does.
pub(super) fn open_pipe(path: &Path) -> Result<File, OutputError> {
    let system = |source| OutputError::System { call: "open", path: path.to_owned(), source };
    let Some(Patience { open, tell }) = WAITING.program.get() else {
        return File::options().write(true).open(path).map_err(system);
    };
    let (begin, mut told) = (Instant::now(), false);
    loop {
        if let Some(file) = open(path).map_err(system)? {
            return Ok(file);
        }
        if WAITING.ended.load(Ordering::Relaxed) {
            return Err(OutputError::Unread { path: path.to_owned() });
        }
        if !told && begin.elapsed() >= SILENCE {
            told = true;
            tell(path);
        }
        std::thread::sleep(LOOK);
    }
}
