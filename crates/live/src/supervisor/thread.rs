//! A plane that is a thread of the supervisor: that of a lab in virtual time, which need not be punctual, and whose kernels
//! are processes of their own.

use crate::plane::protocol::{Request, Told};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Reports that may wait for the supervisor; the plane waits then, and virtual time with it.
const WAITING: usize = 64;

/// A request, and the stream that comes with it.
pub type Asked = (Request, Option<OwnedFd>);

/// The plane's ends.
#[derive(Debug)]
pub struct Ends {
    /// What the supervisor asks; closed when the supervisor is gone.
    pub requests: Receiver<Asked>,
    /// What the plane tells.
    pub told: Sender<Told>,
    /// The plane is to end at once.
    pub ending: Arc<AtomicBool>,
}

/// The supervisor's end.
#[derive(Debug)]
pub(super) struct Thread {
    requests: Option<Sender<Asked>>,
    thread: Option<JoinHandle<Result<(), String>>>,
    ending: Arc<AtomicBool>,
}

impl Thread {
    /// Starts a thread that runs `plane`, which gives why it ended.
    pub fn start(
        plane: impl FnOnce(Ends) -> Result<(), String> + Send + 'static,
    ) -> io::Result<(Thread, Receiver<Told>)> {
        // Neither end waits for the other: requests always have room.
        let ((requests, asked), (told, reports)) = (unbounded(), bounded(WAITING));
        let ending = Arc::new(AtomicBool::new(false));
        let ends = Ends { requests: asked, told, ending: ending.clone() };
        let thread = std::thread::Builder::new().name("plane".to_owned()).spawn(move || plane(ends))?;
        Ok((Thread { requests: Some(requests), thread: Some(thread), ending }, reports))
    }

    /// Whether the plane is there to take the request.
    pub fn ask(&self, asked: Asked) -> bool {
        self.requests.as_ref().is_some_and(|requests| requests.send(asked).is_ok())
    }

    /// What a kernel does at the moment is not waited for.
    pub fn hurry(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    /// Waits for the end, and gives its reason.
    pub fn end(&mut self) -> Option<String> {
        self.hurry();
        self.requests = None;
        // A panic has ended the process already.
        self.thread.take().and_then(|thread| thread.join().ok()).and_then(Result::err)
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.end();
    }
}
