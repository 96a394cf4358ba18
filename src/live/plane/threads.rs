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
    let (stands, wait) = bounded(1);
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        // There is room, and whoever waits is still there.
        let _ = stands.send(());
        work();
    })?;
    // It cannot end without having sent: an error would mean that it stands all the same.
    let _ = wait.recv();
    Ok(thread)
}
