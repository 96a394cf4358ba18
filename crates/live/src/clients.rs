//! Clients of a listening socket, served side by side: none waits for another, up to a limit.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Clients that are served at a time. For one more, the client that has been silent longest gives way.
const MOST: usize = 64;
/// How long a client may be silent without giving way.
const GRACE: Duration = Duration::from_secs(1);

/// Has `serve` called for each client, in a thread of its own, until `clients` ends. The thread that waits for clients
/// is called `name`.
///
/// # Errors
/// The system gives no thread to wait in.
pub fn side_by_side<S: Stream>(
    name: &'static str,
    clients: impl FnOnce(&mut dyn FnMut(S)) + Send + 'static,
    serve: impl Fn(&Place<S>) + Send + Sync + 'static,
) -> io::Result<()> {
    let (places, serve) = (Arc::new(Places::default()), Arc::new(serve));
    let wait = move || {
        clients(&mut |client| {
            let (place, serve) = (Place::take(&places, client), serve.clone());
            // A client for which there is no thread sees its stream end.
            let _ = Builder::new().name(name.to_owned()).spawn(move || serve(&place));
        });
    };
    Builder::new().name(name.to_owned()).spawn(wait).map(|_| ())
}

/// The clients that are served.
#[derive(Debug)]
struct Places<S> {
    state: Mutex<State<S>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<S> {
    next: u64,
    /// The clients whose request is being answered.
    busy: usize,
    /// The clients whose next request is awaited, the one that has been silent longest first.
    silent: VecDeque<Silent<S>>,
}

#[derive(Debug)]
struct Silent<S> {
    number: u64,
    since: Instant,
    stream: Arc<S>,
}

impl<S> Default for Places<S> {
    fn default() -> Places<S> {
        let state = State { next: 0, busy: 0, silent: VecDeque::new() };
        Places { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<S: Stream> Places<S> {
    fn state(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for one more client.
    fn room(&self) -> MutexGuard<'_, State<S>> {
        let mut state = self.state();
        while state.busy + state.silent.len() >= MOST {
            let silence = state.silent.front().map_or(Duration::ZERO, |oldest| oldest.since.elapsed());
            match state.silent.pop_front_if(|_| silence >= GRACE) {
                Some(oldest) => oldest.stream.end(),
                None => {
                    let waited = self.changed.wait_timeout(state, GRACE - silence);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        state
    }
}

impl<S: Stream> State<S> {
    fn push(&mut self, number: u64, stream: &Arc<S>) {
        self.silent.push_back(Silent { number, since: Instant::now(), stream: stream.clone() });
    }

    /// Whether the client had its place among the silent ones.
    fn remove(&mut self, number: u64) -> bool {
        let place = self.silent.iter().position(|silent| silent.number == number);
        place.and_then(|place| self.silent.remove(place)).is_some()
    }
}

/// A client that is served, until this is dropped.
#[derive(Debug)]
pub struct Place<S: Stream> {
    /// Its stream.
    pub stream: Arc<S>,
    places: Arc<Places<S>>,
    number: u64,
    is_busy: Cell<bool>,
}

impl<S: Stream> Place<S> {
    fn take(places: &Arc<Places<S>>, stream: S) -> Place<S> {
        let (stream, mut state) = (Arc::new(stream), places.room());
        let number = state.next;
        state.next += 1;
        state.push(number, &stream);
        drop(state);
        Place { stream, places: places.clone(), number, is_busy: Cell::new(false) }
    }

    /// The client's request has come. False if the client has given way to another: the request goes unanswered.
    #[must_use]
    pub fn answers(&self) -> bool {
        let mut state = self.places.state();
        self.is_busy.set(state.remove(self.number));
        state.busy += usize::from(self.is_busy.get());
        self.is_busy.get()
    }

    /// The request is answered, and the next one is awaited.
    pub fn awaits(&self) {
        let mut state = self.places.state();
        state.busy -= usize::from(self.is_busy.take());
        state.push(self.number, &self.stream);
        self.places.changed.notify_one();
    }
}

impl<S: Stream> Drop for Place<S> {
    fn drop(&mut self) {
        let mut state = self.places.state();
        state.busy -= usize::from(self.is_busy.get());
        state.remove(self.number);
        self.places.changed.notify_one();
    }
}

/// A client's stream.
pub trait Stream: Send + Sync + 'static {
    /// How long one read may take. Without a span, a read takes what is there.
    ///
    /// # Errors
    /// The system refuses.
    fn set_patience(&self, patience: Option<Duration>) -> io::Result<()>;

    /// Ends both directions.
    fn end(&self);
}

impl Stream for UnixStream {
    fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        self.set_nonblocking(patience.is_none())?;
        self.set_read_timeout(patience)
    }

    fn end(&self) {
        // A client that went away has ended already.
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Stream for TcpStream {
    fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        self.set_nonblocking(patience.is_none())?;
        self.set_read_timeout(patience)
    }

    fn end(&self) {
        // A client that went away has ended already.
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// A stream that ends at an instant, however slowly its octets come. What lies in it then is read: this process may have
/// been kept from reading it before.
#[derive(Debug)]
pub struct InTime<'a, S> {
    /// The stream.
    pub stream: &'a S,
    /// The instant.
    pub end: Instant,
}

impl<'a, S: Stream> Read for InTime<'a, S>
where
    &'a S: Read,
{
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let (mut stream, left) = (self.stream, self.end.saturating_duration_since(Instant::now()));
        if !left.is_zero() {
            stream.set_patience(Some(left))?;
            return stream.read(octets);
        }
        stream.set_patience(None)?;
        let read = stream.read(octets);
        // Others write to the same stream, and wait for room.
        stream.set_patience(Some(GRACE))?;
        read
    }
}

/// Writes all of `octets` before an instant, however slowly they are read. What has room then is written.
///
/// # Errors
/// The client went away, or reads too slowly.
pub fn write_in_time(mut stream: &TcpStream, mut octets: &[u8], end: Instant) -> io::Result<()> {
    while !octets.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        stream.set_nonblocking(left.is_zero())?;
        stream.set_write_timeout((!left.is_zero()).then_some(left))?;
        match stream.write(octets) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => octets = &octets[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::unbounded;

    /// A process that was stopped past the deadline reads the request that came in time, and waits for nothing more.
    #[test]
    fn what_lies_in_the_stream_is_read_after_the_end() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        theirs.write_all(b"stats").expect("room");
        let (mut late, mut octets) = (InTime { stream: &ours, end: Instant::now() }, [0; 8]);
        assert_eq!(late.read(&mut octets).expect("octets"), 5);
        assert_eq!(late.read(&mut octets).expect_err("none").kind(), io::ErrorKind::WouldBlock);
    }

    /// A client more than there may be is served: the client that has been silent longest gives way. A client that waits
    /// for its answer never does.
    #[test]
    fn the_client_that_has_been_silent_longest_gives_way() {
        let ((accept, accepted), (tell, told)) = (unbounded::<UnixStream>(), unbounded());
        let serve = move |place: &Place<UnixStream>| {
            let mut octet = [0];
            while matches!((&*place.stream).read(&mut octet), Ok(1)) && place.answers() {
                tell.send(octet[0]).expect("the test");
                if octet[0] == 0 {
                    // The answer never comes.
                    let _ = (&*place.stream).read(&mut octet);
                    return;
                }
                place.awaits();
            }
        };
        side_by_side("test", move |serve| accepted.into_iter().for_each(serve), serve).expect("a thread");
        let client = |says: u8| {
            let (ours, mut theirs) = UnixStream::pair().expect("a pair");
            accept.send(ours).expect("the thread");
            theirs.write_all(&[says]).expect("room");
            assert_eq!(told.recv(), Ok(says));
            theirs
        };
        let _busy = client(0);
        let mut silent: Vec<UnixStream> = (1..MOST as u8).map(client).collect();
        // The first client has something to say again, so the second is the oldest.
        silent[0].write_all(&[1]).expect("room");
        assert_eq!(told.recv(), Ok(1));
        let _one_more = client(MOST as u8);
        assert_eq!(silent[1].read(&mut [0]).expect("its end"), 0);
        for place in [0, 2] {
            silent[place].set_nonblocking(true).expect("a stream");
            assert_eq!(silent[place].read(&mut [0]).expect_err("no end").kind(), io::ErrorKind::WouldBlock);
        }
    }
}
