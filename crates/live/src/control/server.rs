//! The lab's side: reads requests from each connection, and writes their answers.

use super::answer::Answer;
use super::request::{Control, Line};
use crate::clients::{InTime, Place, side_by_side};
use crate::lab::inventory::Inventory;
use crate::supervisor::RESULTS;
use crossbeam_channel::{Receiver, Sender, bounded};
use link::channel::hold;
use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// How long a client may take to send its first request, the rest of any other, and to read an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a client may take from an answer to the beginning of its next request.
const IDLE: Duration = Duration::from_secs(60);
/// Octets of a line that is too long that are passed over after its refusal. A line with more ends the connection.
const LONGEST_REST: u64 = 1 << 20;

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

/// Serves one connection: a line of requests, their answers, the next line.
fn serve(place: &Place<UnixStream>, requests: &Sender<(Control, Answer)>) -> io::Result<()> {
    let stream = &*place.stream;
    stream.set_write_timeout(Some(PATIENCE))?;
    hold(stream, RESULTS);
    let mut input = BufReader::new(InTime { stream, end: Instant::now() + PATIENCE });
    while let Some(line) = Line::read_from(&mut input)? {
        let is_whole = line.is_whole;
        if !place.answers() || !answer(line, stream, requests)? {
            break;
        }
        place.awaits();
        input.get_mut().end = Instant::now() + PATIENCE;
        // A line that does not end is the last.
        if !is_whole && input.by_ref().take(LONGEST_REST).skip_until(b'\n')? as u64 == LONGEST_REST {
            break;
        }
        input.get_mut().end = Instant::now() + IDLE;
        input.fill_buf()?;
        input.get_mut().end = Instant::now() + PATIENCE;
    }
    Ok(())
}

/// Answers the requests of a line. False if the stream carries something else from now on, or the lab has ended.
fn answer(line: Line, stream: &UnixStream, requests: &Sender<(Control, Answer)>) -> io::Result<bool> {
    let mut output = BufWriter::new(stream);
    let mut before: &[u8] = if line.is_batch { b"[" } else { b"" };
    let mut has_answer = false;
    for asked in line.asked {
        let (thread, answered) = bounded(1);
        let answer = Answer::new(&asked, stream.try_clone()?, thread);
        match asked.request {
            Ok(request) => _ = requests.send((request, answer)),
            Err(refusal) => answer.refuse(&refusal),
        }
        let Ok(text) = answered.recv() else { return Ok(false) };
        // A notification has no answer.
        if !text.is_empty() {
            output.write_all(before)?;
            output.write_all(text.trim_ascii_end())?;
            (before, has_answer) = (b",", true);
        }
    }
    if has_answer {
        output.write_all(if line.is_batch { b"]\n" } else { b"\n" })?;
    }
    output.flush()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::super::request::LONGEST;
    use super::*;
    use serde_json::{Value, json};

    /// A connection to a lab that says of each request that it was done.
    fn connection() -> (UnixStream, BufReader<UnixStream>) {
        let (sender, requests) = bounded::<(Control, Answer)>(1);
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let client = move |serve: &mut dyn FnMut(UnixStream)| serve(ours);
        side_by_side("control", client, move |place| _ = serve(place, &sender)).expect("a thread");
        std::thread::spawn(move || requests.into_iter().for_each(|(_, answer)| answer.give(&"done")));
        (theirs.try_clone().expect("a descriptor"), BufReader::new(theirs))
    }

    /// The answer to a line, as it is written; nothing if there is none.
    fn answer_to(line: &[u8]) -> String {
        let (mut client, mut answers) = connection();
        let last = br#"{"jsonrpc":"2.0","id":"last","method":"stats"}"#;
        client.write_all(&[line, b"\n", last, b"\n"].concat()).expect("the lab reads");
        let (mut first, mut second) = (String::new(), String::new());
        answers.read_line(&mut first).expect("an answer");
        if first.contains("last") {
            return String::new();
        }
        answers.read_line(&mut second).expect("an answer");
        assert!(second.contains("last"), "{first}{second}");
        first
    }

    /// The examples of JSON-RPC 2.0, section 7, with methods of ours.
    #[test]
    fn the_examples_of_json_rpc_are_answered_as_there() {
        let ok = |id: Value| json!({ "jsonrpc": "2.0", "result": "done", "id": id });
        let error = |code: i64, id: Value| json!({ "jsonrpc": "2.0", "error": { "code": code }, "id": id });
        let (invalid, nothing) = (error(-32600, Value::Null), Value::Null);
        for (line, right) in [
            (r#"{"jsonrpc": "2.0", "method": "cut", "params": [0, 23], "id": 1}"#, ok(json!(1))),
            (
                r#"{"jsonrpc": "2.0", "method": "cut", "params": {"position_bt": 23, "segment": 0}, "id": 3}"#,
                ok(json!(3)),
            ),
            (
                r#"{"jsonrpc": "2.0", "method": "cut", "params": {"segment": 0, "position_bt": 23}, "id": 4}"#,
                ok(json!(4)),
            ),
            (r#"{"jsonrpc": "2.0", "method": "attach", "params": ["st1"]}"#, nothing.clone()),
            (r#"{"jsonrpc": "2.0", "method": "foobar"}"#, nothing.clone()),
            (r#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#, error(-32601, json!("1"))),
            (r#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, error(-32700, Value::Null)),
            (r#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, invalid.clone()),
            (
                r#"[{"jsonrpc": "2.0", "method": "cut", "params": [0, 1], "id": "1"}, {"jsonrpc": "2.0", "method"]"#,
                error(-32700, Value::Null),
            ),
            ("[]", invalid.clone()),
            ("[1]", json!([invalid])),
            ("[1,2,3]", json!([invalid, invalid, invalid])),
            (
                r#"[{"jsonrpc": "2.0", "method": "cut", "params": [0, 1], "id": "1"},
                    {"jsonrpc": "2.0", "method": "attach", "params": ["st1"]},
                    {"jsonrpc": "2.0", "method": "detach", "params": ["st1"], "id": "2"},
                    {"foo": "boo"},
                    {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
                    {"jsonrpc": "2.0", "method": "stats", "id": "9"}]"#,
                json!([ok(json!("1")), ok(json!("2")), invalid, error(-32601, json!("5")), ok(json!("9"))]),
            ),
            (
                r#"[{"jsonrpc": "2.0", "method": "attach", "params": ["st1"]},
                    {"jsonrpc": "2.0", "method": "detach", "params": ["st1"]}]"#,
                nothing,
            ),
        ] {
            let told = answer_to(line.replace('\n', " ").as_bytes());
            let mut answer: Value = serde_json::from_str(&told).unwrap_or_default();
            let all = if answer.is_array() { answer.as_array_mut().expect("a list") } else { &mut vec![answer.take()] };
            for answer in all.iter_mut().filter(|answer| answer["error"].is_object()) {
                answer["error"].as_object_mut().expect("an object").remove("message");
            }
            let all = Value::Array(all.clone());
            assert_eq!(if told.starts_with('[') { &all } else { &all[0] }, &right, "{line}: {told}");
        }
    }

    /// An `id` comes back as it was sent, with every digit and sign.
    #[test]
    fn an_id_comes_back_as_it_was_sent() {
        for id in ["12345678901234567890123", "1e2", "-0.10", r#""\u0061\/""#, "null"] {
            for request in [r#""method":"stats","params":[]"#, r#""method":"none""#] {
                let told = answer_to(format!(r#"{{"jsonrpc":"2.0","id":{id},{request}}}"#).as_bytes());
                assert!(told.contains(&format!("\"id\":{id},")), "{told}");
            }
        }
    }

    /// What takes the stream is refused in a batch, and the rest of the batch is done.
    #[test]
    fn a_batch_keeps_its_stream() {
        for method in ["subscribe", "capture", "down"] {
            let params = if method == "subscribe" { r#","params":{"events":{}}"# } else { "" };
            let stats = r#"{"jsonrpc":"2.0","id":2,"method":"stats"}"#;
            let told =
                answer_to(format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}},{stats}]"#).as_bytes());
            assert!(told.contains("-32600") && told.contains(r#""id":2,"result":"done""#), "{told}");
        }
    }

    /// The rest of a line that is too long is no request, whatever it looks like.
    #[test]
    fn the_rest_of_a_line_is_passed_over() {
        let tail = br#"{"jsonrpc":"2.0","id":77,"method":"detach","params":{"station":"st1"}}"#;
        let told = answer_to(&[&vec![b' '; LONGEST as usize], &tail[..]].concat());
        assert!(told.contains("-32600") && told.contains("65536 octets"), "{told}");
        // Without an end to it, the connection ends.
        let (mut client, mut answers) = connection();
        while client.write_all(&[b' '; 4096]).is_ok() {}
        let mut told = String::new();
        let _ = answers.read_to_string(&mut told);
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}
