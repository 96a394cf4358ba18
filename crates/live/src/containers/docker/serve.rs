//! The socket at which the daemon finds the driver. Calls are answered one after the other: each is short.

use super::driver::Driver;
use super::networks::Networks;
use crate::lab::owner::make_own_folders;
use std::fs::{self, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use tiny_http::{Header, Request, Response, Server};

/// The kind of the answers.
const KIND: &str = "application/vnd.docker.plugins.v1+json";
/// Octets of the longest call that is read.
const LONGEST: u64 = 1 << 20;

/// A driver that answers until it is dropped.
pub struct Serving {
    server: Arc<Server>,
    socket: PathBuf,
}

/// Answers the daemon at `socket`, on a thread of its own; `folder` has what must last.
///
/// # Errors
/// Another driver answers there; a folder or a socket that cannot be made.
pub fn serve(socket: &Path, folder: &Path) -> io::Result<Serving> {
    let mut driver = Driver::new(Networks::of(folder.to_owned())?);
    if let Some(folder) = socket.parent() {
        make_own_folders(folder)?;
    }
    if UnixStream::connect(socket).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "another driver answers there"));
    }
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let server = Arc::new(Server::http_unix(socket).map_err(io::Error::other)?);
    fs::set_permissions(socket, Permissions::from_mode(0o600))?;
    let calls = server.clone();
    thread::Builder::new().name("docker".to_owned()).spawn(move || {
        // An error means that the server has ended.
        while let Ok(request) = calls.recv_timeout(driver.pause()) {
            match request {
                Some(request) => answer(&mut driver, request),
                None => driver.ask_daemon(),
            }
        }
    })?;
    Ok(Serving { server, socket: socket.to_owned() })
}

fn answer(driver: &mut Driver, mut request: Request) {
    let mut body = Vec::new();
    // A body that breaks off is no JSON, and the answer says so.
    let _ = request.as_reader().take(LONGEST).read_to_end(&mut body);
    let text = driver.answer(request.url(), &body).to_string();
    let kind = Header::from_bytes("Content-Type", KIND).expect("a header");
    // A daemon that has gone asks again.
    let _ = request.respond(Response::from_string(text).with_header(kind));
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.server.unblock();
        // The next driver removes it otherwise.
        let _ = fs::remove_file(&self.socket);
    }
}
