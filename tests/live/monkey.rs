//! Requests of the control socket, drawn at random, beside all that a soak does.

use crate::api::Client;
use crate::common::Draws;
use serde_json::{Map, Value, json};
use std::io::{BufRead, Write};
use std::net::Shutdown;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Methods that leave the medium as it is.
const HARMLESS: [&str; 6] = ["version", "stats", "discards", "label", "subscribe", "capture"];
/// Methods that are refused for a station that the lab does not have.
const OF_A_STATION: [&str; 8] = ["discards", "attach", "detach", "remove", "fault", "plca", "enter", "exec"];
/// Octets around the longest request, 64 KiB, and far beyond it.
const LONG_LINES: [usize; 3] = [60_000, 70_000, 1_000_000];

/// What a monkey has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requests {
    pub answered: u64,
    pub refused: u64,
    pub spoilt: u64,
    pub left: u64,
}

/// Someone who knows docs/api.json: right requests, requests with a wrong parameter, spoilt lines, and connections that are left
/// in the midst of it.
pub struct Monkey {
    socket: PathBuf,
    examples: Vec<(String, Value)>,
    draws: Draws,
    done: Requests,
}

/// A monkey at work. A panic of it is that of its test.
pub struct AtWork {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Requests>,
}

impl AtWork {
    pub fn stop(self) -> Requests {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Monkey {
    /// `done` is what earlier ones did.
    pub fn new(socket: PathBuf, seed: u64, done: Requests) -> Monkey {
        let document: Value = serde_json::from_str(include_str!("../../docs/api.json")).expect("JSON");
        let list = |of: &Value, key: &str| of[key].as_array().cloned().unwrap_or_default();
        let parameter = |of: Value| (of["name"].as_str().expect("a name").to_owned(), of["value"].clone());
        let mut examples = Vec::new();
        for method in list(&document, "methods") {
            let name = method["name"].as_str().expect("a name");
            for example in list(&method, "examples") {
                let params: Map<_, _> = list(&example, "params").into_iter().map(parameter).collect();
                examples.push((name.to_owned(), Value::Object(params)));
            }
        }
        Monkey { socket, examples, draws: Draws(seed), done }
    }

    pub fn begin(mut self) -> AtWork {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                match self.draws.below(8) {
                    0..3 => self.right(),
                    3..5 => self.refused(),
                    5..7 => self.spoilt(),
                    _ => self.left(),
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            self.done
        });
        AtWork { stop, thread }
    }

    fn example(&mut self, of: &[&str]) -> (String, Value) {
        let method = self.draws.one_of(of);
        let ones: Vec<&(String, Value)> = self.examples.iter().filter(|(name, _)| name == method).collect();
        ones[self.draws.below(ones.len())].clone()
    }

    fn line(&mut self) -> String {
        let (method, params) = self.example(&HARMLESS);
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    }

    /// What follows the answer is left unread.
    fn right(&mut self) {
        let (method, params) = self.example(&HARMLESS);
        let answer = Client::at(&self.socket).call(json!(self.done.answered), &method, params);
        assert!(answer["error"].is_null() && !answer["result"].is_null(), "{method}: {answer}");
        self.done.answered += 1;
    }

    fn refused(&mut self) {
        let (method, mut params) = self.example(&OF_A_STATION);
        let wrong = [json!("st99"), json!(""), json!("\0"), json!(-1), json!(1e300), json!([]), json!({}), json!(null)];
        params["station"] = wrong[self.draws.below(wrong.len())].clone();
        let answer = Client::at(&self.socket).call(json!("a name"), &method, params.clone());
        assert!(!answer["error"]["message"].as_str().unwrap_or_default().is_empty(), "{method} {params}: {answer}");
        self.done.refused += 1;
    }

    /// A line with some wrong octets, cut, too long, or all noise: the answer is JSON-RPC, or the connection ends.
    fn spoilt(&mut self) {
        let mut line = self.line().into_bytes();
        match self.draws.below(4) {
            0 => line.truncate(self.draws.below(line.len())),
            1 => line.resize(self.draws.one_of(&LONG_LINES), b' '),
            2 => line = (0..200).map(|_| self.draws.below(256) as u8).collect(),
            _ => (0..3).for_each(|_| {
                let place = self.draws.below(line.len());
                line[place] = self.draws.below(256) as u8;
            }),
        }
        line.push(b'\n');
        let mut client = Client::at(&self.socket);
        let stream = client.0.get_mut();
        // The lab may have refused it, and closed, before its end.
        let _ = stream.write_all(&line).and_then(|()| stream.shutdown(Shutdown::Write));
        // A subscriber that has said all it wants still gets events: one line tells.
        let mut first = Vec::new();
        client.0.read_until(b'\n', &mut first).expect("a line or an end");
        let answer: Value = serde_json::from_slice(&first).unwrap_or(Value::Null);
        let is_told = first.is_empty() || answer["jsonrpc"] == "2.0";
        assert!(is_told, "{:?} to {:?}", String::from_utf8_lossy(&first), String::from_utf8_lossy(&line));
        self.done.spoilt += 1;
    }

    fn left(&mut self) {
        let line = self.line();
        let mut client = Client::at(&self.socket);
        let cut = self.draws.below(line.len());
        // Without the end of the line it is no request.
        client.0.get_mut().write_all(&line.as_bytes()[..cut]).expect("the lab reads");
        self.done.left += 1;
    }
}
