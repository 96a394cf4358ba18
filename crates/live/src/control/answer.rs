//! What a lab answers: one line of JSON-RPC 2.0, and for some methods what follows it on the same stream.

use super::document;
use super::request::{Asked, Control, JSON_RPC};
use crossbeam_channel::Sender;
use link::channel::Channel;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// Codes of errors: those of JSON-RPC 2.0, section 5.1, and one of our own.
pub mod code {
    /// The line is no JSON.
    pub const NO_JSON: i64 = -32700;
    /// The JSON is no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No method has this name.
    pub const NO_METHOD: i64 = -32601;
    /// A parameter is missing, unknown or wrong.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The request is right, and this lab cannot do it.
    pub const REFUSED: i64 = 1;
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RpcError {
    /// One of [`code`].
    pub code: i64,
    /// A sentence.
    pub message: String,
}

impl RpcError {
    fn new(code: i64, message: &str) -> RpcError {
        RpcError { code, message: message.to_owned() }
    }

    pub(super) fn no_json(error: &serde_json::Error) -> RpcError {
        let column = error.column();
        RpcError::new(
            code::NO_JSON,
            &format!("a request is one line of JSON: from octet {column} on, this line is none"),
        )
    }

    pub(super) fn invalid_request(why: &str) -> RpcError {
        RpcError::new(code::INVALID_REQUEST, why)
    }

    pub(super) fn no_method(name: &str) -> RpcError {
        let methods = document::names().collect::<Vec<_>>().join(", ");
        RpcError::new(code::NO_METHOD, &format!("`{name}` is no method: the methods are {methods}"))
    }

    /// A parameter is wrong.
    pub fn invalid_params(why: &str) -> RpcError {
        RpcError::new(code::INVALID_PARAMS, why)
    }

    /// No station has this name.
    pub fn no_station(name: &str) -> RpcError {
        RpcError::invalid_params(&format!("no station is called `{name}`"))
    }

    /// This lab cannot do it.
    pub fn refused(why: &str) -> RpcError {
        RpcError::new(code::REFUSED, why)
    }
}

impl Display for RpcError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for RpcError {}

/// An answer's line, as a client reads it.
#[derive(Debug, Deserialize)]
pub(super) struct Response<T> {
    pub result: Option<T>,
    pub error: Option<RpcError>,
}

/// The way back for the answer to one request. If this is dropped without an answer, the connection ends.
#[derive(Debug)]
pub struct Answer {
    id: Option<String>,
    stream: UnixStream,
    /// The connection's thread, which writes the answer and then reads on. None if this was the last request.
    thread: Option<Sender<Vec<u8>>>,
}

impl Answer {
    /// The answer to `asked` on `stream`.
    pub fn new(asked: &Asked, stream: UnixStream, thread: Sender<Vec<u8>>) -> Answer {
        let thread = if asked.is_last() { None } else { Some(thread) };
        Answer { id: asked.id.clone(), stream, thread }
    }

    /// Answers with a result.
    pub fn give(self, result: &impl Serialize) {
        let line = self.result(result);
        self.write(line);
    }

    /// Answers with an error.
    pub fn refuse(self, refusal: &RpcError) {
        let line = self.line("error", refusal);
        self.write(line);
    }

    /// Answers with a result, and gives the stream for what follows.
    ///
    /// # Errors
    /// The client is gone.
    pub fn give_stream(mut self, result: &impl Serialize) -> io::Result<UnixStream> {
        let line = self.result(result);
        self.stream.write_all(&line)?;
        Ok(self.stream)
    }

    /// The stream, and the answer, which the next to write there gives first.
    pub fn hand_over(self, result: &impl Serialize) -> (UnixStream, String) {
        let line = String::from_utf8(self.result(result)).expect("JSON is UTF-8");
        (self.stream, line)
    }

    /// Answers with an empty result, which brings descriptors.
    ///
    /// # Errors
    /// The client is gone.
    pub fn give_fds(self, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let line = self.result(&json!({}));
        let stream = self.stream.as_fd().try_clone_to_owned()?;
        Channel::from_fd(stream).send_with_fds(&line, descriptors).map_err(io::Error::other)
    }

    fn result(&self, result: &impl Serialize) -> Vec<u8> {
        self.line("result", result)
    }

    fn line(&self, what: &str, value: &impl Serialize) -> Vec<u8> {
        // A notification has no answer.
        let Some(id) = &self.id else { return Vec::new() };
        let value = serde_json::to_string(value).expect("numbers and names");
        format!("{{\"jsonrpc\":\"{JSON_RPC}\",\"id\":{id},\"{what}\":{value}}}\n").into_bytes()
    }

    fn write(mut self, line: Vec<u8>) {
        // A client that went away does not matter to the lab.
        let _ = match self.thread.take() {
            Some(thread) => thread.send(line).map_err(io::Error::other),
            None => self.stream.write_all(&line),
        };
    }
}

impl Asked {
    /// Whether the stream carries something else after the answer to this request, or ends.
    pub(super) fn is_last(&self) -> bool {
        matches!(
            self.request,
            Ok(Control::Subscribe(_)
                | Control::Capture { .. }
                | Control::Enter { .. }
                | Control::Exec { .. }
                | Control::Down)
        )
    }
}
