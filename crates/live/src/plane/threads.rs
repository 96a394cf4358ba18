//! Starting the data plane's threads.

use crossbeam_channel::bounded;
use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread and waits until it runs `work`.
///
/// What a thread does to begin is not among the system calls that are allowed once the medium runs.
///
/// # Errors
/// The kernel gives no thread.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    start_prepared(name, || (), work).map(|(thread, ())| thread)
}

/// The same, once the thread has done what it may not do later; gives what that gave.
///
/// # Errors
/// As [`start`].
pub fn start_prepared<T: Send + 'static>(
    name: &str,
    prepare: impl FnOnce() -> T + Send + 'static,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<(JoinHandle<()>, T)> {
    let (stands, wait) = bounded(1);
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        // There is room, and the waiting thread still exists.
        let _ = stands.send(prepare());
        work();
    })?;
    let prepared = wait.recv().map_err(|_| io::Error::other("a thread ended as it began"))?;
    Ok((thread, prepared))
}
