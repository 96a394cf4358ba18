//! Clients of a listening socket, served side by side: none waits for another, up to a limit.

use crossbeam_channel::bounded;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Clients that are served at a time. More wait, and each of those before them has a deadline.
const MOST: usize = 64;

/// Has `serve` called for each client, in a thread of its own, until `clients` ends. The thread that waits for clients
/// is called `name`.
///
/// # Errors
/// The system gives no thread to wait in.
pub fn side_by_side<S: Send + 'static>(
    name: &'static str,
    clients: impl FnOnce(&mut dyn FnMut(S)) + Send + 'static,
    serve: impl Fn(S) + Send + Sync + 'static,
) -> io::Result<()> {
    let ((take, give_back), serve) = (bounded(MOST), Arc::new(serve));
    let wait = move || {
        clients(&mut |client| {
            // Neither end is closed while this thread has both.
            let _ = take.send(());
            let (place, serve) = (Place(give_back.clone()), serve.clone());
            // A client for which there is no thread sees its stream end.
            let _ = Builder::new().name(name.to_owned()).spawn(move || {
                let _place = place;
                serve(client);
            });
        });
    };
    Builder::new().name(name.to_owned()).spawn(wait).map(|_| ())
}

/// Given back when a client has been served, or could not be.
struct Place(crossbeam_channel::Receiver<()>);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.0.try_recv();
    }
}

/// A stream with read timeouts.
pub trait Timed {
    /// How long one read may take.
    ///
    /// # Errors
    /// A span of zero.
    fn set_patience(&self, patience: Duration) -> io::Result<()>;
}

impl Timed for &std::os::unix::net::UnixStream {
    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(patience))
    }
}

impl Timed for &TcpStream {
    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(patience))
    }
}

/// A stream that ends at an instant, however slowly its octets come.
#[derive(Debug)]
pub struct InTime<S> {
    /// The stream.
    pub stream: S,
    /// The instant.
    pub end: Instant,
}

impl<S: Read + Timed> Read for InTime<S> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_patience(left)?;
        self.stream.read(octets)
    }
}

/// Writes all of `octets` before an instant, however slowly they are read.
///
/// # Errors
/// The client went away, or reads too slowly.
pub fn write_in_time(mut stream: &TcpStream, mut octets: &[u8], end: Instant) -> io::Result<()> {
    while !octets.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(octets) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => octets = &octets[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
