//! The lab's side: reads requests from each connection, and writes their answers.

use super::answer::Answer;
use super::request::{Asked, Control};
use crate::live::clients::{InTime, Place, side_by_side};
use crate::live::lab::inventory::Inventory;
use crate::live::supervisor::RESULTS;
use crossbeam_channel::{Receiver, Sender, bounded};
use link::channel::hold;
use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// How long a client may take to send its first request, the rest of any other, and to read an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a client may take from an answer to the beginning of its next request.
const IDLE: Duration = Duration::from_secs(60);

/// Requests, each with the place of its answer.
pub type Requests = Receiver<(Control, Answer)>;

/// Listens for requests to the lab `name`.
///
/// # Errors
/// The socket cannot be made.
pub fn listen(name: &str) -> io::Result<Requests> {
    let path = Inventory::control_socket(name).map_err(io::Error::other)?;
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    let (sender, requests) = bounded(16);
    // A client that went away does not matter to the lab.
    let serve = move |place: &Place<UnixStream>| _ = serve(place, &sender);
    let clients = move |serve: &mut dyn FnMut(UnixStream)| listener.incoming().flatten().for_each(serve);
    side_by_side("control", clients, serve)?;
    Ok(requests)
}

/// Serves one connection: a request, its answer, the next request.
fn serve(place: &Place<UnixStream>, requests: &Sender<(Control, Answer)>) -> io::Result<()> {
    let mut stream = &*place.stream;
    stream.set_write_timeout(Some(PATIENCE))?;
    hold(stream, RESULTS);
    let mut input = BufReader::new(InTime { stream, end: Instant::now() + PATIENCE });
    while let Some(asked) = Asked::read_from(&mut input)? {
        if !place.answers() {
            break;
        }
        let (line, answered) = bounded(1);
        let answer = Answer::new(&asked, stream.try_clone()?, line);
        match asked.request {
            Ok(request) => _ = requests.send((request, answer)),
            Err(refusal) => answer.refuse(&refusal),
        }
        // The stream of the last request is another's now; so it is if the lab has ended.
        let Ok(line) = answered.recv() else { break };
        stream.write_all(&line)?;
        place.awaits();
        input.get_mut().end = Instant::now() + IDLE;
        input.fill_buf()?;
        input.get_mut().end = Instant::now() + PATIENCE;
    }
    Ok(())
}
